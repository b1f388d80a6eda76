//! Counters of 64 bits, as of `for (size_t i = 0; i < n; ++i)`, that stay below 2^32 since they are compared with a number of 32 bits: they count in
//! 32 bits, of which a sum and a comparison take one instruction, not two.

use super::super::{insert_before, take_over_name};
use crate::analysis::{Cfg, Range, Ranges};
use smallvec::SmallVec;
use warpsmith_base::FxHashSet;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value};

/// Edges into a loop that are looked at.
const MAX_EDGES: usize = 8;

/// What an edge gives to a counter.
#[derive(Clone, Copy)]
enum Given {
    /// A number.
    Constant(i64),
    /// What has 32 bits before it is extended.
    Small(Value),
    /// The counter and a step, by this instruction.
    Next(Inst),
    /// The counter as it is.
    Same,
}

/// Makes counters small. Says how many.
pub(super) fn run(func: &mut Function, ranges: &Ranges, cfg: &Cfg) -> u32 {
    let compared = compared_with_small(func, cfg);
    if compared.is_empty() {
        return 0;
    }
    let mut changes = 0;
    for &block in cfg.reverse_postorder().iter().skip(1) {
        let edges = cfg.predecessors(block).len();
        if !(2..=MAX_EDGES).contains(&edges) {
            continue;
        }
        // From the last, since what is made small leaves its place.
        for n in (0..func.dfg.block_params(block).len()).rev() {
            let param = func.dfg.block_params(block)[n];
            let Some(given) = given(func, ranges, cfg, &compared, block, n) else { continue };
            if given.iter().any(|given| matches!(given, Given::Next(_))) {
                make_small(func, ranges, cfg, Counter { block, n, param }, &given);
                changes += 1;
            }
        }
    }
    changes
}

/// The values of 64 bits that are compared with something of 32.
fn compared_with_small(func: &Function, cfg: &Cfg) -> FxHashSet<Value> {
    let small = |value: Value| small(func, value).is_some();
    let mut found = FxHashSet::default();
    for inst in cfg.reverse_postorder().iter().flat_map(|&block| func.layout.insts(block)) {
        if let InstData::IntCompare { args: [a, b], .. } = func.dfg[inst]
            && func.dfg.ty(a) == Type::I64
        {
            found.extend(small(b).then(|| func.dfg.resolve(a)));
            found.extend(small(a).then(|| func.dfg.resolve(b)));
        }
    }
    found
}

/// A number, or what has 32 bits before it is extended.
fn small(func: &Function, value: Value) -> Option<Given> {
    if let Some(constant) = func.dfg.int_const(value) {
        return u32::try_from(constant).is_ok().then_some(Given::Constant(constant));
    }
    match func.dfg.def_data(value) {
        Some(&InstData::Unary { op: Opcode::Zext, arg }) if func.dfg.ty(arg) == Type::I32 => {
            Some(Given::Small(arg))
        }
        _ => None,
    }
}

/// What the edges into a block give to its n-th parameter, if it can count in 32 bits and something compares it.
fn given(
    func: &Function,
    ranges: &Ranges,
    cfg: &Cfg,
    compared: &FxHashSet<Value>,
    block: Block,
    n: usize,
) -> Option<SmallVec<[Given; 4]>> {
    let param = func.dfg.block_params(block)[n];
    let fits = |value: Value, at: Block| {
        ranges.at(func, value, at).is_some_and(|range| Range::unsigned(32).contains(range))
    };
    if func.dfg.ty(param) != Type::I64 || !fits(param, block) {
        return None;
    }
    let mut is_compared = compared.contains(&param);
    let mut found = SmallVec::new();
    for pred in distinct(cfg, block) {
        for call in func.dfg.targets(func.terminator(pred)?).filter(|call| call.block == block) {
            let arg = func.dfg.resolve(*call.args(&func.dfg.pool).get(n)?);
            is_compared |= compared.contains(&arg);
            found.push(match func.dfg.def_data(arg) {
                _ if arg == param => Given::Same,
                Some(&InstData::Binary { op: Opcode::Iadd, args: [a, step] })
                    if func.dfg.resolve(a) == param && small_step(func, step).is_some() =>
                {
                    let next = func.dfg.def_inst(arg)?;
                    fits(arg, func.layout.block_of(next)?).then_some(Given::Next(next))?
                }
                _ => small(func, arg)?,
            });
        }
    }
    is_compared.then_some(found)
}

/// A step in 32 bits: a constant, also a negative one, or a number that is extended.
fn small_step(func: &Function, step: Value) -> Option<Given> {
    match func.dfg.int_const(step) {
        Some(constant) => i32::try_from(constant).is_ok().then_some(Given::Constant(constant)),
        None => small(func, step),
    }
}

/// The blocks that lead to a block, each once.
fn distinct(cfg: &Cfg, block: Block) -> SmallVec<[Block; 4]> {
    let mut found: SmallVec<[Block; 4]> = cfg.predecessors(block).iter().copied().collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The n-th parameter of a block.
struct Counter {
    block: Block,
    n: usize,
    param: Value,
}

/// Makes a parameter one of 32 bits, which is extended where the block begins.
fn make_small(func: &mut Function, ranges: &Ranges, cfg: &Cfg, counter: Counter, given: &[Given]) {
    let Counter { block, n, param } = counter;
    let Some(first) = func.layout.first_inst(block) else { return };
    let is_positive = |func: &Function, value: Value, block: Block| {
        ranges.at(func, value, block).is_some_and(|range| Range::unsigned(31).contains(range))
    };
    let starts_positive = is_positive(func, param, block);
    let small = func.dfg.append_block_param(block, Type::I32);
    let mut given = given.iter();
    for pred in distinct(cfg, block) {
        let Some(branch) = func.terminator(pred) else { continue };
        let calls = func.dfg.targets(branch).filter(|call| call.block == block).count();
        let mut args: SmallVec<[Value; 2]> = SmallVec::new();
        for given in given.by_ref().take(calls) {
            args.push(match *given {
                Given::Constant(value) => constant(func, branch, value),
                Given::Small(value) => value,
                Given::Same => small,
                Given::Next(next) => {
                    let result = func.layout.block_of(next).zip(func.dfg.first_result(next));
                    let ends_positive = result.is_some_and(|(own, sum)| is_positive(func, sum, own));
                    next_small(func, next, small, starts_positive && ends_positive)
                }
            });
        }
        let mut args = args.into_iter();
        func.dfg.for_each_target_mut(branch, |call, pool| {
            if call.block == block {
                call.args.remove(n, pool);
                args.next().into_iter().for_each(|arg| {
                    call.args.push(arg, pool);
                });
            }
        });
    }
    func.dfg.remove_block_param(block, n);
    let wide = insert_before(func, first, InstData::Unary { op: Opcode::Zext, arg: small }, Type::I64);
    take_over_name(func, param, small);
    func.dfg.replace_value(param, wide);
}

fn constant(func: &mut Function, before: Inst, value: i64) -> Value {
    insert_before(func, before, InstData::IntConst { value: Type::I32.normalize(value) }, Type::I32)
}

/// Makes the sum of a counter and its step one of 32 bits, which is extended.
fn next_small(func: &mut Function, next: Inst, small: Value, no_signed_wrap: bool) -> Value {
    let &InstData::Binary { args: [_, step], .. } = &func.dfg[next] else {
        // Another edge gives it too.
        return func.dfg.args(next)[0];
    };
    let step = match small_step(func, step) {
        Some(Given::Constant(value)) => constant(func, next, value),
        Some(Given::Small(value)) => value,
        Some(Given::Next(_) | Given::Same) | None => return small,
    };
    let sum = InstData::Binary { op: Opcode::Iadd, args: [small, step] };
    let sum = insert_before(func, next, sum, Type::I32);
    if let Some(inst) = func.dfg.def_inst(sum) {
        func.dfg.set_promised(inst, no_signed_wrap);
    }
    func.dfg.replace_inst(next, InstData::Unary { op: Opcode::Zext, arg: sum });
    sum
}
