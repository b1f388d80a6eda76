//! Values: a register or constant, or several in braces, which must agree.

use super::scalar::{available, scalar};
use super::{Fit, Rules, What};
use crate::form::Accepts;
use crate::operand::{FloatKind, Operand};
use crate::resolve::SigValue;
use crate::{Change, ScalarType, TypeClass, TypeSet};
use smallvec::SmallVec;

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is special about vectors stands here, all else is as for a scalar"
)]
pub(super) fn value(v: &SigValue, operand: &Operand, cx: &Rules) -> Fit {
    let whole = |what| Err((None, what));
    // To ptxas a part of a register in braces is the register.
    if let Operand::Vector(elements) = operand
        && cx.lenient
        && elements.iter().any(is_part)
        && v.accepts.contains(Accepts::SPECIAL_ELEMENT)
    {
        let registers: SmallVec<[Operand; 8]> = elements.iter().map(without_part).collect();
        return value(v, &Operand::Vector(&registers), cx);
    }
    let takes = |length: usize| {
        v.count.map(usize::from) == Some(length) || v.counts.iter().any(|&n| usize::from(n) == length)
    };
    let scalar_fits = v.count.is_none() || v.counts.contains(&0);
    let loose = cx.lenient && v.count.is_none() && v.accepts.contains(Accepts::LOOSE_VECTOR);
    match operand {
        Operand::Vector([one]) if v.count.is_none() && v.accepts.contains(Accepts::LIST_OF_ONE) => {
            match scalar(v, one, cx) {
                Err(_) if cx.lenient => vector(v, std::slice::from_ref(one), cx),
                found => found.map_err(|what| (None, what)),
            }
        }
        Operand::Vector(elements)
            if v.count.is_none()
                && cx.lenient
                && v.accepts.contains(Accepts::BRACED)
                && passes_as_scalar(v, elements.len(), cx) =>
        {
            let accepts = v.accepts.union(Accepts::IMMEDIATE);
            let accepts = if v.destination { accepts.union(Accepts::SINK_ELEMENT) } else { accepts };
            vector(&SigValue { accepts, ..*v }, elements, cx)
        }
        Operand::Vector(elements) if loose && matches!(elements.len(), 1 | 2 | 4) => {
            let accepts = v.accepts.union(Accepts::IMMEDIATE);
            let accepts = if v.destination { accepts.union(Accepts::SINK_ELEMENT) } else { accepts };
            vector(&SigValue { accepts, ..*v }, elements, cx)
        }
        Operand::VectorReg(ty, _) if loose => scalar(v, &Operand::Reg(*ty), cx).map_err(|what| (None, what)),
        Operand::Vector(_) | Operand::VectorReg(..) if v.count.is_none() => whole(What::VectorNotAllowed),
        Operand::Special { lanes, .. } if *lanes > 1 && v.count.is_none() => whole(What::VectorNotAllowed),
        Operand::Vector(elements) if !takes(elements.len()) => whole(What::VectorLength),
        Operand::Vector(elements) => vector(v, elements, cx),
        Operand::VectorReg(_, lanes) | Operand::Special { lanes, .. }
            if *lanes > 1 && !takes((*lanes).into()) =>
        {
            whole(What::VectorLength)
        }
        Operand::VectorReg(..) if v.accepts.contains(Accepts::SPELT) => whole(What::VectorNeeded),
        Operand::VectorReg(ty, _) => scalar(v, &Operand::Reg(*ty), cx).map_err(|what| (None, what)),
        Operand::Special { reg, lanes } if *lanes > 1 => {
            scalar(v, &Operand::Special { reg: *reg, lanes: 1 }, cx).map_err(|what| (None, what))
        }
        Operand::Reg(_)
        | Operand::RegPlus(_)
        | Operand::SpecialPlus(_)
        | Operand::Int(_)
        | Operand::Float(..)
        | Operand::Var(_)
        | Operand::VarPlus(_)
        | Operand::Func
        | Operand::FuncPlus
        | Operand::Special { lanes: 1, .. }
            if cx.lenient && v.accepts.contains(Accepts::LONE) =>
        {
            scalar(v, operand, cx).map_err(|what| (None, what))
        }
        Operand::Int(_) | Operand::Float(..)
            if v.count.is_none() && !v.accepts.contains(Accepts::LONE_CONSTANT) =>
        {
            whole(What::ImmediateNotAllowed)
        }
        _ if scalar_fits => scalar(v, operand, cx).map_err(|what| (None, what)),
        _ => whole(What::VectorNeeded),
    }
}

/// True where ptxas takes braces of so many elements for a scalar: one, and of types that have no registers of their own also several, but not
/// in later releases.
#[expect(clippy::wildcard_enum_match_arm, reason = "other types have registers of their own")]
fn passes_as_scalar(v: &SigValue, length: usize, cx: &Rules) -> bool {
    match v.ty {
        ScalarType::BF16 | ScalarType::BF16x2 => {
            matches!(length, 1 | 2 | 4) && cx.tolerates(Change::BracesOfBf16)
        }
        _ => length == 1,
    }
}

/// True for a part of a register of 32 bits, as video instructions name parts.
fn is_part(operand: &Operand) -> bool {
    let Operand::Select(Operand::Reg(register), part) = operand else { return false };
    let (letter, digits) = part.split_at(part.len().min(1));
    let (most, least, longest) = match letter {
        "b" => (b'7', b'0', 4),
        "h" => (b'3', b'0', 4),
        _ => return false,
    };
    register.bits() == 32 && digits.len() <= longest && digits.bytes().all(|d| (least..=most).contains(&d))
}

/// The register of which an operand is a part, or the operand.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not a part is whole")]
fn without_part<'a>(operand: &Operand<'a>) -> Operand<'a> {
    match operand {
        Operand::Select(register, _) if is_part(operand) => **register,
        other => *other,
    }
}

/// Validates the elements of braces.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is special about vectors stands here, all else is as for a scalar"
)]
fn vector(v: &SigValue, elements: &[Operand], cx: &Rules) -> Fit {
    let whole = |what| Err((None, what));
    let (index, rest) = match elements {
        [index, rest @ ..] if v.accepts.contains(Accepts::ARRAY) => (Some(index), rest),
        _ => (None, elements),
    };
    if let Some(index) = index {
        let integer = SigValue { ty: ScalarType::U32, registers: INDEX, ..*v };
        match index {
            Operand::Special { reg, lanes: 1 } if cx.lenient && reg.ty().bits() == 32 => available(*reg, cx),
            _ => scalar(&integer, index, cx),
        }
        .map_err(|what| (Some(0), what))?;
    }
    let mut before = None;
    for (index, element) in elements.iter().enumerate().skip(elements.len() - rest.len()) {
        if matches!(element, Operand::Sink) {
            continue;
        }
        if before.is_some_and(|before| clash(before, element)) {
            return Err((Some(index), What::MixedTypes));
        }
        before = Some(element);
    }
    let mut mixture = Mixture::of(rest);
    let for_floats = v.accepts.contains(Accepts::COUNTED)
        && v.ty.is_float()
        && !mixture.has(Mixture(Mixture::FLOAT.0 | Mixture::PACKED.0))
        && !rest.iter().any(|e| matches!(e, Operand::Reg(ty) if ty.bits() != v.ty.bits()));
    if cx.lenient
        && (mixture.has(Mixture::SPECIAL)
            || (mixture.has(Mixture::INTEGER) && (for_floats || differ_in_sign(rest)))
            || (mixture.has(Mixture::FLOAT) && differ_in_format(rest)))
    {
        mixture = Mixture(mixture.0 | Mixture::UNTYPED.0);
    }
    let pred_passes = cx.lenient
        && mixture.has(Mixture::UNTYPED)
        && v.accepts.contains(Accepts::SPECIAL_ELEMENT)
        && !(v.destination && v.ty.class() == TypeClass::Packed && v.count.is_some())
        && rest.iter().all(|e| !matches!(e, Operand::Reg(ty) if *ty != ScalarType::Pred && ty.bits() != 32));
    let has_register = rest.iter().any(|element| matches!(element, Operand::Reg(_)));
    let (mut sinks, mut bits) = (0, None);
    for (index, element) in elements.iter().enumerate().skip(elements.len() - rest.len()) {
        let tolerated = |ty: ScalarType| cx.lenient && v.tolerated.contains(ty);
        let width = match element {
            Operand::Reg(ScalarType::Pred) if pred_passes => Some(32),
            Operand::Reg(ty) => Some(ty.bits()),
            Operand::Special { reg, lanes: 1 } => Some(reg.ty().bits()),
            _ => None,
        };
        if let Some(width) = width
            && *bits.get_or_insert(width) != width
        {
            return Err((Some(index), What::MixedTypes));
        }
        match element {
            Operand::Sink if v.accepts.contains(Accepts::SINK_ELEMENT) => sinks += 1,
            // Beside a float register a number is a float.
            Operand::Float(..)
                if v.accepts.contains(Accepts::INFERRED)
                    && v.accepts.contains(Accepts::IMMEDIATE)
                    && rest.contains(&Operand::Reg(ScalarType::F32))
                    && v.registers.contains(ScalarType::F32) => {}
            // Beside an untyped register a constant needs no type of its own.
            Operand::Int(_) | Operand::Float(..)
                if mixture.has(Mixture::UNTYPED)
                    && v.accepts.contains(Accepts::IMMEDIATE)
                    && v.accepts.contains(Accepts::SPECIAL_ELEMENT) => {}
            // To ptxas a predicate among untyped registers of 32 bits is one of them.
            Operand::Reg(ScalarType::Pred) if pred_passes => {}
            // Beside an untyped register the others count as untyped too.
            Operand::Reg(ty) if mixture.has(Mixture::UNTYPED) && ty.class() != TypeClass::Pred => {
                let untyped =
                    ScalarType::ALL.iter().find(|t| t.class() == TypeClass::Bits && t.bits() == ty.bits());
                if !v.registers.contains(*ty)
                    && !tolerated(*ty)
                    && !untyped.is_some_and(|&t| v.registers.contains(t))
                {
                    return Err((Some(index), What::RegisterType));
                }
            }
            // As an operand of its own ptxas takes the name of a function.
            Operand::Func => return Err((Some(index), What::VariableNotAllowed)),
            Operand::Special { .. } if !v.accepts.contains(Accepts::SPECIAL_ELEMENT) => {
                return Err((Some(index), What::SpecialNotAllowed));
            }
            // ptxas takes a special register for whatever stands beside it.
            Operand::Special { reg, lanes: 1 }
                if cx.lenient
                    && (reg.ty().bits() == v.ty.bits() || v.registers.contains(reg.ty().untyped())) =>
            {
                available(*reg, cx).map_err(|what| (Some(index), what))?;
            }
            // Beside a register a special register will do.
            Operand::Special { reg, lanes: 1 }
                if !v.destination && has_register && v.registers.contains(reg.ty()) =>
            {
                available(*reg, cx).map_err(|what| (Some(index), what))?;
            }
            _ => scalar(v, element, cx).map_err(|what| (Some(index), what))?,
        }
    }
    match () {
        _ if sinks == elements.len() => whole(What::AllSinks),
        _ if !cx.lenient && mixture.clashes() => whole(What::MixedTypes),
        // Alone they have the type that they are written in.
        _ if v.accepts.contains(Accepts::INFERRED) && mixture == Mixture::FLOAT && !has_register => {
            let ty = match rest.first() {
                Some(Operand::Float(FloatKind::Bits32, _)) => ScalarType::F32,
                _ => ScalarType::F64,
            };
            if v.registers.contains(ty) { Ok(()) } else { whole(What::AllConstants) }
        }
        _ if mixture == Mixture::CONSTANT && !v.accepts.contains(Accepts::CONSTANTS_ALONE) => {
            whole(What::AllConstants)
        }
        _ => Ok(()),
    }
}

/// True for registers of signed and of unsigned integers, which to ptxas makes untyped ones of them.
fn differ_in_sign(elements: &[Operand]) -> bool {
    let has = |class| elements.iter().any(|e| matches!(e, Operand::Reg(ty) if ty.class() == class));
    has(TypeClass::Unsigned) && has(TypeClass::Signed)
}

/// True for floats of several formats, which to ptxas makes untyped ones of them if there is a register among them.
#[expect(clippy::wildcard_enum_match_arm, reason = "only registers and constants have formats")]
fn differ_in_format(elements: &[Operand]) -> bool {
    let has = |own: ScalarType| {
        elements.iter().any(|e| match e {
            Operand::Reg(ty) => *ty == own,
            Operand::Float(kind, _) => (*kind == FloatKind::Bits32) == (own == ScalarType::F32),
            _ => false,
        })
    };
    has(ScalarType::F32) && has(ScalarType::F64) && elements.iter().any(|e| matches!(e, Operand::Reg(_)))
}

/// True for neighbours in braces of which ptxas says that they have different types. Those further apart it does not compare, so that an
/// untyped register between them reconciles them.
#[expect(clippy::wildcard_enum_match_arm, reason = "only registers and constants have types")]
fn clash(one: &Operand, other: &Operand) -> bool {
    let kind = |element: &Operand| match element {
        Operand::Reg(ScalarType::Pred) => Some(TypeClass::Pred),
        Operand::Int(_) => Some(TypeClass::Signed),
        Operand::Float(..) => Some(TypeClass::Float),
        Operand::Reg(ty) => match ty.class() {
            TypeClass::Unsigned | TypeClass::Signed => Some(TypeClass::Signed),
            class @ (TypeClass::Float | TypeClass::Packed) => Some(class),
            TypeClass::Bits | TypeClass::Pred | TypeClass::Opaque => None,
        },
        _ => None,
    };
    matches!((kind(one), kind(other)), (Some(one), Some(other)) if one != other)
}

/// The registers that may hold the index of an array of textures.
const INDEX: TypeSet = TypeSet::of(&[ScalarType::B32, ScalarType::U32, ScalarType::S32]);

/// What the elements of braces are: they must agree, and decide what the constants among them may be.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mixture(u8);

impl Mixture {
    /// A `.bN` register.
    const UNTYPED: Mixture = Mixture(1);
    /// A `.uN` or `.sN` register.
    const INTEGER: Mixture = Mixture(2);
    /// A `.fN` register or a float constant.
    const FLOAT: Mixture = Mixture(4);
    /// A register of a packed type.
    const PACKED: Mixture = Mixture(8);
    /// An integer constant.
    const CONSTANT: Mixture = Mixture(16);
    /// A special register.
    const SPECIAL: Mixture = Mixture(32);

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is special about vectors stands here, all else is as for a scalar"
    )]
    fn of(elements: &[Operand]) -> Mixture {
        let one = |element: &Operand| match element {
            Operand::Int(_) => Mixture::CONSTANT,
            Operand::Float(..) => Mixture::FLOAT,
            Operand::Special { .. } => Mixture::SPECIAL,
            Operand::Reg(ty) | Operand::RegPlus(ty) => match ty.class() {
                TypeClass::Bits => Mixture::UNTYPED,
                TypeClass::Unsigned | TypeClass::Signed => Mixture::INTEGER,
                TypeClass::Float => Mixture::FLOAT,
                TypeClass::Packed => Mixture::PACKED,
                TypeClass::Pred | TypeClass::Opaque => Mixture(0),
            },
            _ => Mixture(0),
        };
        Mixture(elements.iter().fold(0, |bits, element| bits | one(element).0))
    }

    fn has(self, other: Mixture) -> bool {
        self.0 & other.0 != 0
    }

    /// Elements of several types, and no untyped register to reconcile them.
    fn clashes(self) -> bool {
        if self.has(Mixture::INTEGER) && self.has(Mixture::FLOAT) {
            return true;
        }
        if self.has(Mixture::PACKED) && self.has(Mixture::FLOAT) {
            return true;
        }
        let integers = self.has(Mixture(Mixture::INTEGER.0 | Mixture::CONSTANT.0));
        let kinds = [integers, self.has(Mixture::FLOAT), self.has(Mixture::PACKED)];
        !self.has(Mixture::UNTYPED) && kinds.into_iter().filter(|&present| present).count() > 1
    }
}
