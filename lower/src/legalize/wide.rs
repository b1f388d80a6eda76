//! `i128` as two halves.

use super::*;
use warpsmith_ir::{IntBinary, IntUnary};

/// The halves of an `i128`.
pub(crate) const HALVES: Type = match Type::vector(Scalar::I64, 2) {
    Some(ty) => ty,
    None => Type::INVALID,
};

impl Legalizer<'_> {
    /// The `i128` of two halves.
    pub(super) fn join(&mut self, low: Value, high: Value) -> Value {
        let pair = self.ins().vec(&[low, high]);
        let whole = self.raw_convert(Opcode::Bitcast, Type::I128, pair);
        self.parts.insert(whole, Values::from_slice(&[low, high]));
        whole
    }

    /// The halves of an `i128`, the lower one first.
    pub(super) fn halves(&mut self, x: Value) -> [Value; 2] {
        if let Some([low, high]) = self.parts.get(&x).map(|parts| &parts[..]) {
            return [*low, *high];
        }
        let halves = self.behind(x, |this| {
            let pair = this.raw_convert(Opcode::Bitcast, HALVES, x);
            [this.ins().extract(pair, 0), this.ins().extract(pair, 1)]
        });
        self.parts.insert(x, Values::from_slice(&halves));
        halves
    }

    pub(super) fn wide_unary(&mut self, op: IntUnary, x: Value) -> Value {
        let [low, high] = self.halves(x);
        match op {
            IntUnary::Bnot => {
                let (low, high) = (self.raw1(Opcode::Bnot, low), self.raw1(Opcode::Bnot, high));
                self.join(low, high)
            }
            IntUnary::Ineg => {
                let zero = self.bits(Type::I128, 0);
                self.wide_binary(IntBinary::Isub, zero, x)
            }
            IntUnary::Iabs => {
                let negated = self.wide_unary(IntUnary::Ineg, x);
                let negative = self.is_negative(Type::I64, high);
                self.select(Type::I128, [negative, negated, x])
            }
            IntUnary::Popcnt => {
                let (low, high) = (self.raw1(Opcode::Popcnt, low), self.raw1(Opcode::Popcnt, high));
                let (sum, zero) = (self.raw2(Opcode::Iadd, low, high), self.int(Type::I64, 0));
                self.join(sum, zero)
            }
            IntUnary::Clz => self.count_zeros(Opcode::Clz, high, low),
            IntUnary::Ctz => self.count_zeros(Opcode::Ctz, low, high),
            IntUnary::Bitrev => {
                let (low, high) = (self.raw1(Opcode::Bitrev, low), self.raw1(Opcode::Bitrev, high));
                self.join(high, low)
            }
            IntUnary::Bswap => self.unary(Opcode::Bswap, Type::I128, x),
        }
    }

    /// The zeros of the half that is looked at first, and of the other one if that is all zeros.
    fn count_zeros(&mut self, op: Opcode, first: Value, second: Value) -> Value {
        let (zero, all) = (self.int(Type::I64, 0), self.int(Type::I64, 64));
        let empty = self.raw_icmp(IntCC::Eq, first, zero);
        let of_first = self.raw1(op, first);
        let of_second = self.raw1(op, second);
        let of_second = self.raw2(Opcode::Iadd, of_second, all);
        let count = self.raw3(Opcode::Select, [empty, of_second, of_first]);
        self.join(count, zero)
    }

    pub(super) fn wide_binary(&mut self, op: IntBinary, x: Value, y: Value) -> Value {
        use IntBinary::*;
        match op {
            Iadd => {
                let ([a, b], [c, d]) = (self.halves(x), self.halves(y));
                let low = self.raw2(Opcode::Iadd, a, c);
                let high = self.raw2(Opcode::Iadd, b, d);
                let carry = self.less(low, a);
                let high = self.raw2(Opcode::Iadd, high, carry);
                self.join(low, high)
            }
            Isub => {
                let ([a, b], [c, d]) = (self.halves(x), self.halves(y));
                let low = self.raw2(Opcode::Isub, a, c);
                let high = self.raw2(Opcode::Isub, b, d);
                let borrow = self.less(a, c);
                let high = self.raw2(Opcode::Isub, high, borrow);
                self.join(low, high)
            }
            Imul => {
                let ([a, b], [c, d]) = (self.halves(x), self.halves(y));
                let low = self.raw2(Opcode::Imul, a, c);
                let high = self.raw2(Opcode::Umulhi, a, c);
                let (ad, bc) = (self.raw2(Opcode::Imul, a, d), self.raw2(Opcode::Imul, b, c));
                let high = self.raw2(Opcode::Iadd, high, ad);
                let high = self.raw2(Opcode::Iadd, high, bc);
                self.join(low, high)
            }
            Umulhi => self.wide_high_product(x, y),
            Smulhi => {
                let high = self.wide_high_product(x, y);
                let (less, other) = (self.if_negative(Type::I128, x, y), self.if_negative(Type::I128, y, x));
                let high = self.wide_binary(Isub, high, less);
                self.wide_binary(Isub, high, other)
            }
            Udiv => self.wide_quotient(x, y),
            Urem => {
                let quotient = self.wide_quotient(x, y);
                self.wide_remainder(x, y, quotient)
            }
            Sdiv | Srem => self.wide_signed_division(op == Sdiv, x, y),
            Smin => self.wide_chosen(IntCC::Slt, x, y),
            Smax => self.wide_chosen(IntCC::Sgt, x, y),
            Umin => self.wide_chosen(IntCC::Ult, x, y),
            Umax => self.wide_chosen(IntCC::Ugt, x, y),
            Band | Bor | Bxor => {
                let ([a, b], [c, d]) = (self.halves(x), self.halves(y));
                let (low, high) = (self.raw2(op.into(), a, c), self.raw2(op.into(), b, d));
                self.join(low, high)
            }
            Shl => {
                let [low, high] = self.halves(x);
                let (moved, spilled) =
                    (self.raw2(Opcode::Shl, low, y), self.spilled(Opcode::Shl, low, high, y));
                self.join(moved, spilled)
            }
            Lshr => {
                let [low, high] = self.halves(x);
                let (moved, spilled) =
                    (self.raw2(Opcode::Lshr, high, y), self.spilled(Opcode::Lshr, high, low, y));
                self.join(spilled, moved)
            }
            Ashr => {
                let [low, high] = self.halves(x);
                let moved = self.raw2(Opcode::Ashr, high, y);
                let sixty_four = self.int(Type::I32, 64);
                let back = self.raw2(Opcode::Isub, sixty_four, y);
                let from_high = self.raw2(Opcode::Shl, high, back);
                let from_low = self.raw2(Opcode::Lshr, low, y);
                let near = self.raw2(Opcode::Bor, from_high, from_low);
                let rest = self.raw2(Opcode::Isub, y, sixty_four);
                let far = self.raw2(Opcode::Ashr, high, rest);
                let is_near = self.raw_icmp(IntCC::Ult, y, sixty_four);
                let low = self.raw3(Opcode::Select, [is_near, near, far]);
                self.join(low, moved)
            }
            Rotl => self.funnel(true, Type::I128, [x, x, y]),
            Rotr => self.funnel(false, Type::I128, [x, x, y]),
            UaddSat | SaddSat | UsubSat | SsubSat | UshlSat | SshlSat => {
                self.binary(op.into(), Type::I128, x, y)
            }
        }
    }

    /// 1 if `x` is less than `y`, unsigned, else 0: the carry of a half.
    fn less(&mut self, x: Value, y: Value) -> Value {
        let less = self.raw_icmp(IntCC::Ult, x, y);
        self.raw_convert(Opcode::Zext, Type::I64, less)
    }

    /// The half that a shift moves bits into: its own ones moved, and those that leave the other half. A shift by 64 and more gives 0, so
    /// that of the amounts n, 64 - n and n - 64, read without a sign, the right ones leave anything.
    fn spilled(&mut self, op: Opcode, from: Value, to: Value, amount: Value) -> Value {
        let opposite = if op == Opcode::Shl { Opcode::Lshr } else { Opcode::Shl };
        let sixty_four = self.int(Type::I32, 64);
        let back = self.raw2(Opcode::Isub, sixty_four, amount);
        let rest = self.raw2(Opcode::Isub, amount, sixty_four);
        let own = self.raw2(op, to, amount);
        let near = self.raw2(opposite, from, back);
        let far = self.raw2(op, from, rest);
        let both = self.raw2(Opcode::Bor, own, near);
        self.raw2(Opcode::Bor, both, far)
    }

    /// The upper 128 bits of the product.
    fn wide_high_product(&mut self, x: Value, y: Value) -> Value {
        let ([a, b], [c, d]) = (self.halves(x), self.halves(y));
        let zero = self.int(Type::I64, 0);
        let mut middle = self.raw2(Opcode::Umulhi, a, c);
        let mut carries = zero;
        for (m, n) in [(a, d), (b, c)] {
            let low = self.raw2(Opcode::Imul, m, n);
            let sum = self.raw2(Opcode::Iadd, middle, low);
            let carry = self.less(sum, low);
            carries = self.raw2(Opcode::Iadd, carries, carry);
            middle = sum;
        }
        let (low, high) = (self.raw2(Opcode::Imul, b, d), self.raw2(Opcode::Umulhi, b, d));
        let mut sum = self.join(low, high);
        let uppers = [self.raw2(Opcode::Umulhi, a, d), self.raw2(Opcode::Umulhi, b, c), carries];
        for upper in uppers {
            let upper = self.join(upper, zero);
            sum = self.wide_binary(IntBinary::Iadd, sum, upper);
        }
        sum
    }

    /// The first operand where the comparison holds, else the second.
    fn wide_chosen(&mut self, cond: IntCC, x: Value, y: Value) -> Value {
        let first = self.wide_icmp(cond, x, y);
        self.select(Type::I128, [first, x, y])
    }

    fn wide_quotient(&mut self, x: Value, y: Value) -> Value {
        let ([a, b], [c, d]) = (self.halves(x), self.halves(y));
        self.call_helper(Helper::Udiv128, &[a, b, c, d])
    }

    /// What a quotient leaves, so that a division whose quotient is asked for too is called once. All ones are left by zero.
    fn wide_remainder(&mut self, x: Value, y: Value, quotient: Value) -> Value {
        let product = self.wide_binary(IntBinary::Imul, quotient, y);
        let rest = self.wide_binary(IntBinary::Isub, x, product);
        self.or_ones_by_zero(y, rest)
    }

    /// By the magnitudes. A quotient by zero is all ones whatever its sign, so it is set apart.
    fn wide_signed_division(&mut self, quotient: bool, x: Value, y: Value) -> Value {
        let ty = Type::I128;
        if let Some(by) = self.wide_constant(y).filter(|by| by.is_power_of_two() && *by < 1 << 127) {
            let rounded = self.wide_rounded_quotient(x, by.trailing_zeros());
            return if quotient { rounded } else { self.wide_remainder(x, y, rounded) };
        }
        let (a, b) = (self.wide_unary(IntUnary::Iabs, x), self.wide_unary(IntUnary::Iabs, y));
        let magnitude = self.wide_quotient(a, b);
        let negated = self.wide_unary(IntUnary::Ineg, magnitude);
        let signs = self.wide_binary(IntBinary::Bxor, x, y);
        let negative = self.is_negative(ty, signs);
        let signed = self.select(ty, [negative, negated, magnitude]);
        if quotient { self.or_ones_by_zero(y, signed) } else { self.wide_remainder(x, y, signed) }
    }

    /// The quotient by a power of two, toward zero: numbers below it are moved up by the divisor less one.
    fn wide_rounded_quotient(&mut self, x: Value, power: u32) -> Value {
        let by = |this: &mut Self, places: u32| this.int(Type::I32, places.into());
        let (all, unused, places) = (by(self, 127), by(self, 128 - power), by(self, power));
        let sign = self.wide_binary(IntBinary::Ashr, x, all);
        let more = self.wide_binary(IntBinary::Lshr, sign, unused);
        let moved = self.wide_binary(IntBinary::Iadd, x, more);
        self.wide_binary(IntBinary::Ashr, moved, places)
    }

    /// The constant that a value is, if its halves are.
    fn wide_constant(&mut self, x: Value) -> Option<u128> {
        let [low, high] = self.halves(x).map(|half| self.func.dfg.int_const(half));
        Some(u128::from(high? as u64) << 64 | u128::from(low? as u64))
    }

    fn or_ones_by_zero(&mut self, y: Value, result: Value) -> Value {
        let ty = Type::I128;
        let (zero, ones) = (self.bits(ty, 0), self.bits(ty, u128::MAX));
        let by_zero = self.wide_icmp(IntCC::Eq, y, zero);
        self.select(ty, [by_zero, ones, result])
    }

    pub(super) fn wide_icmp(&mut self, cond: IntCC, x: Value, y: Value) -> Value {
        let ([a, b], [c, d]) = (self.halves(x), self.halves(y));
        // The lower halves decide where the upper ones are equal, and have no sign.
        let (upper, lower) = match cond {
            IntCC::Eq | IntCC::Ne => {
                let (low, high) = (self.raw2(Opcode::Bxor, a, c), self.raw2(Opcode::Bxor, b, d));
                let (any, zero) = (self.raw2(Opcode::Bor, low, high), self.int(Type::I64, 0));
                return self.raw_icmp(cond, any, zero);
            }
            IntCC::Slt => (IntCC::Slt, IntCC::Ult),
            IntCC::Sle => (IntCC::Slt, IntCC::Ule),
            IntCC::Sgt => (IntCC::Sgt, IntCC::Ugt),
            IntCC::Sge => (IntCC::Sgt, IntCC::Uge),
            IntCC::Ult => (IntCC::Ult, IntCC::Ult),
            IntCC::Ule => (IntCC::Ult, IntCC::Ule),
            IntCC::Ugt => (IntCC::Ugt, IntCC::Ugt),
            IntCC::Uge => (IntCC::Ugt, IntCC::Uge),
        };
        let decided = self.raw_icmp(upper, b, d);
        let equal = self.raw_icmp(IntCC::Eq, b, d);
        let rest = self.raw_icmp(lower, a, c);
        let rest = self.raw2(Opcode::Band, equal, rest);
        self.raw2(Opcode::Bor, decided, rest)
    }
}
