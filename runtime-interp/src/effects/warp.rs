//! Operations of the lanes of a warp, and block barriers (PTX ISA 9.0, 9.7.9.5-9.7.9.6 and 9.7.13).

use super::{Source, predicate, value};
use crate::engine::lanes::vector;
use crate::engine::{Barrier, BarrierKind, Collective, CollectiveKind, FunctionBuilder, Reg, Width};
use smallvec::SmallVec;
use warpsmith_isa::{BarrierAction, Instruction, Mod, Reduction, VoteMode};
use warpsmith_semantics::value::single;
use warpsmith_semantics::{Effect, together};

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
        (Shuffle(i.shuffle_mode()?), &[Width::W32; 3])
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
        (Reduce(together::reduction(i)?), VALUE)
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
            Reduction::PopCount => BarrierKind::Popc,
            Reduction::And => BarrierKind::And,
            Reduction::Or => BarrierKind::Or,
            Reduction::Add
            | Reduction::Min
            | Reduction::Max
            | Reduction::Inc
            | Reduction::Dec
            | Reduction::Xor
            | Reduction::Exchange
            | Reduction::CompareAndSwap => return None,
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
