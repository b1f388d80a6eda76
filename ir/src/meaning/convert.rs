//! Conversions between types.

use super::wide;
use crate::{Scalar, Type};
use warpsmith_semantics::lanes::{portable as vector, scalar};
use warpsmith_semantics::value::convert::{Cvt, Kind};
use warpsmith_semantics::value::half::{BF16, F16, Half};
use warpsmith_semantics::{Plan, Width};

/// The format of a scalar float in the terms of conversions.
pub(super) fn float_kind(ty: Type) -> Option<Kind> {
    if ty.is_vector() {
        return None;
    }
    Some(match ty.element() {
        Scalar::F16 => Kind::F16,
        Scalar::BF16 => Kind::Bf16,
        Scalar::F32 => Kind::F32,
        Scalar::F64 => Kind::F64,
        Scalar::Invalid
        | Scalar::I1
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::I128
        | Scalar::Odd(_)
        | Scalar::TF32
        | Scalar::E4M3
        | Scalar::E5M2
        | Scalar::E2M3
        | Scalar::E3M2
        | Scalar::E2M1
        | Scalar::UE8M0
        | Scalar::Ptr
        | Scalar::PtrGlobal
        | Scalar::PtrShared
        | Scalar::PtrLocal
        | Scalar::PtrConst
        | Scalar::PtrParam => return None,
    })
}

/// `trunc`, `zext` and `sext`. Cutting to a lane type of the result's width leaves exactly its bits.
pub(super) fn integer(from: Type, to: Type, signed: bool) -> Option<Plan> {
    if !from.is_int() || !to.is_int() {
        return None;
    }
    if from.is_odd() || to.is_odd() {
        return match (from, to) {
            (Type::I1, _) => {
                // Through the byte that every other width extends.
                let function = match (Width::for_bits(to.bits()), signed) {
                    (Width::W32, false) => vector(|a: bool, _all: u64| u32::from(a)),
                    (Width::W64, false) => vector(|a: bool, _all: u64| u64::from(a)),
                    (Width::W128, false) => vector(|a: bool, _all: u64| u128::from(a)),
                    (Width::W32, true) => vector(|a: bool, all: u64| if a { all as u32 } else { 0 }),
                    (Width::W64, true) => vector(|a: bool, all: u64| if a { all } else { 0 }),
                    // The constant is all ones of the half above 64 bits.
                    (Width::W128, true) => {
                        vector(
                            |a: bool, all: u64| {
                                if a { u128::from(all) << 64 | u128::from(u64::MAX) } else { 0 }
                            },
                        )
                    }
                    (Width::Pred, _) => return None,
                };
                let bits = to.bits();
                let all = if bits > 64 { u64::MAX >> (128 - bits) } else { u64::MAX >> (64 - bits) };
                Some(Plan::with_constants(function, &[all]))
            }
            (_, Type::I1) => Some(Plan::simple(match Width::for_bits(from.bits()) {
                Width::W32 => vector(|a: u32| a & 1 != 0),
                Width::W64 => vector(|a: u64| a & 1 != 0),
                Width::W128 => vector(|a: u128| a & 1 != 0),
                Width::Pred => return None,
            })),
            _ => wide::resize(from, to, signed),
        };
    }
    macro_rules! to {
        ($from:ty, |$a:ident| $wide:expr) => {
            match to.bits() {
                1 => vector(|$a: $from| $a as u8 & 1 != 0),
                8 => vector(|$a: $from| $wide as u8),
                16 => vector(|$a: $from| $wide as u16),
                32 => vector(|$a: $from| $wide as u32),
                64 => vector(|$a: $from| $wide as u64),
                128 => vector(|$a: $from| $wide as u128),
                _ => return None,
            }
        };
    }
    Some(Plan::simple(match (from.bits(), signed) {
        (1, false) => to!(bool, |a| a as u8),
        (1, true) => to!(bool, |a| -(a as i8)),
        (8, false) => to!(u8, |a| a),
        (8, true) => to!(i8, |a| a),
        (16, false) => to!(u16, |a| a),
        (16, true) => to!(i16, |a| a),
        (32, false) => to!(u32, |a| a),
        (32, true) => to!(i32, |a| a),
        (64, false) => to!(u64, |a| a),
        (64, true) => to!(i64, |a| a),
        (128, _) => to!(u128, |a| a),
        _ => return None,
    }))
}

/// `fptrunc` and `fpext`: rounded to nearest.
pub(super) fn float(from: Type, to: Type) -> Option<Plan> {
    let cvt = Cvt::new(float_kind(to)?, float_kind(from)?);
    Some(by_code(from.bits() > 32, to.bits() > 32, cvt))
}

/// A conversion of one register to another, described by a constant.
pub(super) fn by_code(wide_source: bool, wide_result: bool, cvt: Cvt) -> Plan {
    let function = match (wide_source, wide_result) {
        (false, false) => scalar(|a: u32, code: u64| Cvt::from_code(code).apply(a.into()) as u32),
        (false, true) => scalar(|a: u32, code: u64| Cvt::from_code(code).apply(a.into())),
        (true, false) => scalar(|a: u64, code: u64| Cvt::from_code(code).apply(a) as u32),
        (true, true) => scalar(|a: u64, code: u64| Cvt::from_code(code).apply(a)),
    };
    Plan::with_constants(function, &[cvt.code()])
}

/// `sitofp` and `uitofp`: rounded to nearest.
pub(super) fn from_integer(from: Type, to: Type, signed: bool) -> Option<Plan> {
    if from == Type::I1 {
        return Some(Plan::simple(match float_kind(to)? {
            Kind::F32 => vector(|a: bool| f32::from(a as u8)),
            Kind::F64 => vector(|a: bool| f64::from(a as u8)),
            Kind::F16 => vector(|a: bool| if a { F16::ONE } else { 0 }),
            Kind::Bf16 => vector(|a: bool| if a { BF16::ONE } else { 0 }),
            Kind::Tf32 | Kind::Unsigned(_) | Kind::Signed(_) => return None,
        }));
    }
    if from.is_odd() || from.bits() > 64 {
        return wide::from_integer(from, float_kind(to)?, to.bits() > 32, signed);
    }
    let bits = from.bits() as u8;
    let kind = if signed { Kind::Signed(bits) } else { Kind::Unsigned(bits) };
    let cvt = Cvt::new(float_kind(to)?, kind);
    Some(by_code(bits > 32, to.bits() > 32, cvt))
}

/// `fptosi` and `fptoui`: the host's own conversion, which rounds toward zero, saturates, and makes NaN zero.
pub(super) fn to_integer(from: Type, to: Type, signed: bool) -> Option<Plan> {
    if to.is_odd() || to.bits() > 64 {
        return wide::to_integer(float_kind(from)?, from.bits() > 32, to, signed);
    }
    macro_rules! to {
        ($from:ty, |$a:ident| $value:expr) => {
            match (to.bits(), signed) {
                (8, true) => scalar(|$a: $from| $value as i8),
                (16, true) => scalar(|$a: $from| $value as i16),
                (32, true) => vector(|$a: $from| $value as i32),
                (64, true) => scalar(|$a: $from| $value as i64),
                (8, false) => scalar(|$a: $from| $value as u8),
                (16, false) => scalar(|$a: $from| $value as u16),
                (32, false) => vector(|$a: $from| $value as u32),
                (64, false) => scalar(|$a: $from| $value as u64),
                _ => return None,
            }
        };
    }
    Some(Plan::simple(match float_kind(from)? {
        Kind::F32 => to!(f32, |a| a),
        Kind::F64 => to!(f64, |a| a),
        Kind::F16 => to!(u16, |a| F16::widen(a)),
        Kind::Bf16 => to!(u16, |a| BF16::widen(a)),
        Kind::Tf32 | Kind::Unsigned(_) | Kind::Signed(_) => return None,
    }))
}
