//! Runs the files of a folder as tests.

use crate::{Directive, before_output, marker, scan};
use libtest_mimic::Arguments;
pub use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use warpsmith_diag::{Diagnostic, Language, LineIndex};

/// One `test` directive of a file: `;; test MODE[=ARGUMENT] [OPTION=VALUE ..]`.
#[derive(Clone, Debug)]
pub struct Test<'a> {
    /// The file.
    pub path: &'a Path,
    /// The whole text of the file.
    pub source: &'a str,
    /// The language, by the extension.
    pub language: Language,
    /// What is tested: `emit` of `emit`, `opt` of `opt=gvn`.
    pub mode: &'a str,
    /// What follows the mode's `=`; empty without one.
    pub argument: &'a str,
    /// The options and their values.
    pub options: Vec<(&'a str, &'a str)>,
}

impl Test<'_> {
    /// The text without the expected output.
    pub fn text(&self) -> &str {
        before_output(self.source, self.language)
    }

    /// The failure of a test whose mode the test program does not have.
    pub fn unknown(&self) -> Failed {
        format!("unknown test `{}`", self.mode).into()
    }
}

/// What a test made: text that must equal the file's output, or findings that must equal its marks.
#[derive(Clone, Debug)]
pub enum Made {
    /// Nothing to compare: the test has passed.
    Nothing,
    /// The output.
    Output(String),
    /// The findings.
    Findings(Vec<Diagnostic>),
}

/// Runs trials as the command line says.
pub fn main(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A trial for each file below a folder, under `prefix` and its path there. A file without a `test` directive fails.
pub fn file_tests(
    folder: &Path,
    prefix: &str,
    run: impl Fn(&Test<'_>) -> Result<Made, Failed> + Send + Sync + 'static,
) -> Vec<Trial> {
    let run = Arc::new(run);
    let trial = |path: PathBuf| {
        let name = format!("{prefix}{}", path.strip_prefix(folder).unwrap_or(&path).display());
        let run = Arc::clone(&run);
        Trial::test(name, move || file_test(&path, &*run))
    };
    files(folder).into_iter().map(trial).collect()
}

/// The source files below a folder, sorted. A folder that cannot be read is a mistake of the test program.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap_or_else(|e| panic!("{}: {e}", folder.display())).path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if Language::of_path(&path).is_some() {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The text of a file.
pub fn read(path: &Path) -> Result<String, Failed> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()).into())
}

fn file_test(path: &Path, run: &dyn Fn(&Test<'_>) -> Result<Made, Failed>) -> Result<(), Failed> {
    let source = read(path)?;
    let language = Language::of_path(path).ok_or("neither .wir nor .ptx")?;
    let directives = scan(&source, language).map_err(|errors| lines(&errors))?;
    let tests: Vec<&Directive> = directives.iter().filter(|directive| directive.name == "test").collect();
    if tests.is_empty() {
        return Err(format!("no `{} test` directive", marker(language)).into());
    }
    let mut expected = source.clone();
    for test in tests {
        let mut words = test.text.split_whitespace().map(split);
        let (mode, argument) = words.next().unwrap_or_default();
        let test = Test { path, source: &source, language, mode, argument, options: words.collect() };
        expected = match run(&test)? {
            Made::Nothing => expected,
            Made::Output(output) => with_output(&expected, language, &output),
            Made::Findings(findings) => with_marks(&expected, language, &findings),
        };
    }
    compare(path, &source, &expected)
}

/// Passes if the file's text is the expected one; else fails with the first difference, or rewrites the file if the environment has
/// `BLESS=1`.
pub fn compare(path: &Path, text: &str, expected: &str) -> Result<(), Failed> {
    if text == expected {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        // Other tests may read the file meanwhile: they find the old text or the new.
        let made = path.with_extension("blessed");
        return std::fs::write(&made, expected)
            .and_then(|()| std::fs::rename(&made, path))
            .map_err(|e| format!("cannot write {}: {e}", path.display()).into());
    }
    Err(difference(text, expected).into())
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
    let head = format!("{} output:", marker(language));
    let mut text = match source.find(&format!("\n{head}")) {
        Some(at) => source[..at].trim_end().to_owned(),
        None => source.trim_end().to_owned(),
    };
    text += &format!("\n\n{head}\n");
    for line in output.lines() {
        text += format!("{} {line}", comment(language)).trim_end();
        text.push('\n');
    }
    text
}

fn with_marks(source: &str, language: Language, findings: &[Diagnostic]) -> String {
    let index = LineIndex::new(source);
    let marks = ["error:", "warning:"].map(|word| format!("{} {word}", marker(language)));
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
                let Diagnostic { severity, code, message, .. } = finding;
                text += &format!(" {} {severity}: {code} {message}", marker(language));
            }
        }
        text.push('\n');
    }
    text
}

/// Findings in their compact form, for a failure.
pub fn rendered(source: &str, findings: &[Diagnostic]) -> String {
    let index = LineIndex::new(source);
    lines(&findings.iter().map(|finding| finding.render(&index)).collect::<Vec<_>>())
}

/// Items on lines of their own, for a failure.
pub fn lines<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join("\n")
}

/// The first difference of two texts.
pub fn difference(file: &str, made: &str) -> String {
    let (mut a, mut b) = (file.lines(), made.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (a.next(), b.next()) {
            (None, None) => return "the texts differ in their line ends".into(),
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
    }
}
