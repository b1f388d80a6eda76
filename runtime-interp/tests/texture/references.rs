//! References: variables of the module in unified and independent mode, parameters, pointers to them, and initial values.

use crate::{entry, load, load_for, run};
use warpsmith_interp::texture::{AddressMode, ChannelType, Filter, Format, Image, Sampler};
use warpsmith_interp::{Device, FaultCode, Handle, Launch, Program};

const STORE: &str = "st.global.v4.f32 [%out], {%f8, %f9, %f10, %f11};";
const FORMAT: Format = Format { ty: ChannelType::F32, channels: 1 };

fn texture(device: &mut Device, sampler: &Sampler) -> Handle {
    let texels = device.upload(&[1f32, 2.0, 4.0, 8.0]).unwrap();
    device.create_texture(texels, &Image::new(FORMAT, &[4], None).unwrap(), sampler).unwrap()
}

fn first(device: &mut Device, program: &Program) -> f32 {
    let found = run(device, program, Handle::NULL, &[[0; 16]]).unwrap();
    f32::from_bits(found[0][0])
}

#[test]
fn a_variable_of_the_module_and_pointers_to_it() {
    let body = format!(
        "tex.1d.v4.f32.f32 {{%f8, %f9, %f10, %f11}}, [image, {{0f40200000}}];
         mov.u64 %rd1, image; st.global.u64 [slot], %rd1; ld.global.u64 %rd2, [slot]; mov.f32 %f3, %f8;
         cvta.global.u64 %rd1, %rd1; tex.1d.v4.f32.f32 {{%f8, %f9, %f10, %f11}}, [%rd2, {{0f00000000}}]; add.f32 %f8, %f8, %f3; {STORE}"
    );
    let program = load(&format!(".global .u64 slot; .global .texref image; {}", entry(&body)));
    let mut device = Device::new();
    let fault = run(&mut device, &program, Handle::NULL, &[[0; 16]]).unwrap_err();
    assert_eq!((fault.code, fault.ptx_line), (FaultCode::BadTexture, Some(3)));
    assert!(fault.message.contains("`image` is bound to nothing"), "{fault}");
    let handle = texture(&mut device, &Sampler::default());
    device.bind(&program, "image", handle).unwrap();
    assert_eq!(first(&mut device, &program), 5.0);
    assert!(device.bind(&program, "imaeg", handle).unwrap_err().message.contains("references: image"));
    let surface = {
        let texels = device.upload(&[0f32; 4]).unwrap();
        device.create_surface(texels, &Image::new(FORMAT, &[4], None).unwrap()).unwrap()
    };
    assert_eq!(device.bind(&program, "image", surface).unwrap_err().code, FaultCode::BadLaunch);
}

#[test]
fn parameters_that_are_opaque() {
    let program = load(
        ".func (.param .b32 d) first(.param .u64 t) { .reg .b64 %rd1; .reg .f32 %f<4>; ld.param.u64 %rd1, [t];
         tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {0f3f800000}]; st.param.f32 [d], %f0; ret; }
         .visible .entry k(.param .texref t, .param .surfref s, .param .u64 o) { .reg .f32 %f<8>; .reg .b64 %rd<4>; .reg .b32 %r<4>;
         tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {3}]; mov.u64 %rd1, t; ld.param.u64 %rd0, [o];
         { .param .u64 a; .param .b32 b; st.param.u64 [a], %rd1; call (b), first, (a); ld.param.f32 %f4, [b]; }
         sust.b.1d.b32.trap [s, {4}], %f4; suq.width.b32 %r1, [s];
         st.global.f32 [%rd0], %f0; st.global.u32 [%rd0+4], %r1; ret; }",
    );
    let mut device = Device::new();
    let t = texture(&mut device, &Sampler::default());
    let texels = device.upload(&[0f32; 4]).unwrap();
    let s = device.create_surface(texels, &Image::new(FORMAT, &[4], None).unwrap()).unwrap();
    let out = device.upload(&[0u32; 2]).unwrap();
    device.launch(&program, &Launch::new("k").arg(t).arg(s).arg(out)).unwrap();
    assert_eq!(device.download::<u32>(out).unwrap(), [8f32.to_bits(), 4]);
    assert_eq!(device.download::<f32>(texels).unwrap(), [0.0, 2.0, 0.0, 0.0]);
}

#[test]
fn samplers_apart() {
    let body = format!("tex.1d.v4.f32.f32 {{%f8, %f9, %f10, %f11}}, [image, how, {{0f3f800000}}]; {STORE}");
    let module = |init: &str| {
        load_for(
            "sm_90, texmode_independent",
            &format!(".global .texref image; .global .samplerref how{init}; {}", entry(&body)),
        )
    };
    let mut device = Device::new();
    // What the texture says of filtering does not count.
    let sampler = Sampler { filter: Filter::Linear, ..Sampler::default() };
    let handle = texture(&mut device, &sampler);
    let program = module("");
    device.bind(&program, "image", handle).unwrap();
    let fault = run(&mut device, &program, Handle::NULL, &[[0; 16]]).unwrap_err();
    assert!(fault.message.contains("`how` is bound to nothing"), "{fault}");
    let nearest = device.create_sampler(&Sampler::default());
    device.bind(&program, "how", nearest).unwrap();
    assert_eq!(first(&mut device, &program), 2.0);
    let linear = device.create_sampler(&sampler);
    device.bind(&program, "how", linear).unwrap();
    assert_eq!(first(&mut device, &program), 1.5);
    let program = module(" = { filter_mode = linear, addr_mode_0 = clamp_to_border }");
    device.bind(&program, "image", handle).unwrap();
    assert_eq!(first(&mut device, &program), 0.75);
    // A normalised texture, unless the sampler forces it otherwise.
    let handle = texture(&mut device, &Sampler { normalized: true, ..Sampler::default() });
    let program = module(" = { force_unnormalized_coords = 0, addr_mode_0 = wrap }");
    device.bind(&program, "image", handle).unwrap();
    assert_eq!(first(&mut device, &program), 1.0);
    let program = module(" = { force_unnormalized_coords = 1, addr_mode_0 = wrap }");
    device.bind(&program, "image", handle).unwrap();
    assert_eq!(first(&mut device, &program), 2.0);
    let reference = program.reference("how").unwrap();
    assert_eq!(reference.initial.address, [Some(AddressMode::Wrap), None, None]);
}
