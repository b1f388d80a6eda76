//! Structs and arrays as values, and blocks of memory.

use super::Generator;
use crate::{BYTES_PER_THREAD, INPUT_BYTES};
use arbitrary::Result;
use warpsmith_ir::{InstBuilder, MemFlags, Type, Value};

/// The largest block of bytes that is copied, and the step of the places it lies at.
const BLOCK: u32 = 16;

impl Generator<'_, '_, '_> {
    /// A struct or array of values that are there. Floats in it are not NaN: memory shows their bits.
    pub(super) fn built(&mut self, ty: Type) -> Result<Value> {
        if self.u.ratio(1, 8)? {
            return Ok(self.b.ins().zero(ty));
        }
        let types = &self.b.module().types;
        let fields: Vec<Type> =
            (0..types.fields(ty)).filter_map(|n| types.field(ty, n).map(|(ty, _)| ty)).collect();
        let mut values = Vec::new();
        for field in fields {
            let value = self.value(field)?;
            values.push(self.settled(value));
        }
        Ok(self.b.ins().aggregate(ty, &values))
    }

    /// The scalars and vectors that a value consists of.
    pub(super) fn leaves(&mut self, value: Value) -> Vec<Value> {
        let ty = self.b.func().dfg.ty(value);
        if !ty.is_aggregate() {
            return vec![value];
        }
        let types = &self.b.module().types;
        let fields: Vec<Type> =
            (0..types.fields(ty)).filter_map(|n| types.field(ty, n).map(|(ty, _)| ty)).collect();
        let mut leaves = Vec::new();
        for (n, field) in fields.into_iter().enumerate() {
            let part = self.b.ins().extract_value(field, value, &[n as u32]);
            leaves.extend(self.leaves(part));
        }
        leaves
    }

    /// A sum with another value, if that is an integer of at most 64 bits.
    pub(super) fn plus(&mut self, sum: Option<Value>, value: Value) -> Option<Value> {
        let ty = self.b.func().dfg.ty(value);
        if !ty.is_int() || ty.bits() > 64 {
            return sum;
        }
        let wide = if ty == Type::I64 { value } else { self.b.ins().zext(Type::I64, value) };
        Some(sum.map_or(wide, |sum| self.b.ins().iadd(sum, wide)))
    }

    /// Parts taken out and put in, and a way through memory.
    pub(super) fn aggregate(&mut self) -> Result<()> {
        let all: Vec<Type> = self.flavour.types.iter().copied().filter(|ty| ty.is_aggregate()).collect();
        if all.is_empty() {
            return self.regular();
        }
        let ty = *self.u.choose(&all)?;
        let mut value = self.value(ty)?;
        let (path, part) = self.path(ty)?;
        if self.u.ratio(1, 2)? {
            let new = self.value(part)?;
            let new = self.settled(new);
            value = self.b.ins().insert_value(value, new, &path);
        }
        let size = self.b.module().types.size(ty) as u32;
        if let (true, Some(pointers)) = (self.u.ratio(1, 3)? && size <= BYTES_PER_THREAD / 2, self.pointers) {
            let place =
                self.random_place(pointers.own, size.next_power_of_two().max(16), BYTES_PER_THREAD)?;
            self.b.ins().store(MemFlags::PLAIN, value, place, 0);
            value = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
        }
        let taken = self.b.ins().extract_value(part, value, &path);
        self.values.extend([value, taken]);
        Ok(())
    }

    /// A way into a type, of one step or more, and what is there.
    pub(super) fn path(&mut self, mut ty: Type) -> Result<(Vec<u32>, Type)> {
        let mut path = Vec::new();
        loop {
            let fields = self.b.module().types.fields(ty);
            let n = self.u.int_in_range(0..=fields.saturating_sub(1))?;
            let Some((field, _)) = self.b.module().types.field(ty, n) else { return Ok((path, ty)) };
            path.push(n as u32);
            ty = field;
            if !ty.is_aggregate() || self.u.ratio(1, 3)? {
                return Ok((path, ty));
            }
        }
    }

    /// Moves a part of 32 bytes within these, by less than it is long, after other bytes were put there, and reads some of them.
    fn moved_within(&mut self, all: Value) -> Result<()> {
        let first = self.value(Type::I64)?;
        let mut word = first;
        for n in 0..4 {
            self.b.ins().store(MemFlags::PLAIN, word, all, 8 * n);
            word = self.b.ins().imul_imm(word, 0x0123_4567_89ab_cdf1);
            word = self.b.ins().iadd_imm(word, 0x0807_0605_0403_0201);
        }
        let align = *self.u.choose(&[1u32, 1, 2, 4])?;
        let flags = MemFlags::PLAIN.with_align(align).expect("a power of two");
        let mut moved = || Ok(align * self.u.int_in_range(0..=8 / align)?);
        let [to, from] = [moved()?, moved()?].map(|by| self.b.ins().ptradd_imm(all, by.into()));
        let more = self.below_eight()?;
        let size = self.b.ins().iadd_imm(more, self.u.int_in_range(4i64..=12)?);
        self.b.ins().memmove(flags, to, from, size);
        for n in [0, 8, 16] {
            let value = self.b.ins().load(Type::I64, MemFlags::PLAIN, all, n);
            self.values.push(value);
        }
        Ok(())
    }

    /// Copies or fills a block of the thread's own memory.
    pub(super) fn block(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return Ok(()) };
        let to = self.random_place(pointers.own, BLOCK, BYTES_PER_THREAD)?;
        let size = match self.u.ratio(1, 2)? {
            true => {
                let bytes = self.u.int_in_range(0..=BLOCK)?;
                self.b.ins().iconst(Type::I32, bytes.into())
            }
            false => {
                let (any, mask) =
                    (self.value(Type::I32)?, self.b.ins().iconst(Type::I32, i64::from(BLOCK) - 1));
                self.b.ins().band(any, mask)
            }
        };
        let align = *self.u.choose(&[1u32, 2, 4, 8, 16])?;
        let flags = MemFlags::PLAIN.with_align(align).expect("a power of two");
        match self.u.int_in_range(0..=2)? {
            0 => {
                let byte = self.value(Type::I8)?;
                self.b.ins().memset(flags, to, byte, size);
            }
            1 => {
                let from = self.random_place(pointers.input, BLOCK, INPUT_BYTES)?;
                self.b.ins().memcpy(flags, to, from, size);
            }
            _ if self.u.ratio(2, 3)? => {
                // Within two such blocks, which both may have in part.
                let both = self.random_place(pointers.own, 2 * BLOCK, BYTES_PER_THREAD)?;
                if self.u.ratio(1, 2)? {
                    return self.moved_within(both);
                }
                let mut moved = || Ok(align * self.u.int_in_range(0..=BLOCK / align)?);
                let [to, from] = [moved()?, moved()?].map(|by| self.b.ins().ptradd_imm(both, by.into()));
                self.b.ins().memmove(flags, to, from, size);
            }
            _ => {
                let from = self.random_place(pointers.own, BLOCK, BYTES_PER_THREAD)?;
                self.b.ins().memmove(flags, to, from, size);
            }
        }
        Ok(())
    }
}
