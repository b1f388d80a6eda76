//! The asynchronous operations, and those that reach beyond a block: what a decoder says and the engine executes.
//!
//! They are rare next to arithmetic and loads, so all live behind one operation of the main loop and one box.

mod mbarrier;
mod multimem;
mod tensor;
mod tensor_memory;
mod transfer;

pub use mbarrier::MbarrierOp;
pub use multimem::{MultimemKind, MultimemOp, Reduction};
pub use tensor::{OverrideOp, ReplaceOp, TensorAction, TensorOp};
pub use tensor_memory::{TensorCommitOp, TensorCopyOp, TensorFactor, TensorProductOp};
pub use transfer::{Completion, Group, ReportPattern, TransferAction, TransferOp, TransferSource};

use crate::engine::op::Access;
use crate::engine::reg::{Reg, Width};
use crate::engine::tensor_memory::TensorMemoryOp;
use smallvec::SmallVec;
use warpsmith_semantics::MbarrierAction;

/// An asynchronous or cluster-wide operation. Address operands are made by
/// [`FunctionBuilder::operand`](crate::engine::FunctionBuilder::operand).
#[derive(Clone, Debug)]
pub enum AsyncOp {
    /// `mbarrier.*`
    Mbarrier(MbarrierOp),
    /// `cp.async cp.async.bulk cp.reduce.async.bulk st.async red.async clusterlaunchcontrol.try_cancel`
    Transfer(TransferOp),
    /// `cp.async.mbarrier.arrive`: arrives when all earlier `cp.async` of the thread are complete.
    ArriveOnCopies {
        /// The mbarrier object.
        mbarrier: Access,
        /// Counts the arrival as pending first, so that it changes nothing in sum.
        increment: bool,
    },
    /// `cp.async.commit_group cp.async.bulk.commit_group`
    Commit(Group),
    /// `cp.async.wait_group cp.async.bulk.wait_group`
    Wait {
        /// Of which kind of groups.
        group: Group,
        /// How many of the last groups may be pending.
        pending: u32,
        /// Only until the sources were read.
        read: bool,
    },
    /// `barrier.cluster.arrive`
    ClusterArrive,
    /// `barrier.cluster.wait`
    ClusterWait,
    /// `st.bulk`: fills shared memory with zeros.
    Fill {
        /// Where.
        at: Access,
        /// How many bytes.
        bytes: Reg,
    },
    /// `discard`: gives up what 128 bytes of memory hold.
    Discard {
        /// Where, by elements of 16 bytes.
        at: Access,
    },
    /// `multimem.*`
    Multimem(MultimemOp),
    /// `cp.async.bulk.tensor cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor`
    Tensor(TensorOp),
    /// `tensormap.replace`
    ReplaceField(ReplaceOp),
    /// `trace.mark`: an event for observers.
    Mark {
        /// The number.
        number: u32,
        /// What `.cond` says of each lane: the predicate, and whether it is negated.
        condition: Option<(Reg, bool)>,
    },
    /// `tcgen05.alloc dealloc relinquish_alloc_permit ld st wait`
    TensorMemory(TensorMemoryOp),
    /// `tcgen05.cp tcgen05.shift`
    TensorCopy(TensorCopyOp),
    /// `tcgen05.mma`
    TensorProduct(Box<TensorProductOp>),
    /// `tcgen05.commit`
    TensorCommit(TensorCommitOp),
}

impl AsyncOp {
    /// All registers, with the width each must have if that is fixed, and whether it is written.
    pub(in crate::engine) fn registers(&self) -> SmallVec<[(Reg, Option<Width>, bool); 8]> {
        let mut all: SmallVec<[(Reg, Option<Width>, bool); 8]> = SmallVec::new();
        let read = |r: Reg| (r, None, false);
        match self {
            AsyncOp::Mbarrier(op) => {
                all.push(read(op.at.base));
                all.extend(op.operand.into_iter().chain(op.limit).chain(op.multicast).map(read));
                let answer = matches!(op.action, MbarrierAction::Test { .. } | MbarrierAction::CheckLayout);
                let [reported, value] = op.report;
                all.extend(reported.map(|r| (r, Some(Width::Pred), true)));
                all.extend(value.map(|r| (r, Some(Width::W32), true)));
                all.extend(op.dst.map(|r| (r, Some(if answer { Width::Pred } else { Width::W64 }), true)));
            }
            AsyncOp::Transfer(op) => {
                match &op.from {
                    TransferSource::Memory(from) => all.push(read(from.base)),
                    TransferSource::Values { values, .. } => all.extend(values.iter().copied().map(read)),
                    TransferSource::Cancel => {}
                }
                if let Completion::Mbarrier(at) = op.completion {
                    all.push(read(at.base));
                }
                all.extend([op.to.base, op.bytes].map(read));
                all.extend(op.read_bytes.into_iter().chain(op.byte_mask).chain(op.multicast).map(read));
                all.extend(op.ignored_ends.into_iter().flatten().map(read));
                all.extend(op.ignore.map(|p| (p, Some(Width::Pred), false)));
            }
            AsyncOp::ArriveOnCopies { mbarrier, .. } => all.push(read(mbarrier.base)),
            AsyncOp::Fill { at, bytes } => all.extend([at.base, *bytes].map(read)),
            AsyncOp::Discard { at } => all.push(read(at.base)),
            AsyncOp::Multimem(op) => {
                all.push(read(op.at.base));
                let written = matches!(op.kind, MultimemKind::LoadReduce(_));
                all.extend(op.values.iter().map(|r| (*r, None, written)));
            }
            AsyncOp::Tensor(op) => {
                all.push(read(op.map.base));
                all.extend(op.shared.iter().map(|at| read(at.base)));
                if let Completion::Mbarrier(at) = op.completion {
                    all.push(read(at.base));
                }
                let multicast = op.multicast.map(|(r, _)| r);
                all.extend(op.coordinates.iter().chain(&op.info).copied().chain(multicast).map(read));
                if let Some(new) = &op.replaced {
                    all.push(read(new.address));
                    all.extend(new.sizes.iter().chain(&new.lower).copied().chain(new.upper).map(read));
                }
            }
            AsyncOp::ReplaceField(op) => all.extend([op.at.base, op.value].map(read)),
            AsyncOp::Mark { condition, .. } => {
                all.extend(condition.map(|(p, _)| (p, Some(Width::Pred), false)));
            }
            AsyncOp::TensorCopy(op) => {
                all.push(read(op.at.base));
                all.extend(op.source.map(|(_, r)| read(r)));
            }
            AsyncOp::TensorProduct(op) => {
                let of_a = match op.a {
                    TensorFactor::Descriptor(r) => r,
                    TensorFactor::Cells(at) => at.base,
                };
                all.extend([op.d.base, of_a, op.b, op.descriptor].map(read));
                all.push((op.accumulates.pred, Some(Width::Pred), false));
                let accesses = op.metadata.iter().chain(op.scales.iter().flatten());
                all.extend(accesses.map(|at| read(at.base)));
                all.extend(op.disabled.iter().copied().chain(op.zero).map(read));
            }
            AsyncOp::TensorCommit(op) => {
                all.push(read(op.object.base));
                all.extend(op.multicast.map(|(r, _)| read(r)));
            }
            AsyncOp::TensorMemory(op) => all.extend(op.registers()),
            AsyncOp::Commit(_) | AsyncOp::Wait { .. } | AsyncOp::ClusterArrive | AsyncOp::ClusterWait => {}
        }
        all
    }

    /// How an operation that continues later signals its completion.
    pub fn completion(&self) -> Option<Completion> {
        match self {
            AsyncOp::Transfer(op) => Some(op.completion),
            AsyncOp::Tensor(op) => Some(op.completion),
            AsyncOp::Mbarrier(_)
            | AsyncOp::ArriveOnCopies { .. }
            | AsyncOp::Commit(_)
            | AsyncOp::Wait { .. }
            | AsyncOp::ClusterArrive
            | AsyncOp::ClusterWait
            | AsyncOp::Fill { .. }
            | AsyncOp::Discard { .. }
            | AsyncOp::Multimem(_)
            | AsyncOp::Mark { .. }
            | AsyncOp::ReplaceField(_)
            | AsyncOp::TensorMemory(_)
            | AsyncOp::TensorCopy(_)
            | AsyncOp::TensorProduct(_)
            | AsyncOp::TensorCommit(_) => None,
        }
    }

    /// True for an operation that is in the async proxy (PTX ISA 9.0, 9.7.9.25.2).
    pub fn is_in_async_proxy(&self) -> bool {
        match self {
            AsyncOp::Transfer(op) => op.bulk,
            AsyncOp::Tensor(_) | AsyncOp::TensorCopy(_) | AsyncOp::TensorProduct(_) => true,
            AsyncOp::Mbarrier(_)
            | AsyncOp::ArriveOnCopies { .. }
            | AsyncOp::Commit(_)
            | AsyncOp::Wait { .. }
            | AsyncOp::ClusterArrive
            | AsyncOp::ClusterWait
            | AsyncOp::Fill { .. }
            | AsyncOp::Discard { .. }
            | AsyncOp::Multimem(_)
            | AsyncOp::Mark { .. }
            | AsyncOp::ReplaceField(_)
            | AsyncOp::TensorMemory(_)
            | AsyncOp::TensorCommit(_) => false,
        }
    }
}
