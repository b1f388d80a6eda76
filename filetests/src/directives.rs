//! Directives: what a source file says about itself in its comments.
//!
//! In `.wir` a directive starts with `;;` at the start of a line, in `.ptx` with `//;`; lines that start so and go on with three
//! or more spaces continue it. `docs/testing.md` is the reference.

use std::fmt;
use warpsmith_diag::Language;

/// What starts a directive in a language.
pub const fn marker(language: Language) -> &'static str {
    match language {
        Language::Wir => ";;",
        Language::Ptx => "//;",
    }
}

/// One directive as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    /// `test`, `run`, `expect`, `fault` or `output`.
    pub name: &'static str,
    /// What follows the name; continued lines are joined by a newline, so that line numbers inside count on from `line`.
    pub text: String,
    /// The line of the name, from 1.
    pub line: usize,
}

/// A directive that cannot be understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectiveError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for DirectiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

const NAMES: [&str; 5] = ["test", "run", "expect", "fault", "output"];

/// Finds the directives of `source`. Everything after an `output` directive is that directive's text.
pub fn scan(source: &str, language: Language) -> Result<Vec<Directive>, Vec<DirectiveError>> {
    let mut directives: Vec<Directive> = Vec::new();
    let mut errors = Vec::new();
    let mut open = false;
    for (line, text) in (1..).zip(source.lines()) {
        if let Some(last) = directives.last_mut().filter(|last| last.name == "output") {
            // Output is a block of ordinary comments.
            let comment = &marker(language)[..marker(language).len() - 1];
            let text = text.strip_prefix(comment).unwrap_or(text);
            last.text.push_str(text.strip_prefix(' ').unwrap_or(text));
            last.text.push('\n');
            continue;
        }
        let Some(rest) = text.strip_prefix(marker(language)) else {
            open = false;
            continue;
        };
        if rest.trim().is_empty() {
            open = false;
        } else if rest.starts_with("   ") {
            match directives.last_mut().filter(|_| open) {
                Some(last) => {
                    last.text.push('\n');
                    last.text.push_str(rest);
                }
                None => {
                    errors.push(DirectiveError { line, message: "this line continues no directive".into() })
                }
            }
        } else {
            let rest = rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let (word, text) = rest.split_at(end);
            if matches!(word, "error" | "warning") {
                // A mark of a file test, alone on its line.
                open = false;
                continue;
            }
            match NAMES.into_iter().find(|name| *name == word) {
                Some(name) => {
                    let text = text.strip_prefix(':').unwrap_or(text).trim().to_owned();
                    directives.push(Directive { name, text, line });
                    open = true;
                }
                None => {
                    let message = format!("unknown directive `{word}`; expected one of {}", NAMES.join(", "));
                    errors.push(DirectiveError { line, message });
                }
            }
        }
    }
    if errors.is_empty() { Ok(directives) } else { Err(errors) }
}

/// The source of a file test as its author means it: without directives, marks of errors and expected output.
pub fn bare(source: &str, language: Language) -> String {
    let start = marker(language);
    let mut text = String::new();
    for line in source.lines() {
        if line.strip_prefix(start).is_some_and(|rest| rest.trim_start().starts_with("output")) {
            break;
        }
        match line.find(start) {
            Some(0) => {}
            Some(at) => text.extend([line[..at].trim_end(), "\n"]),
            None => text.extend([line, "\n"]),
        }
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// The file's own text, to whose end an error may point: what stands before an `output` directive.
pub fn before_output(source: &str, language: Language) -> &str {
    source.find(&format!("\n{} output:", marker(language))).map_or(source, |at| &source[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_a_block_of_comments() {
        let directives =
            scan("//; test print\nret;\n//; output:\n// a\n//\n// b: c\n", Language::Ptx).unwrap();
        assert_eq!(directives[1].text, "a\n\nb: c\n");
    }
}
