//! Asynchronous copies, stores and reductions (PTX ISA 9.0, 9.7.9.12, 9.7.9.13, 9.7.9.25, 9.7.13.7 and 9.7.13.17).

use super::{Source, Words, address, atomic, mbarrier, value};
use crate::engine::{
    Access, AsyncOp, Completion, FunctionBuilder, Group, Reg, TransferAction, TransferOp, TransferSource,
    Width,
};
use smallvec::SmallVec;
use warpsmith_isa::StateSpace;

/// `cp.async cp.async.bulk cp.reduce.async.bulk`, and the groups they are committed to.
pub(super) fn copy(body: &mut FunctionBuilder<'_>, words: &Words, src: &[Source]) -> Option<()> {
    // Tensor maps are not here yet.
    if words.has("tensor") {
        return None;
    }
    let bulk = words.has("bulk");
    let group = if bulk { Group::Bulk } else { Group::Copy };
    if words.has("mbarrier") {
        return mbarrier::arrive_on_copies(body, words, src);
    }
    if words.has("commit_group") {
        body.asynchronous(AsyncOp::Commit(group));
        return Some(());
    }
    if words.has("wait_all") {
        body.asynchronous(AsyncOp::Commit(group));
        body.asynchronous(AsyncOp::Wait { group, pending: 0, read: false });
        return Some(());
    }
    if words.has("wait_group") {
        let &Source::Bits(pending) = src.first()? else { return None };
        // ptxas takes a negative number too, which no count of groups is below.
        let pending = (pending as u32 as i32).max(0) as u32;
        body.asynchronous(AsyncOp::Wait { group, pending, read: words.has("read") });
        return Some(());
    }
    if words.has("prefetch") {
        return Some(());
    }
    let spaces: SmallVec<[Space; 2]> = words.spaces().collect();
    let &[to, from] = &spaces[..] else { return None };
    if bulk { bulk_copy(body, words, src, to, from) } else { plain_copy(body, src, to, from) }
}

/// A space, and whether shared memory is that of the cluster.
type Space = (StateSpace, bool);

fn operand(
    body: &mut FunctionBuilder<'_>,
    (space, cluster): Space,
    align: u8,
    source: Option<&Source>,
) -> Option<Access> {
    let at = address(source)?;
    Some(body.operand(Access::unsigned(space, align).reaching(cluster), at))
}

/// `cp.async`
fn plain_copy(body: &mut FunctionBuilder<'_>, src: &[Source], to: Space, from: Space) -> Option<()> {
    let &Source::Bits(bytes) = src.get(2)? else { return None };
    let align = u8::try_from(bytes).ok().filter(|b| matches!(b, 4 | 8 | 16))?;
    // The fourth operand is a predicate, a number of bytes, or the cache policy.
    let (mut read_bytes, mut ignore) = (None, None);
    match src.get(3) {
        Some(Source::Reg(r)) if r.width() == Width::Pred => ignore = Some(*r),
        Some(Source::Reg(r)) if r.width() == Width::W32 => read_bytes = Some(*r),
        Some(Source::Not(_)) => ignore = Some(value(body, src.get(3), Width::Pred)?),
        Some(Source::Bits(_)) => read_bytes = Some(value(body, src.get(3), Width::W32)?),
        _ => {}
    }
    let to = operand(body, to, align, src.first())?;
    let from = operand(body, from, align, src.get(1))?;
    let bytes = body.constant(bytes.into(), Width::W32);
    let whole = transfer(TransferSource::Memory(from), to, bytes, Completion::Group(Group::Copy));
    body.asynchronous(AsyncOp::Transfer(TransferOp { read_bytes, ignore, ..whole }));
    Some(())
}

/// `cp.async.bulk cp.reduce.async.bulk`
fn bulk_copy(
    body: &mut FunctionBuilder<'_>,
    words: &Words,
    src: &[Source],
    to: Space,
    from: Space,
) -> Option<()> {
    let action = match words.ty() {
        Some(ty) => reduction(words, ty)?,
        None => TransferAction::Store,
    };
    let bytes = value(body, src.get(2), Width::W32)?;
    let mut rest = src[3..].iter();
    // The mbarrier object of a transfer is in the space of its destination.
    let completion = if words.has("mbarrier::complete_tx::bytes") {
        Completion::Mbarrier(operand(body, to, 8, rest.next())?)
    } else {
        Completion::Group(Group::Bulk)
    };
    let multicast =
        if words.has("multicast::cluster") { Some(value(body, rest.next(), Width::W32)?) } else { None };
    if words.has("L2::cache_hint") {
        rest.next()?;
    }
    let byte_mask = if words.has("cp_mask") { Some(value(body, rest.next(), Width::W32)?) } else { None };
    let (to, from) = (operand(body, to, 16, src.first())?, operand(body, from, 16, src.get(1))?);
    body.asynchronous(AsyncOp::Transfer(TransferOp {
        action,
        byte_mask,
        multicast,
        bulk: true,
        ..transfer(TransferSource::Memory(from), to, bytes, completion)
    }));
    Some(())
}

fn transfer(from: TransferSource, to: Access, bytes: Reg, completion: Completion) -> TransferOp {
    TransferOp {
        from,
        to,
        bytes,
        read_bytes: None,
        ignore: None,
        action: TransferAction::Store,
        byte_mask: None,
        multicast: None,
        multicast_all: false,
        completion,
        bulk: false,
    }
}

fn reduction(words: &Words, ty: warpsmith_isa::ScalarType) -> Option<TransferAction> {
    let bytes = u8::try_from(ty.bytes()?).ok()?;
    Some(TransferAction::Reduce { bytes, function: atomic::function(words, ty)? })
}

/// `st.async red.async`
pub(super) fn store(body: &mut FunctionBuilder<'_>, words: &Words, src: &[Source]) -> Option<()> {
    let ty = words.ty()?;
    let bytes = u8::try_from(ty.bytes()?).ok()?;
    let count = words.elements();
    let width = Width::for_bits(ty.bits());
    let values: SmallVec<[Reg; 4]> =
        src.get(1..=count)?.iter().map(|s| value(body, Some(s), width)).collect::<Option<_>>()?;
    // What goes to global memory names the threads that may see it, and signals nobody.
    let tracked = !words.has("gpu") && !words.has("sys");
    let space = words.space.unwrap_or(StateSpace::Generic);
    let action = if words.head == "red" { reduction(words, ty)? } else { TransferAction::Store };
    let whole = bytes * count as u8;
    let to = operand(body, (space, tracked), whole, src.first())?;
    let completion = if tracked {
        // Without an object, nobody could know of the completion: ptxas takes that form, the manual does not.
        Completion::Mbarrier(operand(body, (space, true), 8, src.get(1 + count))?)
    } else {
        Completion::Silent
    };
    let size = body.constant(whole.into(), Width::W32);
    let from = TransferSource::Values { values, bytes };
    body.asynchronous(AsyncOp::Transfer(TransferOp { action, ..transfer(from, to, size, completion) }));
    Some(())
}

/// `st.bulk`
pub(super) fn fill(body: &mut FunctionBuilder<'_>, words: &Words, src: &[Source]) -> Option<()> {
    let at = operand(body, (words.space.unwrap_or(StateSpace::Generic), false), 8, src.first())?;
    let bytes = value(body, src.get(1), Width::W64)?;
    body.asynchronous(AsyncOp::Fill { at, bytes });
    Some(())
}

/// `clusterlaunchcontrol.try_cancel.async`
pub(super) fn try_cancel(body: &mut FunctionBuilder<'_>, words: &Words, src: &[Source]) -> Option<()> {
    let own = (words.space.unwrap_or(StateSpace::Generic), false);
    let to = operand(body, own, 16, src.first())?;
    let completion = Completion::Mbarrier(operand(body, own, 8, src.get(1))?);
    let bytes = body.constant(16, Width::W32);
    body.asynchronous(AsyncOp::Transfer(TransferOp {
        multicast_all: words.has("multicast::cluster::all"),
        ..transfer(TransferSource::Cancel, to, bytes, completion)
    }));
    Some(())
}
