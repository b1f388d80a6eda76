//! Analyses, optimisation passes, legalisation and instruction selection.
//!
//! [`Pipeline`] runs passes over a module of the IR, [`select`] turns the result into PTX instructions over virtual registers
//! ([`mach`]), which `warpsmith-emit` gives names and writes down.

pub mod abi;
pub mod analysis;
mod fold;
pub mod mach;
mod passes;
mod pipeline;
mod select;

pub use passes::{PASSES, Pass};
pub use pipeline::{After, OptLevel, Options, PassReport, Pipeline, Report, UnknownPass};
pub use select::select;
