//! Changes of a text that put findings right.

use crate::{Diagnostic, Span};
use std::fmt;

/// A change of the text that would put a finding right.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Suggestion {
    /// What the change is, for a reader: "write the rounding".
    pub message: String,
    /// The bytes to replace; empty where something is inserted.
    pub span: Span,
    /// What to put there; empty where something is taken away.
    pub replacement: String,
    /// True where hardly anything else can have been meant, so that a tool may make the change unasked.
    pub certain: bool,
}

impl Suggestion {
    /// The replacement of `span` by `replacement`; `certain` where hardly anything else can have been meant.
    pub fn new(
        message: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
        certain: bool,
    ) -> Suggestion {
        Suggestion { message: message.into(), span, replacement: replacement.into(), certain }
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&help(&self.message, &self.replacement))
    }
}

/// `message: `replacement``, on one line.
pub(crate) fn help(message: &str, replacement: &str) -> String {
    match replacement.trim() {
        "" => message.to_owned(),
        text => format!("{message}: `{}`", text.replace('\n', " ")),
    }
}

/// Makes the certain changes that do not overlap. The result is the new text and the number of changes.
pub fn apply_fixes(text: &str, findings: &[Diagnostic]) -> (String, usize) {
    let certain = |finding: &Diagnostic| finding.suggestions.iter().find(|s| s.certain).cloned();
    let mut changes: Vec<Suggestion> = findings.iter().filter_map(certain).collect();
    changes.sort_by_key(|change| (change.span.start, change.span.end));
    changes.dedup_by(|a, b| a.span == b.span && a.replacement == b.replacement);
    let (mut fixed, mut done, mut count) = (String::with_capacity(text.len()), 0, 0);
    for change in changes {
        let range = change.span.range(text.len());
        if range.start < done || !text.is_char_boundary(range.start) || !text.is_char_boundary(range.end) {
            continue;
        }
        fixed += &text[done..range.start];
        fixed += &change.replacement;
        done = range.end;
        count += 1;
    }
    fixed += &text[done..];
    (fixed, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certain_fixes_that_do_not_overlap_are_made() {
        let findings = [
            Diagnostic::error("X0001", Span::new(4, 4), "").fix("end it", Span::new(4, 4), ";"),
            Diagnostic::error("X0001", Span::new(0, 2), "").fix("name it", Span::new(0, 2), "abc"),
            Diagnostic::error("X0001", Span::new(1, 3), "").fix("no room", Span::new(1, 3), "x"),
            Diagnostic::error("X0001", Span::new(5, 6), "").suggest("perhaps", Span::new(5, 6), "x"),
        ];
        assert_eq!(apply_fixes("ab d\nef", &findings), ("abc d;\nef".to_owned(), 2));
    }
}
