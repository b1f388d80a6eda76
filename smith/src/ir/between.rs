//! Loops from one number to another that is a constant more, and loops of counters of 64 bits that come to where 32 bits end, or below zero.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Opcode, Type};

impl Generator<'_, '_, '_> {
    /// A loop from `x + a` to `x + b`, by numbers or by addresses.
    pub(super) fn between_two(&mut self) -> Result<()> {
        let (a, rounds) = (self.u.int_in_range(-2i64..=3)?, self.u.int_in_range(1i64..=6)?);
        let by_address = self.u.ratio(1, 2)?;
        let ([from, to], step) = match self.pointers.filter(|_| by_address) {
            Some(pointers) => {
                let element = self.below_eight()?;
                let base = self.b.ins().index(pointers.input, element, 4);
                let ends = [2 + a, 2 + a + rounds].map(|by| self.b.ins().ptradd_imm(base, 4 * by));
                (ends, self.number(Type::I64, 4))
            }
            None => {
                let x = self.of_half_the_bits(Type::I32)?;
                let ends = [a, a + rounds].map(|by| {
                    let by = self.number(Type::I32, by);
                    self.promise(Opcode::Iadd, x, by)
                });
                (ends, self.number(Type::I32, 1))
            }
        };
        let start = self.value(Type::I64)?;
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let ty = self.b.func().dfg.ty(from);
        let (at, sum) = (self.b.append_block_param(head, ty), self.b.append_block_param(head, Type::I64));
        self.b.ins().jump(head, &[from, start]);
        self.b.switch_to_block(head);
        let (more, next) = if ty.is_ptr() {
            let word = self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0);
            (self.b.ins().sext(Type::I64, word), self.b.ins().ptradd(at, step))
        } else {
            (self.b.ins().sext(Type::I64, at), self.promise(Opcode::Iadd, at, step))
        };
        let scaled = self.b.ins().imul_imm(sum, 3);
        let added = self.b.ins().iadd(scaled, more);
        let cond = if ty.is_ptr() || self.u.ratio(1, 2)? { IntCC::Ne } else { IntCC::Slt };
        let goes_on = self.b.ins().icmp(cond, next, to);
        self.b.ins().brif(goes_on, head, &[next, added], done, &[]);
        self.b.switch_to_block(done);
        self.values.push(added);
        Ok(())
    }

    /// A loop of a counter of 64 bits that is compared with a number of 32, and may be left after some turns before that.
    pub(super) fn wide_counter(&mut self) -> Result<()> {
        let down = self.u.ratio(1, 2)?;
        let step = match (down, self.u.ratio(1, 2)?) {
            (true, _) => -self.u.int_in_range(1i64..=2)?,
            (false, true) => self.u.int_in_range(1i64..=3)?,
            (false, false) => *self.u.choose(&[1i64 << 30, (1 << 31) - 1, 1 << 29])?,
        };
        let small = self.below_eight()?;
        let small = self.b.ins().zext(Type::I64, small);
        let end = (1i64 << 32) - 1 - self.u.int_in_range(0i64..=3)?;
        let near = self.u.int_in_range(0i64..=6)?;
        let first = match (down || step > 3, self.u.ratio(1, 2)?) {
            (true, true) => small,
            (true, false) => self.number(Type::I64, near),
            (false, _) => self.number(Type::I64, end - near),
        };
        let limit = match (down, self.u.ratio(1, 4)?) {
            (_, true) => small,
            (true, false) => self.number(Type::I64, 0),
            (false, false) => self.number(Type::I64, end),
        };
        let conds =
            if down { [IntCC::Sge, IntCC::Sgt, IntCC::Ne] } else { [IntCC::Ule, IntCC::Slt, IntCC::Sle] };
        let cond = *self.u.choose(&conds)?;
        let turns = self.u.int_in_range(6i64..=12)?;
        let start = self.value(Type::I64)?;
        let [zero, one, turns] = [0, 1, turns].map(|number| self.number(Type::I32, number));
        let step = self.number(Type::I64, step);
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let [count, sum] = [Type::I64; 2].map(|ty| self.b.append_block_param(head, ty));
        let turn = self.b.append_block_param(head, Type::I32);
        self.b.ins().jump(head, &[first, start, zero]);
        self.b.switch_to_block(head);
        let scaled = self.b.ins().imul_imm(sum, 3);
        let added = self.b.ins().iadd(scaled, count);
        let next = self.b.ins().iadd(count, step);
        let next_turn = self.b.ins().iadd(turn, one);
        let asked = if self.u.ratio(1, 2)? { next } else { count };
        let goes_on = self.b.ins().icmp(cond, asked, limit);
        let left = self.b.ins().icmp(IntCC::Slt, next_turn, turns);
        let both = self.b.ins().band(goes_on, left);
        self.b.ins().brif(both, head, &[next, added, next_turn], done, &[]);
        self.b.switch_to_block(done);
        self.values.extend([next, added]);
        Ok(())
    }
}
