//! Clusters: addresses of other blocks, the cluster's barrier, answers of the launch control
//! (PTX ISA 9.0, 9.7.9.19, 9.7.9.23, 9.7.9.24, 9.7.13.3 and 9.7.13.18).

use super::{Source, value};
use crate::engine::lanes::{LaneFn, scalar, vector};
use crate::engine::observe::is_cancelled;
use crate::engine::{FunctionBuilder, Reg, Special, Width, first_block};
use crate::memory::window;
use warpsmith_isa::{CancelQuery, Instruction};

/// A shared address as an operand of the width of the instruction's type.
fn shared_address(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<(Reg, bool)> {
    let width = Width::for_bits(i.ty()?.bits());
    let a = value(body, src.first(), width)?;
    // The address of a variable has 64 bits.
    let cut: LaneFn = match (a.width(), width) {
        (from, to) if from == to => return Some((a, width == Width::W64)),
        (Width::W64, Width::W32) => vector(|a: u64| a as u32),
        (Width::W32, Width::W64) => vector(|a: u32| u64::from(a)),
        _ => return None,
    };
    let whole = body.reg(width);
    body.lanes(cut, &[whole], &[a]);
    Some((whole, width == Width::W64))
}

/// `mapa`
pub(super) fn map_address(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let Some(d) = dst.first().copied()? else { return Some(()) };
    let (a, wide) = shared_address(body, i, src)?;
    let rank = value(body, src.get(1), Width::W32)?;
    let f: LaneFn = if wide {
        vector(|a: u64, rank: u32| window::in_member(a, rank))
    } else {
        vector(|a: u32, rank: u32| window::in_member(a.into(), rank) as u32)
    };
    body.lanes(f, &[d], &[a, rank]);
    Some(())
}

/// `getctarank`
pub(super) fn rank_of_address(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let Some(d) = dst.first().copied()? else { return Some(()) };
    let (a, wide) = shared_address(body, i, src)?;
    let own = own_rank(body);
    let f: LaneFn = if wide { vector(owner) } else { vector(|a: u32, own: u32| owner(a.into(), own)) };
    body.lanes(f, &[d], &[a, own]);
    Some(())
}

/// The block that a shared address belongs to.
fn owner(a: u64, own: u32) -> u32 {
    window::member(a).0.map_or(own, |rank| rank as u32)
}

fn own_rank(body: &mut FunctionBuilder<'_>) -> Reg {
    let own = body.reg(Width::W32);
    body.special(own, Special::ClusterCtaRank);
    own
}

/// `isspacep.shared::cta`: whether a generic address is in the shared memory of the executing block.
pub(super) fn is_own(body: &mut FunctionBuilder<'_>, d: Reg, a: Reg, base: Reg) {
    let own = own_rank(body);
    let f = vector(|a: u64, base: u64, own: u32| a & !(window::SIZE - 1) == base && owner(a, own) == own);
    body.lanes(f, &[d], &[a, base, own]);
}

/// `clusterlaunchcontrol.query_cancel`: takes a response apart.
pub(super) fn query_cancel(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let response = value(body, src.first(), Width::W128)?;
    let mut put = |n: usize, f: LaneFn| {
        if let Some(Some(d)) = dst.get(n) {
            body.lanes(f, &[*d], &[response]);
        }
    };
    let x = scalar(|r: u128| first_block(r)[0]);
    let y = scalar(|r: u128| first_block(r)[1]);
    let z = scalar(|r: u128| first_block(r)[2]);
    match i.cancel_query()? {
        CancelQuery::IsCanceled => put(0, scalar(is_cancelled)),
        CancelQuery::FirstBlockX => put(0, x),
        CancelQuery::FirstBlockY => put(0, y),
        CancelQuery::FirstBlockZ => put(0, z),
        CancelQuery::FirstBlock => {
            // The manual leaves the fourth element open.
            let none = scalar(|_: u128| 0u32);
            [x, y, z, none].into_iter().enumerate().for_each(|(n, f)| put(n, f));
        }
    }
    Some(())
}
