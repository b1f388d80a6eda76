//! Functions on each element: mathematics, integers, comparisons (OpenCL C specification, 6.15.2 to 6.15.6).

use super::kinds::Function;
use super::{Operands, missing};
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::import::shape::container;
use warpsmith_ir::{FloatCC, InstBuilder, IntCC, Opcode, Type, Value};

impl Builder<'_, '_, '_> {
    /// One element of the result.
    pub(super) fn element(&mut self, function: Function, x: &[Value], operands: &Operands) -> Result<Value> {
        let get = |n: usize| x.get(n).copied().ok_or_else(missing);
        let first = get(0)?;
        let ty = self.type_of(first);
        if ty.is_float() {
            self.of_floats(function, first, x, operands)
        } else {
            self.of_integers(function, first, x, operands)
        }
    }

    fn of_floats(
        &mut self,
        function: Function,
        x: Value,
        all: &[Value],
        operands: &Operands,
    ) -> Result<Value> {
        let get = |n: usize| all.get(n).copied().ok_or_else(missing);
        let ty = self.type_of(x);
        Ok(match function {
            Function::Math(name) => {
                let args: Values = all.iter().map(|arg| self.exponent(*arg)).collect();
                self.math(name, ty, &args)?
            }
            Function::Fast(name) => self.math(name, ty, all)?,
            Function::OverPi(name) => {
                let angle = self.math(name, ty, all)?;
                let pi = self.float_const(ty, std::f64::consts::PI);
                self.float_op(Opcode::Fdiv, &[angle, pi], false)
            }
            Function::TanPi => {
                let (sine, cosine) = (self.math("sinpi", ty, all)?, self.math("cospi", ty, all)?);
                self.float_op(Opcode::Fdiv, &[sine, cosine], false)
            }
            Function::Root => self.root(x, get(1)?)?,
            Function::Float(op) => {
                let operands = all.get(..op.info().operands.len()).ok_or_else(missing)?;
                self.float_op(op, operands, false)
            }
            Function::Is(cond) => {
                let is = self.b.ins().fcmp(cond, x, get(1)?);
                self.condition(is, operands)?
            }
            Function::Class(mask) => {
                let is = self.class(x, mask);
                self.condition(is, operands)?
            }
            Function::SignBit => {
                let bits = self.integer_of(x);
                let is = self.b.ins().icmp_imm(IntCC::Slt, bits, 0);
                self.condition(is, operands)?
            }
            Function::Greater => self.float_op(Opcode::Fmax, &[x, get(1)?], false),
            Function::Less => self.float_op(Opcode::Fmin, &[x, get(1)?], false),
            Function::GreaterMagnitude | Function::LessMagnitude => {
                let y = get(1)?;
                let greater = function == Function::GreaterMagnitude;
                let op = if greater { Opcode::Fmax } else { Opcode::Fmin };
                let same = self.float_op(op, &[x, y], false);
                let (of_x, of_y) = (self.b.ins().fabs(x), self.b.ins().fabs(y));
                let (cond, other) =
                    if greater { (FloatCC::Gt, FloatCC::Lt) } else { (FloatCC::Lt, FloatCC::Gt) };
                let (take_x, take_y) =
                    (self.b.ins().fcmp(cond, of_x, of_y), self.b.ins().fcmp(other, of_x, of_y));
                let value = self.b.ins().select(take_y, y, same);
                self.b.ins().select(take_x, x, value)
            }
            Function::Clamp => {
                let at_least = self.float_op(Opcode::Fmax, &[x, get(1)?], false);
                self.float_op(Opcode::Fmin, &[at_least, get(2)?], false)
            }
            Function::Mix => {
                let difference = self.float_op(Opcode::Fsub, &[get(1)?, x], false);
                let part = self.float_op(Opcode::Fmul, &[difference, get(2)?], false);
                self.float_op(Opcode::Fadd, &[x, part], false)
            }
            Function::Step => {
                let below = self.b.ins().fcmp(FloatCC::Lt, get(1)?, x);
                let (zero, one) = (self.float_const(ty, 0.0), self.float_const(ty, 1.0));
                self.b.ins().select(below, zero, one)
            }
            Function::Smoothstep => {
                let (to, at) = (get(1)?, get(2)?);
                let (zero, one) = (self.float_const(ty, 0.0), self.float_const(ty, 1.0));
                let (two, three) = (self.float_const(ty, 2.0), self.float_const(ty, 3.0));
                let (over, width) = (
                    self.float_op(Opcode::Fsub, &[at, x], false),
                    self.float_op(Opcode::Fsub, &[to, x], false),
                );
                let t = self.float_op(Opcode::Fdiv, &[over, width], false);
                let t = self.float_op(Opcode::Fmax, &[t, zero], false);
                let t = self.float_op(Opcode::Fmin, &[t, one], false);
                let square = self.float_op(Opcode::Fmul, &[t, t], false);
                let twice = self.float_op(Opcode::Fmul, &[two, t], false);
                let rest = self.float_op(Opcode::Fsub, &[three, twice], false);
                self.float_op(Opcode::Fmul, &[square, rest], false)
            }
            Function::Sign => {
                let (zero, one) = (self.float_const(ty, 0.0), self.float_const(ty, 1.0));
                let unit = self.b.ins().fcopysign(one, x);
                let is_zero = self.b.ins().fcmp(FloatCC::Eq, x, zero);
                let is_nan = self.b.ins().fcmp(FloatCC::Nan, x, x);
                let value = self.b.ins().select(is_zero, x, unit);
                self.b.ins().select(is_nan, zero, value)
            }
            Function::Times(factor) => {
                let factor = self.float_const(ty, f64::from_bits(factor.0));
                self.float_op(Opcode::Fmul, &[x, factor], false)
            }
            Function::MultiplyAdd => self.float_op(Opcode::Fma, &[x, get(1)?, get(2)?], false),
            Function::Select => self.selected(x, get(1)?, get(2)?, operands),
            Function::BitSelect => {
                let bits = [x, get(1)?, get(2)?].map(|x| self.integer_of(x));
                let value = self.bit_select(bits);
                self.scalar_of(value, ty)
            }
            Function::NotANumber
            | Function::Abs
            | Function::AbsDifference
            | Function::AddSaturating
            | Function::SubtractSaturating
            | Function::HalfSum
            | Function::HalfSumUp
            | Function::CountOnes
            | Function::LeadingZeros
            | Function::TrailingZeros
            | Function::MultiplyHigh
            | Function::MultiplyAddHigh
            | Function::MultiplyAddSaturating
            | Function::Multiply
            | Function::Rotate
            | Function::Join
            | Function::ReverseBits
            | Function::InsertBits
            | Function::ExtractBits { .. } => {
                return Err(Error::unsupported("a function on integers of floats"));
            }
        })
    }

    /// An integer operand of a function on floats, as the math library takes it.
    fn exponent(&mut self, x: Value) -> Value {
        if self.type_of(x).is_int() { self.resize_signed(x, Type::I32) } else { x }
    }

    /// A condition as OpenCL gives it: 1 of scalars, all bits of vectors.
    fn condition(&mut self, is: Value, operands: &Operands) -> Result<Value> {
        let ty = operands.result()?;
        let is_vector = operands.lanes > 1;
        Ok(if is_vector { self.b.ins().sext(ty, is) } else { self.b.ins().zext(ty, is) })
    }

    /// The second where the third says so: by its highest bit in vectors, where it is not 0 of scalars.
    fn selected(&mut self, x: Value, y: Value, by: Value, operands: &Operands) -> Value {
        let cond = if operands.lanes > 1 { IntCC::Slt } else { IntCC::Ne };
        let second = self.b.ins().icmp_imm(cond, by, 0);
        self.b.ins().select(second, y, x)
    }

    fn bit_select(&mut self, [x, y, mask]: [Value; 3]) -> Value {
        let not = self.b.ins().bnot(mask);
        let (of_x, of_y) = (self.b.ins().band(x, not), self.b.ins().band(y, mask));
        self.b.ins().bor(of_x, of_y)
    }

    fn of_integers(
        &mut self,
        function: Function,
        x: Value,
        all: &[Value],
        operands: &Operands,
    ) -> Result<Value> {
        let get = |n: usize| all.get(n).copied().ok_or_else(missing);
        let ty = self.type_of(x);
        let signed = operands.is_signed(0);
        let either = |yes: Opcode, no: Opcode| if signed { yes } else { no };
        let (max, min) = (either(Opcode::Smax, Opcode::Umax), either(Opcode::Smin, Opcode::Umin));
        Ok(match function {
            Function::Greater => self.b.ins().binary(max, x, get(1)?),
            Function::Less => self.b.ins().binary(min, x, get(1)?),
            Function::Clamp => {
                let at_least = self.b.ins().binary(max, x, get(1)?);
                self.b.ins().binary(min, at_least, get(2)?)
            }
            Function::Select => self.selected(x, get(1)?, get(2)?, operands),
            Function::BitSelect => self.bit_select([x, get(1)?, get(2)?]),
            Function::MultiplyAdd => {
                let product = self.b.ins().imul(x, get(1)?);
                self.b.ins().iadd(product, get(2)?)
            }
            Function::Multiply => self.b.ins().imul(x, get(1)?),
            Function::NotANumber => {
                let to = operands.result()?;
                let quiet = match to {
                    Type::F64 => 0x7ff8 << 48,
                    Type::F32 => 0x7fc0_0000,
                    _ => 0x7e00,
                };
                let quiet = self.b.ins().iconst(ty, quiet);
                let bits = self.b.ins().bor(x, quiet);
                self.scalar_of(bits, to)
            }
            Function::Abs if signed => self.b.ins().iabs(x),
            Function::Abs => x,
            Function::AbsDifference => {
                let (greater, less) =
                    (self.b.ins().binary(max, x, get(1)?), self.b.ins().binary(min, x, get(1)?));
                self.b.ins().isub(greater, less)
            }
            Function::AddSaturating => {
                self.b.ins().binary(either(Opcode::SaddSat, Opcode::UaddSat), x, get(1)?)
            }
            Function::SubtractSaturating => {
                self.b.ins().binary(either(Opcode::SsubSat, Opcode::UsubSat), x, get(1)?)
            }
            Function::HalfSum | Function::HalfSumUp => {
                let y = get(1)?;
                let differ = self.b.ins().bxor(x, y);
                let half =
                    if signed { self.b.ins().ashr_imm(differ, 1) } else { self.b.ins().lshr_imm(differ, 1) };
                if function == Function::HalfSum {
                    let both = self.b.ins().band(x, y);
                    self.b.ins().iadd(both, half)
                } else {
                    let either = self.b.ins().bor(x, y);
                    self.b.ins().isub(either, half)
                }
            }
            Function::CountOnes => self.b.ins().popcnt(x),
            Function::LeadingZeros => self.b.ins().clz(x),
            Function::TrailingZeros => self.b.ins().ctz(x),
            Function::MultiplyHigh => self.high(x, get(1)?, signed),
            Function::MultiplyAddHigh => {
                let high = self.high(x, get(1)?, signed);
                self.b.ins().iadd(high, get(2)?)
            }
            Function::MultiplyAddSaturating => {
                let [x, y, z] = [x, get(1)?, get(2)?].map(|x| self.double_width(x, signed));
                let product = self.b.ins().imul(x, y);
                let sum = self.b.ins().iadd(product, z);
                let wide = self.type_of(sum);
                let bits = ty.bits();
                let ones = u128::MAX >> (128 - bits);
                let [least, most] = if signed { [!(ones >> 1), ones >> 1] } else { [0, ones] };
                let [least, most] = [least, most].map(|bits| self.b.ins().iconst_bits(wide, bits));
                let sum = self.b.ins().binary(max, sum, least);
                let sum = self.b.ins().binary(min, sum, most);
                self.b.ins().trunc(ty, sum)
            }
            Function::Rotate => {
                let amount = self.resize(get(1)?, Type::I32);
                self.b.ins().rotl(x, amount)
            }
            Function::ReverseBits => self.b.ins().bitrev(x),
            Function::InsertBits => {
                let [offset, count] = [get(2)?, get(3)?].map(|n| self.resize(n, Type::I32));
                let low = self.low_bits(ty, count);
                let mask = self.b.ins().shl(low, offset);
                let inserted = self.b.ins().shl(get(1)?, offset);
                self.bit_select([x, inserted, mask])
            }
            Function::ExtractBits { signed } => {
                let [offset, count] = [get(1)?, get(2)?].map(|n| self.resize(n, Type::I32));
                let moved = self.b.ins().lshr(x, offset);
                let low = self.low_bits(ty, count);
                let field = self.b.ins().band(moved, low);
                if signed {
                    // A field without its highest bit is what it says, otherwise what it says less twice that bit.
                    let half = self.b.ins().lshr_imm(low, 1);
                    let sign = self.b.ins().bxor(low, half);
                    let turned = self.b.ins().bxor(field, sign);
                    self.b.ins().isub(turned, sign)
                } else {
                    field
                }
            }
            Function::Join => {
                // The lower half is unsigned.
                let to = operands.result()?;
                let (high, low) = (self.resize(x, to), self.resize(get(1)?, to));
                let high = self.b.ins().shl_imm(high, ty.bits());
                self.b.ins().bor(high, low)
            }
            Function::Math(_)
            | Function::Root
            | Function::Float(_)
            | Function::Fast(_)
            | Function::OverPi(_)
            | Function::TanPi
            | Function::Is(_)
            | Function::Class(_)
            | Function::SignBit
            | Function::GreaterMagnitude
            | Function::LessMagnitude
            | Function::Mix
            | Function::Step
            | Function::Smoothstep
            | Function::Sign
            | Function::Times(_) => return Err(Error::unsupported("a function on floats of integers")),
        })
    }

    /// So many ones in the lowest bits.
    fn low_bits(&mut self, ty: Type, count: Value) -> Value {
        let ones = self.b.ins().iconst(ty, -1);
        let above = self.b.ins().shl(ones, count);
        self.b.ins().bnot(above)
    }

    /// An integer in twice its bits.
    fn double_width(&mut self, x: Value, signed: bool) -> Value {
        let wide = container(self.type_of(x).bits() * 2);
        if signed { self.b.ins().sext(wide, x) } else { self.b.ins().zext(wide, x) }
    }

    /// The upper half of a product.
    fn high(&mut self, x: Value, y: Value, signed: bool) -> Value {
        let ty = self.type_of(x);
        if ty.bits() >= 32 {
            return if signed { self.b.ins().smulhi(x, y) } else { self.b.ins().umulhi(x, y) };
        }
        let (x, y) = (self.double_width(x, signed), self.double_width(y, signed));
        let product = self.b.ins().imul(x, y);
        let high = self.b.ins().lshr_imm(product, ty.bits());
        self.b.ins().trunc(ty, high)
    }
}
