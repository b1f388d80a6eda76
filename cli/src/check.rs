//! `warpsmith check`

use crate::target::parse_target;
use crate::{Failure, Outcome, input, report};
use clap::Args;
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use warpsmith::Diagnostics;
use warpsmith::diag::Language;
use warpsmith::diag::{self, Source, apply_fixes};
use warpsmith::isa::{Release, Target};

#[derive(Args)]
pub struct Options {
    /// Files, folders, or - for standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The files are one program: also report what is wrong between them, such as symbols that none of them defines.
    #[arg(long, conflicts_with = "json")]
    link: bool,
    /// One JSON object per file on standard output, in input order.
    #[arg(long)]
    json: bool,
    /// Check as if the module named this target.
    #[arg(long, value_parser = parse_target, value_name = "sm_NN")]
    target: Option<Target>,
    /// Check PTX by the verdicts of this release of ptxas. Without it, what every release refuses that knows the .version is an error, and what some
    /// refuse a warning.
    #[arg(long, value_parser = parse_release, value_name = "N.M")]
    ptxas: Option<Release>,
    /// Make the changes of files that must be what was meant, and check the result.
    #[arg(long)]
    fix: bool,
}

fn parse_release(text: &str) -> Result<Release, String> {
    text.parse().map_err(|()| {
        let known: Vec<String> = Release::known().map(|release| release.to_string()).collect();
        format!("expected a release of ptxas whose verdicts are known: {}", known.join(", "))
    })
}

/// A fix can bring up the next: a version that is raised for one instruction may be too low for another.
const MOST_ROUNDS: usize = 8;

/// Files are checked in parallel and reported in order, this many at a time.
const BATCH: usize = 512;

pub fn run(options: &Options) -> Outcome {
    let mut files = Vec::new();
    let mut unreadable = None;
    for path in &options.paths {
        match input::files(path, &[Language::Ptx, Language::Wir]) {
            Ok(found) if found.is_empty() => {
                eprintln!("warning: {} holds no .ptx and no .wir file", path.display());
            }
            Ok(found) => files.extend(found),
            // Still a line of the output, so that lines and inputs go together.
            Err(_) => files.push(path.clone()),
        }
    }
    let mut rejected = false;
    let mut out = std::io::stdout().lock();
    for batch in files.chunks(BATCH) {
        let checked: Vec<Checked> = batch.par_iter().map(|path| check(path, options)).collect();
        for Checked { json, human, verdict } in checked {
            match verdict {
                Verdict::Accepted => {}
                Verdict::Rejected => rejected = true,
                Verdict::Unreadable(message) => unreadable = unreadable.or(Some(message)),
            }
            if let Some(line) = json {
                out.write_all(line.as_bytes())?;
            }
            if let Some(diagnostics) = human {
                report(&diagnostics);
            }
        }
    }
    out.flush()?;
    if options.link && !rejected && unreadable.is_none() {
        let linked = crate::link::program(&files, &warpsmith::ptx::link::Options::default())?;
        if let Err(errors) = linked {
            errors.iter().for_each(report);
            rejected = true;
        }
    }
    match unreadable {
        Some(message) => Err(Failure::Usage(message)),
        None if rejected => Err(Failure::Rejected),
        None => Ok(()),
    }
}

enum Verdict {
    Accepted,
    Rejected,
    Unreadable(String),
}

struct Checked {
    json: Option<String>,
    human: Option<Diagnostics>,
    verdict: Verdict,
}

fn check(path: &Path, options: &Options) -> Checked {
    let line = |name: &str, ok: bool, diagnostics: Vec<serde_json::Value>| {
        options.json.then(|| format!("{}\n", json!({"file": name, "ok": ok, "diagnostics": diagnostics})))
    };
    let source = match input::read(path) {
        Ok(source) => source,
        Err(message) => {
            let finding = json!({"code": "C0001", "severity": "error", "message": message, "line": null, "column": null, "notes": []});
            let json = line(&path.display().to_string(), false, vec![finding]);
            return Checked { json, human: None, verdict: Verdict::Unreadable(message) };
        }
    };
    let mut source = source;
    let mut diagnostics = warpsmith::check_as(&source.source, source.language, options.target, options.ptxas);
    if options.fix && path.as_os_str() != "-" {
        let mut changes = 0;
        for _ in 0..MOST_ROUNDS {
            let (text, count) = apply_fixes(source.text(), &diagnostics);
            if count == 0 {
                break;
            }
            changes += count;
            source.source = Source::new(source.name(), text);
            diagnostics = warpsmith::check_as(&source.source, source.language, options.target, options.ptxas);
        }
        if changes > 0
            && let Err(e) = std::fs::write(path, source.text())
        {
            let message = format!("cannot write {}: {e}", path.display());
            return Checked { json: None, human: None, verdict: Verdict::Unreadable(message) };
        }
    }
    let ok = !diagnostics.has_errors();
    let json = if options.json {
        line(
            source.name(),
            ok,
            diagnostics.iter().map(|diagnostic| diag::json::diagnostic(&source.source, diagnostic)).collect(),
        )
    } else {
        None
    };
    let verdict = if ok { Verdict::Accepted } else { Verdict::Rejected };
    Checked { json, human: (!options.json).then_some(diagnostics), verdict }
}
