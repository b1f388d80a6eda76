//! Atomic accesses and fences: PTX's instructions with an order and a scope; what they do not have is a loop around compare-and-swap.
//!
//! A sequentially consistent access is a fence of that kind followed by an access that acquires, releases or both (PTX ISA 9.0, 8). What is
//! ordered within one thread only needs no instruction.

use super::function::{Builder, Values};
use super::memory::access_flags;
use super::shape::container;
use crate::error::{Error, Result};
use crate::module::ValueId;
use crate::module::body::{Access, Inst};
use crate::module::ops::{BinaryOp, Ordering, RmwOp};
use crate::module::types::Type as Llvm;
use warpsmith_ir::{self as ir, FloatCC, InstBuilder, IntCC, Type, Value};

/// The state space of a pointer in a mnemonic.
pub(super) fn space(ty: Type) -> &'static str {
    match ty {
        Type::PTR_GLOBAL => ".global",
        Type::PTR_SHARED => ".shared",
        _ => "",
    }
}

/// What a value becomes, and whether it stays as it is.
type Change<'c, B> = dyn FnMut(&mut B, Value) -> Result<(Value, Option<Value>)> + 'c;

/// The order of a read-modify-write.
fn order(ordering: Ordering) -> &'static str {
    match ordering {
        Ordering::NotAtomic | Ordering::Unordered | Ordering::Monotonic => "relaxed",
        Ordering::Acquire => "acquire",
        Ordering::Release => "release",
        Ordering::AcqRel | Ordering::SeqCst => "acq_rel",
    }
}

impl Builder<'_, '_, '_> {
    /// The scope in a mnemonic; `None` for one thread.
    fn scope(&self, scope: u64) -> Result<Option<&'static str>> {
        let known = usize::try_from(scope).ok().and_then(|n| self.module().scopes.get(n)).map(String::as_str);
        Ok(match (scope, known.unwrap_or_default()) {
            (0, _) | (_, "singlethread") => None,
            (1, _) | (_, "") => Some("sys"),
            (_, "device" | "agent") => Some("gpu"),
            (_, "block" | "workgroup") => Some("cta"),
            (_, "cluster") => Some("cluster"),
            (_, other) => return Err(Error::unsupported(format!("the scope `{other}`"))),
        })
    }

    pub fn fence(&mut self, ordering: Ordering, scope: u64) -> Result<()> {
        let Some(scope) = self.scope(scope)? else { return Ok(()) };
        let kind = if ordering == Ordering::SeqCst { "sc" } else { "acq_rel" };
        self.ptx_none(&format!("fence.{kind}.{scope}"), Vec::new())
    }

    /// A fence in front of what is sequentially consistent.
    fn consistent(&mut self, ordering: Ordering, scope: &str) -> Result<()> {
        if ordering == Ordering::SeqCst {
            self.ptx_none(&format!("fence.sc.{scope}"), Vec::new())
        } else {
            Ok(())
        }
    }

    /// A pointer that atomic instructions take. Local memory is seen by one thread: there are plain accesses.
    fn place(&mut self, ptr: ValueId) -> Result<Value> {
        let pointer = self.scalar(ptr)?;
        Ok(match self.type_of(pointer) {
            Type::PTR_GLOBAL | Type::PTR_SHARED | Type::PTR_LOCAL => pointer,
            _ => self.generic(pointer),
        })
    }

    /// True for accesses that no other thread sees.
    fn is_private(&self, pointer: Value, scope: Option<&str>) -> bool {
        scope.is_none() || self.type_of(pointer) == Type::PTR_LOCAL
    }

    pub fn atomic_load(&mut self, inst: &Inst, ptr: ValueId, access: &Access) -> Result<()> {
        let pointer = self.place(ptr)?;
        let scope = self.scope(access.scope)?;
        let parts = self.parts(inst.ty)?;
        let &[part] = parts.as_slice() else {
            return Err(Error::unsupported("an atomic load of several scalars"));
        };
        let int = container(part.bits.next_power_of_two().max(8));
        let value = if self.is_private(pointer, scope) {
            self.b.ins().load(int, access_flags(true, false), pointer, 0)
        } else {
            let scope = scope.unwrap_or("sys");
            self.consistent(access.ordering, scope)?;
            let order = if matches!(access.ordering, Ordering::Unordered | Ordering::Monotonic) {
                "relaxed"
            } else {
                "acquire"
            };
            let mnemonic = format!("ld.{order}.{scope}{}.b{}", space(self.type_of(pointer)), int.bits());
            self.ptx_one(&mnemonic, vec![ir::at(pointer)], int)?
        };
        let value = self.resize(value, container(part.bits));
        let value = self.scalar_of(value, part.ty);
        self.result(inst, &[value])
    }

    pub fn atomic_store(&mut self, ptr: ValueId, value: ValueId, access: &Access) -> Result<()> {
        let pointer = self.place(ptr)?;
        let scope = self.scope(access.scope)?;
        let scalar = self.scalar(value)?;
        let int = self.integer_of(scalar);
        let ty = container(self.type_of(int).bits().max(8));
        let int = self.resize(int, ty);
        if self.is_private(pointer, scope) {
            self.b.ins().store(access_flags(true, false), int, pointer, 0);
            return Ok(());
        }
        let scope = scope.unwrap_or("sys");
        self.consistent(access.ordering, scope)?;
        let order = if matches!(access.ordering, Ordering::Unordered | Ordering::Monotonic) {
            "relaxed"
        } else {
            "release"
        };
        let mnemonic = format!("st.{order}.{scope}{}.b{}", space(self.type_of(pointer)), ty.bits());
        self.ptx_none(&mnemonic, vec![ir::at(pointer), int.into()])
    }

    pub fn atomic_rmw(
        &mut self,
        inst: &Inst,
        op: RmwOp,
        ptr: ValueId,
        value: ValueId,
        access: &Access,
    ) -> Result<()> {
        let pointer = self.place(ptr)?;
        let scope = self.scope(access.scope)?;
        let parts = self.parts(inst.ty)?;
        let &[part] = parts.as_slice() else {
            return Err(Error::unsupported(format!("`atomicrmw {}` of several scalars", op.name())));
        };
        let operand = self.scalar(value)?;
        let operand = self.pointer_as(operand, part.ty);
        if self.is_private(pointer, scope) {
            let flags = access_flags(true, false);
            let old = self.load_parts(inst.ty, pointer, access.align.unwrap_or(1), flags)?[0];
            let new = self.combine(op, old, operand, part.bits)?;
            self.store_parts(inst.ty, Values::from_slice(&[new]), pointer, access.align.unwrap_or(1), flags)?;
            return self.result(inst, &[old]);
        }
        let scope = scope.unwrap_or("sys");
        self.consistent(access.ordering, scope)?;
        let bits = part.bits;
        let suffix = match (op, bits) {
            (RmwOp::Xchg, 32 | 64) => Some(format!("exch.b{bits}")),
            (RmwOp::Add | RmwOp::Sub, 32 | 64) => Some(format!("add.u{bits}")),
            (RmwOp::And, 32 | 64) => Some(format!("and.b{bits}")),
            (RmwOp::Or, 32 | 64) => Some(format!("or.b{bits}")),
            (RmwOp::Xor, 32 | 64) => Some(format!("xor.b{bits}")),
            (RmwOp::Max, 32 | 64) => Some(format!("max.s{bits}")),
            (RmwOp::Min, 32 | 64) => Some(format!("min.s{bits}")),
            (RmwOp::Umax, 32 | 64) => Some(format!("max.u{bits}")),
            (RmwOp::Umin, 32 | 64) => Some(format!("min.u{bits}")),
            (RmwOp::UincWrap, 32) => Some("inc.u32".to_owned()),
            (RmwOp::UdecWrap, 32) => Some("dec.u32".to_owned()),
            (RmwOp::Fadd, 32 | 64) if part.ty.is_float() => Some(format!("add.f{bits}")),
            _ => None,
        };
        let old = match suffix {
            Some(suffix) => {
                let is_float = op == RmwOp::Fadd;
                let mut int = if is_float { operand } else { self.integer_of(operand) };
                if op == RmwOp::Sub {
                    int = self.b.ins().ineg(int);
                }
                let mnemonic = format!(
                    "atom.{}.{scope}{}.{suffix}",
                    order(access.ordering),
                    space(self.type_of(pointer))
                );
                let ty = self.type_of(int);
                let old = self.ptx_one(&mnemonic, vec![ir::at(pointer), int.into()], ty)?;
                if is_float { old } else { self.scalar_of(old, part.ty) }
            }
            None => {
                self.swap_loop(pointer, part.ty, bits, order(access.ordering), scope, &mut |b, old| {
                    b.combine(op, old, operand, bits).map(|new| (new, None))
                })?
                .0
            }
        };
        self.result(inst, &[old])
    }

    /// What an `atomicrmw` writes.
    fn combine(&mut self, op: RmwOp, old: Value, operand: Value, bits: u32) -> Result<Value> {
        let unsupported = || Error::unsupported(format!("`atomicrmw {}`", op.name()));
        let integer = |b: &mut Self, op: BinaryOp| Ok(b.integer(op, bits, &[old], &[operand])?[0]);
        let pick = |b: &mut Self, cond: IntCC| {
            let first = b.compare(cond, bits, &[old], &[operand])?;
            Ok(b.b.ins().select(first, old, operand))
        };
        match op {
            RmwOp::Xchg => Ok(operand),
            RmwOp::Add => integer(self, BinaryOp::Add),
            RmwOp::Sub => integer(self, BinaryOp::Sub),
            RmwOp::And => integer(self, BinaryOp::And),
            RmwOp::Or => integer(self, BinaryOp::Or),
            RmwOp::Xor => integer(self, BinaryOp::Xor),
            RmwOp::Nand => {
                let both = integer(self, BinaryOp::And)?;
                let not = self.b.ins().bnot(both);
                Ok(self.clear(not, bits))
            }
            RmwOp::Max => pick(self, IntCC::Sgt),
            RmwOp::Min => pick(self, IntCC::Slt),
            RmwOp::Umax => pick(self, IntCC::Ugt),
            RmwOp::Umin => pick(self, IntCC::Ult),
            RmwOp::Fadd => self.float(BinaryOp::Fadd, old, operand),
            RmwOp::Fsub => self.float(BinaryOp::Fsub, old, operand),
            RmwOp::Fmax | RmwOp::FmaximumNum => Ok(self.b.ins().fmax(old, operand)),
            RmwOp::Fmin | RmwOp::FminimumNum => Ok(self.b.ins().fmin(old, operand)),
            RmwOp::Fmaximum | RmwOp::Fminimum => {
                let value = if op == RmwOp::Fmaximum {
                    self.b.ins().fmax(old, operand)
                } else {
                    self.b.ins().fmin(old, operand)
                };
                let nan = self.b.ins().fcmp(FloatCC::Nan, old, operand);
                let sum = self.b.ins().fadd(old, operand);
                Ok(self.b.ins().select(nan, sum, value))
            }
            RmwOp::UincWrap => {
                let (one, zero) = (self.int(bits, 1), self.int(bits, 0));
                let next = self.integer(BinaryOp::Add, bits, &[old], &[one])?[0];
                let end = self.compare(IntCC::Uge, bits, &[old], &[operand])?;
                Ok(self.b.ins().select(end, zero, next))
            }
            RmwOp::UdecWrap => {
                let (one, zero) = (self.int(bits, 1), self.int(bits, 0));
                let next = self.integer(BinaryOp::Sub, bits, &[old], &[one])?[0];
                let start = self.compare(IntCC::Eq, bits, &[old], &[zero])?;
                let above = self.compare(IntCC::Ugt, bits, &[old], &[operand])?;
                let wraps = self.b.ins().bor(start, above);
                Ok(self.b.ins().select(wraps, operand, next))
            }
            RmwOp::UsubCond | RmwOp::UsubSat => Err(unsupported()),
        }
    }

    /// Changes a value in memory until nobody came between: `new` gives what to write, or why to stop. The old value, and whether it was
    /// written. Values of 8 and 16 bits are part of a word of 32.
    fn swap_loop(
        &mut self,
        pointer: Value,
        ty: Type,
        bits: u32,
        order: &str,
        scope: &str,
        new: &mut Change<'_, Self>,
    ) -> Result<(Value, Value)> {
        if !matches!(bits, 8 | 16 | 32 | 64) {
            return Err(Error::unsupported(format!("an atomic access to {bits} bits")));
        }
        let small = bits < 32;
        let word_type = if small { Type::I32 } else { container(bits) };
        let int = container(bits);
        let (word, shift) = if small {
            let address = self.b.ins().ptrtoint(pointer);
            let three = self.b.ins().iconst(Type::I64, 3);
            let byte = self.b.ins().band(address, three);
            let not = self.b.ins().iconst(Type::I64, !3);
            let aligned = self.b.ins().band(address, not);
            let eight = self.b.ins().iconst(Type::I64, 8);
            let shift = self.b.ins().imul(byte, eight);
            let shift = self.b.ins().trunc(Type::I32, shift);
            let ty = self.type_of(pointer);
            (self.b.ins().inttoptr(ty, aligned), Some(shift))
        } else {
            (pointer, None)
        };
        let at = space(self.type_of(word));
        let first = self.ptx_one(
            &format!("ld.relaxed.{scope}{at}.b{}", word_type.bits()),
            vec![ir::at(word)],
            word_type,
        )?;
        let (head, write, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(head, word_type);
        let result = self.b.append_block_param(done, word_type);
        let written = self.b.append_block_param(done, Type::I1);
        self.b.ins().jump(head, &[first]);
        self.b.switch_to_block(head);
        let part = |b: &mut Self, word: Value| -> Value {
            let low = match shift {
                Some(shift) => b.b.ins().lshr(word, shift),
                None => word,
            };
            let low = b.resize(low, int);
            b.scalar_of(low, ty)
        };
        let old = part(self, seen);
        let (new, stop) = new(self, old)?;
        let new = self.integer_of(new);
        let no = self.b.ins().iconst(Type::I1, 0);
        match stop {
            Some(stop) => self.b.ins().brif(stop, done, &[seen, no], write, &[]),
            None => self.b.ins().jump(write, &[]),
        };
        self.b.switch_to_block(write);
        let wanted = match shift {
            Some(shift) => {
                let new = self.resize(new, Type::I32);
                let mask = self.b.ins().iconst(Type::I32, (1i64 << bits) - 1);
                let mask = self.b.ins().shl(mask, shift);
                let mask = self.b.ins().bnot(mask);
                let rest = self.b.ins().band(seen, mask);
                let new = self.b.ins().shl(new, shift);
                self.b.ins().bor(rest, new)
            }
            None => new,
        };
        let mnemonic = format!("atom.{order}.{scope}{at}.cas.b{}", word_type.bits());
        let found = self.ptx_one(&mnemonic, vec![ir::at(word), seen.into(), wanted.into()], word_type)?;
        let same = self.b.ins().icmp(IntCC::Eq, found, seen);
        let yes = self.b.ins().iconst(Type::I1, 1);
        self.b.ins().brif(same, done, &[seen, yes], head, &[found]);
        self.b.switch_to_block(done);
        Ok((part(self, result), written))
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
        let pointer = self.place(ptr)?;
        let scope = self.scope(access.scope)?;
        let parts = self.parts(inst.ty)?;
        let [part, _] = parts.as_slice() else {
            return Err(Error::unsupported("`cmpxchg` of several scalars"));
        };
        let part = *part;
        let (expected, new) = (self.scalar(expected)?, self.scalar(new)?);
        let (expected, new) = (self.integer_of(expected), self.integer_of(new));
        let ordering = match (access.ordering, failure) {
            (Ordering::SeqCst, _) | (_, Ordering::SeqCst) => Ordering::SeqCst,
            (Ordering::Release, Ordering::Acquire) => Ordering::AcqRel,
            (Ordering::Monotonic, Ordering::Acquire) => Ordering::Acquire,
            (success, _) => success,
        };
        let is_pointer =
            matches!(self.types().part(inst.ty, 0).map(|ty| self.ty(ty)), Some(Llvm::Pointer { .. }));
        let int = if is_pointer { Type::I64 } else { container(part.bits) };
        if self.is_private(pointer, scope) {
            let flags = access_flags(true, false);
            let old = self.b.ins().load(int, flags, pointer, 0);
            let same = self.b.ins().icmp(IntCC::Eq, old, expected);
            let value = self.b.ins().select(same, new, old);
            self.b.ins().store(flags, value, pointer, 0);
            let old = self.scalar_of(old, part.ty);
            return self.result(inst, &[old, same]);
        }
        let scope = scope.unwrap_or("sys");
        self.consistent(ordering, scope)?;
        let order = order(ordering);
        if part.bits < 32 {
            let (old, written) = self.swap_loop(pointer, int, part.bits, order, scope, &mut |b, old| {
                let differs = b.b.ins().icmp(IntCC::Ne, old, expected);
                Ok((new, Some(differs)))
            })?;
            let old = self.scalar_of(old, part.ty);
            return self.result(inst, &[old, written]);
        }
        let mnemonic = format!("atom.{order}.{scope}{}.cas.b{}", space(self.type_of(pointer)), int.bits());
        let old = self.ptx_one(&mnemonic, vec![ir::at(pointer), expected.into(), new.into()], int)?;
        let same = self.b.ins().icmp(IntCC::Eq, old, expected);
        let old = self.scalar_of(old, part.ty);
        self.result(inst, &[old, same])
    }
}
