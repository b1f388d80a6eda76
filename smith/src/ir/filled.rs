//! An array that is filled with constants and read at an index, or from one place to the end: a table of steps or weights that a kernel declares inside. Some are filled with other
//! things too, or changed on one way or by a later round.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Opcode, Type, Value};

/// The elements of the array.
const WORDS: i64 = 4;

/// What happens to an element that was filled already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Later {
    Nothing,
    OnOneWay,
    InEachRound,
}

impl Generator<'_, '_, '_> {
    /// A sum of elements at an index that a loop counts or computes.
    pub(super) fn filled(&mut self) -> Result<()> {
        let (limit, other) = (self.below_eight()?, self.value(Type::I32)?);
        let (zero, one, last) =
            (self.number(Type::I32, 0), self.number(Type::I32, 1), self.number(Type::I32, WORDS - 1));
        let later =
            *self.u.choose(&[Later::Nothing, Later::OnOneWay, Later::OnOneWay, Later::InEachRound])?;
        let counts = self.u.ratio(1, 2)?;
        let slot = self.b.create_stack_slot(4 * WORDS as u32, 4);
        let base = self.b.ins().stack_addr(slot, 0);
        self.fill(base, other)?;
        let mut first = zero;
        if self.u.ratio(1, 4)? {
            first = self.word_at(base, other, last);
            self.fill_one(base)?;
        }
        let (head, body, behind) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, Type::I32);
        if later == Later::OnOneWay {
            let (way, join) = (self.b.create_block(), self.b.create_block());
            let negative = self.b.ins().icmp(IntCC::Slt, other, zero);
            self.b.ins().brif(negative, way, &[], join, &[]);
            self.b.switch_to_block(way);
            self.fill_one(base)?;
            self.b.ins().jump(join, &[]);
            self.b.switch_to_block(join);
            // What was stored last is then in a block that all loads are behind.
            if self.u.ratio(3, 4)? {
                self.fill_one(base)?;
            }
        }
        self.b.ins().jump(head, &[zero, first]);

        self.b.switch_to_block(head);
        let goes_on = self.b.ins().icmp(IntCC::Slt, count, limit);
        self.b.ins().brif(goes_on, body, &[], behind, &[]);

        self.b.switch_to_block(body);
        let found = self.word_at(base, if counts { count } else { sum }, last);
        let added = self.b.ins().iadd(sum, found);
        let added = self.b.ins().bxor(added, other);
        if later == Later::InEachRound {
            self.fill_one(base)?;
        }
        let next = self.promise(Opcode::Iadd, count, one);
        self.b.ins().jump(head, &[next, added]);

        self.b.switch_to_block(behind);
        self.values.push(sum);
        if self.u.ratio(1, 3)? { self.by_places(base) } else { Ok(()) }
    }

    /// The elements from one to the last, by a pointer that is compared with where they end.
    fn by_places(&mut self, base: Value) -> Result<()> {
        let first = self.u.int_in_range(0..=WORDS - 1)?;
        let (from, to) = (self.place(base, 4 * first), self.place(base, 4 * WORDS));
        let zero = self.number(Type::I32, 0);
        let (round, behind) = (self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(round, Type::PTR_LOCAL);
        let sum = self.b.append_block_param(round, Type::I32);
        self.b.ins().jump(round, &[from, zero]);

        self.b.switch_to_block(round);
        let found = self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0);
        let doubled = self.b.ins().iadd(sum, sum);
        let sum = self.b.ins().iadd(doubled, found);
        let next = self.place(at, 4);
        let more = self.b.ins().icmp(IntCC::Ne, next, to);
        self.b.ins().brif(more, round, &[next, sum], behind, &[]);

        self.b.switch_to_block(behind);
        self.values.push(sum);
        Ok(())
    }

    fn place(&mut self, base: Value, by: i64) -> Value {
        let by = self.number(Type::I64, by);
        self.b.ins().ptradd(base, by)
    }

    /// The element at an index, which is masked by the last one.
    fn word_at(&mut self, base: Value, index: Value, last: Value) -> Value {
        let index = self.b.ins().band(index, last);
        let at = self.b.ins().index(base, index, 4);
        self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0)
    }

    /// Fills all elements, and maybe one once more.
    fn fill(&mut self, base: Value, other: Value) -> Result<()> {
        for n in 0..WORDS as i32 {
            let constant = self.u.arbitrary::<i32>()?;
            let constant = self.number(Type::I32, constant.into());
            let value = if self.u.ratio(1, 16)? { other } else { constant };
            self.b.ins().store(MemFlags::PLAIN, value, base, 4 * n);
        }
        if self.u.ratio(1, 2)? {
            self.fill_one(base)?;
        }
        Ok(())
    }

    /// Stores a constant to one element, or to a byte of it.
    fn fill_one(&mut self, base: Value) -> Result<()> {
        let place = self.u.int_in_range(0..=WORDS as i32 - 1)?;
        let (ty, more) =
            if self.u.ratio(1, 2)? { (Type::I8, self.u.int_in_range(0..=3)?) } else { (Type::I32, 0) };
        let constant = self.u.int_in_range(-100i64..=100)?;
        let constant = self.number(ty, constant);
        self.b.ins().store(MemFlags::PLAIN, constant, base, 4 * place + more);
        Ok(())
    }
}
