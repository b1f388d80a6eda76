//! Jump threading: where the edge by which a block is entered decides its branch, the edge leads to where the branch goes, past a copy of the
//! block.
//!
//! What dominates a block decides too: behind an edge that is taken if a condition holds, the condition is a constant. Blocks of more than a few
//! operations, and those with an effect, are not copied. Threads that part before the block met in it and do not any more: it stays as it is
//! where they communicate before they meet again, unless none have parted there. Heads of loops stay heads of loops.

use super::copy::copy_blocks;
use super::ssa;
use crate::analysis::{Analyses, Cfg, Loops, PostDominators, Uniformity};
use crate::fold::{self, Constant};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::EntitySet;
use smallvec::SmallVec;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, Traits, Value};

/// Operations that a block may have which is copied.
const MAX_SIZE: usize = 8;
/// How far up the ways to a block are looked at.
const MAX_UP: usize = 4;
/// Edges into one block that are looked at.
const MAX_EDGES: usize = 32;
/// Blocks that are looked at to see where threads part.
const MAX_STEPS: usize = 4096;
/// The graph is computed anew behind each block that is threaded, which takes time in proportion to the blocks: so many in all.
const MAX_WORK: usize = 1 << 22;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let known = super::decided::run(func, cx, super::decided::Given::Constant);
    let mut work = MAX_WORK;
    let mut threaded = 0;
    let mut skipped: EntitySet<Block> = EntitySet::new();
    let mut own = Analyses::default();
    loop {
        // What holds of the graph holds until the first block is threaded.
        let analyses = if threaded == 0 { &mut *cx.analyses } else { &mut own };
        let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
        let mut heads: EntitySet<Block> = EntitySet::new();
        heads.extend(loops.iter().map(|found| found.header));
        let found = cfg.reverse_postorder().iter().find_map(|&block| {
            let candidate = !skipped.contains(block) && !heads.contains(block);
            let edges = if candidate { decided(func, &cfg, block) } else { Vec::new() };
            (!edges.is_empty()).then_some((block, edges))
        });
        let Some((block, edges)) = found else { break };
        // One that was threaded once is not again: circles would not end.
        skipped.insert(block);
        let cost = func.layout.blocks().count();
        if work < cost {
            break;
        }
        work -= cost;
        if !parts_communicate(func, block, analyses) || nobody_parts(func, block, analyses) {
            threaded += edges.len() as u32;
            thread(func, block, edges);
            own.invalidate(Aspects::ALL);
        }
    }
    if threaded > 0 {
        let cfg = Cfg::compute(func);
        super::cfg::remove_unreachable(func, &cfg);
        ssa::remove_redundant_params(func);
    }
    if threaded > 0 { Changes::to_all(threaded + known) } else { Changes::to_instructions(known) }
}

/// An edge into a block, and the number of the target that the block's branch goes to behind it.
struct Edge {
    from: Block,
    target: usize,
    onward: usize,
}

/// The edges into a block that decide its branch.
fn decided(func: &Function, cfg: &Cfg, block: Block) -> Vec<Edge> {
    let mut found = Vec::new();
    if func.layout.entry() == Some(block) || cfg.predecessors(block).len() < 2 {
        return found;
    }
    let Some(branch) = func.terminator(block) else { return found };
    if !matches!(func.dfg[branch], InstData::Brif { .. } | InstData::Switch { .. }) {
        return found;
    }
    let mut size = 0;
    for inst in func.layout.insts(block).filter(|&inst| inst != branch) {
        size += 1;
        if size > MAX_SIZE || !func.traits(inst).is_pure() {
            return found;
        }
    }
    let mut preds: SmallVec<[Block; 8]> = cfg.predecessors(block).into();
    preds.sort_unstable();
    preds.dedup();
    for from in preds.into_iter().take(MAX_EDGES).filter(|&from| from != block) {
        let Some(before) = func.terminator(from) else { continue };
        for (target, call) in func.dfg.targets(before).enumerate().filter(|(_, call)| call.block == block) {
            let known = implied(func, cfg, branch, from, target);
            let onward = onward(func, block, branch, call, known);
            let leads_on = |n: &usize| func.dfg.targets(branch).nth(*n).is_some_and(|to| to.block != block);
            found.extend(onward.filter(leads_on).map(|onward| Edge { from, target, onward }));
        }
    }
    found
}

/// The condition of a branch and whether it holds, if the way to the branch's block by an edge was decided by the same condition.
fn implied(
    func: &Function,
    cfg: &Cfg,
    branch: Inst,
    mut from: Block,
    mut target: usize,
) -> Option<(Value, bool)> {
    let &InstData::Brif { cond: own, .. } = &func.dfg[branch] else { return None };
    let asked = func.dfg.resolve(own);
    for _ in 0..MAX_UP {
        if let InstData::Brif { cond, dests: [yes, no] } = &func.dfg[func.terminator(from)?]
            && func.dfg.resolve(*cond) == asked
            && yes.block != no.block
        {
            return Some((own, target == 0));
        }
        let &[above] = cfg.predecessors(from) else { return None };
        target = func.successors(above).position(|block| block == from)?;
        from = above;
    }
    None
}

/// Which target a block's branch goes to when it is entered by an edge, if the edge says.
#[expect(clippy::wildcard_enum_match_arm, reason = "only branches of several ways are decided")]
fn onward(
    func: &Function,
    block: Block,
    branch: Inst,
    edge: &BlockCall,
    known: Option<(Value, bool)>,
) -> Option<usize> {
    let dfg = &func.dfg;
    let mut values: FxHashMap<Value, Constant> = FxHashMap::default();
    values.extend(known.map(|(condition, holds)| (condition, Constant::Int(holds.into()))));
    for (param, arg) in dfg.given(edge) {
        if let Some(constant) = constant(func, arg) {
            values.insert(param, constant);
        }
    }
    for inst in func.layout.insts(block) {
        let value = |value: Value| values.get(&value).copied().or_else(|| constant(func, value));
        if let Some(folded) = fold::instruction(func, inst, value)
            && let Some(result) = dfg.first_result(inst)
        {
            values.insert(result, folded);
        }
    }
    let taken = |value: Value| match values.get(&value).copied().or_else(|| constant(func, value))? {
        Constant::Int(value) => Some(value),
        Constant::Float(_) => None,
    };
    match &dfg[branch] {
        InstData::Brif { cond, .. } => Some(usize::from(taken(*cond)? == 0)),
        InstData::Switch { arg, table } => {
            let value = taken(*arg)?;
            let cases = &dfg.jump_tables[*table].cases;
            Some(cases.iter().position(|(case, _)| *case == value).map_or(0, |n| n + 1))
        }
        _ => None,
    }
}

fn constant(func: &Function, value: Value) -> Option<Constant> {
    let value = func.dfg.resolve(value);
    let int = func.dfg.int_const(value).filter(|_| func.dfg.ty(value).bits() <= 64).map(Constant::Int);
    int.or_else(|| func.dfg.float_const(value).map(Constant::Float))
}

/// Whether threads that part at a block communicate before they meet again.
fn parts_communicate(func: &Function, block: Block, analyses: &mut Analyses) -> bool {
    let convergent =
        |block: Block| func.layout.insts(block).any(|inst| func.traits(inst).contains(Traits::CONVERGENT));
    if !func.layout.blocks().any(convergent) {
        return false;
    }
    let meet = analyses.get::<PostDominators>(func).parent(block);
    comes_to(func, block, meet, |next| Some(next) != meet && convergent(next))
}

/// Whether threads that part at a block come to one of a kind, up to the block where they meet again, that one too.
fn comes_to(func: &Function, from: Block, meet: Option<Block>, mut is: impl FnMut(Block) -> bool) -> bool {
    let mut seen: FxHashSet<Block> = FxHashSet::default();
    let mut work: Vec<Block> = func.successors(from).collect();
    while let Some(next) = work.pop() {
        if !seen.insert(next) {
            continue;
        }
        if is(next) {
            return true;
        }
        if Some(next) != meet {
            work.extend(func.successors(next));
        }
    }
    false
}

/// Whether all threads that execute a block together come to it by one edge and go on by one: no branch that parts threads has it between its sides and the
/// block where these meet again, or is that block.
fn nobody_parts(func: &Function, block: Block, analyses: &mut Analyses) -> bool {
    let (uniformity, ends) = (analyses.get::<Uniformity>(func), analyses.get::<PostDominators>(func));
    if !uniformity.stays_together(func, block) {
        return false;
    }
    let parts =
        |from: &Block| func.successors(*from).nth(1).is_some() && !uniformity.stays_together(func, *from);
    let mut steps = MAX_STEPS;
    let mut is_here = |next: Block| {
        steps = steps.saturating_sub(1);
        next == block || steps == 0
    };
    !func.layout.blocks().filter(parts).any(|from| comes_to(func, from, ends.parent(from), &mut is_here))
}

/// Sends edges past copies of a block.
fn thread(func: &mut Function, block: Block, edges: Vec<Edge>) {
    let mut own: EntitySet<Block> = EntitySet::new();
    own.insert(block);
    let outside = ssa::used_outside(func, &Cfg::compute(func), &own);
    let mut defs: Vec<ssa::Defined> =
        outside.iter().map(|&value| (value, FxHashMap::from_iter([(block, value)]))).collect();
    for Edge { from, target, onward } in edges {
        let copied = copy_blocks(func, &[block], block);
        let copy = copied.blocks[&block];
        if let Some(branch) = func.terminator(copy) {
            let dest = func.dfg.targets(branch).nth(onward).cloned();
            // The list of arguments is no longer the branch's, which goes.
            dest.into_iter().for_each(|dest| func.dfg.replace_inst(branch, InstData::Jump { dest }));
        }
        if let Some(before) = func.terminator(from) {
            let mut n = 0;
            func.dfg.for_each_target_mut(before, |call, _| {
                if n == target {
                    call.block = copy;
                }
                n += 1;
            });
        }
        for (value, known) in &mut defs {
            known.insert(copy, copied.value(*value));
        }
    }
    if !defs.is_empty() {
        ssa::repair(func, &Cfg::compute(func), &defs);
    }
}
