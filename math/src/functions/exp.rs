//! Exponentials: reduction by multiples of ln 2 (Cody and Waite), a polynomial, the power of two.

use super::{Double, fast_two_sum, two_product, two_sum};
use crate::coefficients::{EXP, LN2, LN10, LOG2_E, LOG10_2};
use crate::expr::V;

/// e^(hi + lo) for |hi| not above what [`scaled`] takes, as a sum that is to be multiplied by 2^k; lo is small beside hi.
pub fn exp_parts<'e>((hi, lo): Double<'e>) -> (Double<'e>, V<'e>) {
    let k = (hi * hi.part(&LOG2_E, 0)).nearest();
    let r = k.fma(-hi.part(&LN2, 0), hi);
    let l = k.fma(-hi.part(&LN2, 1), lo);
    (exp_reduced(r, l), k.to_int(hi.format().int))
}

/// e^(r + l) for |r| <= 0.35, l small, as a sum.
pub fn exp_reduced<'e>(r: V<'e>, l: V<'e>) -> Double<'e> {
    let (r, l) = two_sum(r, l);
    let tail = (r * r).fma(r.poly(&EXP), l);
    let (s, e) = fast_two_sum(r.k(1.0), r);
    fast_two_sum(s, e + tail)
}

/// The bounds beyond which e^x overflows, or rounds to zero, with room.
pub fn clamp(x: V<'_>) -> V<'_> {
    let bound = if x.is_f32() { 120.0 } else { 800.0 };
    x.max(-bound).min(bound)
}

/// e^(hi + lo), rounded, for any hi; NaN for NaN.
pub fn exp_double<'e>((hi, lo): Double<'e>) -> V<'e> {
    let inside = clamp(hi);
    let lo = lo.unless(inside.ne(hi), 0.0);
    let ((s, _), k) = exp_parts((inside, lo));
    s.scale(k).unless(hi.is_nan(), hi)
}

/// e^-x for x from 0 to 80 of `f32` with a unit or two of error, whose result is normal.
pub fn exp_negative(x: V<'_>) -> V<'_> {
    let k = (x * -x.part(&LOG2_E, 0)).nearest();
    let r = k.fma(-x.part(&LN2, 1), k.fma(-x.part(&LN2, 0), -x));
    let e = 1.0 + (r * r).fma(r.poly(&EXP), r);
    e * k.to_int(x.format().int).exp2_int()
}

/// e^x
pub fn exp(x: V<'_>) -> V<'_> {
    exp_double((x, x.k(0.0)))
}

/// 2^x
pub fn exp2(x: V<'_>) -> V<'_> {
    let bound = if x.is_f32() { 160.0 } else { 1100.0 };
    let inside = x.max(-bound).min(bound);
    let k = inside.nearest();
    let r = inside - k;
    let (h, l) = two_product(r, x.part(&LN2_FULL, 0));
    let (s, _) = exp_reduced(h, r.fma(x.part(&LN2_FULL, 1), l));
    s.scale(k.to_int(x.format().int)).unless(x.is_nan(), x)
}

/// 10^x
pub fn exp10(x: V<'_>) -> V<'_> {
    let bound = if x.is_f32() { 50.0 } else { 340.0 };
    let inside = x.max(-bound).min(bound);
    let k = (inside * std::f64::consts::LOG2_10).nearest();
    // x - k log10 2, as a sum; the first product is exact, and so is the difference.
    let (r, rest) = two_sum(k.fma(-x.part(&LOG10_2, 0), inside), k * -x.part(&LOG10_2, 1));
    let (h, l) = two_product(r, x.part(&LN10, 0));
    let l = rest.fma(x.part(&LN10, 0), r.fma(x.part(&LN10, 1), l));
    let (s, _) = exp_reduced(h, l);
    s.scale(k.to_int(x.format().int)).unless(x.is_nan(), x)
}

/// e^x - 1
pub fn expm1(x: V<'_>) -> V<'_> {
    let f = x.format();
    let inside = clamp(x).max(if x.is_f32() { -40.0 } else { -60.0 });
    let k = (inside * x.part(&LOG2_E, 0)).nearest();
    let r = k.fma(-x.part(&LN2, 0), inside);
    let (r, l) = two_sum(r, k * -x.part(&LN2, 1));
    let tail = (r * r).fma(r.poly(&EXP), l);
    // 2^k (r + tail) + (2^k - 1), with the half of 2^k lest it overflow.
    let k = k.to_int(f.int);
    let half = (k - 1i64).exp2_int();
    let (s, e) = two_sum(half - 0.5, half * r);
    let value = (s + (e + half * tail)) * 2.0;
    // Far out the 1 is lost, and 2^k may be too large for a step.
    let large = x.gt(if x.is_f32() { 60.0 } else { 100.0 });
    let value = large.select((r.k(1.0) + (r + tail)).scale(k), value);
    value.unless(x.is_nan() | x.eq(0.0) | x.abs().lt(if x.is_f32() { 1e-30 } else { 1e-290 }), x)
}

/// ln 2, whose parts have all bits.
const LN2_FULL: crate::coefficients::Parts = crate::coefficients::Parts {
    f32: [std::f32::consts::LN_2, -1.904_654_3e-9, 0.0],
    f64: [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17, 0.0],
};
