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
    /// Whether a slot has an address at an index.
    pub(super) indexed: bool,
}

/// An address in a slot: the lowest offset that it may have, and how much further up it may be.
type SlotAddress = (StackSlot, i64, i64);

impl SlotUses {
    pub(super) fn collect(func: &Function, cfg: &Cfg, ranges: Option<&Ranges>) -> Self {
        let dfg = &func.dfg;
        let mut uses = SlotUses {
            accesses: Vec::new(),
            captured: SecondaryMap::new(),
            unbounded: SecondaryMap::new(),
            indexed: false,
        };
        let mut address: SecondaryMap<Value, Option<SlotAddress>> = SecondaryMap::new();
        address.resize(dfg.num_values());
        for &block in cfg.reverse_postorder() {
            for inst in func.layout.insts(block) {
                let result = dfg.first_result(inst);
                let mut derived = |base: Value, by: Value, scale: i64| {
                    let (slot, offset, reach) = address[base]?;
                    uses.indexed |= dfg.int_const(by).is_none();
                    let sum = bounds(func, ranges, block, by).and_then(|(low, high)| {
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

    /// The accesses of slots that are accessed in known places only.
    pub(super) fn kept(&self) -> Vec<SlotAccess> {
        let escapes = |slot: StackSlot| self.captured[slot] || self.unbounded[slot];
        self.accesses.iter().filter(|access| !escapes(access.slot)).copied().collect()
    }
}

/// The least and the greatest number that an index may be where a block begins; `None` if it may be any.
fn bounds(func: &Function, ranges: Option<&Ranges>, block: Block, index: Value) -> Option<(i64, i64)> {
    if let Some(constant) = func.dfg.int_const(index) {
        return Some((constant, constant));
    }
    let range = ranges.filter(|ranges| ranges.is_complete())?.at(func, index, block)?;
    Some((i64::try_from(range.low).ok()?, i64::try_from(range.high).ok()?))
}
