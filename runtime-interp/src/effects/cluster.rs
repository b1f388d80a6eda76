//! Clusters: addresses of other blocks, the cluster's barrier, answers of the launch control
//! (PTX ISA 9.0, 9.7.9.19, 9.7.9.23, 9.7.9.24, 9.7.13.3 and 9.7.13.18).

use super::{Source, Words, value};
use crate::engine::lanes::{LaneFn, scalar, vector};
use crate::engine::{AsyncOp, FunctionBuilder, Reg, Special, Width};
use crate::memory::window;

/// `barrier.cluster`
pub(super) fn barrier(body: &mut FunctionBuilder<'_>, words: &Words) -> Option<()> {
    body.asynchronous(match words.pick(&[("arrive", true), ("wait", false)])? {
        true => AsyncOp::ClusterArrive,
        false => AsyncOp::ClusterWait,
    });
    Some(())
}

/// `mapa getctarank`
pub(super) fn address(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let Some(d) = dst.first().copied()? else { return Some(()) };
    let width = Width::for_bits(words.ty()?.bits());
    let mut a = value(body, src.first(), width)?;
    if a.width() != width {
        // The address of a variable has 64 bits.
        let low = body.reg(width);
        match (a.width(), width) {
            (Width::W64, Width::W32) => body.lanes(vector(|a: u64| a as u32), &[low], &[a]),
            (Width::W32, Width::W64) => body.lanes(vector(|a: u32| u64::from(a)), &[low], &[a]),
            _ => return None,
        }
        a = low;
    }
    let wide = width == Width::W64;
    if words.head == "mapa" {
        let rank = value(body, src.get(1), Width::W32)?;
        let f: LaneFn = if wide {
            vector(|a: u64, rank: u32| window::in_member(a, rank))
        } else {
            vector(|a: u32, rank: u32| window::in_member(a.into(), rank) as u32)
        };
        body.lanes(f, &[d], &[a, rank]);
        return Some(());
    }
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
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let response = value(body, src.first(), Width::W128)?;
    if words.has("is_canceled") {
        if let Some(d) = dst.first().copied()? {
            body.lanes(scalar(|r: u128| r >> 127 != 0), &[d], &[response]);
        }
        return Some(());
    }
    let axis = words.pick(&[("get_first_ctaid::x", 0), ("get_first_ctaid::y", 1), ("get_first_ctaid::z", 2)]);
    for (i, d) in dst.iter().enumerate() {
        let f: LaneFn = match axis.unwrap_or(i) {
            0 => scalar(|r: u128| r as u32),
            1 => scalar(|r: u128| (r >> 32) as u32),
            2 => scalar(|r: u128| (r >> 64) as u32),
            // The manual leaves the fourth element open.
            _ => scalar(|_: u128| 0u32),
        };
        if let Some(d) = *d {
            body.lanes(f, &[d], &[response]);
        }
    }
    Some(())
}
