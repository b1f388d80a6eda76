//! Loads of variables whose contents are known: those of this module only, which no function writes and whose address goes nowhere but to loads.
//! What they begin with is what every load finds.

use crate::pass::{ModuleContext, ModulePass};
use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::{
    Function, Global, GlobalId, Inst, InstData, Linkage, Module, Opcode, Symbol, Type, TypeTable, Value,
};
use warpsmith_isa::StateSpace;

pub(super) struct Constants;

impl ModulePass for Constants {
    fn name(&self) -> &'static str {
        "constants"
    }

    fn summary(&self) -> &'static str {
        "load what variables that nothing writes are known to hold"
    }

    fn run(&self, module: &mut Module, _: &ModuleContext) -> u32 {
        let mut known: EntitySet<GlobalId> = EntitySet::new();
        known.extend(module.globals.iter().filter(|(_, global)| is_own(global)).map(|(id, _)| id));
        if known.is_empty() {
            return 0;
        }
        // An address in another variable may be written through.
        for symbol in module.globals.values().flat_map(|global| &global.relocs).map(|reloc| reloc.target) {
            if let Symbol::Global(global) = symbol {
                known.remove(global);
            }
        }
        let mut loads: Vec<Vec<(Inst, GlobalId, i64)>> = Vec::with_capacity(module.functions.len());
        for func in module.functions.values() {
            loads.push(uses(func, &mut known));
        }
        let Module { functions, globals, types, .. } = module;
        let mut changes = 0;
        for (func, loads) in functions.values_mut().zip(loads) {
            for (inst, global, at) in loads.into_iter().filter(|(_, global, _)| known.contains(*global)) {
                let Some(ty) = func.dfg.first_result(inst).map(|value| func.dfg.ty(value)) else { continue };
                if let Some(data) = contents(types, &globals[global], at, ty) {
                    func.dfg.replace_inst(inst, data);
                    changes += 1;
                }
            }
        }
        changes
    }
}

/// Whether a variable is this module's alone, and holds at first what it is said to.
fn is_own(global: &Global) -> bool {
    global.linkage == Linkage::Local
        && matches!(global.space, StateSpace::Global | StateSpace::Const)
        && global.init.is_some()
        && global.relocs.is_empty()
        && global.handle.is_none()
        && !global.managed
}

/// The loads of variables at constant distances. Variables whose addresses are used in any other way are known no more.
fn uses(func: &Function, known: &mut EntitySet<GlobalId>) -> Vec<(Inst, GlobalId, i64)> {
    // What is known of a pointer: the variable, and the distance if it is constant.
    let mut pointers: SecondaryMap<Value, Option<(GlobalId, Option<i64>)>> = SecondaryMap::new();
    let mut loads = Vec::new();
    for block in func.layout.blocks() {
        for inst in func.layout.insts(block) {
            if let InstData::GlobalAddr { global, offset } = func.dfg[inst] {
                if let Some(result) = func.dfg.first_result(inst) {
                    pointers[result] = Some((global, Some(offset.into())));
                }
            } else {
                func.dfg.symbols(inst).for_each(|symbol| {
                    if let Symbol::Global(global) = symbol {
                        known.remove(global);
                    }
                });
            }
        }
    }
    if pointers.values().all(Option::is_none) {
        return loads;
    }
    // Dominating blocks need not come first: until nothing new is found, as long as chains of sums are.
    for _ in 0..8 {
        let mut changed = false;
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            let (base, by) = match func.dfg[inst] {
                InstData::Unary { op: Opcode::Addrspacecast, arg } => (arg, Some(0)),
                InstData::Binary { op: Opcode::Ptradd, args: [base, by] } => (base, func.dfg.int_const(by)),
                InstData::Index { scale, args: [base, by] } => {
                    (base, func.dfg.int_const(by).and_then(|by| by.checked_mul(scale.into())))
                }
                _ => continue,
            };
            let (Some((global, at)), Some(result)) =
                (pointers[func.dfg.resolve(base)], func.dfg.first_result(inst))
            else {
                continue;
            };
            let at = at.zip(by).and_then(|(at, by)| at.checked_add(by));
            if pointers[result].is_none() {
                pointers[result] = Some((global, at));
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
        let found = |value: Value| pointers[func.dfg.resolve(value)];
        let derived = func.dfg.first_result(inst).is_some_and(|result| pointers[result].is_some());
        match func.dfg[inst] {
            InstData::Load { flags, offset, ptr } => {
                if let Some((global, Some(at))) = found(ptr)
                    && !flags.volatile
                {
                    loads.push((inst, global, at + i64::from(offset)));
                }
            }
            InstData::Unary { op: Opcode::Addrspacecast, .. } | InstData::Index { .. } if derived => {}
            InstData::Binary { op: Opcode::Ptradd, .. } if derived => {}
            InstData::MemBlock { op: Opcode::Memcpy | Opcode::Memmove, args: [to, ..], .. } => {
                if let Some((global, _)) = found(to) {
                    known.remove(global);
                }
            }
            _ => func.dfg.uses(inst).filter_map(found).for_each(|(global, _)| {
                known.remove(global);
            }),
        }
    }
    loads
}

/// The bytes of a variable as a constant of a type.
fn contents(types: &TypeTable, global: &Global, at: i64, ty: Type) -> Option<InstData> {
    let bytes = u64::from(ty.bytes()?);
    if ty.is_vector()
        || ty.is_aggregate()
        || ty.is_odd()
        || !(1..=8).contains(&bytes)
        || bytes * 8 != u64::from(ty.bits())
    {
        return None;
    }
    let at = u64::try_from(at).ok()?;
    let size = types.size(global.ty).checked_mul(match global.extent {
        warpsmith_ir::Extent::One => 1,
        warpsmith_ir::Extent::Array(n) => n,
        warpsmith_ir::Extent::Dynamic => return None,
    })?;
    if at.checked_add(bytes)? > size {
        return None;
    }
    let init = global.init.as_ref()?;
    let bits = (0..bytes).fold(0u64, |sum, n| {
        let byte = init.get((at + n) as usize).copied().unwrap_or(0);
        sum | u64::from(byte) << (8 * n)
    });
    match ty {
        _ if ty.is_int() => Some(InstData::IntConst { value: ty.normalize(bits as i64) }),
        Type::F16 | Type::BF16 | Type::F32 | Type::F64 => Some(InstData::FloatConst { bits }),
        _ => None,
    }
}
