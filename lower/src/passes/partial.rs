//! Partial unrolling of counted loops: several rounds in one, behind a test that so many are left; what remains is done by the loop as it was.
//!
//! The loop is one block that counts by a step that it does not change up or down to a bound that it does not change, and tests the counter at its
//! end. With `k` rounds in one, the unrolled loop runs while the counter has not passed the bound less `k - 1` steps, which is computed in front of
//! it; where that itself would wrap, or a step that is only known when the program runs is not positive, the loop as it was does everything. So the
//! counter does not wrap in between, and the addresses of all rounds are those of the first one and a stride each ([`strides`]). A loop that
//! counts by one until it meets its bound (`ne`) runs to the last multiple of `k` rounds.
//!
//! Loops with convergent operations are left alone, and those that are to stay loops. How many rounds become one is what the source says
//! (`unroll n`), else as many as keep the loop short.

use super::copy::{Copied, copy_blocks};
use super::{insert_before, ssa};
use crate::analysis::{Cfg, Loop, Loops};
use crate::pass::{Changes, Context};
use smallvec::SmallVec;
use std::rc::Rc;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{
    Block, BlockCall, Function, Inst, InstData, IntCC, LoopHint, Opcode, Traits, Type, Value, ValueList,
};

mod close;
mod strides;

/// Instructions that the rounds in one may have together where the source says nothing.
const MAX_SIZE: usize = 112;
/// Rounds that become one where the source says nothing, the most first.
const ROUNDS: [usize; 2] = [4, 2];
/// Steps that are only known when the program runs are below this, so that several of them do not wrap.
const MAX_STEP: i64 = 1 << 24;
/// Instructions that the rounds in one may have together.
const MAX_WANTED: usize = 4096;
/// Instructions that all loops of a function may become together.
const MAX_GROWTH: usize = 20_000;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let (loops, cfg) = (cx.analyses.get::<Loops>(func), cx.analyses.get::<Cfg>(func));
    let mut sources = Sources { cfg, changed: FxHashMap::default() };
    let mut growth = 0;
    let mut planned: Vec<&Loop> = Vec::new();
    let mut stays = |func: &Function, found: &Loop, why: &str| {
        let at = func.terminator(found.header);
        cx.log.remark(func, at, "partial", false, || format!("no rounds of the loop made one: {why}"));
    };
    for found in loops.iter() {
        match Plan::of(func, &sources, found) {
            Ok(plan) if growth + plan.rounds * plan.size > MAX_GROWTH => {
                stays(func, found, "other loops of the function have become too long");
            }
            Ok(plan) => {
                growth += plan.rounds * plan.size;
                planned.push(found);
            }
            Err(why) => stays(func, found, why),
        }
    }
    if planned.is_empty() {
        return Changes::NONE;
    }
    let headers: FxHashSet<Block> = planned.iter().map(|found| found.header).collect();
    close::values(func, &headers, &mut sources);
    for found in planned {
        // The loop may have become another one's neighbour meanwhile.
        match Plan::of(func, &sources, found) {
            Ok(plan) => plan.carry_out(func, &mut sources),
            Err(why) => stays(func, found, why),
        }
    }
    super::cfg::merge_chains(func, &Cfg::compute(func));
    func.dfg.resolve_aliases();
    Changes::to_all(headers.len() as u32)
}

/// Where the edges into blocks are from, while loops are copied: only of headers of loops is it asked.
struct Sources {
    cfg: Rc<Cfg>,
    /// The blocks whose edges are others than in the graph.
    changed: FxHashMap<Block, SmallVec<[Block; 4]>>,
}

impl Sources {
    /// One for each edge.
    fn of(&self, block: Block) -> &[Block] {
        match self.changed.get(&block) {
            Some(sources) => sources,
            None => self.cfg.predecessors(block),
        }
    }

    fn of_mut(&mut self, block: Block) -> &mut SmallVec<[Block; 4]> {
        let cfg = &self.cfg;
        self.changed.entry(block).or_insert_with(|| cfg.predecessors(block).into())
    }

    fn add(&mut self, block: Block, source: Block) {
        self.of_mut(block).push(source);
    }

    fn replace(&mut self, block: Block, old: Block, new: Block) {
        self.of_mut(block).iter_mut().filter(|source| **source == old).for_each(|source| *source = new);
    }
}

/// What is added to the counter in each round.
#[derive(Clone, Copy)]
enum Step {
    Constant(i64),
    /// A value from outside the loop.
    Value(Value),
}

struct Plan {
    block: Block,
    /// The block that alone leads into the loop.
    before: Block,
    size: usize,
    rounds: usize,
    /// The counter is the n-th parameter of the block.
    counter: usize,
    step: Step,
    /// The loop goes on while the next counter compares so with the bound.
    cond: IntCC,
    bound: Value,
    /// Which target of the branch is the loop.
    stays: usize,
}

impl Plan {
    /// How many rounds of a loop become one, or why it stays as it is.
    fn of(func: &Function, sources: &Sources, found: &Loop) -> Result<Plan, &'static str> {
        const NOT_COUNTED: &str =
            "it does not count by a fixed step to a fixed bound, with the test at its end";
        let &[block] = &found.blocks[..] else { return Err("it has several blocks") };
        let (mut size, mut convergent) = (0, false);
        for inst in func.layout.insts(block) {
            size += usize::from(!is_free(func, inst));
            convergent |= func.traits(inst).contains(Traits::CONVERGENT);
        }
        let hint = func.loop_hints[block];
        let rounds = match hint {
            Some(LoopHint::NoUnroll) => return Err("the source forbids it"),
            Some(LoopHint::UnrollFull) => return Err("the source wants all rounds or none"),
            Some(LoopHint::Unroll(n)) => {
                let wanted = usize::try_from(n).ok();
                wanted.filter(|n| (2..=64).contains(n) && n * size <= MAX_WANTED)
            }
            None => ROUNDS.into_iter().find(|rounds| rounds * size <= MAX_SIZE),
        };
        let rounds = rounds.ok_or("it has too many instructions")?;
        let mut outer = sources.of(block).iter().copied().filter(|&pred| pred != block);
        let (Some(before), None) = (outer.next(), outer.next()) else {
            return Err("several blocks lead to it");
        };
        if convergent {
            return Err("threads work together in it");
        }
        if func.layout.entry() == Some(block) {
            return Err("the function begins with it");
        }
        let Some(InstData::Brif { cond, dests }) = func.terminator(block).map(|inst| &func.dfg[inst]) else {
            return Err(NOT_COUNTED);
        };
        let stays = match [dests[0].block == block, dests[1].block == block] {
            [true, false] => 0,
            [false, true] => 1,
            [true, true] | [false, false] => return Err(NOT_COUNTED),
        };
        let &InstData::IntCompare { cond, args: [a, b] } = func.dfg.def_data(*cond).ok_or(NOT_COUNTED)?
        else {
            return Err(NOT_COUNTED);
        };
        let cond = if stays == 0 { cond } else { cond.inverse() };
        let changes = |value: Value| ssa::block_of(func, value) == Some(block);
        let (next, cond, bound) = match (changes(a), changes(b)) {
            (true, false) => (a, cond, b),
            (false, true) => (b, cond.swapped(), a),
            (true, true) | (false, false) => return Err(NOT_COUNTED),
        };
        let &InstData::Binary { op: Opcode::Iadd, args } = func.dfg.def_data(next).ok_or(NOT_COUNTED)? else {
            return Err(NOT_COUNTED);
        };
        let params = func.dfg.block_params(block);
        let position = |value| params.iter().position(|&param| param == value);
        let (counter, step) = match (position(args[0]), position(args[1])) {
            (Some(counter), None) => (counter, args[1]),
            (None, Some(counter)) => (counter, args[0]),
            (Some(_), Some(_)) | (None, None) => return Err(NOT_COUNTED),
        };
        let step = match func.dfg.int_const(step) {
            Some(step) => Step::Constant(step),
            None if changes(step) => return Err(NOT_COUNTED),
            None => Step::Value(step),
        };
        let given = dests[stays].args(&func.dfg.pool).get(counter).copied();
        let ty = func.dfg.ty(next);
        let up = matches!(cond, IntCC::Slt | IntCC::Sle | IntCC::Ult | IntCC::Ule);
        let down = matches!(cond, IntCC::Sgt | IntCC::Sge | IntCC::Ugt | IntCC::Uge);
        let counts = match step {
            Step::Constant(step) if cond == IntCC::Ne => step == 1,
            Step::Constant(step) => {
                step.unsigned_abs() <= 1 << 16 && ((up && step > 0) || (down && step < 0))
            }
            Step::Value(_) => up && hint.is_some(),
        };
        let fits = given == Some(next) && counts && matches!(ty, Type::I32 | Type::I64);
        fits.then_some(Plan { block, before, size, rounds, counter, step, cond, bound, stays })
            .ok_or(NOT_COUNTED)
    }

    /// No value of the loop is used outside: what is handed on are arguments of the branch at its end, and copies of it pass on theirs.
    fn carry_out(self, func: &mut Function, sources: &mut Sources) {
        let Plan { block, rounds, .. } = self;
        let hint = func.loop_hints[block].take();
        let Some(at) = func.layout.prev_block(block) else { return };
        let guard = self.guard(func, at);
        let mut copies: Vec<Copied> = Vec::with_capacity(rounds);
        let mut after = guard.block;
        for _ in 0..rounds {
            let copied = copy_blocks(func, &[block], after);
            after = copied.blocks[&block];
            copies.push(copied);
        }
        let blocks: Vec<Block> = copies.iter().map(|copied| copied.blocks[&block]).collect();
        // From one round to the next there is nothing to decide.
        for (n, &copy) in blocks.iter().enumerate() {
            let Some(branch) = func.terminator(copy) else { continue };
            let given = self.next_round(func, branch);
            let to = |block, given: &[Value], func: &mut Function| {
                let args = ValueList::from_slice(given, &mut func.dfg.pool);
                BlockCall { block, args }
            };
            if let Some(&next) = blocks.get(n + 1) {
                let dest = to(next, &given, func);
                func.dfg.replace_inst(branch, InstData::Jump { dest });
                continue;
            }
            // Behind the last one: once more, or what remains, or the end.
            let rest = func.dfg.make_block();
            func.layout.insert_block_after(rest, copy);
            func.layout.remove_inst(branch);
            func.layout.append_inst(branch, rest);
            // Whether to go on with what remains is asked there only.
            let asked = func.dfg.args(branch).first().and_then(|&cond| func.dfg.def_inst(cond));
            let elsewhere = |inst: Inst| {
                let own = func.dfg.results(inst);
                func.layout
                    .insts(copy)
                    .any(|user| func.dfg.uses(user).any(|used| own.into_iter().any(|own| own == used)))
            };
            if let Some(inst) =
                asked.filter(|&inst| func.layout.block_of(inst) == Some(copy) && !elsewhere(inst))
            {
                func.layout.remove_inst(inst);
                func.layout.insert_inst_before(inst, branch);
            }
            // The loop as it was goes on from where this one stops.
            func.dfg.for_each_target_mut(branch, |call, _| {
                if call.block == copy {
                    call.block = block;
                }
                sources.add(call.block, rest);
            });
            let args = [given[self.counter], guard.limit];
            let test = InstData::IntCompare { cond: self.cond, args };
            let test = func.dfg.make_inst(test, &[Type::I1]);
            func.layout.append_inst(test, copy);
            func.inst_locs[test] = func.inst_locs[branch];
            let cond = func.dfg.results(test).first();
            let again = to(blocks[0], &given, func);
            let stop = to(rest, &[], func);
            let end = func.dfg.make_inst(InstData::Brif { cond, dests: [again, stop] }, &[]);
            func.layout.append_inst(end, copy);
            func.inst_locs[end] = func.inst_locs[branch];
        }
        self.enter(func, &guard, blocks[0]);
        strides::share(func, &self, &guard, &copies);
        // What is left is less than what was unrolled, and is not unrolled again.
        func.loop_hints[block] = Some(LoopHint::NoUnroll);
        blocks.iter().for_each(|&copy| func.loop_hints[copy] = None);
        func.loop_hints[blocks[0]] = hint.map(|_| LoopHint::NoUnroll);
        sources.replace(block, self.before, guard.block);
    }

    /// What a round gives to the next one.
    fn next_round(&self, func: &Function, branch: Inst) -> Vec<Value> {
        let call = func.dfg.targets(branch).nth(self.stays);
        call.map(|call| call.args(&func.dfg.pool).to_vec()).unwrap_or_default()
    }

    /// Makes the block in front of both loops, which computes the limit of the unrolled one.
    fn guard(&self, func: &mut Function, at: Block) -> Guard {
        let block = func.dfg.make_block();
        func.layout.insert_block_after(block, at);
        let params: Vec<Value> = func
            .dfg
            .block_params(self.block)
            .to_vec()
            .into_iter()
            .map(|param| func.dfg.append_block_param(block, func.dfg.ty(param)))
            .collect();
        let end = func.dfg.make_inst(InstData::Trap, &[]);
        func.layout.append_inst(end, block);
        func.inst_locs[end] =
            func.terminator(self.before).map(|inst| func.inst_locs[inst]).unwrap_or_default();
        let start = params[self.counter];
        let (limit, cond) = match self.step {
            Step::Constant(1) if self.cond == IntCC::Ne => self.last_multiple(func, end, start),
            Step::Constant(_) | Step::Value(_) => self.limit(func, end, start),
        };
        Guard { block, params, limit, cond, end }
    }

    /// The bound less the steps between the rounds in one, and whether the loop can run to it from a start.
    fn limit(&self, func: &mut Function, end: Inst, start: Value) -> (Value, Value) {
        let ty = func.dfg.ty(self.bound);
        let binary =
            |func: &mut Function, op, args| insert_before(func, end, InstData::Binary { op, args }, ty);
        let compare = |func: &mut Function, cond, args| {
            insert_before(func, end, InstData::IntCompare { cond, args }, Type::I1)
        };
        let between = self.rounds as i64 - 1;
        let mut known = None;
        let limit = match self.step {
            Step::Constant(step) => {
                let back = constant(func, end, ty, step.wrapping_mul(between).wrapping_neg());
                binary(func, Opcode::Iadd, [self.bound, back])
            }
            Step::Value(step) => {
                // From 1 to the most.
                let one = constant(func, end, ty, -1);
                let less = binary(func, Opcode::Iadd, [step, one]);
                let most = constant(func, end, ty, MAX_STEP);
                known = Some(compare(func, IntCC::Ult, [less, most]));
                let between = constant(func, end, ty, between);
                let ahead = binary(func, Opcode::Imul, [step, between]);
                binary(func, Opcode::Isub, [self.bound, ahead])
            }
        };
        // The limit lies before the bound if it has not wrapped.
        let before = match self.cond {
            IntCC::Slt | IntCC::Sle => IntCC::Slt,
            IntCC::Sgt | IntCC::Sge => IntCC::Sgt,
            IntCC::Ugt | IntCC::Uge => IntCC::Ugt,
            IntCC::Ult | IntCC::Ule | IntCC::Eq | IntCC::Ne => IntCC::Ult,
        };
        let safe = compare(func, before, [limit, self.bound]);
        let enough = compare(func, self.cond, [start, limit]);
        let and = |func: &mut Function, a, b| {
            insert_before(func, end, InstData::Binary { op: Opcode::Band, args: [a, b] }, Type::I1)
        };
        let mut cond = and(func, safe, enough);
        if let Some(known) = known {
            cond = and(func, cond, known);
        }
        (limit, cond)
    }

    /// Where a loop that counts by one to its bound is after the most rounds that can be done several at a time, and whether there are any. Distances
    /// are unsigned, so that it does not matter where the counter wraps.
    fn last_multiple(&self, func: &mut Function, end: Inst, start: Value) -> (Value, Value) {
        let ty = func.dfg.ty(self.bound);
        let binary =
            |func: &mut Function, op, args| insert_before(func, end, InstData::Binary { op, args }, ty);
        let left = binary(func, Opcode::Isub, [self.bound, start]);
        let rounds = constant(func, end, ty, self.rounds as i64);
        let rest = binary(func, Opcode::Urem, [left, rounds]);
        let limit = binary(func, Opcode::Isub, [self.bound, rest]);
        let enough = InstData::IntCompare { cond: IntCC::Uge, args: [left, rounds] };
        (limit, insert_before(func, end, enough, Type::I1))
    }

    /// Leads what led into the loop to the guard, and that on to either loop.
    fn enter(&self, func: &mut Function, guard: &Guard, unrolled: Block) {
        if let Some(branch) = func.terminator(self.before) {
            func.dfg.for_each_target_mut(branch, |call, _| {
                if call.block == self.block {
                    call.block = guard.block;
                }
            });
        }
        let dests = [unrolled, self.block].map(|block| {
            let args = ValueList::from_slice(&guard.params, &mut func.dfg.pool);
            BlockCall { block, args }
        });
        func.dfg.replace_inst(guard.end, InstData::Brif { cond: guard.cond, dests });
    }
}

fn constant(func: &mut Function, before: Inst, ty: Type, value: i64) -> Value {
    insert_before(func, before, InstData::IntConst { value: ty.normalize(value) }, ty)
}

/// What leaves nothing behind in a round of several.
fn is_free(func: &Function, inst: Inst) -> bool {
    matches!(func.dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. } | InstData::Index { .. })
}

/// The block in front of both loops.
struct Guard {
    block: Block,
    params: Vec<Value>,
    limit: Value,
    cond: Value,
    end: Inst,
}
