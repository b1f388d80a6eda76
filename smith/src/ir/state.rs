//! An array that is filled and read at an index, and between these by a loop at places that it names: the state of a cipher.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Opcode, Type, Value};

/// The elements of the array.
const WORDS: i64 = 8;

impl Generator<'_, '_, '_> {
    /// Rounds that make elements of an array from others. The loop may be left in the middle of a round.
    pub(super) fn state(&mut self) -> Result<()> {
        let limit = self.below_eight()?;
        let (seed, step) = (self.value(Type::I32)?, self.value(Type::I32)?);
        let (zero, one, last) =
            (self.number(Type::I32, 0), self.number(Type::I32, 1), self.number(Type::I32, WORDS - 1));
        let slot = self.b.create_stack_slot(4 * WORDS as u32, 16);
        let base = self.b.ins().stack_addr(slot, 0);
        let mut word = seed;
        for n in 0..WORDS as i32 {
            word = self.b.ins().iadd(word, step);
            self.b.ins().store(MemFlags::PLAIN, word, base, 4 * n);
        }
        let somewhere = self.b.ins().band(step, last);
        let at = self.b.ins().index(base, somewhere, 4);
        self.b.ins().store(MemFlags::PLAIN, seed, at, 0);
        let (head, body, latch) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let behind = self.b.create_block();
        let count = self.b.append_block_param(head, Type::I32);
        self.b.ins().jump(head, &[zero]);

        self.b.switch_to_block(head);
        let goes_on = self.b.ins().icmp(IntCC::Slt, count, limit);
        self.b.ins().brif(goes_on, body, &[], behind, &[]);

        self.b.switch_to_block(body);
        let made = self.round(base, count)?;
        if self.u.ratio(1, 3)? {
            let odd = self.b.ins().icmp(IntCC::Slt, made, zero);
            self.b.ins().brif(odd, behind, &[], latch, &[]);
        } else {
            self.b.ins().jump(latch, &[]);
        }

        self.b.switch_to_block(latch);
        if self.u.ratio(1, 2)? {
            self.round(base, step)?;
        }
        let next = self.promise(Opcode::Iadd, count, one);
        self.b.ins().jump(head, &[next]);

        self.b.switch_to_block(behind);
        let elsewhere = self.b.ins().band(seed, last);
        let at = self.b.ins().index(base, elsewhere, 4);
        let result = self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0);
        self.values.push(result);
        Ok(())
    }

    /// Makes an element of two, and the other value.
    fn round(&mut self, base: Value, other: Value) -> Result<Value> {
        let mut place = || Ok(4 * self.u.int_in_range(0..=WORDS as i32 - 1)?);
        let [a, b, to] = [place()?, place()?, place()?];
        let a = self.b.ins().load(Type::I32, MemFlags::PLAIN, base, a);
        let b = self.b.ins().load(Type::I32, MemFlags::PLAIN, base, b);
        let sum = self.b.ins().iadd(a, other);
        let made = self.b.ins().bxor(sum, b);
        self.b.ins().store(MemFlags::PLAIN, made, base, to);
        Ok(made)
    }
}
