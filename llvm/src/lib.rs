//! LLVM bitcode for NVIDIA GPUs, without LLVM.
//!
//! - [`archive`]: `ar` archives;
//! - [`bitstream`]: the container: blocks of records packed by abbreviations;
//! - [`module`]: a module of LLVM: types, values, metadata at once, bodies of functions when they are asked for;
//! - [`dump`]: a module as text, close to `.ll`;
//! - [`import`](import()): from modules of LLVM to the IR;
//! - [`export`](export()): from the IR to LLVM's text, to compare with `llc`;
//! - [`codes`]: what can be wrong with a file.
//!
//! What is read: files of LLVM 22 in full, those of LLVM 3.8 as far as CUDA's libdevice needs, versions between in the records that occur;
//! raw and in Darwin's wrapper. Errors are values with the byte of the record; no input makes the reader panic, and memory grows with the
//! file.

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

pub mod archive;
pub mod bitstream;
pub mod codes;
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "what is not shown in a way of its own is shown as all others are"
)]
pub mod dump;
mod error;
mod export;
mod import;
pub mod module;

pub use error::{Error, Finding, Result};
pub use export::{Refused, export};
pub use import::{Options, import};
pub use module::Module;
