//! Inlining: a call is replaced by a copy of the function it calls, callees before callers, so that what is copied is itself inlined already.
//!
//! Functions that reach themselves are never copied, nor are those marked `noinline`. Else it is a matter of size: calls cost dearly on a GPU
//! (arguments travel through memory, registers are saved), so that far larger functions are worth copying than on a CPU. A function whose
//! last call was inlined, and that nothing else can name, goes.
//!
//! What has grown is tidied before others copy it: of functions whose bodies are calls of others, as templates make them by the thousand, a few
//! instructions are left, where the copies of copies would soon be too large.

mod body;
pub(super) mod graph;

use crate::analysis::Analyses;
use crate::log::Log;
use crate::pass::{Changes, Context, ModuleContext, ModulePass, Signature};
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};
use graph::CallGraph;
use warpsmith_ir::{FuncId, FuncKind, Function, Inline, Inst, InstData, Linkage, Module, Symbol, ValueList};

pub(super) struct Inliner;

/// The largest function, in instructions, that is copied to each of several calls.
const MAX_SIZE: usize = 600;
/// A function that others call and that has grown beyond this is tidied.
const MAX_UNTIDY: usize = 100;
/// The largest function that is copied to each of several calls where it is rarely called.
const MAX_COLD: usize = 20;
/// No function grows beyond this by what need not be inlined.
const MAX_CALLER: usize = 60_000;
/// All copies of a module together have at most so many instructions, and [`MAX_GROWTH`] times as many as the module: in a chain of functions
/// that call the next, a copy is as large as all that is behind it.
const MAX_COPIED: usize = 1 << 20;
const MAX_GROWTH: usize = 16;
type FunctionPass = fn(&mut Function, &mut Context<'_>) -> Changes;
/// The passes that make what was copied into a function as small as it is where it is known what is passed.
const TIDYING: &[FunctionPass] =
    &[super::cfg::run, super::mem2reg::run, super::simplify::run, super::cfg::run, super::dce::run];
/// Calls through pointers that come from copied functions are followed so often.
const MAX_ROUNDS: u32 = 4;

impl ModulePass for Inliner {
    fn name(&self) -> &'static str {
        "inline"
    }

    fn summary(&self) -> &'static str {
        "copy functions to where they are called; remove those that had their last call inlined"
    }

    fn run(&self, module: &mut Module, cx: &ModuleContext) -> u32 {
        let graph = CallGraph::new(module);
        let signatures = Signature::all(module);
        let mut sizes: SecondaryMap<FuncId, usize> = SecondaryMap::new();
        for (id, func) in &module.functions {
            sizes[id] = size(func);
        }
        let whole: usize = sizes.values().sum();
        let mut budget = MAX_COPIED + MAX_GROWTH * whole;
        let mut inlined: EntitySet<FuncId> = EntitySet::new();
        let mut changes = 0;
        for &caller in &graph.bottom_up {
            let calls = calls(&module.functions[caller]);
            if calls.is_empty() && !has_indirect(&module.functions[caller]) {
                continue;
            }
            // Taken out, so that its callees can be read while it changes. A function that calls itself is not inlined.
            let empty = Function::new(String::new(), FuncKind::Func, Vec::new(), Vec::new());
            let mut func = std::mem::replace(&mut module.functions[caller], empty);
            let mut calls = calls;
            let before_all = changes;
            // Of equal calls without effects one is enough, which is seen no more when they are copies.
            if is_repeated(&calls, module) {
                tidy(&mut func, &[super::gvn::run], module, &signatures, cx);
                calls = self::calls(&func);
            }
            // What was copied may call what an argument points to, which is known now; and what that calls.
            for _ in 0..MAX_ROUNDS {
                let before = changes;
                for (call, callee) in calls {
                    let target = &module.functions[callee];
                    if callee == caller || graph.recursive.contains(callee) || target.is_declaration() {
                        continue;
                    }
                    let alone = graph.callers[callee] == 1 && !graph.is_named(callee, target);
                    let size = sizes[callee];
                    let pays = size <= budget && pays(target, size, alone, sizes[caller]);
                    if pays && body::inline(&mut func, &module.types, call, target) {
                        budget -= size;
                        sizes[caller] += size;
                        inlined.insert(callee);
                        changes += 1;
                    }
                }
                func.dfg.resolve_aliases();
                if !direct(&mut func, module, caller) && changes == before {
                    break;
                }
                calls = self::calls(&func);
            }
            if changes > before_all && sizes[caller] > MAX_UNTIDY && graph.callers[caller] > 0 {
                tidy(&mut func, TIDYING, module, &signatures, cx);
                sizes[caller] = size(&func);
            }
            module.functions[caller] = func;
        }
        changes + remove(module, &inlined)
    }
}

/// Runs passes on a function by itself.
fn tidy(
    func: &mut Function,
    passes: &[FunctionPass],
    module: &Module,
    signatures: &PrimaryMap<FuncId, Signature>,
    cx: &ModuleContext,
) {
    let (mut analyses, mut log) = (Analyses::default(), Log::new("inline", false, None));
    for pass in passes {
        let mut cx = Context {
            target: cx.target,
            globals: &module.globals,
            signatures,
            analyses: &mut analyses,
            log: &mut log,
        };
        let changes = pass(func, &mut cx);
        analyses.invalidate(changes.aspects);
    }
}

fn pays(callee: &Function, size: usize, alone: bool, caller: usize) -> bool {
    match callee.attrs.inline {
        Inline::Never => false,
        Inline::Wanted => true,
        Inline::Auto if callee.attrs.noreturn => false,
        Inline::Auto if caller + size > MAX_CALLER => false,
        Inline::Auto if callee.attrs.cold => size <= MAX_COLD,
        Inline::Auto => alone || size <= MAX_SIZE,
    }
}

fn size(func: &Function) -> usize {
    func.layout.blocks().map(|block| func.layout.insts(block).count()).sum()
}

/// Whether a function without effects is called more than once.
fn is_repeated(calls: &[(Inst, FuncId)], module: &Module) -> bool {
    let is_pure = |id: FuncId| module.functions[id].attrs.pure_function;
    let mut pure: Vec<FuncId> = calls.iter().map(|(_, callee)| *callee).filter(|&id| is_pure(id)).collect();
    pure.sort_unstable();
    pure.windows(2).any(|pair| pair[0] == pair[1])
}

/// The direct calls of a function.
fn calls(func: &Function) -> Vec<(Inst, FuncId)> {
    let insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    let call = |inst| {
        let InstData::Call { callee, .. } = func.dfg[inst] else { return None };
        Some((inst, callee))
    };
    insts.filter_map(call).collect()
}

fn has_indirect(func: &Function) -> bool {
    let mut insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    insts.any(|inst| matches!(func.dfg[inst], InstData::CallIndirect { .. }))
}

/// Makes direct calls of indirect ones whose callee is known, if there are any. Those of `own`, which is being changed, stay.
fn direct(func: &mut Function, module: &Module, own: FuncId) -> bool {
    let insts: Vec<Inst> = func.layout.blocks().flat_map(|block| func.layout.insts(block)).collect();
    let mut found = false;
    for inst in insts {
        let InstData::CallIndirect { args } = &func.dfg[inst] else { continue };
        let Some((&pointer, args)) = args.as_slice(&func.dfg.pool).split_first() else { continue };
        let Some(&InstData::FuncAddr { func: callee }) = func.dfg.def_data(pointer) else { continue };
        let Some(target) = module.functions.get(callee).filter(|_| callee != own) else { continue };
        let types = args.iter().map(|&arg| func.dfg.ty(arg));
        let fits = target.kind == FuncKind::Func
            && target.params.iter().all(|param| param.byval.is_none())
            && types.eq(target.params.iter().map(|param| param.ty))
            && func
                .dfg
                .results(inst)
                .into_iter()
                .map(|value| func.dfg.ty(value))
                .eq(target.ret.iter().copied());
        if fits {
            let args = args.to_vec();
            let args = ValueList::from_slice(&args, &mut func.dfg.pool);
            func.dfg.replace_inst(inst, InstData::Call { callee, args });
            found = true;
        }
    }
    found
}

/// Removes the functions that were inlined and that nothing names any more.
fn remove(module: &mut Module, inlined: &EntitySet<FuncId>) -> u32 {
    let mut uses: SecondaryMap<FuncId, u32> = SecondaryMap::new();
    for func in module.functions.values() {
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            for symbol in func.dfg.symbols(inst) {
                if let Symbol::Func(id) = symbol {
                    uses[id] += 1;
                }
            }
        }
    }
    for reloc in module.globals.values().flat_map(|global| &global.relocs) {
        if let Symbol::Func(id) = reloc.target {
            uses[id] += 1;
        }
    }
    let goes = |id: FuncId, func: &Function, uses: &SecondaryMap<FuncId, u32>| {
        inlined.contains(id) && func.linkage == Linkage::Local && uses[id] == 0
    };
    // One that goes may hold the last use of another.
    let mut work: Vec<FuncId> =
        module.functions.iter().filter(|(id, func)| goes(*id, func, &uses)).map(|(id, _)| id).collect();
    let mut gone: EntitySet<FuncId> = EntitySet::new();
    while let Some(id) = work.pop() {
        if !gone.insert(id) {
            continue;
        }
        let func = &module.functions[id];
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            for symbol in func.dfg.symbols(inst) {
                if let Symbol::Func(callee) = symbol {
                    uses[callee] -= 1;
                    if goes(callee, &module.functions[callee], &uses) {
                        work.push(callee);
                    }
                }
            }
        }
    }
    let count = gone.iter().count() as u32;
    if count > 0 {
        let (mut functions, mut globals) = (EntitySet::new(), EntitySet::new());
        functions.extend(module.functions.keys().filter(|id| !gone.contains(*id)));
        globals.extend(module.globals.keys());
        module.retain(&functions, &globals);
    }
    count
}
