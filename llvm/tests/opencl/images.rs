//! Images and samplers (`corpus/images.cl`), against the formulas of the OpenCL specification (8.2).

use super::programs_of;
use warpsmith_interp::texture::{ChannelType, Format, Image, ReadMode, Sampler};
use warpsmith_interp::{Device, Handle, Launch, Plain, Program};

const FILES: [&[u8]; 2] =
    [include_bytes!("../corpus/images.O0.bc"), include_bytes!("../corpus/images.O3.bc")];

/// The flags of a sampler, as `opencl-c-base.h` numbers them.
const NORMALIZED: u64 = 1;
const EDGE: u64 = 2;
const BORDER: u64 = 4;
const REPEAT: u64 = 6;
const MIRRORED: u64 = 8;
const NEAREST: u64 = 0x10;
const LINEAR: u64 = 0x20;

fn launch(how: &str, device: &mut Device, program: &Program, launch: Launch) {
    device.launch(program, &launch).unwrap_or_else(|fault| panic!("{how}: {fault}"));
}

fn image(ty: ChannelType, channels: u32, size: &[u32], layers: Option<u32>) -> Image {
    Image::new(Format { ty, channels }, size, layers).unwrap()
}

/// A texture of elements with the default settings, which are not the sampler's.
fn texture<T: Plain>(device: &mut Device, texels: &[T], image: &Image) -> Handle {
    let texels = device.upload(texels).unwrap();
    device.create_texture(texels, image, &Sampler::default()).unwrap()
}

/// One dimension of a place: the coordinate in texels, and a texel as the sampler repeats it.
fn scaled(flags: u64, s: f32, size: f32) -> f32 {
    match flags & 0xe {
        _ if flags & NORMALIZED == 0 => s,
        REPEAT => (s - s.floor()) * size,
        MIRRORED => (s - 2.0 * (0.5 * s).round_ties_even()).abs() * size,
        _ => s * size,
    }
}

fn wrapped(flags: u64, x: i64, size: i64) -> i64 {
    match flags & 0xe {
        REPEAT if x < 0 => x + size,
        REPEAT if x >= size => x - size,
        MIRRORED | EDGE => x.clamp(0, size - 1),
        _ => x,
    }
}

/// What a sampler reads at a place of an image of floats.
fn sampled(flags: u64, size: &[usize], channels: usize, texels: &[f32], at: &[f32]) -> [f32; 4] {
    let texel = |place: &[i64]| -> [f32; 4] {
        let mut index = 0;
        for (x, size) in place.iter().zip(size).rev() {
            match usize::try_from(*x) {
                Ok(x) if x < *size => index = index * size + x,
                _ => return [0.0, 0.0, 0.0, if channels == 1 { 1.0 } else { 0.0 }],
            }
        }
        let mut all = [0.0, 0.0, 0.0, 1.0];
        all[..channels].copy_from_slice(&texels[index * channels..][..channels]);
        all
    };
    let of = |n: usize| (size[n] as f32, size[n] as i64);
    let scaled = |n: usize| scaled(flags, at[n], of(n).0);
    if flags & LINEAR == 0 {
        let place: Vec<i64> =
            (0..size.len()).map(|n| wrapped(flags, scaled(n).floor() as i64, of(n).1)).collect();
        return texel(&place);
    }
    let mut sum: Option<[f32; 4]> = None;
    for corner in 0..1usize << size.len() {
        let (mut place, mut weight) = (Vec::new(), None);
        for n in 0..size.len() {
            let u = scaled(n) - 0.5;
            let (second, side) = (u - u.floor(), (corner >> n & 1) as i64);
            place.push(wrapped(flags, u.floor() as i64 + side, of(n).1));
            let factor = if side == 1 { second } else { 1.0 - second };
            weight = Some(weight.map_or(factor, |weight: f32| weight * factor));
        }
        let part = texel(&place).map(|channel| weight.unwrap_or(1.0) * channel);
        sum = Some(sum.map_or(part, |sum| std::array::from_fn(|n| sum[n] + part[n])));
    }
    sum.unwrap()
}

#[test]
fn every_sampler() {
    let samplers: Vec<u64> =
        [EDGE, BORDER, NORMALIZED | EDGE, NORMALIZED | BORDER, NORMALIZED | REPEAT, NORMALIZED | MIRRORED]
            .into_iter()
            .flat_map(|flags| [flags | NEAREST, flags | LINEAR])
            .collect();
    // On both sides of all images, and between texels.
    let at: Vec<f32> = (0..96).map(|i| ((i * 37) % 96) as f32 * 0.09375 - 2.5).collect();
    for (how, program) in programs_of(FILES) {
        let mut device = Device::new();
        let places = device.upload(&at).unwrap();
        let out = device.upload(&[0f32; 128]).unwrap();
        for (name, size) in [("sampled_1d", &[5u32][..]), ("sampled_2d", &[4, 3]), ("sampled_3d", &[3, 2, 4])]
        {
            for channels in [1, 4] {
                let count = size.iter().product::<u32>() * channels;
                let texels: Vec<f32> = (0..count).map(|i| ((i * 53) % 101) as f32 * 0.25 - 9.0).collect();
                let handle = texture(&mut device, &texels, &image(ChannelType::F32, channels, size, None));
                let size: Vec<usize> = size.iter().map(|size| *size as usize).collect();
                for flags in &samplers {
                    let read = Launch::new(name).block([32, 1, 1]).arg(handle).arg(*flags);
                    launch(&how, &mut device, &program, read.arg(places).arg(out));
                    let found = device.download::<f32>(out).unwrap();
                    for (i, at) in at.chunks(3).enumerate() {
                        let expected = sampled(*flags, &size, channels as usize, &texels, at);
                        assert_eq!(
                            found[i * 4..][..4],
                            expected,
                            "{how}: {name}, {channels} channels, sampler {flags:#x}, at {at:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn texels_of_every_geometry() {
    for (how, program) in programs_of(FILES) {
        let mut device = Device::new();
        let a = texture(&mut device, &[-5i16, 6, 7], &image(ChannelType::S16, 1, &[3], None));
        let b = texture(&mut device, &[10i32, 11, 12, 13], &image(ChannelType::S32, 1, &[4], None));
        let c = texture(&mut device, &[1i8, 2, 3, 4, 5, 6, 7, 8], &image(ChannelType::S8, 2, &[2], Some(2)));
        let d = texture(&mut device, &[9u8, 8, 7, 6, 5, 4, 3, 2], &image(ChannelType::U8, 4, &[1, 2], None));
        let e = texture(
            &mut device,
            &[0f32, 1., 2., 3., 10., 11., 12., 13.],
            &image(ChannelType::F32, 1, &[2, 2], Some(2)),
        );
        let f: Vec<f32> = (0..16).map(|i| i as f32).collect();
        let f = texture(&mut device, &f, &image(ChannelType::F32, 1, &[4, 2, 2], None));
        let (out, unsigned) = (device.upload(&[0i32; 64]).unwrap(), device.upload(&[0u32; 16]).unwrap());
        let floats = device.upload(&[0f32; 32]).unwrap();
        let read = Launch::new("texels").block([4, 1, 1]).arg(a).arg(b).arg(c).arg(d).arg(e).arg(f);
        launch(&how, &mut device, &program, read.arg(out).arg(unsigned).arg(floats));
        let found = device.download::<i32>(out).unwrap();
        let (unsigned, floats) =
            (device.download::<u32>(unsigned).unwrap(), device.download::<f32>(floats).unwrap());
        for i in 0..4usize {
            let edge = [-5, -5, 6, 7][i];
            // The second column of arrays has two channels; its layers are clamped, its columns have a border.
            let layered = match i {
                1 => [5, 6, 0, 1],
                2 => [7, 8, 0, 1],
                _ => [0, 0, 0, 1],
            };
            let beside = [0, -5, 6, 7][i];
            let expected = [[edge, 0, 0, 1], [10 + i as i32, 0, 0, 1], layered, [beside, 0, 0, 1]].concat();
            assert_eq!(found[i * 16..][..16], expected, "{how}: {i}");
            let expected = if i == 1 { [5, 4, 3, 2] } else { [0; 4] };
            assert_eq!(unsigned[i * 4..][..4], expected, "{how}: {i}");
            let (x, layer) = ([0., 0., 1., 1.][i], [0., 10., 10., 10.][i]);
            let expected = [layer + 2. + x, 0., 0., 1., 12. + i as f32, 0., 0., 1.];
            assert_eq!(floats[i * 8..][..8], expected, "{how}: {i}");
        }
    }
}

#[test]
fn queries() {
    for (how, program) in programs_of(FILES) {
        let mut device = Device::new();
        let a = texture(&mut device, &[0f32; 15], &image(ChannelType::F32, 1, &[3], Some(5)));
        let b = texture(&mut device, &[0u8; 112], &image(ChannelType::U8, 4, &[4, 7], None));
        let c = device.upload(&[0f32; 30]).unwrap();
        let c = device.create_surface(c, &image(ChannelType::F32, 1, &[5, 3, 2], None)).unwrap();
        let d = texture(&mut device, &[0f32; 12], &image(ChannelType::F32, 1, &[2, 1], Some(6)));
        let out = device.upload(&[-1i32; 13]).unwrap();
        launch(&how, &mut device, &program, Launch::new("queries").arg(a).arg(b).arg(c).arg(d).arg(out));
        assert_eq!(device.download::<i32>(out).unwrap(), [3, 5, 7, 407, 5, 3, 2, 0, 2, 6, 1, 1, 1], "{how}");
    }
}

#[test]
fn stores() {
    for (how, program) in programs_of(FILES) {
        let mut device = Device::new();
        // Fractions in channels of 8 and 16 bits, and floats.
        let from = [0.5f32, -0.25, 1.0, 2.0, f32::NAN, 0.001, -7.0, 0.999];
        let data = device.upload(&from).unwrap();
        let whole =
            |of_one: f32, least: f32| from.map(|x| (x.max(least).min(1.0) * of_one).round_ties_even() as i32);
        let mut floats = |ty: ChannelType, bytes: usize| {
            let texels = device.upload(&vec![0u8; bytes]).unwrap();
            let surface = device.create_surface(texels, &image(ty, 4, &[2], None)).unwrap();
            let write = Launch::new("floats").block([2, 1, 1]).arg(surface).arg(data);
            launch(&how, &mut device, &program, write);
            device.download::<u8>(texels).unwrap()
        };
        assert_eq!(floats(ChannelType::U8, 8), whole(255.0, 0.0).map(|x| x as u8), "{how}");
        assert_eq!(floats(ChannelType::S8, 8), whole(127.0, -1.0).map(|x| x as u8), "{how}");
        let bytes = |x: [i32; 8]| x.map(|x| (x as u16).to_le_bytes()).concat();
        assert_eq!(floats(ChannelType::U16, 16), bytes(whole(65535.0, 0.0)), "{how}");
        assert_eq!(floats(ChannelType::S16, 16), bytes(whole(32767.0, -1.0)), "{how}");
        assert_eq!(floats(ChannelType::F32, 32), from.map(f32::to_le_bytes).concat(), "{how}");
        assert_eq!(floats(ChannelType::F16, 16)[..4], [0x00, 0x38, 0x00, 0xb4], "{how}");

        let mut surface = |bytes: usize, ty, channels, size: &[u32], layers| {
            let texels = device.upload(&vec![0u8; bytes]).unwrap();
            (texels, device.create_surface(texels, &image(ty, channels, size, layers)).unwrap())
        };
        let (a, into_a) = surface(16, ChannelType::U8, 4, &[2, 2], None);
        let (b, into_b) = surface(32, ChannelType::S16, 2, &[2, 2], Some(2));
        let (c, into_c) = surface(64, ChannelType::F32, 2, &[2, 2, 2], None);
        let (d, into_d) = surface(8, ChannelType::S32, 1, &[1], Some(2));
        let write = Launch::new("stores").block([2, 1, 1]).arg(into_a).arg(into_b).arg(into_c).arg(into_d);
        launch(&how, &mut device, &program, write);
        let expected = [0, 0, 0, 0, 1, 2, 3, 4, 0, 2, 3, 4, 0, 0, 0, 0];
        assert_eq!(device.download::<u8>(a).unwrap(), expected, "{how}");
        let mut expected = [0i16; 16];
        expected[12..].copy_from_slice(&[0, i16::MAX, -1, i16::MAX]);
        assert_eq!(device.download::<i16>(b).unwrap(), expected, "{how}");
        let mut expected = [0f32; 16];
        expected[8..12].copy_from_slice(&[0.0, 0.5, 1.0, 0.5]);
        assert_eq!(device.download::<f32>(c).unwrap(), expected, "{how}");
        assert_eq!(device.download::<i32>(d).unwrap(), [-9, -8], "{how}");
    }
}

#[test]
fn a_blur() {
    let (width, height) = (9usize, 6usize);
    let texels: Vec<u8> = (0..width * height * 4).map(|i| (i * 73 % 251) as u8).collect();
    let at = |x: i64, y: i64, channel: usize| {
        let (x, y) = (x.clamp(0, width as i64 - 1) as usize, y.clamp(0, height as i64 - 1) as usize);
        f32::from(texels[(y * width + x) * 4 + channel]) / 255.0
    };
    for (how, program) in programs_of(FILES) {
        let mut device = Device::new();
        let format = image(ChannelType::U8, 4, &[width as u32, height as u32], None);
        let from = device.upload(&texels).unwrap();
        let normalized = Sampler { read: ReadMode::NormalizedFloat, ..Sampler::default() };
        let from = device.create_texture(from, &format, &normalized).unwrap();
        let to = device.upload(&vec![0u8; texels.len()]).unwrap();
        let into = device.create_surface(to, &format).unwrap();
        let blur = Launch::new("blur").grid([2, 2, 1]).block([8, 4, 1]).arg(from).arg(into);
        launch(&how, &mut device, &program, blur);
        let found = device.download::<u8>(to).unwrap();
        for (i, found) in found.iter().enumerate() {
            let (x, y, channel) = ((i / 4 % width) as i64, (i / 4 / width) as i64, i % 4);
            let mut sum = 0.0;
            for (dy, dx) in (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dy, dx))) {
                sum += at(x + dx, y + dy, channel);
            }
            // Texture units round fractions of 255 in a way of their own.
            let expected = sum / 9.0 * 255.0;
            assert!((f32::from(*found) - expected).abs() <= 0.51, "{how}: {i}: {found} {expected}");
        }
    }
}
