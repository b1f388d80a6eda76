//! Functions on whole vectors: geometry, reductions, shuffles (OpenCL C specification, 6.15.5, 6.15.6, 6.15.14).

use super::kinds::DotBytes;
use super::{Operands, missing};
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use warpsmith_ir::{InstBuilder, IntCC, Opcode, Type, Value};

impl Builder<'_, '_, '_> {
    /// Whether the highest bit of an element is set, or of each: 1 or 0.
    pub(super) fn any_or_all(&mut self, operands: &Operands, any: bool) -> Result<Values> {
        let mut result = self.b.ins().iconst(Type::I1, i64::from(!any));
        for x in &operands.vector(0)?.values {
            let set = self.b.ins().icmp_imm(IntCC::Slt, *x, 0);
            result = if any { self.b.ins().bor(result, set) } else { self.b.ins().band(result, set) };
        }
        Ok(Values::from_slice(&[self.b.ins().zext(operands.result()?, result)]))
    }

    /// The sum of products, from the first on.
    pub(super) fn dot(&mut self, x: &[Value], y: &[Value]) -> Result<Value> {
        let mut sum = None;
        for (x, y) in x.iter().zip(y) {
            sum = Some(match sum {
                None => self.float_op(Opcode::Fmul, &[*x, *y], false),
                Some(sum) => self.float_op(Opcode::Fma, &[*x, *y, sum], false),
            });
        }
        sum.ok_or_else(missing)
    }

    /// The sum of the products of bytes (`cl_khr_integer_dot_product`).
    pub(super) fn dot_of_bytes(&mut self, dot: DotBytes, operands: &Operands) -> Result<Values> {
        let ty = operands.result()?;
        let mut factors = [Values::new(), Values::new()];
        let signs = dot.packed.unwrap_or([operands.is_signed(0), operands.is_signed(1)]);
        for (n, (factors, signed)) in factors.iter_mut().zip(signs).enumerate() {
            let bytes: Values = if dot.packed.is_some() {
                let word = operands.scalar(n)?;
                (0..4).map(|byte| self.b.ins().lshr_imm(word, 8 * byte)).collect()
            } else {
                operands.vector(n)?.values.clone()
            };
            for byte in bytes {
                let byte = self.resize(byte, Type::I8);
                factors.push(if signed { self.b.ins().sext(ty, byte) } else { self.b.ins().zext(ty, byte) });
            }
        }
        let [x, y] = factors;
        let mut sum = self.b.ins().iconst(ty, 0);
        for (x, y) in x.into_iter().zip(y) {
            let product = self.b.ins().imul(x, y);
            sum = self.b.ins().iadd(sum, product);
        }
        if dot.accumulates {
            let op = if signs == [false; 2] { Opcode::UaddSat } else { Opcode::SaddSat };
            sum = self.b.ins().binary(op, sum, operands.scalar(2)?);
        }
        Ok(Values::from_slice(&[sum]))
    }

    /// The length, which overflows only where it is too large itself: of `float` through `double`, of that through `hypot`.
    pub(super) fn length(&mut self, x: &[Value]) -> Result<Value> {
        let first = *x.first().ok_or_else(missing)?;
        let ty = self.type_of(first);
        if ty == Type::F64 {
            let mut length = self.b.ins().fabs(first);
            for x in x.iter().skip(1) {
                length = self.math("hypot", ty, &[length, *x])?;
            }
            return Ok(length);
        }
        let wide: Values = x.iter().map(|x| self.b.ins().fpext(Type::F64, *x)).collect();
        let square = self.dot(&wide, &wide)?;
        let length = self.float_op(Opcode::Fsqrt, &[square], false);
        Ok(self.b.ins().fptrunc(ty, length))
    }

    /// The vector over its length; a zero stays.
    pub(super) fn normalized(&mut self, x: &[Value]) -> Result<Values> {
        let length = self.length(x)?;
        let ty = self.type_of(length);
        let zero = self.float_const(ty, 0.0);
        let is_zero = self.b.ins().fcmp(warpsmith_ir::FloatCC::Eq, length, zero);
        Ok(x.iter()
            .map(|x| {
                let unit = self.float_op(Opcode::Fdiv, &[*x, length], false);
                self.b.ins().select(is_zero, *x, unit)
            })
            .collect())
    }

    /// The cross product; of vectors of four, the last element is 0.
    pub(super) fn cross(&mut self, operands: &Operands) -> Result<Values> {
        let (x, y) = (&operands.vector(0)?.values, &operands.vector(1)?.values);
        let (&[x0, x1, x2, ..], &[y0, y1, y2, ..]) = (x.as_slice(), y.as_slice()) else {
            return Err(missing());
        };
        let mut out = Values::new();
        for [a, b, c, d] in [[x1, y2, x2, y1], [x2, y0, x0, y2], [x0, y1, x1, y0]] {
            let (plus, minus) =
                (self.float_op(Opcode::Fmul, &[a, b], false), self.float_op(Opcode::Fmul, &[c, d], false));
            out.push(self.float_op(Opcode::Fsub, &[plus, minus], false));
        }
        if operands.lanes == 4 {
            out.push(self.float_const(operands.result()?, 0.0));
        }
        Ok(out)
    }

    /// Elements of one or two vectors, by the low bits of the elements of the last operand.
    pub(super) fn shuffled(&mut self, operands: &Operands) -> Result<Values> {
        let (mask, sources) = operands.all.split_last().ok_or_else(missing)?;
        let from: Values = sources.iter().flat_map(|source| source.values.iter().copied()).collect();
        if !from.len().is_power_of_two() {
            return Err(Error::unsupported("elements of vectors of three that are chosen by number"));
        }
        let first = *from.first().ok_or_else(missing)?;
        let mut out = Values::new();
        for index in &mask.values {
            let index = self.b.ins().band_imm(*index, from.len() as i64 - 1);
            let mut value = first;
            for (n, source) in (0..).zip(&from).skip(1) {
                let is = self.b.ins().icmp_imm(IntCC::Eq, index, n);
                value = self.b.ins().select(is, *source, value);
            }
            out.push(value);
        }
        Ok(out)
    }
}
