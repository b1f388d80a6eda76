//! One register, constant or special register as a value of a type.

use super::{Rules, What};
use crate::form::{Accepts, Range};
use crate::operand::{FloatKind, Operand};
use crate::resolve::{SigValue, matching};
use crate::{ScalarType, SpecialReg, TypeClass};

#[expect(clippy::wildcard_enum_match_arm, reason = "parts are of registers alone")]
pub(super) fn scalar(v: &SigValue, operand: &Operand, cx: &Rules) -> Result<(), What> {
    let needs = |flag, what| if v.accepts.contains(flag) { Ok(()) } else { Err(what) };
    match *operand {
        Operand::Reg(ty) => {
            needs(Accepts::REGISTER, What::ImmediateRequired)?;
            let tolerated = cx.lenient && v.tolerated.contains(ty);
            if tolerated || v.registers.contains(ty) { Ok(()) } else { Err(What::RegisterType) }
        }
        Operand::RegPlus(ty) => {
            needs(Accepts::SUM, What::Kind)?;
            if !(cx.lenient && v.accepts.contains(Accepts::SLOPPY)) {
                needs(Accepts::IMMEDIATE, What::ImmediateNotAllowed)?;
            }
            needs(Accepts::REGISTER, What::ImmediateRequired)?;
            let sum = cx.lenient && v.named && adds_to(v.ty, ty);
            if sum || v.registers.contains(ty) { Ok(()) } else { Err(What::RegisterType) }
        }
        Operand::Int(bits) => {
            needs(Accepts::IMMEDIATE, What::ImmediateNotAllowed)?;
            if !v.accepts.contains(Accepts::ANY_IMMEDIATE) && !takes_integers(v.ty) {
                return Err(What::ImmediateKind);
            }
            let wraps = v.accepts.contains(Accepts::WRAPPED);
            let seen = if wraps { converted(bits, v.ty) } else { bits };
            let within = |range: Option<Range>| range.is_none_or(|range| range.contains(seen));
            let tolerated = || cx.lenient && v.tolerated_range.is_some() && within(v.tolerated_range);
            if !within(v.range) && !tolerated() {
                return Err(What::ImmediateRange);
            }
            if cx.lenient || is_representable(bits, v.ty) { Ok(()) } else { Err(What::ImmediateWraps) }
        }
        Operand::Float(FloatKind::Bits32, _) if cx.lenient && v.accepts.contains(Accepts::SLOPPY) => Ok(()),
        Operand::Float(kind, value) => {
            needs(Accepts::IMMEDIATE, What::ImmediateNotAllowed)?;
            let own = if kind == FloatKind::Bits32 { ScalarType::F32 } else { ScalarType::F64 };
            let untyped = v.accepts.contains(Accepts::INFERRED) && v.ty.class() == TypeClass::Bits;
            if untyped && !v.registers.contains(own) {
                return Err(What::ImmediateKind);
            }
            if !takes_floats(v.ty, kind) {
                return Err(What::ImmediateKind);
            }
            // Any NaN is out of it.
            let within = v.range != Some(Range::Fraction) || (value as f32 > 0.0 && value as f32 <= 1.0);
            if within { Ok(()) } else { Err(What::ImmediateRange) }
        }
        Operand::Special { reg, .. } => {
            needs(Accepts::SPECIAL, What::SpecialNotAllowed)?;
            // In conversions a wider one, as for registers; never for a float.
            let fits = |ty| matching(v.ty, ty) || v.registers.contains(ty);
            if v.ty.is_float() || !reg.types().iter().any(fits) {
                return Err(What::RegisterType);
            }
            available(reg, cx)
        }
        // To ptxas the sum is that of bits in a register.
        Operand::SpecialPlus(reg) => match cx.lenient {
            true => scalar(v, &Operand::RegPlus(reg.ty().untyped()), cx).and_then(|()| available(reg, cx)),
            false => Err(What::SpecialNotAllowed),
        },
        Operand::Var(var) if v.ty.class() == TypeClass::Opaque => {
            // To ptxas a texture, or surface, denotes its sampler in unified mode.
            let fits = match cx.independent {
                true => var.ty == v.ty,
                false => matches!(var.ty, ScalarType::Texref | ScalarType::Surfref),
            };
            if fits { Ok(()) } else { Err(What::VariableNotAllowed) }
        }
        // To ptxas the sum is a constant like others, unless the operand is an address or a descriptor.
        Operand::VarPlus(_)
            if cx.lenient
                && takes_numbers(v.ty)
                && v.space.is_none()
                && (v.named || v.registers.contains(ScalarType::B32)) =>
        {
            needs(Accepts::REGISTER, What::ImmediateRequired)?;
            needs(Accepts::IMMEDIATE, What::VariableNotAllowed)
        }
        Operand::FuncPlus
            if cx.lenient
                && v.named
                && v.space.is_none()
                && !matches!(v.ty, ScalarType::Pred | ScalarType::BF16 | ScalarType::BF16x2) =>
        {
            needs(Accepts::REGISTER, What::ImmediateRequired)?;
            needs(Accepts::IMMEDIATE, What::VariableNotAllowed)
        }
        Operand::Func
            if cx.lenient
                && !matches!(v.ty, ScalarType::Pred | ScalarType::BF16 | ScalarType::BF16x2)
                && !v.destination
                && v.space.is_none()
                && !v.accepts.contains(Accepts::INFERRED) =>
        {
            match takes_numbers(v.ty) {
                true if v.named => needs(Accepts::IMMEDIATE, What::VariableNotAllowed),
                true => Err(What::VariableNotAllowed),
                false => needs(Accepts::REGISTER, What::VariableNotAllowed),
            }
        }
        // An address is an integer.
        Operand::Var(_)
        | Operand::VarPlus(_)
        | Operand::Element(_)
        | Operand::Func
        | Operand::FuncPlus
        | Operand::Label
            if v.ty == ScalarType::Pred || !takes_integers(v.ty) =>
        {
            Err(What::VariableNotAllowed)
        }
        Operand::Var(var) | Operand::VarPlus(var) | Operand::Element(var) => {
            needs(Accepts::VARIABLE, What::VariableNotAllowed)?;
            if v.space.is_none_or(|space| space.allows(var.space)) { Ok(()) } else { Err(What::AddressSpace) }
        }
        Operand::Func | Operand::Label => needs(Accepts::FUNCTION, What::VariableNotAllowed),
        Operand::FuncPlus => Err(What::VariableNotAllowed),
        Operand::Sink => needs(Accepts::SINK, What::SinkNotAllowed),
        Operand::Not(inner) => {
            let loose = cx.lenient && v.accepts.contains(Accepts::SLOPPY);
            if !(loose && matches!(inner, Operand::Reg(ScalarType::Pred))) {
                needs(Accepts::COMPLEMENTED, What::ComplementNotAllowed)?;
            }
            scalar(v, inner, cx)
        }
        Operand::Neg(inner) => {
            needs(Accepts::NEGATED, What::NegationNotAllowed)?;
            scalar(&SigValue { accepts: v.accepts | Accepts::REGISTER, ..*v }, inner, cx)
        }
        Operand::Select(inner, part) => match *inner {
            _ if !selects(v.accepts, part) => Err(What::SelectNotAllowed),
            _ if !v.accepts.contains(Accepts::REGISTER) => Err(What::NegationNeeded),
            Operand::Reg(ty) if v.registers.contains(ty) => Ok(()),
            _ => Err(What::RegisterType),
        },
        Operand::Pair(_) => Err(What::PairNotAllowed),
        Operand::Vector(_) | Operand::VectorReg(..) => Err(What::VectorNotAllowed),
        Operand::Unknown => Ok(()),
        Operand::List | Operand::Address(_) | Operand::Bracket(_) | Operand::Arguments => Err(What::Kind),
    }
}

pub(super) fn available(reg: SpecialReg, cx: &Rules) -> Result<(), What> {
    match reg.clauses().iter().all(|clause| clause.allows(cx.version, cx.target)) {
        true => Ok(()),
        false => Err(What::SpecialGate(reg)),
    }
}

/// Integer constants fit integers, bits and predicates of any size (they are truncated), never floats.
fn takes_integers(ty: ScalarType) -> bool {
    matches!(ty.class(), TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed | TypeClass::Pred)
}

/// True where ptxas takes the sum of a register and a constant for a value of a type that a modifier names: it does not look at the
/// width of the register.
fn adds_to(ty: ScalarType, register: ScalarType) -> bool {
    let half2 = register == ScalarType::F16x2;
    match (ty.class(), register.class()) {
        _ if ty == ScalarType::BF16 || ty == ScalarType::BF16x2 => false,
        (TypeClass::Pred, class) => class == TypeClass::Pred || half2,
        (TypeClass::Bits, class) => !matches!(class, TypeClass::Pred | TypeClass::Opaque),
        (TypeClass::Unsigned | TypeClass::Signed, class) => {
            matches!(class, TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed) || half2
        }
        (TypeClass::Float, class) => matches!(class, TypeClass::Bits | TypeClass::Float),
        (TypeClass::Packed, class) => class == TypeClass::Bits || half2,
        (TypeClass::Opaque, _) => false,
    }
}

/// Integers and untyped bits.
fn takes_numbers(ty: ScalarType) -> bool {
    ty != ScalarType::Pred && takes_integers(ty)
}

/// True for a constant that keeps its value in the type, as a number with or without a sign. `mov.pred p, -1` is usual.
fn is_representable(bits: i64, ty: ScalarType) -> bool {
    match ty.bits() {
        1 => (-1..=1).contains(&bits),
        width @ 2..=63 => (-1 << (width - 1)..1 << width).contains(&bits),
        _ => true,
    }
}

/// `0f` constants fit `.f32`, `.f64` and `.b32`; the others `.f32`, `.f64` and `.b64`.
#[expect(clippy::wildcard_enum_match_arm, reason = "a float constant is a number of no other type")]
fn takes_floats(ty: ScalarType, kind: FloatKind) -> bool {
    match ty {
        ScalarType::F32 | ScalarType::F64 => true,
        ScalarType::B32 => kind == FloatKind::Bits32,
        ScalarType::B64 => kind != FloatKind::Bits32,
        _ => false,
    }
}

/// A constant as its type sees it, which is what a range is about.
pub(super) fn converted(bits: i64, ty: ScalarType) -> i64 {
    match (ty.bits(), ty.is_signed()) {
        (1..=8, false) => (bits as u8).into(),
        (1..=8, true) => (bits as i8).into(),
        (16, false) => (bits as u16).into(),
        (16, true) => (bits as i16).into(),
        (32, false) => (bits as u32).into(),
        (32, true) => (bits as i32).into(),
        _ => bits,
    }
}

/// Which parts of a register video instructions may name (manual 9.7.18).
fn selects(accepts: Accepts, part: &str) -> bool {
    let (letter, digits) = part.split_at(part.len().min(1));
    let digits = digits.as_bytes();
    let below = |n: u8| digits.iter().all(|d| (b'0'..b'0' + n).contains(d));
    let decreasing = digits.windows(2).all(|pair| pair[0] > pair[1]);
    let has = |flag| accepts.contains(flag);
    match (letter, digits.len()) {
        ("b", 1) if has(Accepts::SELECTED) && below(4) => true,
        ("h", 1) if has(Accepts::SELECTED) && below(2) => true,
        ("h", 2) if has(Accepts::LANES2) && below(4) => true,
        ("b", 4) if has(Accepts::LANES4) && below(8) => true,
        ("h", 1..=2) if has(Accepts::MASK2) && below(2) && decreasing => true,
        ("b", 1..=4) if has(Accepts::MASK4) && below(4) && decreasing => true,
        _ => false,
    }
}
