//! `tld4`: one component of the four texels around.

use crate::reference::Texture;
use crate::{inputs, kernel, registers, run};
use warpsmith_interp::Device;
use warpsmith_interp::texture::{AddressMode, ChannelType, Format, Image, Sampler};

#[test]
fn counter_clockwise_from_the_lower_left() {
    let image = Image::new(Format { ty: ChannelType::S32, channels: 2 }, &[4, 3], None).unwrap();
    let sampler = Sampler {
        address: [AddressMode::Border, AddressMode::Clamp, AddressMode::Clamp],
        border: [-7.0, -8.0, 0.0, 0.0],
        ..Sampler::default()
    };
    let texture = Texture::new(image, sampler, 71);
    for (component, name) in ["r", "g", "b", "a"].into_iter().enumerate() {
        let program = kernel(&format!(
            "{} tld4.{name}.2d.v4.s32.f32 {}, [%h, {{%f0, %f1}}], {{1, -1}}; st.global.v4.u32 [%out], {};",
            inputs("f", 0, 2),
            registers("r", 8, 4),
            registers("r", 8, 4)
        ));
        let mut device = Device::new();
        let handle = texture.create(&mut device);
        let mut input = Vec::new();
        for y in 0..16 {
            for x in 0..20 {
                let mut words = [0; 16];
                words[0] = (x as f32 / 4.0 - 1.125).to_bits();
                words[1] = (y as f32 / 4.0 - 0.125).to_bits();
                input.push(words);
            }
        }
        let found = run(&mut device, &program, handle, &input).unwrap();
        for (words, found) in input.iter().zip(found) {
            let [x, y] = [0, 1].map(|i| f64::from(f32::from_bits(words[i])) - 0.5);
            let (i, j) = (x.floor() as i64 + 1, y.floor() as i64 - 1);
            let texel = |x: i64, y: i64| {
                let inside = (0..4).contains(&x);
                let texel = texture.texel(0, 0, [x.clamp(0, 3), y.clamp(0, 2), 0]);
                let border = [-7.0, -8.0, 0.0, 1.0];
                (if inside { texel } else { border })[component] as i64 as u32
            };
            let expected = [texel(i, j + 1), texel(i + 1, j + 1), texel(i + 1, j), texel(i, j)];
            assert_eq!(found, expected, "{name} at {x} {y}");
        }
    }
}

#[test]
fn layers_of_arrays() {
    let image = Image::new(Format { ty: ChannelType::U16, channels: 4 }, &[4, 3], Some(3)).unwrap();
    let texture = Texture::new(image, Sampler::default(), 107);
    for (component, name) in ["r", "g", "b", "a"].into_iter().enumerate() {
        let program = kernel(&format!(
            "{} {} tld4.{name}.a2d.v4.u32.f32 {}, [%h, {{%r2, %f0, %f1, %f1}}]; st.global.v4.u32 [%out], {};",
            inputs("f", 0, 2),
            inputs("r", 2, 1),
            registers("r", 8, 4),
            registers("r", 8, 4)
        ));
        let mut device = Device::new();
        let handle = texture.create(&mut device);
        let mut input = Vec::new();
        for layer in 0..4 {
            for y in 0..20 {
                for x in 0..24 {
                    let mut words = [0; 16];
                    words[0] = (x as f32 / 4.0 - 0.875).to_bits();
                    words[1] = (y as f32 / 4.0 - 0.875).to_bits();
                    words[2] = layer;
                    input.push(words);
                }
            }
        }
        let found = run(&mut device, &program, handle, &input).unwrap();
        for (words, found) in input.iter().zip(found) {
            let [x, y] = [0, 1].map(|i| (f64::from(f32::from_bits(words[i])) - 0.5).floor() as i64);
            let layer = words[2].min(2);
            let texel = |x: i64, y: i64| {
                texture.texel(0, layer, [x.clamp(0, 3), y.clamp(0, 2), 0])[component] as i64 as u32
            };
            let expected = [texel(x, y + 1), texel(x + 1, y + 1), texel(x + 1, y), texel(x, y)];
            assert_eq!(found, expected, "{name} at {x} {y} of {layer}");
        }
    }
}
