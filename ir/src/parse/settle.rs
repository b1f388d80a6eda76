//! The end of a body: what the scan had to leave open is settled.

use super::body::{BodyReader, Derive, TypeSource};
use crate::dfg::ValueDef;
use crate::entities::Value;
use crate::inst::InstData;
use crate::types::Type;
use warpsmith_diag::nearest;

impl BodyReader<'_, '_> {
    /// Settles what the scan had to leave open.
    pub(super) fn settle(&mut self) {
        let forward = std::mem::take(&mut self.s.forward_values);
        for &(value, token) in &forward {
            let is_unread = || self.s.unread.contains(&self.p.bytes(token)[1..]);
            if self.func.dfg.def(value) == ValueDef::Detached && !is_unread() {
                let message = format!("{} is not defined", self.p.describe(token));
                let name = self.p.name(token);
                let known = self
                    .s
                    .values
                    .iter()
                    .filter(|(_, known)| self.func.dfg.def(**known) != ValueDef::Detached);
                let known = known.filter_map(|(name, _)| std::str::from_utf8(name).ok());
                // Comparing with every name for every error would take their product.
                let near = if self.s.values.len() < 1000 { nearest(name, known) } else { None };
                let note = near.map(|near| format!("did you mean `%{near}`?"));
                self.p.error("I0007", token.span(), message).notes.extend(note);
            }
        }
        let blocks = std::mem::take(&mut self.s.forward_blocks);
        for &(block, token) in &blocks {
            if !self.func.layout.is_block_inserted(block) {
                let message = format!("unknown block {}", self.p.describe(token));
                let name = self.p.text(token);
                let known =
                    self.s.blocks.iter().filter(|(_, known)| self.func.layout.is_block_inserted(**known));
                let known = known.filter_map(|(name, _)| std::str::from_utf8(name).ok());
                let near = if self.s.blocks.len() < 1000 { nearest(name, known) } else { None };
                let note = near.map(|near| format!("did you mean `{near}`?"));
                self.p.error("I0009", token.span(), message).notes.extend(note);
            }
        }
        if !forward.is_empty() {
            self.func.dfg.resolve_aliases();
        }
        // Their memory is for the next body.
        (self.s.forward_values, self.s.forward_blocks) = (forward, blocks);
        self.settle_types();
        for late in std::mem::take(&mut self.s.constants) {
            let source = match late.source {
                TypeSource::Of(value) => TypeSource::Of(self.func.dfg.resolve(value)),
                source @ (TypeSource::Known(_) | TypeSource::Param(..)) => source,
            };
            // What has no type even now follows from something undefined, which was reported.
            let Some(ty) = self.known_type(source) else { continue };
            let data = self.constant(late.number, ty, late.span);
            self.func.dfg.replace_inst(late.inst, data);
            let result = self.func.dfg.results(late.inst).first();
            self.func.dfg.set_ty(result, ty);
        }
        for (inst, numbers) in std::mem::take(&mut self.s.switches) {
            let InstData::Switch { arg, table } = self.func.dfg[inst] else { continue };
            let Some(ty) = self.known_type(TypeSource::Of(arg)).filter(|ty| ty.is_int()) else { continue };
            for (n, (number, span)) in numbers.into_iter().enumerate() {
                self.func.dfg.jump_tables[table].cases[n].0 = self.p.int_constant(number, ty, span);
            }
        }
    }

    /// Gives their types to results that depend on values which were read after them.
    fn settle_types(&mut self) {
        let pending = std::mem::take(&mut self.s.results);
        let mut order: Vec<Value> = pending.keys().copied().collect();
        order.sort_unstable();
        let mut visited = warpsmith_base::FxHashSet::default();
        let mut chain = Vec::new();
        for value in order {
            // Follow the sources to a value with a type, then come back. Each result is visited once.
            let mut current = value;
            while let Some(&(source, derive, span)) = pending.get(&current)
                && visited.insert(current)
            {
                chain.push((current, derive, span));
                current = self.func.dfg.resolve(source);
            }
            let mut ty = self.func.dfg.ty(current);
            let circular = ty.is_invalid() && chain.iter().any(|(value, ..)| *value == current);
            for (value, derive, span) in chain.drain(..).rev() {
                ty = match derive {
                    _ if ty.is_invalid() => Type::INVALID,
                    Derive::Same => ty,
                    Derive::Element => ty.element_type(),
                    Derive::Bools => crate::ins::bools(ty).unwrap_or(Type::INVALID),
                    Derive::VectorOf(lanes) => Type::vector(ty.element(), lanes).unwrap_or(Type::INVALID),
                };
                if circular && value == current {
                    let note = "values that go around a loop go through parameters of its first block";
                    self.p
                        .error("I0006", span, "this result is computed from itself".into())
                        .notes
                        .push(note.into());
                }
                self.func.dfg.set_ty(value, ty);
            }
        }
    }
}
