//! The file tests: each `.wir` and `.ptx` file under `tests/filetests/` says what it tests and what must come out; each example
//! must come out of the round trip. `docs/testing.md` describes the files; `BLESS=1` rewrites them.

use std::path::Path;
use std::process::ExitCode;
use warpsmith::diag::{Language, Renderer, Source};
use warpsmith::emit::Debug;
use warpsmith::launch::execute_observed;
use warpsmith::watch::dwarf::Places;
use warpsmith::watch::{Checkers, Report, Selection, Sources};
use warpsmith::{Compiler, DEFAULT_TARGET, OptLevel, Program, ir, ptx};
use warpsmith_filetests::runner::{Failed, Made, Test, Trial, difference, files, lines, read, rendered};
use warpsmith_filetests::runner::{file_tests, main as run_trials};
use warpsmith_filetests::{bare, before_output, scan};
use warpsmith_harness::ptxas::Toolbox;
use warpsmith_harness::roundtrip;
use warpsmith_harness::runs::runs;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = file_tests(&root.join("tests/filetests"), "", file_test);
    trials.extend(file_tests(&root.join("tests/watch"), "watch/", file_test));
    for path in files(&root.join("examples")) {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let watched = path.clone();
        trials.push(Trial::test(format!("watch/{name}"), move || silence(&watched)));
        trials.push(Trial::test(name, move || round_trip(&read(&path)?)));
    }
    run_trials(trials)
}

fn round_trip(source: &str) -> Result<(), Failed> {
    let report = roundtrip::file(source, &roundtrip::Options::default());
    let runs: usize = report.kernels.iter().map(|kernel| kernel.runs).sum();
    if runs == 0 {
        return Err("no `run:` directive was executed".into());
    }
    without_failures(&report.failures())
}

fn without_failures(failures: &[String]) -> Result<(), Failed> {
    if failures.is_empty() { Ok(()) } else { Err(lines(failures).into()) }
}

fn file_test(test: &Test<'_>) -> Result<Made, Failed> {
    match test.language {
        Language::Wir => wir_test(test),
        Language::Ptx => ptx_test(test),
    }
}

fn wir_test(test: &Test<'_>) -> Result<Made, Failed> {
    let source = test.source;
    let (mut target, mut level) = (DEFAULT_TARGET, OptLevel::default());
    for (option, value) in &test.options {
        match *option {
            "O" => level = value.parse().map_err(|()| format!("unknown level {value}"))?,
            "target" => target = value.parse().map_err(|()| format!("unknown target {value}"))?,
            _ => return Err(format!("unknown option `{option}`").into()),
        }
    }
    let parse = || ir::parse_module(source).map_err(|errors| rendered(source, &errors));
    match test.mode {
        "parse" => {
            let text = parse()?.to_string();
            let again = ir::parse_module(&text).map_err(|errors| rendered(&text, &errors))?.to_string();
            if again != text {
                return Err(
                    format!("print . parse is not the identity:\n{}", difference(&text, &again)).into()
                );
            }
            Ok(Made::Output(text))
        }
        "render" => Ok(drawn(test)),
        "verify" => Ok(Made::Findings(warpsmith::check(source, Language::Wir, None).into_vec())),
        "emit" => {
            let compiler = Compiler::new(target).with_opt_level(level);
            let compiled = compiler.compile(parse()?).map_err(|errors| rendered(source, &errors))?;
            Ok(Made::Output(compiled.text))
        }
        "places" => {
            let compiler = Compiler::new(target).with_opt_level(level).with_debug(Debug::Full);
            let source =
                Source::new(test.path.file_name().unwrap_or_default().to_string_lossy(), test.text());
            let module = ir::parse_module(source).map_err(|errors| errors.to_string())?;
            let compiled = compiler.compile(&module).map_err(|errors| errors.to_string())?;
            Ok(Made::Output(places(&compiled.text)?))
        }
        "run" => round_trip(source).map(|()| Made::Nothing),
        "ptxas" => {
            let options = roundtrip::Options { toolbox: Toolbox::from_environment(), ..Default::default() };
            without_failures(&roundtrip::file(source, &options).failures()).map(|()| Made::Nothing)
        }
        _ => Err(test.unknown()),
    }
}

fn ptx_test(test: &Test<'_>) -> Result<Made, Failed> {
    let source = test.source;
    match test.mode {
        "check" => Ok(Made::Findings(warpsmith::check(test.text(), Language::Ptx, None).into_vec())),
        "render" => Ok(drawn(test)),
        "print" => {
            let parsed = ptx::parse(source);
            if !parsed.diagnostics.is_empty() {
                return Err(rendered(source, &parsed.diagnostics).into());
            }
            let text = ptx::print(&parsed.module);
            let again = ptx::parse(&text);
            if again.module != parsed.module || ptx::print(&again.module) != text {
                return Err(format!("parse . print is not the identity on:\n{text}").into());
            }
            Ok(Made::Output(text))
        }
        "places" => Ok(Made::Output(places(test.text())?)),
        "run" => without_failures(&roundtrip::ptx(source)).map(|()| Made::Nothing),
        "watch" => planted(test.path, source, test.argument).map(Made::Output),
        _ => Err(test.unknown()),
    }
}

/// What `warpsmith dump` says of the variables of a text.
fn places(text: &str) -> Result<String, Failed> {
    let module = ptx::ValidatedModule::parse(text).map_err(|errors| rendered(text, &errors))?;
    Ok(Places::new(&module, &Sources::new("k.ptx", text, &module)).to_string())
}

/// What `warpsmith check` shows of a text where no terminal is.
fn drawn(test: &Test<'_>) -> Made {
    let name = match test.language {
        Language::Wir => "kernel.wir",
        Language::Ptx => "kernel.ptx",
    };
    let source = Source::new(name, bare(test.source, test.language));
    let findings = warpsmith::check(source.text(), test.language, None);
    Made::Output(Renderer::plain().diagnostics(&source, &findings))
}

/// What checkers report of the runs of a file. One whose name ends in `.ok.ptx` is the corrected twin of another, and silent.
fn planted(path: &Path, source: &str, checkers: &str) -> Result<String, Failed> {
    let name = path.file_name().ok_or("no file name")?.to_string_lossy().into_owned();
    let module = ptx::ValidatedModule::parse(source).map_err(|errors| rendered(source, &errors))?;
    let sources = Sources::new(name.as_str(), before_output(source, Language::Ptx), &module);
    let report = watched(source, Language::Ptx, checkers, |entry| {
        warpsmith::Program::load_entry(&module, entry).map_err(|errors| rendered(source, &errors))
    })?;
    let text = report.text(&sources);
    match name.strip_suffix(".ok.ptx") {
        Some(_) if !report.is_empty() => Err(format!("findings in a corrected kernel:\n{text}").into()),
        None if report.is_empty() => Err("no findings".into()),
        None if !path.with_extension("ok.ptx").exists() => Err("the corrected twin is missing".into()),
        _ => Ok(text),
    }
}

/// The findings of the runs of a file.
fn watched(
    source: &str,
    language: Language,
    checkers: &str,
    load: impl Fn(&str) -> Result<Program, String>,
) -> Result<Report, Failed> {
    let directives = scan(source, language).map_err(|errors| lines(&errors))?;
    let runs = runs(&directives).map_err(|errors| lines(&errors))?;
    if runs.is_empty() {
        return Err("no `run:` directive".into());
    }
    let mut report = Report::new();
    for run in runs {
        let program = load(&run.launch.entry)?;
        let mut checkers = Checkers::new(checkers.parse::<Selection>()?);
        let outcome = execute_observed(&program, &run.launch, std::io::sink(), &mut checkers.observer());
        let found = checkers.into_report();
        // A fault that ends the run is for the checkers to report; one that none of them knows is a mistake of the test.
        if let (Err(fault), true) = (outcome, found.is_empty()) {
            return Err(fault.to_string().into());
        }
        report.append(found);
    }
    Ok(report)
}

/// No checker finds anything in an example.
fn silence(path: &Path) -> Result<(), Failed> {
    let source = read(path)?;
    let language = Language::of_path(path).ok_or("neither .wir nor .ptx")?;
    let text = match language {
        Language::Ptx => source.clone(),
        Language::Wir => {
            let module = ir::parse_module(&source).map_err(|errors| rendered(&source, &errors))?;
            let compiled = Compiler::new(DEFAULT_TARGET).compile(&module);
            compiled.map_err(|errors| rendered(&source, &errors))?.text
        }
    };
    let module = ptx::ValidatedModule::parse(&text).map_err(|errors| rendered(&text, &errors))?;
    let report = watched(&source, language, "all", |entry| {
        warpsmith::Program::load_entry(&module, entry).map_err(|errors| rendered(&text, &errors))
    })?;
    if report.is_empty() {
        Ok(())
    } else {
        Err(report.text(&Sources::new("compiled", &text, &module)).into())
    }
}
