//! `cvt` and `cvt.pack` (manual 9.7.9.21 and 9.7.9.22).

use super::{Plan, Slot, Step, Written, rounding};
use crate::lanes::{LaneFn, scalar, vector};
use crate::register::Width;
use crate::value::Rounding;
use crate::value::convert::narrow::{self, Element, Narrow};
use crate::value::convert::small::{self, Small};
use crate::value::convert::{self, Cvt, Kind};
use smallvec::{SmallVec, smallvec};
use warpsmith_isa::{self as isa, Instruction, Mod, ScalarType};

/// A side of a conversion.
enum Side {
    /// One value.
    One(Kind),
    F16x2,
    BF16x2,
    /// Two powers of two.
    UE8M0x2,
    /// Two values of a format of fewer than 16 bits.
    Two(Element),
    /// Four of them.
    Four(Small),
}

/// What a type is to a conversion; `None` for one that is not converted.
fn side(ty: ScalarType) -> Option<Side> {
    use ScalarType::*;
    Some(match ty {
        U8 | U16 | U32 | U64 => Side::One(Kind::Unsigned(ty.bits() as u8)),
        S8 | S16 | S32 | S64 => Side::One(Kind::Signed(ty.bits() as u8)),
        F16 => Side::One(Kind::F16),
        BF16 => Side::One(Kind::Bf16),
        TF32 => Side::One(Kind::Tf32),
        F32 => Side::One(Kind::F32),
        F64 => Side::One(Kind::F64),
        F16x2 => Side::F16x2,
        BF16x2 => Side::BF16x2,
        UE8M0x2 => Side::UE8M0x2,
        E4M3x2 => Side::Two(Element::Small(Small::E4M3)),
        E5M2x2 => Side::Two(Element::Small(Small::E5M2)),
        E2M3x2 => Side::Two(Element::Small(Small::E2M3)),
        E3M2x2 => Side::Two(Element::Small(Small::E3M2)),
        E2M1x2 => Side::Two(Element::Small(Small::E2M1)),
        S2F6x2 => Side::Two(Element::S2F6),
        UE5M3x2 => Side::Two(Element::UE5M3),
        E4M3x4 => Side::Four(Small::E4M3),
        E5M2x4 => Side::Four(Small::E5M2),
        E2M3x4 => Side::Four(Small::E2M3),
        E3M2x4 => Side::Four(Small::E3M2),
        E2M1x4 => Side::Four(Small::E2M1),
        Pred | B1 | B8 | B16 | B32 | B64 | B128 | U2 | U4 | S2 | S4 | E4M3 | E5M2 | E2M3 | E3M2 | E2M1
        | UE8M0 | UE4M3 | U16x2 | S16x2 | F32x2 | U8x4 | S8x4 | E2M1P4x4 | UE8M0x4 | Texref | Samplerref
        | Surfref => return None,
    })
}

pub(crate) fn cvt(i: &Instruction, written: &Written) -> Option<Plan> {
    let mut types = i.types();
    let (to, from) = (side(types.next()?)?, side(types.next()?)?);
    let relu = i.has(Mod::Relu);
    Some(match (to, from) {
        (Side::One(to), Side::One(from)) => single(i, to, from, written.destination_bits)?,
        (Side::F16x2, Side::One(Kind::F32)) => two_halves(i, Kind::F16)?,
        (Side::BF16x2, Side::One(Kind::F32)) => two_halves(i, Kind::Bf16)?,
        (Side::UE8M0x2, Side::One(Kind::F32)) => with_mode(
            scalar(|a: u32, b: u32, mode: u32| small::ue8m0x2_from_single(up(mode), mode & 2 != 0, a, b)),
            ue8m0_mode(i),
        ),
        (Side::UE8M0x2, Side::BF16x2) => with_mode(
            scalar(|a: u32, mode: u32| small::ue8m0x2_from_bf16x2(up(mode), mode & 2 != 0, a)),
            ue8m0_mode(i),
        ),
        (Side::BF16x2, Side::UE8M0x2) => Plan::simple(vector(small::bf16x2_from_ue8m0x2)),
        (Side::F16x2, Side::Two(from)) => with_mode(
            scalar(|a: u32, code: u32| narrow::to_f16x2(Narrow::from_code(code), a)),
            narrow_code(i, from)?,
        ),
        (Side::BF16x2, Side::Two(from)) => scaled(
            i,
            scalar(|a: u32, scale: u32, code: u32| {
                narrow::to_bf16x2(Narrow::from_code(code), a, factors(scale, code))
            }),
            1,
            narrow_code(i, from)?,
        ),
        (Side::Two(to), Side::F16x2) => scaled(
            i,
            scalar(|a: u32, scale: u32, code: u32| {
                narrow::from_f16x2(Narrow::from_code(code), a, factors(scale, code))
            }),
            1,
            narrow_code(i, to)?,
        ),
        (Side::Two(to), Side::BF16x2) => scaled(
            i,
            scalar(|a: u32, scale: u32, code: u32| {
                narrow::from_bf16x2(Narrow::from_code(code), a, factors(scale, code))
            }),
            1,
            narrow_code(i, to)?,
        ),
        (Side::Two(to), Side::One(Kind::F32)) => scaled(
            i,
            scalar(|a: u32, b: u32, scale: u32, code: u32| {
                narrow::from_singles(Narrow::from_code(code), a, b, factors(scale, code))
            }),
            2,
            narrow_code(i, to)?,
        ),
        (Side::Four(to), Side::One(Kind::F32)) => four(small_mode(to, relu)),
        _ => return None,
    })
}

/// One factor for both values, in the number of a conversion.
const ONE_SCALE: u32 = 1 << 31;

/// A conversion to or from a narrow format, as a number.
fn narrow_code(i: &Instruction, element: Element) -> Option<u32> {
    let one = i.conversion_scale() == Some(isa::ConversionScale::One);
    let narrow = Narrow {
        element,
        rounding: rounding(i)?,
        relu: i.has(Mod::Relu),
        pzo: i.has(Mod::Pzo),
        satfinite: i.has(Mod::Satfinite),
        flush: one,
    };
    Some(narrow.code() | if one { ONE_SCALE } else { 0 })
}

/// The factors of both values.
#[inline(always)]
fn factors(scale: u32, code: u32) -> u32 {
    if code & ONE_SCALE != 0 { (scale & 0xff) * 0x101 } else { scale }
}

/// A conversion of so many sources and a scale, which denotes one where none is written.
fn scaled(i: &Instruction, function: LaneFn, sources: u8, code: u32) -> Plan {
    let scale = match i.conversion_scale() {
        Some(isa::ConversionScale::One | isa::ConversionScale::Two) => Slot::Src(sources),
        None => Slot::Constant(narrow::UNSCALED.into(), Width::W32),
    };
    let own = (0..sources).map(Slot::Src);
    let src: SmallVec<[Slot; 4]> = own.chain([scale, Slot::Constant(code.into(), Width::W32)]).collect();
    Plan::of(smallvec![Step::new(function, &[Slot::Dst(0)], &src)])
}

/// Two halves of two f32, rounded as written or by random bits.
fn two_halves(i: &Instruction, half: Kind) -> Option<Plan> {
    if i.rounding() == Some(isa::Rounding::Stochastic) {
        return Some(with_code(
            scalar(|a: u32, b: u32, random: u32, code: u64| {
                small::half_x2_stochastic(&Cvt::from_code(code), a, b, random)
            }),
            Cvt { rounding: Rounding::Nearest, ..description(i, half, Kind::F32, Rounding::Nearest) },
        ));
    }
    Some(with_code(
        scalar(|a: u32, b: u32, code: u64| small::half_x2_from_single(&Cvt::from_code(code), a, b)),
        description(i, half, Kind::F32, rounding(i)?),
    ))
}

fn with_mode(function: LaneFn, mode: u32) -> Plan {
    Plan::with_constants(function, &[mode.into()])
}

fn with_code(function: LaneFn, cvt: Cvt) -> Plan {
    Plan::with_constants(function, &[cvt.code()])
}

fn small_mode(small: Small, relu: bool) -> u32 {
    small as u32 | (relu as u32) << 8
}

#[inline(always)]
fn small_of(mode: u32) -> Small {
    match mode & 0xff {
        0 => Small::E4M3,
        1 => Small::E5M2,
        2 => Small::E2M3,
        3 => Small::E3M2,
        _ => Small::E2M1,
    }
}

fn ue8m0_mode(i: &Instruction) -> u32 {
    (i.rounding() == Some(isa::Rounding::Up)) as u32 | (i.has(Mod::Satfinite) as u32) << 1
}

#[inline(always)]
fn up(mode: u32) -> Rounding {
    if mode & 1 != 0 { Rounding::Up } else { Rounding::Zero }
}

/// Four values and random bits: more operands than a lane function takes, so pairs are put together first.
fn four(mode: u32) -> Plan {
    let pair = vector(|a: u32, b: u32| u64::from(a) | u64::from(b) << 32);
    let convert = scalar(|ab: u64, ef: u64, random: u32, mode: u32| {
        let values = [ab as u32, (ab >> 32) as u32, ef as u32, (ef >> 32) as u32];
        small::small_x4_from_single(small_of(mode), mode & 0x100 != 0, values, random)
    });
    let (ab, ef) = (Slot::Temp(0, Width::W64), Slot::Temp(1, Width::W64));
    let steps: [Step; 3] = [
        Step { function: pair, dst: smallvec![ab], src: smallvec![Slot::Src(0), Slot::Src(1)] },
        Step { function: pair, dst: smallvec![ef], src: smallvec![Slot::Src(2), Slot::Src(3)] },
        Step {
            function: convert,
            dst: smallvec![Slot::Dst(0)],
            src: smallvec![ab, ef, Slot::Src(4), Slot::Constant(mode.into(), Width::W32)],
        },
    ];
    Plan::of(SmallVec::from_iter(steps))
}

fn description(i: &Instruction, to: Kind, from: Kind, rounding: Rounding) -> Cvt {
    Cvt {
        rounding,
        integral: i.rounds_to_integer(),
        ftz: i.has(Mod::Ftz),
        sat: i.has(Mod::Sat),
        relu: i.has(Mod::Relu),
        satfinite: i.has(Mod::Satfinite),
        pzo: i.has(Mod::Pzo),
        ..Cvt::new(to, from)
    }
}

/// A conversion of one value. The result fills a register of `destination_bits`, extended by its type's sign.
fn single(i: &Instruction, to: Kind, from: Kind, destination_bits: u32) -> Option<Plan> {
    let cvt = description(i, to, from, rounding(i)?);
    let plain = Cvt { rounding: Rounding::Nearest, integral: false, ..cvt };
    let usual = plain == Cvt::new(to, from);
    use Kind::*;
    let short = match (to, from, cvt.rounding) {
        _ if !usual => None,
        (F32, Signed(32), Rounding::Nearest) => Some(vector(convert::single_from_s32)),
        (F32, Unsigned(32), Rounding::Nearest) => Some(vector(convert::single_from_u32)),
        (Signed(32), F32, Rounding::Zero) => Some(vector(convert::s32_from_single)),
        (Unsigned(32), F32, Rounding::Zero) => Some(vector(convert::u32_from_single)),
        (F64, F32, _) => Some(vector(convert::double_from_single)),
        (F32, F64, Rounding::Nearest) => Some(vector(convert::single_from_double)),
        (F32, F16, _) => Some(vector(convert::single_from_f16)),
        (F16, F32, Rounding::Nearest) => Some(vector(convert::f16_from_single)),
        (Bf16, F32, Rounding::Nearest) => Some(vector(convert::bf16_from_single)),
        (Signed(64), Signed(32), _) => Some(vector(|a: i32| i64::from(a))),
        (Unsigned(64), Unsigned(32), _) => Some(vector(|a: u32| u64::from(a))),
        (Unsigned(32) | Signed(32), Unsigned(64) | Signed(64), _) => Some(vector(|a: u64| a as u32)),
        (Unsigned(32), Unsigned(16), _) => Some(vector(|a: u16| u32::from(a))),
        (Unsigned(32), Unsigned(8), _) => Some(vector(|a: u8| u32::from(a))),
        _ => None,
    };
    let signed = matches!(to, Signed(_));
    if let Some(function) = short {
        return Some(Plan { signed, ..Plan::simple(function) });
    }
    let wide = |kind: Kind| matches!(kind, F64 | Unsigned(64) | Signed(64));
    // The general function works on 64 bits; cutting to the register's bits keeps a 16-bit register's upper half zero.
    let function = match (wide(from), destination_bits) {
        (false, 64..) => scalar(|a: u32, code: u64| Cvt::from_code(code).apply(a.into())),
        (true, 64..) => scalar(|a: u64, code: u64| Cvt::from_code(code).apply(a)),
        (false, 17..) => scalar(|a: u32, code: u64| Cvt::from_code(code).apply(a.into()) as u32),
        (true, 17..) => scalar(|a: u64, code: u64| Cvt::from_code(code).apply(a) as u32),
        (false, 9..) => scalar(|a: u32, code: u64| Cvt::from_code(code).apply(a.into()) as u16),
        (true, 9..) => scalar(|a: u64, code: u64| Cvt::from_code(code).apply(a) as u16),
        (false, _) => scalar(|a: u32, code: u64| Cvt::from_code(code).apply(a.into()) as u8),
        (true, _) => scalar(|a: u64, code: u64| Cvt::from_code(code).apply(a) as u8),
    };
    Some(Plan { signed, ..with_code(function, cvt) })
}

/// `cvt.pack`: the form with 16 bits has no third operand.
pub(crate) fn pack(i: &Instruction, _: &Written) -> Option<Plan> {
    let ty = i.ty()?;
    let mode = ty.bits() | (ty.is_signed() as u32) << 8;
    Some(match ty.bits() {
        16 => {
            with_mode(scalar(|a: u32, b: u32, mode: u32| convert::pack(16, mode & 0x100 != 0, a, b, 0)), mode)
        }
        2 | 4 | 8 => with_mode(
            scalar(|a: u32, b: u32, c: u32, mode: u32| {
                convert::pack(mode & 0xff, mode & 0x100 != 0, a, b, c)
            }),
            mode,
        ),
        _ => return None,
    })
}
