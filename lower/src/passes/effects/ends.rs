//! Which functions are known to end.
//!
//! A loop ends if every round comes to a comparison of a counter with a number that does not change: the counter goes by one to the number, or by steps
//! that are promised not to wrap past it.

use crate::analysis::{Analyses, Cfg, Loop, Loops};
use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::{Block, DominatorTree, Function, InstData, IntCC, Opcode, Value};

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

/// Whether a loop is known to end if those in it do.
fn counts(
    func: &Function,
    cfg: &Cfg,
    dominators: &DominatorTree,
    found: Loop<'_>,
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
    found: Loop<'_>,
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
    let outside = |value: Value| !func.block_of(value).is_some_and(&inside);
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
fn step(func: &Function, found: Loop<'_>, latches: &[Block], value: Value) -> Option<(i64, bool)> {
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
