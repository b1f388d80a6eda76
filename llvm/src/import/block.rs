//! Blocks of memory: copied and filled. A few bytes of a known number one by one, so that a slot of the stack that is copied need not be in
//! memory; others in a loop.

use super::function::Builder;
use super::memory::{access_flags, align_at};
use super::shape::container;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Type, Value};

/// Up to so many bytes are copied without a loop.
const FEW: u64 = 256;

impl Builder<'_, '_, '_> {
    /// A number of bytes that is known and small.
    fn few(&self, size: Value) -> Option<u64> {
        let known = self.b.func().dfg.int_const(size).and_then(|size| u64::try_from(size).ok());
        known.filter(|size| *size <= FEW)
    }

    /// The pieces that a known number of bytes is moved in: where each starts, and its type.
    fn pieces(size: u64, align: u64) -> Vec<(i32, Type)> {
        let (mut all, mut at) = (Vec::new(), 0);
        while at < size {
            let piece = (1 << (size - at).ilog2()).min(align_at(align, at)).min(8);
            all.push((at as i32, container(piece as u32 * 8)));
            at += piece;
        }
        all
    }

    /// Copies bytes between memory that does not overlap.
    pub fn copy(&mut self, flags: MemFlags, to: Value, from: Value, size: Value) {
        let plain = access_flags(flags.volatile, false);
        let align = u64::from(flags.explicit_align().unwrap_or(1));
        if let Some(size) = self.few(size) {
            for (at, ty) in Self::pieces(size, align) {
                let loaded = self.b.ins().load(ty, plain, from, at);
                self.b.ins().store(plain, loaded, to, at);
            }
            return;
        }
        let piece = self.piece(size, align);
        self.each(size, piece, false, &mut |b, at| {
            let (from, to) = (b.b.ins().ptradd(from, at), b.b.ins().ptradd(to, at));
            let loaded = b.b.ins().load(container(piece as u32 * 8), plain, from, 0);
            b.b.ins().store(plain, loaded, to, 0);
        });
    }

    /// Copies bytes between memory that may overlap: from the end where the target lies behind the source.
    pub fn copy_overlapping(&mut self, flags: MemFlags, to: Value, from: Value, size: Value) {
        let plain = access_flags(flags.volatile, false);
        let align = u64::from(flags.explicit_align().unwrap_or(1));
        if let Some(size) = self.few(size) {
            let pieces = Self::pieces(size, align);
            let loaded: Vec<Value> =
                pieces.iter().map(|(at, ty)| self.b.ins().load(*ty, plain, from, *at)).collect();
            for ((at, _), value) in pieces.iter().zip(loaded) {
                self.b.ins().store(plain, value, to, *at);
            }
            return;
        }
        let piece = self.piece(size, align);
        let [up, down, done] = [(); 3].map(|()| self.b.create_block());
        let (to_address, from_address) = (self.b.ins().ptrtoint(to), self.b.ins().ptrtoint(from));
        let before = self.b.ins().icmp(IntCC::Ult, to_address, from_address);
        self.b.ins().brif(before, up, &[], down, &[]);
        for (block, backwards) in [(up, false), (down, true)] {
            self.b.switch_to_block(block);
            self.each(size, piece, backwards, &mut |b, at| {
                let (from, to) = (b.b.ins().ptradd(from, at), b.b.ins().ptradd(to, at));
                let loaded = b.b.ins().load(container(piece as u32 * 8), plain, from, 0);
                b.b.ins().store(plain, loaded, to, 0);
            });
            self.b.ins().jump(done, &[]);
        }
        self.b.switch_to_block(done);
    }

    /// Fills bytes.
    pub fn fill(&mut self, flags: MemFlags, to: Value, byte: Value, size: Value) {
        let plain = access_flags(flags.volatile, false);
        let align = u64::from(flags.explicit_align().unwrap_or(1));
        let value = self.b.func().dfg.int_const(byte);
        if let (Some(size), Some(value)) = (self.few(size), value) {
            let pattern = (value & 0xff).wrapping_mul(0x0101_0101_0101_0101);
            for (at, ty) in Self::pieces(size, align) {
                let filled = self.b.ins().iconst(ty, pattern);
                self.b.ins().store(plain, filled, to, at);
            }
            return;
        }
        let piece = self.piece(size, align);
        let ty = container(piece as u32 * 8);
        let wide = self.resize(byte, ty);
        let ones = self.b.ins().iconst(ty, 0x0101_0101_0101_0101);
        let filled = self.b.ins().imul(wide, ones);
        self.each(size, piece, false, &mut |b, at| {
            let to = b.b.ins().ptradd(to, at);
            b.b.ins().store(plain, filled, to, 0);
        });
    }

    /// The bytes of a piece: as many as the alignment allows, and as the size is a multiple of.
    fn piece(&self, size: Value, align: u64) -> u64 {
        let known = self.b.func().dfg.int_const(size).and_then(|size| u64::try_from(size).ok());
        known.map_or(1, |size| align_at(align, size).min(8))
    }

    /// A loop over pieces: `body` is given how far each is from the start.
    fn each(&mut self, size: Value, piece: u64, backwards: bool, body: &mut dyn FnMut(&mut Self, Value)) {
        let size = self.resize(size, Type::I64);
        let [head, inner, done] = [(); 3].map(|()| self.b.create_block());
        let at = self.b.append_block_param(head, Type::I64);
        let zero = self.b.ins().iconst(Type::I64, 0);
        let step = self.b.ins().iconst(Type::I64, piece as i64);
        self.b.ins().jump(head, &[if backwards { size } else { zero }]);
        self.b.switch_to_block(head);
        let end = if backwards { zero } else { size };
        let more = self.b.ins().icmp(IntCC::Ne, at, end);
        self.b.ins().brif(more, inner, &[], done, &[]);
        self.b.switch_to_block(inner);
        if backwards {
            let before = self.b.ins().isub(at, step);
            body(self, before);
            self.b.ins().jump(head, &[before]);
        } else {
            body(self, at);
            let next = self.b.ins().iadd(at, step);
            self.b.ins().jump(head, &[next]);
        }
        self.b.switch_to_block(done);
    }
}
