//! `mbarrier.*` and `cp.async.mbarrier.arrive` (PTX ISA 9.0, 9.7.13.15).

use super::{Source, Words, address, value};
use crate::engine::lanes::vector;
use crate::engine::{
    Access, AsyncOp, FunctionBuilder, MbarrierKind, MbarrierOp, Order, Reg, Scope, Width, pending_count,
};
use warpsmith_isa::StateSpace;

/// The operand that names an object: 8 bytes in shared memory, of the executing block unless `::cluster` is said.
pub(super) fn object(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    source: Option<&Source>,
) -> Option<Access> {
    let at = address(source)?;
    let access = Access::unsigned(words.space.unwrap_or(StateSpace::Generic), 8);
    let access = access.reaching(words.has("shared::cluster"));
    Some(body.operand(access.ordered(words.order().unwrap_or(Order::AcqRel), words.scope_or(Scope::Cta)), at))
}

pub(super) fn emit(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let dst = dst.first().copied().flatten();
    if words.has("pending_count") {
        let state = value(body, src.first(), Width::W64)?;
        if let Some(d) = dst {
            body.lanes(vector(pending_count), &[d], &[state]);
        }
        return Some(());
    }
    let expect_tx = words.has("expect_tx");
    let no_complete = words.has("noComplete");
    let kind = match *words.words.first()? {
        "init" => MbarrierKind::Init,
        "inval" => MbarrierKind::Invalidate,
        "expect_tx" => MbarrierKind::ExpectTx,
        "complete_tx" => MbarrierKind::CompleteTx,
        "arrive" => MbarrierKind::Arrive { drop: false, expect_tx, no_complete },
        "arrive_drop" => MbarrierKind::Arrive { drop: true, expect_tx, no_complete },
        "test_wait" => MbarrierKind::Test { parity: words.has("parity"), blocking: false },
        "try_wait" => MbarrierKind::Test { parity: words.has("parity"), blocking: true },
        _ => return None,
    };
    let mut at = object(body, words, src.first())?;
    // Without a space named, what can be done to objects of other blocks may be.
    let reaches =
        matches!(kind, MbarrierKind::ExpectTx | MbarrierKind::CompleteTx | MbarrierKind::Arrive { .. });
    at.cluster |= reaches && at.space == StateSpace::Generic;
    let state = matches!(kind, MbarrierKind::Test { parity: false, .. });
    let width = if state { Width::W64 } else { Width::W32 };
    let operand = if src.len() > 1 { Some(value(body, src.get(1), width)?) } else { None };
    let limit = if src.len() > 2 { Some(value(body, src.get(2), Width::W32)?) } else { None };
    body.asynchronous(AsyncOp::Mbarrier(MbarrierOp { kind, at, operand, limit, dst }));
    Some(())
}

/// `cp.async.mbarrier.arrive`
pub(super) fn arrive_on_copies(body: &mut FunctionBuilder<'_>, words: &Words, src: &[Source]) -> Option<()> {
    let mbarrier = object(body, words, src.first())?;
    body.asynchronous(AsyncOp::ArriveOnCopies { mbarrier, increment: !words.has("noinc") });
    Some(())
}
