//! Arithmetic on pairs of different formats (PTX ISA 9.4, 9.7.5): computed exactly and rounded once, as the one machine instruction does
//! that ptxas 13.5 makes of each.

use super::Rounding;
use super::half;
use super::single;
use super::soft::{Format, Value};

/// A result in a format of 16 bits. `flush` makes a tiny one zero.
#[inline]
fn pack(value: Value, format: Format, rounding: Rounding, flush: bool) -> u16 {
    let signed = |negative, magnitude| if negative { format.sign() | magnitude } else { magnitude };
    let bits = match value {
        Value::Nan => half::NAN.into(),
        Value::Infinity(negative) => signed(negative, format.infinity().unwrap_or(format.max())),
        Value::Zero(negative) => signed(negative, 0),
        Value::Finite(real) if flush && real.is_tiny(format, rounding) => signed(real.negative, 0),
        Value::Finite(real) => real.round(format, rounding),
    };
    bits as u16
}

#[inline]
fn operand(flush: bool, a: u32) -> Value {
    Format::F32.unpack((if flush { single::flush(a) } else { a }).into())
}

/// `add.rz.ftz.f16x2.f32x2.f32x2` and `add.rz.bf16x2.f32x2.f32x2`, of one pair. `sub` adds the other sign.
#[inline]
pub fn half_sum(format: Format, flush: bool, a: u32, b: u32) -> u16 {
    let sum = operand(flush, a).plus(operand(flush, b), Rounding::Zero);
    pack(sum, format, Rounding::Zero, flush)
}

/// `mul.rz.ftz.f16x2.f32x2.f32x2` and `mul.rz.bf16x2.f32x2.f32x2`, of one pair.
#[inline]
pub fn half_product(format: Format, flush: bool, a: u32, b: u32) -> u16 {
    pack(operand(flush, a).times(operand(flush, b)), format, Rounding::Zero, flush)
}

/// `mul.bf16x2.bf16x2.f16x2` and `mul.f16x2.f16x2.bf16x2`, of one pair: the result has the format of `a`.
#[inline]
pub fn product(format: Format, other: Format, a: u16, b: u16) -> u16 {
    pack(format.unpack(a.into()).times(other.unpack(b.into())), format, Rounding::Nearest, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_cut() {
        let sum = |a: f32, b: f32| half_sum(Format::F16, true, a.to_bits(), b.to_bits());
        assert_eq!(sum(1.0, 1.0), 0x4000);
        // One bit short of the next f16, and nothing lost by a first rounding.
        assert_eq!(sum(1.0, 0.000_976_5), 0x3c00);
        assert_eq!(sum(-1.0, -0.000_976_5), 0xbc00);
        assert_eq!(sum(65504.0, 1e9), 0x7bff, "toward zero there is no infinity");
        assert_eq!(sum(f32::INFINITY, 1.0), 0x7c00);
        assert_eq!(sum(f32::INFINITY, f32::NEG_INFINITY), 0x7fff);
        assert_eq!(sum(1.0, -1.0), 0);
        assert_eq!(sum(-1e-6, 0.0), 0x8000, "subnormal in f16");
        assert_eq!(half_sum(Format::BF16, false, 0x3f80_ffff, 0), 0x3f80);
        assert_eq!(half_sum(Format::BF16, false, 1 << 16, 0), 1);
    }

    #[test]
    fn products() {
        let product_of = |a: f32, b: f32| half_product(Format::F16, true, a.to_bits(), b.to_bits());
        assert_eq!(product_of(1.5, 1.5), 0x4080);
        assert_eq!(product_of(1e30, 1e30), 0x7bff);
        assert_eq!(product_of(0.0, f32::INFINITY), 0x7fff);
        // 1 + 2^-7 times 1 + 2^-10: a conversion of the f16 first would lose its last bits, and the product is above the middle.
        assert_eq!(product(Format::BF16, Format::F16, 0x3f81, 0x3c01), 0x3f81);
        assert_eq!(product(Format::BF16, Format::F16, 0x3f80, 0x3c05), 0x3f81);
        assert_eq!(product(Format::F16, Format::BF16, 0x3c01, 0x4000), 0x4001);
        assert_eq!(product(Format::F16, Format::BF16, 0x3c00, 0x7f00), 0x7c00);
    }
}
