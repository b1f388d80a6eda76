//! The warp-wide engine: program format, builder and execution. `docs/engine.md` describes it in full.
//!
//! - `program`: what is executed, and how it is made;
//! - `file`, [`lanes`], `values`: registers, and functions over the lanes of a warp;
//! - `control`: the loop over instructions, warps, blocks, clusters, grids, and whose turn it is;
//! - `by_level`: methods that stand apart from the loop, compiled for each instruction set of the host;
//! - `access`: loads, stores and atomics;
//! - `matrix`: what the lanes of a warp do with matrices;
//! - `transfer`: what happens later;
//! - `sync`: what lanes, warps and blocks do together;
//! - `texture`: fetches, and accesses to surfaces;
//! - `tensor_memory`: the memory of the fifth tensor cores;
//! - [`observe`]: who watches.
//!
//! An instruction reaches the parts as an `Issue`: the lanes that execute it, their registers, and the block they belong to.

mod access;
mod by_level;
mod control;
mod file;
mod matrix;
pub mod observe;
mod program;
mod sync;
mod tensor_memory;
mod texture;
mod transfer;
mod values;

pub(crate) use control::grid;
use control::{block, cluster, context, local, run, schedule, standstill, warp};
use program::{
    async_op, builder, live, matrix_op, named, native, op, region, region_state, special, texture_op, trial,
    uniform,
};
use sync::mbarrier;

pub use warpsmith_semantics::lanes;
use warpsmith_semantics::register as reg;

pub(crate) use context::Context;
pub(crate) use file::Cell;
pub(crate) use program::{Function, Identity};
pub(crate) use standstill::Standstill;

pub use async_op::{
    AsyncOp, Completion, Group, MbarrierOp, MultimemKind, MultimemOp, OverrideOp, Reduction, ReplaceOp,
    ReportPattern, TensorAction, TensorCommitOp, TensorCopyOp, TensorFactor, TensorOp, TensorProductOp,
    TransferAction, TransferOp, TransferSource,
};
pub use builder::{Actual, FunctionBuilder, Label, ProgramBuilder};
pub(crate) use mbarrier::pending_count;

pub use lanes::{LaneFn, Level};
pub use live::Registers as LiveRegisters;
pub use matrix_op::{MatrixOp, MultiplyOp, ScaleOperand, WarpgroupOp, WarpgroupOperand};
pub use named::OwnVariable;
pub use op::{
    Access, Address, Atomic, Barrier, BarrierKind, Call, Callee, CandidatesId, Collective, CollectiveKind,
    Fence, FuncId, Guard, Move, Order, Scope, StackOp, SymbolId, System, SystemCall,
};
pub use program::{
    Formal, FunctionKind, KernelAttributes, KernelInfo, KernelParam, NamedLocal, NamedReg, PatchTarget,
    Program, Reference, Relocation, Slot, Statement, Variable,
};
pub use reg::{Reg, Width};
pub use region::{
    BatchGroup, BatchLoad, Block, BlockEnd, BranchSides, CompiledRegion, PlainLoad, PlainStore,
    RefusedRegion, Region, RegionOp, RunStep, Side, Tier,
};
pub use region_state::{ChunkPlaces, LanePattern, RegionCode, RegionState, SpacePlace, Window};
pub use schedule::Schedule;
pub use special::Special;
pub use tensor_memory::{TensorCells, TensorMemoryOp};
pub(crate) use texture_op::shape as texture_shape;
pub use texture_op::{DetailOp, FetchOp, FetchResult, ReduceFn, SurfaceAction, SurfaceOp, TextureOp};
pub(crate) use transfer::first_block;
pub use uniform::Varying;
pub use warpsmith_isa::ShuffleMode;
pub use warpsmith_semantics::MbarrierAction;
pub use warpsmith_semantics::update::AtomicFn;
