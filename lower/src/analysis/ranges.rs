//! Ranges: between which numbers, read as signed, each integer lies, through loops and behind branches. What can be said of no value bit by bit is known
//! so: that a counter which starts at 0 and stays below a bound is not negative.
//!
//! The search is optimistic, as that for constants is: every value has no number at first, and is given those that reach it. A parameter that grows
//! more than a few times grows to the end of its type at once; going over everything twice more then takes back what a bound forbids. Behind a branch
//! on a comparison its operands are what it says.

mod facts;

use super::{Analyses, Analysis, Cfg};
use crate::pass::Aspects;
use crate::rules::known::{Known, mask, special_register};
use crate::users::Users;
use cranelift_entity::{EntitySet, SecondaryMap};
use facts::{Decided, Facts, compared, decided, decided_by_edge};
use std::sync::Arc;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, IntCC, Opcode, Type, Value};

/// Sums in a row that are taken apart.
const MAX_SUMS: u32 = 32;
/// How often a value may grow before it grows to the end.
const MAX_GROWTH: u8 = 3;
/// Branches that are looked at above a block.
const MAX_BRANCHES: usize = 6;
/// How often a sweep goes round a loop without loops in it before it goes on.
const MAX_ROUNDS: usize = 8;
/// Sweeps over the function; where that is not enough, nothing is known.
const MAX_SWEEPS: usize = 16;

/// The numbers from one to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
}

impl Range {
    pub(crate) const fn new(low: i128, high: i128) -> Range {
        Range { low, high }
    }

    /// All numbers of a width.
    pub const fn all(bits: u32) -> Range {
        Range { low: -(1 << (bits - 1)), high: (1 << (bits - 1)) - 1 }
    }

    /// The numbers of a width that is read as unsigned.
    pub const fn unsigned(bits: u32) -> Range {
        Range { low: 0, high: (1 << bits) - 1 }
    }

    /// Whether it has all numbers of another.
    pub const fn contains(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The numbers of a width in it; all of them if others are too, since those wrap.
    pub fn wrapped(self, bits: u32) -> Range {
        let all = Range::all(bits);
        if self.low < all.low || self.high > all.high { all } else { self }
    }

    /// The numbers in both; where that is none the code is not reached, and any answer will do.
    fn and(self, other: Range) -> Range {
        let both = Range::new(self.low.max(other.low), self.high.min(other.high));
        if both.low > both.high { self } else { both }
    }

    fn or(self, other: Range) -> Range {
        Range::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// Whether none is negative.
    pub const fn is_natural(self) -> bool {
        self.low >= 0
    }
}

/// How a value is below a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Below {
    /// Both read without a sign.
    Unsigned,
    /// With a sign as well, and neither is negative.
    Natural,
}

/// What a value is a constant more than, by sums that do not wrap or of pointers, and that constant.
pub(crate) fn distance(func: &Function, value: Value) -> (Value, i64) {
    let (mut value, mut by) = (func.dfg.resolve(value), 0i64);
    for _ in 0..MAX_SUMS {
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

/// The width of a type whose ranges are kept: integers of 8 to 64 bits.
pub(crate) fn width(ty: Type) -> Option<u32> {
    match ty {
        Type::I8 => Some(8),
        Type::I16 => Some(16),
        Type::I32 => Some(32),
        Type::I64 => Some(64),
        _ => None,
    }
}

/// The ranges of the integers of a function.
#[derive(Clone, PartialEq)]
pub struct Ranges {
    dominators: Arc<DominatorTree>,
    cfg: Arc<Cfg>,
    known: Known64,
    facts: Facts,
    /// The comparisons of values that branches above blocks have decided, for each block the nearest first, and which are a block's.
    decided: Vec<Decided>,
    decided_above: SecondaryMap<Block, (u32, u32)>,
    /// The operands of those: of other values they say nothing.
    compared: EntitySet<Value>,
    /// Whether the search came to an end.
    complete: bool,
}

impl Analysis for Ranges {
    const NAME: &'static str = "ranges of integers";
    const READS: Aspects = Aspects::ALL;

    fn compute(func: &Function, analyses: &mut Analyses) -> Self {
        let (cfg, dominators) = (analyses.get::<Cfg>(func), analyses.get::<DominatorTree>(func));
        let mut ranges = Ranges {
            facts: Facts::new(func, &cfg, &dominators),
            dominators,
            cfg,
            known: Known64::new(func.dfg.num_values()),
            decided: Vec::new(),
            decided_above: SecondaryMap::new(),
            compared: EntitySet::with_capacity(func.dfg.num_values()),
            complete: true,
        };
        ranges.decided_above.resize(func.dfg.num_blocks());
        for block in func.layout.blocks() {
            ranges.find_decided(func, block);
        }
        ranges.compared.extend(ranges.decided.iter().flat_map(Decided::values));
        ranges.compared.extend(ranges.facts.values());
        let mut search = Search {
            ranges,
            growth: SecondaryMap::with_default(0),
            changed: SecondaryMap::with_default(0),
            seen: SecondaryMap::with_default(0),
            users: Users::new(func),
            stale_insts: SecondaryMap::new(),
            stale_blocks: SecondaryMap::new(),
            heads: SecondaryMap::with_default(None),
            other_heads: Vec::new(),
            loose: EntitySet::with_capacity(func.dfg.num_blocks()),
            time: 1,
        };
        search.find_heads(func);
        search.find_users(func);
        search.growth.resize(func.dfg.num_values());
        search.changed.resize(func.dfg.num_values());
        search.seen.resize(func.dfg.num_blocks());
        search.run(func)
    }
}

/// The ranges of values, in a third of the memory: the numbers that a type of at most 64 bits has fit into 64.
#[derive(Clone, PartialEq)]
struct Known64(SecondaryMap<Value, [i64; 2]>);

impl Known64 {
    /// No number.
    const NOTHING: [i64; 2] = [1, 0];

    fn new(values: usize) -> Known64 {
        let mut known = SecondaryMap::with_default(Known64::NOTHING);
        known.resize(values);
        Known64(known)
    }

    fn get(&self, value: Value) -> Option<Range> {
        let [low, high] = self.0[value];
        (low <= high).then(|| Range::new(low.into(), high.into()))
    }

    fn set(&mut self, value: Value, range: Range) {
        self.0[value] = Known64::fit(range);
    }

    fn fit(range: Range) -> [i64; 2] {
        [range.low, range.high].map(|end| end.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }
}

/// What of a block is to be found again, besides instructions of which an operand has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stale {
    /// All of it.
    Whole,
    Params,
}

/// The search for ranges.
struct Search {
    ranges: Ranges,
    growth: SecondaryMap<Value, u8>,
    /// When the range of each value changed last, and when the search went into each block last; 0 for never.
    changed: SecondaryMap<Value, u32>,
    seen: SecondaryMap<Block, u32>,
    /// The instructions whose range follows from those of a value; and those that an operand of has changed of since they were evaluated, and blocks that have any.
    users: Users,
    stale_insts: SecondaryMap<Inst, bool>,
    stale_blocks: SecondaryMap<Block, bool>,
    /// For the last block of a loop without loops in it, the place of its head in reverse postorder.
    heads: SecondaryMap<Block, Option<u32>>,
    /// The places of the other blocks that something further on leads back to, and of heads that a sweep went round to no end.
    other_heads: Vec<u32>,
    /// Blocks with ranges that are larger than what was last found for them.
    loose: EntitySet<Block>,
    /// Changes so far, from 1.
    time: u32,
}

impl Search {
    fn run(mut self, func: &Function) -> Ranges {
        for &param in func.layout.entry().map_or(&[][..], |entry| func.dfg.block_params(entry)) {
            if let Some(bits) = width(func.dfg.ty(param)) {
                self.ranges.known.set(param, Range::all(bits));
            }
        }
        let mut from = Some(0);
        let mut sweeps = 0;
        while let Some(first) = from {
            if sweeps == MAX_SWEEPS {
                self.ranges.known = Known64::new(0);
                self.ranges.complete = false;
                return self.ranges;
            }
            self.sweep(func, first, true);
            from = self.stale_head(func);
            sweeps += 1;
        }
        // What was given up to the end of its type may be bounded; each of these sweeps starts from what holds and leaves what holds.
        let order = self.ranges.cfg.reverse_postorder();
        let Some(first) = order.iter().position(|block| self.loose.contains(*block)) else {
            return self.ranges;
        };
        self.loose.iter().for_each(|block| self.seen[block] = 0);
        if self.sweep(func, first, false) {
            self.sweep(func, first, false);
        }
        self.ranges
    }

    /// The first place that a sweep left something to be done at. Nothing is used in front of its definition but by way of an edge that leads back, so
    /// that is where such edges lead to; where the sweep went round a loop until nothing grew it left nothing.
    fn stale_head(&mut self, func: &Function) -> Option<usize> {
        self.other_heads.sort_unstable();
        self.other_heads.dedup();
        let order = self.ranges.cfg.reverse_postorder();
        let mut heads = self.other_heads.iter().map(|&head| head as usize);
        heads.find(|&head| self.stale(func, order[head]).is_some())
    }

    /// Whether what is in front of a block has changed since it was gone into: what edges give its parameters, and comparisons that branches above it have
    /// decided. Else nothing in it but what follows from instructions in front of it, which a sweep has come to before, would be found in another way.
    fn stale(&self, func: &Function, block: Block) -> Option<Stale> {
        let since = self.seen[block];
        if since == 0 {
            return Some(Stale::Whole);
        }
        let is_new = |value: Value| self.changed[func.dfg.resolve(value)] > since;
        // What the block itself gives to its parameters it may have found out behind them.
        let may_be_new = |value: Value| self.changed[func.dfg.resolve(value)] >= since;
        let by_branches =
            |block: Block| self.ranges.decided(block).iter().flat_map(|decided| &decided.operands);
        if by_branches(block).any(|value| is_new(*value)) {
            return Some(Stale::Whole);
        }
        if !func.dfg.block_params(block).is_empty() {
            for (pred, side) in self.ranges.cfg.edges(block) {
                let Some(branch) = func.terminator(pred) else { return Some(Stale::Params) };
                let compared = decided(func, branch, side);
                let mut compared = compared.iter().flat_map(|decided| &decided.operands);
                let call = func.dfg.target(branch, side);
                let mut given = call.into_iter().flat_map(|call| call.args(&func.dfg.pool));
                if given.any(|value| may_be_new(*value))
                    || compared.any(|value| may_be_new(*value))
                    || by_branches(pred).any(|value| may_be_new(*value))
                {
                    return Some(Stale::Params);
                }
            }
        }
        None
    }

    fn find_users(&mut self, func: &Function) {
        self.stale_insts.resize(func.dfg.num_insts());
        self.stale_blocks.resize(func.dfg.num_blocks());
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            if func.dfg.first_result(inst).is_some_and(|result| width(func.dfg.ty(result)).is_some()) {
                func.dfg.args(inst).iter().for_each(|&arg| self.users.add(func.dfg.resolve(arg), inst));
            }
        }
    }

    /// Notes that the range of a value has changed, from which others follow.
    fn note_changed(&mut self, func: &Function, value: Value) {
        self.changed[value] = self.time;
        for user in self.users.of(value) {
            self.stale_insts[user] = true;
            if let Some(block) = func.layout.block_of(user) {
                self.stale_blocks[block] = true;
            }
        }
    }

    /// Finds the loops that a sweep goes round: those that nothing leads back from but their last block.
    fn find_heads(&mut self, func: &Function) {
        self.heads.resize(func.dfg.num_blocks());
        let cfg = self.ranges.cfg.clone();
        let mut places: SecondaryMap<Block, u32> = SecondaryMap::with_default(u32::MAX);
        places.resize(func.dfg.num_blocks());
        // The last block that something led back from, or a head.
        let mut last_back = None;
        for (place, &block) in (0..).zip(cfg.reverse_postorder()) {
            places[block] = place;
            let heads = func.successors(block).map(|next| places[next]).filter(|head| *head <= place);
            let Some(first) = heads.clone().min() else { continue };
            self.heads[block] = Some(first).filter(|first| last_back.is_none_or(|last| last < *first));
            self.other_heads.extend(heads.filter(|head| Some(*head) != self.heads[block]));
            last_back = Some(place);
        }
    }

    /// Goes over all blocks from a place on, and says whether anything grew. Growing goes round a loop until nothing in it does: what is behind it sees what
    /// it comes to, not each step on the way there, and a large function goes through the cache fewer times.
    fn sweep(&mut self, func: &Function, from: usize, grow: bool) -> bool {
        let mut changed = false;
        let cfg = self.ranges.cfg.clone();
        let order = cfg.reverse_postorder();
        let (mut at, mut rounds) = (from, 0);
        // What is known to be stale of the block that is next.
        let mut known = None;
        while let Some(&block) = order.get(at) {
            let stale = known.take().or_else(|| self.stale(func, block));
            changed |= self.visit(func, block, stale, grow);
            at += 1;
            let Some(head) = self.heads[block].map(|head| head as usize).filter(|_| grow) else { continue };
            let stale = self.stale(func, order[head]);
            if stale.is_some() && rounds < MAX_ROUNDS {
                (at, rounds, known) = (head, rounds + 1, stale);
                continue;
            }
            if stale.is_some() {
                self.other_heads.push(head as u32);
            }
            rounds = 0;
        }
        changed
    }

    /// Finds again what of a block may have changed, and says whether anything grew.
    fn visit(&mut self, func: &Function, block: Block, stale: Option<Stale>, grow: bool) -> bool {
        let mut changed = false;
        if stale.is_none() && !self.stale_blocks[block] {
            return false;
        }
        // What changes in here may come round to it again.
        self.time += 1;
        self.seen[block] = self.time;
        if stale.is_some() && func.layout.entry() != Some(block) {
            for (n, &param) in func.dfg.block_params(block).iter().enumerate() {
                if width(func.dfg.ty(param)).is_none() {
                    continue;
                }
                let given = self.ranges.given(func, block, n);
                changed |= self.set(func, param, given, block, grow);
            }
        }
        for inst in func.layout.insts(block) {
            if !std::mem::take(&mut self.stale_insts[inst]) && stale != Some(Stale::Whole) {
                continue;
            }
            let Some(result) = func.dfg.first_result(inst) else { continue };
            let Some(bits) = width(func.dfg.ty(result)) else { continue };
            let found = match func.dfg.results(inst).len() {
                1 => self.ranges.evaluate(func, inst, block, bits),
                _ => Some(Range::all(bits)),
            };
            changed |= self.set(func, result, found, block, grow);
            for other in func.dfg.results(inst).into_iter().skip(1) {
                let all = width(func.dfg.ty(other)).map(Range::all);
                if let Some(all) = all.filter(|all| self.ranges.known.get(other) != Some(*all)) {
                    self.ranges.known.set(other, all);
                    self.note_changed(func, other);
                }
            }
        }
        self.stale_blocks[block] = false;
        changed
    }

    /// Adds what was found of a value, or takes away what it was found not to be, and says whether that changed anything.
    fn set(&mut self, func: &Function, value: Value, found: Option<Range>, block: Block, grow: bool) -> bool {
        let Some([low, high]) = found.map(Known64::fit) else { return false };
        let old @ [old_low, old_high] = self.ranges.known.0[value];
        let mut new = match old_low <= old_high {
            false => [low, high],
            true if grow => [old_low.min(low), old_high.max(high)],
            // Where no number is left the code is not reached, and any answer will do.
            true if old_low.max(low) > old_high.min(high) => old,
            true => [old_low.max(low), old_high.min(high)],
        };
        let changed = new != old;
        if changed && grow && old_low <= old_high {
            self.growth[value] = self.growth[value].saturating_add(1);
            if self.growth[value] > MAX_GROWTH {
                let [least, greatest] =
                    width(func.dfg.ty(value)).map_or(new, |bits| Known64::fit(Range::all(bits)));
                if new[0] < old_low {
                    new[0] = if new[0] >= 0 { 0 } else { least };
                }
                if new[1] > old_high {
                    new[1] = greatest;
                }
            }
        }
        if changed {
            self.ranges.known.0[value] = new;
            self.note_changed(func, value);
        }
        if new != [low, high] {
            self.loose.insert(block);
        }
        changed
    }
}

impl Ranges {
    /// Whether anything is known: the search has a bound.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// What the edges into a block give to its n-th parameter.
    fn given(&self, func: &Function, block: Block, n: usize) -> Option<Range> {
        let mut all: Option<Range> = None;
        for (pred, side) in self.cfg.edges(block) {
            let branch = func.terminator(pred)?;
            let arg = func.dfg.resolve(*func.dfg.target(branch, side)?.args(&func.dfg.pool).get(n)?);
            let Some(range) = self.on_edge(func, arg, pred, &decided(func, branch, side)) else { continue };
            all = Some(all.map_or(range, |all| all.or(range)));
        }
        all
    }

    /// What is known of a value on an edge out of a block that is taken by what is decided.
    fn on_edge(&self, func: &Function, value: Value, from: Block, all: &[Decided]) -> Option<Range> {
        let range = self.at(func, value, from)?;
        Some(all.iter().fold(range, |range, decided| self.refined(func, value, range, decided)))
    }

    /// What is known of a value where a block begins: `None` if nothing has reached it, or nothing was asked of it.
    #[inline]
    pub fn at(&self, func: &Function, value: Value, block: Block) -> Option<Range> {
        let value = func.dfg.resolve(value);
        if let Some(constant) = func.dfg.int_const(value) {
            return Some(Range::new(constant.into(), constant.into()));
        }
        let range = self.known.get(value)?;
        Some(if self.compared.contains(value) { self.bounded(func, value, range, block) } else { range })
    }

    /// How branches above a block have decided that a value, with a number added, is below another, if they have.
    pub fn below(&self, func: &Function, sum: (Value, i64), bound: Value, block: Block) -> Option<Below> {
        let natural = || self.at(func, sum.0, block).is_some_and(Range::is_natural);
        self.decided(block).iter().find_map(|decided| decided.below(func, sum, bound, natural))
    }

    /// How it is below another where an edge leads from a block by the side of its branch, if it is.
    pub fn below_on_edge(
        &self,
        func: &Function,
        (value, more): (Value, i64),
        bound: Value,
        (from, side): (Block, usize),
    ) -> Option<Below> {
        let all = decided(func, func.terminator(from)?, side);
        let [own, other] =
            [value, bound].map(|value| self.on_edge(func, func.dfg.resolve(value), from, &all));
        let is_below = |(own, other): (Range, Range)| own.high + i128::from(more) < other.low;
        let natural = || own.is_some_and(Range::is_natural);
        if natural() && own.zip(other).is_some_and(is_below) {
            return Some(Below::Natural);
        }
        all.iter().find_map(|decided| decided.below(func, (value, more), bound, natural))
    }

    /// The range of a value with what branches above a block say of it.
    fn bounded(&self, func: &Function, value: Value, range: Range, block: Block) -> Range {
        let decided = self.decided(block).iter();
        let range = decided.fold(range, |range, decided| self.refined(func, value, range, decided));
        let facts =
            self.facts.before(value, block).filter(|fact| self.dominators.dominates(fact.block, block));
        facts.fold(range, |range, fact| {
            let constant = i128::from(fact.constant);
            moved(func, value, range, fact.more, |range| {
                within(range, fact.cond, Range::new(constant, constant))
            })
        })
    }

    /// The comparisons that branches above a block have decided, the nearest first.
    fn decided(&self, block: Block) -> &[Decided] {
        let (start, end) = self.decided_above[block];
        &self.decided[start as usize..end as usize]
    }

    fn find_decided(&mut self, func: &Function, block: Block) {
        let start = self.decided.len() as u32;
        let mut at = block;
        for _ in 0..MAX_BRANCHES {
            let Some(above) = self.dominators.idom(at) else { break };
            let decided = decided_by_edge(func, &self.cfg, at);
            self.decided.extend(
                decided.into_iter().filter(|decided| func.dfg.int_const(decided.operands[1]).is_none()),
            );
            at = above;
        }
        self.decided_above[block] = (start, self.decided.len() as u32);
    }

    /// What a comparison that holds says of a value, which has no other name, if that is one of its operands or a part of one.
    #[inline]
    fn refined(&self, func: &Function, value: Value, range: Range, decided: &Decided) -> Range {
        let [a, b] = decided.operands;
        let cond = decided.cond;
        if value == a {
            return self.refined_by(func, range, cond, b);
        }
        if value == b {
            return self.refined_by(func, range, cond.swapped(), a);
        }
        let Some((_, more, second)) = decided.part.filter(|(part, ..)| *part == value) else { return range };
        let (cond, other) = if second { (cond.swapped(), a) } else { (cond, b) };
        moved(func, value, range, more, |range| self.refined_by(func, range, cond, other))
    }

    /// What of a range is in a relation to a value.
    fn refined_by(&self, func: &Function, range: Range, cond: IntCC, other: Value) -> Range {
        let other = match func.dfg.int_const(other) {
            Some(constant) => Some(Range::new(constant.into(), constant.into())),
            None => self.known.get(other),
        };
        other.map_or(range, |other| within(range, cond, other))
    }

    fn evaluate(&self, func: &Function, inst: Inst, block: Block, bits: u32) -> Option<Range> {
        let all = Range::all(bits);
        let of = |value: Value| self.at(func, value, block);
        Some(match func.dfg[inst] {
            InstData::IntConst { value } => Range::new(value.into(), value.into()),
            InstData::Sreg { reg } => match special_register(bits, reg) {
                known if known == Known::NOTHING => all,
                known => natural(known.max(bits).into(), bits),
            },
            InstData::Unary { op, arg } => {
                let Some(from) = width(func.dfg.ty(arg)) else {
                    return Some(match op {
                        Opcode::Zext if func.dfg.ty(arg) == Type::I1 => Range::new(0, 1),
                        _ => all,
                    });
                };
                // A bit that is set has no more zeros in front of it.
                let set = match func.dfg.def_data(arg) {
                    Some(&InstData::Binary { op: Opcode::Bor, args: [_, set] }) => func.dfg.int_const(set),
                    _ => None,
                };
                let arg = of(arg)?;
                match op {
                    Opcode::Clz if set.is_some_and(|set| set != 0) => {
                        let set = set.unwrap_or_default() as u64 & mask(from);
                        Range::new(0, (from + set.leading_zeros() - 64).into())
                    }
                    Opcode::Sext => arg,
                    Opcode::Zext if arg.is_natural() => arg,
                    Opcode::Zext => Range::unsigned(from),
                    Opcode::Trunc => arg.wrapped(bits),
                    Opcode::Ineg => Range::new(-arg.high, -arg.low).wrapped(bits),
                    Opcode::Bnot => Range::new(-arg.high - 1, -arg.low - 1),
                    Opcode::Popcnt | Opcode::Clz | Opcode::Ctz => counted(op, arg, from).wrapped(bits),
                    _ => all,
                }
            }
            InstData::Binary { op, args: [a, b] } => {
                if width(func.dfg.ty(a)).is_none() || width(func.dfg.ty(b)).is_none() {
                    return Some(all);
                }
                let no_wrap = func.dfg.no_signed_wrap(inst);
                let found = binary(op, of(a)?, of(b)?, bits, no_wrap);
                // No square is negative.
                match op == Opcode::Imul && no_wrap && func.dfg.resolve(a) == func.dfg.resolve(b) {
                    true => found.and(Range::new(0, all.high)),
                    false => found,
                }
            }
            InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] } => {
                // What is compared with a constant: no other value then decides what is known of the selection.
                let is_constant = |value: &Value| func.dfg.int_const(*value).is_some();
                let compared = compared(func, cond).filter(|known| known.operands.iter().any(is_constant));
                let chosen = |value: Value, holds: bool| {
                    let value = func.dfg.resolve(value);
                    let range = of(value)?;
                    Some(compared.map_or(range, |known| {
                        let cond = if holds { known.cond } else { known.cond.inverse() };
                        self.refined(func, value, range, &Decided { cond, part: None, ..known })
                    }))
                };
                match (chosen(yes, true), chosen(no, false)) {
                    (Some(yes), Some(no)) => yes.or(no),
                    (Some(one), None) | (None, Some(one)) => one,
                    (None, None) => return None,
                }
            }
            _ => all,
        })
    }
}

/// What of a range is in a relation to some number of another.
fn within(range: Range, cond: IntCC, other: Range) -> Range {
    let bounded = match cond {
        IntCC::Slt => Range::new(range.low, other.high - 1),
        IntCC::Sle => Range::new(range.low, other.high),
        IntCC::Sgt => Range::new(other.low + 1, range.high),
        IntCC::Sge => Range::new(other.low, range.high),
        IntCC::Eq => other,
        IntCC::Ult if other.is_natural() => Range::new(0, other.high - 1),
        IntCC::Ule if other.is_natural() => Range::new(0, other.high),
        // What is above a number that is not negative is above it as signed too, if it is not negative itself.
        IntCC::Ugt if range.is_natural() && other.is_natural() => Range::new(other.low + 1, range.high),
        IntCC::Uge if range.is_natural() && other.is_natural() => Range::new(other.low, range.high),
        IntCC::Ne if other == Range::new(range.low, range.low) => Range::new(range.low + 1, range.high),
        IntCC::Ne if other == Range::new(range.high, range.high) => Range::new(range.low, range.high - 1),
        IntCC::Ne | IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge => return range,
    };
    range.and(bounded)
}

/// A range with what is said of the sums of its numbers with another, if those do not wrap.
fn moved(func: &Function, value: Value, range: Range, more: i64, said: impl Fn(Range) -> Range) -> Range {
    if more == 0 {
        return said(range);
    }
    let more = i128::from(more);
    let sum = Range::new(range.low + more, range.high + more);
    if width(func.dfg.ty(value)).is_none_or(|bits| !Range::all(bits).contains(sum)) {
        return range;
    }
    let sum = said(sum);
    Range::new(sum.low - more, sum.high - more)
}

/// Numbers from 0, of a width.
fn natural(high: i128, bits: u32) -> Range {
    Range::new(0, high).wrapped(bits)
}

/// Sums, differences and products without wrapping.
pub(crate) fn exact(op: Opcode, a: Range, b: Range) -> Option<Range> {
    match op {
        Opcode::Iadd => Some(Range::new(a.low + b.low, a.high + b.high)),
        Opcode::Isub => Some(Range::new(a.low - b.high, a.high - b.low)),
        Opcode::Imul => {
            let corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
            Some(Range::new(*corners.iter().min()?, *corners.iter().max()?))
        }
        _ => None,
    }
}

/// How many bits of a number of a width are ones, or are zeros in front of or behind all ones.
fn counted(op: Opcode, of: Range, width: u32) -> Range {
    let used = |number: i128| i128::from(128 - number.leading_zeros());
    let width = i128::from(width);
    match op {
        Opcode::Clz if of.is_natural() => Range::new(width - used(of.high), width - used(of.low)),
        Opcode::Popcnt if of.is_natural() => Range::new(i128::from(of.low > 0), used(of.high)),
        // Zero has as many as bits.
        Opcode::Ctz if of.low > 0 => Range::new(0, used(of.high) - 1),
        _ => Range::new(0, width),
    }
}

fn binary(op: Opcode, a: Range, b: Range, bits: u32, no_wrap: bool) -> Range {
    let all = Range::all(bits);
    let both = a.is_natural() && b.is_natural();
    // The least and the greatest amount of a shift, if no shift is by all bits or more.
    let amounts = (0 <= b.low && b.high < i128::from(bits)).then_some((b.low, b.high));
    // All ones up to the highest bit of either.
    let filled = |a: i128, b: i128| (1i128 << (128 - (a | b).leading_zeros())) - 1;
    match op {
        Opcode::Iadd | Opcode::Isub | Opcode::Imul => match exact(op, a, b) {
            Some(exact) if no_wrap => {
                Range::new(exact.low.clamp(all.low, all.high), exact.high.clamp(all.low, all.high))
            }
            Some(exact) => exact.wrapped(bits),
            None => all,
        },
        Opcode::Umulhi if both => Range::new((a.low * b.low) >> bits, (a.high * b.high) >> bits),
        Opcode::Smulhi => {
            exact(Opcode::Imul, a, b).map_or(all, |all| Range::new(all.low >> bits, all.high >> bits))
        }
        Opcode::Shl => match amounts {
            Some((least, most)) => {
                Range::new((a.low << least).min(a.low << most), (a.high << least).max(a.high << most))
                    .wrapped(bits)
            }
            None => all,
        },
        Opcode::Lshr => match amounts {
            Some((least, most)) if a.is_natural() => Range::new(a.low >> most, a.high >> least),
            Some((least @ 1.., _)) => natural(((1 << bits) - 1) >> least, bits),
            _ if both => Range::new(0, a.high),
            _ => all,
        },
        Opcode::Ashr => match amounts {
            Some((least, most)) => {
                Range::new((a.low >> least).min(a.low >> most), (a.high >> least).max(a.high >> most))
            }
            None => Range::new(a.low.min(0), a.high.max(0)).or(a),
        },
        Opcode::Band if both => Range::new(0, a.high.min(b.high)),
        Opcode::Band if a.is_natural() => Range::new(0, a.high),
        Opcode::Band if b.is_natural() => Range::new(0, b.high),
        Opcode::Bor if both => Range::new(a.low.max(b.low), filled(a.high, b.high)),
        // All ones less the other.
        Opcode::Bxor if both && b.low == b.high && b.high & (b.high + 1) == 0 && a.high <= b.high => {
            Range::new(b.high - a.high, b.high - a.low)
        }
        Opcode::Bxor if both => Range::new(0, filled(a.high, b.high)),
        Opcode::Udiv | Opcode::Sdiv if both && b.low > 0 => Range::new(a.low / b.high, a.high / b.low),
        Opcode::Sdiv if b.low > 0 => Range::new(a.low.min(0), a.high.max(0)),
        Opcode::Urem | Opcode::Srem if both && b.low > 0 => Range::new(0, a.high.min(b.high - 1)),
        Opcode::Urem if b.low > 0 => Range::new(0, b.high - 1),
        Opcode::Srem if b.low > 0 => Range::new(a.low.min(0).max(1 - b.high), a.high.max(0).min(b.high - 1)),
        Opcode::Smin => Range::new(a.low.min(b.low), a.high.min(b.high)),
        Opcode::Smax => Range::new(a.low.max(b.low), a.high.max(b.high)),
        Opcode::Umin if both => Range::new(a.low.min(b.low), a.high.min(b.high)),
        Opcode::Umax if both => Range::new(a.low.max(b.low), a.high.max(b.high)),
        Opcode::Umin if a.is_natural() => Range::new(0, a.high),
        Opcode::Umin if b.is_natural() => Range::new(0, b.high),
        _ => all,
    }
}
