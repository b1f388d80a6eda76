//! Remainders of what is less than twice the divisor, as indices that go round leave them: `(k + 1) % n` of `k` below `n`, `(x + n - 1) % n`, the sum of two
//! remainders. One comparison is enough.

use super::Code;
use crate::analysis::{Below, Cfg, Ranges};
use crate::pass::Context;
use smallvec::SmallVec;
use warpsmith_base::FxHashSet;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, IntCC, Opcode, Type, Value, ValueDef};

/// Values that are followed to where they are seen to be below the divisor.
const MAX_VALUES: usize = 16;
/// Sums and differences that lead to the dividend, in a row.
const MAX_LINKS: u32 = 4;

/// Replaces such remainders; says how many.
pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    let mut found: Vec<(Block, Inst)> = Vec::new();
    for block in func.layout.blocks() {
        let insts = func.layout.insts(block).filter(|&inst| dividend(func, inst).is_some());
        found.extend(insts.map(|inst| (block, inst)));
    }
    if found.is_empty() {
        return 0;
    }
    let (cfg, ranges) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<Ranges>(func));
    let dominators = cx.analyses.get::<DominatorTree>(func);
    let mut made: FxHashSet<(Value, Value)> = FxHashSet::default();
    for (block, inst) in found {
        let Some((x, by)) = dividend(func, inst) else { continue };
        let around =
            Around { func, cfg: &cfg, dominators: &dominators, ranges: &ranges, by, block, made: &made };
        let Some((how, without)) = around.how(inst, x) else { continue };
        let ty = func.dfg.ty(x);
        let mut code = Code { func, before: inst, ty };
        let x = if without { code.binary(Opcode::Isub, x, by) } else { x };
        let result = code.once(how, x, by);
        crate::passes::replace_with(func, inst, result);
        made.insert((result, by));
    }
    made.len() as u32
}

/// The sum or difference that an instruction divides, and the divisor, if it gives the remainder.
fn dividend(func: &Function, inst: Inst) -> Option<(Value, Value)> {
    let InstData::Binary { op: Opcode::Urem | Opcode::Srem, args } = func.dfg[inst] else { return None };
    let [x, by] = args.map(|arg| func.dfg.resolve(arg));
    let is_sum =
        matches!(func.dfg.def_data(x), Some(InstData::Binary { op: Opcode::Iadd | Opcode::Isub, .. }));
    (is_sum && matches!(func.dfg.ty(x), Type::I32 | Type::I64)).then_some((x, by))
}

/// What is known of a dividend.
#[derive(Clone, Copy)]
enum How {
    /// It is less than the divisor.
    Itself,
    /// It is at most the divisor.
    ToZero,
    /// It is less than twice the divisor, of which the doubles have no bit too many.
    LessOnce,
}

impl Code<'_> {
    /// The remainder.
    fn once(&mut self, how: How, x: Value, by: Value) -> Value {
        let compare = |code: &mut Self, cond, args| {
            let data = InstData::IntCompare { cond, args };
            super::insert_before(code.func, code.before, data, Type::I1)
        };
        let (cond, rest) = match how {
            How::Itself => return x,
            How::ToZero => (compare(self, IntCC::Eq, [x, by]), self.constant(0)),
            How::LessOnce if self.ty == Type::I32 => {
                // Wrapped, a negative difference is greater than what it was taken from.
                let rest = self.binary(Opcode::Isub, x, by);
                return self.binary(Opcode::Umin, x, rest);
            }
            How::LessOnce => (compare(self, IntCC::Uge, [x, by]), self.binary(Opcode::Isub, x, by)),
        };
        let select = InstData::Ternary { op: Opcode::Select, args: [cond, rest, x] };
        super::insert_before(self.func, self.before, select, self.ty)
    }
}

/// The terms of a sum: values with how often each is added, and a number.
struct Sum {
    terms: SmallVec<[(Value, i64); 4]>,
    more: i64,
    /// Whether it is promised not to wrap, read as signed.
    promised: bool,
}

struct Around<'f> {
    func: &'f Function,
    cfg: &'f Cfg,
    dominators: &'f DominatorTree,
    ranges: &'f Ranges,
    by: Value,
    block: Block,
    /// What was made by now of remainders, and of which divisors.
    made: &'f FxHashSet<(Value, Value)>,
}

impl Around<'_> {
    /// What is known of a dividend, and whether that is of what is left when the divisor, a term of it, is taken away.
    fn how(&self, inst: Inst, x: Value) -> Option<(How, bool)> {
        let by = self.ranges.at(self.func, self.by, self.block);
        let promised = self.func.dfg.nonzero_divisor(inst);
        let least = by.map_or(0, |range| range.low).max(promised.into());
        if least < 1 {
            return None;
        }
        let natural = by.is_some_and(|range| range.is_natural());
        let signed = self.func.dfg.opcode(inst) == Opcode::Srem;
        let mut sum = Sum { terms: SmallVec::new(), more: 0, promised: true };
        self.add(&mut sum, x, 1, 0)?;
        let more = sum.more;
        let whole = sum.terms.iter().position(|&(term, count)| term == self.by && count == 1);
        let without = whole.filter(|_| more >= 0 && sum.promised);
        if let Some(whole) = without {
            sum.terms.remove(whole);
        }
        let without = without.is_some();
        // Read with a sign, what may be negative needs another comparison.
        let fits = |below: Option<Below>| match below {
            Some(Below::Natural) => true,
            Some(Below::Unsigned) => natural || !signed && !without,
            None => false,
        };
        // One term is below the divisor. What is added to it is a number, the divisor less a number, or another such.
        let candidates = sum.terms.iter().filter(|(value, count)| *value != self.by && *count == 1);
        for &(value, _) in candidates {
            let mut rest = sum.terms.iter().filter(|(other, _)| *other != value);
            let at_most_the_divisor = match (rest.next(), rest.next()) {
                (None, _) if more < 0 => false,
                (None, _) => {
                    if fits(self.below(value, more)) {
                        return Some((How::Itself, without));
                    }
                    if more > 0 && fits(self.below(value, more - 1)) {
                        return Some((How::ToZero, without));
                    }
                    i128::from(more) <= least
                }
                (Some(&(other, 1)), None) if other == self.by => (-least..=0).contains(&more.into()),
                (Some(&(other, 1)), None) => more == 0 && fits(self.below(other, 0)),
                (Some(_), _) => false,
            };
            let below = self.below(value, 0).filter(|_| at_most_the_divisor);
            // Twice the divisor has to be a number of the type; of those with a sign, for a remainder with one.
            let half = 1i128 << (self.func.dfg.ty(x).bits() - 2);
            let exact = !signed || sum.promised || by.is_some_and(|range| range.high <= half);
            if exact && fits(below) && (natural || below == Some(Below::Natural)) {
                return Some((How::LessOnce, without));
            }
        }
        None
    }

    /// Adds the terms of a value to a sum.
    fn add(&self, sum: &mut Sum, value: Value, times: i64, links: u32) -> Option<()> {
        let dfg = &self.func.dfg;
        let value = dfg.resolve(value);
        if let Some(constant) = dfg.int_const(value) {
            sum.more = sum.more.checked_add(constant.checked_mul(times)?)?;
            return Some(());
        }
        if let Some(&InstData::Binary { op: op @ (Opcode::Iadd | Opcode::Isub), args: [a, b] }) =
            dfg.def_data(value)
            && links < MAX_LINKS
            && value != self.by
        {
            sum.promised &= dfg.def_inst(value).is_some_and(|inst| dfg.promised(inst));
            self.add(sum, a, times, links + 1)?;
            return self.add(sum, b, if op == Opcode::Iadd { times } else { -times }, links + 1);
        }
        match sum.terms.iter_mut().find(|(term, _)| *term == value) {
            Some((_, count)) => *count += times,
            None => sum.terms.push((value, times)),
        }
        Some(())
    }

    /// How a value with a number added is below the divisor, if it is.
    fn below(&self, value: Value, more: i64) -> Option<Below> {
        let mut search = Search { around: self, more, followed: SmallVec::new(), how: Below::Natural };
        search.of(value, self.block).then_some(search.how)
    }
}

/// Which values, with a number added, are below the divisor, both read without a sign.
struct Search<'a, 'f> {
    around: &'a Around<'f>,
    more: i64,
    /// Parameters that are taken to be until the contrary is met: if all that they are given is then, they are.
    followed: SmallVec<[Value; MAX_VALUES]>,
    /// What all that was found so far has shown: where nothing was, that of an assumption.
    how: Below,
}

impl Search<'_, '_> {
    fn of(&mut self, value: Value, block: Block) -> bool {
        let &Around { func, ranges, by, made, .. } = self.around;
        let value = func.dfg.resolve(value);
        if self.followed.contains(&value) {
            return true;
        }
        let range = |value| ranges.at(func, value, block);
        let natural = |value| range(value).is_some_and(|range| range.is_natural());
        let least = range(by).map_or(0, |range| range.low);
        let more = self.more;
        let in_range = |least| {
            range(value).is_some_and(|range| range.is_natural() && range.high + i128::from(more) < least)
        };
        if in_range(least) {
            return true;
        }
        if let Some(how) = ranges.below(func, (value, more), by, block) {
            return self.shown(how);
        }
        // Nothing divides by 0 here.
        if in_range(1) || more == 0 && made.contains(&(value, by)) {
            return self.shown(Below::Unsigned);
        }
        if self.followed.len() == MAX_VALUES {
            return false;
        }
        self.followed.push(value);
        match func.dfg.def(value) {
            ValueDef::Param(block, n) => self.of_param(block, n as usize),
            ValueDef::Alias(_) | ValueDef::Detached => false,
            ValueDef::Result(..) => match func.dfg.def_data(value) {
                Some(&InstData::Binary { op: Opcode::Urem, args: [_, other] }) => {
                    more == 0 && func.dfg.resolve(other) == by && self.shown(Below::Unsigned)
                }
                Some(&InstData::Binary { op: Opcode::Srem, args: [_, other] }) => {
                    more == 0 && func.dfg.resolve(other) == by && natural(value) && natural(by)
                }
                Some(&InstData::Ternary { op: Opcode::Select, args: [_, x, y] }) => {
                    self.of(x, block) && self.of(y, block)
                }
                _ => false,
            },
        }
    }

    /// Notes how a value was seen to be below the divisor.
    fn shown(&mut self, how: Below) -> bool {
        if how == Below::Unsigned {
            self.how = how;
        }
        true
    }

    fn of_param(&mut self, block: Block, n: usize) -> bool {
        let &Around { func, cfg, dominators, ranges, by, .. } = self.around;
        // What an edge gives is compared with the divisor as it is on that edge: it must not be another behind it.
        let stays = |home: Block| home != block && dominators.dominates(home, block);
        if func.dfg.int_const(by).is_none() && !func.block_of(by).is_some_and(stays) {
            return false;
        }
        let edges: SmallVec<[(Block, usize); 4]> = cfg.edges(block).collect();
        for &(pred, side) in &edges {
            let branch = func.terminator(pred);
            let target = branch.and_then(|branch| func.dfg.target(branch, side));
            let Some(&arg) = target.and_then(|call| call.args(&func.dfg.pool).get(n)) else {
                return false;
            };
            let is_below = match ranges.below_on_edge(func, (arg, self.more), by, (pred, side)) {
                Some(how) => self.shown(how),
                None => self.of(arg, pred),
            };
            if !is_below {
                return false;
            }
        }
        !edges.is_empty()
    }
}
