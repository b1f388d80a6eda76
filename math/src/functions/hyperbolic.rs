//! Hyperbolic functions and their inverses.

use super::exp::{clamp, exp_parts};
use super::log::log1p_near;
use super::{Double, fast_two_sum, two_sum};
use crate::coefficients::{SINH, TANH};
use crate::expr::V;

/// e^a / 2 and e^-a / 2 for a >= 0, the first as a sum, both without the last factor 2^k of the first.
fn halves(a: V<'_>) -> (Double<'_>, V<'_>, V<'_>) {
    let ((s, e), k) = exp_parts((clamp(a), a.k(0.0)));
    // 2^-2k: beyond the precision it is nothing.
    let small = k.smin(if a.is_f32() { 30i64 } else { 60i64 });
    let inverse = (1.0 / s) * (small * -2i64).exp2_int();
    ((s, e), inverse, k - 1i64)
}

/// sinh x
pub fn sinh(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let z = x * x;
    let near = (x * z).fma(z.poly(&SINH), x);
    let ((s, e), inverse, k) = halves(a);
    let (h, l) = two_sum(s, -inverse);
    let far = (h + (l + e)).scale(k).copysign(x);
    a.lt(1.0).select(near, far).unless(x.is_nan(), x)
}

/// cosh x
pub fn cosh(x: V<'_>) -> V<'_> {
    let ((s, e), inverse, k) = halves(x.abs());
    let (h, l) = two_sum(s, inverse);
    (h + (l + e)).scale(k).unless(x.is_nan(), x)
}

/// tanh x
pub fn tanh(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let z = x * x;
    let near = (x * z).fma(z.poly(&TANH), x);
    // 1 - 2 / (e^2a + 1)
    let ((s, _), k) = exp_parts(((a + a).min(if x.is_f32() { 40.0 } else { 80.0 }), x.k(0.0)));
    let far = (1.0 - 2.0 / (s.scale(k) + 1.0)).copysign(x);
    a.lt(1.0).select(near, far).unless(x.is_nan() | x.eq(0.0), x)
}

/// From here on, 1 + x^2 is x^2.
fn large(x: V<'_>) -> f64 {
    2f64.powi(x.format().mantissa as i32 / 2 + 2)
}

/// asinh x = sign(x) log1p(a + a^2 / (1 + sqrt(1 + a^2)))
pub fn asinh(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let far = a.gt(large(x));
    let b = a.unless(far, 1.0);
    let t = b * b / (b.fma(b, b.k(1.0)).sqrt() + 1.0);
    let (s, l) = fast_two_sum(b, t);
    let value = log1p_near(s, l, Some((far, a))).unless(x.is_inf(), f64::INFINITY).copysign(x);
    value.unless(x.is_nan() | a.lt(if x.is_f32() { 1e-12 } else { 1e-20 }), x)
}

/// acosh x = log1p(t + sqrt(2 t + t^2)) with t = x - 1
pub fn acosh(x: V<'_>) -> V<'_> {
    let far = x.gt(large(x));
    let t = x.unless(far, 2.0) - 1.0;
    let (s, l) = two_sum(t, (t * (t + 2.0)).sqrt());
    let value = log1p_near(s, l, Some((far, x))).unless(x.eq(f64::INFINITY), f64::INFINITY);
    value.unless(x.lt(1.0) | x.is_nan(), f64::NAN)
}

/// atanh x = log1p(2 a / (1 - a)) / 2
pub fn atanh(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let b = a.unless(a.ge(1.0), 0.5);
    let (d, dl) = fast_two_sum(b.k(1.0), -b);
    let n = b + b;
    let q = n / d;
    let ql = ((-q).fma(d, n) - q * dl) / d;
    let value = (log1p_near(q, ql, None) * 0.5).unless(a.eq(1.0), f64::INFINITY).copysign(x);
    let value = value.unless(a.gt(1.0) | x.is_nan(), f64::NAN);
    value.unless(a.lt(if x.is_f32() { 1e-12 } else { 1e-20 }), x)
}
