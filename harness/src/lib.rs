//! What the command and the tests of this repository do with kernels in files.
//!
//! - [`runs`]: the launches that a file's directives describe, and what must come of them;
//! - [`roundtrip`]: a file compiled at every level, assembled, run as IR and as PTX, and compared in every byte;
//! - [`passes`]: the meaning of a module before and after each pass;
//! - [`ptxas`]: NVIDIA's assembler, where it is installed;
//! - [`golden`]: recorded results of GPUs, and the engine compared with them;
//! - [`session`]: a file in the debugger.

#![forbid(unsafe_code)]

pub mod golden;
pub mod llvm;
pub mod passes;
pub mod ptxas;
pub mod roundtrip;
pub mod runs;
pub mod session;
