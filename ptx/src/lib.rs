//! PTX text: syntax tree, parser, printer, validator, diagnostics.

pub mod codes;
mod parse;
mod print;
mod tree;

pub use parse::{Parsed, parse};
pub use print::print;
pub use tree::*;
pub use warpsmith_isa::diagnostic::{Diagnostic, LineIndex, Position, Severity, Span};
