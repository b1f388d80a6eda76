//! References: whatever an instruction names of its function and module exists. A function in which something is missing is looked at no
//! further, so that everything behind this can follow references.

use super::Verifier;
use crate::entities::{Block, Inst};
use crate::inst::InstData;
use crate::module::Symbol;
use crate::types::Type;
use cranelift_entity::EntityRef;
use warpsmith_diag::{Diagnostic, Origin};

impl Verifier<'_> {
    /// Reports what does not exist; true if all does.
    pub(super) fn ids(&mut self) -> bool {
        let func = self.func;
        let before = self.errors.len();
        let beyond = |block: &Block| block.index() >= func.dfg.num_blocks();
        if let Some(block) = func.layout.blocks().find(beyond) {
            let message = format!("`@{}` has no block {block}, which is in its layout", func.name);
            self.error("I0424", message);
        }
        let unknown = |ty: &Type| ty.is_aggregate() && self.module.types.get(*ty).is_none();
        if let Some(ty) = func.dfg.values().map(|value| func.dfg.ty(value)).find(unknown) {
            let message =
                format!("`@{}` has a value of type {ty}, which the module does not have", func.name);
            self.error("I0424", message).notes.push("a struct or array is of the module that made it".into());
        }
        // A branch may lead to a block that is in no layout: those are looked at too.
        for block in (0..func.dfg.num_blocks()).map(Block::new) {
            for inst in func.layout.insts(block) {
                if inst.index() >= func.dfg.num_insts() {
                    let message =
                        format!("`@{}` has no instruction {inst}, which is in its layout", func.name);
                    self.error("I0424", message);
                } else if let Some(missing) = self.missing(inst) {
                    let span = func.spans[inst];
                    let op = func.dfg.opcode(inst);
                    let mut error = Diagnostic::error(
                        "I0424",
                        span,
                        format!("`{op}` names {missing}, which does not exist"),
                    );
                    if span.is_none() {
                        error = error.note(format!("in `@{}`, {block}: {inst}", func.name));
                    }
                    let origin = Origin::of(&func.name).instruction(inst.as_u32());
                    self.errors.push(error.origin(origin));
                }
            }
        }
        self.errors.len() == before
    }

    /// The first thing that an instruction names and that does not exist, in words.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what instructions name beside values, targets and symbols"
    )]
    fn missing(&self, inst: Inst) -> Option<String> {
        let (func, dfg) = (self.func, &self.func.dfg);
        match dfg[inst] {
            InstData::Switch { table, .. } if !dfg.jump_tables.is_valid(table) => {
                return Some(format!("jump table {table}"));
            }
            InstData::Ptx { data, .. } if !dfg.ptx.is_valid(data) => {
                return Some(format!("table-derived operation {data}"));
            }
            InstData::ExtractValue { path, .. } | InstData::InsertValue { path, .. }
                if !dfg.paths.is_valid(path) =>
            {
                return Some(format!("path {path}"));
            }
            InstData::StackAddr { slot, .. } if !func.stack_slots.is_valid(slot) => {
                return Some(format!("stack slot {slot}"));
            }
            _ => {}
        }
        let unknown = dfg.symbols(inst).find_map(|symbol| match symbol {
            Symbol::Func(id) if !self.module.functions.is_valid(id) => Some(format!("function {id}")),
            Symbol::Global(id) if !self.module.globals.is_valid(id) => Some(format!("global {id}")),
            Symbol::Func(_) | Symbol::Global(_) => None,
        });
        if unknown.is_some() {
            return unknown;
        }
        if !dfg.has_operands(&dfg[inst]) {
            let block = dfg.targets(inst).map(|call| call.block).find(|block| !dfg.has_block(*block));
            let value = || dfg.uses(inst).find(|value| !dfg.has_value(*value));
            let block = block.map(|block| format!("block {block}"));
            return block.or_else(|| value().map(|value| format!("value {value}")));
        }
        let loc = func.inst_locs[inst].expand()?;
        match func.locs.get(loc) {
            None => Some(format!("source location {loc}")),
            Some(place) => {
                (!self.module.files.is_valid(place.file)).then(|| format!("source file {}", place.file))
            }
        }
    }
}
