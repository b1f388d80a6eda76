//! The gamma function, in `f64` (`f32` goes through it), and its logarithm.
//!
//! Small arguments come from [1, 2] by the recurrence, or, for the logarithm of `f32`, from a polynomial each; large ones from Stirling's series,
//! negative ones by reflection.

use super::exp::exp_double;
use super::log::{log, log_of, log_of_sum, log1p_short, reduce, reduce_normal, with_exponent};
use super::{Double, fast_two_sum, product, two_product, two_sum};
use crate::coefficients::{
    HALF_LN_2PI, LGAMMA_1, LGAMMA_2, LGAMMA_5, LN_PI, RECIPROCAL_GAMMA, STIRLING, STIRLING_8,
};
use crate::expr::V;

/// ln gamma(x) as a sum, for x >= 12.
fn stirling(x: V<'_>) -> Double<'_> {
    let (h, l) = log_of(x);
    let (a, al) = two_sum(x, x.k(-0.5));
    let p = product((h, l), (a, al));
    let (s, e) = two_sum(p.0, -x);
    let w = 1.0 / x;
    let tail = w * (w * w).poly(&STIRLING);
    let (s, e2) = two_sum(s, x.part(&HALF_LN_2PI, 0));
    fast_two_sum(s, (e + e2) + (p.1 + (tail + x.part(&HALF_LN_2PI, 1))))
}

/// gamma(x) for x of about -15 to 15: the product that leads to [1, 2], and 1 / gamma there.
fn near(x: V<'_>) -> V<'_> {
    let e = x.e();
    let one = x.k(1.0);
    // Down from above 2: gamma(x) = (x - 1) gamma(x - 1).
    let [y, _, up] = e.repeat([x, one, one], |[y, ..]| y.gt(2.0), |[y, _, p]| [y - 1.0, one, p * (y - 1.0)]);
    // Up from below 1: gamma(x) = gamma(x + 1) / x. Near 0, x + 1 loses what x is: it stays apart.
    let [y, lost, down] = e.repeat(
        [y, x.k(0.0), one],
        |[y, ..]| y.lt(1.0),
        |[y, lost, p]| {
            let (s, l) = two_sum(y, one);
            [s, lost + l, p * (y + lost)]
        },
    );
    up / (down * ((y - 1.5) + lost).poly(&RECIPROCAL_GAMMA))
}

/// gamma(x)
pub fn tgamma(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let [value] = a.lt(13.0).if_else(
        || [near(x)],
        || {
            // In halves, so that the reflection of what overflows can still be a number.
            let (h, l) = stirling(a.min(400.0));
            let root = exp_double((h * 0.5, l * 0.5));
            let positive = exp_double((h, l));
            // -pi / (a sin(pi a) gamma(a))
            let sine = super::trig::sinpi(a);
            let reflected = -std::f64::consts::PI / (a * sine) / root / root;
            [x.lt(0.0).select(reflected, positive)]
        },
    );
    let value = value.unless(x.gt(172.0), f64::INFINITY);
    let integral = x.truncate().eq(x);
    let value = value.unless(x.lt(0.0) & integral, f64::NAN);
    let value = value.unless(x.eq(0.0), x.k(f64::INFINITY).copysign(x));
    value.unless(x.is_nan(), x)
}

/// ln gamma(x) for x > 0 as a number.
fn positive(x: V<'_>) -> V<'_> {
    let e = x.e();
    let [value] = x.lt(13.0).if_else(
        || {
            let small = x.lt(0.5);
            // Below 1/2: gamma(x) = gamma(x + 1) / x.
            let t = small.select(x, x - 1.0);
            let low = t * t.poly(&LGAMMA_1);
            let (ln, ln_l) = log_of(small.select(x, 1.0));
            let (s, sl) = two_sum(-ln, low);
            let low = s + (sl - ln_l);
            // Above 3: down to [2, 3].
            let one = x.k(1.0);
            let [y, p] = e.repeat([x.max(1.5), one], |[y, _]| y.gt(3.0), |[y, p]| [y - 1.0, p * (y - 1.0)]);
            let t = y - 2.0;
            let high = log(p) + t * t.poly(&LGAMMA_2);
            [x.lt(1.5).select(low, high)]
        },
        || {
            let large = x.gt(1e300);
            let (h, l) = stirling(large.select(x.k(1e300), x));
            [large.select(x * (log(x) - 1.0), h + l)]
        },
    );
    value
}

/// ln gamma(x) for x > 0 of `f32` as a sum, whose second part counts from 7.8 on and below 1/2.
fn positive_single(x: V<'_>) -> Double<'_> {
    let zero = x.k(0.0);
    let below_3 = || {
        x.lt(1.5).if_else(
            || {
                let t = x - 1.0;
                x.lt(0.5).if_else(
                    || {
                        // gamma(x) = gamma(x + 1) / x
                        let (m, k) = reduce(x);
                        let (h, l) = with_exponent(k, log1p_short(m - 1.0));
                        let (s, e) = fast_two_sum(-h, x * x.poly(&LGAMMA_1));
                        [s, e - l]
                    },
                    || [t * t.poly(&LGAMMA_1), zero],
                )
            },
            || {
                let t = x - 2.0;
                [t * t.poly(&LGAMMA_2), zero]
            },
        )
    };
    let below_8 = || x.lt(3.0).if_else(below_3, || [(x - 2.0) * (x - 5.4).poly(&LGAMMA_5), zero]);
    let [h, l] = x.lt(7.8).if_else(below_8, || {
        let (m, k) = reduce_normal(x);
        let (h, l) = with_exponent(k, log1p_short(m - 1.0));
        // Where x ln x is near the greatest number, what else there is is far below it.
        let large = x.gt(1e30);
        let a = x - 0.5;
        let (p, pl) = two_product(h, large.select(x.k(1.0), a));
        let (s, e) = fast_two_sum(p, large.select(zero, -x));
        let w = 1.0 / x;
        let rest = e + l.fma(a, pl) + w.fma((w * w).poly(&STIRLING_8), x.part(&HALF_LN_2PI, 0));
        let (s, e) = fast_two_sum(s, rest);
        [large.select(x * ((h - 1.0) + l), s), large.select(zero, e)]
    });
    (h, l)
}

/// ln |gamma(x)| of `f32`
fn lgamma_single(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let inside = a.unless(a.eq(0.0) | x.is_nan() | a.is_inf(), 1.0);
    let (h, l) = positive_single(inside);
    let reflects = x.lt(-1e-8) & x.gt(-8_388_608.0) & x.truncate().ne(x);
    let [value] = reflects.if_else(
        || {
            // ln pi - ln |x sin(pi x)| - ln gamma(|x|)
            let (d, dl) = two_product(a, super::trig::sinpi(a).abs());
            let (m, k) = reduce_normal(d);
            let (ln, ln_l) = with_exponent(k, log1p_short(m - 1.0));
            let (s, e) = two_sum(x.part(&LN_PI, 0), -ln);
            let (s, e2) = two_sum(s, -h);
            [s + ((e + e2) + (x.part(&LN_PI, 1) - ln_l - dl / d - l))]
        },
        || [h + l],
    );
    let pole = x.eq(0.0) | (x.lt(0.0) & x.truncate().eq(x));
    value.unless(pole | a.is_inf(), f64::INFINITY).unless(x.is_nan(), x)
}

/// ln |gamma(x)|
pub fn lgamma(x: V<'_>) -> V<'_> {
    if x.is_f32() {
        return lgamma_single(x);
    }
    let a = x.abs();
    let of_magnitude = positive(a.unless(a.eq(0.0) | a.is_inf(), 1.0));
    // ln(pi / |x sin(pi x)|) - ln gamma(|x|)
    let sine = super::trig::sinpi(a).abs();
    let tiny = a.lt(1e-18);
    let (d, dl) = two_product(a.unless(tiny, 0.5), sine.unless(tiny, 0.5));
    let q = std::f64::consts::PI / d;
    let ql = ((-q).fma(d, x.k(std::f64::consts::PI)) + (x.k(1.224_646_799_147_353_2e-16) - q * dl)) / d;
    let (h, l) = log_of_sum(q.unless(d.eq(0.0), 1.0), ql.unless(d.eq(0.0), 0.0));
    let (s, sl) = two_sum(h, -of_magnitude);
    let reflected = (s + (sl + l)).unless(tiny, of_magnitude);
    let value = x.lt(0.0).select(reflected, of_magnitude);
    let pole = x.le(0.0) & x.truncate().eq(x);
    let value = value.unless(pole | a.is_inf(), f64::INFINITY);
    value.unless(x.is_nan(), x)
}
