//! `warpsmith fuzz`

mod interrupt;
mod source;
mod state;

use crate::gpu::Tooling;
use crate::{Failure, Outcome};
use clap::{Args, ValueEnum};
use source::{Config, Source, subjects};
use state::{Found, State, locked, progress, report_new, summary};
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use warpsmith::OptLevel;
use warpsmith::fuzz::{self, Effort, Oracle, Tools};
use warpsmith_harness::ptxas::Toolbox;

#[derive(Args)]
pub struct Options {
    /// The first seed. Each program is made of one, and nothing else.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many programs. Default: no end.
    #[arg(long)]
    iterations: Option<u64>,
    /// How many seconds.
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// Threads. Default: as many as the machine has.
    #[arg(long)]
    jobs: Option<usize>,
    /// How many seconds a program may take, all oracles together. What takes longer is a failure, and ends the search.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    limit: u64,
    /// What programs are made of: IR, PTX, or both in turn.
    #[arg(long, value_enum, default_value_t)]
    language: Kind,
    /// What programs may contain: `key=value` with commas: `bytes`, `statements`, `depth`, `trips`, `functions`, `blocks`, `insts`, `fuel`, and
    /// `memory`, `together`, `aggregates`, `atomics`, `scopes`, `approximate`, `reference`, `halves`, `floats`, `wide`, `vectors`, `calls`, `ptx`, `special`, `narrow` with true or
    /// false.
    #[arg(long, value_name = "KEY=VALUE,..")]
    config: Option<String>,
    /// Which oracles: accept, text, levels, passes, schedules, reference, native, checkers, ptxas, llvm, gpu. Default: all but the last two; those
    /// that cost much for some programs only, and -O0 with one other level in turn. Oracles that are named look at all levels.
    #[arg(long = "oracle", value_delimiter = ',', value_name = "NAME,..")]
    oracles: Vec<Oracle>,
    /// The levels whose PTX is compared, instead of all or of two in turn: `O0,O2`.
    #[arg(long, value_delimiter = ',', value_name = "LEVEL,..", value_parser = crate::parse_level)]
    levels: Vec<OptLevel>,
    /// A folder for a file test of each failure.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Stop at the first failure.
    #[arg(long)]
    first: bool,
    /// Instead of making programs, transform this `.ptx` or `.wir` file in ways that keep what it means, and launch it as its first `run:` directive
    /// says. May be given more than once, or be a folder.
    #[arg(long, value_name = "PATH")]
    metamorphic: Vec<PathBuf>,
    /// Instead of launching programs, compare what ptxas folds to constants with the engine.
    #[arg(long, conflicts_with = "metamorphic")]
    folding: bool,
    /// Instead of launching programs, change statements a little and compare what the validator and ptxas say of them.
    #[arg(long, conflicts_with_all = ["metamorphic", "folding"])]
    spoilt: bool,
    /// With --metamorphic: transformations, at most.
    #[arg(long, default_value_t = 12)]
    steps: usize,
    /// Write the program of the first seed to standard output, and check nothing.
    #[arg(long)]
    print: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// IR for even seeds, PTX for odd ones.
    #[default]
    Both,
    Ir,
    Ptx,
}

pub fn run(options: &Options) -> Outcome {
    let config = Config::parse(options.config.as_deref().unwrap_or_default()).map_err(Failure::Usage)?;
    let mut out = std::io::stdout().lock();
    let source = match options.metamorphic.as_slice() {
        [] if options.folding => Source::Folded(Box::new(config)),
        [] if options.spoilt => Source::Spoilt,
        [] => Source::Made(Box::new(config), options.language),
        _ => Source::Varied(subjects(options)?, options.steps),
    };
    let asks_ptxas = options.folding || options.spoilt;
    if options.print {
        let toolbox = if asks_ptxas { Toolbox::from_environment() } else { Toolbox::default() };
        let case = source.case(options.seed, &toolbox);
        let case = case.ok_or_else(|| Failure::Usage("the seed gives no program".to_owned()))?;
        return Ok(out.write_all(case.file_test().as_bytes())?);
    }
    let asks = |oracle| options.oracles.contains(&oracle);
    let toolbox = match options.oracles.is_empty() || asks_ptxas || asks(Oracle::Ptxas) || asks(Oracle::Llvm)
    {
        true => Toolbox::from_environment(),
        false => Toolbox::default(),
    };
    if asks_ptxas && toolbox.ptxas.is_empty() {
        return Err(Failure::Usage("--folding and --spoilt ask ptxas, which is not installed".to_owned()));
    }
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let tools = if asks(Oracle::Gpu) {
        Tooling::with_gpu(toolbox).map_err(|why| Failure::Usage(format!("--oracle gpu: {why}")))?
    } else {
        Tooling::new(toolbox)
    };
    let jobs = jobs.max(1);
    let state = State::new(options.seed, jobs);
    let end = options.iterations.map(|count| options.seed.saturating_add(count));
    let start = Instant::now();
    let until = options.time.map(|seconds| start + Duration::from_secs(seconds));
    // A panic is a finding like any other, shown in its place.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    interrupt::watch();
    let mut written = Ok(());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs)
            .map(|n| {
                let (source, tools, state) = (&source, &tools, &state);
                scope.spawn(move || worker(n, options, source, tools, state, end, until))
            })
            .collect();
        let shows = std::io::stderr().is_terminal();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            if shows {
                progress(&state, start);
            }
            if written.is_ok() {
                written = report_new(&mut out, options, &state);
            }
            if interrupt::is_pressed() || written.is_err() {
                state.stop.store(true, Ordering::Relaxed);
            }
            if let Some(seed) = state.stuck(Duration::from_secs(options.limit)) {
                state.add_stuck(seed, options.limit, source.case(seed, &tools));
                // A thread cannot be taken back from what goes on without end: the process ends with it.
                let written = summary(&mut out, options, &state, start).and_then(|_| Ok(out.flush()?));
                std::process::exit(if written.is_ok() { 1 } else { 2 });
            }
        }
    });
    std::panic::set_hook(hook);
    written?;
    if summary(&mut out, options, &state, start)? { Ok(()) } else { Err(Failure::Rejected) }
}

fn worker(
    number: usize,
    options: &Options,
    source: &Source,
    tools: &dyn Tools,
    state: &State,
    end: Option<u64>,
    until: Option<Instant>,
) {
    while !state.stop.load(Ordering::Relaxed) && until.is_none_or(|until| Instant::now() < until) {
        let seed = state.next.fetch_add(1, Ordering::Relaxed);
        if end.is_some_and(|end| seed >= end) {
            return;
        }
        let oracles = match (options.oracles.is_empty(), source) {
            (false, _) => options.oracles.clone(),
            (true, Source::Made(..) | Source::Folded(_) | Source::Spoilt) => usual(seed),
            // Programs of users may show bits of NaNs.
            (true, Source::Varied(..)) => {
                usual(seed).into_iter().filter(|oracle| *oracle != Oracle::Native).collect()
            }
        };
        state.set_busy(number, Some((seed, Instant::now())));
        let checked = catch_unwind(AssertUnwindSafe(|| {
            let turns = [OptLevel::O0, OPTIMISING[(seed / 2 % 4) as usize]];
            let (levels, way) = match (options.oracles.is_empty(), options.levels.as_slice()) {
                (true, []) => (turns.as_slice(), Some(seed / 4)),
                (true, levels) => (levels, Some(seed / 4)),
                (false, []) => (OptLevel::ALL.as_slice(), None),
                (false, levels) => (levels, None),
            };
            let effort = Effort { levels, way, allocation: Some(seed) };
            source.check(seed, &oracles, effort, tools, state)
        }));
        state.set_busy(number, None);
        state.done.fetch_add(1, Ordering::Relaxed);
        let (cause, found) = match checked {
            Ok(None) => continue,
            Ok(Some((_, Ok(verdict)))) => {
                state.runs.fetch_add(verdict.runs.into(), Ordering::Relaxed);
                state.unknown.fetch_add(u64::from(verdict.unknown.is_some()), Ordering::Relaxed);
                if let Some(how) = verdict.ptxas_crashed {
                    state.add_crash(seed, how);
                }
                for (why, all) in [(verdict.not_llvm, &state.not_llvm), (verdict.not_gpu, &state.not_gpu)] {
                    if let Some(why) = why {
                        let mut all = locked(all);
                        *all.entry(why).or_default() += 1;
                    }
                }
                continue;
            }
            Ok(Some((case, Err(failure)))) => {
                let oracle = Some(failure.oracle);
                let found = Found::new(seed, failure.what.clone(), oracle, Some(case));
                (failure.cause(), found)
            }
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                let case = catch_unwind(AssertUnwindSafe(|| source.case(seed, tools)));
                let case = case.ok().flatten();
                let what = format!("panic: {text}");
                let cause = fuzz::Failure { oracle: Oracle::Accept, what: what.clone() }.cause();
                (cause, Found::new(seed, what, None, case))
            }
        };
        let mut all = locked(&state.found);
        match all.get_mut(&cause) {
            Some(known) => known.count += 1,
            None => drop(all.insert(cause, found)),
        }
        if options.first {
            state.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// The levels that are compared in turn with the plainest, where no oracles are named.
const OPTIMISING: [OptLevel; 4] = [OptLevel::O2, OptLevel::O1, OptLevel::O3, OptLevel::Os];

/// The oracles for a seed where none are named: those that cost little always, the others now and then.
fn usual(seed: u64) -> Vec<Oracle> {
    let mut oracles = Oracle::DEFAULT.to_vec();
    oracles.retain(|oracle| *oracle != Oracle::Schedules);
    let often = [
        (Oracle::Schedules, 8, 6),
        // One way at a time.
        (Oracle::Passes, 4, 2),
        // What is generated shows no bits of NaNs. To compile for the host takes longer than all else together.
        (Oracle::Native, 32, 0),
        (Oracle::Checkers, 8, 4),
        (Oracle::Ptxas, 32, 5),
    ];
    oracles.extend(
        often.into_iter().filter(|(_, every, at)| seed % every / 2 == at / 2).map(|(oracle, ..)| oracle),
    );
    oracles
}
