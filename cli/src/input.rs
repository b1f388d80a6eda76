//! Reading source files, and finding them in folders.

use crate::contents::Contents;
use crate::{Failure, report};
use std::io::Read;
use std::path::{Path, PathBuf};
use warpsmith::diag::Language;
use warpsmith::diag::Source;
use warpsmith::{ir, llvm};

/// A source text and its language.
pub struct Input {
    /// The text and its name for messages.
    pub source: Source,
    /// The language, by the file's extension or else by its first token.
    pub language: Language,
}

impl Input {
    /// The name for messages.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.source.text()
    }
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Input, String> {
    let stdin = path.as_os_str() == "-";
    let name = if stdin { "<stdin>".to_owned() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    let result = if stdin {
        std::io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(path).map(|content| bytes = content)
    };
    result.map_err(|e| format!("cannot read {name}: {e}"))?;
    if llvm::module::is_bitcode(&bytes) {
        return bitcode(path, name, &bytes);
    }
    // What is not UTF-8 becomes U+FFFD: harmless in a comment, and elsewhere rejected by the parser with its position.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let named = Language::of_path(path);
    if let Some(refusal) = Contents::of(&text).and_then(|contents| contents.refusal(&name, named)) {
        return Err(refusal);
    }
    let language = named.unwrap_or_else(|| guess(&text));
    Ok(Input { source: Source::new(name, text), language })
}

/// LLVM bitcode as the IR text that it is imported to. A file beside it of the same name with the extension `run` says how its kernels are
/// launched: its lines are comments of that text.
fn bitcode(path: &Path, name: String, bytes: &[u8]) -> Result<Input, String> {
    let module = llvm::Module::read(bytes).map_err(|error| format!("{name}: {error}"))?;
    let module = llvm::import(vec![(name.clone(), module)], &llvm::Options::new()).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        errors.join("\n")
    })?;
    let mut text = std::fs::read_to_string(path.with_extension("run")).unwrap_or_default();
    text.push_str(&module.to_string());
    Ok(Input { source: Source::new(name, text), language: Language::Wir })
}

/// Bitcode of several files linked to one module. What is wrong has been shown when this fails.
pub fn linked(paths: &[PathBuf], options: &llvm::Options) -> Result<ir::Module, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| Failure::Usage(format!("cannot read {name}: {e}")))?;
        files.push((name, bytes));
    }
    let mut modules = Vec::new();
    for (name, bytes) in &files {
        match llvm::Module::read(bytes) {
            Ok(module) => modules.push((name.clone(), module)),
            Err(error) => {
                report(&error.into_diagnostics(name));
                return Err(Failure::Rejected);
            }
        }
    }
    let name = files.first().map_or("", |(name, _)| name).to_owned();
    llvm::import(modules, options).map_err(|errors| {
        for error in &errors {
            report(&error.report(&name, |path| std::fs::read_to_string(path).ok()));
        }
        Failure::Rejected
    })
}

/// True for files of LLVM bitcode.
pub fn is_bitcode(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && llvm::module::is_bitcode(&start)
}

/// PTX starts with a directive or a comment of its own; IR text does not.
fn guess(text: &str) -> Language {
    let first = text.trim_start();
    let ptx = [".", "//", "/*"].iter().any(|start| first.starts_with(start));
    if ptx { Language::Ptx } else { Language::Wir }
}

/// The file, or all files below a folder that are in one of the languages, sorted.
pub fn files(path: &Path, languages: &[Language]) -> Result<Vec<PathBuf>, Failure> {
    if path.as_os_str() == "-" || path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |e| Failure::Usage(format!("cannot read {}: {e}", path.display()));
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            // Links to folders are not followed, so that a circle of links ends.
            if entry.file_type().map_err(unreadable)?.is_dir() {
                folders.push(entry.path());
            } else if Language::of_path(&entry.path()).is_some_and(|language| languages.contains(&language)) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}
