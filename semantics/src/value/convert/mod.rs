//! `cvt` and `cvt.pack` (PTX ISA 9.0, 9.7.9.21 and 9.7.9.22).
//!
//! [`Cvt`] says what one scalar conversion does, decided once when a program is loaded; [`Cvt::apply`] does it. The packed and
//! narrow formats are in [`small`] and [`narrow`].

pub mod narrow;
pub mod small;

use super::half::{self, BF16, F16};
use super::soft::{Format, Real, Value};
use super::{Rounding, double, single};

/// A type on one side of a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// An unsigned integer of this many bits (8, 16, 32, 64).
    Unsigned(u8),
    /// A signed integer of this many bits.
    Signed(u8),
    /// f16
    F16,
    /// bf16
    Bf16,
    /// f32 rounded to 10 bits of fraction; a destination only.
    Tf32,
    /// f32
    F32,
    /// f64
    F64,
}

impl Kind {
    fn format(self) -> Option<Format> {
        Some(match self {
            Kind::Unsigned(_) | Kind::Signed(_) => return None,
            Kind::F16 => Format::F16,
            Kind::Bf16 => Format::BF16,
            Kind::Tf32 => Format::TF32,
            Kind::F32 => Format::F32,
            Kind::F64 => Format::F64,
        })
    }

    /// The least and greatest integer of an integer type.
    fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Kind::Unsigned(bits) => (0, (1 << bits) - 1),
            Kind::Signed(bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            Kind::F16 | Kind::Bf16 | Kind::Tf32 | Kind::F32 | Kind::F64 => return None,
        })
    }
}

/// One scalar conversion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cvt {
    /// The destination type.
    pub to: Kind,
    /// The source type.
    pub from: Kind,
    /// The rounding, also of the integer roundings; ignored where the conversion is exact.
    pub rounding: Rounding,
    /// An integer rounding was written: a float destination gets an integral value.
    pub integral: bool,
    /// `.ftz`
    pub ftz: bool,
    /// `.sat`
    pub sat: bool,
    /// `.relu`
    pub relu: bool,
    /// `.satfinite`
    pub satfinite: bool,
    /// `.pzo`: a result of -0 becomes +0.
    pub pzo: bool,
}

impl Cvt {
    /// A conversion without modifiers, to nearest.
    pub const fn new(to: Kind, from: Kind) -> Cvt {
        Cvt {
            to,
            from,
            rounding: Rounding::Nearest,
            integral: false,
            ftz: false,
            sat: false,
            relu: false,
            satfinite: false,
            pzo: false,
        }
    }

    /// The conversion as a number, for callers that pass it along as one.
    pub fn code(&self) -> u64 {
        let kind = |kind| match kind {
            Kind::Unsigned(bits) => bits as u64,
            Kind::Signed(bits) => 0x80 | bits as u64,
            Kind::F16 => 1,
            Kind::Bf16 => 2,
            Kind::Tf32 => 3,
            Kind::F32 => 4,
            Kind::F64 => 5,
        };
        let flags = [self.integral, self.ftz, self.sat, self.relu, self.satfinite, self.pzo];
        let flags = flags.iter().rev().fold(0, |code, flag| code << 1 | *flag as u64);
        kind(self.to) | kind(self.from) << 8 | (self.rounding as u64) << 16 | flags << 24
    }

    /// The inverse of [`Cvt::code`].
    #[inline]
    pub fn from_code(code: u64) -> Cvt {
        let kind = |code: u64| match code as u8 {
            1 => Kind::F16,
            2 => Kind::Bf16,
            3 => Kind::Tf32,
            4 => Kind::F32,
            5 => Kind::F64,
            bits if bits & 0x80 == 0 => Kind::Unsigned(bits),
            bits => Kind::Signed(bits & 0x7f),
        };
        let flag = |i: u32| code >> (24 + i) & 1 != 0;
        Cvt {
            to: kind(code),
            from: kind(code >> 8),
            rounding: match code >> 16 & 0xff {
                0 => Rounding::Nearest,
                1 => Rounding::Zero,
                2 => Rounding::Down,
                3 => Rounding::Up,
                _ => Rounding::NearestAway,
            },
            integral: flag(0),
            ftz: flag(1),
            sat: flag(2),
            relu: flag(3),
            satfinite: flag(4),
            pzo: flag(5),
        }
    }

    /// Converts the low bits of `a`. A signed result is sign-extended to 64 bits, any other zero-extended.
    #[inline]
    pub fn apply(&self, a: u64) -> u64 {
        match (self.from.format(), self.to.format()) {
            (None, None) => self.integer_to_integer(a),
            (None, Some(format)) => self.integer_to_float(a, format),
            (Some(format), None) => self.float_to_integer(a, format),
            (Some(source), Some(target)) => self.float_to_float(a, source, target),
        }
    }

    #[inline]
    fn integer(&self, a: u64) -> i128 {
        match self.from {
            Kind::Signed(bits) => ((a << (64 - bits as u32)) as i64 >> (64 - bits as u32)) as i128,
            Kind::Unsigned(bits) => (a & u64::MAX >> (64 - bits as u32)) as i128,
            Kind::F16 | Kind::Bf16 | Kind::Tf32 | Kind::F32 | Kind::F64 => 0,
        }
    }

    #[inline]
    fn integer_to_integer(&self, a: u64) -> u64 {
        let value = self.integer(a);
        let value = match self.to.range() {
            Some((least, greatest)) if self.sat => value.clamp(least, greatest),
            _ => value,
        };
        extend(self.to, value as u64)
    }

    #[inline]
    fn integer_to_float(&self, a: u64, format: Format) -> u64 {
        let value = self.integer(a);
        let bits = match (self.to, self.rounding) {
            (Kind::F32, Rounding::Nearest) => (value as f32).to_bits() as u64,
            (Kind::F64, Rounding::Nearest) => (value as f64).to_bits(),
            _ => match Real::from_integer(value < 0, value.unsigned_abs()) {
                None => 0,
                Some(real) => real.round(format, self.rounding),
            },
        };
        self.finish(bits, format)
    }

    #[inline]
    fn float_to_integer(&self, a: u64, format: Format) -> u64 {
        let a = if self.ftz && self.from == Kind::F32 { single::flush(a as u32) as u64 } else { a };
        let Some((least, greatest)) = self.to.range() else { return 0 };
        let wide = greatest > u32::MAX as i128 || self.from == Kind::F64;
        let value = match format.unpack(a) {
            // The manual's rule for NaN: the upper half's first value in conversions that involve 64 bits, else zero.
            Value::Nan if wide => (greatest - least + 1) / 2,
            Value::Nan | Value::Zero(_) => 0,
            Value::Infinity(negative) => {
                if negative {
                    least
                } else {
                    greatest
                }
            }
            Value::Finite(real) => {
                // Beyond 2^66 every integer type is left; below, the magnitude fits easily.
                let top = real.exponent + 128 - real.magnitude.leading_zeros() as i32;
                let magnitude =
                    if top > 66 { 1 << 66 } else { real.round_to_unit(0, self.rounding).0 as i128 };
                (if real.negative { -magnitude } else { magnitude }).clamp(least, greatest)
            }
        };
        extend(self.to, value as u64)
    }

    #[inline]
    fn float_to_float(&self, a: u64, source: Format, target: Format) -> u64 {
        // The conversion to f16 has no variant that flushes: that shows where a subnormal number rounds away from zero.
        let flushes = self.ftz && self.from == Kind::F32 && self.to != Kind::F16;
        let a = if flushes { single::flush(a as u32) as u64 } else { a };
        let bits = match (self.from, self.to) {
            (Kind::F32, Kind::F32) if self.integral => {
                single::round_to_integer(self.rounding, a as u32) as u64
            }
            (Kind::F64, Kind::F64) if self.integral => double::round_to_integer(self.rounding, a),
            (Kind::F32, Kind::F32) => a & 0xffff_ffff,
            (Kind::F64, Kind::F64) => a,
            // A shift, on hardware too, so a NaN keeps its payload.
            (Kind::Bf16, Kind::F32) => (a & 0xffff) << 16,
            _ => match source.unpack(a) {
                Value::Nan => self.nan(a, target),
                Value::Infinity(negative) => {
                    signed(target, negative, target.infinity().unwrap_or(target.max()))
                }
                Value::Zero(negative) => signed(target, negative, 0),
                Value::Finite(real) if self.integral => {
                    let (magnitude, _) = real.round_to_unit(0, self.rounding);
                    match Real::from_integer(real.negative, magnitude) {
                        None => signed(target, real.negative, 0),
                        Some(real) => real.round(target, Rounding::Nearest),
                    }
                }
                Value::Finite(real)
                    if self.ftz && self.to == Kind::F32 && real.is_tiny(target, self.rounding) =>
                {
                    signed(target, real.negative, 0)
                }
                Value::Finite(real) => real.round(target, self.rounding),
            },
        };
        let bits = if self.ftz && self.to == Kind::F32 { single::flush(bits as u32) as u64 } else { bits };
        self.finish(bits, target)
    }

    /// The target's bits of a NaN; tf32 in its own 19 bits.
    #[inline]
    fn nan(&self, a: u64, target: Format) -> u64 {
        match (self.from, self.to) {
            (Kind::F32, Kind::F64) => {
                let quiet = single::quiet(a as u32) as u64;
                (quiet & 0x8000_0000) << 32 | 0x7ff << 52 | (quiet & 0x007f_ffff) << 29
            }
            (Kind::F64, Kind::F32) => a >> 32 & 0x8000_0000 | 0x7fc0_0000 | a >> 29 & 0x003f_ffff,
            // An f16 passes through f32 on its way up.
            (Kind::F16, Kind::F64) => 0x7fff_ffff_e000_0000,
            (_, Kind::Tf32) if self.rounding == Rounding::NearestAway => {
                (single::quiet(a as u32) >> 13) as u64
            }
            _ => target.nan().unwrap_or(target.max()),
        }
    }

    /// What follows the rounding: `.sat`, `.relu`, `.satfinite`, and tf32's place in the register.
    #[inline]
    fn finish(&self, bits: u64, format: Format) -> u64 {
        let magnitude = bits & (format.sign() - 1);
        let negative = bits & format.sign() != 0;
        let nan = format.infinity().is_some_and(|infinity| magnitude > infinity);
        let mut bits = bits;
        if self.satfinite && !nan && magnitude > format.max() {
            bits = bits & format.sign() | format.max();
        }
        if self.sat {
            let one = (format.bias() as u64) << format.fraction_bits;
            bits = if nan || negative { 0 } else { bits.min(one) };
        }
        if self.relu {
            bits = match (nan, negative) {
                (true, _) => format.nan().unwrap_or(0),
                (false, true) => 0,
                (false, false) => bits,
            };
        }
        if self.pzo && bits == format.sign() {
            bits = 0;
        }
        match self.to {
            // A NaN's low bits are ones, as in the canonical f32 NaN.
            Kind::Tf32 if bits == format.sign() - 1 => single::NAN as u64,
            Kind::Tf32 => bits << 13,
            Kind::Unsigned(_) | Kind::Signed(_) | Kind::F16 | Kind::Bf16 | Kind::F32 | Kind::F64 => bits,
        }
    }
}

#[inline]
fn signed(format: Format, negative: bool, magnitude: u64) -> u64 {
    if negative { format.sign() | magnitude } else { magnitude }
}

/// Cuts a value to an integer type and extends it by that type's sign.
#[inline]
fn extend(kind: Kind, value: u64) -> u64 {
    match kind {
        Kind::Signed(bits) => ((value << (64 - bits as u32)) as i64 >> (64 - bits as u32)) as u64,
        Kind::Unsigned(bits) => value & u64::MAX >> (64 - bits as u32),
        Kind::F16 | Kind::Bf16 | Kind::Tf32 | Kind::F32 | Kind::F64 => value,
    }
}

/// `cvt.pack.sat`: `a` and `b` as signed 32-bit integers clamped to `bits` and put side by side, `b` lowest; `c` fills up from
/// there (the two-operand form has 16 bits each and ignores `c`).
#[inline]
pub fn pack(bits: u32, is_signed: bool, a: u32, b: u32, c: u32) -> u32 {
    let (least, greatest) =
        if is_signed { (-(1i64 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let field = |x: u32| (x as i32 as i64).clamp(least, greatest) as u32 & (u32::MAX >> (32 - bits));
    let packed = field(b) | field(a) << bits;
    if bits == 16 { packed } else { packed | c << (2 * bits) }
}

// The conversions that programs use most, as single expressions that vectorise.

/// `cvt.rn.f32.s32`.
#[inline(always)]
pub fn single_from_s32(a: u32) -> u32 {
    (a as i32 as f32).to_bits()
}

/// `cvt.rn.f32.u32`.
#[inline(always)]
pub fn single_from_u32(a: u32) -> u32 {
    (a as f32).to_bits()
}

/// `cvt.rzi.s32.f32`: saturating, NaN gives zero.
#[inline(always)]
pub fn s32_from_single(a: u32) -> u32 {
    f32::from_bits(a) as i32 as u32
}

/// `cvt.rzi.u32.f32`.
#[inline(always)]
pub fn u32_from_single(a: u32) -> u32 {
    f32::from_bits(a) as u32
}

/// `cvt.f64.f32`.
#[inline(always)]
pub fn double_from_single(a: u32) -> u64 {
    if single::is_nan(a) {
        Cvt::new(Kind::F64, Kind::F32).apply(a as u64)
    } else {
        (f32::from_bits(a) as f64).to_bits()
    }
}

/// `cvt.rn.f32.f64`.
#[inline(always)]
pub fn single_from_double(a: u64) -> u32 {
    if double::is_nan(a) {
        Cvt::new(Kind::F32, Kind::F64).apply(a) as u32
    } else {
        (f64::from_bits(a) as f32).to_bits()
    }
}

/// `cvt.f32.f16`.
#[inline(always)]
pub fn single_from_f16(a: u16) -> u32 {
    half::to_single::<F16>(a)
}

/// `cvt.rn.f16.f32`.
#[inline(always)]
pub fn f16_from_single(a: u32) -> u16 {
    <F16 as half::Half>::narrow(f32::from_bits(a) as f64)
}

/// `cvt.rn.bf16.f32`.
#[inline(always)]
pub fn bf16_from_single(a: u32) -> u16 {
    <BF16 as half::Half>::narrow(f32::from_bits(a) as f64)
}
