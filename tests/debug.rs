//! Sessions of the debugger: each transcript under `tests/watch/debug/`, and those of `docs/watching.md`, must come out as they stand;
//! and sessions of editors (`tests/watch/dap/`).
//!
//! A transcript starts with `$ warpsmith debug FILE [-O N]`; the commands are the lines with a prompt. The launch is the first `run:`
//! directive of the file. `BLESS=1` rewrites what the commands show.

#[path = "watch/dap/client.rs"]
mod client;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsmith::diag::{Language, LineIndex, Source};
use warpsmith::emit::{Compiler, Debug, OptLevel};
use warpsmith::isa::Target;
use warpsmith::ptx::{Stmt, ValidatedModule};
use warpsmith::watch::Sources;
use warpsmith::watch::debug::{Debugger, PROMPT, Script};
use warpsmith::watch::dwarf::{Places, VariablePlaces};
use warpsmith::{Program, ir, llvm};
use warpsmith_filetests::runner::{Failed, Trial, compare, main as run_trials};
use warpsmith_harness::session::{Subject, own_launch};

const HEAD: &str = "$ warpsmith debug ";
const FENCE: &str = "```";

/// How many times longer `-g` may make a text.
const MOST_TIMES: usize = 4;

fn main() -> ExitCode {
    let transcripts = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).expect("the folder is part of the repository");
        let paths = entries.flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
        paths.sort();
        paths
    };
    let mut paths = transcripts("tests/watch/debug");
    paths.push(root().join("docs/watching.md"));
    let trial = |path: PathBuf, check: fn(&Path) -> Result<(), Failed>| {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        Trial::test(name, move || check(&path))
    };
    let sessions = paths.into_iter().map(|path| trial(path, check));
    let editors = transcripts("tests/watch/dap").into_iter().map(|path| trial(path, client::check));
    let client = client::installed();
    let ignored = client.is_none();
    let client = Trial::test("tests/watch/dap/client.mjs", move || {
        client::converse(&client.ok_or("no client: `cargo xtask tools` installs it")?)
    });
    let shapes = Trial::test("tests/places/shape.cu", same_shape);
    let examples = Trial::test("examples: lines and variables", every_line_of_the_examples);
    run_trials(sessions.chain(editors).chain([client.with_ignored_flag(ignored), shapes, examples]).collect())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What nvcc -G says of a kernel, and what we say of the same source by way of clang: functions, parameters, variables, types, inlined calls;
/// and wherever nvcc has a variable somewhere, so have we. `tests/places/make.sh` makes both inputs.
fn same_shape() -> Result<(), Failed> {
    let places = |text: &str| -> Result<Places, Failed> {
        let module = ValidatedModule::parse(text).map_err(|errors| errors.to_string())?;
        Ok(Places::new(&module, &Sources::new("shape.ptx", text, &module)))
    };
    let theirs = places(include_str!("places/shape.ptx"))?;
    let bitcode = llvm::Module::read(include_bytes!("places/shape.bc")).map_err(|error| error.to_string())?;
    let options = llvm::Options::new().with_target(Target::sm(80));
    let module = llvm::import(vec![("shape.bc".to_owned(), bitcode)], &options)
        .map_err(|errors| format!("{errors:?}"))?;
    let compile = |level| {
        let compiler = Compiler::new(Target::sm(80)).with_opt_level(level).with_debug(Debug::Full);
        let compiler = compiler.with_verify_each(true);
        Ok::<_, Failed>(compiler.compile(&module).map_err(|errors| errors.to_string())?.text)
    };
    for level in OptLevel::ALL {
        let ours = places(&compile(level)?)?;
        let shape = |places: &Places| {
            let mut all: Vec<_> = places
                .functions
                .iter()
                .flat_map(|f| {
                    f.variables
                        .iter()
                        .map(|v| (f.name.clone(), v.level, v.parameter, v.name.clone(), v.ty.clone()))
                })
                .collect();
            all.sort();
            all
        };
        compare_shapes(level, &shape(&theirs), &shape(&ours))?;
        if !ours.warnings.is_empty() || !theirs.warnings.is_empty() {
            return Err(format!("{:?} {:?}", ours.warnings, theirs.warnings).into());
        }
        if level != OptLevel::O0 {
            continue;
        }
        for (theirs, ours) in theirs.functions.iter().zip(&ours.functions) {
            for known in &theirs.variables {
                let same = |v: &&VariablePlaces| (&v.name, v.level) == (&known.name, known.level);
                let found = ours.variables.iter().find(same).ok_or("the shapes are the same")?;
                let lost = found.at.iter().find(|(_, place)| place.is_none());
                if let Some((lines, _)) = lost {
                    return Err(format!("{} is nowhere at {lines}", known.name).into());
                }
            }
        }
    }
    Ok(())
}

/// The examples as their own source, at -O0: every variable is somewhere wherever it can be named, every line with code is a breakpoint's
/// place, and within a block of the IR lines come in the order of the source. At all levels, debug information is within its bounds.
fn every_line_of_the_examples() -> Result<(), Failed> {
    let mut checked = 0;
    for entry in std::fs::read_dir(root().join("examples"))?.flatten() {
        let path = entry.path();
        if Language::of_path(&path) != Some(Language::Wir) {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path)?;
        let module =
            ir::parse_module(Source::new(name.as_str(), text.as_str())).map_err(|e| e.to_string())?;
        let compile = |level, debug| {
            let compiler = Compiler::new(warpsmith::DEFAULT_TARGET).with_opt_level(level);
            compiler.with_debug(debug).compile(&module).map_err(|errors| errors.to_string())
        };
        for level in OptLevel::ALL {
            let compiled = compile(level, Debug::Full)?;
            let stats = compiled.stats.debug;
            let plain = compile(level, Debug::None)?.text.len();
            if compiled.text.len() > MOST_TIMES * plain {
                let size = compiled.text.len();
                return Err(format!("{name} at {level}: {size} bytes with -g, {plain} without").into());
            }
            if level == OptLevel::O0
                && (stats.located, stats.covered_instructions) != (stats.variables, stats.scope_instructions)
            {
                return Err(format!("{name}: not every variable is everywhere: {stats}").into());
            }
            let ptx = ValidatedModule::parse(&compiled.text).map_err(|errors| errors.to_string())?;
            let program = Program::load(&ptx).map_err(|errors| errors.to_string())?;
            let sources = Sources::new("k.ptx", &compiled.text, &ptx);
            // A line with code, in the text of the IR: what its `.loc`s name.
            let lines: BTreeSet<u32> = (1..=compiled.text.lines().count() as u32)
                .flat_map(|line| sources.frames(line).first().map(|frame| frame.line))
                .collect();
            let commands = lines.iter().map(|line| format!("break {name}:{line}\n")).collect::<String>();
            let mut script = Script::new(&commands);
            Debugger::new("k.ptx", &compiled.text, &ptx, &program, &mut script).session(&mut |_| Ok(()));
            for line in &lines {
                let wanted = format!("file {name}, line {line}.");
                let asked = format!("break {name}:{line}\n");
                let said = script.output().split_once(&asked).and_then(|(_, rest)| rest.lines().next());
                if !said.is_some_and(|said| said.contains(&wanted)) {
                    let said = said.unwrap_or_default();
                    return Err(
                        format!("{name}:{line} at {level} is not a place for a breakpoint: {said}").into()
                    );
                }
                checked += 1;
            }
            if level == OptLevel::O0 {
                in_order(&name, &compiled.text, &ptx, &sources)?;
            }
        }
    }
    if checked < 500 { Err(format!("only {checked} lines").into()) } else { Ok(()) }
}

/// Between labels that something jumps to, and jumps, lines do not go back.
fn in_order(name: &str, text: &str, ptx: &ValidatedModule, sources: &Sources) -> Result<(), Failed> {
    let index = LineIndex::new(text);
    for body in ptx.functions().filter_map(|function| function.body) {
        let mut last = 0;
        for id in body.ids() {
            match ptx[id] {
                Stmt::Inst(_) => {
                    let at = index.position(ptx.stmt_span(id).start).line;
                    // What the ABI needs in front has no line of its own.
                    let Some(frame) = sources.frames(at).first() else { continue };
                    if frame.line < last {
                        return Err(format!(
                            "{name}: line {} behind line {last}, at line {at} of\n{text}",
                            frame.line
                        )
                        .into());
                    }
                    last = frame.line;
                }
                // Blocks may stand in another order than in the source.
                Stmt::Label(label) if !ptx[label].starts_with("$") || ptx[label].starts_with("$L") => {
                    last = 0
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn compare_shapes<T: PartialEq + std::fmt::Debug>(
    level: OptLevel,
    theirs: &[T],
    ours: &[T],
) -> Result<(), Failed> {
    let missing: Vec<&T> = theirs.iter().filter(|item| !ours.contains(item)).collect();
    let more: Vec<&T> = ours.iter().filter(|item| !theirs.contains(item)).collect();
    if !missing.is_empty() || !more.is_empty() || theirs.is_empty() {
        return Err(format!("at {level}: nvcc alone has {missing:#?}, we alone have {more:#?}").into());
    }
    Ok(())
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let made = if path.extension().is_some_and(|e| e == "md") {
        // Sessions stand between fences.
        let mut parts: Vec<String> = text.split(FENCE).map(str::to_owned).collect();
        for part in &mut parts {
            if let Some(at) = part.find(HEAD).filter(|at| part[..*at].lines().count() <= 1) {
                let made = replay(&part[at..])?;
                part.truncate(at);
                part.push_str(&made);
            }
        }
        parts.join(FENCE)
    } else {
        replay(&text)?
    };
    compare(path, &text, &made)
}

/// Executes the commands of a transcript; the result is the transcript as it should be.
fn replay(transcript: &str) -> Result<String, Failed> {
    let head = transcript.lines().next().unwrap_or_default();
    let mut words =
        head.strip_prefix(HEAD).ok_or("a transcript starts with `$ warpsmith debug FILE`")?.split(' ');
    let name = words.next().unwrap_or_default();
    let level = match words.next().map(|word| word.strip_prefix("-O").unwrap_or(word).parse::<OptLevel>()) {
        Some(level) => level.map_err(|()| "expected -O0 to -O3")?,
        None => OptLevel::O0,
    };
    let folder = root().join("tests/watch/debug");
    let path = [folder.join(name), root().join(name)].into_iter().find(|path| path.is_file());
    let path = path.ok_or_else(|| format!("{name} is not there"))?;
    let text = std::fs::read_to_string(&path)?;
    let language = Language::of_path(&path).ok_or("neither .ptx nor .wir")?;
    let launch = own_launch(&text, language).map_err(|reason| format!("{name}: {reason}"))?;
    let subject = match language {
        Language::Ptx => Subject::from_ptx(Source::new(name, &text), &launch.entry),
        Language::Wir => Subject::from_wir(Source::new(name, &text), None, level),
    };
    let subject = subject.map_err(|errors| format!("{name}: {errors:#?}"))?;
    let commands: Vec<&str> = transcript.lines().filter_map(|line| line.strip_prefix(PROMPT)).collect();
    if commands.is_empty() {
        return Err("no commands".into());
    }
    let mut script = Script::new(&commands.join("\n")).with_file(name, text);
    for entry in std::fs::read_dir(&folder)?.flatten() {
        let content = std::fs::read_to_string(entry.path())?;
        script = script.with_file(entry.file_name().to_string_lossy(), content);
    }
    subject.session(&launch, &mut script);
    Ok(format!("{head}\n{}", script.output()))
}
