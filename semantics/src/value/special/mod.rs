//! The approximate instructions in the bits of NVIDIA's special function unit.
//!
//! The unit is a table and a polynomial: the leading bits of the operand choose a piece, and the rest, `x`, goes into `c0 + c1 x + c2 s(x)`, where `s(x)`
//! is the square without the columns of its partial products that are not built (S. Oberman and M. Siu, "A High-Performance Area-Efficient Multifunction
//! Interpolator", ARITH 2005, describe the kind). Coefficients, the columns that are there, and how operands are reduced and results cut were found from what
//! an H100 computes for every mantissa; `docs/engine.md` says how, and what the result was compared with.
//!
//! Functions here are those of the unit (`MUFU` in machine code), and the instructions of PTX that ptxas makes of them for sm_90.

mod tables;

use super::half::Half;
use super::{Rounding, single};

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
const HIDDEN: u32 = 1 << 23;
const MANTISSA: u32 = HIDDEN - 1;

/// Coefficients of a piece.
pub struct Piece(i64, i32, i32);

/// Bits behind the point of [`Piece::at`].
const POINT: u32 = 48;

/// The square of a number of `BITS` bits, of whose partial products those of a weight below `2^LEAST` are not built.
#[inline(always)]
fn square<const BITS: u32, const LEAST: u32>(x: u32) -> u64 {
    let mut sum = 0;
    let mut i = 0;
    while i < BITS {
        // Row i: x_i at 2i, and x_i x_j at i + j + 1 for each j above i.
        let row = u64::from(x >> (i + 1)) << (2 * i + 2) | 1 << (2 * i);
        let kept = row & !((1 << LEAST) - 1);
        sum += kept & 0u64.wrapping_sub(u64::from(x >> i & 1));
        i += 1;
    }
    sum
}

impl Piece {
    /// The value at `x`, of 17 bits, in units of 2^-48.
    #[inline(always)]
    fn at(&self, x: u32) -> i64 {
        let Piece(c0, c1, c2) = *self;
        c0 + ((i64::from(c1) * i64::from(x)) << 7) + (i64::from(c2) * (square::<17, 19>(x) >> 11) as i64)
    }

    /// The value at `x`, of 16 bits: pieces of the reciprocal are half as long.
    #[inline(always)]
    fn at_half(&self, x: u32) -> i64 {
        let Piece(c0, c1, c2) = *self;
        c0 + ((i64::from(c1) * i64::from(x)) << 8) + (i64::from(c2) * (square::<16, 17>(x) >> 9) as i64)
    }
}

/// 24 bits of a value: what a result keeps of it.
const CUT: u32 = POINT - 24;

fn is_nan(a: u32) -> bool {
    a & !SIGN > INFINITY
}

/// A number of 24 bits at an exponent: what is too small is zero, what is too large infinity.
#[inline(always)]
fn packed(mantissa: u32, exponent: i32) -> u32 {
    match exponent {
        128.. => INFINITY,
        ..-127 => 0,
        // A mantissa of 2^24 is that of the next exponent.
        _ => match ((exponent + 126) << 23) + mantissa as i32 {
            bits if bits < HIDDEN as i32 => 0,
            bits => bits as u32,
        },
    }
}

/// `MUFU.RCP`
#[inline]
pub fn unit_rcp(a: u32) -> u32 {
    let (sign, magnitude) = (a & SIGN, a & !SIGN);
    match magnitude {
        _ if is_nan(a) => single::NAN,
        INFINITY => sign,
        0..HIDDEN => sign | INFINITY,
        _ => {
            let (exponent, mantissa) = ((magnitude >> 23) as i32 - 127, magnitude & MANTISSA);
            let value = tables::RECIPROCAL[(mantissa >> 16) as usize].at_half(mantissa & 0xffff) >> CUT;
            sign | packed(value as u32, -exponent - 1)
        }
    }
}

/// The exponent of a root, and the piece and place for a mantissa: one table for odd exponents, one for even ones.
#[inline(always)]
fn of_root(magnitude: u32) -> (i32, usize, u32) {
    let exponent = (magnitude >> 23) as i32 - 127;
    let odd = (exponent & 1) as u32;
    let mantissa = magnitude & MANTISSA;
    (exponent >> 1, (odd << 6 | mantissa >> 17) as usize, mantissa & 0x1_ffff)
}

/// `MUFU.RSQ`
#[inline]
pub fn unit_rsqrt(a: u32) -> u32 {
    match a & !SIGN {
        _ if is_nan(a) => single::NAN,
        0..HIDDEN => a & SIGN | INFINITY,
        _ if a & SIGN != 0 => single::NAN,
        INFINITY => 0,
        magnitude => {
            let (exponent, piece, x) = of_root(magnitude);
            if piece == 0 && x == 0 {
                return ((127 - exponent) as u32) << 23;
            }
            let value = tables::ROOT_RECIPROCAL[piece].at(x) >> CUT;
            packed(value as u32, -exponent - 1)
        }
    }
}

/// `MUFU.SQRT`
#[inline]
pub fn unit_sqrt(a: u32) -> u32 {
    match a & !SIGN {
        _ if is_nan(a) => single::NAN,
        0..HIDDEN => a & SIGN,
        _ if a & SIGN != 0 => single::NAN,
        INFINITY => INFINITY,
        magnitude => {
            let (exponent, piece, x) = of_root(magnitude);
            packed((tables::ROOT[piece].at(x) >> CUT) as u32, exponent)
        }
    }
}

/// A fixed-point magnitude in units of 2^-48, cut to 24 bits.
#[inline(always)]
fn cut(magnitude: u64) -> u32 {
    if magnitude == 0 {
        return 0;
    }
    let top = 63 - magnitude.leading_zeros() as i32;
    let mantissa = if top >= 23 { magnitude >> (top - 23) } else { magnitude << (23 - top) };
    packed(mantissa as u32, top - POINT as i32)
}

/// `MUFU.LG2`
#[inline]
pub fn unit_lg2(a: u32) -> u32 {
    match a & !SIGN {
        _ if is_nan(a) => single::NAN,
        0..HIDDEN => SIGN | INFINITY,
        _ if a & SIGN != 0 => single::NAN,
        INFINITY => INFINITY,
        ONE => 0,
        magnitude => {
            let mantissa = magnitude & MANTISSA;
            // 36 bits behind the point are kept.
            let fraction = tables::LOGARITHM[(mantissa >> 17) as usize].at(mantissa & 0x1_ffff) & !0xfff;
            let whole = i64::from(magnitude >> 23) - 127;
            let value = (whole << POINT) + fraction;
            // The magnitude of a negative number is its complement, without the one that would make it exact.
            if value < 0 { SIGN | cut((!value & !0xfff) as u64) } else { cut(value as u64) }
        }
    }
}

/// 2^x of a finite number that is not a subnormal: the mantissa of 24 bits, and the exponent.
#[inline(always)]
fn power(a: u32) -> (u32, i32) {
    // 23 bits behind the point; from 255 on all is over.
    let exponent = (a >> 23 & 0xff) as i32 - 127;
    let mantissa = a & MANTISSA | HIDDEN;
    let fixed = match exponent {
        8.. => 255 << 23,
        0..8 => (mantissa as i32) << exponent,
        _ => (mantissa >> (-exponent).min(31)) as i32,
    };
    let fixed = match a & SIGN {
        0 => fixed,
        // Whole numbers are exact, and others are negated by their complement.
        _ if fixed & MANTISSA as i32 == 0 => -fixed,
        _ => !fixed,
    };
    let fraction = fixed as u32 & MANTISSA;
    let value = tables::POWER[(fraction >> 17) as usize].at(fraction & 0x1_ffff) >> CUT;
    (value as u32, fixed >> 23)
}

/// `MUFU.EX2`
#[inline]
pub fn unit_ex2(a: u32) -> u32 {
    match a & !SIGN {
        _ if is_nan(a) => single::NAN,
        INFINITY => a & !SIGN & 0u32.wrapping_sub(u32::from(a & SIGN == 0)),
        0..HIDDEN => ONE,
        _ => {
            let (mantissa, exponent) = power(a);
            packed(mantissa, exponent)
        }
    }
}

/// The sine of so many units of 2^-25 turns.
#[inline(always)]
fn sine(turn: u32, negative: bool) -> u32 {
    let quarter = turn >> 23 & 3;
    let rest = turn & MANTISSA;
    let sign = if negative != (quarter & 2 != 0) { SIGN } else { 0 };
    let rest = match (quarter & 1, rest) {
        (0, rest) => rest,
        (_, 0) => return sign | ONE,
        // Reflected by the complement.
        (_, rest) => MANTISSA - rest,
    };
    let value = tables::SINE[(rest >> 17) as usize].at(rest & 0x1_ffff);
    sign | cut(value as u64)
}

/// 25 bits behind the point of a magnitude, without whole turns.
#[inline(always)]
fn turns(magnitude: u32) -> u32 {
    let shift = (magnitude >> 23) as i32 - 127 - 23 + 25;
    let mantissa = magnitude & MANTISSA | HIDDEN;
    match shift {
        _ if magnitude < HIDDEN => 0,
        25.. => 0,
        0..25 => (mantissa << shift) & 0x1ff_ffff,
        _ => mantissa >> (-shift).min(31),
    }
}

/// `MUFU.SIN`, of turns.
#[inline]
pub fn unit_sin(a: u32) -> u32 {
    match a & !SIGN {
        INFINITY.. => single::NAN,
        magnitude => sine(turns(magnitude), a & SIGN != 0),
    }
}

/// `MUFU.COS`, of turns.
#[inline]
pub fn unit_cos(a: u32) -> u32 {
    match a & !SIGN {
        INFINITY.. => single::NAN,
        magnitude => sine(turns(magnitude).wrapping_add(1 << 23), false),
    }
}

/// The factor that makes turns of radians, as ptxas writes it.
const PER_TURN: f32 = 0.159_154_94;

/// The product of a number and [`PER_TURN`], rounded to zero.
#[inline(always)]
fn in_turns(a: u32) -> u32 {
    let a = f32::from_bits(a);
    let exact = f64::from(a) * f64::from(PER_TURN);
    let near = exact as f32;
    // The product of two numbers of 24 bits is exact in f64.
    if f64::from(near).abs() > exact.abs() { near.to_bits() - 1 } else { near.to_bits() }
}

const LEAST: u32 = HIDDEN;
/// 2^24, its root, and 2^126.
const SCALE: f32 = 16_777_216.0;
const ROOT_OF_SCALE: f32 = 4096.0;
const LARGE: u32 = 0x7e80_0000;

#[inline(always)]
fn times<const FTZ: bool>(a: u32, b: f32) -> u32 {
    single::mul::<FTZ>(Rounding::Nearest, a, b.to_bits())
}

/// Whether a magnitude is below the least normal number, so that a form without `.ftz` scales it.
#[inline(always)]
fn is_small(a: u32) -> bool {
    a & !SIGN < LEAST
}

/// `rcp.approx{.ftz}.f32`
#[inline]
pub fn rcp<const FTZ: bool>(a: u32) -> u32 {
    if FTZ {
        return unit_rcp(a);
    }
    let scale = match a & !SIGN {
        0..LEAST => SCALE,
        magnitude if magnitude > LARGE && !is_nan(a) => 0.25,
        _ => 1.0,
    };
    times::<false>(unit_rcp(times::<false>(a, scale)), scale)
}

/// `sqrt.approx{.ftz}.f32`
#[inline]
pub fn sqrt<const FTZ: bool>(a: u32) -> u32 {
    if !FTZ && is_small(a) {
        return times::<false>(unit_sqrt(times::<false>(a, SCALE)), 1.0 / ROOT_OF_SCALE);
    }
    unit_sqrt(a)
}

/// `rsqrt.approx{.ftz}.f32`
#[inline]
pub fn rsqrt<const FTZ: bool>(a: u32) -> u32 {
    if !FTZ && is_small(a) {
        return times::<false>(unit_rsqrt(times::<false>(a, SCALE)), ROOT_OF_SCALE);
    }
    unit_rsqrt(a)
}

/// `lg2.approx{.ftz}.f32`
#[inline]
pub fn lg2<const FTZ: bool>(a: u32) -> u32 {
    if !FTZ && is_small(a) {
        let scaled = unit_lg2(times::<false>(a, SCALE));
        return single::add::<false>(Rounding::Nearest, scaled, (-24f32).to_bits());
    }
    unit_lg2(a)
}

/// `ex2.approx{.ftz}.f32`
#[inline]
pub fn ex2<const FTZ: bool>(a: u32) -> u32 {
    if !FTZ && f32::from_bits(a) < -126.0 {
        let root = unit_ex2(times::<false>(a, 0.5));
        return times::<false>(root, f32::from_bits(root));
    }
    unit_ex2(a)
}

/// `sin.approx{.ftz}.f32`
#[inline]
pub fn sin(a: u32) -> u32 {
    unit_sin(in_turns(a))
}

/// `cos.approx{.ftz}.f32`
#[inline]
pub fn cos(a: u32) -> u32 {
    unit_cos(in_turns(a))
}

/// `div.approx{.ftz}.f32`
#[inline]
pub fn div<const FTZ: bool>(a: u32, b: u32) -> u32 {
    if FTZ {
        return single::mul::<true>(Rounding::Nearest, a, unit_rcp(b));
    }
    let scale = if is_small(b) { SCALE } else { 1.0 };
    let reciprocal = unit_rcp(times::<false>(b, scale));
    times::<false>(times::<false>(a, scale), f32::from_bits(reciprocal))
}

/// `div.full{.ftz}.f32`
#[inline]
pub fn div_full<const FTZ: bool>(a: u32, b: u32) -> u32 {
    let scale = match b & !SIGN {
        magnitude if magnitude > LARGE && !is_nan(b) => 0.25,
        0..LEAST if !FTZ => SCALE,
        _ => 1.0,
    };
    let (a, b) = (times::<FTZ>(a, scale), times::<FTZ>(b, scale));
    if FTZ {
        return single::mul::<true>(Rounding::Nearest, a, unit_rcp(b));
    }
    times::<false>(a, f32::from_bits(unit_rcp(b)))
}

/// `ex2.approx.{f16,bf16}`: the power of the same table, cut.
#[inline]
pub fn ex2_half<H: Half>(ftz: bool, a: u16) -> u16 {
    let wide = H::widen(if ftz { H::flush(a) } else { a });
    let power = match wide.to_bits() & !SIGN {
        0..HIDDEN => 1.0,
        INFINITY.. => f64::from(f32::from_bits(unit_ex2(wide.to_bits()))),
        _ => {
            let (mantissa, exponent) = power(wide.to_bits());
            f64::from(mantissa) * 2f64.powi(exponent - 23)
        }
    };
    let near = H::narrow(power);
    let wide = f64::from(H::widen(near));
    let d = match wide.is_infinite() {
        // The greatest number denotes all up to the next power of two.
        true if power < 2f64.powi(1 + f64::from(H::widen(near - 1)).log2() as i32) => near - 1,
        false if wide > power => near - 1,
        _ => near,
    };
    if ftz { H::flush(d) } else { d }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an H100 computed (driver 580.159.04, CUDA 13.0, 2026-11-22): instruction, operand, result.
    const RECORDED: &str = include_str!("recorded.tsv");

    #[test]
    fn results_are_those_of_a_gpu() {
        let mut count = 0;
        for row in RECORDED.lines() {
            let fields: Vec<&str> = row.split('\t').collect();
            let [name, a, expected] = fields[..] else { panic!("three fields: {row}") };
            let number = |text| u32::from_str_radix(text, 16).expect("hexadecimal digits");
            let (a, expected) = (number(a), number(expected));
            let found = match name {
                "rcp" => rcp::<true>(a),
                "sqrt" => sqrt::<true>(a),
                "rsqrt" => rsqrt::<true>(a),
                "lg2" => lg2::<true>(a),
                "ex2" => ex2::<true>(a),
                "sin" => sin(a),
                "cos" => cos(a),
                "ex2.f16" => ex2_half::<crate::value::half::F16>(false, a as u16).into(),
                "ex2.bf16" => ex2_half::<crate::value::half::BF16>(true, a as u16).into(),
                other => panic!("{other}"),
            };
            assert_eq!(found, expected, "{name} of {a:x}: {found:x}, the GPU gave {expected:x}");
            count += 1;
        }
        assert!(count > 3000, "{count} rows");
    }

    #[test]
    fn the_square_is_exact_above_the_columns_that_are_not_built() {
        for x in [0u32, 1, 0x1ffff, 0x1fe00, 0x10000] {
            let exact = u64::from(x) * u64::from(x);
            let built = square::<17, 19>(x);
            assert!(built <= exact && exact - built < 9 << 19, "{x:x}");
        }
        assert_eq!(square::<17, 0>(0x1abcd), 0x1abcd * 0x1abcd);
    }
}
