//! Atomic accesses and fences: those of the IR. What PTX has no instruction for, it makes a loop of; what the IR does not have either is one
//! around its `cmpxchg`.

use super::function::{Builder, Values};
use super::memory::access_flags;
use super::shape::{Part, container};
use crate::error::{Error, Result};
use crate::module::ValueId;
use crate::module::body::{Access, Inst};
use crate::module::ops::{BinaryOp, Ordering, RmwOp};
use warpsmith_ir::{AtomicOp, InstBuilder, IntCC, MemoryOrder, MemoryScope, Opcode, Type, Value};

/// The state space of a pointer in a mnemonic.
pub(super) fn space(ty: Type) -> &'static str {
    match ty {
        Type::PTR_GLOBAL => ".global",
        Type::PTR_SHARED => ".shared",
        _ => "",
    }
}

/// The order of an access that reads and writes.
fn order(ordering: Ordering) -> MemoryOrder {
    match ordering {
        Ordering::NotAtomic | Ordering::Unordered | Ordering::Monotonic => MemoryOrder::Relaxed,
        Ordering::Acquire => MemoryOrder::Acquire,
        Ordering::Release => MemoryOrder::Release,
        Ordering::AcqRel => MemoryOrder::AcqRel,
        Ordering::SeqCst => MemoryOrder::SeqCst,
    }
}

/// The order of a load: one that releases has no meaning.
fn load_order(ordering: Ordering) -> MemoryOrder {
    match order(ordering) {
        MemoryOrder::Release => MemoryOrder::Relaxed,
        MemoryOrder::AcqRel => MemoryOrder::Acquire,
        known @ (MemoryOrder::Relaxed | MemoryOrder::Acquire | MemoryOrder::SeqCst) => known,
    }
}

/// The order of a store: one that acquires has no meaning.
fn store_order(ordering: Ordering) -> MemoryOrder {
    match order(ordering) {
        MemoryOrder::Acquire => MemoryOrder::Relaxed,
        MemoryOrder::AcqRel => MemoryOrder::Release,
        known @ (MemoryOrder::Relaxed | MemoryOrder::Release | MemoryOrder::SeqCst) => known,
    }
}

/// The IR's operation, of those on integers and on floats.
fn of_ir(op: RmwOp) -> Option<AtomicOp> {
    Some(match op {
        RmwOp::Xchg => AtomicOp::Xchg,
        RmwOp::Add => AtomicOp::Iadd,
        RmwOp::Sub => AtomicOp::Isub,
        RmwOp::And => AtomicOp::Band,
        RmwOp::Or => AtomicOp::Bor,
        RmwOp::Xor => AtomicOp::Bxor,
        RmwOp::Nand => AtomicOp::Nand,
        RmwOp::Max => AtomicOp::Smax,
        RmwOp::Min => AtomicOp::Smin,
        RmwOp::Umax => AtomicOp::Umax,
        RmwOp::Umin => AtomicOp::Umin,
        RmwOp::UincWrap => AtomicOp::Inc,
        RmwOp::UdecWrap => AtomicOp::Dec,
        RmwOp::Fadd => AtomicOp::Fadd,
        RmwOp::Fsub => AtomicOp::Fsub,
        RmwOp::Fmax | RmwOp::FmaximumNum => AtomicOp::Fmax,
        RmwOp::Fmin | RmwOp::FminimumNum => AtomicOp::Fmin,
        RmwOp::Fmaximum | RmwOp::Fminimum | RmwOp::UsubCond | RmwOp::UsubSat => return None,
    })
}

/// An access to memory that other threads may see, or the thread's own.
#[derive(Clone, Copy)]
struct Place {
    pointer: Value,
    /// None: no other thread sees it, and plain accesses do.
    scope: Option<MemoryScope>,
}

impl Builder<'_, '_, '_> {
    fn scope(&self, scope: u64) -> Result<MemoryScope> {
        let known = usize::try_from(scope).ok().and_then(|n| self.module().scopes.get(n)).map(String::as_str);
        Ok(match (scope, known.unwrap_or_default()) {
            (0, _) | (_, "singlethread") => MemoryScope::Thread,
            (1, _) | (_, "" | "system") => MemoryScope::Sys,
            (_, "device" | "agent") => MemoryScope::Gpu,
            (_, "block" | "workgroup" | "wavefront" | "warp") => MemoryScope::Cta,
            (_, "cluster") => MemoryScope::Cluster,
            (_, other) => return Err(Error::unsupported(format!("the scope `{other}`"))),
        })
    }

    pub fn fence(&mut self, ordering: Ordering, scope: u64) -> Result<()> {
        let scope = self.scope(scope)?;
        self.b.ins().fence(order(ordering), scope);
        Ok(())
    }

    /// Where an access goes. Local memory is seen by one thread.
    fn place(&mut self, ptr: ValueId, scope: u64) -> Result<Place> {
        let pointer = self.accessible(ptr)?;
        let scope = self.scope(scope)?;
        Ok(match self.type_of(pointer) {
            Type::PTR_LOCAL => Place { pointer, scope: None },
            _ if scope == MemoryScope::Thread => Place { pointer, scope: None },
            Type::PTR_GLOBAL | Type::PTR_SHARED => Place { pointer, scope: Some(scope) },
            _ => Place { pointer: self.generic(pointer), scope: Some(scope) },
        })
    }

    /// The only scalar of what is accessed, and the type that memory holds it as.
    fn accessed(&self, inst_type: crate::module::types::TypeId, what: &str) -> Result<(Part, Type)> {
        let parts = self.parts(inst_type)?;
        let [part] = parts.as_slice() else {
            return Err(Error::unsupported(format!("{what} of several scalars")));
        };
        let ty = part.in_memory();
        let fits = ty.is_ptr() || matches!(ty.bits(), 8 | 16 | 32 | 64 | 128);
        if !fits {
            return Err(Error::unsupported(format!("{what} of `{}`", self.types().display(inst_type))));
        }
        Ok((*part, ty))
    }

    pub fn atomic_load(&mut self, inst: &Inst, ptr: ValueId, access: &Access) -> Result<()> {
        let place = self.place(ptr, access.scope)?;
        let (part, ty) = self.accessed(inst.ty, "an atomic load")?;
        let value = match place.scope {
            None => self.b.ins().load(ty, access_flags(true, false), place.pointer, 0),
            Some(scope) => self.b.ins().atomic_load(ty, load_order(access.ordering), scope, place.pointer),
        };
        let mut value = if ty == part.ty { value } else { self.resize(value, part.ty) };
        if let Some(result) = inst.value.filter(|_| ty.is_ptr()) {
            let known = self.known_type(result, ty);
            value = self.pointer_as(value, known);
        }
        self.result(inst, &[value])
    }

    pub fn atomic_store(&mut self, ptr: ValueId, value: ValueId, access: &Access) -> Result<()> {
        let place = self.place(ptr, access.scope)?;
        let of = self.value_type(value)?;
        let (part, ty) = self.accessed(of, "an atomic store")?;
        let value = self.scalar(value)?;
        let value = self.pointer_as(value, part.ty);
        let value = if ty == part.ty { value } else { self.resize(value, ty) };
        match place.scope {
            None => _ = self.b.ins().store(access_flags(true, false), value, place.pointer, 0),
            Some(scope) => {
                self.b.ins().atomic_store(store_order(access.ordering), scope, value, place.pointer);
            }
        }
        Ok(())
    }

    pub fn atomic_rmw(
        &mut self,
        inst: &Inst,
        op: RmwOp,
        ptr: ValueId,
        value: ValueId,
        access: &Access,
    ) -> Result<()> {
        let what = format!("`atomicrmw {}`", op.name());
        let place = self.place(ptr, access.scope)?;
        if self.parts(inst.ty)?.len() > 1 {
            return self.vector_rmw(inst, op, place, value, order(access.ordering));
        }
        let (part, ty) = self.accessed(inst.ty, &what)?;
        if part.ty != ty {
            return Err(Error::unsupported(format!("{what} of `i{}`", part.bits)));
        }
        let operand = self.scalar(value)?;
        let operand = self.pointer_as(operand, ty);
        let Some(scope) = place.scope else {
            let flags = access_flags(true, false);
            let old = self.b.ins().load(ty, flags, place.pointer, 0);
            let new = self.combine(op, old, operand, part.bits)?;
            self.b.ins().store(flags, new, place.pointer, 0);
            return self.result(inst, &[old]);
        };
        let old = match of_ir(op).filter(|op| op.takes(ty)) {
            Some(op) => {
                let (order, scope) = self.of_language(access.ordering, scope);
                self.b.ins().atomic_rmw(op, order, scope, place.pointer, operand)
            }
            None => {
                let seen =
                    self.swap_loop(place, container(part.bits), order(access.ordering), |b, seen| {
                        let old = b.scalar_of(seen, ty);
                        let new = b.combine(op, old, operand, part.bits)?;
                        Ok(b.integer_of(new))
                    })?;
                self.scalar_of(seen, ty)
            }
        };
        self.result(inst, &[old])
    }

    /// The order and scope of an `atomicrmw`. CUDA's `atomicAdd` and its like are relaxed and of the device, and clang writes them as `seq_cst` of the
    /// system; LLVM's back end takes no other order of any of them.
    fn of_language(&self, ordering: Ordering, scope: MemoryScope) -> (MemoryOrder, MemoryScope) {
        match (order(ordering), scope) {
            (MemoryOrder::SeqCst | MemoryOrder::Relaxed, MemoryScope::Sys) if self.cuda => {
                (MemoryOrder::Relaxed, MemoryScope::Gpu)
            }
            known => known,
        }
    }

    /// What an `atomicrmw` writes.
    fn combine(&mut self, op: RmwOp, old: Value, operand: Value, bits: u32) -> Result<Value> {
        let integer = |b: &mut Self, op: BinaryOp| Ok(b.integer(op, bits, &[old], &[operand])?[0]);
        Ok(match op {
            RmwOp::Xchg => operand,
            RmwOp::Add => integer(self, BinaryOp::Add)?,
            RmwOp::Sub => integer(self, BinaryOp::Sub)?,
            RmwOp::And => integer(self, BinaryOp::And)?,
            RmwOp::Or => integer(self, BinaryOp::Or)?,
            RmwOp::Xor => integer(self, BinaryOp::Xor)?,
            RmwOp::Nand => {
                let both = integer(self, BinaryOp::And)?;
                self.b.ins().bnot(both)
            }
            RmwOp::Max => self.b.ins().smax(old, operand),
            RmwOp::Min => self.b.ins().smin(old, operand),
            RmwOp::Umax => self.b.ins().umax(old, operand),
            RmwOp::Umin => self.b.ins().umin(old, operand),
            RmwOp::Fadd => self.float(BinaryOp::Fadd, old, operand)?,
            RmwOp::Fsub => self.float(BinaryOp::Fsub, old, operand)?,
            RmwOp::Fmax | RmwOp::FmaximumNum => self.float_op(Opcode::Fmax, &[old, operand], false),
            RmwOp::Fmin | RmwOp::FminimumNum => self.float_op(Opcode::Fmin, &[old, operand], false),
            RmwOp::Fmaximum => self.float_op(Opcode::Fmaximum, &[old, operand], false),
            RmwOp::Fminimum => self.float_op(Opcode::Fminimum, &[old, operand], false),
            RmwOp::UincWrap => {
                let next = self.b.ins().iadd_imm(old, 1);
                let end = self.b.ins().icmp(IntCC::Uge, old, operand);
                let zero = self.int(bits, 0);
                self.b.ins().select(end, zero, next)
            }
            RmwOp::UdecWrap => {
                let next = self.b.ins().isub_imm(old, 1);
                let start = self.b.ins().icmp_imm(IntCC::Eq, old, 0);
                let above = self.b.ins().icmp(IntCC::Ugt, old, operand);
                let wraps = self.b.ins().bor(start, above);
                self.b.ins().select(wraps, operand, next)
            }
            RmwOp::UsubCond => {
                let less = self.b.ins().isub(old, operand);
                let fits = self.b.ins().icmp(IntCC::Uge, old, operand);
                self.b.ins().select(fits, less, old)
            }
            RmwOp::UsubSat => self.b.ins().usub_sat(old, operand),
        })
    }

    /// Changes an integer in memory until no other thread came between: what it was before.
    fn swap_loop(
        &mut self,
        place: Place,
        int: Type,
        order: MemoryOrder,
        change: impl FnOnce(&mut Self, Value) -> Result<Value>,
    ) -> Result<Value> {
        let Some(scope) = place.scope else {
            let flags = access_flags(true, false);
            let old = self.b.ins().load(int, flags, place.pointer, 0);
            let new = change(self, old)?;
            self.b.ins().store(flags, new, place.pointer, 0);
            return Ok(old);
        };
        let first = self.b.ins().atomic_load(int, MemoryOrder::Relaxed, scope, place.pointer);
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(head, int);
        self.b.ins().jump(head, &[first]);
        self.b.switch_to_block(head);
        let new = change(self, seen)?;
        let failure = if order == MemoryOrder::SeqCst { order } else { MemoryOrder::Relaxed };
        let results = self.b.ins().cmpxchg([order, failure], scope, place.pointer, seen, new);
        let mut results = results.into_iter();
        let (found, same) = (results.next(), results.next());
        let (found, same) = found.zip(same).ok_or_else(|| Error::unsupported("`cmpxchg` without results"))?;
        self.b.ins().brif(same, done, &[], head, &[found]);
        self.b.switch_to_block(done);
        Ok(seen)
    }

    /// On a vector: all of its elements at once, as an integer of their bits.
    fn vector_rmw(
        &mut self,
        inst: &Inst,
        op: RmwOp,
        place: Place,
        value: ValueId,
        order: MemoryOrder,
    ) -> Result<()> {
        let parts = self.parts(inst.ty)?.to_vec();
        let bits: u32 = parts.iter().map(|part| part.bits).sum();
        // One after the other without gaps, each of whole bytes.
        let mut end = 0;
        let side_by_side = parts.iter().all(|part| {
            let fits = part.offset == end && part.in_memory().bits() == part.bits;
            end = part.offset + u64::from(part.bytes());
            fits
        });
        if !matches!(bits, 16 | 32 | 64 | 128) || !side_by_side {
            let ty = self.types().display(inst.ty);
            return Err(Error::unsupported(format!("`atomicrmw {}` of `{ty}`", op.name())));
        }
        let whole = [Part { ty: container(bits), bits, offset: 0 }];
        let operands = self.value(value)?;
        let old = self.swap_loop(place, whole[0].ty, order, |b, old| {
            let old = b.regroup(&[old], &whole, &parts)?;
            let mut new = Values::new();
            for ((old, operand), part) in old.iter().zip(&operands).zip(&parts) {
                new.push(b.combine(op, *old, *operand, part.bits)?);
            }
            let new = b.regroup(&new, &parts, &whole)?;
            new.first().copied().ok_or_else(|| Error::unsupported("`atomicrmw` of nothing"))
        })?;
        let old = self.regroup(&[old], &whole, &parts)?;
        self.result(inst, &old)
    }

    pub fn compare_exchange(
        &mut self,
        inst: &Inst,
        ptr: ValueId,
        expected: ValueId,
        new: ValueId,
        access: &Access,
        failure: Ordering,
    ) -> Result<()> {
        let place = self.place(ptr, access.scope)?;
        let of = self.value_type(expected)?;
        let (part, ty) = self.accessed(of, "`cmpxchg`")?;
        if part.ty != ty {
            return Err(Error::unsupported(format!("`cmpxchg` of `i{}`", part.bits)));
        }
        let (expected, new) = (self.scalar(expected)?, self.scalar(new)?);
        let (expected, new) = (self.pointer_as(expected, ty), self.pointer_as(new, ty));
        let Some(scope) = place.scope else {
            let flags = access_flags(true, false);
            let old = self.b.ins().load(ty, flags, place.pointer, 0);
            let same = self.b.ins().icmp(IntCC::Eq, old, expected);
            let value = self.b.ins().select(same, new, old);
            self.b.ins().store(flags, value, place.pointer, 0);
            return self.result(inst, &[old, same]);
        };
        let orders = [order(access.ordering), load_order(failure)];
        let results: Values =
            self.b.ins().cmpxchg(orders, scope, place.pointer, expected, new).into_iter().collect();
        self.result(inst, &results)
    }
}
