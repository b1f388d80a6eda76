//! Atomic accesses and fences (PTX ISA 9.0, 8 and 9.7.13), by loops around `atom.cas` where PTX has no instruction.

use super::*;
use warpsmith_ir::{AtomicOp, BlockCall, MemoryMode, MemoryOrder, MemoryScope, Mnemonic, at, mnemonic};
use warpsmith_isa::{Mod, Opcode as Ptx, StateSpace};

/// How the accesses of an operation are written: the order and the scope, where the target has them.
#[derive(Clone, Copy)]
struct Way {
    order: Option<Mod>,
    scope: Option<Mod>,
    space: Option<Mod>,
}

impl Way {
    fn on(self, mut mnemonic: Mnemonic) -> Mnemonic {
        for modifier in [self.order, self.scope, self.space].into_iter().flatten() {
            mnemonic = mnemonic.with(modifier);
        }
        mnemonic
    }
}

fn scope_mod(scope: MemoryScope) -> Mod {
    match scope {
        MemoryScope::Thread | MemoryScope::Cta => Mod::Cta,
        MemoryScope::Cluster => Mod::Cluster,
        MemoryScope::Gpu => Mod::Gpu,
        MemoryScope::Sys => Mod::Sys,
    }
}

fn bits_mod(bits: u32) -> Mod {
    match bits {
        8 => Mod::B8,
        16 => Mod::B16,
        32 => Mod::B32,
        64 => Mod::B64,
        _ => Mod::B128,
    }
}

/// What an atomic access does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Load,
    Store,
    Change(AtomicOp),
    ExchangeIf,
}

impl Legalizer<'_> {
    pub(super) fn atomic(
        &mut self,
        inst: Inst,
        op: ListOp,
        mode: MemoryMode,
        types: &[Type],
        to: Type,
        args: &[Value],
    ) {
        if mode.scope == MemoryScope::Cluster && !self.has_sm(90) {
            let note = "name `gpu`, which is wider";
            return self.unsupported(inst, "the scope `cluster` needs sm_90", note);
        }
        let (access, ptr, ty) = match (op, mode.op) {
            (ListOp::Fence, _) => {
                self.fence(mode.order, mode.scope);
                self.func.layout.remove_inst(inst);
                return;
            }
            (ListOp::AtomicLoad, _) => (Access::Load, args[0], to),
            (ListOp::AtomicStore, _) => (Access::Store, args[1], types[0]),
            (ListOp::AtomicRmw, Some(rmw)) => (Access::Change(rmw), args[0], to),
            (ListOp::Cmpxchg, _) => (Access::ExchangeIf, args[0], to),
            (op, _) => return self.no_rule(inst, op.into()),
        };
        let op = Opcode::from(op);
        let needed = if matches!(access, Access::Load | Access::Store) { 70 } else { 90 };
        if ty == Type::I128 && !self.has_sm(needed) {
            let note = "what two threads change together has 64 bits on older targets";
            return self.unsupported(inst, format!("`{op}` of {ty} needs sm_{needed}"), note);
        }
        let space_of = self.func.dfg.ty(ptr).space().unwrap_or(StateSpace::Generic);
        if space_of == StateSpace::Local {
            let note = "memory of one thread needs no atomic access: `load` and `store` do";
            return self.unsupported(inst, format!("`{op}` on local memory"), note);
        }
        let space = match space_of {
            StateSpace::Global => Some(Mod::Global),
            StateSpace::Shared => Some(Mod::Shared),
            // What no instruction names is accessed by the generic address.
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Local
            | StateSpace::Param
            | StateSpace::Tex => None,
        };
        let thread = mode.scope == MemoryScope::Thread;
        let ordered = self.has_sm(70);
        let order = mode.strongest();
        // What comes before the access is ordered by a fence where the access itself cannot say so.
        let before = order == MemoryOrder::SeqCst
            || !ordered && matches!(order, MemoryOrder::Release | MemoryOrder::AcqRel);
        let after =
            !ordered && matches!(order, MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst);
        if before && !thread {
            let of_fence = if order == MemoryOrder::SeqCst { order } else { MemoryOrder::AcqRel };
            self.fence(of_fence, mode.scope);
        }
        let is_store = access == Access::Store;
        let written = match order {
            _ if thread => MemoryOrder::Relaxed,
            MemoryOrder::SeqCst if is_store => MemoryOrder::Relaxed,
            MemoryOrder::SeqCst => MemoryOrder::Acquire,
            MemoryOrder::Relaxed | MemoryOrder::Acquire | MemoryOrder::Release | MemoryOrder::AcqRel => order,
        };
        let way = Way {
            order: ordered.then_some(match written {
                MemoryOrder::Relaxed => Mod::Relaxed,
                MemoryOrder::Acquire => Mod::Acquire,
                MemoryOrder::Release => Mod::Release,
                MemoryOrder::AcqRel | MemoryOrder::SeqCst => Mod::AcqRel,
            }),
            scope: (ordered || self.has_sm(60) && mode.scope == MemoryScope::Sys)
                .then(|| scope_mod(mode.scope)),
            space,
        };
        let made = match access {
            Access::Load => Values::from_elem(self.atomic_load(way, ty, ptr), 1),
            Access::Store => {
                self.atomic_store(way, ty, args[0], ptr);
                Values::new()
            }
            Access::ExchangeIf => Values::from_slice(&self.exchange_if(way, ty, ptr, args[1], args[2])),
            Access::Change(rmw) => Values::from_elem(self.read_modify_write(way, rmw, ty, ptr, args[1]), 1),
        };
        if after && !thread {
            self.fence(MemoryOrder::AcqRel, mode.scope);
        }
        self.replace_all(inst, &made);
    }

    fn fence(&mut self, order: MemoryOrder, scope: MemoryScope) {
        if scope == MemoryScope::Thread || order == MemoryOrder::Relaxed {
            return;
        }
        let mnemonic = if self.has_sm(70) {
            let order = if order == MemoryOrder::SeqCst { Mod::Sc } else { Mod::AcqRel };
            Mnemonic::new(Ptx::Fence).with(order).with(scope_mod(scope))
        } else {
            match scope {
                MemoryScope::Thread | MemoryScope::Cta => mnemonic!("membar.cta"),
                MemoryScope::Cluster | MemoryScope::Gpu => mnemonic!("membar.gl"),
                MemoryScope::Sys => mnemonic!("membar.sys"),
            }
        };
        self.ins().ptx(mnemonic, ());
    }

    /// A value as the integer of its bits.
    fn as_bits(&mut self, x: Value) -> Value {
        let ty = self.func.dfg.ty(x);
        if ty.is_ptr() {
            return self.raw1(Opcode::Ptrtoint, x);
        }
        let int = Type::int(ty.bits()).unwrap_or(ty);
        if ty == int { x } else { self.raw_convert(Opcode::Bitcast, int, x) }
    }

    fn with_bits(&mut self, ty: Type, x: Value) -> Value {
        if ty.is_ptr() {
            return self.raw_convert(Opcode::Inttoptr, ty, x);
        }
        if ty.is_int() { x } else { self.raw_convert(Opcode::Bitcast, ty, x) }
    }

    fn atomic_load(&mut self, way: Way, ty: Type, ptr: Value) -> Value {
        let int = Type::int(ty.bits()).unwrap_or(ty);
        let mut ld = Mnemonic::new(Ptx::Ld);
        ld = match way.order {
            Some(_) => way.on(ld),
            None => Way { scope: None, ..way }.on(ld.with(Mod::Volatile)),
        };
        let loaded = self.ins().ptx_typed(ld.with(bits_mod(ty.bits())), (at(ptr),), &[int]).first();
        self.with_bits(ty, loaded)
    }

    fn atomic_store(&mut self, way: Way, ty: Type, value: Value, ptr: Value) {
        let bits = self.as_bits(value);
        let mut st = Mnemonic::new(Ptx::St);
        st = match way.order {
            Some(_) => way.on(st),
            None => Way { scope: None, ..way }.on(st.with(Mod::Volatile)),
        };
        self.ins().ptx(st.with(bits_mod(ty.bits())), (at(ptr), bits));
    }

    /// `atom.cas` of an integer: what memory held.
    fn compare_and_swap(&mut self, way: Way, bits: u32, ptr: Value, expected: Value, new: Value) -> Value {
        let int = Type::int(bits).unwrap_or(Type::I32);
        let atom = way.on(Mnemonic::new(Ptx::Atom)).with(Mod::Cas).with(bits_mod(bits));
        self.ins().ptx_typed(atom, (at(ptr), expected, new), &[int]).first()
    }

    /// True if `atom.cas` takes so many bits.
    fn has_cas(&self, bits: u32) -> bool {
        match bits {
            8 => false,
            16 => self.has_sm(70),
            _ => true,
        }
    }

    /// `cmpxchg`: what memory held, and whether that was expected.
    fn exchange_if(&mut self, way: Way, ty: Type, ptr: Value, expected: Value, new: Value) -> [Value; 2] {
        let (expected, new) = (self.as_bits(expected), self.as_bits(new));
        let int = Type::int(ty.bits()).unwrap_or(ty);
        let old = if self.has_cas(ty.bits()) {
            self.compare_and_swap(way, ty.bits(), ptr, expected, new)
        } else {
            // The word around it is written only while the part is what is expected.
            self.change_part(way, int, ptr, |this, part| {
                let equal = this.raw_icmp(IntCC::Eq, part, expected);
                this.raw3(Opcode::Select, [equal, new, part])
            })
        };
        let equal = self.icmp(IntCC::Eq, int, old, expected);
        [self.with_bits(ty, old), equal]
    }

    fn read_modify_write(&mut self, way: Way, op: AtomicOp, ty: Type, ptr: Value, x: Value) -> Value {
        let has_sum =
            || matches!(ty, Type::F32 | Type::F64) && self.native_form(AtomicOp::Fadd, ty).is_some();
        let (op, x) = if op == AtomicOp::Isub && ty.bits() >= 32 {
            (AtomicOp::Iadd, self.raw1(Opcode::Ineg, x))
        } else if op == AtomicOp::Fsub && has_sum() {
            (AtomicOp::Fadd, self.raw1(Opcode::Fneg, x))
        } else {
            (op, x)
        };
        if let Some(form) = self.native_form(op, ty) {
            return self.native(way, op, form, ty, ptr, x);
        }
        if self.has_cas(ty.bits()) {
            return self.change_by_loop(way, ty, ptr, |this, old| this.updated(op, ty, old, x));
        }
        let int = Type::int(ty.bits()).unwrap_or(ty);
        let old = self.change_part(way, int, ptr, |this, part| {
            let old = this.with_bits(ty, part);
            let new = this.updated(op, ty, old, x);
            this.as_bits(new)
        });
        self.with_bits(ty, old)
    }

    /// The instruction that PTX has for it on the target: what it does, and the type that it names.
    fn native_form(&self, op: AtomicOp, ty: Type) -> Option<(Mod, Mod)> {
        use AtomicOp::*;
        let bits = ty.bits();
        let of_words = bits == 32 || bits == 64 && self.has_sm(32);
        let (unsigned, signed) = if bits == 64 { (Mod::U64, Mod::S64) } else { (Mod::U32, Mod::S32) };
        let (exists, action, modifier) = match op {
            Xchg => (matches!(bits, 32 | 64) || bits == 128 && self.has_sm(90), Mod::Exch, bits_mod(bits)),
            Iadd => (matches!(bits, 32 | 64), Mod::Add, unsigned),
            Band => (of_words, Mod::And, bits_mod(bits)),
            Bor => (of_words, Mod::Or, bits_mod(bits)),
            Bxor => (of_words, Mod::Xor, bits_mod(bits)),
            Smin => (of_words, Mod::Min, signed),
            Smax => (of_words, Mod::Max, signed),
            Umin => (of_words, Mod::Min, unsigned),
            Umax => (of_words, Mod::Max, unsigned),
            Inc => (bits == 32, Mod::Inc, Mod::U32),
            Dec => (bits == 32, Mod::Dec, Mod::U32),
            Fadd => {
                let exists = match ty {
                    Type::F32 => true,
                    Type::F64 => self.has_sm(60),
                    Type::F16 => self.has_sm(70),
                    Type::BF16 => self.has_sm(90),
                    _ => false,
                };
                (exists, Mod::Add, Mod::of_scalar(ty.element().isa()))
            }
            Isub | Nand | Fsub | Fmin | Fmax => return None,
        };
        exists.then_some((action, modifier))
    }

    fn native(
        &mut self,
        way: Way,
        op: AtomicOp,
        (action, modifier): (Mod, Mod),
        ty: Type,
        ptr: Value,
        x: Value,
    ) -> Value {
        let mut atom = way.on(Mnemonic::new(Ptx::Atom)).with(action);
        if matches!(ty, Type::F16 | Type::BF16) {
            atom = atom.with(Mod::Noftz);
        }
        if op == AtomicOp::Xchg {
            let bits = self.as_bits(x);
            let int = Type::int(ty.bits()).unwrap_or(ty);
            let old = self.ins().ptx_typed(atom.with(modifier), (at(ptr), bits), &[int]).first();
            return self.with_bits(ty, old);
        }
        self.ins().ptx_typed(atom.with(modifier), (at(ptr), x), &[ty]).first()
    }

    /// The new value from the old one and the operand.
    fn updated(&mut self, op: AtomicOp, ty: Type, old: Value, x: Value) -> Value {
        let plain = match op {
            AtomicOp::Xchg => return x,
            AtomicOp::Nand => {
                let both = self.binary(Opcode::Band, ty, old, x);
                return self.unary(Opcode::Bnot, ty, both);
            }
            AtomicOp::Inc | AtomicOp::Dec => {
                let (one, zero) = (self.int(ty, 1), self.int(ty, 0));
                if op == AtomicOp::Inc {
                    let more = self.binary(Opcode::Iadd, ty, old, one);
                    let wraps = self.icmp(IntCC::Uge, ty, old, x);
                    return self.select(ty, [wraps, zero, more]);
                }
                let less = self.binary(Opcode::Isub, ty, old, one);
                let none = self.icmp(IntCC::Eq, ty, old, zero);
                let above = self.icmp(IntCC::Ugt, ty, old, x);
                let wraps = self.raw2(Opcode::Bor, none, above);
                return self.select(ty, [wraps, x, less]);
            }
            AtomicOp::Iadd => Opcode::Iadd,
            AtomicOp::Isub => Opcode::Isub,
            AtomicOp::Band => Opcode::Band,
            AtomicOp::Bor => Opcode::Bor,
            AtomicOp::Bxor => Opcode::Bxor,
            AtomicOp::Smin => Opcode::Smin,
            AtomicOp::Smax => Opcode::Smax,
            AtomicOp::Umin => Opcode::Umin,
            AtomicOp::Umax => Opcode::Umax,
            AtomicOp::Fadd => Opcode::Fadd,
            AtomicOp::Fsub => Opcode::Fsub,
            AtomicOp::Fmin => Opcode::Fmin,
            AtomicOp::Fmax => Opcode::Fmax,
        };
        self.binary(plain, ty, old, x)
    }

    /// Changes memory by a loop that tries until no other thread has changed it in between; gives what it held.
    fn change_by_loop(
        &mut self,
        way: Way,
        ty: Type,
        ptr: Value,
        change: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let int = Type::int(ty.bits()).unwrap_or(ty);
        let first = self.read_first(way, int, ptr);
        self.try_until_done(int, first, |this, old| {
            let value = this.with_bits(ty, old);
            let new = change(this, value);
            let new = this.as_bits(new);
            this.compare_and_swap(way, int.bits(), ptr, old, new)
        })
        .map_or(first, |old| self.with_bits(ty, old))
    }

    /// What the first try expects. Another thread may write meanwhile, which the try will notice.
    fn read_first(&mut self, way: Way, int: Type, ptr: Value) -> Value {
        let relaxed = way.order.map(|_| Mod::Relaxed);
        self.atomic_load(Way { order: relaxed, ..way }, int, ptr)
    }

    /// A loop around a swap: what memory held when it succeeded.
    fn try_until_done(
        &mut self,
        int: Type,
        first: Value,
        swap: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Option<Value> {
        let inst = self.at;
        let here = self.func.layout.block_of(inst)?;
        let (next, again) = (self.func.dfg.make_block(), self.func.dfg.make_block());
        self.func.layout.split_block(next, inst);
        self.func.layout.insert_block_after(again, here);
        let old = self.func.dfg.append_block_param(again, int);
        self.func.at_end(here).jump(again, &[first]);
        let end = self.func.at_end(again).trap();
        self.at = end;
        let found = swap(self, old);
        let done = self.raw_icmp(IntCC::Eq, found, old);
        self.at = inst;
        let pool = &mut self.func.dfg.pool;
        let dests = [BlockCall::new(next, &[], pool), BlockCall::new(again, &[found], pool)];
        self.func.dfg.replace_inst(end, InstData::Brif { cond: done, dests });
        Some(found)
    }

    /// Changes a byte or half by swapping the word that it lies in; gives what it held.
    fn change_part(
        &mut self,
        way: Way,
        int: Type,
        ptr: Value,
        change: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let address = self.raw1(Opcode::Ptrtoint, ptr);
        let mask = self.int(Type::I64, !3);
        let word_address = self.raw2(Opcode::Band, address, mask);
        let word_ptr = self.raw_convert(Opcode::Inttoptr, self.func.dfg.ty(ptr), word_address);
        let low = self.raw_convert(Opcode::Trunc, Type::I32, address);
        let three = self.int(Type::I32, 3);
        let byte = self.raw2(Opcode::Band, low, three);
        let place = self.raw2(Opcode::Shl, byte, three);
        let field = self.int(Type::I32, (1 << int.bits()) - 1);
        let field = self.raw2(Opcode::Shl, field, place);
        let others = self.raw1(Opcode::Bnot, field);
        let first = self.read_first(way, Type::I32, word_ptr);
        let word = self.try_until_done(Type::I32, first, |this, word| {
            let moved = this.raw2(Opcode::Lshr, word, place);
            let part = this.raw_convert(Opcode::Trunc, int, moved);
            let new = change(this, part);
            let new = this.raw_convert(Opcode::Zext, Type::I32, new);
            let new = this.raw2(Opcode::Shl, new, place);
            let kept = this.raw2(Opcode::Band, word, others);
            let whole = this.raw2(Opcode::Bor, kept, new);
            this.compare_and_swap(way, 32, word_ptr, word, whole)
        });
        let moved = self.raw2(Opcode::Lshr, word.unwrap_or(first), place);
        self.raw_convert(Opcode::Trunc, int, moved)
    }
}
