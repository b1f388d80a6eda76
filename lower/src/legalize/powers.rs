//! `ue8m0`, powers of two without zero and without sign: on the bits, where the target has no conversion. The rest is as with the other formats of
//! 8 bits ([`narrow`](super::narrow)).

use super::narrow::Small;
use super::*;
use warpsmith_ir::FloatCC;
use warpsmith_isa::Mod;

impl Legalizer<'_> {
    /// A power of two: the exponent where that of `f32` is. Of the least one, 2^-127, the highest bit of the fraction is set instead, of NaN all
    /// of them.
    pub(super) fn power_to_single(&mut self, bits: Value) -> Value {
        let moved = self.i32_op(Opcode::Shl, bits, 23);
        let power = self.i32_op(Opcode::Umax, moved, 1 << 22);
        let (last, nan) = (self.int(Type::I32, 0xff), self.int(Type::I32, 0x7fff_ffff));
        let is_nan = self.raw_icmp(IntCC::Eq, bits, last);
        let power = self.raw3(Opcode::Select, [is_nan, nan, power]);
        self.raw_convert(Opcode::Bitcast, Type::F32, power)
    }

    /// The power of two below a magnitude, or, rounded up, that above it.
    pub(super) fn single_to_power(&mut self, small: Small, x: Value, magnitude: Value) -> Value {
        let power = if small.rounding == Mod::Rp {
            let above = self.i32_op(Opcode::Iadd, magnitude, (1 << 23) - 1);
            let above = self.i32_op(Opcode::Lshr, above, 23);
            // 2^-127 is subnormal in f32: what is not above it becomes it.
            let (least, zero) = (self.int(Type::I32, 1 << 22), self.int(Type::I32, 0));
            let is_least = self.raw_icmp(IntCC::Ule, magnitude, least);
            self.raw3(Opcode::Select, [is_least, zero, above])
        } else {
            self.i32_op(Opcode::Lshr, magnitude, 23)
        };
        let power = self.i32_op(Opcode::Umin, power, small.max);
        let is_nan = self.ins().fcmp(FloatCC::Nan, x, x);
        let nan = self.int(Type::I32, small.nan);
        let power = self.raw3(Opcode::Select, [is_nan, nan, power]);
        self.raw_convert(Opcode::Trunc, Type::I8, power)
    }

    /// A conversion to `ue8m0` or a vector of such that rounds up.
    pub(super) fn powers_rounded_up(&mut self, from: Type, to: Type, x: Value) -> Value {
        let small = Small::of(to.element()).map(Small::rounded_up);
        match small {
            Some(small) if !to.is_vector() => {
                let wide = self.as_single(from, x);
                self.singles_to_small(to, small, &[wide])[0]
            }
            small => self.narrow_lanes(from, to, small, x),
        }
    }
}
