//! Uses between which numbers each integer lies ([`Ranges`]): unsigned quotients, remainders and shifts of what is not negative, which are shorter;
//! narrow ones where the operands are, since ptxas makes 16 bits of a division by floats, and 64 bits of a division by a loop; comparisons with one
//! answer; the promise not to wrap. Counters of 64 bits count in 32 where they fit ([`counters`]).

mod counters;
mod overflow;

use super::{insert_before, replace_with};
use crate::analysis::{Cfg, Range, Ranges, exact, width};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::EntitySet;
use std::cmp::Ordering;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, IntCC, Opcode, Type, Value, ValueDef};

/// Edges into a block that are looked at.
const MAX_EDGES: usize = 8;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let decided = super::decided::run(func, cx, super::decided::Given::Condition);
    if decided > 0 {
        cx.analyses.invalidate(Aspects::INSTRUCTIONS);
    }
    let ranges = cx.analyses.get::<Ranges>(func);
    if !ranges.is_complete() {
        return Changes::to_instructions(decided);
    }
    let cfg = cx.analyses.get::<Cfg>(func);
    let mut found: Vec<(Inst, Better)> = Vec::new();
    for &block in cfg.reverse_postorder() {
        for inst in func.layout.insts(block) {
            found.extend(better(&ranges, &cfg, func, inst, block).map(|better| (inst, better)));
        }
    }
    if found.iter().any(|(_, better)| matches!(better, Better::Times(_))) {
        let bits = used_as_bits(func, &cfg);
        found.retain(|&(inst, better)| match func.dfg.first_result(inst) {
            Some(result) => !matches!(better, Better::Times(_)) || !bits.contains(result),
            None => true,
        });
    }
    let mut changes = found.len() as u32;
    let mut cut = Cut::default();
    for (inst, better) in found {
        if better.commit(func, inst, &mut cut).is_none() {
            continue;
        }
        cx.log.remark(func, Some(inst), "range", true, || better.to_string());
    }
    changes += counters::run(func, &ranges, &cfg);
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(decided + changes)
}

/// What was cut to a type in a block.
type Cut = FxHashMap<(Block, Value, Type), Value>;

/// Values that are used for other things than sums, products and addresses: as shifts, these may be found in patterns of bits.
fn used_as_bits(func: &Function, cfg: &Cfg) -> EntitySet<Value> {
    use Opcode::{Iadd, Imul, Isub, Ptradd, Sext, Zext};
    let mut found = EntitySet::new();
    for inst in cfg.reverse_postorder().iter().flat_map(|&block| func.layout.insts(block)) {
        let counts = matches!(func.dfg.opcode(inst), Iadd | Imul | Isub | Ptradd | Sext | Zext)
            || matches!(func.dfg[inst], InstData::Index { .. });
        if !counts {
            func.dfg.for_each_use(inst, |value| _ = found.insert(func.dfg.resolve(value)));
        }
    }
    found
}

/// What an instruction is known to be in place of what it is.
fn better(ranges: &Ranges, cfg: &Cfg, func: &Function, inst: Inst, block: Block) -> Option<Better> {
    let of = |value: Value| ranges.at(func, value, block);
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
                    if !constant && y.low > 0 && y.low <= x.high && is_power_or_zero(func, cfg, b) {
                        return Some(Better::ByPower(op));
                    }
                    if y.low > x.high {
                        return Some(if op == Opcode::Udiv { Better::Constant(0) } else { Better::Left });
                    }
                    let narrow = [Type::I16, Type::I32].into_iter().find(|ty| most < 1 << ty.bits());
                    match narrow {
                        // Of 0, the quotient is all ones of its type.
                        Some(ty)
                            if ty.bits() < bits
                                && !constant
                                && (y.low > 0 || func.dfg.nonzero_divisor(inst)) =>
                        {
                            Some(Better::Narrow(op, ty))
                        }
                        _ if op != func.dfg.opcode(inst) => Some(Better::Op(op)),
                        _ => None,
                    }
                }
                Opcode::Ashr if x.is_natural() => Some(Better::Op(Opcode::Lshr)),
                Opcode::Band
                    if x.is_natural() && func.dfg.int_const(b).is_some_and(|mask| keeps(mask, x)) =>
                {
                    Some(Better::Left)
                }
                Opcode::Iadd | Opcode::Isub | Opcode::Imul if !func.dfg.no_signed_wrap(inst) => {
                    let exact = exact(op, x, y)?;
                    (exact.wrapped(bits) == exact && exact != Range::all(bits)).then_some(Better::NoWrap)
                }
                // Products can promise not to wrap, shifts cannot.
                Opcode::Shl if y.low == y.high && (1..i128::from(bits) - 1).contains(&y.low) => {
                    let factor = Range::new(1 << y.low, 1 << y.low);
                    let exact = exact(Opcode::Imul, x, factor)?;
                    (exact.wrapped(bits) == exact && exact != Range::all(bits))
                        .then_some(Better::Times(1 << y.low))
                }
                _ => None,
            }
        }
        InstData::Unary { op: op @ (Opcode::Zext | Opcode::Sext), arg } => {
            let &InstData::Unary { op: Opcode::Trunc, arg: whole } = func.dfg.def_data(arg)? else {
                return None;
            };
            let (bits, whole) = (width(func.dfg.ty(arg))?, of(whole)?);
            let kept = if op == Opcode::Zext { Range::unsigned(bits) } else { Range::all(bits) };
            kept.contains(whole).then_some(Better::Whole(op))
        }
        InstData::Ternary { op: Opcode::Select, .. } => {
            let chosen = of(func.dfg.first_result(inst)?)?;
            (chosen.low == chosen.high).then_some(Better::Constant(chosen.low as i64))
        }
        InstData::IntCompare { cond, args: [a, b] } => {
            width(func.dfg.ty(a))?;
            let (x, y) = (of(a)?, of(b)?);
            let (x, y) = apart(func, [a, b], [x, y]).unwrap_or((x, y));
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
                IntCC::Eq => answer(x == y && x.low == x.high, x.high < y.low || y.high < x.low),
                IntCC::Ne => answer(x.high < y.low || y.high < x.low, x == y && x.low == x.high),
                IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge => None,
            };
            let answer = answer.or_else(|| overflow::answer(func, cond, [a, b], of));
            answer.map(|answer| Better::Constant(if answer { Type::I1.normalize(1) } else { 0 }))
        }
        _ => None,
    }
}

/// Two numbers that are as far apart as a value and a sum of it with a constant, in the same order and with the same signs, if the sum does not wrap and
/// neither is negative.
fn apart(func: &Function, [a, b]: [Value; 2], [x, y]: [Range; 2]) -> Option<(Range, Range)> {
    let by = |sum: Value, of: Value| match *func.dfg.def_data(sum)? {
        InstData::Binary { op: Opcode::Iadd, args: [part, by] } => {
            let is_it = func.dfg.resolve(part) == func.dfg.resolve(of);
            is_it.then(|| func.dfg.int_const(by)).flatten().map(i128::from)
        }
        _ => None,
    };
    let bits = width(func.dfg.ty(a))?;
    let stays = |range: Range, by: i128| {
        let sum = Range { low: range.low + by, high: range.high + by };
        range.is_natural() && sum.is_natural() && Range::all(bits).contains(sum)
    };
    let at = |number: i128| Range { low: number, high: number };
    let base = |by: i128| (-by).max(0);
    match (by(a, b), by(b, a)) {
        (Some(by), _) if stays(y, by) => Some((at(base(by) + by), at(base(by)))),
        (_, Some(by)) if stays(x, by) => Some((at(base(by)), at(base(by) + by))),
        _ => None,
    }
}

/// Whether a mask keeps every bit of numbers that are not negative.
fn keeps(mask: i64, range: Range) -> bool {
    let bits = 128 - range.high.leading_zeros();
    mask.trailing_ones() >= bits
}

/// Whether a value is a power of two, or none any more: a parameter of a block that is given powers and itself, multiplied by powers or shifted.
fn is_power_or_zero(func: &Function, cfg: &Cfg, value: Value) -> bool {
    let value = func.dfg.resolve(value);
    let ValueDef::Param(block, n) = func.dfg.def(value) else { return false };
    let power = |value: Value| func.dfg.int_const(value).is_some_and(|c| c > 0 && c & (c - 1) == 0);
    let keeps = |arg: Value| match func.dfg.def_data(arg) {
        Some(&InstData::Binary { op: Opcode::Imul, args: [of, by] }) => {
            func.dfg.resolve(of) == value && power(by)
        }
        Some(&InstData::Binary { op: Opcode::Shl | Opcode::Lshr, args: [of, _] }) => {
            func.dfg.resolve(of) == value
        }
        _ => func.dfg.resolve(arg) == value || power(arg),
    };
    let preds = cfg.predecessors(block);
    let edges = preds.iter().filter_map(|&from| func.terminator(from));
    let mut edges = edges.flat_map(|branch| func.dfg.targets(branch)).filter(|call| call.block == block);
    let known = (1..=MAX_EDGES).contains(&preds.len()) && func.layout.entry() != Some(block);
    known && edges.all(|call| call.args(&func.dfg.pool).get(n as usize).is_some_and(|&arg| keeps(arg)))
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
/// What is known of an instruction by its operands' ranges.
#[derive(Clone, Copy)]
enum Better {
    /// The unsigned operation.
    Op(Opcode),
    /// The same in fewer bits.
    Narrow(Opcode, Type),
    /// A shift or a mask, since its second operand is a power of two.
    ByPower(Opcode),
    /// Its first operand.
    Left,
    /// What was truncated, in another width: so extended.
    Whole(Opcode),
    Constant(i64),
    /// It does not wrap.
    NoWrap,
    /// A shift as a product that does not wrap.
    Times(i64),
}

impl std::fmt::Display for Better {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Better::Op(op) => write!(f, "its operands are not negative: {}", op.name()),
            Better::Narrow(op, ty) => write!(f, "its operands fit fewer bits: {}.{ty}", op.name()),
            Better::ByPower(_) => f.write_str("its second operand is a power of two"),
            Better::Left => f.write_str("is its first operand"),
            Better::Whole(_) => f.write_str("its operand was truncated without loss"),
            Better::Constant(value) => write!(f, "is {value} for all that its operands can be"),
            Better::NoWrap => f.write_str("does not wrap"),
            Better::Times(by) => write!(f, "does not wrap, and is a product by {by}"),
        }
    }
}

impl Better {
    fn commit(self, func: &mut Function, inst: Inst, cut: &mut Cut) -> Option<()> {
        let ty = func.dfg.ty(func.dfg.first_result(inst)?);
        match self {
            Better::Op(op) => {
                let InstData::Binary { args, .. } = func.dfg[inst] else { return None };
                let promised = func.dfg.nonzero_divisor(inst);
                func.dfg.replace_inst(inst, InstData::Binary { op, args });
                func.dfg.set_promised(inst, promised);
            }
            Better::Narrow(op, narrow) => {
                let InstData::Binary { args, .. } = func.dfg[inst] else { return None };
                // A quotient and a remainder have the same operands.
                let block = func.layout.block_of(inst)?;
                let args = args.map(|arg| {
                    *cut.entry((block, arg, narrow)).or_insert_with(|| {
                        insert_before(func, inst, InstData::Unary { op: Opcode::Trunc, arg }, narrow)
                    })
                });
                let promised = func.dfg.nonzero_divisor(inst);
                let result = insert_before(func, inst, InstData::Binary { op, args }, narrow);
                if let Some(division) = func.dfg.def_inst(result) {
                    func.dfg.set_promised(division, promised);
                }
                func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Zext, arg: result });
            }
            Better::ByPower(op) => {
                let InstData::Binary { args: [number, power], .. } = func.dfg[inst] else { return None };
                let one = insert_before(func, inst, InstData::IntConst { value: 1 }, ty);
                let below = InstData::Binary { op: Opcode::Isub, args: [power, one] };
                let below = insert_before(func, inst, below, ty);
                let (op, other) = match op {
                    Opcode::Urem => (Opcode::Band, below),
                    _ => {
                        let count = InstData::Unary { op: Opcode::Popcnt, arg: below };
                        let count = insert_before(func, inst, count, ty);
                        // Amounts have 32 bits.
                        let amount = match ty.bits().cmp(&32) {
                            Ordering::Less => Some(Opcode::Zext),
                            Ordering::Equal => None,
                            Ordering::Greater => Some(Opcode::Trunc),
                        };
                        let amount = amount.map(|op| InstData::Unary { op, arg: count });
                        let amount = amount.map(|data| insert_before(func, inst, data, Type::I32));
                        (Opcode::Lshr, amount.unwrap_or(count))
                    }
                };
                func.dfg.replace_inst(inst, InstData::Binary { op, args: [number, other] });
            }
            Better::Left => {
                let InstData::Binary { args: [left, _], .. } = func.dfg[inst] else { return None };
                replace_with(func, inst, left);
            }
            Better::Whole(op) => {
                let InstData::Unary { arg, .. } = func.dfg[inst] else { return None };
                let &InstData::Unary { arg: whole, .. } = func.dfg.def_data(arg)? else { return None };
                match func.dfg.ty(whole).bits().cmp(&ty.bits()) {
                    Ordering::Less => func.dfg.replace_inst(inst, InstData::Unary { op, arg: whole }),
                    Ordering::Equal => replace_with(func, inst, whole),
                    Ordering::Greater => {
                        func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Trunc, arg: whole });
                    }
                }
            }
            Better::Constant(value) => {
                func.dfg.replace_inst(inst, InstData::IntConst { value: ty.normalize(value) });
            }
            Better::NoWrap => func.dfg.set_promised(inst, true),
            Better::Times(by) => {
                let InstData::Binary { args: [number, _], .. } = func.dfg[inst] else { return None };
                let by = insert_before(func, inst, InstData::IntConst { value: by }, ty);
                func.dfg.replace_inst(inst, InstData::Binary { op: Opcode::Imul, args: [number, by] });
                func.dfg.set_promised(inst, true);
            }
        }
        Some(())
    }
}
