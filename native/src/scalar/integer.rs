//! Integers of any width up to 128 bits, in the next wider type of the host, with zeros above their bits.

use super::{Fallible, Translator};
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{self as clif, InstBuilder, Value, types};
use warpsmith_ir::{IntBinary, IntCC, IntUnary, Overflow};

/// An integer's width, and the type that holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Int {
    pub bits: u32,
    pub ty: clif::Type,
}

/// Which of the four divisions.
#[derive(Clone, Copy)]
struct Division {
    signed: bool,
    remainder: bool,
}

impl Int {
    pub fn of_bits(bits: u32) -> Int {
        let ty = match bits {
            0..=1 => types::I8,
            2..=32 => types::I32,
            33..=64 => types::I64,
            _ => types::I128,
        };
        Int { bits, ty }
    }

    /// All bits of a number.
    const fn ones(self) -> u128 {
        u128::MAX >> (128 - self.bits)
    }

    /// The bits of the type above the number's.
    fn spare(self) -> u32 {
        self.ty.bits() - self.bits
    }
}

impl Translator<'_, '_, '_> {
    /// A constant.
    pub fn int(&mut self, int: Int, bits: u128) -> Value {
        let bits = bits & int.ones();
        if int.ty == types::I128 {
            let low = self.b.ins().iconst(types::I64, bits as u64 as i64);
            let high = self.b.ins().iconst(types::I64, (bits >> 64) as u64 as i64);
            return self.b.ins().iconcat(low, high);
        }
        // As Cranelift wants a constant: extended by the sign of the type that holds it.
        let unused = 64 - int.ty.bits();
        self.b.ins().iconst(int.ty, (bits as u64 as i64) << unused >> unused)
    }

    /// Zeros above the number's bits.
    pub fn cut(&mut self, int: Int, value: Value) -> Value {
        if int.spare() == 0 {
            return value;
        }
        let mask = self.int(int, u128::MAX);
        self.b.ins().band(value, mask)
    }

    /// Copies of the sign above the number's bits.
    pub fn signed(&mut self, int: Int, value: Value) -> Value {
        if int.spare() == 0 {
            return value;
        }
        let by = self.number(int.spare());
        let up = self.b.ins().ishl(value, by);
        self.b.ins().sshr(up, by)
    }

    /// A number as one of another type: wider with zeros above, or its low bits.
    pub fn resized(&mut self, from: clif::Type, value: Value, to: clif::Type) -> Value {
        match from.bits().cmp(&to.bits()) {
            std::cmp::Ordering::Less => self.b.ins().uextend(to, value),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.b.ins().ireduce(to, value),
        }
    }

    /// A number as one of another type: wider with copies of the sign above, or its low bits.
    pub fn resized_signed(&mut self, from: clif::Type, value: Value, to: clif::Type) -> Value {
        if from.bits() < to.bits() { self.b.ins().sextend(to, value) } else { self.resized(from, value, to) }
    }

    fn halves(&mut self, value: Value) -> (Value, Value) {
        self.b.ins().isplit(value)
    }

    pub(super) fn pick(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        if self.b.func.dfg.value_type(yes) == types::I128 {
            // By halves: Cranelift makes a minimum of a comparison and a choice, and has none of 128 bits.
            let ((a, b), (c, d)) = (self.halves(yes), self.halves(no));
            let (low, high) = (self.b.ins().select(condition, a, c), self.b.ins().select(condition, b, d));
            return self.b.ins().iconcat(low, high);
        }
        self.b.ins().select(condition, yes, no)
    }

    fn is(&mut self, cc: Cc, a: Value, b: Value) -> Value {
        self.b.ins().icmp(cc, a, b)
    }

    pub(super) fn int_unary(&mut self, op: IntUnary, int: Int, x: Value) -> Fallible<Value> {
        let ty = int.ty;
        Ok(match op {
            IntUnary::Ineg => {
                let negative = self.b.ins().ineg(x);
                self.cut(int, negative)
            }
            IntUnary::Iabs => {
                let signed = self.signed(int, x);
                let zero = self.int(int, 0);
                let negative = self.is(Cc::SignedLessThan, signed, zero);
                let other = self.b.ins().ineg(signed);
                let magnitude = self.pick(negative, other, signed);
                self.cut(int, magnitude)
            }
            IntUnary::Bnot => {
                let not = self.b.ins().bnot(x);
                self.cut(int, not)
            }
            IntUnary::Popcnt if ty == types::I128 => {
                let (low, high) = self.halves(x);
                let (low, high) = (self.b.ins().popcnt(low), self.b.ins().popcnt(high));
                let sum = self.b.ins().iadd(low, high);
                self.b.ins().uextend(ty, sum)
            }
            IntUnary::Popcnt => self.b.ins().popcnt(x),
            IntUnary::Clz => {
                let all = self.b.ins().clz(x);
                let above = self.int(Int { bits: ty.bits(), ty }, int.spare().into());
                self.b.ins().isub(all, above)
            }
            IntUnary::Ctz if int.spare() == 0 => self.b.ins().ctz(x),
            IntUnary::Ctz => {
                // A bit above the number ends the count.
                let end = Int { bits: ty.bits(), ty };
                let end = self.int(end, 1 << int.bits);
                let ended = self.b.ins().bor(x, end);
                self.b.ins().ctz(ended)
            }
            IntUnary::Bitrev => {
                let reversed = self.b.ins().bitrev(x);
                let by = self.number(int.spare());
                self.b.ins().ushr(reversed, by)
            }
            IntUnary::Bswap => {
                let reversed = self.b.ins().bswap(x);
                let by = self.number(int.spare());
                self.b.ins().ushr(reversed, by)
            }
        })
    }

    pub(super) fn int_binary(&mut self, op: IntBinary, int: Int, x: Value, y: Value) -> Fallible<Value> {
        let bits = int.bits;
        Ok(match op {
            IntBinary::Iadd => {
                let sum = self.b.ins().iadd(x, y);
                self.cut(int, sum)
            }
            IntBinary::Isub => {
                let difference = self.b.ins().isub(x, y);
                self.cut(int, difference)
            }
            IntBinary::Imul => {
                let product = self.b.ins().imul(x, y);
                self.cut(int, product)
            }
            IntBinary::Umulhi => self.product(int, false, x, y)?.1,
            IntBinary::Smulhi => self.product(int, true, x, y)?.1,
            IntBinary::Udiv => self.divide(int, Division { signed: false, remainder: false }, x, y)?,
            IntBinary::Urem => self.divide(int, Division { signed: false, remainder: true }, x, y)?,
            IntBinary::Sdiv => self.divide(int, Division { signed: true, remainder: false }, x, y)?,
            IntBinary::Srem => self.divide(int, Division { signed: true, remainder: true }, x, y)?,
            IntBinary::Smin | IntBinary::Smax => {
                let (a, b) = (self.signed(int, x), self.signed(int, y));
                let less = self.is(Cc::SignedLessThan, a, b);
                if op == IntBinary::Smin { self.pick(less, x, y) } else { self.pick(less, y, x) }
            }
            IntBinary::Umin | IntBinary::Umax => {
                let less = self.is(Cc::UnsignedLessThan, x, y);
                if op == IntBinary::Umin { self.pick(less, x, y) } else { self.pick(less, y, x) }
            }
            IntBinary::Band => self.b.ins().band(x, y),
            IntBinary::Bor => self.b.ins().bor(x, y),
            IntBinary::Bxor => self.b.ins().bxor(x, y),
            IntBinary::Shl => {
                let moved = self.b.ins().ishl(x, y);
                let moved = self.cut(int, moved);
                let (fits, zero) = (self.fits(y, bits), self.int(int, 0));
                self.pick(fits, moved, zero)
            }
            IntBinary::Lshr => self.shifted_right(int, x, y),
            IntBinary::Ashr => {
                let moved = self.shifted_right_signed(int, x, y);
                self.cut(int, moved)
            }
            IntBinary::Rotl | IntBinary::Rotr => {
                let amount = self.modulo(y, bits);
                if int.spare() == 0 {
                    return Ok(match op == IntBinary::Rotl {
                        true => self.b.ins().rotl(x, amount),
                        false => self.b.ins().rotr(x, amount),
                    });
                }
                let all = self.number(bits);
                let other = self.b.ins().isub(all, amount);
                let (left, right) = if op == IntBinary::Rotl { (amount, other) } else { (other, amount) };
                let (up, down) = (self.b.ins().ishl(x, left), self.b.ins().ushr(x, right));
                let both = self.b.ins().bor(up, down);
                self.cut(int, both)
            }
            IntBinary::UaddSat => {
                let (sum, over) = self.overflowing(Overflow::UaddOverflow, int, x, y)?;
                let most = self.int(int, u128::MAX);
                self.pick(over, most, sum)
            }
            IntBinary::UsubSat => {
                let (difference, over) = self.overflowing(Overflow::UsubOverflow, int, x, y)?;
                let zero = self.int(int, 0);
                self.pick(over, zero, difference)
            }
            IntBinary::SaddSat | IntBinary::SsubSat => {
                let wraps =
                    if op == IntBinary::SaddSat { Overflow::SaddOverflow } else { Overflow::SsubOverflow };
                let (result, over) = self.overflowing(wraps, int, x, y)?;
                // What overflows has the sign of the first operand.
                let limit = self.limit(int, x);
                self.pick(over, limit, result)
            }
            IntBinary::UshlSat => {
                let moved = self.b.ins().ishl(x, y);
                let moved = self.cut(int, moved);
                let back = self.b.ins().ushr(moved, y);
                let (most, zero) = (self.int(int, u128::MAX), self.int(int, 0));
                let (same, fits) = (self.is(Cc::Equal, back, x), self.fits(y, bits));
                let exact = self.b.ins().band(same, fits);
                let nothing = self.is(Cc::Equal, x, zero);
                let exact = self.pick(exact, moved, most);
                self.pick(nothing, zero, exact)
            }
            IntBinary::SshlSat => {
                let moved = self.b.ins().ishl(x, y);
                let moved = self.cut(int, moved);
                let (signed, of_moved) = (self.signed(int, x), self.signed(int, moved));
                let back = self.b.ins().sshr(of_moved, y);
                let zero = self.int(int, 0);
                let (same, fits) = (self.is(Cc::Equal, back, signed), self.fits(y, bits));
                let exact = self.b.ins().band(same, fits);
                let nothing = self.is(Cc::Equal, x, zero);
                let limit = self.limit(int, x);
                let exact = self.pick(exact, moved, limit);
                self.pick(nothing, zero, exact)
            }
        })
    }

    /// The least number for a negative one, else the greatest.
    fn limit(&mut self, int: Int, x: Value) -> Value {
        let (least, most) = (self.int(int, 1 << (int.bits - 1)), self.int(int, int.ones() >> 1));
        let (signed, zero) = (self.signed(int, x), self.int(int, 0));
        let negative = self.is(Cc::SignedLessThan, signed, zero);
        self.pick(negative, least, most)
    }

    /// True for an amount below `bits`.
    fn fits(&mut self, amount: Value, bits: u32) -> Value {
        self.b.ins().icmp_imm_s(Cc::UnsignedLessThan, amount, i64::from(bits))
    }

    fn modulo(&mut self, amount: Value, bits: u32) -> Value {
        match bits.is_power_of_two() {
            true => self.b.ins().band_imm_s(amount, i64::from(bits) - 1),
            false => self.b.ins().urem_imm_u(amount, i64::from(bits)),
        }
    }

    fn shifted_right(&mut self, int: Int, x: Value, amount: Value) -> Value {
        let moved = self.b.ins().ushr(x, amount);
        let (fits, zero) = (self.fits(amount, int.bits), self.int(int, 0));
        self.pick(fits, moved, zero)
    }

    /// With copies of the sign in all of the type.
    fn shifted_right_signed(&mut self, int: Int, x: Value, amount: Value) -> Value {
        let signed = self.signed(int, x);
        let last = self.number(int.bits - 1);
        let fits = self.fits(amount, int.bits);
        let amount = self.pick(fits, amount, last);
        self.b.ins().sshr(signed, amount)
    }

    /// The lower and the upper half of a product.
    fn product(&mut self, int: Int, signed: bool, x: Value, y: Value) -> Fallible<(Value, Value)> {
        let bits = int.bits;
        let (x, y) = if signed { (self.signed(int, x), self.signed(int, y)) } else { (x, y) };
        if bits > 64 {
            let ((a, b), (c, d)) = (self.halves(x), self.halves(y));
            let (to, sign) = (self.cells(2), self.number(signed.into()));
            self.helper("wide_product", &[sign, a, b, c, d, to], None)?;
            let [low, high] = [0, 16].map(|at| self.b.ins().load(types::I128, super::PLAIN, to, at));
            if bits == 128 {
                return Ok((low, high));
            }
            // The upper half begins within the lower cell.
            let (down, up) = (self.number(bits), self.number(128 - bits));
            let (part, rest) = (self.b.ins().ushr(low, down), self.b.ins().ishl(high, up));
            let upper = self.b.ins().bor(part, rest);
            return Ok((self.cut(int, low), self.cut(int, upper)));
        }
        if bits == 64 {
            let high = if signed { self.b.ins().smulhi(x, y) } else { self.b.ins().umulhi(x, y) };
            return Ok((self.b.ins().imul(x, y), high));
        }
        let twice = if bits <= 32 { types::I64 } else { types::I128 };
        let (x, y) = match signed {
            true => (self.resized_signed(int.ty, x, twice), self.resized_signed(int.ty, y, twice)),
            false => (self.resized(int.ty, x, twice), self.resized(int.ty, y, twice)),
        };
        let product = self.b.ins().imul(x, y);
        let by = self.number(bits);
        let high = self.b.ins().ushr(product, by);
        let (low, high) = (self.resized(twice, product, int.ty), self.resized(twice, high, int.ty));
        Ok((self.cut(int, low), self.cut(int, high)))
    }

    /// Quotients and remainders: all ones for a zero divisor.
    fn divide(&mut self, int: Int, division: Division, x: Value, y: Value) -> Fallible<Value> {
        let Division { signed, remainder } = division;
        let (zero, ones) = (self.int(int, 0), self.int(int, u128::MAX));
        let none = self.is(Cc::Equal, y, zero);
        let (a, b) = if signed { (self.signed(int, x), self.signed(int, y)) } else { (x, y) };
        if int.bits > 64 {
            let ((x0, x1), (y0, y1)) = (self.halves(a), self.halves(b));
            let (sign, rest) = (self.number(signed.into()), self.number(remainder.into()));
            let to = self.cells(1);
            self.helper("wide_divide", &[sign, rest, x0, x1, y0, y1, to], None)?;
            let result = self.b.ins().load(types::I128, super::PLAIN, to, 0);
            return Ok(self.cut(int, result));
        }
        let one = self.int(int, 1);
        let mut divisor = self.pick(none, one, b);
        let mut negated = None;
        if signed {
            // The host refuses the least number by -1: what is divided by that is negated.
            let minus = self.b.ins().icmp_imm_s(Cc::Equal, b, -1);
            divisor = self.pick(minus, one, divisor);
            let other = if remainder { zero } else { self.b.ins().ineg(a) };
            negated = Some((minus, other));
        }
        let mut result = match (signed, remainder) {
            (false, false) => self.b.ins().udiv(a, divisor),
            (false, true) => self.b.ins().urem(a, divisor),
            (true, false) => self.b.ins().sdiv(a, divisor),
            (true, true) => self.b.ins().srem(a, divisor),
        };
        if let Some((minus, other)) = negated {
            result = self.pick(minus, other, result);
        }
        let result = self.cut(int, result);
        Ok(self.pick(none, ones, result))
    }

    /// What wraps, and whether it did.
    pub(super) fn overflowing(
        &mut self,
        op: Overflow,
        int: Int,
        x: Value,
        y: Value,
    ) -> Fallible<(Value, Value)> {
        let zero = self.int(int, 0);
        Ok(match op {
            Overflow::UaddOverflow => {
                let sum = self.b.ins().iadd(x, y);
                let sum = self.cut(int, sum);
                (sum, self.is(Cc::UnsignedLessThan, sum, x))
            }
            Overflow::UsubOverflow => {
                let difference = self.b.ins().isub(x, y);
                let difference = self.cut(int, difference);
                (difference, self.is(Cc::UnsignedLessThan, x, y))
            }
            Overflow::SaddOverflow | Overflow::SsubOverflow => {
                let is_sum = op == Overflow::SaddOverflow;
                let result = if is_sum { self.b.ins().iadd(x, y) } else { self.b.ins().isub(x, y) };
                // The sign is wrong if both operands of a sum have the other one, and so for a difference with the second one's turned.
                let (of_x, of_y) = (self.b.ins().bxor(x, result), self.b.ins().bxor(y, result));
                let of_y = if is_sum { of_y } else { self.b.ins().bnot(of_y) };
                let wrong = self.b.ins().band(of_x, of_y);
                let wrong = self.signed(int, wrong);
                let over = self.is(Cc::SignedLessThan, wrong, zero);
                (self.cut(int, result), over)
            }
            Overflow::UmulOverflow => {
                let (low, high) = self.product(int, false, x, y)?;
                (low, self.is(Cc::NotEqual, high, zero))
            }
            Overflow::SmulOverflow => {
                let (low, high) = self.product(int, true, x, y)?;
                let signed = self.signed(int, low);
                let last = self.number(int.bits - 1);
                let above = self.b.ins().sshr(signed, last);
                let above = self.cut(int, above);
                (low, self.is(Cc::NotEqual, high, above))
            }
        })
    }

    /// `fshl` and `fshr`.
    pub(super) fn funnel(&mut self, left: bool, int: Int, [x, y, amount]: [Value; 3]) -> Value {
        let by = self.modulo(amount, int.bits);
        let all = self.number(int.bits);
        let other = self.b.ins().isub(all, by);
        let (up, down) = if left { (by, other) } else { (other, by) };
        let (upper, lower) = (self.b.ins().ishl(x, up), self.b.ins().ushr(y, down));
        let both = self.b.ins().bor(upper, lower);
        let both = self.cut(int, both);
        let none = self.b.ins().icmp_imm_s(Cc::Equal, by, 0);
        self.pick(none, if left { x } else { y }, both)
    }

    /// So many ones from bit 0 on.
    fn low_ones(&mut self, int: Int, count: Value) -> Value {
        let one = self.int(int, 1);
        let up = self.b.ins().ishl(one, count);
        let less = self.b.ins().isub(up, one);
        let (fits, all) = (self.fits(count, int.bits), self.int(int, u128::MAX));
        self.pick(fits, less, all)
    }

    /// `ubfx` and `sbfx`.
    pub(super) fn bit_field(&mut self, signed: bool, int: Int, [x, at, count]: [Value; 3]) -> Value {
        let (at, count) = (self.b.ins().band_imm_s(at, 255), self.b.ins().band_imm_s(count, 255));
        if !signed {
            let moved = self.shifted_right(int, x, at);
            let mask = self.low_ones(int, count);
            return self.b.ins().band(moved, mask);
        }
        let moved = self.shifted_right_signed(int, x, at);
        let all = self.number(int.ty.bits());
        let by = self.b.ins().isub(all, count);
        let up = self.b.ins().ishl(moved, by);
        let down = self.b.ins().sshr(up, by);
        let fits = self.fits(count, int.ty.bits());
        let result = self.pick(fits, down, moved);
        let (none, zero) = (self.b.ins().icmp_imm_s(Cc::Equal, count, 0), self.int(int, 0));
        let result = self.pick(none, zero, result);
        self.cut(int, result)
    }

    pub(super) fn bit_field_insert(&mut self, int: Int, [x, y, at, count]: [Value; 4]) -> Value {
        let (at, count) = (self.b.ins().band_imm_s(at, 255), self.b.ins().band_imm_s(count, 255));
        let ones = self.low_ones(int, count);
        let mask = self.b.ins().ishl(ones, at);
        let mask = self.cut(int, mask);
        let (fits, zero) = (self.fits(at, int.bits), self.int(int, 0));
        let mask = self.pick(fits, mask, zero);
        let moved = self.b.ins().ishl(y, at);
        let inside = self.b.ins().band(moved, mask);
        let others = self.b.ins().bnot(mask);
        let outside = self.b.ins().band(x, others);
        self.b.ins().bor(inside, outside)
    }

    pub(super) fn compare(&mut self, cond: IntCC, int: Int, x: Value, y: Value) -> Value {
        let (cc, signed) = match cond {
            IntCC::Eq => (Cc::Equal, false),
            IntCC::Ne => (Cc::NotEqual, false),
            IntCC::Slt => (Cc::SignedLessThan, true),
            IntCC::Sle => (Cc::SignedLessThanOrEqual, true),
            IntCC::Sgt => (Cc::SignedGreaterThan, true),
            IntCC::Sge => (Cc::SignedGreaterThanOrEqual, true),
            IntCC::Ult => (Cc::UnsignedLessThan, false),
            IntCC::Ule => (Cc::UnsignedLessThanOrEqual, false),
            IntCC::Ugt => (Cc::UnsignedGreaterThan, false),
            IntCC::Uge => (Cc::UnsignedGreaterThanOrEqual, false),
        };
        let (x, y) = if signed { (self.signed(int, x), self.signed(int, y)) } else { (x, y) };
        self.is(cc, x, y)
    }
}
