//! Parameters of blocks that are always given the same: of two that every edge gives equal values, one stays. So are two counters that start equal and
//! take equal steps one, and a value that goes round a loop both as an integer and as the float of its bits. What is given one constant, each time anew, is
//! that. What a branch has decided an argument to be is given as that ([`chosen`]). What a condition has decided where two ways meet is a `select` of it ([`flags`]).
//! Halves of one value are given as that value ([`packed`]), and flags as conditions ([`conditions`]).

use super::ssa;
use crate::analysis::{Cfg, Loops};
use crate::pass::{Changes, Context};
use smallvec::SmallVec;
use warpsmith_ir::{Block, DominatorTree, Function, InstData, Opcode, Traits, Type, Value};

mod chosen;
mod conditions;
mod flags;
mod packed;

/// Parameters of a block that are compared with each other.
const MAX_PARAMS: usize = 32;
/// How far what computes two arguments is compared.
const MAX_DEPTH: u32 = 3;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let cfg = cx.analyses.get::<Cfg>(func);
    let mut changes = flags::run(func, &cfg, &cx.analyses.get::<DominatorTree>(func));
    changes += chosen::run(func, cfg.reverse_postorder());
    changes += packed::run(func, &cfg);
    // A debugger shows a flag as the number that it is.
    if func.debug.is_none() {
        changes += conditions::run(func, &cfg, &cx.analyses.get::<Loops>(func));
    }
    changes += constants(func, &cfg);
    if changes > 0 {
        changes += ssa::remove_redundant_params(func);
    }
    for &block in cfg.reverse_postorder().iter().skip(1) {
        let mut n = 1;
        while n < func.dfg.block_params(block).len().min(MAX_PARAMS) {
            match twin(func, &cfg, block, n) {
                Some((kept, cast)) => {
                    replace(func, &cfg, block, n, kept, cast);
                    changes += 1;
                }
                None => n += 1,
            }
        }
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// Has edges that give a parameter equal constants of their own give it one, so that it goes. Says how many parameters these are.
fn constants(func: &mut Function, cfg: &Cfg) -> u32 {
    let Some(entry) = func.layout.entry() else { return 0 };
    let mut changes = 0;
    for &block in cfg.reverse_postorder().iter().skip(1) {
        for n in 0..func.dfg.block_params(block).len() {
            let own = func.dfg.block_params(block)[n];
            let Some(data) = constant(func, cfg, block, n) else { continue };
            let ty = func.dfg.ty(own);
            let made = func.dfg.make_inst(data, &[ty]);
            func.layout.prepend_inst(made, entry);
            let Some(value) = func.dfg.first_result(made) else { continue };
            for (pred, side) in cfg.edges(block) {
                let Some(branch) = func.terminator(pred) else { continue };
                func.dfg.change_target(branch, side, |call, pool| call.args.as_mut_slice(pool)[n] = value);
            }
            changes += 1;
        }
    }
    changes
}

/// The constant that every edge gives a parameter, of several that are equal.
fn constant(func: &Function, cfg: &Cfg, block: Block, n: usize) -> Option<InstData> {
    let own = func.dfg.block_params(block)[n];
    let pair = Pair { func, params: [own; 2] };
    let mut found: Option<Value> = None;
    let mut several = false;
    for (pred, side) in cfg.edges(block) {
        let args = func.dfg.target(func.terminator(pred)?, side)?.args(&func.dfg.pool);
        let arg = func.dfg.resolve(*args.get(n)?);
        if arg == own {
            continue;
        }
        let first = *found.get_or_insert(arg);
        several |= arg != first;
        if !pair.equal(arg, first, 1) {
            return None;
        }
    }
    let data = func.dfg.def_data(found.filter(|_| several)?)?;
    matches!(data, InstData::IntConst { .. } | InstData::FloatConst { .. }).then(|| data.clone())
}

/// A parameter in front of the n-th that has the same bits, and whether its type is another.
fn twin(func: &Function, cfg: &Cfg, block: Block, n: usize) -> Option<(Value, bool)> {
    let params = func.dfg.block_params(block);
    let own = params[n];
    let ty = func.dfg.ty(own);
    let plain = |ty: Type| !ty.is_vector() && !ty.is_aggregate() && (ty.is_int() || ty.is_float());
    params[..n].iter().enumerate().find_map(|(m, &other)| {
        let of_other = func.dfg.ty(other);
        let cast = of_other != ty;
        if cast && !(plain(ty) && plain(of_other) && ty.bits() == of_other.bits()) {
            return None;
        }
        let pair = Pair { func, params: [own, other] };
        let mut any = false;
        for (pred, side) in cfg.edges(block) {
            // A parameter that was merged before changed arguments only.
            let args = func.dfg.target(func.terminator(pred)?, side)?.args(&func.dfg.pool);
            let (&a, &b) = (args.get(n)?, args.get(m)?);
            any = true;
            let equal = if cast { pair.same_bits(a, b) } else { pair.equal(a, b, MAX_DEPTH) };
            if !equal {
                return None;
            }
        }
        any.then_some((other, cast))
    })
}

/// Two parameters that are taken to be equal until the contrary is met: if every edge gives them equal values then, they are.
struct Pair<'f> {
    func: &'f Function,
    params: [Value; 2],
}

impl Pair<'_> {
    fn equal(&self, a: Value, b: Value, depth: u32) -> bool {
        let dfg = &self.func.dfg;
        let (a, b) = (dfg.resolve(a), dfg.resolve(b));
        if a == b || [a, b] == self.params {
            return true;
        }
        if depth == 0 || dfg.ty(a) != dfg.ty(b) {
            return false;
        }
        let all = |a: &[Value], b: &[Value]| a.iter().zip(b).all(|(&a, &b)| self.equal(a, b, depth - 1));
        match (dfg.def_data(a), dfg.def_data(b)) {
            (Some(InstData::IntConst { value: a }), Some(InstData::IntConst { value: b })) => a == b,
            (Some(InstData::FloatConst { bits: a }), Some(InstData::FloatConst { bits: b })) => a == b,
            (Some(InstData::Unary { op: a, arg: x }), Some(InstData::Unary { op: b, arg: y })) => {
                a == b && self.pure(*a) && all(&[*x], &[*y])
            }
            (Some(InstData::Binary { op: a, args: x }), Some(InstData::Binary { op: b, args: y })) => {
                a == b && self.pure(*a) && all(x, y)
            }
            (Some(InstData::Ternary { op: a, args: x }), Some(InstData::Ternary { op: b, args: y })) => {
                a == b && self.pure(*a) && all(x, y)
            }
            _ => false,
        }
    }

    fn pure(&self, op: Opcode) -> bool {
        op.traits().is_pure() && !op.traits().contains(Traits::CONVERGENT)
    }

    /// Whether the first is the second as another type.
    fn same_bits(&self, a: Value, b: Value) -> bool {
        let dfg = &self.func.dfg;
        let (a, b) = (dfg.resolve(a), dfg.resolve(b));
        let bare = |mut value: Value| {
            for _ in 0..MAX_DEPTH {
                let Some(&InstData::Unary { op: Opcode::Bitcast, arg }) = dfg.def_data(value) else { break };
                value = dfg.resolve(arg);
            }
            value
        };
        let constant = |value: Value| match dfg.def_data(value) {
            Some(&InstData::IntConst { value: bits }) => {
                Some(bits as u64 & (u64::MAX >> (64 - dfg.ty(value).bits().clamp(1, 64))))
            }
            Some(&InstData::FloatConst { bits }) => Some(bits),
            _ => None,
        };
        [a, b] == self.params
            || bare(a) == bare(b)
            || constant(a).is_some_and(|bits| constant(b) == Some(bits))
    }
}

/// Takes the n-th parameter off a block, for which another one stands from now on.
fn replace(func: &mut Function, cfg: &Cfg, block: Block, n: usize, kept: Value, cast: bool) {
    let old = func.dfg.block_params(block)[n];
    let by = match func.layout.first_inst(block).filter(|_| cast) {
        Some(first) => {
            let data = InstData::Unary { op: Opcode::Bitcast, arg: kept };
            super::insert_before(func, first, data, func.dfg.ty(old))
        }
        None => kept,
    };
    super::take_over_name(func, old, by);
    func.dfg.remove_block_param(block, n);
    func.dfg.replace_value(old, by);
    let preds: SmallVec<[Block; 4]> = cfg.predecessors(block).iter().copied().collect();
    let mut done: SmallVec<[Block; 4]> = SmallVec::new();
    for pred in preds {
        let Some(branch) = func.terminator(pred).filter(|_| !done.contains(&pred)) else { continue };
        done.push(pred);
        func.dfg.for_each_target_mut(branch, |call, pool| {
            if call.block == block {
                call.args.remove(n, pool);
            }
        });
    }
}
