//! What calls do, from what is called: a function that neither writes nor communicates, and that is known to end, can be computed once for equal operands,
//! dropped where nobody wants its result, and passed over by loads and stores.
//!
//! Callees come before callers. A function that calls itself may not end, but its calls of itself do nothing else that it does not do; those that reach
//! themselves through others, and what is declared only, or may be replaced when it is linked, may do anything. What a function does to its own stack
//! slots is nobody else's concern. The facts hold as long as passes take effects away and add none; they are kept with the caller
//! ([`Function::callee_traits`]), where all passes find them as the traits of the call.

use super::inline::graph::CallGraph;
use crate::analysis::{Analyses, Cfg, Effect, Object, Pointers};
use crate::pass::{ModuleContext, ModulePass};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{FuncId, FuncKind, Function, Inst, InstData, Linkage, Module, Opcode, Traits};

mod ends;

pub(super) struct Effects;

/// What makes a call less than free of effects.
const OF_CALLS: Traits =
    Traits::READS.union(Traits::WRITES).union(Traits::CONVERGENT).union(Traits::SIDE_EFFECT);

impl ModulePass for Effects {
    fn name(&self) -> &'static str {
        "effects"
    }

    fn summary(&self) -> &'static str {
        "find what calls do not do"
    }

    fn run(&self, module: &mut Module, _: &ModuleContext) -> u32 {
        let mut changes = 0;
        let graph = CallGraph::new(module);
        let mut known: SecondaryMap<FuncId, Option<Traits>> = SecondaryMap::new();
        for &id in &graph.bottom_up {
            let callees: Vec<FuncId> = calls(&module.functions[id]).collect();
            let func = &mut module.functions[id];
            func.callee_traits.clear();
            for callee in callees {
                if let Some(traits) = known[callee]
                    && func.callee_traits.insert(callee, traits).is_none()
                {
                    changes += 1;
                }
            }
            let found = if graph.recursive.contains(id) {
                func.callee_traits.insert(id, Traits::SIDE_EFFECT);
                traits(func).map(|traits| traits | Traits::SIDE_EFFECT)
            } else {
                traits(func)
            };
            known[id] = found.filter(|traits| *traits != OF_CALLS);
            if graph.recursive.contains(id) {
                match known[id] {
                    Some(traits) => func.callee_traits.insert(id, traits),
                    None => func.callee_traits.remove(&id),
                };
            }
        }
        changes
    }
}

fn calls(func: &Function) -> impl Iterator<Item = FuncId> + '_ {
    let insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    insts.filter_map(|inst| match func.dfg[inst] {
        InstData::Call { callee, .. } => Some(callee),
        _ => None,
    })
}

/// What calls of a function do, if that is known.
fn traits(func: &Function) -> Option<Traits> {
    let replaceable = match func.linkage {
        Linkage::Local | Linkage::Export => false,
        Linkage::Weak | Linkage::Common | Linkage::Extern => true,
    };
    if func.is_declaration()
        || func.alias.is_some()
        || func.kind == FuncKind::Kernel
        || replaceable
        || func.attrs.noreturn
    {
        return None;
    }
    let mut analyses = Analyses::default();
    let (cfg, pointers) = (analyses.get::<Cfg>(func), analyses.get::<Pointers>(func));
    let mut all = Traits::NONE;
    // What an argument that is passed by value points to is read by the call.
    if func.params.iter().any(|param| param.byval.is_some()) {
        all |= Traits::READS;
    }
    for &block in cfg.reverse_postorder() {
        for inst in func.layout.insts(block) {
            all |= of_inst(func, &pointers, inst);
        }
    }
    if !ends::all_end(func, &mut analyses) {
        all |= Traits::SIDE_EFFECT;
    }
    Some(all & OF_CALLS)
}

/// What an instruction does that others notice.
fn of_inst(func: &Function, pointers: &Pointers, inst: Inst) -> Traits {
    let own = |effect: Effect| match effect {
        Effect::Reads(access) | Effect::Writes(access) => match access.pointer.object {
            Object::Slot(slot) => !pointers.is_reachable(slot),
            Object::Unseen | Object::Global(_) | Object::Param(_) | Object::Unknown => false,
        },
        Effect::None | Effect::ReadsAll | Effect::All => false,
    };
    match func.dfg[inst] {
        InstData::Load { flags, .. } | InstData::Store { flags, .. }
            if !flags.volatile && own(pointers.effect(func, inst)) =>
        {
            Traits::NONE
        }
        InstData::Trap => Traits::SIDE_EFFECT,
        InstData::List { op: Opcode::Assert, .. } => OF_CALLS,
        // What ends a block otherwise than by returning or going on may end the thread.
        InstData::Ptx { .. } if func.traits(inst).contains(Traits::TERMINATOR) => Traits::SIDE_EFFECT,
        _ => func.traits(inst),
    }
}
