//! Memory: loads and stores of any type, addresses, stack memory.

use super::function::{Builder, Values};
use super::shape::{self, Part, container};
use crate::error::{Error, Result};
use crate::module::ValueId;
use crate::module::body::{Access, Inst};
use crate::module::types::{Type as Llvm, TypeId};
use smallvec::SmallVec;
use warpsmith_ir::{InstBuilder, MemFlags, Type, Value};

/// The flags of an access at its natural alignment.
pub(super) fn access_flags(volatile: bool, invariant: bool) -> MemFlags {
    let mut flags = MemFlags::PLAIN;
    flags.volatile = volatile;
    flags.invariant = invariant;
    flags
}

/// The alignment of what lies at an offset from something aligned.
pub(super) fn align_at(align: u64, offset: u64) -> u64 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}

impl Builder<'_, '_, '_> {
    fn flags(&self, base: MemFlags, align: u64) -> MemFlags {
        // A vector of four 32-bit words is what one access moves: more alignment says nothing.
        base.with_align(align.clamp(1, 16) as u32).unwrap_or(base)
    }

    /// Moves a pointer by bytes, and the offset that a load or store takes.
    fn offset(&mut self, pointer: Value, offset: u64) -> (Value, i32) {
        match i32::try_from(offset) {
            Ok(offset) => (pointer, offset),
            Err(_) => {
                let bytes = self.b.ins().iconst(Type::I64, offset as i64);
                (self.b.ins().ptradd(pointer, bytes), 0)
            }
        }
    }

    /// Loads a value.
    pub fn load_parts(&mut self, ty: TypeId, pointer: Value, align: u64, flags: MemFlags) -> Result<Values> {
        if let Some(part) = shape::single(self.types(), ty) {
            return Ok(Values::from_slice(&[self.load_part(part, pointer, align, flags)]));
        }
        let parts = self.parts(ty)?;
        if shape::is_packed(self.types(), ty) {
            let words = self.words(ty)?;
            let loaded = self.load_list(&words, pointer, align, flags);
            return self.regroup(&loaded, &words, &parts);
        }
        Ok(self.load_list(&parts, pointer, align, flags))
    }

    /// The integers that a vector is in memory whose elements do not fill bytes.
    fn words(&self, ty: TypeId) -> Result<Vec<Part>> {
        let bits = u32::try_from(self.types().bits(ty)?)
            .map_err(|_| Error::unsupported("a vector of too many bits"))?;
        let word = |n: u32| {
            let bits = (bits - n * 64).min(64);
            Part { ty: container(bits), bits, offset: u64::from(n) * 8 }
        };
        Ok((0..bits.div_ceil(64)).map(word).collect())
    }

    fn load_list(&mut self, parts: &[Part], pointer: Value, align: u64, flags: MemFlags) -> Values {
        let mut out = Values::new();
        let mut n = 0;
        while n < parts.len() {
            let lanes = self.run_of(&parts[n..], align);
            if let Some(vector) = Type::vector(parts[n].ty.element(), lanes).filter(|_| lanes > 1) {
                let (pointer, offset) = self.offset(pointer, parts[n].offset);
                let flags = self.flags(flags, align_at(align, parts[n].offset));
                let loaded = self.b.ins().load(vector, flags, pointer, offset);
                out.extend((0..lanes).map(|lane| self.b.ins().extract(loaded, lane as u8)));
                n += lanes as usize;
            } else {
                out.push(self.load_part(parts[n], pointer, align, flags));
                n += 1;
            }
        }
        out
    }

    /// How many parts from the first on one access moves: equal ones, side by side, as far as the alignment goes.
    fn run_of(&self, parts: &[Part], align: u64) -> u32 {
        let Some(first) = parts.first() else { return 1 };
        let size = first.bytes();
        if first.ty.is_ptr() || first.bits < 8 || first.ty.bits() != first.bits || !size.is_power_of_two() {
            return 1;
        }
        let side_by_side = parts.iter().zip(0u64..).take_while(|(part, n)| {
            part.ty == first.ty
                && part.bits == first.bits
                && part.offset == first.offset + n * u64::from(size)
        });
        let many = side_by_side.count() as u32;
        let limit = (align_at(align, first.offset).min(16) as u32) / size;
        let lanes = many.min(limit).max(1);
        // The largest power of two that fits.
        1 << lanes.ilog2()
    }

    fn load_part(&mut self, part: Part, pointer: Value, align: u64, flags: MemFlags) -> Value {
        let flags = self.flags(flags, align_at(align, part.offset));
        let (pointer, offset) = self.offset(pointer, part.offset);
        let loaded = self.b.ins().load(part.in_memory(), flags, pointer, offset);
        if part.ty == part.in_memory() { loaded } else { self.resize(loaded, part.ty) }
    }

    /// Stores a value.
    pub fn store_parts(
        &mut self,
        ty: TypeId,
        values: Values,
        pointer: Value,
        align: u64,
        flags: MemFlags,
    ) -> Result<()> {
        if let (Some(part), &[value]) = (shape::single(self.types(), ty), &values[..]) {
            let value = self.pointer_as(value, part.ty);
            self.store_part(part, value, pointer, align, flags);
            return Ok(());
        }
        let parts = self.parts(ty)?;
        if values.len() != parts.len() {
            let message = format!("a store of {} scalars as `{}`", values.len(), self.types().display(ty));
            return Err(Error::unsupported(message));
        }
        let values = self.as_parts(values, &parts);
        if shape::is_packed(self.types(), ty) {
            let words = self.words(ty)?;
            let values = self.regroup(&values, &parts, &words)?;
            self.store_list(&words, &values, pointer, align, flags);
        } else {
            self.store_list(&parts, &values, pointer, align, flags);
        }
        Ok(())
    }

    fn store_list(&mut self, parts: &[Part], values: &[Value], pointer: Value, align: u64, flags: MemFlags) {
        let mut n = 0;
        while n < parts.len().min(values.len()) {
            let lanes = self.run_of(&parts[n..], align);
            if lanes > 1 {
                let vector = self.b.ins().vec(&values[n..n + lanes as usize]);
                let (pointer, offset) = self.offset(pointer, parts[n].offset);
                let flags = self.flags(flags, align_at(align, parts[n].offset));
                self.b.ins().store(flags, vector, pointer, offset);
                n += lanes as usize;
            } else {
                self.store_part(parts[n], values[n], pointer, align, flags);
                n += 1;
            }
        }
    }

    fn store_part(&mut self, part: Part, value: Value, pointer: Value, align: u64, flags: MemFlags) {
        let flags = self.flags(flags, align_at(align, part.offset));
        let (pointer, offset) = self.offset(pointer, part.offset);
        let value = if part.ty == part.in_memory() { value } else { self.resize(value, part.in_memory()) };
        self.b.ins().store(flags, value, pointer, offset);
    }

    /// A pointer that loads and stores go to: the IR's do not reach the shared memory of other blocks.
    pub fn accessible(&mut self, ptr: ValueId) -> Result<Value> {
        let of_cluster =
            self.llvm_type(ptr).is_some_and(|ty| matches!(self.ty(ty), Llvm::Pointer { space: 7, .. }));
        if of_cluster {
            let message =
                "an access to `addrspace(7)`, the shared memory of a cluster, other than by `llvm.nvvm.*`";
            return Err(Error::unsupported(message));
        }
        let pointer = self.scalar(ptr)?;
        if self.type_of(pointer).is_ptr() {
            Ok(pointer)
        } else {
            Err(Error::invalid("an access to memory through what is not a pointer"))
        }
    }

    /// A plain load.
    pub fn load(&mut self, n: u32, inst: &Inst, ptr: ValueId, access: &Access) -> Result<()> {
        let pointer = self.accessible(ptr)?;
        let invariant = !access.volatile && (self.invariant_loads.contains(&n) || self.is_invariant(ptr));
        let in_global = matches!(self.type_of(pointer), Type::PTR_GLOBAL | Type::PTR_CONST);
        let flags = access_flags(access.volatile, invariant && in_global);
        let align = access.align.unwrap_or_else(|| self.types().align(inst.ty));
        if let Some(part) = shape::single(self.types(), inst.ty) {
            let loaded = self.load_part(part, pointer, align, flags);
            let ty = inst.value.map_or(part.ty, |result| self.known_type(result, part.ty));
            let loaded = self.pointer_as(loaded, ty);
            return self.result(inst, &[loaded]);
        }
        let mut values = self.load_parts(inst.ty, pointer, align, flags)?;
        if let ([value], Some(result)) = (values.as_mut_slice(), inst.value) {
            let ty = self.known_type(result, self.type_of(*value));
            *value = self.pointer_as(*value, ty);
        }
        self.result(inst, &values)
    }

    /// A plain store.
    pub fn store(&mut self, ptr: ValueId, value: ValueId, access: &Access) -> Result<()> {
        let pointer = self.accessible(ptr)?;
        if self.type_of(pointer) == Type::PTR_CONST {
            return Err(Error::invalid("a store to constant memory"));
        }
        let ty = self.value_type(value)?;
        let values = self.value(value)?;
        let flags = access_flags(access.volatile, false);
        let align = access.align.unwrap_or_else(|| self.types().align(ty));
        self.store_parts(ty, values, pointer, align, flags)
    }

    /// The LLVM type of a value; symbols are pointers.
    pub fn value_type(&mut self, value: ValueId) -> Result<TypeId> {
        if let Some(ty) = self.llvm_type(value) {
            return Ok(ty);
        }
        let module = &mut self.importer.modules[self.site.module].1;
        module
            .value_type(value)
            .ok_or_else(|| Error::unsupported(format!("value {} without a type", value.0)))
    }

    /// Memory of the function.
    pub fn alloca(
        &mut self,
        block: u32,
        inst: &Inst,
        ty: TypeId,
        count: ValueId,
        align: Option<u64>,
    ) -> Result<()> {
        let size = self.types().alloc_size(ty)?;
        let natural = self.types().align(ty);
        let align = align.unwrap_or(natural).clamp(1, 1 << 16);
        let known = self.constant_integer(count).and_then(|n| u64::try_from(n).ok());
        // In another block than the first it may be reached many times, each time for memory of its own.
        let again = block != 0 && self.in_loop(block);
        let Some(count) = known.filter(|_| !again) else {
            return self.dynamic_alloca(inst, size, count, align);
        };
        let size = size.checked_mul(count).and_then(|size| u32::try_from(size).ok());
        let size = size.ok_or_else(|| Error::unsupported("`alloca` of more than 2^32 bytes"))?;
        let slot = self.b.create_stack_slot(size.max(1), (align as u32).max(roomy(size)));
        let address = self.b.ins().stack_addr(slot, 0);
        self.allocated(inst, address)
    }

    /// Memory whose size is computed, or that is asked for again and again: PTX's `alloca`, which lasts as long as the call.
    fn dynamic_alloca(&mut self, inst: &Inst, size: u64, count: ValueId, align: u64) -> Result<()> {
        let count = self.scalar(count)?;
        let count = self.resize(count, Type::I64);
        let bytes = self.b.ins().imul_imm(count, i64::try_from(size).unwrap_or(i64::MAX));
        let address = self.ptx_one(
            "alloca.u64",
            vec![bytes.into(), i64::try_from(align.max(8)).unwrap_or(8).into()],
            Type::I64,
        )?;
        let address = self.b.ins().inttoptr(Type::PTR_LOCAL, address);
        self.allocated(inst, address)
    }

    fn allocated(&mut self, inst: &Inst, address: Value) -> Result<()> {
        let parts = self.parts(inst.ty)?;
        let address = match parts.first() {
            Some(part) if part.ty != Type::PTR => self.pointer_as(address, part.ty),
            _ => address,
        };
        self.result(inst, &[address])
    }

    /// True if a block can be reached from itself.
    fn in_loop(&self, block: u32) -> bool {
        let mut seen = vec![false; self.body.blocks.len()];
        let mut work = vec![block];
        while let Some(at) = work.pop() {
            let last = self
                .body
                .blocks
                .get(at as usize)
                .and_then(|range| self.body.insts.get(range.end.checked_sub(1)? as usize));
            for next in last.map_or(Default::default(), |inst| self.body.successors(inst)) {
                if next == block {
                    return true;
                }
                if !std::mem::replace(&mut seen[next as usize], true) {
                    work.push(next);
                }
            }
        }
        false
    }

    pub fn gep(&mut self, inst: &Inst, source: TypeId, base: ValueId, indices: &[ValueId]) -> Result<()> {
        if shape::single(self.types(), inst.ty).is_some() {
            let of_base = self.scalar(base)?;
            let mut all: SmallVec<[(TypeId, Value); 4]> = SmallVec::new();
            for index in indices {
                let ty = self.value_type(*index)?;
                // An index of more than 64 bits is cut off to its lowest limb.
                all.extend(self.value(*index)?.first().map(|value| (ty, *value)));
            }
            let address = self.address(source, of_base, &all)?;
            self.inherit_invariant(base, inst.value);
            return self.result(inst, &[address]);
        }
        let bases = self.value(base)?;
        let mut all: Vec<(TypeId, Values)> = Vec::new();
        for index in indices {
            let ty = self.value_type(*index)?;
            all.push((ty, self.value(*index)?));
        }
        let lanes = self.parts(inst.ty)?.len();
        let mut out = Values::new();
        for lane in 0..lanes {
            let pick = |values: &Values| values.get(lane).or(values.first()).copied();
            let Some(base) = pick(&bases) else { return Err(Error::unsupported("an address of nothing")) };
            // An index of more than 64 bits is cut off to its lowest limb.
            let indices: SmallVec<[(TypeId, Value); 4]> = all
                .iter()
                .filter_map(|(ty, values)| {
                    let (element, count) = self.lanes(*ty);
                    let value = if count > 1 { pick(values) } else { values.first().copied() };
                    Some((element, value?))
                })
                .collect();
            out.push(self.address(source, base, &indices)?);
        }
        self.inherit_invariant(base, inst.value);
        self.result(inst, &out)
    }

    /// The address that indices lead to. Computed indices come first, so that loads and stores take the constant rest.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no parts is refused by name")]
    pub fn address(&mut self, source: TypeId, base: Value, indices: &[(TypeId, Value)]) -> Result<Value> {
        let mut ty = source;
        let mut constant: i64 = 0;
        let mut pointer = base;
        for (n, (of_index, index)) in indices.iter().enumerate() {
            let bits = self.width(*of_index)?;
            let known = self.b.func().dfg.int_const(*index).map(|value| sign(value, bits));
            let step = if n == 0 {
                self.types().alloc_size(ty)?
            } else {
                match self.ty(ty) {
                    Llvm::Struct { fields, .. } => {
                        let field = known.and_then(|n| usize::try_from(n).ok()).filter(|n| *n < fields.len());
                        let field = field
                            .ok_or_else(|| Error::unsupported("a field of a struct that is computed"))?;
                        constant = constant.wrapping_add(self.types().field_offset(ty, field)? as i64);
                        ty = fields[field];
                        continue;
                    }
                    Llvm::Array { element, .. } => {
                        ty = *element;
                        self.types().alloc_size(ty)?
                    }
                    Llvm::Vector { element, .. } => {
                        ty = *element;
                        self.types().bits(ty)? / 8
                    }
                    _ => {
                        return Err(Error::unsupported(format!(
                            "an index into `{}`",
                            self.types().display(ty)
                        )));
                    }
                }
            };
            if let Some(known) = known {
                constant = constant.wrapping_add(known.wrapping_mul(step as i64));
                continue;
            }
            let wide = if bits == 32 {
                *index
            } else {
                self.resize_signed(*index, if bits < 32 { Type::I32 } else { Type::I64 })
            };
            pointer = match i32::try_from(step) {
                Ok(0) => pointer,
                Ok(step) => self.b.ins().index(pointer, wide, step),
                Err(_) => {
                    let wide = self.resize_signed(wide, Type::I64);
                    let size = self.b.ins().iconst(Type::I64, step as i64);
                    let bytes = self.b.ins().imul(wide, size);
                    self.b.ins().ptradd(pointer, bytes)
                }
            };
        }
        if constant != 0 {
            let bytes = self.b.ins().iconst(Type::I64, constant);
            pointer = self.b.ins().ptradd(pointer, bytes);
        }
        Ok(pointer)
    }
}

/// A constant of so many bits as a signed number.
fn sign(value: i64, bits: u32) -> i64 {
    match bits {
        1..=63 => value << (64 - bits) >> (64 - bits),
        _ => value,
    }
}

/// The alignment that a variable gets for nothing: of the largest access that its size is a multiple of. Code that reads an array of halves by words, which other
/// compilers place well by luck, then never faults.
fn roomy(size: u32) -> u32 {
    const WIDEST: u32 = 16;
    1 << size.trailing_zeros().min(WIDEST.trailing_zeros())
}
