//! Parts of a stack slot that a loop accesses at constant offsets are variables in the loop, though elsewhere the slot is accessed at an index:
//! `for (i) x[i] = in[i]; for (n) round(x[0], x[5]); for (i) out[i] = x[i];`.
//!
//! Each part gets a slot of its own, which is filled in front of the loop and, if the loop stores to it, copied back behind; `mem2reg` makes a value of it.
//! No address of the slot may be stored, passed or merged, so that nothing else touches its bytes.

use super::castable;
use super::slots::{Indices, SlotAccess, SlotUses};
use super::{insert_before, part_edge};
use crate::analysis::{Cfg, Loop, Loops};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::debug::Storage;
use warpsmith_ir::{Block, Function, Inst, InstData, MemFlags, StackSlot, StackSlotData, Type};

/// Variables that a loop gets, which all want registers.
const MAX_PARTS: usize = 32;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    if func.stack_slots.is_empty() {
        return Changes::NONE;
    }
    let loops = cx.analyses.get::<Loops>(func);
    if loops.iter().next().is_none() {
        return Changes::NONE;
    }
    let uses = SlotUses::collect(func, &cx.analyses.get::<Cfg>(func), Indices::Any);
    if plans(func, &loops, &uses).is_empty() {
        return Changes::NONE;
    }
    let added = super::licm::make_preheaders(func, cx.analyses);
    if added > 0 {
        cx.analyses.invalidate(Aspects::ALL);
    }
    // A block in front of an inner loop is one of the outer loop.
    let (loops, cfg) = (cx.analyses.get::<Loops>(func), cx.analyses.get::<Cfg>(func));
    let uses = SlotUses::collect(func, &cfg, Indices::Any);
    let plans = plans(func, &loops, &uses);
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut promoted = 0;
    for (plan, mark) in plans.into_iter().zip(1..) {
        plan.blocks.iter().for_each(|&block| inside[block] = mark);
        promoted += u32::from(plan.carry_out(func, &cfg, |block| inside[block] == mark));
    }
    Changes::to_all(added + promoted)
}

/// What is done for the outermost loops that access slots at constant offsets only, of those slots that `mem2reg` leaves.
fn plans(func: &Function, loops: &Loops, uses: &SlotUses) -> Vec<Plan> {
    let left = |access: &&SlotAccess| uses.unbounded[access.slot] && !uses.captured[access.slot];
    let mut by_block: SecondaryMap<Block, Vec<SlotAccess>> = SecondaryMap::new();
    uses.accesses.iter().filter(left).for_each(|access| by_block[access.block].push(*access));
    let mut planned: EntitySet<Inst> = EntitySet::new();
    let mut plans = Vec::new();
    for found in loops.iter() {
        let accesses = found.blocks.iter().flat_map(|&block| &by_block[block]);
        let mut own: Vec<SlotAccess> =
            accesses.filter(|access| !planned.contains(access.inst)).copied().collect();
        own.sort_by_key(|access| (access.slot, access.offset));
        for of_slot in own.chunk_by(|a, b| a.slot == b.slot) {
            if let Some(parts) = parts(func, of_slot) {
                planned.extend(of_slot.iter().map(|access| access.inst));
                plans.push(Plan::of(found, of_slot[0].slot, parts));
            }
        }
    }
    plans
}

/// A part of a slot and its accesses in a loop.
struct Part {
    offset: i32,
    ty: Type,
    accesses: Vec<SlotAccess>,
}

/// The parts that accesses of a slot, sorted by offset, fall into; none if they overlap but as a whole, or are too many.
fn parts(func: &Function, accesses: &[SlotAccess]) -> Option<Vec<Part>> {
    let size = i64::from(func.stack_slots[accesses.first()?.slot].size);
    let (mut parts, mut end) = (Vec::new(), 0);
    for part in accesses.chunk_by(|a, b| a.offset == b.offset) {
        let (offset, ty) = (part[0].offset, part[0].ty);
        let free = offset >= end && parts.len() < MAX_PARTS;
        end = offset.checked_add(ty.bytes()?.into())?;
        let whole = |access: &SlotAccess| access.reach == 0 && castable(access.ty, ty);
        if !free || end > size || !part.iter().all(whole) {
            return None;
        }
        parts.push(Part { offset: offset.try_into().ok()?, ty, accesses: part.to_vec() });
    }
    Some(parts)
}

/// A loop and the parts of a slot that become variables in it.
struct Plan {
    header: Block,
    blocks: Vec<Block>,
    slot: StackSlot,
    parts: Vec<Part>,
}

impl Plan {
    fn of(found: Loop<'_>, slot: StackSlot, parts: Vec<Part>) -> Plan {
        Plan { header: found.header, blocks: found.blocks.to_vec(), slot, parts }
    }

    /// The graph may be that before edges were parted for other plans: a block between is led to by one edge.
    fn carry_out(self, func: &mut Function, cfg: &Cfg, inside: impl Fn(Block) -> bool) -> bool {
        let mut before = cfg.predecessors(self.header).iter().filter(|block| !inside(**block));
        let (Some(&before), None) = (before.next(), before.next()) else { return false };
        let Some(entry) = func.terminator(before) else { return false };
        let out: Vec<(Block, Block)> = self
            .blocks
            .iter()
            .flat_map(|&from| func.successors(from).map(move |to| (from, to)))
            .filter(|(_, to)| !inside(*to))
            .collect();
        let mut behind: Vec<Inst> = Vec::new();
        for (from, to) in out {
            let own = cfg.predecessors(to).iter().all(|&block| inside(block));
            let at = if own { func.layout.first_inst(to) } else { part_edge(func, from, to) };
            behind.extend(at.filter(|at| !behind.contains(at)));
        }
        for part in &self.parts {
            let size = part.ty.bytes().unwrap_or(1);
            let variable = func.stack_slots.push(StackSlotData { size, align: size.next_power_of_two() });
            let (of_slot, of_variable) = ((self.slot, part.offset), (variable, 0));
            copy(func, entry, part.ty, of_slot, of_variable);
            if part.accesses.iter().any(|access| matches!(func.dfg[access.inst], InstData::Store { .. })) {
                behind.iter().for_each(|&at| copy(func, at, part.ty, of_variable, of_slot));
            }
            for access in &part.accesses {
                let ptr = insert_before(
                    func,
                    access.inst,
                    InstData::StackAddr { slot: variable, offset: 0 },
                    Type::PTR_LOCAL,
                );
                let flags = MemFlags::PLAIN;
                let data = if let InstData::Store { args: [value, _], .. } = func.dfg[access.inst] {
                    InstData::Store { flags, offset: 0, args: [value, ptr] }
                } else {
                    InstData::Load { flags, offset: 0, ptr }
                };
                func.dfg.replace_inst(access.inst, data);
            }
        }
        self.forget(func);
        true
    }

    /// Where a variable of the source is that is in the slot, nobody can tell in the loop.
    fn forget(&self, func: &mut Function) {
        let Some(debug) = &mut func.debug else { return };
        for binding in debug.bindings.values_mut() {
            if matches!(binding.storage, Storage::Slot(slot, _) if slot == self.slot) {
                binding.storage = Storage::OptimizedOut;
            }
        }
    }
}

/// Copies a value of one type between places in slots.
fn copy(func: &mut Function, before: Inst, ty: Type, from: (StackSlot, i32), to: (StackSlot, i32)) {
    let flags = |func: &Function, (slot, offset): (StackSlot, i32)| {
        let known = func.stack_slots[slot].align | offset as u32;
        MemFlags::PLAIN.with_align(known & known.wrapping_neg()).unwrap_or(MemFlags::PLAIN)
    };
    let address = |func: &mut Function, (slot, offset): (StackSlot, i32)| {
        insert_before(func, before, InstData::StackAddr { slot, offset }, Type::PTR_LOCAL)
    };
    let (of_from, of_to) = (flags(func, from), flags(func, to));
    let ptr = address(func, from);
    let value = insert_before(func, before, InstData::Load { flags: of_from, offset: 0, ptr }, ty);
    let ptr = address(func, to);
    let store = InstData::Store { flags: of_to, offset: 0, args: [value, ptr] };
    let store = func.dfg.make_inst(store, &[]);
    func.layout.insert_inst_before(store, before);
    func.spans[store] = func.spans[before];
    func.inst_locs[store] = func.inst_locs[before];
}
