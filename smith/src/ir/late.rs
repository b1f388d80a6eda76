//! What moves past a branch, or must not: a word that is loaded in front of a store to the same memory and used on one of the ways behind it, and what two ways
//! end with.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, InstData, IntCC, MemFlags, Opcode, Sreg, Type, Value};

impl Generator<'_, '_, '_> {
    /// A word of the thread's own memory, which is written before the branch or on one of two ways to where the word is used.
    pub(super) fn used_late(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let place = 4 * self.u.int_in_range(0..=55)?;
        let (new, other) = (self.value(Type::I32)?, self.value(Type::I32)?);
        // Of what is not loaded: a branch that waits for a load keeps others in front of it.
        let (first, second) = (self.bit_of_thread()?, self.condition()?);
        let [between, using, join] = [(); 3].map(|()| self.b.create_block());
        let met = self.b.append_block_param(join, Type::I32);
        let before = self.u.ratio(1, 2)?;
        let word = self.b.ins().load(Type::I32, MemFlags::PLAIN, pointers.own, place);
        if before {
            self.b.ins().store(MemFlags::PLAIN, new, pointers.own, place);
        }
        self.b.ins().brif(first, using, &[], between, &[]);
        self.b.switch_to_block(between);
        if !before {
            self.b.ins().store(MemFlags::PLAIN, new, pointers.own, place);
        }
        match before && self.u.ratio(1, 2)? {
            true => drop(self.b.ins().jump(join, &[other])),
            false => drop(self.b.ins().brif(second, using, &[], join, &[other])),
        }
        self.b.switch_to_block(using);
        let used = self.b.ins().iadd(word, other);
        if self.u.ratio(1, 2)? {
            // Else a choice would do.
            self.b.ins().store(MemFlags::PLAIN, used, pointers.own, 4 * self.u.int_in_range(56..=59)?);
        }
        self.b.ins().jump(join, &[used]);
        self.b.switch_to_block(join);
        self.values.push(met);
        Ok(())
    }

    fn bit_of_thread(&mut self) -> Result<Value> {
        let tid = self.b.ins().sreg(Sreg::TID_X);
        let bit = self.u.int_in_range(0..=5)?;
        let bit = self.b.ins().band_imm(tid, 1 << bit);
        let zero = self.number(Type::I32, 0);
        Ok(self.b.ins().icmp(IntCC::Ne, bit, zero))
    }

    /// Two ways that end with the same operation and the same store, or with ones that differ in a place or an operand.
    pub(super) fn ends_alike(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let place = 4 * self.u.int_in_range(0..=55)?;
        let op = *self.u.choose(&[Opcode::Iadd, Opcode::Isub, Opcode::Imul])?;
        let (with, condition) = (self.value(Type::I32)?, self.condition()?);
        let [one, two, join] = [(); 3].map(|()| self.b.create_block());
        let [made, other] = [Type::I32; 2].map(|ty| self.b.append_block_param(join, ty));
        self.b.ins().brif(condition, one, &[], two, &[]);
        for (n, way) in [one, two].into_iter().enumerate() {
            self.b.switch_to_block(way);
            let x = self.value(Type::I32)?;
            let result = self.b.ins().regular(InstData::Binary { op, args: [x, with] }, None);
            let beside = if self.u.ratio(3, 4)? { x } else { with };
            let more = if n == 1 && self.u.ratio(1, 4)? { 4 } else { 0 };
            let stored = if self.u.ratio(3, 4)? { result } else { x };
            self.b.ins().store(MemFlags::PLAIN, stored, pointers.own, place + more);
            self.b.ins().jump(join, &[result, beside]);
        }
        self.b.switch_to_block(join);
        self.values.extend([made, other]);
        Ok(())
    }
}
