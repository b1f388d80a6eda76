//! Partial unrolling of counted loops: several rounds in one, behind a test that so many are left; what remains is done by the loop as it was.
//!
//! The loop is one block that counts by a constant up or down to a bound that it does not change, and tests the counter at its end. With `k` rounds
//! in one, the unrolled loop runs while the counter has not passed the bound less `k - 1` steps, which is computed in front of it; where that
//! itself would wrap, the loop as it was does everything. So the counter does not wrap in between, and the addresses of all rounds are those of the
//! first one and constants.
//!
//! Loops with convergent operations are left alone, and those that are to stay loops. How many rounds become one is what the source says
//! (`unroll n`); loops of which it says nothing stay as they are.

use super::copy::{Copied, copy_blocks};
use super::{insert_before, ssa};
use crate::analysis::{Analyses, Cfg, Loop, Loops};
use crate::pass::{Changes, Context};
use cranelift_entity::EntitySet;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use warpsmith_ir::{
    Block, BlockCall, Function, Inst, InstData, IntCC, LoopHint, Opcode, Traits, Type, Value, ValueDef,
    ValueList,
};

/// Instructions that the rounds in one may have together.
const MAX_WANTED: usize = 4096;
/// Instructions that all loops of a function may become together.
const MAX_GROWTH: usize = 20_000;
/// Each loop takes time in proportion to the function: so many instructions in all.
const MAX_WORK: usize = 1 << 24;

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let (mut changes, mut growth, mut work) = (0, 0, MAX_WORK);
    let mut analyses = Analyses::default();
    let (loops, mut cfg) = (analyses.get::<Loops>(func), analyses.get::<Cfg>(func));
    for found in loops.iter() {
        let Some(plan) = Plan::of(func, &cfg, found) else { continue };
        growth += plan.rounds * plan.size;
        let cost = func.dfg.num_insts();
        if growth > MAX_GROWTH || cost > work {
            break;
        }
        work -= cost;
        plan.carry_out(func, &cfg);
        cfg = Rc::new(Cfg::compute(func));
        changes += 1;
    }
    if changes > 0 {
        super::cfg::merge_chains(func);
        func.dfg.resolve_aliases();
    }
    Changes::to_all(changes)
}

struct Plan {
    block: Block,
    /// The block that alone leads into the loop.
    before: Block,
    size: usize,
    rounds: usize,
    /// The counter is the n-th parameter of the block.
    counter: usize,
    step: i64,
    /// The loop goes on while the next counter compares so with the bound.
    cond: IntCC,
    bound: Value,
    /// Which target of the branch is the loop.
    stays: usize,
}

impl Plan {
    fn of(func: &Function, cfg: &Cfg, found: &Loop) -> Option<Plan> {
        let &[block] = &found.blocks[..] else { return None };
        let (mut size, mut convergent) = (0, false);
        for inst in func.layout.insts(block) {
            size += 1;
            convergent |= func.traits(inst).has(Traits::CONVERGENT);
        }
        let rounds = match func.loop_hints[block] {
            Some(LoopHint::NoUnroll | LoopHint::UnrollFull) => return None,
            Some(LoopHint::Unroll(n)) => {
                usize::try_from(n).ok().filter(|n| (2..=64).contains(n) && n * size <= MAX_WANTED)?
            }
            None => return None,
        };
        let mut outer = cfg.predecessors(block).iter().copied().filter(|&pred| pred != block);
        let (Some(before), None) = (outer.next(), outer.next()) else { return None };
        if convergent || func.layout.entry() == Some(block) {
            return None;
        }
        let InstData::Brif { cond, dests } = &func.dfg[func.terminator(block)?] else { return None };
        let stays = match [dests[0].block == block, dests[1].block == block] {
            [true, false] => 0,
            [false, true] => 1,
            [true, true] | [false, false] => return None,
        };
        let &InstData::IntCompare { cond, args: [a, b] } = func.dfg.def_data(*cond)? else { return None };
        let cond = if stays == 0 { cond } else { cond.inverse() };
        let changes = |value: Value| ssa::block_of(func, value) == Some(block);
        let (next, cond, bound) = match (changes(a), changes(b)) {
            (true, false) => (a, cond, b),
            (false, true) => (b, cond.swapped(), a),
            (true, true) | (false, false) => return None,
        };
        let &InstData::Binary { op: Opcode::Iadd, args: [counter, step] } = func.dfg.def_data(next)? else {
            return None;
        };
        let (counter, step) = (
            func.dfg.block_params(block).iter().position(|&param| param == counter)?,
            func.dfg.int_const(step)?,
        );
        let given = dests[stays].args(&func.dfg.pool).get(counter).copied();
        let ty = func.dfg.ty(next);
        let up = matches!(cond, IntCC::Slt | IntCC::Sle | IntCC::Ult | IntCC::Ule);
        let down = matches!(cond, IntCC::Sgt | IntCC::Sge | IntCC::Ugt | IntCC::Uge);
        let counts = (up && step > 0) || (down && step < 0);
        let small = step.unsigned_abs() <= 1 << 16 && matches!(ty, Type::I32 | Type::I64);
        (given == Some(next) && counts && small).then_some(Plan {
            block,
            before,
            size,
            rounds,
            counter,
            step,
            cond,
            bound,
            stays,
        })
    }

    fn carry_out(self, func: &mut Function, cfg: &Cfg) {
        let Plan { block, rounds, .. } = self;
        let mut own: EntitySet<Block> = EntitySet::new();
        own.insert(block);
        let outside = ssa::used_outside(func, cfg, &own);
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
                let used =
                    outside.iter().any(|&value| own.into_iter().any(|own| copies[n].value(value) == own));
                used || func
                    .layout
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
        self.share_addresses(func, &copies);
        // What is left is less than what was unrolled, and is not unrolled again.
        func.loop_hints[block] = Some(LoopHint::NoUnroll);
        blocks.iter().for_each(|&copy| func.loop_hints[copy] = None);
        func.loop_hints[blocks[0]] = hint.map(|_| LoopHint::NoUnroll);
        let cfg = Cfg::compute(func);
        let last = copies.last().map(|copied| (copied.blocks[&block], copied));
        for value in outside {
            let mut defs = FxHashMap::from_iter([(block, value)]);
            defs.extend(last.map(|(at, copied)| (at, copied.value(value))));
            ssa::repair(func, &cfg, value, &defs);
        }
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
        let ty = func.dfg.ty(self.bound);
        let ahead = self.step.wrapping_mul(self.rounds as i64 - 1);
        let constant = |func: &mut Function, value: i64| {
            insert_before(func, end, InstData::IntConst { value: ty.normalize(value) }, ty)
        };
        let by = constant(func, ahead.wrapping_neg());
        let limit =
            insert_before(func, end, InstData::Binary { op: Opcode::Iadd, args: [self.bound, by] }, ty);
        // The bound is so far from the end of its type that the limit has not wrapped.
        let bits = ty.bits();
        let (lowest, highest) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
        let (cond, edge) = match self.cond {
            IntCC::Slt | IntCC::Sle => (IntCC::Sge, lowest.wrapping_add(ahead)),
            IntCC::Ult | IntCC::Ule => (IntCC::Uge, ahead),
            IntCC::Sgt | IntCC::Sge => (IntCC::Sle, highest.wrapping_add(ahead)),
            IntCC::Ugt | IntCC::Uge | IntCC::Eq | IntCC::Ne => (IntCC::Ule, ahead.wrapping_sub(1)),
        };
        let edge = constant(func, edge);
        let safe =
            insert_before(func, end, InstData::IntCompare { cond, args: [self.bound, edge] }, Type::I1);
        let args = [params[self.counter], limit];
        let enough = insert_before(func, end, InstData::IntCompare { cond: self.cond, args }, Type::I1);
        let both = InstData::Binary { op: Opcode::Band, args: [safe, enough] };
        let cond = insert_before(func, end, both, Type::I1);
        Guard { block, params, limit, cond, end }
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

    /// The counter of each round is the first one's and a constant, and does not wrap: so are what it is extended to, and the addresses it counts.
    fn share_addresses(&self, func: &mut Function, copies: &[Copied]) {
        let Some(&param) = func.dfg.block_params(self.block).get(self.counter) else { return };
        let first = copies[0].value(param);
        if func.dfg.ty(first) != Type::I32 {
            return;
        }
        let signed = matches!(self.cond, IntCC::Slt | IntCC::Sle | IntCC::Sgt | IntCC::Sge);
        let extend = if signed { Opcode::Sext } else { Opcode::Zext };
        let block = copies[0].blocks[&self.block];
        for (n, copied) in copies.iter().enumerate().skip(1) {
            let counter = copied.value(param);
            let ahead = self.step.wrapping_mul(n as i64);
            for inst in func.layout.insts(copied.blocks[&self.block]).collect::<Vec<Inst>>() {
                match func.dfg[inst] {
                    InstData::Unary { op, arg } if op == extend && arg == counter => {
                        if func.dfg.first_result(inst).map(|value| func.dfg.ty(value)) != Some(Type::I64) {
                            continue;
                        }
                        let wide = insert_before(func, inst, InstData::Unary { op, arg: first }, Type::I64);
                        let by = insert_before(func, inst, InstData::IntConst { value: ahead }, Type::I64);
                        let sum = InstData::Binary { op: Opcode::Iadd, args: [wide, by] };
                        func.dfg.replace_inst(inst, sum);
                    }
                    InstData::Index { scale, args: [base, index] }
                        if signed && index == counter && self.is_fixed(func, base) =>
                    {
                        let Some(ty) = func.dfg.first_result(inst).map(|value| func.dfg.ty(value)) else {
                            continue;
                        };
                        let Some(by) = ahead.checked_mul(scale.into()) else { continue };
                        let start =
                            insert_before(func, inst, InstData::Index { scale, args: [base, first] }, ty);
                        let by = insert_before(func, inst, InstData::IntConst { value: by }, Type::I64);
                        func.dfg
                            .replace_inst(inst, InstData::Binary { op: Opcode::Ptradd, args: [start, by] });
                    }
                    _ => {}
                }
            }
        }
        // The first round's counter is known in all that follow.
        debug_assert_eq!(ssa::block_of(func, first), Some(block));
    }

    /// Whether a value is the same in all rounds.
    fn is_fixed(&self, func: &Function, value: Value) -> bool {
        !matches!(func.dfg.def(value), ValueDef::Param(block, _) if block == self.block)
    }
}

/// The block in front of both loops.
struct Guard {
    block: Block,
    params: Vec<Value>,
    limit: Value,
    cond: Value,
    end: Inst,
}
