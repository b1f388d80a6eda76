//! `warpsmith bindgen`: typed functions that launch the kernels of a file.

use crate::{Failure, Outcome, link, report, write_output};
use clap::Args;
use std::path::{Path, PathBuf};
use warpsmith::diag::Language;
use warpsmith_build::bindings;

#[derive(Args)]
pub struct Options {
    /// A `.ptx` or `.wir` file, or LLVM bitcode; IR and bitcode are compiled first, and with -o their PTX is written beside the Rust source.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where the Rust source goes; the default is standard output.
    #[arg(short, long, value_name = "OUT.rs")]
    output: Option<PathBuf>,
    /// The path of the PTX from the Rust source. Default: that of FILE; of IR and bitcode, a file beside the Rust source.
    #[arg(long, value_name = "K.ptx")]
    ptx: Option<String>,
}

pub fn run(options: &Options) -> Outcome {
    match link::program(std::slice::from_ref(&options.file), &Default::default())? {
        Ok(module) => {
            let name = options.file.with_extension("ptx");
            let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let beside = options.output.as_deref().map(folder);
            let ptx = match (&options.ptx, beside) {
                (Some(path), _) => path.clone(),
                (None, None) => name,
                (None, Some(to)) if Language::of_path(&options.file) == Some(Language::Ptx) => {
                    between(to, folder(&options.file)).join(name).display().to_string()
                }
                (None, Some(to)) => {
                    write_output(Some(&to.join(&name)), module.source().text())?;
                    name
                }
            };
            write_output(options.output.as_deref(), &bindings::generate(&module, &ptx))
        }
        Err(errors) => {
            errors.iter().for_each(report);
            Err(Failure::Rejected)
        }
    }
}

/// The folder that a file is in.
fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// The way from one folder to another, which is empty if they are the same; the other's own path if one of them cannot be found.
fn between(from: &Path, to: &Path) -> PathBuf {
    let (Ok(from), Ok(found)) = (from.canonicalize(), to.canonicalize()) else { return to.to_owned() };
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), found.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| Path::new(".."));
    up.chain(to[common..].iter().map(|part| Path::new(part.as_os_str()))).collect()
}
