//! The error function and what is made of it: a polynomial near 0, elsewhere e^(-x^2) times a polynomial in (x - 4) / (x + 4) (Shepherd and
//! Laframboise, 1981); the inverse as polynomials in ln(1 - x^2) (Giles, 2010).

use super::exp::{exp_double, exp_negative};
use super::{Double, two_product};
use crate::coefficients::{
    ERF, ERF_FAR, ERFCX, ERFINV_CENTER, ERFINV_FAR, ERFINV_FARTHEST, ERFINV_MIDDLE, ERFINV_NEAR_0,
    ERFINV_TAIL, SQRT_2,
};
use crate::expr::V;

/// erfc(hi + lo) for hi >= 1/2.
fn erfc_far<'e>((hi, lo): Double<'e>) -> V<'e> {
    let a = hi.min(28.0);
    let lo = lo.unless(hi.gt(28.0), 0.0);
    // (a - 4) / (a + 4), its residual being of use where the polynomial is steep.
    let d = a + 4.0;
    let t = (a - 4.0) / d;
    let p = t.poly(&ERFCX);
    let r = p / a.fma(2.0, a.k(1.0));
    let (q, ql) = two_product(a, a);
    let ql = (a + a).fma(lo, ql);
    exp_double((-q, -ql)) * r
}

/// erf x for |x| < 1.
fn erf_near(x: V<'_>) -> V<'_> {
    let z = x * x;
    x.fma(z.poly(&ERF), x)
}

/// erf x
pub fn erf(x: V<'_>) -> V<'_> {
    let a = x.abs();
    if x.is_f32() {
        // What is taken from 1 is at most a sixth of it, so that e^ of a polynomial will do.
        let b = a.min(4.0).max(1.0);
        let tail = exp_negative((b - 2.5).poly(&ERF_FAR) + b);
        return a.lt(1.0).select(erf_near(x), (1.0 - tail).copysign(x)).unless(x.is_nan(), x);
    }
    let far = (1.0 - erfc_far((a.max(0.5), x.k(0.0)))).copysign(x);
    a.lt(1.0).select(erf_near(x), far).unless(x.is_nan(), x)
}

/// erfc x
pub fn erfc(x: V<'_>) -> V<'_> {
    erfc_double((x, x.k(0.0)))
}

fn erfc_double<'e>((x, lo): Double<'e>) -> V<'e> {
    let a = x.abs();
    let positive = x.gt(0.0);
    let tail = erfc_far((a.max(0.5), positive.select(lo, -lo)));
    let far = positive.select(tail, 2.0 - tail);
    // Near 0 it is 1 - erf x: what x has of 1/2 goes first.
    let near = 1.0 - erf_near(x.max(-0.5).min(0.5));
    a.lt(0.5).select(near, far).unless(x.is_nan(), x)
}

/// The scaled function e^(x^2) erfc x.
pub fn erfcx(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let inside = a.max(0.5).min(28.0);
    let t = (inside - 4.0) / (inside + 4.0);
    let middle = t.poly(&ERFCX) / inside.fma(2.0, x.k(1.0));
    // Beyond, 1 / (sqrt(pi) (x + 1/(2x) ..)): the asymptotic series.
    let w = 1.0 / (a * a);
    let coefficients = [-29.531_25, 6.5625, -1.875, 0.75, -0.5, 1.0];
    let series = coefficients.into_iter().fold(x.k(162.421_875), |sum, c| sum.fma(w, c));
    let far = series / (a * std::f64::consts::PI.sqrt());
    let positive = a.gt(28.0).select(far, middle);
    let (q, ql) = two_product(x, x);
    let e = exp_double((q, ql.unless(q.is_inf(), 0.0)));
    let near = e * (1.0 - erf_near(x.max(-0.5).min(0.5)));
    let negative = e * 2.0 - positive;
    let value = x.lt(0.0).select(negative.unless(e.is_inf(), e), positive);
    a.lt(0.5).select(near, value).unless(x.is_nan(), x)
}

/// The inverse of erf.
pub fn erfinv(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let b = a.unless(a.ge(1.0), 0.0);
    let u = two_product(b, b);
    // 1 - b^2, near 1 as (1 - b)(1 + b).
    let v = ((1.0 - b) * (1.0 + b)).unless(b.lt(0.5), (1.0 - u.0) - u.1);
    let value = b * ratio(-super::log::log(v));
    // The logarithm of a number near 1 has few bits for `f32`.
    let value = if x.is_f32() { b.lt(0.5).select(b * u.0.poly(&ERFINV_NEAR_0), value) } else { value };
    let value = value.unless(a.eq(1.0), f64::INFINITY).copysign(x);
    value.unless(a.gt(1.0) | x.is_nan(), f64::NAN)
}

/// erfinv(x) / x for w = -ln(1 - x^2).
fn ratio(w: V<'_>) -> V<'_> {
    let s = w.sqrt();
    let center = (w - 2.5).poly(&ERFINV_CENTER);
    let middle = (s - 3.0).poly(&ERFINV_MIDDLE);
    let outside = if w.is_f32() { middle } else { s.lt(4.0).select(middle, (s - 5.0).poly(&ERFINV_TAIL)) };
    w.lt(if w.is_f32() { 5.0 } else { 6.25 }).select(center, outside)
}

/// The inverse of erfc.
pub fn erfcinv(x: V<'_>) -> V<'_> {
    let above = x.gt(1.0);
    // erfc(-y) = 2 - erfc y; the difference is exact.
    let c = above.select(2.0 - x, x);
    let [value] = c.ge(0.5).if_else(
        || [erfinv(1.0 - c)],
        || {
            let inside = c.unless(c.le(0.0), 0.5);
            let w = -super::log::log(inside * (2.0 - inside));
            let s = w.sqrt();
            let far = (s - 8.0).poly(&ERFINV_FAR);
            let outside =
                if x.is_f32() { far } else { s.lt(12.0).select(far, (s - 19.0).poly(&ERFINV_FARTHEST)) };
            [(1.0 - inside) * s.lt(4.0).select(ratio(w), outside)]
        },
    );
    let value = value.unless(c.eq(0.0), f64::INFINITY);
    above.select(-value, value).unless(c.lt(0.0) | x.is_nan(), f64::NAN)
}

/// The inverse of the distribution function of the normal distribution: -sqrt 2 erfcinv(2 x).
pub fn normcdfinv(x: V<'_>) -> V<'_> {
    let y = -erfcinv(x * 2.0);
    let value = y.fma(y.part(&SQRT_2, 0), y * y.part(&SQRT_2, 1));
    value.unless(y.is_inf(), y).unless(y.eq(0.0), 0.0)
}

/// The distribution function of the normal distribution: erfc(-x / sqrt 2) / 2.
pub fn normcdf(x: V<'_>) -> V<'_> {
    let inside = x.max(-40.0).min(40.0);
    let (h, l) = two_product(-inside, x.part(&crate::coefficients::SQRT_HALF, 0));
    let l = (-inside).fma(x.part(&crate::coefficients::SQRT_HALF, 1), l);
    (erfc_double((h, l)) * 0.5).unless(x.is_nan(), x)
}
