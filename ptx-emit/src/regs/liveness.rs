//! Which virtual registers are live at the end of each block.

use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_lower::mach::{Block, Function, VReg};

/// Live-out sets, the arguments of a block's outgoing edges included.
pub struct Liveness {
    live_out: SecondaryMap<Block, EntitySet<VReg>>,
}

impl Liveness {
    /// Backward data flow to a fixed point.
    pub fn compute(func: &Function) -> Self {
        let mut predecessors: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for &block in &func.layout {
            for edge in func.successors(block) {
                predecessors[edge.target].push(block);
            }
        }
        let mut live_out: SecondaryMap<Block, EntitySet<VReg>> = SecondaryMap::new();
        let mut queue: Vec<Block> = Vec::new();
        let mut queued = EntitySet::with_capacity(func.blocks.len());
        for &block in &func.layout {
            for edge in func.successors(block) {
                live_out[block].extend(func.edge_args(edge).iter().copied());
            }
            queue.push(block);
            queued.insert(block);
        }
        while let Some(block) = queue.pop() {
            queued.remove(block);
            let live_in = Self::before(func, block, &live_out[block]);
            for &pred in &predecessors[block] {
                let out = &mut live_out[pred];
                let mut changed = false;
                for vreg in live_in.iter() {
                    changed |= out.insert(vreg);
                }
                if changed && queued.insert(pred) {
                    queue.push(pred);
                }
            }
        }
        Liveness { live_out }
    }

    /// What is live when the block has run, edge arguments included.
    pub fn out(&self, block: Block) -> &EntitySet<VReg> {
        &self.live_out[block]
    }

    /// What is live into a block, but for its parameters.
    pub fn live_into(&self, func: &Function, block: Block) -> EntitySet<VReg> {
        Self::before(func, block, &self.live_out[block])
    }

    /// What is live before the parameters of the block are written.
    fn before(func: &Function, block: Block, out: &EntitySet<VReg>) -> EntitySet<VReg> {
        let mut live = out.clone();
        live.extend(func.blocks[block].terminator.used());
        for inst in func.block_insts(block).iter().rev() {
            let operands = func.inst_operands(inst);
            for vreg in operands.iter().filter_map(|o| o.defined()) {
                live.remove(vreg);
            }
            live.extend(operands.iter().filter_map(|o| o.used()));
        }
        for &param in func.params(block) {
            live.remove(param);
        }
        live
    }
}
