//! Diagnostics: the results of every parser, verifier, validator and checker of Warpsmith, and their only renderer.
//!
//! - [`Span`]: a range of bytes of a text; [`LineIndex`] and [`Source`] convert it to lines and columns;
//! - [`Diagnostic`]: one finding as plain data, with [`Suggestion`]s that [`apply_fixes`] can apply;
//! - [`Diagnostics`]: all findings about one [`Source`], as a [`std::error::Error`] that displays its source lines;
//! - [`codes!`]: the stable codes of findings, each with its explanation;
//! - [`nearest`]: "did you mean";
//! - `Renderer` (feature `render`): findings in rustc's style; `json` (feature `json`): findings for programs.
//!
//! ```
//! use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};
//!
//! let source = Source::new("k.ptx", "add.u33 %r1, %r2, %r3;\n");
//! let finding = Diagnostic::error("P0601", Span::new(3, 7), "unknown modifier `.u33`").note("`add` has `.u32`");
//! let errors = Diagnostics::new(source, vec![finding]);
//! assert!(errors.to_string().contains("unknown modifier `.u33`"));
//! ```

#![forbid(unsafe_code)]

mod codes;
mod diagnostic;
mod fix;
#[cfg(feature = "json")]
pub mod json;
mod list;
mod origin;
#[cfg(feature = "render")]
mod render;
mod source;
mod span;
mod suggest;

pub use codes::{Code, Codes};
pub use diagnostic::{Diagnostic, Severity, reference};
pub use fix::{Suggestion, apply_fixes};
pub use list::Diagnostics;
pub use origin::{Origin, Place};
#[cfg(feature = "render")]
pub use render::Renderer;
pub use source::{Language, LineIndex, Position, Source};
pub use span::Span;
pub use suggest::nearest;
