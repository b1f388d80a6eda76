//! Logic, shifts and byte permutation (manual 9.7.8 and 9.7.9.7).

use super::integer::{number, words};
use super::types::{Bits, Number};
use super::{Plan, Slot, Step, Written};
use crate::lanes::{LaneFn, vector, wide};
use crate::value::bits::{self, Permute, Word};
use smallvec::smallvec;
use warpsmith_isa::{BoolOp, Instruction, OutOfRange, PermuteMode};

fn simple(function: LaneFn) -> Option<Plan> {
    Some(Plan::simple(function))
}

/// Whether an amount that is out of range is clamped; else it wraps, also where nothing is written. `None` for what no shift has.
pub(super) fn clamps(i: &Instruction) -> Option<bool> {
    match i.out_of_range() {
        Some(OutOfRange::Clamp) => Some(true),
        Some(OutOfRange::Wrap) | None => Some(false),
        Some(OutOfRange::Trap | OutOfRange::Zero) => None,
    }
}

/// A closure on predicates, or at the widths of integers.
macro_rules! logic {
    ($i:expr, |$($a:ident),*| $body:expr) => {
        {
            let n = number($i)?;
            if n == Number::Pred {
                vector(|$($a: bool),*| $body)
            } else {
                words!(wide, n, |$($a),*| $body)
            }
        }
    };
}

pub(crate) fn and(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(logic!(i, |a, b| a & b))
}

pub(crate) fn or(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(logic!(i, |a, b| a | b))
}

pub(crate) fn xor(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(logic!(i, |a, b| a ^ b))
}

pub(crate) fn not(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(logic!(i, |a| !a))
}

pub(crate) fn cnot(i: &Instruction, _: &Written) -> Option<Plan> {
    use crate::value::integer::Int;
    simple(words!(vector, number(i)?, |a| a.cnot()))
}

pub(crate) fn shl(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(words!(wide, number(i)?, |a; n: u32| a.shl_clamp(n)))
}

pub(crate) fn shr(i: &Instruction, _: &Written) -> Option<Plan> {
    let n = number(i)?;
    simple(if n.is_signed() {
        words!(wide, n, |a; n: u32| a.shr_s_clamp(n))
    } else {
        words!(wide, n, |a; n: u32| a.shr_u_clamp(n))
    })
}

pub(crate) fn shf_l(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match clamps(i)? {
        true => vector(|a: u32, b: u32, n: u32| bits::shf_l(true, a, b, n)),
        false => wide(|a: u32, b: u32, n: u32| bits::shf_l(false, a, b, n)),
    })
}

pub(crate) fn shf_r(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match clamps(i)? {
        true => vector(|a: u32, b: u32, n: u32| bits::shf_r(true, a, b, n)),
        false => wide(|a: u32, b: u32, n: u32| bits::shf_r(false, a, b, n)),
    })
}

pub(crate) fn prmt(i: &Instruction, _: &Written) -> Option<Plan> {
    simple(match i.permute_mode() {
        None => wide(|a: u32, b: u32, c: u32| bits::prmt(Permute::Generic, a, b, c)),
        Some(PermuteMode::F4e) => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::Forward4, a, b, c)),
        Some(PermuteMode::B4e) => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::Backward4, a, b, c)),
        Some(PermuteMode::Rc8) => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::Replicate8, a, b, c)),
        Some(PermuteMode::Ecl) => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::EdgeLeft, a, b, c)),
        Some(PermuteMode::Ecr) => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::EdgeRight, a, b, c)),
        Some(PermuteMode::Rc16) => vector(|a: u32, b: u32, c: u32| bits::prmt(Permute::Replicate16, a, b, c)),
    })
}

/// `lop3`, whose table is the fourth source; with a Boolean operation the predicate `q` is the fifth.
pub(crate) fn lop3(i: &Instruction, _: &Written) -> Option<Plan> {
    let function = wide(|a: u32, b: u32, c: u32, table: u32| bits::lop3(a, b, c, table as u8));
    let combine = match i.bool_op() {
        None => return simple(function),
        Some(BoolOp::And) => vector(|d: u32, q: bool| (d != 0) & q),
        Some(BoolOp::Or) => vector(|d: u32, q: bool| (d != 0) | q),
        Some(BoolOp::Xor) => return None,
    };
    let src = [0, 1, 2, 3].map(Slot::Src);
    Some(Plan::of(smallvec![
        Step::new(function, &[Slot::Dst(0)], &src),
        Step::new(combine, &[Slot::Dst(1)], &[Slot::Dst(0), Slot::Src(4)]),
    ]))
}
