//! Integers of at most 128 bits, which the IR has in every width.

use super::function::{Builder, Values};
use super::shape::{MAX_BITS, container};
use crate::error::{Error, Result};
use crate::module::ops::{BinaryOp, Predicate};
use warpsmith_ir::{self as ir, InstBuilder, IntCC, Type, Value};

/// The bit of a record's flags that says that the result, read as signed, does not wrap.
pub(super) const NO_SIGNED_WRAP: u64 = 2;

/// The comparison of the IR.
pub(super) fn condition(predicate: Predicate) -> Option<IntCC> {
    Some(match predicate {
        Predicate::Eq => IntCC::Eq,
        Predicate::Ne => IntCC::Ne,
        Predicate::Ugt => IntCC::Ugt,
        Predicate::Uge => IntCC::Uge,
        Predicate::Ult => IntCC::Ult,
        Predicate::Ule => IntCC::Ule,
        Predicate::Sgt => IntCC::Sgt,
        Predicate::Sge => IntCC::Sge,
        Predicate::Slt => IntCC::Slt,
        Predicate::Sle => IntCC::Sle,
        Predicate::FFalse
        | Predicate::FOeq
        | Predicate::FOgt
        | Predicate::FOge
        | Predicate::FOlt
        | Predicate::FOle
        | Predicate::FOne
        | Predicate::FOrd
        | Predicate::FUno
        | Predicate::FUeq
        | Predicate::FUgt
        | Predicate::FUge
        | Predicate::FUlt
        | Predicate::FUle
        | Predicate::FUne
        | Predicate::FTrue => return None,
    })
}

/// True for comparisons of signed numbers.
pub(super) fn is_signed(cond: IntCC) -> bool {
    matches!(cond, IntCC::Slt | IntCC::Sle | IntCC::Sgt | IntCC::Sge)
}

/// The number whose lowest bits, of fewer than 64, are set.
pub(super) fn low_bits(bits: u32) -> i64 {
    !(u64::MAX << bits) as i64
}

impl Builder<'_, '_, '_> {
    /// An integer constant of so many bits.
    pub fn int(&mut self, bits: u32, value: i64) -> Value {
        self.b.ins().iconst(container(bits), value)
    }

    /// The limb with what lies above its bits cleared.
    pub fn clear(&mut self, value: Value, bits: u32) -> Value {
        let ty = self.type_of(value);
        if bits >= ty.bits() {
            return value;
        }
        let mask = self.b.ins().iconst(ty, low_bits(bits));
        self.b.ins().band(value, mask)
    }

    /// The limb with copies of its sign above its bits.
    pub fn extend_sign(&mut self, value: Value, bits: u32) -> Value {
        let ty = self.type_of(value);
        if bits >= ty.bits() {
            return value;
        }
        let amount = self.b.ins().iconst(Type::I32, i64::from(ty.bits() - bits));
        let high = self.b.ins().shl(value, amount);
        self.b.ins().ashr(high, amount)
    }

    /// An unsigned number in another integer type; what does not fit is cut off.
    pub fn resize(&mut self, value: Value, ty: Type) -> Value {
        let of = self.type_of(value);
        match of.bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Less => self.b.ins().zext(ty, value),
            std::cmp::Ordering::Greater => self.b.ins().trunc(ty, value),
        }
    }

    /// A signed number in another integer type.
    pub fn resize_signed(&mut self, value: Value, ty: Type) -> Value {
        let of = self.type_of(value);
        if of.bits() < ty.bits() { self.b.ins().sext(ty, value) } else { self.resize(value, ty) }
    }

    /// The amount of a shift.
    fn amount(&mut self, value: Value) -> Value {
        self.resize(value, Type::I32)
    }

    /// An operation on integers of so many bits.
    pub fn integer(&mut self, op: BinaryOp, bits: u32, x: &[Value], y: &[Value]) -> Result<Values> {
        match (x, y) {
            ([x], [y]) if bits <= MAX_BITS => Ok(Values::from_slice(&[self.narrow(op, bits, *x, *y)?])),
            _ => self.wide(op, bits, x, y),
        }
    }

    pub(super) fn narrow(&mut self, op: BinaryOp, bits: u32, x: Value, y: Value) -> Result<Value> {
        let (of_x, of_y) = (self.type_of(x), self.type_of(y));
        if of_x != of_y || !of_x.is_int() {
            return Err(Error::invalid(format!("`{}` of `{of_x}` and `{of_y}`", op.name())));
        }
        if bits == 1 {
            return Ok(self.boolean(op, x, y));
        }
        Ok(match op {
            BinaryOp::Add => self.b.ins().iadd(x, y),
            BinaryOp::Sub => self.b.ins().isub(x, y),
            BinaryOp::Mul => self.b.ins().imul(x, y),
            BinaryOp::Udiv => self.b.ins().udiv(x, y),
            BinaryOp::Urem => self.b.ins().urem(x, y),
            BinaryOp::Sdiv => self.b.ins().sdiv(x, y),
            BinaryOp::Srem => self.b.ins().srem(x, y),
            BinaryOp::And => self.b.ins().band(x, y),
            BinaryOp::Or => self.b.ins().bor(x, y),
            BinaryOp::Xor => self.b.ins().bxor(x, y),
            BinaryOp::Shl => {
                let amount = self.amount(y);
                self.b.ins().shl(x, amount)
            }
            BinaryOp::Lshr => {
                let amount = self.amount(y);
                self.b.ins().lshr(x, amount)
            }
            BinaryOp::Ashr => {
                let amount = self.amount(y);
                self.b.ins().ashr(x, amount)
            }
            BinaryOp::Fadd | BinaryOp::Fsub | BinaryOp::Fmul | BinaryOp::Fdiv | BinaryOp::Frem => {
                return Err(crate::Error::unsupported("an operation on floats between integers"));
            }
        })
    }

    /// Arithmetic modulo 2. A shift by 1 has no value, nor has a division by 0.
    fn boolean(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor => self.b.ins().bxor(x, y),
            BinaryOp::Mul | BinaryOp::And => self.b.ins().band(x, y),
            BinaryOp::Or => self.b.ins().bor(x, y),
            BinaryOp::Urem | BinaryOp::Srem => self.b.ins().iconst(Type::I1, 0),
            BinaryOp::Udiv
            | BinaryOp::Sdiv
            | BinaryOp::Shl
            | BinaryOp::Lshr
            | BinaryOp::Ashr
            | BinaryOp::Fadd
            | BinaryOp::Fsub
            | BinaryOp::Fmul
            | BinaryOp::Fdiv
            | BinaryOp::Frem => x,
        }
    }

    /// Compares integers of so many bits.
    pub fn compare(&mut self, cond: IntCC, bits: u32, x: &[Value], y: &[Value]) -> Result<Value> {
        match (x, y) {
            ([x], [y]) if bits <= MAX_BITS => {
                let (mut x, mut y) = (*x, *y);
                let (of_x, of_y) = (self.type_of(x), self.type_of(y));
                if of_x != of_y || !of_x.is_int() {
                    return Err(Error::invalid(format!("a comparison of `{of_x}` and `{of_y}`")));
                }
                if bits == 1 {
                    // A true of one bit is -1 to comparisons of signed numbers.
                    let extend = |b: &mut Self, v| {
                        if is_signed(cond) {
                            b.b.ins().sext(Type::I32, v)
                        } else {
                            b.b.ins().zext(Type::I32, v)
                        }
                    };
                    (x, y) = (extend(self, x), extend(self, y));
                }
                Ok(self.b.ins().icmp(cond, x, y))
            }
            _ => self.wide_compare(cond, bits, x, y),
        }
    }

    /// Whether a pointer compares with another, in one space if both are in it.
    pub fn compare_pointers(&mut self, cond: IntCC, x: Value, y: Value) -> Value {
        let (of_x, of_y) = (self.type_of(x), self.type_of(y));
        let global = |ty: Type| ty == Type::PTR_GLOBAL;
        let (x, y) = if of_x == of_y {
            (x, y)
        } else if global(of_x) && self.is_null_constant(y) {
            (x, self.pointer_as(y, of_x))
        } else if global(of_y) && self.is_null_constant(x) {
            (self.pointer_as(x, of_y), y)
        } else {
            (self.generic(x), self.generic(y))
        };
        self.b.ins().icmp(cond, x, y)
    }

    fn is_null_constant(&self, value: Value) -> bool {
        let dfg = &self.b.func().dfg;
        matches!(dfg.def_data(value), Some(ir::InstData::Unary { op: ir::Opcode::Inttoptr, arg }) if dfg.int_const(*arg) == Some(0))
    }
}
