//! `warpsmith fmt`

use crate::{Failure, Outcome, input, report};
use clap::Args;
use rayon::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use warpsmith::{Diagnostics, Language};
use warpsmith::{ir, ptx};

#[derive(Args)]
pub struct Options {
    /// Files, folders, or - for standard input, whose layout goes to standard output.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Change nothing: name the files that are not formatted, and fail if there are any.
    #[arg(long)]
    check: bool,
    /// Print the layout in place of changing the files.
    #[arg(long, conflicts_with = "check")]
    stdout: bool,
}

/// What became of one file.
enum Formatted {
    /// It is formatted.
    Same(String),
    /// Its layout is this.
    Other(String),
    /// It does not parse, so it is left alone.
    Wrong(Diagnostics),
    Unreadable(String),
}

pub fn run(options: &Options) -> Outcome {
    let mut paths = Vec::new();
    for path in &options.paths {
        paths.extend(input::files(path, &[Language::Ptx, Language::Wir])?);
    }
    let results: Vec<Formatted> = paths.par_iter().map(|path| format(path)).collect();
    let mut out = std::io::stdout().lock();
    let (mut rejected, mut unusable) = (false, None);
    for (path, result) in paths.iter().zip(results) {
        let to_stdout = options.stdout || path.as_os_str() == "-";
        match result {
            Formatted::Same(text) | Formatted::Other(text) if to_stdout && !options.check => {
                out.write_all(text.as_bytes())?;
            }
            Formatted::Same(_) => {}
            Formatted::Other(_) if options.check => {
                writeln!(out, "{}", path.display())?;
                rejected = true;
            }
            Formatted::Other(text) => {
                if let Err(e) = std::fs::write(path, text) {
                    unusable = unusable.or(Some(format!("cannot write {}: {e}", path.display())));
                }
            }
            Formatted::Wrong(errors) => {
                report(&errors);
                rejected = true;
            }
            Formatted::Unreadable(message) => unusable = unusable.or(Some(message)),
        }
    }
    match unusable {
        Some(message) => Err(Failure::Usage(message)),
        None if rejected => Err(Failure::Rejected),
        None => Ok(()),
    }
}

fn format(path: &Path) -> Formatted {
    let source = match input::read(path) {
        Ok(source) => source,
        Err(message) => return Formatted::Unreadable(message),
    };
    let formatted = match source.language {
        Language::Ptx => ptx::format(&source.source),
        Language::Wir => ir::format(&source.source),
    };
    match formatted {
        Ok(text) if text == source.text() => Formatted::Same(text),
        Ok(text) => Formatted::Other(text),
        Err(errors) => Formatted::Wrong(errors),
    }
}
