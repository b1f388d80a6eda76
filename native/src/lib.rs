//! Machine code for the host, through `cranelift-codegen`, for functions of the IR and for regions of the engine's programs.
//!
//! The semantics of core operations are implemented here a third time, in Cranelift's operations; the other two implementations are the IR's own (`warpsmith_ir::meaning`) and the
//! emitted PTX. The crate is therefore an oracle for both, and runs functions of a module at native speed.
//!
//! - [`Function`]: a function of a module, called from Rust;
//! - [`Kernel`]: a kernel, whose threads are executed one after another;
//! - [`attach`], [`accelerate`]: compile the regions of a program of the engine for whole warps; [`RegionCompiler`] shares the code between
//!   programs;
//! - [`Fault`]: why a call ended early. A module cannot harm the host: every access is checked, and loop iterations and call depth
//!   are limited.
//!
//! ```
//! use warpsmith_ir::Module;
//! use warpsmith_native::Function;
//!
//! let module = Module::parse("
//!     func @collatz(%n: i64) -> i32 {
//!     entry:
//!       jump head(%n, 0)
//!     head(%x: i64, %steps: i32):
//!       %one = icmp eq %x, 1
//!       brif %one, done, step
//!     step:
//!       %half = lshr %x, 1
//!       %odd = trunc.i1 %x
//!       %three = imul %x, 3
//!       %up = iadd %three, 1
//!       %next = select %odd, %up, %half
//!       %more = iadd %steps, 1
//!       jump head(%next, %more)
//!     done:
//!       ret %steps
//!     }")?;
//! let collatz = Function::<(u64,), u32>::compile(&module, "collatz")?;
//! assert_eq!(collatz.call((27,))?, 111);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - `host`: the host's instruction set, and memory for code, which is never writable and executable at once;
//! - `unit`: functions that are compiled together; `context`: the data passed to them;
//! - `scalar`: one operation at a time; `warp`: four lanes at a time;
//! - `helpers`: functions for operations that Cranelift lacks.

pub mod codes;
mod context;
mod fault;
mod function;
mod helpers;
mod host;
mod kernel;
#[deny(clippy::wildcard_enum_match_arm)]
mod scalar;
mod unit;
#[deny(clippy::wildcard_enum_match_arm)]
mod warp;

pub use fault::{Fault, FaultKind};
pub use function::{Arguments, Function, Limits, Results, Scalar};
pub use host::is_supported;
pub use kernel::{Arg, Kernel};
#[doc(hidden)]
pub use warp::measure;
pub use warp::{Accelerated, RegionCompiler, RegisterAllocation, accelerate, attach};
