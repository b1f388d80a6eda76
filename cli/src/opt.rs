//! `warpsmith opt`

use crate::compile::{Debugging, read_ir};
use crate::{Failure, Outcome, parse_level, write_output};
use clap::Args;
use std::path::PathBuf;
use warpsmith::emit::OptLevel;
use warpsmith::lower::Pipeline;

#[derive(Args)]
pub struct Options {
    /// A `.wir` file, LLVM bitcode, or - for standard input.
    file: PathBuf,
    /// Where the IR goes; the default is standard output.
    #[arg(short, long, value_name = "OUT.wir")]
    output: Option<PathBuf>,
    /// The level whose passes run.
    #[arg(short = 'O', value_parser = parse_level, default_value_t, value_name = "0..3|s")]
    level: OptLevel,
    /// The passes to run in place of the level's.
    #[arg(long, value_name = "PASS,..")]
    passes: Option<String>,
    #[command(flatten)]
    debugging: Debugging,
}

pub fn run(options: &Options) -> Outcome {
    let pipeline = match &options.passes {
        Some(passes) => Pipeline::parse(passes).map_err(|e| Failure::Usage(e.to_string()))?,
        None => Pipeline::for_level(options.level),
    };
    let mut module = read_ir(&options.file)?;
    options.debugging.run(&pipeline, &mut module)?;
    write_output(options.output.as_deref(), &module.to_string())
}
