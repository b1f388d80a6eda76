//! Watching kernels run: what people reach for compute-sanitizer, Nsight and cuda-gdb for, with no GPU.
//!
//! Everything here is an [`Observer`](warpsmith_interp::observe::Observer) of the engine, or made from what one has seen:
//!
//! - [`check`]: the checkers, each alone or together as a [`Checkers`];
//! - [`report`]: what they find, as text and as JSON;
//! - [`debug`]: a debugger with the commands of gdb and cuda-gdb;
//! - [`source`]: from lines of PTX to lines of the source it was compiled from.
//!
//! `docs/watching.md` tells how to use it all.

#![forbid(unsafe_code)]

pub mod check;
mod class;
pub mod codes;
mod combine;
mod counts;
pub mod coverage;
pub mod debug;
pub mod explore;
mod html;
pub mod profile;
pub mod report;
pub mod source;
pub mod trace;

pub use combine::{Checkers, Selection};
pub use counts::{Counts, Executions, LaunchShape, Outcomes, StatementCount, TableOutcomes};
pub use coverage::Coverage;
pub use html::Page;
pub use profile::Profile;
pub use report::{Checker, Finding, Report, Site};
pub use source::Sources;
pub use warpsmith_isa::Class;
