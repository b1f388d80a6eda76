//! `multimem.ld_reduce multimem.st multimem.red` (PTX ISA 9.0, 9.7.9.14).

use super::memory::describe;
use super::{Source, Words, address, atomic, value};
use crate::engine::{
    AsyncOp, FunctionBuilder, MultimemKind, MultimemOp, Order, Reduction, Reg, Scope, Width,
};
use crate::semantics::convert::small::{
    Small, f16x2_from_small_x2, small_x2_from_f16x2, small_x2_from_single,
};
use crate::semantics::half::{self, After, Half};
use crate::semantics::{Rounding, double, single};
use smallvec::SmallVec;
use warpsmith_isa::ScalarType;

pub(super) fn emit(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let ty = words.ty()?;
    let (count, width) = (words.elements(), Width::for_bits(ty.bits()));
    let at = address(src.first())?;
    let mut access = describe(words, at, body)?;
    let kind = match *words.words.first()? {
        "ld_reduce" => MultimemKind::LoadReduce(reduction(words, ty)?),
        "st" => MultimemKind::Store,
        "red" => {
            if words.order().is_none() {
                access = access.ordered(Order::Relaxed, words.scope_or(Scope::Sys));
            }
            let (element, function) = (ty.bytes()?, atomic::function(words, ty)?);
            MultimemKind::Reduce { bytes: u8::try_from(element).ok()?, function }
        }
        _ => return None,
    };
    let values: SmallVec<[Reg; 4]> = match kind {
        MultimemKind::LoadReduce(_) => {
            (0..count).map(|i| dst.get(i).copied().flatten().unwrap_or_else(|| body.reg(width))).collect()
        }
        _ => src.get(1..=count)?.iter().map(|s| value(body, Some(s), width)).collect::<Option<_>>()?,
    };
    let at = body.operand(access, at);
    body.asynchronous(AsyncOp::Multimem(MultimemOp { kind, at, values }));
    Some(())
}

/// How the values of replicas are reduced, in their order. Without `.acc`, each step rounds to the type.
fn reduction(words: &Words, ty: ScalarType) -> Option<Reduction> {
    use ScalarType::*;
    let plain = |bytes: u8, fold: fn(u64, u64) -> u64| Reduction { bytes, widen: same, fold, narrow: same };
    let op = words.pick(&[("add", 0), ("min", 1), ("max", 2)]);
    let add = op == Some(0);
    let whole = u8::try_from(ty.bytes()?).ok()?;
    Some(match ty {
        F32 if add => plain(4, |a, b| single::add::<false>(Rounding::Nearest, a as u32, b as u32).into()),
        F64 if add => plain(8, |a, b| double::add(Rounding::Nearest, a, b)),
        F16 | F16x2 => of_half::<half::F16>(words, op?)?,
        BF16 | BF16x2 => of_half::<half::BF16>(words, op?)?,
        E4M3 | E4M3x2 | E4M3x4 => of_small::<0>(words, op?)?,
        E5M2 | E5M2x2 | E5M2x4 => of_small::<1>(words, op?)?,
        _ => plain(whole, integer(words, ty)?),
    })
}

fn integer(words: &Words, ty: ScalarType) -> Option<fn(u64, u64) -> u64> {
    use ScalarType::*;
    let op = words.words.iter().copied().find(|w| ["add", "min", "max", "and", "or", "xor"].contains(w))?;
    Some(match (op, ty) {
        ("add", U32 | S32 | U64) => |a, b| a.wrapping_add(b),
        ("and", B32 | B64) => |a, b| a & b,
        ("or", B32 | B64) => |a, b| a | b,
        ("xor", B32 | B64) => |a, b| a ^ b,
        ("min", U32 | U64) => |a, b| a.min(b),
        ("max", U32 | U64) => |a, b| a.max(b),
        ("min", S32) => |a, b| (a as i32).min(b as i32) as u32 as u64,
        ("max", S32) => |a, b| (a as i32).max(b as i32) as u32 as u64,
        ("min", S64) => |a, b| (a as i64).min(b as i64) as u64,
        ("max", S64) => |a, b| (a as i64).max(b as i64) as u64,
        _ => return None,
    })
}

/// Halves, accumulated as they are or (`.acc::f32`) in f32.
fn of_half<H: Half>(words: &Words, op: u8) -> Option<Reduction> {
    let plain = |fold| Reduction { bytes: 2, widen: same, fold, narrow: same };
    Some(match op {
        0 if words.has("acc::f32") => Reduction {
            bytes: 2,
            widen: |a| half::to_single::<H>(a as u16).into(),
            fold: |a, b| single::add::<false>(Rounding::Nearest, a as u32, b as u32).into(),
            narrow: |a| H::narrow(f64::from(f32::from_bits(a as u32))).into(),
        },
        0 => plain(|a, b| half::add::<H>(After::default(), a as u16, b as u16).into()),
        1 => plain(|a, b| half::min::<H>(false, false, a as u16, b as u16).into()),
        2 => plain(|a, b| half::max::<H>(false, false, a as u16, b as u16).into()),
        _ => return None,
    })
}

fn same(a: u64) -> u64 {
    a
}

/// Floats of eight bits: computed in f16, which holds each exactly, and (without `.acc::f16`) rounded back at each step.
/// What is too large becomes the largest number, as in all conversions to these types.
fn of_small<const E5M2: u8>(words: &Words, op: u8) -> Option<Reduction> {
    const fn kind(e5m2: u8) -> Small {
        if e5m2 == 0 { Small::E4M3 } else { Small::E5M2 }
    }
    fn widen<const K: u8>(a: u64) -> u64 {
        u64::from(f16x2_from_small_x2(kind(K), false, a as u32) & 0xffff)
    }
    fn narrow<const K: u8>(a: u64) -> u64 {
        u64::from(small_x2_from_f16x2(kind(K), false, a as u32) & 0xff)
    }
    /// The sum of two eight-bit floats is rounded once: f32 holds it exactly.
    fn add<const K: u8>(a: u64, b: u64) -> u64 {
        let value = |a: u64| half::to_single::<half::F16>(a as u16);
        let sum = single::add::<false>(Rounding::Nearest, value(a), value(b));
        widen::<K>(u64::from(small_x2_from_single(kind(K), false, 0, sum) & 0xff))
    }
    let fold: fn(u64, u64) -> u64 = match op {
        0 if words.has("acc::f16") => {
            |a, b| half::add::<half::F16>(After::default(), a as u16, b as u16).into()
        }
        0 => add::<E5M2>,
        1 => |a, b| half::min::<half::F16>(false, false, a as u16, b as u16).into(),
        2 => |a, b| half::max::<half::F16>(false, false, a as u16, b as u16).into(),
        _ => return None,
    };
    Some(Reduction { bytes: 1, widen: widen::<E5M2>, fold, narrow: narrow::<E5M2> })
}
