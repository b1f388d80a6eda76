//! From the bytes of texels to numbers: one in each lane as it is, or several blended and rounded once.

// Loops over lanes index several arrays at once, and are to become vector instructions.
#![allow(clippy::needless_range_loop)]

use super::fetch::{Fetch, Fetched, Tap};
use super::format::{ChannelType, Format, from_half, linear_of_srgb, to_half};
use super::sampler::{ReadMode, Sampler};
use super::{Lanes, Texels};

/// Evaluates with each type as a constant, so that loops are compiled for it. No closure, which would be compiled apart from its caller and for another
/// instruction set.
macro_rules! with_type {
    ($ty:ident => $body:expr) => {
        match $ty {
            ChannelType::U8 => with_type!(@ $ty U8 $body),
            ChannelType::S8 => with_type!(@ $ty S8 $body),
            ChannelType::U16 => with_type!(@ $ty U16 $body),
            ChannelType::S16 => with_type!(@ $ty S16 $body),
            ChannelType::U32 => with_type!(@ $ty U32 $body),
            ChannelType::S32 => with_type!(@ $ty S32 $body),
            ChannelType::F16 => with_type!(@ $ty F16 $body),
            ChannelType::F32 => with_type!(@ $ty F32 $body),
        }
    };
    (@ $ty:ident $constant:ident $body:expr) => {{
        let $ty = ChannelType::$constant;
        $body
    }};
}

impl<M: Texels> Fetch<'_, M> {
    /// Reads the texels of a tap, as words.
    #[inline(always)]
    fn read(&mut self, tap: &Tap) -> [Lanes<u32>; 4] {
        self.taps.read(self.request.lanes & !tap.border, &tap.offsets);
        let mut words = [[0; 32]; 4];
        self.memory.load(self.image.format().bytes(), &tap.offsets, &mut words);
        words
    }

    /// One texel in each lane, as it is.
    #[inline(always)]
    pub(super) fn plain(&mut self, tap: &Tap) -> Fetched {
        let words = self.read(tap);
        let channels = self.image.format().channels as usize;
        let reading = self.reading();
        let one = reading.one();
        let mut values = [[0; 32], [0; 32], [0; 32], [one; 32]];
        for (c, value) in values.iter_mut().enumerate().take(channels) {
            *value = channel(self.image.format(), &words, c);
            reading.numbers(self.image.format().ty, c, value);
            if tap.border != 0 {
                let border = self.sampler.border[c];
                let border = if self.floats { (border as f32).to_bits() } else { border as i64 as u32 };
                for i in 0..32 {
                    value[i] = if tap.border >> i & 1 != 0 { border } else { value[i] };
                }
            }
            if let Some(compare) = &self.request.compare {
                for i in 0..32 {
                    let passes = self.sampler.compare.holds(compare[i], f32::from_bits(value[i]));
                    value[i] = f32::from(u8::from(passes)).to_bits();
                }
            }
        }
        Fetched { values, floats: self.floats }
    }

    /// How its texels become numbers.
    #[inline(always)]
    fn reading(&self) -> Reading {
        Reading { floats: self.floats, ..Reading::of(self.sampler, self.image.format().ty) }
    }

    /// What 1 is in the numbers that are blended: for integers the largest of 16 bits.
    pub(super) fn unit(&self) -> f64 {
        let ty = self.image.format().ty;
        let integers = ty.can_be_normalized() && self.sampler.read == ReadMode::NormalizedFloat;
        match integers && !self.sampler.srgb && self.request.compare.is_none() {
            true if ty.is_signed() => 32767.0,
            true => 65535.0,
            false => 1.0,
        }
    }

    /// Adds what a tap reads.
    #[inline(always)]
    pub(super) fn add(&mut self, blend: &mut Blend, tap: &Tap) {
        let words = self.read(tap);
        let unit = self.unit();
        let ty = self.image.format().ty;
        for i in 0..32 {
            blend.blends[i] &= tap.factor[i] != 1.0;
        }
        for c in 0..blend.channels {
            let mut value = channel(self.image.format(), &words, c);
            let mut numbers = [0.0; 32];
            if unit == 1.0 {
                self.reading().numbers(ty, c, &mut value);
                for i in 0..32 {
                    numbers[i] = f64::from(f32::from_bits(value[i]));
                }
            } else {
                let scale = unit / ty.one();
                if ty.is_signed() {
                    for i in 0..32 {
                        numbers[i] = f64::from(value[i] as i32).max(-ty.one()) * scale;
                    }
                } else {
                    for i in 0..32 {
                        numbers[i] = f64::from(value[i] as i32) * scale;
                    }
                }
            }
            if tap.border != 0 {
                let border = self.sampler.border[c] * unit;
                for i in 0..32 {
                    numbers[i] = if tap.border >> i & 1 != 0 { border } else { numbers[i] };
                }
            }
            if let Some(compare) = &self.request.compare {
                for i in 0..32 {
                    let passes = self.sampler.compare.holds(compare[i], numbers[i] as f32);
                    numbers[i] = f64::from(u8::from(passes));
                }
            }
            let sum = &mut blend.sums[c];
            for i in 0..32 {
                let part = if tap.factor[i] == 0.0 { 0.0 } else { tap.factor[i] * numbers[i] };
                sum[i] += part;
            }
        }
    }

    /// The results of a blend, rounded to what the format is blended in.
    #[inline(always)]
    pub(super) fn rounded(&self, blend: &Blend) -> Fetched {
        let unit = self.unit();
        let halves = self.image.format().ty == ChannelType::F16 && self.request.compare.is_none();
        let mut values = [[0; 32], [0; 32], [0; 32], [1f32.to_bits(); 32]];
        for (value, sums) in values.iter_mut().zip(&blend.sums).take(blend.channels) {
            if unit == 1.0 {
                for i in 0..32 {
                    value[i] = (sums[i] as f32).to_bits();
                }
                if halves {
                    *value = value.map(|v| from_half(to_half(f32::from_bits(v))).to_bits());
                }
                continue;
            }
            for i in 0..32 {
                let sum = if blend.blends[i] { (sums[i] + 0.5).floor() } else { sums[i] };
                value[i] = ((sum / unit) as f32).to_bits();
            }
        }
        Fetched { values, floats: true }
    }
}

/// Sums of texels by weights.
pub(super) struct Blend {
    pub channels: usize,
    pub sums: [Lanes<f64>; 4],
    /// The lanes in which no texel has all of the weight.
    pub blends: [bool; 32],
}

impl Blend {
    pub fn new(channels: usize) -> Blend {
        Blend { channels, sums: [[0.0; 32]; 4], blends: [true; 32] }
    }

    /// Mixes in as much of a colour as there is of the rest.
    pub fn mix(&mut self, colour: [f64; 4]) {
        for (sums, colour) in self.sums.iter_mut().zip(colour) {
            *sums = sums.map(|sum| 0.5 * sum + 0.5 * colour);
        }
        self.blends = [true; 32];
    }
}

/// How the bits of channels become numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Results are floats.
    pub floats: bool,
    /// Integers are numbers from 0 or -1 to 1.
    pub normal: bool,
    /// Red, green and blue are stored as sRGB.
    pub srgb: bool,
}

impl Reading {
    /// By a sampler, of texels of a type.
    pub fn of(sampler: &Sampler, ty: ChannelType) -> Reading {
        let normal = sampler.read == ReadMode::NormalizedFloat;
        Reading { floats: sampler.gives_floats(ty), normal, srgb: sampler.srgb }
    }

    /// The bits of 1, which denotes a missing last channel.
    #[inline(always)]
    pub fn one(self) -> u32 {
        if self.floats { 1f32.to_bits() } else { 1 }
    }

    /// Makes floats of the bits of a channel, if results are floats.
    #[inline(always)]
    pub fn numbers(self, ty: ChannelType, channel: usize, bits: &mut Lanes<u32>) {
        if !self.floats {
            return;
        }
        let normal = self.normal;
        with_type!(ty => {
            let one = if normal { ty.one() as f32 } else { 1.0 };
            for bits in bits.iter_mut() {
                *bits = match ty {
                    ChannelType::F32 => *bits,
                    ChannelType::F16 => from_half(*bits).to_bits(),
                    _ if ty.is_signed() && normal => (*bits as i32 as f32 / one).max(-1.0).to_bits(),
                    _ if ty.is_signed() => (*bits as i32 as f32).to_bits(),
                    ChannelType::U8 | ChannelType::S8 | ChannelType::U16 | ChannelType::S16 | ChannelType::U32 | ChannelType::S32 => (*bits as f32 / one).to_bits(),
                };
            }
        });
        if self.srgb && channel < 3 {
            for bits in bits {
                *bits = (linear_of_srgb(f64::from(f32::from_bits(*bits))) as f32).to_bits();
            }
        }
    }
}

/// A channel of texels, extended to 32 bits.
#[inline(always)]
pub(super) fn channel(format: Format, words: &[Lanes<u32>; 4], channel: usize) -> Lanes<u32> {
    let bit = channel as u32 * format.ty.bytes() * 8;
    let (word, shift) = (&words[(bit as usize / 32) & 3], bit % 32);
    let mut values = [0; 32];
    let ty = format.ty;
    with_type!(ty => {
        for i in 0..32 {
            values[i] = ty.extend(word[i] >> shift);
        }
    });
    values
}
