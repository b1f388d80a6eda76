//! `warpsmith reduce`

mod launch;

use crate::gpu::Tooling;
use crate::{Failure, Outcome, input, write_output};
use clap::Args;
use launch::Launch;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use warpsmith::Language;
use warpsmith::OptLevel;
use warpsmith::fuzz::{self, Case, Effort, Oracle, Tools, smith::reduce};
use warpsmith::launch::LaunchSpec;
use warpsmith_harness::ptxas::Toolbox;

#[derive(Args)]
pub struct Options {
    /// A `.ptx` or `.wir` file that fails.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What must stay: an oracle of `warpsmith fuzz` that objects, `crash`, or `fault=CODE`. Default: the first oracle that objects.
    #[arg(long, value_name = "PREDICATE", conflicts_with = "shell")]
    keep: Option<String>,
    /// A command of the shell that ends with status 0 for what is interesting; the candidate is the file `$1`.
    #[arg(long, value_name = "COMMAND")]
    shell: Option<String>,
    /// The launch as JSON. Default: the first `run:` directive of the file.
    #[arg(long, value_name = "JSON")]
    launch: Option<String>,
    /// Seconds.
    #[arg(long, default_value_t = 60)]
    time: u64,
    /// Candidates need not be valid: for failures of parser and validator.
    #[arg(long)]
    invalid: bool,
    /// Where the reduced program goes. Default: standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What must stay as it is.
enum Keep {
    /// With the cause, where the message has it, and the levels that it takes.
    Oracle(Oracle, Option<String>, Vec<OptLevel>),
    Crash,
    Fault(String),
    Shell(String),
}

pub fn run(options: &Options) -> Outcome {
    let source = input::read(&options.file).map_err(Failure::Usage)?;
    let text = source.text().to_owned();
    let language = fuzz::language_of(&without_directives(&text));
    let launch = Launch::of(options, &text, language)?;
    let toolbox = Toolbox::from_environment();
    let tools = if options.keep.as_deref() == Some(Oracle::Gpu.name()) {
        Tooling::with_gpu(toolbox).map_err(|why| Failure::Usage(format!("--keep gpu: {why}")))?
    } else {
        Tooling::new(toolbox)
    };
    let body = without_directives(&text);
    let keep = match (&options.shell, options.keep.as_deref()) {
        (Some(command), _) => Keep::Shell(command.clone()),
        (None, Some("crash")) => Keep::Crash,
        (None, Some(keep)) => match keep.strip_prefix("fault=") {
            Some(code) => Keep::Fault(code.to_owned()),
            None => {
                objection(&body, language, &launch.spec, &[keep.parse().map_err(Failure::Usage)?], &tools)?
            }
        },
        (None, None) => objection(&body, language, &launch.spec, &Oracle::ALL, &tools)?,
    };
    let holds = |launch: &Launch, text: &str| holds(&keep, text, language, &launch.spec, &tools);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    if !holds(&launch, &body) {
        std::panic::set_hook(hook);
        return Err(Failure::Usage("the file is not interesting as it is: nothing to reduce".to_owned()));
    }
    let mut settings = reduce::Options::default();
    settings.time = Duration::from_secs(options.time);
    settings.valid = !options.invalid;
    let launch = launch.with_fewer_threads(|launch| holds(launch, &body));
    let reduced = reduce::reduce(&body, language, &settings, |text| holds(&launch, text));
    let (launch, text) = launch.with_fewer_parameters(reduced.text, language, holds);
    std::panic::set_hook(hook);
    let count = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    eprintln!(
        "{} lines of {}, grid {:?}, block {:?}; {} candidates asked about{}",
        count(&text),
        count(&body),
        launch.spec.grid,
        launch.spec.block,
        reduced.asked,
        if reduced.finished { "" } else { "; the time is over" }
    );
    write_output(options.output.as_deref(), &launch.file_test(&text, language))
}

/// The text without the lines that say what to do with it.
pub(crate) fn without_directives(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with(";;") && !line.starts_with("//;"));
    kept.fold(String::with_capacity(text.len()), |text, line| text + line + "\n")
}

/// The first oracle that objects to the file.
fn objection(
    text: &str,
    language: Language,
    launch: &LaunchSpec,
    oracles: &[Oracle],
    tools: &dyn Tools,
) -> Result<Keep, Failure> {
    let case = Case { language, text: text.to_owned(), launch: launch.clone(), description: String::new() };
    match catch_unwind(AssertUnwindSafe(|| fuzz::check(&case, oracles, tools))) {
        Ok(Ok(_)) => Err(Failure::Usage(
            "no oracle objects to the file: --keep or --shell says what is wrong".to_owned(),
        )),
        Ok(Err(failure)) => {
            eprintln!("{failure}");
            let cause = (!compares(failure.oracle)).then(|| failure.cause());
            let levels = fewest_levels(&case, failure.oracle, tools);
            Ok(Keep::Oracle(failure.oracle, cause, levels))
        }
        Err(_panic) => Ok(Keep::Crash),
    }
}

/// The fewest levels at which an oracle objects to IR: each candidate is compiled at these. Passes that are left out are looked at beside the levels.
fn fewest_levels(case: &Case, oracle: Oracle, tools: &dyn Tools) -> Vec<OptLevel> {
    let each = OptLevel::ALL.iter().map(std::slice::from_ref);
    let mut fewer = [&[][..]].into_iter().chain(each).filter(|levels| {
        let effort = Effort { levels, way: None, allocation: None };
        let checked = catch_unwind(AssertUnwindSafe(|| fuzz::check_with(case, &[oracle], effort, tools)));
        matches!(checked, Ok(Err(failure)) if failure.oracle == oracle)
    });
    fewer.next().unwrap_or(&OptLevel::ALL).to_vec()
}

/// True for an oracle that compares results, which mean nothing where they are not defined.
fn compares(oracle: Oracle) -> bool {
    match oracle {
        Oracle::Levels
        | Oracle::Passes
        | Oracle::Schedules
        | Oracle::Reference
        | Oracle::Native
        | Oracle::Llvm
        | Oracle::Gpu
        | Oracle::Metamorphic => true,
        Oracle::Accept
        | Oracle::Text
        | Oracle::Checkers
        | Oracle::Ptxas
        | Oracle::Folding
        | Oracle::Spoilt => false,
    }
}

fn holds(keep: &Keep, text: &str, language: Language, launch: &LaunchSpec, tools: &dyn Tools) -> bool {
    let case =
        || Case { language, text: text.to_owned(), launch: launch.clone(), description: String::new() };
    let checked_at = |oracles: &[Oracle], levels: &[OptLevel]| {
        let effort = Effort { levels, way: None, allocation: None };
        catch_unwind(AssertUnwindSafe(|| fuzz::check_with(&case(), oracles, effort, tools)))
    };
    let checked = |oracles: &[Oracle]| checked_at(oracles, &OptLevel::ALL);
    match keep {
        Keep::Oracle(oracle, cause, levels) => {
            let same = |failure: &fuzz::Failure| {
                failure.oracle == *oracle && cause.as_ref().is_none_or(|cause| failure.cause() == *cause)
            };
            let defined = || catch_unwind(AssertUnwindSafe(|| fuzz::is_defined(&case()))).unwrap_or(false);
            matches!(checked_at(&[*oracle], levels), Ok(Err(failure)) if same(&failure))
                && (!compares(*oracle) || defined())
        }
        Keep::Crash => checked(&Oracle::ALL).is_err(),
        Keep::Fault(code) => {
            let words = format!("faults: {code}");
            matches!(checked(&[Oracle::Accept]), Ok(Err(failure)) if failure.what.contains(&words))
        }
        Keep::Shell(command) => shell(command, text, language),
    }
}

fn shell(command: &str, text: &str, language: Language) -> bool {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let extension = if language == Language::Ptx { "ptx" } else { "wir" };
    let name = format!("warpsmith-reduce-{}-{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name).with_extension(extension);
    if std::fs::write(&path, text).is_err() {
        return false;
    }
    let status = Command::new("sh")
        .args(["-c", command, "sh"])
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // A leftover in the temporary folder is no reason to fail.
    std::fs::remove_file(&path).unwrap_or_default();
    status.is_ok_and(|status| status.success())
}
