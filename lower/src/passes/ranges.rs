//! Ranges: between which numbers, read as signed, each integer lies, through loops and behind branches. What can be said of no value bit by bit is known
//! so: that a counter which starts at 0 and stays below a bound is not negative.
//!
//! The search is optimistic, as that for constants is: every value has no number at first, and is given those that reach it. A parameter that grows
//! more than a few times grows to the end of its type at once; going over everything twice more then takes back what a bound forbids. Behind a branch
//! on a comparison its operands are what it says.
//!
//! Of it are made: unsigned quotients, remainders and shifts of what is not negative, which are shorter; narrow ones where the operands are, since
//! ptxas makes 16 bits of a division by floats, and 64 bits of a division by a loop; comparisons with one answer; the promise not to wrap.

use super::{insert_before, replace_with};
use crate::analysis::Cfg;
use crate::pass::{Changes, Context};
use crate::rules::known::{Known, special_register};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, IntCC, Opcode, Type, Value};

/// How often a value may grow before it grows to the end.
const MAX_GROWTH: u8 = 3;
/// Branches that are looked at above a block.
const MAX_BRANCHES: usize = 6;
/// Sweeps over the function; where that is not enough, nothing is known.
const MAX_SWEEPS: usize = 16;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let cfg = cx.analyses.get::<Cfg>(func);
    let dominators = cx.analyses.get::<DominatorTree>(func);
    let Some(search) = Search::run(func, &cfg, &dominators) else { return Changes::NONE };
    let mut found: Vec<(Inst, Better)> = Vec::new();
    for &block in cfg.reverse_postorder() {
        for inst in func.layout.insts(block) {
            found.extend(search.better(func, inst, block).map(|better| (inst, better)));
        }
    }
    let changes = found.len() as u32;
    for (inst, better) in found {
        if better.commit(func, inst).is_none() {
            continue;
        }
        cx.log.remark(func, Some(inst), "range", true, || better.to_string());
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// The numbers from one to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    low: i128,
    high: i128,
}

impl Range {
    const fn new(low: i128, high: i128) -> Range {
        Range { low, high }
    }

    /// All numbers of a width.
    const fn all(bits: u32) -> Range {
        Range { low: -(1 << (bits - 1)), high: (1 << (bits - 1)) - 1 }
    }

    /// The numbers of a width in it; all of them if others are too, since those wrap.
    fn wrapped(self, bits: u32) -> Range {
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

    const fn is_natural(self) -> bool {
        self.low >= 0
    }
}

/// Ranges are kept of integers of 8 to 64 bits.
fn width(ty: Type) -> Option<u32> {
    (ty.is_int() && !ty.is_vector() && !ty.is_odd() && (8..=64).contains(&ty.bits())).then(|| ty.bits())
}

struct Search<'f> {
    dominators: &'f DominatorTree,
    cfg: &'f Cfg,
    known: SecondaryMap<Value, Option<Range>>,
    growth: SecondaryMap<Value, u8>,
}

impl<'f> Search<'f> {
    fn run(func: &Function, cfg: &'f Cfg, dominators: &'f DominatorTree) -> Option<Self> {
        let (known, growth) = (SecondaryMap::with_default(None), SecondaryMap::with_default(0));
        let mut search = Search { dominators, cfg, known, growth };
        for &param in func.layout.entry().map_or(&[][..], |entry| func.dfg.block_params(entry)) {
            search.known[param] = width(func.dfg.ty(param)).map(Range::all);
        }
        let mut sweeps = 0;
        while search.sweep(func, true) {
            sweeps += 1;
            if sweeps == MAX_SWEEPS {
                return None;
            }
        }
        // What was given up to the end of its type may be bounded; each of these sweeps starts from what holds and leaves what holds.
        search.sweep(func, false);
        search.sweep(func, false);
        Some(search)
    }

    /// Goes over all blocks, and says whether anything grew.
    fn sweep(&mut self, func: &Function, grow: bool) -> bool {
        let mut changed = false;
        for &block in self.cfg.reverse_postorder() {
            if func.layout.entry() != Some(block) {
                for (n, &param) in func.dfg.block_params(block).iter().enumerate() {
                    let Some(bits) = width(func.dfg.ty(param)) else { continue };
                    let given = self.given(func, block, n);
                    changed |= self.set(param, given, bits, grow);
                }
            }
            for inst in func.layout.insts(block) {
                let Some(result) = func.dfg.first_result(inst) else { continue };
                let Some(bits) = width(func.dfg.ty(result)) else { continue };
                let found = match func.dfg.results(inst).len() {
                    1 => self.evaluate(func, inst, block, bits),
                    _ => Some(Range::all(bits)),
                };
                changed |= self.set(result, found, bits, grow);
                for other in func.dfg.results(inst).into_iter().skip(1) {
                    self.known[other] = width(func.dfg.ty(other)).map(Range::all);
                }
            }
        }
        changed
    }

    fn set(&mut self, value: Value, found: Option<Range>, bits: u32, grow: bool) -> bool {
        let (Some(found), old) = (found, self.known[value]) else { return false };
        let new = match old {
            None => found,
            Some(old) if !grow => old.and(found),
            Some(old) => old.or(found),
        };
        if old == Some(new) {
            return false;
        }
        self.known[value] = Some(new);
        if let Some(old) = old.filter(|_| grow) {
            self.growth[value] = self.growth[value].saturating_add(1);
            if self.growth[value] > MAX_GROWTH {
                let all = Range::all(bits);
                let low = if new.low < old.low { if new.low >= 0 { 0 } else { all.low } } else { new.low };
                let high = if new.high > old.high { all.high } else { new.high };
                self.known[value] = Some(Range::new(low, high));
            }
        }
        true
    }

    /// What the edges into a block give to its n-th parameter.
    fn given(&self, func: &Function, block: Block, n: usize) -> Option<Range> {
        let mut all: Option<Range> = None;
        let mut seen: SmallVec<[Block; 4]> = SmallVec::new();
        for &pred in self.cfg.predecessors(block) {
            if seen.contains(&pred) {
                continue;
            }
            seen.push(pred);
            let branch = func.terminator(pred)?;
            for (side, call) in func.dfg.targets(branch).enumerate().filter(|(_, call)| call.block == block) {
                let arg = *call.args(&func.dfg.pool).get(n)?;
                let Some(mut range) = self.at(func, arg, pred) else { continue };
                if let Some((cond, [a, b])) = decided(func, branch, side) {
                    range = self.refined(func, arg, range, cond, [a, b]);
                }
                all = Some(all.map_or(range, |all| all.or(range)));
            }
        }
        all
    }

    /// What is known of a value where a block begins: `None` if nothing has reached it.
    fn at(&self, func: &Function, value: Value, block: Block) -> Option<Range> {
        let value = func.dfg.resolve(value);
        if let Some(constant) = func.dfg.int_const(value) {
            return Some(Range::new(constant.into(), constant.into()));
        }
        let mut range = self.known[value]?;
        let mut at = block;
        for _ in 0..MAX_BRANCHES {
            let Some(above) = self.dominators.idom(at) else { break };
            if let [pred] = self.cfg.predecessors(at)
                && let Some(branch) = func.terminator(*pred)
            {
                let mut sides = func.dfg.targets(branch).enumerate().filter(|(_, call)| call.block == at);
                if let (Some((side, _)), None) = (sides.next(), sides.next())
                    && let Some((cond, operands)) = decided(func, branch, side)
                {
                    range = self.refined(func, value, range, cond, operands);
                }
            }
            at = above;
        }
        Some(range)
    }

    /// What a comparison that holds says of one of its operands.
    fn refined(&self, func: &Function, value: Value, range: Range, cond: IntCC, [a, b]: [Value; 2]) -> Range {
        let value = func.dfg.resolve(value);
        let (a, b) = (func.dfg.resolve(a), func.dfg.resolve(b));
        let (cond, other) = match () {
            () if value == a => (cond, b),
            () if value == b => (cond.swapped(), a),
            () => return range,
        };
        let other = match func.dfg.int_const(other) {
            Some(constant) => Range::new(constant.into(), constant.into()),
            None => match self.known[other] {
                Some(other) => other,
                None => return range,
            },
        };
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
            IntCC::Ne | IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge => return range,
        };
        range.and(bounded)
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
                let arg = of(arg)?;
                match op {
                    Opcode::Sext => arg,
                    Opcode::Zext if arg.is_natural() => arg,
                    Opcode::Zext => Range::new(0, (1 << from) - 1),
                    Opcode::Trunc => arg.wrapped(bits),
                    Opcode::Ineg => Range::new(-arg.high, -arg.low).wrapped(bits),
                    Opcode::Bnot => Range::new(-arg.high - 1, -arg.low - 1),
                    Opcode::Popcnt | Opcode::Clz | Opcode::Ctz => Range::new(0, from.into()).wrapped(bits),
                    _ => all,
                }
            }
            InstData::Binary { op, args: [a, b] } => {
                if width(func.dfg.ty(a)).is_none() || width(func.dfg.ty(b)).is_none() {
                    return Some(all);
                }
                binary(op, of(a)?, of(b)?, bits, func.dfg.no_signed_wrap(inst))
            }
            InstData::Ternary { op: Opcode::Select, args: [_, yes, no] } => match (of(yes), of(no)) {
                (Some(yes), Some(no)) => yes.or(no),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => return None,
            },
            _ => all,
        })
    }

    /// What an instruction is known to be in place of what it is.
    fn better(&self, func: &Function, inst: Inst, block: Block) -> Option<Better> {
        let of = |value: Value| self.at(func, value, block);
        match func.dfg[inst] {
            InstData::Binary { op, args: [a, b] } => {
                let bits = width(func.dfg.ty(a))?;
                let (x, y) = (of(a)?, of(b)?);
                let natural = x.is_natural() && y.is_natural();
                match op {
                    Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem if natural => {
                        let op = match op {
                            Opcode::Sdiv => Opcode::Udiv,
                            Opcode::Srem => Opcode::Urem,
                            other => other,
                        };
                        let most = x.high.max(y.high);
                        let constant = func.dfg.int_const(b).is_some();
                        if y.low > x.high {
                            return Some(if op == Opcode::Udiv { Better::Constant(0) } else { Better::Left });
                        }
                        let narrow = [Type::I16, Type::I32].into_iter().find(|ty| most < 1 << ty.bits());
                        match narrow {
                            // Of 0, the quotient is all ones of its type.
                            Some(ty) if ty.bits() < bits && !constant && y.low > 0 => {
                                Some(Better::Narrow(op, ty))
                            }
                            _ if op != func.dfg.opcode(inst) => Some(Better::Op(op)),
                            _ => None,
                        }
                    }
                    Opcode::Ashr if x.is_natural() => Some(Better::Op(Opcode::Lshr)),
                    Opcode::Iadd | Opcode::Isub | Opcode::Imul if !func.dfg.no_signed_wrap(inst) => {
                        let exact = exact(op, x, y)?;
                        (exact.wrapped(bits) == exact && exact != Range::all(bits)).then_some(Better::NoWrap)
                    }
                    _ => None,
                }
            }
            InstData::IntCompare { cond, args: [a, b] } => {
                width(func.dfg.ty(a))?;
                let (x, y) = (of(a)?, of(b)?);
                let signed = match cond {
                    IntCC::Ult if x.is_natural() && y.is_natural() => IntCC::Slt,
                    IntCC::Ule if x.is_natural() && y.is_natural() => IntCC::Sle,
                    IntCC::Ugt if x.is_natural() && y.is_natural() => IntCC::Sgt,
                    IntCC::Uge if x.is_natural() && y.is_natural() => IntCC::Sge,
                    other => other,
                };
                let answer = match signed {
                    IntCC::Slt => answer(x.high < y.low, x.low >= y.high),
                    IntCC::Sle => answer(x.high <= y.low, x.low > y.high),
                    IntCC::Sgt => answer(x.low > y.high, x.high <= y.low),
                    IntCC::Sge => answer(x.low >= y.high, x.high < y.low),
                    IntCC::Eq => answer(false, x.high < y.low || y.high < x.low),
                    IntCC::Ne => answer(x.high < y.low || y.high < x.low, false),
                    IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge => None,
                };
                answer.map(|answer| Better::Constant(if answer { Type::I1.normalize(1) } else { 0 }))
            }
            _ => None,
        }
    }
}

const fn answer(yes: bool, no: bool) -> Option<bool> {
    if yes {
        Some(true)
    } else if no {
        Some(false)
    } else {
        None
    }
}

/// The comparison that a branch is known to have decided on one of its sides.
fn decided(func: &Function, branch: Inst, side: usize) -> Option<(IntCC, [Value; 2])> {
    let InstData::Brif { cond, dests } = &func.dfg[branch] else { return None };
    if dests[0].block == dests[1].block {
        return None;
    }
    let &InstData::IntCompare { cond, args } = func.dfg.def_data(*cond)? else { return None };
    width(func.dfg.ty(args[0]))?;
    Some((if side == 0 { cond } else { cond.inverse() }, args))
}

/// Numbers from 0, of a width.
fn natural(high: i128, bits: u32) -> Range {
    Range::new(0, high).wrapped(bits)
}

/// Sums, differences and products without wrapping.
fn exact(op: Opcode, a: Range, b: Range) -> Option<Range> {
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

fn binary(op: Opcode, a: Range, b: Range, bits: u32, no_wrap: bool) -> Range {
    let all = Range::all(bits);
    let both = a.is_natural() && b.is_natural();
    let amount = (b.low == b.high && (0..i128::from(bits)).contains(&b.low)).then_some(b.low);
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
        Opcode::Shl => match amount {
            Some(n) => Range::new(a.low << n, a.high << n).wrapped(bits),
            None => all,
        },
        Opcode::Lshr => match amount {
            Some(n) if a.is_natural() => Range::new(a.low >> n, a.high >> n),
            Some(n @ 1..) => natural(((1 << bits) - 1) >> n, bits),
            _ if a.is_natural() && b.is_natural() => Range::new(0, a.high),
            _ => all,
        },
        Opcode::Ashr => match amount {
            Some(n) => Range::new(a.low >> n, a.high >> n),
            None => Range::new(a.low.min(0), a.high.max(0)).or(a),
        },
        Opcode::Band if both => Range::new(0, a.high.min(b.high)),
        Opcode::Band if a.is_natural() => Range::new(0, a.high),
        Opcode::Band if b.is_natural() => Range::new(0, b.high),
        Opcode::Bor if both => Range::new(a.low.max(b.low), filled(a.high, b.high)),
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

/// What is known of an instruction by its operands' ranges.
#[derive(Clone, Copy)]
enum Better {
    /// The unsigned operation.
    Op(Opcode),
    /// The same in fewer bits.
    Narrow(Opcode, Type),
    /// Its first operand.
    Left,
    Constant(i64),
    /// It does not wrap.
    NoWrap,
}

impl std::fmt::Display for Better {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Better::Op(op) => write!(f, "its operands are not negative: {}", op.name()),
            Better::Narrow(op, ty) => write!(f, "its operands fit fewer bits: {}.{ty}", op.name()),
            Better::Left => f.write_str("its first operand is less than its second"),
            Better::Constant(value) => write!(f, "is {value} for all that its operands can be"),
            Better::NoWrap => f.write_str("does not wrap"),
        }
    }
}

impl Better {
    fn commit(self, func: &mut Function, inst: Inst) -> Option<()> {
        let ty = func.dfg.ty(func.dfg.first_result(inst)?);
        match self {
            Better::Op(op) => {
                let InstData::Binary { args, .. } = func.dfg[inst] else { return None };
                func.dfg.replace_inst(inst, InstData::Binary { op, args });
            }
            Better::Narrow(op, narrow) => {
                let InstData::Binary { args, .. } = func.dfg[inst] else { return None };
                let args = args
                    .map(|arg| insert_before(func, inst, InstData::Unary { op: Opcode::Trunc, arg }, narrow));
                let result = insert_before(func, inst, InstData::Binary { op, args }, narrow);
                func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Zext, arg: result });
            }
            Better::Left => {
                let InstData::Binary { args: [left, _], .. } = func.dfg[inst] else { return None };
                replace_with(func, inst, left);
            }
            Better::Constant(value) => {
                func.dfg.replace_inst(inst, InstData::IntConst { value: ty.normalize(value) });
            }
            Better::NoWrap => func.dfg.set_no_signed_wrap(inst, true),
        }
        Some(())
    }
}
