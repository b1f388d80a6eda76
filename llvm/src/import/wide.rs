//! Integers of more than 128 bits, which the IR does not have: limbs of 64, the lowest first, zeros above the bits of the last one.

mod division;
mod intrinsics;

use super::function::{Builder, Values};
use super::integer::is_signed;
use super::shape::{MAX_BITS, container};
use crate::error::{Error, Result};
use crate::module::ops::BinaryOp;
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

impl Builder<'_, '_, '_> {
    pub fn limb(&mut self, value: i64) -> Value {
        self.b.ins().iconst(Type::I64, value)
    }

    /// The last limb with what lies above the number cleared.
    pub fn clear_wide(&mut self, mut limbs: Values, bits: u32) -> Values {
        let rest = bits % 64;
        if let Some(last) = limbs.last_mut().filter(|_| rest != 0) {
            *last = self.clear(*last, rest);
        }
        limbs
    }

    /// The last limb with copies of the number's sign above it.
    pub fn sign_wide(&mut self, limbs: &[Value], bits: u32) -> Values {
        let mut limbs = Values::from_slice(limbs);
        let rest = bits % 64;
        if let Some(last) = limbs.last_mut().filter(|_| rest != 0) {
            *last = self.extend_sign(*last, rest);
        }
        limbs
    }

    pub fn wide(&mut self, op: BinaryOp, bits: u32, x: &[Value], y: &[Value]) -> Result<Values> {
        if x.len() != y.len() {
            return Err(Error::unsupported("an operation on integers of two widths"));
        }
        let each = |b: &mut Self, f: &mut dyn FnMut(&mut Self, Value, Value) -> Value| -> Values {
            x.iter().zip(y).map(|(x, y)| f(b, *x, *y)).collect()
        };
        let limbs = match op {
            BinaryOp::And => return Ok(each(self, &mut |b, x, y| b.b.ins().band(x, y))),
            BinaryOp::Or => return Ok(each(self, &mut |b, x, y| b.b.ins().bor(x, y))),
            BinaryOp::Xor => return Ok(each(self, &mut |b, x, y| b.b.ins().bxor(x, y))),
            BinaryOp::Add => self.add_limbs(x, y).0,
            BinaryOp::Sub => self.sub_limbs(x, y).0,
            BinaryOp::Mul => self.mul_limbs(x, y, x.len()),
            BinaryOp::Shl => self.shift_limbs(x, y[0], true, false),
            BinaryOp::Lshr => self.shift_limbs(x, y[0], false, false),
            BinaryOp::Ashr => {
                let x = self.sign_wide(x, bits);
                self.shift_limbs(&x, y[0], false, true)
            }
            BinaryOp::Udiv | BinaryOp::Urem | BinaryOp::Sdiv | BinaryOp::Srem => {
                self.divide_wide(op, bits, x, y)?
            }
            BinaryOp::Fadd | BinaryOp::Fsub | BinaryOp::Fmul | BinaryOp::Fdiv | BinaryOp::Frem => {
                return Err(Error::unsupported("an operation on floats between integers"));
            }
        };
        Ok(self.clear_wide(limbs, bits))
    }

    /// The sum, and the carry out of it as an `i1`.
    pub fn add_limbs(&mut self, x: &[Value], y: &[Value]) -> (Values, Value) {
        let mut carry: Option<Value> = None;
        let mut out = Values::new();
        for (x, y) in x.iter().zip(y) {
            let mut sum = self.b.ins().iadd(*x, *y);
            let mut over = self.b.ins().icmp(IntCC::Ult, sum, *x);
            if let Some(carry) = carry {
                let carry = self.b.ins().zext(Type::I64, carry);
                let with = self.b.ins().iadd(sum, carry);
                let again = self.b.ins().icmp(IntCC::Ult, with, sum);
                over = self.b.ins().bor(over, again);
                sum = with;
            }
            out.push(sum);
            carry = Some(over);
        }
        let carry = carry.unwrap_or_else(|| self.b.ins().iconst(Type::I1, 0));
        (out, carry)
    }

    /// The difference, and whether it is negative.
    pub fn sub_limbs(&mut self, x: &[Value], y: &[Value]) -> (Values, Value) {
        let mut borrow: Option<Value> = None;
        let mut out = Values::new();
        for (x, y) in x.iter().zip(y) {
            let mut difference = self.b.ins().isub(*x, *y);
            let mut under = self.b.ins().icmp(IntCC::Ult, *x, *y);
            if let Some(borrow) = borrow {
                let borrow = self.b.ins().zext(Type::I64, borrow);
                let again = self.b.ins().icmp(IntCC::Ult, difference, borrow);
                difference = self.b.ins().isub(difference, borrow);
                under = self.b.ins().bor(under, again);
            }
            out.push(difference);
            borrow = Some(under);
        }
        let borrow = borrow.unwrap_or_else(|| self.b.ins().iconst(Type::I1, 0));
        (out, borrow)
    }

    /// So many low limbs of the product.
    pub fn mul_limbs(&mut self, x: &[Value], y: &[Value], count: usize) -> Values {
        let zero = self.limb(0);
        let mut out: Values = std::iter::repeat_n(zero, count).collect();
        for (i, x) in x.iter().enumerate() {
            let mut carry = zero;
            for (j, y) in y.iter().enumerate().take(count.saturating_sub(i)) {
                let low = self.b.ins().imul(*x, *y);
                let high = self.b.ins().umulhi(*x, *y);
                let (sum, over) = self.add_limbs(&[low, high], &[out[i + j], zero]);
                let _never = over;
                let (sum, _never) = self.add_limbs(&sum, &[carry, zero]);
                out[i + j] = sum[0];
                carry = sum[1];
            }
            if let Some(slot) = out.get_mut(i + y.len()) {
                *slot = carry;
            }
        }
        out
    }

    /// Shifts by an amount that is less than the width.
    pub fn shift_limbs(&mut self, x: &[Value], amount: Value, left: bool, signed: bool) -> Values {
        let fill = match x.last() {
            Some(last) if signed => {
                let all = self.b.ins().iconst(Type::I32, 63);
                self.b.ins().ashr(*last, all)
            }
            _ => self.limb(0),
        };
        let amount = self.resize(amount, Type::I32);
        let six = self.b.ins().iconst(Type::I32, 6);
        let whole = self.b.ins().lshr(amount, six);
        let mask = self.b.ins().iconst(Type::I32, 63);
        let part = self.b.ins().band(amount, mask);
        let width = self.b.ins().iconst(Type::I32, 64);
        let rest = self.b.ins().isub(width, part);
        // First by whole limbs, chosen among all that it can be, then by bits.
        let count = x.len() as i64;
        let at = |n: i64| if (0..count).contains(&n) { x[n as usize] } else { fill };
        let mut moved: Values = x.iter().copied().collect();
        for limbs in 1..count {
            let number = self.b.ins().iconst(Type::I32, limbs);
            let is = self.b.ins().icmp(IntCC::Eq, whole, number);
            for n in 0..count {
                let from = at(if left { n - limbs } else { n + limbs });
                moved[n as usize] = self.b.ins().select(is, from, moved[n as usize]);
            }
        }
        let moved_at = |n: i64| if (0..count).contains(&n) { moved[n as usize] } else { fill };
        let mut out = Values::new();
        for n in 0..count {
            // A shift by 64 gives 0, so that nothing comes over for whole limbs; of a sign all bits are the same.
            let (near, far) = (moved_at(n), moved_at(if left { n - 1 } else { n + 1 }));
            let value = if left {
                let near = self.b.ins().shl(near, part);
                let far = self.b.ins().lshr(far, rest);
                self.b.ins().bor(near, far)
            } else {
                let near = if signed && n + 1 == count {
                    self.b.ins().ashr(near, part)
                } else {
                    self.b.ins().lshr(near, part)
                };
                if n + 1 == count {
                    near
                } else {
                    let far = self.b.ins().shl(far, rest);
                    self.b.ins().bor(near, far)
                }
            };
            out.push(value);
        }
        out
    }

    /// The limbs of a number that the IR has, with its sign or zeros above it.
    fn split(&mut self, x: Value, signed: bool) -> Values {
        let whole = if signed { self.resize_signed(x, Type::I128) } else { self.resize(x, Type::I128) };
        let low = self.b.ins().trunc(Type::I64, whole);
        let high = self.b.ins().lshr_imm(whole, 64);
        Values::from_slice(&[low, self.b.ins().trunc(Type::I64, high)])
    }

    /// The low bits of a number of limbs.
    pub fn truncate_wide(&mut self, limbs: &[Value], bits: u32) -> Result<Values> {
        let [low, high, ..] = limbs else { return Err(Error::unsupported("a cast of nothing")) };
        if bits > MAX_BITS {
            let limbs = limbs.iter().copied().take(bits.div_ceil(64) as usize).collect();
            return Ok(self.clear_wide(limbs, bits));
        }
        let low = self.b.ins().zext(Type::I128, *low);
        let high = self.b.ins().zext(Type::I128, *high);
        let high = self.b.ins().shl_imm(high, 64);
        let whole = self.b.ins().bor(low, high);
        Ok(Values::from_slice(&[self.resize(whole, container(bits))]))
    }

    /// A number as one of more than 128 bits.
    pub fn extend_wide(&mut self, x: &[Value], from: u32, to: u32, signed: bool) -> Values {
        let mut limbs = match x {
            [x] => self.split(*x, signed),
            limbs if signed => self.sign_wide(limbs, from),
            limbs => Values::from_slice(limbs),
        };
        let count = to.div_ceil(64) as usize;
        if limbs.len() < count {
            let fill = match limbs.last() {
                Some(last) if signed => self.b.ins().ashr_imm(*last, 63),
                _ => self.limb(0),
            };
            limbs.resize(count, fill);
        }
        self.clear_wide(limbs, to)
    }

    pub fn wide_compare(&mut self, cond: IntCC, bits: u32, x: &[Value], y: &[Value]) -> Result<Value> {
        if x.len() != y.len() || x.is_empty() {
            return Err(Error::unsupported("a comparison of integers of two widths"));
        }
        if matches!(cond, IntCC::Eq | IntCC::Ne) {
            let mut any: Option<Value> = None;
            for (x, y) in x.iter().zip(y) {
                let differs = self.b.ins().bxor(*x, *y);
                any = Some(any.map_or(differs, |any| self.b.ins().bor(any, differs)));
            }
            let zero = self.limb(0);
            let any = any.unwrap_or(zero);
            return Ok(self.b.ins().icmp(cond, any, zero));
        }
        let (x, y) = if is_signed(cond) {
            (self.sign_wide(x, bits), self.sign_wide(y, bits))
        } else {
            (Values::from_slice(x), Values::from_slice(y))
        };
        let unsigned = match cond {
            IntCC::Slt | IntCC::Ult => IntCC::Ult,
            IntCC::Sle | IntCC::Ule => IntCC::Ule,
            IntCC::Sgt | IntCC::Ugt => IntCC::Ugt,
            IntCC::Sge | IntCC::Uge => IntCC::Uge,
            IntCC::Eq | IntCC::Ne => cond,
        };
        // From the lowest limb up: a higher one decides unless it is equal.
        let mut result: Option<Value> = None;
        let top = x.len() - 1;
        for (n, (x, y)) in x.iter().zip(&y).enumerate() {
            let of_limb = self.b.ins().icmp(if n == top { cond } else { unsigned }, *x, *y);
            result = Some(match result {
                None => of_limb,
                Some(below) => {
                    let equal = self.b.ins().icmp(IntCC::Eq, *x, *y);
                    self.b.ins().select(equal, below, of_limb)
                }
            });
        }
        Ok(result.unwrap_or(x[0]))
    }
}
