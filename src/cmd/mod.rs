//! The subcommands: what the command line says, and one file for each.

mod check;
mod input;
mod render;
mod targets;

use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

/// A compiler backend for NVIDIA GPUs: typed SSA in, PTX out, and the PTX executed on the CPU.
#[derive(Parser)]
#[command(name = "warpsmith", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Parse and validate `.ptx` and `.wir` files, or all of them in folders.
    Check(check::Options),
    /// List the targets and the first `.version` that names each.
    Targets(targets::Options),
}

/// Why a subcommand did not do its work.
enum Failure {
    /// The call makes no sense or names what is not there: exit status 2.
    Usage(String),
    /// The input is not accepted, and that has been reported: exit status 1.
    Rejected,
}

impl From<std::io::Error> for Failure {
    /// For output: a reader that went away is no reason to complain.
    fn from(error: std::io::Error) -> Self {
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            return Failure::Usage(format!("cannot write: {error}"));
        }
        Failure::Rejected
    }
}

type Outcome = Result<(), Failure>;

/// Runs the command line.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Check(options) => check::run(&options),
        Command::Targets(options) => targets::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Rejected) => ExitCode::from(1),
        Err(Failure::Usage(message)) => {
            // Nothing is left to do if not even this can be said.
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::from(2)
        }
    }
}
