//! `warpsmith fuzz`

use crate::gpu::Tooling;
use crate::reduce::without_directives;
use crate::{Failure, Outcome, input};
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use warpsmith::fuzz::{self, Case, Changed, Oracle, Subject, Tools, Verdict};
use warpsmith_harness::ptxas::Toolbox;
use warpsmith_harness::runs::runs;

/// How many random bytes a program is made of, where `--config` says nothing.
const BYTES: usize = 2048;

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
    /// What programs are made of: IR, PTX, or both by turns.
    #[arg(long, value_enum, default_value_t)]
    language: Kind,
    /// What programs may contain: `key=value` with commas: `bytes`, `statements`, `depth`, `trips`, `functions`, `blocks`, `insts`, `fuel`, and
    /// `memory`, `together`, `aggregates`, `atomics`, `scopes`, `approximate`, `judged`, `halves`, `floats`, `wide`, `vectors`, `calls`, `ptx`, `special`, `narrow` with true or
    /// false.
    #[arg(long, value_name = "KEY=VALUE,..")]
    config: Option<String>,
    /// Which oracles: accept, text, levels, passes, schedules, reference, native, checkers, ptxas, llvm, gpu. Default: all but the last two; those
    /// that cost much for some programs only.
    #[arg(long = "oracle", value_delimiter = ',', value_name = "NAME,..")]
    oracles: Vec<Oracle>,
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
    /// With --metamorphic: transformations, at most.
    #[arg(long, default_value_t = 12)]
    steps: usize,
    /// Write the program of the first seed to standard output, and judge nothing.
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

/// The configurations of both generators.
#[derive(Clone)]
struct Config {
    bytes: usize,
    ir: fuzz::smith::ir::Config,
    ptx: fuzz::smith::ptx::Config,
    /// `judged` was set, so that seeds do not decide it.
    judged: bool,
}

impl Config {
    fn parse(text: &str) -> Result<Config, String> {
        let mut config = Config {
            bytes: BYTES,
            ir: fuzz::smith::ir::Config::default(),
            ptx: fuzz::smith::ptx::Config::default(),
            judged: false,
        };
        for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}`: expected KEY=VALUE"))?;
            let number = || value.parse::<usize>().map_err(|_| format!("{key}: `{value}` is not a number"));
            let small = || value.parse::<u32>().map_err(|_| format!("{key}: `{value}` is not a number"));
            let truth =
                || value.parse::<bool>().map_err(|_| format!("{key}: `{value}` is not true or false"));
            let Config { bytes, ir, ptx, judged } = &mut config;
            match key.trim() {
                "bytes" => *bytes = number()?,
                "statements" => ptx.statements = number()?,
                "depth" => ptx.depth = number()?,
                "trips" => ptx.trips = small()?,
                "functions" => ptx.functions = number()?,
                "blocks" => ir.blocks = number()?,
                "insts" => ir.insts = number()?,
                "fuel" => ir.fuel = small()?,
                "memory" => (ir.memory, ptx.memory) = (truth()?, truth()?),
                "together" => (ir.together, ptx.together) = (truth()?, truth()?),
                "aggregates" => ir.aggregates = truth()?,
                "atomics" => ptx.atomics = truth()?,
                "scopes" => ptx.scopes = truth()?,
                "approximate" => ptx.approximate = truth()?,
                "judged" => (ptx.judged, *judged) = (truth()?, true),
                "halves" => ir.halves = truth()?,
                "floats" => ir.floats = truth()?,
                "wide" => ir.wide = truth()?,
                "vectors" => ir.vectors = truth()?,
                "calls" => ir.calls = truth()?,
                "ptx" => ir.ptx = truth()?,
                "special" => ir.special = truth()?,
                "narrow" => ir.narrow = truth()?,
                other => return Err(format!("`{other}` is not a key of the configuration")),
            }
        }
        Ok(config)
    }

    /// The program of a seed.
    fn case(&self, seed: u64, kind: Kind) -> Option<Case> {
        if kind == Kind::Ir || (kind == Kind::Both && seed.is_multiple_of(2)) {
            return Case::ir(seed, self.bytes, &self.ir);
        }
        let mut ptx = self.ptx.clone();
        if !self.judged {
            // Most programs for the reference interpreter, some with what it does not know.
            ptx.judged = seed % 8 != 7;
        }
        Case::ptx(seed, self.bytes, &ptx)
    }
}

/// Where programs come from.
enum Source {
    /// Random ones.
    Made(Box<Config>, Kind),
    /// What transformations make of some.
    Varied(Vec<Subject>, usize),
    /// Kernels whose results are constants.
    Folded(Box<Config>),
}

impl Source {
    /// The program of a seed. `None` if there is none.
    fn case(&self, seed: u64, tools: &dyn Tools) -> Option<Case> {
        match self {
            Source::Made(config, kind) => config.case(seed, *kind),
            Source::Varied(subjects, steps) => {
                let subject = &subjects[seed as usize % subjects.len()];
                Some(match subject.vary(seed, *steps, &[], tools) {
                    Ok((case, _)) => case,
                    Err(changed) => changed.case,
                })
            }
            Source::Folded(config) => Some(fuzz::folding(seed, &config.ptx, tools)?.0),
        }
    }

    /// The program of a seed, and what oracles say of it.
    fn judge(&self, seed: u64, oracles: &[Oracle], tools: &dyn Tools, state: &State) -> Judged {
        match self {
            Source::Made(config, kind) => {
                let case = config.case(seed, *kind)?;
                let verdict = fuzz::judge(&case, oracles, tools);
                Some((case, verdict))
            }
            Source::Varied(subjects, steps) => {
                let subject = &subjects[seed as usize % subjects.len()];
                Some(match subject.vary(seed, *steps, oracles, tools) {
                    Ok((case, verdict)) => (case, Ok(verdict)),
                    Err(changed) => {
                        let Changed { mut failure, steps, case } = *changed;
                        let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
                        failure.what += &format!("\nafter {}", steps.join("; "));
                        (case, Err(failure))
                    }
                })
            }
            Source::Folded(config) => {
                let (case, judged) = fuzz::folding(seed, &config.ptx, tools)?;
                let verdict = judged.map(|(verdict, folded)| {
                    state.folded.fetch_add(folded.same.into(), Ordering::Relaxed);
                    state.unfolded.fetch_add(folded.unfolded.into(), Ordering::Relaxed);
                    verdict
                });
                Some((case, verdict))
            }
        }
    }
}

/// A program, and what oracles say of it.
type Judged = Option<(Case, Result<Verdict, fuzz::Failure>)>;

/// The programs of files that can be transformed; the others are named.
fn subjects(options: &Options) -> Result<Vec<Subject>, Failure> {
    let mut files = Vec::new();
    for path in &options.metamorphic {
        files.extend(input::files(path, &[warpsmith::Language::Ptx, warpsmith::Language::Wir])?);
    }
    let mut found = Vec::new();
    for file in &files {
        let source = input::read(file).map_err(Failure::Usage)?;
        let text = source.text();
        let language = fuzz::language_of(&without_directives(text));
        let runs = warpsmith_filetests::scan(text, language).and_then(|directives| runs(&directives));
        for run in runs.unwrap_or_default().into_iter().filter(|run| run.fault.is_none()) {
            let (launch, text) = (run.launch, without_directives(text));
            let case = Case { language, text, launch, description: run.text };
            match Subject::new(&case) {
                Ok(subject) => found.push(subject),
                Err(why) => eprintln!("{}, line {}: not transformed: {why}", file.display(), run.line),
            }
        }
    }
    match found.is_empty() {
        true => Err(Failure::Usage(
            "there is nothing to transform: no file has a `run:` directive that ends well".to_owned(),
        )),
        false => Ok(found),
    }
}

/// What all threads share.
struct State {
    next: AtomicU64,
    done: AtomicU64,
    runs: AtomicU64,
    unknown: AtomicU64,
    /// Kernels that ptxas made constants of, and kernels that it did not.
    folded: AtomicU64,
    unfolded: AtomicU64,
    /// Why LLVM was not asked, and how often; and why the GPU was not.
    not_llvm: Mutex<BTreeMap<String, u64>>,
    not_gpu: Mutex<BTreeMap<String, u64>>,
    stop: AtomicBool,
    /// What each thread is at, and since when.
    busy: Mutex<Vec<Option<(u64, Instant)>>>,
    /// By cause: how often, and the first.
    found: Mutex<BTreeMap<String, Found>>,
}

struct Found {
    count: u64,
    seed: u64,
    what: String,
    oracle: Option<Oracle>,
    case: Option<Case>,
}

pub fn run(options: &Options) -> Outcome {
    let config = Config::parse(options.config.as_deref().unwrap_or_default()).map_err(Failure::Usage)?;
    let mut out = std::io::stdout().lock();
    let source = match options.metamorphic.as_slice() {
        [] if options.folding => Source::Folded(Box::new(config)),
        [] => Source::Made(Box::new(config), options.language),
        _ => Source::Varied(subjects(options)?, options.steps),
    };
    if options.print {
        let toolbox = if options.folding { Toolbox::from_environment() } else { Toolbox::default() };
        let case = source.case(options.seed, &toolbox);
        let case = case.ok_or_else(|| Failure::Usage("the seed gives no program".to_owned()))?;
        return Ok(out.write_all(case.file_test().as_bytes())?);
    }
    let asks = |oracle| options.oracles.contains(&oracle);
    let toolbox =
        match options.oracles.is_empty() || options.folding || asks(Oracle::Ptxas) || asks(Oracle::Llvm) {
            true => Toolbox::from_environment(),
            false => Toolbox::default(),
        };
    if options.folding && toolbox.ptxas.is_empty() {
        return Err(Failure::Usage("--folding asks ptxas, which is not installed".to_owned()));
    }
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let tools = if asks(Oracle::Gpu) {
        Tooling::with_gpu(toolbox).map_err(|why| Failure::Usage(format!("--oracle gpu: {why}")))?
    } else {
        Tooling::new(toolbox)
    };
    let state = State {
        next: AtomicU64::new(options.seed),
        done: AtomicU64::new(0),
        runs: AtomicU64::new(0),
        unknown: AtomicU64::new(0),
        folded: AtomicU64::new(0),
        unfolded: AtomicU64::new(0),
        not_llvm: Mutex::default(),
        not_gpu: Mutex::default(),
        stop: AtomicBool::new(false),
        busy: Mutex::new(vec![None; jobs.max(1)]),
        found: Mutex::new(BTreeMap::new()),
    };
    let end = options.iterations.map(|count| options.seed.saturating_add(count));
    let start = Instant::now();
    let until = options.time.map(|seconds| start + Duration::from_secs(seconds));
    // A panic is a finding like any other, shown in its place.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1))
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
            if let Some(seed) = state.stuck(Duration::from_secs(options.limit)) {
                state.add_stuck(seed, options.limit, source.case(seed, &tools));
                // A thread cannot be taken back from what goes on without end: the process ends with it.
                let told = summary(&mut out, options, &state, start).and_then(|_| Ok(out.flush()?));
                std::process::exit(if told.is_ok() { 1 } else { 2 });
            }
        }
    });
    std::panic::set_hook(hook);
    if summary(&mut out, options, &state, start)? { Ok(()) } else { Err(Failure::Rejected) }
}

impl State {
    /// The program that a thread has been at for longer than it may.
    fn stuck(&self, limit: Duration) -> Option<u64> {
        let busy = self.busy.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        busy.iter().flatten().find(|(_, since)| since.elapsed() > limit).map(|(seed, _)| *seed)
    }

    fn set_busy(&self, worker: usize, at: Option<(u64, Instant)>) {
        let mut busy = self.busy.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        busy[worker] = at;
    }

    fn add_stuck(&self, seed: u64, limit: u64, case: Option<Case>) {
        let what = format!(
            "no end in {limit} seconds: what compiles or executes it goes on, or --limit is too small"
        );
        let found = Found { count: 1, seed, what, oracle: None, case };
        let mut all = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.insert("no end".to_owned(), found);
    }
}

/// Writes what was found, and how much was done. True if nothing was found.
fn summary(out: &mut impl Write, options: &Options, state: &State, start: Instant) -> Result<bool, Failure> {
    let found = std::mem::take(&mut *state.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    let (done, runs) = (state.done.load(Ordering::Relaxed), state.runs.load(Ordering::Relaxed));
    let seconds = start.elapsed().as_secs_f64();
    for (cause, found) in &found {
        report(out, options, cause, found)?;
    }
    writeln!(
        out,
        "{done} programs, {runs} runs in {seconds:.1} s ({:.0} programs a second), {} not judged by the reference, {} failures",
        done as f64 / seconds.max(1e-9),
        state.unknown.load(Ordering::Relaxed),
        found.len()
    )?;
    if options.folding {
        let [folded, unfolded] = [&state.folded, &state.unfolded].map(|count| count.load(Ordering::Relaxed));
        writeln!(out, "{folded} kernels are folded to what the engine computes, {unfolded} are not folded")?;
    }
    for (who, reasons) in [("LLVM", &state.not_llvm), ("the GPU", &state.not_gpu)] {
        let all = reasons.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut reasons: Vec<(&String, &u64)> = all.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        if !reasons.is_empty() {
            let most: Vec<String> =
                reasons.iter().take(4).map(|(why, count)| format!("{why}: {count}")).collect();
            writeln!(out, "{} not judged by {who} ({})", all.values().sum::<u64>(), most.join("; "))?;
        }
    }
    Ok(found.is_empty())
}

fn progress(state: &State, start: Instant) {
    let done = state.done.load(Ordering::Relaxed);
    let found = state.found.lock().map_or(0, |found| found.len());
    let rate = done as f64 / start.elapsed().as_secs_f64().max(1e-9);
    // There is no other place to report a closed standard error.
    write!(std::io::stderr(), "\r{done} programs, {rate:.0} a second, {found} failures ").unwrap_or_default();
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
            (true, Source::Made(..) | Source::Folded(_)) => usual(seed),
            // Programs of users may show bits of NaNs.
            (true, Source::Varied(..)) => {
                usual(seed).into_iter().filter(|oracle| *oracle != Oracle::Native).collect()
            }
        };
        state.set_busy(number, Some((seed, Instant::now())));
        let judged = catch_unwind(AssertUnwindSafe(|| source.judge(seed, &oracles, tools, state)));
        state.set_busy(number, None);
        state.done.fetch_add(1, Ordering::Relaxed);
        let (cause, found) = match judged {
            Ok(None) => continue,
            Ok(Some((_, Ok(verdict)))) => {
                state.runs.fetch_add(verdict.runs.into(), Ordering::Relaxed);
                state.unknown.fetch_add(u64::from(verdict.unknown.is_some()), Ordering::Relaxed);
                for (why, all) in [(verdict.not_llvm, &state.not_llvm), (verdict.not_gpu, &state.not_gpu)] {
                    if let Some(why) = why {
                        let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        *all.entry(why).or_default() += 1;
                    }
                }
                continue;
            }
            Ok(Some((case, Err(failure)))) => {
                let oracle = Some(failure.oracle);
                let found = Found { count: 1, seed, what: failure.what.clone(), oracle, case: Some(case) };
                (failure.cause(), found)
            }
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                let case = catch_unwind(AssertUnwindSafe(|| source.case(seed, tools)));
                let case = case.ok().flatten();
                let what = format!("panic: {text}");
                let cause = fuzz::Failure { oracle: Oracle::Accept, what: what.clone() }.cause();
                (cause, Found { count: 1, seed, what, oracle: None, case })
            }
        };
        let mut all = state.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match all.get_mut(&cause) {
            Some(known) => known.count += 1,
            None => drop(all.insert(cause, found)),
        }
        if options.first {
            state.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// The oracles for a seed where none are named: those that cost little always, the others now and then.
fn usual(seed: u64) -> Vec<Oracle> {
    let mut oracles = Oracle::DEFAULT.to_vec();
    oracles.retain(|oracle| *oracle != Oracle::Schedules);
    // What is generated shows no bits of NaNs.
    oracles.push(Oracle::Native);
    let often = [
        (Oracle::Schedules, 8, 6),
        (Oracle::Passes, 16, 2),
        (Oracle::Checkers, 8, 4),
        (Oracle::Ptxas, 32, 5),
    ];
    oracles.extend(
        often.into_iter().filter(|(_, every, at)| seed % every / 2 == at / 2).map(|(oracle, ..)| oracle),
    );
    oracles
}

fn report(out: &mut impl Write, options: &Options, cause: &str, found: &Found) -> std::io::Result<()> {
    let kind = match options.language {
        Kind::Both => "",
        Kind::Ir => " --language ir",
        Kind::Ptx => " --language ptx",
    };
    let config = options.config.as_ref().map_or_else(String::new, |config| format!(" --config {config}"));
    let files = options.metamorphic.iter().map(|file| format!(" --metamorphic {}", file.display()));
    let files: String = files.chain(options.folding.then(|| " --folding".to_owned())).collect();
    let oracle = found.oracle.map_or_else(String::new, |oracle| match oracle {
        Oracle::Accept | Oracle::Metamorphic | Oracle::Folding => String::new(),
        oracle => format!(" --oracle {oracle}"),
    });
    writeln!(out, "FAIL {cause}")?;
    writeln!(out, "     {}", found.what.replace('\n', "\n     "))?;
    writeln!(
        out,
        "     {} times; again: warpsmith fuzz --seed {} --iterations 1{kind}{config}{files}{oracle}",
        found.count, found.seed
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
