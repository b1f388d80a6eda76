//! `tex` of every geometry, type, number of channels, address mode and filter.

use crate::reference::{At, Texture};
use crate::{Random, inputs, kernel, registers, run};
use warpsmith_interp::Device;
use warpsmith_interp::texture::{
    AddressMode, ChannelType, Filter, Format, Image, LevelRange, ReadMode, Sampler,
};

/// The instruction for an image, with coordinates in `%f1..` or `%r1..` behind a layer in word 0, and a level in word 4.
fn body(image: &Image, integers: bool, level: bool) -> String {
    let dims = image.dims() as usize;
    let array = image.layers().is_some();
    let geometry = format!(".{}{dims}d", if array { "a" } else { "" });
    let kind = if integers { "r" } else { "f" };
    let mut coordinates: Vec<String> = (1..=dims).map(|i| format!("%{kind}{i}")).collect();
    if array {
        coordinates.insert(0, "%r20".into());
    }
    if coordinates.len() == 3 {
        coordinates.push(coordinates[2].clone());
    }
    let coordinates = coordinates.join(", ");
    let (op, detail) = match level {
        true => ("tex.level", if integers { ", %r4" } else { ", %f4" }),
        false => ("tex", ""),
    };
    let ctype = if integers { "s32" } else { "f32" };
    format!(
        "{} {} ld.global.u32 %r20, [%in];\n{op}{geometry}.v4.u32.{ctype} {}, [%h, {{{coordinates}}}]{detail};\nst.global.v4.u32 [%out], {};",
        inputs("r", 1, 4),
        inputs("f", 1, 4),
        registers("r", 8, 4),
        registers("r", 8, 4),
    )
}

/// Fetches and compares.
fn compare(texture: &Texture, cases: &[(u32, At, f32)], level: bool, exact: bool) {
    let integers = matches!(cases[0].1, At::Texels(_));
    let program = kernel(&body(&texture.image, integers, level));
    let mut device = Device::new();
    let handle = texture.create(&mut device);
    let input: Vec<[u32; 16]> = cases
        .iter()
        .map(|(layer, at, detail)| {
            let mut words = [0; 16];
            words[0] = *layer;
            match at {
                At::Floats(at) => (0..3).for_each(|d| words[1 + d] = at[d].to_bits()),
                At::Texels(at) => (0..3).for_each(|d| words[1 + d] = at[d] as u32),
            }
            words[4] = if integers { *detail as i32 as u32 } else { detail.to_bits() };
            words
        })
        .collect();
    let found = run(&mut device, &program, handle, &input).unwrap();
    for ((layer, at, detail), found) in cases.iter().zip(found) {
        let layer = (*layer).min(texture.image.layers().unwrap_or(1) - 1);
        let expected =
            if level { texture.at_level((*detail).into(), layer, *at) } else { texture.fetch(0, layer, *at) };
        let same = (0..4).all(|c| texture.close(found[c], expected[c], exact));
        let shown = found.map(f32::from_bits);
        let place = match at {
            At::Floats(at) => format!("{at:?}"),
            At::Texels(at) => format!("{at:?}"),
        };
        assert!(
            same,
            "{:?} {:?}\nlayer {layer} at {place}, level {detail}: {found:x?} {shown:?}, expected {expected:?}",
            texture.image, texture.sampler
        );
    }
}

/// Coordinates in steps of a quarter texel, from outside to outside; normalised where the sampler wants that.
fn dense(texture: &Texture, step: f32) -> Vec<(u32, At, f32)> {
    let size = texture.image.size();
    let dims = texture.image.dims() as usize;
    let along = |d: usize| -> Vec<f32> {
        if d >= dims {
            return vec![0.0];
        }
        let n = size[d] as f32;
        let steps = (2.0 * n + 5.0) / step;
        (0..steps as i32)
            .map(|i| i as f32 * step - n * 0.5 - 2.0)
            .map(|x| if texture.sampler.normalized { x / n } else { x })
            .collect()
    };
    let mut cases = Vec::new();
    for z in along(2) {
        for y in along(1) {
            for x in along(0) {
                let layer = (cases.len() % 3) as u32;
                cases.push((layer, At::Floats([x, y, z]), 0.0));
            }
        }
    }
    cases
}

const MODES: [AddressMode; 5] =
    [AddressMode::Clamp, AddressMode::Wrap, AddressMode::Mirror, AddressMode::Border, AddressMode::ClampOgl];

fn shapes() -> Vec<(Vec<u32>, Option<u32>)> {
    vec![
        (vec![8], None),
        (vec![8, 4], None),
        (vec![4, 2, 4], None),
        (vec![8], Some(3)),
        (vec![4, 4], Some(3)),
    ]
}

#[test]
fn every_type_and_number_of_channels() {
    for ty in ChannelType::ALL {
        for channels in [1, 2, 4] {
            for read in [ReadMode::Element, ReadMode::NormalizedFloat] {
                let image = Image::new(Format { ty: *ty, channels }, &[8, 4], None).unwrap();
                for filter in [Filter::Nearest, Filter::Linear] {
                    let border = [0.5, 0.25, 1.0, 0.0];
                    let address = [AddressMode::Border, AddressMode::Clamp, AddressMode::Clamp];
                    let sampler = Sampler { filter, read, border, address, ..Sampler::default() };
                    if sampler.check(image.format()).is_err() {
                        continue;
                    }
                    let texture = Texture::new(image.clone(), sampler, 7);
                    compare(&texture, &dense(&texture, 0.25), false, *ty != ChannelType::F16);
                }
            }
        }
    }
}

#[test]
fn every_geometry_mode_and_filter() {
    for (size, layers) in shapes() {
        for ty in [ChannelType::F32, ChannelType::U8] {
            let image = Image::new(Format { ty, channels: 1 }, &size, layers).unwrap();
            for (i, mode) in MODES.into_iter().enumerate() {
                for filter in [Filter::Nearest, Filter::Linear] {
                    for normalized in [false, true] {
                        let address = [mode, MODES[(i + 1) % MODES.len()], MODES[(i + 2) % MODES.len()]];
                        let read =
                            if ty == ChannelType::U8 { ReadMode::NormalizedFloat } else { ReadMode::Element };
                        let border = [3.0; 4];
                        let sampler =
                            Sampler { normalized, filter, address, border, read, ..Sampler::default() };
                        let texture = Texture::new(image.clone(), sampler, 11);
                        compare(&texture, &dense(&texture, 0.5), false, true);
                    }
                }
            }
        }
    }
}

#[test]
fn integer_coordinates_are_texels() {
    for (size, layers) in shapes() {
        for mode in MODES {
            let image = Image::new(Format { ty: ChannelType::S16, channels: 2 }, &size, layers).unwrap();
            let sampler = Sampler { address: [mode; 3], border: [-3.0, 4.0, 0.0, 0.0], ..Sampler::default() };
            let texture = Texture::new(image, sampler, 3);
            let mut random = Random(5);
            let mut any = || (random.next() % 24) as i32 - 8;
            let mut cases: Vec<_> =
                (0..300).map(|i| (i % 4, At::Texels([any(), any(), any()]), 0.0)).collect();
            cases.push((u32::MAX, At::Texels([i32::MIN, i32::MAX, i32::MIN]), 0.0));
            compare(&texture, &cases, false, true);
        }
    }
}

#[test]
fn weights_are_within_a_unit_of_the_guide() {
    for (size, layers) in shapes() {
        for ty in [ChannelType::F32, ChannelType::F16, ChannelType::U8, ChannelType::S16] {
            let image = Image::new(Format { ty, channels: 2 }, &size, layers).unwrap();
            let read = if ty.is_integer() { ReadMode::NormalizedFloat } else { ReadMode::Element };
            for mode in MODES {
                let sampler = Sampler {
                    normalized: true,
                    filter: Filter::Linear,
                    address: [mode; 3],
                    read,
                    ..Sampler::default()
                };
                let texture = Texture::new(image.clone(), sampler, 17);
                let mut random = Random(23);
                let mut any = || (random.next() % 40_000) as f32 / 10_000.0 - 1.5;
                let cases: Vec<_> =
                    (0..600).map(|i| (i % 3, At::Floats([any(), any(), any()]), 0.0)).collect();
                compare(&texture, &cases, false, false);
            }
        }
    }
}

#[test]
fn levels_of_mipmaps() {
    for (size, layers) in
        [(vec![16u32], None), (vec![16, 8], None), (vec![8, 8, 8], None), (vec![8, 8], Some(2))]
    {
        let levels = Some(size.iter().max().unwrap().ilog2() + 1);
        let format = Format { ty: ChannelType::F32, channels: 1 };
        let image = Image::with(format, &size, layers, false, levels, None).unwrap();
        for filter in [Filter::Nearest, Filter::Linear] {
            for mip_filter in [Filter::Nearest, Filter::Linear] {
                for lod in [LevelRange::default(), LevelRange { min: 0.5, max: 2.25, bias: -0.25 }] {
                    let normalized = true;
                    let address = [AddressMode::Wrap; 3];
                    let sampler =
                        Sampler { normalized, filter, mip_filter, lod, address, ..Sampler::default() };
                    let texture = Texture::new(image.clone(), sampler, 29);
                    let mut random = Random(31);
                    let mut any = || (random.next() % 64) as f32 / 64.0;
                    let cases: Vec<_> = (0..500)
                        .map(|i| (i % 2, At::Floats([any(), any(), any()]), (i % 61) as f32 / 4.0 - 4.0))
                        .collect();
                    compare(&texture, &cases, true, filter == Filter::Nearest);
                }
            }
        }
    }
}

#[test]
fn gradients_choose_the_level() {
    let format = Format { ty: ChannelType::F32, channels: 1 };
    let image = Image::with(format, &[16, 16], None, false, Some(5), None).unwrap();
    let sampler = Sampler {
        normalized: true,
        filter: Filter::Linear,
        mip_filter: Filter::Linear,
        address: [AddressMode::Wrap; 3],
        ..Sampler::default()
    };
    let texture = Texture::new(image, sampler, 37);
    let program = kernel(&format!(
        "{} tex.grad.2d.v4.f32.f32 {}, [%h, {{%f0, %f1}}], {{%f2, %f3}}, {{%f4, %f5}}; st.global.v4.f32 [%out], {};",
        inputs("f", 0, 6),
        registers("f", 8, 4),
        registers("f", 8, 4)
    ));
    let mut device = Device::new();
    let handle = texture.create(&mut device);
    let mut random = Random(41);
    let input: Vec<[u32; 16]> = (0..400)
        .map(|_| {
            let mut words = [0; 16];
            for word in &mut words[..2] {
                *word = ((random.next() % 64) as f32 / 64.0).to_bits();
            }
            for word in &mut words[2..6] {
                *word = (2f32.powi(random.next() as i32 % 8 - 8) * (1.0 + (random.next() % 4) as f32 / 4.0))
                    .to_bits();
            }
            words
        })
        .collect();
    let found = run(&mut device, &program, handle, &input).unwrap();
    for (words, found) in input.iter().zip(found) {
        let [u, v, a, b, c, d] =
            [0, 1, 2, 3, 4, 5].map(|i| f64::from(f32::from_bits(words[i])) * if i > 1 { 16.0 } else { 1.0 });
        let detail = a.hypot(b).max(c.hypot(d)).log2();
        let expected = texture.at_level(detail, 0, At::Floats([u as f32, v as f32, 0.0]));
        assert!(texture.close(found[0], expected[0], false), "{words:x?}: {found:x?} {expected:?}");
    }
}

#[test]
fn offsets_move_by_texels() {
    let format = Format { ty: ChannelType::F32, channels: 1 };
    let program = kernel(&format!(
        "{} {} tex.2d.v4.f32.f32 {}, [%h, {{%f0, %f1}}], {{%r2, %r3}}; st.global.v4.f32 [%out], {};",
        inputs("f", 0, 2),
        inputs("r", 2, 2),
        registers("f", 8, 4),
        registers("f", 8, 4)
    ));
    for mode in MODES {
        for filter in [Filter::Nearest, Filter::Linear] {
            let image = Image::new(format, &[8, 4], None).unwrap();
            let sampler = Sampler { normalized: true, filter, address: [mode; 3], ..Sampler::default() };
            let texture = Texture::new(image, sampler, 43);
            let mut device = Device::new();
            let handle = texture.create(&mut device);
            let mut random = Random(47);
            let input: Vec<[u32; 16]> = (0..300)
                .map(|_| {
                    let mut words = [0; 16];
                    words[0] = ((random.next() % 128) as f32 / 64.0 - 0.5 + 1.0 / 128.0).to_bits();
                    words[1] = ((random.next() % 128) as f32 / 64.0 - 0.5 + 1.0 / 128.0).to_bits();
                    words[2] = (random.next() as i32 % 8 - 4) as u32;
                    words[3] = (random.next() as i32 % 8 - 8) as u32;
                    words
                })
                .collect();
            let found = run(&mut device, &program, handle, &input).unwrap();
            for (words, found) in input.iter().zip(found) {
                let at = |i: usize, n: f32| f32::from_bits(words[i]) + words[i + 2] as i32 as f32 / n;
                let expected = texture.fetch(0, 0, At::Floats([at(0, 8.0), at(1, 4.0), 0.0]));
                assert!(
                    texture.close(found[0], expected[0], false),
                    "{mode:?} {words:x?}: {found:x?} {expected:?}"
                );
            }
        }
    }
}

#[test]
fn halves_pairs_predicates_and_comparisons() {
    let format = Format { ty: ChannelType::F32, channels: 2 };
    let image = Image::new(format, &[4], None).unwrap();
    let values = [1.0f32, -2.0, 0.5, 3.0, 65504.0, 1e-8, 0.333, -0.0];
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let texture = Texture { image, sampler: Sampler::default(), bytes };
    let mut device = Device::new();
    let handle = texture.create(&mut device);
    let input: Vec<[u32; 16]> = (0..4u32)
        .map(|i| {
            let mut w = [0; 16];
            w[0] = i;
            w[1] = 0.5f32.to_bits();
            w
        })
        .collect();
    let halves = kernel(&format!(
        "{} tex.1d.v4.f16.s32 {{%rs0, %rs1, _, %rs3}}|%p0, [%h, {{%r0}}]; cvt.u32.u16 %r1, %rs0; cvt.u32.u16 %r2, %rs1; cvt.u32.u16 %r3, %rs3; \
         selp.u32 %r4, 1, 0, %p0; st.global.v4.u32 [%out], {{%r1, %r2, %r3, %r4}};",
        inputs("r", 0, 1)
    ));
    let found = run(&mut device, &halves, handle, &input).unwrap();
    assert_eq!(
        found,
        [
            [0x3c00, 0xc000, 0x3c00, 1],
            [0x3800, 0x4200, 0x3c00, 1],
            [0x7bff, 0, 0x3c00, 1],
            [0x3554, 0x8000, 0x3c00, 1]
        ]
    );
    let pairs = kernel(&format!(
        "{} tex.1d.v2.f16x2.s32 {{%r1, %r2}}, [%h, {{%r0}}]; st.global.v2.u32 [%out], {{%r1, %r2}};",
        inputs("r", 0, 1)
    ));
    let found = run(&mut device, &pairs, handle, &input).unwrap();
    assert_eq!(found[0], [0xc000_3c00, 0x3c00_0000, 0, 0]);
    // Less than or equal to the texel, by default.
    let depth = kernel(&format!(
        "{} {} cvt.rn.f32.s32 %f0, %r0; tex.1d.v4.f32.f32 {}, [%h, {{%f0}}], %f1; st.global.v4.f32 [%out], {};",
        inputs("r", 0, 1),
        inputs("f", 1, 1),
        registers("f", 8, 4),
        registers("f", 8, 4)
    ));
    let found = run(&mut device, &depth, handle, &input).unwrap().into_iter().map(|f| f.map(f32::from_bits));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [[1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    );
}

#[test]
fn coordinates_that_are_no_numbers_or_far_away_stay_inside() {
    let format = Format { ty: ChannelType::F32, channels: 1 };
    for mode in MODES {
        for filter in [Filter::Nearest, Filter::Linear] {
            for normalized in [false, true] {
                let image = Image::new(format, &[8, 4], None).unwrap();
                let sampler = Sampler {
                    normalized,
                    filter,
                    address: [mode; 3],
                    border: [9.0; 4],
                    ..Sampler::default()
                };
                let texture = Texture::new(image, sampler, 53);
                let far = [
                    f32::NAN,
                    f32::INFINITY,
                    f32::NEG_INFINITY,
                    1e30,
                    -1e30,
                    f32::MAX,
                    f32::MIN_POSITIVE,
                    -0.0,
                ];
                let cases: Vec<[u32; 16]> = far
                    .iter()
                    .flat_map(|x| {
                        far.iter().map(|y| {
                            let mut w = [0; 16];
                            (w[1], w[2]) = (x.to_bits(), y.to_bits());
                            w
                        })
                    })
                    .collect();
                let mut device = Device::new();
                let handle = texture.create(&mut device);
                let program = kernel(&body(&texture.image, false, false));
                for found in run(&mut device, &program, handle, &cases).unwrap() {
                    assert!((-31.0..=32.0).contains(&f32::from_bits(found[0])));
                }
            }
        }
    }
}

#[test]
fn srgb_is_decoded_before_filtering() {
    let image = Image::new(Format { ty: ChannelType::U8, channels: 4 }, &[2], None).unwrap();
    let sampler =
        Sampler { srgb: true, read: ReadMode::NormalizedFloat, filter: Filter::Linear, ..Sampler::default() };
    let texture = Texture { image, sampler, bytes: vec![0, 10, 128, 128, 255, 11, 0, 255] };
    let mut device = Device::new();
    let handle = texture.create(&mut device);
    let program = kernel(&body(&texture.image, false, false));
    let mut word = [0; 16];
    word[1] = 1f32.to_bits();
    let found = run(&mut device, &program, handle, &[word]).unwrap()[0].map(f32::from_bits);
    let linear = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    let expected = [0.5, (linear(10) + linear(11)) / 2.0, linear(128) / 2.0, (128.0 + 255.0) / 510.0];
    for (found, expected) in found.iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} {expected}");
    }
}
