//! One variable in place of several: stack slots of a function that have an index in common, and shared variables that only one function names. What is indexed
//! alike in two of them is then one address, from which both are a constant away: an operand of the access. ptxas takes each variable's address by itself,
//! and keeps it in a register. Slots that have no index in common stay apart: of a small one ptxas makes registers, each access of which compares the index
//! with all elements that there are.

use crate::pass::{ModuleContext, ModulePass};
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{BTreeMap, BTreeSet};
use warpsmith_base::FxHashMap;
use warpsmith_ir::{
    Extent, FuncId, Function, Global, GlobalId, Inst, InstData, Linkage, Module, Opcode, StackSlot,
    StackSlotData, Symbol, Type, Value,
};
use warpsmith_isa::StateSpace;

/// Bytes of what is put together: every part is within reach of an access to the first.
const MOST: u64 = 1 << 20;

pub(super) struct Merge;

impl ModulePass for Merge {
    fn name(&self) -> &'static str {
        "merge"
    }

    fn summary(&self) -> &'static str {
        "put stack slots of a function, and shared variables of a kernel, together in one"
    }

    fn run(&self, module: &mut Module, _: &ModuleContext) -> u32 {
        let mut changes: u32 = module.functions.values_mut().map(stack).sum();
        let gone = shared(module, &mut changes);
        if !gone.is_empty() {
            let mut functions = EntitySet::new();
            functions.extend(module.functions.keys());
            let mut kept = EntitySet::new();
            kept.extend(module.globals.keys().filter(|global| !gone.contains(*global)));
            module.retain(&functions, &kept);
        }
        changes
    }
}

/// Where parts of one variable lie: how far from its start, and what it needs in the end.
#[derive(Default)]
struct Area {
    size: u64,
    align: u64,
}

impl Area {
    /// Adds a part, and says where. `None`: it would be too far away.
    fn add(&mut self, size: u64, align: u64) -> Option<i32> {
        let at = self.size.checked_next_multiple_of(align.max(1))?;
        let end = at.checked_add(size).filter(|&end| end <= MOST)?;
        (self.size, self.align) = (end, self.align.max(align));
        i32::try_from(at).ok()
    }
}

/// Puts the stack slots whose addresses are computed with together. Says how many roots of addresses changed.
fn stack(func: &mut Function) -> u32 {
    // A debugger would look for variables where they are no more.
    if !func.layout.has_no_records() {
        return 0;
    }
    let slot_of = |func: &Function, inst: Inst| match func.dfg[inst] {
        InstData::StackAddr { slot, offset } => Some((slot, offset)),
        _ => None,
    };
    let mut roots: Vec<(Inst, StackSlot, i32)> = Vec::new();
    for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
        roots.extend(slot_of(func, inst).map(|(slot, offset)| (inst, slot, offset)));
    }
    let mut places: SecondaryMap<StackSlot, Option<(StackSlot, i32)>> = SecondaryMap::new();
    for group in alike(&indices(func, |inst| slot_of(func, inst).map(|(slot, _)| slot))) {
        let mut area = Area::default();
        let whole = func.stack_slots.next_key();
        for &slot in &group {
            let StackSlotData { size, align } = func.stack_slots[slot];
            places[slot] = area.add(size.into(), align.into()).map(|at| (whole, at));
        }
        match area.size {
            0 => group.iter().for_each(|&slot| places[slot] = None),
            size => {
                func.stack_slots.push(StackSlotData { size: size as u32, align: area.align as u32 });
            }
        }
    }
    let mut changes = 0;
    for (inst, slot, offset) in roots {
        if let Some((whole, at)) = places[slot] {
            put(func, inst, InstData::StackAddr { slot: whole, offset: 0 }, at, offset);
            changes += 1;
        }
    }
    changes
}

/// Makes a root of addresses the start of what its variable is now a part of, plus a constant.
fn put(func: &mut Function, root: Inst, start: InstData, at: i32, offset: i32) {
    let Some(ty) = func.dfg.first_result(root).map(|value| func.dfg.ty(value)) else { return };
    let start = super::insert_before(func, root, start, ty);
    let by = InstData::IntConst { value: i64::from(at) + i64::from(offset) };
    let by = super::insert_before(func, root, by, Type::I64);
    func.dfg.replace_inst(root, InstData::Binary { op: Opcode::Ptradd, args: [start, by] });
}

/// Slots that have an index in common, directly or through others: two at least in each group.
fn alike(indices: &[(StackSlot, Value)]) -> Vec<Vec<StackSlot>> {
    // Each slot leads to the first of its group, on which the others agree.
    let mut next: SecondaryMap<StackSlot, Option<StackSlot>> = SecondaryMap::new();
    let first = |next: &mut SecondaryMap<StackSlot, Option<StackSlot>>, mut slot: StackSlot| {
        while let Some(before) = next[slot] {
            next[slot] = next[before].or(Some(before));
            slot = before;
        }
        slot
    };
    let mut with: FxHashMap<Value, StackSlot> = FxHashMap::default();
    for &(slot, index) in indices {
        let other = *with.entry(index).or_insert(slot);
        let (a, b) = (first(&mut next, slot), first(&mut next, other));
        if a != b {
            next[a.max(b)] = Some(a.min(b));
        }
    }
    let mut groups: BTreeMap<StackSlot, BTreeSet<StackSlot>> = BTreeMap::new();
    for &(slot, _) in indices {
        groups.entry(first(&mut next, slot)).or_default().insert(slot);
    }
    groups.into_values().filter(|group| group.len() > 1).map(|group| group.into_iter().collect()).collect()
}

/// What is added to the addresses of variables, but for constants.
fn indices<K>(func: &Function, root: impl Fn(Inst) -> Option<K>) -> Vec<(K, Value)> {
    let mut found = Vec::new();
    for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
        let (InstData::Binary { op: Opcode::Ptradd, args: [base, by] }
        | InstData::Index { args: [base, by], .. }) = func.dfg[inst]
        else {
            continue;
        };
        if func.dfg.int_const(by).is_none()
            && let Some(variable) = func.dfg.def_inst(func.dfg.resolve(base)).and_then(&root)
        {
            found.push((variable, func.dfg.resolve(by)));
        }
    }
    found
}

/// Puts the shared variables that one function alone names together in the first of them. Gives those that are no more.
fn shared(module: &mut Module, changes: &mut u32) -> EntitySet<GlobalId> {
    let mut gone = EntitySet::new();
    let mut own: FxHashMap<GlobalId, Option<FuncId>> =
        module.globals.iter().filter(|(_, global)| may_move(global)).map(|(id, _)| (id, None)).collect();
    if own.len() < 2 {
        return gone;
    }
    let described = module.debug.iter().flat_map(|debug| &debug.globals).map(|variable| variable.global);
    let pointed =
        module.globals.values().flat_map(|global| &global.relocs).filter_map(|reloc| match reloc.target {
            Symbol::Global(global) => Some(global),
            Symbol::Func(_) => None,
        });
    for global in described.chain(pointed).collect::<Vec<_>>() {
        own.remove(&global);
    }
    let mut roots: SecondaryMap<FuncId, Vec<(Inst, GlobalId, i32)>> = SecondaryMap::new();
    for (id, func) in &module.functions {
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            let root = match func.dfg[inst] {
                InstData::GlobalAddr { global, offset } => {
                    roots[id].push((inst, global, offset));
                    true
                }
                _ => false,
            };
            for symbol in func.dfg.symbols(inst) {
                let Symbol::Global(global) = symbol else { continue };
                match own.get_mut(&global) {
                    Some(user) if root && user.is_none_or(|user| user == id) => *user = Some(id),
                    Some(_) => _ = own.remove(&global),
                    None => {}
                }
            }
        }
    }
    let mut parts: SecondaryMap<FuncId, Vec<GlobalId>> = SecondaryMap::new();
    for global in module.globals.keys() {
        if let Some(&Some(user)) = own.get(&global) {
            parts[user].push(global);
        }
    }
    for (id, func) in &mut module.functions {
        let parts = std::mem::take(&mut parts[id]);
        let root = |inst| match func.dfg[inst] {
            InstData::GlobalAddr { global, .. } => Some(global),
            _ => None,
        };
        if parts.len() < 2 || !indices(func, root).iter().any(|(indexed, _)| parts.contains(indexed)) {
            continue;
        }
        let mut area = Area::default();
        let mut places: FxHashMap<GlobalId, i32> = FxHashMap::default();
        for &part in &parts {
            let global = &module.globals[part];
            let (size, align) = (global.size(&module.types), global.alignment(&module.types));
            if let Some(at) = area.add(size, align.into()) {
                places.insert(part, at);
            }
        }
        let Some(&whole) = parts.iter().find(|part| places.contains_key(*part)) else { continue };
        for &(inst, global, offset) in &roots[id] {
            if let Some(&at) = places.get(&global) {
                put(func, inst, InstData::GlobalAddr { global: whole, offset: 0 }, at, offset);
                *changes += 1;
            }
        }
        gone.extend(places.keys().copied().filter(|&part| part != whole));
        let global = &mut module.globals[whole];
        (global.ty, global.extent) = (Type::I8, Extent::Array(area.size));
        global.align = Some(area.align as u32);
    }
    gone
}

/// Whether a variable is shared memory that only this module names, of a known size.
fn may_move(global: &Global) -> bool {
    global.linkage == Linkage::Local
        && global.space == StateSpace::Shared
        && global.extent != Extent::Dynamic
        && global.init.is_none()
        && global.relocs.is_empty()
        && global.handle.is_none()
        && !global.managed
}
