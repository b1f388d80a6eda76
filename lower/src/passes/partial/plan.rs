//! Which loops are unrolled, and how far.

use super::{Counter, Plan, Shape, Sources, Step};
use crate::analysis::{Loop, Uniformity};
use smallvec::{SmallVec, smallvec};
use std::iter::successors;
use warpsmith_base::FxHashSet;
use warpsmith_ir::{Block, Function, Inst, InstData, IntCC, LoopHint, Opcode, Traits, Type, Value};

/// Instructions that the rounds in one may have together where the source says nothing.
const MAX_SIZE: usize = 112;
/// Rounds that become one where the source says nothing, the most first.
const ROUNDS: [usize; 2] = [4, 2];
/// Rounds that become one where nothing remains then.
const EXACT: std::ops::RangeInclusive<usize> = 3..=16;
/// Tests that decide together whether a loop goes on.
const MAX_TESTS: usize = 4;
/// The most that a fixed step is, so that several of them do not wrap.
const MAX_STEP: u64 = 1 << 16;
/// Instructions that the rounds in one may have together.
pub(super) const MAX_WANTED: usize = 4096;

const NOT_COUNTED: &str = "it does not count by a fixed step to a fixed bound, with the test at its end";

impl Plan {
    /// How many rounds of a loop become one, or why it stays as it is.
    pub(super) fn of(
        func: &Function,
        sources: &Sources,
        shape: &Shape,
        found: Loop<'_>,
    ) -> Result<Plan, &'static str> {
        let header = found.header;
        let hint = func.loop_hints[header].filter(|hint| *hint != LoopHint::UnrollEnable);
        match hint {
            Some(LoopHint::NoUnroll) => return Err("the source forbids it"),
            Some(LoopHint::UnrollFull) => return Err("the source wants all rounds or none"),
            Some(LoopHint::Unroll(_) | LoopHint::UnrollEnable) | None => {}
        }
        let (mut size, mut convergent) = (0, false);
        for inst in found.blocks.iter().flat_map(|&block| func.layout.insts(block)) {
            size += usize::from(!is_free(func, inst));
            convergent |= func.traits(inst).contains(Traits::CONVERGENT);
            if hint.is_none() && multiplies_in_background(func, inst) {
                return Err("it multiplies in the background, which needs no more rounds to be kept busy");
            }
            if size > MAX_WANTED || (size > MAX_SIZE && hint.is_none()) {
                return Err("it has too many instructions");
            }
        }
        let inner = |block: &Block| *block != header && shape.headers.contains(block);
        if hint.is_none() && found.blocks.iter().any(inner) {
            return Err("there are loops in it");
        }
        let (mut before, mut latch) = (None, None);
        let inside: FxHashSet<Block> = found.blocks.iter().copied().collect();
        for source in sources.of(header) {
            let place = if inside.contains(source) { &mut latch } else { &mut before };
            if place.replace(*source).is_some() {
                return Err("several blocks lead to it");
            }
        }
        let (Some(before), Some(latch)) = (before, latch) else { return Err("several blocks lead to it") };
        if func.layout.entry() == Some(header) {
            return Err("the function begins with it");
        }
        let leaves = |block: Block| {
            let mut targets = func.terminator(block).into_iter().flat_map(|inst| func.dfg.targets(inst));
            targets.any(|call| !inside.contains(&call.block))
        };
        let exits = found.blocks.iter().any(|&block| block != latch && leaves(block));
        if exits && convergent {
            return Err("it is left in several places, and threads work together in it");
        }
        let Some(InstData::Brif { cond, dests }) = func.terminator(latch).map(|inst| &func.dfg[inst]) else {
            return Err(NOT_COUNTED);
        };
        let stays = match [0, 1].map(|way: usize| inside.contains(&dests[way].block)) {
            [true, false] => 0,
            [false, true] => 1,
            [true, true] | [false, false] => return Err(NOT_COUNTED),
        };
        let mut calls = func.terminator(before).into_iter().flat_map(|inst| func.dfg.targets(inst));
        let first = calls.find(|call| call.block == header).ok_or("several blocks lead to it")?;
        let given = [first.args(&func.dfg.pool), dests[stays].args(&func.dfg.pool)];
        let tests = tests(func, *cond, stays).ok_or(NOT_COUNTED)?;
        let counter = |&test| Counter::of(func, &inside, header, test, stays, given);
        let counters =
            tests.iter().map(counter).collect::<Option<SmallVec<[Counter; 1]>>>().ok_or(NOT_COUNTED)?;
        let steps = |counter: &Counter| matches!(counter.step, Step::Value(_));
        if hint.is_none() && counters.iter().any(steps) {
            return Err(NOT_COUNTED);
        }
        let all = match counters.as_slice() {
            [counter] => counter.rounds(func),
            _ => None,
        };
        let is_exact = |rounds: usize| all.is_some_and(|all| all % rounds as u128 == 0);
        let rounds = match hint {
            Some(LoopHint::Unroll(n)) => {
                usize::try_from(n).ok().filter(|n| (2..=64).contains(n) && n * size <= MAX_WANTED)
            }
            Some(LoopHint::NoUnroll | LoopHint::UnrollFull | LoopHint::UnrollEnable) | None => {
                let fits = |rounds: &usize| rounds * size <= MAX_SIZE;
                let exact = EXACT.rev().filter(fits).find(|&rounds| is_exact(rounds));
                exact.or_else(|| ROUNDS.into_iter().find(fits))
            }
        };
        let rounds = rounds.ok_or("it has too many instructions")?;
        let mut blocks = found.blocks.to_vec();
        blocks.sort_unstable_by_key(|block| shape.order[*block]);
        let exact = is_exact(rounds);
        let up = successors(Some(latch), |&block| shape.dominators.idom(block).filter(|_| block != header));
        let always = up.collect();
        Ok(Plan {
            header,
            latch,
            blocks,
            inside,
            always,
            before,
            size,
            convergent,
            exits,
            rounds,
            exact,
            counters,
            stays,
        })
    }

    /// Whether all threads that come to the loop together run it equally often.
    pub(super) fn is_uniform(&self, func: &Function, uniformity: &Uniformity) -> bool {
        let mut decide = self.counters.iter().flat_map(|counter| {
            let step = match counter.step {
                Step::Constant(_) => None,
                Step::Value(step) => Some(step),
            };
            [counter.start, counter.bound].into_iter().chain(step)
        });
        decide.all(|value| uniformity.is_uniform(func, value, self.before))
    }
}

/// The tests that all hold where a loop goes on by a way of a branch: its condition, or those that make it up.
fn tests(func: &Function, cond: Value, stays: usize) -> Option<SmallVec<[Value; 4]>> {
    let both = if stays == 0 { Opcode::Band } else { Opcode::Bor };
    let mut tests: SmallVec<[Value; 4]> = smallvec![cond];
    let mut n = 0;
    while let Some(&test) = tests.get(n) {
        match func.dfg.def_data(test) {
            Some(&InstData::Binary { op, args: [a, b] }) if op == both => {
                tests[n] = a;
                tests.push(b);
            }
            _ => n += 1,
        }
        if tests.len() > MAX_TESTS {
            return None;
        }
    }
    Some(tests)
}

impl Counter {
    /// How a loop counts that goes on only where a test holds, or (`stays` is 1) does not. For the header's parameters values are given at first, and in each round.
    fn of(
        func: &Function,
        inside: &FxHashSet<Block>,
        header: Block,
        test: Value,
        stays: usize,
        [first, given]: [&[Value]; 2],
    ) -> Option<Counter> {
        let &InstData::IntCompare { cond, args: [a, b] } = func.dfg.def_data(test)? else { return None };
        let cond = if stays == 0 { cond } else { cond.inverse() };
        let changes = |value: Value| func.block_of(value).is_some_and(|block| inside.contains(&block));
        let (next, cond, bound) = match (changes(a), changes(b)) {
            (true, false) => (a, cond, b),
            (false, true) => (b, cond.swapped(), a),
            (true, true) | (false, false) => return None,
        };
        let (next, widened) = match *func.dfg.def_data(next)? {
            InstData::Unary { op: op @ (Opcode::Sext | Opcode::Zext), arg } => (arg, Some(op)),
            _ => (next, None),
        };
        // Numbers that were extended without a sign compare as such, even where they are read as signed.
        let cond = if widened == Some(Opcode::Zext) { unsigned(cond) } else { cond };
        let sum = func.dfg.def_inst(next)?;
        let InstData::Binary { op: Opcode::Iadd | Opcode::Ptradd, args } = func.dfg[sum] else { return None };
        let params = func.dfg.block_params(header);
        let position = |value| params.iter().position(|&param| param == value);
        let (param, step) = match (position(args[0]), position(args[1])) {
            (Some(counter), None) => (counter, args[1]),
            (None, Some(counter)) => (counter, args[0]),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let step = match func.dfg.int_const(step) {
            Some(step) => Step::Constant(step),
            None if changes(step) => return None,
            None => Step::Value(step),
        };
        let up = matches!(cond, IntCC::Slt | IntCC::Sle | IntCC::Ult | IntCC::Ule);
        let down = matches!(cond, IntCC::Sgt | IntCC::Sge | IntCC::Ugt | IntCC::Uge);
        let counts = match step {
            Step::Constant(step) if step.unsigned_abs() > MAX_STEP => false,
            Step::Constant(step) if cond == IntCC::Ne => step != 0,
            Step::Constant(step) => (up && step > 0) || (down && step < 0),
            Step::Value(_) => up && func.dfg.ty(next).is_int(),
        };
        let ty = func.dfg.ty(next);
        let fits = given.get(param) == Some(&next) && (matches!(ty, Type::I32 | Type::I64) || ty.is_ptr());
        let &start = first.get(param)?;
        (counts && fits).then_some(Counter { param, start, next: sum, step, cond, bound, widened })
    }

    /// How many rounds there are, if that is known.
    fn rounds(&self, func: &Function) -> Option<u128> {
        self.run(func).map(|(rounds, _)| rounds)
    }

    /// The numbers that it counts through, from the least to the greatest, if they are known.
    pub(super) fn span(&self, func: &Function) -> Option<[i128; 2]> {
        self.run(func).map(|(_, span)| span)
    }

    /// How many rounds there are, and what the counter is in them.
    fn run(&self, func: &Function) -> Option<(u128, [i128; 2])> {
        let (Step::Constant(step), None) = (self.step, self.widened) else { return None };
        let (start, bound) = (func.dfg.int_const(self.start)?, func.dfg.int_const(self.bound)?);
        let bits = func.dfg.ty(self.bound).bits();
        let limits = match self.cond {
            IntCC::Slt | IntCC::Sle | IntCC::Sgt | IntCC::Sge => {
                [-1i128 << (bits - 1), (1 << (bits - 1)) - 1]
            }
            IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge | IntCC::Eq | IntCC::Ne => [0, (1 << bits) - 1],
        };
        let number = |value: i64| match limits[0] {
            0 => i128::from(value) & limits[1],
            _ => i128::from(value),
        };
        let (start, bound, step) = (number(start), number(bound), i128::from(step));
        let (left, by) = (if step < 0 { start - bound } else { bound - start }, step.abs());
        let rounds = match self.cond {
            IntCC::Slt | IntCC::Ult | IntCC::Sgt | IntCC::Ugt => (left + by - 1).div_euclid(by).max(1),
            IntCC::Sle | IntCC::Ule | IntCC::Sge | IntCC::Uge => (left.div_euclid(by) + 1).max(1),
            IntCC::Ne if left > 0 && left % by == 0 => left / by,
            IntCC::Ne | IntCC::Eq => return None,
        };
        // The last counter must not have wrapped.
        let end = start + rounds * step;
        let last = end - step;
        let is_known = (limits[0]..=limits[1]).contains(&end);
        is_known.then_some((rounds as u128, [start.min(last), start.max(last)]))
    }
}

/// The condition on numbers without a sign.
fn unsigned(cond: IntCC) -> IntCC {
    match cond {
        IntCC::Slt | IntCC::Ult => IntCC::Ult,
        IntCC::Sle | IntCC::Ule => IntCC::Ule,
        IntCC::Sgt | IntCC::Ugt => IntCC::Ugt,
        IntCC::Sge | IntCC::Uge => IntCC::Uge,
        IntCC::Eq | IntCC::Ne => cond,
    }
}

/// What leaves nothing behind in a round of several.
fn is_free(func: &Function, inst: Inst) -> bool {
    matches!(
        func.dfg[inst],
        InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Index { .. }
            | InstData::Jump { .. }
    )
}

/// Whether an instruction is a product of matrices that goes on while others are executed.
fn multiplies_in_background(func: &Function, inst: Inst) -> bool {
    let InstData::Ptx { data, .. } = func.dfg[inst] else { return false };
    matches!(
        func.dfg.ptx[data].mnemonic().opcode(),
        warpsmith_isa::Opcode::WgmmaMmaAsync | warpsmith_isa::Opcode::Tcgen05Mma
    )
}
