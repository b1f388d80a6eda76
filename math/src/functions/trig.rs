//! Sine, cosine, tangent: reduction by multiples of pi / 2 in three parts (Cody and Waite), or, for large angles, by the product with the bits of
//! 2 / pi that matter (Payne and Hanek, 1983); polynomials on [-pi/4, pi/4].

use super::{Double, fast_two_sum, product, two_product, two_sum};
use crate::coefficients::{COS, PI, PI_2, SIN};
use crate::expr::V;
use warpsmith_ir::Type;

/// sin(h + l) for |h| <= pi / 4.
fn sin_kernel<'e>((h, l): Double<'e>) -> V<'e> {
    let z = h * h;
    // sin(h + l) = sin h + l cos h, and cos h = 1 - z / 2 will do.
    let tail = (h * z).fma(z.poly(&SIN), (l * z).fma(-0.5, l));
    h + tail
}

/// cos(h + l) for |h| <= pi / 4.
fn cos_kernel<'e>((h, l): Double<'e>) -> V<'e> {
    let z = h * h;
    let (a, b) = fast_two_sum(h.k(1.0), z * -0.5);
    // What z lost: h^2 - z.
    let lost = h.fma(h, -z) * -0.5;
    a + (b + (z * z).fma(z.poly(&COS), h.fma(-l, lost)))
}

/// The angle less a multiple of pi / 2, and that multiple modulo 4, as an `i32`.
fn reduce(x: V<'_>) -> (Double<'_>, V<'_>) {
    let limit = if x.is_f32() { 100_000.0 } else { 1e9 };
    let [h, l, n] = x.abs().lt(limit).if_else(
        || {
            let ((h, l), n) = near(x);
            [h, l, n]
        },
        || {
            let ((h, l), n) = far(x);
            [h, l, n]
        },
    );
    ((h, l), n)
}

fn near(x: V<'_>) -> (Double<'_>, V<'_>) {
    let k = (x * std::f64::consts::FRAC_2_PI).nearest();
    let first = k.fma(-x.part(&PI_2, 0), x);
    let (p, pl) = two_product(k, -x.part(&PI_2, 1));
    let (h, l) = two_sum(first, p);
    let l = l + k.fma(-x.part(&PI_2, 2), pl);
    (fast_two_sum(h, l), k.to_int(Type::I32))
}

/// Payne and Hanek. An infinity gives something.
fn far(x: V<'_>) -> (Double<'_>, V<'_>) {
    let (e, f) = (x.e(), x.format());
    let bits = x.abs().bits();
    let m = ((bits & f.mantissa_mask()) | (1i64 << f.mantissa)).zext(Type::I64);
    // x = m 2^exponent. Bits of 2 / pi up to the one worth 2^(2 - exponent) give multiples of 4 and are left out.
    let exponent = (bits.shr(f.mantissa) - (f.bias + f.mantissa)).low(Type::I32);
    // The table begins with 64 zeros: the bit worth 2^-1 has the index 64.
    let first = exponent + 62i64;
    let (word, shift) = (first.shr(6i64), first & 63i64);
    let table: [V<'_>; 4] = std::array::from_fn(|n| (word + n as i64).two_over_pi());
    let funnel = |n: usize| table[n].shl(shift) | table[n + 1].shr(1i64).shr(63i64 - shift);
    let w = [funnel(0), funnel(1), funnel(2)];
    // m times the 192 bits, modulo 2^192: units of 2^-190 of a quadrant.
    let low = m * w[2];
    let (mid, carry) = add_carry(m * w[1], m.umulhi(w[2]));
    let high = m * w[0] + m.umulhi(w[1]) + carry;
    // The nearest quadrant, and the rest as a signed fraction of 128 bits.
    let quadrant = high.shr(62i64) + (high.shr(61i64) & 1i64);
    let (top, bottom) = (high.shl(2i64) | mid.shr(62i64), mid.shl(2i64) | low.shr(62i64));
    let negative = top.lt(0i64);
    let top = negative.select(!top, top);
    let bottom = negative.select(!bottom, bottom);
    // Its leading bits as two floats.
    let zeros = top.clz();
    let by = zeros.low(Type::I32);
    let top = top.shl(by) | bottom.shr(1i64).shr(63i64 - by);
    let bottom = bottom.shl(by);
    let spare = 63 - f.mantissa;
    let h = top.shr(spare).unsigned_to_float(x.ty()) * 2f64.powi(spare as i32 - 64);
    let rest = top.shl(64 - spare) | bottom.shr(spare);
    let l = rest.shr(spare).unsigned_to_float(x.ty()) * 2f64.powi(2 * spare as i32 - 128);
    let unit = (e.int(f.int, 0) - zeros.low(f.int)).exp2_int();
    let sign = unit.copysign(negative.select(x.k(-1.0), x.k(1.0)));
    let (h, l) = product((h * sign, l * sign), x.parts(&PI_2));
    // Sine and multiple are those of |x|.
    let flip = x.lt(0.0);
    let n = quadrant.low(Type::I32);
    ((flip.select(-h, h), flip.select(-l, l)), flip.select(-n, n))
}

fn add_carry<'e>(x: V<'e>, y: V<'e>) -> Double<'e> {
    let s = x + y;
    (s, s.ult(x).select(s.e().int(Type::I64, 1), 0i64))
}

/// The sine of an angle of this rest and quadrant.
fn turn<'e>(rest: Double<'e>, quadrant: V<'e>) -> V<'e> {
    let (sin, cos) = (sin_kernel(rest), cos_kernel(rest));
    turned(sin, cos, quadrant)
}

fn turned<'e>(sin: V<'e>, cos: V<'e>, quadrant: V<'e>) -> V<'e> {
    let value = (quadrant & 1i64).ne(0i64).select(cos, sin);
    (quadrant & 2i64).ne(0i64).select(-value, value)
}

/// sin x
pub fn sin(x: V<'_>) -> V<'_> {
    let (rest, n) = reduce(x);
    turn(rest, n).unless(!x.is_finite(), f64::NAN).unless(x.eq(0.0), x)
}

/// cos x
pub fn cos(x: V<'_>) -> V<'_> {
    let (rest, n) = reduce(x);
    turn(rest, n + 1i64).unless(!x.is_finite(), f64::NAN)
}

/// sin x and cos x.
pub fn sincos(x: V<'_>) -> [V<'_>; 2] {
    let (rest, n) = reduce(x);
    let (sin, cos) = (sin_kernel(rest), cos_kernel(rest));
    let open = !x.is_finite();
    [turned(sin, cos, n).unless(x.eq(0.0), x), turned(sin, cos, n + 1i64)].map(|v| v.unless(open, f64::NAN))
}

/// tan x
pub fn tan(x: V<'_>) -> V<'_> {
    let (rest, n) = reduce(x);
    let (sin, cos) = (sin_kernel(rest), cos_kernel(rest));
    let odd = (n & 1i64).ne(0i64);
    let value = odd.select(-cos, sin) / odd.select(sin, cos);
    value.unless(!x.is_finite(), f64::NAN).unless(x.eq(0.0), x)
}

/// x less a multiple of 1/2, times pi, and that multiple modulo 4. Large numbers are even integers.
fn reduce_pi(x: V<'_>) -> (Double<'_>, V<'_>) {
    let large = x.abs().ge(2f64.powi(x.format().mantissa as i32 + 1));
    let x = x.unless(large, 0.0);
    let k = (x * 2.0).nearest();
    let r = k.fma(-0.5, x);
    (product((r, x.k(0.0)), x.parts(&PI)), k.to_int(x.format().int).low(Type::I32))
}

/// sin(pi x)
pub fn sinpi(x: V<'_>) -> V<'_> {
    let (rest, n) = reduce_pi(x);
    let zero = x.k(0.0).copysign(x);
    let value = turn(rest, n).unless(x.truncate().eq(x), zero);
    value.unless(!x.is_finite(), f64::NAN)
}

/// cos(pi x)
pub fn cospi(x: V<'_>) -> V<'_> {
    let (rest, n) = reduce_pi(x);
    let value = turn(rest, n + 1i64);
    // Halves are zeros, positive ones.
    value.unless(value.eq(0.0), 0.0).unless(!x.is_finite(), f64::NAN)
}

/// sin(pi x) and cos(pi x).
pub fn sincospi(x: V<'_>) -> [V<'_>; 2] {
    [sinpi(x), cospi(x)]
}
