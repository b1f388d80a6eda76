//! `multimem.ld_reduce multimem.st multimem.red` (PTX ISA 9.0, 9.7.9.14).

use super::memory::describe;
use super::{Source, address, elements, value};
use crate::engine::{AsyncOp, FunctionBuilder, MultimemKind, MultimemOp, Reduction, Reg, Width};
use smallvec::SmallVec;
use warpsmith_isa::{self as isa, Accumulator, Instruction, ScalarType};
use warpsmith_semantics::value::convert::narrow::{self, Element, Narrow, UNSCALED};
use warpsmith_semantics::value::convert::small::Small;
use warpsmith_semantics::value::half::{self, After, Half};
use warpsmith_semantics::value::{Rounding, double, single};
use warpsmith_semantics::{Effect, update};

pub(super) fn emit(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    effect: Effect,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let ty = i.ty()?;
    let (count, width) = (elements(i), Width::for_bits(ty.bits()));
    let at = address(src.first())?;
    let access = describe(i, at, body)?;
    let kind = if effect == Effect::MulticastLoad {
        MultimemKind::LoadReduce(reduction(i, ty)?)
    } else if effect == Effect::MulticastStore {
        MultimemKind::Store
    } else {
        let (element, function) = (ty.bytes()?, update::of_instruction(i, ty)?);
        MultimemKind::Reduce { bytes: u8::try_from(element).ok()?, function }
    };
    let values: SmallVec<[Reg; 4]> = match kind {
        MultimemKind::LoadReduce(_) => {
            (0..count).map(|n| dst.get(n).copied().flatten().unwrap_or_else(|| body.reg(width))).collect()
        }
        MultimemKind::Store | MultimemKind::Reduce { .. } => {
            src.get(1..=count)?.iter().map(|s| value(body, Some(s), width)).collect::<Option<_>>()?
        }
    };
    let at = body.operand(access, at);
    body.asynchronous(AsyncOp::Multimem(MultimemOp { kind, at, values }));
    Some(())
}

/// How the values of replicas are reduced, in their order. Without `.acc`, each step rounds to the type.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not an integer has no reduction there")]
fn reduction(i: &Instruction, ty: ScalarType) -> Option<Reduction> {
    use ScalarType::*;
    let plain = |bytes: u8, fold: fn(u64, u64) -> u64| Reduction { bytes, widen: same, fold, narrow: same };
    let op = i.reduction()?;
    let add = op == isa::Reduction::Add;
    let whole = u8::try_from(ty.bytes()?).ok()?;
    Some(match ty {
        F32 if add => plain(4, |a, b| single::add::<false>(Rounding::Nearest, a as u32, b as u32).into()),
        F64 if add => plain(8, |a, b| double::add(Rounding::Nearest, a, b)),
        F16 | F16x2 => of_half::<half::F16>(i, op)?,
        BF16 | BF16x2 => of_half::<half::BF16>(i, op)?,
        E4M3 | E4M3x2 | E4M3x4 => of_small::<0>(i, op)?,
        E5M2 | E5M2x2 | E5M2x4 => of_small::<1>(i, op)?,
        _ => plain(whole, integer(op, ty)?),
    })
}

fn integer(op: isa::Reduction, ty: ScalarType) -> Option<fn(u64, u64) -> u64> {
    use isa::Reduction::*;
    let integer = ty.is_integer() || matches!(ty, ScalarType::B32 | ScalarType::B64);
    if !integer {
        return None;
    }
    let (signed, wide) = (ty.is_signed(), ty.bits() == 64);
    Some(match op {
        Add => |a, b| a.wrapping_add(b),
        And => |a, b| a & b,
        Or => |a, b| a | b,
        Xor => |a, b| a ^ b,
        Min if !signed => |a, b| a.min(b),
        Max if !signed => |a, b| a.max(b),
        Min if wide => |a, b| (a as i64).min(b as i64) as u64,
        Max if wide => |a, b| (a as i64).max(b as i64) as u64,
        Min => |a, b| (a as i32).min(b as i32) as u32 as u64,
        Max => |a, b| (a as i32).max(b as i32) as u32 as u64,
        Inc | Dec | Exchange | CompareAndSwap | PopCount => return None,
    })
}

/// Halves, accumulated as they are or (`.acc::f32`) in f32.
fn of_half<H: Half>(i: &Instruction, op: isa::Reduction) -> Option<Reduction> {
    let plain = |fold| Reduction { bytes: 2, widen: same, fold, narrow: same };
    Some(match op {
        isa::Reduction::Add if i.accumulator() == Some(Accumulator::F32) => Reduction {
            bytes: 2,
            widen: |a| half::to_single::<H>(a as u16).into(),
            fold: |a, b| single::add::<false>(Rounding::Nearest, a as u32, b as u32).into(),
            narrow: |a| H::narrow(f64::from(f32::from_bits(a as u32))).into(),
        },
        isa::Reduction::Add => plain(|a, b| half::add::<H>(After::default(), a as u16, b as u16).into()),
        isa::Reduction::Min => plain(|a, b| half::min::<H>(false, false, a as u16, b as u16).into()),
        isa::Reduction::Max => plain(|a, b| half::max::<H>(false, false, a as u16, b as u16).into()),
        isa::Reduction::Inc
        | isa::Reduction::Dec
        | isa::Reduction::And
        | isa::Reduction::Or
        | isa::Reduction::Xor
        | isa::Reduction::Exchange
        | isa::Reduction::CompareAndSwap
        | isa::Reduction::PopCount => return None,
    })
}

fn same(a: u64) -> u64 {
    a
}

/// Floats of eight bits: computed in f16, which holds each exactly, and (without `.acc::f16`) rounded back at each step.
/// What is too large becomes the largest number, as in all conversions to these types.
fn of_small<const E5M2: u8>(i: &Instruction, op: isa::Reduction) -> Option<Reduction> {
    const fn kind(e5m2: u8) -> Narrow {
        Narrow::new(Element::Small(if e5m2 == 0 { Small::E4M3 } else { Small::E5M2 }))
    }
    fn widen<const K: u8>(a: u64) -> u64 {
        u64::from(narrow::to_f16x2(kind(K), a as u32) & 0xffff)
    }
    fn narrow<const K: u8>(a: u64) -> u64 {
        u64::from(narrow::from_f16x2(kind(K), a as u32, UNSCALED) & 0xff)
    }
    /// The sum of two eight-bit floats is rounded once: f32 holds it exactly.
    fn add<const K: u8>(a: u64, b: u64) -> u64 {
        let value = |a: u64| half::to_single::<half::F16>(a as u16);
        let sum = single::add::<false>(Rounding::Nearest, value(a), value(b));
        widen::<K>(u64::from(narrow::from_singles(kind(K), 0, sum, UNSCALED) & 0xff))
    }
    let fold: fn(u64, u64) -> u64 = match op {
        isa::Reduction::Add if i.accumulator() == Some(Accumulator::F16) => {
            |a, b| half::add::<half::F16>(After::default(), a as u16, b as u16).into()
        }
        isa::Reduction::Add => add::<E5M2>,
        isa::Reduction::Min => |a, b| half::min::<half::F16>(false, false, a as u16, b as u16).into(),
        isa::Reduction::Max => |a, b| half::max::<half::F16>(false, false, a as u16, b as u16).into(),
        isa::Reduction::Inc
        | isa::Reduction::Dec
        | isa::Reduction::And
        | isa::Reduction::Or
        | isa::Reduction::Xor
        | isa::Reduction::Exchange
        | isa::Reduction::CompareAndSwap
        | isa::Reduction::PopCount => return None,
    };
    Some(Reduction { bytes: 1, widen: widen::<E5M2>, fold, narrow: narrow::<E5M2> })
}
