//! Loops over rows: elements at a counter that something is added to and that is multiplied then, and numbers that grow by products.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Opcode, Type, Value};

impl Generator<'_, '_, '_> {
    /// A loop of up to four rounds that reads elements of rows, in each round or in some, and sums them with a number that grows. Some are left at once by
    /// what is the same in all rounds.
    pub(super) fn rows(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let ty = *self.u.choose(&[Type::I32, Type::I32, Type::I64])?;
        let [zero, one, three, seven] = [0, 1, 3, 7].map(|n| self.number(ty, n));
        // All elements lie in the input: at no more than (3 + 6) * 7 + 7.
        let [a, b, c, d, e] = [three, three, seven, seven, three]
            .map(|mask| (self.value(ty), mask))
            .map(|(value, mask)| value.map(|value| self.b.ins().band(value, mask)));
        let (before, less, stride, more, last) = (a?, b?, c?, d?, e?);
        let before = self.b.ins().iadd(before, three);
        let factors = [self.value(ty)?, self.value(ty)?, self.value(ty)?, self.value(ty)?];
        let first = self.value(ty)?;
        let leaves = match self.u.ratio(1, 3)? {
            true => Some(self.value(Type::I1)?),
            false => None,
        };
        let (head, next, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let [count, sum] = [(); 2].map(|()| self.b.append_block_param(head, ty));
        let met = self.b.append_block_param(next, ty);
        let result = self.b.append_block_param(after, ty);
        self.b.ins().jump(head, &[zero, first]);

        self.b.switch_to_block(head);
        if let Some(leaves) = leaves {
            let body = self.b.create_block();
            self.b.ins().brif(leaves, after, &[sum], body, &[]);
            self.b.switch_to_block(body);
        }
        let grown = self.grown(count, factors)?;
        let mixed = self.b.ins().bxor(sum, grown);
        let moved = self.promise(Opcode::Iadd, count, before);
        let moved = self.promise(Opcode::Isub, moved, less);
        let row = self.promise(Opcode::Imul, moved, stride);
        let index = match self.u.ratio(1, 2)? {
            true => self.promise(Opcode::Iadd, row, more),
            false => row,
        };
        let element = self.b.ins().index(pointers.input, index, 4);
        if self.u.ratio(1, 2)? {
            let read = self.b.create_block();
            let asked = self.b.ins().icmp(IntCC::Ne, moved, last);
            self.b.ins().brif(asked, read, &[], next, &[mixed]);
            self.b.switch_to_block(read);
        }
        let word = self.b.ins().load(Type::I32, MemFlags::PLAIN, element, 0);
        let loaded = if ty == Type::I64 { self.b.ins().zext(ty, word) } else { word };
        let both = self.b.ins().iadd(mixed, loaded);
        self.b.ins().jump(next, &[both]);

        self.b.switch_to_block(next);
        let counted = self.promise(Opcode::Iadd, count, one);
        let goes_on = self.b.ins().icmp(IntCC::Sle, counted, last);
        self.b.ins().brif(goes_on, head, &[counted, met], after, &[met]);
        self.b.switch_to_block(after);
        self.values.push(result);
        Ok(())
    }

    /// A number that grows by the same in each round, though it wraps.
    fn grown(&mut self, count: Value, [a, b, c, d]: [Value; 4]) -> Result<Value> {
        let row = self.b.ins().imul(count, a);
        let row = match self.u.int_in_range(0..=2)? {
            0 => row,
            1 => self.b.ins().iadd(row, b),
            _ => self.b.ins().isub(b, row),
        };
        let wide = self.b.ins().imul(row, c);
        Ok(match self.u.ratio(1, 2)? {
            true => self.b.ins().isub(wide, d),
            false => self.b.ins().iadd(d, wide),
        })
    }
}
