//! The guide's formulas, written down once more: one fetch at a time, in doubles.

use crate::Random;
use warpsmith_interp::texture::{AddressMode, ChannelType, Filter, Format, Image, ReadMode, Sampler};
use warpsmith_interp::{Device, Handle};

/// A texture with its content.
#[derive(Clone)]
pub struct Texture {
    pub image: Image,
    pub sampler: Sampler,
    pub bytes: Vec<u8>,
}

/// Coordinates of a fetch, in the order x, y, z.
#[derive(Clone, Copy)]
pub enum At {
    Floats([f32; 3]),
    Texels([i32; 3]),
}

impl Texture {
    /// Texels of small numbers, which all sums of quarters are exact in.
    pub fn new(image: Image, sampler: Sampler, seed: u64) -> Texture {
        let mut random = Random(seed);
        let ty = image.format().ty;
        let count = image.bytes() / ty.bytes();
        let mut bytes = Vec::new();
        for _ in 0..count {
            let n = random.next();
            match ty {
                ChannelType::U8 | ChannelType::S8 => bytes.push(n as u8),
                ChannelType::U16 | ChannelType::S16 => bytes.extend((n as u16).to_le_bytes()),
                ChannelType::U32 | ChannelType::S32 => bytes.extend((n ^ n << 7).to_le_bytes()),
                // A half from 16 to 31.
                ChannelType::F16 => bytes.extend((0x4c00 + ((n & 15) << 6) as u16).to_le_bytes()),
                ChannelType::F32 => bytes.extend(((n & 63) as f32 - 31.0).to_le_bytes()),
            }
        }
        Texture { image, sampler, bytes }
    }

    pub fn create(&self, device: &mut Device) -> Handle {
        let texels = device.upload(&self.bytes).unwrap();
        device.create_texture(texels, &self.image, &self.sampler).unwrap()
    }

    /// True if results are floats.
    pub fn floats(&self) -> bool {
        let ty = self.image.format().ty;
        !ty.is_integer() || self.sampler.read == ReadMode::NormalizedFloat
    }

    /// Sizes of a level.
    fn size(&self, level: u32) -> [i64; 3] {
        self.image.size().map(|n| i64::from((n >> level).max(1)))
    }

    /// A texel that is there, as four numbers.
    pub fn texel(&self, level: u32, layer: u32, [x, y, z]: [i64; 3]) -> [f64; 4] {
        let Format { ty, channels } = self.image.format();
        let layers = self.image.layers().unwrap_or(1);
        let texels = |level: u32| self.size(level).iter().product::<i64>();
        let before: i64 = (0..level).map(|l| texels(l) * i64::from(layers)).sum();
        let [w, h, _] = self.size(level);
        let index = before + texels(level) * i64::from(layer) + (z * h + y) * w + x;
        let mut result = [0.0, 0.0, 0.0, 1.0];
        for (c, result) in result.iter_mut().enumerate().take(channels as usize) {
            let at = (index as usize * channels as usize + c) * ty.bytes() as usize;
            let b = &self.bytes[at..];
            let normal = self.sampler.read == ReadMode::NormalizedFloat;
            let over = |value: f64, one: f64| if normal { (value / one).max(-1.0) } else { value };
            *result = match ty {
                ChannelType::U8 => over(b[0].into(), 255.0),
                ChannelType::S8 => over((b[0] as i8).into(), 127.0),
                ChannelType::U16 => over(u16::from_le_bytes([b[0], b[1]]).into(), 65535.0),
                ChannelType::S16 => over(i16::from_le_bytes([b[0], b[1]]).into(), 32767.0),
                ChannelType::U32 => u32::from_le_bytes([b[0], b[1], b[2], b[3]]).into(),
                ChannelType::S32 => i32::from_le_bytes([b[0], b[1], b[2], b[3]]).into(),
                ChannelType::F32 => f32::from_le_bytes([b[0], b[1], b[2], b[3]]).into(),
                ChannelType::F16 => {
                    let bits = u16::from_le_bytes([b[0], b[1]]);
                    f64::from(1024 + (bits & 1023)) * 2f64.powi(i32::from(bits >> 10 & 31) - 25)
                }
            };
        }
        result
    }

    /// A texel of indices that may be outside.
    fn addressed(&self, level: u32, layer: u32, index: [i64; 3], integers: bool) -> [f64; 4] {
        let size = self.size(level);
        let mut inside = [0; 3];
        for d in 0..self.image.dims() as usize {
            let (i, n) = (index[d], size[d]);
            let repeats = self.sampler.normalized && !integers;
            // OpenGL's CLAMP: coordinates end at the edge, where half of a blend is the border.
            let blends = self.sampler.filter == Filter::Linear && self.floats() && !integers;
            inside[d] = match self.sampler.address[d] {
                AddressMode::Wrap if repeats => i.rem_euclid(n),
                // Coordinates are folded before, so that only neighbours are outside.
                mode @ (AddressMode::Border | AddressMode::ClampOgl)
                    if !(0..n).contains(&i) && (blends || mode == AddressMode::Border) =>
                {
                    let mut border = [0.0, 0.0, 0.0, 1.0];
                    let channels = self.image.format().channels as usize;
                    border[..channels].copy_from_slice(&self.sampler.border[..channels]);
                    return border;
                }
                _ => i.clamp(0, n - 1),
            };
        }
        self.texel(level, layer, inside)
    }

    /// A coordinate in texels.
    fn scaled(&self, dim: usize, x: f32, n: i64) -> f64 {
        let x = f64::from(x);
        let mode = self.sampler.address[dim];
        if mode == AddressMode::ClampOgl {
            let scale = if self.sampler.normalized { n as f64 } else { 1.0 };
            return (x * scale).clamp(0.0, n as f64);
        }
        if !self.sampler.normalized {
            return x;
        }
        let floor = x.floor();
        let folded = match mode {
            AddressMode::Wrap => x - floor,
            AddressMode::Mirror if floor.rem_euclid(2.0) == 1.0 => 1.0 - (x - floor),
            AddressMode::Mirror => x - floor,
            _ => x,
        };
        folded * n as f64
    }

    /// A fetch from one level.
    pub fn fetch(&self, level: u32, layer: u32, at: At) -> [f64; 4] {
        let (dims, size) = (self.image.dims() as usize, self.size(level));
        let at = match at {
            At::Texels(at) => return self.addressed(level, layer, at.map(i64::from), true),
            At::Floats(at) => at,
        };
        if self.sampler.filter == Filter::Nearest || !self.floats() {
            let index =
                std::array::from_fn(
                    |d| if d < dims { self.scaled(d, at[d], size[d]).floor() as i64 } else { 0 },
                );
            return self.addressed(level, layer, index, false);
        }
        let mut base = [0; 3];
        let mut weight = [0.0; 3];
        for d in 0..dims {
            let b = self.scaled(d, at[d], size[d]) - 0.5;
            base[d] = b.floor() as i64;
            // 9 bits, of which 8 are of the fraction.
            weight[d] = ((b - b.floor()) * 256.0).round() / 256.0;
        }
        let mut sum = [0.0; 4];
        for corner in 0..1 << dims {
            let side = |d: usize| i64::from(corner >> d & 1);
            let index = std::array::from_fn(|d| if d < dims { base[d] + side(d) } else { 0 });
            let part: f64 =
                (0..dims).map(|d| if side(d) == 1 { weight[d] } else { 1.0 - weight[d] }).product();
            let texel = self.addressed(level, layer, index, false);
            (0..4).for_each(|c| sum[c] += part * texel[c]);
        }
        // As measured: a texture of one dimension is a row of one of two, whose other neighbour is the border.
        if dims == 1 && self.image.layers().is_none() && self.sampler.address[0] == AddressMode::Border {
            let channels = self.image.format().channels as usize;
            (0..channels).for_each(|c| sum[c] = 0.5 * sum[c] + 0.5 * self.sampler.border[c]);
        }
        sum
    }

    /// A fetch at a level of detail.
    pub fn at_level(&self, detail: f64, layer: u32, at: At) -> [f64; 4] {
        let last = self.image.mipmap().unwrap_or(1) - 1;
        let lod = self.sampler.lod;
        let detail = (detail + f64::from(lod.bias)).max(lod.min.into()).min(lod.max.into());
        let detail = detail.clamp(0.0, last.into());
        if self.sampler.mip_filter == Filter::Nearest {
            return self.fetch(((detail + 0.5).floor() as u32).min(last), layer, at);
        }
        let low = detail.floor();
        let part = ((detail - low) * 256.0).round() / 256.0;
        let first = self.fetch(low as u32, layer, at);
        let second = self.fetch((low as u32 + 1).min(last), layer, at);
        std::array::from_fn(|c| (1.0 - part) * first[c] + part * second[c])
    }

    /// What may be between a result and the formula's: nothing where the result is one texel, half a unit of 16 bits where integers are blended.
    pub fn close(&self, found: u32, expected: f64, exact: bool) -> bool {
        if !self.floats() {
            return found == expected as i64 as u32;
        }
        let (found, ty) = (f64::from(f32::from_bits(found)), self.image.format().ty);
        let blended = if ty.is_integer() { 1.0 / 32767.0 } else { 0.0 };
        let rounded = (expected.abs() * 6e-8).max(1e-38);
        // A unit of a weight, of the whole range.
        let range = match ty {
            ChannelType::F32 => 64.0,
            ChannelType::F16 => 16.0,
            _ => 2.0,
        };
        let half = if ty == ChannelType::F16 { expected.abs() / 2048.0 } else { 0.0 };
        let within = if exact { rounded + blended } else { rounded + blended + half + range / 256.0 };
        (found - expected).abs() <= within
    }
}
