//! The order of blocks in the text: each before what it goes on to, loops in one piece, and what lies behind a loop behind it. Jumps then mostly
//! lead to the next block, and are none.

use crate::analysis::{Cfg, Loops};
use crate::pass::{Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function};

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let (cfg, loops) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<Loops>(func));
    super::cfg::remove_unreachable(func, &cfg);
    let order = order(func, &cfg, &loops);
    let moved = func.layout.blocks().zip(&order).filter(|(old, new)| old != *new).count();
    if moved == 0 || !func.layout.reorder_blocks(&order) {
        return Changes::NONE;
    }
    Changes::to_instructions(moved as u32)
}

/// The reverse of the order in which a depth-first walk leaves blocks, where a walk that comes to a loop goes to all that lies behind it first.
fn order(func: &Function, cfg: &Cfg, loops: &Loops) -> Vec<Block> {
    let mut behind: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    for (found, mark) in loops.iter().zip(1..) {
        found.blocks.iter().for_each(|&block| inside[block] = mark);
        let next = found.blocks.iter().flat_map(|&block| func.successors(block));
        let mut next: Vec<Block> = next.filter(|&block| inside[block] != mark).collect();
        next.sort_unstable();
        next.dedup();
        behind[found.header] = next;
    }
    let mut order = Vec::with_capacity(cfg.reverse_postorder().len());
    let mut seen: EntitySet<Block> = EntitySet::with_capacity(func.dfg.num_blocks());
    // An explicit stack: hostile graphs are deep. Blocks are taken off the ends of the lists; the one that is left last comes next in the order.
    let mut visit = |block: Block| -> (Block, SmallVec<[Block; 4]>) {
        let mut next: SmallVec<[Block; 4]> = func.successors(block).collect();
        next.extend(std::mem::take(&mut behind[block]));
        (block, next)
    };
    let mut stack: Vec<(Block, SmallVec<[Block; 4]>)> = Vec::new();
    if let Some(entry) = func.layout.entry() {
        seen.insert(entry);
        stack.push(visit(entry));
    }
    while let Some((block, next)) = stack.last_mut() {
        match next.pop() {
            Some(next) if seen.insert(next) => stack.push(visit(next)),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
