//! Traps in one place: what is checked again and again, as overflow and bounds are, leads to one block that traps. Checks with nothing but cheap operations
//! between them then are one branch, on all conditions ([`super::conjoin`]).
//!
//! The line of the first trap is that of all.

use super::conjoin;
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::EntitySet;
use warpsmith_ir::{Block, Function, InstData};

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let only_traps = |block: &Block| {
        let first = func.layout.first_inst(*block);
        first.is_some_and(|inst| matches!(func.dfg[inst], InstData::Trap))
            && func.dfg.block_params(*block).is_empty()
            && func.layout.entry() != Some(*block)
    };
    let traps: Vec<Block> = func.layout.blocks().filter(only_traps).collect();
    let [kept, others @ ..] = &traps[..] else { return Changes::NONE };
    if others.is_empty() {
        return Changes::NONE;
    }
    let mut gone: EntitySet<Block> = EntitySet::with_capacity(func.dfg.num_blocks());
    gone.extend(others.iter().copied());
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        let Some(end) = func.terminator(block) else { continue };
        func.dfg.for_each_target_mut(end, |call, _| {
            if gone.contains(call.block) {
                call.block = *kept;
            }
        });
    }
    others.iter().for_each(|&block| func.layout.remove_block(block));
    cx.analyses.invalidate(Aspects::ALL);
    Changes::to_all(others.len() as u32 + conjoin::run(func, cx).count)
}
