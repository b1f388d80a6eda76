//! Operands that do not fit.

use super::gates::gated;
use super::words::{describe, expected_count, part};
use super::{Fix, Place, Remedy, Violation};
use crate::check::{Context, Fault, What};
use crate::resolve::{SigKind, SigOperand, SigValue, Signature};
use crate::{Mnemonic, Operand, ScalarType, SpecialReg, TypeClass, codes};

/// An operand does not fit its place.
#[expect(clippy::wildcard_enum_match_arm, reason = "only special registers are vectors by themselves")]
pub(crate) fn of_fault(
    mnemonic: &Mnemonic,
    signature: &Signature,
    operands: &[Operand],
    fault: Fault,
    cx: &Context,
) -> Violation {
    let section = signature.form.section();
    let (Some(index), Some(place)) = (fault.operand, signature.operands.get(fault.spec)) else {
        // Too many: the first that has no place. Too few: nothing to point at but the instruction.
        let places =
            signature.operands.iter().filter(|o| !matches!(o.presence, crate::SigPresence::OnlyWith(_)));
        let most = places.count();
        return Violation {
            code: codes::COUNT,
            place: if operands.len() > most { Place::Operand(most, None) } else { Place::Instruction },
            message: format!("`{mnemonic}` has the wrong number of operands"),
            expected: Some(expected_count(signature)),
            found: Some(operands.len().to_string()),
            help: Some(format!("its form: `{}`", signature.form.usage())),
            fix: None,
            section,
        };
    };
    let operand = part(&operands[index], fault.element);
    let name = place.name;
    let cannot = |what: &str| format!("{} cannot be {what} `{name}` of `{mnemonic}`", operand.describe());
    let (code, message) = match fault.what {
        What::Count => (codes::PARTS, format!("operand `{name}` has the wrong number of parts")),
        What::Kind => (codes::KIND, cannot("operand")),
        What::RegisterType => (codes::REGISTER_TYPE, cannot("operand")),
        What::ImmediateKind => (codes::CONSTANT_KIND, cannot("operand")),
        What::ImmediateNotAllowed => (codes::CONSTANT, format!("operand `{name}` must be a register")),
        What::ImmediateRequired => (codes::REGISTER, format!("operand `{name}` must be a constant")),
        What::ImmediateRange => (
            codes::RANGE,
            format!("{} is out of range for operand `{name}` of `{mnemonic}`", operand.describe()),
        ),
        What::ImmediateWraps => (
            codes::CONSTANT_WRAPS,
            format!("{} does not fit operand `{name}` of `{mnemonic}` and is truncated", operand.describe()),
        ),
        What::VectorNeeded => (codes::VECTOR_NEEDED, format!("operand `{name}` must be a vector")),
        What::VectorLength => (codes::VECTOR_LENGTH, cannot("operand")),
        What::VectorNotAllowed => match operand {
            Operand::Special { reg, lanes } => {
                (codes::VECTOR, format!("`{reg}` has {lanes} components, and operand `{name}` takes one"))
            }
            _ => (codes::VECTOR, format!("operand `{name}` of `{mnemonic}` cannot be a vector")),
        },
        What::MixedTypes => (
            codes::MIXED_VECTOR,
            format!("the elements of vector `{name}` differ in size or mix integers with floats"),
        ),
        What::SinkNotAllowed => (codes::SINK, format!("operand `{name}` cannot be the sink `_`")),
        What::AllSinks => (codes::ALL_SINKS, format!("operand `{name}` must keep at least one result")),
        What::SpecialNotAllowed => (codes::SPECIAL, format!("operand `{name}` cannot be a special register")),
        What::SpecialGate(reg) => return of_special(reg, index, cx),
        What::Gate => return of_operand_gate(place, place.gates, index, section, cx),
        What::HandleGate => return of_operand_gate(place, &crate::tables::HANDLE, index, section, cx),
        What::SamplerGate => return of_operand_gate(place, &crate::tables::SAMPLER, index, section, cx),
        What::SamplerNeeded => {
            (codes::PARTS, format!("operand `{name}` has no sampler, which `texmode_independent` asks for"))
        }
        What::SamplerNotAllowed => {
            (codes::PARTS, format!("operand `{name}` has a sampler, which only `texmode_independent` knows"))
        }
        What::VariableNotAllowed => {
            (codes::VARIABLE, format!("operand `{name}` cannot be the name of a variable or function"))
        }
        What::NegationNotAllowed => (codes::NEGATION, format!("operand `{name}` cannot be negated")),
        What::NegationNeeded => (codes::NEGATION_NEEDED, format!("operand `{name}` must be negated here")),
        What::ComplementNotAllowed => (codes::COMPLEMENT, format!("operand `{name}` cannot be complemented")),
        What::SelectNotAllowed => (codes::SELECT, format!("operand `{name}` has no such part")),
        What::AllConstants => {
            (codes::ALL_CONSTANTS, format!("vector `{name}` must have a register among its elements"))
        }
        What::PairNeeded => (codes::PAIR_NEEDED, format!("operand `{name}` must be a pair `a|b`")),
        What::PairNotAllowed => (codes::PAIR, format!("operand `{name}` cannot be a pair `a|b`")),
        What::AddressNeeded => (codes::ADDRESS, format!("operand `{name}` must be an address in brackets")),
        What::AddressRegister => (codes::ADDRESS_REGISTER, cannot("address")),
        What::AddressSpace => {
            (codes::SPACE, format!("the variable is not in the state space of address `{name}`"))
        }
        What::ImmediateAddress => {
            (codes::CONSTANT_ADDRESS, "only a `.local` address can be a constant".into())
        }
    };
    let value = fault_value(place, fault.element);
    let help = match (fault.what, operand, value) {
        (What::SpecialNotAllowed, ..) => "copy it to a register with `mov` first".into(),
        (What::VariableNotAllowed, _, Some(SigValue { destination: true, .. })) => {
            "the result goes to a register; `st` writes variables".into()
        }
        (What::VariableNotAllowed, ..) => "take the address with `mov` first".into(),
        (What::AddressNeeded, ..) => "write it in brackets: `[a]`".into(),
        (What::RegisterType, Operand::Reg(ty), Some(wanted)) if let Some(text) = conversion(*ty, wanted) => {
            text
        }
        _ => format!("its form: `{}`", signature.form.usage()),
    };
    let remedy = match (fault.what, operand, value) {
        (What::VectorNotAllowed, Operand::Special { reg, .. }, _) => Some(Remedy::Text(format!("{reg}.x"))),
        (What::ImmediateKind, Operand::Int(_) | Operand::Float(..), Some(wanted)) => {
            Some(Remedy::Constant(wanted.ty))
        }
        (What::AddressNeeded, Operand::Reg(_) | Operand::Var(_), _) => Some(Remedy::Brackets),
        _ => None,
    };
    Violation {
        code,
        place: Place::Operand(index, fault.element),
        message,
        expected: Some(describe(place, fault.element)),
        found: Some(operand.describe()),
        help: Some(help),
        fix: remedy.map(|remedy| Fix { remedy, certain: false }),
        section,
    }
}

/// The value that a faulty operand, or the element of it, should be.
pub(super) fn fault_value(place: &SigOperand, element: Option<usize>) -> Option<&SigValue> {
    match (&place.kind, element) {
        (SigKind::Value(value), _) => Some(value),
        (SigKind::Pair { second, .. }, Some(1)) => Some(second),
        (SigKind::Pair { first, .. }, _) => Some(first),
        (SigKind::Bracket(inner) | SigKind::Tuple(inner), Some(index)) => {
            fault_value(written(inner, index)?, None)
        }
        _ => None,
    }
}

/// The place of an element that is written, by its number among those: what comes only with a modifier that is not there has none.
pub(super) fn written(places: &[SigOperand], index: usize) -> Option<&SigOperand> {
    places.iter().filter(|place| !matches!(place.presence, crate::SigPresence::OnlyWith(_))).nth(index)
}

/// How a register of one type becomes a value of another.
pub(super) fn conversion(from: ScalarType, wanted: &SigValue) -> Option<String> {
    let to = wanted.ty;
    let number = |ty: ScalarType| ty.is_integer() || ty.is_float();
    // Conversions name signed or unsigned integers.
    let as_number = |ty: ScalarType, like: ScalarType| match ty.class() {
        TypeClass::Bits if like.is_float() => None,
        TypeClass::Bits => crate::suggest::integer(ty.bits(), like.is_signed()),
        TypeClass::Pred
        | TypeClass::Unsigned
        | TypeClass::Signed
        | TypeClass::Float
        | TypeClass::Packed
        | TypeClass::Opaque => Some(ty),
    };
    if from == ScalarType::Pred || to == ScalarType::Pred {
        let setp = (to == ScalarType::Pred && from.is_integer()).then_some(from)?;
        return Some(format!("`setp.ne.{setp} p, a, 0` makes a predicate of an integer"));
    }
    let (source, result) = (as_number(from, to)?, as_number(to, from)?);
    if !number(source) || !number(result) || source == result {
        return None;
    }
    let (source, result) = if wanted.destination { (result, source) } else { (source, result) };
    let rounding = match (source.is_float(), result.is_float()) {
        (false, true) => ".rn",
        (true, false) => ".rzi",
        (true, true) if result.bits() < source.bits() => ".rn",
        _ => "",
    };
    let bits = (source.bits() == result.bits()).then(|| format!("; `mov.b{}` keeps the bits", source.bits()));
    Some(format!("`cvt{rounding}.{result}.{source}` converts the value{}", bits.unwrap_or_default()))
}

fn of_operand_gate(
    place: &SigOperand,
    gates: &[crate::Clause],
    index: usize,
    section: &'static str,
    cx: &Context,
) -> Violation {
    let gate = crate::Gate { clauses: gates.to_vec() };
    let message = format!("operand `{}` is not in PTX {} for {}", place.name, cx.version, cx.target);
    gated(codes::OPERAND_GATE, Place::Operand(index, None), message, gate.to_string(), &gate, section, cx)
}

fn of_special(reg: SpecialReg, index: usize, cx: &Context) -> Violation {
    let message = format!("`{reg}` is not in PTX {} for {}", cx.version, cx.target);
    let (gate, place) = (reg.gate(), Place::Operand(index, None));
    gated(codes::SPECIAL_GATE, place, message, gate.to_string(), &gate, reg.section(), cx)
}
