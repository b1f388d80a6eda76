//! Sums of products of bytes, and quotients: what becomes other operations as a whole.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, InstData, MemFlags, Opcode, Scalar, Type, Value};

use crate::{BYTES_PER_THREAD, INPUT_BYTES};

impl Generator<'_, '_, '_> {
    /// The sum of products of bytes at the same places of two words, each extended with its sign or with zeros, and of other numbers: `dp4a`, if all is as it
    /// should be, which it is not always.
    pub(super) fn dot(&mut self) -> Result<()> {
        let words = [self.value(Type::I32)?, self.value(Type::I32)?];
        let bytes = Type::vector(Scalar::I8, 4).filter(|_| self.config.vectors);
        let vectors = match bytes {
            Some(ty) if self.u.ratio(1, 4)? => Some(words.map(|word| self.b.ins().bitcast(ty, word))),
            Some(_) | None => None,
        };
        let signed = [self.u.ratio(1, 2)?, self.u.ratio(1, 2)?];
        // Mostly written in one way.
        let way = self.u.int_in_range(0..=3)?;
        let mut terms = Vec::new();
        for n in 0..self.u.int_in_range(2..=5u8)? {
            let at = if self.u.ratio(3, 4)? { n % 4 } else { self.u.int_in_range(0..=3)? };
            let mut factors = Vec::new();
            for side in 0..2 {
                let signed = signed[side] ^ self.u.ratio(1, 16)?;
                let at = if self.u.ratio(1, 16)? { (at + 1) % 4 } else { at };
                factors.push(match vectors {
                    Some(vectors) => {
                        let byte = self.b.ins().extract(vectors[side], at);
                        self.extended_byte(byte, signed)
                    }
                    None => self.byte_of_word(words[side], at, signed, way)?,
                });
            }
            if self.u.ratio(1, 4)? {
                factors.reverse();
            }
            terms.push(self.b.ins().imul(factors[0], factors[1]));
        }
        if self.u.ratio(1, 2)? {
            let more = self.value(Type::I32)?;
            let place = self.u.int_in_range(0..=terms.len())?;
            terms.insert(place, more);
        }
        let mut terms = terms.into_iter();
        if let Some(mut sum) = terms.next() {
            for term in terms {
                sum = if self.u.ratio(1, 4)? {
                    self.b.ins().iadd(term, sum)
                } else {
                    self.b.ins().iadd(sum, term)
                };
            }
            self.values.push(sum);
        }
        Ok(())
    }

    fn extended_byte(&mut self, byte: Value, signed: bool) -> Value {
        let op = if signed { Opcode::Sext } else { Opcode::Zext };
        self.b.ins().regular(InstData::Unary { op, arg: byte }, Some(Type::I32))
    }

    /// A byte of a word, in a way to write it; any if it is none of them.
    fn byte_of_word(&mut self, word: Value, at: u8, signed: bool, way: u8) -> Result<Value> {
        let by = |n: u8| i64::from(8 * n);
        let way = if way < 3 { way } else { self.u.int_in_range(0..=2)? };
        Ok(match way {
            0 => {
                let up = self.b.ins().shl_imm(word, by(3 - at) as u32);
                match signed {
                    true => self.b.ins().ashr_imm(up, 24),
                    false => self.b.ins().lshr_imm(up, 24),
                }
            }
            1 if !signed => {
                let low = self.b.ins().lshr_imm(word, by(at) as u32);
                self.b.ins().band_imm(low, 0xff)
            }
            _ => {
                let low = match self.u.ratio(1, 2)? {
                    true => self.b.ins().lshr_imm(word, by(at) as u32),
                    false => self.b.ins().ashr_imm(word, by(at) as u32),
                };
                let byte = self.b.ins().trunc(Type::I8, low);
                self.extended_byte(byte, signed)
            }
        })
    }

    /// Quotient and remainder of a number by one that is known, or by the same that is not.
    pub(super) fn quotient(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I32, Type::I64, Type::I16])?;
        let x = self.value(ty)?;
        let by = match self.u.int_in_range(0..=4)? {
            0 => *self.u.choose(&[3, 5, 7, 10, 60, 100, 641, 1000, 0x5555])?,
            1 => (1i64 << self.u.int_in_range(1..=ty.bits() - 2)?) + self.u.int_in_range(-1i64..=1)?,
            2 => -self.u.int_in_range(2i64..=100)?,
            3 => self.u.arbitrary()?,
            _ => 0,
        };
        let by = match ty.normalize(by) {
            0 => {
                let value = self.value(ty)?;
                self.divisor(value, ty)
            }
            number => self.number(ty, number),
        };
        let ops = match self.u.ratio(1, 2)? {
            true => [Opcode::Sdiv, Opcode::Srem],
            false => [Opcode::Udiv, Opcode::Urem],
        };
        let asked = match self.u.int_in_range(0..=3)? {
            0 => &ops[..1],
            1 => &ops[1..],
            _ => &ops[..],
        };
        for &op in asked {
            let value = self.b.ins().regular(InstData::Binary { op, args: [x, by] }, None);
            self.values.push(value);
        }
        Ok(())
    }

    /// Accesses of words behind each other, or of the words of wider ones.
    pub(super) fn neighbours(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let aligned = MemFlags::PLAIN.with_align(16).expect("a power of two");
        let flags = |n: i32| if n == 0 { aligned } else { MemFlags::PLAIN };
        match self.u.int_in_range(0..=2)? {
            0 => {
                let place = match self.u.ratio(1, 2)? {
                    true => self.random_place(pointers.input, 16, INPUT_BYTES)?,
                    false => self.random_place(pointers.own, 16, BYTES_PER_THREAD)?,
                };
                let ty = if self.config.floats && self.u.ratio(1, 4)? { Type::F32 } else { Type::I32 };
                let first = self.u.int_in_range(0..=1)?;
                for n in first..first + self.u.int_in_range(2..=3)? {
                    let value = self.b.ins().load(ty, flags(n), place, 4 * n);
                    self.values.push(value);
                    if self.u.ratio(1, 6)? {
                        let to = 16 * self.u.int_in_range(0..=14)?;
                        self.write_own(value, to)?;
                    }
                }
            }
            1 => {
                let place = 16 * self.u.int_in_range(0..=14)?;
                let count = self.u.int_in_range(2..=4)?;
                for n in 0..count {
                    let value = self.value(Type::I32)?;
                    self.b.ins().store(flags(n), value, pointers.own, place + 4 * n);
                }
            }
            _ => {
                let place = self.random_place(pointers.input, 16, INPUT_BYTES)?;
                let whole = self.b.ins().load(Type::I64, aligned, place, 0);
                let upper = self.b.ins().lshr_imm(whole, 32);
                let words = [whole, upper].map(|value| self.b.ins().trunc(Type::I32, value));
                self.values.extend(words);
                if self.u.ratio(1, 2)? {
                    let other = self.value(Type::I32)?;
                    let [low, high] = [words[usize::from(self.u.ratio(1, 2)?)], other]
                        .map(|word| self.b.ins().zext(Type::I64, word));
                    let high = self.b.ins().shl_imm(high, 32);
                    let both = self.b.ins().bor(low, high);
                    let to = 16 * self.u.int_in_range(0..=14)?;
                    self.write_own(both, to)?;
                }
            }
        }
        Ok(())
    }
}
