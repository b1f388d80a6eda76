//! What goes on in tensor memory after its instruction: copies, shifts and products, and the arrival when they are complete.

use crate::engine::op::{Access, Guard};
use crate::engine::reg::Reg;
use smallvec::SmallVec;
use warpsmith_isa::{PackedElements, TensorShape, WarpMulticast};
use warpsmith_semantics::matrix::TensorForm;

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
