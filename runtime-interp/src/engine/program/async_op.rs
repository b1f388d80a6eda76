//! The asynchronous operations, and those that reach beyond a block: what a decoder says and the engine executes.
//!
//! They are rare next to arithmetic and loads, so all live behind one operation of the main loop and one box.

use crate::engine::AtomicFn;
use crate::engine::op::{Access, Guard};
use crate::engine::reg::{Reg, Width};
use crate::engine::tensor_memory::TensorMemoryOp;
use smallvec::SmallVec;
use warpsmith_isa::{
    AllocationClass, PackedElements, TensorMode, TensorShape, TensormapField, WarpMulticast,
};
use warpsmith_semantics::matrix::TensorForm;

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
    /// `multimem.*`
    Multimem(MultimemOp),
    /// `cp.async.bulk.tensor cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor`
    Tensor(TensorOp),
    /// `tensormap.replace`
    ReplaceField(ReplaceOp),
    /// `trace.mark`: tells an observer.
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

/// Kinds of groups of asynchronous operations: a thread's `cp.async` and bulk groups are apart (PTX ISA 9.0, 9.7.9.25.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Group {
    /// Of `cp.async`.
    Copy,
    /// Of `cp.async.bulk`.
    Bulk,
    /// Of `wgmma.mma_async`, which are a warp's.
    Matrix,
}

/// What is done to an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MbarrierKind {
    /// Makes one of a layout; the operand is the number of arrivals.
    Init(MbarrierLayout),
    /// Asks whether an object has a layout.
    CheckLayout(MbarrierLayout),
    /// Ends one.
    Invalidate,
    /// The operand is the number of bytes that are to come.
    ExpectTx,
    /// The operand is the number of bytes that have come.
    CompleteTx,
    /// Arrives; the operand is how often.
    Arrive {
        /// Expects as many fewer arrivals in all later phases.
        drop: bool,
        /// The operand is a number of bytes to expect first, and the arrival is one.
        expect_tx: bool,
        /// The phase must not complete.
        no_complete: bool,
    },
    /// Asks whether a phase is complete: that of a state, or that of a parity.
    Test {
        /// The operand is a parity rather than a state.
        parity: bool,
        /// May wait for a while.
        blocking: bool,
        /// The phase is the conditional one, which a report holds back.
        conditional: bool,
    },
}

/// What an mbarrier object keeps (PTX ISA 9.4, 9.7.15.16.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MbarrierLayout {
    /// `.layout::v0`: counts.
    V0,
    /// `.layout::v1`: smaller counts, a conditional phase, and what was reported in a phase.
    V1,
}

/// What a copy looks for in its bytes, to report it to its mbarrier object (PTX ISA 9.4, 9.7.10.28.1.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportPattern {
    /// In each 16 bytes an element that is -0, of so many bits. Which element is looked at is open; here it is the first.
    NegativeZero(u8),
    /// A byte of ones.
    AllOnes,
}

/// An operation on an mbarrier object.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierOp {
    /// Which.
    pub kind: MbarrierKind,
    /// The object.
    pub at: Access,
    /// The count, state or parity; one arrival if absent.
    pub operand: Option<Reg>,
    /// How long a blocking test may wait, in nanoseconds.
    pub limit: Option<Reg>,
    /// Receives the state before an arrival, or the answer of a test.
    pub dst: Option<Reg>,
    /// Receive what was reported in the phase that a test finds complete: whether something was, and what.
    pub report: [Option<Reg>; 2],
    /// The blocks of the cluster in whose memory it is done, at the offset of the object.
    pub multicast: Option<Reg>,
}

/// Where the bytes of a transfer come from.
#[derive(Clone, Debug)]
pub enum TransferSource {
    /// Memory.
    Memory(Access),
    /// The low bytes of registers, one after the other.
    Values {
        /// The registers.
        values: SmallVec<[Reg; 4]>,
        /// Bytes of each.
        bytes: u8,
    },
    /// The answer to a request to cancel a cluster that has not started: 16 bytes.
    Cancel,
}

/// What a transfer does to its destination.
#[derive(Clone, Copy, Debug)]
pub enum TransferAction {
    /// Overwrites.
    Store,
    /// Combines element by element, each atomically.
    Reduce {
        /// Bytes of an element.
        bytes: u8,
        /// From the old value and the source's.
        function: AtomicFn,
    },
}

/// How a transfer tells that it is complete.
#[derive(Clone, Copy, Debug)]
pub enum Completion {
    /// Through the group that the thread commits it to.
    Group(Group),
    /// By completing as many bytes on an mbarrier object.
    Mbarrier(Access),
    /// Not at all: it is complete when its block ends.
    Silent,
}

/// Bytes that are moved asynchronously.
#[derive(Clone, Debug)]
pub struct TransferOp {
    /// From where.
    pub from: TransferSource,
    /// To where.
    pub to: Access,
    /// Bytes that are written; the bytes of the values if they are the source.
    pub bytes: Reg,
    /// Bytes that are read, if fewer; the rest is zero.
    pub read_bytes: Option<Reg>,
    /// Nothing is read in lanes where the predicate is true.
    pub ignore: Option<Reg>,
    /// What becomes of the old bytes.
    pub action: TransferAction,
    /// Which bytes of each sixteen are written.
    pub byte_mask: Option<Reg>,
    /// The blocks of the cluster that the bytes go to, at the offsets in each of its own memory.
    pub multicast: Option<Reg>,
    /// How many blocks the mask is for: 16 or 32.
    pub multicast_bits: u8,
    /// How many bytes at the beginning and at the end are left alone, in both memories.
    pub ignored_ends: Option<[Reg; 2]>,
    /// What is reported to the mbarrier object.
    pub report: Option<ReportPattern>,
    /// The destination is a multicast address: the bytes go to all its replicas.
    pub replicas: bool,
    /// To all blocks of the cluster.
    pub multicast_all: bool,
    /// How completion is told.
    pub completion: Completion,
    /// Sizes and addresses are multiples of sixteen.
    pub bulk: bool,
}

/// What a copy by tensor map does.
#[derive(Clone, Debug)]
pub enum TensorAction {
    /// From the tensor to shared memory.
    Load {
        /// The mbarrier object may be one of the peer of the destination's block.
        pair: bool,
    },
    /// From shared memory to the tensor.
    Store,
    /// From shared memory to the tensor, combining element by element: by type of the elements, in the order of
    /// [`ElementType::ALL`](crate::ElementType::ALL), what is done; nothing if the type has no such reduction.
    Reduce(Box<[Option<AtomicFn>; 16]>),
    /// Nothing but the checks.
    Prefetch,
}

/// A copy that a tensor map describes.
#[derive(Clone, Debug)]
pub struct TensorOp {
    /// What is done.
    pub action: TensorAction,
    /// How elements are reached.
    pub mode: TensorMode,
    /// The tensor map.
    pub map: Access,
    /// Coordinates in the tensor, innermost first.
    pub coordinates: SmallVec<[Reg; 5]>,
    /// Offsets of `.im2col`; halo and offset of `.im2col::w`.
    pub info: SmallVec<[Reg; 3]>,
    /// The tile in shared memory; none for a prefetch.
    pub shared: Option<Access>,
    /// How completion is told.
    pub completion: Completion,
    /// The blocks of the cluster that a tile goes to, at the offset in each of its own memory; and how many blocks the mask is for: 16 or 32.
    pub multicast: Option<(Reg, u32)>,
    /// Fields that the copy gives in place of the map's.
    pub replaced: Option<OverrideOp>,
    /// What is reported to the mbarrier object.
    pub report: Option<ReportPattern>,
}

/// What a copy gives in place of fields of its tensor map.
#[derive(Clone, Debug)]
pub struct OverrideOp {
    /// `global_address`
    pub address: Reg,
    /// `global_dim` of each dimension, or none of it.
    pub sizes: SmallVec<[Reg; 5]>,
    /// The lower words of `global_stride`, in sixteenths.
    pub lower: SmallVec<[Reg; 4]>,
    /// Four bits above each of them.
    pub upper: Option<Reg>,
}

/// Moves data into tensor memory or within it.
#[derive(Clone, Copy, Debug)]
pub struct TensorCopyOp {
    /// The address in tensor memory. Of the access count the register and the offset.
    pub at: Access,
    /// The shape of what is copied and the descriptor of the matrix in shared memory; none for a shift.
    pub source: Option<(TensorShape, Reg)>,
    /// The warps whose lanes get the same.
    pub multicast: Option<WarpMulticast>,
    /// Elements that get a byte each on the way.
    pub packed: Option<PackedElements>,
    /// In both blocks of the pair.
    pub pair: bool,
}

/// Where A of a product in tensor memory is.
#[derive(Clone, Copy, Debug)]
pub enum TensorFactor {
    /// In shared memory: its descriptor.
    Descriptor(Reg),
    /// In tensor memory. Of the access count the register and the offset.
    Cells(Access),
}

/// Multiplies into tensor memory. Of the accesses count the registers and the offsets.
#[derive(Clone, Debug)]
pub struct TensorProductOp {
    /// What the modifiers say.
    pub form: TensorForm,
    /// D, and C.
    pub d: Access,
    /// A.
    pub a: TensorFactor,
    /// The descriptor of B.
    pub b: Reg,
    /// The metadata of a sparse A.
    pub metadata: Option<Access>,
    /// The instruction descriptor.
    pub descriptor: Reg,
    /// The scales of A and B.
    pub scales: Option<[Access; 2]>,
    /// D is added.
    pub accumulates: Guard,
    /// How often D is halved before.
    pub halvings: u32,
    /// A bit for each lane of tensor memory that is left alone, of both blocks of a pair.
    pub disabled: SmallVec<[Reg; 8]>,
    /// The descriptor of the columns of B that count as zero.
    pub zero: Option<Reg>,
}

/// Arrives at an mbarrier object when the thread's operations on tensor memory are complete.
#[derive(Clone, Copy, Debug)]
pub struct TensorCommitOp {
    /// The object.
    pub object: Access,
    /// The blocks of the cluster whose objects are meant, at the offset in each of its own memory; and how many blocks the mask is for: 16 or 32.
    pub multicast: Option<(Reg, u32)>,
}

/// Sets a field of a tensor map.
#[derive(Clone, Copy, Debug)]
pub struct ReplaceOp {
    /// The map.
    pub at: Access,
    /// The field.
    pub field: TensormapField,
    /// The dimension, of a field that has a value for each.
    pub ordinal: u32,
    /// The class of memory of a new address.
    pub class: Option<AllocationClass>,
    /// The new value.
    pub value: Reg,
}

/// A reduction of the values that replicas hold, on parts of an element.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// Bytes of a part: 2 for each half of an `f16x2`.
    pub bytes: u8,
    /// From memory to the precision of the accumulation.
    pub widen: fn(u64) -> u64,
    /// Accumulates.
    pub fold: fn(u64, u64) -> u64,
    /// Back.
    pub narrow: fn(u64) -> u64,
}

/// What is done at all places of a multicast address.
#[derive(Clone, Debug)]
pub enum MultimemKind {
    /// `multimem.ld_reduce`
    LoadReduce(Reduction),
    /// `multimem.st`
    Store,
    /// `multimem.red`
    Reduce {
        /// Bytes of an element that is combined atomically.
        bytes: u8,
        /// From the old value and the operand's.
        function: AtomicFn,
    },
}

/// `multimem.*`
#[derive(Clone, Debug)]
pub struct MultimemOp {
    /// Which.
    pub kind: MultimemKind,
    /// The multicast address; `count` elements of `bytes` bytes.
    pub at: Access,
    /// Destinations of a load, sources of the others.
    pub values: SmallVec<[Reg; 4]>,
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
                let answer = matches!(op.kind, MbarrierKind::Test { .. } | MbarrierKind::CheckLayout(_));
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

    /// How an operation that goes on later tells that it is complete.
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
            | AsyncOp::Multimem(_)
            | AsyncOp::Mark { .. }
            | AsyncOp::ReplaceField(_)
            | AsyncOp::TensorMemory(_)
            | AsyncOp::TensorCommit(_) => false,
        }
    }
}
