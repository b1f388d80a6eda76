//! What the threads of a search share, and what is written of it.

use super::{Kind, Options};
use crate::Failure;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use warpsmith::fuzz::{Case, Oracle};

/// What all threads share.
pub(super) struct State {
    pub next: AtomicU64,
    pub done: AtomicU64,
    pub runs: AtomicU64,
    pub unknown: AtomicU64,
    /// Kernels that ptxas made constants of, and kernels that it did not.
    pub folded: AtomicU64,
    pub unfolded: AtomicU64,
    /// Statements that both ptxas and the validator take, and those that both refuse.
    pub taken: AtomicU64,
    pub refused: AtomicU64,
    /// How ptxas crashed, how often, and with which seeds first.
    pub crashed: Mutex<BTreeMap<String, Crashes>>,
    /// Why LLVM was not asked, and how often; and why the GPU was not.
    pub not_llvm: Mutex<BTreeMap<String, u64>>,
    pub not_gpu: Mutex<BTreeMap<String, u64>>,
    pub stop: AtomicBool,
    /// What each thread is at, and since when.
    pub busy: Mutex<Vec<Option<(u64, Instant)>>>,
    /// By cause: how often, and the first.
    pub found: Mutex<BTreeMap<String, Found>>,
}

/// Programs that ptxas crashed on in one way.
#[derive(Default)]
pub(super) struct Crashes {
    count: u64,
    /// The first of them.
    seeds: Vec<u64>,
}

/// A failure: what went wrong for which seed, and how often for others.
pub(super) struct Found {
    pub count: u64,
    seed: u64,
    what: String,
    oracle: Option<Oracle>,
    case: Option<Case>,
    /// Written already.
    reported: bool,
}

impl Found {
    /// The first failure of its cause.
    pub(super) fn new(seed: u64, what: String, oracle: Option<Oracle>, case: Option<Case>) -> Found {
        Found { count: 1, seed, what, oracle, case, reported: false }
    }
}

/// The content of a lock, also after a thread has panicked with it: panics are findings here.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many seeds of one kind of crash are listed.
const SEEDS_SHOWN: usize = 8;

impl State {
    /// Before the first seed.
    pub(super) fn new(seed: u64, jobs: usize) -> State {
        State {
            next: AtomicU64::new(seed),
            done: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            folded: AtomicU64::new(0),
            unfolded: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            crashed: Mutex::default(),
            not_llvm: Mutex::default(),
            not_gpu: Mutex::default(),
            stop: AtomicBool::new(false),
            busy: Mutex::new(vec![None; jobs]),
            found: Mutex::default(),
        }
    }

    /// ptxas crashed on the program of a seed: no finding, but one for its makers.
    pub(super) fn add_crash(&self, seed: u64, how: String) {
        let mut all = locked(&self.crashed);
        let crashes = all.entry(how).or_default();
        crashes.count += 1;
        if crashes.seeds.len() < SEEDS_SHOWN {
            crashes.seeds.push(seed);
        }
    }

    /// The program that a thread has been at for longer than it may.
    pub(super) fn stuck(&self, limit: Duration) -> Option<u64> {
        let busy = locked(&self.busy);
        busy.iter().flatten().find(|(_, since)| since.elapsed() > limit).map(|(seed, _)| *seed)
    }

    /// A thread begins with a seed, or has done with one.
    pub(super) fn set_busy(&self, worker: usize, at: Option<(u64, Instant)>) {
        let mut busy = locked(&self.busy);
        busy[worker] = at;
    }

    /// A program has no end: a finding.
    pub(super) fn add_stuck(&self, seed: u64, limit: u64, case: Option<Case>) {
        let what = format!(
            "no end in {limit} seconds: what compiles or executes it goes on, or --limit is too small"
        );
        let found = Found::new(seed, what, None, case);
        let mut all = locked(&self.found);
        all.insert("no end".to_owned(), found);
    }
}

/// Writes each failure that is not written yet: a search of hours shows what it has while it goes on.
pub(super) fn report_new(out: &mut impl Write, options: &Options, state: &State) -> std::io::Result<()> {
    for (cause, found) in locked(&state.found).iter_mut().filter(|(_, found)| !found.reported) {
        found.reported = true;
        report(out, options, cause, found)?;
        out.flush()?;
    }
    Ok(())
}

/// Writes what was found, and how much was done. True if nothing was found.
pub(super) fn summary(
    out: &mut impl Write,
    options: &Options,
    state: &State,
    start: Instant,
) -> Result<bool, Failure> {
    report_new(out, options, state)?;
    let found = std::mem::take(&mut *locked(&state.found));
    let (done, runs) = (state.done.load(Ordering::Relaxed), state.runs.load(Ordering::Relaxed));
    let seconds = start.elapsed().as_secs_f64();
    for (cause, found) in found.iter().filter(|(_, found)| found.count > 1) {
        writeln!(out, "{} times: {cause}", found.count)?;
    }
    writeln!(
        out,
        "{done} programs, {runs} runs in {seconds:.1} s ({:.0} programs a second), {} not checked by the reference, {} failures",
        done as f64 / seconds.max(1e-9),
        state.unknown.load(Ordering::Relaxed),
        found.len()
    )?;
    if options.folding {
        let [folded, unfolded] = [&state.folded, &state.unfolded].map(|count| count.load(Ordering::Relaxed));
        writeln!(out, "{folded} kernels are folded to what the engine computes, {unfolded} are not folded")?;
    }
    if options.spoilt {
        let [taken, refused] = [&state.taken, &state.refused].map(|count| count.load(Ordering::Relaxed));
        writeln!(
            out,
            "{taken} statements are taken by ptxas and the validator, {refused} are refused by both"
        )?;
    }
    for (how, crashes) in locked(&state.crashed).iter() {
        let seeds: Vec<String> = crashes.seeds.iter().map(u64::to_string).collect();
        let first = if crashes.count > crashes.seeds.len() as u64 { "first " } else { "" };
        writeln!(
            out,
            "{} not checked by ptxas, which crashed ({how}): {first}seeds {}",
            crashes.count,
            seeds.join(", ")
        )?;
    }
    for (who, reasons) in [("LLVM", &state.not_llvm), ("the GPU", &state.not_gpu)] {
        let all = locked(reasons);
        let mut reasons: Vec<(&String, &u64)> = all.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        if !reasons.is_empty() {
            let most: Vec<String> =
                reasons.iter().take(4).map(|(why, count)| format!("{why}: {count}")).collect();
            writeln!(out, "{} not checked by {who} ({})", all.values().sum::<u64>(), most.join("; "))?;
        }
    }
    Ok(found.is_empty())
}

/// Shows on a terminal how far the search is.
pub(super) fn progress(state: &State, start: Instant) {
    let done = state.done.load(Ordering::Relaxed);
    let found = state.found.lock().map_or(0, |found| found.len());
    let rate = done as f64 / start.elapsed().as_secs_f64().max(1e-9);
    // There is no other place to report a closed standard error.
    write!(std::io::stderr(), "\r{done} programs, {rate:.0} a second, {found} failures ").unwrap_or_default();
}

/// Writes one failure: what, how to have it again, and where its file test is.
fn report(out: &mut impl Write, options: &Options, cause: &str, found: &Found) -> std::io::Result<()> {
    let kind = match options.language {
        Kind::Both => "",
        Kind::Ir => " --language ir",
        Kind::Ptx => " --language ptx",
    };
    let config = options.config.as_ref().map_or_else(String::new, |config| format!(" --config {config}"));
    let files = options.metamorphic.iter().map(|file| format!(" --metamorphic {}", file.display()));
    let source = options.folding.then_some(" --folding").or(options.spoilt.then_some(" --spoilt"));
    let files: String = files.chain(source.map(str::to_owned)).collect();
    let oracle = found.oracle.map_or_else(String::new, |oracle| match oracle {
        Oracle::Accept | Oracle::Metamorphic | Oracle::Folding | Oracle::Spoilt => String::new(),
        oracle => format!(" --oracle {oracle}"),
    });
    writeln!(out, "FAIL {cause}")?;
    writeln!(out, "     {}", found.what.replace('\n', "\n     "))?;
    writeln!(
        out,
        "     again: warpsmith fuzz --seed {} --iterations 1{kind}{config}{files}{oracle}",
        found.seed
    )?;
    if let (Some(folder), Some(case)) = (&options.output, &found.case) {
        let extension = if case.language == warpsmith::Language::Ptx { "ptx" } else { "wir" };
        let path = folder.join(format!("fuzz-{}.{extension}", found.seed));
        std::fs::create_dir_all(folder)?;
        std::fs::write(&path, case.file_test())?;
        writeln!(out, "     file test: {}", path.display())?;
    }
    Ok(())
}
