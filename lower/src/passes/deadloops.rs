//! A loop without effects that computes nothing which is used behind it goes, if it is known to end.
//!
//! It ends if every round comes to a comparison of a counter with a number that does not change: the counter goes by one to the number, or by steps that
//! are promised not to wrap past it. Loads go with the loop, unless they are volatile; convergent operations and stores keep it.

use super::ssa;
use crate::analysis::{Analyses, Cfg, Loop, Loops};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::{
    Block, BlockCall, DominatorTree, Function, InstData, IntCC, Opcode, Traits, Value, ValueList,
};

/// A loop around others ends if these are gone: so many layers of them.
const MAX_LAYERS: u32 = 8;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    if cx.analyses.get::<Loops>(func).iter().next().is_none() {
        return Changes::NONE;
    }
    let mut changes = 0;
    for _ in 0..MAX_LAYERS {
        let removed = layer(func, cx);
        if removed == 0 {
            break;
        }
        cx.analyses.invalidate(Aspects::ALL);
        changes += removed;
    }
    Changes::to_all(changes)
}

/// Removes loops that have none in them, and says how many.
fn layer(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    let (cfg, loops) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<Loops>(func));
    let dominators = cx.analyses.get::<DominatorTree>(func);
    let used_in = users(func, &loops);
    let mut mark: SecondaryMap<Block, u32> = SecondaryMap::new();
    // Removed blocks, and those of which the graph says what holds no more.
    let mut gone: EntitySet<Block> = EntitySet::new();
    let mut touched: EntitySet<Block> = EntitySet::new();
    let mut changes = 0;
    for (found, n) in loops.iter().zip(1..).collect::<Vec<_>>().into_iter().rev() {
        found.blocks.iter().for_each(|&block| mark[block] = n);
        let inside = |block: Block| mark[block] == n;
        let Some((to, args)) = only_exit(func, found, inside) else { continue };
        let near = found.blocks.iter().chain(cfg.predecessors(found.header)).copied().chain([to]);
        if near.clone().any(|block| touched.contains(block))
            || has_effects(func, found)
            || is_used_behind(func, found, &used_in, inside)
            || !is_flat(func, &dominators, found, inside)
            || !counts(func, &cfg, &dominators, found, inside)
        {
            continue;
        }
        let at = func.layout.first_inst(found.header);
        cx.log.remark(func, at, "deadloops", true, || "loop removed: nothing needs what it does".into());
        let before = cfg.predecessors(found.header).iter().filter(|&&block| !inside(block));
        for branch in before.filter_map(|&block| func.terminator(block)).collect::<Vec<_>>() {
            func.dfg.for_each_target_mut(branch, |call, pool| {
                if call.block == found.header {
                    *call = BlockCall { block: to, args: ValueList::from_slice(&args, pool) };
                }
            });
        }
        touched.extend(near);
        gone.extend(found.blocks.iter().copied());
        changes += 1;
    }
    for block in func.layout.blocks().filter(|&block| gone.contains(block)).collect::<Vec<_>>() {
        func.layout.remove_block(block);
    }
    changes
}

/// For each value of a loop the blocks that use it, but for its own.
fn users(func: &Function, loops: &Loops) -> SecondaryMap<Value, Vec<Block>> {
    let mut in_loop: SecondaryMap<Block, bool> = SecondaryMap::new();
    loops.iter().flat_map(|found| &found.blocks).for_each(|&block| in_loop[block] = true);
    let mut used_in: SecondaryMap<Value, Vec<Block>> = SecondaryMap::new();
    for block in func.layout.blocks() {
        for value in func.layout.insts(block).flat_map(|inst| func.dfg.uses(inst)) {
            let value = func.dfg.resolve(value);
            let own = ssa::block_of(func, value);
            if own != Some(block)
                && own.is_some_and(|own| in_loop[own])
                && used_in[value].last() != Some(&block)
            {
                used_in[value].push(block);
            }
        }
    }
    used_in
}

/// Where all edges out of a loop lead, if they give the same values, which are none of the loop's.
fn only_exit(func: &Function, found: &Loop, inside: impl Fn(Block) -> bool) -> Option<(Block, Vec<Value>)> {
    let mut exit: Option<(Block, Vec<Value>)> = None;
    for &block in &found.blocks {
        for call in func.dfg.targets(func.terminator(block)?).filter(|call| !inside(call.block)) {
            let args: Vec<Value> =
                call.args(&func.dfg.pool).iter().map(|&value| func.dfg.resolve(value)).collect();
            if args.iter().any(|&value| ssa::block_of(func, value).is_some_and(&inside)) {
                return None;
            }
            let way = (call.block, args);
            if exit.as_ref().is_some_and(|known| *known != way) {
                return None;
            }
            exit = Some(way);
        }
    }
    exit
}

fn has_effects(func: &Function, found: &Loop) -> bool {
    let effects = Traits::WRITES | Traits::CONVERGENT | Traits::SIDE_EFFECT;
    found.blocks.iter().any(|&block| {
        let mut insts = func.layout.insts(block);
        insts.any(|inst| match &func.dfg[inst] {
            InstData::Load { flags, .. } => flags.volatile,
            InstData::Jump { .. } | InstData::Brif { .. } | InstData::Switch { .. } => false,
            InstData::Trap | InstData::Return { .. } => true,
            _ => func.traits(inst).intersects(effects),
        })
    })
}

fn is_used_behind(
    func: &Function,
    found: &Loop,
    used_in: &SecondaryMap<Value, Vec<Block>>,
    inside: impl Fn(Block) -> bool,
) -> bool {
    let used = |value: Value| used_in[value].iter().any(|&block| !inside(block));
    found.blocks.iter().any(|&block| {
        func.dfg.block_params(block).iter().any(|&param| used(param))
            || func.layout.insts(block).any(|inst| func.dfg.results(inst).into_iter().any(used))
    })
}

/// Whether all cycles of a function are loops that are known to end.
pub(super) fn all_end(func: &Function, analyses: &mut Analyses) -> bool {
    let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
    let dominators = analyses.get::<DominatorTree>(func);
    let mut position: SecondaryMap<Block, u32> = SecondaryMap::new();
    cfg.reverse_postorder().iter().zip(0..).for_each(|(&block, n)| position[block] = n);
    let headers: EntitySet<Block> = {
        let mut headers = EntitySet::new();
        headers.extend(loops.iter().map(|found| found.header));
        headers
    };
    let is_cycle = |from: Block, to: Block| position[to] <= position[from];
    let is_known = |from: Block, to: Block| headers.contains(to) && dominators.dominates(to, from);
    let blocks = cfg.reverse_postorder();
    let known =
        |&block: &Block| func.successors(block).all(|next| !is_cycle(block, next) || is_known(block, next));
    let mut mark: SecondaryMap<Block, u32> = SecondaryMap::new();
    // Inner loops first: those around them end if these do.
    blocks.iter().all(known)
        && loops.iter().zip(1..).collect::<Vec<_>>().into_iter().rev().all(|(found, n)| {
            found.blocks.iter().for_each(|&block| mark[block] = n);
            let inside = |block: Block| mark[block] == n;
            counts(func, &cfg, &dominators, found, inside)
        })
}

/// Whether there is no loop in a loop: whether that ends is not asked here. It would have an edge back to a block that dominates where that begins.
fn is_flat(
    func: &Function,
    dominators: &DominatorTree,
    found: &Loop,
    inside: impl Fn(Block) -> bool,
) -> bool {
    let is_back_edge = |from: Block, to: Block| to == found.header || !dominators.dominates(to, from);
    found.blocks.iter().all(|&block| {
        func.successors(block).filter(|&next| inside(next)).all(|next| is_back_edge(block, next))
    })
}

/// Whether a loop is known to end if those in it do.
fn counts(
    func: &Function,
    cfg: &Cfg,
    dominators: &DominatorTree,
    found: &Loop,
    inside: impl Fn(Block) -> bool + Copy,
) -> bool {
    let latches: Vec<Block> =
        cfg.predecessors(found.header).iter().copied().filter(|&block| inside(block)).collect();
    found.blocks.iter().any(|&block| {
        latches.iter().all(|&latch| dominators.dominates(block, latch))
            && decides(func, found, &latches, block, inside)
    })
}

/// Whether the branch of a block, which every round comes to, leaves the loop at the latest when a counter has reached a number.
fn decides(
    func: &Function,
    found: &Loop,
    latches: &[Block],
    block: Block,
    inside: impl Fn(Block) -> bool,
) -> bool {
    let Some(InstData::Brif { cond, dests }) = func.terminator(block).map(|inst| &func.dfg[inst]) else {
        return false;
    };
    let stays = match [inside(dests[0].block), inside(dests[1].block)] {
        [true, false] => 0,
        [false, true] => 1,
        [true, true] | [false, false] => return false,
    };
    let Some(&InstData::IntCompare { cond, args: [a, b] }) = func.dfg.def_data(func.dfg.resolve(*cond))
    else {
        return false;
    };
    let cond = if stays == 0 { cond } else { cond.inverse() };
    let [a, b] = [a, b].map(|value| func.dfg.resolve(value));
    let outside = |value: Value| !ssa::block_of(func, value).is_some_and(&inside);
    let (counter, cond) = match (outside(a), outside(b)) {
        (false, true) => (a, cond),
        (true, false) => (b, cond.swapped()),
        (true, true) | (false, false) => return false,
    };
    let Some((step, promised)) = step(func, found, latches, counter) else { return false };
    let signed = matches!(cond, IntCC::Slt | IntCC::Sle | IntCC::Sgt | IntCC::Sge);
    match cond {
        IntCC::Slt | IntCC::Ult => step == 1 || (step > 0 && promised && signed),
        IntCC::Sgt | IntCC::Ugt => step == -1 || (step < 0 && promised && signed),
        IntCC::Sle => step > 0 && promised,
        IntCC::Sge => step < 0 && promised,
        IntCC::Ne => step.unsigned_abs() == 1,
        IntCC::Eq | IntCC::Ule | IntCC::Uge => false,
    }
}

/// By how much a value grows from round to round, and whether that is promised not to wrap: a parameter of the header, or what it is in the next round.
fn step(func: &Function, found: &Loop, latches: &[Block], value: Value) -> Option<(i64, bool)> {
    let params = func.dfg.block_params(found.header);
    let of_sum = |next: Value| -> Option<(Value, i64, bool)> {
        let inst = func.dfg.def_inst(next)?;
        let InstData::Binary { op: Opcode::Iadd, args: [a, b] } = func.dfg[inst] else { return None };
        let [a, b] = [a, b].map(|value| func.dfg.resolve(value));
        let (param, step) = match (func.dfg.int_const(a), func.dfg.int_const(b)) {
            (None, Some(step)) => (a, step),
            (Some(step), None) => (b, step),
            (None, None) | (Some(_), Some(_)) => return None,
        };
        Some((param, step, func.dfg.no_signed_wrap(inst)))
    };
    let n = match params.iter().position(|&param| param == value) {
        Some(n) => n,
        None => params.iter().position(|&param| of_sum(value).is_some_and(|(of, ..)| of == param))?,
    };
    let mut found_step = None;
    for &latch in latches {
        for call in func.dfg.targets(func.terminator(latch)?).filter(|call| call.block == found.header) {
            let next = func.dfg.resolve(call.args(&func.dfg.pool)[n]);
            let (param, step, promised) = of_sum(next)?;
            if param != params[n] || found_step.is_some_and(|known| known != (step, promised)) {
                return None;
            }
            found_step = Some((step, promised));
        }
    }
    found_step
}
