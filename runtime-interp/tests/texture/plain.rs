//! The short path of fetches gives the bits of the general one, which an observer of accesses makes the engine take.

use crate::{Random, inputs, kernel, registers, run, run_observed};
use warpsmith_interp::observe::Observer;
use warpsmith_interp::texture::{AddressMode, ChannelType, Filter, Format, Image, ReadMode, Sampler};
use warpsmith_interp::{Device, Program};

/// Sees every access and minds none.
struct All;

impl Observer for All {}

/// A coordinate: near the texture mostly, on halves and eighths of texels often, and sometimes nowhere.
fn coordinate(random: &mut Random, size: u32, normalized: bool) -> f32 {
    let n = size as f32;
    let x = match random.next() % 16 {
        0 => {
            return [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, -0.0]
                [random.next() as usize % 6];
        }
        1..8 => (random.next() % (24 * size)) as f32 / 8.0 - n,
        _ => (random.next() % 100_000) as f32 / 100_000.0 * 3.0 * n - n,
    };
    if normalized { x / n } else { x }
}

fn is_nan(bits: u32) -> bool {
    f32::from_bits(bits).is_nan()
}

fn compare(program: &Program, image: &Image, sampler: &Sampler, integers: bool, random: &mut Random) {
    let mut device = Device::new();
    let bytes: Vec<u8> = (0..image.bytes()).map(|_| random.next() as u8).collect();
    let texels = device.upload(&bytes).unwrap();
    let handle = device.create_texture(texels, image, sampler).unwrap();
    let input: Vec<[u32; 16]> = (0..384)
        .map(|_| {
            let mut words = [0; 16];
            for (word, size) in words.iter_mut().zip(image.size()).take(2) {
                *word = match integers {
                    true => (random.next() % (3 * size)).wrapping_sub(size),
                    false => coordinate(random, size, sampler.normalized).to_bits(),
                };
            }
            // Which threads fetch.
            words[2] = random.next() & 1;
            words
        })
        .collect();
    let short = run(&mut device, program, handle, &input).unwrap();
    let general = run_observed(&mut device, program, handle, &input, &mut All).unwrap();
    let floats = !image.format().ty.is_integer() || sampler.read == ReadMode::NormalizedFloat;
    for ((words, short), general) in input.iter().zip(short).zip(general) {
        let same = (0..4).all(|c| short[c] == general[c] || floats && is_nan(short[c]) && is_nan(general[c]));
        let at = [0, 1].map(|d| f32::from_bits(words[d]));
        assert!(same, "{image:?} {sampler:?} at {at:?} {words:x?}: {short:x?}, but {general:x?}");
    }
}

#[test]
fn every_type_mode_and_filter() {
    let mut random = Random(83);
    for (dims, integers) in [(1, false), (2, false), (1, true), (2, true)] {
        let (kind, ctype) = if integers { ("r", "s32") } else { ("f", "f32") };
        let program = kernel(&format!(
            "{} {} mov.u32 %r8, 1; mov.u32 %r9, 2; mov.u32 %r10, 3; mov.u32 %r11, 4; setp.ne.u32 %p0, %r2, 0;
             @%p0 tex.{dims}d.v4.u32.{ctype} {}, [%h, {}]; st.global.v4.u32 [%out], {};",
            inputs("r", 0, 3),
            inputs("f", 0, 2),
            registers("r", 8, 4),
            registers(kind, 0, dims),
            registers("r", 8, 4)
        ));
        for ty in ChannelType::ALL {
            for channels in [1, 2, 4] {
                let image = Image::new(Format { ty: *ty, channels }, &[7, 5][..dims], None).unwrap();
                for i in 0..24 {
                    let mode = |n: usize| AddressMode::ALL[n % AddressMode::ALL.len()];
                    let sampler = Sampler {
                        normalized: i & 1 != 0,
                        filter: if i & 2 != 0 { Filter::Linear } else { Filter::Nearest },
                        read: if i & 4 != 0 { ReadMode::NormalizedFloat } else { ReadMode::Element },
                        address: [mode(i / 2 + channels as usize), mode(i / 3), AddressMode::Clamp],
                        border: [0.25, 0.5, 0.75, 1.0],
                        srgb: *ty == ChannelType::U8 && i & 12 == 12,
                        ..Sampler::default()
                    };
                    if sampler.check(image.format()).is_ok() {
                        compare(&program, &image, &sampler, integers, &mut random);
                    }
                }
            }
        }
    }
}

#[test]
fn lanes_with_textures_of_their_own() {
    let program = kernel(&format!(
        "{} ld.global.u64 %h, [%in+8]; tex.2d.v4.f32.f32 {}, [%h, {{%f0, %f1}}]; st.global.v4.f32 [%out], {};",
        inputs("f", 0, 2),
        registers("f", 8, 4),
        registers("f", 8, 4)
    ));
    let mut device = Device::new();
    let handles = [1f32, 2.0, 3.0].map(|value| {
        let format = Format { ty: ChannelType::F32, channels: 1 };
        let texels = device.upload(&[value; 4]).unwrap();
        let image = Image::new(format, &[2, 2], None).unwrap();
        device.create_texture(texels, &image, &Sampler::default()).unwrap()
    });
    let input: Vec<[u32; 16]> = (0..128)
        .map(|i| {
            let mut words = [0; 16];
            let handle = handles[i % 3].value();
            (words[2], words[3]) = (handle as u32, (handle >> 32) as u32);
            words
        })
        .collect();
    let found = run(&mut device, &program, handles[0], &input).unwrap();
    for (i, found) in found.iter().enumerate() {
        assert_eq!(f32::from_bits(found[0]), (i % 3 + 1) as f32);
    }
}
