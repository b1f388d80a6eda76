//! f64 (PTX ISA 9.0, 9.7.3). To nearest is the host's own arithmetic; the directed roundings are done in integers ([`soft`]).
//!
//! [`soft`]: super::soft

use super::Rounding;
use super::soft::Format;

/// The NaN that an invalid operation on numbers returns.
pub const INVALID: u64 = 0xfff8_0000_0000_0000;
const SIGN: u64 = 1 << 63;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;
const QUIET: u64 = 0x0008_0000_0000_0000;
/// The NaN that the `.approx.ftz` forms return.
pub const APPROX_NAN: u64 = 0x7fff_ffff_0000_0000;

/// True for a NaN.
#[inline(always)]
pub fn is_nan(a: u64) -> bool {
    a & !SIGN > INFINITY
}

/// The first NaN among the operands, quiet, or the NaN of an invalid operation.
#[inline(always)]
fn nan_of<const N: usize>(operands: [u64; N]) -> u64 {
    operands.into_iter().rev().fold(INVALID, |nan, x| if is_nan(x) { x | QUIET } else { nan })
}

#[inline(always)]
fn finish<const N: usize>(value: f64, operands: [u64; N]) -> u64 {
    if value.is_nan() { nan_of(operands) } else { value.to_bits() }
}

/// `add{.rnd}.f64`.
#[inline(always)]
pub fn add(rounding: Rounding, a: u64, b: u64) -> u64 {
    match rounding {
        Rounding::Nearest => finish(f64::from_bits(a) + f64::from_bits(b), [a, b]),
        Rounding::Zero | Rounding::Down | Rounding::Up | Rounding::NearestAway => {
            Format::F64.add(a, b, rounding, false).unwrap_or_else(|| nan_of([a, b]))
        }
    }
}

/// `sub{.rnd}.f64`: a NaN passes with the sign it has.
#[inline(always)]
pub fn sub(rounding: Rounding, a: u64, b: u64) -> u64 {
    match rounding {
        Rounding::Nearest => finish(f64::from_bits(a) - f64::from_bits(b), [a, b]),
        Rounding::Zero | Rounding::Down | Rounding::Up | Rounding::NearestAway => {
            Format::F64.add(a, b ^ SIGN, rounding, false).unwrap_or_else(|| nan_of([a, b]))
        }
    }
}

/// `mul{.rnd}.f64`.
#[inline(always)]
pub fn mul(rounding: Rounding, a: u64, b: u64) -> u64 {
    match rounding {
        Rounding::Nearest => finish(f64::from_bits(a) * f64::from_bits(b), [a, b]),
        Rounding::Zero | Rounding::Down | Rounding::Up | Rounding::NearestAway => {
            Format::F64.mul(a, b, rounding, false).unwrap_or_else(|| nan_of([a, b]))
        }
    }
}

/// `fma.rnd.f64`.
#[inline(always)]
pub fn fma(rounding: Rounding, a: u64, b: u64, c: u64) -> u64 {
    match rounding {
        Rounding::Nearest => {
            finish(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)), [a, b, c])
        }
        Rounding::Zero | Rounding::Down | Rounding::Up | Rounding::NearestAway => {
            Format::F64.fma(a, b, c, rounding, false).unwrap_or_else(|| nan_of([a, b, c]))
        }
    }
}

/// `div.rnd.f64`.
#[inline(always)]
pub fn div(rounding: Rounding, a: u64, b: u64) -> u64 {
    match rounding {
        Rounding::Nearest => finish(f64::from_bits(a) / f64::from_bits(b), [a, b]),
        Rounding::Zero | Rounding::Down | Rounding::Up | Rounding::NearestAway => {
            Format::F64.div(a, b, rounding, false).unwrap_or_else(|| nan_of([a, b]))
        }
    }
}

/// `rcp.rnd.f64`.
#[inline(always)]
pub fn rcp(rounding: Rounding, a: u64) -> u64 {
    div(rounding, 1f64.to_bits(), a)
}

/// `sqrt.rnd.f64`.
#[inline(always)]
pub fn sqrt(rounding: Rounding, a: u64) -> u64 {
    match rounding {
        Rounding::Nearest => finish(f64::from_bits(a).sqrt(), [a]),
        Rounding::Zero | Rounding::Down | Rounding::Up | Rounding::NearestAway => {
            Format::F64.sqrt(a, rounding).unwrap_or_else(|| nan_of([a]))
        }
    }
}

/// `abs.f64`: the sign bit alone changes, also of a NaN.
#[inline(always)]
pub fn abs(a: u64) -> u64 {
    a & !SIGN
}

/// `neg.f64`: the sign bit alone changes, also of a NaN.
#[inline(always)]
pub fn neg(a: u64) -> u64 {
    a ^ SIGN
}

/// `copysign.f64 d, a, b`: the magnitude of `b` with the sign of `a`.
#[inline(always)]
pub fn copysign(a: u64, b: u64) -> u64 {
    b & !SIGN | a & SIGN
}

/// Maps bits to integers ordered as the numbers are, -0 below +0.
#[inline(always)]
fn ordered(a: u64) -> i64 {
    let a = a as i64;
    a ^ (a >> 63 & i64::MAX)
}

/// `min.f64`: the number if one operand is NaN; -0 is less than +0.
#[inline(always)]
pub fn min(a: u64, b: u64) -> u64 {
    pick(a, b, ordered(a) < ordered(b))
}

/// `max.f64`: the number if one operand is NaN.
#[inline(always)]
pub fn max(a: u64, b: u64) -> u64 {
    pick(a, b, ordered(a) > ordered(b))
}

#[inline(always)]
fn pick(a: u64, b: u64, take_a: bool) -> u64 {
    let (a_nan, b_nan) = (is_nan(a), is_nan(b));
    if a_nan & b_nan {
        a | QUIET
    } else if b_nan | (take_a & !a_nan) {
        a
    } else {
        b
    }
}

/// `.sat`: clamps to [0, 1], NaN and negative zero become positive zero.
#[inline(always)]
pub fn saturate(a: u64) -> u64 {
    let value = f64::from_bits(a);
    if value > 0.0 { if value < 1.0 { a } else { 1f64.to_bits() } } else { 0 }
}

/// Rounds to an integer that stays f64 (`cvt.rni.f64.f64` and its fellows).
#[inline(always)]
pub fn round_to_integer(rounding: Rounding, a: u64) -> u64 {
    let value = f64::from_bits(a);
    let rounded = match rounding {
        Rounding::Nearest => {
            let magic = 4_503_599_627_370_496f64;
            let magnitude = value.abs();
            if magnitude < magic { ((magnitude + magic) - magic).copysign(value) } else { value }
        }
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
        Rounding::NearestAway => value.round(),
    };
    finish(rounded, [a])
}

/// `.ftz` of the approximate f64 forms: subnormal numbers become zero of their sign.
#[inline(always)]
pub fn flush(a: u64) -> u64 {
    if a & INFINITY == 0 { a & SIGN } else { a }
}
