//! Removal of what nothing reaches: functions that no kernel and no exported function calls or takes the address of, directly or through
//! others, and variables that none of these names. What other modules or the host can name stays.

use crate::pass::{ModuleContext, ModulePass};
use cranelift_entity::EntitySet;
use warpsmith_ir::{FuncId, FuncKind, Global, GlobalId, Linkage, Module, Symbol};

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
        let kept = functions.iter().count() + globals.iter().count();
        if kept < all {
            module.retain(&functions, &globals);
        }
        (all - kept) as u32
    }
}

fn reached(module: &Module) -> (EntitySet<FuncId>, EntitySet<GlobalId>) {
    let mut functions = EntitySet::with_capacity(module.functions.len());
    let mut globals = EntitySet::with_capacity(module.globals.len());
    let seen = module.functions.iter().filter(|(_, f)| {
        f.kind == FuncKind::Kernel || f.linkage.is_visible() && (!f.is_declaration() || f.alias.is_some())
    });
    let mut work: Vec<FuncId> = seen.map(|(id, _)| id).collect();
    let mut variables: Vec<GlobalId> =
        module.globals.iter().filter(|(_, global)| kept(global)).map(|(id, _)| id).collect();
    loop {
        if let Some(id) = work.pop() {
            if !functions.insert(id) {
                continue;
            }
            let func = &module.functions[id];
            work.extend(func.alias);
            for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
                for symbol in func.dfg.symbols(inst) {
                    match symbol {
                        Symbol::Func(callee) => work.push(callee),
                        Symbol::Global(global) => variables.push(global),
                    }
                }
            }
        } else if let Some(id) = variables.pop() {
            if globals.insert(id) {
                for reloc in &module.globals[id].relocs {
                    match reloc.target {
                        Symbol::Func(func) => work.push(func),
                        Symbol::Global(global) => variables.push(global),
                    }
                }
            }
        } else {
            break;
        }
    }
    (functions, globals)
}

/// True for a variable that the host or another module can name.
fn kept(global: &Global) -> bool {
    match global.linkage {
        Linkage::Export | Linkage::Weak | Linkage::Common => true,
        Linkage::Local | Linkage::Extern => false,
    }
}
