//! Operations on kernels in files, shared by the command and the tests of this repository.
//!
//! - [`runs`]: the launches and expectations in a file's directives;
//! - [`roundtrip`]: compiles a file at every level, assembles it, runs it as IR and as PTX, and compares every byte;
//! - [`passes`]: runs a module before and after each pass;
//! - [`ptxas`]: NVIDIA's assembler, if installed;
//! - [`golden`]: recorded results of GPUs, and their comparison with the engine;
//! - [`session`]: a file in the debugger.

#![forbid(unsafe_code)]

pub mod golden;
pub mod llvm;
pub mod passes;
pub mod ptxas;
pub mod roundtrip;
pub mod runs;
pub mod session;
