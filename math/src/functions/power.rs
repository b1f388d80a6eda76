//! Powers: e^(y ln |x|) with the logarithm and the product as sums of two floats.

use super::exp::exp_double;
use super::log::log_of;
use super::two_product;
use crate::expr::V;
use warpsmith_ir::Type;

/// x^y
pub fn pow<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    let a = x.abs();
    // ln |x|, of something harmless where x is 0, infinite or NaN.
    let special = a.eq(0.0) | a.eq(f64::INFINITY) | a.is_nan();
    let (h, l) = log_of(a.unless(special, 1.0));
    // A larger y overflows all the same, unless x is 1; the product below must stay exact.
    let bound = 2f64.powi(x.format().bias as i32 - 40);
    let inside = y.max(-bound).min(bound);
    let (p, pl) = two_product(inside, h);
    let value = exp_double((p, inside.fma(l, pl)));

    let integral = y.truncate().eq(y);
    let half = y * 0.5;
    let odd = integral & half.truncate().ne(half);
    let negative = x.bits().lt(0i64);
    let value = (negative & odd).select(-value, value);
    let value = value.unless(x.lt(0.0) & !integral, f64::NAN);
    // Zero and infinity to a power: 0 or infinity, by whether their exponents agree in sign.
    let to_zero = a.eq(0.0).select(y.k(1.0), -1.0) * y;
    let ends = to_zero.gt(0.0).select(x.k(0.0), f64::INFINITY);
    let ends = odd.select(ends.copysign(x), ends);
    let value = value.unless(a.eq(0.0) | a.eq(f64::INFINITY), ends);
    // 1 to an infinite power is 1, and so is -1.
    let value = value.unless(a.eq(1.0) & y.is_inf(), 1.0);
    let value = value.unless(x.is_nan() | y.is_nan(), f64::NAN);
    value.unless(y.eq(0.0) | x.eq(1.0), 1.0)
}

/// x^n for an `i32`, by squaring, in products of two floats.
pub fn powi<'e>(x: V<'e>, n: V<'e>) -> V<'e> {
    let e = x.e();
    let negative = n.lt(0i64);
    let count = negative.select(-n, n);
    let (one, zero) = (x.k(1.0), x.k(0.0));
    // 1 / x and what it lacks.
    let y = 1.0 / x;
    let rest = (-x).fma(y, 1.0) * y;
    let rest = rest.unless(rest.abs().lt(f64::INFINITY) ^ e.int(Type::I1, 1), 0.0);
    let base = (negative.select(y, x), negative.select(rest, zero));
    let [_, _, _, r, rl] = e.repeat(
        [count, base.0, base.1, one, zero],
        |[left, ..]| left.ne(0i64),
        |[left, b, bl, r, rl]| {
            let odd = (left & 1i64).ne(0i64);
            let (m, ml) = finite_product((r, rl), (b, bl));
            let (s, sl) = finite_product((b, bl), (b, bl));
            [left.shr(1i64), s, sl, odd.select(m, r), odd.select(ml, rl)]
        },
    );
    r + rl
}

/// The product as a sum whose second part is 0 where the first is not finite.
fn finite_product<'e>(x: super::Double<'e>, y: super::Double<'e>) -> super::Double<'e> {
    let (p, l) = two_product(x.0, y.0);
    let l = x.0.fma(y.1, x.1.fma(y.0, l));
    let s = p + l;
    let fine = s.abs().lt(f64::INFINITY);
    (fine.select(s, p), (l - (s - p)).unless(!fine, 0.0))
}

/// x 2^n for an `i32`.
pub fn ldexp<'e>(x: V<'e>, n: V<'e>) -> V<'e> {
    let f = x.format();
    let bound = 3 * f.bias;
    let far = f.bias + f.bias / 4;
    let n = n.smax(-bound).smin(bound).sext(f.int);
    // First bring x near 1 lest a step round where the result does not.
    let (m, exponent) = super::split_exponent(x.abs());
    let total = (n + exponent).smax(-far).smin(far);
    let value = m.scale(total).copysign(x);
    value.unless(x.eq(0.0) | !x.is_finite(), x)
}

/// The fraction in [1/2, 1) and the exponent, an `i32`.
pub fn frexp(x: V<'_>) -> [V<'_>; 2] {
    let (m, exponent) = super::split_exponent(x.abs());
    let same = x.eq(0.0) | !x.is_finite();
    let n = (exponent + 1i64).low(Type::I32);
    [(m * 0.5).copysign(x).unless(same, x), n.unless(same, 0i64)]
}

/// The exponent of x as an `i32`: floor(log2 |x|). The least `i32` for 0 and NaN, the greatest for infinities.
pub fn ilogb(x: V<'_>) -> V<'_> {
    let (_, exponent) = super::split_exponent(x.abs());
    let n = exponent.low(Type::I32);
    let n = n.unless(x.eq(0.0) | x.is_nan(), i64::from(i32::MIN));
    n.unless(x.is_inf(), i64::from(i32::MAX))
}

/// The exponent of x as a float.
pub fn logb(x: V<'_>) -> V<'_> {
    let (_, exponent) = super::split_exponent(x.abs());
    let value = exponent.to_float(x.ty());
    let value = value.unless(x.eq(0.0), f64::NEG_INFINITY).unless(x.is_inf(), f64::INFINITY);
    value.unless(x.is_nan(), x)
}
