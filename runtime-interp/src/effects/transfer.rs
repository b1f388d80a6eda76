//! Asynchronous copies, stores and reductions (PTX ISA 9.0, 9.7.9.12, 9.7.9.13, 9.7.9.25, 9.7.13.7 and 9.7.13.17).

use super::{Source, address, elements, predicate, spaces, value};
use crate::engine::{
    Access, AsyncOp, Completion, FunctionBuilder, Group, Reg, ReportPattern, TransferAction, TransferOp,
    TransferSource, Width,
};
use smallvec::SmallVec;
use warpsmith_isa::{Instruction, Mod, Multicast, Operation, Scope, StateSpace, ValidityReport};
use warpsmith_semantics::{CopyGroup, update};

fn group(group: CopyGroup) -> Group {
    match group {
        CopyGroup::Plain => Group::Copy,
        CopyGroup::Bulk => Group::Bulk,
    }
}

/// `commit_group`
pub(super) fn commit(body: &mut FunctionBuilder<'_>, of: CopyGroup) {
    body.asynchronous(AsyncOp::Commit(group(of)));
}

/// `cp.async.wait_all`
pub(super) fn wait_all(body: &mut FunctionBuilder<'_>) {
    body.asynchronous(AsyncOp::Commit(Group::Copy));
    body.asynchronous(AsyncOp::Wait { group: Group::Copy, pending: 0, read: false });
}

/// `wait_group`
pub(super) fn wait_group(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    src: &[Source],
    of: CopyGroup,
) -> Option<()> {
    let &Source::Bits(pending) = src.first()? else { return None };
    // ptxas takes a negative number too, which no count of groups is below.
    let pending = (pending as u32 as i32).max(0) as u32;
    body.asynchronous(AsyncOp::Wait { group: group(of), pending, read: i.has(Mod::Read) });
    Some(())
}

/// The spaces of destination and source of a copy.
fn ends(i: &Instruction) -> Option<(Space, Space)> {
    let mut spaces = spaces(i);
    Some((spaces.next()?, spaces.next()?))
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
pub(super) fn plain_copy(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let (to, from) = ends(i)?;
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

/// `cp.async.bulk cp.reduce.async.bulk multimem.cp.async.bulk multimem.cp.reduce.async.bulk`
pub(super) fn bulk_copy(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let (to, from) = ends(i)?;
    // A plain copy may name the type of its atomic accesses.
    let action = match i.ty().filter(|_| i.reduction().is_some()) {
        Some(ty) => reduction(i, ty)?,
        None => TransferAction::Store,
    };
    let bytes = value(body, src.get(2), Width::W32)?;
    let mut rest = src[3..].iter();
    let ignored_ends = if i.has(Mod::IgnoreOob) {
        Some([value(body, rest.next(), Width::W32)?, value(body, rest.next(), Width::W32)?])
    } else {
        None
    };
    // The mbarrier object of a transfer is in the space of its destination.
    let completion = if i.has(Mod::MbarrierCompleteTxBytes) {
        Completion::Mbarrier(operand(body, to, 8, rest.next())?)
    } else {
        Completion::Group(Group::Bulk)
    };
    let multicast_bits = match i.multicast() {
        Some(Multicast::Cluster32) => 32,
        None | Some(Multicast::Cluster | Multicast::All) => 16,
    };
    let multicast = match i.multicast() {
        Some(Multicast::Cluster | Multicast::Cluster32) => Some(value(body, rest.next(), Width::W32)?),
        None | Some(Multicast::All) => None,
    };
    if i.has(Mod::L2CacheHint) {
        rest.next()?;
    }
    let byte_mask = if i.has(Mod::CpMask) { Some(value(body, rest.next(), Width::W32)?) } else { None };
    let (to, from) = (operand(body, to, 16, src.first())?, operand(body, from, 16, src.get(1))?);
    body.asynchronous(AsyncOp::Transfer(TransferOp {
        action,
        byte_mask,
        multicast,
        multicast_bits,
        ignored_ends,
        report: i.validity_report().and_then(pattern),
        replicas: is_of_replicas(i),
        bulk: true,
        ..transfer(TransferSource::Memory(from), to, bytes, completion)
    }));
    Some(())
}

/// What is looked for in the bytes that are copied.
pub(super) fn pattern(report: ValidityReport) -> Option<ReportPattern> {
    match report {
        ValidityReport::Disabled => None,
        ValidityReport::Words => Some(ReportPattern::NegativeZero(32)),
        ValidityReport::Halves => Some(ReportPattern::NegativeZero(16)),
        ValidityReport::Bytes => Some(ReportPattern::NegativeZero(8)),
        ValidityReport::Nibbles => Some(ReportPattern::NegativeZero(4)),
        ValidityReport::Ones => Some(ReportPattern::AllOnes),
    }
}

/// True if the destination is a multicast address.
fn is_of_replicas(i: &Instruction) -> bool {
    use Operation::{MultimemCpAsyncBulk, MultimemCpReduceAsyncBulk, MultimemRedAsync, MultimemStAsync};
    let bulk = matches!(i.operation(), MultimemCpAsyncBulk | MultimemCpReduceAsyncBulk);
    bulk || matches!(i.operation(), MultimemStAsync | MultimemRedAsync)
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
        multicast_bits: 16,
        ignored_ends: None,
        report: None,
        replicas: false,
        multicast_all: false,
        completion,
        bulk: false,
    }
}

fn reduction(i: &Instruction, ty: warpsmith_isa::ScalarType) -> Option<TransferAction> {
    let bytes = u8::try_from(ty.bytes()?).ok()?;
    Some(TransferAction::Reduce { bytes, function: update::of_instruction(i, ty)? })
}

/// `st.async red.async multimem.st.async multimem.red.async`
pub(super) fn store(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    src: &[Source],
    reduces: bool,
) -> Option<()> {
    let ty = i.ty()?;
    let bytes = u8::try_from(ty.bytes()?).ok()?;
    let count = elements(i);
    let width = Width::for_bits(ty.bits());
    let values: SmallVec<[Reg; 4]> =
        src.get(1..=count)?.iter().map(|s| value(body, Some(s), width)).collect::<Option<_>>()?;
    // What goes to global memory names the threads that may see it, and signals nobody.
    let tracked = !matches!(i.scope(), Some(Scope::Gpu | Scope::Sys));
    let space = i.space();
    let action = if reduces { reduction(i, ty)? } else { TransferAction::Store };
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
    let replicas = is_of_replicas(i);
    body.asynchronous(AsyncOp::Transfer(TransferOp {
        action,
        replicas,
        ..transfer(from, to, size, completion)
    }));
    Some(())
}

/// `trace.mark`
pub(super) fn mark(body: &mut FunctionBuilder<'_>, src: &[Source]) -> Option<()> {
    let &Source::Bits(number) = src.first()? else { return None };
    let condition = if src.len() > 1 { Some(predicate(body, src.get(1))?) } else { None };
    let condition = condition.map(|guard| (guard.pred, guard.negated));
    body.asynchronous(AsyncOp::Mark { number: u32::try_from(number).ok()?, condition });
    Some(())
}

/// `st.bulk`
pub(super) fn fill(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let at = operand(body, (i.space(), false), 8, src.first())?;
    let bytes = value(body, src.get(1), Width::W64)?;
    body.asynchronous(AsyncOp::Fill { at, bytes });
    Some(())
}

/// `discard`
pub(super) fn discard(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let at = operand(body, (i.space(), false), 16, src.first())?;
    body.asynchronous(AsyncOp::Discard { at });
    Some(())
}

/// `clusterlaunchcontrol.try_cancel.async`
pub(super) fn try_cancel(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let own = (i.space(), false);
    let to = operand(body, own, 16, src.first())?;
    let completion = Completion::Mbarrier(operand(body, own, 8, src.get(1))?);
    let bytes = body.constant(16, Width::W32);
    body.asynchronous(AsyncOp::Transfer(TransferOp {
        multicast_all: i.multicast() == Some(Multicast::All),
        ..transfer(TransferSource::Cancel, to, bytes, completion)
    }));
    Some(())
}
