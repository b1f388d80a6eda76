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

pub use pass::{Aspects, Changes, Context, ModuleContext, ModulePass, Pass, Passes, Signature};
pub use pipeline::{After, Applied, OptLevel, Options, PassReport, Pipeline, Report, UnknownPass};
pub use select::{Variables, select, select_keeping};
