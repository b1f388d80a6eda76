//! Floats.

use super::function::Builder;
use crate::error::{Error, Result};
use crate::module::ops::{BinaryOp, FastMath, Predicate};
use warpsmith_ir::{self as ir, FloatCC, InstBuilder, Opcode, Type, Value};

/// The comparison of the IR; `Err` for those that are always the same.
pub(super) fn condition(predicate: Predicate) -> Option<std::result::Result<FloatCC, bool>> {
    Some(match predicate {
        Predicate::FFalse => Err(false),
        Predicate::FTrue => Err(true),
        Predicate::FOeq => Ok(FloatCC::Eq),
        Predicate::FOgt => Ok(FloatCC::Gt),
        Predicate::FOge => Ok(FloatCC::Ge),
        Predicate::FOlt => Ok(FloatCC::Lt),
        Predicate::FOle => Ok(FloatCC::Le),
        Predicate::FOne => Ok(FloatCC::Ne),
        Predicate::FOrd => Ok(FloatCC::Num),
        Predicate::FUno => Ok(FloatCC::Nan),
        Predicate::FUeq => Ok(FloatCC::Equ),
        Predicate::FUgt => Ok(FloatCC::Gtu),
        Predicate::FUge => Ok(FloatCC::Geu),
        Predicate::FUlt => Ok(FloatCC::Ltu),
        Predicate::FUle => Ok(FloatCC::Leu),
        Predicate::FUne => Ok(FloatCC::Neu),
        Predicate::Eq
        | Predicate::Ne
        | Predicate::Ugt
        | Predicate::Uge
        | Predicate::Ult
        | Predicate::Ule
        | Predicate::Sgt
        | Predicate::Sge
        | Predicate::Slt
        | Predicate::Sle => return None,
    })
}

impl Builder<'_, '_, '_> {
    /// An operation on floats.
    pub fn float(&mut self, op: BinaryOp, x: Value, y: Value) -> Result<Value> {
        self.fast_float(op, FastMath::default(), x, y)
    }

    /// An operation on floats with flags: a quotient that may be approximate is.
    pub fn fast_float(&mut self, op: BinaryOp, flags: FastMath, x: Value, y: Value) -> Result<Value> {
        let (of_x, of_y) = (self.type_of(x), self.type_of(y));
        if of_x != of_y || !of_x.element_type().is_float() {
            return Err(Error::invalid(format!("`{}` of `{of_x}` and `{of_y}`", op.name())));
        }
        let code = match op {
            BinaryOp::Fadd => Opcode::Fadd,
            BinaryOp::Fsub => Opcode::Fsub,
            BinaryOp::Fmul => Opcode::Fmul,
            BinaryOp::Fdiv => Opcode::Fdiv,
            BinaryOp::Frem => {
                let ty = self.type_of(x);
                return self.math("fmod", ty, &[x, y]);
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Udiv
            | BinaryOp::Sdiv
            | BinaryOp::Urem
            | BinaryOp::Srem
            | BinaryOp::Shl
            | BinaryOp::Lshr
            | BinaryOp::Ashr
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor => return Err(Error::unsupported("an operation on integers between floats")),
        };
        let value = self.float_op(code, &[x, y], code == Opcode::Fdiv && flags.has(FastMath::AFN));
        // In a mode of its own it stays what it is.
        if flags.has(FastMath::CONTRACT) && !self.ftz {
            self.b.promise(value);
        }
        Ok(value)
    }

    /// An operation of the IR on floats, in the mode that the function has.
    pub fn float_op(&mut self, op: Opcode, args: &[Value], approximate: bool) -> Value {
        let is_single = args.first().is_some_and(|x| self.type_of(*x) == Type::F32);
        let can_flush = matches!(
            op,
            Opcode::Fadd
                | Opcode::Fsub
                | Opcode::Fmul
                | Opcode::Fdiv
                | Opcode::Fma
                | Opcode::Fsqrt
                | Opcode::Fmin
                | Opcode::Fmax
                | Opcode::Fminimum
                | Opcode::Fmaximum
                | Opcode::Fsin
                | Opcode::Fcos
                | Opcode::Fexp2
                | Opcode::Flog2
        );
        let mode = ir::FloatMode {
            ftz: self.ftz && is_single && can_flush,
            fast: if approximate && is_single { ir::FastMath::AFN } else { ir::FastMath::NONE },
            ..ir::FloatMode::default()
        };
        self.b.ins().float(op, mode, args)
    }
}
