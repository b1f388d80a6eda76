//! Floating-point arithmetic of the manual's section 9.7.3 by `rustc_apfloat`: each operation in its format, rounded once.

use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use std::cmp::Ordering;
use warpsmith_isa::ScalarType;

/// The formats that registers hold and instructions compute in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    F16,
    BF16,
    F32,
    F64,
}

/// Computes with the type that denotes the format.
macro_rules! in_format {
    ($format:expr, $F:ident => $body:expr) => {
        match $format {
            Format::F16 => {
                type $F = Half;
                $body
            }
            Format::BF16 => {
                type $F = BFloat;
                $body
            }
            Format::F32 => {
                type $F = Single;
                $body
            }
            Format::F64 => {
                type $F = Double;
                $body
            }
        }
    };
}

impl Format {
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other type has arithmetic of its own")]
    pub fn of(ty: ScalarType) -> Option<Format> {
        match ty {
            ScalarType::F16 => Some(Format::F16),
            ScalarType::BF16 => Some(Format::BF16),
            ScalarType::F32 => Some(Format::F32),
            ScalarType::F64 => Some(Format::F64),
            _ => None,
        }
    }

    pub const fn bits(self) -> u32 {
        match self {
            Format::F16 | Format::BF16 => 16,
            Format::F32 => 32,
            Format::F64 => 64,
        }
    }

    /// The NaN that results are.
    pub const fn nan(self) -> u128 {
        match self {
            Format::F16 | Format::BF16 => 0x7fff,
            Format::F32 => 0x7fff_ffff,
            Format::F64 => 0x7ff8_0000_0000_0000,
        }
    }

    pub const fn sign(self) -> u128 {
        1 << (self.bits() - 1)
    }

    pub fn one(self) -> u128 {
        in_format!(self, F => F::from_u128(1).value.to_bits())
    }

    pub fn is_nan(self, a: u128) -> bool {
        in_format!(self, F => F::from_bits(a).is_nan())
    }

    pub fn is_subnormal(self, a: u128) -> bool {
        in_format!(self, F => F::from_bits(a).is_denormal())
    }

    pub fn is_infinite(self, a: u128) -> bool {
        in_format!(self, F => F::from_bits(a).is_infinite())
    }

    pub fn is_zero(self, a: u128) -> bool {
        a & (self.sign() - 1) == 0
    }

    /// Zero of the same sign for what is subnormal.
    pub fn flushed(self, a: u128) -> u128 {
        if self.is_subnormal(a) { a & self.sign() } else { a }
    }

    pub fn compare(self, a: u128, b: u128) -> Option<Ordering> {
        in_format!(self, F => F::from_bits(a).partial_cmp(&F::from_bits(b)))
    }

    pub fn add(self, a: u128, b: u128, round: Round) -> u128 {
        self.canonical(in_format!(self, F => F::from_bits(a).add_r(F::from_bits(b), round).value.to_bits()))
    }

    pub fn mul(self, a: u128, b: u128, round: Round) -> u128 {
        self.canonical(in_format!(self, F => F::from_bits(a).mul_r(F::from_bits(b), round).value.to_bits()))
    }

    pub fn div(self, a: u128, b: u128, round: Round) -> u128 {
        self.canonical(in_format!(self, F => F::from_bits(a).div_r(F::from_bits(b), round).value.to_bits()))
    }

    pub fn fma(self, a: u128, b: u128, c: u128, round: Round) -> u128 {
        let bits = in_format!(self, F => {
            F::from_bits(a).mul_add_r(F::from_bits(b), F::from_bits(c), round).value.to_bits()
        });
        self.canonical(bits)
    }

    /// The root, found by the processor to nearest and moved by one step where another direction wants it.
    pub fn sqrt(self, a: u128, round: Round) -> Option<u128> {
        let nearest = match self {
            Format::F32 => u128::from(f32::from_bits(a as u32).sqrt().to_bits()),
            Format::F64 => u128::from(f64::from_bits(a as u64).sqrt().to_bits()),
            Format::F16 | Format::BF16 => return None,
        };
        if self.is_nan(nearest) {
            return Some(self.nan());
        }
        if self.is_zero(nearest) || self.is_infinite(nearest) {
            return Some(nearest);
        }
        // Exact: the format has more than twice the digits.
        let square = (self.exact(nearest) * self.exact(nearest)).value;
        let order = square.partial_cmp(&self.exact(a));
        Some(match (round, order) {
            (Round::TowardZero | Round::TowardNegative, Some(Ordering::Greater)) => nearest - 1,
            (Round::TowardPositive, Some(Ordering::Less)) => nearest + 1,
            _ => nearest,
        })
    }

    /// The lesser, or the greater; a zero with a sign is less than one without, a number goes before a NaN unless `nan`.
    pub fn extreme(self, a: u128, b: u128, greater: bool, nan: bool) -> u128 {
        match (self.is_nan(a), self.is_nan(b)) {
            (false, false) => {}
            (true, true) => return self.nan(),
            _ if nan => return self.nan(),
            (true, false) => return b,
            (false, true) => return a,
        }
        let less = match self.compare(a, b) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => a & self.sign() != 0,
            _ => false,
        };
        if less != greater { a } else { b }
    }

    pub fn round_to_integral(self, a: u128, round: Round) -> u128 {
        self.canonical(in_format!(self, F => F::from_bits(a).round_to_integral(round).value.to_bits()))
    }

    fn canonical(self, bits: u128) -> u128 {
        if self.is_nan(bits) { self.nan() } else { bits }
    }

    /// The number in a format that holds all others.
    pub fn exact(self, a: u128) -> Quad {
        let mut lost = false;
        in_format!(self, F => {
            let quad: Quad = F::from_bits(a).convert(&mut lost).value;
            quad
        })
    }

    pub fn rounded(self, quad: Quad, round: Round) -> u128 {
        let mut lost = false;
        let bits = in_format!(self, F => {
            let value: F = quad.convert_r(round, &mut lost).value;
            value.to_bits()
        });
        self.canonical(bits)
    }

    pub fn of_int(self, value: i128, round: Round) -> u128 {
        in_format!(self, F => F::from_i128_r(value, round).value.to_bits())
    }
}
