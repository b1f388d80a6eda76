//! Simplification of single operations: constants are folded, identities of algebra applied, and forms that later passes and
//! selection know are preferred (constants on the right, addresses as a base and one constant).
//!
//! Rules hold for every value of their operands, NaN and its bits included: `x * 1.0` stays, since it makes the one NaN of PTX of
//! any other. A sweep goes down the blocks in reverse post-order, so that operands are simplified before their users; sweeps are
//! repeated while they find something.

use super::{insert_before, replace_with};
use crate::analysis::Cfg;
use crate::fold::{self, Constant};
use crate::pass::{Changes, Context};
use warpsmith_ir::{Function, Inst, InstData, IntCC, MemFlags, Opcode, Type, Value};

/// Sweeps over a function; what is left after so many is found by the next run of the pass.
const MAX_SWEEPS: u32 = 6;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let cfg = cx.analyses.get::<Cfg>(func);
    let mut total = 0;
    for _ in 0..MAX_SWEEPS {
        let mut changes = 0;
        for &block in cfg.reverse_postorder() {
            let mut next = func.layout.first_inst(block);
            while let Some(inst) = next {
                next = func.layout.next_inst(inst);
                changes += u32::from(simplify(func, inst));
            }
        }
        total += changes;
        if changes == 0 {
            break;
        }
    }
    if total > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(total)
}

/// What an instruction is found to be.
enum Simpler {
    /// Another value.
    Value(Value),
    /// A constant of its type.
    Constant(Constant),
    /// Another instruction with the same result.
    Inst(InstData),
    /// An operation on a value and a constant of a type, to be made; of a float, its bits.
    WithConstant(Opcode, Value, i64, Type),
    /// The negation of a predicate.
    Not(Value),
    /// A pointer, to be made, plus a constant.
    Outward(InstData, i64),
}

fn simplify(func: &mut Function, inst: Inst) -> bool {
    if func.dfg.first_result(inst).is_some_and(|v| func.dfg.ty(v).is_invalid()) {
        return false;
    }
    for n in 0..func.dfg.args(inst).len() {
        let value = func.dfg.resolve(func.dfg.args(inst)[n]);
        func.dfg.args_mut(inst)[n] = value;
    }
    let Some(simpler) = Rules { func }.apply(inst) else { return false };
    match simpler {
        Simpler::Value(value) => replace_with(func, inst, value),
        Simpler::Constant(Constant::Int(value)) => func.dfg.replace_inst(inst, InstData::IntConst { value }),
        Simpler::Constant(Constant::Float(bits)) => {
            func.dfg.replace_inst(inst, InstData::FloatConst { bits })
        }
        Simpler::Inst(data) => func.dfg.replace_inst(inst, data),
        Simpler::WithConstant(op, value, constant, ty) => {
            let constant = match ty.is_float() {
                true => InstData::FloatConst { bits: constant as u64 },
                false => InstData::IntConst { value: constant },
            };
            let constant = insert_before(func, inst, constant, ty);
            func.dfg.replace_inst(inst, InstData::Binary { op, args: [value, constant] });
        }
        Simpler::Outward(data, by) => {
            let Some(ty) = func.dfg.first_result(inst).map(|value| func.dfg.ty(value)) else { return false };
            let base = insert_before(func, inst, data, ty);
            let by = insert_before(func, inst, InstData::IntConst { value: by }, Type::I64);
            func.dfg.replace_inst(inst, InstData::Binary { op: Opcode::Ptradd, args: [base, by] });
        }
        Simpler::Not(arg) => func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Bnot, arg }),
    }
    true
}

/// The right operand of an identity.
#[derive(Clone, Copy)]
enum Right {
    Is(i64),
    SameAsLeft,
}

/// What an identity gives.
#[derive(Clone, Copy)]
enum Gives {
    Left,
    Int(i64),
    NotLeft,
}

/// `x op right = gives`, for integers of every width. `-1` is all ones.
const IDENTITIES: &[(Opcode, Right, Gives)] = {
    use Gives::*;
    use Opcode::*;
    use Right::*;
    &[
        (Iadd, Is(0), Left),
        (Isub, Is(0), Left),
        (Isub, SameAsLeft, Int(0)),
        (Imul, Is(1), Left),
        (Imul, Is(0), Int(0)),
        (Umulhi, Is(0), Int(0)),
        (Smulhi, Is(0), Int(0)),
        (Umulhi, Is(1), Int(0)),
        (Sdiv, Is(1), Left),
        (Udiv, Is(1), Left),
        (Srem, Is(1), Int(0)),
        (Urem, Is(1), Int(0)),
        (Smin, SameAsLeft, Left),
        (Smax, SameAsLeft, Left),
        (Umin, SameAsLeft, Left),
        (Umax, SameAsLeft, Left),
        (Umin, Is(0), Int(0)),
        (Umax, Is(0), Left),
        (Umin, Is(-1), Left),
        (Umax, Is(-1), Int(-1)),
        (Band, Is(0), Int(0)),
        (Band, Is(-1), Left),
        (Band, SameAsLeft, Left),
        (Bor, Is(0), Left),
        (Bor, Is(-1), Int(-1)),
        (Bor, SameAsLeft, Left),
        (Bxor, Is(0), Left),
        (Bxor, Is(-1), NotLeft),
        (Bxor, SameAsLeft, Int(0)),
        (Shl, Is(0), Left),
        (Lshr, Is(0), Left),
        (Ashr, Is(0), Left),
        (Rotl, Is(0), Left),
        (Rotr, Is(0), Left),
        (Ptradd, Is(0), Left),
    ]
};

/// Operations of which two in a row with constants are one: `(x op a) op b = x op (a op b)`.
const ASSOCIATIVE: &[Opcode] = {
    use Opcode::*;
    &[Iadd, Imul, Band, Bor, Bxor, Smin, Smax, Umin, Umax]
};

struct Rules<'f> {
    func: &'f Function,
}

impl Rules<'_> {
    fn apply(&self, inst: Inst) -> Option<Simpler> {
        let is_constant =
            matches!(self.func.dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. });
        if is_constant {
            return None;
        }
        if let Some(folded) = fold::instruction(self.func, inst, |value| self.constant(value)) {
            return Some(Simpler::Constant(folded));
        }
        // A constant of a vector is no instruction, so that no rule can make one; legalisation leaves no arithmetic on vectors.
        let on_vectors = self.func.dfg.args(inst).iter().any(|arg| self.ty(*arg).is_vector());
        match self.func.dfg[inst] {
            InstData::Binary { .. } | InstData::Ternary { .. } | InstData::IntCompare { .. }
                if on_vectors =>
            {
                None
            }
            InstData::Unary { op, arg } => self.unary(inst, op, arg),
            InstData::Binary { op, args: [a, b] } => self.binary(inst, op, a, b),
            InstData::Ternary { op: Opcode::Select, args } => self.select(args),
            InstData::IntCompare { cond, args: [a, b] } => self.int_compare(cond, a, b),
            InstData::Load { flags, offset, ptr } => {
                let (ptr, offset) = self.base_and_offset(flags, offset, ptr)?;
                Some(Simpler::Inst(InstData::Load { flags, offset, ptr }))
            }
            InstData::Store { flags, offset, args: [value, ptr] } => {
                let (ptr, offset) = self.base_and_offset(flags, offset, ptr)?;
                Some(Simpler::Inst(InstData::Store { flags, offset, args: [value, ptr] }))
            }
            InstData::Index { scale, args: [ptr, index] } => self.index(scale, ptr, index),
            InstData::Extract { lane, arg } => self.extract(lane, arg),
            _ => None,
        }
    }

    fn ty(&self, value: Value) -> Type {
        self.func.dfg.ty(value)
    }

    fn int(&self, value: Value) -> Option<i64> {
        self.func.dfg.int_const(value).filter(|_| self.ty(value).bits() <= 64)
    }

    fn constant(&self, value: Value) -> Option<Constant> {
        let dfg = &self.func.dfg;
        self.int(value).map(Constant::Int).or_else(|| dfg.float_const(value).map(Constant::Float))
    }

    /// The operand of a value that comes from this operation of one operand.
    fn under(&self, value: Value, op: Opcode) -> Option<Value> {
        match self.func.dfg.def_data(value)? {
            &InstData::Unary { op: found, arg } if found == op => Some(self.func.dfg.resolve(arg)),
            _ => None,
        }
    }

    /// The operands of a value that comes from this operation on something and a constant.
    fn under_constant(&self, value: Value, op: Opcode) -> Option<(Value, i64)> {
        match self.func.dfg.def_data(value)? {
            &InstData::Binary { op: found, args: [a, b] } if found == op => {
                let b = self.func.dfg.resolve(b);
                Some((self.func.dfg.resolve(a), self.int(b)?))
            }
            _ => None,
        }
    }

    /// The parts of `low | high << by`.
    fn parts(&self, value: Value) -> Option<(Value, Value, u32)> {
        let &InstData::Binary { op: Opcode::Bor, args: [low, high] } = self.func.dfg.def_data(value)? else {
            return None;
        };
        let (low, high) = (self.func.dfg.resolve(low), self.func.dfg.resolve(high));
        let (high, by) = self.under_constant(high, Opcode::Shl)?;
        Some((low, high, u32::try_from(by).ok()?))
    }

    fn unary(&self, inst: Inst, op: Opcode, arg: Value) -> Option<Simpler> {
        use Opcode::*;
        let from = self.ty(arg);
        let to = self.ty(self.func.dfg.first_result(inst)?);
        match op {
            Bnot | Ineg | Fneg => self.under(arg, op).map(Simpler::Value),
            Fabs => {
                let inner = self.under(arg, Fneg).or_else(|| self.under(arg, Fabs))?;
                Some(Simpler::Inst(InstData::Unary { op, arg: inner }))
            }
            Zext | Sext => {
                if let Some(inner) = self.under(arg, op) {
                    return Some(Simpler::Inst(InstData::Unary { op, arg: inner }));
                }
                // What was zero-extended is not negative.
                let inner = self.under(arg, Zext)?;
                Some(Simpler::Inst(InstData::Unary { op: Zext, arg: inner }))
            }
            Trunc => {
                if let Some(inner) = self.under(arg, Trunc) {
                    return Some(Simpler::Inst(InstData::Unary { op, arg: inner }));
                }
                // The upper of two parts that were put together is cut off.
                if let Some((low, by)) = self.parts(arg).map(|(low, _, by)| (low, by))
                    && by >= to.bits()
                {
                    return Some(Simpler::Inst(InstData::Unary { op, arg: low }));
                }
                let inner = self.under(arg, Zext).or_else(|| self.under(arg, Sext))?;
                (self.ty(inner) == to).then_some(Simpler::Value(inner))
            }
            Bitcast if from == to => Some(Simpler::Value(arg)),
            Bitcast => {
                let inner = self.under(arg, Bitcast)?;
                Some(match self.ty(inner) == to {
                    true => Simpler::Value(inner),
                    false => Simpler::Inst(InstData::Unary { op, arg: inner }),
                })
            }
            Addrspacecast | Inttoptr => {
                let inverse = if op == Inttoptr { Ptrtoint } else { Addrspacecast };
                let inner = self.under(arg, inverse)?;
                (self.ty(inner) == to).then_some(Simpler::Value(inner))
            }
            Ptrtoint => self.under(arg, Inttoptr).map(Simpler::Value),
            _ => None,
        }
    }

    fn binary(&self, inst: Inst, op: Opcode, a: Value, b: Value) -> Option<Simpler> {
        use Opcode::*;
        let ty = self.ty(a);
        let commutes = self.func.traits(inst).has(warpsmith_ir::Traits::COMMUTATIVE);
        if commutes && self.constant(a).is_some() && self.constant(b).is_none() {
            return Some(Simpler::Inst(InstData::Binary { op, args: [b, a] }));
        }
        for &(of, right, gives) in IDENTITIES {
            let holds = of == op
                && match right {
                    Right::Is(constant) => self.int(b) == Some(self.ty(b).normalize(constant)),
                    Right::SameAsLeft => a == b,
                };
            if holds {
                return Some(match gives {
                    Gives::Left => Simpler::Value(a),
                    Gives::Int(value) => Simpler::Constant(Constant::Int(ty.normalize(value))),
                    Gives::NotLeft => Simpler::Not(a),
                });
            }
        }
        if let Some(constant) = self.int(b) {
            return self.binary_with_constant(op, a, constant, b);
        }
        match op {
            Isub => self.under(b, Ineg).map(|b| Simpler::Inst(InstData::Binary { op: Iadd, args: [a, b] })),
            Iadd => self.under(b, Ineg).map(|b| Simpler::Inst(InstData::Binary { op: Isub, args: [a, b] })),
            Ptradd => {
                let (base, by) = self.under_constant(a, Ptradd)?;
                Some(Simpler::Outward(InstData::Binary { op, args: [base, b] }, by))
            }
            Fdiv => self.division_by_power_of_two(a, b),
            _ => None,
        }
    }

    fn binary_with_constant(&self, op: Opcode, a: Value, constant: i64, b: Value) -> Option<Simpler> {
        use Opcode::*;
        let ty = self.ty(a);
        if ASSOCIATIVE.contains(&op)
            && let Some((x, inner)) = self.under_constant(a, op)
        {
            let folded = fold::int_binary(op, ty, inner, constant)?;
            return Some(Simpler::WithConstant(op, x, folded, ty));
        }
        let power = (ty.bits() <= 64).then_some(constant).filter(|&c| c > 1 && (c as u64).is_power_of_two());
        match op {
            // One form for the two ways to write it.
            Isub if constant != ty.normalize(constant.wrapping_neg()) => {
                Some(Simpler::WithConstant(Iadd, a, ty.normalize(constant.wrapping_neg()), ty))
            }
            Udiv => Some(Simpler::WithConstant(Lshr, a, power?.trailing_zeros().into(), Type::I32)),
            Urem => Some(Simpler::WithConstant(Band, a, power? - 1, ty)),
            Ptradd => {
                let (base, inner) = self.under_constant(a, Ptradd)?;
                let sum = inner.checked_add(constant)?;
                Some(Simpler::WithConstant(Ptradd, base, sum, Type::I64))
            }
            Lshr if let Some((low, high, by)) = self.parts(a)
                && i64::from(by) == constant
                && self.under(low, Zext).is_some_and(|low| self.ty(low).bits() <= by)
                && self.under(high, Zext).is_some_and(|high| self.ty(high).bits() + by <= ty.bits()) =>
            {
                Some(Simpler::Value(high))
            }
            Shl | Lshr => {
                let (x, inner) = self.under_constant(a, op)?;
                let sum = i64::from(inner as u32).checked_add(i64::from(constant as u32))?;
                let width = i64::from(ty.bits());
                Some(Simpler::WithConstant(op, x, sum.min(width), self.ty(b)))
            }
            _ => None,
        }
    }

    /// The product with the reciprocal is exact where that is a normal number.
    fn division_by_power_of_two(&self, a: Value, b: Value) -> Option<Simpler> {
        let bits = self.func.dfg.float_const(b)?;
        let (mantissa, exponent_bits) = match self.ty(b) {
            Type::F32 => (23, 8),
            Type::F64 => (52, 11),
            _ => return None,
        };
        let exponent = bits >> mantissa & ((1 << exponent_bits) - 1);
        let bias = (1 << (exponent_bits - 1)) - 1;
        let inverse = (2 * bias as u64).checked_sub(exponent).filter(|&e| e > 0 && exponent > 0)?;
        if bits & ((1 << mantissa) - 1) != 0 {
            return None;
        }
        let sign = bits & 1 << (mantissa + exponent_bits);
        Some(Simpler::WithConstant(Opcode::Fmul, a, (sign | inverse << mantissa) as i64, self.ty(b)))
    }

    fn select(&self, [cond, yes, no]: [Value; 3]) -> Option<Simpler> {
        if yes == no {
            return Some(Simpler::Value(yes));
        }
        if let Some(constant) = self.int(cond) {
            return Some(Simpler::Value(if constant != 0 { yes } else { no }));
        }
        if let Some(cond) = self.under(cond, Opcode::Bnot) {
            return Some(Simpler::Inst(InstData::Ternary { op: Opcode::Select, args: [cond, no, yes] }));
        }
        if self.ty(yes) != Type::I1 {
            return None;
        }
        match (self.int(yes), self.int(no)) {
            (Some(1), Some(0)) => Some(Simpler::Value(cond)),
            (Some(0), Some(1)) => Some(Simpler::Not(cond)),
            (Some(1), None) => Some(Simpler::Inst(InstData::Binary { op: Opcode::Bor, args: [cond, no] })),
            (None, Some(0)) => Some(Simpler::Inst(InstData::Binary { op: Opcode::Band, args: [cond, yes] })),
            _ => None,
        }
    }

    fn int_compare(&self, cond: IntCC, a: Value, b: Value) -> Option<Simpler> {
        use IntCC::*;
        let ty = self.ty(a);
        if a == b {
            return Some(boolean(matches!(cond, Eq | Sle | Sge | Ule | Uge)));
        }
        if self.int(a).is_some() && self.int(b).is_none() {
            return Some(Simpler::Inst(InstData::IntCompare { cond: cond.swapped(), args: [b, a] }));
        }
        let constant = self.int(b)?;
        // A predicate that was made a number to be compared with 0 or 1.
        let predicate = match ty {
            Type::I1 => Some(a),
            _ => self.under(a, Opcode::Zext).filter(|&inner| self.ty(inner) == Type::I1),
        };
        match (predicate, cond, constant) {
            (Some(p), Ne, 0) | (Some(p), Eq, 1) => Some(Simpler::Value(p)),
            (Some(p), Eq, 0) | (Some(p), Ne, 1) => Some(Simpler::Not(p)),
            (_, Ult, 0) => Some(boolean(false)),
            (_, Uge, 0) => Some(boolean(true)),
            _ => None,
        }
    }

    /// The address of a load or store with a constant part of its pointer moved into its offset.
    fn base_and_offset(&self, flags: MemFlags, offset: i32, ptr: Value) -> Option<(Value, i32)> {
        if flags.volatile {
            return None;
        }
        let (base, by) = self.under_constant(ptr, Opcode::Ptradd)?;
        Some((base, i64::from(offset).checked_add(by)?.try_into().ok()?))
    }

    fn index(&self, scale: i32, ptr: Value, index: Value) -> Option<Simpler> {
        if let Some(constant) = self.int(index) {
            let offset = constant.checked_mul(scale.into())?;
            return Some(Simpler::WithConstant(Opcode::Ptradd, ptr, offset, Type::I64));
        }
        // Constants outward, where loads and stores take them in.
        if let Some((base, by)) = self.under_constant(ptr, Opcode::Ptradd) {
            return Some(Simpler::Outward(InstData::Index { scale, args: [base, index] }, by));
        }
        // An index is sign-extended anyway.
        let inner = self.under(index, Opcode::Sext).filter(|&inner| self.ty(inner) == Type::I32)?;
        Some(Simpler::Inst(InstData::Index { scale, args: [ptr, inner] }))
    }

    fn extract(&self, lane: u8, vector: Value) -> Option<Simpler> {
        let dfg = &self.func.dfg;
        match dfg.def_data(vector)? {
            InstData::Vec { args } => {
                let element = *args.as_slice(&dfg.pool).get(usize::from(lane))?;
                Some(Simpler::Value(dfg.resolve(element)))
            }
            &InstData::Insert { lane: inserted, args: [_, element] } if inserted == lane => {
                Some(Simpler::Value(dfg.resolve(element)))
            }
            &InstData::Insert { args: [rest, _], .. } => {
                Some(Simpler::Inst(InstData::Extract { lane, arg: dfg.resolve(rest) }))
            }
            _ => None,
        }
    }
}

fn boolean(value: bool) -> Simpler {
    Simpler::Constant(Constant::Int(value.into()))
}
