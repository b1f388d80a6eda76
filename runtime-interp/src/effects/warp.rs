//! Operations of the lanes of a warp, and block barriers (PTX ISA 9.0, 9.7.9.5-9.7.9.6 and 9.7.13).

use super::{Source, Words, predicate, value};
use crate::engine::lanes::vector;
use crate::engine::{
    Barrier, BarrierKind, Collective, CollectiveKind, FunctionBuilder, Reg, ShuffleMode, Width,
};
use crate::semantics::single;
use smallvec::SmallVec;
use warpsmith_isa::ScalarType;

pub(super) fn collective(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    if words.head == "activemask" {
        if let Some(d) = dst.first().copied()? {
            body.active_mask(d);
        }
        return Some(());
    }
    let (kind, sources) = kind(words)?;
    let mut values: SmallVec<[Reg; 3]> = SmallVec::new();
    for (i, width) in sources.iter().enumerate() {
        let mut r = value(body, src.get(i), *width)?;
        if words.head == "redux" && words.has("abs") {
            let magnitude = body.reg(Width::W32);
            body.lanes(vector(single::magnitude), &[magnitude], &[r]);
            r = magnitude;
        }
        values.push(r);
    }
    let mask = if words.has("sync") { Some(value(body, src.get(sources.len()), Width::W32)?) } else { None };
    let dst = [dst.first().copied().flatten(), dst.get(1).copied().flatten()];
    body.collective(Collective { kind, mask, src: values.to_vec(), dst });
    Some(())
}

/// The operation, and the widths of its sources before the member mask.
fn kind(words: &Words) -> Option<(CollectiveKind, &'static [Width])> {
    use CollectiveKind::*;
    const VALUE: &[Width] = &[Width::W32];
    Some(match words.head {
        "shfl" => {
            let mode = words.pick(&[
                ("up", ShuffleMode::Up),
                ("down", ShuffleMode::Down),
                ("bfly", ShuffleMode::Bfly),
                ("idx", ShuffleMode::Idx),
            ])?;
            (Shuffle(mode), &[Width::W32; 3])
        }
        "vote" => {
            (words.pick(&[("all", All), ("any", Any), ("uni", Uni), ("ballot", Ballot)])?, &[Width::Pred])
        }
        "match" => {
            let kind = words.pick(&[("any", MatchAny), ("all", MatchAll)])?;
            (kind, if words.ty()?.bits() == 64 { &[Width::W64] } else { VALUE })
        }
        "elect" => (Elect, &[]),
        "redux" => (Reduce(reduction(words)?), VALUE),
        _ => return None,
    })
}

fn reduction(words: &Words) -> Option<fn(u64, u64) -> u64> {
    use ScalarType::*;
    let op = words.words.iter().copied().find(|w| ["add", "min", "max", "and", "or", "xor"].contains(w))?;
    Some(match (op, words.ty()?) {
        ("add", U32 | S32) => |a, b| u64::from((a as u32).wrapping_add(b as u32)),
        ("min", U32) => |a, b| a.min(b),
        ("max", U32) => |a, b| a.max(b),
        ("min", S32) => |a, b| (a as i32).min(b as i32) as u32 as u64,
        ("max", S32) => |a, b| (a as i32).max(b as i32) as u32 as u64,
        ("and", B32) => |a, b| a & b,
        ("or", B32) => |a, b| a | b,
        ("xor", B32) => |a, b| a ^ b,
        ("min", F32) if words.has("NaN") => |a, b| single::min::<false>(true, a as u32, b as u32).into(),
        ("max", F32) if words.has("NaN") => |a, b| single::max::<false>(true, a as u32, b as u32).into(),
        ("min", F32) => |a, b| single::min::<false>(false, a as u32, b as u32).into(),
        ("max", F32) => |a, b| single::max::<false>(false, a as u32, b as u32).into(),
        _ => return None,
    })
}

/// `bar{.cta} barrier{.cta}` and `bar.warp.sync`.
pub(super) fn barrier(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    if words.has("warp") {
        let mask = Some(value(body, src.first(), Width::W32)?);
        body.collective(Collective { kind: CollectiveKind::Sync, mask, src: Vec::new(), dst: [None; 2] });
        return Some(());
    }
    let kind = match words.pick(&[("sync", 0), ("arrive", 1), ("red", 2)])? {
        0 => BarrierKind::Sync,
        1 => BarrierKind::Arrive,
        _ => {
            words.pick(&[("popc", BarrierKind::Popc), ("and", BarrierKind::And), ("or", BarrierKind::Or)])?
        }
    };
    let reduces = !matches!(kind, BarrierKind::Sync | BarrierKind::Arrive);
    let id = value(body, src.first(), Width::W32)?;
    let between = src.len() - usize::from(reduces);
    let count = if between > 1 { Some(value(body, src.get(1), Width::W32)?) } else { None };
    let vote = if reduces { Some(predicate(body, src.last())?) } else { None };
    body.barrier(Barrier { kind, id, count, src: vote, dst: dst.first().copied().flatten() });
    Some(())
}
