//! Which virtual registers are live where blocks begin and end.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use warpsmith_lower::mach::{Block, Function, VReg};

/// What is live into each block.
pub struct Liveness {
    /// Bits by number of the register, so many words for each block.
    live_in: Vec<u64>,
    words: usize,
}

impl Liveness {
    /// Walks from the uses of each value back to its definition. A value has one, in front of all its uses, so what a block uses and does not
    /// define is live into it. Each block is walked into once for each value that is live there.
    pub fn compute(func: &Function) -> Self {
        Self::of(func, |_| true)
    }

    /// [`Liveness::compute`], of those registers only that are wanted.
    pub fn of(func: &Function, wanted: impl Fn(VReg) -> bool) -> Self {
        let mut homes: SecondaryMap<VReg, PackedOption<Block>> = SecondaryMap::new();
        homes.resize(func.vregs.len());
        for &block in &func.layout {
            func.params(block).iter().for_each(|&param| homes[param] = block.into());
            let operands = func.block_insts(block).iter().flat_map(|inst| func.inst_operands(inst));
            operands.filter_map(|operand| operand.defined()).for_each(|vreg| homes[vreg] = block.into());
        }
        let words = func.vregs.len().div_ceil(BITS);
        let mut liveness = Liveness { live_in: vec![0; words * func.blocks.len()], words };
        let mut walk = Walk { predecessors: Predecessors::of(func), homes, pending: Vec::new() };
        for &block in &func.layout {
            let operands = func.block_insts(block).iter().flat_map(|inst| func.inst_operands(inst));
            let used = operands.filter_map(|operand| operand.used());
            let used = used.chain(func.blocks[block].terminator.used());
            let given = func.successors(block).flat_map(|edge| func.edge_args(edge).iter().copied());
            let wanted = used.chain(given).filter(|&vreg| wanted(vreg));
            wanted.for_each(|vreg| walk.back(&mut liveness, block, vreg));
        }
        liveness
    }

    /// What is live when the block has run, edge arguments included.
    pub fn out(&self, func: &Function, block: Block) -> EntitySet<VReg> {
        let mut live = EntitySet::with_capacity(func.vregs.len());
        for edge in func.successors(block) {
            live.extend(func.edge_args(edge).iter().copied());
            live.extend(self.live_into(edge.target));
        }
        live
    }

    /// What is live into a block, but for its parameters, in the order of the numbers.
    pub fn live_into(&self, block: Block) -> impl Iterator<Item = VReg> + Clone + '_ {
        let row = &self.live_in[block.index() * self.words..][..self.words];
        row.iter().enumerate().flat_map(|(n, &word)| {
            let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            let set = rest.take_while(|word| *word != 0);
            set.map(move |word| VReg::new(n * BITS + word.trailing_zeros() as usize))
        })
    }

    /// Notes that a register is live into a block; false if that was known.
    fn add(&mut self, block: Block, vreg: VReg) -> bool {
        let word = &mut self.live_in[block.index() * self.words + vreg.index() / BITS];
        let bit = 1 << (vreg.index() % BITS);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

const BITS: usize = u64::BITS as usize;

struct Walk {
    predecessors: Predecessors,
    /// Where each register is defined.
    homes: SecondaryMap<VReg, PackedOption<Block>>,
    pending: Vec<Block>,
}

impl Walk {
    /// From a block that uses a register to the one that defines it.
    fn back(&mut self, liveness: &mut Liveness, block: Block, vreg: VReg) {
        let home = self.homes[vreg];
        if home == block.into() {
            return;
        }
        self.pending.push(block);
        while let Some(block) = self.pending.pop() {
            if liveness.add(block, vreg) {
                let others = self.predecessors.of_block(block).iter().copied();
                self.pending.extend(others.filter(|&other| home != other.into()));
            }
        }
    }
}

/// The blocks that lead to each block.
struct Predecessors {
    /// Where those of each block begin in `sources`; one more than there are blocks.
    starts: Vec<u32>,
    sources: Vec<Block>,
}

impl Predecessors {
    fn of(func: &Function) -> Self {
        let mut starts = vec![0u32; func.blocks.len() + 1];
        let edges = || {
            let of_block = |&block: &Block| func.successors(block).map(move |edge| (edge.target, block));
            func.layout.iter().flat_map(of_block)
        };
        edges().for_each(|(to, _)| starts[to.index()] += 1);
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        // Filled from the ends, which thereby become the starts.
        let mut sources = vec![Block::new(0); end as usize];
        for (to, from) in edges() {
            starts[to.index()] -= 1;
            sources[starts[to.index()] as usize] = from;
        }
        Predecessors { starts, sources }
    }

    fn of_block(&self, block: Block) -> &[Block] {
        let (start, end) = (self.starts[block.index()], self.starts[block.index() + 1]);
        &self.sources[start as usize..end as usize]
    }
}
