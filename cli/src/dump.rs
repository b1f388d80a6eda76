//! `warpsmith dump`

use crate::{Failure, Outcome, report, write_output};
use clap::Args;
use std::path::PathBuf;
use warpsmith::llvm;

#[derive(Args)]
pub struct Options {
    /// A `.bc` file.
    file: PathBuf,
    /// Where the text goes; the default is standard output.
    #[arg(short, long, value_name = "OUT.ll")]
    output: Option<PathBuf>,
}

pub fn run(options: &Options) -> Outcome {
    let name = options.file.display().to_string();
    let bytes =
        std::fs::read(&options.file).map_err(|e| Failure::Usage(format!("cannot read {name}: {e}")))?;
    let text = llvm::Module::read(&bytes).and_then(|mut module| llvm::dump::module(&mut module));
    match text {
        Ok(text) => write_output(options.output.as_deref(), &text),
        Err(error) => {
            report(&error.into_diagnostics(&name));
            Err(Failure::Rejected)
        }
    }
}
