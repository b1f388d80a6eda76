//! Sums of products of bytes, and quotients: what becomes other operations as a whole.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, InstData, MemFlags, Opcode, Scalar, Type, Value};

use crate::{BYTES_PER_THREAD, INPUT_BYTES};

impl Generator<'_, '_, '_> {
    /// The sum of products of bytes at the same places of two words, each extended with its sign or with zeros, and of other numbers: `dp4a`, if all is as it
    /// should be. In half of them one thing is not: how one byte is extended, which byte or of which word it is.
    pub(super) fn dot(&mut self) -> Result<()> {
        let words = [self.unknown_word()?, self.unknown_word()?];
        let other = self.value(Type::I32)?;
        let bytes = Type::vector(Scalar::I8, 4).filter(|_| self.config.vectors);
        let in_vectors = bytes.is_some() && self.u.ratio(1, 4)?;
        let signed = [self.u.ratio(1, 2)?, self.u.ratio(1, 2)?];
        // Mostly written in one way.
        let way = self.u.int_in_range(0..=3)?;
        let first = self.u.int_in_range(0..=3)?;
        let count = self.u.int_in_range(2..=4u8)?;
        // The factor that is another, and what of it; mostly that of the uppermost byte, which one operation takes out.
        let odd = match self.u.ratio(1, 2)? {
            true => Some((
                if first + count > 3 && self.u.ratio(1, 2)? {
                    3 - first
                } else {
                    self.u.int_in_range(0..=count - 1)?
                },
                self.u.int_in_range(0..=1)?,
                self.u.int_in_range(0..=3)?,
            )),
            false => None,
        };
        let mut terms = Vec::new();
        for n in 0..count {
            let mut factors = Vec::new();
            for side in 0..2 {
                let (mut word, mut signed, mut at) = (words[side], signed[side], (first + n) % 4);
                match odd.filter(|odd| (odd.0, odd.1) == (n, side)) {
                    Some((.., 0)) => at = (at + 1) % 4,
                    Some((.., 1)) => word = other,
                    Some(_) => signed = !signed,
                    None => {}
                }
                factors.push(match bytes.filter(|_| in_vectors) {
                    Some(ty) => {
                        let vector = self.b.ins().bitcast(ty, word);
                        let byte = self.b.ins().extract(vector, at);
                        self.extended_byte(byte, signed)
                    }
                    None => self.byte_of_word(word, at, signed, way)?,
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

    /// A word that no compiler knows, mostly.
    fn unknown_word(&mut self) -> Result<Value> {
        match self.pointers {
            Some(pointers) if self.u.ratio(1, 2)? => {
                let at = 4 * self.u.int_in_range(0..=INPUT_BYTES as i32 / 4 - 1)?;
                Ok(self.b.ins().load(Type::I32, MemFlags::PLAIN, pointers.input, at))
            }
            Some(_) | None => self.value(Type::I32),
        }
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

    /// Quotients and remainders of a number, which is a large one half of the time, by one or two others.
    pub(super) fn quotient(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I32, Type::I32, Type::I64, Type::I64, Type::I16])?;
        let mut x = self.value(ty)?;
        if self.u.ratio(1, 2)? {
            x = self.b.ins().imul_imm(x, 0x9e37_79b9_7f4a_7c15_u64 as i64);
        }
        for _ in 0..self.u.int_in_range(1..=2)? {
            self.divided(ty, x)?;
        }
        Ok(())
    }

    /// Quotient and remainder of a number by one that is known, or by the same that is not.
    fn divided(&mut self, ty: Type, x: Value) -> Result<()> {
        let by = match self.u.int_in_range(0..=9)? {
            0 => *self.u.choose(&[3, 5, 7, 10, 60, 100, 641, 1000, 0x5555])?,
            1 => (1i64 << self.u.int_in_range(1..=ty.bits() - 2)?) + self.u.int_in_range(-1i64..=1)?,
            2 => -self.u.int_in_range(2i64..=100)?,
            4 | 5 => *self.u.choose(&[4, 4, -4, 2, 8])?,
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
        // Also one with a sign beside one without.
        let ops = match self.u.int_in_range(0..=9)? {
            0 | 1 => [Opcode::Sdiv, Opcode::Urem],
            2 | 3 => [Opcode::Udiv, Opcode::Srem],
            4..=6 => [Opcode::Sdiv, Opcode::Srem],
            _ => [Opcode::Udiv, Opcode::Urem],
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

    /// Accesses of words behind each other, or of the words of wider ones. Between them the same memory may be written, or read, through an address of which no
    /// compiler knows that it is the same.
    pub(super) fn neighbours(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return self.regular() };
        let aligned = MemFlags::PLAIN.with_align(16).expect("a power of two");
        let flags = |n: i32| if n == 0 { aligned } else { MemFlags::PLAIN };
        match self.u.int_in_range(0..=4)? {
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
            3 | 4 => {
                let place = self.b.ins().ptradd_imm(pointers.own, 16 * self.u.int_in_range(0..=14)?);
                let again = self.same_place(place)?;
                let value = self.value(Type::I32)?;
                for n in 0..self.u.int_in_range(2..=4)? {
                    let read = self.b.ins().load(Type::I32, flags(n), place, 4 * n);
                    self.values.push(read);
                    if n < 3 && self.u.ratio(1, 2)? {
                        // What is read next.
                        self.b.ins().store(MemFlags::PLAIN, value, again, 4 * (n + 1));
                    }
                }
            }
            1 => {
                let place = 16 * self.u.int_in_range(0..=14)?;
                let count = self.u.int_in_range(2..=4)?;
                let again = match self.u.ratio(1, 3)? {
                    true => {
                        let first = self.b.ins().ptradd_imm(pointers.own, place.into());
                        Some((self.same_place(first)?, self.u.int_in_range(0..=count - 1)?))
                    }
                    false => None,
                };
                let value = self.value(Type::I32)?;
                for n in 0..count {
                    let value = if self.u.ratio(1, 2)? { value } else { self.value(Type::I32)? };
                    self.b.ins().store(flags(n), value, pointers.own, place + 4 * n);
                    if let Some((again, at)) = again
                        && at == n
                    {
                        let read = self.b.ins().load(Type::I64, MemFlags::PLAIN, again, 8 * (n / 2));
                        self.values.push(read);
                    }
                }
            }
            _ => {
                let place = self.random_place(pointers.input, 16, INPUT_BYTES)?;
                let whole = self.b.ins().load(Type::I64, aligned, place, 0);
                let upper = self.b.ins().lshr_imm(whole, 32);
                let words = [whole, upper].map(|value| self.b.ins().trunc(Type::I32, value));
                self.values.extend(words);
                if self.u.ratio(1, 2)? {
                    let (first, other) = (self.value(Type::I32)?, self.value(Type::I32)?);
                    let first = if self.u.ratio(1, 2)? { first } else { *self.u.choose(&words)? };
                    let [low, high] = [first, other].map(|word| self.b.ins().zext(Type::I64, word));
                    let high = self.b.ins().shl_imm(high, 32);
                    let both = self.b.ins().bor(low, high);
                    let to = 16 * self.u.int_in_range(0..=14)?;
                    self.write_own(both, to)?;
                }
            }
        }
        Ok(())
    }

    /// The same address, which only a product that is always even says.
    fn same_place(&mut self, place: Value) -> Result<Value> {
        let nothing = self.hidden_zero(Type::I64)?;
        Ok(self.b.ins().ptradd(place, nothing))
    }
}
