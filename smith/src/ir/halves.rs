//! Numbers in halves: what is put together of two of half the bits, or of four of a quarter, chosen, carried round a loop and taken apart again; and the
//! same operation on two floats of 16 bits that become a vector.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, InstData, IntCC, Opcode, Type, Value};

impl Generator<'_, '_, '_> {
    /// One of these.
    pub(super) fn in_halves(&mut self) -> Result<()> {
        match self.u.int_in_range(0..=8)? {
            0 => self.halves_in_loop(),
            2 => self.quarters(),
            1 if self.config.floats && self.config.halves && self.config.vectors => self.paired_floats(),
            _ => self.chosen_words(),
        }
    }

    /// Two numbers put together.
    fn put_together(&mut self, ty: Type, low: Value, high: Value) -> Value {
        let [low, high] = [low, high].map(|half| self.b.ins().zext(ty, half));
        let high = self.b.ins().shl_imm(high, ty.bits() / 2);
        self.b.ins().bor(low, high)
    }

    /// Four numbers put together, of which the words are used, maybe with a byte that lies in one of them; and the halves of a word in either order.
    fn quarters(&mut self) -> Result<()> {
        let mut parts = [self.value(Type::I16)?; 4];
        for part in &mut parts[1..] {
            *part = self.value(Type::I16)?;
        }
        let mut all = self.b.ins().zext(Type::I64, parts[0]);
        for (part, by) in parts[1..].iter().zip([16, 32, 48]) {
            let wide = self.b.ins().zext(Type::I64, *part);
            let wide = self.b.ins().shl_imm(wide, by);
            all = self.b.ins().bor(all, wide);
        }
        if self.u.ratio(1, 3)? {
            // Where another one is too.
            let more = self.value(Type::I16)?;
            let more = self.b.ins().zext(Type::I64, more);
            let more = self.b.ins().shl_imm(more, *self.u.choose(&[0, 16, 32, 48])?);
            all = if self.u.ratio(1, 2)? { self.b.ins().bor(all, more) } else { self.b.ins().bor(more, all) };
        }
        let upper = self.b.ins().lshr_imm(all, 32);
        let words = [all, upper].map(|word| self.b.ins().trunc(Type::I32, word));
        let at = self.u.int_in_range(1..=56)?;
        let shifted = self.b.ins().lshr_imm(all, at);
        let byte = self.b.ins().trunc(Type::I8, shifted);
        let joined = self.put_together(Type::I32, parts[1], parts[0]);
        self.values.extend(words);
        self.values.extend([byte, joined]);
        Ok(())
    }

    /// A loop that has the halves of a word, which it puts together and takes apart in each round; it begins with constants, or with halves of another word.
    fn halves_in_loop(&mut self) -> Result<()> {
        let (rounds, with) = (self.below_eight()?, self.value(Type::I32)?);
        let mut first = Vec::new();
        if self.u.ratio(1, 2)? {
            let word = self.value(Type::I32)?;
            first.extend(self.both_halves(word, 16));
        }
        while first.len() < 2 {
            let number = self.u.int_in_range(0..=0xffff)?;
            first.push(self.number(Type::I16, number));
        }
        let (zero, one) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let [low, high] = [Type::I16; 2].map(|ty| self.b.append_block_param(head, ty));
        let count = self.b.append_block_param(head, Type::I32);
        self.b.ins().jump(head, &[first[0], first[1], zero]);
        self.b.switch_to_block(head);
        let word = self.put_together(Type::I32, low, high);
        let turned = self.b.ins().rotl(word, one);
        let word = self.b.ins().iadd(turned, with);
        let by = if self.u.ratio(1, 2)? { 16 } else { 8 };
        let [low, high] = self.both_halves(word, by);
        let next = self.b.ins().iadd(count, one);
        let goes_on = self.b.ins().icmp(IntCC::Slt, next, rounds);
        self.b.ins().brif(goes_on, head, &[low, high, next], done, &[]);
        self.b.switch_to_block(done);
        self.values.extend([low, high]);
        Ok(())
    }

    fn both_halves(&mut self, word: Value, by: u32) -> [Value; 2] {
        let upper = self.b.ins().lshr_imm(word, by);
        [word, upper].map(|half| self.b.ins().trunc(Type::I16, half))
    }

    /// Two numbers of two words each, one of which a condition chooses. Only words of it are used, maybe after one was masked.
    fn chosen_words(&mut self) -> Result<()> {
        let (a, b) = (self.value(Type::I32)?, self.value(Type::I32)?);
        let yes = self.put_together(Type::I64, a, b);
        let no = match self.u.ratio(1, 4)? {
            true => self.constant(Type::I64)?,
            false => {
                let (c, d) = (self.value(Type::I32)?, self.value(Type::I32)?);
                self.put_together(Type::I64, c, d)
            }
        };
        let condition = self.condition()?;
        let mut chosen = self.b.ins().select(condition, yes, no);
        if self.u.ratio(2, 3)? {
            // One of its words is another, and it may be chosen again.
            let word = self.value(Type::I32)?;
            let word = self.b.ins().zext(Type::I64, word);
            let (mask, word) = match self.u.ratio(2, 3)? {
                true => (-1 << 32, word),
                false => (0xffff_ffff, self.b.ins().shl_imm(word, 32)),
            };
            let mask = self.number(Type::I64, mask);
            let kept = self.b.ins().band(chosen, mask);
            // Or nothing takes its place.
            let changed = if self.u.ratio(2, 3)? { kept } else { self.b.ins().bor(kept, word) };
            let condition = self.condition()?;
            chosen = self.b.ins().select(condition, changed, no);
        }
        let upper = self.b.ins().lshr_imm(chosen, 32);
        let words = [chosen, upper].map(|word| self.b.ins().trunc(Type::I32, word));
        self.values.extend(words);
        Ok(())
    }

    /// An operation on the floats of 16 bits of two vectors, or two floats that are cut to 16 bits, as the halves of a word.
    fn paired_floats(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::F16, Type::F16, Type::BF16])?;
        let op =
            *self.u.choose(&[Opcode::Fadd, Opcode::Fsub, Opcode::Fsub, Opcode::Fmul, Opcode::Fptrunc])?;
        let Some(pair) = Type::vector(ty.element(), 2) else { return Ok(()) };
        let (x, y) = (self.moderate_pair(pair)?, self.moderate_pair(pair)?);
        let mut halves = Vec::new();
        for lane in 0..2 {
            let data = if op == Opcode::Fptrunc {
                InstData::Unary { op, arg: self.small(Type::F32)? }
            } else {
                let (x, y) = (self.b.ins().extract(x, lane), self.b.ins().extract(y, lane));
                InstData::Binary { op, args: if self.u.ratio(1, 4)? { [y, x] } else { [x, y] } }
            };
            let half = self.b.ins().regular(data, (op == Opcode::Fptrunc).then_some(ty));
            halves.push(half);
        }
        let pair = self.b.ins().vec(&halves);
        let word = self.b.ins().bitcast(Type::I32, pair);
        self.values.push(word);
        Ok(())
    }

    /// Two floats of 16 bits of any sign from one to two.
    fn moderate_pair(&mut self, pair: Type) -> Result<Value> {
        let (kept, exponents) = match pair.element_type() == Type::F16 {
            true => (0x83ff_83ff_u32, 0x3c00_3c00),
            false => (0x807f_807f, 0x3f80_3f80),
        };
        let any = self.value(Type::I32)?;
        let [kept, exponents] = [kept as i32, exponents].map(|bits| self.number(Type::I32, i64::from(bits)));
        let bits = self.b.ins().band(any, kept);
        let bits = self.b.ins().bor(bits, exponents);
        Ok(self.b.ins().bitcast(pair, bits))
    }
}
