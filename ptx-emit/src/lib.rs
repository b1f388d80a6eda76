//! From selected code to a PTX module: registers, ABI, directives.
//!
//! [`Compiler`] is the whole path from the IR to PTX text. Of that, this crate does what follows `warpsmith-lower`: [`regs`] assigns
//! registers, `module` and `body` build the syntax tree, `output` prints and validates it, and raises the `.version` to the lowest
//! that has what the validator finds in it. In builds with assertions the text is parsed again and compared with the tree.

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

mod body;
mod compiler;
mod debug;
mod globals;
mod module;
mod names;
mod output;
// Public for the tests that check every assignment.
#[doc(hidden)]
pub mod regs;

pub use compiler::{Compiled, Compiler, Stats};
pub use debug::Debug;
pub use warpsmith_lower::{OptLevel, Pipeline};
