//! Memory: every access is checked against the regions of the context.

use super::integer::Int;
use super::{Fallible, Kind, PLAIN, Translator};
use crate::context::{Context, OFFSET_BITS, Region, address};
use crate::fault::FaultKind;
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{self as clif, InstBuilder, Value, types};
use std::mem::{offset_of, size_of};
use warpsmith_ir::{
    self as ir, AtomicOp, Extent, FloatBinary, GlobalId, IntBinary, Linkage, MemFlags, MemoryMode, Scalar,
    Type,
};

impl Translator<'_, '_, '_> {
    /// The address of a global: its region follows that of local memory.
    pub(super) fn global(&mut self, global: GlobalId, offset: i32) -> Fallible<Value> {
        self.shop.uses_memory = true;
        let number = self.module.globals.keys().position(|known| known == global);
        let Some(number) = number else { return self.refuse("an unknown global") };
        let data = &self.module.globals[global];
        let plain =
            data.handle.is_none() && data.linkage != Linkage::Extern && data.extent != Extent::Dynamic;
        if !plain || !data.relocs.is_empty() {
            return self.refuse(format_args!(
                "`@{}`, which is bound, sized or filled with addresses by whoever loads the module,",
                data.name
            ));
        }
        self.shop
            .globals
            .insert(number, (data.size(&self.module.types), data.init.clone().unwrap_or_default()));
        let at = address(number + 1, 0).wrapping_add_signed(i64::from(offset));
        Ok(self.b.ins().iconst(types::I64, at as i64))
    }

    /// The host's address of so many bytes that the guest may access.
    fn place(&mut self, ptr: ir::Value, offset: i32, bytes: u32, align: u32) -> Fallible<Value> {
        let (pointer, span) = (self.one(ptr)?, self.span());
        let at = if offset == 0 { pointer } else { self.b.ins().iadd_imm_s(pointer, i64::from(offset)) };
        self.set_field(at, Context::ADDRESS);
        let by = self.number(OFFSET_BITS);
        let region = self.b.ins().ushr(at, by);
        let region = self.b.ins().iadd_imm_s(region, -1);
        let count = self.field(types::I64, Context::REGION_COUNT);
        let none = self.b.ins().icmp(Cc::UnsignedGreaterThanOrEqual, region, count);
        self.fail_if(none, FaultKind::OutOfBounds, span);
        let regions = self.field(types::I64, Context::REGIONS);
        let entry = self.b.ins().imul_imm_s(region, size_of::<Region>() as i64);
        let entry = self.b.ins().iadd(regions, entry);
        let len = self.b.ins().load(types::I64, PLAIN, entry, offset_of!(Region, len) as i32);
        let mask = self.b.ins().iconst(types::I64, (1 << OFFSET_BITS) - 1);
        let within = self.b.ins().band(at, mask);
        let end = self.b.ins().iadd_imm_s(within, i64::from(bytes));
        let over = self.b.ins().icmp(Cc::UnsignedGreaterThan, end, len);
        self.fail_if(over, FaultKind::OutOfBounds, span);
        if align > 1 {
            let low = self.b.ins().band_imm_s(at, i64::from(align) - 1);
            self.fail_if(low, FaultKind::Misaligned, span);
        }
        let base = self.b.ins().load(types::I64, PLAIN, entry, offset_of!(Region, base) as i32);
        Ok(self.b.ins().iadd(base, within))
    }

    fn size(&self, ty: Type, flags: MemFlags) -> (u32, u32) {
        let types = &self.module.types;
        match ty.bytes() {
            Some(bytes) => (bytes, flags.align(ty)),
            None => (types.size(ty) as u32, flags.explicit_align().unwrap_or(types.align(ty))),
        }
    }

    /// The scalars and vectors of a type, with their offsets.
    fn pieces(&self, ty: Type) -> Vec<(Type, u64)> {
        if ty.is_aggregate() { self.module.types.parts_of(ty) } else { vec![(ty, 0)] }
    }

    pub(super) fn load(
        &mut self,
        ty: Type,
        flags: MemFlags,
        ptr: ir::Value,
        offset: i32,
    ) -> Fallible<Vec<Value>> {
        let (bytes, align) = self.size(ty, flags);
        let base = self.place(ptr, offset, bytes, align)?;
        let mut parts = Vec::new();
        for (piece, at) in self.pieces(ty) {
            let at = at as i32;
            if piece.element() == Scalar::I1 && piece.is_vector() {
                for lane in 0..piece.lanes() {
                    let byte = self.b.ins().load(types::I8, PLAIN, base, at + lane as i32 / 8);
                    let by = self.number(lane % 8);
                    let bit = self.b.ins().ushr(byte, by);
                    parts.push(self.b.ins().band_imm_s(bit, 1));
                }
                continue;
            }
            if !piece.element_type().bits().is_multiple_of(8) && piece.is_vector() {
                return self.refuse(format_args!("an access of {piece}"));
            }
            let (kind, step) = (Kind::of(piece.element()), piece.element_type().bits().div_ceil(8));
            for lane in 0..piece.lanes() {
                parts.push(self.load_scalar(kind, piece.element_type(), base, at + (lane * step) as i32));
            }
        }
        Ok(parts)
    }

    fn load_scalar(&mut self, kind: Kind, ty: Type, base: Value, at: i32) -> Value {
        let bits = ty.bits();
        let int = Int::of_bits(bits);
        let mut whole: Option<Value> = None;
        for (offset, width) in power_pieces(bits.div_ceil(8)) {
            let loaded = self.b.ins().load(width, PLAIN, base, at + offset as i32);
            let resized = self.resized(width, loaded, int.ty);
            whole = Some(match whole {
                None => resized,
                Some(below) => {
                    let by = self.number(8 * offset);
                    let up = self.b.ins().ishl(resized, by);
                    self.b.ins().bor(below, up)
                }
            });
        }
        let whole = match whole {
            // A byte that holds a truth value is true if it is not zero.
            Some(whole) if bits == 1 => self.b.ins().icmp_imm_s(Cc::NotEqual, whole, 0),
            Some(whole) => self.cut(int, whole),
            None => self.int(int, 0),
        };
        self.of_bits(kind, whole)
    }

    pub(super) fn store(
        &mut self,
        value: ir::Value,
        flags: MemFlags,
        ptr: ir::Value,
        offset: i32,
    ) -> Fallible<()> {
        let ty = self.ty(value);
        let (bytes, align) = self.size(ty, flags);
        let mut parts = self.parts(value)?.into_iter();
        let base = self.place(ptr, offset, bytes, align)?;
        for (piece, at) in self.pieces(ty) {
            let at = at as i32;
            if piece.element() == Scalar::I1 && piece.is_vector() {
                let mut byte = self.b.ins().iconst(types::I8, 0);
                for lane in 0..piece.lanes() {
                    let Some(bit) = parts.next() else { break };
                    let by = self.number(lane % 8);
                    let up = self.b.ins().ishl(bit, by);
                    byte = self.b.ins().bor(byte, up);
                    if lane % 8 == 7 || lane + 1 == piece.lanes() {
                        self.b.ins().store(PLAIN, byte, base, at + lane as i32 / 8);
                        byte = self.b.ins().iconst(types::I8, 0);
                    }
                }
                continue;
            }
            if !piece.element_type().bits().is_multiple_of(8) && piece.is_vector() {
                return self.refuse(format_args!("an access of {piece}"));
            }
            let (kind, step) = (Kind::of(piece.element()), piece.element_type().bits().div_ceil(8));
            for (lane, part) in parts.by_ref().take(piece.lanes() as usize).enumerate() {
                self.store_scalar(kind, piece.element_type(), part, base, at + (lane as u32 * step) as i32);
            }
        }
        Ok(())
    }

    fn store_scalar(&mut self, kind: Kind, ty: Type, value: Value, base: Value, at: i32) {
        let bits = self.bits(kind, value);
        let from = self.b.func.dfg.value_type(bits);
        for (offset, width) in power_pieces(ty.bits().div_ceil(8)) {
            let by = self.number(8 * offset);
            let down = if offset == 0 { bits } else { self.b.ins().ushr(bits, by) };
            let piece = self.resized(from, down, width);
            self.b.ins().store(PLAIN, piece, base, at + offset as i32);
        }
    }

    /// An atomic access. Threads run one after another, so that any access is atomic.
    pub(super) fn atomic_load(&mut self, ty: Type, ptr: ir::Value) -> Fallible<Vec<Value>> {
        self.load(ty, MemFlags::PLAIN, ptr, 0)
    }

    pub(super) fn compare_exchange(&mut self, [ptr, old, new]: [ir::Value; 3]) -> Fallible<Vec<Value>> {
        let ty = self.ty(old);
        let (bytes, align) = self.size(ty, MemFlags::PLAIN);
        let base = self.place(ptr, 0, bytes, align)?;
        let kind = Kind::of(ty.element());
        let held = self.load_scalar(kind, ty, base, 0);
        let (old, new) = (self.one(old)?, self.one(new)?);
        let (a, b) = (self.bits(kind, held), self.bits(kind, old));
        let same = self.b.ins().icmp(Cc::Equal, a, b);
        let next = self.pick(same, new, held);
        self.store_scalar(kind, ty, next, base, 0);
        Ok(vec![held, same])
    }

    pub(super) fn read_modify_write(
        &mut self,
        mode: MemoryMode,
        ptr: ir::Value,
        operand: ir::Value,
    ) -> Fallible<Vec<Value>> {
        let ty = self.ty(operand);
        let (bytes, align) = self.size(ty, MemFlags::PLAIN);
        let base = self.place(ptr, 0, bytes, align)?;
        let kind = Kind::of(ty.element());
        let old = self.load_scalar(kind, ty, base, 0);
        let x = self.one(operand)?;
        let Some(op) = mode.op else { return self.refuse("an atomic access without an operation") };
        let new = match (op, kind) {
            (AtomicOp::Xchg, _) => x,
            (AtomicOp::Iadd, Kind::Int(int)) => self.int_binary(IntBinary::Iadd, int, old, x)?,
            (AtomicOp::Isub, Kind::Int(int)) => self.int_binary(IntBinary::Isub, int, old, x)?,
            (AtomicOp::Band, Kind::Int(int)) => self.int_binary(IntBinary::Band, int, old, x)?,
            (AtomicOp::Bor, Kind::Int(int)) => self.int_binary(IntBinary::Bor, int, old, x)?,
            (AtomicOp::Bxor, Kind::Int(int)) => self.int_binary(IntBinary::Bxor, int, old, x)?,
            (AtomicOp::Nand, Kind::Int(int)) => {
                let both = self.b.ins().band(old, x);
                let not = self.b.ins().bnot(both);
                self.cut(int, not)
            }
            (AtomicOp::Smin, Kind::Int(int)) => self.int_binary(IntBinary::Smin, int, old, x)?,
            (AtomicOp::Smax, Kind::Int(int)) => self.int_binary(IntBinary::Smax, int, old, x)?,
            (AtomicOp::Umin, Kind::Int(int)) => self.int_binary(IntBinary::Umin, int, old, x)?,
            (AtomicOp::Umax, Kind::Int(int)) => self.int_binary(IntBinary::Umax, int, old, x)?,
            (AtomicOp::Inc, Kind::Int(int)) => {
                let more = self.b.ins().iadd_imm_s(old, 1);
                let (last, zero) =
                    (self.b.ins().icmp(Cc::UnsignedGreaterThanOrEqual, old, x), self.int(int, 0));
                self.b.ins().select(last, zero, more)
            }
            (AtomicOp::Dec, Kind::Int(int)) => {
                let (less, zero) = (self.b.ins().iadd_imm_s(old, -1), self.int(int, 0));
                let (none, beyond) = (
                    self.b.ins().icmp(Cc::Equal, old, zero),
                    self.b.ins().icmp(Cc::UnsignedGreaterThan, old, x),
                );
                let starts = self.b.ins().bor(none, beyond);
                self.b.ins().select(starts, x, less)
            }
            (AtomicOp::Fmin, Kind::Half(_) | Kind::Single | Kind::Double) => {
                self.float_binary(FloatBinary::Fmin, kind, old, x)?
            }
            (AtomicOp::Fmax, Kind::Half(_) | Kind::Single | Kind::Double) => {
                self.float_binary(FloatBinary::Fmax, kind, old, x)?
            }
            // Those of `f32` flush subnormals in global memory alone, which an address does not say here.
            _ => return self.refuse(format_args!("`atomic_rmw {op}` of {ty}")),
        };
        self.store_scalar(kind, ty, new, base, 0);
        Ok(vec![old])
    }
}

/// A number of bytes as accesses of powers of two, each with its offset.
fn power_pieces(bytes: u32) -> Vec<(u32, clif::Type)> {
    let (mut at, mut pieces) = (0, Vec::new());
    while at < bytes {
        let size = match bytes - at {
            16.. => 16,
            8.. => 8,
            4.. => 4,
            2.. => 2,
            _ => 1,
        };
        pieces.push((
            at,
            match size {
                16 => types::I128,
                8 => types::I64,
                4 => types::I32,
                2 => types::I16,
                _ => types::I8,
            },
        ));
        at += size;
    }
    pieces
}
