//! What an atomic makes of memory (PTX ISA 9.0, 9.7.13.5 and 9.7.13.6): the new value as a function of the old one and the operands.

use crate::value::half::{self, After, Half};
use crate::value::packed::map2_16;
use crate::value::{Rounding, double, single};
use crate::{Bits, Number};
use warpsmith_isa::{Instruction, Mod, Reduction, ScalarType};

/// The function of an atomic: new value from old value and the operands.
#[derive(Clone, Copy, Debug)]
pub enum AtomicFn {
    /// Values of up to 64 bits, zero-extended: `(old, b, c)`.
    Word(fn(u64, u64, u64) -> u64),
    /// Values of up to 64 bits, where shared memory computes otherwise than global memory does: `atom.add.f32` flushes
    /// subnormal numbers in global memory alone (PTX ISA 9.0, 9.7.13.5).
    BySpace {
        /// In global memory.
        global: fn(u64, u64, u64) -> u64,
        /// In shared memory.
        shared: fn(u64, u64, u64) -> u64,
    },
    /// 128-bit values.
    Wide(fn(u128, u128, u128) -> u128),
}

/// The function of an instruction on the old value and the operands. With `.noftz` a sum of f32 keeps subnormal numbers in all spaces.
pub fn of_instruction(i: &Instruction, ty: ScalarType) -> Option<AtomicFn> {
    let function = function(i.reduction()?, ty)?;
    Some(match function {
        AtomicFn::BySpace { shared, .. } if i.has(Mod::Noftz) => AtomicFn::Word(shared),
        AtomicFn::Word(_) | AtomicFn::BySpace { .. } | AtomicFn::Wide(_) => function,
    })
}

/// The function on the old value and the operands.
pub fn function(operation: Reduction, ty: ScalarType) -> Option<AtomicFn> {
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
