//! `warpsmith roundtrip`

use crate::target::parse_target;
use crate::{Failure, Outcome, input, progress};
use clap::Args;
use rayon::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use warpsmith::diag::Language;
use warpsmith::isa::Target;
use warpsmith_harness::ptxas::Toolbox;
use warpsmith_harness::roundtrip::{self, Report};

#[derive(Args)]
pub struct Options {
    /// `.wir` files, folders of them, LLVM bitcode, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The target. Default: each module's own, else sm_75.
    #[arg(long, value_parser = parse_target, value_name = "sm_NN")]
    target: Option<Target>,
    /// Leave ptxas out even where it is installed.
    #[arg(long)]
    no_ptxas: bool,
    /// Leave out the kernels as machine code of this machine.
    #[arg(long)]
    no_native: bool,
}

pub fn run(options: &Options) -> Outcome {
    let mut files = Vec::new();
    for path in &options.paths {
        files.extend(input::files(path, &[Language::Wir])?);
    }
    let toolbox = if options.no_ptxas { Toolbox::default() } else { Toolbox::from_environment() };
    let mut out = std::io::stdout().lock();
    match toolbox.ptxas.as_slice() {
        [] if options.no_ptxas => {}
        [] => writeln!(
            out,
            "ptxas is not installed (`cargo xtask tools` installs it): the PTX is validated, not assembled"
        )?,
        found => {
            let releases: Vec<&str> = found.iter().map(|ptxas| ptxas.release.as_str()).collect();
            writeln!(out, "ptxas {} assembles the PTX", releases.join(", "))?;
        }
    }
    let options = roundtrip::Options { target: options.target, no_native: options.no_native, toolbox };
    let bar = progress::bar(files.len());
    let reports: Vec<(&PathBuf, Result<Report, String>)> = files
        .par_iter()
        .map(|path| {
            let report = input::read(path).map(|source| roundtrip::file(source.text(), &options));
            bar.inc(1);
            (path, report)
        })
        .collect();
    bar.finish_and_clear();
    let (mut passed, mut failed) = (0, 0);
    for (path, report) in reports {
        let report = report.map_err(Failure::Usage)?;
        let (good, bad) = print(&mut out, path, &report)?;
        passed += good;
        failed += bad;
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    if failed == 0 { Ok(()) } else { Err(Failure::Rejected) }
}

/// One line a kernel, and below it what went wrong; returns how many kernels passed and failed.
fn print(out: &mut impl Write, path: &Path, report: &Report) -> std::io::Result<(usize, usize)> {
    let name = path.display();
    let (mut passed, mut failed) = (0, 0);
    for kernel in &report.kernels {
        let ok = report.errors.is_empty() && kernel.failures.is_empty();
        *(if ok { &mut passed } else { &mut failed }) += 1;
        let ptxas =
            report.ptxas.as_deref().map_or("not assembled".to_owned(), |release| format!("ptxas {release}"));
        let runs = match kernel.runs {
            0 => "not run".to_owned(),
            1 => "1 run".to_owned(),
            n => format!("{n} runs"),
        };
        let native = match (kernel.native, &kernel.not_compiled) {
            (0, None) => "",
            (0, Some(_)) => "no machine code, ",
            (1.., _) => "machine code, ",
        };
        writeln!(
            out,
            "{} {name} {}: {}, {ptxas}, {native}{runs}, {} thread instructions",
            if ok { "ok  " } else { "FAIL" },
            kernel.name,
            report.target,
            kernel.thread_instructions
        )?;
        for failure in &kernel.failures {
            writeln!(out, "     {failure}")?;
        }
    }
    if !report.errors.is_empty() {
        failed += usize::from(report.kernels.is_empty());
        writeln!(out, "FAIL {name}")?;
        for error in &report.errors {
            writeln!(out, "     {}", error.replace('\n', "\n     "))?;
        }
    }
    Ok((passed, failed))
}
