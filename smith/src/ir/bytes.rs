//! Bytes of words in another order: what shifts and rotations by whole bytes, masks and logic put together. And parts of what is loaded.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, MemFlags, Type, Value};

impl Generator<'_, '_, '_> {
    /// A word of bytes of two others, of which one may have bytes that are zero.
    pub(super) fn reordered_bytes(&mut self) -> Result<()> {
        let (mut word, mut other) = (self.value(Type::I32)?, self.value(Type::I32)?);
        if self.u.ratio(1, 3)? {
            let narrow = *self.u.choose(&[Type::I16, Type::I16, Type::I8])?;
            let value = self.value(narrow)?;
            other = self.b.ins().zext(Type::I32, value);
        }
        for _ in 0..self.u.int_in_range(1..=4)? {
            word = self.moved_bytes(word, other)?;
            if self.u.ratio(1, 4)? {
                std::mem::swap(&mut word, &mut other);
            }
        }
        self.values.push(word);
        Ok(())
    }

    /// One step: of one word, or of both.
    fn moved_bytes(&mut self, word: Value, other: Value) -> Result<Value> {
        let bytes = self.u.int_in_range(1..=3u32)?;
        let by = self.number(Type::I32, i64::from(8 * bytes));
        Ok(match self.u.int_in_range(0..=6)? {
            0 => self.b.ins().rotl(word, by),
            1 => self.b.ins().rotr(word, by),
            2 => self.b.ins().fshl(word, other, by),
            3 => self.b.ins().fshr(word, other, by),
            4 => self.b.ins().bswap(word),
            5 => {
                // Some of its bytes, and the others of the other word.
                let ones = self.u.int_in_range(1..=14u32)?;
                let mask = (0..4).filter(|n| ones >> n & 1 != 0).map(|n| 0xffu32 << (8 * n)).sum::<u32>();
                let [mask, rest] = [mask, !mask].map(|mask| self.number(Type::I32, (mask as i32).into()));
                let (own, more) = (self.b.ins().band(word, mask), self.b.ins().band(other, rest));
                self.b.ins().bor(own, more)
            }
            _ => {
                let back = if self.u.ratio(3, 4)? { 32 - 8 * bytes } else { 8 * bytes };
                let (high, low) = (self.b.ins().shl(word, by), self.b.ins().lshr_imm(other, back));
                self.b.ins().bor(high, low)
            }
        })
    }

    /// Parts of what is loaded, of which nothing else is used: one of a word, or what is cut out of 64 bits, anywhere.
    pub(super) fn part_of_loaded(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let place = 8 * self.u.int_in_range(0..=15)?;
        if self.u.ratio(1, 3)? {
            let word = self.b.ins().load(Type::I32, MemFlags::PLAIN, pointers.input, place);
            let part = match self.u.int_in_range(0..=4)? {
                0 => self.b.ins().band_imm(word, 0xff),
                1 => self.b.ins().band_imm(word, 0xffff),
                2 => self.b.ins().lshr_imm(word, 24),
                3 => self.b.ins().lshr_imm(word, 16),
                _ => {
                    let upper = self.b.ins().lshr_imm(word, *self.u.choose(&[8, 16])?);
                    self.b.ins().band_imm(upper, 0xff)
                }
            };
            self.values.push(part);
            return Ok(());
        }
        let whole = self.b.ins().load(Type::I64, MemFlags::PLAIN, pointers.input, place);
        for _ in 0..self.u.int_in_range(1..=3)? {
            let ty = *self.u.choose(&[Type::I8, Type::I16, Type::I32, Type::I32])?;
            let by = if self.u.ratio(1, 2)? { 32 } else { 4 * self.u.int_in_range(0..=15)? };
            let from = match self.u.int_in_range(0..=2)? {
                _ if by == 0 => whole,
                0 => self.b.ins().ashr_imm(whole, by),
                _ => self.b.ins().lshr_imm(whole, by),
            };
            let part = self.b.ins().trunc(ty, from);
            self.values.push(part);
        }
        Ok(())
    }
}
