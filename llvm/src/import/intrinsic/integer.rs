//! Intrinsics on integers. The IR has nearly all of them; conditions, which are not integers to it, are put together from bitwise operations, and
//! those of more than 128 bits are in [`crate::import::wide`].

use super::table::Integer;
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::import::shape::MAX_BITS;
use crate::module::ops::RmwOp;
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

impl Builder<'_, '_, '_> {
    /// An intrinsic on integers of so many bits: its results one after the other.
    pub fn integer_intrinsic(&mut self, op: Integer, bits: u32, args: &[Values]) -> Result<Values> {
        let missing = || Error::unsupported("an intrinsic with too few operands");
        if bits > MAX_BITS {
            return self.wide_intrinsic(op, bits, args);
        }
        let get = |n: usize| args.get(n).and_then(|values| values.first()).copied().ok_or_else(missing);
        let x = get(0)?;
        if bits == 1 {
            return self.condition_intrinsic(op, x, get(1).ok());
        }
        let one = |value: Value| Values::from_slice(&[value]);
        Ok(match op {
            Integer::Umax => one(self.b.ins().umax(x, get(1)?)),
            Integer::Umin => one(self.b.ins().umin(x, get(1)?)),
            Integer::Smax => one(self.b.ins().smax(x, get(1)?)),
            Integer::Smin => one(self.b.ins().smin(x, get(1)?)),
            Integer::Abs => one(self.b.ins().iabs(x)),
            Integer::SwapBytes => one(self.b.ins().bswap(x)),
            Integer::ReverseBits => one(self.b.ins().bitrev(x)),
            Integer::CountOnes => one(self.b.ins().popcnt(x)),
            Integer::LeadingZeros => one(self.b.ins().clz(x)),
            Integer::TrailingZeros => one(self.b.ins().ctz(x)),
            Integer::FunnelLeft | Integer::FunnelRight => {
                let (y, amount) = (get(1)?, self.funnel_amount(get(2)?, bits));
                let value = if op == Integer::FunnelLeft {
                    self.b.ins().fshl(x, y, amount)
                } else {
                    self.b.ins().fshr(x, y, amount)
                };
                one(value)
            }
            Integer::Overflow(what, signed) => {
                let y = get(1)?;
                let (value, over) = match (what == RmwOp::Add, signed) {
                    (true, false) => self.b.ins().uadd_overflow(x, y),
                    (true, true) => self.b.ins().sadd_overflow(x, y),
                    (false, false) => self.b.ins().usub_overflow(x, y),
                    (false, true) => self.b.ins().ssub_overflow(x, y),
                };
                Values::from_slice(&[value, over])
            }
            Integer::MultiplyOverflow(signed) => {
                let y = get(1)?;
                let (value, over) =
                    if signed { self.b.ins().smul_overflow(x, y) } else { self.b.ins().umul_overflow(x, y) };
                Values::from_slice(&[value, over])
            }
            Integer::Saturating(what, signed) => {
                let y = get(1)?;
                one(match (what == RmwOp::Add, signed) {
                    (true, false) => self.b.ins().uadd_sat(x, y),
                    (true, true) => self.b.ins().sadd_sat(x, y),
                    (false, false) => self.b.ins().usub_sat(x, y),
                    (false, true) => self.b.ins().ssub_sat(x, y),
                })
            }
            Integer::ShiftSaturating(signed) => {
                let amount = get(1)?;
                let amount = self.resize(amount, Type::I32);
                one(if signed { self.b.ins().sshl_sat(x, amount) } else { self.b.ins().ushl_sat(x, amount) })
            }
            Integer::CarrylessMultiply => one(self.carryless_product(x, get(1)?, bits)),
            Integer::Fixed(_) => return Err(missing()),
        })
    }

    /// The sum modulo 2 of the first factor shifted by each bit of the second.
    fn carryless_product(&mut self, x: Value, y: Value, bits: u32) -> Value {
        let mut product = self.int(bits, 0);
        for bit in (0..bits).rev() {
            // The sign of the shifted factor in all bits: all ones where the bit is set.
            let top = self.b.ins().shl_imm(y, bits - 1 - bit);
            let mask = self.b.ins().ashr_imm(top, bits - 1);
            let shifted = self.b.ins().shl_imm(x, bit);
            let term = self.b.ins().band(shifted, mask);
            product = self.b.ins().bxor(product, term);
        }
        product
    }

    /// The amount of a funnel shift, which is taken modulo the width, as the IR takes it.
    fn funnel_amount(&mut self, amount: Value, bits: u32) -> Value {
        // Of a power of two, the low bits say enough.
        let amount = if bits > 32 && !bits.is_power_of_two() {
            self.b.ins().urem_imm(amount, i64::from(bits))
        } else {
            amount
        };
        self.resize(amount, Type::I32)
    }

    /// On numbers of one bit, of which the signed ones are 0 and -1.
    fn condition_intrinsic(&mut self, op: Integer, x: Value, y: Option<Value>) -> Result<Values> {
        let y = y.unwrap_or(x);
        let one = |value: Value| Values::from_slice(&[value]);
        let both = |b: &mut Self| b.b.ins().band(x, y);
        let only_x = |b: &mut Self| {
            let not = b.b.ins().bnot(y);
            b.b.ins().band(x, not)
        };
        Ok(match op {
            Integer::Umax | Integer::Smin => one(self.b.ins().bor(x, y)),
            Integer::Umin | Integer::Smax => one(both(self)),
            Integer::Abs
            | Integer::SwapBytes
            | Integer::ReverseBits
            | Integer::CountOnes
            | Integer::FunnelLeft
            | Integer::ShiftSaturating(_) => one(x),
            Integer::FunnelRight => one(y),
            Integer::LeadingZeros | Integer::TrailingZeros => one(self.b.ins().bnot(x)),
            Integer::Overflow(RmwOp::Add, _) => {
                let over = both(self);
                Values::from_slice(&[self.b.ins().bxor(x, y), over])
            }
            Integer::Overflow(_, _) => {
                let not = self.b.ins().bnot(x);
                let over = self.b.ins().band(not, y);
                Values::from_slice(&[self.b.ins().bxor(x, y), over])
            }
            Integer::CarrylessMultiply => one(both(self)),
            Integer::Fixed(_) => return Err(Error::unsupported("a fixed-point number of one bit")),
            Integer::MultiplyOverflow(signed) => {
                let product = both(self);
                let over = if signed { product } else { self.b.ins().iconst(Type::I1, 0) };
                Values::from_slice(&[product, over])
            }
            Integer::Saturating(RmwOp::Add, _) => one(self.b.ins().bor(x, y)),
            Integer::Saturating(_, _) => one(only_x(self)),
        })
    }

    /// -1, 0 or 1 in so many bits.
    pub fn three_way(
        &mut self,
        signed: bool,
        bits: u32,
        x: &[Value],
        y: &[Value],
        result: u32,
    ) -> Result<Values> {
        let (less, greater) = if signed { (IntCC::Slt, IntCC::Sgt) } else { (IntCC::Ult, IntCC::Ugt) };
        let less = self.compare(less, bits, x, y)?;
        let greater = self.compare(greater, bits, x, y)?;
        let (minus, zero, one) = (self.int(result, -1), self.int(result, 0), self.int(result, 1));
        let above = self.b.ins().select(greater, one, zero);
        Ok(Values::from_slice(&[self.b.ins().select(less, minus, above)]))
    }
}
