//! Every `.version` from 2.3 to 9.0 has its textures and surfaces: through variables of the module, in unified and in independent mode, and from 3.1 on
//! through handles.

use warpsmith_interp::texture::{ChannelType, Filter, Format, Image, Sampler};
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_isa::Version;
use warpsmith_ptx::ValidatedModule;

const SINGLE: Format = Format { ty: ChannelType::F32, channels: 1 };

/// A module of a version, for the oldest target that has surfaces in it.
fn program(version: Version, mode: &str, declarations: &str, body: &str) -> Program {
    let target = if version >= Version::new(9, 0) { "sm_75" } else { "sm_20" };
    let source = format!(
        ".version {version}\n.target {target}{mode}\n.address_size 64\n{declarations}
        .entry k(.param .u64 h, .param .u64 s, .param .u64 o) {{ .reg .b64 %h, %s, %o; .reg .b32 %r<8>; .reg .f32 %f<16>; .reg .u32 %t;
        ld.param.u64 %o, [o]; mov.u32 %t, %tid.x; cvt.rn.f32.u32 %f0, %t; shl.b32 %r0, %t, 2;
        {body}
        mad.wide.u32 %o, %t, 8, %o; st.global.f32 [%o], %f4; st.global.u32 [%o+4], %r1; ret; }}"
    );
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{version}: {errors}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{version}: {errors:?}"))
}

#[test]
fn all_of_them() {
    let versions: Vec<Version> = Version::known()
        .filter(|version| (Version::new(2, 3)..=Version::new(9, 0)).contains(version))
        .collect();
    assert!(versions.len() > 30, "{versions:?}");
    for version in versions {
        let handles = version >= Version::new(3, 1);
        for way in 0..if handles { 3 } else { 2 } {
            let (mode, declarations, texture, surface) = match way {
                0 => ("", ".global .texref t; .global .surfref plane;", "[t, {%f0}]", "plane"),
                1 => (
                    ", texmode_independent",
                    ".global .texref t; .global .samplerref how = { filter_mode = linear }; .global .surfref plane;",
                    "[t, how, {%f0}]",
                    "plane",
                ),
                _ => ("", "", "[%h, {%f0}]", "%s"),
            };
            let load = if way == 2 { "ld.param.u64 %h, [h]; ld.param.u64 %s, [s];" } else { "" };
            let program = program(
                version,
                mode,
                declarations,
                &format!(
                    "{load} tex.1d.v4.f32.f32 {{%f4, %f5, %f6, %f7}}, {texture};
                     suld.b.1d.b32.trap %r1, [{surface}, {{%r0}}]; add.u32 %r1, %r1, 1; sust.b.1d.b32.zero [{surface}, {{%r0}}], %r1;"
                ),
            );
            let mut device = Device::new();
            let texels = device.upload(&[1f32, 3.0, 9.0, 27.0]).unwrap();
            let image = Image::new(SINGLE, &[4], None).unwrap();
            let sampler = Sampler { filter: Filter::Linear, ..Sampler::default() };
            let texture = device.create_texture(texels, &image, &sampler).unwrap();
            let words = device.upload(&[10u32, 20, 30, 40]).unwrap();
            let image = Image::new(Format { ty: ChannelType::U32, channels: 1 }, &[4], None).unwrap();
            let surface = device.create_surface(words, &image).unwrap();
            if way < 2 {
                device.bind(&program, "t", texture).unwrap();
                device.bind(&program, "plane", surface).unwrap();
            }
            let out = device.alloc(32).unwrap();
            let launch = Launch::new("k").block([4, 1, 1]).arg(texture).arg(surface).arg(out);
            device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{version}: {fault}"));
            let found = device.download::<u32>(out).unwrap();
            let expected = [(1f32, 11u32), (2.0, 21), (6.0, 31), (18.0, 41)];
            for (found, (texel, word)) in found.chunks(2).zip(expected) {
                assert_eq!((f32::from_bits(found[0]), found[1]), (texel, word), "{version}, way {way}");
            }
            assert_eq!(device.download::<u32>(words).unwrap(), [11, 21, 31, 41]);
        }
    }
}
