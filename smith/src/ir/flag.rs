//! Flags that a loop chooses and asks about, products of short numbers in wide types, and counts of bits.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, InstData, IntCC, Opcode, Type, Value};

impl Generator<'_, '_, '_> {
    /// `if (c) found = true;` in a counted loop: the flag, a number, is mostly what it was or a truth, and is asked about in the loop. Behind it it may be a
    /// number.
    pub(super) fn flag(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I8, Type::I8, Type::I16, Type::I32])?;
        let (head, after) = (self.b.create_block(), self.b.create_block());
        let [count, sum] = [(); 2].map(|()| self.b.append_block_param(head, Type::I32));
        let flag = self.b.append_block_param(head, ty);
        let (zero, one) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        let truths = [0, 1].map(|truth| self.number(ty, truth));
        let rounds = self.u.int_in_range(2i64..=6)?;
        let (start, last) = (self.value(Type::I32)?, self.number(Type::I32, rounds));
        let first = if self.u.ratio(7, 8)? { *self.u.choose(&truths)? } else { self.value(ty)? };
        let outside = self.value(Type::I32)?;
        self.b.ins().jump(head, &[zero, start, first]);

        self.b.switch_to_block(head);
        let known = self.values.len();
        let mixed = self.b.ins().imul(outside, count);
        let word = self.b.ins().bxor(mixed, sum);
        self.values.extend([count, word]);
        for _ in 0..self.u.int_in_range(0..=2)? {
            self.regular()?;
        }
        let mut next = flag;
        for _ in 0..self.u.int_in_range(1..=2)? {
            next = self.chosen(next, word, truths)?;
        }
        let asked = if self.u.ratio(1, 2)? { flag } else { next };
        let cond = if self.u.ratio(1, 2)? { IntCC::Ne } else { IntCC::Eq };
        let is_set = self.b.ins().icmp(cond, asked, truths[0]);
        let (a, b) = (self.value(Type::I32)?, self.b.ins().iadd(sum, one));
        let total = self.b.ins().select(is_set, a, b);
        self.values.truncate(known);
        let counted = self.promise(Opcode::Iadd, count, one);
        let goes_on = self.b.ins().icmp(IntCC::Slt, counted, last);
        self.b.ins().brif(goes_on, head, &[counted, total, next], after, &[]);

        self.b.switch_to_block(after);
        self.values.push(total);
        if self.u.ratio(3, 4)? {
            self.values.push(next);
        }
        Ok(())
    }

    /// A flag, or a truth or another one by a condition on a word; mostly so that it stays one.
    fn chosen(&mut self, flag: Value, word: Value, truths: [Value; 2]) -> Result<Value> {
        let ty = self.b.func().dfg.ty(flag);
        let with = self.value(Type::I32)?;
        let by = self.b.ins().icmp(*self.u.choose(IntCC::ALL)?, word, with);
        let other = match self.u.int_in_range(0..=7)? {
            0..=2 => *self.u.choose(&truths)?,
            3 | 4 => {
                let is_other = self.b.ins().icmp(*self.u.choose(IntCC::ALL)?, with, word);
                self.b.ins().zext(ty, is_other)
            }
            5 | 6 => self.b.ins().bxor(flag, truths[1]),
            _ => self.value(ty)?,
        };
        let (yes, no) = if self.u.ratio(1, 2)? { (other, flag) } else { (flag, other) };
        Ok(self.b.ins().select(by, yes, no))
    }

    /// A sum of products of bytes, halves and words that are extended to more bits than they need, with their signs or with zeros.
    pub(super) fn short_product(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I64, Type::I64, Type::I32])?;
        let mut sum = self.value(ty)?;
        for _ in 0..self.u.int_in_range(1..=3)? {
            let mut factors = [sum; 2];
            for factor in &mut factors {
                let from = *self.u.choose(&[Type::I8, Type::I16, Type::I32])?;
                let short = self.value(from)?;
                let op = if self.u.ratio(1, 2)? { Opcode::Sext } else { Opcode::Zext };
                *factor = match from == ty {
                    true => short,
                    false => self.b.ins().regular(InstData::Unary { op, arg: short }, Some(ty)),
                };
            }
            let product = self.b.ins().imul(factors[0], factors[1]);
            sum = if self.u.ratio(3, 4)? { self.b.ins().iadd(sum, product) } else { product };
        }
        self.values.push(sum);
        Ok(())
    }

    /// A count of the bits of 64, cut to a word; the count itself may be used too.
    pub(super) fn count(&mut self) -> Result<()> {
        let x = self.value(Type::I64)?;
        let op = *self.u.choose(&[Opcode::Popcnt, Opcode::Clz, Opcode::Ctz])?;
        let count = self.b.ins().regular(InstData::Unary { op, arg: x }, None);
        let word = self.b.ins().trunc(Type::I32, count);
        self.values.push(word);
        if self.u.ratio(1, 4)? {
            self.values.push(count);
        }
        Ok(())
    }
}
