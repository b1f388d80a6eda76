//! Fetches of the common kind: from the base of a texture of one or two dimensions, without layers, faces, samples and border.
//!
//! They give what [`fetch`](super::fetch::fetch) gives, bit for bit, and do not ask in each warp what is the same in all fetches from a texture: that
//! is found out once, when the texture is made. What the general path does with factors in doubles is done here in integers where the texels are
//! integers, which is as exact.

// Loops over lanes index several arrays at once, and are to become vector instructions.
#![allow(clippy::needless_range_loop)]

use super::axis::{self, Axis, ONE, Rule};
use super::blend::{Reading, channel};
use super::fetch::{bilinear, side};
use super::format::{ChannelType, Format, from_half, to_half};
use super::sampler::{AddressMode, Filter, Sampler};
use super::{Image, Lanes, Texels};

/// A texture that is simple to fetch from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    format: Format,
    dims: usize,
    size: [u32; 2],
    /// Bytes from row to row.
    row_bytes: u32,
    /// Where the first texel is.
    offset: u32,
    rules: [Rule; 2],
    /// How texels are blended, if the texture is filtered.
    blend: Option<Numbers>,
    reading: Reading,
}

/// What the numbers are that are blended.
#[derive(Clone, Copy, Debug)]
enum Numbers {
    /// Integers, which a factor makes ones of 16 bits.
    Integers { scale: u32 },
    /// Single precision.
    Singles,
    /// Halves.
    Halves,
}

impl Numbers {
    /// Of texels that are read so; `None` if their blends are not as simple.
    fn of(format: Format, reading: Reading) -> Option<Numbers> {
        match format.ty {
            ChannelType::F32 => Some(Numbers::Singles),
            ChannelType::F16 => Some(Numbers::Halves),
            _ if reading.srgb || !reading.floats => None,
            ChannelType::U8 => Some(Numbers::Integers { scale: 257 }),
            ChannelType::U16 => Some(Numbers::Integers { scale: 1 }),
            // The numbers between -1 and 1 are not integers of 16 bits.
            ChannelType::S8 | ChannelType::S16 | ChannelType::U32 | ChannelType::S32 => None,
        }
    }
}

impl Plain {
    /// `None` if fetches take the general path.
    pub fn of(image: &Image, sampler: &Sampler) -> Option<Plain> {
        let dims = image.dims() as usize;
        let simple = dims <= 2 && image.layers().is_none() && image.samples().is_none() && !image.is_cube();
        let format = image.format();
        let reading = Reading::of(sampler, format.ty);
        let linear = sampler.filter == Filter::Linear && reading.floats;
        let has_border = sampler.address[..dims.min(2)].iter().any(|mode| match mode {
            AddressMode::Border => true,
            AddressMode::ClampOgl => linear,
            AddressMode::Wrap | AddressMode::Mirror | AddressMode::Clamp => false,
        });
        if !simple || has_border {
            return None;
        }
        // Integers that are to be filtered are a fault, which the general path finds.
        if sampler.filter == Filter::Linear && !linear {
            return None;
        }
        let normalized = sampler.normalized && !sampler.force_unnormalized;
        let [width, height, _] = image.size();
        let base = image.levels()[0];
        Some(Plain {
            format,
            dims,
            size: [width, height],
            row_bytes: base.row_bytes,
            offset: base.offset,
            rules: [0, 1].map(|d| Rule { mode: sampler.address[d], normalized }),
            blend: if linear { Some(Numbers::of(format, reading)?) } else { None },
            reading,
        })
    }

    /// The number of its dimensions.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The texels at coordinates, which are the bits of floats, filtered.
    #[inline(always)]
    pub fn fetch(&self, bits: &[Lanes<u32>; 2], memory: &impl Texels) -> [Lanes<u32>; 4] {
        let mut at = [[0.0; 32]; 2];
        for d in 0..self.dims {
            for i in 0..32 {
                at[d][i] = f32::from_bits(bits[d][i]);
            }
        }
        let Some(numbers) = self.blend else {
            let mut index = [[0; 32]; 2];
            for d in 0..self.dims {
                index[d] = axis::nearest(self.rules[d], &at[d], &[self.size[d]; 32], None);
            }
            return self.texels(&index, memory);
        };
        let mut axes = [Axis { low: [0; 32], high: [0; 32], weight: [0; 32] }; 2];
        for d in 0..self.dims {
            axes[d] = axis::linear(self.rules[d], &at[d], &[self.size[d]; 32], None);
        }
        match numbers {
            Numbers::Integers { scale } => self.blend_integers(&axes, scale, memory),
            Numbers::Singles => self.blend_floats(&axes, false, memory),
            Numbers::Halves => self.blend_floats(&axes, true, memory),
        }
    }

    /// The texels with numbers, which may be outside.
    #[inline(always)]
    pub fn at_texels(&self, numbers: &[Lanes<u32>; 2], memory: &impl Texels) -> [Lanes<u32>; 4] {
        let mut index = [[0; 32]; 2];
        for d in 0..self.dims {
            let mut at = [0; 32];
            for i in 0..32 {
                at[i] = numbers[d][i] as i32;
            }
            index[d] = axis::integer(self.rules[d].mode, &at, &[self.size[d]; 32], None);
        }
        self.texels(&index, memory)
    }

    /// Reads the texels with numbers that are inside.
    #[inline(always)]
    fn load(&self, x: &Lanes<i32>, y: &Lanes<i32>, memory: &impl Texels, words: &mut [Lanes<u32>; 4]) {
        let (row, bytes) = (self.row_bytes, self.format.bytes());
        let mut offsets = [self.offset; 32];
        for i in 0..32 {
            let in_row = (x[i] as u32).wrapping_mul(bytes);
            offsets[i] = offsets[i].wrapping_add((y[i] as u32).wrapping_mul(row).wrapping_add(in_row));
        }
        memory.load(bytes, &offsets, words);
    }

    #[inline(always)]
    fn texels(&self, [x, y]: &[Lanes<i32>; 2], memory: &impl Texels) -> [Lanes<u32>; 4] {
        let mut words = [[0; 32]; 4];
        self.load(x, y, memory, &mut words);
        let one = self.reading.one();
        let mut values = [[0; 32], [0; 32], [0; 32], [one; 32]];
        for c in 0..self.format.channels as usize & 7 {
            values[c] = channel(self.format, &words, c);
            self.reading.numbers(self.format.ty, c, &mut values[c]);
        }
        values
    }

    /// Reads the texels of a corner: low or high in each dimension.
    #[inline(always)]
    fn corner(&self, [x, y]: &[Axis; 2], corner: usize, memory: &impl Texels, words: &mut [Lanes<u32>; 4]) {
        self.load(side(x, corner & 1), side(y, corner >> 1), memory, words);
    }

    #[inline(always)]
    fn blend_integers(&self, axes: &[Axis; 2], scale: u32, memory: &impl Texels) -> [Lanes<u32>; 4] {
        let channels = self.format.channels as usize;
        let mut sums = [[0u32; 32]; 4];
        let mut words = [[0; 32]; 4];
        for (k, weights) in bilinear(&axes[0], &axes[1]).iter().enumerate().take(1 << self.dims) {
            self.corner(axes, k, memory, &mut words);
            for (c, sums) in sums.iter_mut().enumerate().take(channels) {
                let values = channel(self.format, &words, c);
                for i in 0..32 {
                    sums[i] += weights[i] as u32 * values[i];
                }
            }
        }
        let mut values = [[0; 32], [0; 32], [0; 32], [1f32.to_bits(); 32]];
        for (value, sums) in values.iter_mut().zip(&sums).take(channels) {
            for i in 0..32 {
                // Rounded to 16 bits. The quotient is as if it were rounded from one of doubles.
                let number = (sums[i] * scale + ONE as u32 / 2) / ONE as u32;
                value[i] = (number as i32 as f32 / 65535.0).to_bits();
            }
        }
        values
    }

    #[inline(always)]
    fn blend_floats(&self, axes: &[Axis; 2], halves: bool, memory: &impl Texels) -> [Lanes<u32>; 4] {
        const PART: f64 = 1.0 / ONE as f64;
        let channels = self.format.channels as usize;
        let mut sums = [[0f64; 32]; 4];
        let mut words = [[0; 32]; 4];
        for (k, weights) in bilinear(&axes[0], &axes[1]).iter().enumerate().take(1 << self.dims) {
            self.corner(axes, k, memory, &mut words);
            for (c, sums) in sums.iter_mut().enumerate().take(channels) {
                let mut values = channel(self.format, &words, c);
                if halves {
                    for value in &mut values {
                        *value = from_half(*value).to_bits();
                    }
                }
                for i in 0..32 {
                    let product = f64::from(weights[i]) * PART * f64::from(f32::from_bits(values[i]));
                    // An infinity with no weight adds nothing.
                    sums[i] += if weights[i] == 0 { 0.0 } else { product };
                }
            }
        }
        let mut values = [[0; 32], [0; 32], [0; 32], [1f32.to_bits(); 32]];
        for (value, sums) in values.iter_mut().zip(&sums).take(channels) {
            for i in 0..32 {
                value[i] = (sums[i] as f32).to_bits();
            }
            if halves {
                for value in value {
                    *value = from_half(to_half(f32::from_bits(*value))).to_bits();
                }
            }
        }
        values
    }
}
