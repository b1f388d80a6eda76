//! Structured conditionals: the arms that random graphs seldom have, which only one block leads to.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{Block, InstBuilder, MemFlags, StackSlot, Type, Value};

impl Generator<'_, '_, '_> {
    /// Up to three conditionals, one behind the other: two arms each, which meet again in a block with a parameter. A slot, of which every
    /// compiler makes a variable, is written and read in the arms, and by none of the blocks where they meet but perhaps the last: there it is alive
    /// without a use, and what one arm writes must not be seen in the other.
    pub(super) fn conditional(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I32, Type::I64, Type::I16])?;
        let slot = if self.config.memory { Some(self.b.create_stack_slot(8, 8)) } else { None };
        let first = self.value(ty)?;
        self.write_slot(slot, first);
        for _ in 0..self.u.int_in_range(1..=3)? {
            let condition = self.condition()?;
            let arms = [self.b.create_block(), self.b.create_block()];
            let join = self.b.create_block();
            let met = self.b.append_block_param(join, ty);
            self.b.ins().brif(condition, arms[0], &[], arms[1], &[]);
            let known = self.values.len();
            for arm in arms {
                self.arm(arm, join, slot, ty)?;
                self.values.truncate(known);
            }
            self.b.switch_to_block(join);
            self.values.push(met);
        }
        if self.u.ratio(1, 2)? {
            let last = self.read_slot(slot, ty);
            self.values.extend(last);
        }
        Ok(())
    }

    /// One arm, which hands on a value of the type.
    fn arm(&mut self, arm: Block, join: Block, slot: Option<StackSlot>, ty: Type) -> Result<()> {
        self.b.switch_to_block(arm);
        let read = if self.u.ratio(1, 2)? { self.read_slot(slot, ty) } else { None };
        self.values.extend(read);
        for _ in 0..self.u.int_in_range(0..=2)? {
            self.regular()?;
        }
        if self.u.ratio(1, 2)? {
            let value = self.value(ty)?;
            self.write_slot(slot, value);
        }
        let handed_on = match read {
            Some(value) if self.u.ratio(3, 4)? => value,
            Some(_) | None => self.value(ty)?,
        };
        self.b.ins().jump(join, &[handed_on]);
        Ok(())
    }

    fn write_slot(&mut self, slot: Option<StackSlot>, value: Value) {
        if let Some(slot) = slot {
            let at = self.b.ins().stack_addr(slot, 0);
            self.b.ins().store(MemFlags::PLAIN, value, at, 0);
        }
    }

    fn read_slot(&mut self, slot: Option<StackSlot>, ty: Type) -> Option<Value> {
        let at = self.b.ins().stack_addr(slot?, 0);
        Some(self.b.ins().load(ty, MemFlags::PLAIN, at, 0))
    }
}
