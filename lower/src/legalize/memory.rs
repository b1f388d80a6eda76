//! Loads and stores of what no access of PTX moves as a whole: pieces of a power of two of bytes, the largest first.

use super::*;
use warpsmith_ir::MemFlags;

/// The pieces of so many units, each a power of two: where each begins, and how long it is.
fn pieces(count: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let left = (count - at).checked_ilog2()?;
        let piece = (at, 1 << left);
        at += 1 << left;
        Some(piece)
    })
}

/// An access to a part at an offset of one that is so aligned.
fn part_flags(flags: MemFlags, align: u32, offset: u32) -> MemFlags {
    let align = if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) };
    flags.with_align(align).unwrap_or(flags)
}

impl Legalizer<'_> {
    /// The address of a part, and its offset from there.
    fn part_of(&mut self, ptr: Value, offset: i32, at: u32) -> (Value, i32) {
        match offset.checked_add(at as i32) {
            Some(sum) => (ptr, sum),
            None => {
                let by = self.int(Type::I64, at.into());
                (self.raw2(Opcode::Ptradd, ptr, by), offset)
            }
        }
    }

    /// Loads a type that PTX has as it is.
    fn load_part(
        &mut self,
        ty: Type,
        flags: MemFlags,
        align: u32,
        offset: i32,
        ptr: Value,
        at: u32,
    ) -> Value {
        let (ptr, offset) = self.part_of(ptr, offset, at);
        self.ins().load(ty, part_flags(flags, align, at), ptr, offset)
    }

    fn store_part(&mut self, value: Value, flags: MemFlags, align: u32, offset: i32, ptr: Value, at: u32) {
        let (ptr, offset) = self.part_of(ptr, offset, at);
        self.ins().store(part_flags(flags, align, at), value, ptr, offset);
    }

    /// `load`. `None` if it is right as it is.
    pub(super) fn load(&mut self, ty: Type, flags: MemFlags, offset: i32, ptr: Value) -> Option<Value> {
        let align = flags.align(ty);
        if ty == Type::I1 {
            let byte = self.load_part(Type::I8, flags, align, offset, ptr, 0);
            let zero = self.int(Type::I8, 0);
            return Some(self.raw_icmp(IntCC::Ne, byte, zero));
        }
        if ty.is_odd() || ty.element() == Scalar::I1 {
            let whole = self.load_int(ty.bytes()?, flags, align, offset, ptr);
            // A vector of truth values is held in an integer of its lanes' number.
            let (bits, held) = (ty.bits(), held(ty));
            let loaded = Type::int(ty.bytes()? * 8)?;
            let whole = match super::held(loaded) == held {
                true => whole,
                false => self.truncated(loaded, held, whole),
            };
            return Some(self.masked(held, bits, whole));
        }
        if super::narrow::is_small(ty) {
            return self.load_bytes(ty, flags, align, offset, ptr);
        }
        if !ty.is_vector() || ty.lanes().is_power_of_two() {
            return None;
        }
        let (element, size) = (held(ty).element(), ty.element_type().bytes()?);
        let mut elements = Values::new();
        for (first, count) in pieces(ty.lanes()) {
            let part = Type::vector(element, count).unwrap_or(Type::scalar(element));
            let loaded = self.load_part(part, flags, align, offset, ptr, first * size);
            for lane in 0..count {
                let value = if count == 1 { loaded } else { self.ins().extract(loaded, lane as u8) };
                elements.push(match ty.element_type().is_ptr() {
                    true => self.raw_convert(Opcode::Inttoptr, ty.element_type(), value),
                    false => value,
                });
            }
        }
        Some(self.build(ty, &elements))
    }

    /// A vector that is held as bytes. `None` if the load is right as it is.
    fn load_bytes(
        &mut self,
        ty: Type,
        flags: MemFlags,
        align: u32,
        offset: i32,
        ptr: Value,
    ) -> Option<Value> {
        let count = ty.bytes()?;
        if count.is_power_of_two() {
            return None;
        }
        let mut bytes = Values::new();
        for (first, count) in pieces(count) {
            let part = Type::vector(Scalar::I8, count).unwrap_or(Type::I8);
            let loaded = self.load_part(part, flags, align, offset, ptr, first);
            for lane in 0..count {
                bytes.push(if count == 1 { loaded } else { self.ins().extract(loaded, lane as u8) });
            }
        }
        let held = held(ty);
        bytes.resize(held.lanes() as usize, bytes[0]);
        let made = self.ins().vec(&bytes);
        self.types[made] = Some(ty);
        Some(made)
    }

    /// So many bytes as an integer of so many, in the type that holds it.
    fn load_int(&mut self, bytes: u32, flags: MemFlags, align: u32, offset: i32, ptr: Value) -> Value {
        let ty = Type::int(bytes * 8).unwrap_or(Type::I128);
        let held = held(ty);
        let mut all = None;
        for (at, size) in pieces(bytes) {
            let part = Type::int(size * 8).unwrap_or(Type::I64);
            let loaded = self.load_part(part, flags, align, offset, ptr, at);
            let wide = if part == held { loaded } else { self.extended(Opcode::Zext, part, held, loaded) };
            let place = self.int(Type::I32, i64::from(at) * 8);
            let moved = if at == 0 { wide } else { self.binary(Opcode::Shl, held, wide, place) };
            all = Some(all.map_or(moved, |all| self.binary(Opcode::Bor, held, all, moved)));
        }
        all.unwrap_or(ptr)
    }

    /// `store`. False if it is right as it is.
    pub(super) fn store(&mut self, ty: Type, flags: MemFlags, offset: i32, value: Value, ptr: Value) -> bool {
        let align = flags.align(ty);
        let Some(bytes) = ty.bytes() else { return false };
        if ty == Type::I1 {
            let byte = self.raw_convert(Opcode::Zext, Type::I8, value);
            self.store_part(byte, flags, align, offset, ptr, 0);
            return true;
        }
        if ty.is_odd() || ty.element() == Scalar::I1 {
            let held = held(ty);
            for (at, size) in pieces(bytes) {
                let part = Type::int(size * 8).unwrap_or(Type::I64);
                let place = self.int(Type::I32, i64::from(at) * 8);
                let moved = if at == 0 { value } else { self.binary(Opcode::Lshr, held, value, place) };
                let low = if part == held { moved } else { self.truncated(held, part, moved) };
                self.store_part(low, flags, align, offset, ptr, at);
            }
            return true;
        }
        if super::narrow::is_small(ty) {
            if bytes.is_power_of_two() {
                return false;
            }
            for (first, count) in pieces(bytes) {
                let parts: Values =
                    (first..first + count).map(|byte| self.ins().extract(value, byte as u8)).collect();
                let part = if count == 1 { parts[0] } else { self.ins().vec(&parts) };
                self.store_part(part, flags, align, offset, ptr, first);
            }
            return true;
        }
        if !ty.is_vector() || ty.lanes().is_power_of_two() {
            return false;
        }
        let size = ty.element_type().bytes().unwrap_or(1);
        let elements = self.elements(value);
        for (first, count) in pieces(ty.lanes()) {
            let mut parts = Values::from_slice(&elements[first as usize..(first + count) as usize]);
            if ty.element_type().is_ptr() {
                parts = parts.into_iter().map(|part| self.raw1(Opcode::Ptrtoint, part)).collect();
            }
            let part = if count == 1 { parts[0] } else { self.ins().vec(&parts) };
            self.store_part(part, flags, align, offset, ptr, first * size);
        }
        true
    }
}
