//! Textures and surfaces of the IR: its own meaning, and the text that is emitted for it, give the same.

use crate::Random;
use warpsmith_emit::Compiler;
use warpsmith_interp::texture::{AddressMode, ChannelType, Filter, Format, Image, Sampler};
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_isa::Target;

/// Each thread has four words of input, and 16 of output.
const KERNEL: &str = "
global @bound: texref
global @plane: surfref

kernel @k(%h: i64, %s: i64, %in: ptr<global>, %out: ptr<global>) {
entry:
  %t = sreg.tid.x
  %pi = index %in, %t, 16
  %po = index %out, %t, 64
  %x, %y, %u, %v = ptx.ld.global.v4.f32 [%pi]
  %r0, %g0, %b0, %a0 = ptx.tex.2d.v4.f32.f32 [%h, {%x, %y}]
  ptx.st.global.v4.f32 [%po], {%r0, %g0, %b0, %a0}
  %i, %j, %k, %l = ptx.ld.global.v4.s32 [%pi]
  %one = iconst.i32 1
  %less = iconst.i32 -2
  %r1, %g1, %b1, %a1 = ptx.tex.2d.v4.f32.f32 [%h, {%x, %y}], {%one, %less}
  ptx.st.global.v4.f32 [%po + 16], {%r1, %g1, %b1, %a1}
  %r2, %g2, %b2, %a2 = ptx.tld4.g.2d.v4.f32.f32 [@bound, {%u, %v}]
  %r3, %g3, %b3, %a3 = ptx.tex.level.2d.v4.f32.f32 [@bound, {%u, %v}], 0f40000000
  %sum = fadd %g2, %r3
  %width = ptx.txq.width.b32 [@bound]
  %at = imul %t, 4
  %old = ptx.suld.b.1d.b32.trap [%s, {%at}]
  %new = iadd %old, %width
  ptx.sust.b.1d.b32.zero [@plane, {%at}], %new
  ptx.sured.b.add.1d.u32.clamp [%s, {%at}], %t
  %height = ptx.suq.width.b32 [@plane]
  ptx.st.global.v4.f32 [%po + 32], {%r2, %sum, %b2, %a2}
  ptx.st.global.v2.u32 [%po + 48], {%old, %height}
  ret
}
";

#[test]
fn meaning_and_emitted_text() {
    let module = warpsmith_ir::parse_module(KERNEL).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let meant = Program::from_ir(&module).unwrap_or_else(|errors| panic!("{errors:#?}"));

    let emitted =
        Compiler::new(Target::sm(90)).compile(&module).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let text = Program::load(&emitted.module).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut random = Random(109);
    let input: Vec<f32> = (0..4 * 32).map(|_| (random.next() % 160) as f32 / 16.0 - 1.0).collect();
    let run = |program: &Program| {
        let mut device = Device::new();
        let format = Format { ty: ChannelType::F32, channels: 2 };
        let sampler = Sampler {
            filter: Filter::Linear,
            address: [AddressMode::Border, AddressMode::Clamp, AddressMode::Clamp],
            border: [100.0; 4],
            ..Sampler::default()
        };
        let image = Image::with(format, &[8, 8], None, false, Some(3), None).unwrap();
        let values: Vec<f32> = (0..image.bytes() / 4).map(|i| (i * 37 % 101) as f32).collect();
        let texels = device.upload(&values).unwrap();
        let texture = device.create_texture(texels, &image, &sampler).unwrap();
        let words = device.upload(&[1000u32; 32]).unwrap();
        let image = Image::new(Format { ty: ChannelType::U32, channels: 1 }, &[32], None).unwrap();
        let surface = device.create_surface(words, &image).unwrap();
        device.bind(program, "bound", texture).unwrap();
        device.bind(program, "plane", surface).unwrap();
        let (input, out) = (device.upload(&input).unwrap(), device.alloc(32 * 64).unwrap());
        let launch = Launch::new("k").block([32, 1, 1]).arg(texture).arg(surface).arg(input).arg(out);
        device.launch(program, &launch).unwrap_or_else(|fault| panic!("{fault}"));
        (device.download::<u32>(out).unwrap(), device.download::<u32>(words).unwrap())
    };
    let found = run(&meant);
    assert_eq!(found, run(&text));
    // The eight texels of the width, the number of the thread, and the words that were there.
    let expected: Vec<u32> = (0..32).map(|thread| 1008 + thread).collect();
    assert_eq!(found.1, expected);
    for (thread, out) in found.0.chunks(16).enumerate() {
        assert_eq!(out[12..14], [1000, 32]);
        let [x, y] = [0, 1].map(|i| input[4 * thread + i] - 0.5);
        let (i, j) = (x.floor(), y.floor());
        let texel = |x: f32, y: f32| {
            let row = y.clamp(0.0, 7.0);
            if (0.0..8.0).contains(&x) { ((row * 8.0 + x) * 2.0 * 37.0 % 101.0).into() } else { 100.0 }
        };
        let (a, b) = (f64::from(x - i), f64::from(y - j));
        let row = |y: f32| texel(i, y) * (1.0 - a) + texel(i + 1.0, y) * a;
        let expected = row(j) * (1.0 - b) + row(j + 1.0) * b;
        let found = f64::from(f32::from_bits(out[0]));
        // A unit of the weight, of the whole range.
        assert!((found - expected).abs() <= 101.0 / 256.0, "{x} {y}: {found} {expected}");
    }
}
