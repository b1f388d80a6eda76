//! The order of blocks, and of instructions in them: doubly linked lists in side tables.

use crate::debug::Records;
use crate::entities::{BindingId, Block, Inst};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

#[derive(Clone, Default, Debug)]
struct BlockNode {
    prev: PackedOption<Block>,
    next: PackedOption<Block>,
    first: PackedOption<Inst>,
    last: PackedOption<Inst>,
    inserted: bool,
}

#[derive(Clone, Default, Debug)]
struct InstNode {
    block: PackedOption<Block>,
    prev: PackedOption<Inst>,
    next: PackedOption<Inst>,
}

/// The least that a map is made room for: most functions have fewer blocks.
const MIN_ROOM: usize = 8;

/// Makes room for a key and as many again: indexing alone grows the map by one entry, and by a call, each time.
#[inline]
pub(crate) fn grow_for<K: EntityRef, V: Clone>(map: &mut SecondaryMap<K, V>, key: K) {
    if map.get(key).is_none() {
        map.resize((key.index() + 1).next_power_of_two().max(MIN_ROOM));
    }
}

/// The order of blocks and instructions. The first block is the entry.
#[derive(Clone, Default, Debug)]
pub struct Layout {
    blocks: SecondaryMap<Block, BlockNode>,
    insts: SecondaryMap<Inst, InstNode>,
    first: PackedOption<Block>,
    last: PackedOption<Block>,
    /// How many instructions are in blocks.
    count: usize,
    records: Records,
}

impl Layout {
    /// The bindings of variables of the source that stand before an instruction. One that is taken out leaves them before the next.
    pub fn records(&self, inst: Inst) -> &[BindingId] {
        self.records.before(inst)
    }

    /// The bindings behind the last instruction of a block, which is not complete: they go before what is appended.
    pub fn records_at_end(&self, block: Block) -> &[BindingId] {
        self.records.at_end(block)
    }

    /// True without bindings.
    pub fn has_no_records(&self) -> bool {
        self.records.is_empty()
    }

    /// Puts a binding before an instruction, behind those that stand there.
    pub fn bind_before(&mut self, inst: Inst, binding: BindingId) {
        self.records.push_before(inst, binding);
    }

    /// Puts a binding at the end of a block: before its terminator, if it has none yet.
    pub fn bind_at_end(&mut self, block: Block, binding: BindingId) {
        self.records.push_at_end(block, binding);
    }

    /// Puts a binding at the start of a block, before all that stand there.
    pub fn bind_at_start(&mut self, block: Block, binding: BindingId) {
        let rest = match self.first_inst(block) {
            Some(first) => {
                let rest = self.records.clear_before(first);
                self.records.push_before(first, binding);
                rest
            }
            None => {
                let rest = self.records.clear_at_end(block);
                self.records.push_at_end(block, binding);
                rest
            }
        };
        for id in rest {
            match self.first_inst(block) {
                Some(first) => self.records.push_before(first, id),
                None => self.records.push_at_end(block, id),
            }
        }
    }

    /// Takes out the bindings that are not wanted.
    pub fn retain_records(&mut self, keep: impl FnMut(BindingId) -> bool) {
        self.records.retain(keep);
    }

    /// The first block.
    #[inline]
    pub fn entry(&self) -> Option<Block> {
        self.first.expand()
    }

    /// The last block.
    #[inline]
    pub fn last_block(&self) -> Option<Block> {
        self.last.expand()
    }

    /// True if the block is in the layout.
    pub fn is_block_inserted(&self, block: Block) -> bool {
        self.blocks[block].inserted
    }

    /// Puts a block at the end. Nothing happens if it is in the layout already.
    pub fn append_block(&mut self, block: Block) {
        self.insert_block(block, self.last.expand());
    }

    /// Puts a block behind another.
    pub fn insert_block_after(&mut self, block: Block, after: Block) {
        self.insert_block(block, Some(after));
    }

    fn insert_block(&mut self, block: Block, prev: Option<Block>) {
        if self.blocks[block].inserted {
            return;
        }
        let next = match prev {
            Some(prev) => std::mem::replace(&mut self.blocks[prev].next, block.into()),
            None => std::mem::replace(&mut self.first, block.into()),
        };
        match next.expand() {
            Some(next) => self.blocks[next].prev = block.into(),
            None => self.last = block.into(),
        }
        let node = &mut self.blocks[block];
        (node.prev, node.next, node.inserted) = (prev.into(), next, true);
    }

    /// Takes a block with all its instructions out.
    pub fn remove_block(&mut self, block: Block) {
        if !self.blocks[block].inserted {
            return;
        }
        while let Some(inst) = self.blocks[block].last.expand() {
            self.remove_inst(inst);
        }
        if !self.records.is_empty() {
            self.records.clear_at_end(block);
        }
        let BlockNode { prev, next, .. } = std::mem::take(&mut self.blocks[block]);
        match prev.expand() {
            Some(prev) => self.blocks[prev].next = next,
            None => self.first = next,
        }
        match next.expand() {
            Some(next) => self.blocks[next].prev = prev,
            None => self.last = prev,
        }
    }

    /// Puts the blocks into another order. False, and nothing is changed, unless the list has each block of the layout once.
    pub fn reorder_blocks(&mut self, order: &[Block]) -> bool {
        let mut seen = cranelift_entity::EntitySet::<Block>::new();
        let once = order.iter().all(|&block| self.is_block_inserted(block) && seen.insert(block));
        if !once || order.len() != self.blocks().count() {
            return false;
        }
        for (n, &block) in order.iter().enumerate() {
            self.blocks[block].prev = n.checked_sub(1).map(|n| order[n]).into();
            self.blocks[block].next = order.get(n + 1).copied().into();
        }
        (self.first, self.last) = (order.first().copied().into(), order.last().copied().into());
        true
    }

    /// The blocks in order.
    #[inline]
    pub fn blocks(&self) -> impl Iterator<Item = Block> + Clone + '_ {
        std::iter::successors(self.first.expand(), |block| self.blocks[*block].next.expand())
    }

    /// The block behind this one.
    #[inline]
    pub fn next_block(&self, block: Block) -> Option<Block> {
        self.blocks[block].next.expand()
    }

    /// The block before this one.
    #[inline]
    pub fn prev_block(&self, block: Block) -> Option<Block> {
        self.blocks[block].prev.expand()
    }

    /// The instructions of a block in order.
    #[inline]
    pub fn insts(&self, block: Block) -> impl DoubleEndedIterator<Item = Inst> + Clone + '_ {
        let node = &self.blocks[block];
        Insts { layout: self, head: node.first, tail: node.last }
    }

    /// The first instruction of a block.
    #[inline]
    pub fn first_inst(&self, block: Block) -> Option<Inst> {
        self.blocks[block].first.expand()
    }

    /// The last instruction of a block: its terminator, if the block is complete.
    #[inline]
    pub fn last_inst(&self, block: Block) -> Option<Inst> {
        self.blocks[block].last.expand()
    }

    /// How many instructions are in blocks.
    #[inline]
    pub fn num_insts(&self) -> usize {
        self.count
    }

    /// The block that an instruction is in. `None` for one that is not in the layout.
    #[inline]
    pub fn block_of(&self, inst: Inst) -> Option<Block> {
        self.insts[inst].block.expand()
    }

    /// The next instruction of the block.
    #[inline]
    pub fn next_inst(&self, inst: Inst) -> Option<Inst> {
        self.insts[inst].next.expand()
    }

    /// The previous instruction of the block.
    #[inline]
    pub fn prev_inst(&self, inst: Inst) -> Option<Inst> {
        self.insts[inst].prev.expand()
    }

    /// Makes room for instructions up to a number.
    pub(crate) fn reserve(&mut self, insts: usize) {
        if let Some(last) = insts.checked_sub(1) {
            grow_for(&mut self.insts, Inst::new(last));
        }
    }

    /// Puts an instruction at the end of a block.
    #[inline]
    pub fn append_inst(&mut self, inst: Inst, block: Block) {
        grow_for(&mut self.insts, inst);
        self.count += 1;
        let node = &mut self.blocks[block];
        let prev = std::mem::replace(&mut node.last, inst.into());
        match prev.expand() {
            Some(prev) => self.insts[prev].next = inst.into(),
            None => node.first = inst.into(),
        }
        self.insts[inst] = InstNode { block: block.into(), prev, next: None.into() };
        if !self.records.is_empty() {
            self.records.appended(inst, block);
        }
    }

    /// Moves what is in a block to the end of another.
    pub fn append_insts_of(&mut self, from: Block, to: Block) {
        while let Some(inst) = self.first_inst(from) {
            let records = self.records.clear_before(inst);
            self.remove_inst(inst);
            for binding in records {
                self.records.push_at_end(to, binding);
            }
            self.append_inst(inst, to);
        }
        for binding in self.records.clear_at_end(from) {
            self.records.push_at_end(to, binding);
        }
    }

    /// Puts an instruction before another, which is in the layout.
    pub fn insert_inst_before(&mut self, inst: Inst, before: Inst) {
        if let Some(block) = self.block_of(before) {
            self.link_inst(inst, block, self.prev_inst(before), Some(before));
        }
    }

    /// Puts an instruction at the start of a block.
    pub fn prepend_inst(&mut self, inst: Inst, block: Block) {
        self.link_inst(inst, block, None, self.blocks[block].first.expand());
    }

    #[inline]
    fn link_inst(&mut self, inst: Inst, block: Block, prev: Option<Inst>, next: Option<Inst>) {
        grow_for(&mut self.insts, inst);
        self.count += 1;
        match prev {
            Some(prev) => self.insts[prev].next = inst.into(),
            None => self.blocks[block].first = inst.into(),
        }
        match next {
            Some(next) => self.insts[next].prev = inst.into(),
            None => self.blocks[block].last = inst.into(),
        }
        self.insts[inst] = InstNode { block: block.into(), prev: prev.into(), next: next.into() };
    }

    /// Takes an instruction out. It may be put in again elsewhere.
    pub fn remove_inst(&mut self, inst: Inst) {
        let InstNode { block, prev, next } = std::mem::take(&mut self.insts[inst]);
        let Some(block) = block.expand() else { return };
        self.count -= 1;
        if !self.records.is_empty() {
            self.records.removed(inst, next.expand(), block);
        }
        match prev.expand() {
            Some(prev) => self.insts[prev].next = next,
            None => self.blocks[block].first = next,
        }
        match next.expand() {
            Some(next) => self.insts[next].prev = prev,
            None => self.blocks[block].last = prev,
        }
    }

    /// Takes over the new numbers of blocks and instructions: old ones by new ones, and new ones by old ones. There are no records.
    pub(crate) fn renumber(
        &mut self,
        old_blocks: &PrimaryMap<Block, Block>,
        old_insts: &PrimaryMap<Inst, Inst>,
        blocks: &[PackedOption<Block>],
        insts: &[PackedOption<Inst>],
    ) {
        let block = |old: PackedOption<Block>| old.expand().map_or(old, |old| blocks[old.index()]);
        let inst = |old: PackedOption<Inst>| old.expand().map_or(old, |old| insts[old.index()]);
        let mut nodes = SecondaryMap::new();
        nodes.resize(old_blocks.len());
        for (node, &old) in nodes.values_mut().zip(old_blocks.values()) {
            let BlockNode { prev, next, first, last, inserted } = self.blocks[old];
            *node = BlockNode {
                prev: block(prev),
                next: block(next),
                first: inst(first),
                last: inst(last),
                inserted,
            };
        }
        self.blocks = nodes;
        let mut nodes = SecondaryMap::new();
        nodes.resize(old_insts.len());
        for (node, &old) in nodes.values_mut().zip(old_insts.values()) {
            let InstNode { block: of, prev, next } = self.insts[old];
            *node = InstNode { block: block(of), prev: inst(prev), next: inst(next) };
        }
        self.insts = nodes;
        (self.first, self.last) = (block(self.first), block(self.last));
    }

    /// Moves `inst` and all behind it in its block to `new`, which is put behind that block.
    pub fn split_block(&mut self, new: Block, inst: Inst) {
        let Some(block) = self.block_of(inst) else { return };
        self.insert_block_after(new, block);
        let prev = std::mem::take(&mut self.insts[inst].prev);
        let last = std::mem::replace(&mut self.blocks[block].last, prev);
        if !self.records.is_empty() {
            self.records.split(block, new);
        }
        match prev.expand() {
            Some(prev) => self.insts[prev].next = None.into(),
            None => self.blocks[block].first = None.into(),
        }
        (self.blocks[new].first, self.blocks[new].last) = (inst.into(), last);
        let mut next = Some(inst);
        while let Some(inst) = next {
            self.insts[inst].block = new.into();
            next = self.insts[inst].next.expand();
        }
    }
}

#[derive(Clone)]
struct Insts<'a> {
    layout: &'a Layout,
    head: PackedOption<Inst>,
    tail: PackedOption<Inst>,
}

impl Iterator for Insts<'_> {
    type Item = Inst;

    #[inline]
    fn next(&mut self) -> Option<Inst> {
        let inst = self.head.expand()?;
        if self.head == self.tail {
            (self.head, self.tail) = (None.into(), None.into());
        } else {
            self.head = self.layout.insts[inst].next;
        }
        Some(inst)
    }
}

impl DoubleEndedIterator for Insts<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Inst> {
        let inst = self.tail.expand()?;
        if self.head == self.tail {
            (self.head, self.tail) = (None.into(), None.into());
        } else {
            self.tail = self.layout.insts[inst].prev;
        }
        Some(inst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    #[test]
    fn insert_remove_and_split_keep_order() {
        let mut layout = Layout::default();
        let (a, b, c) = (Block::new(0), Block::new(1), Block::new(2));
        let i: Vec<Inst> = (0..5).map(Inst::new).collect();
        layout.append_block(a);
        layout.append_block(c);
        layout.insert_block_after(b, a);
        assert_eq!(layout.blocks().collect::<Vec<_>>(), [a, b, c]);
        for inst in [i[1], i[3]] {
            layout.append_inst(inst, a);
        }
        layout.prepend_inst(i[0], a);
        layout.insert_inst_before(i[2], i[3]);
        layout.append_inst(i[4], a);
        assert_eq!(layout.insts(a).collect::<Vec<_>>(), i);
        assert_eq!(layout.insts(a).rev().collect::<Vec<_>>(), [i[4], i[3], i[2], i[1], i[0]]);
        layout.remove_inst(i[1]);
        let d = Block::new(3);
        layout.split_block(d, i[3]);
        assert_eq!(layout.insts(a).collect::<Vec<_>>(), [i[0], i[2]]);
        assert_eq!(layout.insts(d).collect::<Vec<_>>(), [i[3], i[4]]);
        assert_eq!((layout.block_of(i[4]), layout.last_inst(a)), (Some(d), Some(i[2])));
        layout.remove_block(d);
        assert_eq!((layout.blocks().collect::<Vec<_>>(), layout.block_of(i[3])), (vec![a, b, c], None));
        layout.split_block(d, i[0]);
        assert_eq!((layout.first_inst(a), layout.last_inst(a)), (None, None));
        assert_eq!(layout.insts(d).collect::<Vec<_>>(), [i[0], i[2]]);
    }
}
