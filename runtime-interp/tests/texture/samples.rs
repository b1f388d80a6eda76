//! Textures whose texels have several samples: `.2dms` and `.a2dms`, every texel, sample and layer, and places outside.

use crate::{inputs, kernel, registers, run};
use warpsmith_interp::Device;
use warpsmith_interp::texture::{AddressMode, ChannelType, Format, Image, Sampler};

const WIDTH: i32 = 5;
const HEIGHT: i32 = 3;

#[test]
fn every_sample_of_every_texel() {
    for (ty, channels) in [(ChannelType::U32, 1), (ChannelType::S16, 2), (ChannelType::U8, 4)] {
        for (geometry, layers) in [("2dms", None), ("a2dms", Some(3u32))] {
            for samples in [1, 2, 4, 8] {
                let format = Format { ty, channels };
                let image =
                    Image::with(format, &[WIDTH as u32, HEIGHT as u32], layers, false, None, Some(samples));
                let image = image.unwrap();
                let mut device = Device::new();
                let count = image.bytes() / ty.bytes();
                // Each channel of each sample has a number of its own.
                let number = |i: u32| i.wrapping_mul(0x9e37_79b1) >> 9;
                let bytes: Vec<u8> = (0..count)
                    .flat_map(|i| number(i).to_le_bytes().into_iter().take(ty.bytes() as usize))
                    .collect();
                let texels = device.upload(&bytes).unwrap();
                for mode in [AddressMode::Clamp, AddressMode::Border] {
                    let sampler =
                        Sampler { address: [mode; 3], border: [-9.0, 8.0, -7.0, 6.0], ..Sampler::default() };
                    let handle = device.create_texture(texels, &image, &sampler).unwrap();
                    let at = match layers {
                        None => "{%r1, %r2, %r3, %r3}",
                        Some(_) => "{%r0, %r1, %r2, %r3}",
                    };
                    let program = kernel(&format!(
                        "{} tex.{geometry}.v4.s32.s32 {}, [%h, {at}]; st.global.v4.s32 [%out], {};",
                        inputs("r", 0, 4),
                        registers("r", 8, 4),
                        registers("r", 8, 4)
                    ));
                    let mut input = Vec::new();
                    for layer in 0..layers.map_or(1, |n| n + 1) {
                        for sample in 0..samples {
                            for y in -1..=HEIGHT {
                                for x in -2..=WIDTH + 1 {
                                    let mut words = [0; 16];
                                    words[..4].copy_from_slice(&[layer, sample, x as u32, y as u32]);
                                    input.push(words);
                                }
                            }
                        }
                    }
                    let found = run(&mut device, &program, handle, &input).unwrap();
                    for (words, found) in input.iter().zip(found) {
                        let [layer, sample] = [words[0], words[1]];
                        let [x, y] = [words[2] as i32, words[3] as i32];
                        let inside = (0..WIDTH).contains(&x) && (0..HEIGHT).contains(&y);
                        let (i, j) = (x.clamp(0, WIDTH - 1) as u32, y.clamp(0, HEIGHT - 1) as u32);
                        let layer = layer.min(layers.unwrap_or(1) - 1);
                        let texel = (layer * HEIGHT as u32 + j) * WIDTH as u32 + i;
                        let mut expected = [0, 0, 0, 1];
                        for (c, expected) in expected.iter_mut().enumerate().take(channels as usize) {
                            let bits = number((texel * samples + sample) * channels + c as u32);
                            *expected = match ty {
                                _ if mode == AddressMode::Border && !inside => [-9i32, 8, -7, 6][c] as u32,
                                ChannelType::U8 => bits & 0xff,
                                ChannelType::S16 => bits as u16 as i16 as u32,
                                _ => bits,
                            };
                        }
                        assert_eq!(found, expected, "{geometry} {samples} samples {mode:?} {words:?}");
                    }
                }
            }
        }
    }
}
