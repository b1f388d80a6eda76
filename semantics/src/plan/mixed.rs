//! Pairs of different formats, and four values of 8 bits (manual of PTX ISA 9.4, 9.7.5 and 9.7.6).

use super::{Plan, Slot, Step, Written, rounding};
use crate::lanes::scalar;
use crate::register::Width;
use crate::value::Rounding;
use crate::value::eight::{Arithmetic, Eight, Four};
use crate::value::half::{BF16, F16, Half, to_single};
use crate::value::packed::{map2_16, split_16};
use crate::value::soft::Format;
use crate::value::{mixed, single};
use smallvec::smallvec;
use warpsmith_isa::{Instruction, ScalarType};

/// Which value of an instruction is of 16 bits.
enum Pairs {
    /// The first source is f16x2, all else f32x2.
    NarrowF16,
    /// The first source is bf16x2, all else f32x2.
    NarrowBF16,
    /// The result is f16x2, the sources f32x2.
    ToF16,
    /// The result is bf16x2, the sources f32x2.
    ToBF16,
    /// f16x2 times bf16x2, to the format of the first.
    F16ByBF16,
    /// bf16x2 times f16x2.
    BF16ByF16,
}

fn pairs(i: &Instruction) -> Option<Pairs> {
    use ScalarType::{BF16x2, F16x2, F32x2};
    let mut types = i.types();
    match (types.next()?, types.next()?, types.next()?) {
        (F32x2, F16x2, F32x2) => Some(Pairs::NarrowF16),
        (F32x2, BF16x2, F32x2) => Some(Pairs::NarrowBF16),
        (F16x2, F32x2, F32x2) => Some(Pairs::ToF16),
        (BF16x2, F32x2, F32x2) => Some(Pairs::ToBF16),
        (F16x2, F16x2, BF16x2) => Some(Pairs::F16ByBF16),
        (BF16x2, BF16x2, F16x2) => Some(Pairs::BF16ByF16),
        _ => None,
    }
}

/// True for an instruction on pairs, false for one on single values.
pub(crate) fn is_of_pairs(i: &Instruction) -> bool {
    i.types().count() > 2
}

/// An operation on both halves of 64 bits that gives both halves of 32.
#[inline(always)]
fn narrow(a: u64, b: u64, f: impl Fn(u32, u32) -> u16) -> u32 {
    f(a as u32, b as u32) as u32 | (f((a >> 32) as u32, (b >> 32) as u32) as u32) << 16
}

/// An operation on a half of 32 bits, and on halves of 64, that gives both halves of 64.
#[inline(always)]
fn widen<H: Half, const N: usize>(a: u32, rest: [u64; N], f: impl Fn(u32, [u32; N]) -> u32) -> u64 {
    let [low, high] = split_16(a).map(to_single::<H>);
    let (low, high) = (f(low, rest.map(|x| x as u32)), f(high, rest.map(|x| (x >> 32) as u32)));
    low as u64 | (high as u64) << 32
}

#[inline(always)]
fn direction(mode: u32) -> Rounding {
    match mode {
        0 => Rounding::Nearest,
        1 => Rounding::Zero,
        2 => Rounding::Down,
        _ => Rounding::Up,
    }
}

const SIGNS: u64 = 0x8000_0000_8000_0000;

#[inline(always)]
fn sum<H: Half>(a: u32, c: u64, mode: u32) -> u64 {
    widen::<H, 1>(a, [c], |a, [c]| single::add::<false>(direction(mode), a, c))
}

#[inline(always)]
fn difference<H: Half>(a: u32, c: u64, mode: u32) -> u64 {
    widen::<H, 1>(a, [c], |a, [c]| single::sub::<false>(direction(mode), a, c))
}

pub(crate) fn add(i: &Instruction) -> Option<Plan> {
    let mode = rounding(i)? as u64;
    Some(match pairs(i)? {
        Pairs::NarrowF16 => Plan::with_constants(scalar(sum::<F16>), &[mode]),
        Pairs::NarrowBF16 => Plan::with_constants(scalar(sum::<BF16>), &[mode]),
        Pairs::ToF16 => Plan::simple(scalar(|a: u64, c: u64| {
            narrow(a, c, |a, c| mixed::half_sum(Format::F16, true, a, c))
        })),
        Pairs::ToBF16 => Plan::simple(scalar(|a: u64, c: u64| {
            narrow(a, c, |a, c| mixed::half_sum(Format::BF16, false, a, c))
        })),
        Pairs::F16ByBF16 | Pairs::BF16ByF16 => return None,
    })
}

pub(crate) fn sub(i: &Instruction) -> Option<Plan> {
    let mode = rounding(i)? as u64;
    Some(match pairs(i)? {
        Pairs::NarrowF16 => Plan::with_constants(scalar(difference::<F16>), &[mode]),
        Pairs::NarrowBF16 => Plan::with_constants(scalar(difference::<BF16>), &[mode]),
        Pairs::ToF16 => Plan::simple(scalar(|a: u64, c: u64| {
            narrow(a, c ^ SIGNS, |a, c| mixed::half_sum(Format::F16, true, a, c))
        })),
        Pairs::ToBF16 => Plan::simple(scalar(|a: u64, c: u64| {
            narrow(a, c ^ SIGNS, |a, c| mixed::half_sum(Format::BF16, false, a, c))
        })),
        Pairs::F16ByBF16 | Pairs::BF16ByF16 => return None,
    })
}

pub(crate) fn mul(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(Plan::simple(match pairs(i)? {
        Pairs::ToF16 => {
            scalar(|a: u64, b: u64| narrow(a, b, |a, b| mixed::half_product(Format::F16, true, a, b)))
        }
        Pairs::ToBF16 => {
            scalar(|a: u64, b: u64| narrow(a, b, |a, b| mixed::half_product(Format::BF16, false, a, b)))
        }
        Pairs::F16ByBF16 => {
            scalar(|a: u32, b: u32| map2_16([a, b], |[a, b]| mixed::product(Format::F16, Format::BF16, a, b)))
        }
        Pairs::BF16ByF16 => {
            scalar(|a: u32, b: u32| map2_16([a, b], |[a, b]| mixed::product(Format::BF16, Format::F16, a, b)))
        }
        Pairs::NarrowF16 | Pairs::NarrowBF16 => return None,
    }))
}

pub(crate) fn fma(i: &Instruction) -> Option<Plan> {
    fn fused<H: Half>(a: u32, b: u64, c: u64, mode: u32) -> u64 {
        widen::<H, 2>(a, [b, c], |a, [b, c]| single::fma::<false>(direction(mode), a, b, c))
    }
    let function = match pairs(i)? {
        Pairs::NarrowF16 => scalar(fused::<F16>),
        Pairs::NarrowBF16 => scalar(fused::<BF16>),
        Pairs::ToF16 | Pairs::ToBF16 | Pairs::F16ByBF16 | Pairs::BF16ByF16 => return None,
    };
    Some(Plan::with_constants(function, &[rounding(i)? as u64]))
}

/// The format of four operands; `None` for another type.
fn four(ty: ScalarType) -> Option<Four> {
    use ScalarType::*;
    Some(match ty {
        E4M3x4 => Four::E4M3,
        E5M2x4 => Four::E5M2,
        E3M2x4 => Four::E3M2,
        E2M3x4 => Four::E2M3,
        E2M1x4 => Four::E2M1,
        E2M1P4x4 => Four::E2M1Padded,
        UE8M0x4 => Four::UE8M0,
        Pred | B1 | B8 | B16 | B32 | B64 | B128 | U2 | U4 | U8 | U16 | U32 | U64 | S2 | S4 | S8 | S16
        | S32 | S64 | F16 | BF16 | TF32 | F32 | F64 | E4M3 | E5M2 | E2M3 | E3M2 | E2M1 | UE8M0 | UE4M3
        | U16x2 | S16x2 | U8x4 | S8x4 | F16x2 | BF16x2 | F32x2 | E4M3x2 | E5M2x2 | E2M3x2 | E3M2x2
        | E2M1x2 | UE8M0x2 | UE5M3x2 | S2F6x2 | Texref | Samplerref | Surfref => return None,
    })
}

/// An operation on four values: which of its sources are `a`, `b` and `c`; what it lacks is its first.
fn eight(i: &Instruction, operation: Eight, [a, b, c]: [u8; 3]) -> Option<Plan> {
    let mut types = i.types();
    let e5m2 = match four(types.next()?)? {
        Four::E5M2 => true,
        Four::E4M3 => false,
        Four::E3M2 | Four::E2M3 | Four::E2M1 | Four::E2M1Padded | Four::UE8M0 => return None,
    };
    let first = four(types.next()?)?;
    let second = types.next().map_or(Some(first), four)?;
    let satfinite = i.has(warpsmith_isa::Mod::Satfinite);
    let code = Arithmetic { operation, e5m2, satfinite, factors: [first, second] }.code();
    let function = scalar(|a: u32, b: u32, c: u32, code: u32| Arithmetic::from_code(code).apply(a, b, c));
    let src = [Slot::Src(a), Slot::Src(b), Slot::Src(c), Slot::Constant(code.into(), Width::W32)];
    Some(Plan::of(smallvec![Step::new(function, &[Slot::Dst(0)], &src)]))
}

pub(crate) fn add_bytes(i: &Instruction, _: &Written) -> Option<Plan> {
    eight(i, Eight::Add, [0, 0, 1])
}

pub(crate) fn sub_bytes(i: &Instruction, _: &Written) -> Option<Plan> {
    eight(i, Eight::Sub, [0, 0, 1])
}

pub(crate) fn mul_bytes(i: &Instruction, _: &Written) -> Option<Plan> {
    eight(i, Eight::Mul, [0, 1, 0])
}

pub(crate) fn fma_bytes(i: &Instruction, _: &Written) -> Option<Plan> {
    eight(i, Eight::Fma, [0, 1, 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs() {
        assert_eq!(narrow(0x0000_0003_0000_0001, 0x0000_0004_0000_0002, |a, b| (a + b) as u16), 0x0007_0003);
        // 1 and 2 of f16 plus 1 and 2^-24: rounded up where that is asked for.
        let run = |mode| sum::<F16>(0x4000_3c00, 0x3380_0000_3f80_0000, mode);
        assert_eq!(run(0), 0x4000_0000_4000_0000);
        assert_eq!(run(3), 0x4000_0001_4000_0000);
        assert_eq!(difference::<BF16>(0x4000_3f80, 0x3f80_0000_3f80_0000, 0), 0x3f80_0000_0000_0000);
    }

    #[test]
    fn modes_are_roundings() {
        for rounding in [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up] {
            assert_eq!(direction(rounding as u32), rounding);
        }
    }
}
