//! Predecessors and a depth-first order of the reachable blocks.

use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::{Block, Function};

/// The control-flow graph of a function, from its entry on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg {
    predecessors: SecondaryMap<Block, Vec<Block>>,
    rpo: Vec<Block>,
}

impl Cfg {
    /// The graph of `func`, which is empty for a declaration.
    pub fn compute(func: &Function) -> Self {
        let mut predecessors: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        let mut rpo = Vec::new();
        let mut seen = EntitySet::with_capacity(func.dfg.num_blocks());
        // An explicit stack: hostile graphs are deep.
        let mut stack: Vec<(Block, Vec<Block>)> = Vec::new();
        let visit = |block, predecessors: &mut SecondaryMap<Block, Vec<Block>>| {
            let successors: Vec<Block> = func.successors(block).collect();
            successors.iter().for_each(|&next| predecessors[next].push(block));
            (block, successors)
        };
        if let Some(entry) = func.layout.entry() {
            seen.insert(entry);
            stack.push(visit(entry, &mut predecessors));
        }
        // Taking the last successor first makes the order follow the order in which targets are written.
        while let Some((block, successors)) = stack.last_mut() {
            match successors.pop() {
                Some(next) if seen.insert(next) => stack.push(visit(next, &mut predecessors)),
                Some(_) => {}
                None => {
                    rpo.push(*block);
                    stack.pop();
                }
            }
        }
        rpo.reverse();
        Cfg { predecessors, rpo }
    }

    /// The sources of the edges into a block, once for each edge, from reachable blocks only.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        &self.predecessors[block]
    }

    /// The reachable blocks, each before its successors but for the back edges of cycles.
    pub fn reverse_postorder(&self) -> &[Block] {
        &self.rpo
    }
}
