//! `atom` and `red` (PTX ISA 9.0, 9.7.13.5 and 9.7.13.6): the functions on the old value and the operands.

use super::memory::describe;
use super::{Source, Words, address, value};
use crate::engine::{AtomicFn, FunctionBuilder, Order, Reg, Scope, Width};
use crate::semantics::half::{self, After, Half};
use crate::semantics::packed::map2_16;
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
    let function = function(words, ty)?;
    let at = address(src.first())?;
    let mut access = describe(words, at, body)?;
    if words.order().is_none() {
        access = access.ordered(
            Order::Relaxed,
            words.pick(&[("cta", Scope::Cta), ("sys", Scope::Sys)]).unwrap_or(Scope::Gpu),
        );
    }
    let width = Width::for_bits(ty.bits());
    let count = words.elements();
    let b = src.get(1..=count)?;
    let mut b: SmallVec<[Reg; 8]> = b.iter().map(|s| value(body, Some(s), width)).collect::<Option<_>>()?;
    let c = if words.has("cas") { Some(value(body, src.get(2), width)?) } else { None };
    let old: SmallVec<[Reg; 8]> = if words.head == "red" || dst.iter().all(Option::is_none) {
        SmallVec::new()
    } else {
        (0..count).map(|i| dst.get(i).copied().flatten().unwrap_or_else(|| body.reg(width))).collect()
    };
    // The elements of a vector are updated one after the other, and a later one's operand may be an earlier one's destination.
    for i in 1..count {
        if old.get(..i).is_some_and(|written| written.contains(&b[i])) {
            let kept = body.reg(width);
            body.copy(kept, b[i]);
            b[i] = kept;
        }
    }
    body.atomic(access, function, &old, at, &b, c);
    Some(())
}

/// The operation of a mnemonic on a type.
pub(super) fn function(words: &Words, ty: ScalarType) -> Option<AtomicFn> {
    use ScalarType::*;
    let op = words.words.iter().copied().find(|w| OPERATIONS.contains(w))?;
    if ty.bits() == 128 {
        return Some(AtomicFn::Wide(match op {
            "exch" => |_, b, _| b,
            "cas" => |old, b, c| if old == b { c } else { old },
            _ => return None,
        }));
    }
    let f: fn(u64, u64, u64) -> u64 = match (op, ty) {
        ("exch", _) => |_, b, _| b,
        ("cas", _) => |old, b, c| if old == b { c } else { old },
        ("and", B32 | B64) => |old, b, _| old & b,
        ("or", B32 | B64) => |old, b, _| old | b,
        ("xor", B32 | B64) => |old, b, _| old ^ b,
        ("add", U32 | S32 | U64 | S64) => |old, b, _| old.wrapping_add(b),
        ("inc", U32) => |old, b, _| if old >= b { 0 } else { old + 1 },
        ("dec", U32) => |old, b, _| if old == 0 || old > b { b } else { old - 1 },
        ("min", U32 | U64) => |old, b, _| old.min(b),
        ("max", U32 | U64) => |old, b, _| old.max(b),
        ("min", S32) => |old, b, _| (old as i32).min(b as i32) as u32 as u64,
        ("max", S32) => |old, b, _| (old as i32).max(b as i32) as u32 as u64,
        ("min", S64) => |old, b, _| (old as i64).min(b as i64) as u64,
        ("max", S64) => |old, b, _| (old as i64).max(b as i64) as u64,
        ("add", F32) => {
            let flush = |old, b, _| u64::from(single::add::<true>(Rounding::Nearest, old as u32, b as u32));
            let keep = |old, b, _| u64::from(single::add::<false>(Rounding::Nearest, old as u32, b as u32));
            return Some(AtomicFn::BySpace { global: flush, shared: keep });
        }
        ("add", F64) => |old, b, _| double::add(Rounding::Nearest, old, b),
        ("add", F16) => |old, b, _| one(half::add::<half::F16>, old, b),
        ("add", BF16) => |old, b, _| one(half::add::<half::BF16>, old, b),
        ("add", F16x2) => |old, b, _| two(half::add::<half::F16>, old, b),
        ("add", BF16x2) => |old, b, _| two(half::add::<half::BF16>, old, b),
        ("min", F16) => |old, b, _| one(least::<half::F16>, old, b),
        ("max", F16) => |old, b, _| one(greatest::<half::F16>, old, b),
        ("min", BF16) => |old, b, _| one(least::<half::BF16>, old, b),
        ("max", BF16) => |old, b, _| one(greatest::<half::BF16>, old, b),
        ("min", F16x2) => |old, b, _| two(least::<half::F16>, old, b),
        ("max", F16x2) => |old, b, _| two(greatest::<half::F16>, old, b),
        ("min", BF16x2) => |old, b, _| two(least::<half::BF16>, old, b),
        ("max", BF16x2) => |old, b, _| two(greatest::<half::BF16>, old, b),
        _ => return None,
    };
    Some(AtomicFn::Word(f))
}

const OPERATIONS: [&str; 11] = ["exch", "cas", "and", "or", "xor", "add", "inc", "dec", "min", "max", "popc"];

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
