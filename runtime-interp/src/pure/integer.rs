//! Integer arithmetic, logic, shifts and bit fields.

use super::{Name, Plan, Slot, Step};
use crate::engine::Width;
use crate::engine::lanes::{LaneFn, scalar, vector, wide};
use crate::semantics::bits::{self, Permute, Word};
use crate::semantics::integer::{self, Int};
use crate::semantics::packed::map2_16;
use smallvec::smallvec;
use warpsmith_isa::ScalarType::{self, *};

/// A closure at the widths 16, 32 and 64.
macro_rules! words {
    ($make:ident, $ty:expr, |$($a:ident),* $(; $($extra:ident: $t:ty),*)?| $body:expr) => {
        match $ty.bits() {
            16 => $make(|$($a: u16),* $(, $($extra: $t),*)?| $body),
            32 => $make(|$($a: u32),* $(, $($extra: $t),*)?| $body),
            64 => $make(|$($a: u64),* $(, $($extra: $t),*)?| $body),
            _ => return None,
        }
    };
}

/// A closure at the widths 16, 32 and 64: the signed or the unsigned one, by the type.
macro_rules! by_sign {
    ($make:ident, $ty:expr, |$($a:ident),*| $signed:expr, $unsigned:expr) => {
        if $ty.is_signed() { words!($make, $ty, |$($a),*| $signed) } else { words!($make, $ty, |$($a),*| $unsigned) }
    };
}

pub(super) fn plan(name: &Name) -> Option<Plan> {
    let ty = name.ty()?;
    if matches!(ty, U16x2 | S16x2) {
        return packed(name, ty).map(Plan::simple);
    }
    if name.has("cc")
        || name.op.starts_with("addc")
        || name.op.starts_with("subc")
        || name.op.starts_with("madc")
    {
        return carry(name, ty);
    }
    Some(Plan::simple(match name.op {
        "and" if ty == Pred => vector(|a: bool, b: bool| a & b),
        "or" if ty == Pred => vector(|a: bool, b: bool| a | b),
        "xor" if ty == Pred => vector(|a: bool, b: bool| a ^ b),
        "not" if ty == Pred => vector(|a: bool| !a),
        "and" => words!(wide, ty, |a, b| a & b),
        "or" => words!(wide, ty, |a, b| a | b),
        "xor" => words!(wide, ty, |a, b| a ^ b),
        "not" => words!(wide, ty, |a| !a),
        "cnot" => words!(vector, ty, |a| a.cnot()),
        "add" if name.has("sat") => vector(|a: u32, b: u32| a.add_sat_s(b)),
        "sub" if name.has("sat") => vector(|a: u32, b: u32| a.sub_sat_s(b)),
        "add" => words!(wide, ty, |a, b| a.wrapping_add(b)),
        "sub" => words!(wide, ty, |a, b| a.wrapping_sub(b)),
        "mul.lo" => words!(wide, ty, |a, b| a.wrapping_mul(b)),
        "mul.hi" => by_sign!(vector, ty, |a, b| a.mul_hi_s(b), a.mul_hi_u(b)),
        "mul.wide" => match ty {
            U16 => vector(|a: u16, b: u16| a.mul_wide_u(b)),
            S16 => vector(|a: u16, b: u16| a.mul_wide_s(b)),
            U32 => wide(|a: u32, b: u32| a.mul_wide_u(b)),
            S32 => wide(|a: u32, b: u32| a.mul_wide_s(b)),
            _ => return None,
        },
        "mad.lo" => words!(wide, ty, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        "mad.hi" if name.has("sat") => vector(|a: u32, b: u32, c: u32| a.mad_hi_sat_s(b, c)),
        "mad.hi" => {
            by_sign!(vector, ty, |a, b, c| a.mul_hi_s(b).wrapping_add(c), a.mul_hi_u(b).wrapping_add(c))
        }
        "mad.wide" => match ty {
            U16 => vector(|a: u16, b: u16, c: u32| a.mul_wide_u(b).wrapping_add(c)),
            S16 => vector(|a: u16, b: u16, c: u32| a.mul_wide_s(b).wrapping_add(c)),
            U32 => wide(|a: u32, b: u32, c: u64| a.mul_wide_u(b).wrapping_add(c)),
            S32 => wide(|a: u32, b: u32, c: u64| a.mul_wide_s(b).wrapping_add(c)),
            _ => return None,
        },
        "mul24.lo" if ty == S32 => vector(|a: u32, b: u32| integer::mul24_lo(true, a, b)),
        "mul24.lo" => vector(|a: u32, b: u32| integer::mul24_lo(false, a, b)),
        "mul24.hi" if ty == S32 => vector(|a: u32, b: u32| integer::mul24_hi(true, a, b)),
        "mul24.hi" => vector(|a: u32, b: u32| integer::mul24_hi(false, a, b)),
        "mad24.lo" if ty == S32 => {
            vector(|a: u32, b: u32, c: u32| integer::mul24_lo(true, a, b).wrapping_add(c))
        }
        "mad24.lo" => vector(|a: u32, b: u32, c: u32| integer::mul24_lo(false, a, b).wrapping_add(c)),
        "mad24.hi" if name.has("sat") => {
            vector(|a: u32, b: u32, c: u32| integer::mul24_hi(true, a, b).add_sat_s(c))
        }
        "mad24.hi" if ty == S32 => {
            vector(|a: u32, b: u32, c: u32| integer::mul24_hi(true, a, b).wrapping_add(c))
        }
        "mad24.hi" => vector(|a: u32, b: u32, c: u32| integer::mul24_hi(false, a, b).wrapping_add(c)),
        "sad" => by_sign!(vector, ty, |a, b, c| a.sad_s(b, c), a.sad_u(b, c)),
        "div" => by_sign!(scalar, ty, |a, b| a.div_s(b), a.div_u(b)),
        "rem" => by_sign!(scalar, ty, |a, b| a.rem_s(b), a.rem_u(b)),
        "abs" => words!(vector, ty, |a| a.abs_s()),
        "neg" => words!(vector, ty, |a| a.wrapping_neg()),
        "min" if name.has("relu") => vector(|a: u32, b: u32| a.min_s(b).relu_s()),
        "max" if name.has("relu") => vector(|a: u32, b: u32| a.max_s(b).relu_s()),
        "min" => by_sign!(wide, ty, |a, b| a.min_s(b), a.min(b)),
        "max" => by_sign!(wide, ty, |a, b| a.max_s(b), a.max(b)),
        "shl" => words!(wide, ty, |a; n: u32| a.shl_clamp(n)),
        "shr" if ty.is_signed() => words!(wide, ty, |a; n: u32| a.shr_s_clamp(n)),
        "shr" => words!(wide, ty, |a; n: u32| a.shr_u_clamp(n)),
        "popc" => words!(vector, ty, |a| a.count_ones()),
        "clz" => words!(vector, ty, |a| a.leading_zeros()),
        "brev" => words!(vector, ty, |a| a.reverse_bits()),
        "bfind" if name.has("shiftamt") => {
            by_sign!(vector, ty, |a| a.bfind_shiftamt_s(), a.bfind_shiftamt_u())
        }
        "bfind" => by_sign!(vector, ty, |a| a.bfind_s(), a.bfind_u()),
        "bfe" if ty.is_signed() => words!(vector, ty, |a; start: u32, length: u32| a.bfe_s(start, length)),
        "bfe" => words!(vector, ty, |a; start: u32, length: u32| a.bfe_u(start, length)),
        "bfi" => words!(vector, ty, |a, b; start: u32, length: u32| a.bfi(b, start, length)),
        "fns" => scalar(bits::fns),
        "szext" => match (name.has("clamp"), ty.is_signed()) {
            (true, true) => vector(|a: u32, n: u32| bits::szext(true, true, a, n)),
            (true, false) => vector(|a: u32, n: u32| bits::szext(true, false, a, n)),
            (false, true) => vector(|a: u32, n: u32| bits::szext(false, true, a, n)),
            (false, false) => vector(|a: u32, n: u32| bits::szext(false, false, a, n)),
        },
        "bmsk" if name.has("clamp") => vector(|a: u32, b: u32| bits::bmsk(true, a, b)),
        "bmsk" => vector(|a: u32, b: u32| bits::bmsk(false, a, b)),
        "shf.l" if name.has("clamp") => vector(|a: u32, b: u32, n: u32| bits::shf_l(true, a, b, n)),
        "shf.l" => wide(|a: u32, b: u32, n: u32| bits::shf_l(false, a, b, n)),
        "shf.r" if name.has("clamp") => vector(|a: u32, b: u32, n: u32| bits::shf_r(true, a, b, n)),
        "shf.r" => wide(|a: u32, b: u32, n: u32| bits::shf_r(false, a, b, n)),
        "dp4a" => match dot_signs(name) {
            (false, false) => vector(|a: u32, b: u32, c: u32| integer::dp4a(false, false, a, b, c)),
            (false, true) => vector(|a: u32, b: u32, c: u32| integer::dp4a(false, true, a, b, c)),
            (true, false) => vector(|a: u32, b: u32, c: u32| integer::dp4a(true, false, a, b, c)),
            (true, true) => vector(|a: u32, b: u32, c: u32| integer::dp4a(true, true, a, b, c)),
        },
        "dp2a.lo" => dp2a::<false>(name),
        "dp2a.hi" => dp2a::<true>(name),
        "prmt" => return prmt(name),
        "lop3" => return Some(lop3(name)),
        _ => return None,
    }))
}

fn dot_signs(name: &Name) -> (bool, bool) {
    let signed = |i: usize| name.types.get(i).is_some_and(|t| t.is_signed());
    (signed(0), signed(1))
}

fn dp2a<const HI: bool>(name: &Name) -> LaneFn {
    match dot_signs(name) {
        (false, false) => vector(|a: u32, b: u32, c: u32| integer::dp2a(HI, false, false, a, b, c)),
        (false, true) => vector(|a: u32, b: u32, c: u32| integer::dp2a(HI, false, true, a, b, c)),
        (true, false) => vector(|a: u32, b: u32, c: u32| integer::dp2a(HI, true, false, a, b, c)),
        (true, true) => vector(|a: u32, b: u32, c: u32| integer::dp2a(HI, true, true, a, b, c)),
    }
}

fn packed(name: &Name, ty: ScalarType) -> Option<LaneFn> {
    let signed = ty == S16x2;
    Some(match (name.op, name.has("relu")) {
        ("add", _) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.wrapping_add(b))),
        ("min", true) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.min_s(b).relu_s())),
        ("max", true) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.max_s(b).relu_s())),
        ("min", false) if signed => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.min_s(b))),
        ("max", false) if signed => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.max_s(b))),
        ("min", false) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.min(b))),
        ("max", false) => vector(|a: u32, b: u32| map2_16([a, b], |[a, b]| a.max(b))),
        _ => return None,
    })
}

/// The operations on the carry flag. The manual says that `sub.cc` writes a borrow (9.7.2.3), but an `addc` after it reads the carry of
/// `a + !b + 1`: so ptxas folds it, and nvcc's division of 128 bits relies on it. A subtraction without a borrow sets the flag.
fn carry(name: &Name, ty: ScalarType) -> Option<Plan> {
    let writes = name.has("cc");
    let reads = matches!(name.op.split('.').next(), Some("addc" | "subc" | "madc"));
    let core = name.op.replacen("addc", "add", 1).replacen("subc", "sub", 1).replacen("madc", "mad", 1);
    let sat = name.has("sat");
    let (function, sources) = match core.as_str() {
        "add" if sat => (vector(|a: u32, b: u32, c: bool| add_sat_with_carry(a, b, c)), 2),
        "sub" if sat => (vector(|a: u32, b: u32, c: bool| sub_sat_with_carry(a, b, c)), 2),
        "mad.hi" if sat => {
            (vector(|a: u32, b: u32, c: u32, f: bool| add_sat_with_carry(a.mul_hi_s(b), c, f)), 3)
        }
        "add" => (words!(vector, ty, |a, b; c: bool| a.add_carry(b, c)), 2),
        "sub" => (words!(vector, ty, |a, b; c: bool| a.add_carry(!b, c)), 2),
        "mad.lo" => (words!(vector, ty, |a, b, c; f: bool| a.wrapping_mul(b).add_carry(c, f)), 3),
        "mad.hi" if ty.is_signed() => {
            (words!(vector, ty, |a, b, c; f: bool| a.mul_hi_s(b).add_carry(c, f)), 3)
        }
        "mad.hi" => (words!(vector, ty, |a, b, c; f: bool| a.mul_hi_u(b).add_carry(c, f)), 3),
        _ => return None,
    };
    let mut src: smallvec::SmallVec<[Slot; 4]> = (0..sources).map(Slot::Src).collect();
    src.push(if reads { Slot::Carry } else { Slot::Constant((core == "sub").into(), Width::Pred) });
    let flag = if writes { Slot::Carry } else { Slot::Temp(0, Width::Pred) };
    Some(Plan::of(smallvec![Step { function, dst: smallvec![Slot::Dst(0), flag], src }]))
}

/// The sum clamped to the signed range; the flag that comes with it is not used by `.sat` forms.
fn add_sat_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let sum = a as i32 as i64 + b as i32 as i64 + carry as i64;
    (sum.clamp(i32::MIN as i64, i32::MAX as i64) as u32, false)
}

fn sub_sat_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let difference = a as i32 as i64 - b as i32 as i64 - !carry as i64;
    (difference.clamp(i32::MIN as i64, i32::MAX as i64) as u32, false)
}

fn prmt(name: &Name) -> Option<Plan> {
    let function = match name.mods.iter().map(|m| m.text()).find(|t| *t != "b32") {
        None => wide(|a: u32, b: u32, c: u32| bits::prmt(Permute::Generic, a, b, c)),
        Some("f4e") => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::Forward4, a, b, c)),
        Some("b4e") => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::Backward4, a, b, c)),
        Some("rc8") => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::Replicate8, a, b, c)),
        Some("ecl") => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::EdgeLeft, a, b, c)),
        Some("ecr") => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::EdgeRight, a, b, c)),
        Some("rc16") => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::Replicate16, a, b, c)),
        Some(_) => return None,
    };
    Some(Plan::simple(function))
}

/// `lop3`, whose table is the fourth source; with a Boolean operation the predicate `q` is the fifth.
fn lop3(name: &Name) -> Plan {
    let function = wide(|a: u32, b: u32, c: u32, table: u32| bits::lop3(a, b, c, table as u8));
    let combine = if name.has("or") {
        vector(|d: u32, q: bool| (d != 0) | q)
    } else if name.has("and") {
        vector(|d: u32, q: bool| (d != 0) & q)
    } else {
        return Plan::simple(function);
    };
    let src = (0..4).map(Slot::Src).collect();
    Plan::of(smallvec![
        Step { function, dst: smallvec![Slot::Dst(0)], src },
        Step { function: combine, dst: smallvec![Slot::Dst(1)], src: smallvec![Slot::Dst(0), Slot::Src(4)] },
    ])
}
