//! Several operations that compilers know as one, or have to take care with: random operations alone seldom stand so.

use super::Generator;
use super::menu::Idiom;
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, InstData, IntCC, Opcode, Scalar, Type, Value};

/// The explicit bits of the significands of the formats that are rounded to.
const KEPT: [u32; 7] = [0, 1, 2, 3, 7, 10, 23];

impl Generator<'_, '_, '_> {
    /// One of them. Mostly its results are needed: passes would delete it before others see it.
    pub(super) fn idiom(&mut self) -> Result<()> {
        let known = self.values.len();
        self.any_idiom()?;
        if self.u.ratio(3, 4)? {
            self.keep(known)?;
        }
        Ok(())
    }

    fn any_idiom(&mut self) -> Result<()> {
        match *self.u.choose(&self.flavour.menus.idioms)? {
            Idiom::WideProduct => self.wide_product(),
            Idiom::Tie if self.config.floats => self.tie(),
            Idiom::ConvertedNumber if self.config.floats => self.converted_number(),
            Idiom::PackedBytes if self.u.ratio(1, 3)? => self.part_of_loaded(),
            Idiom::PackedBytes if self.u.ratio(1, 2)? => self.reordered_bytes(),
            Idiom::PackedBytes if self.config.vectors => self.packed_bytes(),
            Idiom::Tie | Idiom::ConvertedNumber | Idiom::PackedBytes => self.wide_product(),
            Idiom::Rotation => self.rotation(),
            Idiom::Field => self.field(),
            Idiom::Extremum => self.extremum(),
            Idiom::CountedLoop if self.u.ratio(1, 4)? => self.search(),
            Idiom::CountedLoop if self.u.ratio(1, 6)? => self.asked_again(),
            Idiom::CountedLoop if self.config.memory && self.u.ratio(1, 4)? => self.state(),
            Idiom::CountedLoop if self.config.memory && self.u.ratio(1, 2)? => self.filled(),
            Idiom::CountedLoop => self.counted_loop(),
            Idiom::ExtendedCounter if self.u.ratio(2, 5)? => self.shifted_counter(),
            Idiom::ExtendedCounter => self.extended_counter(),
            Idiom::Conditional if self.u.ratio(1, 2)? => self.chosen_by_part(),
            Idiom::Conditional => self.conditional(),
            Idiom::ShortCircuit => self.short_circuit(),
            Idiom::Dot => self.dot(),
            Idiom::Quotient => self.quotient(),
            Idiom::Neighbours => self.neighbours(),
            Idiom::Tile => self.tile(),
            Idiom::Checked => self.checked(),
            Idiom::Optional => self.optional(),
            Idiom::Halves => self.in_halves(),
            Idiom::Late if self.u.ratio(1, 2)? => self.used_late(),
            Idiom::Late => self.ends_alike(),
            Idiom::Guarded => self.guarded_elements(),
            Idiom::Kept => self.kept(),
            Idiom::Ways if self.u.ratio(1, 2)? => self.known_behind(),
            Idiom::Ways => self.nested_ways(),
            Idiom::Between if self.u.ratio(1, 2)? => self.wide_counter(),
            Idiom::Between => self.between_two(),
            Idiom::Flag => self.flag(),
            Idiom::ShortProduct => self.short_product(),
            Idiom::Around => self.index_around(),
            Idiom::Rows => self.rows(),
            Idiom::Count => self.count(),
        }
    }

    /// A product of factors that are extended, each in its own way, and maybe a sum with it.
    fn wide_product(&mut self) -> Result<()> {
        let [x, y] = [self.extended_word()?, self.extended_word()?];
        let y = if self.u.ratio(1, 8)? { self.constant(Type::I64)? } else { y };
        let mut value = self.b.ins().imul(x, y);
        if self.u.ratio(1, 3)? {
            let more = self.value(Type::I64)?;
            value = self.b.ins().iadd(value, more);
        }
        self.values.push(value);
        Ok(())
    }

    fn extended_word(&mut self) -> Result<Value> {
        let word = self.value(Type::I32)?;
        Ok(match self.u.ratio(1, 2)? {
            true => self.b.ins().sext(Type::I64, word),
            false => self.b.ins().zext(Type::I64, word),
        })
    }

    /// A float at the middle between two of a narrower format, or next to it, cut to one.
    fn tie(&mut self) -> Result<()> {
        let (from, int, significand, bias) = match self.u.ratio(1, 2)? {
            true => (Type::F64, Type::I64, 52, 1023),
            false => (Type::F32, Type::I32, 23, 127),
        };
        let narrower = self.config.types().into_iter().filter(|ty| ty.is_float());
        let info = Opcode::Fptrunc.info();
        let narrower: Vec<Type> = narrower.filter(|ty| info.result.allows(info.types, from, *ty)).collect();
        if narrower.is_empty() {
            return Ok(());
        }
        let to = match self.u.ratio(1, 2)? && narrower.contains(&Type::BF16) {
            // The one that no instruction makes of every wider format.
            true => Type::BF16,
            false => *self.u.choose(&narrower)?,
        };
        // The middle between two of the format that it is cut to, mostly.
        let kept = match explicit_bits(to) {
            Some(kept) if self.u.ratio(3, 4)? => kept,
            _ => *self.u.choose(&KEPT)?,
        };
        let lost = significand - kept.min(significand - 1);
        let below: i64 = match self.u.int_in_range(0..=2)? {
            0 => 0,
            1 => 1,
            _ => self.u.arbitrary::<i64>()? & ((1 << (lost - 1)) - 1),
        };
        let exponent: i64 = bias + self.u.int_in_range(-2..=2)?;
        let any = self.value(int)?;
        // Sign and the first bits of the significand are any.
        let kept = i64::MIN >> (63 - (int.bits() - 1)) | ((1 << significand) - (1 << lost));
        let kept = self.number(int, kept);
        let rest = self.number(int, exponent << significand | 1 << (lost - 1) | below);
        let bits = self.b.ins().band(any, kept);
        let bits = self.b.ins().bor(bits, rest);
        let value = self.b.ins().bitcast(from, bits);
        self.values.push(value);
        let cut = self.b.ins().regular(InstData::Unary { op: Opcode::Fptrunc, arg: value }, Some(to));
        self.values.push(cut);
        Ok(())
    }

    /// An integer of either half of its range as a float, and a float as an integer, each with a sign or without.
    fn converted_number(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I8, Type::I16, Type::I32, Type::I64])?;
        let mut number = self.value(ty)?;
        if self.u.ratio(1, 2)? {
            let top = self.number(ty, i64::MIN >> (64 - ty.bits()));
            number = self.b.ins().bor(number, top);
        }
        let floats = if self.config.halves { 4 } else { 2 };
        let to = *self.u.choose(&[Type::F32, Type::F64, Type::F16, Type::BF16][..floats])?;
        let op = if self.u.ratio(1, 2)? { Opcode::Uitofp } else { Opcode::Sitofp };
        let float = self.b.ins().regular(InstData::Unary { op, arg: number }, Some(to));
        let back = *self.u.choose(&[Type::I8, Type::I16, Type::I32, Type::I64])?;
        let op = if self.u.ratio(1, 2)? { Opcode::Fptoui } else { Opcode::Fptosi };
        let whole = self.b.ins().regular(InstData::Unary { op, arg: float }, Some(back));
        self.values.extend([float, whole]);
        Ok(())
    }

    /// Bytes of a word as a vector, one of them replaced.
    fn packed_bytes(&mut self) -> Result<()> {
        let (int, lanes) = *self.u.choose(&[(Type::I32, 4u8), (Type::I16, 2), (Type::I64, 8)])?;
        let Some(ty) = Type::vector(Scalar::I8, lanes.into()) else { return Ok(()) };
        let word = self.joined(int)?;
        let mut bytes = self.b.ins().bitcast(ty, word);
        for _ in 0..self.u.int_in_range(0..=2)? {
            let byte = self.value(Type::I8)?;
            bytes = self.b.ins().insert(bytes, byte, self.u.int_in_range(0..=lanes - 1)?);
        }
        let one = self.b.ins().extract(bytes, self.u.int_in_range(0..=lanes - 1)?);
        let word = self.b.ins().bitcast(int, bytes);
        self.values.extend([one, word]);
        Ok(())
    }

    /// A word, mostly of two of half its bits, which may overlap.
    fn joined(&mut self, word: Type) -> Result<Value> {
        let half = match Type::int(word.bits() / 2) {
            Some(half) if self.u.ratio(3, 4)? => half,
            _ => return self.value(word),
        };
        let [x, y] = [self.value(half)?, self.value(half)?];
        let (low, high) = (self.b.ins().zext(word, x), self.b.ins().zext(word, y));
        let by = *self.u.choose(&[half.bits(), half.bits(), half.bits() / 2, 0])?;
        let by = self.number(Type::I32, by.into());
        let high = self.b.ins().shl(high, by);
        let first = self.u.ratio(1, 2)?;
        Ok(if first { self.b.ins().bor(low, high) } else { self.b.ins().bor(high, low) })
    }

    /// Two shifts that together may be a rotation, or of two words.
    fn rotation(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I8, Type::I16, Type::I32, Type::I64])?;
        let x = self.value(ty)?;
        let y = if self.u.ratio(1, 4)? { self.value(ty)? } else { x };
        let by = self.u.int_in_range(1..=ty.bits() - 1)?;
        let back = if self.u.ratio(7, 8)? { ty.bits() - by } else { self.u.int_in_range(0..=ty.bits())? };
        let (by, back) = (self.number(Type::I32, by.into()), self.number(Type::I32, back.into()));
        let (high, low) = (self.b.ins().shl(x, by), self.b.ins().lshr(y, back));
        let value = match self.u.int_in_range(0..=2)? {
            0 => self.b.ins().bor(high, low),
            1 => self.b.ins().bxor(high, low),
            _ => self.b.ins().iadd(high, low),
        };
        self.values.push(value);
        Ok(())
    }

    /// A field of bits, taken out, and put back in among others.
    fn field(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I32, Type::I64])?;
        let (x, y) = (self.value(ty)?, self.value(ty)?);
        let from = self.u.int_in_range(0..=ty.bits() - 1)?;
        let length = self.u.int_in_range(1..=ty.bits() - 1)?;
        let (mask, at) = (self.number(ty, !(-1 << length)), self.number(Type::I32, from.into()));
        let moved = match self.u.ratio(1, 2)? {
            true => self.b.ins().lshr(x, at),
            false => self.b.ins().ashr(x, at),
        };
        let field = self.b.ins().band(moved, mask);
        let others = self.number(ty, -1 << length);
        let rest = self.b.ins().band(y, others);
        let both = self.b.ins().bor(rest, field);
        self.values.extend([field, both]);
        Ok(())
    }

    /// A loop of one block that counts with constants.
    fn counted_loop(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I32, Type::I64])?;
        let start = self.value(ty)?;
        let (least, step) = (self.u.int_in_range(-2i64..=2)?, self.u.int_in_range(1i64..=3)?);
        let trips = self.u.int_in_range(1i64..=6)?;
        let (least_value, step_value) = (self.number(Type::I32, least), self.number(Type::I32, step));
        let (head, after) = (self.b.create_block(), self.b.create_block());
        let count = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, ty);
        self.b.ins().jump(head, &[least_value, start]);
        self.b.switch_to_block(head);
        self.values.extend([count, sum]);
        for _ in 0..self.u.int_in_range(0..=3)? {
            self.regular()?;
        }
        if self.u.ratio(1, 3)? {
            // Much that is gone once the counter is known.
            let ops = [Opcode::Imul, Opcode::Iadd, Opcode::Bxor];
            let mut known = count;
            for n in 0..self.u.int_in_range(4usize..=40)? {
                let op = ops[n % ops.len()];
                known = self.b.ins().regular(InstData::Binary { op, args: [known, count] }, None);
            }
            self.values.push(known);
        }
        let fields = match self.u.int_in_range(0..=5)? {
            0 | 1 if self.config.aggregates => self.struct_fields(count)?,
            2 | 3 if !self.helpers.is_empty() => self.called_fields()?,
            _ => None,
        };
        let more = match fields {
            Some(fields) if ty == Type::I64 => fields,
            Some(fields) => self.b.ins().trunc(ty, fields),
            None => self.value(ty)?,
        };
        let next =
            if self.u.ratio(1, 2)? { self.b.ins().iadd(sum, more) } else { self.b.ins().bxor(sum, more) };
        let counted = self.b.ins().iadd(count, step_value);
        let end = self.number(Type::I32, least + step * trips);
        let condition = if self.u.ratio(1, 2)? { IntCC::Slt } else { IntCC::Ne };
        let goes_on = self.b.ins().icmp(condition, counted, end);
        self.b.ins().brif(goes_on, head, &[counted, next], after, &[]);
        self.b.switch_to_block(after);
        self.values.push(next);
        Ok(())
    }

    /// The greater or the lesser of two, by a comparison.
    fn extremum(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::I16, Type::I32, Type::I64])?;
        let (x, y) = (self.value(ty)?, self.value(ty)?);
        let is_it = self.b.ins().icmp(*self.u.choose(IntCC::ALL)?, x, y);
        let (x, y) = if self.u.ratio(1, 2)? { (x, y) } else { (y, x) };
        let value = self.b.ins().select(is_it, x, y);
        self.values.push(value);
        Ok(())
    }
}

/// The explicit bits of a format's significand.
fn explicit_bits(ty: Type) -> Option<u32> {
    Some(match ty {
        Type::UE8M0 => 0,
        Type::E2M1 => 1,
        Type::E5M2 | Type::E3M2 => 2,
        Type::E4M3 | Type::E2M3 => 3,
        Type::BF16 => 7,
        Type::F16 | Type::TF32 => 10,
        Type::F32 => 23,
        _ => return None,
    })
}
