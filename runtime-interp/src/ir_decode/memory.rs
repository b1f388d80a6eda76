//! Loads, stores and addresses.

use super::function::Body;
use super::values;
use crate::engine::lanes::portable as vector;
use crate::engine::{Access, Address, Guard, Order, Reg, Scope, Width};
use crate::memory::window;

use warpsmith_ir::{FuncKind, MemFlags, Opcode, Type, Value, meaning};
use warpsmith_isa::StateSpace;

/// The most bytes that a call passes by value.
const LARGEST_COPY: u32 = 1 << 16;

/// An address: its space, the register that holds it, and what is added.
pub(super) type Place = (StateSpace, Reg, i64);

/// The most bytes that one access moves.
const WIDEST: u32 = 16;

/// The integer of whole bytes whose bits `i1` and vectors of it are in memory.
fn packed(ty: Type) -> Option<Type> {
    Type::int(ty.bytes()? * 8)
}

impl Body<'_, '_> {
    fn access(&self, space: StateSpace, bytes: u32, flags: MemFlags) -> Access {
        let access = Access::unsigned(space, bytes as u8);
        if flags.volatile { access.ordered(Order::Volatile, Scope::Sys) } else { access }
    }

    /// Splits the registers of a value into accesses: each register's bytes, as many neighbours together as the alignment allows.
    /// Calls `each` with the first register's index, how many, the offset and the bytes of one element.
    fn pieces(&self, ty: Type, regs: &[Reg], align: u32, mut each: impl FnMut(usize, usize, u32, u32)) {
        // The last register of a small vector or scalar holds fewer bytes than its width.
        let total = ty.bytes().unwrap_or(0);
        let (mut i, mut offset) = (0, 0);
        while i < regs.len() {
            let bytes = (regs[i].width().bits() / 8).min(total - offset);
            let mut count = 1;
            while count * 2 * bytes as usize <= align.min(WIDEST) as usize
                && i + 2 * count <= regs.len()
                && offset.is_multiple_of(2 * count as u32 * bytes)
                && offset + 2 * count as u32 * bytes <= total
            {
                count *= 2;
            }
            each(i, count, offset, bytes);
            (i, offset) = (i + count, offset + count as u32 * bytes);
        }
    }

    /// `load`: each part of a struct or array by itself. An `i1` among them is a byte.
    pub(super) fn load_at(&mut self, ty: Type, flags: MemFlags, (space, base, offset): Place, dst: &[Reg]) {
        for (part, at, align, regs) in self.parts(ty, flags) {
            let place = (space, base, offset + at);
            if let (Type::I1, true, Some(int)) = (part.element_type(), part.is_vector(), packed(part)) {
                let whole = self.body.reg(Width::for_bits(int.bits()));
                self.load_part(int, flags, align, place, &[whole]);
                self.unpack_bools(&dst[regs], whole);
            } else if part == Type::I1 {
                let byte = self.body.reg(Width::W32);
                self.load_part(Type::I8, flags, 1, place, &[byte]);
                self.body.lanes(vector(|byte: u32| byte != 0), &dst[regs], &[byte]);
            } else {
                self.load_part(part, flags, align, place, &dst[regs]);
            }
        }
    }

    /// `store`, the inverse of [`Body::load_at`].
    pub(super) fn store_at(&mut self, ty: Type, flags: MemFlags, (space, base, offset): Place, src: &[Reg]) {
        for (part, at, align, regs) in self.parts(ty, flags) {
            let place = (space, base, offset + at);
            if let (Type::I1, true, Some(int)) = (part.element_type(), part.is_vector(), packed(part)) {
                let whole = self.pack_bools(&src[regs], Width::for_bits(int.bits()));
                self.store_part(int, flags, align, place, &[whole]);
            } else if part == Type::I1 {
                let byte = self.body.reg(Width::W32);
                self.body.lanes(vector(|bit: bool| u32::from(bit)), &[byte], &src[regs]);
                self.store_part(Type::I8, flags, 1, place, &[byte]);
            } else {
                self.store_part(part, flags, align, place, &src[regs]);
            }
        }
    }

    /// What an access of a type consists of: scalars and vectors, where each lies, how its address is aligned, and its registers.
    fn parts(&self, ty: Type, flags: MemFlags) -> Vec<(Type, i64, u32, std::ops::Range<usize>)> {
        let types = &self.module.types;
        let align = flags.explicit_align().unwrap_or_else(|| types.align(ty));
        let mut next = 0;
        let ranges = types.parts_of(ty).into_iter().map(|(part, at)| {
            let first = next;
            next += values::shape(types, part).map_or(0, |shape| shape.len());
            let at_most = if at == 0 { align } else { align.min(1 << at.trailing_zeros().min(31)) };
            (part, at as i64, at_most, first..next)
        });
        ranges.collect()
    }

    fn load_part(
        &mut self,
        ty: Type,
        flags: MemFlags,
        align: u32,
        (space, base, offset): Place,
        dst: &[Reg],
    ) {
        let mut list = Vec::new();
        self.pieces(ty, dst, align, |i, count, at, bytes| list.push((i, count, at, bytes)));
        for (i, count, at, bytes) in list {
            let at = offset + i64::from(at);
            if bytes.is_power_of_two() && bytes <= align {
                let access = self.access(space, bytes, flags);
                self.body.load(access, &dst[i..i + count], Address::Reg(base, at));
            } else {
                self.load_in_parts(dst[i], bytes, align, flags, space, (base, at));
            }
        }
        // What memory holds above the bits of the type is not the value's.
        if ty.is_odd()
            && let Some(keep) = meaning::keep(ty)
        {
            self.body.compute(&keep, &[Some(dst[0])], &[dst[0]], None);
        }
    }

    /// Puts a register together from parts that are aligned.
    fn load_in_parts(
        &mut self,
        dst: Reg,
        bytes: u32,
        align: u32,
        flags: MemFlags,
        space: StateSpace,
        (base, at): (Reg, i64),
    ) {
        let wide = self.body.reg(Width::W128);
        let zero = self.body.constant(0, Width::W128);
        self.body.copy(wide, zero);
        let part = self.body.reg(Width::W128);
        let step = align.min(1 << bytes.trailing_zeros());
        for k in 0..bytes / step {
            let access = self.access(space, step, flags);
            self.body.load(access, &[part], Address::Reg(base, at + i64::from(k * step)));
            let shift = self.body.constant(u128::from(8 * k * step), Width::W32);
            self.body.lanes(
                vector(|all: u128, part: u128, n: u32| all | part << n),
                &[wide],
                &[wide, part, shift],
            );
        }
        let narrow = match dst.width() {
            Width::W32 => vector(|a: u128| a as u32),
            Width::W64 => vector(|a: u128| a as u64),
            Width::Pred | Width::W128 => vector(|a: u128| a),
        };
        self.body.lanes(narrow, &[dst], &[wide]);
    }

    fn store_part(
        &mut self,
        ty: Type,
        flags: MemFlags,
        align: u32,
        (space, base, offset): Place,
        src: &[Reg],
    ) {
        let mut list = Vec::new();
        self.pieces(ty, src, align, |i, count, at, bytes| list.push((i, count, at, bytes)));
        for (i, count, at, bytes) in list {
            let at = offset + i64::from(at);
            if bytes.is_power_of_two() && bytes <= align {
                let access = self.access(space, bytes, flags);
                self.body.store(access, &src[i..i + count], Address::Reg(base, at));
                continue;
            }
            let wide = self.body.reg(Width::W128);
            let widen = match src[i].width() {
                Width::W32 => vector(|a: u32| u128::from(a)),
                Width::W64 => vector(|a: u64| u128::from(a)),
                Width::Pred | Width::W128 => vector(|a: u128| a),
            };
            self.body.lanes(widen, &[wide], &[src[i]]);
            let part = self.body.reg(Width::W128);
            let step = align.min(1 << bytes.trailing_zeros());
            for k in 0..bytes / step {
                let shift = self.body.constant(u128::from(8 * k * step), Width::W32);
                self.body.lanes(vector(|all: u128, n: u32| all >> n), &[part], &[wide, shift]);
                let access = self.access(space, step, flags);
                self.body.store(access, &[part], Address::Reg(base, at + i64::from(k * step)));
            }
        }
    }

    /// `memcpy`, `memmove` and `memset`: a loop over pieces as large as the alignment allows, where they make up the size.
    pub(super) fn mem_block(
        &mut self,
        op: Opcode,
        flags: MemFlags,
        source: MemFlags,
        [to, from, size]: [Value; 3],
    ) {
        let (to_space, to, _) = self.place(to, 0);
        let align = [flags, source].map(|flags| flags.explicit_align().unwrap_or(1).min(8));
        let align = align[0].min(align[1]);
        let constant = match self.function.dfg.int_const(self.function.dfg.resolve(size)) {
            Some(value) if self.ty(size) == Type::I32 => Some(u64::from(value as u32)),
            constant => constant.map(|value| value as u64),
        };
        let whole = constant.is_some_and(|size| size.is_multiple_of(align.into()));
        let step = if whole && op != Opcode::Memset { align } else { 1 };
        let count = match (self.ty(size), self.one(size)) {
            (Type::I32, narrow) => {
                let wide = self.body.reg(Width::W64);
                self.body.lanes(vector(|size: u32| u64::from(size)), &[wide], &[narrow]);
                wide
            }
            (_, wide) => wide,
        };
        let (zero, one) = (self.body.constant(0, Width::W64), self.body.constant(step.into(), Width::W64));
        let (at, index, address) =
            (self.body.reg(Width::W64), self.body.reg(Width::W64), self.body.reg(Width::W64));
        let (done, go_on) = (self.body.reg(Width::Pred), self.body.label());
        let end = self.body.label();
        let source = (op != Opcode::Memset).then(|| self.place(from, 0));
        let backwards = self.body.reg(Width::Pred);
        match source {
            // What lies behind its source is copied from its end.
            Some((from_space, from, _)) if op == Opcode::Memmove => {
                let base = |space| self.body.constant(window::base(space).unwrap_or(0).into(), Width::W64);
                let [to_base, from_base] = [to_space, from_space].map(base);
                let behind = vector(|to: u64, to_base: u64, from: u64, from_base: u64| {
                    to.wrapping_add(to_base) > from.wrapping_add(from_base)
                });
                self.body.lanes(behind, &[backwards], &[to, to_base, from, from_base]);
            }
            _ => {
                let never = self.body.constant(0, Width::Pred);
                self.body.copy(backwards, never);
            }
        }
        self.body.copy(at, zero);
        self.body.bind(go_on);
        self.body.lanes(vector(|at: u64, count: u64| at >= count), &[done], &[at, count]);
        self.body.branch_if(Guard { pred: done, negated: false }, end);
        let place = vector(
            |at: u64, count: u64, step: u64, backwards: bool| {
                if backwards { count.wrapping_sub(at).wrapping_sub(step) } else { at }
            },
        );
        self.body.lanes(place, &[index], &[at, count, one, backwards]);
        let add = || vector(|a: u64, b: u64| a.wrapping_add(b));
        let piece = match source {
            Some((space, from, _)) => {
                let piece = self.body.reg(Width::W64);
                self.body.lanes(add(), &[address], &[from, index]);
                let access = self.access(space, step, flags);
                self.body.load(access, &[piece], Address::Reg(address, 0));
                piece
            }
            None => self.one(from),
        };
        self.body.lanes(add(), &[address], &[to, index]);
        let access = self.access(to_space, step, flags);
        self.body.store(access, &[piece], Address::Reg(address, 0));
        self.body.lanes(add(), &[at], &[at, one]);
        self.body.branch(go_on);
        self.body.bind(end);
    }

    /// The space, the register and the offset of an access.
    pub(super) fn place(&mut self, ptr: Value, offset: i32) -> Place {
        let space = self.held_space(self.ty(ptr));
        (space, self.one(ptr), i64::from(offset))
    }

    /// The space of an address in a register: what is passed by value to a function is in the frame.
    fn held_space(&self, ty: Type) -> StateSpace {
        match ty.space() {
            Some(StateSpace::Param) if self.function.kind == FuncKind::Func => StateSpace::Local,
            space => space.unwrap_or(StateSpace::Generic),
        }
    }

    /// Copies memory to the frame.
    pub(super) fn copy_to_stack(&mut self, from: Value, to: i64, size: u32, align: u32) {
        if size > LARGEST_COPY {
            return self.body.error(format!("{size} bytes are passed by value; {LARGEST_COPY} can be"));
        }
        let (space, base, _) = self.place(from, 0);
        let mut at = 0;
        while at < size {
            let bytes = align.clamp(1, 8).min(1 << (size - at).ilog2());
            let piece = self.body.reg(Width::W64);
            self.body.load(Access::unsigned(space, bytes as u8), &[piece], Address::Reg(base, at.into()));
            let stack = Access::unsigned(StateSpace::Local, bytes as u8);
            self.body.store(stack, &[piece], Address::Stack(to + i64::from(at)));
            at += bytes;
        }
    }

    /// `addrspacecast`
    pub(super) fn cast_space(&mut self, from: Type, to: Type, dst: Reg, src: Reg) {
        let base = |ty: Type| window::base(self.held_space(ty)).unwrap_or(0);
        let offset = base(from).wrapping_sub(base(to));
        let offset = self.body.constant(offset.into(), Width::W64);
        self.body.lanes(vector(|a: u64, offset: u64| a.wrapping_add(offset)), &[dst], &[src, offset]);
    }
}
