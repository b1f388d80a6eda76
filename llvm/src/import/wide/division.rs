//! Division of integers of more than 128 bits: one bit of the quotient after the other, in a loop.

use super::super::function::{Builder, Values};
use crate::error::Result;
use crate::module::ops::BinaryOp;
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

impl Builder<'_, '_, '_> {
    /// A quotient or a remainder. What is divided by zero has no value.
    pub fn divide_wide(&mut self, op: BinaryOp, bits: u32, x: &[Value], y: &[Value]) -> Result<Values> {
        let signed = matches!(op, BinaryOp::Sdiv | BinaryOp::Srem);
        let remainder = matches!(op, BinaryOp::Urem | BinaryOp::Srem);
        if !signed {
            let (quotient, rest) = self.divide_limbs(x, y)?;
            return Ok(if remainder { rest } else { quotient });
        }
        let (x, of_x) = self.magnitude(x, bits);
        let (y, of_y) = self.magnitude(y, bits);
        let (quotient, rest) = self.divide_limbs(&x, &y)?;
        // The remainder has the sign of what was divided.
        Ok(if remainder {
            self.negate_if(of_x, &rest)
        } else {
            let differ = self.b.ins().bxor(of_x, of_y);
            self.negate_if(differ, &quotient)
        })
    }

    /// The absolute value in all bits of the limbs, and whether the number is negative.
    pub fn magnitude(&mut self, x: &[Value], bits: u32) -> (Values, Value) {
        let x = self.sign_wide(x, bits);
        let negative = self.is_negative(&x);
        (self.negate_if(negative, &x), negative)
    }

    /// True if the highest bit of the last limb is set.
    pub fn is_negative(&mut self, limbs: &[Value]) -> Value {
        match limbs.last() {
            Some(last) => self.b.ins().icmp_imm(IntCC::Slt, *last, 0),
            None => self.b.ins().iconst(Type::I1, 0),
        }
    }

    /// The limbs, or their negation.
    pub fn negate_if(&mut self, cond: Value, limbs: &[Value]) -> Values {
        let zero = self.limb(0);
        let zeros: Values = limbs.iter().map(|_| zero).collect();
        let (negated, _) = self.sub_limbs(&zeros, limbs);
        negated.iter().zip(limbs).map(|(no, yes)| self.b.ins().select(cond, *no, *yes)).collect()
    }

    /// The quotient and the remainder of limbs.
    fn divide_limbs(&mut self, x: &[Value], y: &[Value]) -> Result<(Values, Values)> {
        let count = x.len();
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let zero = self.limb(0);
        let start = self.b.ins().iconst(Type::I32, 0);
        let mut first = vec![start];
        first.extend(x);
        first.extend(std::iter::repeat_n(zero, count));
        self.b.ins().jump(head, &first);
        // In the loop, what is left of the number moves up out of the limbs that the quotient moves into.
        let n = self.b.append_block_param(head, Type::I32);
        let moving: Values = (0..count).map(|_| self.b.append_block_param(head, Type::I64)).collect();
        let rest: Values = (0..count).map(|_| self.b.append_block_param(head, Type::I64)).collect();
        let quotient: Values = (0..count).map(|_| self.b.append_block_param(done, Type::I64)).collect();
        let remainder: Values = (0..count).map(|_| self.b.append_block_param(done, Type::I64)).collect();
        self.b.switch_to_block(head);
        let above = self.is_negative(&rest);
        let top = moving.last().copied().unwrap_or(zero);
        let bit = self.b.ins().lshr_imm(top, 63);
        let rest = self.move_up(&rest, bit);
        let (less, borrow) = self.sub_limbs(&rest, y);
        let fits = self.b.ins().bnot(borrow);
        let fits = self.b.ins().bor(fits, above);
        let bit = self.b.ins().zext(Type::I64, fits);
        let moving = self.move_up(&moving, bit);
        let rest: Values =
            less.iter().zip(&rest).map(|(less, rest)| self.b.ins().select(fits, *less, *rest)).collect();
        let n = self.b.ins().iadd_imm(n, 1);
        let more = self.b.ins().icmp_imm(IntCC::Ult, n, count as i64 * 64);
        let mut again = vec![n];
        again.extend(&moving);
        again.extend(&rest);
        let last: Vec<Value> = moving.iter().chain(&rest).copied().collect();
        self.b.ins().brif(more, head, &again, done, &last);
        self.b.switch_to_block(done);
        Ok((quotient, remainder))
    }

    /// The limbs shifted left by one bit, and the lowest bit.
    fn move_up(&mut self, limbs: &[Value], mut carry: Value) -> Values {
        let mut out = Values::new();
        for limb in limbs {
            let up = self.b.ins().shl_imm(*limb, 1);
            out.push(self.b.ins().bor(up, carry));
            carry = self.b.ins().lshr_imm(*limb, 63);
        }
        out
    }
}
