//! A replacement for rustc's own linker for `nvptx64-nvidia-cuda`, as a function: `warpsmith-linker` is a command around it, and
//! build scripts with `warpsmith-build` call it directly.

#![forbid(unsafe_code)]

mod arguments;
mod link;

/// Links according to a command line of rustc's stock linker.
///
/// # Errors
/// All errors, as text.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<(), String> {
    link::link(&arguments::parse(args)?)
}
