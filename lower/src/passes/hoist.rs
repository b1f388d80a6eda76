//! What both sides of a branch begin with is done once in front of it: `if (c) x = a[i] + 1; else x = a[i];` loads `a[i]` once, and one side is empty then.
//!
//! Only what both blocks do before anything that they do not have in common moves, so loads need no proof, and only if each has the branch as its
//! one way in. Convergent operations stay: those of two blocks are two.

use super::replace_with;
use crate::pass::{Changes, Context};
use warpsmith_ir::{Block, Function, Inst, InstData, Traits};

/// Instructions at the start of a block that are looked at.
const MAX_LOOKED_AT: usize = 16;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let cfg = cx.analyses.get::<crate::analysis::Cfg>(func);
    let mut changes = 0;
    // Inner branches first: what they begin with may be what their block does.
    for &block in cfg.reverse_postorder().iter().rev() {
        let Some(branch) = func.terminator(block) else { continue };
        let InstData::Brif { dests: [yes, no], .. } = &func.dfg[branch] else { continue };
        let (yes, no) = (yes.block, no.block);
        let alone = |to: Block| cfg.predecessors(to).len() == 1 && func.dfg.block_params(to).is_empty();
        if yes == no || !alone(yes) || !alone(no) {
            continue;
        }
        while let Some((first, second)) = pair(func, yes, no) {
            let Some(kept) = func.dfg.first_result(first) else { break };
            func.layout.remove_inst(first);
            func.layout.insert_inst_before(first, branch);
            let promised = func.dfg.promised(first) && func.dfg.promised(second);
            func.dfg.set_promised(first, promised);
            replace_with(func, second, kept);
            changes += 1;
        }
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// Equal instructions of two blocks that nothing in front of them is in the way of.
fn pair(func: &Function, yes: Block, no: Block) -> Option<(Inst, Inst)> {
    let others: Vec<Inst> = movable(func, no);
    movable(func, yes).into_iter().find_map(|inst| {
        let key = |inst: Inst| super::gvn::key(func, inst, func.traits(inst));
        let own = key(inst)?;
        let same = |&other: &Inst| key(other).is_some_and(|other| other == own);
        others.iter().copied().find(same).map(|other| (inst, other))
    })
}

/// The instructions at the start of a block that could be done in front of it.
fn movable(func: &Function, block: Block) -> Vec<Inst> {
    let mut found = Vec::new();
    for inst in func.layout.insts(block).take(MAX_LOOKED_AT) {
        let traits = func.traits(inst);
        if traits.intersects(Traits::WRITES.union(Traits::CONVERGENT).union(Traits::SIDE_EFFECT))
            || func.terminator(block) == Some(inst)
        {
            break;
        }
        let plain = match func.dfg[inst] {
            InstData::Load { flags, .. } => !flags.volatile,
            InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::Index { .. } => traits.is_pure(),
            _ => false,
        };
        let own = func.dfg.args(inst).iter().any(|&arg| {
            func.dfg
                .def_inst(func.dfg.resolve(arg))
                .is_some_and(|def| func.layout.block_of(def) == Some(block))
        });
        if plain && !own {
            found.push(inst);
        }
    }
    found
}
