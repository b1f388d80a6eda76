//! Lengths of vectors and 1 over them, without overflow: the parts are scaled by a power of two, their squares are added as a sum of two floats, and the
//! last step takes what the root has left of it.

use super::{fast_two_sum, two_product, two_sum};
use crate::expr::V;

/// The parts of a vector, scaled: the sum of their squares in two floats, what scaled them, and 1 over that.
struct Squares<'e> {
    sum: V<'e>,
    rest: V<'e>,
    down: V<'e>,
    up: V<'e>,
}

fn squares<'e>(parts: &[V<'e>]) -> Squares<'e> {
    let mut sizes: Vec<V<'e>> = parts.iter().map(|part| part.abs()).collect();
    // The largest first; of two, the order of the others does not matter.
    for n in 1..sizes.len() {
        let (a, b) = (sizes[0], sizes[n]);
        (sizes[0], sizes[n]) = (a.max(b), a.min(b));
    }
    let largest = sizes[0];
    let f = largest.format();
    // A power of two near 1 / largest, within the normal numbers.
    let exponent = (largest.bits().shr(f.mantissa) - f.bias).smax(3 - f.bias).smin(f.bias - 2);
    let (down, up) = ((-exponent).exp2_int(), exponent.exp2_int());
    let scaled: Vec<V<'e>> = sizes.into_iter().map(|size| size * down).collect();
    let (mut sum, mut rest) = two_product(scaled[0], scaled[0]);
    for part in &scaled[1..] {
        let (square, low) = two_product(*part, *part);
        let (more, lost) = fast_two_sum(sum, square);
        (sum, rest) = (more, lost + (rest + low));
    }
    let (sum, rest) = two_sum(sum, rest);
    Squares { sum, rest, down, up }
}

/// What the value of a vector is if a part is infinite, or none is and one is NaN.
fn at_ends<'e>(value: V<'e>, parts: &[V<'e>], infinite: f64) -> V<'e> {
    let any = |of: fn(V<'e>) -> V<'e>| {
        let mut all = parts.iter().map(|part| of(*part));
        let first = all.next();
        first.map(|first| all.fold(first, |any, one| any | one))
    };
    let value = any(V::is_nan).map_or(value, |nan| value.unless(nan, f64::NAN));
    any(V::is_inf).map_or(value, |inf| value.unless(inf, infinite))
}

fn length<'e>(parts: &[V<'e>]) -> V<'e> {
    let Squares { sum, rest, up, .. } = squares(parts);
    let r = sum.sqrt();
    let better = r + ((-r).fma(r, sum) + rest) / (r + r);
    at_ends(better.unless(r.eq(0.0), 0.0) * up, parts, f64::INFINITY)
}

fn inverse<'e>(parts: &[V<'e>]) -> V<'e> {
    let Squares { sum, rest, down, .. } = squares(parts);
    let y = 1.0 / sum.sqrt();
    // One step of Newton's with the residual 1 - (sum + rest) y^2.
    let (t, low) = two_product(sum, y);
    let residual = rest.fma(-(y * y), (-low).fma(y, (-t).fma(y, y.k(1.0))));
    let better = (y * 0.5).fma(residual, y).unless(y.is_inf(), y);
    at_ends(better * down, parts, 0.0)
}

/// sqrt(x^2 + y^2)
pub fn hypot<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    length(&[x, y])
}

/// 1 / sqrt(x^2 + y^2)
pub fn rhypot<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    inverse(&[x, y])
}

/// sqrt(x^2 + y^2 + z^2)
pub fn norm3d<'e>(x: V<'e>, y: V<'e>, z: V<'e>) -> V<'e> {
    length(&[x, y, z])
}

/// 1 / sqrt(x^2 + y^2 + z^2)
pub fn rnorm3d<'e>(x: V<'e>, y: V<'e>, z: V<'e>) -> V<'e> {
    inverse(&[x, y, z])
}

/// The length of a vector of four.
pub fn norm4d(parts: [V<'_>; 4]) -> V<'_> {
    length(&parts)
}

/// 1 over the length of a vector of four.
pub fn rnorm4d(parts: [V<'_>; 4]) -> V<'_> {
    inverse(&parts)
}
