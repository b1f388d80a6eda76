//! The warp-wide engine: program format, builder and execution. `docs/engine.md` tells the whole story.

mod builder;
mod file;
pub mod lanes;
mod op;
mod program;
mod reg;
mod special;

pub use builder::{Actual, FunctionBuilder, Label, ProgramBuilder};
pub use lanes::{LaneFn, Level};
pub use op::{
    Access, Address, Atomic, AtomicFn, Barrier, BarrierKind, Call, Callee, Collective, CollectiveKind, Fence,
    FuncId, Guard, Move, Order, Scope, ShuffleMode, SymbolId,
};
pub use program::{
    Formal, FunctionKind, KernelAttributes, KernelParam, LoadError, PatchTarget, Program, Relocation, Slot,
    Variable,
};
pub use reg::{Reg, Width};
pub use special::Special;
