//! The addresses of several rounds in one, as those of the first round and a stride each.
//!
//! The counter does not wrap between the rounds that were put together, so what is computed from it by sums and products that do not wrap (`nsw`, or of
//! 64 bits, where nothing else is asked) moves by the same amount from one to the next. A constant stride becomes the offset of an access; another one
//! is computed in front of the loops and added.
//!
//! A promise (`nsw`) is one of the round that computes the value, and nothing is lost where that round does not use it: only of what every round accesses memory by
//! is the value of the first as promised as those of the others.

use super::super::copy::Copied;
use super::super::insert_before;
use super::{Counter, Guard, Plan, Step};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{Function, Inst, InstData, IntCC, Opcode, Type, Value};

/// How deep sums and products are followed.
const MAX_DEPTH: u32 = 6;

/// By how much a value moves from round to round.
#[derive(Clone, Copy)]
enum Stride {
    Constant(i64),
    /// A value of 64 bits that is computed in front of the loops.
    Value(Value),
}

pub(super) fn share(func: &mut Function, plan: &Plan, guard: &Guard, copies: &[Copied]) {
    let Some(counts) = plan.counters.first() else { return };
    let counter = func.dfg.block_params(plan.header)[counts.param];
    let signed = matches!(counts.cond, IntCC::Slt | IntCC::Sle | IntCC::Sgt | IntCC::Sge);
    let unsigned = matches!(counts.cond, IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge);
    let promised = plan.insts(func).any(|inst| {
        matches!(func.dfg[inst], InstData::Binary { op: Opcode::Iadd, args: [a, _] } if a == counter)
            && func.dfg.no_signed_wrap(inst)
    });
    let mut strides = Strides {
        plan,
        step: counts.step,
        counter,
        span: counts.span(func).filter(|span| func.dfg.ty(counter) == Type::I32 && is_narrow(*span)),
        end: guard.end,
        signed: signed || promised,
        unsigned,
        products: FxHashMap::default(),
        relies_on_promise: false,
    };
    let accessed = accessed(func, plan);
    for inst in plan.insts(func).collect::<Vec<Inst>>() {
        let Some(result) = func.dfg.first_result(inst) else { continue };
        let address =
            matches!(func.dfg[inst], InstData::Index { .. } | InstData::Binary { op: Opcode::Ptradd, .. });
        let extended = matches!(func.dfg[inst], InstData::Unary { op: Opcode::Sext | Opcode::Zext, .. })
            && func.dfg.ty(result) == Type::I64;
        if !address && !extended {
            continue;
        }
        strides.relies_on_promise = false;
        let stride = match address {
            true => strides.address(func, result, 0),
            false => strides.wide(func, result, 0),
        };
        let Some(stride) = stride.filter(|_| !strides.relies_on_promise || accessed.contains(&result)) else {
            continue;
        };
        let add = if address { Opcode::Ptradd } else { Opcode::Iadd };
        for (n, copied) in copies.iter().enumerate().skip(1) {
            let Some(own) = func.dfg.def_inst(copied.value(result)) else { continue };
            let (from, by) = match stride {
                Stride::Constant(0) => continue,
                Stride::Constant(by) => {
                    let Some(value) = by.checked_mul(n as i64) else { continue };
                    (0, insert_before(func, own, InstData::IntConst { value }, Type::I64))
                }
                Stride::Value(_) if extended => continue,
                Stride::Value(by) => (n - 1, by),
            };
            let from = copies[from].value(result);
            func.dfg.replace_inst(own, InstData::Binary { op: add, args: [from, by] });
        }
    }
    if unsigned {
        count_from_first(func, plan, counts, copies);
    }
}

/// What is a constant away from a counter without a sign is, in the round that is as far from the first one, or further, the counter of the first and a
/// constant, which do not wrap: of `a[k - 1]` the second round reads `a[k]` of the first, whatever `k - 1` is there.
fn count_from_first(func: &mut Function, plan: &Plan, counts: &Counter, copies: &[Copied]) {
    let Step::Constant(step @ 1..) = counts.step else { return };
    let counter = func.dfg.block_params(plan.header)[counts.param];
    let away = |func: &Function, inst: Inst| -> Option<(Value, i64)> {
        let InstData::Unary { op: Opcode::Zext, arg } = func.dfg[inst] else { return None };
        let result = func.dfg.first_result(inst).filter(|&result| func.dfg.ty(result) == Type::I64)?;
        match func.dfg.def_data(arg)? {
            &InstData::Binary { op: Opcode::Iadd, args: [from, by] } if from == counter => {
                Some((result, func.dfg.int_const(by)?))
            }
            _ => None,
        }
    };
    let insts = plan.blocks.iter().flat_map(|&block| func.layout.insts(block));
    let found: Vec<(Value, i64)> = insts.filter_map(|inst| away(func, inst)).collect();
    let start = func.layout.first_inst(copies[0].blocks[&plan.header]);
    let (Some(start), false) = (start, found.is_empty()) else { return };
    let wide = InstData::Unary { op: Opcode::Zext, arg: copies[0].value(counter) };
    let wide = insert_before(func, start, wide, Type::I64);
    let last = step * (copies.len() as i64 - 1);
    for (value, by) in found {
        for (copied, n) in copies.iter().zip(0..) {
            let Some(own) = func.dfg.def_inst(copied.value(value)) else { continue };
            let Some(value) = by.checked_add(step * n).filter(|by| (0..=last).contains(by)) else { continue };
            let by = insert_before(func, own, InstData::IntConst { value }, Type::I64);
            func.dfg.replace_inst(own, InstData::Binary { op: Opcode::Iadd, args: [wide, by] });
        }
    }
}

impl Plan {
    /// The instructions that every round executes.
    fn insts<'f>(&'f self, func: &'f Function) -> impl Iterator<Item = Inst> + 'f {
        let blocks = self.blocks.iter().filter(|&block| self.always.contains(block));
        blocks.flat_map(|&block| func.layout.insts(block))
    }

    /// Whether a value is computed in the loop.
    fn changes(&self, func: &Function, value: Value) -> bool {
        func.block_of(value).is_some_and(|block| self.inside.contains(&block))
    }
}

/// What the addresses of the loads and stores of every round are computed from by sums and products, and these addresses.
fn accessed(func: &Function, plan: &Plan) -> FxHashSet<Value> {
    let mut found = FxHashSet::default();
    let mut work: Vec<Value> = Vec::new();
    for inst in plan.insts(func) {
        match func.dfg[inst] {
            InstData::Load { ptr, .. } | InstData::Store { args: [_, ptr], .. } => work.push(ptr),
            _ => {}
        }
    }
    while let Some(value) = work.pop() {
        if !plan.changes(func, value) || !found.insert(value) {
            continue;
        }
        match func.dfg.def_data(value) {
            Some(&InstData::Index { args, .. })
            | Some(&InstData::Binary { op: Opcode::Ptradd | Opcode::Iadd | Opcode::Isub, args }) => {
                work.extend(args);
            }
            // The other factor of a value may be zero, a constant is not.
            Some(&InstData::Binary { op: Opcode::Imul, args: [value, by] })
                if func.dfg.int_const(by).is_some() =>
            {
                work.push(value);
            }
            Some(&InstData::Unary { op: Opcode::Sext | Opcode::Zext, arg }) => work.push(arg),
            _ => {}
        }
    }
    found
}

struct Strides<'p> {
    plan: &'p Plan,
    step: Step,
    counter: Value,
    /// The least and the greatest number that the counter is, if it is one of 32 bits and they are known.
    span: Option<[i128; 2]>,
    /// In front of this, what strides are made of is computed.
    end: Inst,
    /// The counter does not wrap, read as signed.
    signed: bool,
    /// The counter does not wrap, read as unsigned.
    unsigned: bool,
    /// Whether a value of 32 bits was followed that wraps nowhere but where nothing uses it.
    relies_on_promise: bool,
    /// Products that were made already.
    products: FxHashMap<(Value, i64), Value>,
}

impl Strides<'_> {
    fn is_fixed(&self, func: &Function, value: Value) -> bool {
        !self.plan.changes(func, value)
    }

    /// Of an address.
    fn address(&mut self, func: &mut Function, value: Value, depth: u32) -> Option<Stride> {
        if self.is_fixed(func, value) {
            return Some(Stride::Constant(0));
        }
        if value == self.counter {
            return self.step(func);
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let (base, by) = match *func.dfg.def_data(value)? {
            InstData::Index { scale, args: [base, index] } => {
                let stride = self.offset(func, index, depth)?;
                (base, self.times(func, stride, scale.into())?)
            }
            InstData::Binary { op: Opcode::Ptradd, args: [base, offset] } => {
                (base, self.offset(func, offset, depth)?)
            }
            _ => return None,
        };
        match (self.address(func, base, depth + 1)?, by) {
            (Stride::Constant(a), Stride::Constant(b)) => Some(Stride::Constant(a.checked_add(b)?)),
            (Stride::Constant(0), by) => Some(by),
            (by, Stride::Constant(0)) => Some(by),
            _ => None,
        }
    }

    fn offset(&mut self, func: &mut Function, value: Value, depth: u32) -> Option<Stride> {
        match func.dfg.ty(value) {
            Type::I64 => self.wide(func, value, depth),
            Type::I32 => self.narrow(func, value, depth),
            _ => None,
        }
    }

    /// Of a value of 64 bits, which may wrap.
    fn wide(&mut self, func: &mut Function, value: Value, depth: u32) -> Option<Stride> {
        if let Some(known) = self.leaf(func, value, true) {
            return Some(known);
        }
        if depth > MAX_DEPTH {
            return None;
        }
        match *func.dfg.def_data(value)? {
            InstData::Unary { op: Opcode::Sext, arg } if func.dfg.ty(arg) == Type::I32 => {
                self.narrow(func, arg, depth + 1)
            }
            InstData::Unary { op: Opcode::Zext, arg } if arg == self.counter && self.unsigned => {
                self.step(func)
            }
            InstData::Binary { op, args } => self.binary(func, op, args, depth, Self::wide),
            _ => None,
        }
    }

    /// Of what a value of 32 bits is, read as signed: only what does not wrap has one.
    fn narrow(&mut self, func: &mut Function, value: Value, depth: u32) -> Option<Stride> {
        if func.dfg.ty(value) != Type::I32 {
            return None;
        }
        if let Some(known) = self.leaf(func, value, self.signed) {
            return Some(known);
        }
        let inst = func.dfg.def_inst(value)?;
        if depth > MAX_DEPTH {
            return None;
        }
        // A shift promises nothing, but where the counter's numbers are known it is a product that does not wrap.
        if let InstData::Binary { op: Opcode::Shl, args: [shifted, by] } = func.dfg[inst] {
            self.bounds(func, value, depth)?;
            let by = u32::try_from(func.dfg.int_const(by)?).ok()?;
            let stride = self.narrow(func, shifted, depth + 1)?;
            return self.times(func, stride, 1i64.checked_shl(by)?);
        }
        if !func.dfg.no_signed_wrap(inst) {
            return None;
        }
        let InstData::Binary { op, args } = func.dfg[inst] else { return None };
        self.relies_on_promise = true;
        self.binary(func, op, args, depth, Self::narrow)
    }

    /// Between which numbers a value of 32 bits is in all rounds, if it does not wrap in any: one that is computed from the counter and from constants.
    fn bounds(&self, func: &Function, value: Value, depth: u32) -> Option<[i128; 2]> {
        if value == self.counter {
            return self.span;
        }
        if let Some(constant) = func.dfg.int_const(value) {
            return Some([constant.into(); 2]);
        }
        let &InstData::Binary { op, args } = func.dfg.def_data(value)? else { return None };
        if depth > MAX_DEPTH || func.dfg.ty(value) != Type::I32 {
            return None;
        }
        let [[a, b], [c, d]] = match args.map(|arg| self.bounds(func, arg, depth + 1)) {
            [Some(x), Some(y)] => [x, y],
            [None, _] | [_, None] => return None,
        };
        let products = |c: i128, d: i128| {
            let all = [a * c, a * d, b * c, b * d];
            Some([*all.iter().min()?, *all.iter().max()?])
        };
        let [low, high] = match op {
            Opcode::Iadd => [a + c, b + d],
            Opcode::Isub => [a - d, b - c],
            Opcode::Imul => products(c, d)?,
            Opcode::Shl if c == d && (0..31).contains(&c) => products(1 << c, 1 << c)?,
            _ => return None,
        };
        is_narrow([low, high]).then_some([low, high])
    }

    fn leaf(&self, func: &mut Function, value: Value, counts: bool) -> Option<Stride> {
        if self.is_fixed(func, value) {
            return Some(Stride::Constant(0));
        }
        // An own copy of a constant is as good as one from outside.
        if func.dfg.int_const(value).is_some() {
            return Some(Stride::Constant(0));
        }
        if value == self.counter && counts { self.step(func) } else { None }
    }

    fn step(&self, func: &mut Function) -> Option<Stride> {
        match self.step {
            Step::Constant(step) => Some(Stride::Constant(step)),
            Step::Value(step) if func.dfg.ty(step) == Type::I64 => Some(Stride::Value(step)),
            // It is positive, and so the same however it is extended.
            Step::Value(step) => {
                let wide = InstData::Unary { op: Opcode::Sext, arg: step };
                Some(Stride::Value(insert_before(func, self.end, wide, Type::I64)))
            }
        }
    }

    fn binary(
        &mut self,
        func: &mut Function,
        op: Opcode,
        [a, b]: [Value; 2],
        depth: u32,
        of: fn(&mut Self, &mut Function, Value, u32) -> Option<Stride>,
    ) -> Option<Stride> {
        let (x, y) = (of(self, func, a, depth + 1)?, of(self, func, b, depth + 1)?);
        match (op, x, y) {
            (Opcode::Iadd, Stride::Constant(x), Stride::Constant(y)) => {
                Some(Stride::Constant(x.checked_add(y)?))
            }
            (Opcode::Isub, Stride::Constant(x), Stride::Constant(y)) => {
                Some(Stride::Constant(x.checked_sub(y)?))
            }
            (Opcode::Iadd | Opcode::Isub, x @ Stride::Value(_), Stride::Constant(0)) => Some(x),
            (Opcode::Iadd, Stride::Constant(0), y @ Stride::Value(_)) => Some(y),
            (Opcode::Imul, Stride::Constant(0), Stride::Constant(0)) => Some(Stride::Constant(0)),
            (Opcode::Imul, x, Stride::Constant(0)) => self.by_value(func, x, b),
            (Opcode::Imul, Stride::Constant(0), y) => self.by_value(func, y, a),
            _ => None,
        }
    }

    /// A stride times a value that does not change.
    fn by_value(&mut self, func: &mut Function, stride: Stride, by: Value) -> Option<Stride> {
        if let Some(by) = func.dfg.int_const(by) {
            return self.times(func, stride, by);
        }
        let Stride::Constant(stride) = stride else { return None };
        let wide = match func.dfg.ty(by) {
            Type::I64 => by,
            _ => match self.products.get(&(by, 1)) {
                Some(&wide) => wide,
                None => {
                    let wide = InstData::Unary { op: Opcode::Sext, arg: by };
                    let wide = insert_before(func, self.end, wide, Type::I64);
                    self.products.insert((by, 1), wide);
                    wide
                }
            },
        };
        self.times(func, Stride::Value(wide), stride)
    }

    fn times(&mut self, func: &mut Function, stride: Stride, by: i64) -> Option<Stride> {
        match stride {
            Stride::Constant(stride) => Some(Stride::Constant(stride.checked_mul(by)?)),
            Stride::Value(_) if by == 0 => Some(Stride::Constant(0)),
            Stride::Value(value) if by == 1 => Some(Stride::Value(value)),
            Stride::Value(value) => {
                if let Some(&made) = self.products.get(&(value, by)) {
                    return Some(Stride::Value(made));
                }
                let constant = insert_before(func, self.end, InstData::IntConst { value: by }, Type::I64);
                let product = InstData::Binary { op: Opcode::Imul, args: [value, constant] };
                let made = insert_before(func, self.end, product, Type::I64);
                self.products.insert((value, by), made);
                Some(Stride::Value(made))
            }
        }
    }
}

/// Whether numbers between these are ones of 32 bits with a sign.
fn is_narrow([low, high]: [i128; 2]) -> bool {
    low >= i32::MIN.into() && high <= i32::MAX.into()
}
