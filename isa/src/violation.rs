//! What is wrong with an instruction, in words.

use crate::check::{Context, Fault, What};
use crate::form::{Accepts, Range};
use crate::mnemonic::nearest;
use crate::resolve::{Match, Mismatch, SigKind, SigOperand, SigSpace, SigValue, Signature, fill};
use crate::{Form, Mnemonic, Mod, Operand, SpecialReg, TypeClass};
use std::fmt::Write;

/// One thing that is wrong with an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Stable: `I0104`.
    pub code: &'static str,
    /// What it is about.
    pub place: Place,
    /// What is wrong, in a sentence without capital and full stop.
    pub message: String,
    /// What would be right there.
    pub expected: Option<String>,
    /// What is there.
    pub found: Option<String>,
    /// How to put it right.
    pub help: Option<String>,
    /// The manual's section, as `PTX ISA 9.0, 9.7.1.1`.
    pub section: &'static str,
}

/// What a [`Violation`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The instruction as a whole.
    Instruction,
    /// A modifier, by its index in [`Mnemonic::mods`].
    Modifier(usize),
    /// An operand, by its index among those written, and where it has parts (braces, a bracket, a pair) the part's index.
    Operand(usize, Option<usize>),
}

/// The modifiers fit no form: reports what keeps them from the nearest one.
pub(crate) fn of_modifiers(mnemonic: &Mnemonic, operands: usize) -> Vec<Violation> {
    let forms = mnemonic.opcode().forms().iter();
    let misfits = forms.filter_map(|form| fill(form, mnemonic.mods()).err().map(|mismatch| (form, mismatch)));
    let distance = |form: &Form, m: &Mismatch| {
        // A misspelt choice counts once: what was written has no place, what should have been is missing.
        let faults = m.extra.len().max(m.missing.len());
        (faults, m.extra.len() + m.missing.len(), form.operands.len().abs_diff(operands))
    };
    let Some((form, mismatch)) = misfits.min_by_key(|(form, m)| distance(form, m)) else { return Vec::new() };
    let mut missing: Vec<usize> = mismatch.missing.to_vec();
    let mut found = Vec::new();
    for &index in &mismatch.extra {
        found.push(extra_modifier(mnemonic, form, index, &mut missing));
    }
    found.extend(missing.into_iter().map(|slot| missing_modifier(mnemonic, form, slot)));
    found
}

fn extra_modifier(
    mnemonic: &Mnemonic,
    form: &'static Form,
    index: usize,
    missing: &mut Vec<usize>,
) -> Violation {
    let modifier = mnemonic.mods()[index];
    let violation = |code, message: String| Violation {
        code,
        place: Place::Modifier(index),
        message,
        expected: None,
        found: Some(format!("`{modifier}`")),
        help: Some(format!("a form that is near: `{}`", form.syntax)),
        section: form.section(),
    };
    let has_place = form.slots.iter().any(|slot| slot.find(modifier).is_some());
    if has_place && mnemonic.mods()[..index].contains(&modifier) {
        return violation("I0102", format!("`{modifier}` is written twice"));
    }
    if has_place && mnemonic.mods().iter().any(|&other| other != modifier && other.ordered_with(modifier)) {
        return violation("I0103", format!("`{modifier}` is out of order or one too many in `{mnemonic}`"));
    }
    // A missing slot whose modifiers are of the same sort is what was meant.
    let same_sort = |slot: &usize| {
        form.slots[*slot].alternatives.iter().any(|a| {
            a.modifier.ordered_with(modifier)
                || nearest(modifier.text(), [a.modifier].into_iter(), Mod::text).is_some()
        })
    };
    match missing.iter().position(same_sort) {
        Some(position) => {
            let slot = missing.remove(position);
            let expected = alternatives(form, slot);
            let message = format!("`{modifier}` does not go with `{}` here", mnemonic.opcode());
            Violation { expected: Some(expected), ..violation("I0101", message) }
        }
        None => violation(
            "I0101",
            format!("`{modifier}` is not a modifier of this form of `{}`", mnemonic.opcode()),
        ),
    }
}

fn missing_modifier(mnemonic: &Mnemonic, form: &'static Form, slot: usize) -> Violation {
    Violation {
        code: "I0104",
        place: Place::Instruction,
        message: format!("`{mnemonic}` lacks a modifier"),
        expected: Some(alternatives(form, slot)),
        found: None,
        help: Some(format!("a form that is near: `{}`", form.syntax)),
        section: form.section(),
    }
}

fn alternatives(form: &Form, slot: usize) -> String {
    list(form.slots[slot].alternatives.iter().map(|a| format!("`{}`", a.modifier)))
}

/// `a`, `a or b`, `a, b or c`; long lists are cut.
fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<_> = items.collect();
    match items.as_slice() {
        [] => "nothing".into(),
        [one] => one.clone(),
        many if many.len() > 16 => format!("{}, ... ({} choices)", many[..12].join(", "), many.len()),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// The form exists, but not in this version or for this target.
pub(crate) fn of_gates(matched: &Match, mnemonic: &Mnemonic, cx: &Context) -> Vec<Violation> {
    let blocking = matched.clauses().filter(|(_, clause)| !clause.allows(cx.version, cx.target));
    let violation = |(modifier, clause): (Option<Mod>, &crate::Clause)| Violation {
        code: "I0110",
        place: modifier
            .and_then(|m| mnemonic.mods().iter().position(|&other| other == m))
            .map_or(Place::Instruction, Place::Modifier),
        message: match modifier {
            Some(m) => format!("`{m}` of `{mnemonic}` is not in PTX {} for {}", cx.version, cx.target),
            None => format!("`{mnemonic}` is not in PTX {} for {}", cx.version, cx.target),
        },
        expected: Some(clause.to_string()),
        found: Some(format!(".version {}, .target {}", cx.version, cx.target)),
        help: lowest(&matched.gate(), cx),
        section: matched.form.section(),
    };
    blocking.map(violation).collect()
}

/// The smallest change of `.version` or `.target` that would do.
fn lowest(gate: &crate::Gate, cx: &Context) -> Option<String> {
    if let Some(version) = gate.lowest_version(cx.target) {
        let newer = version > cx.version;
        return Some(if newer {
            format!("`.version {version}` has it for {}", cx.target)
        } else {
            format!("newer versions dropped it for {}", cx.target)
        });
    }
    let target = gate.lowest_target(crate::Version::LATEST)?;
    let version = gate.lowest_version(target)?;
    Some(format!("the lowest target that has it is {target}, from `.version {version}`"))
}

/// An operand does not fit its place.
pub(crate) fn of_fault(
    mnemonic: &Mnemonic,
    signature: &Signature,
    operands: &[Operand],
    fault: Fault,
    cx: &Context,
) -> Violation {
    let section = signature.form.section();
    let syntax = signature.form.syntax;
    let (Some(index), Some(place)) = (fault.operand, signature.operands.get(fault.spec)) else {
        return Violation {
            code: "I0201",
            place: Place::Instruction,
            message: format!("`{mnemonic}` has the wrong number of operands"),
            expected: Some(expected_count(signature)),
            found: Some(operands.len().to_string()),
            help: Some(format!("its form: `{syntax}`")),
            section,
        };
    };
    let operand = part(&operands[index], fault.element);
    let name = place.name;
    let (code, message) = match fault.what {
        What::Count => ("I0202", format!("operand `{name}` has the wrong number of parts")),
        What::Kind => ("I0203", format!("operand `{name}` is of the wrong kind")),
        What::RegisterType => ("I0204", format!("a register of this type cannot be operand `{name}`")),
        What::ImmediateNotAllowed => ("I0205", format!("operand `{name}` must be a register")),
        What::ImmediateRequired => ("I0206", format!("operand `{name}` must be a constant")),
        What::ImmediateKind => ("I0207", format!("a constant of this kind cannot be operand `{name}`")),
        What::ImmediateRange => ("I0208", format!("the constant is out of range for operand `{name}`")),
        What::VectorNeeded => ("I0209", format!("operand `{name}` must be a vector")),
        What::VectorLength => ("I0210", format!("the vector has the wrong length for operand `{name}`")),
        What::VectorNotAllowed => ("I0211", format!("operand `{name}` cannot be a vector")),
        What::MixedTypes => {
            ("I0226", format!("the elements of vector `{name}` differ in size or mix integers with floats"))
        }
        What::SinkNotAllowed => ("I0212", format!("operand `{name}` cannot be the sink `_`")),
        What::AllSinks => ("I0213", format!("operand `{name}` must keep at least one result")),
        What::SpecialNotAllowed => ("I0214", format!("operand `{name}` cannot be a special register")),
        What::SpecialGate(reg) => return of_special(reg, index, cx),
        What::Gate => return of_operand_gate(place, place.gates, index, section, cx),
        What::HandleGate => return of_operand_gate(place, crate::tables::HANDLE, index, section, cx),
        What::VariableNotAllowed => {
            ("I0216", format!("operand `{name}` cannot be the name of a variable or function"))
        }
        What::NegationNotAllowed => ("I0217", format!("operand `{name}` cannot be negated")),
        What::NegationNeeded => ("I0228", format!("operand `{name}` must be negated here")),
        What::ComplementNotAllowed => ("I0218", format!("operand `{name}` cannot be complemented")),
        What::SelectNotAllowed => ("I0219", format!("operand `{name}` has no such part")),
        What::AllConstants => ("I0227", format!("vector `{name}` must have a register among its elements")),
        What::PairNeeded => ("I0220", format!("operand `{name}` must be a pair `a|b`")),
        What::PairNotAllowed => ("I0221", format!("operand `{name}` cannot be a pair `a|b`")),
        What::AddressNeeded => ("I0222", format!("operand `{name}` must be an address in brackets")),
        What::AddressRegister => ("I0223", format!("a register of this type cannot hold address `{name}`")),
        What::AddressSpace => {
            ("I0224", format!("the variable is not in the state space of address `{name}`"))
        }
        What::ImmediateAddress => ("I0225", "only a `.local` address can be a constant".into()),
    };
    let help = match fault.what {
        What::SpecialNotAllowed => "copy it to a register with `mov` first".into(),
        What::VariableNotAllowed => "take the address with `mov` first".into(),
        What::AddressNeeded => "write it in brackets: `[a]`".into(),
        _ => format!("its form: `{syntax}`"),
    };
    Violation {
        code,
        place: Place::Operand(index, fault.element),
        message,
        expected: Some(describe(place, fault.element)),
        found: Some(operand.describe()),
        help: Some(help),
        section,
    }
}

fn of_operand_gate(
    place: &SigOperand,
    gates: &[crate::Clause],
    index: usize,
    section: &'static str,
    cx: &Context,
) -> Violation {
    let gate = crate::Gate { clauses: gates.to_vec() };
    Violation {
        code: "I0227",
        place: Place::Operand(index, None),
        message: format!("operand `{}` is not in PTX {} for {}", place.name, cx.version, cx.target),
        expected: Some(gate.to_string()),
        found: Some(format!(".version {}, .target {}", cx.version, cx.target)),
        help: lowest(&gate, cx),
        section,
    }
}

fn of_special(reg: SpecialReg, index: usize, cx: &Context) -> Violation {
    Violation {
        code: "I0215",
        place: Place::Operand(index, None),
        message: format!("`{reg}` is not in PTX {} for {}", cx.version, cx.target),
        expected: Some(reg.gate().to_string()),
        found: Some(format!(".version {}, .target {}", cx.version, cx.target)),
        help: lowest(&reg.gate(), cx),
        section: reg.section(),
    }
}

fn expected_count(signature: &Signature) -> String {
    use crate::resolve::SigPresence::*;
    let count = |wanted| signature.operands.iter().filter(|o| o.presence == wanted).count();
    let (least, more) = (count(Required), count(Optional));
    let mut text = if more == 0 { format!("{least}") } else { format!("{least} to {}", least + more) };
    for operand in &signature.operands {
        if let OnlyWith(modifier) = operand.presence {
            write!(text, "; `{}` only with `.{modifier}`", operand.name).expect("writing to a string");
        }
    }
    text
}

/// The element of braces, bracket or pair that a fault is about.
fn part<'o, 'a>(operand: &'o Operand<'a>, element: Option<usize>) -> &'o Operand<'a> {
    let inner = match (operand, element) {
        (Operand::Vector(all) | Operand::Bracket(all), Some(index)) => all.get(index),
        (Operand::Pair(both), Some(index)) => both.get(index),
        _ => None,
    };
    inner.unwrap_or(operand)
}

fn describe(place: &SigOperand, element: Option<usize>) -> String {
    match &place.kind {
        SigKind::Value(v) => describe_value(v, element.is_some()),
        SigKind::Pair { first, second, second_optional } => match element {
            Some(1) => describe_value(second, false),
            Some(_) => describe_value(first, false),
            None if *second_optional => format!("{}, or a pair", describe_value(first, false)),
            None => "a pair `a|b`".into(),
        },
        SigKind::Address(space) => describe_space(space),
        SigKind::Bracket(inner) => match element.and_then(|index| inner.get(index)) {
            Some(place) => describe(place, None),
            None => format!("`[{}]`", inner.iter().map(|o| o.name).collect::<Vec<_>>().join(", ")),
        },
        SigKind::Tuple(inner) => match element.and_then(|index| inner.get(index)) {
            Some(place) => describe(place, None),
            None => format!("`{{{}}}`", inner.iter().map(|o| o.name).collect::<Vec<_>>().join(", ")),
        },
        SigKind::Label => "a label".into(),
        SigKind::Callee => "a function or a register that holds one".into(),
        SigKind::Arguments | SigKind::Results => "a parenthesised list".into(),
        SigKind::List => "the name of a list of targets".into(),
    }
}

fn describe_space(space: &SigSpace) -> String {
    match space.named {
        _ if space.tensor => {
            "an address of tensor memory: a 32-bit register, with or without a constant added".into()
        }
        _ if space.handle != crate::TypeSet::EMPTY => {
            format!(
                "{} or a 64-bit register",
                list(space.handle.iter().map(|ty| format!("a `.{ty}` variable")))
            )
        }
        Some(named) => format!("a `{named}` address"),
        None => "a generic address: a register, or a `.global`, `.shared` or `.local` variable".into(),
    }
}

fn describe_value(v: &SigValue, element: bool) -> String {
    let mut parts = Vec::new();
    if v.accepts.contains(Accepts::REGISTER) {
        let types = list(v.registers.iter().map(|ty| format!("`.{ty}`")));
        parts.push(format!("a register of type {types}"));
    }
    if v.accepts.contains(Accepts::IMMEDIATE) {
        let constant = match v.ty.class() {
            TypeClass::Float => "a float constant",
            TypeClass::Packed => "",
            _ => "an integer constant",
        };
        let range: Option<Range> = v.range;
        match range {
            _ if constant.is_empty() => {}
            Some(range) => parts.push(format!("{constant} ({range})")),
            None => parts.push(constant.into()),
        }
    }
    if v.accepts.contains(Accepts::SPECIAL) {
        parts.push("a special register".into());
    }
    if v.accepts.contains(Accepts::VARIABLE) {
        parts.push("a variable".into());
    }
    let one = list(parts.into_iter());
    match v.count {
        Some(n) if !element => format!("{n} in braces, each {one}"),
        _ => one,
    }
}
