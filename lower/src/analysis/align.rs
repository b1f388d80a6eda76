//! The alignment of addresses: what variables and stack slots have, less what is added to them.

use crate::rules::known::{DEPTH, KnownBits, mask};
use cranelift_entity::PrimaryMap;
use warpsmith_ir::{DataFlowGraph, Global, GlobalId, InstData, Opcode, Value};

/// Sums that are looked through.
const MAX_SUMS: u32 = 16;

/// More than any access asks for.
const MAX_ALIGN: u32 = 128;

/// The alignment in bytes that an address is seen to have: a power of two, 1 if nothing is known of it.
pub(crate) fn alignment_of(
    dfg: &DataFlowGraph,
    globals: &PrimaryMap<GlobalId, Global>,
    known: &mut KnownBits,
    address: Value,
) -> u32 {
    let of_global = |global: GlobalId| globals.get(global).map_or(1, of_variable);
    alignment_to_depth(dfg, known, address, DEPTH, of_global)
}

/// The alignment that an address is seen to have from within its function, which knows nothing of variables. Numbers are looked into to a depth.
pub(crate) fn alignment_in_function(
    dfg: &DataFlowGraph,
    known: &mut KnownBits,
    address: Value,
    depth: u32,
) -> u32 {
    alignment_to_depth(dfg, known, address, depth, |_| 1)
}

fn alignment_to_depth(
    dfg: &DataFlowGraph,
    known: &mut KnownBits,
    address: Value,
    depth: u32,
    of_global: impl Fn(GlobalId) -> u32,
) -> u32 {
    let mut at = dfg.resolve(address);
    let mut align = MAX_ALIGN;
    for _ in 0..MAX_SUMS {
        let (base, by) = match dfg.def_data(at) {
            Some(&InstData::Binary { op: Opcode::Ptradd, args: [base, by] }) => {
                (base, factor(dfg, known, by, depth))
            }
            Some(&InstData::Index { scale, args: [base, index] }) => {
                (base, lowest_bit(i64::from(scale)).saturating_mul(factor(dfg, known, index, depth)))
            }
            Some(&InstData::Unary { op: Opcode::Addrspacecast, arg }) => (arg, MAX_ALIGN),
            Some(&InstData::GlobalAddr { global, offset }) => {
                return align.min(of_global(global)).min(lowest_bit(offset.into()));
            }
            Some(&InstData::StackAddr { slot, offset }) => {
                return align.min(known.slot_alignment(slot)).min(lowest_bit(offset.into()));
            }
            Some(_) => return 1,
            None => return align.min(known.parameter_alignment(at)),
        };
        align = align.min(by);
        if align == 1 {
            break;
        }
        at = dfg.resolve(base);
    }
    1
}

/// The alignment of what lies so many bytes behind something aligned.
pub(crate) const fn align_at(align: u32, offset: i32) -> u32 {
    let lowest = if offset == 0 { align } else { 1 << offset.trailing_zeros() };
    if lowest < align { lowest } else { align }
}

/// The alignment of a variable: as written, else that of its elements where these are numbers.
fn of_variable(global: &Global) -> u32 {
    global.align.unwrap_or_else(|| global.ty.bytes().map_or(1, u32::next_power_of_two))
}

/// The greatest power of two, up to [`MAX_ALIGN`], that divides a number for certain.
fn factor(dfg: &DataFlowGraph, known: &mut KnownBits, number: Value, depth: u32) -> u32 {
    match dfg.int_const(dfg.resolve(number)) {
        Some(constant) => lowest_bit(constant),
        None => {
            let zeros = known.find_to_depth(dfg, number, depth).zeros;
            // Bits above the width of a number are its sign's.
            lowest_bit((!zeros & mask(dfg.ty(number).bits().min(u64::BITS))) as i64)
        }
    }
}

/// The lowest bit of a number, or [`MAX_ALIGN`] if that is less.
const fn lowest_bit(number: i64) -> u32 {
    let zeros = number.trailing_zeros();
    let most = MAX_ALIGN.trailing_zeros();
    1 << if zeros < most { zeros } else { most }
}
