//! The packed conversions that round stochastically or make halves or powers of two, and the formats of 8, 6 and 4 bits (PTX ISA 9.0,
//! 9.7.9.21). Those of two narrow values are in [`narrow`](super::narrow).
//!
//! Where an instruction packs several values, the first operand is the most significant.
//!
//! # Stochastic rounding
//! `.rs` adds random bits to the bits that rounding drops and rounds away from zero if that carries. The random bits stand at the
//! top of the dropped ones; dropped bits below them do not count. f16 takes 13 random bits, all other formats 16.

use super::{Cvt, Kind};
use crate::value::Rounding;
use crate::value::half;
use crate::value::packed::{join_16, split_16};
use crate::value::soft::{Format, Real, Value};

/// A format of fewer than 16 bits with a sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Small {
    /// `.e4m3`
    E4M3,
    /// `.e5m2`
    E5M2,
    /// `.e2m3`
    E2M3,
    /// `.e3m2`
    E3M2,
    /// `.e2m1`
    E2M1,
}

impl Small {
    /// The format's description.
    pub const fn format(self) -> Format {
        match self {
            Small::E4M3 => Format::E4M3,
            Small::E5M2 => Format::E5M2,
            Small::E2M3 => Format::E2M3,
            Small::E3M2 => Format::E3M2,
            Small::E2M1 => Format::E2M1,
        }
    }

    /// The bits one value takes in a packed register: 6-bit formats are padded to a byte.
    pub const fn stride(self) -> u32 {
        match self {
            Small::E2M1 => 4,
            Small::E4M3 | Small::E5M2 | Small::E2M3 | Small::E3M2 => 8,
        }
    }

    /// The nearest number to an `f32`, ties to even, saturated to the largest finite number; NaN becomes NaN, or the largest number where
    /// there is none.
    #[inline]
    pub fn of_single(self, a: u32) -> u32 {
        self.encode(Format::F32.unpack(a.into()), false, |real, format| real.round(format, Rounding::Nearest))
    }

    /// The same number as an `f32`.
    #[inline]
    pub fn to_single(self, a: u32) -> u32 {
        let sign = |negative: bool| u32::from(negative) << 31;
        match self.format().unpack(a.into()) {
            Value::Nan => 0x7fff_ffff,
            Value::Infinity(negative) => sign(negative) | 0x7f80_0000,
            Value::Zero(negative) => sign(negative),
            Value::Finite(real) => {
                // A few bits and a small power of two: the product is exact.
                let power = f32::from_bits(((127 + real.exponent) as u32) << 23);
                sign(real.negative) | (real.magnitude as u8 as f32 * power).to_bits()
            }
        }
    }

    /// One value, saturated to the largest finite number; NaN becomes NaN, or the largest number where there is none.
    #[inline]
    pub(super) fn encode(self, value: Value, relu: bool, round: impl Fn(Real, Format) -> u64) -> u32 {
        let format = self.format();
        let bits = match value {
            Value::Nan => return format.nan().unwrap_or(format.max()) as u32,
            Value::Infinity(negative) => super::signed(format, negative, format.max()),
            Value::Zero(negative) => super::signed(format, negative, 0),
            Value::Finite(real) => {
                let bits = round(real, format);
                bits & format.sign() | (bits & (format.sign() - 1)).min(format.max())
            }
        };
        if relu && bits & format.sign() != 0 { 0 } else { bits as u32 }
    }
}

/// `cvt.rs{.relu}.satfinite.<small>x4.f32`.
#[inline]
pub fn small_x4_from_single(small: Small, relu: bool, values: [u32; 4], random: u32) -> u32 {
    // The upper half serves the first two values; e2m1 takes upper and lower bytes of both halves instead.
    let [low, high] = split_16(random);
    let (first, second) = match small {
        Small::E2M1 => (high & 0xff00 | low >> 8, high << 8 | low & 0xff),
        Small::E4M3 | Small::E5M2 | Small::E2M3 | Small::E3M2 => (high, low),
    };
    values.into_iter().zip([first, first, second, second]).fold(0, |packed, (x, random)| {
        let value = small.encode(Format::F32.unpack(x as u64), relu, |real, format| {
            round_stochastic(real, format, random as u32, 16)
        });
        packed << small.stride() | value
    })
}

/// Rounds by adding `bits` random bits to the bits dropped.
#[inline]
fn round_stochastic(real: Real, format: Format, random: u32, bits: u32) -> u64 {
    let truncated = real.round(format, Rounding::Zero);
    let top = real.exponent + 127 - real.magnitude.leading_zeros() as i32;
    let lowest = 1 - format.bias() - format.fraction_bits as i32;
    let unit = (top - format.fraction_bits as i32).max(lowest);
    // The dropped part as a multiple of 2^(unit - bits), cut off.
    let (finer, _) = real.round_to_unit(unit - bits as i32, Rounding::Zero);
    let dropped = finer & ((1 << bits) - 1);
    if (dropped + random as u128) >> bits != 0 {
        // Away from zero by one unit; a carry through the fraction or past the largest number falls out of the encoding.
        let magnitude = (truncated & (format.sign() - 1)) + 1;
        let limit = format.infinity().unwrap_or(format.max());
        truncated & format.sign() | magnitude.min(limit)
    } else {
        truncated
    }
}

/// `cvt{.rn,.rz}{.relu}{.satfinite}.{f16x2,bf16x2}.f32`; `conversion` says how one half is made.
#[inline]
pub fn half_x2_from_single(conversion: &Cvt, a: u32, b: u32) -> u32 {
    join_16(conversion.apply(b as u64) as u16, conversion.apply(a as u64) as u16)
}

/// `cvt.rs{.relu}{.satfinite}.{f16x2,bf16x2}.f32`; of `conversion` the target and what follows the rounding count.
#[inline]
pub fn half_x2_stochastic(conversion: &Cvt, a: u32, b: u32, random: u32) -> u32 {
    let (format, bits) = if conversion.to == Kind::F16 { (Format::F16, 13) } else { (Format::BF16, 16) };
    let one = |x: u32, random: u16| {
        let rounded = match Format::F32.unpack(x as u64) {
            Value::Nan => half::NAN as u64,
            Value::Infinity(negative) => {
                super::signed(format, negative, format.infinity().unwrap_or(format.max()))
            }
            Value::Zero(negative) => super::signed(format, negative, 0),
            Value::Finite(real) => round_stochastic(real, format, random as u32 & ((1 << bits) - 1), bits),
        };
        conversion.finish(rounded, format) as u16
    };
    let [low, high] = split_16(random);
    join_16(one(b, low), one(a, high))
}

/// One ue8m0 value, a power of two, from an f32: `.rz` or `.rp` on the magnitude. NaN gives 0xff; too large a number gives the
/// largest one if `satfinite`, else NaN; zero and all below 2^-127 give 2^-127.
#[inline]
pub fn ue8m0_from_single(rounding: Rounding, satfinite: bool, a: u32) -> u32 {
    let magnitude = a & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return 0xff;
    }
    let (exponent, fraction) = (magnitude >> 23, magnitude & 0x007f_ffff);
    // A subnormal number's leading bit is 2^-127, the smallest power here.
    let up = match exponent {
        0 => fraction > 0x0040_0000,
        _ => fraction != 0,
    };
    let rounded = exponent + (up && rounding == Rounding::Up) as u32;
    if rounded >= 0xff && satfinite { 0xfe } else { rounded.min(0xff) }
}

/// `cvt{.rz,.rp}{.satfinite}.ue8m0x2.f32`.
#[inline]
pub fn ue8m0x2_from_single(rounding: Rounding, satfinite: bool, a: u32, b: u32) -> u32 {
    ue8m0_from_single(rounding, satfinite, a) << 8 | ue8m0_from_single(rounding, satfinite, b)
}

/// `cvt{.rz,.rp}{.satfinite}.ue8m0x2.bf16x2`.
#[inline]
pub fn ue8m0x2_from_bf16x2(rounding: Rounding, satfinite: bool, a: u32) -> u32 {
    ue8m0x2_from_single(rounding, satfinite, a & 0xffff_0000, a << 16)
}

/// `cvt.rn.bf16x2.ue8m0x2`.
#[inline]
pub fn bf16x2_from_ue8m0x2(a: u32) -> u32 {
    let one = |x: u32| match x & 0xff {
        0 => 0x0040,
        0xff => half::NAN,
        exponent => (exponent << 7) as u16,
    };
    join_16(one(a), one(a >> 8))
}
