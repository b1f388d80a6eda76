//! Copies that a tensor map describes, and changes of maps.

use super::{Completion, ReportPattern};
use crate::engine::AtomicFn;
use crate::engine::op::Access;
use crate::engine::reg::Reg;
use smallvec::SmallVec;
use warpsmith_isa::{AllocationClass, TensorMode, TensormapField};

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
    /// How completion is signalled.
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
