//! What the forms of the ISA tables say of operands and results, in terms of the IR.

use super::{Candidate, PtxOperand, ResultTypes};
use crate::ops::Opcode;
use crate::types::{Scalar, Type};
use smallvec::SmallVec;
use warpsmith_isa::{
    self as isa, Accepts, Instruction, ScalarType, SigKind, SigPresence, SigValue, Signature, TypeClass,
};

/// A destination operand: how the results that it takes are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    /// `d`
    Scalar,
    /// `{d, e, ...}`, so many.
    Vector(u16),
    /// `d|p`, or `{d, e, ...}|p` with so many in braces.
    Pair(Option<u16>),
}

impl Destination {
    /// How many results it takes.
    pub fn count(self) -> usize {
        match self {
            Destination::Scalar => 1,
            Destination::Vector(count) => count.into(),
            Destination::Pair(first) => usize::from(first.unwrap_or(1)) + 1,
        }
    }
}

/// How an instruction with so many results writes them, by one of its signatures. `None` where that has another number of them.
pub fn destinations(signature: &Signature, results: usize) -> Option<SmallVec<[Destination; 2]>> {
    layout(signature, results).map(|(destinations, _)| destinations)
}

/// The accumulators of a signature: a destination whose values before the instruction are its first operand.
pub fn accumulators(signature: &Signature) -> Option<&SigValue> {
    match &signature.operands.first()?.kind {
        SigKind::Value(value) if value.destination && value.accepts.contains(Accepts::IN_OUT) => Some(value),
        SigKind::Value(_)
        | SigKind::Address(_)
        | SigKind::Pair { .. }
        | SigKind::Bracket(_)
        | SigKind::Tuple(_)
        | SigKind::Label
        | SigKind::Callee
        | SigKind::Arguments
        | SigKind::Results
        | SigKind::List => None,
    }
}

/// The form that an instruction is, as far as the number of its results and the grouping of its operands determine it: `mov.b16` takes a scalar,
/// or two elements in braces. Where no grouping fits, the first form with so many results.
pub(crate) fn candidate_for<'s>(
    candidates: &'s [Candidate],
    operands: &[PtxOperand],
    results: usize,
) -> Option<(Instruction, &'s Signature)> {
    let sink = results == 0 && operands.first() == Some(&PtxOperand::Sink);
    let writes = |(_, signature): &&Candidate| {
        let first = signature.operands.first().map(|operand| &operand.kind);
        let scalar =
            matches!(first, Some(SigKind::Value(value)) if value.destination && value.count.is_none());
        result_types(signature, results).is_some() || (sink && scalar)
    };
    let mut all = candidates.iter().filter(writes);
    let first = all.clone().next().map(|(instruction, signature)| (*instruction, signature));
    let fitting = all.find_map(|(instruction, signature)| {
        Some((instruction.with_places(places_taken(signature, operands, results)?), signature))
    });
    fitting.or(first)
}

/// The places that the results and the operands take as they are grouped, a bit for each; `None` where they do not fit.
fn places_taken(signature: &Signature, operands: &[PtxOperand], results: usize) -> Option<u16> {
    let mut groups: SmallVec<[PtxOperand; 8]> = SmallVec::new();
    let mut n = 0;
    while let Some(&operand) = operands.get(n) {
        groups.push(operand);
        n += group_len(&operands[n..]);
    }
    // What denotes the destination is not a source.
    let stands = accumulators(signature).is_some()
        || matches!(groups.first(), Some(PtxOperand::Destination(_)))
        || (results == 0 && groups.first() == Some(&PtxOperand::Sink));
    let sources = groups.get(usize::from(stands)..).unwrap_or_default();
    let written = destinations(signature, results).map_or(usize::from(stands), |d| d.len());
    let there = || {
        let all = signature.operands.iter().enumerate();
        all.filter(|(_, place)| !matches!(place.presence, SigPresence::OnlyWith(_)))
    };
    let mut taken = there().take(written).fold(0u16, |bits, (index, _)| bits | 1 << index);
    let required = there().skip(written).filter(|(_, place)| place.presence == SigPresence::Required).count();
    let mut spare = sources.len().checked_sub(required)?;
    let mut sources = sources.iter();
    for (index, place) in there().skip(written) {
        let fits = sources.as_slice().first().is_some_and(|&source| place_takes(&place.kind, source));
        if place.presence == SigPresence::Optional {
            if spare == 0 || !fits {
                continue;
            }
            spare -= 1;
        } else if !fits {
            return None;
        }
        taken |= 1 << index;
        sources.next();
    }
    (spare == 0).then_some(taken)
}

fn place_takes(kind: &SigKind, operand: PtxOperand) -> bool {
    use PtxOperand::*;
    match (kind, operand) {
        (SigKind::Value(value), Vector(len)) => {
            let len = len as u16;
            let braced = len == 1 && value.count.is_none() && value.accepts.contains(Accepts::BRACED);
            value.count == Some(len) || value.counts.contains(&len) || braced
        }
        (SigKind::Value(_), Address(_) | GlobalAddress(..) | Bracket(_)) => false,
        (SigKind::Value(value), _) => value.count.is_none() || value.counts.contains(&0),
        (SigKind::Tuple(places), Vector(len)) => places.len() == len as usize,
        (SigKind::Tuple(_), _) | (SigKind::Address(_), Vector(_) | Bracket(_)) => false,
        (SigKind::Bracket(_), _) => matches!(operand, Bracket(_) | Address(_) | GlobalAddress(..)),
        _ => true,
    }
}

/// How many operands the first one is, with what it holds.
pub(crate) fn group_len(operands: &[PtxOperand]) -> usize {
    match operands.first() {
        None => 0,
        Some(PtxOperand::Vector(len)) => 1 + *len as usize,
        Some(PtxOperand::Bracket(len)) => {
            (0..*len).fold(1, |n, _| n + operands.get(n..).map_or(0, |rest| group_len(rest).max(1)))
        }
        Some(_) => 1,
    }
}

/// The operations of the IR that denote PTX's control flow, which no table-derived operation is.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction ends a block")]
pub fn control_flow(opcode: isa::Opcode) -> Option<&'static [Opcode]> {
    match opcode {
        isa::Opcode::Bra => Some(&[Opcode::Jump, Opcode::Brif]),
        isa::Opcode::BrxIdx => Some(&[Opcode::Switch]),
        isa::Opcode::Call => Some(&[Opcode::Call, Opcode::CallIndirect]),
        isa::Opcode::Ret | isa::Opcode::Exit => Some(&[Opcode::Ret]),
        _ => None,
    }
}

/// True where 8-bit operands are held by `.b8` registers and no others: what packs bytes, and formats of less than 16 bits.
pub fn takes_byte_registers(signature: &Signature) -> bool {
    fn value(value: &SigValue) -> bool {
        let holds = |ty| value.registers.contains(ty);
        value.ty.bits() == 8 && holds(ScalarType::B8) && !holds(ScalarType::B16)
    }
    fn kind(of: &SigKind) -> bool {
        match of {
            SigKind::Value(one) => value(one),
            SigKind::Pair { first, second, .. } => value(first) || value(second),
            SigKind::Bracket(places) | SigKind::Tuple(places) => places.iter().any(|p| kind(&p.kind)),
            SigKind::Address(_)
            | SigKind::Label
            | SigKind::Callee
            | SigKind::Arguments
            | SigKind::Results
            | SigKind::List => false,
        }
    }
    signature.operands.iter().any(|operand| kind(&operand.kind))
}

pub(super) fn layout(
    signature: &Signature,
    results: usize,
) -> Option<(SmallVec<[Destination; 2]>, ResultTypes)> {
    let (mut list, mut types) = (SmallVec::new(), ResultTypes::new());
    let add = |types: &mut ResultTypes, value: &SigValue| {
        let ty = type_of_scalar(value.ty)?;
        types.extend(std::iter::repeat_n(ty, value.count.unwrap_or(1).into()));
        Some(())
    };
    for operand in &signature.operands {
        match &operand.kind {
            SigKind::Value(value) if value.destination => {
                if matches!(operand.presence, SigPresence::OnlyWith(_)) {
                    continue;
                }
                add(&mut types, value)?;
                list.push(value.count.map_or(Destination::Scalar, Destination::Vector));
            }
            SigKind::Pair { first, second, second_optional } if first.destination => {
                add(&mut types, first)?;
                if !second_optional || results > types.len() {
                    add(&mut types, second)?;
                    list.push(Destination::Pair(first.count));
                } else {
                    list.push(first.count.map_or(Destination::Scalar, Destination::Vector));
                }
            }
            SigKind::Value(_)
            | SigKind::Address(_)
            | SigKind::Pair { .. }
            | SigKind::Bracket(_)
            | SigKind::Tuple(_)
            | SigKind::Label
            | SigKind::Callee
            | SigKind::Arguments
            | SigKind::Results
            | SigKind::List => break,
        }
    }
    (types.len() == results).then_some((list, types))
}

/// The destinations and result types of a form written with as few results as it allows.
pub(super) fn required(signature: &Signature) -> Option<(SmallVec<[Destination; 2]>, ResultTypes)> {
    let registers = |value: &SigValue| value.accepts.contains(Accepts::REGISTER);
    let count = |value: &SigValue| usize::from(value.count.unwrap_or(1));
    let results = signature.operands.iter().map(|operand| match &operand.kind {
        SigKind::Value(value) if value.destination && registers(value) => match operand.presence {
            SigPresence::OnlyWith(_) => 0,
            SigPresence::Required | SigPresence::Optional => count(value),
        },
        SigKind::Pair { first, second_optional: true, .. } => count(first),
        SigKind::Pair { first, second, .. } => count(first) + count(second),
        SigKind::Value(_)
        | SigKind::Address(_)
        | SigKind::Bracket(_)
        | SigKind::Tuple(_)
        | SigKind::Label
        | SigKind::Callee
        | SigKind::Arguments
        | SigKind::Results
        | SigKind::List => 0,
    });
    layout(signature, results.sum())
}

/// The types of the destinations of a signature, one for each result: vectors give one an element, pairs two.
fn result_types(signature: &Signature, results: usize) -> Option<ResultTypes> {
    layout(signature, results).map(|(_, types)| types)
}

/// The result types of the first form that has so many results; `i32` where none has.
pub(crate) fn usual_types(candidates: &[Candidate], results: usize) -> ResultTypes {
    let mut all = candidates.iter();
    all.find_map(|(_, signature)| result_types(signature, results))
        .unwrap_or_else(|| SmallVec::from_elem(Type::I32, results))
}

/// The type of a value that an instruction writes to a register of a type.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are what their class says")]
pub(crate) fn type_of_scalar(ty: ScalarType) -> Option<Type> {
    let packed = |element: Scalar, lanes| Type::vector(element, lanes);
    match ty {
        ScalarType::F16x2 => packed(Scalar::F16, 2),
        ScalarType::BF16x2 => packed(Scalar::BF16, 2),
        ScalarType::F32x2 => packed(Scalar::F32, 2),
        ScalarType::U16x2 | ScalarType::S16x2 => packed(Scalar::I16, 2),
        ScalarType::E4M3x2 => packed(Scalar::E4M3, 2),
        ScalarType::E5M2x2 => packed(Scalar::E5M2, 2),
        ScalarType::UE8M0x2 => packed(Scalar::UE8M0, 2),
        ScalarType::E4M3x4 => packed(Scalar::E4M3, 4),
        ScalarType::E5M2x4 => packed(Scalar::E5M2, 4),
        ScalarType::Pred => Some(Type::I1),
        _ => match ty.class() {
            TypeClass::Float => Scalar::ALL.iter().copied().find(|s| s.isa() == ty).map(Type::scalar),
            TypeClass::Pred
            | TypeClass::Bits
            | TypeClass::Unsigned
            | TypeClass::Signed
            | TypeClass::Packed
            | TypeClass::Opaque => Type::int(ty.bits()),
        },
    }
}

/// The register that holds a value of a type; `bytes`: where [`takes_byte_registers`].
pub(crate) fn register_type(ty: Type, bytes: bool) -> ScalarType {
    match (ty.is_vector(), ty.element()) {
        (false, Scalar::I1) => ScalarType::Pred,
        (false, Scalar::F16) => ScalarType::F16,
        (false, Scalar::F32) => ScalarType::F32,
        (false, Scalar::F64) => ScalarType::F64,
        // All others are bits to PTX; registers begin at 16 of them, but for what takes bytes.
        _ => match ty.bits() {
            0..=8 if bytes => ScalarType::B8,
            0..=16 => ScalarType::B16,
            17..=32 => ScalarType::B32,
            33..=64 => ScalarType::B64,
            _ => ScalarType::B128,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_flow_has_operations() {
        let control = isa::Traits::TERMINATOR | isa::Traits::CALL;
        for form in &isa::FORMS {
            let expected = form.traits.intersects(control);
            assert_eq!(control_flow(form.opcode).is_some(), expected, "{}", form.opcode);
        }
    }
}
