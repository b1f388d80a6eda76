//! The file tests: each `.wir` and `.ptx` file under `tests/filetests/` says what it tests and what must come out; each example
//! must come out of the round trip. `docs/testing.md` describes the files; `BLESS=1` rewrites them.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsmith::diag::{Diagnostic, LineIndex};
use warpsmith::directives::{self, Directive, Language};
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::execute::execute_observed;
use warpsmith::interp::Program;
use warpsmith::ptxas::Toolbox;
use warpsmith::roundtrip;
use warpsmith::target::DEFAULT_TARGET;
use warpsmith::watch::{Checkers, Report, Selection, Sources};
use warpsmith::{ir, lower, ptx};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = Vec::new();
    for path in files(&root.join("tests/filetests")) {
        let name = path.strip_prefix(root.join("tests/filetests")).unwrap_or(&path).display().to_string();
        trials.push(Trial::test(name, move || file_test(&path)));
    }
    for path in files(&root.join("tests/watch")) {
        let name = path.strip_prefix(root.join("tests")).unwrap_or(&path).display().to_string();
        trials.push(Trial::test(name, move || file_test(&path)));
    }
    for path in files(&root.join("examples")) {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let watched = path.clone();
        trials.push(Trial::test(format!("watch/{name}"), move || silence(&watched)));
        trials.push(Trial::test(name, move || round_trip(&read(&path)?)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if Language::of_path(&path).is_some() {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Result<String, Failed> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()).into())
}

fn round_trip(source: &str) -> Result<(), Failed> {
    let report = roundtrip::file(source, &roundtrip::Options::default());
    let runs: usize = report.kernels.iter().map(|kernel| kernel.runs).sum();
    if runs == 0 {
        return Err("no `run:` directive was executed".into());
    }
    match report.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(failures.join("\n").into()),
    }
}

/// What a test made: text that must equal the file's output, or findings that must equal its marks.
enum Made {
    Nothing,
    Output(String),
    Findings(Vec<Diagnostic>),
}

fn file_test(path: &Path) -> Result<(), Failed> {
    let source = read(path)?;
    let language = Language::of_path(path).ok_or("neither .wir nor .ptx")?;
    let directives = directives::scan(&source, language).map_err(|errors| lines(&errors))?;
    let tests: Vec<&Directive> = directives.iter().filter(|directive| directive.name == "test").collect();
    if tests.is_empty() {
        return Err(format!("no `{} test` directive", language.marker()).into());
    }
    let mut expected = source.clone();
    for test in tests {
        let made = match language {
            Language::Wir => wir_test(path, &source, &test.text)?,
            Language::Ptx => ptx_test(path, &source, &test.text)?,
        };
        expected = match made {
            Made::Nothing => expected,
            Made::Output(output) => with_output(&expected, language, &output),
            Made::Findings(findings) => with_marks(&expected, language, &findings),
        };
    }
    if expected == source {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(path, expected).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        return Ok(());
    }
    Err(difference(&source, &expected).into())
}

fn wir_test(path: &Path, source: &str, test: &str) -> Result<Made, Failed> {
    let mut words = test.split_whitespace();
    let (mode, value) = split(words.next().unwrap_or_default());
    let (mut target, mut level) = (DEFAULT_TARGET, OptLevel::default());
    for (option, value) in words.map(split) {
        match option {
            "O" => level = value.parse().map_err(|()| format!("unknown level {value}"))?,
            "target" => target = value.parse().map_err(|()| format!("unknown target {value}"))?,
            _ => return Err(format!("unknown option `{option}`").into()),
        }
    }
    let parse = || ir::parse_module(source).map_err(|errors| rendered(source, &errors));
    match mode {
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
        "render" => rendered_by_command(path, source, Language::Wir).map(Made::Output),
        "verify" => Ok(Made::Findings(warpsmith::check(source, Language::Wir, None))),
        "opt" => {
            let mut module = parse()?;
            let pipeline = lower::Pipeline::parse(value).map_err(|e| e.to_string())?;
            pipeline
                .run(&mut module, &mut lower::Options::default())
                .map_err(|errors| rendered(source, &errors))?;
            Ok(Made::Output(module.to_string()))
        }
        "emit" => {
            let compiler = Compiler::new(target).with_opt_level(level);
            let compiled = compiler.compile(&parse()?).map_err(|errors| rendered(source, &errors))?;
            Ok(Made::Output(compiled.text))
        }
        "run" => round_trip(source).map(|()| Made::Nothing),
        "ptxas" => {
            let options = roundtrip::Options { toolbox: Toolbox::from_environment(), ..Default::default() };
            let report = roundtrip::file(source, &options);
            match report.failures() {
                failures if failures.is_empty() => Ok(Made::Nothing),
                failures => Err(failures.join("\n").into()),
            }
        }
        _ => Err(format!("unknown test `{mode}`").into()),
    }
}

fn ptx_test(path: &Path, source: &str, test: &str) -> Result<Made, Failed> {
    match test {
        "check" => {
            Ok(Made::Findings(warpsmith::check(before_output(source, Language::Ptx), Language::Ptx, None)))
        }
        "render" => rendered_by_command(path, source, Language::Ptx).map(Made::Output),
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
        "run" => match roundtrip::ptx(source) {
            failures if failures.is_empty() => Ok(Made::Nothing),
            failures => Err(failures.join("\n").into()),
        },
        _ => match split(test) {
            ("watch", checkers) => planted(path, source, checkers).map(Made::Output),
            _ => Err(format!("unknown test `{test}`").into()),
        },
    }
}

/// What checkers report of the runs of a file. One whose name ends in `.ok.ptx` is the corrected twin of another, and silent.
fn planted(path: &Path, source: &str, checkers: &str) -> Result<String, Failed> {
    let name = path.file_name().ok_or("no file name")?.to_string_lossy().into_owned();
    let module = ptx::ValidatedModule::parse(source).map_err(|errors| rendered(source, &errors))?;
    let sources = Sources::new(name.as_str(), before_output(source, Language::Ptx), &module);
    let report = watched(source, Language::Ptx, checkers, |entry| {
        warpsmith::load_entry(&module, source, entry).map_err(|errors| rendered(source, &errors))
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
    let directives = directives::scan(source, language).map_err(|errors| lines(&errors))?;
    let runs = directives::runs(&directives).map_err(|errors| lines(&errors))?;
    if runs.is_empty() {
        return Err("no `run:` directive".into());
    }
    let mut report = Report::new();
    for run in runs {
        let program = load(&run.launch.entry)?;
        let mut checkers = Checkers::new(checkers.parse::<Selection>()?);
        // A fault that ends the run is for the checkers to tell.
        let _ = execute_observed(&program, &run.launch, std::io::sink(), &mut checkers.observer());
        report.append(checkers.into_report());
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
        warpsmith::load_entry(&module, &text, entry).map_err(|errors| rendered(&text, &errors))
    })?;
    if report.is_empty() {
        Ok(())
    } else {
        Err(report.text(&Sources::new("compiled", &text, &module)).into())
    }
}

/// The file's own text, to whose end an error may point.
fn before_output(source: &str, language: Language) -> &str {
    source.find(&format!("\n{} output:", language.marker())).map_or(source, |at| &source[..at])
}

/// What `warpsmith check` shows of a text where no terminal is.
fn rendered_by_command(path: &Path, source: &str, language: Language) -> Result<String, Failed> {
    let text = directives::bare(source, language);
    let kernel = format!("kernel.{}", path.extension().unwrap_or_default().to_string_lossy());
    let name = path.file_name().ok_or("no file name")?;
    let stem = path.file_stem().unwrap_or(name).to_string_lossy();
    let folder = std::env::temp_dir().join(format!("warpsmith-render-{}-{stem}", std::process::id()));
    std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(&kernel), text))?;
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    let output = command.args(["check", &kernel]).current_dir(&folder).output();
    std::fs::remove_dir_all(&folder)?;
    let output = output?;
    if !output.stdout.is_empty() {
        return Err("`check` wrote to standard output".into());
    }
    Ok(String::from_utf8(output.stderr).map_err(|e| e.to_string())?)
}

/// `opt=gvn` is `opt` with `gvn`.
fn split(word: &str) -> (&str, &str) {
    word.split_once('=').unwrap_or((word, ""))
}

/// The comment that ordinary text needs in the language.
fn comment(language: Language) -> &'static str {
    match language {
        Language::Wir => ";",
        Language::Ptx => "//",
    }
}

fn with_output(source: &str, language: Language, output: &str) -> String {
    let head = format!("{} output:", language.marker());
    let mut text = match source.find(&format!("\n{head}")) {
        Some(at) => source[..at].trim_end().to_owned(),
        None => source.trim_end().to_owned(),
    };
    write!(text, "\n\n{head}\n").expect("writing to a string");
    for line in output.lines() {
        text += format!("{} {line}", comment(language)).trim_end();
        text.push('\n');
    }
    text
}

fn with_marks(source: &str, language: Language, findings: &[Diagnostic]) -> String {
    let index = LineIndex::new(source);
    let marks = ["error:", "warning:"].map(|word| format!("{} {word}", language.marker()));
    let count = before_output(source, language).lines().count();
    let mut text = String::new();
    for (number, line) in (1..).zip(source.lines()) {
        let bare =
            marks.iter().filter_map(|mark| line.find(mark)).min().map_or(line, |at| line[..at].trim_end());
        text += bare;
        for finding in findings.iter().filter(|_| number <= count) {
            let at =
                if finding.span.is_none() { 1 } else { index.position(finding.span.start).line as usize };
            if at.min(count) == number {
                let (marker, severity) = (language.marker(), finding.severity);
                write!(text, " {marker} {severity}: {} {}", finding.code, finding.message)
                    .expect("writing to a string");
            }
        }
        text.push('\n');
    }
    text
}

fn rendered(source: &str, diagnostics: &[Diagnostic]) -> String {
    let index = LineIndex::new(source);
    diagnostics.iter().map(|diagnostic| diagnostic.render(&index)).collect::<Vec<_>>().join("\n")
}

fn lines<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join("\n")
}

/// The lines around the first difference.
fn difference(file: &str, made: &str) -> String {
    let (mut a, mut b) = (file.lines(), made.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (a.next(), b.next()) {
            (Some(a), Some(b)) if a == b => {}
            (found, expected) => {
                let show = |line: Option<&str>| line.unwrap_or("(end of text)").to_owned();
                return format!(
                    "line {number} differs (BLESS=1 rewrites the file)\n   file: {}\n   made: {}",
                    show(found),
                    show(expected)
                );
            }
        }
        if number > made.len() + file.len() {
            return "the texts differ in their line ends".into();
        }
    }
}
