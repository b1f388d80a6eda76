//! Loop unswitching: a branch in a loop on a condition that is the same in all rounds is taken once, in front of two copies of the loop.
//!
//! The condition has to be uniform: otherwise the threads of a warp would go through both copies, one after the other, where they now go round once. For
//! the same reason threads that work together in the loop stay together, and a loop is copied with its convergent operations as a whole.
//!
//! Loops are small and without loops inside that the branch is not in, since what is copied is all of it.

use super::copy::copy_blocks;
use super::ssa;
use crate::analysis::{Analyses, Cfg, Loop, Loops, Uniformity};
use crate::pass::{Changes, Context};
use cranelift_entity::EntitySet;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, BlockCall, DominatorTree, Function, InstData, Value};

/// Instructions that a loop may have.
const MAX_SIZE: usize = 96;
/// Instructions that the copies of a function may have together.
const MAX_GROWTH: usize = 384;
/// Each loop takes time in proportion to the function: so many instructions in all.
const MAX_WORK: usize = 1 << 22;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    if cx.analyses.get::<Loops>(func).iter().next().is_none() {
        return Changes::NONE;
    }
    let (mut changes, mut growth, mut work) = (0, MAX_GROWTH, MAX_WORK);
    loop {
        let cost = func.layout.num_insts().max(1);
        let Some(left) = work.checked_sub(cost) else { break };
        work = left;
        let mut analyses = Analyses::default();
        let loops = analyses.get::<Loops>(func);
        // Inner loops first.
        let found =
            loops.iter().rev().find_map(|found| Some((found, Plan::of(func, found, growth, &mut analyses)?)));
        let Some((found, plan)) = found else { break };
        growth -= plan.size;
        let at = func.terminator(plan.block);
        cx.log.remark(func, at, "unswitch", true, || {
            "branch taken once, in front of two copies of its loop".into()
        });
        plan.carry_out(func, found);
        changes += 1;
    }
    if changes > 0 {
        ssa::remove_redundant_params(func);
        func.dfg.resolve_aliases();
    }
    Changes::to_all(changes)
}

/// A branch that is taken in front of its loop.
struct Plan {
    block: Block,
    cond: Value,
    size: usize,
}

impl Plan {
    fn of(func: &Function, found: Loop<'_>, growth: usize, analyses: &mut Analyses) -> Option<Plan> {
        let insts = found.blocks.iter().map(|&block| func.layout.insts(block).count());
        let size: usize = insts.sum();
        if size > MAX_SIZE.min(growth) {
            return None;
        }
        let inside = set(found.blocks);
        let before = analyses.get::<DominatorTree>(func).idom(found.header)?;
        let invariant = |value| func.block_of(value).is_some_and(|block| !inside.contains(block));
        let mut candidates =
            found.blocks.iter().filter_map(|&block| match func.dfg[func.terminator(block)?] {
                InstData::Brif { cond, ref dests } if dests[0].block != dests[1].block => Some((block, cond)),
                _ => None,
            });
        let (block, cond) = candidates.find(|&(_, cond)| {
            invariant(cond)
                && func.dfg.int_const(cond).is_none()
                && analyses.get::<Uniformity>(func).is_uniform(func, cond, before)
        })?;
        Some(Plan { block, cond, size })
    }

    fn carry_out(self, func: &mut Function, found: Loop<'_>) {
        let header = found.header;
        let inside = set(found.blocks);
        let cfg = Cfg::compute(func);
        let outside = ssa::used_outside(func, &cfg, &inside);
        let entries: Vec<Block> =
            cfg.predecessors(header).iter().copied().filter(|&block| !inside.contains(block)).collect();
        let last = func.layout.blocks().filter(|&block| inside.contains(block)).last().unwrap_or(header);
        let copied = copy_blocks(func, found.blocks, last);
        decide(func, self.block, 0);
        decide(func, copied.blocks[&self.block], 1);
        let (choice, given) = super::in_front(func, header, &entries);
        let dests = [header, copied.blocks[&header]].map(|to| BlockCall::new(to, &given, &mut func.dfg.pool));
        let branch = func.dfg.make_inst(InstData::Brif { cond: self.cond, dests }, &[]);
        func.layout.append_inst(branch, choice);
        if let Some(decided) = func.terminator(self.block) {
            func.inst_locs[branch] = func.inst_locs[decided];
        }
        let cfg = Cfg::compute(func);
        let defined = |value| {
            let own = func.block_of(value)?;
            Some((value, FxHashMap::from_iter([(own, value), (copied.blocks[&own], copied.value(value))])))
        };
        let defined: Vec<ssa::Defined> = outside.into_iter().filter_map(defined).collect();
        ssa::repair(func, &cfg, &defined);
        // What only the other way of a branch led to was given no parameters.
        super::cfg::remove_unreachable(func, &cfg);
    }
}

fn set(blocks: &[Block]) -> EntitySet<Block> {
    let mut set = EntitySet::new();
    set.extend(blocks.iter().copied());
    set
}

/// Makes a jump of a branch, to one of its targets.
fn decide(func: &mut Function, block: Block, way: usize) {
    if let Some(branch) = func.terminator(block)
        && let InstData::Brif { dests, .. } = &func.dfg[branch]
    {
        let dest = dests[way].clone();
        func.dfg.replace_inst(branch, InstData::Jump { dest });
    }
}
