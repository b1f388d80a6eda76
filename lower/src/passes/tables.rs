//! Tables: a stack slot that is filled with constants, and then only loaded from, at an index, becomes a variable of the module that holds them.
//! `const int step[4] = {0, 1, 0, -1};` in a kernel then costs nothing to set up, and ptxas makes no chain of selections of it. The variable is in constant
//! memory where all threads of a warp load the same element, which takes it one step; else in global memory.

use super::replace_with;
use super::slots::{Indices, SlotAccess, SlotUses};
use crate::analysis::{Analyses, Cfg, Uniformity};
use crate::pass::{ModuleContext, ModulePass};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::debug::Storage;
use warpsmith_ir::{
    Block, DominatorTree, Extent, Function, Global, GlobalId, Inst, InstData, Module, Opcode, StackSlot,
    Type, Value,
};
use warpsmith_isa::StateSpace;

/// The largest table.
const MAX_BYTES: u32 = 1 << 10;
/// What constant memory has room for: 64 KiB (PTX ISA 9.0, 5.1.4), half of it for what programs put there themselves.
const MAX_CONSTANT: u64 = 32 << 10;

pub(super) struct Tables;

impl ModulePass for Tables {
    fn name(&self) -> &'static str {
        "tables"
    }

    fn summary(&self) -> &'static str {
        "make variables of stack slots that hold constants"
    }

    fn run(&self, module: &mut Module, _: &ModuleContext) -> u32 {
        let constant = module.globals.values().filter(|global| global.space == StateSpace::Const);
        let mut used: u64 = constant.map(|global| global.size(&module.types)).sum();
        let mut made = 0;
        for id in module.functions.keys().collect::<Vec<_>>() {
            let func = &module.functions[id];
            if func.stack_slots.is_empty() || func.layout.entry().is_none() {
                continue;
            }
            let tables = tables(func);
            if tables.is_empty() {
                continue;
            }
            let name = func.name.clone();
            let mut globals: SecondaryMap<StackSlot, Option<(GlobalId, Type)>> = SecondaryMap::new();
            for (table, n) in tables.iter().zip(0u32..) {
                let size = table.bytes.len() as u64;
                let (space, ty) = match table.uniform && used + size <= MAX_CONSTANT {
                    true => (StateSpace::Const, Type::PTR_CONST),
                    false => (StateSpace::Global, Type::PTR_GLOBAL),
                };
                used += if space == StateSpace::Const { size } else { 0 };
                let mut name = format!("{name}$table{n}");
                while module.symbol(&name).is_some() {
                    name.push('_');
                }
                let mut global = Global::new(name, space, Type::I8, Extent::Array(size));
                global.align = Some(table.align);
                global.init = Some(table.bytes.clone());
                globals[table.slot] = Some((module.add_global(global), ty));
            }
            replace(&mut module.functions[id], &tables, &globals);
            made += tables.len() as u32;
        }
        made
    }
}

/// A slot that holds constants whenever it is loaded from.
struct Table {
    slot: StackSlot,
    align: u32,
    bytes: Vec<u8>,
    /// Whether the threads of a warp load the same element each time.
    uniform: bool,
    stores: Vec<Inst>,
    loads: Vec<Inst>,
}

/// The tables among the slots of a function.
fn tables(func: &Function) -> Vec<Table> {
    let mut analyses = Analyses::default();
    let uses = SlotUses::collect(func, &analyses.get::<Cfg>(func), Indices::Any);
    let candidates = func
        .stack_slots
        .iter()
        .filter(|(slot, data)| uses.unbounded[*slot] && !uses.captured[*slot] && data.size <= MAX_BYTES);
    let candidates: Vec<StackSlot> = candidates.map(|(slot, _)| slot).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let mut accesses: SecondaryMap<StackSlot, Vec<SlotAccess>> = SecondaryMap::new();
    uses.accesses.iter().for_each(|access| accesses[access.slot].push(*access));
    let tree = analyses.get::<DominatorTree>(func);
    let filled = candidates.into_iter().filter_map(|slot| Table::of(func, &tree, slot, &accesses[slot]));
    let mut tables: Vec<Table> = filled.collect();
    if !tables.is_empty() {
        let uniformity = analyses.get::<Uniformity>(func);
        for table in &mut tables {
            table.uniform = accesses[table.slot].iter().all(|access| match func.dfg[access.inst] {
                InstData::Load { ptr, .. } => same_place(func, &uniformity, ptr, access.block),
                _ => true,
            });
        }
    }
    tables
}

impl Table {
    /// `accesses` are in an order in which what dominates comes first, and those of a block in theirs.
    fn of(func: &Function, tree: &DominatorTree, slot: StackSlot, accesses: &[SlotAccess]) -> Option<Table> {
        let data = &func.stack_slots[slot];
        let mut bytes = vec![0; data.size as usize];
        let (mut stores, mut loads) = (Vec::new(), Vec::new());
        let mut filled_in: Option<Block> = None;
        for access in accesses {
            let InstData::Store { args: [value, _], .. } = func.dfg[access.inst] else {
                loads.push(access.inst);
                // In the block itself it is behind the stores.
                if !filled_in.is_some_and(|block| tree.dominates(block, access.block)) {
                    return None;
                }
                continue;
            };
            // A store behind a load might be of another round.
            if !loads.is_empty() || access.reach != 0 || filled_in.is_some_and(|block| block != access.block)
            {
                return None;
            }
            filled_in = Some(access.block);
            let bits = match *func.dfg.def_data(value)? {
                InstData::IntConst { value } => value as u64,
                InstData::FloatConst { bits } => bits,
                _ => return None,
            };
            let size =
                access.ty.bytes().filter(|&size| u64::from(size) * 8 == u64::from(access.ty.bits()))?;
            let at = usize::try_from(access.offset).ok()?;
            let to = bytes.get_mut(at..at.checked_add(size as usize)?)?;
            to.copy_from_slice(bits.to_le_bytes().get(..size as usize)?);
            stores.push(access.inst);
        }
        (!loads.is_empty()).then_some(Table { slot, align: data.align, bytes, uniform: false, stores, loads })
    }
}

/// Whether the threads that load together have the same distance from the start of a slot.
fn same_place(func: &Function, uniformity: &Uniformity, mut ptr: Value, at: Block) -> bool {
    loop {
        match func.dfg.def_data(ptr) {
            Some(
                &InstData::Binary { op: Opcode::Ptradd, args: [base, by] }
                | &InstData::Index { args: [base, by], .. },
            ) if uniformity.is_uniform(func, by, at) => ptr = base,
            Some(&InstData::Unary { op: Opcode::Addrspacecast, arg }) => ptr = arg,
            Some(InstData::StackAddr { .. }) => return true,
            _ => return false,
        }
    }
}

/// Has a function load from variables in place of slots.
fn replace(
    func: &mut Function,
    tables: &[Table],
    globals: &SecondaryMap<StackSlot, Option<(GlobalId, Type)>>,
) {
    for &store in tables.iter().flat_map(|table| &table.stores) {
        func.layout.remove_inst(store);
    }
    for &load in tables.iter().flat_map(|table| &table.loads) {
        if let InstData::Load { mut flags, offset, ptr } = func.dfg[load] {
            flags.invariant = true;
            func.dfg.replace_inst(load, InstData::Load { flags, offset, ptr });
        }
    }
    let cfg = Cfg::compute(func);
    let mut inside: SecondaryMap<Value, Option<Type>> = SecondaryMap::new();
    for &block in cfg.reverse_postorder() {
        for inst in func.layout.insts(block).collect::<Vec<Inst>>() {
            let Some(result) = func.dfg.first_result(inst) else { continue };
            let found = match func.dfg[inst] {
                InstData::StackAddr { slot, offset } => globals[slot].map(|(global, ty)| {
                    func.dfg.replace_inst(inst, InstData::GlobalAddr { global, offset });
                    ty
                }),
                InstData::Binary { op: Opcode::Ptradd, args: [base, _] }
                | InstData::Index { args: [base, _], .. } => inside[func.dfg.resolve(base)],
                InstData::Unary { op: Opcode::Addrspacecast, arg } => {
                    // All of them are of the space of the variable from here on.
                    if inside[func.dfg.resolve(arg)].is_some() {
                        replace_with(func, inst, arg);
                    }
                    None
                }
                _ => None,
            };
            if let Some(ty) = found {
                func.dfg.set_ty(result, ty);
                inside[result] = Some(ty);
            }
        }
    }
    func.dfg.resolve_aliases();
    for binding in func.debug.iter_mut().flat_map(|debug| debug.bindings.values_mut()) {
        if let Storage::Slot(slot, at) = binding.storage
            && let Some((global, _)) = globals[slot]
        {
            binding.storage = Storage::Global(global, at);
        }
    }
}
