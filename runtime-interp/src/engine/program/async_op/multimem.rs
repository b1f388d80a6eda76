//! What is done at all places of a multicast address.

use crate::engine::AtomicFn;
use crate::engine::op::Access;
use crate::engine::reg::Reg;
use smallvec::SmallVec;

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
