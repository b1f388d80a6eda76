//! What the lanes of a warp make of each other's values (PTX ISA 9.0, 9.7.9.6 and 9.7.13).

use crate::value::single;
use crate::{Bits, Number};
use warpsmith_isa::{Instruction, Mod, Reduction, ShuffleMode};

/// Which lane a lane reads, and whether that is within its segment (the pseudocode of PTX ISA 9.0, 9.7.9.6).
pub fn shuffle_source(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let max = lane & segment | clamp & !segment;
    let min = lane & segment;
    let (from, inside) = match mode {
        ShuffleMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= max as i32),
        ShuffleMode::Down => (lane + b, lane + b <= max),
        ShuffleMode::Bfly => (lane ^ b, lane ^ b <= max),
        ShuffleMode::Idx => (min | b & !segment, min | b & !segment <= max),
    };
    (if inside { from & 31 } else { lane }, inside)
}

/// The function of a `redux`.
pub fn reduction(i: &Instruction) -> Option<fn(u64, u64) -> u64> {
    const UNSIGNED: Number = Number::Unsigned(Bits::B32);
    const SIGNED: Number = Number::Signed(Bits::B32);
    let number = Number::of(i.ty()?);
    let propagates = i.has(Mod::NaN);
    Some(match i.reduction()? {
        Reduction::And => |a, b| a & b,
        Reduction::Or => |a, b| a | b,
        Reduction::Xor => |a, b| a ^ b,
        Reduction::Add if matches!(number, UNSIGNED | SIGNED) => {
            |a, b| u64::from((a as u32).wrapping_add(b as u32))
        }
        Reduction::Min if number == UNSIGNED => |a, b| a.min(b),
        Reduction::Max if number == UNSIGNED => |a, b| a.max(b),
        Reduction::Min if number == SIGNED => |a, b| (a as i32).min(b as i32) as u32 as u64,
        Reduction::Max if number == SIGNED => |a, b| (a as i32).max(b as i32) as u32 as u64,
        Reduction::Min if number == Number::F32 && propagates => {
            |a, b| single::min::<false>(true, a as u32, b as u32).into()
        }
        Reduction::Max if number == Number::F32 && propagates => {
            |a, b| single::max::<false>(true, a as u32, b as u32).into()
        }
        Reduction::Min if number == Number::F32 => {
            |a, b| single::min::<false>(false, a as u32, b as u32).into()
        }
        Reduction::Max if number == Number::F32 => {
            |a, b| single::max::<false>(false, a as u32, b as u32).into()
        }
        Reduction::Add
        | Reduction::Min
        | Reduction::Max
        | Reduction::Inc
        | Reduction::Dec
        | Reduction::Exchange
        | Reduction::CompareAndSwap
        | Reduction::PopCount => return None,
    })
}
