//! `mbarrier.*` and `cp.async.mbarrier.arrive` (PTX ISA 9.0, 9.7.13.15).

use super::{Source, address, names_cluster, value};
use crate::engine::lanes::vector;
use crate::engine::{Access, AsyncOp, FunctionBuilder, MbarrierOp, Order, Reg, Scope, Width, pending_count};
use warpsmith_isa::{self as isa, BarrierLayout, Instruction, Mod, PhaseType, StateSpace};
use warpsmith_semantics::MbarrierAction;

/// The operand that names an object: 8 bytes in shared memory, of the executing block unless `::cluster` is said.
pub(super) fn object(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    source: Option<&Source>,
) -> Option<Access> {
    let at = address(source)?;
    let access = Access::unsigned(i.space(), 8).reaching(names_cluster(i));
    // What is written; the operation says what holds without.
    let order = i.mods().find_map(isa::Order::of).and_then(|_| super::order(i)).unwrap_or(Order::AcqRel);
    let scope = i.mods().find_map(isa::Scope::of).map_or(Scope::Cta, Scope::from);
    Some(body.operand(access.ordered(order, scope), at))
}

pub(super) fn emit(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    action: MbarrierAction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    // A test gives its answer, then what was reported: whether something was, and what.
    let of_width = |width: Width| dst.iter().skip(1).flatten().copied().find(move |d| d.width() == width);
    let report = [of_width(Width::Pred), of_width(Width::W32)];
    let dst = dst.first().copied().flatten();
    let layout = i.barrier_layout().unwrap_or(BarrierLayout::V0);
    let conditional = i.phase_type() == Some(PhaseType::Conditional);
    let mut at = object(body, i, src.first())?;
    // Without a space named, what can be done to objects of other blocks may be.
    let reaches = matches!(
        action,
        MbarrierAction::ExpectTx | MbarrierAction::CompleteTx | MbarrierAction::Arrive { .. }
    );
    at.cluster |= reaches && at.space == StateSpace::Generic;
    let state = matches!(action, MbarrierAction::Test { parity: false, .. });
    let width = if state { Width::W64 } else { Width::W32 };
    // The mask of blocks stands last.
    let (multicast, src) = match src.split_last() {
        Some((mask, rest)) if i.multicast().is_some() => (Some(value(body, Some(mask), Width::W32)?), rest),
        _ => (None, src),
    };
    let operand = if src.len() > 1 { Some(value(body, src.get(1), width)?) } else { None };
    let limit = if src.len() > 2 { Some(value(body, src.get(2), Width::W32)?) } else { None };
    body.asynchronous(AsyncOp::Mbarrier(MbarrierOp {
        action,
        layout,
        conditional,
        at,
        operand,
        limit,
        dst,
        report,
        multicast,
    }));
    Some(())
}

/// `mbarrier.pending_count`
pub(super) fn pending(body: &mut FunctionBuilder<'_>, dst: &[Option<Reg>], src: &[Source]) -> Option<()> {
    let state = value(body, src.first(), Width::W64)?;
    if let Some(d) = dst.first().copied().flatten() {
        body.lanes(vector(pending_count), &[d], &[state]);
    }
    Some(())
}

/// `cp.async.mbarrier.arrive`
pub(super) fn arrive_on_copies(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    src: &[Source],
) -> Option<()> {
    let mbarrier = object(body, i, src.first())?;
    body.asynchronous(AsyncOp::ArriveOnCopies { mbarrier, increment: !i.has(Mod::Noinc) });
    Some(())
}
