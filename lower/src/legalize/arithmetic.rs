//! Integers of odd widths, and operations that PTX does not have at any width.

use super::*;
use warpsmith_ir::{IntBinary, IntUnary, mnemonic};

impl Legalizer<'_> {
    /// Keeps so many low bits.
    pub(super) fn masked(&mut self, held: Type, bits: u32, x: Value) -> Value {
        if bits >= held.bits() {
            return x;
        }
        let mask = self.bits(held, u128::MAX >> (128 - bits));
        self.binary(Opcode::Band, held, x, mask)
    }

    /// An integer of an odd width with its sign above its bits, in the type that holds it.
    fn signed(&mut self, ty: Type, x: Value) -> Value {
        let held = held(ty);
        let unused = self.int(Type::I32, i64::from(held.bits() - ty.bits()));
        let up = self.binary(Opcode::Shl, held, x, unused);
        self.binary(Opcode::Ashr, held, up, unused)
    }

    /// An operation of one operand, on any type.
    pub(super) fn unary(&mut self, op: Opcode, ty: Type, x: Value) -> Value {
        if ty.is_vector() {
            return self.unary_lanes(op, ty, x);
        }
        if ty.element().is_narrow_float() {
            return self.narrow(op, ty, &[x]);
        }
        if op == Opcode::Fround {
            return self.round_away(ty, x);
        }
        let Class::IntUnary(unary) = op.class() else { return self.raw1(op, x) };
        if unary == IntUnary::Bswap {
            return self.bswap(ty, x);
        }
        if ty == Type::I128 {
            return self.wide_unary(unary, x);
        }
        if !ty.is_odd() {
            return self.raw1(op, x);
        }
        let (held, bits) = (held(ty), ty.bits());
        let unused = held.bits() - bits;
        match unary {
            IntUnary::Ineg | IntUnary::Bnot => {
                let all = self.unary(op, held, x);
                self.masked(held, bits, all)
            }
            IntUnary::Iabs => {
                let x = self.signed(ty, x);
                let all = self.unary(op, held, x);
                self.masked(held, bits, all)
            }
            IntUnary::Popcnt => self.unary(op, held, x),
            IntUnary::Clz => {
                let (zeros, unused) = (self.unary(op, held, x), self.bits(held, unused.into()));
                self.binary(Opcode::Isub, held, zeros, unused)
            }
            IntUnary::Ctz => {
                // A one above the highest bit ends the count.
                let end = self.bits(held, 1 << bits);
                let x = self.binary(Opcode::Bor, held, x, end);
                self.unary(op, held, x)
            }
            IntUnary::Bitrev | IntUnary::Bswap => {
                let (all, unused) = (self.unary(op, held, x), self.int(Type::I32, unused.into()));
                self.binary(Opcode::Lshr, held, all, unused)
            }
        }
    }

    fn bswap(&mut self, ty: Type, x: Value) -> Value {
        let held = held(ty);
        match ty.bits() {
            0..=8 => x,
            16 => {
                let eight = self.int(Type::I32, 8);
                self.raw2(Opcode::Rotl, x, eight)
            }
            32 => self.ins().ptx(mnemonic!("prmt.b32"), (x, 0, 0x0123)).first(),
            64 => {
                let pair = self.raw_convert(Opcode::Bitcast, I32X2, x);
                let low = self.ins().extract(pair, 0);
                let high = self.ins().extract(pair, 1);
                let [low, high] = [low, high].map(|half| self.bswap(Type::I32, half));
                let swapped = self.ins().vec(&[high, low]);
                self.raw_convert(Opcode::Bitcast, Type::I64, swapped)
            }
            128 => {
                let [low, high] = self.halves(x).map(|half| self.bswap(Type::I64, half));
                self.join(high, low)
            }
            bits => {
                let (all, unused) = (self.bswap(held, x), self.int(Type::I32, i64::from(held.bits() - bits)));
                self.binary(Opcode::Lshr, held, all, unused)
            }
        }
    }

    /// An operation of two operands, on any type.
    pub(super) fn binary(&mut self, op: Opcode, ty: Type, x: Value, y: Value) -> Value {
        if ty.is_vector() {
            return self.binary_lanes(op, ty, x, y);
        }
        if ty.element().is_narrow_float() {
            return self.narrow(op, ty, &[x, y]);
        }
        if matches!(op, Opcode::Fminimum | Opcode::Fmaximum) {
            return self.minimum(op, ty, x, y);
        }
        if op == Opcode::Frem {
            return self.float_remainder(ty, x, y);
        }
        let Class::IntBinary(binary) = op.class() else { return self.raw2(op, x, y) };
        use IntBinary::*;
        match binary {
            UaddSat => self.clamped(Overflow::UaddOverflow, ty, x, y, |this| this.bits(ty, u128::MAX)),
            SaddSat if ty == Type::I32 => self.ins().ptx(mnemonic!("add.sat.s32"), (x, y)).first(),
            SaddSat => self.clamped(Overflow::SaddOverflow, ty, x, y, |this| this.limit(ty, x)),
            SsubSat if ty == Type::I32 => self.ins().ptx(mnemonic!("sub.sat.s32"), (x, y)).first(),
            SsubSat => self.clamped(Overflow::SsubOverflow, ty, x, y, |this| this.limit(ty, x)),
            UsubSat => {
                let less = self.icmp(IntCC::Ult, ty, x, y);
                let (difference, zero) = (self.binary(Opcode::Isub, ty, x, y), self.bits(ty, 0));
                self.select(ty, [less, zero, difference])
            }
            UshlSat => self.saturating_shift(false, ty, x, y),
            SshlSat => self.saturating_shift(true, ty, x, y),
            Iadd | Isub | Imul | Umulhi | Smulhi | Sdiv | Udiv | Srem | Urem | Smin | Smax | Umin | Umax
            | Band | Bor | Bxor | Shl | Lshr | Ashr | Rotl | Rotr => {
                if ty == Type::I128 {
                    self.wide_binary(binary, x, y)
                } else if ty.is_odd() {
                    self.odd_binary(binary, ty, x, y)
                } else {
                    self.raw2(op, x, y)
                }
            }
        }
    }

    /// An operation on integers of an odd width, by that on the type that holds them.
    fn odd_binary(&mut self, binary: IntBinary, ty: Type, x: Value, y: Value) -> Value {
        use IntBinary::*;
        let op = binary.into();
        let (held, bits) = (held(ty), ty.bits());
        match binary {
            Band | Bor | Bxor | Umin | Umax | Lshr => self.binary(op, held, x, y),
            Iadd | Isub | Imul | Shl | Udiv | Urem => {
                let all = self.binary(op, held, x, y);
                self.masked(held, bits, all)
            }
            Sdiv | Srem | Smin | Smax => {
                let [x, y] = [x, y].map(|value| self.signed(ty, value));
                let all = self.binary(op, held, x, y);
                self.masked(held, bits, all)
            }
            Ashr => {
                let x = self.signed(ty, x);
                let all = self.binary(op, held, x, y);
                self.masked(held, bits, all)
            }
            Rotl => self.funnel(true, ty, [x, x, y]),
            Rotr => self.funnel(false, ty, [x, x, y]),
            Umulhi | Smulhi => self.odd_high_product(binary == Smulhi, ty, x, y),
            // They are made of operations on the type itself.
            UaddSat | SaddSat | UsubSat | SsubSat | UshlSat | SshlSat => self.binary(op, ty, x, y),
        }
    }

    /// The upper half of a product of an odd width: in a type of twice the width, or from a product of 256 bits.
    fn odd_high_product(&mut self, sign: bool, ty: Type, x: Value, y: Value) -> Value {
        let (held, bits) = (held(ty), ty.bits());
        let wide = match 2 * bits {
            0..=16 => Type::I16,
            17..=32 => Type::I32,
            33..=64 => Type::I64,
            _ => Type::I128,
        };
        if 2 * bits > 128 {
            let (shift, up) = (self.int(Type::I32, bits.into()), self.int(Type::I32, i64::from(128 - bits)));
            let (high, low) =
                (self.wide_binary(IntBinary::Umulhi, x, y), self.wide_binary(IntBinary::Imul, x, y));
            let high = self.wide_binary(IntBinary::Shl, high, up);
            let low = self.wide_binary(IntBinary::Lshr, low, shift);
            let mut all = self.wide_binary(IntBinary::Bor, high, low);
            if sign {
                for (one, other) in [(x, y), (y, x)] {
                    let less = self.if_negative(ty, one, other);
                    all = self.wide_binary(IntBinary::Isub, all, less);
                }
            }
            return self.masked(held, bits, all);
        }
        let extend = if sign { Opcode::Sext } else { Opcode::Zext };
        let [x, y] = [x, y].map(|value| self.extended(extend, ty, wide, value));
        let product = self.binary(Opcode::Imul, wide, x, y);
        let shift = self.int(Type::I32, bits.into());
        let high = self.binary(Opcode::Lshr, wide, product, shift);
        self.truncated(wide, ty, high)
    }

    /// `y` if `x` is negative, else 0.
    pub(super) fn if_negative(&mut self, ty: Type, x: Value, y: Value) -> Value {
        let negative = self.is_negative(ty, x);
        let zero = self.bits(ty, 0);
        self.select(ty, [negative, y, zero])
    }

    pub(super) fn is_negative(&mut self, ty: Type, x: Value) -> Value {
        let zero = self.bits(ty, 0);
        self.icmp(IntCC::Slt, ty, x, zero)
    }

    /// Comparison of integers or pointers of any type.
    pub(super) fn icmp(&mut self, cond: IntCC, ty: Type, x: Value, y: Value) -> Value {
        if ty.is_vector() {
            return self.icmp_lanes(cond, ty, x, y);
        }
        if ty == Type::I128 {
            return self.wide_icmp(cond, x, y);
        }
        let signed = matches!(cond, IntCC::Slt | IntCC::Sle | IntCC::Sgt | IntCC::Sge);
        if ty.is_odd() {
            let held = held(ty);
            let (x, y) = if signed { (self.signed(ty, x), self.signed(ty, y)) } else { (x, y) };
            return self.icmp(cond, held, x, y);
        }
        self.raw_icmp(cond, x, y)
    }

    /// The nearest number of the type to what overflowed on the side of `x`: the least for a negative `x`, else the greatest.
    fn limit(&mut self, ty: Type, x: Value) -> Value {
        let last = self.int(Type::I32, i64::from(ty.bits() - 1));
        let sign = self.binary(Opcode::Ashr, ty, x, last);
        let greatest = self.bits(ty, u128::MAX >> (129 - ty.bits()));
        self.binary(Opcode::Bxor, ty, sign, greatest)
    }

    /// What does not wrap, else a limit.
    fn clamped(
        &mut self,
        op: Overflow,
        ty: Type,
        x: Value,
        y: Value,
        limit: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let [wrapped, over] = self.overflowing(op, ty, x, y);
        let limit = limit(self);
        self.select(ty, [over, limit, wrapped])
    }

    /// `ushl_sat` and `sshl_sat`
    fn saturating_shift(&mut self, sign: bool, ty: Type, x: Value, y: Value) -> Value {
        let shifted = self.binary(Opcode::Shl, ty, x, y);
        let shift = if sign { Opcode::Ashr } else { Opcode::Lshr };
        let back = self.binary(shift, ty, shifted, y);
        let kept = self.icmp(IntCC::Eq, ty, back, x);
        let limit = if sign { self.limit(ty, x) } else { self.bits(ty, u128::MAX) };
        self.select(ty, [kept, shifted, limit])
    }

    /// What wraps, and whether it did.
    pub(super) fn overflowing(&mut self, op: Overflow, ty: Type, x: Value, y: Value) -> [Value; 2] {
        match op {
            Overflow::UaddOverflow => {
                let sum = self.binary(Opcode::Iadd, ty, x, y);
                [sum, self.icmp(IntCC::Ult, ty, sum, x)]
            }
            Overflow::UsubOverflow => {
                let difference = self.binary(Opcode::Isub, ty, x, y);
                [difference, self.icmp(IntCC::Ult, ty, x, y)]
            }
            Overflow::SaddOverflow | Overflow::SsubOverflow => {
                let sub = op == Overflow::SsubOverflow;
                let result = self.binary(if sub { Opcode::Isub } else { Opcode::Iadd }, ty, x, y);
                // It did if the sign is not that of both summands; of a difference, if the signs differ and it is not the minuend's.
                let one = self.binary(Opcode::Bxor, ty, x, result);
                let other =
                    self.binary(Opcode::Bxor, ty, if sub { x } else { y }, if sub { y } else { result });
                let both = self.binary(Opcode::Band, ty, one, other);
                [result, self.is_negative(ty, both)]
            }
            Overflow::UmulOverflow => {
                let (low, high) =
                    (self.binary(Opcode::Imul, ty, x, y), self.binary(Opcode::Umulhi, ty, x, y));
                let zero = self.bits(ty, 0);
                [low, self.icmp(IntCC::Ne, ty, high, zero)]
            }
            Overflow::SmulOverflow => {
                let (low, high) =
                    (self.binary(Opcode::Imul, ty, x, y), self.binary(Opcode::Smulhi, ty, x, y));
                let last = self.int(Type::I32, i64::from(ty.bits() - 1));
                let sign = self.binary(Opcode::Ashr, ty, low, last);
                [low, self.icmp(IntCC::Ne, ty, high, sign)]
            }
        }
    }

    /// `fshl` and `fshr`, of which rotations are the case of equal operands.
    pub(super) fn funnel(&mut self, left: bool, ty: Type, [high, low, amount]: [Value; 3]) -> Value {
        let bits = ty.bits();
        if ty == Type::I32 && self.has_sm(32) {
            let mnemonic = if left { mnemonic!("shf.l.wrap.b32") } else { mnemonic!("shf.r.wrap.b32") };
            return self.ins().ptx(mnemonic, (low, high, amount)).first();
        }
        let width = self.int(Type::I32, bits.into());
        let amount = if bits.is_power_of_two() {
            let mask = self.int(Type::I32, i64::from(bits) - 1);
            self.raw2(Opcode::Band, amount, mask)
        } else {
            self.raw2(Opcode::Urem, amount, width)
        };
        // Shifted by the width, nothing is left.
        let back = self.raw2(Opcode::Isub, width, amount);
        let (up, down) = if left { (amount, back) } else { (back, amount) };
        let (high, low) = (self.binary(Opcode::Shl, ty, high, up), self.binary(Opcode::Lshr, ty, low, down));
        self.binary(Opcode::Bor, ty, high, low)
    }

    /// `ubfx` and `sbfx`
    pub(super) fn bit_field_extract(&mut self, sign: bool, ty: Type, [x, at, length]: [Value; 3]) -> Value {
        match (ty.bits(), sign) {
            (32, true) => self.ins().ptx(mnemonic!("bfe.s32"), (x, at, length)).first(),
            (32, false) => self.ins().ptx(mnemonic!("bfe.u32"), (x, at, length)).first(),
            // At 64 bits hardware takes all of position and length, at 32 bits their low bytes (docs/engine.md).
            (64, _) => {
                let (at, length) = (self.low_byte(at), self.low_byte(length));
                match sign {
                    true => self.ins().ptx(mnemonic!("bfe.s64"), (x, at, length)).first(),
                    false => self.ins().ptx(mnemonic!("bfe.u64"), (x, at, length)).first(),
                }
            }
            (bits @ 0..64, _) => {
                let wide = if bits < 32 { Type::I32 } else { Type::I64 };
                let wide_x = self.extended(if sign { Opcode::Sext } else { Opcode::Zext }, ty, wide, x);
                let field = self.bit_field_extract(sign, wide, [wide_x, at, length]);
                self.truncated(wide, ty, field)
            }
            (_, false) => {
                let at = self.low_byte(at);
                let moved = self.binary(Opcode::Lshr, ty, x, at);
                let mask = self.low_field(ty, length);
                self.binary(Opcode::Band, ty, moved, mask)
            }
            (bits, true) => {
                let (at, length) = (self.low_byte(at), self.low_byte(length));
                let one = self.int(Type::I32, 1);
                let last = self.raw2(Opcode::Iadd, at, length);
                let last = self.raw2(Opcode::Isub, last, one);
                let top = self.int(Type::I32, i64::from(bits) - 1);
                let last = self.raw2(Opcode::Umin, last, top);
                let up = self.raw2(Opcode::Isub, top, last);
                let moved = self.binary(Opcode::Shl, ty, x, up);
                let down = self.raw2(Opcode::Iadd, at, up);
                let field = self.binary(Opcode::Ashr, ty, moved, down);
                let (none, zero) = (self.int(Type::I32, 0), self.bits(ty, 0));
                let empty = self.raw_icmp(IntCC::Eq, length, none);
                self.select(ty, [empty, zero, field])
            }
        }
    }

    fn low_byte(&mut self, x: Value) -> Value {
        let mask = self.int(Type::I32, 0xff);
        self.raw2(Opcode::Band, x, mask)
    }

    /// So many ones, modulo 256; all if there are more than bits.
    fn low_field(&mut self, ty: Type, length: Value) -> Value {
        let length = self.low_byte(length);
        let all = self.bits(ty, u128::MAX);
        let others = self.binary(Opcode::Shl, ty, all, length);
        self.binary(Opcode::Bxor, ty, others, all)
    }

    /// `bfi`
    pub(super) fn bit_field_insert(&mut self, ty: Type, [x, bits, at, length]: [Value; 4]) -> Value {
        match ty.bits() {
            32 => self.ins().ptx(mnemonic!("bfi.b32"), (bits, x, at, length)).first(),
            // As in `bit_field_extract`.
            64 => {
                let (at, length) = (self.low_byte(at), self.low_byte(length));
                self.ins().ptx(mnemonic!("bfi.b64"), (bits, x, at, length)).first()
            }
            0..64 => {
                let wide = if ty.bits() < 32 { Type::I32 } else { Type::I64 };
                let [x, bits] = [x, bits].map(|value| self.extended(Opcode::Zext, ty, wide, value));
                let made = self.bit_field_insert(wide, [x, bits, at, length]);
                self.truncated(wide, ty, made)
            }
            _ => {
                let at = self.low_byte(at);
                let field = self.low_field(ty, length);
                let field = self.binary(Opcode::Shl, ty, field, at);
                let moved = self.binary(Opcode::Shl, ty, bits, at);
                let moved = self.binary(Opcode::Band, ty, moved, field);
                let kept = self.unary(Opcode::Bnot, ty, field);
                let kept = self.binary(Opcode::Band, ty, x, kept);
                self.binary(Opcode::Bor, ty, kept, moved)
            }
        }
    }

    /// A choice between values of any type.
    pub(super) fn select(&mut self, ty: Type, [cond, x, y]: [Value; 3]) -> Value {
        let of_vector = self.types[cond].is_some_and(Type::is_vector);
        if of_vector {
            let (conds, x, y) = (self.elements(cond), self.elements(x), self.elements(y));
            let element = ty.element_type();
            let made: Values =
                (0..ty.lanes() as usize).map(|n| self.select(element, [conds[n], x[n], y[n]])).collect();
            return self.build(ty, &made);
        }
        if ty == Type::I128
            && let (Some(x), Some(y)) = (self.parts.get(&x).cloned(), self.parts.get(&y).cloned())
        {
            let low = self.raw3(Opcode::Select, [cond, x[0], y[0]]);
            let high = self.raw3(Opcode::Select, [cond, x[1], y[1]]);
            return self.join(low, high);
        }
        self.raw3(Opcode::Select, [cond, x, y])
    }
}

/// Two words.
pub(super) const I32X2: Type = match Type::vector(Scalar::I32, 2) {
    Some(ty) => ty,
    None => Type::INVALID,
};
