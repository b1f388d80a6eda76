//! `atom` and `red` (PTX ISA 9.0, 9.7.13.5 and 9.7.13.6): the functions on the old value and the operands.

use super::memory::describe;
use super::{Source, address, elements, value};
use crate::engine::{AtomicFn, FunctionBuilder, Reg, Width};
use smallvec::SmallVec;
use warpsmith_isa::{Instruction, Mod, Reduction, ScalarType};
use warpsmith_semantics::value::half::{self, After, Half};
use warpsmith_semantics::value::packed::map2_16;
use warpsmith_semantics::value::{Rounding, double, single};
use warpsmith_semantics::{Bits, Number};

pub(super) fn emit(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let ty = i.ty()?;
    let operation = i.reduction()?;
    let function = of_instruction(i, ty)?;
    let at = address(src.first())?;
    let access = describe(i, at, body)?;
    let width = Width::for_bits(ty.bits());
    let count = elements(i);
    let b = src.get(1..=count)?;
    let mut b: SmallVec<[Reg; 8]> = b.iter().map(|s| value(body, Some(s), width)).collect::<Option<_>>()?;
    let c = match operation {
        Reduction::CompareAndSwap => Some(value(body, src.get(2), width)?),
        Reduction::Add
        | Reduction::Min
        | Reduction::Max
        | Reduction::Inc
        | Reduction::Dec
        | Reduction::And
        | Reduction::Or
        | Reduction::Xor
        | Reduction::Exchange
        | Reduction::PopCount => None,
    };
    let old: SmallVec<[Reg; 8]> = if dst.iter().all(Option::is_none) {
        SmallVec::new()
    } else {
        (0..count).map(|n| dst.get(n).copied().flatten().unwrap_or_else(|| body.reg(width))).collect()
    };
    // The elements of a vector are updated one after the other, and a later one's operand may be an earlier one's destination.
    for n in 1..count {
        if old.get(..n).is_some_and(|written| written.contains(&b[n])) {
            let kept = body.reg(width);
            body.copy(kept, b[n]);
            b[n] = kept;
        }
    }
    body.atomic(access, function, &old, at, &b, c);
    Some(())
}

/// The function of an instruction on the old value and the operands. With `.noftz` a sum of f32 keeps subnormal numbers in all spaces.
pub(super) fn of_instruction(i: &Instruction, ty: ScalarType) -> Option<AtomicFn> {
    let function = function(i.reduction()?, ty)?;
    Some(match function {
        AtomicFn::BySpace { shared, .. } if i.has(Mod::Noftz) => AtomicFn::Word(shared),
        AtomicFn::Word(_) | AtomicFn::BySpace { .. } | AtomicFn::Wide(_) => function,
    })
}

/// The function on the old value and the operands.
pub(super) fn function(operation: Reduction, ty: ScalarType) -> Option<AtomicFn> {
    let wide = ty.bits() == 128;
    if wide && !matches!(operation, Reduction::Exchange | Reduction::CompareAndSwap) {
        return None;
    }
    let f: fn(u64, u64, u64) -> u64 = match operation {
        Reduction::Exchange if wide => return Some(AtomicFn::Wide(|_, b, _| b)),
        Reduction::CompareAndSwap if wide => {
            return Some(AtomicFn::Wide(|old, b, c| if old == b { c } else { old }));
        }
        Reduction::Exchange => |_, b, _| b,
        Reduction::CompareAndSwap => |old, b, c| if old == b { c } else { old },
        Reduction::And => |old, b, _| old & b,
        Reduction::Or => |old, b, _| old | b,
        Reduction::Xor => |old, b, _| old ^ b,
        Reduction::Inc => |old, b, _| if old >= b { 0 } else { old + 1 },
        Reduction::Dec => |old, b, _| if old == 0 || old > b { b } else { old - 1 },
        Reduction::PopCount => return None,
        Reduction::Add if ty == ScalarType::F32 => {
            let flush = |old, b, _| u64::from(single::add::<true>(Rounding::Nearest, old as u32, b as u32));
            let keep = |old, b, _| u64::from(single::add::<false>(Rounding::Nearest, old as u32, b as u32));
            return Some(AtomicFn::BySpace { global: flush, shared: keep });
        }
        Reduction::Add => match Number::of(ty) {
            Number::Unsigned(Bits::B32 | Bits::B64) | Number::Signed(Bits::B32 | Bits::B64) => {
                |old, b, _| old.wrapping_add(b)
            }
            Number::F64 => |old, b, _| double::add(Rounding::Nearest, old, b),
            Number::F16 => |old, b, _| one(half::add::<half::F16>, old, b),
            Number::BF16 => |old, b, _| one(half::add::<half::BF16>, old, b),
            Number::F16x2 => |old, b, _| two(half::add::<half::F16>, old, b),
            Number::BF16x2 => |old, b, _| two(half::add::<half::BF16>, old, b),
            Number::Unsigned(Bits::B16)
            | Number::Signed(Bits::B16)
            | Number::Pred
            | Number::PackedUnsigned
            | Number::PackedSigned
            | Number::UnsignedBytes
            | Number::SignedBytes
            | Number::F32
            | Number::F32x2
            | Number::Other => return None,
        },
        Reduction::Min => match Number::of(ty) {
            Number::Unsigned(Bits::B32 | Bits::B64) => |old, b, _| old.min(b),
            Number::Signed(Bits::B32) => |old, b, _| (old as i32).min(b as i32) as u32 as u64,
            Number::Signed(Bits::B64) => |old, b, _| (old as i64).min(b as i64) as u64,
            Number::F16 => |old, b, _| one(least::<half::F16>, old, b),
            Number::BF16 => |old, b, _| one(least::<half::BF16>, old, b),
            Number::F16x2 => |old, b, _| two(least::<half::F16>, old, b),
            Number::BF16x2 => |old, b, _| two(least::<half::BF16>, old, b),
            Number::Unsigned(Bits::B16)
            | Number::Signed(Bits::B16)
            | Number::Pred
            | Number::PackedUnsigned
            | Number::PackedSigned
            | Number::UnsignedBytes
            | Number::SignedBytes
            | Number::F32
            | Number::F64
            | Number::F32x2
            | Number::Other => return None,
        },
        Reduction::Max => match Number::of(ty) {
            Number::Unsigned(Bits::B32 | Bits::B64) => |old, b, _| old.max(b),
            Number::Signed(Bits::B32) => |old, b, _| (old as i32).max(b as i32) as u32 as u64,
            Number::Signed(Bits::B64) => |old, b, _| (old as i64).max(b as i64) as u64,
            Number::F16 => |old, b, _| one(greatest::<half::F16>, old, b),
            Number::BF16 => |old, b, _| one(greatest::<half::BF16>, old, b),
            Number::F16x2 => |old, b, _| two(greatest::<half::F16>, old, b),
            Number::BF16x2 => |old, b, _| two(greatest::<half::BF16>, old, b),
            Number::Unsigned(Bits::B16)
            | Number::Signed(Bits::B16)
            | Number::Pred
            | Number::PackedUnsigned
            | Number::PackedSigned
            | Number::UnsignedBytes
            | Number::SignedBytes
            | Number::F32
            | Number::F64
            | Number::F32x2
            | Number::Other => return None,
        },
    };
    Some(AtomicFn::Word(f))
}

type OnHalf = fn(After, u16, u16) -> u16;

fn least<H: Half>(_: After, a: u16, b: u16) -> u16 {
    half::min::<H>(false, false, a, b)
}

fn greatest<H: Half>(_: After, a: u16, b: u16) -> u16 {
    half::max::<H>(false, false, a, b)
}

fn one(f: OnHalf, a: u64, b: u64) -> u64 {
    f(After::default(), a as u16, b as u16).into()
}

fn two(f: OnHalf, a: u64, b: u64) -> u64 {
    map2_16([a as u32, b as u32], |[a, b]| f(After::default(), a, b)).into()
}
