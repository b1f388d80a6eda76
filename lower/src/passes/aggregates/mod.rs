//! Structs and arrays become what PTX has: scalars and memory. Blocks of memory become loads, stores and loops.
//!
//! A value of few parts ([`SMALL`]) becomes its parts, everywhere: parameters of blocks, `select`, loads and stores. A larger one lives in a
//! stack slot of its own, which is written where the value is defined and never again until then, so that nothing else need be copied
//! than what `aggregate`, `insert_value`, `load`, `store` and edges between blocks copy. An edge copies to a slot that is read
//! at the start of the block it leads to: the block's own may still be in use when the other edge is taken.
//!
//! What is left of structs and arrays crosses the boundaries of functions, and selection knows it:
//! - parameters are passed by value in memory (`byval`), which is how C passes structs. An argument is a pointer to them, or an `aggregate`;
//! - several results are one struct. A result is an `aggregate` or a `load` in front of `ret`, and behind a call `extract_value` or a `store`
//!   takes it; one of many parts is an array of integers as wide as its alignment allows;
//! - an `i1` in them is an `i8`.
//!
//! The pass changes nothing in a module without these.

mod blocks;
mod boundary;
mod calls;
mod lanes;
mod memory;
mod split;

use crate::pass::{ModuleContext, ModulePass};
use split::Splitter;
use warpsmith_diag::{Diagnostic, Diagnostics};
use warpsmith_ir::entity::PrimaryMap;
use warpsmith_ir::{FuncId, Function, InstData, Module, Type, TypeTable, parallel};
use warpsmith_isa::limits;

/// The most parts of a value that is held in registers.
const SMALL: u64 = 32;

pub(super) struct Aggregates;

impl ModulePass for Aggregates {
    fn name(&self) -> &'static str {
        "aggregates"
    }

    fn summary(&self) -> &'static str {
        "take structs and arrays apart; make loads, stores and loops of blocks of memory"
    }

    fn run(&self, module: &mut Module, _: &ModuleContext) -> u32 {
        if !is_needed(module) {
            return 0;
        }
        let Module { functions, types, globals, .. } = module;
        let before: PrimaryMap<FuncId, Boundary> =
            functions.values().map(|func| Boundary::of(func, types)).collect();
        let mut changes = 0;
        for (id, func) in functions.iter_mut() {
            let boundary = &before[id];
            for param in func.params.iter_mut().filter(|param| param.ty.is_aggregate()) {
                param.byval = Some((types.size(param.ty) as u32, types.align(param.ty)));
                param.ty = Type::PTR_PARAM;
            }
            func.ret = boundary.passed.into_iter().collect();
            if !func.is_declaration() && has_parts(func) {
                changes += Splitter::new(func, types, &before, boundary).run();
                changes += blocks::expand(func, globals);
            }
        }
        changes
    }
}

/// Runs the pass, and reports the functions whose values are too large for the memory of a thread.
pub(crate) fn legalize(module: &mut Module) -> Result<(), Diagnostics> {
    Aggregates.run(module, &ModuleContext::new(module.target));
    let taken = |func: &Function| {
        let mut layout = warpsmith_isa::memory::Layout::default();
        func.stack_slots.values().for_each(|slot| _ = layout.place(slot.size.into(), slot.align.into()));
        layout.bytes()
    };
    let errors: Vec<Diagnostic> = module
        .functions
        .values()
        .filter(|func| taken(func) > limits::LOCAL_BYTES)
        .map(|func| {
            let message =
                format!("the structs and arrays of `@{}` take {} bytes of memory, {} at most", func.name, taken(func), limits::LOCAL_BYTES);
            Diagnostic::error("L0002", func.span, message)
                .note(format!("a value of more than {SMALL} parts lives in the thread's local memory: pass pointers and use `memcpy`"))
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(module.diagnostics(errors)) }
}

/// True if the module has anything for the pass to do.
pub(crate) fn is_needed(module: &Module) -> bool {
    !module.types.is_empty() || parallel::any(module, has_several)
}

/// True if a function gives several results, or has instructions that do or that the pass expands whatever their types are.
fn has_several(func: &Function) -> bool {
    let mut insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    func.ret.len() > 1
        || insts.any(|inst| {
            matches!(func.dfg[inst], InstData::Zero | InstData::MemBlock { .. })
                || func.dfg.results(inst).len() > 1
        })
}

/// True if the pass has anything to do in a function: arguments and results of calls are values of it.
fn has_parts(func: &Function) -> bool {
    let mut values = func.dfg.values().map(|value| func.dfg.ty(value));
    values.any(Type::is_aggregate) || func.ret.iter().any(|ty| ty.is_aggregate()) || has_several(func)
}

/// What a function takes and returns, before the pass and behind it.
struct Boundary {
    ret: Vec<Type>,
    /// What is passed for the results.
    passed: Option<Type>,
}

impl Boundary {
    fn of(func: &Function, types: &mut TypeTable) -> Self {
        let ret = func.ret.clone();
        Boundary { passed: boundary::passed(types, &ret), ret }
    }
}
