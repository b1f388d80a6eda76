//! Full unrolling of loops with a known number of rounds.
//!
//! The rounds are counted by running what decides them: the parameters of the loop's header start as constants, the condition of the one exit
//! that is decided in every round is folded with them, and so are their values in the next round. What is unrolled becomes so many copies of
//! the loop's blocks in a row; other exits stay what they are. A loop that goes through an array in a stack slot is worth far more copies
//! than others: with known indices the array becomes values.
//!
//! What a copy costs is what is left of it when its counters are constants: neither what is computed from them, nor what is the same in all rounds.
//!
//! Loops with convergent operations are copied as a whole where they are left at one place only.

use super::copy::{Copied, copy_blocks};
use super::ssa;
use crate::analysis::{Analyses, Cfg, Loop, Loops};
use crate::fold::{self, Constant};
use crate::pass::{Changes, Context};
use crate::rules::matching;
use cranelift_entity::EntitySet;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{
    Block, BlockCall, Function, Inst, InstData, IntCC, LoopHint, Opcode, Traits, Value, ValueDef,
};

/// No loop of more rounds is looked at.
const MAX_ROUNDS: usize = 128;
/// Instructions that a loop may become, by what is left of its rounds.
const MAX_COST: usize = 512;
/// Instructions that its rounds may have before they are simplified.
const MAX_SIZE: usize = 2048;
/// Instructions that a loop may become which indexes a stack slot, or of which the source wants it.
const MAX_SIZE_WITH_SLOTS: usize = 4096;
/// Instructions that all loops of a function may become together.
const MAX_GROWTH: usize = 20_000;
/// Blocks that a loop around others may have.
const MAX_NEST: usize = 32;
/// Instructions that a loop around others may become, which are unrolled then.
const MAX_NEST_COST: usize = 320;
/// Each loop takes time in proportion to the function: so many instructions in all.
const MAX_WORK: usize = 1 << 24;
/// Loops around loops are found one layer at a time.
const MAX_LAYERS: u32 = 8;
/// How deep the search for a constant goes.
const MAX_DEPTH: u32 = 32;
/// Operations in a row that are compared, of which each has two operands.
const MAX_ALIKE: u32 = 4;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let (mut changes, mut growth, mut work) = (0, 0, MAX_WORK);
    // Why the loops of the last layer stay loops.
    let mut kept: Vec<(Block, &'static str)> = Vec::new();
    for _ in 0..MAX_LAYERS {
        // Each layer sees the blocks that the one before has made.
        let mut analyses = Analyses::default();
        let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
        let headers: FxHashMap<Block, Loop<'_>> = loops.iter().map(|found| (found.header, found)).collect();
        let mut unrolled = 0;
        kept.clear();
        // Blocks of which the analyses may say what holds no more.
        let mut touched: EntitySet<Block> = EntitySet::new();
        for found in loops.iter() {
            let nested =
                found.blocks.iter().any(|&block| block != found.header && headers.contains_key(&block));
            let preds = cfg.predecessors(found.header).iter();
            let near = found.blocks.iter().chain(preds).copied();
            let near: Vec<Block> =
                near.chain(found.blocks.iter().flat_map(|&block| func.successors(block))).collect();
            // The next layer looks again at what lies beside a loop that has changed.
            if near.iter().any(|&block| touched.contains(block)) {
                continue;
            }
            if nested && found.blocks.len() > MAX_NEST {
                kept.push((found.header, "there are too many blocks in the loops inside it"));
                continue;
            }
            let inside = found.blocks.iter().filter(|&&block| block != found.header);
            let inner: Vec<Loop<'_>> = inside.filter_map(|block| headers.get(block).copied()).collect();
            // What is used behind a loop is looked for in the whole function.
            if work == 0 {
                kept.push((found.header, "the function is too large to look at all its loops"));
                break;
            }
            work = work.saturating_sub(func.dfg.num_insts());
            match Plan::of(func, &cfg, found, &inner) {
                Ok(plan) if growth + plan.grown <= MAX_GROWTH => {
                    touched.extend(near);
                    growth += plan.grown;
                    plan.carry_out(func, &cfg, found);
                    unrolled += 1;
                }
                Ok(_) => kept.push((found.header, "other loops of the function have become too long")),
                Err(why) => kept.push((found.header, why)),
            }
        }
        if unrolled == 0 {
            break;
        }
        changes += unrolled;
    }
    for (header, why) in kept {
        let at = func.terminator(header);
        cx.log.remark(func, at, "unroll", false, || format!("loop not unrolled: {why}"));
    }
    Changes::to_all(changes)
}

/// A loop that can be unrolled, and how.
struct Plan {
    /// How often the deciding block stays in the loop.
    rounds: usize,
    /// The block whose branch decides, the header or the latch.
    decides: Block,
    /// Where its branch goes on in the loop, and where out of it: the numbers of its targets.
    stays: usize,
    /// Values of the loop that are used outside.
    live_out: Vec<Value>,
    /// Instructions that the copies have.
    grown: usize,
}

impl Plan {
    /// How to unroll a loop, or why not.
    fn of(func: &Function, cfg: &Cfg, found: Loop<'_>, inner: &[Loop<'_>]) -> Result<Plan, &'static str> {
        if func.loop_hints[found.header] == Some(LoopHint::NoUnroll) {
            return Err("the source forbids it");
        }
        let inside = |block: Block| found.blocks.contains(&block);
        let insts = || found.blocks.iter().flat_map(|&block| func.layout.insts(block));
        let size = insts().count();
        if size > MAX_SIZE_WITH_SLOTS {
            return Err("it has too many instructions");
        }
        let convergent = insts().any(|inst| func.traits(inst).contains(Traits::CONVERGENT));
        let mut latches = cfg.predecessors(found.header).iter().copied().filter(|&block| inside(block));
        let (Some(latch), None) = (latches.next(), latches.next()) else {
            return Err("several blocks lead back to its beginning");
        };
        let wanted = func.loop_hints[found.header] == Some(LoopHint::UnrollFull);
        let large = wanted || insts().any(|inst| indexes_slot(func, inst));
        let rounds_allowed = if large { MAX_SIZE_WITH_SLOTS / size.max(1) } else { MAX_SIZE / size.max(1) };
        let rounds_allowed = rounds_allowed.min(MAX_ROUNDS);
        let run = Rounds { func, found, cfg, latch };
        let known = Known::default();
        let Some((decides, stays, rounds)) = run.decided(rounds_allowed, &known) else {
            return Err("the number of its rounds is not known, or too large");
        };
        let Some(cost) = run.cost().map(|cost| rounds * cost).filter(|cost| large || *cost <= MAX_COST)
        else {
            return Err("its rounds have too many instructions that are not the same in all of them");
        };
        // A loop around others is worth its copies if they say how many rounds the others have.
        if !inner.is_empty() {
            let state = run.start(&known).unwrap_or_default();
            let known_inside = |inner: &Loop<'_>| {
                let mut latches = cfg.predecessors(inner.header).iter().copied();
                let latch = latches.find(|block| inner.blocks.contains(block));
                let wanted = func.loop_hints[inner.header] != Some(LoopHint::NoUnroll);
                latch.filter(|_| wanted).is_some_and(|latch| {
                    let run = Rounds { func, found: *inner, cfg, latch };
                    run.decided(MAX_ROUNDS, &known).is_none() && run.decided(MAX_ROUNDS, &state).is_some()
                })
            };
            if cost > if large { MAX_COST } else { MAX_NEST_COST } {
                return Err("it has too many instructions for a loop around others");
            }
            if !inner.iter().any(known_inside) {
                return Err("its copies would not say how many rounds the loops inside it have");
            }
        }
        // Whole copies of a loop that all threads leave at one place keep together who communicates.
        let leaves =
            found.blocks.iter().flat_map(|&block| func.successors(block)).filter(|&block| !inside(block));
        if convergent && leaves.count() > 1 {
            return Err("threads that work together could leave it at several places");
        }
        let live_out = live_out(func, found);
        Ok(Plan { rounds, decides, stays, live_out, grown: rounds * size })
    }

    fn carry_out(mut self, func: &mut Function, cfg: &Cfg, found: Loop<'_>) {
        move_quotients(func, cfg, found);
        // What has left the loop is the same in all copies.
        let stays =
            |value: Value| ssa::block_of(func, value).is_some_and(|block| found.blocks.contains(&block));
        self.live_out.retain(|&value| stays(value));
        let by_header = self.decides == found.header;
        let mut last = found.blocks.iter().copied().find(|&block| func.layout.next_block(block).is_none());
        let mut copies: Vec<Copied> = Vec::with_capacity(self.rounds + 1);
        for round in 0..=self.rounds {
            let leaves = round == self.rounds;
            // What is decided in the header leaves before the rest.
            let blocks = if leaves && by_header { &found.blocks[..1] } else { found.blocks };
            let after = last.or(func.layout.last_block()).unwrap_or(found.header);
            let copied = copy_blocks(func, blocks, after);
            last = blocks.last().and_then(|block| copied.blocks.get(block)).copied();
            self.decide(func, &copied, leaves);
            copies.push(copied);
        }
        let entries: Vec<Block> = cfg.predecessors(found.header).to_vec();
        for block in entries.into_iter().filter(|block| !found.blocks.contains(block)) {
            redirect(func, block, found.header, copies[0].blocks[&found.header]);
        }
        for (round, copied) in copies.iter().enumerate() {
            let Some(next) = copies.get(round + 1) else { break };
            let (from, to) = (copied.blocks[&found.header], next.blocks[&found.header]);
            for &block in copied.blocks.values() {
                redirect(func, block, from, to);
            }
        }
        if !self.live_out.is_empty() {
            self.close(func, &copies);
        }
        for &block in found.blocks {
            func.layout.remove_block(block);
        }
    }

    /// Makes a jump of the branch that decides, in a copy.
    fn decide(&self, func: &mut Function, copied: &Copied, leaves: bool) {
        let Some(branch) = copied.blocks.get(&self.decides).and_then(|&block| func.terminator(block)) else {
            return;
        };
        if let InstData::Brif { dests, .. } = &func.dfg[branch] {
            let way = if leaves { 1 - self.stays } else { self.stays };
            let dest = dests[way].clone();
            func.dfg.replace_inst(branch, InstData::Jump { dest });
        }
    }

    /// Makes what is used outside the value of the copy that the loop was left in. The blocks of the loop are still there, though nothing leads to them.
    fn close(&self, func: &mut Function, copies: &[Copied]) {
        let of_copies = |func: &Function, value: Value| {
            let own = ssa::block_of(func, value)?;
            let each =
                copies.iter().filter_map(|copied| Some((*copied.blocks.get(&own)?, copied.value(value))));
            Some((value, each.collect()))
        };
        let defined: Vec<ssa::Defined> =
            self.live_out.iter().filter_map(|&value| of_copies(func, value)).collect();
        ssa::repair(func, &Cfg::compute(func), &defined);
    }
}

/// Moves quotients by constants that are the same in all rounds to the jump into the loop: in branches of the copies no block in front of all of them would have them.
fn move_quotients(func: &mut Function, cfg: &Cfg, found: Loop<'_>) {
    let inside = |block: Block| found.blocks.contains(&block);
    let mut entries = cfg.predecessors(found.header).iter().copied().filter(|&block| !inside(block));
    let (Some(entry), None) = (entries.next(), entries.next()) else { return };
    let Some(jump) = func.terminator(entry) else { return };
    if !matches!(func.dfg[jump], InstData::Jump { .. }) {
        return;
    }
    for &block in found.blocks {
        for inst in func.layout.insts(block).collect::<SmallVec<[Inst; 16]>>() {
            let InstData::Binary { op: Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem, args } =
                func.dfg[inst]
            else {
                continue;
            };
            let [x, by] = args.map(|arg| func.dfg.resolve(arg));
            if func.dfg.int_const(by).is_none() || ssa::block_of(func, x).is_none_or(inside) {
                continue;
            }
            let constant = func.dfg.def_inst(by).filter(|_| ssa::block_of(func, by).is_some_and(inside));
            for moved in constant.into_iter().chain([inst]) {
                func.layout.remove_inst(moved);
                func.layout.insert_inst_before(moved, jump);
            }
        }
    }
}

/// Sends the edges from a block to another elsewhere.
pub(super) fn redirect(func: &mut Function, block: Block, from: Block, to: Block) {
    if let Some(branch) = func.terminator(block) {
        func.dfg.for_each_target_mut(branch, |call: &mut BlockCall, _| {
            if call.block == from {
                call.block = to;
            }
        });
    }
}

/// The values of a loop that instructions outside use.
fn live_out(func: &Function, found: Loop<'_>) -> Vec<Value> {
    let mut inside: EntitySet<Block> = EntitySet::new();
    inside.extend(found.blocks.iter().copied());
    let mut values: Vec<Value> = Vec::new();
    for block in func.layout.blocks().filter(|&block| !inside.contains(block)) {
        for inst in func.layout.insts(block) {
            values.extend(func.dfg.uses(inst).filter(|&value| match func.dfg.def(value) {
                ValueDef::Result(inst, _) => {
                    func.layout.block_of(inst).is_some_and(|block| inside.contains(block))
                }
                ValueDef::Param(block, _) => inside.contains(block),
                ValueDef::Alias(_) | ValueDef::Detached => false,
            }));
        }
    }
    values.sort_unstable();
    values.dedup();
    values
}

/// Whether an instruction computes an address in a stack slot from an index that is not known.
fn indexes_slot(func: &Function, inst: Inst) -> bool {
    let InstData::Index { args: [base, _], .. } = func.dfg[inst] else { return false };
    let mut at = base;
    for _ in 0..MAX_DEPTH {
        match func.dfg.def_data(at) {
            Some(InstData::StackAddr { .. }) => return true,
            Some(
                &InstData::Index { args: [base, _], .. }
                | &InstData::Binary { op: Opcode::Ptradd, args: [base, _] }
                | &InstData::Unary { op: Opcode::Addrspacecast, arg: base },
            ) => at = base,
            _ => return false,
        }
    }
    false
}

/// A loop that is run with what is constant in it.
struct Rounds<'l> {
    func: &'l Function,
    found: Loop<'l>,
    cfg: &'l Cfg,
    latch: Block,
}

type Known = FxHashMap<Value, Option<Constant>>;

impl Rounds<'_> {
    /// The block whose branch decides, which of its targets is in the loop, and how often that is taken, at most `limit` times. `outer` is what
    /// is known outside of the loop.
    fn decided(&self, limit: usize, outer: &Known) -> Option<(Block, usize, usize)> {
        let func = self.func;
        let inside = |block: Block| self.found.blocks.contains(&block);
        [self.found.header, self.latch].into_iter().find_map(|block| {
            let InstData::Brif { cond, dests } = &func.dfg[func.terminator(block)?] else { return None };
            let stays = match [inside(dests[0].block), inside(dests[1].block)] {
                [true, false] => 0,
                [false, true] => 1,
                [true, true] | [false, false] => return None,
            };
            Some((block, stays, self.count(*cond, stays, limit, outer)?))
        })
    }

    /// How often a condition keeps the loop going, if that is known and at most `limit`.
    fn count(&self, cond: Value, stays: usize, limit: usize, outer: &Known) -> Option<usize> {
        let start = self.start(outer)?;
        let relative = || self.relative(cond).and_then(|known| self.count_from(known, cond, stays, limit));
        self.count_from(start, cond, stays, limit).or_else(relative)
    }

    /// What is known in the first round of a loop from `x - 1` to `x + 2`, with 0 for what both ends are some constant from: as nothing wraps, that is
    /// as many rounds as for any other number. Pointers may wrap, as whether they are equal does not depend on it.
    fn relative(&self, cond: Value) -> Option<Known> {
        let func = self.func;
        let &InstData::IntCompare { cond: how, args: [a, b] } = func.dfg.def_data(func.dfg.resolve(cond))?
        else {
            return None;
        };
        let equals = matches!(how, IntCC::Eq | IntCC::Ne);
        let unsigned = matches!(how, IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge);
        if unsigned || func.dfg.ty(a).is_ptr() && !equals {
            return None;
        }
        let params = func.dfg.block_params(self.found.header);
        let (first, next) = (self.given(self.before()?)?, self.given(self.latch)?);
        [(a, b), (b, a)].into_iter().find_map(|(counter, bound)| {
            let (param, _) = distance(func, counter);
            let at = params.iter().position(|&own| own == param)?;
            let ((from, by), (to, _)) = (distance(func, first[at]), distance(func, bound));
            let counts = distance(func, next[at]).0 == param && func.dfg.int_const(to).is_none();
            (counts && alike(func, from, to, 0)).then(|| {
                // From the start of the variable or slot, if it is one that both ends are in.
                let (first, bound) = (offset(func, from).checked_add(by), Some(offset(func, to)));
                let known = [(to, bound.map(Constant::Int)), (param, first.map(Constant::Int))];
                known.into_iter().collect()
            })
        })
    }

    /// How often a condition keeps the loop going, with what is known in the first round.
    fn count_from(&self, mut known: Known, cond: Value, stays: usize, limit: usize) -> Option<usize> {
        let header = self.found.header;
        let func = self.func;
        let params = func.dfg.block_params(header);
        let next = self.given(self.latch)?;
        for round in 0..=limit {
            let mut state = known.clone();
            let Constant::Int(taken) = self.eval(cond, &mut state, 0)? else { return None };
            if (taken != 0) != (stays == 0) {
                return Some(round);
            }
            for (&param, &arg) in params.iter().zip(&next) {
                let value = self.eval(arg, &mut state, 0);
                known.insert(param, value);
            }
        }
        None
    }

    /// What is left of a round whose counters are constants.
    fn cost(&self) -> Option<usize> {
        let func = self.func;
        let mut state = self.start(&Known::default())?;
        let mut inside: EntitySet<Block> = EntitySet::new();
        inside.extend(self.found.blocks.iter().copied());
        // What is the same in every round is computed once.
        let mut fixed: EntitySet<Value> = EntitySet::new();
        let mut cost = 0;
        for &block in self.found.blocks {
            for inst in func.layout.insts(block) {
                let traits = func.traits(inst);
                let is_fixed = |value: Value| match func.dfg.def(value) {
                    ValueDef::Result(inst, _) => {
                        let block = func.layout.block_of(inst);
                        fixed.contains(value) || !block.is_some_and(|block| inside.contains(block))
                    }
                    ValueDef::Param(block, _) => !inside.contains(block),
                    ValueDef::Alias(_) | ValueDef::Detached => false,
                };
                if traits.is_pure() && func.dfg.args(inst).iter().all(|&arg| is_fixed(arg)) {
                    fixed.extend(func.dfg.results(inst));
                    continue;
                }
                let known = |value, state: &mut Known| self.eval(value, state, 0).is_some();
                let free = match func.dfg[inst] {
                    InstData::Jump { .. } => true,
                    InstData::Brif { cond, .. } => known(cond, &mut state),
                    // An immediate offset of the address.
                    InstData::Index { args: [_, by], .. }
                    | InstData::Binary { op: Opcode::Ptradd, args: [_, by] } => known(by, &mut state),
                    _ => func.dfg.first_result(inst).is_some_and(|value| known(value, &mut state)),
                };
                cost += usize::from(!free);
            }
        }
        Some(cost)
    }

    /// What is known of the header's parameters in the first round.
    fn start(&self, outer: &Known) -> Option<Known> {
        let header = self.found.header;
        let mut known = outer.clone();
        for (&param, arg) in self.func.dfg.block_params(header).iter().zip(self.given(self.before()?)?) {
            known.insert(param, self.eval(arg, &mut outer.clone(), 0));
        }
        Some(known)
    }

    /// The one block that leads into the loop.
    fn before(&self) -> Option<Block> {
        let preds = self.cfg.predecessors(self.found.header).iter();
        let mut entries = preds.filter(|block| !self.found.blocks.contains(block));
        let (Some(&before), None) = (entries.next(), entries.next()) else { return None };
        Some(before)
    }

    /// What a block gives to the header, by the only edge that it has there.
    fn given(&self, block: Block) -> Option<Vec<Value>> {
        let func = self.func;
        let mut calls =
            func.dfg.targets(func.terminator(block)?).filter(|call| call.block == self.found.header);
        let (call, None) = (calls.next()?, calls.next()) else { return None };
        Some(call.args(&func.dfg.pool).to_vec())
    }

    fn eval(&self, value: Value, state: &mut Known, depth: u32) -> Option<Constant> {
        if let constant @ Some(_) = matching::constant(&self.func.dfg, value) {
            return constant;
        }
        if let Some(&known) = state.get(&value) {
            return known;
        }
        let func = self.func;
        let inst = match func.dfg.def(value) {
            ValueDef::Result(inst, _) => inst,
            ValueDef::Param(block, n) if depth <= MAX_DEPTH => {
                // What the only edge to a block gives it.
                let &[pred] = self.cfg.predecessors(block) else { return None };
                let mut calls = func.dfg.targets(func.terminator(pred)?).filter(|call| call.block == block);
                let (call, None) = (calls.next()?, calls.next()) else { return None };
                let &arg = call.args(&func.dfg.pool).get(n as usize)?;
                let given = self.eval(arg, state, depth + 1);
                state.insert(value, given);
                return given;
            }
            ValueDef::Param(..) | ValueDef::Alias(_) | ValueDef::Detached => return None,
        };
        if depth > MAX_DEPTH || !func.traits(inst).is_pure() {
            return None;
        }
        if matches!(func.dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. }) {
            return None;
        }
        let args = func.dfg.args(inst).iter();
        let constants: SmallVec<[(Value, Option<Constant>); 4]> =
            args.map(|&arg| (arg, self.eval(arg, state, depth + 1))).collect();
        let of = |value| constants.iter().find(|(arg, _)| *arg == value).and_then(|(_, constant)| *constant);
        let folded = fold::instruction(func, inst, of).or_else(|| moved(func, inst, of));
        state.insert(value, folded);
        folded
    }
}

/// What an instruction makes of pointers of which the distance from some place is known: another one, or whether they are equal.
fn moved(func: &Function, inst: Inst, of: impl Fn(Value) -> Option<Constant>) -> Option<Constant> {
    let distance = |value| match of(value)? {
        Constant::Int(distance) => Some(distance),
        Constant::Float(_) => None,
    };
    match func.dfg[inst] {
        InstData::Binary { op: Opcode::Ptradd, args: [ptr, by] } => {
            Some(Constant::Int(distance(ptr)?.wrapping_add(distance(by)?)))
        }
        InstData::IntCompare { cond: cond @ (IntCC::Eq | IntCC::Ne), args: [a, b] }
            if func.dfg.ty(a).is_ptr() =>
        {
            let equal = distance(a)? == distance(b)?;
            Some(Constant::Int((equal == (cond == IntCC::Eq)).into()))
        }
        _ => None,
    }
}

/// What a value is a constant more than, by sums that do not wrap or of pointers, and that constant.
fn distance(func: &Function, value: Value) -> (Value, i64) {
    let (mut value, mut by) = (func.dfg.resolve(value), 0i64);
    for _ in 0..MAX_DEPTH {
        let Some(inst) = func.dfg.def_inst(value) else { break };
        let InstData::Binary { op, args: [x, c] } = func.dfg[inst] else { break };
        let counts = match op {
            Opcode::Iadd => func.dfg.no_signed_wrap(inst),
            op => op == Opcode::Ptradd,
        };
        let sum = func.dfg.int_const(c).and_then(|c| by.checked_add(c));
        let Some(sum) = sum.filter(|_| counts) else { break };
        (value, by) = (func.dfg.resolve(x), sum);
    }
    (value, by)
}

/// How far into a stack slot or variable an address is; of others, nothing.
fn offset(func: &Function, value: Value) -> i64 {
    match func.dfg.def_data(value) {
        Some(&(InstData::StackAddr { offset, .. } | InstData::GlobalAddr { offset, .. })) => offset.into(),
        _ => 0,
    }
}

/// Whether two values are the same, or computed in the same way from the same, or addresses in the same slot or variable.
fn alike(func: &Function, a: Value, b: Value, depth: u32) -> bool {
    let (a, b) = (func.dfg.resolve(a), func.dfg.resolve(b));
    if a == b {
        return true;
    }
    let (Some(first), Some(second)) = (func.dfg.def_inst(a), func.dfg.def_inst(b)) else { return false };
    depth < MAX_ALIKE
        && match (&func.dfg[first], &func.dfg[second]) {
            (InstData::IntConst { value: x }, InstData::IntConst { value: y }) => {
                x == y && func.dfg.ty(a) == func.dfg.ty(b)
            }
            (InstData::StackAddr { slot: a, .. }, InstData::StackAddr { slot: b, .. }) => {
                depth == 0 && a == b
            }
            (InstData::GlobalAddr { global: a, .. }, InstData::GlobalAddr { global: b, .. }) => {
                depth == 0 && a == b
            }
            (InstData::Binary { op, args: [a, b] }, InstData::Binary { op: other, args: [c, d] }) => {
                op == other
                    && func.traits(first).is_pure()
                    && alike(func, *a, *c, depth + 1)
                    && alike(func, *b, *d, depth + 1)
            }
            _ => false,
        }
}
