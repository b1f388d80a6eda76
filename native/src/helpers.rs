//! What Cranelift has no operation for on every host, as functions that compiled code calls: the two formats of 16 bits, integers of more than
//! 64 bits where they are divided, multiplied to their upper half or converted, and the fused multiply-add of processors without one.
//!
//! They are written apart from `warpsmith_semantics`, for the same reason as the rest of this crate. [`evaluate`] alone calls it: approximations,
//! directed rounding and PTX's own operations have one definition, and compiled code that needs it says so (`Unit::shared`).

use warpsmith_semantics::Plan;

/// A binary format of 16 bits.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the fraction.
    fraction: i32,
    /// The exponent of the greatest numbers.
    max: i32,
}

const F16: Format = Format { fraction: 10, max: 15 };
const BF16: Format = Format { fraction: 7, max: 127 };

const fn format(code: u32) -> Format {
    if code == 0 { F16 } else { BF16 }
}

/// The format's bits of a number, rounded once to nearest, ties to even.
fn narrow(format: Format, x: f64) -> u16 {
    let Format { fraction, max } = format;
    let exponent_bits = 15 - fraction;
    let sign = ((x.to_bits() >> 63) as u16) << 15;
    let infinity = ((1u16 << exponent_bits) - 1) << fraction;
    if x.is_nan() {
        return 0x7fff;
    }
    let magnitude = x.abs();
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    let min = 1 - max;
    let exponent = (((magnitude.to_bits() >> 52) as i32) - 1023).max(min);
    // In units of the last place: exact, since only the exponent changes, and rounded by the host.
    let units = (magnitude * 2f64.powi(fraction - exponent)).round_ties_even();
    let mut units = units as u32;
    let mut exponent = exponent;
    if units >> (fraction + 1) != 0 {
        units >>= 1;
        exponent += 1;
    }
    if exponent > max {
        return sign | infinity;
    }
    let hidden = units >> fraction;
    let field = if hidden == 0 { 0 } else { (exponent + max) as u16 };
    sign | field << fraction | (units & ((1 << fraction) - 1)) as u16
}

/// The number that the format's bits denote.
fn widen(format: Format, bits: u16) -> f64 {
    let Format { fraction, max } = format;
    let field = i32::from(bits & 0x7fff) >> fraction;
    let rest = f64::from(u32::from(bits) & ((1 << fraction) - 1));
    let magnitude = if field == 2 * max + 1 {
        if rest == 0.0 { f64::INFINITY } else { f64::NAN }
    } else {
        let whole = if field == 0 { rest } else { rest + 2f64.powi(fraction) };
        whole * 2f64.powi(field.max(1) - max - fraction)
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

extern "C" fn half_narrow(x: f64, code: u32) -> u32 {
    narrow(format(code), x).into()
}

extern "C" fn half_widen(bits: u32, code: u32) -> f64 {
    widen(format(code), bits as u16)
}

fn wide(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// Quotients and remainders of 128 bits.
///
/// # Safety
/// `to` has room for two cells.
unsafe extern "C" fn wide_divide(
    signed: u32,
    remainder: u32,
    a: u64,
    a_high: u64,
    b: u64,
    b_high: u64,
    to: *mut u128,
) {
    let (a, b) = (wide(a, a_high), wide(b, b_high));
    let (x, y) = (a as i128, b as i128);
    let result = match (signed != 0, remainder != 0) {
        (_, _) if b == 0 => u128::MAX,
        (false, false) => a / b,
        (false, true) => a % b,
        (true, false) => x.wrapping_div(y) as u128,
        (true, true) => x.wrapping_rem(y) as u128,
    };
    // SAFETY: the caller guarantees the place.
    unsafe { to.write_unaligned(result) }
}

/// The unsigned product of 256 bits, the lower half first.
fn product(a: u128, b: u128) -> [u128; 2] {
    let (a0, a1, b0, b1) = (a & LOW, a >> 64, b & LOW, b >> 64);
    const LOW: u128 = u64::MAX as u128;
    let (low, cross, other, high) = (a0 * b0, a0 * b1, a1 * b0, a1 * b1);
    let middle = (low >> 64) + (cross & LOW) + (other & LOW);
    [(low & LOW) | middle << 64, high + (cross >> 64) + (other >> 64) + (middle >> 64)]
}

/// The product of 256 bits, of unsigned numbers or of signed ones.
///
/// # Safety
/// `to` has room for four cells.
unsafe extern "C" fn wide_product(signed: u32, a: u64, a_high: u64, b: u64, b_high: u64, to: *mut [u128; 2]) {
    let (a, b) = (wide(a, a_high), wide(b, b_high));
    let [low, mut high] = product(a, b);
    if signed != 0 {
        // A negative number denotes 2^128 more than it is.
        high = high.wrapping_sub(if (a as i128) < 0 { b } else { 0 });
        high = high.wrapping_sub(if (b as i128) < 0 { a } else { 0 });
    }
    // SAFETY: the caller guarantees the place.
    unsafe { to.write_unaligned([low, high]) }
}

/// The bits of the float nearest to an integer of 128 bits. The formats are `f16`, `bf16`, `f32`, `f64`.
extern "C" fn wide_to_float(signed: u32, low: u64, high: u64, format_code: u32) -> u64 {
    let value = wide(low, high);
    let negative = signed != 0 && (value as i128) < 0;
    let magnitude = if negative { value.wrapping_neg() } else { value };
    let sign = |x: f64| if negative { -x } else { x };
    match format_code {
        2 => (if negative { -(magnitude as f32) } else { magnitude as f32 }).to_bits().into(),
        3 => sign(magnitude as f64).to_bits(),
        _ => {
            // 50 bits are exact in `f64`; what is below them counts only as not being zero.
            let shift = (128 - magnitude.leading_zeros()).saturating_sub(50);
            let sticky = magnitude & ((1u128 << shift) - 1) != 0;
            let top = (magnitude >> shift) as u64 | u64::from(sticky);
            narrow(format(format_code), sign(top as f64 * 2f64.powi(shift as i32))).into()
        }
    }
}

/// The integer of `bits` bits that a number is cut to, the nearest one if it does not fit, 0 for NaN.
///
/// # Safety
/// `to` has room for two cells.
unsafe extern "C" fn float_to_wide(signed: u32, x: f64, bits: u32, to: *mut u128) {
    let ones = u128::MAX >> (128 - bits.clamp(1, 128));
    let result = if signed != 0 {
        let most = (ones >> 1) as i128;
        (x as i128).clamp(!most, most) as u128 & ones
    } else {
        (x as u128).min(ones)
    };
    // SAFETY: the caller guarantees the place.
    unsafe { to.write_unaligned(result) }
}

/// Evaluates a plan on values of two cells each.
///
/// # Safety
/// The plan is alive; `args` and `results` have two cells for each of its sources and destinations.
unsafe extern "C" fn evaluate(plan: *const Plan, args: *const u128, results: *mut u128) -> u32 {
    // SAFETY: the caller guarantees the plan and the cells.
    let (plan, args) = unsafe { (&*plan, args) };
    let mut values = [0u128; 8];
    let count = plan.sources().len().min(values.len());
    for (n, value) in values.iter_mut().enumerate().take(count) {
        // SAFETY: as above.
        *value = unsafe { args.add(n).read_unaligned() };
    }
    let Some(found) = plan.evaluate(&values[..count]) else { return 1 };
    for (n, value) in found.iter().enumerate() {
        // SAFETY: as above.
        unsafe { results.add(n).write_unaligned(*value) }
    }
    0
}

extern "C" fn fused_single(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

extern "C" fn fused_double(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

macro_rules! integral {
    ($($name:ident $ty:ty, |$x:ident| $body:expr;)*) => { $(extern "C" fn $name($x: $ty) -> $ty { $body })* };
}
integral! {
    floor_single f32, |x| x.floor();
    floor_double f64, |x| x.floor();
    ceil_single f32, |x| x.ceil();
    ceil_double f64, |x| x.ceil();
    trunc_single f32, |x| x.trunc();
    trunc_double f64, |x| x.trunc();
    nearest_single f32, |x| x.round_ties_even();
    nearest_double f64, |x| x.round_ties_even();
}

/// The helpers by name, and what Cranelift itself calls on processors without an instruction for it.
pub(crate) fn symbols() -> [(&'static str, *const u8); 17] {
    [
        ("half_narrow", half_narrow as *const u8),
        ("half_widen", half_widen as *const u8),
        ("wide_divide", wide_divide as *const u8),
        ("wide_product", wide_product as *const u8),
        ("wide_to_float", wide_to_float as *const u8),
        ("float_to_wide", float_to_wide as *const u8),
        ("evaluate", evaluate as *const u8),
        ("fmaf", fused_single as *const u8),
        ("fma", fused_double as *const u8),
        ("floorf", floor_single as *const u8),
        ("floor", floor_double as *const u8),
        ("ceilf", ceil_single as *const u8),
        ("ceil", ceil_double as *const u8),
        ("truncf", trunc_single as *const u8),
        ("trunc", trunc_double as *const u8),
        ("nearbyintf", nearest_single as *const u8),
        ("nearbyint", nearest_double as *const u8),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_come_back() {
        for format in [F16, BF16] {
            for bits in 0..=u16::MAX {
                let wide = widen(format, bits);
                if !wide.is_nan() {
                    assert_eq!(narrow(format, wide), bits, "{wide}");
                }
            }
        }
        // Halfway to the next number, to even; and what overflows.
        assert_eq!(narrow(F16, 2049.0), narrow(F16, 2048.0));
        assert_eq!(narrow(F16, 2051.0), narrow(F16, 2052.0));
        assert_eq!((narrow(F16, 65519.9), narrow(F16, 65520.0)), (0x7bff, 0x7c00));
        assert_eq!((narrow(F16, 2f64.powi(-25)), narrow(F16, 1.1 * 2f64.powi(-25))), (0, 1));
    }

    #[test]
    fn products_of_128_bits() {
        assert_eq!(product(u128::MAX, u128::MAX), [1, u128::MAX - 1]);
        assert_eq!(product(1 << 100, 1 << 100), [0, 1 << 72]);
        assert_eq!(product(u128::MAX, 3), [u128::MAX - 2, 2]);
    }
}
