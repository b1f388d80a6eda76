//! Arithmetic that asks whether it wrapped, as languages with checks have it: by signs, by the upper half of a product, or by a comparison with an operand.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, InstData, IntCC, Opcode, Type, Value};

impl Generator<'_, '_, '_> {
    /// One such operation with its answer, or a few that trap if they wrap, which they do not.
    pub(super) fn checked(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I32, Type::I32, Type::I64, Type::I16])?;
        if self.u.ratio(1, 4)? {
            return self.past_the_greatest(ty);
        }
        if self.u.ratio(2, 3)? {
            let (x, y) = (self.some_or_half(ty)?, self.some_or_half(ty)?);
            let (result, wraps) = match self.u.ratio(1, 3)? {
                true => {
                    let sum = self.b.ins().iadd(x, y);
                    let part = if self.u.ratio(1, 2)? { x } else { y };
                    (sum, self.b.ins().icmp(IntCC::Ult, sum, part))
                }
                false => self.with_answer(ty, x, y)?,
            };
            self.values.extend([result, wraps]);
            return Ok(());
        }
        let (mut x, y) = (self.of_half_the_bits(ty)?, self.of_half_the_bits(ty)?);
        for _ in 0..self.u.int_in_range(1..=3)? {
            // Of what no compiler knows that it is the same number.
            let zero = self.hidden_zero(ty)?;
            x = self.b.ins().bxor(x, zero);
            let (result, wraps) = self.with_answer(ty, x, y)?;
            let (fails, next) = (self.b.create_block(), self.b.create_block());
            match self.u.ratio(1, 2)? {
                true => self.b.ins().brif(wraps, fails, &[], next, &[]),
                false => {
                    let fits = self.b.ins().bnot(wraps);
                    self.b.ins().brif(fits, next, &[], fails, &[])
                }
            };
            self.b.switch_to_block(fails);
            self.b.ins().trap();
            self.b.switch_to_block(next);
            self.values.push(result);
        }
        Ok(())
    }

    /// A number that is not negative and a constant more, in some order: the sum may be.
    fn past_the_greatest(&mut self, ty: Type) -> Result<()> {
        let any = self.value(ty)?;
        let x = self.b.ins().lshr_imm(any, 1);
        let more = if self.u.ratio(1, 2)? { 1 } else { self.u.int_in_range(-4i64..=8)? };
        let more = self.number(ty, more);
        let sum = self.b.ins().iadd(x, more);
        let [a, b] = if self.u.ratio(1, 2)? { [sum, x] } else { [x, sum] };
        let answer = self.b.ins().icmp(*self.u.choose(IntCC::ALL)?, a, b);
        self.values.push(answer);
        Ok(())
    }

    fn some_or_half(&mut self, ty: Type) -> Result<Value> {
        if self.u.ratio(1, 2)? { self.value(ty) } else { self.of_half_the_bits(ty) }
    }

    /// A sum, difference or product, and whether it wraps as one of numbers with a sign.
    fn with_answer(&mut self, ty: Type, x: Value, y: Value) -> Result<(Value, Value)> {
        let op = *self.u.choose(&[Opcode::Iadd, Opcode::Isub, Opcode::Imul])?;
        let result = self.b.ins().regular(InstData::Binary { op, args: [x, y] }, None);
        if op == Opcode::Imul {
            let high = InstData::Binary { op: Opcode::Smulhi, args: [x, y] };
            let high = self.b.ins().regular(high, None);
            let sign = self.b.ins().ashr_imm(result, ty.bits() - 1);
            return Ok((result, self.b.ins().icmp(IntCC::Ne, high, sign)));
        }
        let (a, b) = if op == Opcode::Iadd { ((x, result), (y, result)) } else { ((x, y), (x, result)) };
        let [a, b] = [a, b].map(|(one, other)| self.b.ins().bxor(one, other));
        let both = self.b.ins().band(a, b);
        let zero = self.number(ty, 0);
        Ok((result, self.b.ins().icmp(IntCC::Slt, both, zero)))
    }
}
