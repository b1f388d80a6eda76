//! Loads, stores and addresses.

use super::function::Body;
use super::values::Regs;
use crate::engine::lanes::portable as vector;
use crate::engine::{Access, Address, Order, Reg, Scope, Width};
use crate::memory::window;
use warpsmith_ir::{FuncKind, MemFlags, Type, Value};
use warpsmith_isa::StateSpace;

/// The most bytes that a call passes by value.
const LARGEST_COPY: u32 = 1 << 16;

/// The most bytes that one access moves.
const WIDEST: u32 = 16;

impl Body<'_, '_> {
    fn access(&self, space: StateSpace, bytes: u32, flags: MemFlags) -> Access {
        let access = Access::unsigned(space, bytes as u8);
        if flags.volatile { access.ordered(Order::Volatile, Scope::Sys) } else { access }
    }

    /// Splits the registers of a value into accesses: each register's bytes, as many neighbours together as the alignment allows.
    /// Calls `each` with the first register's index, how many, the offset and the bytes of one element.
    fn pieces(&self, ty: Type, regs: &Regs, align: u32, mut each: impl FnMut(usize, usize, u32, u32)) {
        // The last register of a small vector or scalar holds fewer bytes than its width.
        let total = ty.bits() / 8;
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

    /// `load`
    pub(super) fn load(&mut self, ty: Type, flags: MemFlags, ptr: Value, offset: i32, dst: Regs) {
        let (space, base, offset) = self.place(ptr, offset);
        let align = flags.align(ty);
        let mut list = Vec::new();
        self.pieces(ty, &dst, align, |i, count, at, bytes| list.push((i, count, at, bytes)));
        for (i, count, at, bytes) in list {
            let at = offset + i64::from(at);
            if bytes.is_power_of_two() && bytes <= align {
                let access = self.access(space, bytes, flags);
                self.body.load(access, &dst[i..i + count], Address::Reg(base, at));
            } else {
                self.load_in_parts(dst[i], bytes, align, flags, space, (base, at));
            }
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

    /// `store`
    pub(super) fn store(&mut self, ty: Type, flags: MemFlags, ptr: Value, offset: i32, src: Regs) {
        let (space, base, offset) = self.place(ptr, offset);
        let align = flags.align(ty);
        let mut list = Vec::new();
        self.pieces(ty, &src, align, |i, count, at, bytes| list.push((i, count, at, bytes)));
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

    /// The space, the register and the offset of an access.
    fn place(&mut self, ptr: Value, offset: i32) -> (StateSpace, Reg, i64) {
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
