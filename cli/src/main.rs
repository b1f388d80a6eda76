//! The `warpsmith` command: the command line, and one file for each subcommand.

#![forbid(unsafe_code)]

mod bindgen;
mod check;
mod compile;
mod contents;
mod debug;
mod dump;
mod explain;
mod explore;
mod fmt;
mod fuzz;
mod gpu;
mod input;
mod instruments;
mod link;
mod opt;
mod progress;
mod reduce;
mod roundtrip;
mod rules;
mod run;
mod target;
mod targets;
mod trace_diff;
mod watch;
mod with;

use clap::{Args, Parser, Subcommand};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use target::parse_target;
use warpsmith::Diagnostics;
use warpsmith::diag::Renderer;
use warpsmith::emit::Debug;
use warpsmith::emit::OptLevel;
use warpsmith::isa::{Target, Version};

/// A compiler backend for NVIDIA GPUs: typed SSA in, PTX out, and the PTX executed on the CPU.
#[derive(Parser)]
#[command(name = "warpsmith", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile IR text or LLVM bitcode to PTX text.
    Compile(compile::Options),
    /// Write typed Rust functions that launch the kernels of any PTX, on the CPU and through cudarc.
    Bindgen(bindgen::Options),
    /// Parse and validate `.ptx` and `.wir` files, or all of them in folders.
    Check(check::Options),
    /// Print LLVM bitcode as text, close to `.ll`; of PTX, where each variable of the source lives.
    Dump(dump::Options),
    /// Explain a code of a diagnostic.
    Explain(explain::Options),
    /// Lay out `.ptx` and `.wir` files in one canonical way, comments kept.
    Fmt(fmt::Options),
    /// Make random programs, and find those that do not mean the same everywhere.
    Fuzz(fuzz::Options),
    /// Link `.ptx` and `.wir` files to one module of PTX.
    Link(link::Options),
    /// Run a kernel on the CPU.
    Run(Box<run::Options>),
    /// Debug a kernel with the commands of gdb and cuda-gdb.
    Debug(debug::Options),
    /// Make a program that fails small.
    Reduce(reduce::Options),
    /// Compile `.wir` files at every level, have ptxas assemble the PTX, run IR and PTX, and compare every byte.
    Roundtrip(roundtrip::Options),
    /// Run passes on IR text and print the IR.
    Opt(opt::Options),
    /// List the rewrite rules, and how often each is applied to files.
    Rules(rules::Options),
    /// Find the first place where two traced runs of a launch part, and why.
    TraceDiff(trace_diff::Options),
    /// List the targets and the first `.version` that names each.
    Targets(targets::Options),
    /// Run a program that uses CUDA, with its kernels on the CPU and watched.
    With(with::Options),
}

/// What every subcommand that compiles takes.
#[derive(Args, Clone)]
struct Compilation {
    /// The target: sm_90, sm_90a, or a triple. Default: the module's own, else sm_75.
    #[arg(long, value_parser = parse_target, value_name = "sm_NN")]
    target: Option<Target>,
    /// The optimisation level, as in -O2.
    #[arg(short = 'O', value_parser = parse_level, default_value_t, value_name = "0..3|s")]
    level: OptLevel,
    /// The PTX version to emit; the default is the lowest that the module needs.
    #[arg(long, value_parser = parse_version, value_name = "M.m")]
    ptx: Option<Version>,
    /// The passes to run in place of the level's.
    #[arg(long, value_name = "PASS,..")]
    passes: Option<String>,
    /// Which of the products and sums that may be rounded once are: those of one function (on), of which every level computes the same bits, or
    /// those that calls and memory keep apart, too (fast).
    #[arg(long, value_enum, default_value_t = FpContract::Fast, value_name = "on|fast")]
    fp_contract: FpContract,
    /// Tell debuggers of source lines, types and variables, in DWARF; -g1: of lines only, and let ptxas optimise.
    #[arg(short = 'g')]
    debug: bool,
    /// The 1 of -g1.
    #[arg(short = '1', requires = "debug", hide = true)]
    lines_only: bool,
}

/// How far products are looked for that a sum may be rounded together with.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FpContract {
    On,
    Fast,
}

impl Compilation {
    /// What `-g` and `-g1` ask for.
    fn debug(&self) -> Debug {
        match (self.debug, self.lines_only) {
            (false, _) => Debug::None,
            (true, true) => Debug::Lines,
            (true, false) => Debug::Full,
        }
    }
}

/// Why a subcommand did not do its work.
enum Failure {
    /// The call makes no sense or names what is not there: exit status 2.
    Usage(String),
    /// The input is not accepted, and that has been reported: exit status 1.
    Rejected,
    /// A program that was run has ended with this status, which becomes that of the command.
    Status(u8),
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

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Compile(options) => compile::run(&options),
        Command::Bindgen(options) => bindgen::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Dump(options) => dump::run(&options),
        Command::Explain(options) => explain::run(&options),
        Command::Fmt(options) => fmt::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Link(options) => link::run(&options),
        Command::Run(options) => run::run(&options),
        Command::Debug(options) => debug::run(&options),
        Command::Reduce(options) => reduce::run(&options),
        Command::Roundtrip(options) => roundtrip::run(&options),
        Command::Opt(options) => opt::run(&options),
        Command::Rules(options) => rules::run(&options),
        Command::TraceDiff(options) => trace_diff::run(&options),
        Command::Targets(options) => targets::run(&options),
        Command::With(options) => with::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Rejected) => ExitCode::from(1),
        Err(Failure::Status(status)) => ExitCode::from(status),
        Err(Failure::Usage(message)) => {
            // There is no other place to report a closed standard error.
            writeln!(std::io::stderr(), "error: {message}").unwrap_or_default();
            ExitCode::from(2)
        }
    }
}

/// What draws on standard error: with colours if that is a terminal.
fn renderer() -> Renderer {
    if std::io::stderr().is_terminal() { Renderer::styled() } else { Renderer::plain() }
}

/// Prints the findings about one source on standard error.
fn report(findings: &Diagnostics) {
    if findings.is_empty() {
        return;
    }
    let text = renderer().diagnostics(findings.source(), findings);
    if let Err(_closed) = std::io::stderr().lock().write_all(text.as_bytes()) {
        // There is no other place to report a closed standard error; the exit status shows that something is wrong.
    }
}

fn parse_version(text: &str) -> Result<Version, String> {
    let (oldest, latest) = (Version::OLDEST, Version::LATEST);
    let version = text.parse().ok().filter(|version| (oldest..=latest).contains(version));
    version.ok_or_else(|| format!("expected a PTX version from {oldest} to {latest}"))
}

fn parse_level(text: &str) -> Result<OptLevel, String> {
    text.parse().map_err(|()| "expected 0, 1, 2, 3 or s".into())
}

/// Writes `text` to a file, or to standard output where none is named.
fn write_output(path: Option<&std::path::Path>, text: &str) -> Outcome {
    match path {
        Some(path) if path.as_os_str() != "-" => std::fs::write(path, text)
            .map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display()))),
        _ => Ok(std::io::stdout().lock().write_all(text.as_bytes())?),
    }
}
