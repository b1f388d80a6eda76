//! Values as parts or in memory, and the loads, stores and copies between them.

use super::split::Splitter;
use super::{SMALL, boundary};
use warpsmith_ir::{Inst, InstBuilder, MemFlags, StackSlot, StackSlotData, Type, Value};

/// What a struct or array has become.
#[derive(Clone)]
pub(super) enum Form {
    Parts(Vec<Value>),
    Memory(Memory),
}

/// Memory that holds a value as long as it is used.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    pub(super) base: Base,
    pub(super) offset: u64,
    pub(super) align: u32,
}

#[derive(Clone, Copy)]
pub(super) enum Base {
    Slot(StackSlot),
    Pointer(Value),
}

impl Splitter<'_> {
    pub(super) fn is_small(&self, ty: Type) -> bool {
        self.types.parts(ty) <= SMALL
    }

    pub(super) fn form(&self, value: Value) -> Option<Form> {
        self.forms[self.func.dfg.resolve(value)].clone()
    }

    /// The parts of a small value, or the value itself.
    pub(super) fn parts(&self, value: Value) -> Vec<Value> {
        match self.form(value) {
            Some(Form::Parts(parts)) => parts,
            Some(Form::Memory(_)) => Vec::new(),
            None => vec![value],
        }
    }

    /// The parts of a value of any size, loaded if it is in memory.
    pub(super) fn all_parts(&mut self, inst: Inst, value: Value) -> Vec<Value> {
        match self.form(value) {
            Some(Form::Memory(memory)) => {
                self.read_parts(inst, self.func.dfg.ty(value), memory, MemFlags::PLAIN)
            }
            Some(Form::Parts(_)) | None => self.parts(value),
        }
    }

    /// A value of any size that has these parts.
    pub(super) fn of_parts(&mut self, inst: Inst, ty: Type, parts: Vec<Value>) -> Form {
        let form = Form::Parts(parts);
        if self.is_small(ty) {
            return form;
        }
        let memory = self.slot(ty);
        self.write(inst, ty, memory, &form, MemFlags::PLAIN);
        Form::Memory(memory)
    }

    /// Memory for a value.
    pub(super) fn slot(&mut self, ty: Type) -> Memory {
        let (size, align) = (self.types.size(ty) as u32, self.types.align(ty));
        let slot = self.func.stack_slots.push(StackSlotData { size, align });
        Memory { base: Base::Slot(slot), offset: 0, align }
    }

    /// The memory of a load or store.
    pub(super) fn pointed(
        &mut self,
        inst: Inst,
        flags: MemFlags,
        ptr: Value,
        offset: i32,
        ty: Type,
    ) -> Memory {
        let align = flags.explicit_align().unwrap_or_else(|| self.types.align(ty));
        let base = match offset {
            0 => ptr,
            _ => {
                let by = self.func.before(inst).iconst(Type::I64, offset.into());
                self.func.before(inst).ptradd(ptr, by)
            }
        };
        Memory { base: Base::Pointer(base), offset: 0, align }
    }

    /// The address of memory.
    pub(super) fn pointer(&mut self, inst: Inst, memory: Memory) -> Value {
        let base = match memory.base {
            Base::Slot(slot) => self.func.before(inst).stack_addr(slot, 0),
            Base::Pointer(ptr) => ptr,
        };
        if memory.offset == 0 {
            return base;
        }
        let by = self.func.before(inst).iconst(Type::I64, memory.offset as i64);
        self.func.before(inst).ptradd(base, by)
    }

    /// Loads what selection knows how to load: a scalar, a vector, or what is returned.
    pub(super) fn load(&mut self, inst: Inst, ty: Type, memory: Memory, flags: MemFlags) -> Value {
        let (ptr, offset) = self.address(inst, memory);
        let flags = flags_for(flags, memory.known_align(), self.types.align(ty));
        self.func.before(inst).load(ty, flags, ptr, offset)
    }

    /// A pointer and an offset from it.
    pub(super) fn address(&mut self, inst: Inst, memory: Memory) -> (Value, i32) {
        match i32::try_from(memory.offset) {
            Ok(offset) => (self.pointer(inst, Memory { offset: 0, ..memory }), offset),
            Err(_) => (self.pointer(inst, memory), 0),
        }
    }

    /// A value in memory: its parts if it is small, else the memory itself.
    pub(super) fn read(&mut self, inst: Inst, ty: Type, memory: Memory, flags: MemFlags) -> Form {
        if !self.is_small(ty) {
            return Form::Memory(memory);
        }
        Form::Parts(self.read_parts(inst, ty, memory, flags))
    }

    pub(super) fn read_parts(&mut self, inst: Inst, ty: Type, memory: Memory, flags: MemFlags) -> Vec<Value> {
        let parts = self.types.parts_of(ty);
        let parts = parts.into_iter().map(|(part, at)| {
            let memory = memory.at(at);
            if part == Type::I1 {
                let byte = self.load(inst, Type::I8, memory, flags);
                return boundary::is_set(self.func, inst, byte);
            }
            self.load(inst, part, memory, flags)
        });
        parts.collect()
    }

    pub(super) fn write(&mut self, inst: Inst, ty: Type, to: Memory, form: &Form, flags: MemFlags) {
        match form {
            Form::Memory(from) => self.copy(inst, ty, to, *from, flags),
            Form::Parts(parts) => {
                for ((_, at), &part) in self.types.parts_of(ty).into_iter().zip(parts) {
                    self.write_part(inst, to.at(at), part, flags);
                }
            }
        }
    }

    /// Writes a value of any type.
    pub(super) fn write_value(&mut self, inst: Inst, to: Memory, value: Value) {
        match self.form(value) {
            Some(form) => self.write(inst, self.func.dfg.ty(value), to, &form, MemFlags::PLAIN),
            None => self.write_part(inst, to, value, MemFlags::PLAIN),
        }
    }

    pub(super) fn write_part(&mut self, inst: Inst, to: Memory, part: Value, flags: MemFlags) {
        let is_bit = self.func.dfg.ty(part) == Type::I1;
        let part = if is_bit { self.func.before(inst).zext(Type::I8, part) } else { part };
        let (ptr, offset) = self.address(inst, to);
        let flags = flags_for(flags, to.known_align(), self.types.align(self.func.dfg.ty(part)));
        self.func.before(inst).store(flags, part, ptr, offset);
    }

    pub(super) fn copy(&mut self, inst: Inst, ty: Type, to: Memory, from: Memory, flags: MemFlags) {
        let align = to.known_align().min(from.known_align());
        let (to, from) = (self.pointer(inst, to), self.pointer(inst, from));
        let size = self.func.before(inst).iconst(Type::I64, self.types.size(ty) as i64);
        let mut flags = flags_for(flags, align, 1);
        flags.invariant = false;
        // A value that is stored where it was loaded from overlaps itself altogether, which copying in one direction bears.
        self.func.before(inst).memcpy(flags, to, from, size);
    }
}

impl Memory {
    /// The memory so many bytes on.
    pub(super) fn at(self, offset: u64) -> Memory {
        Memory { offset: self.offset.saturating_add(offset), ..self }
    }

    /// The alignment that the base and the offset together are known to have.
    pub(super) fn known_align(self) -> u32 {
        match self.offset {
            0 => self.align,
            offset => self.align.min(1 << offset.trailing_zeros().min(31)),
        }
    }
}

/// The flags of an access with an alignment; none is written where it is at least the natural one.
pub(super) fn flags_for(flags: MemFlags, align: u32, natural: u32) -> MemFlags {
    let mut plain = MemFlags::PLAIN;
    (plain.volatile, plain.invariant) = (flags.volatile, flags.invariant);
    if align == natural || (natural > 1 && align > natural) {
        plain
    } else {
        plain.with_align(align).unwrap_or(plain)
    }
}
