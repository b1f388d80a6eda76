//! The end of a round: a loop tests what it will have counted, not what it had, and counts there, behind the last use of what it had.
//! `while (n--) use(*p++)` then needs one register each for `n` and `p`, and [`super::partial`] finds a counter that is tested at the end.

use super::insert_before;
use crate::analysis::{Cfg, Loop, Loops};
use crate::pass::{Changes, Context};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use std::iter::successors;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, IntCC, Opcode, Type, Value, ValueDef};

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let loops = cx.analyses.get::<Loops>(func);
    let cfg = cx.analyses.get::<Cfg>(func);
    let ends: Vec<(Loop<'_>, Block)> =
        loops.iter().filter_map(|found| Some((found, one(&cfg, found, true)?))).collect();
    if ends.is_empty() {
        return Changes::NONE;
    }
    let tree = cx.analyses.get::<DominatorTree>(func);
    let mut tests = 0;
    for &(found, latch) in &ends {
        let before = one(&cfg, found, false).and_then(|block| func.terminator(block));
        tests += u32::from(test_next(func, found.header, latch, before));
    }
    tests += test_next_behind(func, &tree, &ends);
    let moved = count_last(func, &ends, &tree);
    if !moved.is_empty() && func.debug.is_some() {
        super::sink::unbind(func, &tree, &moved);
    }
    Changes::to_instructions(tests + moved.keys().count() as u32)
}

/// The block of a loop that alone leads back to its header, or the one in front that alone leads into it.
fn one(cfg: &Cfg, found: Loop<'_>, inside: bool) -> Option<Block> {
    let preds = cfg.predecessors(found.header).iter();
    let mut preds = preds.copied().filter(|block| found.blocks.contains(block) == inside);
    preds.next().filter(|_| preds.next().is_none())
}

/// What the latch gives the header for a parameter.
fn given(func: &Function, header: Block, latch: Block, param: usize) -> Option<Value> {
    let mut calls = func.dfg.targets(func.terminator(latch)?).filter(|call| call.block == header);
    let value = *calls.next()?.args(&func.dfg.pool).get(param)?;
    calls.next().is_none().then(|| func.dfg.resolve(value))
}

/// Makes the test at the end of a loop one of the next counter. True if it was one of the counter.
fn test_next(func: &mut Function, header: Block, latch: Block, before: Option<Inst>) -> bool {
    let Some(branch) = func.terminator(latch) else { return false };
    let InstData::Brif { cond, .. } = func.dfg[branch] else { return false };
    let Some(test) = func.dfg.def_inst(cond).and_then(|test| Test::of(func, test, (header, latch))) else {
        return false;
    };
    // A bound is in front of its loop.
    let next = test.of_next(func, before.unwrap_or(branch), branch);
    func.dfg.args_mut(branch)[0] = next;
    true
}

/// Makes tests of a counter behind its loop tests of the next one, if they are behind the end of a round: the loop then need not keep both. Says how many.
fn test_next_behind(func: &mut Function, tree: &DominatorTree, ends: &[(Loop<'_>, Block)]) -> u32 {
    let mut latches: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
    ends.iter().for_each(|&(found, latch)| latches[found.header] = Some(latch));
    let mut found: Vec<(Inst, Test)> = Vec::new();
    for block in func.layout.blocks() {
        for inst in func.layout.insts(block) {
            let InstData::IntCompare { args, .. } = func.dfg[inst] else { continue };
            let ValueDef::Param(header, _) = func.dfg.def(func.dfg.resolve(args[0])) else { continue };
            let Some(latch) = latches[header].filter(|&latch| latch != block) else { continue };
            // Behind the end of a round both counters are at hand, and of the same round.
            if tree.dominates(latch, block)
                && let Some(test) = Test::of(func, inst, (header, latch))
            {
                found.push((inst, test));
            }
        }
    }
    for (inst, test) in &found {
        // The counter may not have kept what its sum promises where only this test would rely on it.
        if let Some(step) = func.dfg.def_inst(test.next) {
            func.dfg.set_promised(step, false);
        }
        let next = test.of_next(func, *inst, *inst);
        super::replace_with(func, *inst, next);
    }
    if !found.is_empty() {
        func.dfg.resolve_aliases();
    }
    found.len() as u32
}

/// How the next counter compares where the counter does as is tested.
struct Test {
    cond: IntCC,
    next: Value,
    bound: i64,
}

impl Test {
    /// Only whether two numbers are equal says the same of what both become, if one of them wraps, as the next counter may in the last round.
    fn of(func: &Function, test: Inst, (header, latch): (Block, Block)) -> Option<Test> {
        let dfg = &func.dfg;
        let InstData::IntCompare { cond: cond @ (IntCC::Eq | IntCC::Ne), args } = dfg[test] else {
            return None;
        };
        let [counter, bound] = args.map(|arg| dfg.resolve(arg));
        let ValueDef::Param(block, n) = dfg.def(counter) else { return None };
        let next = given(func, header, latch, n as usize).filter(|_| block == header)?;
        let &InstData::Binary { op: Opcode::Iadd, args: [from, by] } = dfg.def_data(next)? else {
            return None;
        };
        let ty = dfg.ty(counter);
        let by = dfg.int_const(by).filter(|_| dfg.resolve(from) == counter && ty.bits() <= 64)?;
        // A promise that the sum does not wrap is kept by all counters up to the bound, and so must be by that.
        let bound = dfg.int_const(bound)?.checked_add(by)?;
        (ty.normalize(bound) == bound).then_some(Test { cond, next, bound })
    }

    /// Puts the bound and the comparison in front of instructions.
    fn of_next(&self, func: &mut Function, bound_at: Inst, at: Inst) -> Value {
        let ty = func.dfg.ty(self.next);
        let bound = insert_before(func, bound_at, InstData::IntConst { value: self.bound }, ty);
        insert_before(func, at, InstData::IntCompare { cond: self.cond, args: [self.next, bound] }, Type::I1)
    }
}

/// What computes the next of a parameter of a loop, not at the end of a round.
struct Counter<'l> {
    found: Loop<'l>,
    latch: Block,
    next: Value,
    step: Inst,
}

/// The blocks of one loop after another.
#[derive(Default)]
struct Inside {
    /// The header of the last loop that a block was found in.
    header: SecondaryMap<Block, PackedOption<Block>>,
    last: PackedOption<Block>,
}

impl Inside {
    fn go_on_to(&mut self, found: Loop<'_>) {
        let header = found.header.into();
        if self.last != header {
            self.last = header;
            found.blocks.iter().for_each(|&block| self.header[block] = header);
        }
    }

    fn contains(&self, block: Block) -> bool {
        self.header[block] == self.last
    }
}

fn counters<'l>(func: &Function, ends: &[(Loop<'l>, Block)]) -> Vec<Counter<'l>> {
    let (mut counters, mut inside) = (Vec::new(), Inside::default());
    let mut seen: EntitySet<Value> = EntitySet::new();
    for &(found, latch) in ends {
        inside.go_on_to(found);
        for (n, &param) in func.dfg.block_params(found.header).iter().enumerate() {
            let Some(next) = given(func, found.header, latch, n) else { continue };
            let Some(step) = func.dfg.def_inst(next) else { continue };
            if counts(func, step, param, |block| inside.contains(block))
                && !is_last(func, step, latch)
                && seen.insert(next)
            {
                counters.push(Counter { found, latch, next, step });
            }
        }
    }
    counters
}

/// Instructions behind a sum that are looked at.
const MAX_BEHIND: usize = 16;

/// Whether nothing but sums, constants, comparisons and the branch follows in the block that leads back.
fn is_last(func: &Function, step: Inst, latch: Block) -> bool {
    let mut behind =
        successors(func.layout.next_inst(step), |&inst| func.layout.next_inst(inst)).take(MAX_BEHIND);
    let stays = |inst: Inst| {
        matches!(
            func.dfg[inst],
            InstData::Binary { op: Opcode::Iadd | Opcode::Isub | Opcode::Ptradd, .. }
                | InstData::IntCompare { .. }
                | InstData::IntConst { .. }
                | InstData::Brif { .. }
                | InstData::Jump { .. }
        )
    };
    func.layout.block_of(step) == Some(latch) && behind.all(stays)
}

/// The blocks of the users of counters, one for each use, in the order of the counters.
fn users(func: &Function, counters: &[Counter<'_>]) -> Vec<SmallVec<[Block; 4]>> {
    let mut place: SecondaryMap<Value, Option<u32>> = SecondaryMap::new();
    place.resize(func.dfg.num_values());
    for (counter, n) in counters.iter().zip(0..) {
        place[counter.next] = Some(n);
    }
    let mut users = vec![SmallVec::new(); counters.len()];
    for block in func.layout.blocks() {
        for inst in func.layout.insts(block) {
            func.dfg.for_each_use(inst, |value| {
                if let Some(place) = place[func.dfg.resolve(value)] {
                    users[place as usize].push(block);
                }
            });
        }
    }
    users
}

/// Moves what counts to the end of a round, if nothing in the loop but the branch there and its test uses it, nor what other ends of the loop lead to.
fn count_last(func: &mut Function, ends: &[(Loop<'_>, Block)], tree: &DominatorTree) -> EntitySet<Value> {
    let mut moved: EntitySet<Value> = EntitySet::new();
    let counters = counters(func, ends);
    if counters.is_empty() {
        return moved;
    }
    let mut inside = Inside::default();
    for (&Counter { found, latch, next, step }, users) in counters.iter().zip(users(func, &counters)) {
        inside.go_on_to(found);
        let (own, behind): (SmallVec<[Block; 4]>, SmallVec<[Block; 4]>) =
            users.into_iter().partition(|&block| inside.contains(block));
        if behind.iter().any(|&block| !tree.dominates(latch, block)) {
            continue;
        }
        if let Some(user) = first_user_at_end(func, latch, (next, step), own.len())
            && func.layout.prev_inst(user) != Some(step)
        {
            func.layout.remove_inst(step);
            func.layout.insert_inst_before(step, user);
            moved.insert(next);
        }
    }
    moved
}

/// Whether an instruction of a loop computes the next of a parameter from it and what does not change.
fn counts(func: &Function, step: Inst, param: Value, inside: impl Fn(Block) -> bool) -> bool {
    let fixed = |value: Value| match func.dfg.def(value) {
        ValueDef::Result(inst, _) => {
            let outside = func.layout.block_of(inst).is_some_and(|block| !inside(block));
            outside || func.dfg.int_const(value).is_some()
        }
        ValueDef::Param(block, _) => !inside(block),
        ValueDef::Alias(_) | ValueDef::Detached => false,
    };
    let mut args = func.dfg.args(step).iter().map(|&arg| func.dfg.resolve(arg));
    func.layout.block_of(step).is_some_and(&inside)
        && func.traits(step).is_pure()
        && args.all(|arg| arg == param || fixed(arg))
}

/// The first user of a value at the end of a block: a comparison or its branch. `None` if the value has more users in the loop.
fn first_user_at_end(
    func: &Function,
    block: Block,
    (value, step): (Value, Inst),
    mut uses: usize,
) -> Option<Inst> {
    let branch = func.terminator(block)?;
    let (mut first, mut at) = (branch, Some(branch));
    while let Some(inst) = at.filter(|&inst| inst != step && uses > 0) {
        let compares = matches!(func.dfg[inst], InstData::IntCompare { .. } | InstData::IntConst { .. });
        if inst != branch && !compares {
            break;
        }
        let before = uses;
        func.dfg.for_each_use(inst, |used| uses -= usize::from(func.dfg.resolve(used) == value));
        if uses < before {
            first = inst;
        }
        at = func.layout.prev_inst(inst);
    }
    (uses == 0).then_some(first)
}
