//! Bytes that are moved asynchronously, and how a thread learns that they have been.

use crate::engine::AtomicFn;
use crate::engine::op::Access;
use crate::engine::reg::Reg;
use smallvec::SmallVec;

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

/// What a copy looks for in its bytes, to report it to its mbarrier object (PTX ISA 9.4, 9.7.10.28.1.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportPattern {
    /// In each 16 bytes an element that is -0, of so many bits. Which element is looked at is open; here it is the first.
    NegativeZero(u8),
    /// A byte of ones.
    AllOnes,
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

/// How a transfer signals its completion.
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
    /// How completion is signalled.
    pub completion: Completion,
    /// Sizes and addresses are multiples of sixteen.
    pub bulk: bool,
}
