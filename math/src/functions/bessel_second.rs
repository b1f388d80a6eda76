//! Bessel functions of the second kind. Near 0 the logarithm times the function of the first kind, and a polynomial; then polynomials around each
//! zero, and from 8 on Hankel's expansion.

use super::bessel::{around, hankel};
use super::log::log;
use super::trig::sincos;
use crate::coefficients::*;
use crate::expr::V;

const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;

/// What all of them are outside the positive numbers, and at their end.
fn bounded<'e>(x: V<'e>, value: V<'e>) -> V<'e> {
    let value = value.unless(x.eq(0.0), f64::NEG_INFINITY).unless(x.lt(0.0), f64::NAN);
    value.unless(x.eq(f64::INFINITY), 0.0).unless(x.is_nan(), x)
}

/// The value below 8 or from 8 on.
fn either<'e>(x: V<'e>, near: impl FnOnce(V<'e>) -> V<'e>, far: impl FnOnce(V<'e>) -> V<'e>) -> V<'e> {
    let [value] = x.lt(8.0).if_else(|| [near(x)], || [far(x.unless(!x.is_finite(), 8.0))]);
    bounded(x, value)
}

/// Y0(x)
pub fn y0<'e>(x: V<'e>) -> V<'e> {
    let near = |x: V<'e>| {
        let z = x * x;
        let [first] = x.lt(0.5).if_else(
            || [(log(x) * TWO_OVER_PI).fma(z.poly(&J0_NEAR_0), z.poly(&Y0_NEAR_0))],
            || {
                let middle = (x - 2.0).poly(&Y0_MIDDLE);
                let low = x.lt(1.4).select(around(x, &Y0_ZERO_1, &Y0_NEAR_1), middle);
                let second = around(x, &Y0_ZERO_2, &Y0_NEAR_2);
                let high = x.lt(5.3).select(second, around(x, &Y0_ZERO_3, &Y0_NEAR_3));
                [x.lt(2.6).select(low, high)]
            },
        );
        first
    };
    either(x, near, |x| {
        let [sin, cos] = sincos(x);
        hankel(x, sin - cos, -(cos + sin), &HANKEL_P0, &HANKEL_Q0)
    })
}

/// Y1(x)
pub fn y1<'e>(x: V<'e>) -> V<'e> {
    let near = |x: V<'e>| {
        let z = x * x;
        let [first] = x.lt(1.0).if_else(
            || {
                let j1 = x * z.poly(&J1_NEAR_0);
                [(log(x) * TWO_OVER_PI).fma(j1, -(TWO_OVER_PI / x)) + x * z.poly(&Y1_NEAR_0)]
            },
            || {
                let end = (x - 7.45).poly(&Y1_END);
                let high = x.lt(6.9).select(around(x, &Y1_ZERO_2, &Y1_NEAR_2), end);
                [x.lt(3.4).select(around(x, &Y1_ZERO_1, &Y1_NEAR_1), high)]
            },
        );
        first
    };
    either(x, near, |x| {
        let [sin, cos] = sincos(x);
        hankel(x, -(sin + cos), cos - sin, &HANKEL_P1, &HANKEL_Q1)
    })
}
