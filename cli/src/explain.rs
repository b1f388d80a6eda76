//! `warpsmith explain`

use crate::{Failure, Outcome};
use clap::Args;
use std::io::Write;
use warpsmith::codes;
use warpsmith::diag::nearest;

#[derive(Args)]
pub struct Options {
    /// A code as diagnostics show it: P0402, I0204, out_of_bounds. Without one, all are listed.
    code: Option<String>,
}

pub fn run(options: &Options) -> Outcome {
    let mut out = std::io::stdout().lock();
    let Some(code) = &options.code else {
        for (code, lines) in codes::all() {
            writeln!(out, "{code}  {}", lines.first().map_or("", |line| line.trim()))?;
        }
        return Ok(());
    };
    let known = || codes::all().map(|(known, _)| *known);
    match known()
        .find(|known| known.eq_ignore_ascii_case(code))
        .and_then(|known| Some((known, codes::explain(known)?)))
    {
        Some((known, text)) => Ok(writeln!(out, "{known}: {text}")?),
        None => {
            let upper = code.to_uppercase();
            let near = nearest(code, known()).or_else(|| nearest(&upper, known()));
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            Err(Failure::Usage(format!(
                "no diagnostic has the code {code}{near} (`warpsmith explain` lists all)"
            )))
        }
    }
}
