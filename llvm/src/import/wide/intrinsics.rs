//! Intrinsics on integers of more than 128 bits.

use super::super::function::{Builder, Values};
use super::super::intrinsic::Integer;
use crate::error::{Error, Result};
use crate::module::ops::{BinaryOp, RmwOp};
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

impl Builder<'_, '_, '_> {
    /// The results one after the other.
    pub fn wide_intrinsic(&mut self, op: Integer, bits: u32, args: &[Values]) -> Result<Values> {
        let get = |n: usize| {
            args.get(n).ok_or_else(|| Error::unsupported("an intrinsic on integers with too few operands"))
        };
        let x = get(0)?;
        match op {
            Integer::Umax => self.first_if(IntCC::Ugt, bits, x, get(1)?),
            Integer::Umin => self.first_if(IntCC::Ult, bits, x, get(1)?),
            Integer::Smax => self.first_if(IntCC::Sgt, bits, x, get(1)?),
            Integer::Smin => self.first_if(IntCC::Slt, bits, x, get(1)?),
            Integer::Abs => {
                let (magnitude, _) = self.magnitude(x, bits);
                Ok(self.clear_wide(magnitude, bits))
            }
            Integer::CountOnes => {
                let mut sum = self.limb(0);
                for limb in x {
                    let count = self.b.ins().popcnt(*limb);
                    sum = self.b.ins().iadd(sum, count);
                }
                Ok(self.low_limb(sum, x.len()))
            }
            Integer::LeadingZeros => {
                let zeros = self.leading_zeros(x, bits);
                Ok(self.low_limb(zeros, x.len()))
            }
            Integer::TrailingZeros => {
                let mut zeros = self.limb(i64::from(bits));
                for (n, limb) in x.iter().enumerate().rev() {
                    let count = self.b.ins().ctz(*limb);
                    let count = self.b.ins().iadd_imm(count, n as i64 * 64);
                    let any = self.b.ins().icmp_imm(IntCC::Ne, *limb, 0);
                    zeros = self.b.ins().select(any, count, zeros);
                }
                Ok(self.low_limb(zeros, x.len()))
            }
            Integer::SwapBytes | Integer::ReverseBits => {
                let mut turned = Values::new();
                for limb in x.iter().rev() {
                    turned.push(if op == Integer::SwapBytes {
                        self.b.ins().bswap(*limb)
                    } else {
                        self.b.ins().bitrev(*limb)
                    });
                }
                let unused = self.limb(x.len() as i64 * 64 - i64::from(bits));
                Ok(self.shift_limbs(&turned, unused, false, false))
            }
            Integer::FunnelLeft | Integer::FunnelRight => {
                let (y, amount) = (get(1)?, get(2)?);
                self.funnel_limbs(op == Integer::FunnelLeft, bits, x, y, amount)
            }
            Integer::CarrylessMultiply => {
                Err(Error::unsupported(format!("a carry-less product of `i{bits}`")))
            }
            Integer::Fixed(_) => Err(Error::unsupported(format!("fixed-point numbers of `i{bits}`"))),
            Integer::Overflow(what, signed) => {
                let op = if what == RmwOp::Add { BinaryOp::Add } else { BinaryOp::Sub };
                let (mut out, over) = self.checked_limbs(op, signed, bits, x, get(1)?)?;
                out.push(over);
                Ok(out)
            }
            Integer::MultiplyOverflow(signed) => {
                let (mut out, over) = self.checked_limbs(BinaryOp::Mul, signed, bits, x, get(1)?)?;
                out.push(over);
                Ok(out)
            }
            Integer::Saturating(what, signed) => {
                let op = if what == RmwOp::Add { BinaryOp::Add } else { BinaryOp::Sub };
                let (out, over) = self.checked_limbs(op, signed, bits, x, get(1)?)?;
                let down = !signed && op == BinaryOp::Sub;
                Ok(self.clamped(&out, over, x, signed, bits, down))
            }
            Integer::ShiftSaturating(signed) => {
                let amount = get(1)?;
                let shifted = self.wide(BinaryOp::Shl, bits, x, amount)?;
                let back = if signed { BinaryOp::Ashr } else { BinaryOp::Lshr };
                let back = self.wide(back, bits, &shifted, amount)?;
                let over = self.wide_compare(IntCC::Ne, bits, &back, x)?;
                Ok(self.clamped(&shifted, over, x, signed, bits, false))
            }
        }
    }

    /// How many zeros a number of so many bits begins with.
    pub fn leading_zeros(&mut self, x: &[Value], bits: u32) -> Value {
        let mut zeros = self.limb(i64::from(bits));
        for (n, limb) in x.iter().enumerate() {
            let count = self.b.ins().clz(*limb);
            let count = self.b.ins().iadd_imm(count, i64::from(bits) - (n as i64 + 1) * 64);
            let any = self.b.ins().icmp_imm(IntCC::Ne, *limb, 0);
            zeros = self.b.ins().select(any, count, zeros);
        }
        zeros
    }

    fn first_if(&mut self, cond: IntCC, bits: u32, x: &[Value], y: &[Value]) -> Result<Values> {
        let first = self.wide_compare(cond, bits, x, y)?;
        Ok(x.iter().zip(y).map(|(x, y)| self.b.ins().select(first, *x, *y)).collect())
    }

    /// A small number in so many limbs.
    fn low_limb(&mut self, low: Value, count: usize) -> Values {
        let zero = self.limb(0);
        std::iter::once(low).chain(std::iter::repeat(zero)).take(count).collect()
    }

    /// The result of an operation, and whether it is another than the exact one, which is computed in enough bits.
    fn checked_limbs(
        &mut self,
        op: BinaryOp,
        signed: bool,
        bits: u32,
        x: &[Value],
        y: &[Value],
    ) -> Result<(Values, Value)> {
        let enough = if op == BinaryOp::Mul { bits.saturating_mul(2) } else { bits.saturating_add(1) };
        let (x, y) = (self.extend_wide(x, bits, enough, signed), self.extend_wide(y, bits, enough, signed));
        let exact = self.wide(op, enough, &x, &y)?;
        let out = self.truncate_wide(&exact, bits)?;
        let back = self.extend_wide(&out, bits, enough, signed);
        let over = self.wide_compare(IntCC::Ne, enough, &back, &exact)?;
        Ok((out, over))
    }

    /// The result, or where it is not exact the number next to it: the highest, or the lowest if what was begun with is negative or `down` says so.
    fn clamped(
        &mut self,
        out: &[Value],
        over: Value,
        x: &[Value],
        signed: bool,
        bits: u32,
        down: bool,
    ) -> Values {
        let ones = self.limb(-1);
        let all: Values = out.iter().map(|_| ones).collect();
        let all = self.clear_wide(all, bits);
        let limit: Values = if signed {
            // All bits but the sign's, or that alone.
            let one = self.limb(1);
            let high = self.shift_limbs(&all, one, false, false);
            let x = self.sign_wide(x, bits);
            let negative = self.is_negative(&x);
            let low: Values =
                high.iter().zip(&all).map(|(high, all)| self.b.ins().bxor(*high, *all)).collect();
            low.iter().zip(&high).map(|(low, high)| self.b.ins().select(negative, *low, *high)).collect()
        } else if down {
            let zero = self.limb(0);
            out.iter().map(|_| zero).collect()
        } else {
            all
        };
        limit.iter().zip(out).map(|(limit, out)| self.b.ins().select(over, *limit, *out)).collect()
    }

    /// The high or low half of two numbers side by side, shifted by an amount modulo the width.
    fn funnel_limbs(
        &mut self,
        left: bool,
        bits: u32,
        x: &[Value],
        y: &[Value],
        amount: &[Value],
    ) -> Result<Values> {
        let width = self.limb(i64::from(bits));
        let width = self.low_limb(width, amount.len());
        let amount = self.divide_wide(BinaryOp::Urem, bits, amount, &width)?;
        let amount = amount.first().copied().unwrap_or(width[0]);
        let last = self.limb(i64::from(bits) - 1);
        let rest = self.b.ins().isub(last, amount);
        let one = self.limb(1);
        let (near, far) = if left { (x, y) } else { (y, x) };
        let near = self.shift_limbs(near, amount, left, false);
        // In two steps, since the other number may move by all its bits.
        let far = self.shift_limbs(far, one, !left, false);
        let far = self.clear_wide(far, bits);
        let far = self.shift_limbs(&far, rest, !left, false);
        let both = near.iter().zip(&far).map(|(near, far)| self.b.ins().bor(*near, *far)).collect();
        Ok(self.clear_wide(both, bits))
    }

    /// An integer of at most 1024 bits as a float, rounded once.
    pub fn float_of_wide(&mut self, x: &[Value], bits: u32, signed: bool, to: Type) -> Result<Value> {
        if bits > 1024 {
            return Err(Error::unsupported(format!("`i{bits}` to a float, of more than 1024 bits")));
        }
        let (x, negative) = if signed {
            self.magnitude(x, bits)
        } else {
            (Values::from_slice(x), self.b.ins().iconst(Type::I1, 0))
        };
        let all = x.len() as u32 * 64;
        // The highest 64 bits that are used, the lowest of them also denoting all below.
        let zeros = self.leading_zeros(&x, all);
        let high = self.shift_limbs(&x, zeros, true, false);
        let mut below = self.limb(0);
        for limb in high.iter().rev().skip(1) {
            below = self.b.ins().bor(below, *limb);
        }
        let any = self.b.ins().icmp_imm(IntCC::Ne, below, 0);
        let any = self.b.ins().zext(Type::I64, any);
        let top = high.last().copied().unwrap_or(any);
        let top = self.b.ins().bor(top, any);
        // A format of fewer bits than 53 is rounded to from those, of which the lowest denotes all below again.
        let spare = if to == Type::F64 { 0u32 } else { 11 };
        let lost = self.b.ins().band_imm(top, (1 << spare) - 1);
        let lost = self.b.ins().icmp_imm(IntCC::Ne, lost, 0);
        let lost = self.b.ins().zext(Type::I64, lost);
        let top = self.b.ins().lshr_imm(top, spare);
        let top = self.b.ins().bor(top, lost);
        let rounded = self.b.ins().uitofp(Type::F64, top);
        // What is left is a power of two, by which the product is exact.
        let exponent = self.limb(i64::from(all) - 64 + 1023 + i64::from(spare));
        let exponent = self.b.ins().isub(exponent, zeros);
        let scale = self.b.ins().shl_imm(exponent, 52);
        let scale = self.b.ins().bitcast(Type::F64, scale);
        let product = self.b.ins().fmul(rounded, scale);
        let value = self.float_to_float(product, Type::F64, to);
        let minus = self.b.ins().fneg(value);
        Ok(self.b.ins().select(negative, minus, value))
    }

    /// A float as an integer of more than 128 bits, toward zero, clamped to the integers of that width; 0 for NaN.
    pub fn wide_of_float(&mut self, x: Value, bits: u32, signed: bool) -> Result<Values> {
        let of = self.type_of(x);
        let x = self.float_to_float(x, of, Type::F64);
        let pattern = self.b.ins().bitcast(Type::I64, x);
        let negative = self.b.ins().icmp_imm(IntCC::Slt, pattern, 0);
        let exponent = self.b.ins().lshr_imm(pattern, 52);
        let exponent = self.b.ins().band_imm(exponent, 0x7ff);
        let fraction = self.b.ins().band_imm(pattern, (1 << 52) - 1);
        let mantissa = self.b.ins().bor_imm(fraction, 1 << 52);
        let count = bits.div_ceil(64) as usize;
        // Below 2^53 the bits behind the point move out, above zeros move in.
        let bias = self.limb(1075);
        let up = self.b.ins().isub(exponent, bias);
        let down = self.b.ins().isub(bias, exponent);
        let is_small = self.b.ins().icmp_imm(IntCC::Slt, up, 0);
        let zero = self.limb(0);
        let most = self.limb(63);
        let down = self.b.ins().umin(down, most);
        let down = self.b.ins().trunc(Type::I32, down);
        let small = self.b.ins().lshr(mantissa, down);
        let up = self.b.ins().select(is_small, zero, up);
        let start = self.b.ins().select(is_small, small, mantissa);
        let start = self.low_limb(start, count);
        let value = self.shift_limbs(&start, up, true, false);
        let value = if signed {
            self.negate_if(negative, &value)
        } else {
            value.iter().map(|limb| self.b.ins().select(negative, zero, *limb)).collect()
        };
        let value = self.clear_wide(value, bits);
        // From 2^(bits - 1) on for signed numbers, 2^bits for others.
        let limit = i64::from(bits) + 1023 - i64::from(signed);
        let over = self.b.ins().icmp_imm(IntCC::Sge, exponent, limit.min(0x7ff));
        let sign = self.b.ins().sext(Type::I64, negative);
        let of_sign: Values = (0..count).map(|_| sign).collect();
        let of_sign = self.clear_wide(of_sign, bits);
        let down = self.b.ins().band(over, negative);
        let value = self.clamped(&value, over, &of_sign, signed, bits, false);
        let value: Values = if signed {
            value
        } else {
            value.iter().map(|limb| self.b.ins().select(down, zero, *limb)).collect()
        };
        let is_nan = self.b.ins().fcmp(warpsmith_ir::FloatCC::Nan, x, x);
        Ok(value.iter().map(|limb| self.b.ins().select(is_nan, zero, *limb)).collect())
    }
}
