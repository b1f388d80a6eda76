//! Images whose rows lie apart, and views of parts of images: each fetch gives what the same texels give where they are packed.

use crate::{Random, inputs, kernel, registers, run, run_observed};
use warpsmith_interp::observe::Observer;
use warpsmith_interp::texture::{AddressMode, ChannelType, Filter, Format, Image, Sampler};
use warpsmith_interp::{Device, Handle, Program};

/// Sees every access and minds none: fetches take the general path.
struct All;

impl Observer for All {}

const F32: Format = Format { ty: ChannelType::F32, channels: 1 };

/// Coordinates from outside of the texture on one side to outside on the other, in eighths of texels; a layer, a level.
fn places(random: &mut Random) -> Vec<[u32; 16]> {
    let mut place = || {
        let mut words = [0; 16];
        for word in &mut words[..3] {
            *word = ((random.next() % 96) as f32 / 8.0 - 2.0).to_bits();
        }
        (words[3], words[4]) = (random.next() % 4, ((random.next() % 3) as f32).to_bits());
        words
    };
    (0..256).map(|_| place()).collect()
}

fn fetched(device: &mut Device, program: &Program, texture: Handle, at: &[[u32; 16]]) -> Vec<[u32; 4]> {
    let short = run(device, program, texture, at).unwrap();
    let general = run_observed(device, program, texture, at, &mut All).unwrap();
    assert_eq!(short, general);
    short
}

fn samplers() -> impl Iterator<Item = Sampler> {
    let modes = [AddressMode::Clamp, AddressMode::Border];
    let filters = [Filter::Nearest, Filter::Linear];
    modes.into_iter().flat_map(move |mode| {
        filters.map(|filter| Sampler { filter, mip_filter: filter, address: [mode; 3], ..Sampler::default() })
    })
}

#[test]
fn rows_that_lie_apart() {
    let mut random = Random(5);
    let texels: Vec<f32> = (0..7 * 5).map(|_| (random.next() % 1000) as f32).collect();
    let mut apart = vec![f32::NAN; 4 * 16 + 7];
    for (y, row) in texels.chunks(7).enumerate() {
        apart[16 * y..][..7].copy_from_slice(row);
    }
    let program = kernel(&format!(
        "{} tex.2d.v4.f32.f32 {}, [%h, {{%f0, %f1}}]; st.global.v4.b32 [%out], {};",
        inputs("f", 0, 2),
        registers("f", 8, 4),
        registers("f", 8, 4)
    ));
    let packed = Image::new(F32, &[7, 5], None).unwrap();
    let pitched = packed.clone().pitched(64).unwrap();
    assert_eq!((packed.bytes(), pitched.bytes()), (140, 4 * 64 + 28));
    let mut device = Device::new();
    let (texels, apart) = (device.upload(&texels).unwrap(), device.upload(&apart).unwrap());
    let at = places(&mut random);
    for sampler in samplers() {
        let expected = device.create_texture(texels, &packed, &sampler).unwrap();
        let texture = device.create_texture(apart, &pitched, &sampler).unwrap();
        let expected = fetched(&mut device, &program, expected, &at);
        assert_eq!(fetched(&mut device, &program, texture, &at), expected, "{sampler:?}");
    }
}

#[test]
fn a_view_of_levels_and_layers() {
    let mut random = Random(6);
    let whole = Image::with(F32, &[8, 8], Some(6), false, Some(4), None).unwrap();
    let texels: Vec<f32> = (0..whole.bytes() / 4).map(|_| (random.next() % 1000) as f32).collect();
    // The second and third level of the third to fifth layer, packed.
    let mut part = Vec::new();
    let mut start = 0;
    for (level, size) in [8usize, 4, 2, 1].into_iter().enumerate() {
        let layer = size * size;
        if (1..=2).contains(&level) {
            part.extend_from_slice(&texels[start + 2 * layer..start + 5 * layer]);
        }
        start += 6 * layer;
    }
    let packed = Image::with(F32, &[4, 4], Some(3), false, Some(2), None).unwrap();
    let view = whole.view(F32, 1..=2, 2..=4).unwrap();
    let program = kernel(&format!(
        "{} ld.global.b32 %r3, [%in+12]; ld.global.b32 %f4, [%in+16]; \
         tex.level.a2d.v4.f32.f32 {}, [%h, {{%r3, %f0, %f1, %f1}}], %f4; st.global.v4.b32 [%out], {};",
        inputs("f", 0, 2),
        registers("f", 8, 4),
        registers("f", 8, 4)
    ));
    let mut device = Device::new();
    let (texels, part) = (device.upload(&texels).unwrap(), device.upload(&part).unwrap());
    let at = places(&mut random);
    for sampler in samplers() {
        let expected = device.create_texture(part, &packed, &sampler).unwrap();
        let texture = device.create_texture(texels, &view, &sampler).unwrap();
        let expected = fetched(&mut device, &program, expected, &at);
        assert_eq!(fetched(&mut device, &program, texture, &at), expected, "{sampler:?}");
    }
}
