//! What was expected, in words.

use super::fault::written;
use crate::form::{Accepts, Range};
use crate::resolve::{SigKind, SigOperand, SigSpace, SigValue, Signature};
use crate::{Operand, TypeClass};
use std::fmt::Write;

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

pub(super) fn expected_count(signature: &Signature) -> String {
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
pub(super) fn part<'o, 'a>(operand: &'o Operand<'a>, element: Option<usize>) -> &'o Operand<'a> {
    let inner = match (operand, element) {
        (Operand::Vector(all) | Operand::Bracket(all), Some(index)) => all.get(index),
        (Operand::Pair(both), Some(index)) => both.get(index),
        _ => None,
    };
    inner.unwrap_or(operand)
}

pub(super) fn describe(place: &SigOperand, element: Option<usize>) -> String {
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

pub(super) fn describe_space(space: &SigSpace) -> String {
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

pub(super) fn describe_value(v: &SigValue, element: bool) -> String {
    let mut parts = Vec::new();
    if v.accepts.contains(Accepts::REGISTER) {
        let types = list(v.registers.iter().map(|ty| format!("`.{ty}`")));
        parts.push(format!("a register of type {types}"));
    }
    if v.accepts.contains(Accepts::IMMEDIATE) {
        let constant = match v.ty.class() {
            TypeClass::Float => "a float constant",
            TypeClass::Packed => "",
            TypeClass::Pred
            | TypeClass::Bits
            | TypeClass::Unsigned
            | TypeClass::Signed
            | TypeClass::Opaque => "an integer constant",
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
