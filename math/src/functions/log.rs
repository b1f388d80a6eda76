//! Logarithms: x = 2^k (1 + f) with f between sqrt(1/2) - 1 and sqrt(2) - 1, and log(1 + f) = 2 atanh(f / (2 + f)).

use super::{Double, fast_two_sum, product, sum, two_product, two_sum};
use crate::coefficients::{LN2, LOG, LOG2_E, LOG10_E, TWO_THIRDS};
use crate::expr::V;

/// A positive number as m 2^k with m between sqrt(1/2) and sqrt(2); k is a float.
pub fn reduce(x: V<'_>) -> Double<'_> {
    let f = x.format();
    let tiny = x.lt(2f64.powi(1 - f.bias as i32));
    let (m, k) = reduce_normal(tiny.select(x * 2f64.powi(f.mantissa as i32 + 1), x));
    (m, k - tiny.select(x.k((f.mantissa + 1) as f64), 0.0))
}

/// [`reduce`] for what is not subnormal: the distance from sqrt(1/2) in whole powers of two is taken from the exponent.
pub fn reduce_normal(x: V<'_>) -> Double<'_> {
    let f = x.format();
    let bits = x.bits();
    let k = (bits - x.k(std::f64::consts::FRAC_1_SQRT_2).bits()).sar(f.mantissa);
    ((bits - k.shl(f.mantissa)).float_of_bits(), k.to_float(x.ty()))
}

/// log(m + c) + k ln 2 as a sum, to about 64 + bits (`f64`), 34 (`f32`); c is small.
pub fn log_double<'e>(m: V<'e>, c: V<'e>, k: V<'e>) -> Double<'e> {
    let log = log1p_reduced(m - 1.0, c);
    let whole = two_sum(k * m.part(&LN2, 0), log.0);
    let (h, l) = fast_two_sum(whole.0, whole.1 + k.fma(m.part(&LN2, 1), log.1));
    (h, l)
}

/// log(1 + f + c) as a sum, for f between sqrt(1/2) - 1 and sqrt(2) - 1.
pub fn log1p_reduced<'e>(f: V<'e>, c: V<'e>) -> Double<'e> {
    // s = (f + c) / (2 + f + c)
    let (d, dl) = two_sum(f.k(2.0), f);
    let dl = dl + c;
    let inverse = 1.0 / d;
    let s = f * inverse;
    let rest = (-s).fma(dl, (-s).fma(d, f)) + c;
    let (s, sl) = fast_two_sum(s, rest * inverse);
    // 2 s + s^3 (2/3 + s^2 ...)
    let (z, zl) = product((s, sl), (s, sl));
    let (p, pl) = fast_two_sum(f.part(&TWO_THIRDS, 0), z * z.poly(&LOG));
    let tail = product(product((z, zl), (p, pl + f.part(&TWO_THIRDS, 1))), (s, sl));
    sum((s * 2.0, sl * 2.0), tail)
}

/// The result of a logarithm, with what it is where it is not computed.
fn special<'e>(x: V<'e>, value: V<'e>) -> V<'e> {
    let value = value.unless(x.eq(0.0), f64::NEG_INFINITY);
    let value = value.unless(x.lt(0.0) | x.is_nan(), f64::NAN);
    value.unless(x.eq(f64::INFINITY), f64::INFINITY)
}

/// log(1 + f) for f between sqrt(1/2) - 1 and sqrt(2) - 1 as a sum, to about 4 bits more than the format has: f - f^2 / 2 with what is lost
/// there, and the rest, which is small beside it.
pub fn log1p_short(f: V<'_>) -> Double<'_> {
    let s = f / (f + 2.0);
    let z = s * s;
    let r = z * z.fma(z.poly(&LOG), f.k(2.0 / 3.0));
    let half = f * f * 0.5;
    let (h, l) = fast_two_sum(f, -half);
    (h, s.fma(half + r, l))
}

/// k ln 2 + h + l as a sum; of k ln 2 and h the first is the greater, or 0.
pub fn with_exponent<'e>(k: V<'e>, (h, l): Double<'e>) -> Double<'e> {
    let (s, e) = fast_two_sum(k * k.part(&LN2, 0), h);
    (s, e + k.fma(k.part(&LN2, 1), l))
}

/// ln(1 + x + lo) for x + lo > -1, and ln 2y instead where there is a y; to within a unit or so.
pub fn log1p_near<'e>(x: V<'e>, lo: V<'e>, far: Option<(V<'e>, V<'e>)>) -> V<'e> {
    let (mut u, mut c) = two_sum(x.k(1.0), x);
    c = c + lo;
    let mut more = x.k(0.0);
    if let Some((far, y)) = far {
        (u, c, more) = (far.select(y, u), far.select(x.k(0.0), c), far.select(x.k(1.0), more));
    }
    let (m, k) = reduce(u);
    let k = k + more;
    // Near 1, what x had beyond the bits of 1 + x is still wanted.
    let near = k.eq(0.0);
    let (h, l) = log1p_short(near.select(x, m - 1.0));
    let (h, l) = with_exponent(k, (h, l + near.select(lo, c) / u));
    h + l
}

/// ln x
pub fn log(x: V<'_>) -> V<'_> {
    let (m, k) = reduce(x);
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let r = z * z.fma(z.poly(&LOG), x.k(2.0 / 3.0));
    let half = f * f * 0.5;
    // f - f^2 / 2 is most of it, and what it loses comes with the tail.
    let tail = half - s.fma(half + r, k * x.part(&LN2, 1));
    let (h, l) = two_sum(k * x.part(&LN2, 0), f);
    special(x, h + (l - tail))
}

/// A logarithm to another base: 1 / ln base in parts.
fn log_base<'e>(x: V<'e>, scale: &crate::coefficients::Parts) -> V<'e> {
    let (m, k) = reduce(x);
    let (h, l) = with_exponent(k, log1p_short(m - 1.0));
    let (p, pl) = two_product(h, x.part(scale, 0));
    special(x, p + h.fma(x.part(scale, 1), l.fma(x.part(scale, 0), pl)))
}

/// log2 x
pub fn log2(x: V<'_>) -> V<'_> {
    let (m, k) = reduce(x);
    let (h, l) = log1p_short(m - 1.0);
    let (p, pl) = two_product(h, x.part(&LOG2_E, 0));
    let pl = h.fma(x.part(&LOG2_E, 1), l.fma(x.part(&LOG2_E, 0), pl));
    let (s, e) = fast_two_sum(k, p);
    special(x, s + (e + pl))
}

/// log10 x
pub fn log10(x: V<'_>) -> V<'_> {
    log_base(x, &LOG10_E)
}

/// ln(1 + x)
pub fn log1p(x: V<'_>) -> V<'_> {
    let value = log1p_near(x, x.k(0.0), None);
    let value = value.unless(x.eq(-1.0), f64::NEG_INFINITY);
    let value = value.unless(x.lt(-1.0) | x.is_nan(), f64::NAN);
    let same = x.eq(f64::INFINITY) | x.abs().lt(if x.is_f32() { 1e-15 } else { 1e-30 });
    value.unless(same, x)
}

/// ln x as a sum.
pub fn log_of(x: V<'_>) -> Double<'_> {
    let (m, k) = reduce(x);
    log_double(m, x.k(0.0), k)
}

/// ln(x + lo) as a sum.
pub fn log_of_sum<'e>(x: V<'e>, lo: V<'e>) -> Double<'e> {
    let (m, k) = reduce(x);
    log_double(m, lo * (m / x), k)
}
