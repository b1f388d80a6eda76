//! Floats: `f32` and `f64` by the host's operations; the formats of 16 bits in `f64`, which is wide enough that rounding its results gives what
//! rounding once gives.

use super::{Fallible, Kind, Translator};
use cranelift_codegen::ir::condcodes::{FloatCC as Fc, IntCC as Cc};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use warpsmith_ir::{FloatBinary, FloatCC, FloatUnary};
use warpsmith_semantics::value::double;

impl Translator<'_, '_, '_> {
    /// A number of 16 bits as `f64`.
    pub(super) fn widened(&mut self, code: u32, x: Value) -> Fallible<Value> {
        let code = self.number(code);
        self.helped("half_widen", &[x, code], types::F64)
    }

    /// An `f64` as a number of 16 bits.
    pub(super) fn narrowed(&mut self, code: u32, x: Value) -> Fallible<Value> {
        let code = self.number(code);
        self.helped("half_narrow", &[x, code], types::I32)
    }

    /// Refuses the formats that are held as integers: `tf32`, and those of 8, 6 and 4 bits.
    pub(super) fn is_computed(&mut self, kind: Kind) -> Fallible<()> {
        match kind {
            Kind::Int(_) => self.refuse("arithmetic of `tf32` and of floats of 8 bits and fewer"),
            Kind::Half(_) | Kind::Single | Kind::Double => Ok(()),
        }
    }

    pub(super) fn float_unary(&mut self, op: FloatUnary, kind: Kind, x: Value) -> Fallible<Value> {
        self.is_computed(kind)?;
        if let Kind::Half(code) = kind {
            return Ok(match op {
                // The bits of a NaN are moved.
                FloatUnary::Fneg => self.b.ins().bxor_imm_s(x, 0x8000),
                FloatUnary::Fabs => self.b.ins().band_imm_s(x, 0x7fff),
                FloatUnary::Fsqrt
                | FloatUnary::Ffloor
                | FloatUnary::Fceil
                | FloatUnary::Ftrunc
                | FloatUnary::Fnearest
                | FloatUnary::Fround
                | FloatUnary::Frsqrt
                | FloatUnary::Frcp
                | FloatUnary::Fsin
                | FloatUnary::Fcos
                | FloatUnary::Fexp2
                | FloatUnary::Flog2
                | FloatUnary::Ftanh => {
                    let wide = self.widened(code, x)?;
                    let result = self.float_unary(op, Kind::Double, wide)?;
                    self.narrowed(code, result)?
                }
            });
        }
        let result = match op {
            FloatUnary::Fneg => return Ok(self.b.ins().fneg(x)),
            FloatUnary::Fabs => return Ok(self.b.ins().fabs(x)),
            FloatUnary::Fsqrt => self.b.ins().sqrt(x),
            FloatUnary::Ffloor => self.b.ins().floor(x),
            FloatUnary::Fceil => self.b.ins().ceil(x),
            FloatUnary::Ftrunc => self.b.ins().trunc(x),
            FloatUnary::Fnearest => self.b.ins().nearest(x),
            FloatUnary::Fround => {
                // The number below a half: a half itself would round what is just below one up.
                let half = match kind {
                    Kind::Single => self.b.ins().f32const(0.5f32.next_down()),
                    Kind::Double | Kind::Half(_) | Kind::Int(_) => self.b.ins().f64const(0.5f64.next_down()),
                };
                let half = self.b.ins().fcopysign(half, x);
                let moved = self.b.ins().fadd(x, half);
                self.b.ins().trunc(moved)
            }
            FloatUnary::Frsqrt
            | FloatUnary::Frcp
            | FloatUnary::Fsin
            | FloatUnary::Fcos
            | FloatUnary::Fexp2
            | FloatUnary::Flog2
            | FloatUnary::Ftanh => return self.refuse("an approximate operation without `afn`"),
        };
        Ok(self.with_own_nan(kind, result, &[x]))
    }

    /// PTX has one NaN of `f32`, whatever the operands were. Of `f64` it is the first among the operands, made quiet, or that of an invalid operation.
    fn with_own_nan(&mut self, kind: Kind, result: Value, operands: &[Value]) -> Value {
        match kind {
            Kind::Single => {
                let is_nan = self.b.ins().fcmp(Fc::Unordered, result, result);
                let nan = self.b.ins().f32const(f32::from_bits(0x7fff_ffff));
                self.b.ins().select(is_nan, nan, result)
            }
            Kind::Double => {
                let is_nan = self.b.ins().fcmp(Fc::Unordered, result, result);
                let mut nan = self.b.ins().iconst(types::I64, double::INVALID as i64);
                for x in operands.iter().rev() {
                    let of_operand = self.b.ins().fcmp(Fc::Unordered, *x, *x);
                    let bits = self.b.ins().bitcast(types::I64, MemFlagsData::new(), *x);
                    let quiet = self.b.ins().bor_imm_u(bits, 0x0008_0000_0000_0000);
                    nan = self.b.ins().select(of_operand, quiet, nan);
                }
                let nan = self.b.ins().bitcast(types::F64, MemFlagsData::new(), nan);
                self.b.ins().select(is_nan, nan, result)
            }
            Kind::Half(_) | Kind::Int(_) => result,
        }
    }

    pub(super) fn float_binary(
        &mut self,
        op: FloatBinary,
        kind: Kind,
        x: Value,
        y: Value,
    ) -> Fallible<Value> {
        self.is_computed(kind)?;
        if let Kind::Half(code) = kind {
            if op == FloatBinary::Fcopysign {
                let (magnitude, sign) =
                    (self.b.ins().band_imm_s(x, 0x7fff), self.b.ins().band_imm_s(y, 0x8000));
                return Ok(self.b.ins().bor(magnitude, sign));
            }
            let (x, y) = (self.widened(code, x)?, self.widened(code, y)?);
            let result = self.float_binary(op, Kind::Double, x, y)?;
            return self.narrowed(code, result);
        }
        let result = match op {
            FloatBinary::Fadd => self.b.ins().fadd(x, y),
            FloatBinary::Fsub => self.b.ins().fsub(x, y),
            FloatBinary::Fmul => self.b.ins().fmul(x, y),
            FloatBinary::Fdiv => self.b.ins().fdiv(x, y),
            FloatBinary::Fminimum | FloatBinary::Fmaximum => {
                let minimum = op == FloatBinary::Fminimum;
                let result = if minimum { self.b.ins().fmin(x, y) } else { self.b.ins().fmax(x, y) };
                if kind != Kind::Double {
                    return Ok(self.with_own_nan(kind, result, &[x, y]));
                }
                // One NaN for all.
                let is_nan = self.b.ins().fcmp(Fc::Unordered, result, result);
                let nan = self.b.ins().f64const(f64::NAN);
                return Ok(self.b.ins().select(is_nan, nan, result));
            }
            FloatBinary::Fmin | FloatBinary::Fmax => {
                let of_both =
                    if op == FloatBinary::Fmin { self.b.ins().fmin(x, y) } else { self.b.ins().fmax(x, y) };
                let (no_x, no_y) =
                    (self.b.ins().fcmp(Fc::Unordered, x, x), self.b.ins().fcmp(Fc::Unordered, y, y));
                let other = self.b.ins().select(no_y, x, of_both);
                self.b.ins().select(no_x, y, other)
            }
            FloatBinary::Fcopysign => return Ok(self.b.ins().fcopysign(x, y)),
            FloatBinary::Frem => return self.refuse("`frem`"),
        };
        Ok(self.with_own_nan(kind, result, &[x, y]))
    }

    pub(super) fn fma(&mut self, kind: Kind, [x, y, z]: [Value; 3]) -> Fallible<Value> {
        self.is_computed(kind)?;
        let Kind::Half(code) = kind else {
            let result = self.b.ins().fma(x, y, z);
            return Ok(self.with_own_nan(kind, result, &[x, y, z]));
        };
        let (x, y, z) = (self.widened(code, x)?, self.widened(code, y)?, self.widened(code, z)?);
        // The product is exact. The sum is rounded to an odd last bit where it is not, so that the second rounding sees on which side it is.
        let product = self.b.ins().fmul(x, y);
        let sum = self.b.ins().fadd(product, z);
        let part = self.b.ins().fsub(sum, product);
        let whole = self.b.ins().fsub(sum, part);
        let (left, right) = (self.b.ins().fsub(product, whole), self.b.ins().fsub(z, part));
        let error = self.b.ins().fadd(left, right);
        let zero = self.b.ins().f64const(0.0);
        let (above, below) =
            (self.b.ins().fcmp(Fc::GreaterThan, error, zero), self.b.ins().fcmp(Fc::LessThan, error, zero));
        let inexact = self.b.ins().bor(above, below);
        let bits = self.b.ins().bitcast(types::I64, MemFlagsData::new(), sum);
        let last = self.b.ins().band_imm_s(bits, 1);
        let even = self.b.ins().icmp_imm_s(Cc::Equal, last, 0);
        let negative = self.b.ins().icmp_imm_s(Cc::SignedLessThan, bits, 0);
        // Away from zero if the error has the sign of the sum.
        let outward = self.b.ins().bxor(above, negative);
        let (one, minus) = (self.b.ins().iconst(types::I64, 1), self.b.ins().iconst(types::I64, -1));
        let step = self.b.ins().select(outward, one, minus);
        let odd = self.b.ins().iadd(bits, step);
        let wanted = self.b.ins().band(inexact, even);
        let bits = self.b.ins().select(wanted, odd, bits);
        let sum = self.b.ins().bitcast(types::F64, MemFlagsData::new(), bits);
        self.narrowed(code, sum)
    }

    pub(super) fn float_compare(&mut self, cond: FloatCC, kind: Kind, x: Value, y: Value) -> Fallible<Value> {
        self.is_computed(kind)?;
        let (x, y) = match kind {
            Kind::Half(code) => (self.widened(code, x)?, self.widened(code, y)?),
            Kind::Int(_) | Kind::Single | Kind::Double => (x, y),
        };
        let (cc, with_nan) = match cond {
            FloatCC::Eq => (Fc::Equal, None),
            FloatCC::Neu => (Fc::NotEqual, None),
            FloatCC::Lt => (Fc::LessThan, None),
            FloatCC::Le => (Fc::LessThanOrEqual, None),
            FloatCC::Gt => (Fc::GreaterThan, None),
            FloatCC::Ge => (Fc::GreaterThanOrEqual, None),
            FloatCC::Num => (Fc::Ordered, None),
            FloatCC::Nan => (Fc::Unordered, None),
            FloatCC::Ne => (Fc::NotEqual, Some(false)),
            FloatCC::Equ => (Fc::Equal, Some(true)),
            FloatCC::Ltu => (Fc::LessThan, Some(true)),
            FloatCC::Leu => (Fc::LessThanOrEqual, Some(true)),
            FloatCC::Gtu => (Fc::GreaterThan, Some(true)),
            FloatCC::Geu => (Fc::GreaterThanOrEqual, Some(true)),
        };
        let result = self.b.ins().fcmp(cc, x, y);
        Ok(match with_nan {
            None => result,
            Some(true) => {
                let nan = self.b.ins().fcmp(Fc::Unordered, x, y);
                self.b.ins().bor(result, nan)
            }
            Some(false) => {
                let number = self.b.ins().fcmp(Fc::Ordered, x, y);
                self.b.ins().band(result, number)
            }
        })
    }
}
