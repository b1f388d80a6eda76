//! Integers of more than 64 bits: limbs of 64, the lowest first, zeros above the bits of the last one.

use super::function::{Builder, Values};
use super::integer::is_signed;
use super::shape::Part;
use crate::error::{Error, Result};
use crate::module::ops::BinaryOp;
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

/// Division of 128 bits, bit by bit, but by 64-bit division where that is enough.
const UDIVREM: &str = "
func @udivrem128(%nl: i64, %nh: i64, %dl: i64, %dh: i64, %out: ptr) {
entry:
  %high = bor %nh, %dh
  %narrow = icmp eq %high, 0
  brif %narrow, small, large
small:
  %q = udiv %nl, %dl
  %p = imul %q, %dl
  %r = isub %nl, %p
  %zero = iconst.i64 0
  store %q, %out
  store %zero, %out + 8
  store %r, %out + 16
  store %zero, %out + 24
  ret
large:
  %z = iconst.i64 0
  %n0 = iconst.i32 128
  jump step(%nl, %nh, %z, %z, %n0)
step(%al: i64, %ah: i64, %rl: i64, %rh: i64, %left: i32):
  %top = lshr %ah, 63
  %carry = lshr %al, 63
  %rtop = lshr %rl, 63
  %spill = lshr %rh, 63
  %rl1 = shl %rl, 1
  %rl2 = bor %rl1, %top
  %rh1 = shl %rh, 1
  %rh2 = bor %rh1, %rtop
  %al1 = shl %al, 1
  %ah1 = shl %ah, 1
  %ah2 = bor %ah1, %carry
  %above = icmp ugt %rh2, %dh
  %same = icmp eq %rh2, %dh
  %low = icmp uge %rl2, %dl
  %even = band %same, %low
  %over = icmp ne %spill, 0
  %fits0 = bor %above, %even
  %fits = bor %fits0, %over
  %borrow0 = icmp ult %rl2, %dl
  %borrow = zext.i64 %borrow0
  %dl1 = isub %rl2, %dl
  %dh1 = isub %rh2, %dh
  %dh2 = isub %dh1, %borrow
  %rl3 = select %fits, %dl1, %rl2
  %rh3 = select %fits, %dh2, %rh2
  %bit = zext.i64 %fits
  %al2 = bor %al1, %bit
  %next = isub %left, 1
  %more = icmp ne %next, 0
  brif %more, step(%al2, %ah2, %rl3, %rh3, %next), done
done:
  store %al2, %out
  store %ah2, %out + 8
  store %rl3, %out + 16
  store %rh3, %out + 24
  ret
}
";

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
            BinaryOp::Udiv => self.divide(bits, x, y)?.0,
            BinaryOp::Urem => self.divide(bits, x, y)?.1,
            BinaryOp::Sdiv | BinaryOp::Srem => {
                let (x, y) = (self.sign_wide(x, bits), self.sign_wide(y, bits));
                let (x_negative, x) = self.magnitude(&x);
                let (y_negative, y) = self.magnitude(&y);
                let (quotient, remainder) = self.divide(bits.next_multiple_of(64), &x, &y)?;
                if op == BinaryOp::Sdiv {
                    let negative = self.b.ins().bxor(x_negative, y_negative);
                    self.negate_if(negative, &quotient)
                } else {
                    self.negate_if(x_negative, &remainder)
                }
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

    /// Whether a number is negative, and the number without its sign.
    fn magnitude(&mut self, x: &[Value]) -> (Value, Values) {
        let zero = self.limb(0);
        let last = x.last().copied().unwrap_or(zero);
        let negative = self.b.ins().icmp(IntCC::Slt, last, zero);
        (negative, self.negate_if(negative, x))
    }

    pub fn negate_if(&mut self, condition: Value, x: &[Value]) -> Values {
        let zero = self.limb(0);
        let zeros: Values = std::iter::repeat_n(zero, x.len()).collect();
        let (negated, _borrow) = self.sub_limbs(&zeros, x);
        x.iter().zip(negated).map(|(x, n)| self.b.ins().select(condition, n, *x)).collect()
    }

    /// The quotient and the remainder of unsigned numbers.
    fn divide(&mut self, bits: u32, x: &[Value], y: &[Value]) -> Result<(Values, Values)> {
        let ([xl, xh], [yl, yh]) = (x, y) else {
            return Err(Error::unsupported(format!("division of `i{bits}`, of more than 128 bits")));
        };
        let function = self.helper("udivrem128", UDIVREM)?;
        let part = |n: u64| Part { ty: Type::I64, bits: 64, offset: n * 8 };
        let parts = [part(0), part(1), part(2), part(3)];
        let (address, out) = self.place_for_results(&parts);
        self.b.call(function, &[*xl, *xh, *yl, *yh, out]);
        let all = self.load_results(&parts, address);
        match all.as_slice() {
            [ql, qh, rl, rh] => Ok((Values::from_slice(&[*ql, *qh]), Values::from_slice(&[*rl, *rh]))),
            _ => Err(Error::unsupported("division of `i128`")),
        }
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
