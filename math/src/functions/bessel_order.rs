//! Bessel functions of any whole order n >= 0, by their recurrence f(n+1) = 2n/x f(n) - f(n-1): upward where that is stable, downward from an order
//! that is far enough up elsewhere (Miller's algorithm, normalised by J0 + 2 J2 + 2 J4 + .. = 1). Written for `f64`.

use super::bessel::{j0, j1};
use super::bessel_second::{y0, y1};
use super::roots::cbrt;
use crate::expr::V;
use warpsmith_ir::Type;

/// The value of the order, from those of orders 0 and 1.
fn upward<'e>(n: V<'e>, x: V<'e>, [zero, one]: [V<'e>; 2]) -> V<'e> {
    let k = x.e().int(Type::I32, 1);
    let two_over_x = 2.0 / x;
    let [_, _, value] = x.e().repeat(
        [k, zero, one],
        // An infinite value stays what it is.
        |[k, _, value]| k.lt(n) & value.is_finite(),
        |[k, before, value]| {
            let next = (k.to_float(Type::F64) * two_over_x).fma(value, -before);
            [k + 1i64, value, next]
        },
    );
    n.eq(0i64).select(zero, value)
}

/// The value of an order above |x|, from an order so far above that what it begins with has no influence.
fn downward<'e>(n: V<'e>, a: V<'e>) -> V<'e> {
    let e = a.e();
    let order = n.to_float(Type::F64);
    // The terms fall off by e^(-(m - n)^(3/2) / n^(1/2)) at least.
    let start = (order + 24.0 + cbrt(order) * 14.0).to_int(Type::I32) & -2i64;
    let two_over_x = 2.0 / a;
    let (zero, one) = (a.k(0.0), a.k(1.0));
    // The order, its value and that above, twice the sum of the even ones, the value of the order that is asked for.
    let [_, last, _, sum, value] = e.repeat(
        [start, one, zero, zero, zero],
        |[m, ..]| m.gt(0i64),
        |[m, value, above, sum, wanted]| {
            let wanted = m.eq(n).select(value, wanted);
            let even = (m & 1i64).eq(0i64);
            let sum = even.select(sum + value, sum);
            let below = (m.to_float(Type::F64) * two_over_x).fma(value, -above);
            // Before it overflows, all are made smaller.
            let scale = below.abs().gt(2f64.powi(500)).select(a.k(2f64.powi(-500)), 1.0);
            [m - 1i64, below * scale, value * scale, sum * scale, wanted * scale]
        },
    );
    value / (sum + sum + last)
}

/// Jn(x)
pub fn jn<'e>(n: V<'e>, x: V<'e>) -> V<'e> {
    let a = x.abs();
    let order = n.to_float(Type::F64);
    let [value] = (order.le(a) | n.lt(2i64)).if_else(
        || [upward(n, a, [j0(a), j1(a)])],
        || {
            // Below, the recurrence overflows at once, and the function is x^n / (2^n n!) of so small an x.
            let inside = a.max(1e-140);
            let [value] = a.lt(1e-140).if_else(
                || {
                    let half = a * 0.5;
                    [n.eq(2i64).select(half * half * 0.5, 0.0)]
                },
                || [downward(n, inside)],
            );
            [value]
        },
    );
    let odd = (n & 1i64).ne(0i64);
    let value = (odd & x.bits().lt(0i64)).select(-value, value);
    let value = value.unless(x.is_inf(), 0.0).unless(n.lt(0i64), f64::NAN);
    value.unless(x.is_nan(), x)
}

/// Yn(x)
pub fn yn<'e>(n: V<'e>, x: V<'e>) -> V<'e> {
    let value = upward(n, x, [y0(x), y1(x)]);
    // At infinity the recurrence has no number to begin with.
    let value = value.unless(x.eq(f64::INFINITY), 0.0);
    value.unless(n.lt(0i64) | x.lt(0.0), f64::NAN).unless(x.is_nan(), x)
}
