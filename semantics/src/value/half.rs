//! f16 and bf16 (PTX ISA 9.0, 9.7.4).
//!
//! A value is widened exactly, computed in f64 where it is exact or rounded to odd, and rounded once. Every NaN result is
//! `0x7fff`.

use super::single::{self, add_to_odd};

/// The NaN that f16 and bf16 operations return.
pub const NAN: u16 = 0x7fff;
const SIGN: u16 = 0x8000;

/// One of the two formats of 16 bits. Implemented by [`F16`] and [`BF16`].
pub trait Half {
    /// The exponent field all ones: positive infinity.
    const INFINITY: u16;
    /// The number one.
    const ONE: u16;
    /// The least magnitude that rounds to the smallest normal number with the exponent unbounded.
    const FLUSHED_BELOW: f64;
    /// The value, exactly.
    fn widen(a: u16) -> f32;
    /// The nearest value to an f64 that is exact or rounded to odd; a NaN becomes canonical.
    fn narrow(value: f64) -> u16;

    /// True for a NaN.
    #[inline(always)]
    fn is_nan(a: u16) -> bool {
        a & !SIGN > Self::INFINITY
    }

    /// Subnormal numbers become zero of their sign.
    #[inline(always)]
    fn flush(a: u16) -> u16 {
        if a & Self::INFINITY == 0 { a & SIGN } else { a }
    }
}

/// IEEE half precision.
pub struct F16;
/// The upper half of f32.
pub struct BF16;

impl Half for F16 {
    const INFINITY: u16 = 0x7c00;
    const ONE: u16 = 0x3c00;
    const FLUSHED_BELOW: f64 = (1.0 - 1.0 / 4096.0) / (1u64 << 14) as f64;

    #[inline(always)]
    fn widen(a: u16) -> f32 {
        let magnitude = ((a & !SIGN) as u32) << 13;
        // Multiplying by 2^112 moves the bias from 15 to 127 and normalises subnormal numbers.
        let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
        let bits =
            if a & Self::INFINITY == Self::INFINITY { magnitude | 0x7f80_0000 } else { scaled.to_bits() };
        f32::from_bits(bits | ((a & SIGN) as u32) << 16)
    }

    #[inline(always)]
    fn narrow(value: f64) -> u16 {
        if value.is_nan() { NAN } else { round_narrow::<10, 15>(value) }
    }
}

impl Half for BF16 {
    const INFINITY: u16 = 0x7f80;
    const ONE: u16 = 0x3f80;
    const FLUSHED_BELOW: f64 = f32::MIN_POSITIVE as f64 * (1.0 - 1.0 / 512.0);

    #[inline(always)]
    fn widen(a: u16) -> f32 {
        f32::from_bits((a as u32) << 16)
    }

    #[inline(always)]
    fn narrow(value: f64) -> u16 {
        if value.is_nan() { NAN } else { round_narrow::<7, 127>(value) }
    }
}

/// Rounds an f64 that is not NaN to 16 bits with `FRACTION` bits of fraction and the exponent bias `BIAS`.
#[inline(always)]
fn round_narrow<const FRACTION: u32, const BIAS: i32>(value: f64) -> u16 {
    let sign = (value.to_bits() >> 48) as u16 & SIGN;
    let magnitude = value.abs();
    // Adding this power of two pushes exactly the bits below the result's last one out of the f64's 53, in its own rounding.
    let exponent = ((magnitude.to_bits() >> 52) as i32).max(1023 + 1 - BIAS);
    let anchor = f64::from_bits(((exponent + 52 - FRACTION as i32).min(2046) as u64) << 52);
    let rounded = (magnitude + anchor) - anchor;
    let max =
        f64::from_bits(((1023 + BIAS) as u64) << 52) * (2.0 - f64::from_bits((1023 - FRACTION as u64) << 52));
    let infinity = ((2 * BIAS + 1) as u16) << FRACTION;
    // The value is now representable: the fraction's upper bits are the result's, below the smallest normal number as an integer.
    let smallest = f64::from_bits(((1023 + 1 - BIAS) as u64) << 52);
    let unit = f64::from_bits(((1023 + BIAS - 1 + FRACTION as i32) as u64) << 52);
    let normal =
        (rounded.to_bits() >> (52 - FRACTION)).wrapping_sub(((1023 - BIAS) as u64) << FRACTION) as u16;
    let subnormal = (rounded * unit) as u16;
    let bits = if rounded < smallest { subnormal } else { normal };
    sign | if rounded > max { infinity } else { bits }
}

/// What follows the rounding of a result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct After {
    /// `.ftz`
    pub ftz: bool,
    /// `.sat`
    pub sat: bool,
    /// `.relu`
    pub relu: bool,
}

#[inline(always)]
fn operand<H: Half>(after: After, a: u16) -> f64 {
    H::widen(if after.ftz { H::flush(a) } else { a }) as f64
}

#[inline(always)]
fn finish<H: Half>(after: After, value: f64) -> u16 {
    let mut bits = H::narrow(value);
    if after.ftz && value.abs() < H::FLUSHED_BELOW {
        bits &= SIGN;
    }
    if after.sat {
        bits = saturate::<H>(bits);
    }
    if after.relu { relu::<H>(bits) } else { bits }
}

/// `.sat`: clamps to [0, 1], NaN and negative zero become positive zero.
#[inline(always)]
pub fn saturate<H: Half>(a: u16) -> u16 {
    if H::is_nan(a) || a & SIGN != 0 { 0 } else { a.min(H::ONE) }
}

/// `.relu`: negative numbers, -0 among them, become +0; NaN becomes canonical.
#[inline(always)]
pub fn relu<H: Half>(a: u16) -> u16 {
    if H::is_nan(a) {
        NAN
    } else if a & SIGN != 0 {
        0
    } else {
        a
    }
}

/// `add.rn`.
#[inline(always)]
pub fn add<H: Half>(after: After, a: u16, b: u16) -> u16 {
    finish::<H>(after, add_to_odd(operand::<H>(after, a), operand::<H>(after, b)))
}

/// `sub.rn`.
#[inline(always)]
pub fn sub<H: Half>(after: After, a: u16, b: u16) -> u16 {
    add::<H>(after, a, b ^ SIGN)
}

/// `mul.rn`.
#[inline(always)]
pub fn mul<H: Half>(after: After, a: u16, b: u16) -> u16 {
    finish::<H>(after, operand::<H>(after, a) * operand::<H>(after, b))
}

/// `fma.rn`.
#[inline(always)]
pub fn fma<H: Half>(after: After, a: u16, b: u16, c: u16) -> u16 {
    let product = operand::<H>(after, a) * operand::<H>(after, b);
    finish::<H>(after, add_to_odd(product, operand::<H>(after, c)))
}

/// The NaN that marks an element outside a tensor's bounds and that `.oob` looks for. The manual (PTX ISA 9.0, 5.5) does not give
/// its bits; this is what tensor copies fill in on hardware.
pub const OOB_NAN: u16 = 0x7ff7;

/// `fma.rn.oob`: +0 if an operand is the out-of-bounds NaN.
#[inline(always)]
pub fn fma_oob<H: Half>(after: After, a: u16, b: u16, c: u16) -> u16 {
    if a == OOB_NAN || b == OOB_NAN || c == OOB_NAN { 0 } else { fma::<H>(after, a, b, c) }
}

/// `abs`: NaN becomes canonical.
#[inline(always)]
pub fn abs<H: Half>(ftz: bool, a: u16) -> u16 {
    let a = if ftz { H::flush(a) } else { a };
    if H::is_nan(a) { NAN } else { a & !SIGN }
}

/// `neg`: NaN becomes canonical.
#[inline(always)]
pub fn neg<H: Half>(ftz: bool, a: u16) -> u16 {
    let a = if ftz { H::flush(a) } else { a };
    if H::is_nan(a) { NAN } else { a ^ SIGN }
}

#[inline(always)]
fn ordered(a: u16) -> i16 {
    let a = a as i16;
    a ^ (a >> 15 & i16::MAX)
}

/// `min{.ftz}{.NaN}`: the number if one operand is NaN, unless `propagate`; -0 is less than +0.
#[inline(always)]
pub fn min<H: Half>(ftz: bool, propagate: bool, a: u16, b: u16) -> u16 {
    let (a, b) = if ftz { (H::flush(a), H::flush(b)) } else { (a, b) };
    pick::<H>(propagate, a, b, ordered(a) < ordered(b))
}

/// `max{.ftz}{.NaN}`.
#[inline(always)]
pub fn max<H: Half>(ftz: bool, propagate: bool, a: u16, b: u16) -> u16 {
    let (a, b) = if ftz { (H::flush(a), H::flush(b)) } else { (a, b) };
    pick::<H>(propagate, a, b, ordered(a) > ordered(b))
}

#[inline(always)]
fn pick<H: Half>(propagate: bool, a: u16, b: u16, take_a: bool) -> u16 {
    let (a_nan, b_nan) = (H::is_nan(a), H::is_nan(b));
    let canonical = if propagate { a_nan | b_nan } else { a_nan & b_nan };
    if canonical {
        NAN
    } else if b_nan | (take_a & !a_nan) {
        a
    } else {
        b
    }
}

/// `.xorsign.abs` around `min` or `max`: the operation on the magnitudes, with the product of the signs unless it is NaN.
#[inline(always)]
pub fn xorsign_abs<H: Half>(a: u16, b: u16, operation: impl Fn(u16, u16) -> u16) -> u16 {
    let magnitude = operation(a & !SIGN, b & !SIGN);
    if H::is_nan(magnitude) { magnitude } else { magnitude | (a ^ b) & SIGN }
}

/// The f32 value of an operand of a mixed-precision instruction (`add.f32.f16`): a NaN becomes the f32 canonical one.
#[inline(always)]
pub fn to_single<H: Half>(a: u16) -> u32 {
    if H::is_nan(a) { single::NAN } else { H::widen(a).to_bits() }
}
