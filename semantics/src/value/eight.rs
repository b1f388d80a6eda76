//! Arithmetic on four values of 8 bits, `add sub mul fma` to `e5m2x4` and `e4m3x4` (PTX ISA 9.4, 9.7.6): the operands are exact, the
//! result is rounded once.

use super::Rounding;
use super::soft::{Format, Value};

/// The format of four operands in a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Four {
    /// `.e4m3x4`
    E4M3,
    /// `.e5m2x4`
    E5M2,
    /// `.e3m2x4`: in the low 6 bits of each byte.
    E3M2,
    /// `.e2m3x4`: in the low 6 bits of each byte.
    E2M3,
    /// `.e2m1x4`: 4 bits each.
    E2M1,
    /// `.e2m1p4x4`: in the low 4 bits of each byte.
    E2M1Padded,
    /// `.ue8m0x4`: powers of two.
    UE8M0,
}

impl Four {
    /// Every format, by its number as a type cast gives it.
    pub const ALL: [Four; 7] =
        [Four::E4M3, Four::E5M2, Four::E3M2, Four::E2M3, Four::E2M1, Four::E2M1Padded, Four::UE8M0];

    /// Value `i` of a register.
    #[inline]
    fn value(self, register: u32, i: u32) -> Value {
        let bits = |stride: u32| (register >> (i * stride)) as u64;
        match self {
            Four::E4M3 => Format::E4M3.unpack(bits(8)),
            Four::E5M2 => Format::E5M2.unpack(bits(8)),
            Four::E3M2 => Format::E3M2.unpack(bits(8)),
            Four::E2M3 => Format::E2M3.unpack(bits(8)),
            Four::E2M1 => Format::E2M1.unpack(bits(4)),
            Four::E2M1Padded => Format::E2M1.unpack(bits(8)),
            Four::UE8M0 => match bits(8) & 0xff {
                0xff => Value::Nan,
                // The powers of two are those of f32, and one below them.
                exponent => Format::F32.unpack(0x3f80_0000).scaled(exponent as i32 - 127),
            },
        }
    }
}

/// What is computed of the values of three registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Eight {
    /// `a + c`
    Add,
    /// `a - c`
    Sub,
    /// `a * b`
    Mul,
    /// `a * b + c`
    Fma,
}

impl Eight {
    /// Every operation, by its number as a type cast gives it.
    pub const ALL: [Eight; 4] = [Eight::Add, Eight::Sub, Eight::Mul, Eight::Fma];
}

/// An instruction on four values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Arithmetic {
    /// What is computed.
    pub operation: Eight,
    /// The result, and the addend, are e5m2 rather than e4m3.
    pub e5m2: bool,
    /// `.satfinite`
    pub satfinite: bool,
    /// The formats of `a` and `b`.
    pub factors: [Four; 2],
}

impl Arithmetic {
    /// The instruction as a number, for callers that pass it along as one.
    pub fn code(self) -> u32 {
        let [a, b] = self.factors;
        a as u32
            | (b as u32) << 4
            | (self.operation as u32) << 8
            | (self.e5m2 as u32) << 16
            | (self.satfinite as u32) << 17
    }

    /// The inverse of [`Arithmetic::code`].
    #[inline]
    pub fn from_code(code: u32) -> Arithmetic {
        let four = |code: u32| Four::ALL[(code & 0xf).min(6) as usize];
        Arithmetic {
            operation: Eight::ALL[(code >> 8 & 3) as usize],
            e5m2: code >> 16 & 1 != 0,
            satfinite: code >> 17 & 1 != 0,
            factors: [four(code), four(code >> 4)],
        }
    }

    /// The four results; of `b` and `c` what the operation has.
    #[inline]
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let format = if self.e5m2 { Format::E5M2 } else { Format::E4M3 };
        let addend = if self.e5m2 { Four::E5M2 } else { Four::E4M3 };
        let nearest = Rounding::Nearest;
        (0..4).fold(0, |packed, i| {
            let [first, second] = self.factors;
            let (a, c) = (first.value(a, i), addend.value(c, i));
            let product = || a.times(second.value(b, i));
            let value = match self.operation {
                Eight::Add => a.plus(c, nearest),
                Eight::Sub => a.plus(c.negated(), nearest),
                Eight::Mul => product(),
                Eight::Fma => product().plus(c, nearest),
            };
            packed | self.pack(value, format) << (8 * i)
        })
    }

    /// A result rounded to nearest. What is too large is the greatest number with `.satfinite`, else infinity, or NaN in e4m3.
    #[inline]
    fn pack(self, value: Value, format: Format) -> u32 {
        let nan = format.nan().unwrap_or(format.max());
        let signed = |negative, magnitude| if negative { format.sign() | magnitude } else { magnitude };
        let beyond = |negative| {
            let magnitude = if self.satfinite { format.max() } else { format.infinity().unwrap_or(nan) };
            signed(negative, magnitude)
        };
        let bits = match value {
            Value::Nan => nan,
            Value::Infinity(negative) => beyond(negative),
            Value::Zero(negative) => signed(negative, 0),
            Value::Finite(real) if real.is_beyond(format, Rounding::Nearest) => beyond(real.negative),
            Value::Finite(real) => real.round(format, Rounding::Nearest),
        };
        bits as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(operation: Eight, e5m2: bool, satfinite: bool, factors: [Four; 2], [a, b, c]: [u32; 3]) -> u32 {
        let arithmetic = Arithmetic { operation, e5m2, satfinite, factors };
        assert_eq!(Arithmetic::from_code(arithmetic.code()), arithmetic);
        arithmetic.apply(a, b, c)
    }

    #[test]
    fn sums() {
        let e4m3 = [Four::E4M3; 2];
        let add = |satfinite, a, c| run(Eight::Add, false, satfinite, e4m3, [a, 0, c]);
        // 1 + 448: 449 is nearer to 448 than to what comes after it. 448 + 448, 1 + 2^-9, 1 + -1.
        assert_eq!(add(false, 0x387e_3838, 0x7e7e_01b8), 0x7e7f_3800);
        assert_eq!(add(true, 0x387e_3838, 0x7e7e_01b8), 0x7e7e_3800);
        assert_eq!(add(false, 0x7f80_8000, 0x3880_0080), 0x7f80_0000, "NaN and zeros");
        let sub = run(Eight::Sub, true, false, [Four::E5M2, Four::E4M3], [0x3c7c_7c7b, 0, 0x3c7c_fc80]);
        // 1 - 1, infinity - infinity, infinity - -infinity, 57344 - -0.
        assert_eq!(sub, 0x007f_7c7b);
    }

    #[test]
    fn operands_of_other_formats() {
        // 2^0, 2^1, 2^-127 and NaN times 6 of e2m1, in nibbles.
        let mul = |b| run(Eight::Mul, false, false, [Four::UE8M0, b], [0x7f80_00ff, 0x7777, 0]);
        assert_eq!(mul(Four::E2M1), 0x4c54_007f);
        assert_eq!(
            run(Eight::Mul, false, false, [Four::UE8M0, Four::E2M1Padded], [0x7f80_00ff, 0x0707_0707, 0]),
            0x4c54_007f
        );
        // 7.5 times 28 plus 1: 211 in e5m2, whose neighbours are 192 and 224.
        assert_eq!(run(Eight::Fma, true, true, [Four::E2M3, Four::E3M2], [0x1f, 0x1f, 0x3c]) & 0xff, 0x5b);
        // 28 times 28 times 28 is beyond e4m3 only.
        assert_eq!(run(Eight::Mul, false, true, [Four::E3M2; 2], [0x1f; 3]) & 0xff, 0x7e);
        assert_eq!(run(Eight::Mul, false, false, [Four::E3M2; 2], [0x1f; 3]) & 0xff, 0x7f);
    }

    #[test]
    fn fused() {
        // 1.125 squared is 1.265625; less 1.25 leaves 2^-6, which a rounded product would lose.
        let fma = run(Eight::Fma, false, false, [Four::E4M3; 2], [0x39, 0x39, 0xba]);
        assert_eq!(fma & 0xff, 0x08);
    }
}
