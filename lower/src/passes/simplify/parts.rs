//! Parts of what was put together: two floats that travelled as an integer of 64 bits, as the ABI passes complex numbers, are found again.

use warpsmith_ir::{DataFlowGraph, InstData, Opcode, Value};

/// How many operations are looked through.
const MAX_DEPTH: u32 = 8;

/// The value, of so many bits, that is put into another from bit `at` on. Element 0 of a vector is the lowest.
pub(super) fn part(dfg: &DataFlowGraph, value: Value, at: u32, bits: u32, depth: u32) -> Option<Value> {
    let value = dfg.resolve(value);
    let whole = dfg.ty(value).bits();
    if at == 0 && whole == bits {
        return Some(value);
    }
    if depth == MAX_DEPTH || at + bits > whole {
        return None;
    }
    let of = |value: Value, at: u32| part(dfg, value, at, bits, depth + 1);
    let data = dfg.def_data(value)?;
    // What is done to each element is not done to the whole.
    let by_element = dfg.ty(value).is_vector() && !matches!(data, InstData::Vec { .. });
    if by_element && !matches!(data, InstData::Unary { op: Opcode::Bitcast, .. }) {
        return None;
    }
    match *data {
        InstData::Vec { args } => {
            let element = dfg.ty(value).element_type().bits();
            let lane = at.checked_div(element)?;
            of(*args.as_slice(&dfg.pool).get(lane as usize)?, at % element)
        }
        InstData::Unary { op: Opcode::Bitcast | Opcode::Trunc | Opcode::Zext, arg } => of(arg, at),
        InstData::Binary { op: Opcode::Shl, args: [x, by] } => of(x, at.checked_sub(constant(dfg, by)?)?),
        InstData::Binary { op: Opcode::Lshr, args: [x, by] } => of(x, at.checked_add(constant(dfg, by)?)?),
        InstData::Binary { op: Opcode::Bor, args: [x, y] } => {
            let zero = |value| is_zero(dfg, value, at, bits, depth + 1);
            if zero(y) {
                of(x, at)
            } else if zero(x) {
                of(y, at)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Whether bits of an integer are those of an extension or a shift.
fn is_zero(dfg: &DataFlowGraph, value: Value, at: u32, bits: u32, depth: u32) -> bool {
    if depth == MAX_DEPTH {
        return false;
    }
    match dfg.def_data(dfg.resolve(value)) {
        Some(&InstData::Unary { op: Opcode::Zext, arg }) => {
            at >= dfg.ty(arg).bits() || is_zero(dfg, arg, at, bits, depth + 1)
        }
        Some(&InstData::Binary { op: Opcode::Shl, args: [x, by] }) => constant(dfg, by).is_some_and(|by| {
            at + bits <= by || at.checked_sub(by).is_some_and(|at| is_zero(dfg, x, at, bits, depth + 1))
        }),
        Some(&InstData::Binary { op: Opcode::Bor, args }) => {
            args.into_iter().all(|arg| is_zero(dfg, arg, at, bits, depth + 1))
        }
        _ => false,
    }
}

/// How far is shifted: less than any type has bits.
fn constant(dfg: &DataFlowGraph, by: Value) -> Option<u32> {
    u32::try_from(dfg.int_const(by)?).ok().filter(|&by| by < 64)
}
