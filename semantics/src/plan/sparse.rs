//! `spcompress` and `spdecompress` (manual of PTX ISA 9.4, 9.7.10.30 and 9.7.10.31): a step for each group of elements, and steps that put
//! what groups give into registers.

use super::{Plan, Slot, Step, Written};
use crate::lanes::{scalar, vector};
use crate::register::Width;
use crate::value::sparse::{self, Spread};
use smallvec::SmallVec;
use warpsmith_isa::{Instruction, Mod, SparsePattern};

/// What an instruction says of the elements.
struct Layout {
    /// The repetitions, `.x8`.
    repeats: u32,
    element_bits: u32,
    index_bits: u32,
}

fn layout(i: &Instruction) -> Option<Layout> {
    // The repetitions are the last modifier.
    let repeats = i.mods().last()?.number();
    Some(Layout { repeats, element_bits: i.ty()?.bits(), index_bits: if i.has(Mod::B2) { 2 } else { 4 } })
}

fn constant(value: u32) -> Slot {
    Slot::Constant(value.into(), Width::W32)
}

/// A slot of a number that grows with the instruction: at most 253 registers are written and read.
fn numbered(slot: fn(u8) -> Slot, number: u32) -> Option<Slot> {
    u8::try_from(number).ok().map(slot)
}

/// Puts a group's bits into a destination, behind those of the groups before.
fn put(steps: &mut SmallVec<[Step; 1]>, dst: Slot, bits: Slot, at: u32) {
    let or = vector(|before: u32, bits: u32, at: u32| before | bits << (at & 31));
    let before = if at == 0 { constant(0) } else { dst };
    steps.push(Step::new(or, &[dst], &[before, bits, constant(at)]));
}

pub(crate) fn compress(i: &Instruction, _: &Written) -> Option<Plan> {
    let Layout { repeats, element_bits, index_bits } = layout(i)?;
    let wide = element_bits == 16;
    let groups = if wide { repeats } else { 2 * repeats };
    let indices = (repeats * index_bits).div_ceil(element_bits);
    let descriptor = numbered(Slot::Src, 2 * repeats)?;
    let (kept, index) = (Slot::Temp(0, Width::W32), Slot::Temp(1, Width::W32));
    let mut steps: SmallVec<[Step; 1]> = SmallVec::new();
    for group in 0..groups {
        if wide {
            let (low, high) = (numbered(Slot::Src, 2 * group)?, numbered(Slot::Src, 2 * group + 1)?);
            let function = scalar(sparse::compress_16);
            steps.push(Step::new(function, &[kept, index], &[low, high, descriptor, constant(index_bits)]));
            put(&mut steps, numbered(Slot::Dst, indices + group)?, kept, 0);
        } else {
            let function = scalar(sparse::compress_8);
            let source = numbered(Slot::Src, group)?;
            steps.push(Step::new(function, &[kept, index], &[source, descriptor, constant(index_bits)]));
            put(&mut steps, numbered(Slot::Dst, indices + group / 2)?, kept, group % 2 * 16);
        }
        let at = group * 2 * index_bits;
        put(&mut steps, numbered(Slot::Dst, at / 32)?, index, at % 32);
    }
    Some(Plan::of(steps))
}

/// How many elements of how many.
fn pattern(pattern: SparsePattern) -> (u32, u32) {
    match pattern {
        SparsePattern::N1Of2 => (1, 2),
        SparsePattern::N1Of4 => (1, 4),
        SparsePattern::N1Of8 => (1, 8),
        SparsePattern::N1Of16 => (1, 16),
        SparsePattern::N2Of4 => (2, 4),
        SparsePattern::N2Of8 => (2, 8),
        SparsePattern::N2Of16 => (2, 16),
        SparsePattern::N4Of8 => (4, 8),
        SparsePattern::N4Of16 => (4, 16),
    }
}

pub(crate) fn decompress(i: &Instruction, _: &Written) -> Option<Plan> {
    let Layout { repeats, element_bits, index_bits } = layout(i)?;
    let (kept, length) = pattern(i.sparse_pattern()?);
    let index_registers = (kept * index_bits * repeats).div_ceil(32);
    let function =
        scalar(|elements: u32, indices: u32, code: u32| Spread::from_code(code).apply(elements, indices));
    let bits = Slot::Temp(0, Width::W32);
    let mut steps: SmallVec<[Step; 1]> = SmallVec::new();
    for group in 0..repeats {
        let (element, index) = (group * kept * element_bits, group * kept * index_bits);
        let elements = numbered(Slot::Src, index_registers + element / 32)?;
        let indices = numbered(Slot::Src, index / 32)?;
        // A group fills registers, or half of one.
        let begin = group * length * element_bits;
        for word in 0..(length * element_bits).div_ceil(32) {
            let spread = Spread {
                kept,
                length,
                element_bits,
                index_bits,
                elements_at: element % 32,
                indices_at: index % 32,
                first: word * 32 / element_bits,
                at: 0,
            };
            steps.push(Step::new(function, &[bits], &[elements, indices, constant(spread.code())]));
            put(&mut steps, numbered(Slot::Dst, begin / 32 + word)?, bits, begin % 32);
        }
    }
    Some(Plan::of(steps))
}
