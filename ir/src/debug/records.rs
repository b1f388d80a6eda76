//! The bindings that stand between instructions.

use crate::entities::{BindingId, Block, Inst};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;

type List = SmallVec<[BindingId; 2]>;

/// Bindings in front of instructions, and at the ends of blocks.
#[derive(Clone, Default, Debug)]
pub(crate) struct Records {
    before: FxHashMap<Inst, List>,
    at_end: FxHashMap<Block, List>,
}

impl Records {
    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.at_end.is_empty()
    }

    pub(crate) fn before(&self, inst: Inst) -> &[BindingId] {
        self.before.get(&inst).map_or(&[], |list| list)
    }

    pub(crate) fn at_end(&self, block: Block) -> &[BindingId] {
        self.at_end.get(&block).map_or(&[], |list| list)
    }

    pub(crate) fn push_before(&mut self, inst: Inst, binding: BindingId) {
        self.before.entry(inst).or_default().push(binding);
    }

    pub(crate) fn push_at_end(&mut self, block: Block, binding: BindingId) {
        self.at_end.entry(block).or_default().push(binding);
    }

    pub(crate) fn clear_before(&mut self, inst: Inst) -> List {
        self.before.remove(&inst).unwrap_or_default()
    }

    pub(crate) fn clear_at_end(&mut self, block: Block) -> List {
        self.at_end.remove(&block).unwrap_or_default()
    }

    /// What stood before an instruction that goes stands before the next one, or at the end of the block.
    pub(crate) fn removed(&mut self, inst: Inst, next: Option<Inst>, block: Block) {
        let Some(mut list) = self.before.remove(&inst) else { return };
        let after = match next {
            Some(next) => self.before.entry(next).or_default(),
            None => self.at_end.entry(block).or_default(),
        };
        list.append(after);
        *after = list;
    }

    /// What stood at the end of a block stands before the instruction that comes there.
    pub(crate) fn appended(&mut self, inst: Inst, block: Block) {
        if let Some(list) = self.at_end.remove(&block) {
            let before = self.before.entry(inst).or_default();
            before.insert_many(0, list);
        }
    }

    pub(crate) fn split(&mut self, from: Block, to: Block) {
        if let Some(list) = self.at_end.remove(&from) {
            self.at_end.entry(to).or_default().extend(list);
        }
    }

    /// Drops the records whose binding is not wanted.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(BindingId) -> bool) {
        self.before.values_mut().for_each(|list| list.retain(|id| keep(*id)));
        self.at_end.values_mut().for_each(|list| list.retain(|id| keep(*id)));
        self.before.retain(|_, list| !list.is_empty());
        self.at_end.retain(|_, list| !list.is_empty());
    }
}
