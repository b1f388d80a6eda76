//! File tests: source files whose comments select a test and hold its expected output. `docs/testing.md` is the reference.
//!
//! - [`scan`]: the [`Directive`]s of a file;
//! - [`bare`]: its text without them;
//! - `runner` (feature `runner`): runs each file of a folder as a test, compares with the expected output or marks in the file, and rewrites
//!   them if the environment has `BLESS=1`. A crate's file tests are a test program with `harness = false`:
//!
//! ```text
//! use warpsmith_filetests::runner::{Failed, Made, Test, file_tests, main};
//!
//! fn main() -> std::process::ExitCode {
//!     let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opt");
//!     runner::main(file_tests(&folder, "", run))
//! }
//!
//! fn run(test: &Test<'_>) -> Result<Made, Failed> {
//!     match test.mode { "opt" => .., _ => Err(test.unknown()) }
//! }
//! ```

#![forbid(unsafe_code)]

mod directives;
#[cfg(feature = "runner")]
pub mod runner;

pub use directives::{Directive, DirectiveError, bare, before_output, marker, scan};
