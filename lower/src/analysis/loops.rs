//! Natural loops: a header that dominates the source of an edge back to it, and all blocks from which that source is reached
//! without passing the header.

use super::Cfg;
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{Block, DominatorTree, EntityRef};

/// One loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop<'l> {
    /// The block that dominates the loop.
    pub header: Block,
    /// The blocks of the loop, inner loops included.
    pub blocks: &'l [Block],
}

/// How deep loops are nested on average before the search for more ends.
const MAX_DEPTH: usize = 64;

/// The loops of a function, inner ones after outer ones. Cycles without a dominating header are not loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loops {
    /// The blocks of all loops, the header of each first.
    blocks: Vec<Block>,
    /// Where those of each loop end.
    ends: Vec<u32>,
}

impl Loops {
    /// Finds all natural loops; those that share a header are one.
    pub fn compute(cfg: &Cfg, dominators: &DominatorTree) -> Self {
        let mut loops = Loops { blocks: Vec::new(), ends: Vec::new() };
        // Every loop lists the blocks of those in it, which is quadratic in the depth of nests that no one writes.
        let mut budget = MAX_DEPTH * dominators.preorder().len();
        let mut member: SecondaryMap<Block, u32> = SecondaryMap::new();
        if let Some(last) = dominators.preorder().iter().max() {
            member.resize(last.index() + 1);
        }
        let mut work: Vec<Block> = Vec::new();
        for &header in dominators.preorder() {
            let latches = cfg.predecessors(header).iter().copied();
            work.extend(
                latches
                    .filter(|&latch| dominators.is_reachable(latch) && dominators.dominates(header, latch)),
            );
            if work.is_empty() {
                continue;
            }
            let mark = loops.ends.len() as u32 + 1;
            member[header] = mark;
            loops.blocks.push(header);
            while let Some(block) = work.pop() {
                if member[block] == mark || !dominators.is_reachable(block) {
                    continue;
                }
                member[block] = mark;
                loops.blocks.push(block);
                budget = budget.saturating_sub(1);
                work.extend_from_slice(cfg.predecessors(block));
            }
            loops.ends.push(loops.blocks.len() as u32);
            if budget == 0 {
                break;
            }
        }
        loops
    }

    /// All loops, outer before inner.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Loop<'_>> + ExactSizeIterator + Clone {
        (0..self.ends.len()).map(|n| self.nth(n))
    }

    /// One of them, by its place in their order.
    pub(crate) fn nth(&self, n: usize) -> Loop<'_> {
        let start = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        let blocks = &self.blocks[start as usize..self.ends[n] as usize];
        Loop { header: blocks[0], blocks }
    }
}
