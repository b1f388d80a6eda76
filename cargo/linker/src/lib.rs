//! The linker that cargo calls in place of rustc's own for `nvptx64-nvidia-cuda`, as a function: `warpsmith-linker` is a command around it, and a
//! build script with `warpsmith-build` links for itself.

#![forbid(unsafe_code)]

mod arguments;
mod link;

/// Links as the command line of rustc's stock linker asks.
///
/// # Errors
/// Everything that is wrong, as text for people.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<(), String> {
    link::link(&arguments::parse(args)?)
}
