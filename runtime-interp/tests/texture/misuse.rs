//! What goes wrong is a fault that says what, where, and in which thread.

use crate::{kernel, run};
use std::ops::RangeInclusive;
use warpsmith_interp::texture::{ChannelType, Filter, Format, Image, ImageField, ReadMode, Sampler};
use warpsmith_interp::{Device, Fault, FaultCode, Handle, Launch, Program};

fn image(size: &[u32]) -> Image {
    Image::new(Format { ty: ChannelType::U8, channels: 1 }, size, None).unwrap()
}

fn fault(device: &mut Device, program: &Program, handle: Handle) -> Fault {
    run(device, program, handle, &[[0; 16]]).unwrap_err()
}

const FETCH: &str = "tex.1d.v4.u32.s32 {%r8, %r9, %r10, %r11}, [%h, {0}];";

#[test]
fn handles_that_are_none() {
    let mut device = Device::new();
    let texels = device.upload(&[0u8; 16]).unwrap();
    let texture = device.create_texture(texels, &image(&[16]), &Sampler::default()).unwrap();
    let surface = device.create_surface(texels, &image(&[16])).unwrap();
    let fetch = kernel(FETCH);
    let load = kernel("suld.b.1d.b8.trap %rs0, [%h, {0}];");
    let null = fault(&mut device, &fetch, Handle::NULL);
    assert_eq!((null.code, null.ptx_line, null.thread), (FaultCode::BadTexture, Some(3), Some([0, 0, 0])));
    assert_eq!(null.message, "the texture handle is null");
    assert!(fault(&mut device, &fetch, surface).message.contains("that of a surface, not of a texture"));
    assert!(fault(&mut device, &load, texture).message.contains("that of a texture, not of a surface"));
    // Any other number, an address among them.
    let any = kernel(&format!("mov.u64 %h, %in; {FETCH}"));
    assert!(fault(&mut device, &any, texture).message.contains("is not a handle of a texture"));
    let next = kernel(&format!("add.u64 %h, %h, 4096; {FETCH}"));
    assert_eq!(fault(&mut device, &next, texture).code, FaultCode::BadTexture);
    // Threads with different handles: the one at fault is named.
    let one = kernel(&format!("setp.eq.u32 %p0, %me, 37; @%p0 mov.u64 %h, 0; {FETCH}"));
    assert_eq!(fault(&mut device, &one, texture).thread, Some([37, 0, 0]));
    device.free(texels).unwrap();
    assert!(fault(&mut device, &fetch, texture).message.contains("freed"));
}

#[test]
fn textures_of_another_geometry() {
    let mut device = Device::new();
    let texels = device.upload(&[0u8; 64]).unwrap();
    let texture = device.create_texture(texels, &image(&[8, 8]), &Sampler::default()).unwrap();
    assert!(fault(&mut device, &kernel(FETCH), texture).message.contains("2-dimensional of 8x8 texels"));
    let cube = kernel("tex.cube.v4.u32.f32 {%r8, %r9, %r10, %r11}, [%h, {%f0, %f0, %f0, %f0}];");
    assert_eq!(fault(&mut device, &cube, texture).code, FaultCode::BadTexture);
    let offset = kernel("mov.u32 %r1, 9; tex.2d.v4.u32.s32 {%r8, %r9, %r10, %r11}, [%h, {0, 0}], {0, %r1};");
    assert!(fault(&mut device, &offset, texture).message.contains("an offset of 9 texels"));
    let level = kernel("txq.level.width.b32 %r8, [%h], 1;");
    assert!(fault(&mut device, &level, texture).message.contains("level 1 of a texture with 1 levels"));
}

#[test]
fn descriptions_that_break_rules() {
    let format = Format { ty: ChannelType::U8, channels: 1 };
    let rule = |image: Result<Image, warpsmith_interp::texture::ImageError>| image.unwrap_err().field;
    assert_eq!(rule(Image::new(Format { channels: 3, ..format }, &[4], None)), ImageField::Channels);
    assert_eq!(rule(Image::new(format, &[], None)), ImageField::Size(None));
    assert_eq!(rule(Image::new(format, &[4, 0], None)), ImageField::Size(Some(1)));
    assert_eq!(rule(Image::new(format, &[1 << 31], None)), ImageField::Size(Some(0)));
    assert_eq!(rule(Image::new(format, &[131_072, 65_536], None)), ImageField::Size(None));
    assert_eq!(rule(Image::new(format, &[4], Some(0))), ImageField::Layers);
    assert_eq!(rule(Image::new(format, &[4, 4, 4], Some(2))), ImageField::Layers);
    assert_eq!(rule(Image::cube(format, 4, 7)), ImageField::Layers);
    assert_eq!(rule(Image::with(format, &[4, 4], None, false, Some(4), None)), ImageField::Levels);
    assert_eq!(rule(Image::with(format, &[4, 4], None, false, None, Some(3))), ImageField::Samples);
    // Rows that lie apart: only of one level and layer, no closer than they are long, by whole texels.
    let wide = Format { ty: ChannelType::U32, channels: 1 };
    let rows = Image::new(wide, &[4, 4], None).unwrap();
    for pitch in [12, 18] {
        assert_eq!(rule(rows.clone().pitched(pitch)), ImageField::Pitch);
    }
    let layered = Image::new(wide, &[4, 4], Some(6)).unwrap();
    assert_eq!(rule(layered.clone().pitched(16)), ImageField::Pitch);
    assert_eq!(
        rule(Image::with(wide, &[4, 4], None, false, Some(2), None).unwrap().pitched(16)),
        ImageField::Pitch
    );
    assert_eq!(rule(rows.pitched(1 << 30)), ImageField::Size(None));
    // Views: of texels as large, levels and layers that there are, whole cubes.
    assert_eq!(rule(layered.view(format, 0..=0, 0..=5)), ImageField::Channels);
    assert_eq!(rule(layered.view(wide, 0..=1, 0..=5)), ImageField::Levels);
    assert_eq!(rule(layered.view(wide, 0..=0, 3..=6)), ImageField::Layers);
    assert_eq!(rule(layered.view(wide, 0..=0, RangeInclusive::new(3, 2))), ImageField::Layers);
    assert_eq!(rule(Image::cube(wide, 4, 12).unwrap().view(wide, 0..=0, 5..=10)), ImageField::Layers);
    let mut device = Device::new();
    let texels = device.upload(&[0u8; 15]).unwrap();
    assert!(
        device
            .create_surface(texels, &image(&[16]))
            .unwrap_err()
            .message
            .contains("15 bytes for an image of 16")
    );
    let linear = Sampler { filter: Filter::Linear, ..Sampler::default() };
    assert!(device.create_texture(texels, &image(&[8]), &linear).unwrap_err().message.contains("filter: u8"));
    let wide = Image::new(Format { ty: ChannelType::U32, channels: 1 }, &[2], None).unwrap();
    let normal = Sampler { read: ReadMode::NormalizedFloat, ..Sampler::default() };
    assert!(device.create_texture(texels, &wide, &normal).unwrap_err().message.contains("read: "));
}

#[test]
fn filtering_of_integers_by_a_sampler() {
    let mut device = Device::new();
    let texels = device.upload(&[0u8; 16]).unwrap();
    let texture = device.create_texture(texels, &image(&[16]), &Sampler::default()).unwrap();
    let sampler = device.create_sampler(&Sampler { filter: Filter::Linear, ..Sampler::default() });
    let source = ".version 8.0 .target sm_90, texmode_independent .address_size 64
        .visible .entry k(.param .texref t, .param .samplerref s) { .reg .b32 %r<4>;
        tex.1d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [t, s, {0f00000000}]; ret; }";
    let program = Program::load(&warpsmith_ptx::ValidatedModule::parse(source).unwrap()).unwrap();
    let fault = device.launch(&program, &Launch::new("k").arg(texture).arg(sampler)).unwrap_err();
    assert_eq!((fault.code, fault.ptx_line), (FaultCode::BadTexture, Some(3)));
    assert!(fault.message.contains("linear filtering of u8"), "{fault}");
}
