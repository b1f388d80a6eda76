//! What outcomes leave, compared byte by byte.

use super::Outcome;
use crate::{Fault, FaultCode};
use warpsmith_smith::reference;

/// How what the reference leaves differs; nothing if there is nothing to compare it with.
pub(super) fn differs_from_reference(expected: &Outcome, found: &reference::Outcome) -> Option<String> {
    let expected = expected.as_ref().ok()?;
    let names = ["the engine", "the reference"];
    let variable =
        |(name, a): &(String, Vec<u8>)| first_difference(names, name, a, found.variables.get(name)?);
    difference_of_buffers(names, &expected.buffers, &found.buffers)
        .or_else(|| expected.globals.iter().find_map(variable))
}

/// The first byte that differs in buffers that both have.
pub(super) fn difference_of_buffers(
    names: [&str; 2],
    a: &[Option<Vec<u8>>],
    b: &[Option<Vec<u8>>],
) -> Option<String> {
    let mut both = a.iter().zip(b).enumerate();
    both.find_map(|(n, (a, b))| first_difference(names, &format!("buffer {n}"), a.as_ref()?, b.as_ref()?))
}

/// The first byte that differs in variables, which both have in the same order.
pub(super) fn difference_of_named(
    names: [&str; 2],
    a: &[(String, Vec<u8>)],
    b: &[(String, Vec<u8>)],
) -> Option<String> {
    a.iter().zip(b).find_map(|((name, a), (_, b))| first_difference(names, name, a, b))
}

fn first_difference([one, other]: [&str; 2], subject: &str, a: &[u8], b: &[u8]) -> Option<String> {
    let both = a.len().min(b.len());
    // Mostly there is none, which a comparison of the whole finds at once.
    if a[..both] == b[..both] {
        return None;
    }
    let at = a.iter().zip(b).position(|(a, b)| a != b)?;
    Some(format!("{subject}, byte {at}: {one} gives {:#04x}, {other} {:#04x}", a[at], b[at]))
}

/// How two outcomes of one launch differ, by the names of who gave them.
pub fn difference(names: [&str; 2], a: &Outcome, b: &Outcome) -> Option<String> {
    let [one, other] = names;
    match (a, b) {
        (Ok(a), Ok(b)) => {
            let named = |a, b| difference_of_named(names, a, b);
            difference_of_buffers(names, &a.buffers, &b.buffers)
                .or_else(|| named(&a.globals, &b.globals))
                .or_else(|| named(&a.memory, &b.memory))
                .or_else(|| named(&a.bindings, &b.bindings))
        }
        (Err(a), Err(b)) if a.code == b.code => None,
        // What is stopped at a limit says nothing about what it computes.
        (Err(Fault { code: FaultCode::StepLimit, .. }), _)
        | (_, Err(Fault { code: FaultCode::StepLimit, .. })) => None,
        (Err(a), Err(b)) => Some(format!("{one} faults with {a}, {other} with {b}")),
        (Ok(_), Err(fault)) => Some(format!("{other} faults, {one} does not: {fault}")),
        (Err(fault), Ok(_)) => Some(format!("{one} faults, {other} does not: {fault}")),
    }
}
