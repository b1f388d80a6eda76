//! Exact binary floating point in integers: any [`Format`], any [`Rounding`].
//!
//! A finite value is unpacked into a [`Real`], an integer of up to 128 bits times a power of two. Operations work on reals
//! and keep, when they must drop bits, the fact that something was dropped in the lowest bit (a *sticky* bit, well below any
//! rounding position); [`Real::round`] is then the only place where rounding happens. What the plain host operations cannot
//! do (directed roundings of f64, conversions, narrow formats) is done here; where speed matters the other modules have
//! shorter ways, which the tests hold against this one.

use super::Rounding;

/// What the largest exponent field of a format means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Top {
    /// Infinity and NaNs, as IEEE 754 has it.
    Ieee,
    /// Ordinary numbers, except that all ones is NaN (e4m3, ue5m3).
    OneNan,
    /// Ordinary numbers; the format has neither infinity nor NaN (e2m1, e2m3, e3m2).
    Finite,
}

/// A binary floating-point format: a sign, an exponent field, a fraction field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Width of the exponent field.
    pub exponent_bits: u32,
    /// Width of the fraction field.
    pub fraction_bits: u32,
    /// What the largest exponent means.
    pub top: Top,
}

impl Format {
    /// IEEE half precision.
    pub const F16: Format = Format::ieee(5, 10);
    /// The upper half of f32.
    pub const BF16: Format = Format::ieee(8, 7);
    /// f32 with ten bits of fraction, here in its own 19 bits; in a register it is shifted left by 13.
    pub const TF32: Format = Format::ieee(8, 10);
    /// IEEE single precision.
    pub const F32: Format = Format::ieee(8, 23);
    /// IEEE double precision.
    pub const F64: Format = Format::ieee(11, 52);
    /// 8 bits, largest number 448, NaN but no infinity.
    pub const E4M3: Format = Format { exponent_bits: 4, fraction_bits: 3, top: Top::OneNan };
    /// 8 bits, IEEE-like.
    pub const E5M2: Format = Format::ieee(5, 2);
    /// 8 bits without a sign, which stands above them and is never set; largest number 114688, NaN but no infinity.
    pub const UE5M3: Format = Format { exponent_bits: 5, fraction_bits: 3, top: Top::OneNan };
    /// 6 bits, largest number 7.5.
    pub const E2M3: Format = Format { exponent_bits: 2, fraction_bits: 3, top: Top::Finite };
    /// 6 bits, largest number 28.
    pub const E3M2: Format = Format { exponent_bits: 3, fraction_bits: 2, top: Top::Finite };
    /// 4 bits, largest number 6.
    pub const E2M1: Format = Format { exponent_bits: 2, fraction_bits: 1, top: Top::Finite };

    const fn ieee(exponent_bits: u32, fraction_bits: u32) -> Format {
        Format { exponent_bits, fraction_bits, top: Top::Ieee }
    }

    /// The sign bit's mask.
    pub const fn sign(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits)
    }

    /// The number, or zero with its sign for a subnormal one.
    pub const fn flush(self, bits: u64) -> u64 {
        let exponent = (self.sign() - 1) & !((1 << self.fraction_bits) - 1);
        if bits & exponent == 0 { bits & self.sign() } else { bits }
    }

    /// The exponent bias.
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The exponent field all ones, the fraction zero: infinity where the format has one.
    const fn top_exponent(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// Positive infinity, where there is one.
    pub const fn infinity(self) -> Option<u64> {
        match self.top {
            Top::Ieee => Some(self.top_exponent()),
            Top::OneNan | Top::Finite => None,
        }
    }

    /// The largest finite number.
    pub const fn max(self) -> u64 {
        match self.top {
            Top::Ieee => self.top_exponent() - 1,
            Top::OneNan => self.sign() - 2,
            Top::Finite => self.sign() - 1,
        }
    }

    /// The NaN that operations and conversions return: all ones below the sign. `None` where the format has no NaN.
    pub const fn nan(self) -> Option<u64> {
        match self.top {
            Top::Ieee | Top::OneNan => Some(self.sign() - 1),
            Top::Finite => None,
        }
    }

    /// What a bit pattern denotes; bits above the sign are ignored.
    #[inline]
    pub const fn unpack(self, bits: u64) -> Value {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.sign() - 1);
        match self.top {
            Top::Ieee if magnitude > self.top_exponent() => return Value::Nan,
            Top::Ieee if magnitude == self.top_exponent() => return Value::Infinity(negative),
            Top::OneNan if magnitude == self.sign() - 1 => return Value::Nan,
            Top::Ieee | Top::OneNan | Top::Finite => {}
        }
        if magnitude == 0 {
            return Value::Zero(negative);
        }
        let field = (magnitude >> self.fraction_bits) as i32;
        let fraction = magnitude & ((1 << self.fraction_bits) - 1);
        let lowest = 1 - self.bias() - self.fraction_bits as i32;
        Value::Finite(if field == 0 {
            Real { negative, exponent: lowest, magnitude: fraction as u128 }
        } else {
            Real {
                negative,
                exponent: lowest + field - 1,
                magnitude: (fraction | 1 << self.fraction_bits) as u128,
            }
        })
    }
}

/// A bit pattern taken apart. The flag is the sign: true for negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// Not a number.
    Nan,
    /// An infinity.
    Infinity(bool),
    /// A zero.
    Zero(bool),
    /// Any other number.
    Finite(Real),
}

/// The number `(-1)^negative * magnitude * 2^exponent`; the magnitude is not zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Real {
    /// The sign.
    pub negative: bool,
    /// The power of two.
    pub exponent: i32,
    /// The integer.
    pub magnitude: u128,
}

/// Shifts right, keeping "something was lost" in the lowest bit.
#[inline]
fn shift_sticky(magnitude: u128, amount: u32) -> u128 {
    match amount {
        0 => magnitude,
        1..=127 => magnitude >> amount | (magnitude << (128 - amount) != 0) as u128,
        _ => (magnitude != 0) as u128,
    }
}

/// Where the magnitudes of an addition have their top bit: room for a carry above, and as many bits as possible below.
const TOP_BIT: u32 = 126;

impl Real {
    /// An integer.
    #[inline]
    pub fn from_integer(negative: bool, magnitude: u128) -> Option<Real> {
        (magnitude != 0).then_some(Real { negative, exponent: 0, magnitude })
    }

    /// The same number with the magnitude's highest one at `TOP_BIT`.
    #[inline]
    fn normalized(self) -> Real {
        let zeros = self.magnitude.leading_zeros() as i32 - (127 - TOP_BIT as i32);
        let magnitude = if zeros >= 0 { self.magnitude << zeros } else { shift_sticky(self.magnitude, 1) };
        Real { magnitude, exponent: self.exponent - zeros, ..self }
    }

    /// The exact product; both magnitudes have at most 64 bits.
    #[inline]
    pub fn product(self, other: Real) -> Real {
        Real {
            negative: self.negative != other.negative,
            exponent: self.exponent + other.exponent,
            magnitude: self.magnitude * other.magnitude,
        }
    }

    /// The sum, sticky; `None` if it is exactly zero.
    #[inline]
    pub fn sum(self, other: Real) -> Option<Real> {
        let (a, b) = (self.normalized(), other.normalized());
        let (large, small) =
            if (a.exponent, a.magnitude) >= (b.exponent, b.magnitude) { (a, b) } else { (b, a) };
        let aligned = shift_sticky(small.magnitude, (large.exponent - small.exponent) as u32);
        let magnitude = if large.negative == small.negative {
            large.magnitude + aligned
        } else {
            large.magnitude - aligned
        };
        (magnitude != 0).then_some(Real { magnitude, ..large })
    }

    /// The quotient, sticky; the divisor has at most 64 bits.
    #[inline]
    pub fn quotient(self, other: Real) -> Real {
        let dividend = self.normalized();
        let magnitude = dividend.magnitude / other.magnitude;
        let inexact = !dividend.magnitude.is_multiple_of(other.magnitude);
        Real {
            negative: self.negative != other.negative,
            // One more bit below, to hold the sticky one apart from the quotient's own bits.
            exponent: dividend.exponent - other.exponent - 1,
            magnitude: magnitude << 1 | inexact as u128,
        }
    }

    /// The square root of the absolute value, sticky.
    #[inline]
    pub fn square_root(self) -> Real {
        let mut x = self.normalized();
        if x.exponent % 2 != 0 {
            x = Real { magnitude: x.magnitude << 1, exponent: x.exponent - 1, ..x };
        }
        let root = x.magnitude.isqrt();
        let inexact = root * root != x.magnitude;
        Real { negative: false, exponent: x.exponent / 2 - 1, magnitude: root << 1 | inexact as u128 }
    }

    /// True if rounding this number to `format`, were its exponent unbounded, gives less than the smallest normal number.
    #[inline]
    pub fn is_tiny(self, format: Format, rounding: Rounding) -> bool {
        let smallest = 1 - format.bias();
        let top = self.exponent + 127 - self.magnitude.leading_zeros() as i32;
        if top >= smallest {
            return false;
        }
        let unit = top - format.fraction_bits as i32;
        let (kept, _) = self.round_to_unit(unit, rounding);
        !(top == smallest - 1 && kept >> (format.fraction_bits + 1) != 0)
    }

    /// True if rounding this number to `format`, were its exponent unbounded, gives more than the greatest finite number.
    #[inline]
    pub fn is_beyond(self, format: Format, rounding: Rounding) -> bool {
        let (field, fraction) =
            (format.max() >> format.fraction_bits, format.max() & ((1 << format.fraction_bits) - 1));
        let greatest = field as i32 - format.bias();
        let top = self.exponent + 127 - self.magnitude.leading_zeros() as i32;
        let kept = || self.round_to_unit(greatest - format.fraction_bits as i32, rounding).0;
        top > greatest || top == greatest && kept() > (fraction | 1 << format.fraction_bits) as u128
    }

    /// The magnitude as a multiple of `2^unit`, rounded, and whether anything was dropped.
    #[inline]
    pub fn round_to_unit(self, unit: i32, rounding: Rounding) -> (u128, bool) {
        let shift = unit - self.exponent;
        if shift <= 0 {
            return (self.magnitude << -shift, false);
        }
        let (kept, rest, half) = match shift {
            1..=127 => {
                (self.magnitude >> shift, self.magnitude & !(u128::MAX << shift), 1u128 << (shift - 1))
            }
            128 => (0, self.magnitude, 1 << 127),
            // Below half of the unit, whatever the bits.
            _ => (0, 1, 2),
        };
        let up = match rounding {
            Rounding::Nearest => rest > half || (rest == half && kept & 1 != 0),
            Rounding::NearestAway => rest >= half,
            Rounding::Zero => false,
            Rounding::Down => self.negative && rest != 0,
            Rounding::Up => !self.negative && rest != 0,
        };
        (kept + up as u128, rest != 0)
    }

    /// The bits of the nearest number of `format` in the direction that `rounding` says. Too large a number becomes infinity or
    /// the largest number as IEEE 754 says, the largest number where the format has no infinity.
    #[inline]
    pub fn round(self, format: Format, rounding: Rounding) -> u64 {
        let sign = if self.negative { format.sign() } else { 0 };
        let top = self.exponent + 127 - self.magnitude.leading_zeros() as i32;
        let lowest = 1 - format.bias() - format.fraction_bits as i32;
        let overflow = || {
            let outward = match rounding {
                Rounding::Nearest | Rounding::NearestAway => true,
                Rounding::Zero => false,
                Rounding::Down => self.negative,
                Rounding::Up => !self.negative,
            };
            format.infinity().filter(|_| outward).unwrap_or(format.max())
        };
        if top > format.bias() + 1 {
            return sign | overflow();
        }
        let unit = (top - format.fraction_bits as i32).max(lowest);
        let (kept, _) = self.round_to_unit(unit, rounding);
        // The hidden bit adds one to the exponent field, as does a carry out of the fraction.
        let bits = (((unit - lowest) as u64) << format.fraction_bits) + kept as u64;
        sign | if bits > format.max() { overflow() } else { bits }
    }
}

/// What an operation on NaNs and infinities has to say before the numbers are looked at.
enum Special {
    /// The result is a NaN.
    Nan,
    /// The result is this infinity.
    Infinity(bool),
    /// The result is this zero.
    Zero(bool),
}

/// The result of an operation: a special value, or a number still to be rounded.
enum Outcome {
    Special(Special),
    Number(Real),
}

impl Outcome {
    #[inline]
    fn pack(self, format: Format, rounding: Rounding, flush: bool) -> Option<u64> {
        let signed = |negative, bits| if negative { format.sign() | bits } else { bits };
        match self {
            Outcome::Special(Special::Nan) => None,
            Outcome::Special(Special::Infinity(negative)) => {
                Some(signed(negative, format.infinity().unwrap_or(format.max())))
            }
            Outcome::Special(Special::Zero(negative)) => Some(signed(negative, 0)),
            Outcome::Number(x) if flush && x.is_tiny(format, rounding) => Some(signed(x.negative, 0)),
            Outcome::Number(x) => Some(x.round(format, rounding)),
        }
    }
}

/// The zero that an exact cancellation gives.
#[inline]
fn cancelled(rounding: Rounding) -> Outcome {
    Outcome::Special(Special::Zero(rounding == Rounding::Down))
}

#[inline]
fn add_values(a: Value, b: Value, rounding: Rounding) -> Outcome {
    use Value::*;
    match (a, b) {
        (Nan, _) | (_, Nan) => Outcome::Special(Special::Nan),
        (Infinity(x), Infinity(y)) if x != y => Outcome::Special(Special::Nan),
        (Infinity(x), _) | (_, Infinity(x)) => Outcome::Special(Special::Infinity(x)),
        (Zero(x), Zero(y)) if x == y => Outcome::Special(Special::Zero(x)),
        (Zero(_), Zero(_)) => cancelled(rounding),
        (Finite(x), Zero(_)) | (Zero(_), Finite(x)) => Outcome::Number(x),
        (Finite(x), Finite(y)) => x.sum(y).map_or_else(|| cancelled(rounding), Outcome::Number),
    }
}

#[inline]
fn multiply_values(a: Value, b: Value) -> Value {
    use Value::*;
    match (a, b) {
        (Nan, _) | (_, Nan) | (Infinity(_), Zero(_)) | (Zero(_), Infinity(_)) => Nan,
        (Infinity(x), Infinity(y)) => Infinity(x != y),
        (Infinity(x), Finite(y)) | (Finite(y), Infinity(x)) => Infinity(x != y.negative),
        (Zero(x), Zero(y)) => Zero(x != y),
        (Zero(x), Finite(y)) | (Finite(y), Zero(x)) => Zero(x != y.negative),
        (Finite(x), Finite(y)) => Finite(x.product(y)),
    }
}

impl From<Value> for Outcome {
    fn from(value: Value) -> Outcome {
        match value {
            Value::Nan => Outcome::Special(Special::Nan),
            Value::Infinity(negative) => Outcome::Special(Special::Infinity(negative)),
            Value::Zero(negative) => Outcome::Special(Special::Zero(negative)),
            Value::Finite(x) => Outcome::Number(x),
        }
    }
}

impl Value {
    /// The sum, sticky: to be rounded in the direction that is given here for the sign of a zero.
    #[inline]
    pub fn plus(self, other: Value, rounding: Rounding) -> Value {
        match add_values(self, other, rounding) {
            Outcome::Special(Special::Nan) => Value::Nan,
            Outcome::Special(Special::Infinity(negative)) => Value::Infinity(negative),
            Outcome::Special(Special::Zero(negative)) => Value::Zero(negative),
            Outcome::Number(x) => Value::Finite(x),
        }
    }

    /// The exact product of two values whose magnitudes have at most 64 bits.
    #[inline]
    pub fn times(self, other: Value) -> Value {
        multiply_values(self, other)
    }

    /// The value times a power of two.
    #[inline]
    pub fn scaled(self, exponent: i32) -> Value {
        match self {
            Value::Finite(x) => Value::Finite(Real { exponent: x.exponent + exponent, ..x }),
            Value::Nan | Value::Infinity(_) | Value::Zero(_) => self,
        }
    }

    /// The value with the other sign.
    #[inline]
    pub fn negated(self) -> Value {
        match self {
            Value::Nan => Value::Nan,
            Value::Infinity(negative) => Value::Infinity(!negative),
            Value::Zero(negative) => Value::Zero(!negative),
            Value::Finite(x) => Value::Finite(Real { negative: !x.negative, ..x }),
        }
    }
}

impl Format {
    /// `a + b`; `None` denotes NaN, whose bits are the caller's to choose. `flush` makes a tiny result zero.
    #[inline]
    pub fn add(self, a: u64, b: u64, rounding: Rounding, flush: bool) -> Option<u64> {
        add_values(self.unpack(a), self.unpack(b), rounding).pack(self, rounding, flush)
    }

    /// `a * b`.
    #[inline]
    pub fn mul(self, a: u64, b: u64, rounding: Rounding, flush: bool) -> Option<u64> {
        Outcome::from(multiply_values(self.unpack(a), self.unpack(b))).pack(self, rounding, flush)
    }

    /// `a * b + c` with one rounding.
    #[inline]
    pub fn fma(self, a: u64, b: u64, c: u64, rounding: Rounding, flush: bool) -> Option<u64> {
        let product = multiply_values(self.unpack(a), self.unpack(b));
        add_values(product, self.unpack(c), rounding).pack(self, rounding, flush)
    }

    /// `a / b`.
    #[inline]
    pub fn div(self, a: u64, b: u64, rounding: Rounding, flush: bool) -> Option<u64> {
        use Value::*;
        let outcome = match (self.unpack(a), self.unpack(b)) {
            (Nan, _) | (_, Nan) | (Infinity(_), Infinity(_)) | (Zero(_), Zero(_)) => Special::Nan,
            (Infinity(x), Zero(y)) => Special::Infinity(x != y),
            (Infinity(x), Finite(y)) => Special::Infinity(x != y.negative),
            (Finite(x), Zero(y)) => Special::Infinity(x.negative != y),
            (Finite(x), Infinity(y)) => Special::Zero(x.negative != y),
            (Zero(x), Infinity(y)) => Special::Zero(x != y),
            (Zero(x), Finite(y)) => Special::Zero(x != y.negative),
            (Finite(x), Finite(y)) => return Outcome::Number(x.quotient(y)).pack(self, rounding, flush),
        };
        Outcome::Special(outcome).pack(self, rounding, flush)
    }

    /// The square root of `a`.
    #[inline]
    pub fn sqrt(self, a: u64, rounding: Rounding) -> Option<u64> {
        match self.unpack(a) {
            Value::Nan | Value::Infinity(true) => None,
            Value::Infinity(false) | Value::Zero(_) => Some(a),
            Value::Finite(x) if x.negative => None,
            Value::Finite(x) => Some(x.square_root().round(self, rounding)),
        }
    }
}
