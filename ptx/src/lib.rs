//! PTX text: syntax tree, parser, printer, validator, diagnostics.
//!
//! - [`parse()`]: text to a [`Module`], with all syntax errors; [`format()`]: the canonical layout, with comments;
//! - [`print()`], [`print_located`]: a module to text, and the positions of its parts;
//! - [`ValidatedModule`]: a module that the validator accepted, which is what the engine loads; [`validate()`]: all errors and warnings of a module;
//! - [`scope`]: the scope walk that resolves names, for the validator, the decoder and the debugger;
//! - [`link`]: several modules as one.

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

pub mod codes;
mod format;
pub mod link;
mod parallel;
#[allow(clippy::wildcard_enum_match_arm, reason = "a token that nothing expects is an error where it stands")]
mod parse;
mod pragma;
mod print;
pub mod scope;
mod tree;
mod validate;

pub use format::format;
pub use parse::{Parsed, parse};
pub use pragma::{Pragma, PragmaError};
pub use print::{check_printed, print, print_located};
pub use tree::*;
pub use validate::{Refusal, Rejected, ValidatedModule, validate, validate_as};
