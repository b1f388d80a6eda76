//! Types of channels, and texels as numbers.

use crate::tensor::named;

named! {
    /// The types of a texel's channels.
    ChannelType {
        /// 8 bits.
        U8 = "u8",
        /// 8 bits, with a sign.
        S8 = "s8",
        /// 16 bits.
        U16 = "u16",
        /// 16 bits, with a sign.
        S16 = "s16",
        /// 32 bits.
        U32 = "u32",
        /// 32 bits, with a sign.
        S32 = "s32",
        /// Half precision.
        F16 = "f16",
        /// Single precision.
        F32 = "f32",
    }
}

impl ChannelType {
    /// Bytes of a channel.
    pub const fn bytes(self) -> u32 {
        match self {
            ChannelType::U8 | ChannelType::S8 => 1,
            ChannelType::U16 | ChannelType::S16 | ChannelType::F16 => 2,
            ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => 4,
        }
    }

    /// True for the types that hold integers.
    pub const fn is_integer(self) -> bool {
        !matches!(self, ChannelType::F16 | ChannelType::F32)
    }

    /// True for integers with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, ChannelType::S8 | ChannelType::S16 | ChannelType::S32)
    }

    /// True for the integers that can be read as numbers from 0 or -1 to 1.
    pub const fn can_be_normalized(self) -> bool {
        self.is_integer() && self.bytes() < 4
    }

    /// The number that OpenCL has for it (PTX ISA 9.0, table 12), read as integers or normalised.
    pub const fn opencl(self, normalized: bool) -> u32 {
        match (self, normalized) {
            (ChannelType::S8, true) => 0x10d0,
            (ChannelType::S16, true) => 0x10d1,
            (ChannelType::U8, true) => 0x10d2,
            (ChannelType::U16, true) => 0x10d3,
            (ChannelType::S8, false) => 0x10d7,
            (ChannelType::S16, false) => 0x10d8,
            (ChannelType::S32, _) => 0x10d9,
            (ChannelType::U8, false) => 0x10da,
            (ChannelType::U16, false) => 0x10db,
            (ChannelType::U32, _) => 0x10dc,
            (ChannelType::F16, _) => 0x10dd,
            (ChannelType::F32, _) => 0x10de,
        }
    }

    /// The largest value, which is 1 if it is read as normalised.
    pub(super) const fn one(self) -> f64 {
        match self {
            ChannelType::U8 => 255.0,
            ChannelType::S8 => 127.0,
            ChannelType::U16 => 65535.0,
            ChannelType::S16 => 32767.0,
            ChannelType::U32 | ChannelType::S32 | ChannelType::F16 | ChannelType::F32 => 1.0,
        }
    }

    /// A channel of a texel, whose sign or zeros fill 32 bits. Halves are left as they are.
    #[inline(always)]
    pub(super) const fn extend(self, bits: u32) -> u32 {
        match self {
            ChannelType::U8 => bits as u8 as u32,
            ChannelType::S8 => bits as u8 as i8 as u32,
            ChannelType::U16 | ChannelType::F16 => bits as u16 as u32,
            ChannelType::S16 => bits as u16 as i16 as u32,
            ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => bits,
        }
    }
}

/// What a texel is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// The type of each channel.
    pub ty: ChannelType,
    /// How many: 1, 2 or 4.
    pub channels: u32,
}

impl Format {
    /// Bytes of a texel.
    pub const fn bytes(self) -> u32 {
        self.ty.bytes() * self.channels
    }

    /// The number that OpenCL has for the order of the channels (PTX ISA 9.0, table 13): R, RG or RGBA.
    pub const fn opencl_order(self) -> u32 {
        match self.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        }
    }
}

/// What a half denotes.
#[inline(always)]
pub(super) fn from_half(bits: u32) -> f32 {
    let (sign, rest) = ((bits & 0x8000) << 16, bits & 0x7fff);
    // All exponents move by 112; infinities and NaNs by as much again; subnormals are normalised by a product, which is exact.
    let normal = f32::from_bits((rest << 13).wrapping_add(112 << 23));
    let special = f32::from_bits((rest << 13) | 0x7f80_0000);
    let subnormal = rest as f32 * (1.0 / 16_777_216.0);
    let value = match rest {
        0x7c00.. => special,
        ..0x0400 => subnormal,
        _ => normal,
    };
    f32::from_bits(value.to_bits() | sign)
}

/// The nearest half, ties to even.
#[inline(always)]
pub(super) fn to_half(value: f32) -> u32 {
    let bits = value.to_bits();
    let (sign, rest) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    let half = if rest > 0x7f80_0000 {
        0x7fff
    } else if rest >= 0x477f_f000 {
        0x7c00
    } else if rest >= 0x3880_0000 {
        let odd = rest >> 13 & 1;
        (rest - (112 << 23) + 0xfff + odd) >> 13
    } else {
        // Adding 1/2 leaves the multiples of 2^-24 in the low bits.
        (f32::from_bits(rest) + 0.5).to_bits() - 0.5f32.to_bits()
    };
    sign | half
}

/// A channel of a texel, of a value that a formatted store takes: a float for a type of floats, else an integer, which is clamped to what the
/// type holds.
pub(crate) fn formatted(ty: ChannelType, value: u32) -> u32 {
    match ty {
        ChannelType::U8 => value.min(0xff),
        ChannelType::U16 => value.min(0xffff),
        ChannelType::S8 => (value as i32).clamp(-0x80, 0x7f) as u32,
        ChannelType::S16 => (value as i32).clamp(-0x8000, 0x7fff) as u32,
        ChannelType::F16 => to_half(f32::from_bits(value)),
        ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => value,
    }
}

/// A channel of sRGB as linear light; both from 0 to 1.
pub(super) fn linear_of_srgb(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_apfloat::Float;
    use rustc_apfloat::ieee::{Half, Single};

    #[test]
    fn halves_are_those_of_apfloat() {
        for bits in 0..=u16::MAX {
            let mut lost = false;
            let half = Half::from_bits(bits.into());
            let single: Single = rustc_apfloat::FloatConvert::convert(half, &mut lost).value;
            if half.is_nan() {
                assert!(from_half(bits.into()).is_nan());
                continue;
            }
            assert_eq!(from_half(bits.into()).to_bits(), single.to_bits() as u32, "{bits:#x}");
            assert_eq!(to_half(from_half(bits.into())), u32::from(bits));
        }
        for i in 0..1 << 16 {
            let value = f32::from_bits(0x3300_0000u32.wrapping_add(i * 0x1357));
            let mut lost = false;
            let single = Single::from_bits(value.to_bits().into());
            let half: Half = rustc_apfloat::FloatConvert::convert(single, &mut lost).value;
            if !value.is_nan() {
                assert_eq!(to_half(value), half.to_bits() as u32, "{value:e}");
            }
        }
    }
}
