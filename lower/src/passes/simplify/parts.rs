//! Parts of what was put together: two floats that travelled as an integer of 64 bits, as the ABI passes complex numbers, are found again.

use crate::rules::known::{KnownBits, mask};
use warpsmith_ir::{DataFlowGraph, InstData, Opcode, Type, Value};

/// How many operations are looked through.
const MAX_DEPTH: u32 = 8;

/// The value, of so many bits, that is put into another from bit `at` on. Element 0 of a vector is the lowest.
pub(super) fn part(
    dfg: &DataFlowGraph,
    known: &mut KnownBits,
    value: Value,
    at: u32,
    bits: u32,
) -> Option<Value> {
    let (mut value, mut at) = (dfg.resolve(value), at);
    for _ in 0..MAX_DEPTH {
        let whole = dfg.ty(value).bits();
        if at == 0 && whole == bits {
            return Some(value);
        }
        if at.checked_add(bits)? > whole {
            return None;
        }
        let data = dfg.def_data(value)?;
        (value, at) = match *data {
            InstData::Vec { args } => {
                let element = dfg.ty(value).element_type().bits();
                let lane = at.checked_div(element)?;
                (*args.as_slice(&dfg.pool).get(lane as usize)?, at % element)
            }
            InstData::Extract { lane, arg } => (arg, at + u32::from(lane) * whole),
            InstData::Unary { op: Opcode::Bitcast, arg } => (arg, at),
            // What is done to each element is not done to the whole.
            _ if dfg.ty(value).is_vector() => return None,
            InstData::Unary { op: Opcode::Trunc | Opcode::Zext, arg } => (arg, at),
            InstData::Binary { op: Opcode::Shl, args: [x, by] } => (x, at.checked_sub(amount(dfg, by)?)?),
            InstData::Binary { op: Opcode::Lshr, args: [x, by] } => (x, at.checked_add(amount(dfg, by)?)?),
            InstData::Binary { op: Opcode::Bor, args: [x, y] } => {
                let wanted = (bits <= 64).then(|| mask(bits))?.checked_shl(at)?;
                let mut is_zero =
                    |value| known.of(dfg, value).is_some_and(|known| wanted & !known.zeros == 0);
                if is_zero(y) {
                    (x, at)
                } else if is_zero(x) {
                    (y, at)
                } else {
                    return None;
                }
            }
            _ => return None,
        };
        value = dfg.resolve(value);
    }
    None
}

/// The two values of 16 bits that the lowest word of another is put together of.
pub(super) fn halves(dfg: &DataFlowGraph, known: &mut KnownBits, value: Value) -> Option<[Value; 2]> {
    let low = part(dfg, known, value, 0, 16)?;
    let high = part(dfg, known, value, 16, 16)?;
    [low, high].iter().all(|&half| dfg.ty(half) == Type::I16).then_some([low, high])
}

/// The value that the elements of a vector are all parts of, in their order from the lowest on.
pub(super) fn whole(dfg: &DataFlowGraph, elements: &[Value], ty: Type) -> Option<Value> {
    let bits = ty.element_type().bits();
    let mut found = None;
    for (at, &element) in (0..).step_by(bits as usize).zip(elements) {
        let whole = part_of(dfg, element, at, ty.bits())?;
        if *found.get_or_insert(whole) != whole {
            return None;
        }
    }
    found
}

/// The value of so many bits of which another is the part from bit `wanted` on.
fn part_of(dfg: &DataFlowGraph, value: Value, wanted: u32, bits: u32) -> Option<Value> {
    let (mut value, mut at) = (dfg.resolve(value), 0);
    let size = dfg.ty(value).bits();
    for _ in 0..MAX_DEPTH {
        let ty = dfg.ty(value);
        if at == wanted && ty.bits() == bits {
            return Some(value);
        }
        (value, at) = match *dfg.def_data(value)? {
            InstData::Extract { lane, arg } => (arg, at + u32::from(lane) * ty.bits()),
            InstData::Unary { op: Opcode::Bitcast, arg } => (arg, at),
            _ if ty.is_vector() => return None,
            InstData::Unary { op: Opcode::Trunc, arg } => (arg, at),
            InstData::Binary { op: Opcode::Lshr, args: [x, by] } => {
                let moved = at + amount(dfg, by)?;
                // Those from the top on are zeros.
                (x, (moved.checked_add(size)? <= ty.bits()).then_some(moved)?)
            }
            _ => return None,
        };
        value = dfg.resolve(value);
    }
    None
}

/// How far is shifted: less than any type has bits.
fn amount(dfg: &DataFlowGraph, by: Value) -> Option<u32> {
    u32::try_from(dfg.int_const(by)?).ok().filter(|&by| by < 64)
}
