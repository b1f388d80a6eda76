//! Constants as text: which bits a written number denotes, and how bits are written.

use crate::types::{Scalar, Type};
use warpsmith_semantics::value::Rounding;
use warpsmith_semantics::value::soft::{Format, Value};

/// A number as written, before its type is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    /// Digits, perhaps behind `-`, perhaps in hexadecimal.
    Int { negative: bool, magnitude: u128, hex: bool },
    /// A decimal fraction or exponent; both roundings, since one through the other would round twice.
    Decimal { as_f64: f64, as_f32: f32 },
    /// `0f3f800000`
    F32Bits(u32),
    /// `0d3ff0000000000000`
    F64Bits(u64),
}

/// Why a number is not a constant of a type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum NumberError {
    /// The integer does not fit.
    Range,
    /// A float where an integer is needed.
    NotAnInteger,
    /// An integer where a float is needed.
    NotAFloat,
    /// A bit pattern of another width.
    Width,
    /// A number that is none of the powers of two that `ue8m0` has.
    NoPower,
    /// The type has no constants of this kind.
    NoLiteral,
}

/// The value of an integer constant in the form of [`Type::normalize`], of a type of up to 64 bits. Both the signed and the unsigned reading are
/// allowed.
pub(crate) fn int_bits(number: Number, ty: Type) -> Result<i64, NumberError> {
    wide_bits(number, ty).map(|bits| ty.normalize(bits as i64))
}

/// The bits of an integer constant of any width, sign-extended where it is negative.
pub(crate) fn wide_bits(number: Number, ty: Type) -> Result<u128, NumberError> {
    let Number::Int { negative, magnitude, .. } = number else { return Err(NumberError::NotAnInteger) };
    if !ty.is_int() {
        return Err(NumberError::NoLiteral);
    }
    let limit = match (ty.bits(), negative) {
        (1, _) => 1,
        (bits, true) => 1 << (bits - 1),
        (bits, false) => u128::MAX >> (128 - bits),
    };
    if magnitude > limit {
        return Err(NumberError::Range);
    }
    Ok(if negative { magnitude.wrapping_neg() } else { magnitude })
}

/// The bits of a float constant.
pub(crate) fn float_bits(number: Number, ty: Type) -> Result<u64, NumberError> {
    if !ty.is_float() {
        return Err(NumberError::NoLiteral);
    }
    match (number, ty.element()) {
        (Number::F32Bits(bits), Scalar::F32 | Scalar::TF32) => Ok(bits as u64),
        (Number::F64Bits(bits), Scalar::F64) => Ok(bits),
        (Number::F32Bits(_) | Number::F64Bits(_), _) => Err(NumberError::Width),
        (Number::Decimal { as_f32, .. }, Scalar::F32) => Ok(as_f32.to_bits() as u64),
        (Number::Decimal { as_f64, .. }, Scalar::F64) => Ok(as_f64.to_bits()),
        (Number::Decimal { as_f64, .. }, scalar) => match half_format(scalar) {
            Some(format) => Ok(format.round(as_f64) as u64),
            None if scalar == Scalar::UE8M0 => power_bits(as_f64).ok_or(NumberError::NoPower),
            None => narrow_bits(scalar, as_f64).ok_or(NumberError::NoLiteral),
        },
        (Number::Int { negative: false, magnitude, hex: true }, _) if ty.bits() <= 16 => {
            if magnitude >> ty.bits() == 0 { Ok(magnitude as u64) } else { Err(NumberError::Range) }
        }
        (Number::Int { .. }, _) => Err(NumberError::NotAFloat),
    }
}

/// The nearest number of a format that is computed in by way of `f32`, ties to even, as a conversion gives it.
fn narrow_bits(scalar: Scalar, value: f64) -> Option<u64> {
    let format = crate::meaning::narrow_format(scalar)?;
    let bits = match Format::F64.unpack(value.to_bits()) {
        Value::Nan => format.nan().unwrap_or(format.max()),
        Value::Infinity(negative) => sign_of(format, negative) | format.infinity().unwrap_or(format.max()),
        Value::Zero(negative) => sign_of(format, negative),
        Value::Finite(real) => real.round(format, Rounding::Nearest),
    };
    Some(if scalar == Scalar::TF32 { bits << 13 } else { bits })
}

/// The bits of a number in `ue8m0`, if it is one of its powers of two.
fn power_bits(value: f64) -> Option<u64> {
    (0..0xff).find(|bits| 2f64.powi(*bits as i32 - 127) == value)
}

fn sign_of(format: Format, negative: bool) -> u64 {
    if negative { format.sign() } else { 0 }
}

/// Writes a float constant so that [`float_bits`] reads the same bits.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other format is a half")]
pub(crate) fn write_float(out: &mut String, ty: Type, bits: u64) {
    let value = match ty.element() {
        Scalar::F64 => Some(f64::from_bits(bits)),
        Scalar::F32 => {
            let value = f32::from_bits(bits as u32);
            if value.is_finite() {
                out.push_str(&format!("{value:?}"));
                return;
            }
            None
        }
        scalar => half_format(scalar).map(|format| format.widen(bits as u16)),
    };
    out.push_str(&match (value.filter(|value| value.is_finite()), ty.element()) {
        (Some(value), _) => format!("{value:?}"),
        (None, Scalar::F64) => format!("0d{bits:016x}"),
        (None, Scalar::F32 | Scalar::TF32) => format!("0f{bits:08x}"),
        (None, _) => format!("{bits:#x}"),
    });
}

/// A binary interchange format of 16 bits.
#[derive(Clone, Copy)]
struct HalfFormat {
    /// Bits of the fraction; the rest but the sign is the exponent.
    fraction: u32,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other format is a half")]
fn half_format(scalar: Scalar) -> Option<HalfFormat> {
    match scalar {
        Scalar::F16 => Some(HalfFormat { fraction: 10 }),
        Scalar::BF16 => Some(HalfFormat { fraction: 7 }),
        _ => None,
    }
}

impl HalfFormat {
    fn bias(self) -> i32 {
        (1 << (14 - self.fraction)) - 1
    }

    /// The nearest value, ties to even.
    fn round(self, value: f64) -> u16 {
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let infinity = (0x7fffu16 >> self.fraction) << self.fraction;
        if value.is_nan() {
            return sign | infinity | 1 << (self.fraction - 1);
        }
        // Units of the last place: fixed below the smallest normal number, relative above.
        let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(1 - self.bias());
        let unit = exponent - self.fraction as i32;
        // Scaling by a power of two is exact, or far from a tie because the result is subnormal below 2^-1022.
        let scaled = value.abs() * 2f64.powi(-unit);
        if !scaled.is_finite() {
            return sign | infinity;
        }
        let rounded = scaled.round_ties_even() as u64;
        // A carry out of the fraction moves to the next exponent by itself.
        let bits = rounded + (((exponent + self.bias() - 1) as u64) << self.fraction);
        sign | bits.min(infinity as u64) as u16
    }

    /// The value, exactly.
    fn widen(self, bits: u16) -> f64 {
        let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
        let exponent = ((bits & 0x7fff) >> self.fraction) as i32;
        let fraction = (bits & ((1 << self.fraction) - 1)) as f64;
        let units = (1u32 << self.fraction) as f64;
        if exponent == 0x7fff >> self.fraction {
            return if fraction == 0.0 { sign * f64::INFINITY } else { f64::NAN };
        }
        match exponent {
            0 => sign * fraction / units * 2f64.powi(1 - self.bias()),
            _ => sign * (1.0 + fraction / units) * 2f64.powi(exponent - self.bias()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_nearest_even() {
        let f16 = HalfFormat { fraction: 10 };
        let bf16 = HalfFormat { fraction: 7 };
        for (value, bits) in [
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (5.960464477539063e-8, 0x0001),
            (2.980232238769531e-8, 0x0000),
            (2.98023223876954e-8, 0x0001),
            (1.00048828125, 0x3c00),
            (1.00146484375, 0x3c02),
            (-0.0, 0x8000),
            (1e300, 0x7c00),
            (1e-300, 0x0000),
        ] {
            assert_eq!(f16.round(value), bits, "{value}");
        }
        assert_eq!((bf16.round(1.0), bf16.round(1e-40), bf16.round(3.4e38)), (0x3f80, 0x0001, 0x7f80));
        for format in [f16, bf16] {
            for bits in 0..=0xffffu16 {
                let value = format.widen(bits);
                assert!(value.is_nan() || format.round(value) == bits, "{bits:#x}");
            }
        }
    }

    #[test]
    fn integers_fit_either_reading() {
        let int = |negative, magnitude| Number::Int { negative, magnitude, hex: false };
        assert_eq!(int_bits(int(false, 255), Type::I8), Ok(-1));
        assert_eq!(int_bits(int(true, 128), Type::I8), Ok(-128));
        assert_eq!(int_bits(int(false, 256), Type::I8), Err(NumberError::Range));
        assert_eq!(int_bits(int(true, 129), Type::I8), Err(NumberError::Range));
        assert_eq!(int_bits(int(false, u64::MAX as u128), Type::I64), Ok(-1));
        assert_eq!(int_bits(int(true, 1 << 63), Type::I64), Ok(i64::MIN));
        assert_eq!(int_bits(int(true, 1), Type::I1), Ok(1));
        assert_eq!(wide_bits(int(true, 1 << 127), Type::I128), Ok(1 << 127));
        assert_eq!(wide_bits(int(true, (1 << 127) + 1), Type::I128), Err(NumberError::Range));
        assert_eq!(wide_bits(int(false, u128::MAX), Type::I128), Ok(u128::MAX));
        let i24 = Type::int(24).expect("a width");
        assert_eq!(
            (int_bits(int(false, 0xff_ffff), i24), int_bits(int(false, 1 << 24), i24)),
            (Ok(-1), Err(NumberError::Range))
        );
    }
}
