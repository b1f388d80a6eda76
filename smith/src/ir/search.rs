//! A loop that is left at its head and from its middle, for two places that meet again; and one that asks the same in each round.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{BlockCall, InstBuilder, IntCC, Type, Value};

impl Generator<'_, '_, '_> {
    /// Looks for a number whose low bits are not set among those that are made from one to the next. What the head has is used behind both ways out and where they
    /// meet.
    pub(super) fn search(&mut self) -> Result<()> {
        let limit = self.below_eight()?;
        let (start, step) = (self.value(Type::I32)?, self.value(Type::I32)?);
        let (zero, one) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        let low = self.u.int_in_range(1i64..=7)?;
        let low = self.number(Type::I32, low);
        let (head, body, latch) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let (ended, found, meeting) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, Type::I32);
        let last = self.b.append_block_param(head, Type::I32);
        let which = self.b.append_block_param(meeting, Type::I32);
        self.b.ins().jump(head, &[zero, start]);

        self.b.switch_to_block(head);
        let twice = self.b.ins().iadd(last, last);
        let goes_on = self.b.ins().icmp(IntCC::Slt, count, limit);
        self.b.ins().brif(goes_on, body, &[], ended, &[]);

        self.b.switch_to_block(body);
        let made = self.b.ins().iadd(twice, step);
        let made = self.b.ins().bxor(made, count);
        let bits = self.b.ins().band(made, low);
        let is_it = self.b.ins().icmp(IntCC::Eq, bits, zero);
        self.b.ins().brif(is_it, found, &[], latch, &[]);

        self.b.switch_to_block(latch);
        let next = self.promise(warpsmith_ir::Opcode::Iadd, count, one);
        self.b.ins().jump(head, &[next, made]);

        let used = [count, last, twice];
        self.b.switch_to_block(ended);
        let at_end = self.behind(&used, step)?;
        self.b.ins().jump(meeting, &[at_end]);
        self.b.switch_to_block(found);
        let at_it = self.behind(&used, made)?;
        self.b.ins().jump(meeting, &[at_it]);

        self.b.switch_to_block(meeting);
        let result = self.behind(&used, which)?;
        self.values.push(result);
        Ok(())
    }

    /// A loop that asks in each round what is the same in all, for all threads: by a parameter of the kernel.
    pub(super) fn asked_again(&mut self) -> Result<()> {
        if self.pointers.is_none() {
            return self.search();
        }
        let given = self.b.func().param_values()[3];
        let (rounds, with) = (self.below_eight()?, self.value(Type::I32)?);
        let bit = self.u.int_in_range(0..=7)?;
        let bit = self.b.ins().band_imm(given, 1 << bit);
        let nothing = self.number(Type::I64, 0);
        let asked = self.b.ins().icmp(IntCC::Ne, bit, nothing);
        let (zero, one) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        let [head, yes, no, latch, done] = [(); 5].map(|()| self.b.create_block());
        let [count, sum] = [Type::I32; 2].map(|ty| self.b.append_block_param(head, ty));
        let added = self.b.append_block_param(latch, Type::I32);
        self.b.ins().jump(head, &[zero, with]);

        self.b.switch_to_block(head);
        if self.u.ratio(1, 2)? {
            // Or another thing in each.
            let low = self.b.ins().band_imm(sum, 3);
            let pool = &mut self.b.func_mut().dfg.pool;
            let [yes, no] = [yes, no].map(|block| BlockCall::new(block, &[], pool));
            self.b.ins().switch(low, yes, vec![(0, no.clone()), (2, no)]);
        } else {
            self.b.ins().brif(asked, yes, &[], no, &[]);
        }
        self.b.switch_to_block(yes);
        let more = self.b.ins().imul_imm(sum, 5);
        self.b.ins().jump(latch, &[more]);
        self.b.switch_to_block(no);
        let more = self.b.ins().bxor(sum, count);
        self.b.ins().jump(latch, &[more]);

        self.b.switch_to_block(latch);
        let next = self.b.ins().iadd(count, one);
        let goes_on = self.b.ins().icmp(IntCC::Slt, next, rounds);
        self.b.ins().brif(goes_on, head, &[next, added], done, &[]);
        self.b.switch_to_block(done);
        self.values.push(added);
        Ok(())
    }

    /// A value, or what one of the others makes of it.
    fn behind(&mut self, others: &[Value], value: Value) -> Result<Value> {
        if self.u.ratio(1, 4)? {
            return Ok(value);
        }
        let other = *self.u.choose(others)?;
        Ok(self.b.ins().bxor(value, other))
    }
}
