//! What the source asks of its loops: `!llvm.loop` on the branch that goes back, `#pragma unroll` and its like.

use super::function::Builder;
use crate::module::body::Inst;
use crate::module::metadata::Metadata;
use crate::module::{Module, ValueId};
use warpsmith_base::FxHashMap;
use warpsmith_ir::LoopHint;

/// What is asked of loops, by the instruction that goes back to their heads.
pub(super) fn hints(module: &Module<'_>, body: &crate::module::body::Body) -> FxHashMap<u32, LoopHint> {
    let lookup = Lookup { module, body };
    let all = body.attached("llvm.loop", module);
    all.filter_map(|(inst, node)| Some((inst, lookup.hint(node)?))).collect()
}

struct Lookup<'m, 'a> {
    module: &'m Module<'a>,
    body: &'m crate::module::body::Body,
}

impl Lookup<'_, '_> {
    /// Metadata by its number: that of the function is behind that of the module.
    fn get(&self, number: u64) -> Option<&Metadata> {
        let number = usize::try_from(number).ok()?;
        let own = number.checked_sub(self.module.metadata.all.len());
        match own {
            Some(own) => self.body.metadata.get(own),
            None => self.module.metadata.all.get(number),
        }
    }

    fn tuple(&self, number: u64) -> Option<&[u64]> {
        match self.get(number)? {
            Metadata::Tuple(fields) => Some(fields),
            Metadata::String(_) | Metadata::Value(..) | Metadata::Node(..) => None,
        }
    }

    fn text(&self, field: u64) -> Option<&str> {
        match self.get(field.checked_sub(1)?)? {
            Metadata::String(text) => Some(text),
            Metadata::Value(..) | Metadata::Tuple(_) | Metadata::Node(..) => None,
        }
    }

    fn number(&self, field: u64) -> Option<i64> {
        let Metadata::Value(_, value) = self.get(field.checked_sub(1)?)? else { return None };
        self.module.number(*value)
    }

    fn hint(&self, node: u64) -> Option<LoopHint> {
        // The first field is the node itself, so that no two loops share one.
        let properties = self.tuple(node)?.iter().skip(1);
        properties.filter_map(|field| self.property(*field)).next()
    }

    fn property(&self, field: u64) -> Option<LoopHint> {
        let fields = self.tuple(field.checked_sub(1)?)?;
        match self.text(*fields.first()?)? {
            "llvm.loop.unroll.disable" => Some(LoopHint::NoUnroll),
            "llvm.loop.unroll.full" => Some(LoopHint::UnrollFull),
            "llvm.loop.unroll.enable" => Some(LoopHint::UnrollEnable),
            "llvm.loop.unroll.count" => match self.number(*fields.get(1)?)? {
                1 => Some(LoopHint::NoUnroll),
                count => u32::try_from(count).ok().filter(|count| *count > 1).map(LoopHint::Unroll),
            },
            _ => None,
        }
    }
}

impl Module<'_> {
    /// The number that a constant of the module is.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a number is none")]
    fn number(&self, value: ValueId) -> Option<i64> {
        match self.constant(value)?.kind {
            crate::module::constants::ConstantKind::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// The number of a module flag.
    pub(super) fn flag(&self, name: &str) -> Option<i64> {
        let list = self.metadata.named.get("llvm.module.flags")?;
        list.iter().find_map(|flag| {
            let Metadata::Tuple(fields) = self.metadata.field(*flag)? else { return None };
            let [_, key, value] = fields.as_slice() else { return None };
            if self.metadata.text(*key)? != name {
                return None;
            }
            let Metadata::Value(_, value) = self.metadata.field(*value)? else { return None };
            // Zero is written as what all types have.
            Some(self.number(*value).unwrap_or(0))
        })
    }

    /// True for what clang has compiled as CUDA.
    pub(super) fn is_cuda(&self) -> bool {
        self.flag("nvvm-reflect-ftz").is_some()
    }
}

impl Builder<'_, '_, '_> {
    /// Hands on what is asked of the loops that an instruction goes back to. `positions`: where each block is in the order of visits.
    pub fn hint_loop(&mut self, block: u32, n: u32, inst: &Inst, positions: &[u32]) {
        let Some(hint) = self.loop_hints.get(&n).copied() else { return };
        let position = |block: u32| positions.get(block as usize).copied().unwrap_or(u32::MAX);
        for to in self.body.successors(inst) {
            if position(to) <= position(block)
                && let Some(head) = self.blocks.get(to as usize).copied().flatten()
            {
                self.b.set_loop_hint(head, hint);
            }
        }
    }
}
