//! Analyses, optimisation passes, legalisation and instruction selection.
//!
//! [`Pipeline`] runs passes over a module of the IR, [`select`] turns the result into PTX instructions over virtual registers
//! ([`mach`]), for which `warpsmith-emit` assigns registers and builds the PTX module.

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

#[doc(hidden)]
pub mod abi;
pub mod analysis;
#[allow(clippy::wildcard_enum_match_arm, reason = "what it gives no constant for is computed at run time")]
mod fold;
mod legalize;
mod log;
// What selection hands to the emitter: no interface for users.
#[doc(hidden)]
pub mod mach;
mod pass;
mod passes;
mod pipeline;
#[doc(hidden)]
#[allow(clippy::wildcard_enum_match_arm, reason = "rules are about the operations that they name")]
pub mod rules;
mod select;
mod sparse;
mod users;

use std::borrow::Cow;
use warpsmith_diag::Diagnostics;
use warpsmith_ir::Module;
use warpsmith_isa::Target;

/// Legalises a module for selection: expands structs, arrays and block copies to their parts, then integers of other widths,
/// vectors, and operations that PTX does not have. A module without any of these is returned unchanged.
pub fn legalize(mut module: Cow<'_, Module>, target: Target) -> Result<Cow<'_, Module>, Diagnostics> {
    if passes::is_needed(&module) {
        passes::legalize(module.to_mut())?;
    }
    legalize::legalize(module, target)
}

pub use log::{Count, Log, Remark};
pub use pass::{Aspects, Changes, Context, ModuleContext, ModulePass, Pass, Passes, Signature};
pub use pipeline::{After, Applied, OptLevel, Options, PassReport, Pipeline, Report, UnknownPass};
pub use rules::fast::fast_math;
pub use select::{SelectOptions, Variables, select, select_with};
