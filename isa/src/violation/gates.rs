//! What a version, a target or a release does not have, and what only ptxas takes.

use super::words::list;
use super::{Fix, Place, Remedy, Violation};
use crate::check::Context;
use crate::{Demand, Instruction, Mnemonic, Mod, Operand, Target, Version, codes};

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
pub(crate) fn of_leniency(matched: &Instruction, mnemonic: &Mnemonic, cx: &Context) -> Vec<Violation> {
    let words = mnemonic.opcode().text().split('.').count();
    let mods = mnemonic.mods();
    let lenient = |code, place, message: String| Violation {
        code,
        place,
        message,
        expected: None,
        found: None,
        help: None,
        fix: None,
        section: matched.form().section(),
    };
    let mut violations = Vec::new();
    for (index, modifier) in mods.iter().enumerate() {
        let times = |m: &[Mod]| m.iter().filter(|other| *other == modifier).count();
        if times(&mods[..index]) >= matched.filled.iter().filter(|f| **f == Some(*modifier)).count() {
            let message = match modifier.overlooked() && !matched.filled.contains(&Some(*modifier)) {
                true => format!("`{modifier}` means nothing on `{}`", mnemonic.opcode()),
                false => format!("`{modifier}` is written twice"),
            };
            violations.push(lenient(codes::MODIFIER_TWICE, Place::Word(words + index), message));
        }
    }
    for slot in matched.unfilled() {
        let name = list(matched.form().slots[slot].alternatives.iter().map(|a| format!("`{}`", a.modifier)));
        let message = format!("`{mnemonic}` lacks {name}");
        violations.push(lenient(codes::MODIFIER_MISSING, Place::Instruction, message));
    }
    let advice = matched.clauses().filter(|(_, c)| {
        (c.advisory || c.demand(cx.version, cx.release) == Demand::Some) && !c.allows(cx.version, cx.target)
    });
    for (modifier, clause) in advice {
        let index = modifier.and_then(|m| mods.iter().position(|&other| other == m));
        let place = index.map_or(Place::Instruction, |index| Place::Word(words + index));
        let message = match clause.when.all() {
            _ if clause.releases.is_some() => lenient_gate(clause, mnemonic),
            [] if clause.any.is_empty() => format!("the manual does not have `{mnemonic}`"),
            [] => format!("`{mnemonic}` is not in PTX {} for {}", cx.version, cx.target),
            when => {
                let names: Vec<_> = when.iter().map(|m| format!("`{m}`")).collect();
                format!("{} do not go together in `{mnemonic}`", names.join(" and "))
            }
        };
        let expected = (!clause.any.is_empty()).then(|| clause.to_string());
        violations.push(Violation { expected, ..lenient(codes::MODIFIER, place, message) });
    }
    violations
}

/// The form that took the place of one that is gone: the same modifiers and one more. Also says how many operands it takes.
pub(super) fn successor(mnemonic: &Mnemonic, cx: &Context) -> Option<(String, usize)> {
    mnemonic.opcode().forms().iter().find_map(|form| {
        let (mut filled, mismatch) = crate::resolve::fill_all(form, mnemonic.mods());
        let [slot] = mismatch.missing.as_slice() else { return None };
        let [one] = form.slots[*slot].alternatives.all() else { return None };
        filled[*slot] = Some(one.modifier);
        let modifiers: Vec<Mod> = filled.iter().flatten().copied().collect();
        let meant = Mnemonic::new(form.opcode).with_all(&modifiers).filter(|_| mismatch.extra.is_empty())?;
        let allowed = crate::forms(&meant).any(|m| m.gate().allows(cx.version, cx.target));
        let required = form.operands.iter().filter(|o| o.presence == crate::Presence::Always).count();
        allowed.then(|| (meant.to_string(), required))
    })
}

/// Something is not in this version or for this target.
pub(super) fn gated(
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

/// What only some releases of ptxas take, and the others do not.
fn lenient_gate(clause: &crate::Clause, mnemonic: &Mnemonic) -> String {
    let releases = clause.releases.map(|releases| releases.to_string()).unwrap_or_default();
    match clause.when.all() {
        [] => format!("{releases} refuse this form of `{mnemonic}`"),
        when => {
            let names: Vec<_> = when.iter().map(|m| format!("`{m}`")).collect();
            format!("{releases} refuse {} in `{mnemonic}`", names.join(" with "))
        }
    }
}
