//! Integer arithmetic (manual 9.7.1 and 9.7.2).

use super::types::{Bits, Number};
use super::{Plan, Slot, Step, Written};
use crate::lanes::{LaneFn, scalar, vector, wide};
use crate::register::Width;
use crate::value::bits::{self, Word};
use crate::value::integer::{self, Int};
use crate::value::packed::{map2_16, map4_8};
use smallvec::{SmallVec, smallvec};
use warpsmith_isa::{Instruction, Mod};

/// A closure at the widths 16, 32 and 64; `None` for a type that is no such integer.
macro_rules! words {
    ($make:ident, $number:expr, |$($a:ident),* $(; $($extra:ident: $t:ty),*)?| $body:expr) => {
        match $number.integer()? {
            Bits::B16 => $make(|$($a: u16),* $(, $($extra: $t),*)?| $body),
            Bits::B32 => $make(|$($a: u32),* $(, $($extra: $t),*)?| $body),
            Bits::B64 => $make(|$($a: u64),* $(, $($extra: $t),*)?| $body),
        }
    };
}
pub(super) use words;

/// The closure of a signed or of an unsigned operation, as the type says.
macro_rules! by_sign {
    ($make:ident, $number:expr, |$($a:ident),*| $signed:expr, $unsigned:expr) => {
        if $number.is_signed() {
            words!($make, $number, |$($a),*| $signed)
        } else {
            words!($make, $number, |$($a),*| $unsigned)
        }
    };
}

/// What the first type of an instruction is to arithmetic.
pub(super) fn number(i: &Instruction) -> Option<Number> {
    i.ty().map(Number::of)
}

fn simple(function: LaneFn) -> Option<Plan> {
    Some(Plan::simple(function))
}

fn saturates(i: &Instruction) -> bool {
    i.has(Mod::Sat)
}

pub(crate) fn add(i: &Instruction, _: &Written) -> Option<Plan> {
    let n = number(i)?;
    simple(match (n, saturates(i)) {
        (Number::PackedUnsigned | Number::PackedSigned, false) => {
            vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.wrapping_add(b)))
        }
        (Number::PackedUnsigned, true) => {
            vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.saturating_add(b)))
        }
        (Number::PackedSigned, true) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.add_sat_s(b))),
        (Number::UnsignedBytes | Number::SignedBytes, false) => {
            vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.wrapping_add(b)))
        }
        (Number::UnsignedBytes, true) => {
            vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.saturating_add(b)))
        }
        (Number::SignedBytes, true) => vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.add_sat_s(b))),
        (Number::Unsigned(Bits::B32), true) => vector(|a: u32, b: u32| a.saturating_add(b)),
        (_, true) => vector(|a: u32, b: u32| a.add_sat_s(b)),
        (n, false) => words!(wide, n, |a, b| a.wrapping_add(b)),
    })
}

pub(crate) fn sub(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match (number(i)?, saturates(i)) {
        (Number::UnsignedBytes | Number::SignedBytes, false) => {
            vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.wrapping_sub(b)))
        }
        (Number::UnsignedBytes, true) => {
            vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.saturating_sub(b)))
        }
        (Number::SignedBytes, true) => vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.sub_sat_s(b))),
        (_, true) => vector(|a: u32, b: u32| a.sub_sat_s(b)),
        (n, false) => words!(wide, n, |a, b| a.wrapping_sub(b)),
    })
}

/// `clmad`: a half of the product of two polynomials, and another polynomial.
pub(crate) fn clmad_lo(_: &Instruction, _: &Written) -> Option<Plan> {
    simple(scalar(|a: u64, b: u64, c: u64| bits::carryless_product(a, b) as u64 ^ c))
}

pub(crate) fn clmad_hi(_: &Instruction, _: &Written) -> Option<Plan> {
    simple(scalar(|a: u64, b: u64, c: u64| (bits::carryless_product(a, b) >> 64) as u64 ^ c))
}

pub(crate) fn mul_lo(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(words!(wide, number(i)?, |a, b| a.wrapping_mul(b)))
}

pub(crate) fn mul_hi(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(by_sign!(vector, number(i)?, |a, b| a.mul_hi_s(b), a.mul_hi_u(b)))
}

/// The operand's width and sign of an operation whose result is twice as wide.
fn widening(i: &Instruction) -> Option<(bool, bool)> {
    let n = number(i)?;
    match n.integer()? {
        Bits::B16 => Some((false, n.is_signed())),
        Bits::B32 => Some((true, n.is_signed())),
        Bits::B64 => None,
    }
}

pub(crate) fn mul_wide(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match widening(i)? {
        (false, false) => vector(|a: u16, b: u16| a.mul_wide_u(b)),
        (false, true) => vector(|a: u16, b: u16| a.mul_wide_s(b)),
        (true, false) => wide(|a: u32, b: u32| a.mul_wide_u(b)),
        (true, true) => wide(|a: u32, b: u32| a.mul_wide_s(b)),
    })
}

pub(crate) fn mad_lo(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(words!(wide, number(i)?, |a, b, c| a.wrapping_mul(b).wrapping_add(c)))
}

pub(crate) fn mad_hi(i: &Instruction, _: &Written) -> Option<Plan> {
    if saturates(i) {
        return simple(vector(|a: u32, b: u32, c: u32| a.mad_hi_sat_s(b, c)));
    }
    simple(by_sign!(
        vector,
        number(i)?,
        |a, b, c| a.mul_hi_s(b).wrapping_add(c),
        a.mul_hi_u(b).wrapping_add(c)
    ))
}

pub(crate) fn mad_wide(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match widening(i)? {
        (false, false) => vector(|a: u16, b: u16, c: u32| a.mul_wide_u(b).wrapping_add(c)),
        (false, true) => vector(|a: u16, b: u16, c: u32| a.mul_wide_s(b).wrapping_add(c)),
        (true, false) => wide(|a: u32, b: u32, c: u64| a.mul_wide_u(b).wrapping_add(c)),
        (true, true) => wide(|a: u32, b: u32, c: u64| a.mul_wide_s(b).wrapping_add(c)),
    })
}

pub(crate) fn mul24_lo(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(if number(i)?.is_signed() {
        vector(|a: u32, b: u32| integer::mul24_lo(true, a, b))
    } else {
        vector(|a: u32, b: u32| integer::mul24_lo(false, a, b))
    })
}

pub(crate) fn mul24_hi(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(if number(i)?.is_signed() {
        vector(|a: u32, b: u32| integer::mul24_hi(true, a, b))
    } else {
        vector(|a: u32, b: u32| integer::mul24_hi(false, a, b))
    })
}

pub(crate) fn mad24_lo(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(if number(i)?.is_signed() {
        vector(|a: u32, b: u32, c: u32| integer::mul24_lo(true, a, b).wrapping_add(c))
    } else {
        vector(|a: u32, b: u32, c: u32| integer::mul24_lo(false, a, b).wrapping_add(c))
    })
}

pub(crate) fn mad24_hi(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match (saturates(i), number(i)?.is_signed()) {
        (true, _) => vector(|a: u32, b: u32, c: u32| integer::mul24_hi(true, a, b).add_sat_s(c)),
        (false, true) => vector(|a: u32, b: u32, c: u32| integer::mul24_hi(true, a, b).wrapping_add(c)),
        (false, false) => vector(|a: u32, b: u32, c: u32| integer::mul24_hi(false, a, b).wrapping_add(c)),
    })
}

pub(crate) fn sad(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(by_sign!(vector, number(i)?, |a, b, c| a.sad_s(b, c), a.sad_u(b, c)))
}

pub(crate) fn div(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(by_sign!(scalar, number(i)?, |a, b| a.div_s(b), a.div_u(b)))
}

pub(crate) fn rem(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(by_sign!(scalar, number(i)?, |a, b| a.rem_s(b), a.rem_u(b)))
}

pub(crate) fn abs(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(words!(vector, number(i)?, |a| a.abs_s()))
}

pub(crate) fn neg(i: &Instruction, _: &Written) -> Option<Plan> {
    let n = number(i)?;
    simple(if n == Number::SignedBytes {
        vector(|a: u32| map4_8([a], |[a]| a.wrapping_neg()))
    } else {
        words!(vector, n, |a| a.wrapping_neg())
    })
}

pub(crate) fn min(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match (number(i)?, i.has(Mod::Relu)) {
        (Number::PackedSigned, true) => {
            vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.min_s(b).relu_s()))
        }
        (Number::PackedSigned, false) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.min_s(b))),
        (Number::PackedUnsigned, _) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.min(b))),
        (Number::SignedBytes, true) => vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.min_s(b).relu_s())),
        (Number::SignedBytes, false) => vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.min_s(b))),
        (Number::UnsignedBytes, _) => vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.min(b))),
        (_, true) => vector(|a: u32, b: u32| a.min_s(b).relu_s()),
        (n, false) => by_sign!(wide, n, |a, b| a.min_s(b), a.min(b)),
    })
}

pub(crate) fn max(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match (number(i)?, i.has(Mod::Relu)) {
        (Number::PackedSigned, true) => {
            vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.max_s(b).relu_s()))
        }
        (Number::PackedSigned, false) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.max_s(b))),
        (Number::PackedUnsigned, _) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.max(b))),
        (Number::SignedBytes, true) => vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.max_s(b).relu_s())),
        (Number::SignedBytes, false) => vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.max_s(b))),
        (Number::UnsignedBytes, _) => vector(|a: u32, b: u32| map4_8([a, b], |[a, b]| a.max(b))),
        (_, true) => vector(|a: u32, b: u32| a.max_s(b).relu_s()),
        (n, false) => by_sign!(wide, n, |a, b| a.max_s(b), a.max(b)),
    })
}

pub(crate) fn popc(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(words!(vector, number(i)?, |a| a.count_ones()))
}

pub(crate) fn clz(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(words!(vector, number(i)?, |a| a.leading_zeros()))
}

pub(crate) fn brev(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(words!(vector, number(i)?, |a| a.reverse_bits()))
}

pub(crate) fn bfind(i: &Instruction, _: &Written) -> Option<Plan> {
    let n = number(i)?;
    simple(if i.has(Mod::Shiftamt) {
        by_sign!(vector, n, |a| a.bfind_shiftamt_s(), a.bfind_shiftamt_u())
    } else {
        by_sign!(vector, n, |a| a.bfind_s(), a.bfind_u())
    })
}

pub(crate) fn bfe(i: &Instruction, _: &Written) -> Option<Plan> {
    let n = number(i)?;
    simple(if n.is_signed() {
        words!(vector, n, |a; start: u32, length: u32| a.bfe_s(start, length))
    } else {
        words!(vector, n, |a; start: u32, length: u32| a.bfe_u(start, length))
    })
}

pub(crate) fn bfi(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(words!(vector, number(i)?, |a, b; start: u32, length: u32| a.bfi(b, start, length)))
}

pub(crate) fn fns(_: &Instruction, _: &Written) -> Option<Plan> {
    simple(scalar(bits::fns))
}

pub(crate) fn szext(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match (super::logic::clamps(i)?, number(i)?.is_signed()) {
        (true, true) => vector(|a: u32, n: u32| bits::szext(true, true, a, n)),
        (true, false) => vector(|a: u32, n: u32| bits::szext(true, false, a, n)),
        (false, true) => vector(|a: u32, n: u32| bits::szext(false, true, a, n)),
        (false, false) => vector(|a: u32, n: u32| bits::szext(false, false, a, n)),
    })
}

pub(crate) fn bmsk(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match super::logic::clamps(i)? {
        true => vector(|a: u32, b: u32| bits::bmsk(true, a, b)),
        false => vector(|a: u32, b: u32| bits::bmsk(false, a, b)),
    })
}

/// Whether the two factors of a dot product are signed.
fn dot_signs(i: &Instruction) -> Option<(bool, bool)> {
    let mut types = i.types();
    Some((types.next()?.is_signed(), types.next()?.is_signed()))
}

pub(crate) fn dp4a(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match dot_signs(i)? {
        (false, false) => vector(|a: u32, b: u32, c: u32| integer::dp4a(false, false, a, b, c)),
        (false, true) => vector(|a: u32, b: u32, c: u32| integer::dp4a(false, true, a, b, c)),
        (true, false) => vector(|a: u32, b: u32, c: u32| integer::dp4a(true, false, a, b, c)),
        (true, true) => vector(|a: u32, b: u32, c: u32| integer::dp4a(true, true, a, b, c)),
    })
}

pub(crate) fn dp2a_lo(i: &Instruction, _: &Written) -> Option<Plan> {
    dp2a::<false>(i)
}

pub(crate) fn dp2a_hi(i: &Instruction, _: &Written) -> Option<Plan> {
    dp2a::<true>(i)
}

fn dp2a<const HI: bool>(i: &Instruction) -> Option<Plan> {
    simple(match dot_signs(i)? {
        (false, false) => vector(|a: u32, b: u32, c: u32| integer::dp2a(HI, false, false, a, b, c)),
        (false, true) => vector(|a: u32, b: u32, c: u32| integer::dp2a(HI, false, true, a, b, c)),
        (true, false) => vector(|a: u32, b: u32, c: u32| integer::dp2a(HI, true, false, a, b, c)),
        (true, true) => vector(|a: u32, b: u32, c: u32| integer::dp2a(HI, true, true, a, b, c)),
    })
}

// The operations on the carry flag. The manual says that `sub.cc` writes a borrow (9.7.2.3), but an `addc` after it reads the carry of
// `a + !b + 1`: so ptxas folds it, and nvcc's division of 128 bits relies on it. A subtraction without a borrow sets the flag.

/// Where an operation of a chain gets its carry from.
enum CarryIn {
    /// The flag.
    Flag,
    /// It begins a chain with this.
    Begin(bool),
}

/// The first result of a function is the instruction's, the second the carry.
fn carry(i: &Instruction, function: LaneFn, sources: u8, carry_in: CarryIn) -> Option<Plan> {
    let mut src: SmallVec<[Slot; 4]> = (0..sources).map(Slot::Src).collect();
    src.push(match carry_in {
        CarryIn::Flag => Slot::Carry,
        CarryIn::Begin(carry) => Slot::Constant(carry.into(), Width::Pred),
    });
    let flag = if i.has(Mod::Cc) { Slot::Carry } else { Slot::Temp(0, Width::Pred) };
    Some(Plan::of(smallvec![Step { function, dst: smallvec![Slot::Dst(0), flag], src }]))
}

fn sum(i: &Instruction) -> Option<LaneFn> {
    if saturates(i) {
        return Some(vector(|a: u32, b: u32, c: bool| add_sat_with_carry(a, b, c)));
    }
    Some(words!(vector, number(i)?, |a, b; c: bool| a.add_carry(b, c)))
}

fn difference(i: &Instruction) -> Option<LaneFn> {
    if saturates(i) {
        return Some(vector(|a: u32, b: u32, c: bool| sub_sat_with_carry(a, b, c)));
    }
    Some(words!(vector, number(i)?, |a, b; c: bool| a.add_carry(!b, c)))
}

fn low_product(i: &Instruction) -> Option<LaneFn> {
    Some(words!(vector, number(i)?, |a, b, c; f: bool| a.wrapping_mul(b).add_carry(c, f)))
}

fn high_product(i: &Instruction) -> Option<LaneFn> {
    let n = number(i)?;
    Some(if saturates(i) {
        vector(|a: u32, b: u32, c: u32, f: bool| add_sat_with_carry(a.mul_hi_s(b), c, f))
    } else if n.is_signed() {
        words!(vector, n, |a, b, c; f: bool| a.mul_hi_s(b).add_carry(c, f))
    } else {
        words!(vector, n, |a, b, c; f: bool| a.mul_hi_u(b).add_carry(c, f))
    })
}

pub(crate) fn add_cc(i: &Instruction, _: &Written) -> Option<Plan> {
    carry(i, sum(i)?, 2, CarryIn::Begin(false))
}

pub(crate) fn addc(i: &Instruction, _: &Written) -> Option<Plan> {
    carry(i, sum(i)?, 2, CarryIn::Flag)
}

pub(crate) fn sub_cc(i: &Instruction, _: &Written) -> Option<Plan> {
    carry(i, difference(i)?, 2, CarryIn::Begin(true))
}

pub(crate) fn subc(i: &Instruction, _: &Written) -> Option<Plan> {
    carry(i, difference(i)?, 2, CarryIn::Flag)
}

pub(crate) fn mad_lo_cc(i: &Instruction, _: &Written) -> Option<Plan> {
    carry(i, low_product(i)?, 3, CarryIn::Begin(false))
}

pub(crate) fn mad_hi_cc(i: &Instruction, _: &Written) -> Option<Plan> {
    carry(i, high_product(i)?, 3, CarryIn::Begin(false))
}

pub(crate) fn madc_lo(i: &Instruction, _: &Written) -> Option<Plan> {
    carry(i, low_product(i)?, 3, CarryIn::Flag)
}

pub(crate) fn madc_hi(i: &Instruction, _: &Written) -> Option<Plan> {
    carry(i, high_product(i)?, 3, CarryIn::Flag)
}

/// The sum clamped to the signed range; the flag that comes with it is not used by `.sat` forms.
fn add_sat_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let sum = a as i32 as i64 + b as i32 as i64 + carry as i64;
    (sum.clamp(i32::MIN as i64, i32::MAX as i64) as u32, false)
}

/// The difference clamped to the signed range.
fn sub_sat_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let difference = a as i32 as i64 - b as i32 as i64 - !carry as i64;
    (difference.clamp(i32::MIN as i64, i32::MAX as i64) as u32, false)
}
