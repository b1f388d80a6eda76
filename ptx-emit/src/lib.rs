//! From selected code to a PTX module: registers, ABI, directives.
//!
//! [`Compiler`] is the whole path from the IR to PTX text. Of that, this crate does what follows `warpsmith-lower`: [`regs`] assigns
//! registers, `module` and `body` build the syntax tree, `version` finds the lowest `.version` that the tree's features need.
//! The tree is printed and validated before it is returned; in builds with assertions the text is parsed again and compared with the tree.

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

mod body;
mod compiler;
mod debug;
mod globals;
mod module;
mod names;
// Public for the tests that check every assignment.
#[doc(hidden)]
pub mod regs;
mod version;

pub use compiler::{Compiled, Compiler, Stats};
pub use debug::Debug;
pub use warpsmith_lower::{OptLevel, Pipeline};
