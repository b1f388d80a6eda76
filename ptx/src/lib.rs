//! PTX text: syntax tree, parser, printer, validator, diagnostics.

mod print;
mod tree;

pub use print::print;
pub use tree::*;
pub use warpsmith_isa::diagnostic::{Diagnostic, LineIndex, Position, Severity, Span};
