//! The functions. Each takes values and returns the value of its result; both formats come from one text, with the format's coefficients.

pub mod bessel;
pub mod bessel_modified;
pub mod bessel_order;
pub mod bessel_second;
pub mod error;
pub mod exp;
pub mod fast;
pub mod gamma;
pub mod hyperbolic;
pub mod integral;
pub mod inverse;
pub mod log;
pub mod norm;
pub mod power;
pub mod remainder;
pub mod roots;
pub mod trig;

use crate::coefficients::{Coefficients, Parts};
use crate::expr::V;
use warpsmith_ir::Type;

/// A value as an unevaluated sum: the second part is below half a unit of the first one's last place, or nearly.
pub type Double<'e> = (V<'e>, V<'e>);

impl<'e> V<'e> {
    /// The polynomial at this value, by Horner's rule.
    pub fn poly(self, c: &Coefficients) -> V<'e> {
        let horner = |c: &mut dyn Iterator<Item = f64>| {
            let first = c.next().unwrap_or(0.0);
            c.fold(self.k(first), |sum, c| sum.fma(self, c))
        };
        if self.is_f32() {
            horner(&mut c.f32.iter().rev().map(|c| f64::from(*c)))
        } else {
            horner(&mut c.f64.iter().rev().copied())
        }
    }

    /// The n-th part of a constant.
    pub fn part(self, parts: &Parts, n: usize) -> V<'e> {
        self.k(if self.is_f32() { parts.f32[n].into() } else { parts.f64[n] })
    }

    /// The first two parts of a constant.
    pub fn parts(self, parts: &Parts) -> Double<'e> {
        (self.part(parts, 0), self.part(parts, 1))
    }

    /// The format's description.
    pub fn format(self) -> Format {
        if self.is_f32() { Format::F32 } else { Format::F64 }
    }

    /// 2^n for an integer n of the size of the format, within the exponents of normal numbers.
    pub fn exp2_int(self) -> V<'e> {
        let f = if self.ty() == Type::I32 { Format::F32 } else { Format::F64 };
        (self + f.bias).shl(f.mantissa).float_of_bits()
    }

    /// This number, of about 1, times 2^n, rounded once, for any n of the size of the format between -3/2 and 3/2 times the greatest exponent.
    pub fn scale(self, n: V<'e>) -> V<'e> {
        // Two steps, so that only the last leaves the normal numbers.
        let half = n.sar(1i64);
        self * half.exp2_int() * (n - half).exp2_int()
    }
}

/// What a format is made of.
#[derive(Clone, Copy)]
pub struct Format {
    /// The integer of its size.
    pub int: Type,
    /// Its bits.
    pub bits: i64,
    /// Stored bits of the significand.
    pub mantissa: i64,
    /// What is added to exponents.
    pub bias: i64,
}

impl Format {
    const F32: Format = Format { int: Type::I32, bits: 32, mantissa: 23, bias: 127 };
    const F64: Format = Format { int: Type::I64, bits: 64, mantissa: 52, bias: 1023 };

    /// The stored significand's bits set.
    pub fn mantissa_mask(self) -> i64 {
        (1 << self.mantissa) - 1
    }

    /// The bits of an infinity.
    pub fn infinity(self) -> i64 {
        (2 * self.bias + 1) << self.mantissa
    }
}

/// x + y exactly.
pub fn two_sum<'e>(x: V<'e>, y: V<'e>) -> Double<'e> {
    let s = x + y;
    let back = s - x;
    (s, (x - (s - back)) + (y - back))
}

/// x + y exactly, if |x| >= |y| or x is 0.
pub fn fast_two_sum<'e>(x: V<'e>, y: V<'e>) -> Double<'e> {
    let s = x + y;
    (s, y - (s - x))
}

/// x y exactly, unless it leaves the normal numbers.
pub fn two_product<'e>(x: V<'e>, y: V<'e>) -> Double<'e> {
    let p = x * y;
    (p, x.fma(y, -p))
}

/// The product of two sums, to about twice the precision of the format.
pub fn product<'e>(x: Double<'e>, y: Double<'e>) -> Double<'e> {
    let (p, l) = two_product(x.0, y.0);
    let l = x.0.fma(y.1, x.1.fma(y.0, l));
    fast_two_sum(p, l)
}

/// The sum of two sums, to about twice the precision of the format, if |x| >= |y|.
pub fn sum<'e>(x: Double<'e>, y: Double<'e>) -> Double<'e> {
    let (s, l) = two_sum(x.0, y.0);
    fast_two_sum(s, l + (x.1 + y.1))
}

/// The number's significand in [1, 2) and its exponent, as an integer of the format's size; for positive numbers, subnormals included.
pub fn split_exponent(x: V<'_>) -> Double<'_> {
    let f = x.format();
    let tiny = x.lt(2f64.powi(1 - f.bias as i32));
    let up = tiny.select(x * 2f64.powi(f.mantissa as i32 + 1), x);
    let bits = up.bits();
    let shift = tiny.select(x.e().int(f.int, f.bias + f.mantissa + 1), f.bias);
    let exponent = bits.shr(f.mantissa) - shift;
    let m = ((bits & f.mantissa_mask()) | (f.bias << f.mantissa)).float_of_bits();
    (m, exponent)
}
