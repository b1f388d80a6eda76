//! How many rounds a loop has, and what is left of one whose counters are constants: found by running what decides them.

use crate::analysis::{Cfg, Loop, distance};
use crate::fold::{self, Constant};
use crate::rules::known::KnownBits;
use crate::rules::matching;
use smallvec::{SmallVec, smallvec};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{Block, Function, Inst, InstData, IntCC, Opcode, Type, Value, ValueDef};

/// How deep the search for a constant goes.
const MAX_DEPTH: u32 = 32;
/// Branches out of a loop that are looked at, and blocks of a loop where these may be elsewhere than at its ends.
const MAX_EXITS: usize = 8;
const MAX_BLOCKS: usize = 64;
/// Operations in a row that are compared, of which each has two operands.
const MAX_ALIKE: u32 = 4;

/// A loop that is run with what is constant in it.
pub(super) struct Rounds<'l> {
    pub func: &'l Function,
    pub found: Loop<'l>,
    pub cfg: &'l Cfg,
    pub latch: Block,
}

pub(super) type Known = FxHashMap<Value, Option<Constant>>;

impl Rounds<'_> {
    /// The block whose branch decides, which of its targets is in the loop, and how often that is taken, at most `limit` times. `outer` is what
    /// is known outside of the loop.
    pub fn decided(&self, limit: usize, outer: &Known) -> Option<(Block, usize, usize)> {
        let func = self.func;
        let inside = |block: Block| self.found.blocks.contains(&block);
        let ends = [self.found.header, self.latch];
        let between = self.found.blocks.iter().copied().filter(|block| !ends.contains(block));
        let between = between.take_while(|_| self.found.blocks.len() <= MAX_BLOCKS);
        let latch = Some(self.latch).filter(|latch| *latch != self.found.header);
        let mut looked = 0;
        [Some(self.found.header), latch].into_iter().flatten().chain(between).find_map(|block| {
            let InstData::Brif { cond, dests } = &func.dfg[func.terminator(block)?] else { return None };
            let stays = match [inside(dests[0].block), inside(dests[1].block)] {
                [true, false] => 0,
                [false, true] => 1,
                [true, true] | [false, false] => return None,
            };
            looked += 1;
            if looked > MAX_EXITS {
                return None;
            }
            let rounds = self.count(*cond, stays, limit, outer)?;
            (ends.contains(&block) || !self.before_branch(block).contains(&self.latch))
                .then_some((block, stays, rounds))
        })
    }

    /// The blocks of the loop that are reached in a round before a block's branch, and that block.
    pub fn before_branch(&self, block: Block) -> Vec<Block> {
        let mut reached: FxHashSet<Block> = [self.found.header].into_iter().collect();
        let mut work: SmallVec<[Block; 16]> = smallvec![self.found.header];
        while let Some(next) = work.pop() {
            let others = self.func.successors(next).filter(|other| self.found.blocks.contains(other));
            work.extend(others.filter(|&other| next != block && reached.insert(other)));
        }
        self.found.blocks.iter().copied().filter(|block| reached.contains(block)).collect()
    }

    /// How often a condition keeps the loop going, if that is known and at most `limit`.
    fn count(&self, cond: Value, stays: usize, limit: usize, outer: &Known) -> Option<usize> {
        let counters = self.counters(cond)?;
        let from = |known| self.count_from(known, &counters, cond, stays, limit);
        from(self.start_of(&counters, outer)?).or_else(|| self.relative(cond).and_then(from))
    }

    /// The numbers of the header's parameters that a condition follows from, in this round or a later one; the others need not be counted with.
    fn counters(&self, cond: Value) -> Option<SmallVec<[usize; 4]>> {
        let func = self.func;
        let next = self.given(self.latch)?;
        let inside: FxHashSet<Block> = self.found.blocks.iter().copied().collect();
        let is_inside = |value| func.block_of(value).is_some_and(|block| inside.contains(&block));
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut work: SmallVec<[(Value, u32); 16]> = smallvec![(cond, 0)];
        let mut counters = SmallVec::new();
        while let Some((value, depth)) = work.pop() {
            let value = func.dfg.resolve(value);
            if depth > MAX_DEPTH || !is_inside(value) || !seen.insert(value) {
                continue;
            }
            match func.dfg.def(value) {
                ValueDef::Result(inst, _) if func.traits(inst).is_pure() => {
                    work.extend(func.dfg.args(inst).iter().map(|&arg| (arg, depth + 1)));
                }
                ValueDef::Param(block, n) if block == self.found.header => {
                    counters.push(n as usize);
                    work.push((*next.get(n as usize)?, 0));
                }
                ValueDef::Param(block, n) => work.extend(self.passed(block, n).map(|arg| (arg, depth + 1))),
                ValueDef::Result(..) | ValueDef::Alias(_) | ValueDef::Detached => {}
            }
        }
        counters.sort_unstable();
        Some(counters)
    }

    /// What the only edge to a block gives its n-th parameter.
    fn passed(&self, block: Block, n: u32) -> Option<Value> {
        let func = self.func;
        let &[pred] = self.cfg.predecessors(block) else { return None };
        let mut calls = func.dfg.targets(func.terminator(pred)?).filter(|call| call.block == block);
        let (call, None) = (calls.next()?, calls.next()) else { return None };
        call.args(&func.dfg.pool).get(n as usize).copied()
    }

    /// What is known in the first round of a loop from `x - 1` to `x + 2`, with 0 for what both ends are some constant from: as nothing wraps, that is
    /// as many rounds as for any other number. Pointers may wrap, as whether they are equal does not depend on it. The counter may be narrower than the
    /// ends, `for (int i = x; i < x + 4; ++i)` with an `x` of 64 bits, if it can be seen that `x` fits.
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
            let (param, _) = distance(func, widened(func, counter));
            let at = params.iter().position(|&own| own == param)?;
            let start = if func.dfg.ty(bound) == func.dfg.ty(first[at]) {
                first[at]
            } else {
                whole(func, first[at])?
            };
            let ((from, by), (to, _)) = (distance(func, start), distance(func, bound));
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
    fn count_from(
        &self,
        mut known: Known,
        counters: &[usize],
        cond: Value,
        stays: usize,
        limit: usize,
    ) -> Option<usize> {
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
            for &n in counters {
                let value = self.eval(next[n], &mut state, 0);
                known.insert(params[n], value);
            }
        }
        None
    }

    /// What is left of a round whose counters are constants.
    pub fn cost(&self) -> Option<usize> {
        let func = self.func;
        let mut state = self.start(&Known::default())?;
        let inside: FxHashSet<Block> = self.found.blocks.iter().copied().collect();
        // What is the same in every round is computed once.
        let mut fixed: FxHashSet<Value> = FxHashSet::default();
        let mut cost = 0;
        for &block in self.found.blocks {
            for inst in func.layout.insts(block) {
                let traits = func.traits(inst);
                let is_fixed = |value: Value| match func.dfg.def(value) {
                    ValueDef::Result(inst, _) => {
                        let block = func.layout.block_of(inst);
                        fixed.contains(&value) || !block.is_some_and(|block| inside.contains(&block))
                    }
                    ValueDef::Param(block, _) => !inside.contains(&block),
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
    pub fn start(&self, outer: &Known) -> Option<Known> {
        let all: SmallVec<[usize; 4]> = (0..self.func.dfg.block_params(self.found.header).len()).collect();
        self.start_of(&all, outer)
    }

    /// What is known of some of them, by their numbers.
    fn start_of(&self, counters: &[usize], outer: &Known) -> Option<Known> {
        let params = self.func.dfg.block_params(self.found.header);
        let first = self.given(self.before()?)?;
        let mut known = outer.clone();
        for &n in counters {
            known.insert(params[n], self.eval(first[n], &mut outer.clone(), 0));
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
                let given = self.eval(self.passed(block, n)?, state, depth + 1);
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

/// What is sign-extended, of a value that is.
fn widened(func: &Function, value: Value) -> Value {
    match func.dfg.def_data(func.dfg.resolve(value)) {
        Some(&InstData::Unary { op: Opcode::Sext, arg }) => func.dfg.resolve(arg),
        _ => value,
    }
}

/// What was truncated to a value, if that is the same number and not negative.
fn whole(func: &Function, value: Value) -> Option<Value> {
    let &InstData::Unary { op: Opcode::Trunc, arg } = func.dfg.def_data(func.dfg.resolve(value))? else {
        return None;
    };
    let known = KnownBits::of_function(func, []).of(&func.dfg, arg)?;
    let bits = func.dfg.ty(value).bits();
    (known.zeros.leading_ones() > u64::BITS - bits && func.dfg.ty(arg) == Type::I64).then_some(arg)
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
