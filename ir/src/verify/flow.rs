//! Control flow and dominance.

use super::Verifier;
use crate::dfg::ValueDef;
use crate::domtree::DominatorTree;
use crate::entities::{Block, Inst, Value};
use crate::inst::InstData;
use crate::ops::Traits;
use crate::types::Type;
use cranelift_entity::SecondaryMap;
use warpsmith_base::FxHashSet;

impl Verifier<'_> {
    pub(super) fn body(&mut self) {
        let func = self.func;
        self.entry();
        let tree = DominatorTree::new(func);
        // The place of an instruction in its block, for uses in the same block.
        let mut places: SecondaryMap<Inst, u32> = SecondaryMap::new();
        places.resize(func.dfg.num_insts());
        for block in func.layout.blocks() {
            for (place, inst) in func.layout.insts(block).enumerate() {
                places[inst] = place as u32;
            }
        }
        for block in func.layout.blocks() {
            self.block(block);
            for inst in func.layout.insts(block) {
                let mut broken = false;
                func.dfg.for_each_use(inst, |value| {
                    broken |= !self.use_is_dominated(&tree, &places, block, inst, value);
                });
                // The types of values that do not exist say nothing.
                if !broken {
                    self.targets(inst);
                    self.inst(inst);
                }
            }
        }
    }

    fn entry(&mut self) {
        let func = self.func;
        let Some(entry) = func.layout.entry() else { return };
        let types: Vec<Type> = func.dfg.block_params(entry).iter().map(|value| func.dfg.ty(*value)).collect();
        if !types.iter().eq(func.params.iter().map(|param| &param.ty)) {
            let params: Vec<Type> = func.params.iter().map(|param| param.ty).collect();
            let message =
                format!("the entry block takes {}, the function {}", self.list(&types), self.list(&params));
            self.block_error(entry, "I0330", message);
        }
    }

    fn block(&mut self, block: Block) {
        let func = self.func;
        let Some(last) = func.layout.last_inst(block) else {
            let message = format!("block `{}` is empty", self.display().block(block));
            self.block_error(block, "I0331", message)
                .notes
                .push("a block ends in jump, brif, switch, ret or trap".into());
            return;
        };
        for inst in func.layout.insts(block) {
            let ends = func.dfg.opcode(inst).traits().contains(Traits::TERMINATOR);
            if ends && inst != last {
                let message = format!("`{}` is not the last instruction of its block", func.dfg.opcode(inst));
                let next = func.layout.next_inst(inst).map_or(Default::default(), |next| func.spans[next]);
                let error = self.inst_error(inst, "I0332", message);
                if !next.is_none() {
                    error.labels.push((next, "this is never reached: give it a block of its own".into()));
                }
            } else if !ends && inst == last {
                let message = format!("block `{}` does not end in a terminator", self.display().block(block));
                let span = func.spans[inst];
                let error = self.block_error(block, "I0331", message);
                error.notes.push("a block ends in jump, brif, switch, ret or trap".into());
                if !span.is_none() {
                    error.labels.push((span, "this is its last instruction".into()));
                }
            }
        }
    }

    fn targets(&mut self, inst: Inst) {
        let func = self.func;
        for call in func.dfg.targets(inst) {
            let block = call.block;
            if !func.layout.is_block_inserted(block) {
                let message = format!("the target `{}` is not in the function", self.display().block(block));
                self.inst_error(inst, "I0333", message);
                continue;
            }
            if Some(block) == func.layout.entry() {
                let message = format!("a branch to the entry block `{}`", self.display().block(block));
                let note =
                    "the entry block takes the function's parameters: jump from it to a block of its own";
                self.inst_error(inst, "I0334", message).notes.push(note.into());
                continue;
            }
            let (args, params) = (call.args(&func.dfg.pool), func.dfg.block_params(block));
            let place = func.block_spans[block];
            if args.len() != params.len() {
                let name = self.display().block(block);
                let message =
                    format!("`{name}` takes {}, {} given", count(params.len(), "argument"), args.len());
                let error = self.inst_error(inst, "I0335", message);
                if !place.is_none() {
                    error.labels.push((place, "the block's parameters are here".into()));
                }
                continue;
            }
            for (&arg, &param) in args.iter().zip(params) {
                let (given, wanted) = (func.dfg.ty(arg), func.dfg.ty(param));
                if given != wanted {
                    let (arg, param) = (self.name(arg), self.name(param));
                    let name = self.display().block(block);
                    let (given, wanted) =
                        (self.module.types.display(given), self.module.types.display(wanted));
                    let message = format!("parameter {param} of `{name}` is {wanted}, {arg} is {given}");
                    let error = self.inst_error(inst, "I0336", message);
                    if !place.is_none() {
                        error.labels.push((place, "the block's parameters are here".into()));
                    }
                }
            }
        }
        if let InstData::Switch { table, .. } = func.dfg[inst] {
            let mut seen = FxHashSet::default();
            for (value, _) in &func.dfg.jump_tables[table].cases {
                if !seen.insert(*value) {
                    self.inst_error(inst, "I0337", format!("case {value} is listed twice"));
                }
            }
        }
    }

    fn use_is_dominated(
        &mut self,
        tree: &DominatorTree,
        places: &SecondaryMap<Inst, u32>,
        block: Block,
        inst: Inst,
        value: Value,
    ) -> bool {
        let func = self.func;
        let (dominates, exists) = match func.dfg.def(value) {
            ValueDef::Result(def, _) => match func.layout.block_of(def) {
                Some(home) if home == block => (places[def] < places[inst], true),
                Some(home) => (tree.dominates(home, block), true),
                None => (false, false),
            },
            ValueDef::Param(home, _) => (tree.dominates(home, block), func.layout.is_block_inserted(home)),
            ValueDef::Alias(to) => {
                let message = format!("{} aliases {} and was not replaced", self.name(value), self.name(to));
                self.inst_error(inst, "I0341", message)
                    .notes
                    .push("call DataFlowGraph::resolve_aliases".into());
                return false;
            }
            ValueDef::Detached => (false, false),
        };
        if !exists {
            let message = format!("{} is used and not defined in the function", self.name(value));
            self.inst_error(inst, "I0342", message);
            return false;
        }
        if !dominates && tree.is_reachable(block) {
            let message = format!("{} is not defined on every path to this use", self.name(value));
            let (span, text) = self.definition(value);
            let error = self.inst_error(inst, "I0340", message);
            if !span.is_none() {
                error.labels.push((span, text));
            }
            error.notes.push("pass it through a block parameter".into());
        }
        true
    }
}

/// `1 argument`, `2 arguments`.
pub(super) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
