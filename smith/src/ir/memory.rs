//! Accesses: to the thread's own part of memory, in orders, and of all spaces.

use super::menu::Reach;
use super::{Generator, PLACE_STEP, PLACES};
use crate::{BYTES_PER_THREAD, INPUT_BYTES};
use arbitrary::Result;
use warpsmith_ir::{
    AtomicOp, Attr, InstBuilder, MemFlags, MemoryOrder, MemoryScope, Opcode, Scalar, StackSlot, Type, Value,
};

/// A slot of 8 bytes, and the sizes of the fields that it has.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    slot: StackSlot,
    fields: &'static [u32],
}

/// All that a kernel has.
pub(super) type Cells = [Cell; 3];

/// The bytes behind an address that a function is given.
pub(super) const HANDED_BYTES: u32 = 32;

/// How a slot can be cut.
const FIELDS: [&[u32]; 6] =
    [&[8], &[4, 4], &[2, 2, 2, 2], &[2, 2, 4], &[4, 2, 1, 1], &[1, 1, 1, 1, 1, 1, 1, 1]];

impl Generator<'_, '_, '_> {
    /// `base` moved to a random multiple of `size` below `bytes`, both powers of two.
    pub(super) fn random_place(&mut self, base: Value, size: u32, bytes: u32) -> Result<Value> {
        if self.u.ratio(1, 8)? {
            let index = self.u.int_in_range(0..=bytes / size - 1)?;
            let index = self.b.ins().iconst(Type::I32, index.into());
            return Ok(self.b.ins().index(base, index, size as i32));
        }
        let index = self.value(Type::I32)?;
        let mask = self.b.ins().iconst(Type::I32, (bytes / size - 1) as i64);
        let mut index = self.b.ins().band(index, mask);
        let mut base = base;
        if self.u.ratio(1, 4)? {
            // From the middle, by an index of either sign.
            let half = i64::from(bytes / size / 2);
            index = self.b.ins().isub_imm(index, half);
            base = self.b.ins().ptradd_imm(base, half * i64::from(size));
        }
        if self.u.ratio(1, 4)? {
            index = self.b.ins().sext(Type::I64, index);
        }
        if self.u.ratio(1, 4)? {
            let bytes = self.b.ins().imul_imm(index, size.into());
            return Ok(self.b.ins().ptradd(base, bytes));
        }
        Ok(self.b.ins().index(base, index, size as i32))
    }

    pub(super) fn memory_type(&mut self) -> Result<Type> {
        let types: Vec<Type> = self.flavour.types.iter().copied().filter(|ty| ty.bytes().is_some()).collect();
        Ok(*self.u.choose(&types)?)
    }

    /// Atomic accesses of the thread's own memory, and what else has an effect that does not show.
    pub(super) fn ordered(&mut self, own: Value) -> Result<()> {
        let ty = *self.u.choose(&[Type::I8, Type::I16, Type::I32, Type::I64])?;
        let size = ty.bytes().unwrap_or(1);
        let scope =
            *self.u.choose(&[MemoryScope::Thread, MemoryScope::Cta, MemoryScope::Gpu, MemoryScope::Sys])?;
        let order = *self.u.choose(MemoryOrder::ALL)?;
        let place = self.random_place(own, size, BYTES_PER_THREAD)?;
        match self.u.int_in_range(0..=7)? {
            0 => {
                let wrong = matches!(order, MemoryOrder::Release | MemoryOrder::AcqRel);
                let order = if wrong { MemoryOrder::SeqCst } else { order };
                let value = self.b.ins().atomic_load(ty, order, scope, place);
                self.values.push(value);
            }
            1 => {
                let wrong = matches!(order, MemoryOrder::Acquire | MemoryOrder::AcqRel);
                let order = if wrong { MemoryOrder::SeqCst } else { order };
                let value = self.value(ty)?;
                self.b.ins().atomic_store(order, scope, value, place);
            }
            2 | 3 => {
                let (expected, new) = (self.value(ty)?, self.value(ty)?);
                let orders = [order, MemoryOrder::Relaxed];
                let results = self.b.ins().cmpxchg(orders, scope, place, expected, new);
                self.values.extend(results);
            }
            4 => {
                self.b.ins().fence(order, scope);
                let (holds, time) = (self.b.ins().iconst(Type::I1, 1), self.b.ins().iconst(Type::I32, 8));
                self.b.ins().assert(holds, "always");
                self.b.ins().list(Opcode::Assume, Attr::None, &[holds]);
                self.b.ins().list(Opcode::Nanosleep, Attr::None, &[time]);
            }
            _ => {
                let ops: Vec<AtomicOp> = AtomicOp::ALL.iter().copied().filter(|op| op.takes(ty)).collect();
                let op = *self.u.choose(&ops)?;
                let value = self.value(ty)?;
                let old = self.b.ins().atomic_rmw(op, order, scope, place, value);
                self.values.push(old);
            }
        }
        Ok(())
    }

    /// A load or store of what a function was given the address of.
    pub(super) fn handed_access(&mut self) -> Result<()> {
        let ty = self.memory_type()?;
        let size = ty.bytes().unwrap_or(1).next_power_of_two();
        if self.handed.is_empty() || size > HANDED_BYTES {
            return Ok(());
        }
        let mut base = *self.u.choose(&self.handed)?;
        if self.b.func().dfg.ty(base) == Type::PTR && self.u.ratio(1, 2)? {
            // Or memory of its own.
            let slot = self.b.create_stack_slot(HANDED_BYTES, 16);
            let own = self.b.ins().stack_addr(slot, 0);
            for n in 0..HANDED_BYTES as i32 / 8 {
                let value = self.value(Type::I64)?;
                self.b.ins().store(MemFlags::PLAIN, value, own, 8 * n);
            }
            let own = self.b.ins().addrspacecast(Type::PTR, own);
            base = self.either_address(own, base)?;
        }
        let place = self.random_place(base, size, HANDED_BYTES)?;
        if self.u.ratio(1, 2)? {
            let value = self.value(ty)?;
            let value = self.settled(value);
            self.b.ins().store(MemFlags::PLAIN, value, place, 0);
        } else {
            let value = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
            self.values.push(value);
        }
        Ok(())
    }

    /// An address of such a type to give to a function: of the thread's own memory, of a slot, or of what this function was given itself.
    /// `None` where there is none.
    pub(super) fn address_to_hand(&mut self, ty: Type) -> Result<Option<Value>> {
        let Some(pointers) = self.pointers else {
            let fits = |value: &Value| [ty, Type::PTR_GLOBAL].contains(&self.b.func().dfg.ty(*value));
            let fitting: Vec<Value> = self.handed.iter().copied().filter(fits).collect();
            if fitting.is_empty() {
                return Ok(None);
            }
            let value = *self.u.choose(&fitting)?;
            return Ok(Some(self.cast_to_hand(value, ty)));
        };
        let address = match pointers.slot {
            Some(slot) if ty == Type::PTR && self.u.ratio(1, 2)? => {
                let offset = 32 * self.u.int_in_range(0..=1)?;
                self.b.ins().stack_addr(slot, offset)
            }
            _ => self.random_place(pointers.own, HANDED_BYTES, BYTES_PER_THREAD)?,
        };
        Ok(Some(self.cast_to_hand(address, ty)))
    }

    fn cast_to_hand(&mut self, address: Value, ty: Type) -> Value {
        if self.b.func().dfg.ty(address) == ty { address } else { self.b.ins().addrspacecast(ty, address) }
    }

    pub(super) fn access(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return Ok(()) };
        if self.config.special && self.u.ratio(1, 4)? {
            return self.ordered(pointers.own);
        }
        let ty = self.memory_type()?;
        let size = ty.bytes().unwrap_or(1).next_power_of_two();
        let mut flags = MemFlags::PLAIN;
        flags.volatile = self.u.ratio(1, 16)?;
        let (from, bytes) = match (*self.u.choose(&self.flavour.menus.reaches)?, self.memory) {
            (Reach::Own, _) => {
                let value = self.value(ty)?;
                let mut offset = self.u.int_in_range(0..=BYTES_PER_THREAD / size - 1)? * size;
                if size > 1 && self.u.ratio(1, 4)? {
                    offset = offset.min(BYTES_PER_THREAD - 2 * size) + self.u.int_in_range(0..=size - 1)?;
                }
                return self.write_own(value, offset as i32);
            }
            (Reach::Cell, Some(_)) if pointers.cells.is_some() => return self.cell(),
            (Reach::Place, Some(_)) if self.places.is_some() => return self.through_place(ty, size),
            (Reach::Table, Some((table, _))) => (self.b.global_addr(table), 64),
            (Reach::Generic, Some(_)) => {
                let generic = self.b.ins().addrspacecast(Type::PTR, pointers.input);
                match pointers.slot {
                    Some(slot) if self.u.ratio(1, 2)? => {
                        let local = self.b.ins().stack_addr(slot, 0);
                        let local = self.b.ins().addrspacecast(Type::PTR, local);
                        let which = self.value(Type::I1)?;
                        let (yes, no) = if self.u.ratio(1, 2)? { (generic, local) } else { (local, generic) };
                        (self.b.ins().select(which, yes, no), if size <= 16 { 64 } else { return Ok(()) })
                    }
                    Some(_) | None => (generic, INPUT_BYTES),
                }
            }
            (Reach::Either, _) => {
                let which = self.value(Type::I1)?;
                match (self.u.ratio(1, 2)?, pointers.slot, pointers.other_slot) {
                    (true, Some(slot), Some(other)) => {
                        let at = 8 * self.u.int_in_range(0..=4)?;
                        let (a, b) = (self.b.ins().stack_addr(slot, at), self.b.ins().stack_addr(other, 0));
                        let place = self.b.ins().select(which, a, b);
                        if size <= 8 && self.u.ratio(1, 2)? {
                            let value = self.value(ty)?;
                            let value = self.settled(value);
                            let place = self.random_place(place, size, 32)?;
                            self.b.ins().store(flags, value, place, 0);
                            return Ok(());
                        }
                        (place, if size <= 8 { 32 } else { return Ok(()) })
                    }
                    _ => (self.b.ins().select(which, pointers.own, pointers.input), BYTES_PER_THREAD),
                }
            }
            (Reach::Integer, Some(_)) => {
                let address = self.b.ins().ptrtoint(pointers.own);
                (self.b.ins().inttoptr(Type::PTR_GLOBAL, address), BYTES_PER_THREAD)
            }
            (Reach::Slot, Some(_)) => match (pointers.slot, pointers.shared) {
                (Some(slot), Some(shared)) => {
                    let is_slot = self.u.ratio(2, 3)?;
                    let shared = match pointers.other_shared {
                        Some(other) if self.u.ratio(1, 2)? => other,
                        Some(_) | None => shared,
                    };
                    let base = if is_slot { self.b.ins().stack_addr(slot, 0) } else { shared };
                    let bytes = if is_slot { 64 } else { 8 };
                    if size > bytes {
                        return Ok(());
                    }
                    if self.u.ratio(1, 2)? {
                        let value = self.value(ty)?;
                        let value = self.settled(value);
                        let place = self.random_place(base, size, bytes)?;
                        self.b.ins().store(flags, value, place, 0);
                        return Ok(());
                    }
                    (base, bytes)
                }
                _ => return Ok(()),
            },
            (
                Reach::Cell
                | Reach::Place
                | Reach::Table
                | Reach::Generic
                | Reach::Integer
                | Reach::Slot
                | Reach::Input,
                _,
            ) => (pointers.input, INPUT_BYTES),
        };
        if size > 1 && 2 * size <= bytes && self.u.ratio(1, 4)? {
            // Anywhere in a place of twice the size, with the alignment that is left.
            let align = 1 << self.u.int_in_range(0..=size.ilog2() - 1)?;
            let offset = align * self.u.int_in_range(0..=size / align)?;
            let place = self.random_place(from, 2 * size, bytes)?;
            flags = flags.with_align(align).expect("a power of two");
            let value = self.b.ins().load(ty, flags, place, offset as i32);
            self.values.push(value);
            return Ok(());
        }
        let place = self.random_place(from, size, bytes)?;
        let value = self.b.ins().load(ty, flags, place, 0);
        self.values.push(value);
        Ok(())
    }

    /// Slots of the bytes of each way to cut them.
    pub(super) fn make_cells(&mut self, numbers: [Value; 2]) -> Result<Cells> {
        let mut cells = Vec::new();
        for n in 0..3 {
            // The first is accessed as a whole only.
            let fields = if n == 0 { FIELDS[0] } else { *self.u.choose(&FIELDS)? };
            let slot = self.b.create_stack_slot(8, 8);
            let at = self.b.ins().stack_addr(slot, 0);
            self.b.ins().store(MemFlags::PLAIN, numbers[n % 2], at, 0);
            cells.push(Cell { slot, fields });
        }
        Ok([cells[0], cells[1], cells[2]])
    }

    /// A slot, or a field of it, at a place that does not depend on anything.
    fn cell(&mut self) -> Result<()> {
        let Some(cells) = self.pointers.and_then(|pointers| pointers.cells) else { return Ok(()) };
        let Cell { slot, fields } = *self.u.choose(&cells)?;
        let (offset, ty) = match self.u.ratio(1, 2)? {
            true => (0, self.whole(fields)?),
            false => {
                let n = self.u.int_in_range(0..=fields.len() - 1)?;
                let bytes = fields[n];
                let float = bytes >= 4 && self.config.floats && self.u.ratio(1, 4)?;
                let ty = match (bytes, float) {
                    (4, true) => Some(Type::F32),
                    (8, true) => Some(Type::F64),
                    _ => Type::int(8 * bytes),
                };
                (fields[..n].iter().sum::<u32>() as i32, ty.unwrap_or(Type::I64))
            }
        };
        let at = self.b.ins().stack_addr(slot, offset);
        if self.u.ratio(1, 2)? {
            let value = self.value(ty)?;
            let value = self.settled(value);
            self.b.ins().store(MemFlags::PLAIN, value, at, 0);
        } else {
            let value = self.b.ins().load(ty, MemFlags::PLAIN, at, 0);
            self.values.push(value);
        }
        Ok(())
    }

    /// The type of an access of a whole slot; where it has fields of one size, also a vector of them.
    fn whole(&mut self, fields: &[u32]) -> Result<Type> {
        let vector = match *fields {
            [4, 4] => Type::vector(Scalar::I32, 2),
            [2, 2, 2, 2] => Type::vector(Scalar::I16, 4),
            _ => None,
        };
        Ok(match vector.filter(|_| self.config.vectors) {
            Some(vector) if self.u.ratio(1, 4)? => vector,
            _ => Type::I64,
        })
    }

    /// A load by an address that a variable starts with.
    fn through_place(&mut self, ty: Type, size: u32) -> Result<()> {
        let (Some(places), true) = (self.places, size <= PLACE_STEP) else { return Ok(()) };
        let n = self.u.int_in_range(0..=PLACES - 1)? as usize;
        let generic = self.b.module().globals[places].relocs[n].generic;
        let (base, to) = (self.b.global_addr(places), if generic { Type::PTR } else { Type::PTR_CONST });
        let place = self.b.ins().load(to, MemFlags::PLAIN, base, 8 * n as i32);
        let value = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
        self.values.push(value);
        Ok(())
    }

    /// Writes a value to the thread's part of the output, if there is room for it from the offset on.
    pub(super) fn write_own(&mut self, value: Value, offset: i32) -> Result<()> {
        let Some(pointers) = self.pointers else { return Ok(()) };
        let mut value = self.settled(value);
        let ty = self.b.func().dfg.ty(value);
        if ty.is_aggregate() && offset as u64 + self.b.module().types.size(ty) > u64::from(BYTES_PER_THREAD) {
            return Ok(());
        }
        if let (None, Some(int)) = (ty.bytes(), Type::int(ty.bits())) {
            // What has no memory form goes there as an integer.
            value = self.b.ins().bitcast(int, value);
        }
        let size = self.b.func().dfg.ty(value).bytes().unwrap_or(1).next_power_of_two();
        let known = (1 << offset.trailing_zeros().min(8)).min(size);
        let align = if self.u.ratio(1, 4)? { 1 << self.u.int_in_range(0..=known.ilog2())? } else { known };
        let flags = match align == size {
            true => MemFlags::PLAIN,
            false => MemFlags::PLAIN.with_align(align).expect("a power of two"),
        };
        self.b.ins().store(flags, value, pointers.own, offset);
        Ok(())
    }
}
