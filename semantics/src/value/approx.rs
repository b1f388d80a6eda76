//! The approximate instructions (PTX ISA 9.0, 9.7.3.8 to 9.7.3.22, 9.7.4.9 and 9.7.4.10).
//!
//! # The rule
//! Hardware's tables are not documented; the manual gives error bounds. Here every approximate instruction returns the *true value
//! rounded to nearest*, to the precision of the destination, except at the points where the manual or ptxas's own folding
//! asks for something else; quotients are the dividend times the rounded reciprocal, rounded, as ptxas folds them. That is inside every bound of the manual, exact wherever the result is representable, monotone, and
//! the same on every host: the elementary functions are computed here in f64 from additions, multiplications and divisions
//! alone, never by the host's mathematical library. Their error is below 2^-44, so a result differs from the correctly
//! rounded one only if the true value lies within about 2^-20 of an ulp from a midpoint.
//!
//! | instruction | bound of the manual | here besides |
//! |---|---|---|
//! | `rcp sqrt rsqrt` | 1 ulp, 2^-23, 2^-22.9 | |
//! | `div.full` | 2 ulp | two roundings: at most 1.5 ulp |
//! | `div.approx` | 2 ulp | the same; a divisor above 2^126 gives zero, or NaN below infinity, as the manual asks |
//! | `sin cos` | absolute 2^-20.5 within 2 pi | subnormal operands and results are zero |
//! | `sin cos` with `.2pi` | none | of whole and half turns exactly |
//! | `lg2` | 2^-22 | |
//! | `ex2` | 2 ulp | |
//! | `tanh` | relative 2^-11 | |
//! | `rcp.approx.ftz.f64 rsqrt.approx.ftz.f64` | | the upper word alone is read and written, truncated |

use super::half::{self, Half};
use super::{Rounding, double, single};

const SIGN: u32 = 0x8000_0000;

/// An f64 result rounded to f32, NaN canonical, a subnormal result zero if `FTZ`.
#[inline(always)]
fn result<const FTZ: bool>(value: f64) -> u32 {
    let bits = if value.is_nan() { single::NAN } else { (value as f32).to_bits() };
    if FTZ { single::flush(bits) } else { bits }
}

#[inline(always)]
fn operand<const FTZ: bool>(a: u32) -> f64 {
    f32::from_bits(if FTZ { single::flush(a) } else { a }) as f64
}

/// `rcp.approx{.ftz}.f32`.
#[inline(always)]
pub fn rcp<const FTZ: bool>(a: u32) -> u32 {
    result::<FTZ>(1.0 / operand::<FTZ>(a))
}

/// `div.approx{.ftz}.f32`.
#[inline(always)]
pub fn div<const FTZ: bool>(a: u32, b: u32) -> u32 {
    let (dividend, divisor) = (operand::<FTZ>(a), operand::<FTZ>(b));
    const LARGE: f64 = (1u128 << 126) as f64;
    // The reciprocal of so large a divisor is lost, so only its zero remains.
    let scale = if divisor.abs() > LARGE && divisor.abs() < f64::INFINITY { 0.0 } else { 1.0 };
    quotient::<FTZ>(dividend, reciprocal(divisor) * scale)
}

/// The dividend times the reciprocal. Of a product `mul.ftz` flushes what is tiny *after* rounding, and so does a quotient.
#[inline(always)]
fn quotient<const FTZ: bool>(dividend: f64, reciprocal: f64) -> u32 {
    let product = dividend * reciprocal;
    let bits = result::<false>(product);
    if FTZ && product.abs() < single::REACHES_NORMAL { bits & SIGN } else { bits }
}

/// The reciprocal to 24 bits, whatever its exponent: rounding 53 bits to 24 gives what rounding the exact value gives.
#[inline(always)]
fn reciprocal(divisor: f64) -> f64 {
    let bits = (1.0 / divisor).to_bits();
    f64::from_bits((bits + 0x0fff_ffff + (bits >> 29 & 1)) & !0x1fff_ffff)
}

/// `div.full{.ftz}.f32`.
#[inline(always)]
pub fn div_full<const FTZ: bool>(a: u32, b: u32) -> u32 {
    let (dividend, divisor) = (operand::<FTZ>(a), operand::<FTZ>(b));
    quotient::<FTZ>(dividend, reciprocal(divisor))
}

/// `sqrt.approx{.ftz}.f32`.
#[inline(always)]
pub fn sqrt<const FTZ: bool>(a: u32) -> u32 {
    result::<FTZ>(operand::<FTZ>(a).sqrt())
}

/// `rsqrt.approx{.ftz}.f32`: -0 gives negative infinity.
#[inline(always)]
pub fn rsqrt<const FTZ: bool>(a: u32) -> u32 {
    result::<FTZ>(1.0 / operand::<FTZ>(a).sqrt())
}

/// `sin.approx{.ftz}.f32`; subnormal operands and results are zero with and without `.ftz`, as ptxas folds them.
#[inline]
pub fn sin(a: u32) -> u32 {
    let a = single::flush(a);
    if a & !SIGN == 0 {
        return a;
    }
    let (quadrant, angle) = reduce(a);
    let magnitude = match quadrant & 3 {
        0 => sin_kernel(angle),
        1 => cos_kernel(angle),
        2 => -sin_kernel(angle),
        _ => -cos_kernel(angle),
    };
    result::<true>(if a & SIGN != 0 { -magnitude } else { magnitude })
}

/// `cos.approx{.ftz}.f32`.
#[inline]
pub fn cos(a: u32) -> u32 {
    let (quadrant, angle) = reduce(single::flush(a));
    result::<true>(match quadrant & 3 {
        0 => cos_kernel(angle),
        1 => -sin_kernel(angle),
        2 => -cos_kernel(angle),
        _ => sin_kernel(angle),
    })
}

/// The quadrant and the angle of so many turns; whole turns are exact. Infinity and NaN give a NaN angle.
#[inline]
fn reduce_turns(turns: f32) -> (u32, f64) {
    let quarters = turns as f64 * 4.0;
    if !quarters.is_finite() {
        return (0, f64::NAN);
    }
    // Beyond 2^52 every f64 is an integer, and a multiple of four beyond 2^26 turns.
    let nearest = quarters.round_ties_even();
    ((nearest.rem_euclid(4.0)) as u32, (quarters - nearest) * std::f64::consts::FRAC_PI_2)
}

/// `sin.approx.ftz.2pi.f32`: the sine of so many turns. At multiples of half a turn it is a zero of the operand's sign: there ptxas folds
/// what the sine of a rounded multiple of pi is.
#[inline]
pub fn sin_turns(a: u32) -> u32 {
    let a = single::flush(a);
    let (quadrant, angle) = reduce_turns(f32::from_bits(a & !SIGN));
    let magnitude = match quadrant {
        0 => sin_kernel(angle),
        1 => cos_kernel(angle),
        2 => -sin_kernel(angle),
        _ => -cos_kernel(angle),
    };
    // A zero has no sign of its own quadrant.
    let magnitude = if magnitude == 0.0 { 0.0 } else { magnitude };
    result::<true>(if a & SIGN != 0 { -magnitude } else { magnitude })
}

/// `cos.approx.ftz.2pi.f32`.
#[inline]
pub fn cos_turns(a: u32) -> u32 {
    let (quadrant, angle) = reduce_turns(f32::from_bits(single::flush(a) & !SIGN));
    let value = match quadrant {
        0 => cos_kernel(angle),
        1 => -sin_kernel(angle),
        2 => -cos_kernel(angle),
        _ => sin_kernel(angle),
    };
    result::<true>(if value == 0.0 { 0.0 } else { value })
}

/// `lg2.approx{.ftz}.f32`.
#[inline]
pub fn lg2<const FTZ: bool>(a: u32) -> u32 {
    let a = if FTZ { single::flush(a) } else { a };
    let value = f32::from_bits(a);
    result::<FTZ>(if value.is_nan() || value < 0.0 {
        f64::NAN
    } else if value == 0.0 {
        f64::NEG_INFINITY
    } else if value == f32::INFINITY {
        f64::INFINITY
    } else {
        log2(value as f64)
    })
}

/// `ex2.approx{.ftz}.f32`.
#[inline]
pub fn ex2<const FTZ: bool>(a: u32) -> u32 {
    result::<FTZ>(exp2(operand::<FTZ>(a)))
}

/// `tanh.approx.f32`.
#[inline]
pub fn tanh(a: u32) -> u32 {
    result::<false>(tanh_f64(f32::from_bits(a) as f64))
}

/// `ex2.approx.{f16,bf16}`; `ftz` is part of the bf16 form.
#[inline]
pub fn ex2_half<H: Half>(ftz: bool, a: u16) -> u16 {
    let a = if ftz { H::flush(a) } else { a };
    let d = H::narrow(exp2(H::widen(a) as f64));
    if ftz { H::flush(d) } else { d }
}

/// `tanh.approx.{f16,bf16}`.
#[inline]
pub fn tanh_half<H: Half>(a: u16) -> u16 {
    if H::is_nan(a) { half::NAN } else { H::narrow(tanh_f64(H::widen(a) as f64)) }
}

/// `rcp.approx.ftz.f64`: of the upper word alone.
#[inline]
pub fn rcp_f64(a: u64) -> u64 {
    let a = double::flush(a & !0xffff_ffff);
    upper_word(double::rcp(Rounding::Nearest, a))
}

/// `rsqrt.approx.ftz.f64`: of the upper word alone.
#[inline]
pub fn rsqrt_f64_ftz(a: u64) -> u64 {
    upper_word(rsqrt_f64(double::flush(a & !0xffff_ffff)))
}

/// `rsqrt.approx.f64`.
#[inline]
pub fn rsqrt_f64(a: u64) -> u64 {
    let root = double::sqrt(Rounding::Nearest, a);
    double::rcp(Rounding::Nearest, root)
}

#[inline]
fn upper_word(a: u64) -> u64 {
    if double::is_nan(a) { double::APPROX_NAN } else { double::flush(a) & !0xffff_ffff }
}

/// 2/pi in binary, 256 bits after the point: enough for the largest f32 and 64 bits of angle.
const TWO_OVER_PI: [u32; 8] =
    [0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab, 0xdebb_c561];

/// Reduces the magnitude of a finite f32 to a quadrant and an angle in [-pi/4, pi/4]; infinity and NaN give a NaN angle.
#[inline]
fn reduce(a: u32) -> (u32, f64) {
    let magnitude = a & !SIGN;
    let value = f32::from_bits(magnitude) as f64;
    if magnitude >= 0x7f80_0000 {
        return (0, f64::NAN);
    }
    if value <= std::f64::consts::FRAC_PI_4 {
        return (0, value);
    }
    // value = fraction * 2^shift. The product with 2/pi modulo 4 needs only the bits of 2/pi from 2^(2 - shift) down.
    let fraction = (magnitude & 0x007f_ffff | 0x0080_0000) as u128;
    let shift = (magnitude >> 23) as i32 - 150;
    let skip = (shift - 2).max(0) as usize;
    let window = window_of_two_over_pi(skip);
    // `window` holds 100 bits, the first of weight 2^-(skip + 1); the product is in units of 2^(shift - skip - 100).
    let product = fraction * window;
    let unit = 100 + skip as i32 - shift;
    // Split at the quarter turn, rounding to the nearest so that the angle is small.
    let (turns, rest) = (product >> unit, product & ((1 << unit) - 1));
    let half = 1u128 << (unit - 1);
    let scale = |x: u128| {
        // Two f64 pieces, so that a small angle keeps its precision, over 2^unit.
        let (high, low) = ((x >> 64) as u64, x as u64);
        let power = |n: i32| f64::from_bits(((1023 + n) as u64) << 52);
        (high as f64 * power(64 - unit) + low as f64 * power(-unit)) * std::f64::consts::FRAC_PI_2
    };
    if rest >= half { (turns as u32 + 1, -scale(2 * half - rest)) } else { (turns as u32, scale(rest)) }
}

/// 100 bits of 2/pi after the first `skip` ones behind the point.
#[inline]
fn window_of_two_over_pi(skip: usize) -> u128 {
    let word = |i: usize| TWO_OVER_PI.get(i).copied().unwrap_or(0) as u128;
    let (first, bit) = (skip / 32, skip % 32);
    let four = word(first) << 96 | word(first + 1) << 64 | word(first + 2) << 32 | word(first + 3);
    let all = if bit == 0 { four } else { four << bit | word(first + 4) >> (32 - bit) };
    all >> 28
}

/// Evaluates a polynomial, the constant first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    coefficients.into_iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// 1/n! with the sign alternating, for the series of sine and cosine.
const fn alternating_factorials(first: u32) -> [f64; 9] {
    let mut table = [0.0; 9];
    let mut factorial = 1.0;
    let mut n = 1;
    while n <= first {
        factorial *= n as f64;
        n += 1;
    }
    let (mut i, mut sign) = (0, 1.0);
    while i < 9 {
        table[i] = sign / factorial;
        let next = first + 2 * i as u32;
        factorial *= (next + 1) as f64 * (next + 2) as f64;
        sign = -sign;
        i += 1;
    }
    table
}

/// Sine on [-pi/4, pi/4], by its series to x^17.
#[inline]
fn sin_kernel(x: f64) -> f64 {
    const SERIES: [f64; 9] = alternating_factorials(1);
    x * polynomial(x * x, SERIES)
}

/// Cosine on [-pi/4, pi/4], by its series to x^16.
#[inline]
fn cos_kernel(x: f64) -> f64 {
    const SERIES: [f64; 9] = alternating_factorials(0);
    polynomial(x * x, SERIES)
}

/// Two to the power of an f64; exact for integers.
#[inline]
fn exp2(x: f64) -> f64 {
    const SERIES: [f64; 15] = {
        let mut table = [1.0; 15];
        let mut n = 1;
        while n < 15 {
            table[n] = table[n - 1] * std::f64::consts::LN_2 / n as f64;
            n += 1;
        }
        table
    };
    if x.is_nan() {
        return x;
    }
    // Beyond this f32 over- and underflows; the bounds keep the exponent arithmetic in range.
    let x = x.clamp(-300.0, 300.0);
    let nearest = (x + 6_755_399_441_055_744.0) - 6_755_399_441_055_744.0;
    let power = f64::from_bits(((1023 + nearest as i64) as u64) << 52);
    polynomial(x - nearest, SERIES) * power
}

/// The base-2 logarithm of a positive normal f64; exact for powers of two.
#[inline]
fn log2(x: f64) -> f64 {
    // 2 / (ln 2 * (2n + 1)): the series of the inverse hyperbolic tangent, in base 2.
    const SERIES: [f64; 14] = {
        let mut table = [0.0; 14];
        let mut n = 0;
        while n < 14 {
            table[n] = 2.0 * std::f64::consts::LOG2_E / (2 * n + 1) as f64;
            n += 1;
        }
        table
    };
    let bits = x.to_bits();
    // The fraction is taken in [sqrt(1/2), sqrt(2)), so that the logarithm near one has no cancellation.
    let above = bits & 0x000f_ffff_ffff_ffff > 0x0006_a09e_667f_3bcd;
    let exponent = (bits >> 52) as i64 - 1023 + above as i64;
    let fraction = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    let s = (fraction - 1.0) / (fraction + 1.0);
    exponent as f64 + s * polynomial(s * s, SERIES)
}

/// The hyperbolic tangent.
#[inline]
fn tanh_f64(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 0.125 {
        // Its series: the quotient below would cancel.
        const SERIES: [f64; 8] = [
            1.0,
            -1.0 / 3.0,
            2.0 / 15.0,
            -17.0 / 315.0,
            62.0 / 2835.0,
            -1382.0 / 155_925.0,
            21844.0 / 6_081_075.0,
            -929_569.0 / 638_512_875.0,
        ];
        return x * polynomial(x * x, SERIES);
    }
    let e = exp2(magnitude * (2.0 * std::f64::consts::LOG2_E));
    (if magnitude > 30.0 { 1.0 } else { (e - 1.0) / (e + 1.0) }).copysign(x)
}
