//! Modified Bessel functions of the first kind: up to 8 a polynomial in x^2, whose terms are all positive, beyond it e^x / sqrt(x) times a polynomial in 8 / x.

use super::exp::exp;
use crate::coefficients::{Coefficients, I0_FAR, I0_NEAR, I1_FAR, I1_NEAR};
use crate::expr::V;

/// The value for |x| from 8 on. The polynomial has e^16 in it, so that the exponential overflows only where the function does.
fn far<'e>(a: V<'e>, c: &Coefficients) -> V<'e> {
    let inside = a.max(8.0);
    exp(inside - 16.0) * ((8.0 / inside).poly(c) / inside.sqrt())
}

/// I0(x)
pub fn i0(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let near = a.min(8.0);
    let [value] = a.lt(8.0).if_else(|| [(near * near).poly(&I0_NEAR)], || [far(a, &I0_FAR)]);
    value.unless(a.is_inf(), f64::INFINITY).unless(x.is_nan(), x)
}

/// I1(x)
pub fn i1(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let near = a.min(8.0);
    let [value] = a.lt(8.0).if_else(|| [near * (near * near).poly(&I1_NEAR)], || [far(a, &I1_FAR)]);
    value.unless(a.is_inf(), f64::INFINITY).copysign(x).unless(x.is_nan(), x)
}
