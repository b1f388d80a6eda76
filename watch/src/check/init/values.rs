//! What of a result is undefined if some of the arguments are.
//!
//! A result byte is defined if it is the same whatever the undefined bytes are. That is found by computing the operation again, with
//! the undefined bytes replaced: by zeros, by ones, by the bytes of the other arguments and their neighbours, which is where comparisons change
//! their answer, and by noise. So moves, packing, masks and shifts are followed byte by byte, `and` with a false predicate
//! is false, and a selection depends on what is selected, with one rule for all. Arithmetic on wholly undefined numbers is not
//! computed again: its result is undefined.

use super::flow::Slot;
use super::shadow::Warp;
use crate::lanes::lanes_of;
use smallvec::SmallVec;
use warpsmith_interp::engine::Reg;
use warpsmith_interp::observe::{At, Operation, Registers, Scratch};
use warpsmith_isa::Traits;

/// The masks of a register.
pub(super) type ByteMasks = [u32; 16];

/// The undefined bytes of an operation's results, for its lanes.
pub(super) fn results(
    scratch: &mut Scratch,
    at: &At<'_>,
    registers: &Registers<'_>,
    operation: &Operation<'_>,
    warp: &Warp,
    base: usize,
) -> SmallVec<[ByteMasks; 2]> {
    let mut undefined: SmallVec<[ByteMasks; 4]> = SmallVec::new();
    let (mut any, mut partly) = (0, 0);
    for r in &operation.reads {
        let mut own = [0; 16];
        let slot = Slot::new(*r);
        let masks = warp.masks(base, slot);
        own.iter_mut().zip(masks).for_each(|(o, m)| *o = m & at.mask);
        let some = own.iter().fold(0, |a, m| a | m);
        let all = masks.iter().fold(at.mask, |a, m| a & m);
        (any, partly) = (any | some, partly | some & !all);
        undefined.push(own);
    }
    let whole = |lanes: u32| -> SmallVec<[ByteMasks; 2]> {
        operation
            .writes
            .iter()
            .map(|r| std::array::from_fn(|b| if b < bytes_of(*r) { lanes } else { 0 }))
            .collect()
    };
    if partly == 0 && at.instruction().is_some_and(|i| i.traits().contains(Traits::MIXES)) {
        return whole(any);
    }
    let original: SmallVec<[[u128; 32]; 4]> =
        operation.reads.iter().map(|r| std::array::from_fn(|lane| registers.get(*r, lane))).collect();
    let mut first: Option<SmallVec<[[u128; 32]; 2]>> = None;
    let mut masks: SmallVec<[ByteMasks; 2]> = whole(0);
    for trial in 0..TRIALS {
        let mut arguments = original.clone();
        for (i, own) in undefined.iter().enumerate() {
            let bytes = bytes_of(operation.reads[i]);
            for lane in lanes_of(own.iter().fold(0, |a, m| a | m)) {
                let holes = (0..bytes)
                    .filter(|b| own[*b] >> lane & 1 != 0)
                    .fold(0u128, |holes, b| holes | 0xff << (8 * b));
                let other = original[(i + 1) % original.len()][lane];
                let filler = filler(trial, i, lane as u32, other, bytes as u32 * 8);
                let value = &mut arguments[i][lane];
                *value = *value & !holes | filler & holes;
            }
        }
        let Some(results) = scratch.compute(at.program, at.pc, &arguments) else { return whole(any) };
        let Some(first) = &first else {
            first = Some(results);
            continue;
        };
        for ((masks, result), (first, r)) in
            masks.iter_mut().zip(&results).zip(first.iter().zip(&operation.writes))
        {
            for lane in lanes_of(any) {
                let differs = result[lane] ^ first[lane];
                for (b, mask) in masks.iter_mut().enumerate().take(bytes_of(*r)) {
                    *mask |= u32::from(differs >> (8 * b) & 0xff != 0) << lane;
                }
            }
        }
    }
    masks
}

/// Bytes of a register, one for a predicate.
fn bytes_of(r: Reg) -> usize {
    (r.width().bits() as usize).div_ceil(8)
}

const TRIALS: u32 = 10;

/// What undefined bytes are replaced by in a trial.
fn filler(trial: u32, argument: usize, lane: u32, other: u128, bits: u32) -> u128 {
    match trial {
        0 => 0,
        1 => u128::MAX,
        2 => other,
        3 => other.wrapping_add(1),
        4 => other.wrapping_sub(1),
        5 => 1 << (bits.max(1) - 1),
        // Arguments that are not alike.
        6 if argument.is_multiple_of(2) => 0,
        7 if !argument.is_multiple_of(2) => 0,
        6 | 7 => u128::MAX,
        _ => {
            let seed = u128::from(trial * 4 + argument as u32) << 32 | u128::from(lane + 1);
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).rotate_right(61)
        }
    }
}
