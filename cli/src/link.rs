//! `warpsmith link`, and several files as one program for `run` and `check`.

use crate::{Failure, Outcome, input, report, write_output};
use clap::Args;
use std::path::PathBuf;
use warpsmith::Diagnostics;
use warpsmith::diag::Language;
use warpsmith::emit::Compiler;
use warpsmith::ptx::{ValidatedModule, link};
use warpsmith::{DEFAULT_TARGET, ir};

#[derive(Args)]
pub struct Options {
    /// `.ptx` and `.wir` files and LLVM bitcode; IR and bitcode are compiled first.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the PTX goes; the default is standard output.
    #[arg(short, long, value_name = "OUT.ptx")]
    output: Option<PathBuf>,
    /// Leave out what these kernels and functions do not need.
    #[arg(long, visible_alias = "entry", value_name = "NAME,..", value_delimiter = ',')]
    keep: Vec<String>,
    /// Leave `.extern` what no file defines.
    #[arg(long)]
    allow_undefined: bool,
}

pub fn run(options: &Options) -> Outcome {
    let link = link::Options {
        keep: options.keep.clone(),
        allow_undefined: options.allow_undefined,
        ..link::Options::default()
    };
    match program(&options.files, &link)? {
        Ok(linked) => write_output(options.output.as_deref(), linked.source().text()),
        Err(errors) => {
            errors.iter().for_each(report);
            Err(Failure::Rejected)
        }
    }
}

/// The files as one module. A file that cannot be read is a usage error; what is wrong in the files, or between them, is the inner one.
pub fn program(
    files: &[PathBuf],
    options: &link::Options,
) -> Result<Result<ValidatedModule, Vec<Diagnostics>>, Failure> {
    let (mut modules, mut errors) = (Vec::new(), Vec::new());
    for file in files {
        let source = input::read(file).map_err(Failure::Usage)?;
        let module = match source.language {
            Language::Ptx => ValidatedModule::parse(&source.source),
            Language::Wir => ir::parse_module(&source.source).and_then(|module| {
                let target = module.target.unwrap_or(DEFAULT_TARGET);
                Ok(Compiler::new(target).compile(module)?.module)
            }),
        };
        match module {
            Ok(module) => modules.push(module),
            Err(found) => errors.push(found),
        }
    }
    Ok(if errors.is_empty() { link::link(&modules, options) } else { Err(errors) })
}
