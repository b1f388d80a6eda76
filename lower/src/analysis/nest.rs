//! How loops lie in each other.

use super::Loops;
use cranelift_entity::SecondaryMap;
use warpsmith_ir::Block;

/// Which loops blocks are in. Inner loops have larger numbers than those around them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Nest {
    /// One more than the number of the innermost loop that a block is in, 0 outside of loops.
    pub innermost: SecondaryMap<Block, u32>,
    /// One more than the number of the loop around each loop, 0 where there is none.
    parents: Vec<u32>,
}

impl Nest {
    /// Computes it of the loops of a function.
    pub fn compute(loops: &Loops) -> Nest {
        let mut nest = Nest::default();
        for (n, found) in loops.iter().enumerate() {
            nest.parents.push(nest.innermost[found.header]);
            found.blocks.iter().for_each(|&block| nest.innermost[block] = n as u32 + 1);
        }
        nest
    }

    /// The loops around a block, from the innermost.
    pub fn around(&self, block: Block) -> impl Iterator<Item = usize> + '_ {
        let first = self.innermost[block].checked_sub(1).map(|n| n as usize);
        std::iter::successors(first, |&n| self.parents[n].checked_sub(1).map(|n| n as usize))
    }

    /// Whether a block is in a loop.
    pub fn contains(&self, which: usize, block: Block) -> bool {
        self.around(block).find(|&n| n <= which) == Some(which)
    }

    /// The loops that an edge leaves.
    pub fn left(&self, from: Block, to: Block) -> impl Iterator<Item = usize> + '_ {
        self.around(from).take_while(move |&n| !self.contains(n, to))
    }
}
