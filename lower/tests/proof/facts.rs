//! What is derived from conditions is true: the known bits of every operation from those of its operands, and the bits of operands that are
//! demanded, at 4 bits and on all values.

use warpsmith_ir::{Opcode, OperandRule, Type, meaning};
use warpsmith_lower::rules::demanded;
use warpsmith_lower::rules::known::{Known, mask, transfer};

const BITS: u32 = 4;

/// Everything that can be known of a number of so many bits.
fn all_known(bits: u32) -> Vec<Known> {
    let all = mask(bits);
    let pairs = (0..=all).flat_map(|zeros| (0..=all).map(move |ones| Known { zeros, ones }));
    pairs.filter(|known| known.zeros & known.ones == 0).collect()
}

fn agrees(known: Known, value: u64) -> bool {
    value & known.zeros == 0 && value & known.ones == known.ones
}

/// What an operation gives at a width, its operands of another for conversions.
fn computed(op: Opcode, bits: u32, from: u32, a: u64, b: u64) -> Option<u64> {
    let signed = |value: u64| ((value << (64 - from)) as i64 >> (64 - from)) as u64;
    match op {
        Opcode::Trunc | Opcode::Zext => return Some(a & mask(bits)),
        Opcode::Sext => return Some(signed(a) & mask(bits)),
        _ => {}
    }
    let operands = [u128::from(a), u128::from(b)];
    meaning::integer(op, bits, &operands[..op.info().operands.len().min(2)]).map(|value| value as u64)
}

fn is_amount(op: Opcode) -> bool {
    op.info().operands.get(1) == Some(&OperandRule::Amount)
}

#[test]
fn known_bits_are_known() {
    let conversions =
        [(Opcode::Trunc, 6, 4), (Opcode::Zext, 4, 6), (Opcode::Sext, 4, 6), (Opcode::Sext, 1, 4)];
    for (op, from, to) in conversions {
        for known in all_known(from) {
            let result = transfer(op, to, from, &[known]);
            for a in (0..=mask(from)).filter(|a| agrees(known, *a)) {
                let value = computed(op, to, from, a, 0).expect("a conversion");
                assert!(agrees(result, value), "{op} {known:?} of {a}: {result:?}, found {value:#x}");
            }
        }
    }
    let known = all_known(BITS);
    for &op in Opcode::ALL {
        let operands = op.info().operands.len();
        if op.info().types.contains(Type::I32) && operands <= 2 && computed(op, BITS, BITS, 0, 0).is_some() {
            if is_amount(op) {
                for n in 0..=BITS + 1 {
                    check(op, &known, &[Known::constant(32, n.into())]);
                }
                check(op, &known, &[Known::NOTHING, Known::at_most(32, 3)]);
            } else if operands == 1 {
                check(op, &known, &[Known::constant(BITS, 0)]);
            } else {
                check(op, &known, &known);
            }
        }
    }
}

fn check(op: Opcode, left: &[Known], right: &[Known]) {
    for &a in left {
        for &b in right {
            let result = transfer(op, BITS, BITS, &[a, b]);
            if result == Known::NOTHING {
                continue;
            }
            assert_eq!(
                (result.zeros & result.ones, (result.zeros | result.ones) & !mask(BITS)),
                (0, 0),
                "{op} {a:?} {b:?}"
            );
            let limit = if is_amount(op) { 40 } else { mask(BITS) };
            for y in (0..=limit).filter(|y| agrees(b, *y)) {
                for x in (0..=mask(BITS)).filter(|x| agrees(a, *x)) {
                    let value = computed(op, BITS, BITS, x, y).expect("an integer operation");
                    assert!(
                        agrees(result, value),
                        "{op} {a:?} {b:?} at {x}, {y}: {result:?}, found {value:#x}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_select_of_known_bits_is_what_both_have() {
    for yes in all_known(3) {
        for no in all_known(3) {
            let result = transfer(Opcode::Select, 3, 3, &[Known::NOTHING, yes, no]);
            assert_eq!(result, Known { zeros: yes.zeros & no.zeros, ones: yes.ones & no.ones });
        }
    }
}

#[test]
fn bits_that_are_not_demanded_decide_nothing() {
    let conversions = [(Opcode::Trunc, 6, 4), (Opcode::Zext, 4, 6), (Opcode::Sext, 4, 6)];
    for (op, from, to) in conversions {
        for demand in 0..=mask(to) {
            let needed = demanded::operand(op, to, from, 0, demand, None);
            for a in 0..=mask(from) {
                for other in (0..=mask(from)).filter(|other| (a ^ other) & needed == 0) {
                    let differ = computed(op, to, from, a, 0).zip(computed(op, to, from, other, 0));
                    assert!(
                        differ.is_some_and(|(x, y)| (x ^ y) & demand == 0),
                        "{op} {demand:#x} {a} {other}"
                    );
                }
            }
        }
    }
    let changed = |op: Opcode, demand: u64, n: usize, fixed: u64, known: Option<u64>| {
        let needed =
            demanded::operand(op, BITS, if n == 1 && is_amount(op) { 32 } else { BITS }, n, demand, known);
        let run = |value: u64| match n {
            0 => computed(op, BITS, BITS, value, fixed),
            _ => computed(op, BITS, BITS, fixed, value),
        };
        let limit = if n == 1 && is_amount(op) { 20 } else { mask(BITS) };
        for a in 0..=limit {
            for other in (0..=limit).filter(|other| (a ^ other) & needed == 0) {
                let (x, y) = run(a).zip(run(other)).expect("an integer operation");
                assert_eq!(
                    (x ^ y) & demand,
                    0,
                    "{op} operand {n} with {fixed}, demanded {demand:#x}: {a}, {other}"
                );
            }
        }
    };
    for &op in Opcode::ALL {
        let operands = op.info().operands.len();
        if !op.info().types.contains(Type::I32) || operands > 2 || computed(op, BITS, BITS, 0, 0).is_none() {
            continue;
        }
        for demand in 0..=mask(BITS) {
            for fixed in 0..=mask(BITS) {
                for known in [None, Some(fixed)] {
                    changed(op, demand, 0, fixed, known);
                    if operands == 2 {
                        changed(op, demand, 1, fixed, known);
                    }
                }
            }
        }
    }
}
