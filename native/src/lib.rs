//! The IR, and arithmetic of the engine's programs, as machine code of the host, through `cranelift-codegen`.
//!
//! What a core operation computes is written a third time here, in Cranelift's operations: the IR's own meaning (`warpsmith_ir::meaning`) and the
//! emitted PTX are the other two. So this crate is an oracle of both, and a way to run a function of a module at the speed of the host.
//!
//! - [`Function`]: a function of a module, called from Rust;
//! - [`Kernel`]: a kernel, its threads executed one after another in full;
//! - [`attach`], [`accelerate`]: a program of the engine whose regions are machine code for whole warps; [`RegionCompiler`]: the same, its code
//!   shared by several programs;
//! - [`Fault`]: why a call ended early. Nothing that a module does can hurt the host: every access is checked, rounds of loops and depths of
//!   calls are counted.
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
//! - `host`: the host's instruction set, and memory that holds code, which is never writable and executable at once;
//! - `unit`: the functions that are compiled together; `context`: what they are called with;
//! - `scalar`: operation by operation; `warp`: four lanes at a time;
//! - `helpers`: what Cranelift has no operation for, by name.

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
pub use warp::{Accelerated, RegionCompiler, accelerate, attach};
