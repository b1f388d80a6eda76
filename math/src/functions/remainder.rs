//! Exact remainders, by long division of the significands.

use crate::expr::V;
use warpsmith_ir::Type;

/// |x| - n |y| with n = floor(|x| / |y|), and n's last bit, for finite x and y other than 0.
fn divide<'e>(x: V<'e>, y: V<'e>) -> [V<'e>; 2] {
    let (e, f) = (x.e(), x.format());
    let significand = |v: V<'e>| {
        let (m, n) = super::split_exponent(v.abs());
        (((m.bits() & f.mantissa_mask()) | (1i64 << f.mantissa)).zext(Type::I64), n)
    };
    let ((mx, nx), (my, ny)) = (significand(x), significand(y));
    // As many bits at a time as fit above the significand.
    let chunk = 62 - f.mantissa;
    let zero = e.int(Type::I64, 0);
    let [m, left] = e.repeat(
        [mx, (nx - ny).sext(Type::I64)],
        |[_, left]| left.gt(0i64),
        |[m, left]| {
            let by = left.smin(chunk);
            [m.urem(my).shl(by.low(Type::I32)), left - by]
        },
    );
    // Where x is below y all of it remains.
    let below = left.lt(0i64);
    let q = below.select(zero, m / my);
    let rest = m.urem(my);
    let value = rest.unsigned_to_float(x.ty()).scale((ny - f.mantissa).sext(f.int));
    [below.select(x.abs(), value), q & 1i64]
}

/// The operands, or 1 where one is not finite or y is 0.
fn harmless<'e>(x: V<'e>, y: V<'e>) -> (V<'e>, V<'e>, V<'e>) {
    let bad = x.is_nan() | y.is_nan() | x.is_inf() | y.eq(0.0);
    (x.unless(bad | x.eq(0.0), 1.0), y.unless(bad | y.is_inf(), 1.0), bad)
}

/// x - n y with n = x / y toward zero. Exact.
pub fn fmod<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    let (a, b, bad) = harmless(x, y);
    let [r, _] = divide(a, b);
    r.copysign(x).unless(y.is_inf() | x.eq(0.0), x).unless(bad, f64::NAN)
}

/// x - n y with n = x / y to nearest, ties to even. Exact.
pub fn remainder<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    let (a, b, bad) = harmless(x, y);
    let [r, odd] = divide(a, b);
    let b = b.abs();
    // Above half of y, or half of it and n odd: one more y. r > y - r is r > y/2 exactly.
    let other = b - r;
    let more = r.gt(other) | (r.eq(other) & odd.ne(0i64));
    let r = more.select(-other, r);
    // The result has the sign of x, turned where one more was taken; 0 has the sign of x.
    let value = r.bits().lt(0i64).select(-(r.abs().copysign(x)), r.abs().copysign(x));
    let value = value.unless(r.eq(0.0), x.k(0.0).copysign(x));
    value.unless(y.is_inf() | x.eq(0.0), x).unless(bad, f64::NAN)
}
