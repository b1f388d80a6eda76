//! Finds the rule that applies to an instruction, and makes what it says.
//!
//! A rule is tried where the operations of its pattern's operands are those of the instruction's, which the index and one comparison of words
//! tell. The operands of commutative operations are tried in both orders.

use super::demanded::Demanded;
pub use super::index::Index;
use super::known::KnownBits;
use super::matching::{Match, head, operation};
use super::{Condition, Operation, Rule, needs};
use crate::fold::Constant;
use smallvec::SmallVec;
use warpsmith_ir::{Attr, DataFlowGraph, FloatMode, Inst, InstData, Opcode, Traits, Type, Value, ValueList};

/// What the conditions of rules may ask of a function.
pub struct Facts<'a> {
    /// The known bits of values.
    pub known: &'a mut KnownBits,
    /// How many uses a value has, counted up to 255.
    pub uses: &'a cranelift_entity::SecondaryMap<Value, u8>,
    /// The bits that users read, for rules about them.
    pub demanded: Option<&'a Demanded>,
}

/// Part of a replacement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Constant(Constant, Type),
    Op(&'static Operation, [Operand; 3], Type),
}

/// What a step, or the result, is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Value(Value),
    /// A step of this number.
    Made(usize),
}

/// A rule that applies to an instruction.
#[derive(Debug)]
pub struct Rewrite {
    /// The number of the rule.
    pub rule: usize,
    steps: SmallVec<[Step; 4]>,
    result: Operand,
    mode: Option<FloatMode>,
}

/// The rule that applies to an instruction, if any does.
pub fn find(index: &Index, dfg: &DataFlowGraph, inst: Inst, facts: &mut Facts<'_>) -> Option<Rewrite> {
    let (op, args, mode) = operation(dfg, inst)?;
    let compared = compared(&dfg[inst]);
    // What does not compare may do so by its first operand, which patterns say of those only that are in their place.
    let first = match compared {
        0 => args.first().and_then(|arg| dfg.def_data(*arg)).map_or(0, self::compared),
        compared => compared,
    };
    let heads =
        args.iter().enumerate().fold(first << 24, |heads, (n, arg)| heads | head(dfg, *arg) << (8 * n));
    let commutes = op.traits().contains(Traits::COMMUTATIVE) || op == Opcode::Fma;
    let swapped = match commutes {
        true => heads & 0xffff_0000 | (heads & 0xff) << 8 | heads >> 8 & 0xff,
        false => heads,
    };
    let first_two = [heads & 0xff, heads >> 8 & 0xff].map(|head| head as usize);
    let mut entries = index.entries(op, compared as usize, first_two, commutes).peekable();
    entries.peek()?;
    if args.iter().any(|arg| dfg.ty(*arg).is_vector()) {
        return None;
    }
    let result = dfg.first_result(inst)?;
    if dfg.ty(result).is_vector() {
        return None;
    }
    let mut found = None;
    for entry in entries {
        if heads & entry.mask != entry.heads && swapped & entry.mask != entry.heads {
            continue;
        }
        if entry.needs != 0
            && entry.needs & !*found.get_or_insert_with(|| operands_have(dfg, args, facts)) != 0
        {
            continue;
        }
        let rule = index.rule(entry.rule.into());
        if let Some((steps, result)) = matched(rule, dfg, result, facts) {
            return Some(Rewrite { rule: entry.rule.into(), steps, result, mode });
        }
    }
    None
}

/// How an instruction compares, as a number; 0 if it does not.
fn compared(data: &InstData) -> u32 {
    match data {
        InstData::IntCompare { cond, .. } => *cond as u32 + 1,
        InstData::FloatCompare { cond, .. } => *cond as u32 + 1,
        _ => 0,
    }
}

/// What patterns may need of operands, as far as it is so of these.
fn operands_have(dfg: &DataFlowGraph, args: &[Value], facts: &Facts<'_>) -> u32 {
    let mut found = 0;
    let mut constants = [false; 3];
    for (n, &arg) in args.iter().enumerate().take(constants.len()) {
        let (arg, ty) = (dfg.resolve(arg), dfg.ty(arg));
        if ty == Type::I1 {
            found |= needs::bool(n);
        }
        if facts.uses[arg] <= 1 {
            found |= needs::once(n);
        }
        match dfg.def_data(arg) {
            Some(&InstData::IntConst { value }) => {
                let literals = (-1..=1).filter(|number| ty.normalize(*number) == value);
                found |= literals.fold(0, |found, number| found | needs::literal(n, number));
                constants[n] = true;
            }
            Some(InstData::FloatConst { .. }) => constants[n] = true,
            _ => {}
        }
        for (m, &other) in args[..n].iter().enumerate() {
            if dfg.resolve(other) == arg || constants[m] && constants[n] {
                found |= needs::same(m, n);
            }
        }
    }
    found
}

/// A rule by itself, if it applies to an instruction.
pub fn apply(rule: &'static Rule, dfg: &DataFlowGraph, inst: Inst, facts: &mut Facts<'_>) -> Option<Rewrite> {
    let (_, _, mode) = operation(dfg, inst)?;
    let (steps, result) = matched(rule, dfg, dfg.first_result(inst)?, facts)?;
    Some(Rewrite { rule: 0, steps, result, mode })
}

fn matched(
    rule: &'static Rule,
    dfg: &DataFlowGraph,
    result: Value,
    facts: &mut Facts<'_>,
) -> Option<(SmallVec<[Step; 4]>, Operand)> {
    // Each bit of `order` swaps the operands of one commutative operation of the pattern.
    let (mut order, mut commutative) = (0u32, 0);
    loop {
        let mut found = Match::new(dfg, result, order);
        if found.pattern(&rule.pattern) && rule.tests().all(|(term, test)| found.holds(term, test, facts)) {
            let mut steps = SmallVec::new();
            let made = found.make(&rule.replacement, Some(dfg.ty(result)), &mut steps, facts)?;
            let same =
                matches!(made, Operand::Value(value) if dfg.ty(value) != dfg.ty(result) || value == result);
            return (!same).then_some((steps, made));
        }
        order += 1;
        // An order in which less of the pattern was met says nothing of what is behind.
        commutative = found.commutative.max(commutative);
        if order >> commutative != 0 {
            return None;
        }
    }
}

/// An operation of a rule on values, as many of them as it has.
pub(super) fn instruction(operation: &Operation, args: &[Value; 3]) -> InstData {
    let op = operation.op;
    match (operation.condition, operation.args.len()) {
        (Condition::Int(cond), _) => InstData::IntCompare { cond, args: [args[0], args[1]] },
        (Condition::Float(cond), _) => InstData::FloatCompare { cond, args: [args[0], args[1]] },
        (Condition::None, 1) => InstData::Unary { op, arg: args[0] },
        (Condition::None, 2) => InstData::Binary { op, args: [args[0], args[1]] },
        (Condition::None, _) => InstData::Ternary { op, args: *args },
    }
}

impl Rewrite {
    /// Applies the rewrite: the instruction computes the replacement, or its result becomes another value. What is made in front of it is
    /// given to `made`.
    pub fn commit(self, func: &mut warpsmith_ir::Function, inst: Inst, mut made: impl FnMut(Inst)) {
        let last = match self.result {
            Operand::Value(value) => return crate::passes::replace_with(func, inst, value),
            Operand::Made(last) => last,
        };
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for (n, step) in self.steps.iter().enumerate() {
            let (data, ty) = match *step {
                Step::Constant(Constant::Int(value), ty) => (InstData::IntConst { value }, ty),
                Step::Constant(Constant::Float(bits), ty) => (InstData::FloatConst { bits }, ty),
                Step::Op(operation, operands, ty) => {
                    let args = operands.map(|operand| match operand {
                        Operand::Value(value) => value,
                        Operand::Made(n) => values.get(n).copied().unwrap_or_else(|| Value::from_u32(0)),
                    });
                    let mode = self.mode.filter(|_| operation.op.takes_float_mode());
                    let data = match mode {
                        Some(mode) => {
                            let args = &args[..operation.args.len()];
                            let args = ValueList::from_slice(args, &mut func.dfg.pool);
                            InstData::List { op: operation.op, attr: Attr::Float(mode), args }
                        }
                        None => instruction(operation, &args),
                    };
                    (data, ty)
                }
            };
            if n == last {
                let promised = keeps_promise(&func.dfg, inst, &data);
                func.dfg.replace_inst(inst, data);
                func.dfg.set_promised(inst, promised);
                return;
            }
            let value = crate::passes::insert_before(func, inst, data, ty);
            made(func.dfg.def_inst(value).expect("a value of a new instruction"));
            values.push(value);
        }
    }
}

/// Whether what replaces an operation that is promised not to wrap does not wrap either: where it adds the negated constant in place of taking it
/// away, or adds two constants at once that were both promised not to make the sum wrap. A divisor that is promised not to be 0 is not 0 for another
/// division either.
fn keeps_promise(dfg: &DataFlowGraph, inst: Inst, replacement: &InstData) -> bool {
    let InstData::Binary { op, args: [a, b] } = dfg[inst] else { return false };
    let &InstData::Binary { op: other, args: [x, y] } = replacement else { return false };
    if matches!(other, Opcode::Udiv | Opcode::Sdiv | Opcode::Urem | Opcode::Srem) {
        return dfg.nonzero_divisor(inst) && dfg.resolve(b) == dfg.resolve(y);
    }
    if other != Opcode::Iadd {
        return false;
    }
    let (Some(by), Some(sum)) = (dfg.int_const(b), dfg.int_const(y)) else { return false };
    let same = |a: Value, b: Value| dfg.resolve(a) == dfg.resolve(b);
    let negated = op == Opcode::Isub && by.checked_neg() == Some(sum) && same(a, x);
    let added = |inner: Inst| {
        let InstData::Binary { op: Opcode::Iadd, args: [of, first] } = dfg[inner] else { return false };
        let both = dfg.int_const(first).and_then(|first| first.checked_add(by));
        dfg.no_signed_wrap(inner) && both == Some(sum) && same(of, x)
    };
    let added = op == Opcode::Iadd && dfg.def_inst(dfg.resolve(a)).is_some_and(added);
    dfg.no_signed_wrap(inst) && (negated || added)
}
