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
        let slot = self.b.create_stack_slot(8, 8);
        let at = self.b.ins().stack_addr(slot, 0);
        let first = self.value(Type::I64)?;
        self.b.ins().store(MemFlags::PLAIN, first, at, 0);
        let zero = self.number(Type::I64, 0);
        let null = self.b.ins().inttoptr(Type::PTR, zero);
        let pointer = self.variable_or(at, null)?;
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
            self.b.ins().store(MemFlags::PLAIN, pointer, kept, 0);
            let again = self.b.ins().load(Type::PTR, MemFlags::PLAIN, kept, 0);
            let nowhere = self.b.ins().icmp(IntCC::Eq, again, null);
            self.values.push(nowhere);
        }
        let last = self.b.ins().load(Type::I64, MemFlags::PLAIN, at, 0);
        self.values.push(last);
        Ok(())
    }

    /// The generic address of a variable or the null pointer, by a condition: as a choice, or as what two ways hand on.
    fn variable_or(&mut self, at: Value, null: Value) -> Result<Value> {
        let wanted = self.condition()?;
        if self.u.ratio(1, 2)? {
            let address = self.b.ins().addrspacecast(Type::PTR, at);
            let (yes, no) = if self.u.ratio(1, 2)? { (address, null) } else { (null, address) };
            return Ok(self.b.ins().select(wanted, yes, no));
        }
        let (way, join) = (self.b.create_block(), self.b.create_block());
        let pointer = self.b.append_block_param(join, Type::PTR);
        match self.u.ratio(1, 2)? {
            true => self.b.ins().brif(wanted, way, &[], join, &[null]),
            false => self.b.ins().brif(wanted, join, &[null], way, &[]),
        };
        self.b.switch_to_block(way);
        let address = self.b.ins().addrspacecast(Type::PTR, at);
        self.b.ins().jump(join, &[address]);
        self.b.switch_to_block(join);
        Ok(pointer)
    }
}
