//! Removal of what nothing reaches: functions that no kernel and no exported function calls or takes the address of, directly or through
//! others, and variables that none of these names. What other modules or the host can name stays.

use crate::pass::{ModuleContext, ModulePass};
use cranelift_entity::EntitySet;
use warpsmith_ir::{FuncId, FuncKind, GlobalId, Linkage, Module, Symbol};

pub(super) struct GlobalDce;

impl ModulePass for GlobalDce {
    fn name(&self) -> &'static str {
        "globaldce"
    }

    fn summary(&self) -> &'static str {
        "remove functions and variables that no kernel and nothing exported reaches"
    }

    fn run(&self, module: &mut Module, _: &ModuleContext) -> u32 {
        let (functions, globals) = reached(module);
        let all = module.functions.len() + module.globals.len();
        let kept = functions.keys().count() + globals.keys().count();
        if kept < all {
            module.retain(&functions, &globals);
        }
        (all - kept) as u32
    }
}

fn reached(module: &Module) -> (EntitySet<FuncId>, EntitySet<GlobalId>) {
    let mut functions = EntitySet::with_capacity(module.functions.len());
    let mut globals = EntitySet::with_capacity(module.globals.len());
    let seen =
        module.functions.iter().filter(|(_, f)| f.kind == FuncKind::Kernel || f.linkage == Linkage::Export);
    let mut work: Vec<FuncId> = seen.map(|(id, _)| id).collect();
    globals.extend(module.globals.iter().filter(|(_, g)| g.linkage == Linkage::Export).map(|(id, _)| id));
    while let Some(id) = work.pop() {
        if !functions.insert(id) {
            continue;
        }
        let func = &module.functions[id];
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            for symbol in func.dfg.symbols(inst) {
                match symbol {
                    Symbol::Func(callee) => work.push(callee),
                    Symbol::Global(global) => _ = globals.insert(global),
                }
            }
        }
    }
    (functions, globals)
}
