//! The order of blocks in the text: each before what it goes on to, loops in one piece, and what lies behind a loop behind it. Jumps then mostly
//! lead to the next block, and are none. In a block the shape of the launch is read before the position in it, as nvcc does: ptxas then has the shape
//! in uniform registers, and is content with two registers less for many kernels.

use crate::analysis::{Cfg, Loops};
use crate::pass::{Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData};

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let (cfg, loops) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<Loops>(func));
    super::cfg::remove_unreachable(func, &cfg);
    let read_first = shape_first(func);
    let order = order(func, &cfg, &loops);
    let moved = func.layout.blocks().zip(&order).filter(|(old, new)| old != *new).count();
    if moved == 0 || !func.layout.reorder_blocks(&order) {
        return Changes::to_instructions(read_first);
    }
    Changes::to_instructions(moved as u32 + read_first)
}

/// Moves reads of the shape of the launch before the first other special register that their block reads. Says how many.
fn shape_first(func: &mut Function) -> u32 {
    let mut late: Vec<(Inst, Inst)> = Vec::new();
    for block in func.layout.blocks() {
        let mut first = None;
        for inst in func.layout.insts(block) {
            let InstData::Sreg { reg } = func.dfg[inst] else { continue };
            match first {
                None if !reg.is_of_launch() => first = Some(inst),
                Some(first) if reg.is_of_launch() => late.push((inst, first)),
                Some(_) | None => {}
            }
        }
    }
    for &(inst, first) in &late {
        func.layout.remove_inst(inst);
        func.layout.insert_inst_before(inst, first);
    }
    late.len() as u32
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
