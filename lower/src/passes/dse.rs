//! Dead stores: what is stored over before anything reads it, and what is stored in a stack slot that nothing reads any more.

use crate::analysis::{Access, Effect, Object, Pointers};
use crate::pass::{Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::debug::Storage;
use warpsmith_ir::{Block, Function, Inst, InstData, StackSlot};

/// Later stores that an earlier one is compared with.
const MAX_LATER: usize = 16;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let pointers = cx.analyses.get::<Pointers>(func);
    let read = slots_read(func, &pointers);
    let (mut changes, mut unread) = (0, EntitySet::new());
    for block in func.layout.blocks().collect::<Vec<Block>>() {
        changes += of_block(func, &pointers, &read, block, &mut unread);
    }
    forget_variables(func, &unread);
    Changes::to_instructions(changes)
}

/// The slots that a load names.
fn slots_read(func: &Function, pointers: &Pointers) -> SecondaryMap<StackSlot, bool> {
    let mut read: SecondaryMap<StackSlot, bool> = SecondaryMap::new();
    for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
        if let InstData::Load { ptr, .. } = func.dfg[inst]
            && let Object::Slot(slot) = pointers.of(ptr).object
        {
            read[slot] = true;
        }
    }
    read
}

/// A variable of the source whose slot is not kept up to date is in no place.
fn forget_variables(func: &mut Function, slots: &EntitySet<StackSlot>) {
    let Some(debug) = &mut func.debug else { return };
    for binding in debug.bindings.values_mut() {
        if matches!(binding.storage, Storage::Slot(slot, _) if slots.contains(slot)) {
            binding.storage = Storage::OptimizedOut;
        }
    }
}

fn of_block(
    func: &mut Function,
    pointers: &Pointers,
    read: &SecondaryMap<StackSlot, bool>,
    block: Block,
    unread: &mut EntitySet<StackSlot>,
) -> u32 {
    // What is stored behind the current instruction before anything reads it.
    let mut later: SmallVec<[Access; MAX_LATER]> = SmallVec::new();
    // Behind the end of the function nobody reads its slots.
    let ends = func.terminator(block).is_some_and(|inst| matches!(func.dfg[inst], InstData::Return { .. }));
    let mut read_later: EntitySet<StackSlot> = EntitySet::new();
    let mut changes = 0;
    for inst in func.layout.insts(block).rev().collect::<Vec<Inst>>() {
        let effect = pointers.effect(func, inst);
        let own_store = matches!(func.dfg[inst], InstData::Store { .. });
        if let (true, Effect::Writes(access)) = (own_store, effect) {
            let slot = match access.pointer.object {
                Object::Slot(slot) if !pointers.is_reachable(slot) => Some(slot),
                Object::Slot(_) | Object::Global(_) | Object::Param(_) | Object::Unseen | Object::Unknown => {
                    None
                }
            };
            let nobody_reads = |slot: &StackSlot| !read[*slot] || (ends && !read_later.contains(*slot));
            let slot = slot.filter(nobody_reads);
            unread.extend(slot);
            if slot.is_some() || later.iter().any(|over| covers(over, &access)) {
                func.layout.remove_inst(inst);
                changes += 1;
                continue;
            }
            // How much memory an aggregate covers, its type does not say here.
            let InstData::Store { args: [value, _], .. } = func.dfg[inst] else { continue };
            if func.dfg.ty(value).bytes().is_some() {
                if later.len() == MAX_LATER {
                    later.remove(0);
                }
                later.push(access);
            }
            continue;
        }
        // A slot that is reachable is not asked about.
        let seen = match (effect, &func.dfg[inst]) {
            (Effect::Reads(access) | Effect::Writes(access), _) => Some(access.pointer.object),
            // What is read here is not written in between, but it may be written before.
            (_, &InstData::Load { ptr, .. }) => Some(pointers.of(ptr).object),
            (Effect::None | Effect::ReadsAll | Effect::All, _) => None,
        };
        if let Some(Object::Slot(slot)) = seen {
            read_later.insert(slot);
        }
        later.retain(|access| !pointers.may_touch(func, effect, access));
    }
    changes
}

/// Whether one access covers all bytes of another.
fn covers(over: &Access, under: &Access) -> bool {
    // A root that is a value is the same address throughout a block.
    let same = over.pointer.root == under.pointer.root && over.space == under.space;
    let (start, inner) = (over.pointer.distance, under.pointer.distance);
    same && start <= inner
        && inner.saturating_add_unsigned(under.bytes) <= start.saturating_add_unsigned(over.bytes)
}
