//! f16, bf16 and their packed forms (manual 9.7.4).

use super::types::Number;
use super::{Approximations, Plan, Written, rounding};
use crate::lanes::{scalar, vector};
use crate::value::Rounding;
use crate::value::half::{self, After, BF16, F16};
use crate::value::packed::map2_16;
use crate::value::{approx, special};
use warpsmith_isa::{Instruction, Mod};

/// The four types of 16 bits, one or two of them in a register.
enum Format {
    F16,
    BF16,
    F16x2,
    BF16x2,
}

/// The format of an instruction that rounds to nearest, as all do that the manual has.
fn format(i: &Instruction) -> Option<Format> {
    // bf16 rounds in other directions in one undocumented form, which has no semantics here.
    if rounding(i)? != Rounding::Nearest {
        return None;
    }
    match Number::of(i.ty()?) {
        Number::F16 => Some(Format::F16),
        Number::BF16 => Some(Format::BF16),
        Number::F16x2 => Some(Format::F16x2),
        Number::BF16x2 => Some(Format::BF16x2),
        Number::Pred
        | Number::Unsigned(_)
        | Number::Signed(_)
        | Number::PackedUnsigned
        | Number::PackedSigned
        | Number::UnsignedBytes
        | Number::SignedBytes
        | Number::F32
        | Number::F64
        | Number::F32x2
        | Number::Other => None,
    }
}

/// A closure for each of the four types; `$mode`, if given, is a last argument of 32 bits.
macro_rules! halves {
    ($make:ident, $i:expr, |$($a:ident),* $(; $mode:ident)?| $h:ident => $body:expr) => {
        match format($i)? {
            Format::F16 => { type $h = F16; $make(|$($a: u16),* $(, $mode: u32)?| $body) }
            Format::BF16 => { type $h = BF16; $make(|$($a: u16),* $(, $mode: u32)?| $body) }
            Format::F16x2 => {
                type $h = F16;
                $make(|$($a: u32),* $(, $mode: u32)?| map2_16([$($a),*], |[$($a),*]| $body))
            }
            Format::BF16x2 => {
                type $h = BF16;
                $make(|$($a: u32),* $(, $mode: u32)?| map2_16([$($a),*], |[$($a),*]| $body))
            }
        }
    };
}

const FTZ: u32 = 1;
const SAT: u32 = 2;
const RELU: u32 = 4;
const OOB: u32 = 8;
const NAN: u32 = 16;
const XORSIGN: u32 = 32;

/// What is written besides the rounding, as a number that is given to a function.
fn mode(i: &Instruction) -> u32 {
    let flags = [
        (Mod::Ftz, FTZ),
        (Mod::Sat, SAT),
        (Mod::Relu, RELU),
        (Mod::Oob, OOB),
        (Mod::NaN, NAN),
        (Mod::Xorsign, XORSIGN),
    ];
    flags.into_iter().filter(|(modifier, _)| i.has(*modifier)).map(|(_, bit)| bit).sum()
}

#[inline(always)]
fn after(mode: u32) -> After {
    After { ftz: mode & FTZ != 0, sat: mode & SAT != 0, relu: mode & RELU != 0 }
}

/// An operation compiled apart where nothing is written besides the rounding, else by its mode.
macro_rules! arithmetic {
    ($i:expr, $op:ident, |$($a:ident),*|) => {{
        let mode = mode($i);
        Some(if mode == 0 {
            Plan::simple(halves!(vector, $i, |$($a),*| H => half::$op::<H>(After::default(), $($a),*)))
        } else {
            let function = halves!(scalar, $i, |$($a),*; mode| H => half::$op::<H>(after(mode), $($a),*));
            Plan::with_constants(function, &[mode.into()])
        })
    }};
}

pub(crate) fn add(i: &Instruction, _: &Written) -> Option<Plan> {
    arithmetic!(i, add, |a, b|)
}

pub(crate) fn sub(i: &Instruction, _: &Written) -> Option<Plan> {
    arithmetic!(i, sub, |a, b|)
}

pub(crate) fn mul(i: &Instruction, _: &Written) -> Option<Plan> {
    arithmetic!(i, mul, |a, b|)
}

pub(crate) fn fma(i: &Instruction, _: &Written) -> Option<Plan> {
    let mode = mode(i);
    if mode & OOB == 0 {
        return arithmetic!(i, fma, |a, b, c|);
    }
    let function = halves!(scalar, i, |a, b, c; mode| H => half::fma_oob::<H>(after(mode), a, b, c));
    Some(Plan::with_constants(function, &[mode.into()]))
}

fn with_mode(i: &Instruction, function: crate::lanes::LaneFn) -> Option<Plan> {
    Some(Plan::with_constants(function, &[mode(i).into()]))
}

pub(crate) fn abs(i: &Instruction, _: &Written) -> Option<Plan> {
    with_mode(i, halves!(vector, i, |a; mode| H => half::abs::<H>(mode & FTZ != 0, a)))
}

pub(crate) fn neg(i: &Instruction, _: &Written) -> Option<Plan> {
    with_mode(i, halves!(vector, i, |a; mode| H => half::neg::<H>(mode & FTZ != 0, a)))
}

pub(crate) fn min(i: &Instruction, _: &Written) -> Option<Plan> {
    let function = halves!(vector, i, |a, b; mode| H => {
        let min = |a, b| half::min::<H>(mode & FTZ != 0, mode & NAN != 0, a, b);
        if mode & XORSIGN != 0 { half::xorsign_abs::<H>(a, b, min) } else { min(a, b) }
    });
    with_mode(i, function)
}

pub(crate) fn max(i: &Instruction, _: &Written) -> Option<Plan> {
    let function = halves!(vector, i, |a, b; mode| H => {
        let max = |a, b| half::max::<H>(mode & FTZ != 0, mode & NAN != 0, a, b);
        if mode & XORSIGN != 0 { half::xorsign_abs::<H>(a, b, max) } else { max(a, b) }
    });
    with_mode(i, function)
}

pub(crate) fn tanh(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(Plan::simple(halves!(scalar, i, |a| H => approx::tanh_half::<H>(a))))
}

pub(crate) fn ex2(i: &Instruction, written: &Written) -> Option<Plan> {
    let function = match written.approximations {
        Approximations::Rounded => {
            halves!(scalar, i, |a; mode| H => approx::ex2_half::<H>(mode & FTZ != 0, a))
        }
        Approximations::Hardware => {
            halves!(scalar, i, |a; mode| H => special::ex2_half::<H>(mode & FTZ != 0, a))
        }
    };
    with_mode(i, function)
}
