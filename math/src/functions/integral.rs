//! Integral parts, neighbours, differences.

use crate::expr::V;

/// The nearest integral value, halves away from zero.
pub fn round(x: V<'_>) -> V<'_> {
    let t = x.truncate();
    let up = (x - t).abs().ge(0.5);
    (t + up.select(x.k(1.0).copysign(x), 0.0)).copysign(x)
}

/// The nearest integral value, halves to even.
pub fn rint(x: V<'_>) -> V<'_> {
    x.nearest()
}

/// The integral value toward zero.
pub fn trunc(x: V<'_>) -> V<'_> {
    x.truncate()
}

/// The integral value below.
pub fn floor(x: V<'_>) -> V<'_> {
    x.floor()
}

/// The integral value above.
pub fn ceil(x: V<'_>) -> V<'_> {
    x.ceil()
}

/// The absolute value.
pub fn fabs(x: V<'_>) -> V<'_> {
    x.abs()
}

/// The square root, correctly rounded.
pub fn sqrt(x: V<'_>) -> V<'_> {
    x.sqrt()
}

/// x y + z, rounded once.
pub fn fma<'e>(x: V<'e>, y: V<'e>, z: V<'e>) -> V<'e> {
    x.fma(y, z)
}

/// The lesser; the other one if one is NaN.
pub fn fmin<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    x.min(y)
}

/// The greater; the other one if one is NaN.
pub fn fmax<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    x.max(y)
}

/// x with the sign of y.
pub fn copysign<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    x.copysign(y)
}

/// x - y if that is positive, else 0.
pub fn fdim<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    (x - y).unless(x.le(y), 0.0)
}

/// The fraction and the integral part, both of the sign of x.
pub fn modf(x: V<'_>) -> [V<'_>; 2] {
    let t = x.truncate();
    [(x - t).unless(x.is_inf(), 0.0).copysign(x), t]
}

/// The next number after x in the direction of y.
pub fn nextafter<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    let bits = x.bits();
    // Away from zero one up, toward zero one down.
    let away = x.lt(y).select(x.gt(0.0), x.lt(0.0));
    let next = away.select(bits + 1i64, bits - 1i64).float_of_bits();
    let least = x.e().int(x.format().int, 1).float_of_bits().copysign(y);
    let value = next.unless(x.eq(0.0), least).unless(x.eq(y), y);
    value.unless(x.is_nan() | y.is_nan(), f64::NAN)
}
