//! Bessel functions of the first kind. Below 8 a polynomial around each zero, above it Hankel's expansion.

use super::trig::sincos;
use super::two_sum;
use crate::coefficients::*;
use crate::expr::V;

/// (x - zero) times a polynomial in x - zero.
pub fn around<'e>(x: V<'e>, zero: &Parts, c: &Coefficients) -> V<'e> {
    let (h, l) = two_sum(x, -x.part(zero, 0));
    let t = h + (l - x.part(zero, 1));
    t * t.poly(c)
}

/// sqrt(2 / (pi x)) (P cos chi - Q sin chi), the cosine and sine of chi times sqrt 2 given.
pub fn hankel<'e>(a: V<'e>, cos: V<'e>, sin: V<'e>, p: &Coefficients, q: &Coefficients) -> V<'e> {
    let w = 8.0 / a;
    let z = w * w;
    let value = z.poly(p) * cos - z.poly(q) / a * sin;
    value / (a * std::f64::consts::PI).sqrt()
}

/// J0(x)
pub fn j0(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let b = a.min(8.0);
    let first = (b * b).poly(&J0_NEAR_0);
    let near = b.lt(4.0).select(around(b, &J0_ZERO_1, &J0_NEAR_1), around(b, &J0_ZERO_2, &J0_NEAR_2));
    let near = b.lt(1.25).select(first, near);
    let far = a.unless(a.lt(8.0) | a.is_inf(), 8.0);
    let [sin, cos] = sincos(far);
    let far = hankel(far, cos + sin, sin - cos, &HANKEL_P0, &HANKEL_Q0);
    let value = a.lt(8.0).select(near, far).unless(a.is_inf(), 0.0);
    value.unless(x.is_nan(), x)
}

/// J1(x)
pub fn j1(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let b = a.min(8.0);
    let first = b * (b * b).poly(&J1_NEAR_0);
    let near = b.lt(5.4).select(around(b, &J1_ZERO_1, &J1_NEAR_1), around(b, &J1_ZERO_2, &J1_NEAR_2));
    let near = b.lt(2.05).select(first, near);
    let far = a.unless(a.lt(8.0) | a.is_inf(), 8.0);
    let [sin, cos] = sincos(far);
    let far = hankel(far, sin - cos, -(sin + cos), &HANKEL_P1, &HANKEL_Q1);
    let value = a.lt(8.0).select(near, far).unless(a.is_inf(), 0.0);
    x.bits().lt(0i64).select(-value, value).unless(x.is_nan(), x)
}
