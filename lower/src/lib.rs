//! Analyses, optimisation passes, legalisation and instruction selection.
//!
//! [`Pipeline`] runs passes over a module of the IR, [`select`] turns the result into PTX instructions over virtual registers
//! ([`mach`]), which `warpsmith-emit` gives names and writes down.

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

#[doc(hidden)]
pub mod abi;
pub mod analysis;
#[allow(clippy::wildcard_enum_match_arm, reason = "what it gives no constant for is computed at run time")]
mod fold;
// What selection hands to the emitter: no interface for users.
#[doc(hidden)]
pub mod mach;
mod pass;
mod passes;
mod pipeline;
mod select;

/// Takes apart what selection does not know of a verified module: structs, arrays and blocks of memory. The error names what does not
/// fit the memory of a thread.
pub fn legalize(module: &mut warpsmith_ir::Module) -> Result<(), warpsmith_diag::Diagnostics> {
    passes::legalize(module)
}

/// True if [`legalize`] would change the module.
pub fn needs_legalization(module: &warpsmith_ir::Module) -> bool {
    passes::is_needed(module)
}

pub use pass::{Aspects, Changes, Context, ModuleContext, ModulePass, Pass, Passes, Signature};
pub use pipeline::{After, Applied, OptLevel, Options, PassReport, Pipeline, Report, UnknownPass};
pub use select::{Variables, select, select_keeping};
