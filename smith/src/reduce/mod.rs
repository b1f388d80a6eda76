//! Makes a failing program small: as many functions, blocks, scopes, instructions and operands as possible are left out or made plain, as long as the
//! program stays valid and somebody finds it interesting.
//!
//! The text is taken as the printer writes it, a statement a line. A step is a list of candidates, each a text that is a little simpler; they are tried
//! in parallel, and the first in order that is valid and interesting is gone on from. Steps go from the coarse to the fine, and are repeated until
//! none finds anything.

mod blocks;
mod candidates;

use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use warpsmith_diag::Language;

/// How to reduce.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// When to stop at the latest.
    pub time: Duration,
    /// Candidates must be valid. Without it they must only be whole lines: for failures of the parser.
    pub valid: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { time: Duration::from_secs(60), valid: true }
    }
}

/// A reduced program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduced {
    /// The text.
    pub text: String,
    /// How many candidates somebody was asked about.
    pub asked: u64,
    /// Nothing simpler was interesting; false where the time was over before.
    pub finished: bool,
}

/// Reduces a text that is interesting. The lines that begin with a directive's marker are not part of it.
pub fn reduce(
    text: &str,
    language: Language,
    options: &Options,
    interesting: impl Fn(&str) -> bool + Sync,
) -> Reduced {
    let asked = AtomicU64::new(0);
    let until = Instant::now() + options.time;
    let good = |candidate: &str| {
        if Instant::now() > until || (options.valid && !is_valid(candidate, language)) {
            return false;
        }
        asked.fetch_add(1, Ordering::Relaxed);
        interesting(candidate)
    };
    let mut current = text.to_owned();
    if let Some(printed) = printed(text, language)
        && good(&printed)
    {
        current = printed;
    }
    let repeat = |current: &mut String, step: &candidates::Step| {
        // What a step offers changes with each success: it begins again there.
        let mut from = 0;
        while Instant::now() < until {
            let lines: Vec<&str> = current.lines().collect();
            let offered = step(current, language);
            let found = offered.par_iter().enumerate().skip(from).find_map_first(|(at, candidate)| {
                let text = candidate.text(&lines);
                good(&text).then_some((at, text))
            });
            let Some((at, text)) = found else { break };
            *current = text;
            from = at;
        }
    };
    loop {
        let before = current.len();
        // Everything that follows costs less where what nothing needs does not stand in its way.
        let unused: candidates::Step = candidates::unused;
        repeat(&mut current, &unused);
        lines(&mut current, &good);
        for step in candidates::STEPS {
            repeat(&mut current, step);
            repeat(&mut current, &unused);
        }
        let over = Instant::now() > until;
        if over || current.len() >= before {
            return Reduced { text: current, asked: asked.into_inner(), finished: !over };
        }
    }
}

/// Leaves out runs of lines, long ones first.
fn lines(current: &mut String, good: &(impl Fn(&str) -> bool + Sync)) {
    let mut size = current.lines().count().div_ceil(2);
    while size > 0 {
        let mut from = 0;
        loop {
            let all: Vec<&str> = current.lines().collect();
            let starts: Vec<usize> = (from..all.len()).step_by(size).collect();
            let without = |start: usize| {
                let end = (start + size).min(all.len());
                let kept = all[..start].iter().chain(&all[end..]);
                kept.fold(String::with_capacity(current.len()), |text, line| text + line + "\n")
            };
            let found = starts.par_iter().find_first(|&&start| good(&without(start))).copied();
            let Some(start) = found else { break };
            let next = without(start);
            *current = next;
            from = start;
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
}

/// True for a text that the validator, or the verifier, accepts.
pub fn is_valid(text: &str, language: Language) -> bool {
    match language {
        Language::Ptx => warpsmith_ptx::ValidatedModule::parse(text).is_ok(),
        Language::Wir => {
            warpsmith_ir::parse_module(text).is_ok_and(|module| warpsmith_ir::verify(&module).is_ok())
        }
    }
}

fn printed(text: &str, language: Language) -> Option<String> {
    match language {
        Language::Ptx => {
            let parsed = warpsmith_ptx::parse(text);
            parsed.diagnostics.is_empty().then(|| warpsmith_ptx::print(&parsed.module))
        }
        Language::Wir => warpsmith_ir::parse_module(text).ok().map(|module| module.to_string()),
    }
}
