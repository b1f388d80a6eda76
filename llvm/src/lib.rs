//! LLVM bitcode for NVIDIA GPUs, without LLVM.
//!
//! - [`archive`]: `ar` archives;
//! - [`bitstream`]: the container: blocks of records packed by abbreviations;
//! - [`module`]: an LLVM module: types, values and metadata, and function bodies on demand;
//! - [`dump`]: a module as text, close to `.ll`;
//! - [`import`](import()): from LLVM modules to the IR;
//! - [`export`](export()): from the IR to LLVM's text form, for comparison with `llc`;
//! - [`codes`]: error codes.
//!
//! The reader supports LLVM 22 completely, LLVM 3.8 as far as CUDA's libdevice requires, and versions in between for the records that occur;
//! raw bitcode and Darwin's wrapper. Errors are values with the byte offset of the record. No input makes the reader panic, and memory use is proportional to the
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
