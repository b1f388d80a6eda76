//! Arithmetic and conversion of `tf32` and the formats of 8, 6 and 4 bits.
//!
//! One sentence says what all of it means: operands are widened to `f32`, which holds them exactly, and what the operation on `f32` gives is
//! rounded to the nearest number of the format, ties to even. So sums, differences, products, quotients and roots are rounded once in effect
//! (24 bits are twice the 11 of `tf32` and two more; Figueroa, 1995); `fma`, and what comes from `f64` or from integers of more than 24 bits, may
//! be rounded twice. What is beyond the greatest number of a format of 8 bits or fewer becomes that number, as in PTX's conversions.
//!
//! `ue8m0` has powers of two only, without zero and without sign: the sign of a result is dropped, and its magnitude is rounded toward zero, which
//! PTX's conversion does (`cvt.rz`; there is none to nearest), but not below the least power.

use crate::classes::{Class, Conversion, FloatBinary, FloatUnary, Ternary};
use crate::{FloatCC, Opcode, Scalar, Type};
use warpsmith_semantics::lanes::scalar;
use warpsmith_semantics::value::compare::Comparison;
use warpsmith_semantics::value::convert::small::{Small, bf16x2_from_ue8m0x2, ue8m0_from_single};
use warpsmith_semantics::value::convert::{Cvt, Kind};
use warpsmith_semantics::value::half::{BF16, F16, Half};
use warpsmith_semantics::value::soft::{Format, Value};
use warpsmith_semantics::value::{Rounding, single};
use warpsmith_semantics::{Plan, Width};

/// Every float format that is computed with, by number.
const FORMATS: [Scalar; 11] = [
    Scalar::F16,
    Scalar::BF16,
    Scalar::TF32,
    Scalar::F32,
    Scalar::F64,
    Scalar::E4M3,
    Scalar::E5M2,
    Scalar::E2M3,
    Scalar::E3M2,
    Scalar::E2M1,
    Scalar::UE8M0,
];

fn small(scalar: Scalar) -> Option<Small> {
    Some(match scalar {
        Scalar::E4M3 => Small::E4M3,
        Scalar::E5M2 => Small::E5M2,
        Scalar::E2M3 => Small::E2M3,
        Scalar::E3M2 => Small::E3M2,
        Scalar::E2M1 => Small::E2M1,
        Scalar::Invalid
        | Scalar::I1
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::I128
        | Scalar::Odd(_)
        | Scalar::F16
        | Scalar::BF16
        | Scalar::TF32
        | Scalar::F32
        | Scalar::F64
        | Scalar::UE8M0
        | Scalar::Ptr
        | Scalar::PtrGlobal
        | Scalar::PtrShared
        | Scalar::PtrLocal
        | Scalar::PtrConst
        | Scalar::PtrParam => return None,
    })
}

/// The description of a format that is computed in by way of `f32`.
pub(crate) fn format(scalar: Scalar) -> Option<Format> {
    if scalar == Scalar::TF32 { Some(Format::TF32) } else { small(scalar).map(Small::format) }
}

/// True if an operation is one of this module.
pub(super) fn concerns(operands: &[Type], to: Type) -> bool {
    let narrow = |ty: &Type| !ty.is_vector() && ty.element().is_narrow_float();
    operands.iter().any(narrow) || narrow(&to)
}

fn number(ty: Type) -> Option<u64> {
    FORMATS.iter().position(|format| !ty.is_vector() && *format == ty.element()).map(|n| n as u64)
}

/// A value of a format as an `f32`: exactly, but for `f64`.
fn widen(number: u64, bits: u64) -> f32 {
    let scalar = FORMATS[number as usize % FORMATS.len()];
    if scalar == Scalar::UE8M0 {
        return BF16::widen(bf16x2_from_ue8m0x2(bits as u32) as u16);
    }
    if let Some(small) = small(scalar) {
        return f32::from_bits(small.to_single(bits as u32));
    }
    if scalar == Scalar::F64 {
        f64::from_bits(bits) as f32
    } else if scalar == Scalar::F16 {
        F16::widen(bits as u16)
    } else if scalar == Scalar::BF16 {
        BF16::widen(bits as u16)
    } else if scalar == Scalar::TF32 {
        // The register of a `tf32` has bits below it that are not looked at.
        f32::from_bits(bits as u32 & !0x1fff)
    } else {
        f32::from_bits(bits as u32)
    }
}

/// The value of a format that a number is rounded to: the nearest; of `ue8m0`, that toward zero of the magnitude.
fn round(number: u64, value: f32) -> u64 {
    let scalar = FORMATS[number as usize % FORMATS.len()];
    let bits = value.to_bits();
    if scalar == Scalar::UE8M0 {
        return ue8m0_from_single(Rounding::Zero, true, bits).into();
    }
    if let Some(small) = small(scalar) {
        return small.of_single(bits).into();
    }
    if scalar == Scalar::F64 {
        f64::from(value).to_bits()
    } else if scalar == Scalar::F16 {
        Cvt::new(Kind::F16, Kind::F32).apply(bits.into())
    } else if scalar == Scalar::BF16 {
        Cvt::new(Kind::Bf16, Kind::F32).apply(bits.into())
    } else if scalar == Scalar::TF32 {
        match Format::F32.unpack(bits.into()) {
            Value::Finite(real) => real.round(Format::TF32, Rounding::Nearest) << 13,
            Value::Nan => 0x7fff_e000,
            Value::Infinity(_) | Value::Zero(_) => bits.into(),
        }
    } else {
        bits.into()
    }
}

/// The plan of an operation from a type to a type, one of which is narrow.
pub(super) fn operation(op: Opcode, from: Type, to: Type) -> Option<Plan> {
    match op.class() {
        Class::FloatUnary(unary) => arithmetic(op, from, 1).filter(|_| !has_no_form(unary)),
        Class::FloatBinary(_) => arithmetic(op, from, 2),
        Class::Ternary(Ternary::Fma) => arithmetic(op, from, 3),
        Class::Conversion(conversion) => convert(conversion, from, to),
        Class::IntUnary(_)
        | Class::IntBinary(_)
        | Class::PointerUnary(_)
        | Class::PointerBinary(_)
        | Class::Ternary(_)
        | Class::Overflow(_)
        | Class::List(_)
        | Class::Alone => None,
    }
}

fn has_no_form(op: FloatUnary) -> bool {
    matches!(
        op,
        FloatUnary::Frsqrt
            | FloatUnary::Frcp
            | FloatUnary::Fsin
            | FloatUnary::Fcos
            | FloatUnary::Fexp2
            | FloatUnary::Flog2
            | FloatUnary::Ftanh
    )
}

fn arithmetic(op: Opcode, ty: Type, operands: usize) -> Option<Plan> {
    let code = number(ty)? | (op as u64) << 8;
    let function = match operands {
        1 => scalar(|a: u32, code: u64| run(code, [a, 0, 0])),
        2 => scalar(|a: u32, b: u32, code: u64| run(code, [a, b, 0])),
        _ => scalar(|a: u32, b: u32, c: u32, code: u64| run(code, [a, b, c])),
    };
    Some(Plan::with_constants(function, &[code]))
}

fn run(code: u64, operands: [u32; 3]) -> u32 {
    let (number, op) = (code & 0xff, Opcode::ALL[(code >> 8) as usize]);
    let [a, b, c] = operands.map(|bits| widen(number, bits.into()));
    let [x, y, _] = operands;
    // Of a value that is not rounded its bits stay.
    let format = FORMATS[number as usize % FORMATS.len()];
    let has_sign = format != Scalar::UE8M0;
    let sign = if format == Scalar::TF32 { 1 << 31 } else { 1u32 << (Type::scalar(format).bits() - 1) };
    let all = sign | (sign - 1);
    let of_bits = |f: fn(u32, u32) -> u32, a: f32, b: f32| f32::from_bits(f(a.to_bits(), b.to_bits()));
    let result = match op.class() {
        Class::FloatUnary(unary) => match unary {
            FloatUnary::Fneg | FloatUnary::Fabs if !has_sign => return x,
            FloatUnary::Fneg => return (x ^ sign) & all,
            FloatUnary::Fabs => return x & (sign - 1),
            FloatUnary::Fsqrt => a.sqrt(),
            FloatUnary::Ffloor => a.floor(),
            FloatUnary::Fceil => a.ceil(),
            FloatUnary::Ftrunc => a.trunc(),
            FloatUnary::Fnearest => a.round_ties_even(),
            FloatUnary::Fround => a.round(),
            FloatUnary::Frsqrt
            | FloatUnary::Frcp
            | FloatUnary::Fsin
            | FloatUnary::Fcos
            | FloatUnary::Fexp2
            | FloatUnary::Flog2
            | FloatUnary::Ftanh => a,
        },
        Class::FloatBinary(binary) => match binary {
            FloatBinary::Fadd => a + b,
            FloatBinary::Fsub => a - b,
            FloatBinary::Fmul => a * b,
            FloatBinary::Fdiv => a / b,
            FloatBinary::Frem => a % b,
            FloatBinary::Fmin => of_bits(|a, b| single::min::<false>(false, a, b), a, b),
            FloatBinary::Fmax => of_bits(|a, b| single::max::<false>(false, a, b), a, b),
            FloatBinary::Fminimum => of_bits(|a, b| single::min::<false>(true, a, b), a, b),
            FloatBinary::Fmaximum => of_bits(|a, b| single::max::<false>(true, a, b), a, b),
            FloatBinary::Fcopysign if !has_sign => return x,
            FloatBinary::Fcopysign => return x & (sign - 1) | y & sign,
        },
        // The one operation of three.
        Class::Ternary(_) => a.mul_add(b, c),
        Class::IntUnary(_)
        | Class::IntBinary(_)
        | Class::PointerUnary(_)
        | Class::PointerBinary(_)
        | Class::Conversion(_)
        | Class::Overflow(_)
        | Class::List(_)
        | Class::Alone => a,
    };
    round(number, result) as u32
}

/// `fcmp`
pub(super) fn comparison(cond: FloatCC, ty: Type) -> Option<Plan> {
    macro_rules! at {
        ($($variant:ident)*) => {
            match cond {
                $(FloatCC::$variant => scalar(|a: u32, b: u32, number: u64| {
                    let [a, b] = [a, b].map(|bits| widen(number, bits.into()).to_bits());
                    Comparison::$variant.single::<false>(a, b)
                }),)*
            }
        };
    }
    let function = at!(Eq Ne Lt Le Gt Ge Equ Neu Ltu Leu Gtu Geu Num Nan);
    Some(Plan::with_constants(function, &[number(ty)?]))
}

fn convert(op: Conversion, from: Type, to: Type) -> Option<Plan> {
    match op {
        Conversion::Fptrunc | Conversion::Fpext => {
            let code = number(from)? | number(to)? << 8;
            let function = match (from.bits() > 32, to.bits() > 32) {
                (false, false) => scalar(|a: u32, code: u64| between(code, a.into()) as u32),
                (false, true) => scalar(|a: u32, code: u64| between(code, a.into())),
                (true, false) => scalar(|a: u64, code: u64| between(code, a) as u32),
                (true, true) => return None,
            };
            Some(Plan::with_constants(function, &[code]))
        }
        Conversion::Sitofp | Conversion::Uitofp => {
            let signed = op == Conversion::Sitofp;
            let code = number(to)? | u64::from(from.bits()) << 8 | u64::from(signed) << 16;
            let function = match Width::for_bits(from.bits()) {
                _ if from == Type::I1 => scalar(|a: bool, code: u64| from_integer(code, a.into())),
                Width::W32 => scalar(|a: u32, code: u64| from_integer(code, a.into())),
                Width::W64 => scalar(|a: u64, code: u64| from_integer(code, a.into())),
                Width::W128 => scalar(|a: u128, code: u64| from_integer(code, a)),
                Width::Pred => return None,
            };
            Some(Plan::with_constants(function, &[code]))
        }
        Conversion::Fptosi | Conversion::Fptoui => {
            let signed = op == Conversion::Fptosi;
            let code = number(from)? | u64::from(to.bits()) << 8 | u64::from(signed) << 16;
            let function = match Width::for_bits(to.bits()) {
                Width::W32 => scalar(|a: u32, code: u64| to_integer(code, a) as u32),
                Width::W64 => scalar(|a: u32, code: u64| to_integer(code, a) as u64),
                Width::W128 => scalar(|a: u32, code: u64| to_integer(code, a)),
                Width::Pred => return None,
            };
            Some(Plan::with_constants(function, &[code]))
        }
        Conversion::Trunc
        | Conversion::Zext
        | Conversion::Sext
        | Conversion::Bitcast
        | Conversion::Inttoptr
        | Conversion::Addrspacecast
        | Conversion::Splat => None,
    }
}

/// `fptrunc rp` to `ue8m0`: the magnitude is rounded up.
pub(super) fn power_rounded_up(from: Type) -> Option<Plan> {
    let to_power = |number: u64, a: u64| ue8m0_from_single(Rounding::Up, true, widen(number, a).to_bits());
    // The closures take nothing from here, so that they are functions.
    let function = match from.bits() > 32 {
        false => scalar(move |a: u32, number: u64| to_power(number, a.into())),
        true => scalar(move |a: u64, number: u64| to_power(number, a)),
    };
    Some(Plan::with_constants(function, &[number(from)?]))
}

fn between(code: u64, a: u64) -> u64 {
    round(code >> 8, widen(code & 0xff, a))
}

fn from_integer(code: u64, a: u128) -> u32 {
    let (bits, signed) = (code as u32 >> 8 & 0xff, code >> 16 & 1 != 0);
    let value = match signed {
        true => ((a << (128 - bits)) as i128 >> (128 - bits)) as f32,
        false => a as f32,
    };
    round(code & 0xff, value) as u32
}

/// Toward zero, clamped; 0 for NaN.
fn to_integer(code: u64, a: u32) -> u128 {
    let (bits, signed) = (code as u32 >> 8 & 0xff, code >> 16 & 1 != 0);
    let (value, ones) = (widen(code & 0xff, a.into()), u128::MAX >> (128 - bits));
    match signed {
        true => (value as i128).clamp(!((ones >> 1) as i128), (ones >> 1) as i128) as u128 & ones,
        false => (value as u128).min(ones),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(op: Opcode, from: Type, to: Type, operands: &[u128]) -> u128 {
        operation(op, from, to).expect("a plan").evaluate(operands).expect("a value")[0]
    }

    #[test]
    fn numbers_of_every_small_format_round_trip() {
        for scalar in FORMATS.into_iter().filter(|scalar| small(*scalar).is_some()) {
            let ty = Type::scalar(scalar);
            for bits in 0..1u128 << ty.bits() {
                let wide = value(Opcode::Fpext, ty, Type::F32, &[bits]);
                if !f32::from_bits(wide as u32).is_infinite() && !f32::from_bits(wide as u32).is_nan() {
                    assert_eq!(value(Opcode::Fptrunc, Type::F32, ty, &[wide]), bits, "{ty} {bits:#x}");
                }
            }
        }
    }

    #[test]
    fn powers_of_two_are_rounded_toward_zero_and_have_no_sign() {
        let ty = Type::UE8M0;
        let of = |op, operands: &[u128]| value(op, ty, ty, operands);
        for bits in 0..=0xff {
            let wide = value(Opcode::Fpext, ty, Type::F32, &[bits]);
            let power = f32::from_bits(wide as u32);
            assert!(bits == 0xff && power.is_nan() || power == 2f64.powi(bits as i32 - 127) as f32, "{bits}");
            assert_eq!(value(Opcode::Fptrunc, Type::F32, ty, &[wide]), bits);
            assert_eq!(of(Opcode::Fneg, &[bits]), bits);
        }
        // 2 + 1 is 2; 1 - 2 is 1; 1 - 1 is the least power, as is the square of that; the greatest doubled stays.
        assert_eq!(of(Opcode::Fadd, &[128, 127]), 128);
        assert_eq!(of(Opcode::Fsub, &[127, 128]), 127);
        assert_eq!(of(Opcode::Fsub, &[127, 127]), 0);
        assert_eq!(of(Opcode::Fmul, &[0, 0]), 0);
        assert_eq!(of(Opcode::Fadd, &[254, 254]), 254);
        assert_eq!(of(Opcode::Fsqrt, &[130]), 128);
        assert_eq!(of(Opcode::Fdiv, &[130, 255]), 255);
        let up = |x: f32| {
            let plan = power_rounded_up(Type::F32).expect("a plan");
            plan.evaluate(&[x.to_bits().into()]).expect("a value")[0]
        };
        assert_eq!([up(1.5), up(-1.0), up(0.0), up(f32::INFINITY), up(3e-39)], [128, 127, 0, 254, 0]);
        assert_eq!([up(6e-39), up(f32::NAN)], [1, 255]);
    }

    #[test]
    fn results_are_rounded_and_clamped() {
        let e4m3 = |op, a, b| value(op, Type::E4M3, Type::E4M3, &[a, b]);
        // 1 + 1/16 is a tie that goes to the even 1; 448 + 448 is 448; 0 / 0 is NaN.
        assert_eq!(e4m3(Opcode::Fadd, 0x38, 0x18), 0x38);
        assert_eq!(e4m3(Opcode::Fadd, 0x7e, 0x7e), 0x7e);
        assert_eq!(e4m3(Opcode::Fdiv, 0, 0), 0x7f);
        // e2m1 has no NaN: its greatest number, 6.
        assert_eq!(value(Opcode::Fdiv, Type::E2M1, Type::E2M1, &[0, 0]), 0x7);
        assert_eq!(value(Opcode::Fneg, Type::E2M3, Type::E2M3, &[0x05]), 0x25);
        assert_eq!(value(Opcode::Fptosi, Type::E5M2, Type::I8, &[0xfb]), 0x80);
        assert_eq!(value(Opcode::Uitofp, Type::I64, Type::E4M3, &[1 << 40]), 0x7e);
    }
}
