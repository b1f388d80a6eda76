//! Reading source files, and finding them in folders.

use crate::Failure;
use std::io::Read;
use std::path::{Path, PathBuf};
use warpsmith::diag::Language;
use warpsmith::diag::Source;

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
    // What is not UTF-8 becomes U+FFFD: harmless in a comment, and elsewhere rejected by the parser with its position.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let language = Language::of_path(path).unwrap_or_else(|| guess(&text));
    Ok(Input { source: Source::new(name, text), language })
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
