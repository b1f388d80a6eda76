//! A pointer to a variable or to nothing, as of a result that is not always wanted: `f(wanted ? &result : nullptr)`.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Type, Value};

impl Generator<'_, '_, '_> {
    /// Changes the variable where the pointer leads to it, and reads it behind that. Some pointers are kept in memory besides, so that what chose them is not
    /// all that is asked of them.
    pub(super) fn optional(&mut self) -> Result<()> {
        if !self.config.memory {
            return self.regular();
        }
        if self.u.ratio(1, 2)? {
            return self.one_of_two();
        }
        let slot = self.b.create_stack_slot(8, 8);
        let at = self.b.ins().stack_addr(slot, 0);
        let first = self.value(Type::I64)?;
        self.b.ins().store(MemFlags::PLAIN, first, at, 0);
        let zero = self.number(Type::I64, 0);
        let null = self.b.ins().inttoptr(Type::PTR, zero);
        let address = self.b.ins().addrspacecast(Type::PTR, at);
        let pointer = self.either_address(address, null)?;
        for _ in 0..self.u.int_in_range(1..=2)? {
            let more = self.value(Type::I64)?;
            let (change, next) = (self.b.create_block(), self.b.create_block());
            let met = self.b.append_block_param(next, Type::I64);
            match self.u.ratio(1, 2)? {
                true => {
                    let leads = self.b.ins().icmp(IntCC::Ne, pointer, null);
                    self.b.ins().brif(leads, change, &[], next, &[more]);
                }
                false => {
                    let nowhere = self.b.ins().icmp(IntCC::Eq, pointer, null);
                    self.b.ins().brif(nowhere, next, &[more], change, &[]);
                }
            }
            self.b.switch_to_block(change);
            let old = self.b.ins().load(Type::I64, MemFlags::PLAIN, pointer, 0);
            let new = self.b.ins().iadd(old, more);
            self.b.ins().store(MemFlags::PLAIN, new, pointer, 0);
            self.b.ins().jump(next, &[old]);
            self.b.switch_to_block(next);
            self.values.push(met);
        }
        if self.u.ratio(1, 4)? {
            let kept = self.b.create_stack_slot(8, 8);
            let kept = self.b.ins().stack_addr(kept, 0);
            // Of other memory a compiler would make the pointer again.
            let mut flags = MemFlags::PLAIN;
            flags.volatile = true;
            self.b.ins().store(flags, pointer, kept, 0);
            let again = self.b.ins().load(Type::PTR, flags, kept, 0);
            let nowhere = self.b.ins().icmp(IntCC::Eq, again, null);
            self.values.push(nowhere);
        }
        let last = self.b.ins().load(Type::I64, MemFlags::PLAIN, at, 0);
        self.values.push(last);
        Ok(())
    }

    /// Two variables, one of which is read, or written, through a pointer. One may be written in between.
    fn one_of_two(&mut self) -> Result<()> {
        let mut addresses = Vec::new();
        for _ in 0..2 {
            let slot = self.b.create_stack_slot(8, 8);
            let at = self.b.ins().stack_addr(slot, 0);
            let first = self.value(Type::I64)?;
            self.b.ins().store(MemFlags::PLAIN, first, at, 0);
            addresses.push(at);
        }
        let pointer = self.either_address(addresses[0], addresses[1])?;
        if self.u.ratio(3, 4)? {
            let value = self.value(Type::I64)?;
            let to = if self.u.ratio(1, 4)? { pointer } else { *self.u.choose(&addresses)? };
            self.b.ins().store(MemFlags::PLAIN, value, to, 0);
        }
        for at in [pointer, addresses[0], addresses[1]] {
            let value = self.b.ins().load(Type::I64, MemFlags::PLAIN, at, 0);
            self.values.push(value);
        }
        Ok(())
    }

    /// One of two addresses, by a condition: as a choice, or as what two ways hand on.
    pub(super) fn either_address(&mut self, a: Value, b: Value) -> Result<Value> {
        let ty = self.b.func().dfg.ty(a);
        let condition = self.condition()?;
        if self.u.ratio(1, 2)? {
            let (yes, no) = if self.u.ratio(1, 2)? { (a, b) } else { (b, a) };
            return Ok(self.b.ins().select(condition, yes, no));
        }
        let (way, join) = (self.b.create_block(), self.b.create_block());
        let pointer = self.b.append_block_param(join, ty);
        match self.u.ratio(1, 2)? {
            true => self.b.ins().brif(condition, way, &[], join, &[b]),
            false => self.b.ins().brif(condition, join, &[b], way, &[]),
        };
        self.b.switch_to_block(way);
        if let (Some(pointers), true) = (self.pointers, self.u.ratio(1, 2)?) {
            // A way that does something stays one.
            let value = self.value(Type::I32)?;
            self.b.ins().store(MemFlags::PLAIN, value, pointers.own, 4 * self.u.int_in_range(48..=59)?);
        }
        self.b.ins().jump(join, &[a]);
        self.b.switch_to_block(join);
        Ok(pointer)
    }
}
