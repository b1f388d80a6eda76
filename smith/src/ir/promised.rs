//! What is promised of operations: sums, differences and products that do not wrap (`nsw`), divisors that are not 0 (`nz`). Where the operations are
//! executed that holds, elsewhere it need not.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, InstData, IntCC, MemFlags, Opcode, Type, Value};

const PROMISED: [Opcode; 3] = [Opcode::Iadd, Opcode::Isub, Opcode::Imul];

/// What results of loops lead to is so far from the input's beginning: they have either sign.
const MIDDLE: i64 = 256;

impl Generator<'_, '_, '_> {
    /// One operation, of operands so small that it cannot wrap, or one in a loop that could.
    pub(super) fn promised(&mut self) -> Result<()> {
        match self.u.int_in_range(0..=6)? {
            0 | 1 => self.promised_result(),
            2 => self.promised_factors(),
            3 => self.promised_divisor(),
            _ => self.promised_in_loop(),
        }
    }

    /// An operation on two numbers of half the bits, one more that cannot wrap either, and what is made of it in more bits.
    fn promised_result(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I16, Type::I32, Type::I32, Type::I64])?;
        let (x, y) = (self.of_half_the_bits(ty)?, self.of_half_the_bits(ty)?);
        let op = *self.u.choose(&PROMISED)?;
        let mut result = self.promise(op, x, y);
        if self.u.ratio(1, 2)? {
            // A product has two bits to spare.
            let eighth = 1i64 << (ty.bits() - 3);
            let more = self.u.int_in_range(-eighth..=eighth - 1)?;
            let more = self.number(ty, more);
            result = self.promise(Opcode::Iadd, result, more);
        }
        self.values.push(result);
        if ty != Type::I64 {
            let wide = self.extended(result, &[Type::I64, Type::I32])?;
            self.values.push(wide);
        }
        Ok(())
    }

    /// A quotient and a remainder where the divisor is not 0, and what they add up to. Some divisors are powers of two, which no compiler knows.
    fn promised_divisor(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I32, Type::I64])?;
        let signed = self.u.ratio(1, 2)?;
        let [quotient, remainder] = match signed {
            false => [Opcode::Udiv, Opcode::Urem],
            true => [Opcode::Sdiv, Opcode::Srem],
        };
        let (x, mut y) = (self.value(ty)?, self.value(ty)?);
        let (zero, one) = (self.number(ty, 0), self.number(ty, 1));
        if self.u.ratio(1, 3)? {
            let by = self.value(Type::I32)?;
            let bits = self.number(Type::I32, i64::from(ty.bits()) - 1);
            let by = self.b.ins().band(by, bits);
            y = self.b.ins().shl(one, by);
        }
        // With a sign neither 0 nor -1.
        let divides = if signed {
            let next = self.b.ins().iadd(y, one);
            self.b.ins().icmp(IntCC::Ugt, next, one)
        } else {
            self.b.ins().icmp(IntCC::Ne, y, zero)
        };
        let (body, done) = (self.b.create_block(), self.b.create_block());
        let results = [0; 3].map(|_| self.b.append_block_param(done, ty));
        self.b.ins().brif(divides, body, &[], done, &[x, y, zero]);
        self.b.switch_to_block(body);
        let rest = self.promise(remainder, x, y);
        let times = self.promise(quotient, x, y);
        let product = self.b.ins().imul(times, y);
        let whole = self.b.ins().iadd(rest, product);
        let multiple = self.b.ins().isub(x, rest);
        let more = if self.u.ratio(1, 2)? { times } else { whole };
        self.b.ins().jump(done, &[rest, multiple, more]);
        self.b.switch_to_block(done);
        self.values.extend(results);
        Ok(())
    }

    /// A loop whose counter comes down, or up, to about zero in large steps. Under a condition, which holds in the last turn, the counter meets a small number:
    /// with its first values that wraps, which a compiler must not take from the promise to be impossible when it computes the results from turn to turn.
    fn promised_in_loop(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I16, Type::I32, Type::I32, Type::I32])?;
        let sign = if self.u.ratio(1, 4)? { -1 } else { 1 };
        let step = self.u.int_in_range(1i64 << (ty.bits() - 6)..=1 << (ty.bits() - 4))?;
        let (last, turns) = (self.u.int_in_range(1i64..=3)?, self.u.int_in_range(0i64..=4)?);
        let edge = last + self.u.int_in_range(1i64..=8)?;
        let small = self.small_factor(ty)?;
        let mut first = self.number(ty, sign * (last + turns * step));
        if self.u.ratio(1, 2)? {
            let zero = self.hidden_zero(ty)?;
            first = self.b.ins().iadd(first, zero);
        }
        let op = *self.u.choose(&PROMISED)?;
        let start = self.value(Type::I64)?;

        let (head, body) = (self.b.create_block(), self.b.create_block());
        let (next, done) = (self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, ty);
        let sum = self.b.append_block_param(head, Type::I64);
        let met = self.b.append_block_param(next, Type::I64);
        self.b.ins().jump(head, &[first, start]);

        self.b.switch_to_block(head);
        let edge = self.number(ty, sign * edge);
        let near = self.b.ins().icmp(if sign > 0 { IntCC::Slt } else { IntCC::Sgt }, count, edge);
        self.b.ins().brif(near, body, &[], next, &[sum]);

        self.b.switch_to_block(body);
        let result = self.promise(op, count, small);
        let more = match self.pointers {
            Some(pointers) if ty == Type::I32 && self.u.ratio(2, 3)? => {
                let middle = self.b.ins().ptradd_imm(pointers.input, MIDDLE);
                let at = self.b.ins().index(middle, result, 4);
                let word = self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0);
                self.b.ins().zext(Type::I64, word)
            }
            Some(_) | None => self.extended(result, &[Type::I64])?,
        };
        let added = self.b.ins().iadd(sum, more);
        self.b.ins().jump(next, &[added]);

        self.b.switch_to_block(next);
        let step = self.number(ty, -sign * step);
        let then = self.promise(Opcode::Iadd, count, step);
        let zero = self.number(ty, 0);
        let goes_on = self.b.ins().icmp(if sign > 0 { IntCC::Sgt } else { IntCC::Slt }, then, zero);
        self.b.ins().brif(goes_on, head, &[then, met], done, &[]);
        self.b.switch_to_block(done);
        self.values.push(met);
        Ok(())
    }

    /// A loop in which two factors do not change, whose product with the counter finds an address. It goes round once, with -1: the product of all three is the least
    /// number of 32 bits, which fits, and that of the two is one more than the greatest, which does not, and which nobody asks for.
    fn promised_factors(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.promised_result() };
        let power = self.u.int_in_range(1..=30)?;
        let scale = *self.u.choose(&[1, 2, 4])?;
        let ty = *[Type::I8, Type::I16, Type::I32].get(scale as usize / 2).unwrap_or(&Type::I32);
        let hidden = [1 << power, 1 << (31 - power), -1].map(|number| self.hidden(Type::I32, number));
        let [with, by, first] = hidden;
        let (with, by, first) = (with?, by?, first?);
        // As far behind as the product leads back.
        let mut base = pointers.input;
        for _ in 0..scale {
            base = self.b.ins().ptradd_imm(base, 1 << 31);
        }
        let start = self.value(Type::I64)?;
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, Type::I64);
        self.b.ins().jump(head, &[first, start]);
        self.b.switch_to_block(head);
        let once = if self.u.ratio(1, 4)? { [with, count] } else { [count, with] };
        let once = self.promise(Opcode::Imul, once[0], once[1]);
        let twice = if self.u.ratio(1, 4)? { [by, once] } else { [once, by] };
        let twice = self.promise(Opcode::Imul, twice[0], twice[1]);
        let place = self.b.ins().index(base, twice, scale);
        let value = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
        let value = self.b.ins().zext(Type::I64, value);
        let added = self.b.ins().iadd(sum, value);
        let (one, zero) = (self.number(Type::I32, 1), self.number(Type::I32, 0));
        let next = self.promise(Opcode::Iadd, count, one);
        let more = self.b.ins().icmp(IntCC::Slt, next, zero);
        self.b.ins().brif(more, head, &[next, added], done, &[]);
        self.b.switch_to_block(done);
        self.values.push(added);
        Ok(())
    }

    /// A number of which a compiler knows no more than that it is this one or less.
    fn hidden(&mut self, ty: Type, number: i64) -> Result<Value> {
        let (zero, number) = (self.hidden_zero(ty)?, self.number(ty, number));
        let thousand = self.number(ty, 1000);
        let less = self.b.ins().imul(zero, thousand);
        Ok(self.b.ins().isub(number, less))
    }

    pub(super) fn promise(&mut self, op: Opcode, x: Value, y: Value) -> Value {
        let result = self.b.ins().regular(InstData::Binary { op, args: [x, y] }, None);
        self.b.promise(result);
        result
    }

    /// In more bits: one of the types that is wider.
    fn extended(&mut self, value: Value, types: &[Type]) -> Result<Value> {
        let bits = self.b.func().dfg.ty(value).bits();
        let wider: Vec<Type> = types.iter().copied().filter(|ty| ty.bits() > bits).collect();
        let wide = *self.u.choose(&wider)?;
        Ok(match self.u.ratio(3, 4)? {
            true => self.b.ins().sext(wide, value),
            false => self.b.ins().zext(wide, value),
        })
    }

    /// A number whose product with another one fits, with a bit to spare.
    pub(super) fn of_half_the_bits(&mut self, ty: Type) -> Result<Value> {
        let half = ty.bits() / 2;
        if self.u.ratio(1, 4)? {
            let number = self.u.int_in_range(-1i64 << (half - 1)..=(1 << (half - 1)) - 1)?;
            return Ok(self.number(ty, number));
        }
        let value = self.value(ty)?;
        // The upper half, which has its sign, or the lower half but for one bit.
        Ok(match self.u.ratio(1, 2)? {
            true => {
                let by = self.number(Type::I32, half.into());
                self.b.ins().ashr(value, by)
            }
            false => {
                let mask = self.number(ty, (1 << (half - 1)) - 1);
                self.b.ins().band(value, mask)
            }
        })
    }

    /// An odd number up to 15.
    fn small_factor(&mut self, ty: Type) -> Result<Value> {
        if self.u.ratio(1, 4)? {
            let number = self.u.int_in_range(1..=15)?;
            return Ok(self.number(ty, number));
        }
        let value = self.value(ty)?;
        let (mask, one) = (self.number(ty, 14), self.number(ty, 1));
        let low = self.b.ins().band(value, mask);
        Ok(self.b.ins().bor(low, one))
    }

    /// Zero, as the last bit of the product of a number and the next. The number is not a constant if there is another.
    pub(super) fn hidden_zero(&mut self, ty: Type) -> Result<Value> {
        let known = self.values.iter().copied().filter(|value| self.b.func().dfg.ty(*value) == ty);
        let known: Vec<Value> = known.collect();
        let value = if known.is_empty() { self.value(ty)? } else { *self.u.choose(&known)? };
        let one = self.number(ty, 1);
        let next = self.b.ins().iadd(value, one);
        let product = self.b.ins().imul(value, next);
        Ok(self.b.ins().band(product, one))
    }
}
