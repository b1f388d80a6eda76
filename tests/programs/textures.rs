//! `tests/real/src/bindless.cu`: the functions of the CUDA runtime on textures and surfaces, and what samples do with them.

use super::*;
use warpsmith::interp::Handle;
use warpsmith::interp::texture::{AddressMode, ChannelType, Filter, Format, Image, ReadMode, Sampler};

const BUILDS: [&str; 2] = ["nvcc/bindless.sm_75", "nvcc/bindless.sm_90"];
const FLOAT: Format = Format { ty: ChannelType::F32, channels: 1 };

/// A kernel of each build, on a device of its own; `given` makes the arguments, of which the buffer holds the result.
fn on_builds<T: Plain>(
    shape: Launch,
    given: impl Fn(&mut Device) -> (Vec<Arg>, Buffer),
    check: impl Fn(&[T]),
) {
    for build in BUILDS {
        let path = format!("{}/tests/real/{build}.ptx", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).expect("the module is part of the repository");
        let tree = ValidatedModule::parse(&source).expect("the module is valid");
        let program = Program::load_entry(&tree, &shape.entry).unwrap_or_else(|errors| panic!("{errors:#?}"));
        for watched in [false, true] {
            let mut device = Device::new();
            let (args, result) = given(&mut device);
            let launch = args.into_iter().fold(shape.clone(), Launch::arg);
            let mut checkers = Checkers::new(Selection::all());
            if watched {
                device.launch_observed(&program, &launch, &mut checkers.observer()).unwrap();
                let report = checkers.into_report();
                assert!(report.is_empty(), "{}", report.text(&Sources::new(build, &source, &tree)));
            } else {
                device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{build}: {fault}"));
            }
            check(&device.download(result).expect("the buffer is there"));
        }
    }
}

fn texture(device: &mut Device, image: &Image, values: &[f32], sampler: &Sampler) -> Handle {
    let texels = device.upload(values).unwrap();
    device.create_texture(texels, image, sampler).unwrap()
}

fn ramp(n: u32) -> Vec<f32> {
    (0..n).map(|i| (i * 37 % 101) as f32).collect()
}

#[test]
fn every_function_of_the_runtime_loads() {
    for build in BUILDS {
        let path = format!("{}/tests/real/{build}.ptx", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).expect("the module is part of the repository");
        let tree = ValidatedModule::parse(&source).expect("the module is valid");
        let program = Program::load(&tree).unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert_eq!(program.kernels().count(), 21);
    }
}

#[test]
fn levels_layers_and_residency() {
    let image = Image::with(FLOAT, &[8, 8], None, false, Some(3), None).unwrap();
    let values = ramp(84);
    let sampler = Sampler { normalized: true, mip_filter: Filter::Linear, ..Sampler::default() };
    // Two texels of each level, halfway between levels, and of the gradient's level.
    let at: Vec<f32> = vec![0.0, 0.0, 0.0, 0.25, 0.99, 0.99, 1.5, 0.5];
    on_builds(
        shape("lod_2d", 1, 2),
        |device| {
            let t = texture(device, &image, &values, &sampler);
            let (at, out) = (device.upload(&at).unwrap(), device.alloc(24).unwrap());
            (vec![t.into(), at.into(), out.into()], out)
        },
        |out: &[f32]| {
            let between = (values[64 + 15] + values[80 + 3]) / 2.0;
            // 1.5 of the width are 12 texels a pixel: past the last level.
            assert_eq!(out, [values[0], values[64], values[0] + 100.0, between, values[83], between + 100.0]);
        },
    );
    let image = Image::with(FLOAT, &[4], Some(3), false, Some(2), None).unwrap();
    let values = ramp(18);
    on_builds(
        shape("layered_1d", 1, 1),
        |device| {
            let t = texture(device, &image, &values, &sampler);
            let (at, out) = (device.upload(&[0.3f32, 2.0]).unwrap(), device.alloc(12).unwrap());
            (vec![t.into(), at.into(), out.into()], out)
        },
        |out: &[f32]| assert_eq!(out, [values[9], values[16], values[9]]),
    );
}

#[test]
fn bytes_are_elements() {
    let image = Image::new(Format { ty: ChannelType::U8, channels: 4 }, &[3, 2], None).unwrap();
    on_builds(
        shape("bytes_2d", 1, 2),
        |device| {
            let texels: Vec<u8> = (0..24).collect();
            let texels = device.upload(&texels).unwrap();
            let t = device.create_texture(texels, &image, &Sampler::default()).unwrap();
            let (at, out) = (device.upload(&[1.5f32, 0.5, 9.0, 1.0]).unwrap(), device.alloc(8).unwrap());
            (vec![t.into(), at.into(), out.into()], out)
        },
        |out: &[u8]| assert_eq!(out, [4, 5, 6, 7, 20, 21, 22, 23]),
    );
}

#[test]
fn convolution_of_an_image() {
    const W: i32 = 24;
    const H: i32 = 10;
    let values = ramp((W * H) as u32);
    let weights = [0.25f32, 0.5, 0.25];
    let image = Image::new(FLOAT, &[W as u32, H as u32], None).unwrap();
    on_builds(
        Launch::new("convolve").grid([2, 2, 1]).block([16, 8, 1]),
        |device| {
            let source = texture(device, &image, &values, &Sampler::default());
            let line = Image::new(FLOAT, &[3], None).unwrap();
            let weights = texture(device, &line, &weights, &Sampler::default());
            let out = device.alloc_unwritten(u64::from(image.bytes())).unwrap();
            let target = device.create_surface(out, &image).unwrap();
            let mut images = [W.to_le_bytes(), H.to_le_bytes()].concat();
            for handle in [source, weights, target] {
                images.extend(handle.value().to_le_bytes());
            }
            (vec![Arg::bytes(images), 1i32.into()], out)
        },
        |out: &[f32]| {
            let texel = |x: i32, y: i32| values[(y.clamp(0, H - 1) * W + x.clamp(0, W - 1)) as usize];
            for y in 0..H {
                for x in 0..W {
                    let mut sum = 0.0;
                    for j in -1..=1 {
                        for i in -1..=1 {
                            sum +=
                                texel(x + i, y + j) * weights[(i + 1) as usize] * weights[(j + 1) as usize];
                        }
                    }
                    assert_eq!(out[(y * W + x) as usize], sum, "{x} {y}");
                }
            }
        },
    );
}

#[test]
fn a_bicubic_spline_keeps_a_plane() {
    let (w, h) = (12u32, 9u32);
    let image = Image::new(FLOAT, &[w, h], None).unwrap();
    let values: Vec<f32> = (0..w * h).map(|i| (i % w) as f32 * 2.0 - (i / w) as f32).collect();
    let at: Vec<f32> = (0..32).flat_map(|i| [2.5 + i as f32 / 7.0, 2.5 + i as f32 / 9.0]).collect();
    on_builds(
        shape("bicubic", 1, 32),
        |device| {
            let t = texture(device, &image, &values, &Sampler::default());
            let (at, out) = (device.upload(&at).unwrap(), device.alloc(128).unwrap());
            (vec![t.into(), at.into(), out.into()], out)
        },
        |out: &[f32]| {
            for (at, out) in at.chunks(2).zip(out) {
                let expected = (at[0] - 0.5) * 2.0 - (at[1] - 0.5);
                assert!((out - expected).abs() < 1e-4, "{at:?}: {out} {expected}");
            }
        },
    );
}

#[test]
fn rays_through_a_volume() {
    let volume = Image::new(FLOAT, &[4, 4, 4], None).unwrap();
    let colours = Image::new(Format { channels: 4, ..FLOAT }, &[2], None).unwrap();
    let smooth = Sampler { normalized: true, filter: Filter::Linear, ..Sampler::default() };
    on_builds(
        shape("march", 2, 4),
        |device| {
            let volume = texture(device, &volume, &[0.5; 64], &smooth);
            let table = [0.0f32, 0.0, 0.0, 0.0, 1.0, 0.5, 0.25, 1.0];
            let colours = texture(device, &colours, &table, &smooth);
            let out = device.alloc(8 * 16).unwrap();
            (vec![volume.into(), colours.into(), 4i32.into(), 3i32.into(), out.into()], out)
        },
        |out: &[f32]| {
            // Each step adds an eighth of half the colour of what is left.
            let left = 7.0f32 / 8.0;
            let alpha = 1.0 - left * left * left;
            for pixel in out.chunks(4) {
                for (found, part) in pixel.iter().zip([0.5, 0.25, 0.125, 1.0]) {
                    assert!((found - alpha * part).abs() < 1e-6, "{pixel:?}");
                }
            }
        },
    );
}

#[test]
fn a_step_of_a_distance_field() {
    let image = Image::new(Format { ty: ChannelType::S32, channels: 2 }, &[8, 8], None).unwrap();
    let mut seeds = vec![-1i32; 128];
    for (x, y) in [(1, 1), (6, 5)] {
        (seeds[(y * 8 + x) * 2], seeds[(y * 8 + x) * 2 + 1]) = (x as i32, y as i32);
    }
    on_builds(
        shape("distances", 8, 8),
        |device| {
            let texels = device.upload(&seeds).unwrap();
            let sampler =
                Sampler { address: [AddressMode::Border; 3], border: [-1.0; 4], ..Sampler::default() };
            let from = device.create_texture(texels, &image, &sampler).unwrap();
            let out = device.alloc_unwritten(512).unwrap();
            let to = device.create_surface(out, &image).unwrap();
            (vec![from.into(), to.into(), 8i32.into(), 2i32.into()], out)
        },
        |out: &[i32]| {
            for y in 0..8i32 {
                for x in 0..8i32 {
                    let near = |s: i32, c: i32| (c - s) % 2 == 0 && (c - s).abs() <= 2;
                    let known = [(1, 1), (6, 5)].into_iter().find(|(sx, sy)| near(*sx, x) && near(*sy, y));
                    let expected = known.unwrap_or((-1, -1));
                    let at = ((y * 8 + x) * 2) as usize;
                    assert_eq!((out[at], out[at + 1]), expected, "{x} {y}");
                }
            }
        },
    );
}

#[test]
fn halves_of_bytes_between_texels() {
    let image = Image::new(Format { ty: ChannelType::U8, channels: 4 }, &[2, 1], None).unwrap();
    let sampler = Sampler { filter: Filter::Linear, read: ReadMode::NormalizedFloat, ..Sampler::default() };
    on_builds(
        shape("fetch_2d", 1, 1),
        |device| {
            let texels = device.upload(&[0u8, 255, 100, 51, 255, 0, 102, 51]).unwrap();
            let t = device.create_texture(texels, &image, &sampler).unwrap();
            let (at, out) = (device.upload(&[1f32, 0.5]).unwrap(), device.alloc(16).unwrap());
            (vec![t.into(), at.into(), out.into()], out)
        },
        |out: &[f32]| {
            for (found, expected) in out.iter().zip([0.5, 0.5, 101.0 / 255.0, 0.2]) {
                assert!((found - expected).abs() < 1.0 / 65535.0, "{out:?}");
            }
        },
    );
}
