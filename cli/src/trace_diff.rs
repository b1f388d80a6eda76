//! `warpsmith trace-diff`

use crate::{Failure, Outcome};
use clap::Args;
use serde_json::json;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::PathBuf;
use warpsmith::watch::trace::diff;

#[derive(Args)]
pub struct Options {
    /// A trace, as `warpsmith run --trace=FILE` writes it.
    a: PathBuf,
    /// A trace of another run of the same launch.
    b: PathBuf,
    /// One JSON object on standard output.
    #[arg(long)]
    json: bool,
}

/// The exit status is 1 if the runs differ.
pub fn run(options: &Options) -> Outcome {
    let paths = [&options.a, &options.b];
    let open = |path: &PathBuf| {
        let file =
            File::open(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
        Ok::<_, Failure>(BufReader::new(file))
    };
    let difference = diff(open(&options.a)?, open(&options.b)?)
        .map_err(|(which, e)| Failure::Usage(format!("{}: {e}", paths[which].display())))?;
    let mut out = std::io::stdout().lock();
    match &difference {
        _ if options.json => {
            let shown = difference.as_ref().map(|d| d.json());
            writeln!(out, "{}", json!({"same": difference.is_none(), "difference": shown}))?;
        }
        Some(difference) => {
            writeln!(out, "A is {}, B is {}", options.a.display(), options.b.display())?;
            write!(out, "{difference}")?;
        }
        None => writeln!(out, "every thread does the same in both runs")?,
    }
    if difference.is_some() { Err(Failure::Rejected) } else { Ok(()) }
}
