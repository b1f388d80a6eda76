//! Roots: a guess from the exponent, Newton's or Halley's iteration, a last step with the exact residual.

use super::two_product;
use crate::expr::V;

/// 1 / sqrt(x)
pub fn rsqrt(x: V<'_>) -> V<'_> {
    // Subnormal numbers have a normal result, but their products lose bits.
    let f = x.format();
    let tiny = x.lt(2f64.powi(2 - f.bias as i32 + f.mantissa as i32));
    let up = 2 * f.mantissa as i32;
    let s = tiny.select(x * 2f64.powi(up), x);
    let y = 1.0 / s.sqrt();
    // One step of Newton's with the exact residual 1 - s y^2.
    let (t, tl) = two_product(s, y);
    let residual = (-tl).fma(y, (-t).fma(y, x.k(1.0)));
    let better = (y * 0.5).fma(residual, y);
    let y = better.unless(y.eq(0.0) | y.is_inf() | y.is_nan(), y);
    tiny.select(y * 2f64.powi(up / 2), y)
}

/// The significand of |x| times 2^(0, 1 or 2), 1 / its cube root to most bits, and the third of the exponent that is left.
fn cube(x: V<'_>) -> [V<'_>; 3] {
    let f = x.format();
    let (m, exponent) = super::split_exponent(x.abs());
    // A multiple of 3 makes it positive; 43691 / 2^17 is 1/3 for what is below 2^16.
    let shifted = exponent + 1536i64;
    let third = (shifted * 43691i64).shr(17i64);
    let m = m * (shifted - third * 3i64).exp2_int();
    let guess = (x.e().int(f.int, guess(f.mantissa)) - m.bits() / 3i64).float_of_bits();
    let mut r = guess;
    for _ in 0..if x.is_f32() { 2 } else { 3 } {
        // Halley's iteration for m r^3 = 1.
        let e = (-m * r * r).fma(r, 1.0);
        r = (r * e).fma(e.fma(2.0 / 9.0, x.k(1.0 / 3.0)), r);
    }
    [m, r, third - 512i64]
}

/// The bits from which a third of the bits of m leaves those of about m^(-1/3).
fn guess(mantissa: i64) -> i64 {
    let one = if mantissa == 23 { i64::from(1f32.to_bits()) } else { 1f64.to_bits().cast_signed() };
    one + one / 3 - (1 << (mantissa - 4))
}

/// The cube root.
pub fn cbrt(x: V<'_>) -> V<'_> {
    let [m, r, third] = cube(x);
    let c = m * r * r;
    let (s, sl) = two_product(c, c);
    let residual = (-c).fma(sl, (-c).fma(s, m));
    let c = (residual * (r * r)).fma(1.0 / 3.0, c);
    let value = (c * third.exp2_int()).copysign(x);
    value.unless(x.eq(0.0) | !x.is_finite(), x)
}

/// 1 over the cube root.
pub fn rcbrt(x: V<'_>) -> V<'_> {
    let [m, r, third] = cube(x);
    let (s, sl) = two_product(r, r);
    let (p, pl) = two_product(s, r);
    let cube_l = sl.fma(r, pl);
    let residual = (-m).fma(cube_l, (-m).fma(p, x.k(1.0)));
    let r = (r * residual).fma(1.0 / 3.0, r);
    let value = (r * (-third).exp2_int()).copysign(x);
    let value = value.unless(x.eq(0.0), x.k(f64::INFINITY).copysign(x));
    value.unless(x.is_inf(), x.k(0.0).copysign(x)).unless(x.is_nan(), x)
}
