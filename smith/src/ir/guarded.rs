//! Elements that are accessed only where there is one, as at the edges of a grid: all addresses are computed, and where an index is none, or not
//! meant, nothing is read from it.

use super::{Generator, Pointers};
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Opcode, Type, Value};

/// An address, and whether it is one of an element: always, if there is no condition.
type Guarded = (Value, Option<Value>);

impl Generator<'_, '_, '_> {
    /// A few elements that have much of their indices in common.
    pub(super) fn guarded_elements(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let places = match self.u.int_in_range(0..=3)? {
            0 => self.in_group(&pointers)?,
            1 => self.shifted_far(&pointers)?,
            _ => self.around(&pointers)?,
        };
        let none = self.value(Type::I32)?;
        for (at, is_one) in places {
            let Some(is_one) = is_one else {
                let value = self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0);
                self.values.push(value);
                continue;
            };
            let (read, next) = (self.b.create_block(), self.b.create_block());
            let met = self.b.append_block_param(next, Type::I32);
            self.b.ins().brif(is_one, read, &[], next, &[none]);
            self.b.switch_to_block(read);
            let value = self.b.ins().load(Type::I32, MemFlags::PLAIN, at, 0);
            self.b.ins().jump(next, &[value]);
            self.b.switch_to_block(next);
            self.values.push(met);
        }
        Ok(())
    }

    /// Elements of a grid of eight rows around one, some of them outside of it.
    fn around(&mut self, pointers: &Pointers) -> Result<Vec<Guarded>> {
        let [row, length, column] = [self.below_eight()?, self.below_eight()?, self.below_eight()?];
        // How the index is extended, if it is.
        let extended = match self.u.int_in_range(0..=3)? {
            0 => None,
            1 => Some(Opcode::Sext),
            _ => Some(Opcode::Zext),
        };
        let mut places = Vec::new();
        for n in 0..self.u.int_in_range(2..=4)? {
            // The first is in front of the others, and outside most often.
            let down = if n == 0 { -1 } else { self.u.int_in_range(-1i64..=2)? };
            let right = self.u.int_in_range(-2i64..=2)?;
            let y = self.moved(row, down);
            let x = self.moved(column, right);
            let before = self.promise(Opcode::Imul, y, length);
            let index = self.promise(Opcode::Iadd, before, x);
            let at = self.element_at(pointers, index, extended);
            let needed = [(y, down), (x, right)].into_iter().filter(|(_, by)| *by < 0);
            let tests: Vec<Value> = needed
                .map(|(number, _)| {
                    let zero = self.number(Type::I32, 0);
                    self.b.ins().icmp(IntCC::Sge, number, zero)
                })
                .collect();
            let is_one = tests.into_iter().reduce(|a, b| self.b.ins().band(a, b));
            places.push((at, is_one));
        }
        Ok(places)
    }

    fn moved(&mut self, number: Value, by: i64) -> Value {
        if by == 0 {
            return number;
        }
        let by = self.number(Type::I32, by);
        self.promise(Opcode::Iadd, number, by)
    }

    fn element_at(&mut self, pointers: &Pointers, index: Value, extended: Option<Opcode>) -> Value {
        let index = match extended {
            Some(Opcode::Zext) => self.b.ins().zext(Type::I64, index),
            Some(_) => self.b.ins().sext(Type::I64, index),
            None => index,
        };
        self.b.ins().index(pointers.input, index, 4)
    }

    /// Elements behind a multiple of four, of which nothing is known but that: what is added may wrap.
    fn in_group(&mut self, pointers: &Pointers) -> Result<Vec<Guarded>> {
        let word = self.value(Type::I32)?;
        let mut first = self.b.ins().band_imm(word, -4);
        if self.u.ratio(1, 2)? {
            // One of them is there more often.
            let (which, small) = (self.condition()?, self.below_eight()?);
            let small = self.b.ins().shl_imm(small, 2);
            first = self.b.ins().select(which, first, small);
        }
        let most = self.number(Type::I32, 64);
        let is_one = self.b.ins().icmp(IntCC::Ult, first, most);
        let extended = *self.u.choose(&[None, Some(Opcode::Sext), Some(Opcode::Zext)])?;
        let from = 4 * self.u.int_in_range(0..=3)?;
        let mut places = Vec::new();
        for _ in 0..self.u.int_in_range(2..=3)? {
            let from = if self.u.ratio(1, 4)? { 4 } else { from };
            let by = from + self.u.int_in_range(0i64..=3)?;
            let by = self.number(Type::I32, by);
            let index = self.b.ins().iadd(first, by);
            places.push((self.element_at(pointers, index, extended), Some(is_one)));
        }
        Ok(places)
    }

    /// Elements at a small number that is shifted so far that it wraps, where nothing is left of it.
    fn shifted_far(&mut self, pointers: &Pointers) -> Result<Vec<Guarded>> {
        let mut places = Vec::new();
        for _ in 0..2 {
            let word = self.value(Type::I32)?;
            let number = self.b.ins().band_imm(word, 31);
            let by = self.u.int_in_range(27..=30u32)?;
            let index = self.b.ins().shl_imm(number, by);
            let rest = self.b.ins().band_imm(number, (1 << (32 - by)) - 1);
            let zero = self.number(Type::I32, 0);
            let is_one = self.b.ins().icmp(IntCC::Eq, rest, zero);
            let extended = if self.u.ratio(1, 2)? { None } else { Some(Opcode::Sext) };
            places.push((self.element_at(pointers, index, extended), Some(is_one)));
        }
        Ok(places)
    }
}
