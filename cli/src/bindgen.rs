//! `warpsmith bindgen`: typed functions that launch the kernels of a file.

use crate::{Failure, Outcome, link, report, write_output};
use clap::Args;
use std::path::PathBuf;
use warpsmith_build::bindings;

#[derive(Args)]
pub struct Options {
    /// A `.ptx` or `.wir` file, or LLVM bitcode; IR and bitcode are compiled first.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where the Rust source goes; the default is standard output.
    #[arg(short, long, value_name = "OUT.rs")]
    output: Option<PathBuf>,
    /// The path of the PTX from the Rust source. Default: FILE, for one beside it.
    #[arg(long, value_name = "K.ptx")]
    ptx: Option<String>,
}

pub fn run(options: &Options) -> Outcome {
    match link::program(std::slice::from_ref(&options.file), &Default::default())? {
        Ok(module) => {
            let beside = || {
                let name = options.file.with_extension("ptx");
                name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            };
            let ptx = options.ptx.clone().unwrap_or_else(beside);
            write_output(options.output.as_deref(), &bindings::generate(&module, &ptx))
        }
        Err(errors) => {
            errors.iter().for_each(report);
            Err(Failure::Rejected)
        }
    }
}
