//! Numbers that grow by the same in each round, but are computed by products: `(z * rows + y) * columns + x` in a loop over `z`.
//!
//! A product of 64 bits takes four or five instructions, and a sum two. So the number becomes a parameter of the loop's header, from which all that finds
//! elements starts. Of 32 bits, where a product takes one instruction as the sum does, this is done in innermost loops, if at least two go. What wraps does so in
//! both.

use super::{Round, Step};
use crate::passes::{insert_before, replace_with};
use cranelift_entity::SecondaryMap;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value};

/// Numbers of one loop that count by themselves: each takes two registers, and two for by how much it grows.
const MAX_NUMBERS: usize = 4;

/// ... and of 32 bits.
const MAX_SHORT: usize = 2;

/// How many instructions a number of 32 bits is to take in each round. The sum takes one.
const MIN_SAVED: u32 = 2;

/// Operations of a loop that are looked at.
const MAX_OPERATIONS: usize = 1 << 12;

/// A number that grows by the same in each round.
#[derive(Clone, Copy)]
struct Number {
    inst: Inst,
    /// Whether a product is in it that takes several instructions; of 32 bits, one by a value that is not constant.
    is_costly: bool,
}

/// Makes such numbers parameters of the header. Returns how many.
pub(super) fn count(
    func: &mut Function,
    round: &Round,
    own: &[Block],
    is_innermost: bool,
    inside: impl Fn(Block) -> bool,
) -> u32 {
    let insts: Vec<Inst> =
        own.iter().flat_map(|&block| func.layout.insts(block)).take(MAX_OPERATIONS).collect();
    let mut numbers: FxHashMap<Value, Number> = FxHashMap::default();
    let search = Search { func, round, is_innermost, inside: &inside };
    for &inst in &insts {
        if let Some(value) = func.dfg.first_result(inst)
            && let Some(is_costly) = search.growing(&numbers, inst)
        {
            numbers.insert(value, Number { inst, is_costly });
        }
    }
    if !numbers.values().any(|number| number.is_costly) {
        return 0;
    }
    // How often each is needed by something else than another such number, and by what last.
    let mut needed: SecondaryMap<Value, (u32, Option<Inst>)> = SecondaryMap::new();
    for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
        let is_number = func.dfg.first_result(inst).is_some_and(|value| numbers.contains_key(&value));
        if !is_number {
            func.dfg.for_each_use(inst, |value| {
                let needed = &mut needed[func.dfg.resolve(value)];
                *needed = (needed.0 + 1, Some(inst));
            });
        }
    }
    let results = insts.iter().filter_map(|&inst| func.dfg.first_result(inst));
    let is_costly = |value: Value| numbers.get(&value).is_some_and(|number| number.is_costly);
    let pays =
        |value: Value| func.dfg.ty(value) == Type::I64 || saved(func, &numbers, &needed, value) >= MIN_SAVED;
    let mut roots: Vec<Root> = results
        .filter(|&value| needed[value].0 > 0 && is_costly(value) && pays(value))
        .map(|value| Root { value, address: address(func, value, needed[value], &inside) })
        .collect();
    let (long, short): (Vec<Value>, Vec<Value>) =
        roots.iter().map(|root| root.value).partition(|&value| func.dfg.ty(value) == Type::I64);
    let fits = |root: &Root| match func.dfg.ty(root.value) == Type::I64 {
        true => long.len() <= MAX_NUMBERS,
        false => short.len() <= MAX_SHORT,
    };
    roots.retain(fits);
    let mut made = Made { round, numbers: &numbers, found: FxHashMap::default(), params: Vec::new() };
    for root in &roots {
        made.parameter(func, root);
    }
    roots.len() as u32
}

/// How many instructions of 32 bits go with a number, of which [`MIN_SAVED`] are looked for. A product and the sum that it is part of are one.
fn saved(
    func: &Function,
    numbers: &FxHashMap<Value, Number>,
    needed: &SecondaryMap<Value, (u32, Option<Inst>)>,
    value: Value,
) -> u32 {
    let of = |value: Value| numbers.get(&value).map(|number| &func.dfg[number.inst]);
    let is_sum = |data: &InstData| matches!(data, InstData::Binary { op: Opcode::Iadd | Opcode::Isub, .. });
    let is_product = |data: &InstData| matches!(data, InstData::Binary { op: Opcode::Imul, .. });
    let Some(&InstData::Binary { args, .. }) = of(value) else { return 0 };
    let goes = args.map(|arg| func.dfg.resolve(arg));
    let goes = goes.into_iter().filter(|&arg| needed[arg].0 == 0 && numbers.contains_key(&arg));
    let is_part = |value| of(value).is_some_and(is_product);
    let own = match of(value).is_some_and(is_sum) {
        true => u32::from(!goes.clone().any(is_part)),
        false => {
            let (uses, user) = needed[value];
            u32::from(!(uses == 1 && user.is_some_and(|user| is_sum(&func.dfg[user]))))
        }
    };
    // Nobody asks for more than these.
    goes.fold(own, |sum, arg| match sum >= MIN_SAVED {
        true => sum,
        false => sum + saved(func, numbers, needed, arg),
    })
}

/// A number that becomes a parameter, or the address that nothing but it finds.
struct Root {
    value: Value,
    address: Option<(Inst, Value)>,
}

/// The one address that a number finds, and its base, which stays the same.
fn address(
    func: &Function,
    value: Value,
    (uses, user): (u32, Option<Inst>),
    inside: impl Fn(Block) -> bool,
) -> Option<(Inst, Value)> {
    let user = user.filter(|_| uses == 1)?;
    let InstData::Binary { op: Opcode::Ptradd, args: [base, offset] } = func.dfg[user] else { return None };
    let base = func.dfg.resolve(base);
    let finds = func.dfg.resolve(offset) == value && !func.block_of(base).is_some_and(&inside);
    (finds && func.layout.block_of(user).is_some_and(inside)).then_some((user, base))
}

struct Search<'f, F> {
    func: &'f Function,
    round: &'f Round,
    is_innermost: bool,
    inside: &'f F,
}

impl<F: Fn(Block) -> bool> Search<'_, F> {
    fn is_looked_at(&self, ty: Type) -> bool {
        ty == Type::I64 || ty == Type::I32 && self.is_innermost
    }

    /// Whether the result of an instruction of the loop grows by the same in each round, and if it does, whether it is costly.
    fn growing(&self, numbers: &FxHashMap<Value, Number>, inst: Inst) -> Option<bool> {
        let func = self.func;
        let cost = |value: Value| match numbers.get(&value) {
            Some(number) => Some(number.is_costly),
            None => start_of(self.round, value).map(|_| false),
        };
        let stays = |value: Value| {
            func.dfg.int_const(value).is_some() || !func.block_of(value).is_some_and(self.inside)
        };
        match func.dfg[inst] {
            InstData::Unary { op: Opcode::Sext, arg } => {
                let arg = func.dfg.resolve(arg);
                let is_counter = func.dfg.ty(arg) == Type::I32 && start_of(self.round, arg).is_some();
                (is_counter && func.dfg.first_result(inst).map(|wide| func.dfg.ty(wide)) == Some(Type::I64))
                    .then_some(false)
            }
            InstData::Binary { op, args } if self.is_looked_at(func.dfg.ty(args[0])) => {
                let [a, b] = args.map(|arg| func.dfg.resolve(arg));
                let (of_a, of_b) = (cost(a), cost(b));
                match op {
                    Opcode::Iadd | Opcode::Isub => match (of_a, of_b) {
                        (Some(a), Some(b)) => Some(a | b),
                        (Some(cost), None) => stays(b).then_some(cost),
                        (None, Some(cost)) => stays(a).then_some(cost),
                        (None, None) => None,
                    },
                    Opcode::Imul => {
                        let (cost, number, by) = match (of_a, of_b) {
                            (Some(cost), None) => (cost, a, b),
                            (None, Some(cost)) => (cost, b, a),
                            (Some(_), Some(_)) | (None, None) => return None,
                        };
                        let is_word = |value: Value| {
                            let data = func.dfg.def_data(value);
                            matches!(data, Some(InstData::Unary { op: Opcode::Sext | Opcode::Zext, .. }))
                        };
                        let is_wide = func.dfg.ty(by) == Type::I64;
                        let is_short =
                            func.dfg.int_const(by).is_some() || is_wide && is_word(number) && is_word(by);
                        stays(by).then_some(cost | !is_short)
                    }
                    Opcode::Shl => (func.dfg.int_const(b).is_some()).then_some(of_a?),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// With what a counter begins, and by how much it grows.
fn start_of(round: &Round, value: Value) -> Option<(Value, Step)> {
    round.counters.iter().find(|(counter, ..)| *counter == value).map(|&(_, start, step)| (start, step))
}

/// What is computed in front of the loop.
struct Made<'f> {
    round: &'f Round,
    numbers: &'f FxHashMap<Value, Number>,
    /// With what numbers begin, and by how much they grow; values that stay do not.
    found: FxHashMap<Value, [Value; 2]>,
    /// The parameters that numbers have become.
    params: Vec<Value>,
}

impl Made<'_> {
    fn put(&self, func: &mut Function, op: Opcode, args: [Value; 2]) -> Value {
        let ty = func.dfg.ty(args[0]);
        insert_before(func, self.round.entry, InstData::Binary { op, args }, ty)
    }

    fn constant(&self, func: &mut Function, value: i64, ty: Type) -> Value {
        insert_before(func, self.round.entry, InstData::IntConst { value }, ty)
    }

    /// A value that stays, in front of the loop: constants may stand in it.
    fn staying(&self, func: &mut Function, value: Value) -> Value {
        match func.dfg.int_const(value) {
            Some(constant) => self.constant(func, constant, func.dfg.ty(value)),
            None => value,
        }
    }

    /// With what a value begins, and by how much it grows.
    fn growth(&mut self, func: &mut Function, value: Value) -> [Value; 2] {
        let value = func.dfg.resolve(value);
        if let Some(&known) = self.found.get(&value) {
            return known;
        }
        let ty = func.dfg.ty(value);
        let of = match (start_of(self.round, value), self.numbers.get(&value)) {
            (Some((start, step)), _) => {
                let step = match step {
                    Step::Constant(step) => self.constant(func, step, ty),
                    Step::Value(step) => step,
                };
                [start, step]
            }
            (None, Some(&number)) => self.computed(func, number.inst),
            (None, None) => [self.staying(func, value), self.constant(func, 0, ty)],
        };
        self.found.insert(value, of);
        of
    }

    fn computed(&mut self, func: &mut Function, inst: Inst) -> [Value; 2] {
        match func.dfg[inst] {
            InstData::Binary { op: op @ (Opcode::Iadd | Opcode::Isub), args } => {
                let [[a, more], [b, other]] = args.map(|arg| self.growth(func, arg));
                [self.put(func, op, [a, b]), self.put(func, op, [more, other])]
            }
            InstData::Binary { op, args: [a, b] } => {
                // Of a product one factor stays, as the amount of a shift does.
                let is_first = self.grows(func, a);
                let ([number, more], by) = match is_first {
                    true => (self.growth(func, a), b),
                    false => (self.growth(func, b), a),
                };
                let by = self.staying(func, by);
                [self.put(func, op, [number, by]), self.put(func, op, [more, by])]
            }
            _ => {
                let extend = |func: &mut Function, arg| {
                    let data = InstData::Unary { op: Opcode::Sext, arg };
                    insert_before(func, self.round.entry, data, Type::I64)
                };
                let arg = func.dfg.args(inst)[0];
                // A counter does not wrap, so that what it grows by is extended too.
                let [start, step] = self.growth(func, arg);
                let step = match func.dfg.int_const(step) {
                    Some(step) => self.constant(func, step, Type::I64),
                    None => extend(func, step),
                };
                [extend(func, start), step]
            }
        }
    }

    fn grows(&self, func: &Function, value: Value) -> bool {
        let value = func.dfg.resolve(value);
        start_of(self.round, value).is_some()
            || self.numbers.contains_key(&value)
            || self.params.contains(&value)
    }

    fn parameter(&mut self, func: &mut Function, root: &Root) {
        let Some(&Number { inst, .. }) = self.numbers.get(&root.value) else { return };
        let [number, step] = self.growth(func, root.value);
        let mut start = number;
        let (op, ty, by) = match root.address {
            Some((address, base)) => {
                let Some(ty) = func.dfg.first_result(address).map(|value| func.dfg.ty(value)) else { return };
                let data = InstData::Binary { op: Opcode::Ptradd, args: [base, start] };
                start = insert_before(func, self.round.entry, data, ty);
                (Opcode::Ptradd, ty, address)
            }
            None => (Opcode::Iadd, func.dfg.ty(root.value), inst),
        };
        let param = func.dfg.append_block_param(self.round.header, ty);
        self.round.give(func, self.round.entry, start);
        for &branch in &self.round.back {
            let next = insert_before(func, branch, InstData::Binary { op, args: [param, step] }, ty);
            self.round.give(func, branch, next);
        }
        replace_with(func, by, param);
        if by == inst {
            self.params.push(param);
            self.found.insert(param, [number, step]);
        }
    }
}
