//! What is wrong with an instruction, in words.

use crate::check::{Context, Fault, What};
use crate::form::{Accepts, Range};
use crate::resolve::{SigKind, SigOperand, SigSpace, SigValue, Signature};
use crate::{
    Base, Demand, Instruction, Mnemonic, Mod, Operand, ScalarType, SpecialReg, Target, TypeClass, Version,
    codes,
};
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
    /// How to put it right, in words.
    pub help: Option<String>,
    /// How to put it right, as a change of the text.
    pub fix: Option<Fix>,
    /// The manual's section: `9.7.1.1`.
    pub section: &'static str,
}

/// A change that would put an instruction right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// The change.
    pub remedy: Remedy,
    /// True where hardly anything else can have been meant.
    pub certain: bool,
}

/// What to change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// The mnemonic, to this.
    Mnemonic(String),
    /// What is at the violation's place, to this.
    Text(String),
    /// What is at the place, by putting it in brackets.
    Brackets,
    /// The constant at the place, to one of this type.
    Constant(ScalarType),
    /// What the module is for.
    Context {
        /// The lowest version that would do, if it is higher than the module's.
        version: Option<Version>,
        /// The lowest target, if the module's will not do in any version.
        target: Option<Target>,
    },
}

/// What a [`Violation`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The instruction as a whole.
    Instruction,
    /// A word of the mnemonic: 0 is what comes before its first dot.
    Word(usize),
    /// An operand, by its index among those written, and where it has parts (braces, a bracket, a pair) the part's index.
    Operand(usize, Option<usize>),
}

/// `a`, `a or b`, `a, b or c`; long lists are cut.
pub(crate) fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<_> = items.collect();
    match items.as_slice() {
        [] => "nothing".into(),
        [one] => one.clone(),
        many if many.len() > 16 => format!("{}, ... ({} choices)", many[..12].join(", "), many.len()),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// The form exists, but not in this version or for this target.
pub(crate) fn of_gates(
    matched: &Instruction,
    mnemonic: &Mnemonic,
    operands: &[Operand],
    cx: &Context,
) -> Vec<Violation> {
    let blocking = |clause: &crate::Clause| cx.insists(clause) && !clause.allows(cx.version, cx.target);
    let blocking = matched.clauses().filter(|(_, clause)| blocking(clause));
    let gate = matched.gate();
    let successor = || successor(mnemonic, cx);
    let words = mnemonic.opcode().text().split('.').count();
    let violation = |(modifier, clause): (Option<Mod>, &crate::Clause)| {
        let index = modifier.and_then(|m| mnemonic.mods().iter().position(|&other| other == m));
        let message = match modifier {
            Some(m) => format!("`{m}` of `{mnemonic}` is not in PTX {} for {}", cx.version, cx.target),
            None => format!("`{mnemonic}` is not in PTX {} for {}", cx.version, cx.target),
        };
        let place = index.map_or(Place::Instruction, |index| Place::Word(words + index));
        let mut found =
            gated(codes::GATE, place, message, clause.to_string(), &gate, matched.form().section(), cx);
        if found.fix.is_none()
            && let Some((meant, operand_count)) = successor()
        {
            found.fix = Some(Fix { remedy: Remedy::Mnemonic(meant.clone()), certain: false });
            if operand_count > operands.len() {
                found.help = Some(format!("`{meant}` takes {operand_count} operands"));
            }
        }
        found
    };
    blocking.map(violation).collect()
}

/// What the manual forbids in the modifiers and ptxas lets pass.
pub(crate) fn of_doubts(matched: &Instruction, mnemonic: &Mnemonic, cx: &Context) -> Vec<Violation> {
    let words = mnemonic.opcode().text().split('.').count();
    let mods = mnemonic.mods();
    let doubt = |code, place, message: String| Violation {
        code,
        place,
        message,
        expected: None,
        found: None,
        help: None,
        fix: None,
        section: matched.form().section(),
    };
    let mut doubts = Vec::new();
    for (index, modifier) in mods.iter().enumerate() {
        let times = |m: &[Mod]| m.iter().filter(|other| *other == modifier).count();
        if times(&mods[..index]) >= matched.filled.iter().filter(|f| **f == Some(*modifier)).count() {
            let message = match modifier.overlooked() && !matched.filled.contains(&Some(*modifier)) {
                true => format!("`{modifier}` means nothing on `{}`", mnemonic.opcode()),
                false => format!("`{modifier}` is written twice"),
            };
            doubts.push(doubt(codes::MODIFIER_TWICE, Place::Word(words + index), message));
        }
    }
    for slot in matched.unfilled() {
        let name = list(matched.form().slots[slot].alternatives.iter().map(|a| format!("`{}`", a.modifier)));
        let message = format!("`{mnemonic}` lacks {name}");
        doubts.push(doubt(codes::MODIFIER_MISSING, Place::Instruction, message));
    }
    let advice = matched.clauses().filter(|(_, c)| {
        (c.advisory || c.demand(cx.version, cx.release) == Demand::Some) && !c.allows(cx.version, cx.target)
    });
    for (modifier, clause) in advice {
        let index = modifier.and_then(|m| mods.iter().position(|&other| other == m));
        let place = index.map_or(Place::Instruction, |index| Place::Word(words + index));
        let message = match clause.when {
            _ if clause.releases.is_some() => doubted(clause, mnemonic),
            [] if clause.any.is_empty() => format!("the manual does not have `{mnemonic}`"),
            [] => format!("`{mnemonic}` is not in PTX {} for {}", cx.version, cx.target),
            when => {
                let names: Vec<_> = when.iter().map(|m| format!("`{m}`")).collect();
                format!("{} do not go together in `{mnemonic}`", names.join(" and "))
            }
        };
        let expected = (!clause.any.is_empty()).then(|| clause.to_string());
        doubts.push(Violation { expected, ..doubt(codes::MODIFIER, place, message) });
    }
    doubts
}

/// The form that took the place of one that is gone: the same modifiers and one more. Also says how many operands it takes.
fn successor(mnemonic: &Mnemonic, cx: &Context) -> Option<(String, usize)> {
    mnemonic.opcode().forms().iter().find_map(|form| {
        let (mut filled, mismatch) = crate::resolve::fill_all(form, mnemonic.mods());
        let [slot] = mismatch.missing.as_slice() else { return None };
        let [one] = form.slots[*slot].alternatives else { return None };
        filled[*slot] = Some(one.modifier);
        let modifiers: Vec<Mod> = filled.iter().flatten().copied().collect();
        let meant = Mnemonic::new(form.opcode).with_all(&modifiers).filter(|_| mismatch.extra.is_empty())?;
        let allowed = crate::forms(&meant).any(|m| m.gate().allows(cx.version, cx.target));
        let required = form.operands.iter().filter(|o| o.presence == crate::Presence::Always).count();
        allowed.then(|| (meant.to_string(), required))
    })
}

/// Something is not in this version or for this target.
fn gated(
    code: &'static str,
    place: Place,
    message: String,
    expected: String,
    gate: &crate::Gate,
    section: &'static str,
    cx: &Context,
) -> Violation {
    let (help, remedy) = lowest(gate, cx);
    Violation {
        code,
        place,
        message,
        expected: Some(expected),
        found: None,
        help,
        fix: remedy.map(|remedy| Fix { remedy, certain: false }),
        section,
    }
}

/// The smallest change of `.version` or `.target` that would do, in words and as a change of the text.
pub fn lowest(gate: &crate::Gate, cx: &Context) -> (Option<String>, Option<Remedy>) {
    if let Some(version) = gate.lowest_version(cx.target) {
        return match version > cx.version {
            true => (
                Some(format!("`.version {version}` has it for {}", cx.target)),
                Some(Remedy::Context { version: Some(version), target: None }),
            ),
            false => (Some(format!("newer versions dropped it for {}", cx.target)), None),
        };
    }
    // Rather a later target than an earlier one: what is lower may lack what else the module uses.
    let later = |target: &Target| target.sm >= cx.target.sm;
    let all = || crate::TARGETS.iter().map(|row| row.target).filter(|t| gate.lowest_version(*t).is_some());
    let Some(target) = all().find(later).or_else(|| all().next_back()) else { return (None, None) };
    let version = gate.lowest_version(target).unwrap_or(Version::LATEST);
    let help = match later(&target) {
        true => format!("the lowest target that has it is {target}, from `.version {version}`"),
        false => format!("the last target that had it is {target}"),
    };
    let newer = (version > cx.version).then_some(version);
    (Some(help), Some(Remedy::Context { version: newer, target: Some(target) }).filter(|_| later(&target)))
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
        What::HandleGate => return of_operand_gate(place, crate::tables::HANDLE, index, section, cx),
        What::SamplerGate => return of_operand_gate(place, crate::tables::SAMPLER, index, section, cx),
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
fn fault_value(place: &SigOperand, element: Option<usize>) -> Option<&SigValue> {
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
fn written(places: &[SigOperand], index: usize) -> Option<&SigOperand> {
    places.iter().filter(|place| !matches!(place.presence, crate::SigPresence::OnlyWith(_))).nth(index)
}

/// How a register of one type becomes a value of another.
fn conversion(from: ScalarType, wanted: &SigValue) -> Option<String> {
    let to = wanted.ty;
    let number = |ty: ScalarType| ty.is_integer() || ty.is_float();
    // Conversions name signed or unsigned integers.
    let as_number = |ty: ScalarType, like: ScalarType| match ty.class() {
        TypeClass::Bits if like.is_float() => None,
        TypeClass::Bits => crate::suggest::integer(ty.bits(), like.is_signed()),
        _ => Some(ty),
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

/// The mnemonic with another type or state space that the operands fit, if there is one.
pub(crate) fn retyped(mnemonic: &Mnemonic, operands: &[Operand], cx: &Context) -> Option<Fix> {
    let wanted: Vec<Mod> = operands.iter().flat_map(types_of).collect();
    let fits = |mnemonic: &Mnemonic| crate::Resolved::new(mnemonic, *cx).legal(operands).is_some();
    let mods = mnemonic.mods();
    for &other in &wanted {
        // All modifiers of the same sort at once (`cvt` aside, they say the same), then each alone.
        for only in std::iter::once(None).chain((0..mods.len()).map(Some)) {
            let replaced = |(index, m): (usize, &Mod)| match m.ordered_with(other) {
                true if only.is_none_or(|only| only == index) => other,
                _ => *m,
            };
            let changed: Vec<Mod> = mods.iter().enumerate().map(replaced).collect();
            if changed != mods
                && let Some(meant) = Mnemonic::new(mnemonic.opcode()).with_all(&changed)
                && fits(&meant)
            {
                return Some(Fix { remedy: Remedy::Mnemonic(meant.to_string()), certain: false });
            }
        }
    }
    None
}

/// The mnemonic with another number (`.v2`, `.x4`) that a vector's length fits, if there is one.
pub(crate) fn renumbered(mnemonic: &Mnemonic, operands: &[Operand], cx: &Context) -> Option<Fix> {
    let mods = mnemonic.mods();
    (0..mods.len()).filter(|&i| mods[i].number() != 0 && mods[i].shape().is_none()).find_map(|index| {
        let prefix = mods[index].text().trim_end_matches(|c: char| c.is_ascii_digit());
        let mut alike: Vec<Mod> = Mod::all()
            .filter(|m| m.number() != 0 && m.text().trim_end_matches(|c: char| c.is_ascii_digit()) == prefix)
            .collect();
        // ptxas lets a few numbers pass that the manual does not have; what is near is in the manual.
        alike.sort_by_key(|m| m.number().abs_diff(mods[index].number()));
        alike.into_iter().find_map(|other| {
            let mut changed = mods.to_vec();
            changed[index] = other;
            let meant = Mnemonic::new(mnemonic.opcode()).with_all(&changed)?;
            crate::Resolved::new(&meant, *cx).legal(operands)?;
            Some(Fix { remedy: Remedy::Mnemonic(meant.to_string()), certain: false })
        })
    })
}

/// The modifiers that an operand suggests: its type, and signed and unsigned where it has none; the space of its variable.
fn types_of(operand: &Operand) -> Vec<Mod> {
    match operand {
        Operand::Reg(ty) | Operand::VectorReg(ty, _) => {
            let integers = [false, true].map(|signed| crate::suggest::integer(ty.bits(), signed));
            let untyped = ty.class() == TypeClass::Bits;
            let more = integers.into_iter().flatten().filter(|_| untyped);
            std::iter::once(*ty).chain(more).map(Mod::of_scalar).collect()
        }
        Operand::Vector(elements) => elements.first().map(types_of).unwrap_or_default(),
        Operand::Address(Base::Var(v)) | Operand::Var(v) => {
            Mod::from_text(&v.space.to_string()).into_iter().collect()
        }
        _ => Vec::new(),
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
        SigKind::Bracket(inner) => match element.and_then(|index| written(inner, index)) {
            Some(place) => describe(place, None),
            None => format!("`[{}]`", inner.iter().map(|o| o.name).collect::<Vec<_>>().join(", ")),
        },
        SigKind::Tuple(inner) => match element.and_then(|index| written(inner, index)) {
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

/// What only some releases of ptxas take, and the others do not.
fn doubted(clause: &crate::Clause, mnemonic: &Mnemonic) -> String {
    let releases = clause.releases.map(|releases| releases.to_string()).unwrap_or_default();
    match clause.when {
        [] => format!("{releases} refuse this form of `{mnemonic}`"),
        when => {
            let names: Vec<_> = when.iter().map(|m| format!("`{m}`")).collect();
            format!("{releases} refuse {} in `{mnemonic}`", names.join(" with "))
        }
    }
}
