//! Structured conditionals: the arms that random graphs seldom have, which only one block leads to.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{Block, InstBuilder, InstData, MemFlags, Opcode, StackSlot, Type, Value};

/// What both arms of a conditional begin with.
#[derive(Clone, Copy)]
enum Beginning {
    Load(Value, i32),
    Binary(Opcode, [Value; 2]),
}

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
            let first = self.u.ratio(1, 2)?.then(|| self.beginning()).transpose()?;
            self.b.ins().brif(condition, arms[0], &[], arms[1], &[]);
            let known = self.values.len();
            for arm in arms {
                self.arm(arm, join, slot, ty, first)?;
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

    /// What both arms begin with.
    fn beginning(&mut self) -> Result<Beginning> {
        Ok(match self.pointers {
            Some(pointers) if self.u.ratio(1, 2)? => {
                Beginning::Load(pointers.input, 4 * self.u.int_in_range(0..=63)?)
            }
            Some(_) | None => {
                let op = *self.u.choose(&[Opcode::Iadd, Opcode::Imul, Opcode::Isub, Opcode::Bxor])?;
                Beginning::Binary(op, [self.value(Type::I32)?, self.value(Type::I32)?])
            }
        })
    }

    fn begin_with(&mut self, first: Beginning) -> Value {
        match first {
            Beginning::Load(from, offset) => self.b.ins().load(Type::I32, MemFlags::PLAIN, from, offset),
            Beginning::Binary(op, args) => self.b.ins().regular(InstData::Binary { op, args }, None),
        }
    }

    /// One arm, which hands on a value of the type.
    fn arm(
        &mut self,
        arm: Block,
        join: Block,
        slot: Option<StackSlot>,
        ty: Type,
        first: Option<Beginning>,
    ) -> Result<()> {
        self.b.switch_to_block(arm);
        let first = first.map(|first| self.begin_with(first));
        self.values.extend(first);
        let read = if self.u.ratio(1, 2)? { self.read_slot(slot, ty) } else { None };
        self.values.extend(read);
        for _ in 0..self.u.int_in_range(0..=2)? {
            self.regular()?;
        }
        if self.u.ratio(1, 2)? {
            let value = self.value(ty)?;
            self.write_slot(slot, value);
        }
        let mut handed_on = match read {
            Some(value) if self.u.ratio(3, 4)? => value,
            Some(_) | None => self.value(ty)?,
        };
        if let Some(first) = first
            && self.u.ratio(3, 4)?
        {
            // What the arms begin with is needed in both.
            let first = match ty.bits().cmp(&Type::I32.bits()) {
                std::cmp::Ordering::Less => self.b.ins().trunc(ty, first),
                std::cmp::Ordering::Equal => first,
                std::cmp::Ordering::Greater => self.b.ins().zext(ty, first),
            };
            handed_on = self.b.ins().bxor(handed_on, first);
        }
        self.b.ins().jump(join, &[handed_on]);
        Ok(())
    }

    /// Two conditions in a row, the second asked in a block of its own: `if (a && b)` or `if (a || b)`, in all four ways round. Mostly both branches lead to the
    /// same place with the same values, so that one would do; a variable may be written in between. The two last blocks may begin with the same, which
    /// one of them has two ways to.
    pub(super) fn short_circuit(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I64, Type::I32])?;
        let slot = if self.config.memory && self.u.ratio(1, 2)? {
            Some(self.b.create_stack_slot(8, 8))
        } else {
            None
        };
        let (given, other) = (self.value(ty)?, self.value(ty)?);
        self.write_slot(slot, given);
        let [second, yes, no, join] = [(); 4].map(|()| self.b.create_block());
        let first = self.u.ratio(1, 2)?.then(|| self.beginning()).transpose()?;
        // Mostly without parameters then, so that nothing but the two ways is in the way of doing it in front of both.
        let bare = first.is_some() && self.u.ratio(3, 4)?;
        let params = match bare {
            true => None,
            false => Some((self.b.append_block_param(no, ty), self.b.append_block_param(no, Type::I1))),
        };
        let met = self.b.append_block_param(join, ty);
        let known = self.values.len();

        let a = self.condition()?;
        let (last, says) = (self.u.ratio(1, 4)?, self.u.ratio(1, 2)?);
        let constant = self.b.ins().iconst(Type::I1, self.u.int_in_range(0..=1)?);
        let args = |value: Value, condition: Value| match bare {
            true => Vec::new(),
            false => vec![value, if says { condition } else { constant }],
        };
        let to_no = args(given, a);
        match self.u.ratio(1, 2)? {
            true => self.b.ins().brif(a, second, &[], no, &to_no),
            false => self.b.ins().brif(a, no, &to_no, second, &[]),
        };
        self.b.switch_to_block(second);
        for _ in 0..self.u.int_in_range(0..=2)? {
            let (x, y) = (self.value(Type::I32)?, self.value(Type::I32)?);
            let op = *self.u.choose(&[Opcode::Iadd, Opcode::Isub, Opcode::Bxor, Opcode::Band])?;
            let value = self.b.ins().regular(InstData::Binary { op, args: [x, y] }, None);
            self.values.push(value);
        }
        if self.u.ratio(1, 4)? {
            self.write_slot(slot, other);
        }
        let b = self.condition()?;
        let to_no = args(if last { other } else { given }, b);
        match self.u.ratio(1, 2)? {
            true => self.b.ins().brif(b, yes, &[], no, &to_no),
            false => self.b.ins().brif(b, no, &to_no, yes, &[]),
        };
        self.b.switch_to_block(yes);
        let mut value = self.value(ty)?;
        if let Some(first) = first {
            let begun = self.begin_with(first);
            let begun = if ty == Type::I64 { self.b.ins().zext(ty, begun) } else { begun };
            value = self.b.ins().bxor(value, begun);
        }
        self.values.truncate(known);
        self.b.ins().jump(join, &[value]);
        self.b.switch_to_block(no);
        let begun = first.map(|first| self.begin_with(first));
        let value = match (params, begun) {
            (Some((shared, said)), _) => self.b.ins().select(said, shared, other),
            (None, Some(begun)) if ty == Type::I64 => self.b.ins().sext(Type::I64, begun),
            (None, Some(begun)) => begun,
            (None, None) => given,
        };
        self.b.ins().jump(join, &[value]);
        self.b.switch_to_block(join);
        self.values.push(met);
        let left = self.read_slot(slot, ty);
        self.values.extend(left);
        Ok(())
    }

    /// A branch on two conditions at once, whose ways get what one of the two chooses.
    pub(super) fn chosen_by_part(&mut self) -> Result<()> {
        let (a, b) = (self.condition()?, self.condition()?);
        let mut all = if self.u.ratio(1, 2)? { self.b.ins().band(a, b) } else { self.b.ins().bor(a, b) };
        if self.u.ratio(1, 4)? {
            all = self.b.ins().bnot(all);
        }
        let (x, y) = (self.value(Type::I32)?, self.value(Type::I32)?);
        let [one, other] = [a, b].map(|part| self.b.ins().select(part, x, y));
        let [way, join] = [(); 2].map(|()| self.b.create_block());
        let [given, met] = [way, join].map(|block| self.b.append_block_param(block, Type::I32));
        self.b.ins().brif(all, way, &[one], join, &[other]);
        self.b.switch_to_block(way);
        // What has an effect stays behind the branch.
        self.write_own(given, 0)?;
        let changed = self.b.ins().imul_imm(given, 3);
        self.b.ins().jump(join, &[changed]);
        self.b.switch_to_block(join);
        self.values.push(met);
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
