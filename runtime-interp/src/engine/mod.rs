//! The warp-wide engine: program format, builder and execution. `docs/engine.md` tells the whole story.

mod access;
mod async_op;
mod block;
mod builder;
mod cluster;
mod collective;
mod context;
mod file;
pub(crate) mod grid;
mod lines;
mod mbarrier;
mod multimem;
pub mod observe;
mod op;
mod program;
mod random;
mod run;
mod schedule;
mod special;
mod system;
mod transfer;
mod warp;

pub use warpsmith_semantics::lanes;
use warpsmith_semantics::register as reg;

pub(crate) use context::Context;
pub(crate) use file::Cell;
pub(crate) use program::Function;

pub use async_op::{
    AsyncOp, Completion, Group, MbarrierKind, MbarrierOp, MultimemKind, MultimemOp, Reduction,
    TransferAction, TransferOp, TransferSource,
};
pub use builder::{Actual, FunctionBuilder, Label, ProgramBuilder};
pub(crate) use mbarrier::pending_count;

pub use lanes::{LaneFn, Level};
pub use op::{
    Access, Address, Atomic, AtomicFn, Barrier, BarrierKind, Call, Callee, Collective, CollectiveKind, Fence,
    FuncId, Guard, Move, Order, Scope, ShuffleMode, StackOp, SymbolId, System, SystemCall,
};
pub use program::{
    Formal, FunctionKind, KernelAttributes, KernelParam, NamedLocal, NamedReg, PatchTarget, Program,
    Relocation, Slot, Statement, Variable,
};
pub use reg::{Reg, Width};
pub use schedule::Schedule;
pub use special::Special;
