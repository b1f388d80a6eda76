//! f32 (PTX ISA 9.0, 9.7.3 and 9.7.5).
//!
//! Every sum, product, quotient, root and fused multiply-add of f32 fits an f64 well enough that one conversion down, in the
//! wanted direction, gives the correctly rounded result: products are exact in 53 bits, sums are rounded to odd first, and a
//! quotient or root of 24-bit numbers never comes so close to a 24-bit number or a midpoint that 53 bits could confuse them.
//! So the directed roundings are branch-free and vectorise as `.rn` does.

use super::Rounding;

/// The NaN that f32 operations return.
pub const NAN: u32 = 0x7fff_ffff;
const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;
/// The least magnitude that rounds to nearest to a normal number, with the exponent unbounded.
pub(super) const REACHES_NORMAL: f64 = f32::MIN_POSITIVE as f64 * (1.0 - 1.0 / (1u64 << 25) as f64);

/// True for a NaN.
#[inline(always)]
pub fn is_nan(a: u32) -> bool {
    a & !SIGN > INFINITY
}

/// The bits of a result, NaN canonical.
#[inline(always)]
fn canonical(value: f32) -> u32 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

/// `.ftz` on an operand: subnormal numbers become zero of their sign.
#[inline(always)]
pub fn flush(a: u32) -> u32 {
    if a & INFINITY == 0 { a & SIGN } else { a }
}

/// `.sat`: clamps to [0, 1], NaN and negative zero become positive zero.
#[inline(always)]
pub fn saturate(a: u32) -> u32 {
    let value = f32::from_bits(a);
    // Comparisons are false for NaN, which therefore ends in zero.
    if value > 0.0 { if value < 1.0 { a } else { 0x3f80_0000 } } else { 0 }
}

/// Rounds an f64 that is exact, or rounded to odd, to f32.
#[inline(always)]
pub(super) fn narrow(value: f64, rounding: Rounding) -> f32 {
    let nearest = value as f32;
    let back = nearest as f64;
    let toward_zero = back.abs() > value.abs();
    let step = |away: bool| {
        // One step in magnitude never leaves the ordered range: infinity steps in to the largest number, zero out to the smallest.
        let bits = nearest.to_bits();
        f32::from_bits(if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) })
    };
    match rounding {
        Rounding::Nearest => nearest,
        Rounding::Zero => {
            if toward_zero {
                step(false)
            } else {
                nearest
            }
        }
        Rounding::Down => {
            if back > value {
                step(value.is_sign_negative())
            } else {
                nearest
            }
        }
        Rounding::Up => {
            if back < value {
                step(value.is_sign_positive())
            } else {
                nearest
            }
        }
        Rounding::NearestAway => {
            let truncated = if toward_zero { step(false) } else { nearest };
            let unit = (f32::from_bits(truncated.to_bits().wrapping_add(1)) as f64 - truncated as f64).abs();
            let away = (value - truncated as f64).abs() * 2.0 >= unit;
            if away { f32::from_bits(truncated.to_bits().wrapping_add(1)) } else { truncated }
        }
    }
}

/// `a + b` rounded to odd: to the neighbour with an odd last bit unless exact, which keeps every later rounding right.
#[inline(always)]
pub(super) fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's two-sum: the error of an addition is itself an f64.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    // An inexact sum that is even moves one step toward the error's side; an infinite or NaN sum has a NaN error and stays.
    let inexact = error != 0.0 && error.abs() < f64::INFINITY && bits & 1 == 0;
    let outward = (error > 0.0) == (sum > 0.0);
    let odd = if outward { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact { odd } else { bits })
}

/// Gives the exact zero sum of opposite numbers its sign, which is negative when rounding down.
#[inline(always)]
fn zero_sum(value: f64, a: f64, b: f64, rounding: Rounding) -> f64 {
    if matches!(rounding, Rounding::Down) && value == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        -0.0
    } else {
        value
    }
}

/// The bits of a result, flushed to zero if it is tiny after rounding as if the exponent were unbounded.
#[inline(always)]
fn finish<const FTZ: bool>(value: f64, rounding: Rounding) -> u32 {
    let bits = canonical(narrow(value, rounding));
    if FTZ && value.abs() < f32::MIN_POSITIVE as f64 {
        // Scaled out of the subnormal range the same rounding shows whether the number reaches the smallest normal one.
        let scaled = narrow(value * (1u64 << 32) as f64, rounding);
        let reaches = scaled.abs() >= f32::MIN_POSITIVE * (1u64 << 32) as f32;
        if reaches { bits } else { bits & SIGN }
    } else {
        bits
    }
}

#[inline(always)]
fn operand<const FTZ: bool>(a: u32) -> f32 {
    f32::from_bits(if FTZ { flush(a) } else { a })
}

/// `add{.rnd}{.ftz}.f32`.
#[inline(always)]
pub fn add<const FTZ: bool>(rounding: Rounding, a: u32, b: u32) -> u32 {
    let (a, b) = (operand::<FTZ>(a), operand::<FTZ>(b));
    if rounding == Rounding::Nearest {
        // A sum in the subnormal range is exact, so flushing the rounded result is right.
        let sum = canonical(a + b);
        return if FTZ { flush(sum) } else { sum };
    }
    let (a, b) = (a as f64, b as f64);
    finish::<FTZ>(zero_sum(add_to_odd(a, b), a, b, rounding), rounding)
}

/// `sub{.rnd}{.ftz}.f32`.
#[inline(always)]
pub fn sub<const FTZ: bool>(rounding: Rounding, a: u32, b: u32) -> u32 {
    add::<FTZ>(rounding, a, b ^ SIGN)
}

/// `mul{.rnd}{.ftz}.f32`.
#[inline(always)]
pub fn mul<const FTZ: bool>(rounding: Rounding, a: u32, b: u32) -> u32 {
    let (a, b) = (operand::<FTZ>(a), operand::<FTZ>(b));
    if rounding == Rounding::Nearest && !FTZ {
        return canonical(a * b);
    }
    if rounding == Rounding::Nearest {
        // The one result of a multiplication that flushing must distinguish: what rounds up to the smallest normal number.
        let product = canonical(a * b);
        let reaches = (a as f64 * b as f64).abs() >= REACHES_NORMAL;
        return if reaches || is_nan(product) { product } else { product & SIGN };
    }
    finish::<FTZ>(a as f64 * b as f64, rounding)
}

/// `fma.rnd{.ftz}.f32`, by arithmetic in f64: the same value on every host, vectorised without fused instructions.
#[inline(always)]
pub fn fma<const FTZ: bool>(rounding: Rounding, a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (operand::<FTZ>(a), operand::<FTZ>(b), operand::<FTZ>(c));
    let (product, c) = (a as f64 * b as f64, c as f64);
    finish::<FTZ>(zero_sum(add_to_odd(product, c), product, c, rounding), rounding)
}

/// `fma.rn.f32` by the host's fused operation: for callers compiled with a feature that has one.
#[inline(always)]
pub fn fma_fused(a: u32, b: u32, c: u32) -> u32 {
    canonical(f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)))
}

/// `div.rnd{.ftz}.f32`.
#[inline(always)]
pub fn div<const FTZ: bool>(rounding: Rounding, a: u32, b: u32) -> u32 {
    let (a, b) = (operand::<FTZ>(a), operand::<FTZ>(b));
    if rounding == Rounding::Nearest && !FTZ {
        return canonical(a / b);
    }
    finish::<FTZ>(a as f64 / b as f64, rounding)
}

/// `rcp.rnd{.ftz}.f32`.
#[inline(always)]
pub fn rcp<const FTZ: bool>(rounding: Rounding, a: u32) -> u32 {
    div::<FTZ>(rounding, 0x3f80_0000, a)
}

/// `sqrt.rnd{.ftz}.f32`.
#[inline(always)]
pub fn sqrt<const FTZ: bool>(rounding: Rounding, a: u32) -> u32 {
    let a = operand::<FTZ>(a);
    if rounding == Rounding::Nearest {
        canonical(a.sqrt())
    } else {
        canonical(narrow((a as f64).sqrt(), rounding))
    }
}

/// `abs{.ftz}.f32`: a NaN keeps its payload and becomes quiet.
#[inline(always)]
pub fn abs<const FTZ: bool>(a: u32) -> u32 {
    quiet(if FTZ { flush(a) } else { a } & !SIGN)
}

/// The bits without the sign, a NaN's too.
#[inline(always)]
pub fn magnitude(a: u32) -> u32 {
    a & !SIGN
}

/// `neg{.ftz}.f32`: a NaN keeps its payload and becomes quiet.
#[inline(always)]
pub fn neg<const FTZ: bool>(a: u32) -> u32 {
    quiet(if FTZ { flush(a) } else { a } ^ SIGN)
}

/// Sets the quiet bit of a NaN.
#[inline(always)]
pub fn quiet(a: u32) -> u32 {
    if is_nan(a) { a | 0x0040_0000 } else { a }
}

/// `copysign.f32 d, a, b`: the magnitude of `b` with the sign of `a`.
#[inline(always)]
pub fn copysign(a: u32, b: u32) -> u32 {
    b & !SIGN | a & SIGN
}

/// Maps bits to integers ordered as the numbers are, -0 below +0.
#[inline(always)]
fn ordered(a: u32) -> i32 {
    let a = a as i32;
    a ^ (a >> 31 & i32::MAX)
}

/// `min{.ftz}{.NaN}.f32`: the number if one operand is NaN, unless `propagate`; -0 is less than +0.
#[inline(always)]
pub fn min<const FTZ: bool>(propagate: bool, a: u32, b: u32) -> u32 {
    let (a, b) = if FTZ { (flush(a), flush(b)) } else { (a, b) };
    pick(propagate, a, b, ordered(a) < ordered(b))
}

/// `max{.ftz}{.NaN}.f32`.
#[inline(always)]
pub fn max<const FTZ: bool>(propagate: bool, a: u32, b: u32) -> u32 {
    let (a, b) = if FTZ { (flush(a), flush(b)) } else { (a, b) };
    pick(propagate, a, b, ordered(a) > ordered(b))
}

#[inline(always)]
fn pick(propagate: bool, a: u32, b: u32, take_a: bool) -> u32 {
    let (a_nan, b_nan) = (is_nan(a), is_nan(b));
    let canonical = if propagate { a_nan | b_nan } else { a_nan & b_nan };
    let number = if b_nan | (take_a & !a_nan) { a } else { b };
    if canonical { NAN } else { number }
}

/// `.xorsign.abs` around `min` or `max`: the operation on the magnitudes, with the product of the signs unless it is NaN.
#[inline(always)]
pub fn xorsign_abs(a: u32, b: u32, operation: impl Fn(u32, u32) -> u32) -> u32 {
    let magnitude = operation(a & !SIGN, b & !SIGN);
    if is_nan(magnitude) { magnitude } else { magnitude | (a ^ b) & SIGN }
}

/// Rounds to an integer that stays f32 (`cvt.rni.f32.f32` and its fellows); a NaN becomes canonical.
#[inline(always)]
pub fn round_to_integer(rounding: Rounding, a: u32) -> u32 {
    let value = f32::from_bits(a);
    canonical(match rounding {
        Rounding::Nearest => {
            // Adding and taking away 2^23 rounds to an integer without a library call.
            let magic = 8_388_608f32;
            let magnitude = value.abs();
            if magnitude < magic { ((magnitude + magic) - magic).copysign(value) } else { value }
        }
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
        Rounding::NearestAway => value.round(),
    })
}
