//! What is done with the addresses of stack slots.

use crate::analysis::{Cfg, Ranges};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, StackSlot, Type, Value};

/// A load or store of a slot.
#[derive(Clone, Copy)]
pub(super) struct SlotAccess {
    pub(super) slot: StackSlot,
    pub(super) offset: i64,
    /// How much further up it may be, at an index: anywhere, if it is [`ANYWHERE`].
    pub(super) reach: i64,
    pub(super) ty: Type,
    pub(super) inst: Inst,
    pub(super) block: Block,
}

/// The reach of an address at an index that is in no known bounds.
const ANYWHERE: i64 = i64::MAX;

pub(super) struct SlotUses {
    pub(super) accesses: Vec<SlotAccess>,
    /// Slots whose address is used in another way.
    pub(super) captured: SecondaryMap<StackSlot, bool>,
    /// Slots that are accessed at an index that is in no known bounds.
    pub(super) unbounded: SecondaryMap<StackSlot, bool>,
}

/// By what it is known where an index is.
#[derive(Clone, Copy)]
pub(super) enum Indices<'a> {
    /// Nothing: an index may be any number.
    Any,
    /// By the operation that computes it.
    OfOperations,
    /// By its range too.
    Within(&'a Ranges),
}

/// An address in a slot: the lowest offset that it may have, and how much further up it may be.
type SlotAddress = (StackSlot, i64, i64);

impl SlotUses {
    pub(super) fn collect(func: &Function, cfg: &Cfg, indices: Indices<'_>) -> Self {
        let dfg = &func.dfg;
        let mut uses =
            SlotUses { accesses: Vec::new(), captured: SecondaryMap::new(), unbounded: SecondaryMap::new() };
        let mut address: SecondaryMap<Value, Option<SlotAddress>> = SecondaryMap::new();
        address.resize(dfg.num_values());
        for &block in cfg.reverse_postorder() {
            for inst in func.layout.insts(block) {
                let result = dfg.first_result(inst);
                let mut derived = |base: Value, by: Value, scale: i64| {
                    let (slot, offset, reach) = address[base]?;
                    let sum = bounds(func, indices, block, by).and_then(|(low, high)| {
                        let (low, high) = (low.checked_mul(scale)?, high.checked_mul(scale)?);
                        Some((slot, offset.checked_add(low)?, reach.checked_add(high.checked_sub(low)?)?))
                    });
                    uses.unbounded[slot] |= sum.is_none();
                    address[result?] = Some(sum.unwrap_or((slot, 0, ANYWHERE)));
                    Some(())
                };
                match dfg[inst] {
                    InstData::StackAddr { slot, offset } => {
                        if let Some(result) = result {
                            address[result] = Some((slot, offset.into(), 0));
                        }
                    }
                    InstData::Binary { op: Opcode::Ptradd, args: [base, by] } => {
                        derived(base, by, 1);
                    }
                    InstData::Index { scale, args: [base, by] } => {
                        derived(base, by, scale.into());
                    }
                    InstData::Unary { op: Opcode::Addrspacecast, arg } => {
                        if let (Some(known), Some(result)) = (address[arg], result) {
                            address[result] = Some(known);
                        }
                    }
                    InstData::Load { flags, offset, ptr } => {
                        if let (Some((slot, base, reach)), Some(result)) = (address[ptr], result) {
                            uses.captured[slot] |= flags.volatile || dfg.ty(result).is_aggregate();
                            let offset = base.saturating_add(offset.into());
                            let ty = dfg.ty(result);
                            uses.accesses.push(SlotAccess { slot, offset, reach, ty, inst, block });
                        }
                    }
                    InstData::Store { flags, offset, args: [value, ptr] } => {
                        if let Some((slot, base, reach)) = address[ptr] {
                            uses.captured[slot] |= flags.volatile || dfg.ty(value).is_aggregate();
                            let offset = base.saturating_add(offset.into());
                            let ty = dfg.ty(value);
                            uses.accesses.push(SlotAccess { slot, offset, reach, ty, inst, block });
                        }
                        if let Some((slot, ..)) = address[value] {
                            uses.captured[slot] = true;
                        }
                    }
                    _ => dfg.for_each_use(inst, |value| {
                        if let Some((slot, ..)) = address[value] {
                            uses.captured[slot] = true;
                        }
                    }),
                }
            }
        }
        uses
    }

    /// Whether ranges of indices may show that a slot is accessed in known places only, some of them at no index.
    pub(super) fn depends_on_ranges(&self) -> bool {
        let is_open = |slot: StackSlot| self.unbounded[slot] && !self.captured[slot];
        self.accesses.iter().any(|access| access.reach == 0 && is_open(access.slot))
    }

    /// The accesses of slots that are accessed in known places only.
    pub(super) fn kept(&self) -> Vec<SlotAccess> {
        let escapes = |slot: StackSlot| self.captured[slot] || self.unbounded[slot];
        self.accesses.iter().filter(|access| !escapes(access.slot)).copied().collect()
    }
}

/// The least and the greatest number that an index may be where a block begins; `None` if it may be any.
fn bounds(func: &Function, indices: Indices<'_>, block: Block, index: Value) -> Option<(i64, i64)> {
    if let Some(constant) = func.dfg.int_const(index) {
        return Some((constant, constant));
    }
    match indices {
        Indices::Any => None,
        Indices::OfOperations => bounds_of_operation(func, index),
        Indices::Within(ranges) if ranges.is_complete() => {
            let range = ranges.at(func, index, block)?;
            Some((i64::try_from(range.low).ok()?, i64::try_from(range.high).ok()?))
        }
        Indices::Within(_) => bounds_of_operation(func, index),
    }
}

/// What the operation says that an index is the result of. Most arrays of which every element is reached (`ring[i & 15]`) are known for such without
/// more.
fn bounds_of_operation(func: &Function, index: Value) -> Option<(i64, i64)> {
    let dfg = &func.dfg;
    let bits = dfg.ty(index).bits();
    match *dfg.def_data(index)? {
        InstData::Binary { op: Opcode::Band, args: [_, mask] } => {
            dfg.int_const(mask).filter(|mask| *mask >= 0).map(|mask| (0, mask))
        }
        InstData::Binary { op: Opcode::Urem, args: [_, by] } => {
            dfg.int_const(by).filter(|by| *by > 0).map(|by| (0, by - 1))
        }
        InstData::Binary { op: Opcode::Lshr, args: [_, by] } => {
            let by = dfg.int_const(by).and_then(|by| u32::try_from(by).ok())?;
            (1..bits.min(64)).contains(&by).then(|| (0, i64::MAX >> (63 - (bits.min(64) - by))))
        }
        InstData::Binary { op: Opcode::Imul, args: [x, by] } => {
            let by = dfg.int_const(by).filter(|by| *by > 0)?;
            let (low, high) = bounds_of_operation(func, x)?;
            let high = high.checked_mul(by).filter(|high| high >> (bits.min(64) - 1) == 0)?;
            (low >= 0).then_some((low * by, high))
        }
        InstData::Unary { op: Opcode::Zext, arg } => bounds_of_operation(func, arg)
            .filter(|(low, _)| *low >= 0)
            .or_else(|| (1..63).contains(&dfg.ty(arg).bits()).then(|| (0, (1 << dfg.ty(arg).bits()) - 1))),
        InstData::Unary { op: Opcode::Sext, arg } => bounds_of_operation(func, arg),
        _ => None,
    }
}
