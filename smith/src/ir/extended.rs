//! Loops whose counter is narrower than what it is compared with, as in `for (int i = 0; i < n; i++)` with a `long n`: the bound may be no number of the
//! counter's type, and then the loop goes on however its counter wraps, or ends at once. Turns are counted besides, so that every loop ends.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, LoopHint, MemFlags, Opcode, Type, Value};

/// Types of counters and of what they are compared with.
const TYPES: [(Type, Type); 6] = [
    (Type::I32, Type::I64),
    (Type::I32, Type::I64),
    (Type::I32, Type::I64),
    (Type::I16, Type::I64),
    (Type::I16, Type::I32),
    (Type::I8, Type::I32),
];

/// Which numbers compare as an upward and as a downward counter's do.
const CONDITIONS: [[IntCC; 5]; 2] = [
    [IntCC::Slt, IntCC::Sle, IntCC::Ult, IntCC::Ule, IntCC::Ne],
    [IntCC::Sgt, IntCC::Sge, IntCC::Ugt, IntCC::Uge, IntCC::Ne],
];

/// How a loop goes on.
struct Test {
    wide: Type,
    signed: bool,
    cond: IntCC,
    bound: Value,
}

impl Generator<'_, '_, '_> {
    /// A loop of many rounds that adds up its counter, moved by a constant and shifted, maybe until it wraps, and then extended.
    pub(super) fn shifted_counter(&mut self) -> Result<()> {
        let rounds = *self.u.choose(&[132, 144, 160, 192])?;
        let step = *self.u.choose(&[1i64, 1, 2, -1])?;
        let bound = match self.u.ratio(1, 4)? {
            // How many there are is not always known.
            true if step > 0 => self.below_eight()?,
            _ if step > 0 => self.number(Type::I32, rounds * step),
            _ => self.number(Type::I32, 0),
        };
        let first = if step > 0 { 0 } else { rounds };
        let by = match self.u.int_in_range(0..=4)? {
            0 | 1 => 0,
            2 => self.u.int_in_range(1..=22)?,
            _ => self.u.int_in_range(23..=30)?,
        };
        let more = if by > 0 && self.u.ratio(1, 2)? { 0 } else { self.u.int_in_range(-8..=4)? };
        // Mostly with a sign what is shifted.
        let signed = self.u.ratio(if by == 0 { 1 } else { 3 }, 4)?;
        let cond = match (step > 0, signed) {
            (true, true) => IntCC::Slt,
            (true, false) => IntCC::Ult,
            (false, true) => IntCC::Sgt,
            (false, false) => *self.u.choose(&[IntCC::Ugt, IntCC::Ne])?,
        };
        let [first, step, more] = [first, step, more].map(|number| self.number(Type::I32, number));
        let start = self.value(Type::I64)?;
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let (count, sum) =
            (self.b.append_block_param(head, Type::I32), self.b.append_block_param(head, Type::I64));
        self.b.ins().jump(head, &[first, start]);
        self.b.switch_to_block(head);
        let moved = self.b.ins().iadd(count, more);
        let shifted = if by == 0 { moved } else { self.b.ins().shl_imm(moved, by) };
        let signed = self.u.ratio(if by == 0 { 1 } else { 3 }, 4)?;
        let wide = self.widened(Type::I64, signed, shifted);
        let total = self.b.ins().iadd(sum, wide);
        let next = self.b.ins().iadd(count, step);
        let goes_on = self.b.ins().icmp(cond, next, bound);
        self.b.ins().brif(goes_on, head, &[next, total], done, &[]);
        self.b.switch_to_block(done);
        self.values.push(total);
        Ok(())
    }

    /// One loop, of a block or two.
    pub(super) fn extended_counter(&mut self) -> Result<()> {
        let (narrow, wide) = *self.u.choose(&TYPES)?;
        let step = *self.u.choose(&[1i64, 1, 1, 2, 3, -1, -1, -2])?;
        let signed = self.u.ratio(1, 2)?;
        let (first, small) = self.first_count(narrow)?;
        let bound = self.far_bound((narrow, wide), signed, first, step)?;
        let conds = if self.u.ratio(7, 8)? { &CONDITIONS[usize::from(step < 0)][..] } else { IntCC::ALL };
        let test = Test { wide, signed, cond: *self.u.choose(conds)?, bound };
        let turns = self.below_eight()?;
        let most = self.u.int_in_range(1i64..=8)?;
        let most = self.number(Type::I32, most);
        let turns = self.b.ins().iadd(turns, most);
        // It is left after these from its middle, or with the test of the counter.
        let within = self.u.ratio(1, 2)?;

        let start = self.value(Type::I64)?;
        let (zero, one) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, narrow);
        let turn = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, Type::I64);
        let result = self.b.append_block_param(done, Type::I64);
        match self.u.ratio(1, 4)? {
            true => {
                let any = self.goes_on(&test, first);
                self.b.ins().brif(any, head, &[first, zero, start], done, &[start]);
            }
            false => drop(self.b.ins().jump(head, &[first, zero, start])),
        }
        if self.u.ratio(1, 8)? {
            self.b.set_loop_hint(head, LoopHint::Unroll(4));
        }
        self.b.switch_to_block(head);
        let added = self.turn(count, sum)?;
        let next_turn = self.promise(Opcode::Iadd, turn, one);
        let turns_left = self.b.ins().icmp(IntCC::Slt, next_turn, turns);
        if within {
            let on = self.b.create_block();
            self.b.ins().brif(turns_left, on, &[], done, &[added]);
            self.b.switch_to_block(on);
        }
        let step = self.number(narrow, step);
        let next = match small && self.u.ratio(1, 2)? {
            true => self.promise(Opcode::Iadd, count, step),
            false => self.b.ins().iadd(count, step),
        };
        let mut more = self.goes_on(&test, next);
        if !within {
            more = self.b.ins().band(more, turns_left);
        }
        self.b.ins().brif(more, head, &[next, next_turn, added], done, &[added]);
        self.b.switch_to_block(done);
        self.values.push(result);
        Ok(())
    }

    /// Where a counter begins, and whether that is near zero: or where its type ends.
    fn first_count(&mut self, narrow: Type) -> Result<(Value, bool)> {
        let near = self.u.int_in_range(-3i64..=3)?;
        let edge = i64::MAX >> (64 - narrow.bits());
        let small = self.u.ratio(3, 4)?;
        let first = if small { near } else { *self.u.choose(&[edge, -1 - edge])? + 2 * near };
        let first = self.number(narrow, first);
        if self.u.ratio(1, 2)? {
            return Ok((first, small));
        }
        let more = self.below_eight()?;
        let more = if narrow == Type::I32 { more } else { self.b.ins().trunc(narrow, more) };
        Ok((self.b.ins().iadd(first, more), small))
    }

    /// A number that the counter meets in some steps, or one that is as far from it as makes no difference in the counter's type, or half as far.
    fn far_bound(
        &mut self,
        (narrow, wide): (Type, Type),
        signed: bool,
        first: Value,
        step: i64,
    ) -> Result<Value> {
        let steps = self.u.int_in_range(0i64..=9)?;
        let steps = self.number(wide, steps * step);
        let near = self.widened(wide, signed, first);
        let bound = self.b.ins().iadd(near, steps);
        let all = 1i64 << narrow.bits();
        let far = [0, 0, all, -all, all / 2, -all / 2];
        let [a, b] = [*self.u.choose(&far)?, *self.u.choose(&far)?].map(|far| self.number(wide, far));
        let far = match self.u.ratio(1, 2)? {
            true => a,
            false => {
                let which = self.condition()?;
                self.b.ins().select(which, a, b)
            }
        };
        Ok(self.b.ins().iadd(bound, far))
    }

    fn widened(&mut self, wide: Type, signed: bool, narrow: Value) -> Value {
        if signed { self.b.ins().sext(wide, narrow) } else { self.b.ins().zext(wide, narrow) }
    }

    fn goes_on(&mut self, test: &Test, count: Value) -> Value {
        let count = self.widened(test.wide, test.signed, count);
        self.b.ins().icmp(test.cond, count, test.bound)
    }

    /// What a turn makes of the sum: each turn counts.
    fn turn(&mut self, count: Value, sum: Value) -> Result<Value> {
        let count = match self.u.ratio(1, 3)? {
            true => self.b.ins().iadd_imm(count, self.u.int_in_range(-2i64..=2)?),
            false => count,
        };
        let wide = match self.u.ratio(1, 2)? {
            true => self.b.ins().sext(Type::I64, count),
            false => self.b.ins().zext(Type::I64, count),
        };
        let more = match (self.pointers, self.u.ratio(1, 2)?) {
            (Some(pointers), true) => {
                let element = self.b.ins().band_imm(wide, 31);
                let place = self.b.ins().index(pointers.input, element, 4);
                let value = self.b.ins().load(Type::I32, MemFlags::PLAIN, place, 0);
                self.b.ins().sext(Type::I64, value)
            }
            _ => wide,
        };
        let scaled = self.b.ins().imul_imm(sum, 3);
        Ok(self.b.ins().iadd(scaled, more))
    }
}
