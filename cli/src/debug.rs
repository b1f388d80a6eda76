//! `warpsmith debug`

mod dap;
mod prompt;

use crate::input::{self, Input};
use crate::target::parse_target;
use crate::{Failure, Outcome, parse_level, report};
use clap::Args;
use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use warpsmith::Diagnostics;
use warpsmith::diag::Language;
use warpsmith::emit::OptLevel;
use warpsmith::interp::Schedule;
use warpsmith::isa::Target;
use warpsmith::launch::LaunchSpec;
use warpsmith::watch::debug::Console;
use warpsmith_harness::session::{Subject, own_launch};

#[derive(Args)]
pub struct Options {
    /// A `.ptx` or `.wir` file, or LLVM bitcode. IR and bitcode are compiled, and their PTX debugged; IR without debug information is its own source. With --dap the editor may name it.
    #[arg(required_unless_present = "dap")]
    file: Option<PathBuf>,
    /// The launch description; without one, the first `run:` directive of the file.
    #[arg(long, value_name = "L.json")]
    launch: Option<PathBuf>,
    /// Do the commands of a file first.
    #[arg(short = 'x', long = "command", value_name = "SCRIPT")]
    scripts: Vec<PathBuf>,
    /// Do a command after those files.
    #[arg(long = "ex", value_name = "COMMAND")]
    commands: Vec<String>,
    /// Quit after the commands of -x and --ex. A run that ends with a fault makes the exit status 1.
    #[arg(long)]
    batch: bool,
    /// In which order threads take turns: round-robin, random, adversarial, lowest-pc. Default: the launch's own, else round-robin.
    #[arg(long, value_name = "SCHEDULE")]
    schedule: Option<Schedule>,
    /// Chooses the interleaving of the threads.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The target that IR is compiled for.
    #[arg(long, value_parser = parse_target, value_name = "sm_NN")]
    target: Option<Target>,
    /// The level that IR is compiled at.
    #[arg(short = 'O', value_parser = parse_level, default_value = "0", value_name = "0..3|s")]
    level: OptLevel,
    /// Speak the Debug Adapter Protocol with an editor, on standard input and output; what the command line says holds where the editor says nothing.
    #[arg(long, conflicts_with_all = ["scripts", "commands", "batch"])]
    dap: bool,
    /// With --dap: listen on this port of the machine for editors, one after the other; 0 takes a free one.
    #[arg(long, requires = "dap", value_name = "N")]
    port: Option<u16>,
}

/// Commands of the command line, then those of a terminal or pipe.
struct Terminal {
    given: VecDeque<String>,
    batch: bool,
    prompt: prompt::Prompt,
    /// Where the module's own files may be found.
    folder: PathBuf,
}

impl Console for Terminal {
    fn read(&mut self, prompt: &str) -> Option<String> {
        if let Some(command) = self.given.pop_front() {
            return Some(command);
        }
        if self.batch {
            return None;
        }
        self.prompt.line(prompt)
    }

    fn write(&mut self, text: &str) {
        let mut out = std::io::stdout().lock();
        // A reader that went away does not read what goes wrong either.
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).unwrap_or_default();
    }

    fn interrupted(&mut self) -> bool {
        self.prompt.interrupted()
    }

    fn file(&mut self, path: &str) -> Option<String> {
        let beside = self.folder.join(path);
        let bytes = std::fs::read(path).or_else(|_| std::fs::read(beside)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

pub fn run(options: &Options) -> Outcome {
    let Some(file) = options.file.as_deref().filter(|_| !options.dap) else { return dap::run(options) };
    let source = input::read(file).map_err(Failure::Usage)?;
    let mut launch = launch(options, &source)?;
    launch.schedule = options.schedule.or(launch.schedule);
    launch.seed = options.seed.or(launch.seed);
    let subject = load(&source, &launch, options.target, options.level).map_err(|errors| {
        report(&errors);
        Failure::Rejected
    })?;
    let mut given = VecDeque::new();
    for script in &options.scripts {
        // Read as `source` would, so that an error ends it.
        if !script.is_file() {
            return Err(Failure::Usage(format!("cannot read {}", script.display())));
        }
        given.push_back(format!("source {}", script.display()));
    }
    given.extend(options.commands.iter().cloned());
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let prompt = prompt::Prompt::new();
    let mut terminal = Terminal { given, batch: options.batch, prompt, folder };
    if subject.session(&launch, &mut terminal) { Ok(()) } else { Err(Failure::Rejected) }
}

fn load(
    source: &Input,
    launch: &LaunchSpec,
    target: Option<Target>,
    level: OptLevel,
) -> Result<Subject, Diagnostics> {
    match source.language {
        Language::Ptx => Subject::from_ptx(&source.source, &launch.entry),
        Language::Wir => Subject::from_wir(&source.source, target, level),
    }
}

fn launch(options: &Options, source: &Input) -> Result<LaunchSpec, Failure> {
    let Some(path) = &options.launch else {
        let missing = |reason: String| {
            Failure::Usage(format!("--launch L.json is needed for {}: {reason}", source.name()))
        };
        return own_launch(source.text(), source.language).map_err(missing);
    };
    let text = input::read(path).map_err(Failure::Usage)?.text().to_owned();
    LaunchSpec::parse(&text).map_err(|errors| {
        errors.iter().for_each(|e| eprintln!("error: {}: {e}", path.display()));
        Failure::Rejected
    })
}
