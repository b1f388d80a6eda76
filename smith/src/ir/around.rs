//! Indices that go round: remainders of what is less than twice the divisor, or seems to be.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, Opcode, Type, Value};

impl Generator<'_, '_, '_> {
    /// A counted loop with an index that goes round and the counter's neighbours by the same divisor. In some the divisor is another in each round, the
    /// index begins anywhere, or something else is added; then more than one comparison is needed.
    pub(super) fn index_around(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I32, Type::I32, Type::I64])?;
        let top = ty.normalize(1 << (ty.bits() - 1));
        let [zero, one, two, mask, top] = [0, 1, 2, 7, top].map(|n| self.number(ty, n));
        let given = self.value(ty)?;
        // At most eight, or any number but 0, or one of which the double is too large, read with a sign or without.
        let low = self.b.ins().band(given, mask);
        let small = self.b.ins().iadd(low, one);
        let kind = self.u.int_in_range(0..=5)?;
        let divisor = match kind {
            0 | 1 => small,
            2 => self.b.ins().bor(given, one),
            3 => self.b.ins().bor(given, top),
            _ => {
                let upper = self.b.ins().bor(given, top);
                self.b.ins().lshr_imm(upper, 1)
            }
        };
        let op = *self.u.choose(&[Opcode::Urem, Opcode::Srem])?;
        let first = match self.u.int_in_range(0..=3)? {
            0 | 1 => zero,
            2 => self.promise(Opcode::Urem, given, divisor),
            _ => self.value(ty)?,
        };
        let changes = self.u.ratio(1, 4)?;
        let until_divisor = self.u.ratio(3, 4)?;
        let (guard, head, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(after, ty);
        let params = [(); 4].map(|()| self.b.append_block_param(head, ty));
        let [index, count, sum, changing] = params;
        // A loop to a divisor of any size has to end.
        let end = if until_divisor { small } else { mask };
        let by = if changes { changing } else { divisor };
        let some = self.b.ins().icmp(IntCC::Sgt, end, zero);
        self.b.ins().brif(some, guard, &[], after, &[given]);
        self.b.switch_to_block(guard);
        self.b.ins().jump(head, &[first, zero, given, divisor]);

        self.b.switch_to_block(head);
        let is_small = kind <= 1 && !changes;
        let (less, greater) = match is_small {
            true => (self.promise(Opcode::Isub, by, one), self.promise(Opcode::Iadd, by, one)),
            false => (self.b.ins().isub(by, one), self.b.ins().iadd(by, one)),
        };
        let other = self.promise(op, sum, by);
        let of = |generator: &mut Self, value: Value| {
            let more = match generator.u.int_in_range(0..=11)? {
                0..=3 => one,
                4 | 5 => less,
                6 | 7 => other,
                8 => by,
                9 => greater,
                10 => two,
                _ => generator.value(ty)?,
            };
            let is_near = more == one || is_small && [less, by, greater].contains(&more);
            let promised = is_near && value == count && generator.u.ratio(1, 2)?;
            let near = match promised {
                true => generator.promise(Opcode::Iadd, value, more),
                false => generator.b.ins().iadd(value, more),
            };
            Ok(generator.promise(op, near, by))
        };
        let (next, beside) = (of(self, index)?, of(self, count)?);
        let mixed = self.b.ins().bxor(sum, beside);
        let total = self.b.ins().iadd(mixed, next);
        let counted = self.promise(Opcode::Iadd, count, one);
        let halved = self.b.ins().lshr_imm(changing, 1);
        let changed = self.b.ins().bor(halved, one);
        let goes_on = self.b.ins().icmp(IntCC::Slt, counted, end);
        self.b.ins().brif(goes_on, head, &[next, counted, total, changed], after, &[total]);
        self.b.switch_to_block(after);
        self.values.push(result);
        Ok(())
    }
}
