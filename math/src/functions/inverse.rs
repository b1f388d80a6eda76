//! Inverse trigonometric functions: polynomials in x^2, on arguments brought near 0.

use super::fast_two_sum;
use crate::coefficients::{ASIN, ATAN, PI_2};
use crate::expr::V;

/// atan x for |x| <= 1.
fn atan_kernel(x: V<'_>) -> V<'_> {
    let z = x * x;
    (x * z).fma(z.poly(&ATAN), x)
}

/// atan x
pub fn atan(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let large = a.gt(1.0);
    let t = atan_kernel(large.select(1.0 / a, a));
    let value = large.select(x.part(&PI_2, 0) - (t - x.part(&PI_2, 1)), t);
    value.copysign(x).unless(x.is_nan(), x)
}

/// The angle of the point (x, y).
pub fn atan2<'e>(y: V<'e>, x: V<'e>) -> V<'e> {
    let (ax, ay) = (x.abs(), y.abs());
    let steep = ay.gt(ax);
    let (n, d) = (steep.select(ax, ay), steep.select(ay, ax));
    let q = n / d;
    // 0 / 0 and inf / inf.
    let q = q.unless(d.eq(0.0), 0.0).unless(n.eq(f64::INFINITY), 1.0);
    let t = atan_kernel(q).unless(q.eq(1.0), std::f64::consts::FRAC_PI_4);
    let (h, l) = x.parts(&PI_2);
    let left = x.bits().lt(0i64);
    let upper = h + (left.select(t, -t) + l);
    let lower = left.select(h * 2.0 - (t - l * 2.0), t);
    let t = steep.select(upper, lower);
    t.copysign(y).unless(x.is_nan() | y.is_nan(), f64::NAN)
}

/// asin x for |x| <= 1/2, less x.
fn asin_tail<'e>(x: V<'e>, z: V<'e>) -> V<'e> {
    x * z * z.poly(&ASIN)
}

/// asin x
pub fn asin(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let large = a.gt(0.5);
    // asin a = pi/2 - 2 asin(sqrt((1 - a) / 2))
    let z = large.select((1.0 - a) * 0.5, a * a);
    let s = large.select(z.sqrt(), a);
    let tail = asin_tail(s, z);
    let (h, l) = x.parts(&PI_2);
    // What the square root lost: (z - s^2) / 2s.
    let lost = s.fma(-s, z) / (s + s);
    let lost = lost.unless(s.eq(0.0), 0.0);
    let (u, ul) = fast_two_sum(h, s * -2.0);
    let from_top = u + (ul + (l - (tail + lost) * 2.0));
    let value = large.select(from_top, a + tail);
    value.copysign(x).unless(a.gt(1.0) | x.is_nan(), f64::NAN)
}

/// acos x
pub fn acos(x: V<'_>) -> V<'_> {
    let a = x.abs();
    let large = a.gt(0.5);
    let z = large.select((1.0 - a) * 0.5, a * a);
    let s = large.select(z.sqrt(), a);
    let tail = asin_tail(s, z);
    let lost = (s.fma(-s, z) / (s + s)).unless(s.eq(0.0), 0.0);
    let (h, l) = x.parts(&PI_2);
    let negative = x.lt(0.0);
    // Far from 0: 2 asin(s), or pi less that.
    let twice = (s + (tail + lost)) * 2.0;
    let (u, ul) = fast_two_sum(h * 2.0, s * -2.0);
    let from_pi = u + (ul + (l * 2.0 - (tail + lost) * 2.0));
    let far = negative.select(from_pi, twice);
    // Near 0: pi/2 - asin x.
    let (u, ul) = fast_two_sum(h, -x);
    let near = u + (ul + (l - asin_tail(x, z)));
    large.select(far, near).unless(a.gt(1.0) | x.is_nan(), f64::NAN)
}
