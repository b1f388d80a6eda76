//! Values that are there on some ways only, and whether they are: `if (c) { x = a[i]; found = true; } ...; if (found) use(x);`, once and in a loop; and
//! pointers of one space or another that are kept in memory.

use super::{Generator, Pointers};
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Type, Value};

impl Generator<'_, '_, '_> {
    pub(super) fn kept(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        match self.u.int_in_range(0..=3)? {
            0 => self.carried(&pointers),
            1 => self.kept_pointer(&pointers),
            _ => self.found(&pointers),
        }
    }

    /// An element at a number below eight.
    fn small_element(&mut self, pointers: &Pointers, number: Value) -> Value {
        let number = self.b.ins().band_imm(number, 7);
        let index = self.b.ins().zext(Type::I64, number);
        let at = self.b.ins().index(pointers.input, index, 4);
        self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0)
    }

    /// A value and a flag, a byte as in C++ or a condition, which are asked for behind where ways meet.
    fn found(&mut self, pointers: &Pointers) -> Result<()> {
        let cond = self.condition()?;
        let none = self.value(Type::I32)?;
        let ty = if self.u.ratio(2, 3)? { Type::I8 } else { Type::I1 };
        // What is neither 0 nor 1 is a number.
        let absent =
            if ty == Type::I8 { *self.u.choose(&[0, 0, 0, 1, 2])? } else { self.u.int_in_range(0..=1)? };
        let absent = self.number(ty, absent);
        let (read, join) = (self.b.create_block(), self.b.create_block());
        let met = self.b.append_block_param(join, Type::I32);
        let flag = self.b.append_block_param(join, ty);
        self.b.ins().brif(cond, read, &[], join, &[none, absent]);
        self.b.switch_to_block(read);
        let value = self.small_element(pointers, none);
        let one = self.number(Type::I32, 1);
        let odd = self.b.ins().band(value, one);
        let odd = self.b.ins().icmp(IntCC::Eq, odd, one);
        let present = match (self.u.int_in_range(0..=2)?, ty) {
            (0, _) => self.number(ty, 1),
            (_, Type::I8) => self.b.ins().zext(Type::I8, odd),
            _ => odd,
        };
        self.b.ins().jump(join, &[value, present]);
        self.b.switch_to_block(join);
        for _ in 0..self.u.int_in_range(1..=2)? {
            let zero = self.number(ty, 0);
            let asked = match (self.u.int_in_range(0..=3)?, ty) {
                (0, _) => cond,
                (1, _) => self.b.ins().icmp(IntCC::Eq, flag, zero),
                (2, Type::I8) => self.b.ins().trunc(Type::I1, flag),
                _ => self.b.ins().icmp(IntCC::Ne, flag, zero),
            };
            let (used, next) = (self.b.create_block(), self.b.create_block());
            let out = self.b.append_block_param(next, Type::I32);
            self.b.ins().brif(asked, used, &[], next, &[none]);
            self.b.switch_to_block(used);
            let at = self.small_element(pointers, met);
            let sum = self.b.ins().iadd(at, met);
            self.b.ins().jump(next, &[sum]);
            self.b.switch_to_block(next);
            self.values.push(out);
        }
        Ok(())
    }

    /// A value of one round that the next one uses where its own condition holds, not that of the round before.
    fn carried(&mut self, pointers: &Pointers) -> Result<()> {
        let (bound, first) = (self.below_eight()?, self.value(Type::I32)?);
        let (zero, one) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        let [header, used, left, done] = std::array::from_fn(|_| self.b.create_block());
        let [i, carried] = [0; 2].map(|_| self.b.append_block_param(header, Type::I32));
        let out = self.b.append_block_param(done, Type::I32);
        self.b.ins().jump(header, &[zero, first]);
        self.b.switch_to_block(header);
        let value = self.small_element(pointers, i);
        let odd = self.b.ins().band(value, one);
        let cond = self.b.ins().icmp(IntCC::Eq, odd, zero);
        let next = self.b.ins().iadd(i, one);
        let more = self.b.ins().icmp(IntCC::Ult, next, bound);
        self.b.ins().brif(cond, used, &[], left, &[]);
        self.b.switch_to_block(left);
        self.b.ins().brif(more, header, &[next, value], done, &[value]);
        self.b.switch_to_block(used);
        let at = self.small_element(pointers, carried);
        self.b.ins().brif(more, header, &[next, at], done, &[at]);
        self.b.switch_to_block(done);
        self.values.push(out);
        Ok(())
    }

    /// One of two pointers in an array of them, of which one may be to shared or local memory, or both to global.
    fn kept_pointer(&mut self, pointers: &Pointers) -> Result<()> {
        if !self.config.memory {
            return self.regular();
        }
        let array = self.b.create_stack_slot(16, 8);
        let own = self.b.create_stack_slot(8, 8);
        let own = self.b.ins().stack_addr(own, 0);
        let first = self.value(Type::I32)?;
        self.b.ins().store(MemFlags::PLAIN, first, own, 0);
        let input = self.b.ins().addrspacecast(Type::PTR, pointers.input);
        let other = match (self.u.int_in_range(0..=2)?, pointers.shared) {
            (0, Some(shared)) => self.b.ins().addrspacecast(Type::PTR, shared),
            (1, _) => self.b.ins().addrspacecast(Type::PTR, own),
            _ => input,
        };
        let base = self.b.ins().stack_addr(array, 0);
        self.b.ins().store(MemFlags::PLAIN, input, base, 0);
        self.b.ins().store(MemFlags::PLAIN, other, base, 8);
        let which = self.value(Type::I32)?;
        let which = self.b.ins().band_imm(which, 1);
        let index = self.b.ins().zext(Type::I64, which);
        let at = self.b.ins().index(base, index, 8);
        let pointer = self.b.ins().load(Type::PTR, MemFlags::PLAIN, at, 0);
        let value = self.b.ins().load(Type::I32, MemFlags::PLAIN, pointer, 0);
        self.values.push(value);
        Ok(())
    }
}
