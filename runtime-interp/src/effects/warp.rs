//! Operations of the lanes of a warp, and block barriers (PTX ISA 9.0, 9.7.9.5-9.7.9.6 and 9.7.13).

use super::{Source, predicate, value};
use crate::engine::lanes::vector;
use crate::engine::{
    Barrier, BarrierKind, Collective, CollectiveKind, FunctionBuilder, Reg, ShuffleMode, Width,
};
use smallvec::SmallVec;
use warpsmith_isa::{self as isa, BarrierAction, Instruction, Mod, VoteMode};
use warpsmith_semantics::value::single;
use warpsmith_semantics::{Bits, Effect, Number};

pub(super) fn collective(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    effect: Effect,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let (kind, sources) = kind(i, effect)?;
    let mut values: SmallVec<[Reg; 3]> = SmallVec::new();
    for (n, width) in sources.iter().enumerate() {
        let mut r = value(body, src.get(n), *width)?;
        if effect == Effect::ReduceLanes && i.has(Mod::Abs) {
            let magnitude = body.reg(Width::W32);
            body.lanes(vector(single::magnitude), &[magnitude], &[r]);
            r = magnitude;
        }
        values.push(r);
    }
    let mask = if i.has(Mod::Sync) { Some(value(body, src.get(sources.len()), Width::W32)?) } else { None };
    let dst = [dst.first().copied().flatten(), dst.get(1).copied().flatten()];
    body.collective(Collective { kind, mask, src: values.to_vec(), dst });
    Some(())
}

/// The operation, and the widths of its sources before the member mask.
fn kind(i: &Instruction, effect: Effect) -> Option<(CollectiveKind, &'static [Width])> {
    use CollectiveKind::*;
    const VALUE: &[Width] = &[Width::W32];
    Some(if effect == Effect::Shuffle {
        let mode = match i.shuffle_mode()? {
            isa::ShuffleMode::Up => ShuffleMode::Up,
            isa::ShuffleMode::Down => ShuffleMode::Down,
            isa::ShuffleMode::Bfly => ShuffleMode::Bfly,
            isa::ShuffleMode::Idx => ShuffleMode::Idx,
        };
        (Shuffle(mode), &[Width::W32; 3])
    } else if effect == Effect::Vote {
        let kind = match i.vote_mode()? {
            VoteMode::All => All,
            VoteMode::Any => Any,
            VoteMode::Uni => Uni,
            VoteMode::Ballot => Ballot,
        };
        (kind, &[Width::Pred])
    } else if effect == Effect::Match {
        let kind = match i.vote_mode()? {
            VoteMode::Any => MatchAny,
            VoteMode::All => MatchAll,
            VoteMode::Uni | VoteMode::Ballot => return None,
        };
        (kind, if i.ty()?.bits() == 64 { &[Width::W64] } else { VALUE })
    } else if effect == Effect::Elect {
        (Elect, &[])
    } else {
        (Reduce(reduction(i)?), VALUE)
    })
}

/// The function of a `redux`.
fn reduction(i: &Instruction) -> Option<fn(u64, u64) -> u64> {
    use isa::Reduction;
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

/// `bar.warp.sync`
pub(super) fn barrier(body: &mut FunctionBuilder<'_>, src: &[Source]) -> Option<()> {
    let mask = Some(value(body, src.first(), Width::W32)?);
    body.collective(Collective { kind: CollectiveKind::Sync, mask, src: Vec::new(), dst: [None; 2] });
    Some(())
}

/// `bar{.cta} barrier{.cta}`, and their `.red`
pub(super) fn block_barrier(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    reduces: bool,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let kind = if reduces {
        match i.reduction()? {
            isa::Reduction::PopCount => BarrierKind::Popc,
            isa::Reduction::And => BarrierKind::And,
            isa::Reduction::Or => BarrierKind::Or,
            isa::Reduction::Add
            | isa::Reduction::Min
            | isa::Reduction::Max
            | isa::Reduction::Inc
            | isa::Reduction::Dec
            | isa::Reduction::Xor
            | isa::Reduction::Exchange
            | isa::Reduction::CompareAndSwap => return None,
        }
    } else {
        match i.barrier_action()? {
            BarrierAction::Sync => BarrierKind::Sync,
            BarrierAction::Arrive => BarrierKind::Arrive,
        }
    };
    let id = value(body, src.first(), Width::W32)?;
    let between = src.len() - usize::from(reduces);
    let count = if between > 1 { Some(value(body, src.get(1), Width::W32)?) } else { None };
    let vote = if reduces { Some(predicate(body, src.last())?) } else { None };
    body.barrier(Barrier { kind, id, count, src: vote, dst: dst.first().copied().flatten() });
    Some(())
}
