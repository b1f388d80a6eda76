//! Conversions between two values of 16 or 32 bits and two of fewer, with what PTX ISA 9.1 to 9.4 added to them: scale factors, `.rz`,
//! `.pzo`, and the formats s2f6 and ue5m3 (9.4, 9.7.10.24).
//!
//! # Scale factors
//! A scale factor is a byte of ue8m0, a power of two, or NaN. What is made narrower is divided by it first, what is made wider is
//! multiplied by it afterwards, as a value of its new format. `.scaled::n2` has a factor for each value, `.scaled::n1` one for both, and
//! takes subnormal operands as zeros.

use super::signed;
use super::small::Small;
use crate::value::Rounding;
use crate::value::half;
use crate::value::packed::{join_16, split_16};
use crate::value::soft::{Format, Real, Value};

/// A format of fewer than 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// One with a sign and an exponent.
    Small(Small),
    /// `.s2f6`: a signed byte of 64ths.
    S2F6,
    /// `.ue5m3`: no sign; the magnitude is converted.
    UE5M3,
}

/// The factors that mean one.
pub const UNSCALED: u32 = 0x7f7f;

/// The bias of ue8m0.
const SCALE_BIAS: i32 = 127;
const SCALE_NAN: u32 = 0xff;

/// A conversion to or from a narrow format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Narrow {
    /// The narrow format.
    pub element: Element,
    /// Of a conversion that makes narrower.
    pub rounding: Rounding,
    /// `.relu`
    pub relu: bool,
    /// `.pzo`: a result of -0 becomes +0.
    pub pzo: bool,
    /// `.satfinite`
    pub satfinite: bool,
    /// Subnormal operands are zeros.
    pub flush: bool,
}

impl Narrow {
    /// A conversion to nearest without modifiers but `.satfinite`.
    pub const fn new(element: Element) -> Narrow {
        let rounding = Rounding::Nearest;
        Narrow { element, rounding, relu: false, pzo: false, satfinite: true, flush: false }
    }

    /// The conversion as a number, for callers that pass it along as one.
    pub fn code(self) -> u32 {
        let element = match self.element {
            Element::Small(Small::E4M3) => 0,
            Element::Small(Small::E5M2) => 1,
            Element::Small(Small::E2M3) => 2,
            Element::Small(Small::E3M2) => 3,
            Element::Small(Small::E2M1) => 4,
            Element::S2F6 => 5,
            Element::UE5M3 => 6,
        };
        let rounding = match self.rounding {
            Rounding::Nearest | Rounding::NearestAway | Rounding::Down => 0,
            Rounding::Zero => 1,
            Rounding::Up => 2,
        };
        let flags = [self.relu, self.pzo, self.satfinite, self.flush];
        let flags = flags.iter().rev().fold(0, |code, flag| code << 1 | *flag as u32);
        element | rounding << 8 | flags << 16
    }

    /// The inverse of [`Narrow::code`].
    #[inline]
    pub fn from_code(code: u32) -> Narrow {
        let flag = |i: u32| code >> (16 + i) & 1 != 0;
        Narrow {
            element: match code & 0xff {
                0 => Element::Small(Small::E4M3),
                1 => Element::Small(Small::E5M2),
                2 => Element::Small(Small::E2M3),
                3 => Element::Small(Small::E3M2),
                4 => Element::Small(Small::E2M1),
                5 => Element::S2F6,
                _ => Element::UE5M3,
            },
            rounding: match code >> 8 & 0xff {
                0 => Rounding::Nearest,
                1 => Rounding::Zero,
                _ => Rounding::Up,
            },
            relu: flag(0),
            pzo: flag(1),
            satfinite: flag(2),
            flush: flag(3),
        }
    }

    /// The bits from one value of a pair to the other.
    fn stride(self) -> u32 {
        match self.element {
            Element::Small(small) => small.stride(),
            Element::S2F6 | Element::UE5M3 => 8,
        }
    }

    /// One value of `format`, divided by a factor and made narrow.
    #[inline]
    fn encode(self, bits: u64, format: Format, scale: u32) -> u32 {
        let magnitude = bits & (format.sign() - 1);
        let subnormal = magnitude >> format.fraction_bits == 0;
        let value = match format.unpack(bits) {
            Value::Finite(real) if self.flush && subnormal => Value::Zero(real.negative),
            value @ (Value::Nan | Value::Infinity(_) | Value::Zero(_) | Value::Finite(_)) => value,
        };
        let value = match scale & 0xff {
            SCALE_NAN => Value::Nan,
            scale => value.scaled(SCALE_BIAS - scale as i32),
        };
        match self.element {
            Element::Small(small) => {
                let bits = small.encode(value, self.relu, |real, format| real.round(format, self.rounding));
                if self.pzo && bits as u64 == small.format().sign() { 0 } else { bits }
            }
            Element::S2F6 => self.fixed(value),
            Element::UE5M3 => self.unsigned(value),
        }
    }

    /// A multiple of 1/64, saturated; NaN is the greatest.
    #[inline]
    fn fixed(self, value: Value) -> u32 {
        let clamped = match value {
            Value::Nan => 127,
            Value::Zero(_) => 0,
            Value::Infinity(negative) => {
                if negative {
                    -128
                } else {
                    127
                }
            }
            Value::Finite(real) => {
                let top = real.exponent + 128 - real.magnitude.leading_zeros() as i32;
                // Beyond 2 all is saturated; below, the magnitude fits.
                let units = if top > 2 { 256 } else { real.round_to_unit(-6, self.rounding).0 as i32 };
                (if real.negative { -units } else { units }).clamp(-128, 127)
            }
        };
        (if self.relu { clamped.max(0) } else { clamped }) as u8 as u32
    }

    /// The magnitude as ue5m3. Too large a number becomes the greatest one with `.satfinite` and where it is rounded toward zero, else
    /// NaN; infinity is too large whatever the rounding.
    #[inline]
    fn unsigned(self, value: Value) -> u32 {
        const FORMAT: Format = Format::UE5M3;
        const NAN: u32 = 0xff;
        let beyond = |saturates| if saturates { FORMAT.max() as u32 } else { NAN };
        match value {
            Value::Nan => NAN,
            Value::Zero(_) => 0,
            Value::Infinity(_) => beyond(self.satfinite),
            Value::Finite(real) => {
                let real = Real { negative: false, ..real };
                if real.is_beyond(FORMAT, self.rounding) {
                    beyond(self.satfinite || self.rounding == Rounding::Zero)
                } else {
                    real.round(FORMAT, self.rounding) as u32
                }
            }
        }
    }

    /// The value of one element.
    #[inline]
    fn decode(self, bits: u32) -> Value {
        match self.element {
            Element::Small(small) => small.format().unpack(bits as u64),
            Element::UE5M3 => Format::UE5M3.unpack((bits & 0xff) as u64),
            Element::S2F6 => {
                let units = bits as u8 as i8;
                let magnitude = units.unsigned_abs() as u128;
                Real::from_integer(units < 0, magnitude).map_or(Value::Zero(false), Value::Finite).scaled(-6)
            }
        }
    }

    /// One element as a value of `format`, times a factor.
    #[inline]
    fn widen(self, bits: u32, format: Format, scale: u32) -> u16 {
        let value = match scale & 0xff {
            SCALE_NAN => Value::Nan,
            // Every element is a value of the wider format, or infinite in it, before the factor counts.
            scale => unpacked(self.decode(bits), format).scaled(scale as i32 - SCALE_BIAS),
        };
        let bits = pack(value, format);
        let magnitude = bits & (format.sign() - 1);
        let finite = match format.infinity() {
            Some(infinity) if self.satfinite && magnitude == infinity => bits - 1,
            _ => bits,
        };
        if self.relu && value != Value::Nan && finite & format.sign() != 0 { 0 } else { finite as u16 }
    }
}

/// The bits of a value in a format with infinity, to nearest.
#[inline]
fn pack(value: Value, format: Format) -> u64 {
    match value {
        Value::Nan => half::NAN as u64,
        Value::Infinity(negative) => signed(format, negative, format.infinity().unwrap_or(format.max())),
        Value::Zero(negative) => signed(format, negative, 0),
        Value::Finite(real) => real.round(format, Rounding::Nearest),
    }
}

#[inline]
fn unpacked(value: Value, format: Format) -> Value {
    format.unpack(pack(value, format))
}

/// `cvt....<narrow>x2.f32`; the upper byte of `scale` is the factor of `a`.
#[inline]
pub fn from_singles(narrow: Narrow, a: u32, b: u32, scale: u32) -> u32 {
    let one = |x: u32, scale| narrow.encode(x as u64, Format::F32, scale);
    one(a, scale >> 8) << narrow.stride() | one(b, scale)
}

/// `cvt....<narrow>x2.f16x2`.
#[inline]
pub fn from_f16x2(narrow: Narrow, a: u32, scale: u32) -> u32 {
    from_halves(narrow, Format::F16, a, scale)
}

/// `cvt....<narrow>x2.bf16x2`.
#[inline]
pub fn from_bf16x2(narrow: Narrow, a: u32, scale: u32) -> u32 {
    from_halves(narrow, Format::BF16, a, scale)
}

#[inline]
fn from_halves(narrow: Narrow, format: Format, a: u32, scale: u32) -> u32 {
    let [low, high] = split_16(a);
    narrow.encode(high as u64, format, scale >> 8) << narrow.stride()
        | narrow.encode(low as u64, format, scale)
}

/// `cvt.rn....f16x2.<narrow>x2`. An infinity of the result is one of the operand, or denotes what f16 lacks.
#[inline]
pub fn to_f16x2(narrow: Narrow, a: u32) -> u32 {
    let narrow = Narrow { satfinite: false, ..narrow };
    let one = |x| narrow.widen(x, Format::F16, UNSCALED);
    join_16(one(a), one(a >> narrow.stride()))
}

/// `cvt.rn....bf16x2.<narrow>x2`.
#[inline]
pub fn to_bf16x2(narrow: Narrow, a: u32, scale: u32) -> u32 {
    join_16(
        narrow.widen(a, Format::BF16, scale),
        narrow.widen(a >> narrow.stride(), Format::BF16, scale >> 8),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u32 = 0x3f80_0000;

    fn f(x: f32) -> u32 {
        x.to_bits()
    }

    #[test]
    fn codes_are_inverse() {
        for element in
            [Element::S2F6, Element::UE5M3, Element::Small(Small::E2M1), Element::Small(Small::E4M3)]
        {
            for rounding in [Rounding::Nearest, Rounding::Zero, Rounding::Up] {
                let narrow = Narrow { rounding, pzo: true, flush: true, ..Narrow::new(element) };
                assert_eq!(Narrow::from_code(narrow.code()), narrow);
            }
        }
    }

    #[test]
    fn fixed_point() {
        let narrow = Narrow::new(Element::S2F6);
        let run = |a: f32, b: f32| from_singles(narrow, f(a), f(b), UNSCALED);
        assert_eq!(run(1.0, -1.0), 0x40c0);
        // The ends of the range, and beyond them.
        assert_eq!(run(1.984375, -2.0), 0x7f80);
        assert_eq!(run(5.0, -1e30), 0x7f80);
        assert_eq!(run(f32::INFINITY, f32::NEG_INFINITY), 0x7f80);
        assert_eq!(run(f32::NAN, 1.0 / 128.0), 0x7f00, "a tie goes to the even neighbour");
        assert_eq!(run(3.0 / 128.0, -1.0 / 127.0), 0x02ff);
        let down = Narrow { rounding: Rounding::Zero, ..narrow };
        assert_eq!(from_singles(down, f(3.0 / 128.0), f(-1.0 / 127.0), UNSCALED), 0x0100);
        let relu = Narrow { relu: true, ..narrow };
        assert_eq!(from_singles(relu, f(-1.0), f(0.5), UNSCALED), 0x0020);
        // Divided by 4 and by 1/2.
        assert_eq!(from_singles(narrow, f(4.0), f(0.5), 0x817e), 0x4040);
        assert_eq!(from_bf16x2(narrow, 0x3f80_bf80, UNSCALED), 0x40c0);
        assert_eq!(to_bf16x2(narrow, 0x40c0, UNSCALED), 0x3f80_bf80);
        assert_eq!(to_bf16x2(narrow, 0x7f80, 0x807f), 0x407e_c000);
        assert_eq!(to_bf16x2(relu, 0x7f80, UNSCALED), 0x3ffe_0000);
        for byte in 0..256 {
            assert_eq!(from_bf16x2(narrow, to_bf16x2(narrow, byte, UNSCALED), UNSCALED) & 0xff, byte);
        }
    }

    #[test]
    fn no_sign() {
        let narrow = |rounding, satfinite| Narrow { rounding, satfinite, ..Narrow::new(Element::UE5M3) };
        let run = |rounding, satfinite, a: f32| from_singles(narrow(rounding, satfinite), 0, f(a), UNSCALED);
        use Rounding::{Nearest, Up, Zero};
        assert_eq!(run(Nearest, true, 1.0), 0x78);
        assert_eq!(run(Nearest, true, -1.0), 0x78);
        assert_eq!(run(Nearest, true, 114_688.0), 0xfe);
        // Halfway to the number above the greatest one is too large already: 14 is even, so the tie stays.
        assert_eq!([118_784.0, 118_800.0].map(|a| run(Nearest, false, a)), [0xfe, 0xff]);
        assert_eq!([118_784.0, 118_800.0].map(|a| run(Nearest, true, a)), [0xfe, 0xfe]);
        assert_eq!([114_689.0, 1e9].map(|a| run(Up, false, a)), [0xff, 0xff]);
        assert_eq!([114_689.0, 1e9].map(|a| run(Zero, false, a)), [0xfe, 0xfe]);
        assert_eq!([f32::INFINITY, f32::NAN].map(|a| run(Zero, false, a)), [0xff, 0xff]);
        assert_eq!([f32::INFINITY, f32::NAN].map(|a| run(Zero, true, a)), [0xfe, 0xff]);
        // 2^-17 is the least number.
        let least = 2f32.powi(-17);
        assert_eq!([least, least / 2.0, least / 1.9].map(|a| run(Nearest, true, a)), [1, 0, 1]);
        assert_eq!([least / 1e6, least * 1.5].map(|a| run(Up, true, a)), [1, 2]);
        let plain = narrow(Nearest, false);
        for byte in 0..0xff {
            assert_eq!(from_bf16x2(plain, to_bf16x2(plain, byte, UNSCALED), UNSCALED) & 0xff, byte);
        }
        assert_eq!(to_bf16x2(plain, 0xff78, UNSCALED), 0x7fff_3f80);
        assert_eq!(to_f16x2(plain, 0xf8f7), 0x7c00_7b80, "f16 ends at 2^16");
    }

    #[test]
    fn scaled_and_rounded() {
        let e4m3 = Narrow::new(Element::Small(Small::E4M3));
        // 448 is the greatest; divided by 2 it is half of that.
        assert_eq!(from_singles(e4m3, f(896.0), ONE, 0x8080), 0x7e30);
        assert_eq!(from_singles(e4m3, ONE, ONE, 0xff7f), 0x7f38, "a factor of NaN");
        let zero = Narrow { rounding: Rounding::Zero, ..e4m3 };
        assert_eq!(from_singles(zero, f(1.9999), f(-1.9999), UNSCALED), 0x3fbf);
        let pzo = Narrow { pzo: true, ..e4m3 };
        assert_eq!(from_singles(e4m3, f(-0.0), f(-1e-9), UNSCALED), 0x8080);
        assert_eq!(from_singles(pzo, f(-0.0), f(-1e-9), UNSCALED), 0);
        let flush = Narrow { flush: true, ..e4m3 };
        let tiny = 0x0070_0000;
        assert_ne!(from_singles(e4m3, tiny, 0, 0x0000), 0);
        assert_eq!(from_singles(flush, tiny, 0, 0x0000), 0);
        assert_eq!(from_f16x2(e4m3, 0x3c00_bc00, UNSCALED), 0x38b8);
        assert_eq!(from_bf16x2(e4m3, 0x3f80_bf80, UNSCALED), 0x38b8);
        let e2m1 = Narrow::new(Element::Small(Small::E2M1));
        assert_eq!(from_bf16x2(e2m1, 0x3f80_bf80, UNSCALED), 0x2a);
        assert_eq!(to_bf16x2(e2m1, 0x2a, 0x8180), 0x4080_c000);
        // 2^127 times 1.5 times 2 is infinite.
        let wide = Narrow { satfinite: false, ..e4m3 };
        assert_eq!(to_bf16x2(wide, 0x3c44, 0xfefe), 0x7f40_7f80);
        assert_eq!(to_bf16x2(e4m3, 0x3c44, 0xfefe), 0x7f40_7f7f);
    }
}
