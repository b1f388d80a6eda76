//! `warpsmith run`

mod show;

use crate::input::{self, Input};
use crate::watch::{Observations, Observers};
use crate::{Compilation, Failure, Outcome, compile, explore, link, report, watch};
use clap::Args;
use serde_json::{Map, Value, json};
use show::{Problem, error, success, success_json};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use warpsmith::Diagnostics;
use warpsmith::diag::{Diagnostic, Language};
use warpsmith::emit::Debug;
use warpsmith::interp::{Approximations, Launch, Loading, Program, Schedule};
use warpsmith::launch::{Execution, LaunchError, LaunchSpec, arg_from_flag};
use warpsmith::launch::{execute_observed, execute_with_output};
use warpsmith::watch::Sources;
use warpsmith::{ir, ptx};
use warpsmith_harness::session::own_launch;

#[derive(Args)]
pub struct Options {
    /// A `.ptx` or `.wir` file, LLVM bitcode, or - for standard input. IR and bitcode are compiled, and their PTX runs.
    file: PathBuf,
    /// More files of the same program, linked with it.
    more: Vec<PathBuf>,
    /// The launch description. Without one, and without --entry, the first `run:` directive of the file.
    #[arg(long, value_name = "L.json", conflicts_with_all = ["entry", "grid", "block", "cluster", "dynamic_shared", "args", "globals"])]
    launch: Option<PathBuf>,
    /// One JSON object on standard output.
    #[arg(long)]
    json: bool,
    /// Run the IR's own meaning in place of the PTX compiled from it.
    #[arg(long)]
    ir: bool,
    /// The kernel, in place of --launch.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Blocks.
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', value_parser = extent, default_value = "1", requires = "entry")]
    grid: Vec<u64>,
    /// Threads of a block.
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', value_parser = extent, default_value = "1", requires = "entry")]
    block: Vec<u64>,
    /// Blocks of a cluster.
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', value_parser = extent, requires = "entry")]
    cluster: Option<Vec<u64>>,
    /// Bytes of dynamic shared memory.
    #[arg(long, value_name = "BYTES", requires = "entry")]
    dynamic_shared: Option<u64>,
    /// Make all blocks resident together, so that they may wait for each other: a cooperative launch.
    #[arg(long)]
    cooperative: bool,
    /// The most instructions that all threads together may execute.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Sets a variable of the module before the launch and shows it after: NAME=u32:7, with the forms of --arg.
    #[arg(long = "global", value_name = "NAME=ARG", allow_hyphen_values = true, requires = "entry")]
    globals: Vec<String>,
    /// Fill shared memory, local memory and memory from malloc with 0xff before the kernel runs, in place of zeros.
    #[arg(long)]
    poison: bool,
    /// In which order threads take turns: round-robin, random, adversarial, lowest-pc.
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<Schedule>,
    /// What `ex2.approx`, `sin.approx` and their like compute: the true value rounded, as ptxas folds them, or the bits of NVIDIA's special function unit.
    #[arg(long, value_enum, default_value = "rounded", value_name = "HOW")]
    approximations: Approximate,
    /// Chooses the interleaving of the threads; the same seed and schedule give the same run.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Run the launch in N orders of its threads and report whether the results differ and why; then the exit status is 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["schedule", "check", "trace", "coverage", "profile"])]
    explore: Option<u64>,
    /// Execute machine code of this machine: of what is executed often (`auto`), or of all. What is watched is interpreted.
    #[cfg(feature = "native")]
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    native: Native,
    /// An argument, in the kernel's order: u32:7, f32[]:1,2,3, f32[100]:iota|random|zero, bytes:HEX, hex:HEX, zero:N, same:I.
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true, requires = "entry")]
    args: Vec<String>,
    #[command(flatten)]
    compilation: Compilation,
    #[command(flatten)]
    watch: watch::WatchFlags,
}

/// Takes what the kernel prints: kept for the JSON answer, else shown.
#[derive(Clone)]
struct Printed {
    kept: Option<Arc<Mutex<Vec<u8>>>>,
}

impl Printed {
    fn text(&self) -> String {
        let kept = self.kept.as_ref().map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner));
        kept.map_or_else(String::new, |kept| String::from_utf8_lossy(&kept).into_owned())
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &self.kept {
            Some(kept) => kept.lock().unwrap_or_else(PoisonError::into_inner).write(bytes),
            None => std::io::stdout().lock().write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().lock().flush()
    }
}

/// [`Approximations`], as an option.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Approximate {
    /// The true value, rounded to nearest.
    Rounded,
    /// The bits of NVIDIA's special function unit.
    Hardware,
}

impl From<Approximate> for Approximations {
    fn from(how: Approximate) -> Self {
        match how {
            Approximate::Rounded => Approximations::Rounded,
            Approximate::Hardware => Approximations::Hardware,
        }
    }
}

/// When a program is executed as machine code.
#[cfg(feature = "native")]
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Native {
    /// What is executed often.
    Auto,
    /// All of it, from the beginning.
    Always,
    /// Never.
    Off,
}

#[cfg(feature = "native")]
fn accelerate(when: Native, program: &mut Program) {
    let made = match when {
        Native::Off => return,
        Native::Auto => warpsmith::native::attach(program),
        Native::Always => warpsmith::native::accelerate(program).map(drop),
    };
    if let Err(error) = made
        && when == Native::Always
    {
        eprintln!("warning: {}; the program is interpreted", error.message);
    }
}

pub fn run(options: &Options) -> Outcome {
    let source = input::read(&options.file).map_err(|message| unreadable(options, message))?;
    let launch = launch(options, &source)?;
    let printed = Printed { kept: options.json.then(Arc::default) };
    let mut observations = None;
    let description = match &options.launch {
        Some(path) => path.display().to_string(),
        None => "launch description".to_owned(),
    };
    let outcome = launch.map_err(|errors| Problem::Launch(description, errors)).and_then(|launch| {
        let source = if options.more.is_empty() { source } else { linked(options)? };
        #[cfg_attr(not(feature = "native"), expect(unused_mut, reason = "machine code changes the program"))]
        let (mut program, sources) = loaded(options, source, &launch)?;
        #[cfg(feature = "native")]
        accelerate(options.native, &mut program);
        if let Some(count) = options.explore {
            explore::run(&program, &sources, &launch, count, options.json).map_err(Problem::Failure)?;
            return Ok(None);
        }
        let result = result(options, &program, sources, &launch, &printed, &mut observations);
        for refused in program.refused_regions() {
            let place = format!("`{}` from line {} on", refused.function, refused.line);
            eprintln!("warning: {place} has no machine code and was interpreted: {}", refused.reason);
        }
        Ok(Some((result?, launch)))
    });
    if let Ok(None) | Err(Problem::Failure(Failure::Rejected)) = outcome {
        return outcome.map(drop).map_err(|_| Failure::Rejected);
    }
    let bad = outcome.is_err() || observations.as_ref().is_some_and(Observations::is_bad);
    if options.json {
        let mut answer = match &outcome {
            Ok(execution) => execution.as_ref().map_or(Value::Null, |(e, _)| success_json(e, !bad)),
            Err(problem) => json!({"ok": false, "error": problem.json()}),
        };
        if let Some(members) = answer.as_object_mut() {
            members.insert("output".into(), printed.text().into());
            members.extend(observations.iter().flat_map(Observations::json));
        }
        writeln!(std::io::stdout().lock(), "{answer}")?;
    } else {
        if let Ok(Some((execution, launch))) = &outcome {
            std::io::stdout().lock().write_all(success(execution, launch).as_bytes())?;
        }
        observations.iter().for_each(Observations::show);
        if let Err(problem) = &outcome {
            problem.show();
        }
    }
    match outcome {
        Err(Problem::Failure(failure)) => Err(failure),
        _ if bad => Err(Failure::Rejected),
        _ => Ok(()),
    }
}

/// One extent of a grid, a block or a cluster; the launch description has the limits.
fn extent(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected whole numbers with commas between, such as 256 or 16,16,1".to_owned())
}

/// With `--json` the answer goes to standard output even if the call names a file that is not there.
fn unreadable(options: &Options, message: String) -> Failure {
    if options.json {
        println!("{}", json!({"ok": false, "error": error("C0001", &message)}));
    }
    Failure::Usage(message)
}

/// The launch description from the file or the flags.
fn launch(options: &Options, source: &Input) -> Result<Result<LaunchSpec, Vec<LaunchError>>, Failure> {
    if let Some(path) = &options.launch {
        let text = input::read(path).map_err(|message| unreadable(options, message))?.text().to_owned();
        return Ok(LaunchSpec::parse(&text).map(|spec| scheduled(spec, options)));
    }
    if options.entry.is_none() {
        let own = own_launch(source.text(), source.language).map_err(|reason| {
            let file = options.file.display();
            Failure::Usage(format!("--launch L.json or --entry NAME is needed for {file}: {reason}"))
        })?;
        return Ok(Ok(scheduled(own, options)));
    }
    let mut object = Map::new();
    object.insert("entry".into(), options.entry.clone().into());
    object.insert("grid".into(), json!(options.grid));
    object.insert("block".into(), json!(options.block));
    object.extend(options.dynamic_shared.map(|bytes| ("dynamic_shared".to_owned(), bytes.into())));
    object.extend(options.cluster.as_ref().map(|cluster| ("cluster".to_owned(), json!(cluster))));
    let args: Result<Vec<Value>, LaunchError> = options.args.iter().map(|arg| arg_from_flag(arg)).collect();
    object.insert("args".into(), args.map_err(|e| Failure::Usage(e.to_string()))?.into());
    let global = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::Usage(format!("--global {text}: expected NAME=ARG, such as counter=u32:7"))
        })?;
        let value = arg_from_flag(value).map_err(|e| Failure::Usage(e.to_string()))?;
        Ok((name.to_owned(), value))
    };
    let globals = options.globals.iter().map(global).collect::<Result<Map<String, Value>, Failure>>()?;
    object.insert("globals".into(), globals.into());
    Ok(LaunchSpec::from_json(&Value::Object(object)).map(|spec| scheduled(spec, options)))
}

/// A flag overrides the launch description.
fn scheduled(mut spec: LaunchSpec, options: &Options) -> LaunchSpec {
    spec.schedule = options.schedule.or(spec.schedule);
    spec.seed = options.seed.or(spec.seed);
    spec.poison = options.poison.then_some(Launch::POISON).or(spec.poison);
    spec.steps = options.steps.or(spec.steps);
    spec.cooperative |= options.cooperative;
    spec
}

fn loaded(options: &Options, source: Input, launch: &LaunchSpec) -> Result<(Program, Sources), Problem> {
    let loaded = match source.language {
        Language::Ptx => load_ptx(options, &source, launch),
        Language::Wir => load_ir(options, &source),
    };
    loaded.map_err(|errors| Problem::Source(source.language, errors))
}

fn result(
    options: &Options,
    program: &Program,
    sources: Sources,
    launch: &LaunchSpec,
    printed: &Printed,
    observations: &mut Option<Observations>,
) -> Result<Execution, Problem> {
    let faulted = |fault| {
        // A fault is rare: only then is the text read again for where its lines come from.
        let (name, text) = (program.source().name(), program.source().text());
        let module = if options.ir { ptx::Module::default() } else { ptx::parse(text).module };
        Problem::Fault(Box::new(fault), Sources::new(name, text, &module))
    };
    if !options.watch.any() {
        return execute_with_output(program, launch, printed.clone()).map_err(faulted);
    }
    let mut watch = Observers::new(&options.watch, &sources).map_err(Problem::Failure)?;
    let outcome = execute_observed(program, launch, printed.clone(), &mut watch.observer());
    *observations = Some(watch.finish(program, sources, &options.file).map_err(Problem::Failure)?);
    outcome.map_err(faulted)
}

/// All files of the program as one.
fn linked(options: &Options) -> Result<Input, Problem> {
    let files: Vec<PathBuf> = std::iter::once(&options.file).chain(&options.more).cloned().collect();
    let module = link::program(&files, &ptx::link::Options::default()).map_err(Problem::Failure)?;
    let module = module.map_err(|mut errors| {
        // One finding is the answer; the others are shown before it.
        let first = errors.remove(0);
        errors.iter().for_each(report);
        Problem::Source(Language::Ptx, first)
    })?;
    Ok(Input { source: module.source().clone(), language: Language::Ptx })
}

/// What runs, and its text if the run is watched.
type Loaded = Result<(Program, Sources), Diagnostics>;

fn sources(options: &Options, name: &str, text: &str, module: &ptx::Module) -> Sources {
    if options.watch.any() || options.explore.is_some() {
        Sources::new(name, text, module)
    } else {
        Sources::default()
    }
}

fn load_ptx(options: &Options, source: &Input, launch: &LaunchSpec) -> Loaded {
    let module = ptx::ValidatedModule::parse(&source.source)?;
    // The launch may not name the only kernel, or name variables, which the kernel may not reach.
    let all = launch.entry.is_empty() || !launch.globals.is_empty();
    let entry = (!all).then(|| launch.entry.clone());
    let program =
        Program::load_with(&module, &Loading { entry, approximations: options.approximations.into() })?;
    Ok((program, sources(options, source.name(), source.text(), &module)))
}

fn load_ir(options: &Options, source: &Input) -> Loaded {
    let module = ir::parse_module(&source.source)?;
    ir::verify(&module)?;
    if options.ir {
        let program = warpsmith::Program::from_ir(&module)?;
        return Ok((program, sources(options, source.name(), source.text(), &ptx::Module::default())));
    }
    let compiler = compile::compiler(&options.compilation, &module).map_err(|failure| {
        module.diagnostics(match failure {
            Failure::Usage(message) => vec![Diagnostic::error("C0002", Default::default(), message)],
            Failure::Rejected | Failure::Status(_) => Vec::new(),
        })
    })?;
    // Findings name lines of the source; observers of the run get its own names.
    let compiler = match (options.compilation.debug, options.watch.any()) {
        (true, _) => compiler,
        (false, true) => compiler.with_debug(Debug::Full),
        (false, false) => compiler.with_debug(Debug::Lines),
    };
    let compiled = compiler.compile(module)?;
    let loading = Loading { approximations: options.approximations.into(), ..Loading::default() };
    let program = Program::load_with(&compiled.module, &loading)?;
    // Lines are those of the PTX, which is shown beside them.
    let name = compiled.module.source().name();
    Ok((program, sources(options, name, &compiled.text, &compiled.module).compiled()))
}
