//! `warpsmith explain`

use crate::{Failure, Outcome};
use clap::Args;
use std::io::Write;
use warpsmith::codes;
use warpsmith::diag::nearest;

#[derive(Args)]
pub struct Options {
    /// A code as diagnostics show it: P0402, I0204. Without one, all are listed.
    code: Option<String>,
}

pub fn run(options: &Options) -> Outcome {
    let mut out = std::io::stdout().lock();
    let Some(code) = &options.code else {
        for (code, lines) in codes::TOPICS.iter().flat_map(|(_, codes)| codes.iter()) {
            writeln!(out, "{code}  {}", lines.first().map_or("", |line| line.trim()))?;
        }
        return Ok(());
    };
    match codes::explain(code) {
        Some(text) => Ok(writeln!(out, "{}: {text}", code.to_uppercase())?),
        None => {
            let known = codes::TOPICS.iter().flat_map(|(_, codes)| codes.iter()).map(|(code, _)| *code);
            let near = nearest(&code.to_uppercase(), known);
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            Err(Failure::Usage(format!(
                "no diagnostic has the code {code}{near} (`warpsmith explain` lists all)"
            )))
        }
    }
}
