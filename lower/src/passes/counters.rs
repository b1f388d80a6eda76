//! Counters that only serve to find places in shared or local memory go: each address counts by itself, and one of them says when the loop ends.
//!
//! A round takes an instruction for each such address either way, a product and a sum of the counter or a sum of the address, so that what is saved is
//! the counter's own. That is done only where the counter is of no other use, and only to loops that are to stay loops (`nounroll`): ptxas unrolls
//! those it finds a counter of, which is worth more. Addresses in global memory are pairs of registers, which take two instructions to
//! count by, and one to compute; a loop that has such an address keeps its counter.
//!
//! The rounds are a constant number, at the start of which the counter has not wrapped: what is computed from it grows by the same in each.
//! Loops with convergent operations are left alone, since ptxas sees less well that all threads leave them together.

use super::{insert_before, replace_with};
use crate::analysis::{Cfg, Loop, Loops, Nest};
use crate::pass::{Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, IntCC, LoopHint, Opcode, Traits, Type, Value};
use warpsmith_isa::StateSpace;

/// Values that count by themselves instead of one counter.
const MAX_TOPS: usize = 4;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let (cfg, loops) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<Loops>(func));
    let kept = |found: Loop<'_>| func.loop_hints[found.header] == Some(LoopHint::NoUnroll);
    if !loops.iter().any(kept) {
        return Changes::NONE;
    }
    let innermost = Nest::compute(&loops).innermost;
    let mut places: SecondaryMap<Block, u32> = SecondaryMap::new();
    cfg.reverse_postorder().iter().zip(0..).for_each(|(&block, place)| places[block] = place);
    let mut escaping: EntitySet<Value> = EntitySet::new();
    for block in func.layout.blocks() {
        for value in func.layout.insts(block).flat_map(|inst| func.dfg.uses(inst)) {
            if func.block_of(value).is_some_and(|def| innermost[def] != innermost[block]) {
                escaping.insert(value);
            }
        }
    }
    let mut plans = Vec::new();
    for (found, n) in loops.iter().zip(1..) {
        if kept(found) && found.blocks.iter().all(|&block| innermost[block] == n) {
            let mut blocks = found.blocks.to_vec();
            blocks.sort_unstable_by_key(|&block| places[block]);
            let inside = |value: Value| func.block_of(value).is_some_and(|def| innermost[def] == n);
            plans.extend(Plan::of(func, &cfg, found.header, &blocks, inside, &escaping));
        }
    }
    let count = plans.len() as u32;
    plans.into_iter().for_each(|plan| plan.carry_out(func));
    if count > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(count)
}

/// By how much a value grows for each one that the counter grows by.
#[derive(Clone, Copy)]
struct Growth {
    by: i64,
    /// And times this, from outside the loop.
    times: Option<Value>,
}

/// A value that counts by itself.
struct Top {
    inst: Inst,
    value: Value,
    growth: Growth,
}

struct Plan {
    header: Block,
    /// The branches into the loop and back to its header.
    entry: Inst,
    back: Inst,
    /// Which target of the branch back is the loop.
    stays: usize,
    counter: Value,
    start: Value,
    step: i64,
    rounds: i64,
    /// The comparison that decides.
    test: Value,
    /// What is computed from the counter, in order.
    linear: Vec<Inst>,
    tops: Vec<Top>,
    /// The one that says when the loop ends.
    decides: usize,
}

impl Plan {
    fn of(
        func: &Function,
        cfg: &Cfg,
        header: Block,
        blocks: &[Block],
        inside: impl Fn(Value) -> bool,
        escaping: &EntitySet<Value>,
    ) -> Option<Plan> {
        let &[a, b] = cfg.predecessors(header) else { return None };
        let (before, latch) = match [blocks.contains(&a), blocks.contains(&b)] {
            [false, true] => (a, b),
            [true, false] => (b, a),
            [true, true] | [false, false] => return None,
        };
        let (entry, back) = (func.terminator(before)?, func.terminator(latch)?);
        let InstData::Jump { dest } = &func.dfg[entry] else { return None };
        let InstData::Brif { cond: test, dests } = &func.dfg[back] else { return None };
        let stays = usize::from(dests[0].block != header);
        let &InstData::IntCompare { cond, args: [next, bound] } = func.dfg.def_data(*test)? else {
            return None;
        };
        let cond = if stays == 0 { cond } else { cond.inverse() };
        let &InstData::Binary { op: Opcode::Iadd, args: [counter, step] } = func.dfg.def_data(next)? else {
            return None;
        };
        let n = func.dfg.block_params(header).iter().position(|&param| param == counter)?;
        if func.dfg.ty(counter) != Type::I32 {
            return None;
        }
        let start = *dest.args(&func.dfg.pool).get(n)?;
        let (from, step, to) =
            (func.dfg.int_const(start)?, func.dfg.int_const(step)?, func.dfg.int_const(bound)?);
        let rounds = rounds(cond, from, step, to)?;
        // Nothing but the branch and its comparison may need the counter.
        let given = |n: usize| dests[n].args(&func.dfg.pool);
        let goes_round = given(stays).iter().enumerate().all(|(at, &arg)| (arg == next) == (at == n));
        let used_again = given(stays).contains(&counter)
            || given(1 - stays).iter().any(|&arg| arg == counter || arg == next);
        if !goes_round || used_again || [counter, next, *test].iter().any(|&value| escaping.contains(value)) {
            return None;
        }
        let natural = from >= 0 && from + step * (rounds - 1) >= 0;
        let mut found = Linear { func, counter, natural, growth: FxHashMap::default(), linear: Vec::new() };
        found.growth.insert(counter, Growth { by: 1, times: None });
        let mut tops: Vec<Value> = Vec::new();
        for inst in blocks.iter().flat_map(|&block| func.layout.insts(block)) {
            if func.traits(inst).contains(Traits::CONVERGENT) {
                return None;
            }
            let result = func.dfg.first_result(inst);
            if inst == back || result == Some(next) || result == Some(*test) {
                continue;
            }
            if func.dfg.uses(inst).any(|value| value == next || value == *test) {
                return None;
            }
            if found.add(inst, &inside) {
                continue;
            }
            tops.extend(func.dfg.uses(inst).filter(|value| found.growth.contains_key(value)));
        }
        let args =
            func.dfg.uses(back).chain(found.linear.iter().filter_map(|&inst| func.dfg.first_result(inst)));
        let leaves =
            |value: &Value| escaping.contains(*value) || func.dfg.uses(back).any(|used| used == *value);
        tops.extend(args.filter(|value| *value != next && found.growth.contains_key(value)).filter(leaves));
        tops.sort_unstable();
        tops.dedup();
        let tops: Vec<Top> = tops.into_iter().map(|value| found.top(value)).collect::<Option<_>>()?;
        // The end is met once only, where the way to it is shorter than the way round.
        let meets_once = |top: &Top| {
            let way = top.growth.by.checked_mul(step).and_then(|by| by.checked_mul(rounds));
            top.growth.times.is_none() && way.is_some_and(|way| way != 0 && way.unsigned_abs() < 1 << 32)
        };
        // All threads see the same of a variable itself.
        let is_uniform = |top: &Top| {
            let base = func.dfg.args(top.inst).first().and_then(|&base| func.dfg.def_data(base));
            matches!(base, Some(InstData::GlobalAddr { .. } | InstData::StackAddr { .. }))
        };
        let first =
            |uniform: bool| tops.iter().position(|top| meets_once(top) && (!uniform || is_uniform(top)));
        let decides = first(true).or_else(|| first(false))?;
        let linear = found.linear;
        (tops.len() <= MAX_TOPS).then_some(Plan {
            header,
            entry,
            back,
            stays,
            counter,
            start,
            step,
            rounds,
            test: *test,
            linear,
            tops,
            decides,
        })
    }

    fn carry_out(self, func: &mut Function) {
        let Plan { header, entry, back, .. } = self;
        let constant = |func: &mut Function, ty: Type, value: i64| {
            insert_before(func, entry, InstData::IntConst { value: ty.normalize(value) }, ty)
        };
        // What the first round finds, in front of the loop.
        let mut firsts: FxHashMap<Value, Value> = FxHashMap::from_iter([(self.counter, self.start)]);
        for &inst in &self.linear {
            let Some(result) = func.dfg.first_result(inst) else { continue };
            // A constant may stand in the loop.
            for arg in SmallVec::<[Value; 4]>::from(func.dfg.args(inst)) {
                if let Some(&InstData::IntConst { value }) = func.dfg.def_data(arg) {
                    let ty = func.dfg.ty(arg);
                    firsts.entry(arg).or_insert_with(|| constant(func, ty, value));
                }
            }
            let mut data = func.dfg[inst].clone();
            for arg in data.args_mut(&mut func.dfg.pool) {
                *arg = firsts.get(arg).copied().unwrap_or(*arg);
            }
            let first = insert_before(func, entry, data, func.dfg.ty(result));
            firsts.insert(result, first);
        }
        let mut ends = None;
        for (n, top) in self.tops.iter().enumerate() {
            let ty = func.dfg.ty(top.value);
            let (op, width) = if ty.is_ptr() { (Opcode::Ptradd, Type::I64) } else { (Opcode::Iadd, ty) };
            let by = top.growth.by.wrapping_mul(self.step);
            let mut step = constant(func, width, by);
            if let Some(times) = top.growth.times {
                let data = InstData::Binary { op: Opcode::Imul, args: [step, times] };
                step = insert_before(func, entry, data, width);
            }
            let first = firsts[&top.value];
            let param = func.dfg.append_block_param(header, ty);
            let next = insert_before(func, back, InstData::Binary { op, args: [param, step] }, ty);
            for (branch, arg) in [(entry, first), (back, next)] {
                func.dfg.for_each_target_mut(branch, |call, pool| {
                    if call.block == header {
                        call.args.push(arg, pool);
                    }
                });
            }
            if n == self.decides {
                let way = constant(func, width, by.wrapping_mul(self.rounds));
                let end = insert_before(func, entry, InstData::Binary { op, args: [first, way] }, ty);
                ends = Some((word(func, back, next), word(func, entry, end)));
            }
            replace_with(func, top.inst, param);
        }
        let Some((next, end)) = ends else { return };
        let cond = if self.stays == 0 { IntCC::Ne } else { IntCC::Eq };
        let test = insert_before(func, back, InstData::IntCompare { cond, args: [next, end] }, Type::I1);
        func.dfg.map_uses(back, |value| if value == self.test { test } else { value });
    }
}

/// The lower 32 bits of an address; or an integer of 32 bits.
fn word(func: &mut Function, before: Inst, value: Value) -> Value {
    if !func.dfg.ty(value).is_ptr() {
        return value;
    }
    let whole = insert_before(func, before, InstData::Unary { op: Opcode::Ptrtoint, arg: value }, Type::I64);
    insert_before(func, before, InstData::Unary { op: Opcode::Trunc, arg: whole }, Type::I32)
}

/// How many rounds a loop runs whose counter, of 32 bits, goes on by a step from a start while it compares so with a bound; `None` if it may wrap.
fn rounds(cond: IntCC, start: i64, step: i64, bound: i64) -> Option<i64> {
    // The first number at which it stops, going up or down.
    let (up, stop, unsigned) = match cond {
        IntCC::Slt => (true, bound, false),
        IntCC::Sle => (true, bound + 1, false),
        IntCC::Sgt => (false, bound, false),
        IntCC::Sge => (false, bound - 1, false),
        IntCC::Ult => (true, bound, true),
        IntCC::Ule => (true, bound + 1, true),
        IntCC::Ugt => (false, bound, true),
        IntCC::Uge => (false, bound - 1, true),
        IntCC::Ne if step != 0 && (bound - start) % step == 0 => (step > 0, bound, false),
        IntCC::Ne | IntCC::Eq => return None,
    };
    if step == 0 || up != (step > 0) {
        return None;
    }
    // It is asked behind the first round.
    let way = if up { stop - start } else { start - stop };
    let rounds = (way + step.abs() - 1).div_euclid(step.abs()).max(1);
    let last = step.checked_mul(rounds)?.checked_add(start)?;
    let meets = cond != IntCC::Ne || last == bound;
    // As unsigned numbers they compare as they do as signed ones where neither is negative.
    let natural = !unsigned || [start, bound, last].iter().all(|&value| value >= 0);
    (meets && natural && i32::try_from(last).is_ok()).then_some(rounds)
}

/// What grows with the counter.
struct Linear<'f> {
    func: &'f Function,
    counter: Value,
    /// Whether the counter is never negative.
    natural: bool,
    growth: FxHashMap<Value, Growth>,
    linear: Vec<Inst>,
}

impl Linear<'_> {
    /// Whether the result of an instruction grows by the same in each round, which is noted.
    fn add(&mut self, inst: Inst, inside: &impl Fn(Value) -> bool) -> bool {
        let Some(growth) = self.growth_of(inst, inside) else { return false };
        let Some(result) = self.func.dfg.first_result(inst) else { return false };
        self.growth.insert(result, growth);
        self.linear.push(inst);
        true
    }

    fn growth_of(&self, inst: Inst, inside: &impl Fn(Value) -> bool) -> Option<Growth> {
        let dfg = &self.func.dfg;
        let growth = |value: Value| self.growth.get(&value).copied();
        let fixed = |value: Value| !inside(value) || dfg.int_const(value).is_some();
        match dfg[inst] {
            InstData::Unary { op: Opcode::Sext, arg } if arg == self.counter => growth(arg)
                .filter(|_| dfg.first_result(inst).is_some_and(|result| dfg.ty(result) == Type::I64)),
            InstData::Unary { op: Opcode::Zext, arg } if arg == self.counter && self.natural => growth(arg)
                .filter(|_| dfg.first_result(inst).is_some_and(|result| dfg.ty(result) == Type::I64)),
            InstData::Binary { op, args: [a, b] } => {
                let (left, right) = (growth(a), growth(b));
                match op {
                    Opcode::Iadd => match (left, right) {
                        (Some(growth), None) if fixed(b) => Some(growth),
                        (None, Some(growth)) if fixed(a) => Some(growth),
                        _ => None,
                    },
                    // An offset of 32 bits is extended, and what is computed from the counter may have wrapped by then.
                    Opcode::Ptradd => match (left, right) {
                        (Some(growth), None) if fixed(b) => Some(growth),
                        (None, Some(growth)) if fixed(a) => {
                            Some(growth).filter(|_| b == self.counter || dfg.ty(b) == Type::I64)
                        }
                        _ => None,
                    },
                    Opcode::Isub => left.filter(|_| right.is_none() && fixed(b)),
                    Opcode::Imul => {
                        let (growth, factor) = match (left, right) {
                            (Some(growth), None) if fixed(b) => (growth, b),
                            (None, Some(growth)) if fixed(a) => (growth, a),
                            _ => return None,
                        };
                        match (dfg.int_const(factor), growth.times) {
                            (Some(by), _) => Some(Growth { by: growth.by.checked_mul(by)?, ..growth }),
                            (None, None) => Some(Growth { times: Some(factor), ..growth }),
                            (None, Some(_)) => None,
                        }
                    }
                    Opcode::Shl => {
                        let by = dfg.int_const(b).filter(|by| (0..32).contains(by))?;
                        let growth = left?;
                        Some(Growth { by: growth.by.checked_mul(1 << by)?, ..growth })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A value that something else than sums and products uses; `None` unless it fits in a register.
    fn top(&self, value: Value) -> Option<Top> {
        let dfg = &self.func.dfg;
        let inst = dfg.def_inst(value).filter(|_| value != self.counter)?;
        let ty = dfg.ty(value);
        let short = ty == Type::I32 || matches!(ty.space(), Some(StateSpace::Shared | StateSpace::Local));
        let growth = self.growth.get(&value).copied().filter(|_| short)?;
        Some(Top { inst, value, growth })
    }
}
