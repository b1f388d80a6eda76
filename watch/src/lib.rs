//! Observing kernels as they run: the counterparts of compute-sanitizer, Nsight and cuda-gdb, without a GPU.
//!
//! Everything here is an [`Observer`](warpsmith_interp::observe::Observer) of the engine, or derived from the records of one. One folder per tool:
//!
//! - [`check`]: the checkers, individually or together as [`Checkers`], and the [`report`] of their findings;
//! - [`measure`]: [`Counts`] of executions, branches and accesses, and from them [`Coverage`], [`Profile`] and a [`Page`];
//! - [`trace`]: a record of every instruction, one per line; the first difference of two traces; many schedules of one launch ([`explore`]);
//! - [`debug`]: a debugger with the commands of gdb and cuda-gdb.
//!
//! They share [`source`], which maps lines of PTX to lines of the source. `docs/watching.md` is the guide.

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

/// Appends text to a string, which cannot fail.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {
        $out.push_str(&format!($($text)*))
    };
}

/// Appends a line to a string.
macro_rules! putln {
    ($out:expr, $($text:tt)*) => {
        $out.push_str(&(format!($($text)*) + "\n"))
    };
}

pub mod check;
pub mod debug;
pub mod dwarf;
mod lanes;
pub mod measure;
mod names;
pub mod source;
pub mod trace;

pub use check::{Checker, Checkers, Finding, Report, Selection, Site, codes, report};
pub use measure::{
    Counts, Coverage, LaunchShape, Outcomes, Page, Profile, StatementCount, TableOutcomes, coverage, profile,
};
pub(crate) use names::demangled;
pub use source::Sources;
pub use trace::explore;
pub use warpsmith_interp::observe::Executions;
pub use warpsmith_isa::Class;
