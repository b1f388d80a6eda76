//! Fixed-point arithmetic: clang's `_Accum` and `_Fract`.

use super::Fixed;
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::import::shape::{MAX_BITS, container};
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

impl Builder<'_, '_, '_> {
    /// A product or quotient of numbers with `scale` fractional bits, exact in twice the bits and then rounded down, as LLVM's own expansion does.
    pub fn fixed_point(
        &mut self,
        op: Fixed,
        bits: u32,
        args: &[Values],
        scale: Option<i64>,
    ) -> Result<Values> {
        let [x, y, ..] = args else {
            return Err(Error::unsupported("fixed-point arithmetic without two operands"));
        };
        let ([x], [y]) = (x.as_slice(), y.as_slice()) else {
            return Err(Error::unsupported(format!("fixed-point numbers of `i{bits}`")));
        };
        let scale = scale.and_then(|scale| u32::try_from(scale).ok()).filter(|scale| *scale <= bits);
        let scale = scale.ok_or_else(|| Error::invalid("a fixed-point number without a scale"))?;
        if bits.saturating_mul(2) > MAX_BITS {
            return Err(Error::unsupported(format!("fixed-point numbers of `i{bits}`")));
        }
        let double = container(bits * 2);
        let (x, y) = if op.signed {
            (self.resize_signed(*x, double), self.resize_signed(*y, double))
        } else {
            (self.resize(*x, double), self.resize(*y, double))
        };
        let exact = match (op.divides, op.signed) {
            (false, signed) => {
                let product = self.b.ins().imul(x, y);
                if signed {
                    self.b.ins().ashr_imm(product, scale)
                } else {
                    self.b.ins().lshr_imm(product, scale)
                }
            }
            (true, false) => {
                let x = self.b.ins().shl_imm(x, scale);
                self.b.ins().udiv(x, y)
            }
            (true, true) => {
                let x = self.b.ins().shl_imm(x, scale);
                self.quotient_rounded_down(x, y, double)
            }
        };
        let exact = if op.saturates { self.clamp_to(exact, bits, op.signed, double) } else { exact };
        Ok(Values::from_slice(&[self.resize(exact, container(bits))]))
    }

    fn quotient_rounded_down(&mut self, x: Value, y: Value, ty: Type) -> Value {
        let quotient = self.b.ins().sdiv(x, y);
        let remainder = self.b.ins().srem(x, y);
        let inexact = self.b.ins().icmp_imm(IntCC::Ne, remainder, 0);
        let signs = self.b.ins().bxor(x, y);
        let negative = self.b.ins().icmp_imm(IntCC::Slt, signs, 0);
        let down = self.b.ins().band(inexact, negative);
        let down = self.b.ins().zext(ty, down);
        self.b.ins().isub(quotient, down)
    }

    /// The nearest number of `bits` bits, in the same type.
    fn clamp_to(&mut self, value: Value, bits: u32, signed: bool, ty: Type) -> Value {
        let ones = self.b.ins().iconst(ty, -1);
        let unused = ty.bits() - bits;
        if !signed {
            let greatest = self.b.ins().lshr_imm(ones, unused);
            return self.b.ins().umin(value, greatest);
        }
        let least = self.b.ins().shl_imm(ones, bits - 1);
        let greatest = self.b.ins().bxor(least, ones);
        let value = self.b.ins().smin(value, greatest);
        self.b.ins().smax(value, least)
    }
}
