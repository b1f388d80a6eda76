//! Predecessors and a depth-first order of the reachable blocks.

use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::{Block, Function};

/// The control-flow graph of a function, from its entry on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg {
    /// The range of `sources` that the edges into a block are from.
    ranges: SecondaryMap<Block, (u32, u32)>,
    sources: Vec<Block>,
    /// Which target of the terminator of its source each edge is.
    sides: Vec<u32>,
    rpo: Vec<Block>,
}

impl Cfg {
    /// The graph of `func`, which is empty for a declaration.
    pub fn compute(func: &Function) -> Self {
        let mut walk = Walk {
            func,
            seen: EntitySet::with_capacity(func.dfg.num_blocks()),
            edges: Vec::with_capacity(2 * func.dfg.num_blocks()),
            pending: Vec::with_capacity(2 * func.dfg.num_blocks()),
            stack: Vec::with_capacity(func.dfg.num_blocks()),
        };
        let mut rpo = Vec::with_capacity(func.dfg.num_blocks());
        if let Some(entry) = func.layout.entry() {
            walk.seen.insert(entry);
            walk.visit(entry);
        }
        // Taking the last successor first makes the order follow the order in which targets are written.
        while let Some(&(block, start)) = walk.stack.last() {
            match (walk.pending.len() > start).then(|| walk.pending.pop()).flatten() {
                Some(next) if walk.seen.insert(next) => walk.visit(next),
                Some(_) => {}
                None => {
                    rpo.push(block);
                    walk.stack.pop();
                }
            }
        }
        rpo.reverse();
        // Sorted by target, those of one target in the order they were met.
        let mut ranges: SecondaryMap<Block, (u32, u32)> = SecondaryMap::new();
        ranges.resize(func.dfg.num_blocks());
        walk.edges.iter().for_each(|(to, ..)| ranges[*to].1 += 1);
        let mut free = 0;
        for &block in &rpo {
            let count = ranges[block].1;
            ranges[block] = (free, free);
            free += count;
        }
        let mut sources = vec![Block::from_u32(0); walk.edges.len()];
        let mut sides = vec![0; walk.edges.len()];
        for (to, from, side) in walk.edges {
            let end = &mut ranges[to].1;
            sources[*end as usize] = from;
            sides[*end as usize] = side;
            *end += 1;
        }
        Cfg { ranges, sources, sides, rpo }
    }

    /// The sources of the edges into a block, once for each edge, from reachable blocks only.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        let (start, end) = self.ranges[block];
        &self.sources[start as usize..end as usize]
    }

    /// The edges into a block, in the order of [`Cfg::predecessors`]: the source, and which target of its terminator it is. A `switch` has so many that
    /// they are not to be searched for each block.
    pub fn edges(&self, block: Block) -> impl Iterator<Item = (Block, usize)> + Clone {
        let (start, end) = self.ranges[block];
        let range = start as usize..end as usize;
        let sides = self.sides[range.clone()].iter().map(|&side| side as usize);
        self.sources[range].iter().copied().zip(sides)
    }

    /// The reachable blocks, each before its successors but for the back edges of cycles.
    pub fn reverse_postorder(&self) -> &[Block] {
        &self.rpo
    }
}

/// A walk down the graph, with an explicit stack: hostile graphs are deep.
struct Walk<'f> {
    func: &'f Function,
    seen: EntitySet<Block>,
    /// Target and source of each edge, and which of the targets it is.
    edges: Vec<(Block, Block, u32)>,
    /// The successors of the blocks of `stack` that are still to be looked at; those of a block begin at the position that it is kept with.
    pending: Vec<Block>,
    stack: Vec<(Block, usize)>,
}

impl Walk<'_> {
    fn visit(&mut self, block: Block) {
        let start = self.pending.len();
        self.pending.extend(self.func.successors(block));
        self.edges.extend(self.pending[start..].iter().zip(0..).map(|(&next, side)| (next, block, side)));
        self.stack.push((block, start));
    }
}
