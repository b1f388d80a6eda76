//! Loop-invariant code motion: a pure operation whose operands come from outside of a loop moves to the block before it.
//!
//! Every operation of the IR is total, so running one that the loop would have skipped does no harm but for its time. Operations
//! that read memory or are convergent stay. A loop is entered from one block that goes nowhere else, or it is left alone.

use crate::analysis::{Cfg, Loop, Loops};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{Block, Function, Inst, InstData, ValueDef};

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let (cfg, loops) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<Loops>(func));
    let mut position: SecondaryMap<Block, u32> = SecondaryMap::new();
    cfg.reverse_postorder().iter().zip(0..).for_each(|(&block, n)| position[block] = n);
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut changes = 0;
    // Inner loops first: what leaves one is then seen by the loop around it.
    for (found, mark) in loops.iter().zip(1..).collect::<Vec<_>>().into_iter().rev() {
        found.blocks.iter().for_each(|&block| inside[block] = mark);
        let inside = |block: Block| inside[block] == mark;
        let Some(target) = preheader(func, &cfg, found, inside) else { continue };
        // In reverse post-order operands come before their users.
        let mut blocks = found.blocks.clone();
        blocks.sort_unstable_by_key(|&block| position[block]);
        for block in blocks {
            changes += hoist(func, block, target, inside);
        }
    }
    Changes::to_instructions(changes)
}

/// The jump at the end of the loop's preheader: that by which alone the loop is entered.
fn preheader(func: &Function, cfg: &Cfg, found: &Loop, inside: impl Fn(Block) -> bool) -> Option<Inst> {
    let mut outer = cfg.predecessors(found.header).iter().copied().filter(|&pred| !inside(pred));
    let (Some(before), None) = (outer.next(), outer.next()) else { return None };
    func.terminator(before).filter(|&inst| matches!(func.dfg[inst], InstData::Jump { .. }))
}

/// Moves what does not change from a block of a loop to the jump into the loop.
fn hoist(func: &mut Function, block: Block, target: Inst, inside: impl Fn(Block) -> bool) -> u32 {
    let mut changes = 0;
    let mut next = func.layout.first_inst(block);
    while let Some(inst) = next {
        next = func.layout.next_inst(inst);
        let invariant = func.traits(inst).is_pure()
            && func.dfg.args(inst).iter().all(|&arg| match func.dfg.def(arg) {
                ValueDef::Result(def, _) => !func.layout.block_of(def).is_some_and(&inside),
                ValueDef::Param(block, _) => !inside(block),
                ValueDef::Alias(_) | ValueDef::Detached => false,
            });
        if invariant {
            func.layout.remove_inst(inst);
            func.layout.insert_inst_before(inst, target);
            changes += 1;
        }
    }
    changes
}
