//! Lays the pattern of a rule over instructions, asks for its conditions, and works out the steps of its replacement.

use super::engine::{Facts, Operand, Step, instruction};
use super::{CONSTANT, Condition, Fact, Kind, Operation, Term, Test, language};
use crate::fold::{self, Constant};
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;
use warpsmith_ir::{
    Attr, DataFlowGraph, FastMath, FloatMode, Inst, InstData, Opcode, OperandRule, Promise, ResultRule,
    Traits, Type, Value,
};

pub(super) fn head(dfg: &DataFlowGraph, value: Value) -> u32 {
    match dfg.def_inst(value) {
        Some(inst) => match dfg[inst] {
            InstData::IntConst { .. } | InstData::FloatConst { .. } => CONSTANT,
            _ => dfg.opcode(inst) as u32 + 1,
        },
        None => 0,
    }
}

/// Whether rules say anything of an operation of these operands (the first decides) and of this result: not of arithmetic in the formats that are computed in by way
/// of `f32`. They round and saturate at small numbers, and not all of them have infinities, NaNs or a sign.
#[inline]
pub fn is_covered(op: Opcode, from: Type, to: Type) -> bool {
    let moves = matches!(op, Opcode::Bitcast | Opcode::Select);
    moves || !(from.element().is_narrow_float() || to.element().is_narrow_float())
}

/// An instruction of one result as an operation on values, with what its floats may do. `None` for what rules say nothing of.
#[inline]
pub(super) fn operation(dfg: &DataFlowGraph, inst: Inst) -> Option<(Opcode, &[Value], Option<FloatMode>)> {
    let (op, args, mode) = plain_operation(dfg, inst)?;
    let [from, to] = [*args.first()?, dfg.first_result(inst)?].map(|value| dfg.ty(value));
    is_covered(op, from, to).then_some((op, args, mode))
}

#[inline]
fn plain_operation(dfg: &DataFlowGraph, inst: Inst) -> Option<(Opcode, &[Value], Option<FloatMode>)> {
    match &dfg[inst] {
        InstData::Unary { op, arg } => Some((*op, std::slice::from_ref(arg), None)),
        InstData::Binary { op, args } => Some((*op, args, None)),
        InstData::Ternary { op, args } => Some((*op, args, None)),
        InstData::IntCompare { args, .. } => Some((Opcode::Icmp, args, None)),
        InstData::FloatCompare { args, .. } => Some((Opcode::Fcmp, args, None)),
        InstData::List { op, attr: Attr::Float(mode), args } => {
            // What flags allow is for the rules to say; rounding, `ftz` and `sat` are other operations.
            mode.exact().computes_plainly().then(|| (*op, args.as_slice(&dfg.pool), Some(*mode)))
        }
        _ => None,
    }
}

fn condition(data: &InstData) -> Condition {
    match data {
        InstData::IntCompare { cond, .. } => Condition::Int(*cond),
        InstData::FloatCompare { cond, .. } => Condition::Float(*cond),
        _ => Condition::None,
    }
}

/// The constant of up to 64 bits that a value is.
#[inline]
pub(crate) fn constant(dfg: &DataFlowGraph, value: Value) -> Option<Constant> {
    match dfg.def_data(value)? {
        InstData::IntConst { value: constant } => {
            (dfg.ty(value).bits() <= 64).then_some(Constant::Int(*constant))
        }
        InstData::FloatConst { bits } => Some(Constant::Float(*bits)),
        _ => None,
    }
}

/// A pattern laid over an instruction: what its values and types are there.
#[derive(Debug)]
pub struct Match<'f> {
    pub(super) dfg: &'f DataFlowGraph,
    pub(super) root: Value,
    values: [PackedOption<Value>; language::MAX_VALUES],
    types: [Option<Type>; language::MAX_TYPES],
    order: u32,
    /// The commutative operations met.
    pub(super) commutative: u32,
}

impl<'f> Match<'f> {
    pub(super) fn new(dfg: &'f DataFlowGraph, root: Value, order: u32) -> Self {
        Match {
            dfg,
            root,
            values: [PackedOption::default(); language::MAX_VALUES],
            types: [None; language::MAX_TYPES],
            order,
            commutative: 0,
        }
    }

    #[inline]
    fn bind(&mut self, number: u8, value: Value) -> bool {
        let known = &mut self.values[usize::from(number)];
        match known.expand() {
            None => *known = value.into(),
            Some(known) if known == value => {}
            // Two constants are the same where their numbers are.
            Some(known) => {
                let dfg = self.dfg;
                let same = constant(dfg, known).is_some() && constant(dfg, known) == constant(dfg, value);
                return same && dfg.ty(known) == dfg.ty(value);
            }
        }
        true
    }

    #[inline]
    fn is_of(&mut self, kind: Option<Kind>, value: Value) -> bool {
        let ty = self.dfg.ty(value);
        match kind {
            None => true,
            Some(Kind::Fixed(fixed)) => fixed == ty,
            Some(Kind::Variable(n)) => *self.types[usize::from(n)].get_or_insert(ty) == ty,
        }
    }

    /// Lays the pattern of a rule over the instruction.
    pub(super) fn pattern(&mut self, pattern: &Term) -> bool {
        match pattern {
            Term::Op(operation) => self.operation(operation, self.root),
            Term::Value(..) | Term::Constant(..) | Term::Int(_) | Term::Float(_) | Term::Fact(..) => false,
        }
    }

    #[inline]
    fn term(&mut self, term: &Term, value: Value) -> bool {
        let value = self.dfg.resolve(value);
        match *term {
            Term::Value(n, kind) => self.is_of(kind, value) && self.bind(n, value),
            Term::Constant(n, kind) => {
                constant(self.dfg, value).is_some() && self.is_of(kind, value) && self.bind(n, value)
            }
            Term::Int(literal) => match constant(self.dfg, value) {
                Some(Constant::Int(found)) => found == self.dfg.ty(value).normalize(literal),
                Some(Constant::Float(_)) | None => false,
            },
            Term::Float(literal) => match constant(self.dfg, value) {
                Some(found @ Constant::Float(_)) => fold::float(self.dfg.ty(value), literal) == Some(found),
                Some(Constant::Int(_)) | None => false,
            },
            Term::Op(operation) => self.operation(operation, value),
            Term::Fact(..) => false,
        }
    }

    fn operation(&mut self, wanted: &Operation, value: Value) -> bool {
        let Some(inst) = self.dfg.def_inst(value) else { return false };
        let Some((op, args, mode)) = operation(self.dfg, inst) else { return false };
        if op != wanted.op
            || args.len() != wanted.args.len()
            || wanted.condition != Condition::None && condition(&self.dfg[inst]) != wanted.condition
            || !self.is_of(wanted.ty, value)
        {
            return false;
        }
        let fast = mode.map_or(FastMath::NONE, |mode| mode.fast);
        if !fast.contains(wanted.flags) {
            return false;
        }
        // The result of an approximation is its own: what holds for the exact one says nothing of it, and a rule by leave of flags needs no more.
        if wanted.flags == FastMath::NONE
            && fast.contains(FastMath::AFN)
            && args.first().is_some_and(|arg| op.has_approximation(self.dfg.ty(*arg)))
        {
            return false;
        }
        if wanted.bound.is_some_and(|n| !self.bind(n, value)) {
            return false;
        }
        // Constants are on the right already.
        let fixed = |term: &Term| matches!(term, Term::Constant(..) | Term::Int(_) | Term::Float(_));
        if let [a, b, rest @ ..] = wanted.args
            && !fixed(a)
            && !fixed(b)
            && (op.traits().contains(Traits::COMMUTATIVE) || op == Opcode::Fma)
        {
            let swap = self.order >> self.commutative & 1 != 0;
            self.commutative += 1;
            if swap {
                return self.term(a, args[1])
                    && self.term(b, args[0])
                    && rest.iter().zip(&args[2..]).all(|(term, arg)| self.term(term, *arg));
            }
        }
        wanted.args.iter().zip(args).all(|(term, arg)| self.term(term, *arg))
    }

    #[inline]
    pub(super) fn value(&self, number: u8) -> Option<Value> {
        self.values[usize::from(number)].expand()
    }

    fn kind(&self, kind: Kind) -> Option<Type> {
        match kind {
            Kind::Fixed(ty) => Some(ty),
            Kind::Variable(n) => self.types[usize::from(n)],
        }
    }

    pub(super) fn holds(&self, term: &Term, test: Option<Test>, facts: &mut Facts<'_>) -> bool {
        // Most conditions compare words of one type.
        test.and_then(|test| test(self, facts)).unwrap_or_else(|| {
            matches!(self.evaluate(term, None, facts), Some((Constant::Int(value), Type::I1)) if value != 0)
        })
    }

    /// The type of a term, where it does not depend on its place.
    fn ty(&self, term: &Term) -> Option<Type> {
        match *term {
            Term::Value(n, _) | Term::Constant(n, _) => Some(self.dfg.ty(self.value(n)?)),
            Term::Int(_) | Term::Float(_) => None,
            Term::Op(operation) => match operation.op.info().result {
                _ if operation.ty.is_some() => self.kind(operation.ty?),
                ResultRule::T => self.operand_type(operation),
                ResultRule::Bools => Some(Type::I1),
                ResultRule::I64 => Some(Type::I64),
                _ => None,
            },
            Term::Fact(Fact::Bits | Fact::Log2, _) => Some(Type::I32),
            Term::Fact(Fact::Once | Fact::Wraps | Fact::Keeps | Fact::Divides | Fact::Reciprocal, _) => {
                Some(Type::I1)
            }
            Term::Fact(Fact::SignBit | Fact::Zeros | Fact::Ones, n) => Some(self.dfg.ty(self.value(n)?)),
            Term::Fact(Fact::Demanded, _) => Some(self.dfg.ty(self.root)),
        }
    }

    /// What `T` is in an operation, by the operands whose types are known.
    fn operand_type(&self, operation: &Operation) -> Option<Type> {
        let rules = operation.op.info().operands;
        let of_t = operation.args.iter().zip(rules).filter(|(_, rule)| **rule == OperandRule::T);
        of_t.filter_map(|(arg, _)| self.ty(arg)).next()
    }

    /// The types of the operands that stand in the places of an operation, those of literals among them, and that of its result.
    fn types(&self, operation: &Operation, expected: Option<Type>) -> ([Option<Type>; 3], Option<Type>) {
        let info = operation.op.info();
        let t = self.operand_type(operation).or(match info.result {
            ResultRule::T => expected,
            _ => None,
        });
        let place = |rule: &OperandRule| match rule {
            OperandRule::T => t,
            OperandRule::Bools => Some(Type::I1),
            OperandRule::I32 | OperandRule::Amount => Some(Type::I32),
            OperandRule::I64 | OperandRule::Offset => Some(Type::I64),
            _ => None,
        };
        let mut operands = [None; 3];
        operands.iter_mut().zip(info.operands).for_each(|(ty, rule)| *ty = place(rule));
        let result = match (operation.ty, info.result) {
            (Some(kind), _) => self.kind(kind),
            (None, ResultRule::T) => t,
            (None, ResultRule::Bools) => Some(Type::I1),
            (None, ResultRule::I64) => Some(Type::I64),
            (None, _) => expected,
        };
        (operands, result)
    }

    /// The constant that a term is, and its type.
    fn evaluate(
        &self,
        term: &Term,
        expected: Option<Type>,
        facts: &mut Facts<'_>,
    ) -> Option<(Constant, Type)> {
        let of = |n: u8| self.value(n).map(|value| (value, self.dfg.ty(value)));
        match *term {
            Term::Value(..) => None,
            Term::Constant(n, _) => {
                let (value, ty) = of(n)?;
                Some((constant(self.dfg, value)?, ty))
            }
            Term::Int(literal) => {
                let ty = expected.filter(|ty| ty.is_int() && ty.bits() <= 64)?;
                Some((Constant::Int(ty.normalize(literal)), ty))
            }
            Term::Float(literal) => Some((fold::float(expected?, literal)?, expected?)),
            Term::Op(operation) => {
                let (types, to) = self.types(operation, expected);
                let mut operands = [(Constant::Int(0), Type::INVALID); 3];
                for (n, (arg, ty)) in operation.args.iter().zip(types).enumerate() {
                    operands[n] = self.evaluate(arg, ty, facts)?;
                }
                let operands = &operands[..operation.args.len()];
                let (data, to) = (instruction(operation, &[Value::from_u32(0); 3]), to?);
                Some((fold::computed(&data, operands, to)?, to))
            }
            Term::Fact(Fact::Bits, n) => Some((Constant::Int(of(n)?.1.bits().into()), Type::I32)),
            Term::Fact(Fact::SignBit, n) => {
                let ty = of(n)?.1;
                let sign = 1u64.checked_shl(ty.bits().wrapping_sub(1))?;
                Some((Constant::Int(ty.normalize(sign as i64)), ty))
            }
            Term::Fact(fact @ (Fact::Zeros | Fact::Ones), n) => {
                let (value, ty) = of(n)?;
                let known = facts.known.of(self.dfg, value)?;
                let bits = if fact == Fact::Zeros { known.zeros } else { known.ones };
                Some((Constant::Int(ty.normalize(bits as i64)), ty))
            }
            Term::Fact(Fact::Once, n) => Some((Constant::Int((facts.uses[of(n)?.0] <= 1).into()), Type::I1)),
            Term::Fact(fact @ (Fact::Wraps | Fact::Keeps), n) => {
                let (value, ty) = of(n)?;
                let promised =
                    |value: Value| self.dfg.def_inst(value).is_some_and(|inst| self.dfg.no_signed_wrap(inst));
                let other = promised(value) == (fact == Fact::Wraps);
                let answer = ty != Type::I32 || !other || !promised(self.root);
                Some((Constant::Int(answer.into()), Type::I1))
            }
            Term::Fact(Fact::Divides, n) => {
                let inst = self.dfg.def_inst(of(n)?.0)?;
                let promised = self.dfg.nonzero_divisor(inst);
                let mut known = |by: Value| facts.known.of(self.dfg, by).is_some_and(|known| known.ones != 0);
                let divides = self.dfg.opcode(inst).promise() == Some(Promise::NonzeroDivisor);
                let by = self.dfg.args(inst).last().filter(|_| divides);
                Some((Constant::Int((promised || by.is_some_and(|&by| known(by))).into()), Type::I1))
            }
            Term::Fact(Fact::Log2, n) => {
                let (value, ty) = of(n)?;
                let Constant::Int(constant) = constant(self.dfg, value)? else { return None };
                let bits = constant as u64 & super::known::mask(ty.bits());
                let power = bits.is_power_of_two().then(|| bits.trailing_zeros());
                Some((Constant::Int(power?.into()), Type::I32))
            }
            Term::Fact(Fact::Reciprocal, n) => {
                let (value, ty) = of(n)?;
                let exact = matches!(constant(self.dfg, value), Some(Constant::Float(bits))
                    if has_exact_reciprocal(ty, bits));
                Some((Constant::Int(exact.into()), Type::I1))
            }
            Term::Fact(Fact::Demanded, _) => {
                let ty = self.dfg.ty(self.root);
                let bits = facts.demanded?.of(self.root);
                (ty.is_int() && ty.bits() <= 64).then_some((Constant::Int(ty.normalize(bits as i64)), ty))
            }
        }
    }

    /// The steps that make a term.
    pub(super) fn make(
        &self,
        term: &Term,
        expected: Option<Type>,
        steps: &mut SmallVec<[Step; 4]>,
        facts: &mut Facts<'_>,
    ) -> Option<Operand> {
        if let Term::Value(n, _) | Term::Constant(n, _) = *term {
            return self.value(n).map(Operand::Value);
        }
        let step = if term.is_constant() {
            let (constant, ty) = self.evaluate(term, expected, facts)?;
            Step::Constant(constant, ty)
        } else {
            let Term::Op(operation) = *term else { return None };
            let (types, result) = self.types(operation, expected);
            let result = result?;
            // A rule for all integers that `trunc` leads to meets `i1` too, on which there is no arithmetic.
            let info = operation.op.info();
            let of_t = info.operands.iter().zip(&types).find(|(rule, _)| **rule == OperandRule::T);
            if let Some((_, &Some(t))) = of_t
                && (!info.types.contains(t)
                    || info.result.takes_suffix() && !info.result.allows(info.types, t, result))
            {
                return None;
            }
            let mut operands = [Operand::Made(0); 3];
            for (n, (arg, ty)) in operation.args.iter().zip(types).enumerate() {
                operands[n] = self.make(arg, ty, steps, facts)?;
            }
            Step::Op(operation, operands, result)
        };
        steps.push(step);
        Some(Operand::Made(steps.len() - 1))
    }
}

/// True for powers of two whose reciprocal is a normal number: a product with that is the quotient.
pub fn has_exact_reciprocal(ty: Type, bits: u64) -> bool {
    let (mantissa, exponent_bits) = match ty {
        Type::F16 => (10, 5),
        Type::BF16 => (7, 8),
        Type::F32 => (23, 8),
        Type::F64 => (52, 11),
        _ => return false,
    };
    let exponent = bits >> mantissa & ((1 << exponent_bits) - 1);
    let bias = (1u64 << (exponent_bits - 1)) - 1;
    exponent > 0 && exponent < 2 * bias && bits & ((1 << mantissa) - 1) == 0
}
