//! f16, bf16 and their packed forms.

use super::{Name, Plan};
use crate::engine::lanes::{scalar, vector};
use crate::semantics::approx;
use crate::semantics::half::{self, After, BF16, F16};
use crate::semantics::packed::map2_16;
use warpsmith_isa::ScalarType;

/// A closure for each of the four types; `$mode`, if given, is a last argument of 32 bits.
macro_rules! halves {
    ($make:ident, $ty:expr, |$($a:ident),* $(; $mode:ident)?| $h:ident => $body:expr) => {
        match $ty {
            ScalarType::F16 => { type $h = F16; $make(|$($a: u16),* $(, $mode: u32)?| $body) }
            ScalarType::BF16 => { type $h = BF16; $make(|$($a: u16),* $(, $mode: u32)?| $body) }
            ScalarType::F16x2 => {
                type $h = F16;
                $make(|$($a: u32),* $(, $mode: u32)?| map2_16([$($a),*], |[$($a),*]| $body))
            }
            ScalarType::BF16x2 => {
                type $h = BF16;
                $make(|$($a: u32),* $(, $mode: u32)?| map2_16([$($a),*], |[$($a),*]| $body))
            }
            _ => return None,
        }
    };
}

const FTZ: u32 = 1;
const SAT: u32 = 2;
const RELU: u32 = 4;
const OOB: u32 = 8;
const NAN: u32 = 16;
const XORSIGN: u32 = 32;

#[inline(always)]
fn after(mode: u32) -> After {
    After { ftz: mode & FTZ != 0, sat: mode & SAT != 0, relu: mode & RELU != 0 }
}

pub(super) fn plan(name: &Name) -> Option<Plan> {
    let ty = name.ty()?;
    // bf16 rounds in other directions in one undocumented form, which has no semantics here.
    if name.rounding() != Default::default() || name.types.len() != 1 {
        return None;
    }
    let flags =
        [("ftz", FTZ), ("sat", SAT), ("relu", RELU), ("oob", OOB), ("NaN", NAN), ("xorsign", XORSIGN)];
    let mode: u32 = flags.into_iter().filter(|(text, _)| name.has(text)).map(|(_, bit)| bit).sum();
    let with_mode = |function| Plan::with_constants(function, &[mode.into()]);
    Some(match name.op {
        "add" if mode == 0 => {
            Plan::simple(halves!(vector, ty, |a, b| H => half::add::<H>(After::default(), a, b)))
        }
        "sub" if mode == 0 => {
            Plan::simple(halves!(vector, ty, |a, b| H => half::sub::<H>(After::default(), a, b)))
        }
        "mul" if mode == 0 => {
            Plan::simple(halves!(vector, ty, |a, b| H => half::mul::<H>(After::default(), a, b)))
        }
        "fma" if mode == 0 => {
            Plan::simple(halves!(vector, ty, |a, b, c| H => half::fma::<H>(After::default(), a, b, c)))
        }
        "add" => with_mode(halves!(scalar, ty, |a, b; mode| H => half::add::<H>(after(mode), a, b))),
        "sub" => with_mode(halves!(scalar, ty, |a, b; mode| H => half::sub::<H>(after(mode), a, b))),
        "mul" => with_mode(halves!(scalar, ty, |a, b; mode| H => half::mul::<H>(after(mode), a, b))),
        "fma" => with_mode(halves!(scalar, ty, |a, b, c; mode| H => {
            if mode & OOB != 0 { half::fma_oob::<H>(after(mode), a, b, c) } else { half::fma::<H>(after(mode), a, b, c) }
        })),
        "abs" => with_mode(halves!(vector, ty, |a; mode| H => half::abs::<H>(mode & FTZ != 0, a))),
        "neg" => with_mode(halves!(vector, ty, |a; mode| H => half::neg::<H>(mode & FTZ != 0, a))),
        "min" => with_mode(halves!(vector, ty, |a, b; mode| H => {
            let min = |a, b| half::min::<H>(mode & FTZ != 0, mode & NAN != 0, a, b);
            if mode & XORSIGN != 0 { half::xorsign_abs::<H>(a, b, min) } else { min(a, b) }
        })),
        "max" => with_mode(halves!(vector, ty, |a, b; mode| H => {
            let max = |a, b| half::max::<H>(mode & FTZ != 0, mode & NAN != 0, a, b);
            if mode & XORSIGN != 0 { half::xorsign_abs::<H>(a, b, max) } else { max(a, b) }
        })),
        "tanh" => Plan::simple(halves!(scalar, ty, |a| H => approx::tanh_half::<H>(a))),
        "ex2" => with_mode(halves!(scalar, ty, |a; mode| H => approx::ex2_half::<H>(mode & FTZ != 0, a))),
        _ => return None,
    })
}
