//! `warpsmith targets`

use crate::Outcome;
use clap::Args;
use serde_json::json;
use std::io::Write;
use warpsmith::isa::TARGETS;

#[derive(Args)]
pub struct Options {
    /// One JSON object a line: `{"target": "sm_90a", "ptx": "8.0"}`.
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Outcome {
    let mut out = std::io::stdout().lock();
    for row in TARGETS {
        let (target, since) = (row.target, row.since);
        if options.json {
            writeln!(out, "{}", json!({"target": target.to_string(), "ptx": since.to_string()}))?;
        } else {
            writeln!(out, "{:<8} from PTX {since}", target.to_string())?;
        }
    }
    Ok(())
}
