//! `warpsmith-linker`: what cargo calls in place of rustc's own linker for `nvptx64-nvidia-cuda`.
//!
//! ```toml
//! [target.nvptx64-nvidia-cuda]
//! linker = "warpsmith-linker"
//! ```
//!
//! It takes the command line that rustc gives the stock linker, starts from the exported symbols, and reads of the rlibs what those reach.

#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match warpsmith_linker::run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // There is no other place to report a closed standard error.
            writeln!(std::io::stderr(), "{message}").unwrap_or_default();
            ExitCode::FAILURE
        }
    }
}
