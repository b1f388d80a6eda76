//! What every parser, verifier and validator of Warpsmith answers with: plain data, rendered by whoever shows it.

use std::fmt;
use std::ops::Range;

/// A range of bytes in a source text. [`Span::NONE`] stands for things that were not written, such as built IR.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of what has no source text.
    pub const NONE: Span = Span { start: u32::MAX, end: u32::MAX };

    /// The bytes `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// True for [`Span::NONE`].
    pub const fn is_none(self) -> bool {
        self.start == u32::MAX
    }

    /// The smallest span that covers both; [`Span::NONE`] adds nothing.
    pub fn to(self, other: Span) -> Span {
        if self.is_none() {
            return other;
        }
        if other.is_none() {
            return self;
        }
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span as an index range, clamped to a text of `len` bytes.
    pub fn range(self, len: usize) -> Range<usize> {
        let start = (self.start as usize).min(len);
        start..(self.end as usize).clamp(start, len)
    }
}

impl Default for Span {
    fn default() -> Self {
        Span::NONE
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() { f.write_str("-") } else { write!(f, "{}..{}", self.start, self.end) }
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Legal, yet likely a mistake.
    Warning,
    /// The input is refused.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// One finding about an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable name for the kind of finding: `P0123` from PTX, `I0123` from the IR.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Other places that matter, each with a word about why. One at `span` itself is what to write under it.
    pub labels: Vec<(Span, String)>,
    /// What was expected, what would be legal.
    pub notes: Vec<String>,
    /// Changes of the text that would put it right.
    pub suggestions: Vec<Suggestion>,
    /// The section of the PTX manual that has the rule, as `9.7.1.1`.
    pub section: Option<&'static str>,
}

/// A change of the text that would put a finding right.
#[derive(Clone, PartialEq, Eq, Debug)]
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

impl Diagnostic {
    /// An error without labels or notes.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        Diagnostic {
            severity: Severity::Error,
            code,
            message,
            span,
            labels: Vec::new(),
            notes: Vec::new(),
            suggestions: Vec::new(),
            section: None,
        }
    }

    /// A warning without labels or notes.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Adds a place that matters. A label without a place is kept as a note.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        if span.is_none() {
            self.notes.push(text.into());
        } else {
            self.labels.push((span, text.into()));
        }
        self
    }

    /// Adds a note.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a change that may be what was meant. Without a place it is kept as a note.
    pub fn suggest(self, message: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.suggestion(message.into(), span, replacement.into(), false)
    }

    /// Adds a change that must be what was meant.
    pub fn fix(self, message: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.suggestion(message.into(), span, replacement.into(), true)
    }

    fn suggestion(mut self, message: String, span: Span, replacement: String, certain: bool) -> Self {
        if span.is_none() {
            return self.note(help(&message, &replacement));
        }
        self.suggestions.push(Suggestion { message, span, replacement, certain });
        self
    }

    /// Names the section of the PTX manual that has the rule.
    pub fn section(mut self, section: &'static str) -> Self {
        self.section = Some(section);
        self
    }

    /// True unless it is a warning.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The finding in one line (`3:14: error[I0102]: ...`) with its labels and notes indented below.
    pub fn render(&self, lines: &LineIndex) -> String {
        let at = |span: Span| match span.is_none() {
            true => String::new(),
            false => format!("{}: ", lines.position(span.start)),
        };
        let mut text = format!("{}{}[{}]: {}", at(self.span), self.severity, self.code, self.message);
        for (span, label) in &self.labels {
            text += &format!("\n  {}{label}", at(*span));
        }
        for note in &self.notes {
            text += &format!("\n  note: {note}");
        }
        for suggestion in &self.suggestions {
            text += &format!("\n  help: {suggestion}");
        }
        if let Some(section) = self.section {
            text += &format!("\n  see {MANUAL}, {section}");
        }
        text
    }
}

/// The manual that [`Diagnostic::section`] counts in.
pub const MANUAL: &str = "PTX ISA 9.0";

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&help(&self.message, &self.replacement))
    }
}

/// `message: `replacement``, on one line.
fn help(message: &str, replacement: &str) -> String {
    match replacement.trim() {
        "" => message.to_owned(),
        text => format!("{message}: `{}`", text.replace('\n', " ")),
    }
}

/// Makes the certain changes, as long as they do not overlap; also says how many there were.
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

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)
    }
}

/// A place as people count: from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Turns byte offsets of one text into [`Position`]s.
pub struct LineIndex<'a> {
    text: &'a [u8],
    starts: Vec<u32>,
}

impl<'a> LineIndex<'a> {
    /// Finds the lines of `text`.
    pub fn new(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        let text = text.as_ref();
        let newlines = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        LineIndex { text, starts: std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect() }
    }

    /// The position of a byte; an offset past the end is the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.starts[line] as usize..offset as usize];
        // A UTF-8 continuation byte starts no character.
        let column = before.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        Position { line: line as u32 + 1, column: column as u32 + 1 }
    }

    /// The bytes of a line (counted from 1), without its line end; empty for a line that is not there.
    pub fn line(&self, line: u32) -> &'a [u8] {
        let line = line as usize;
        if line == 0 || line > self.starts.len() {
            return &[];
        }
        let end = self.starts.get(line).map_or(self.text.len(), |next| *next as usize - 1);
        let bytes = &self.text[self.starts[line - 1] as usize..end];
        bytes.strip_suffix(b"\r").unwrap_or(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let lines = LineIndex::new("ab\r\n\u{e9}x\n");
        let at = |offset| lines.position(offset).to_string();
        assert_eq!([at(0), at(1), at(4), at(6), at(8), at(99)], ["1:1", "1:2", "2:1", "2:2", "3:1", "3:1"]);
        assert_eq!(
            [lines.line(1), lines.line(2), lines.line(3), lines.line(4)],
            [&b"ab"[..], "\u{e9}x".as_bytes(), b"", b""]
        );
    }

    #[test]
    fn rendering_keeps_labels_and_notes() {
        let finding = Diagnostic::error("X0001", Span::new(3, 4), "wrong")
            .label(Span::new(0, 1), "declared here")
            .label(Span::NONE, "declared nowhere")
            .note("write it right")
            .suggest("did you mean", Span::new(3, 4), "e")
            .section("4.1");
        let text = finding.render(&LineIndex::new("ab\ncd"));
        assert_eq!(
            text,
            "2:1: error[X0001]: wrong\n  1:1: declared here\n  note: declared nowhere\n  note: write it right\
             \n  help: did you mean: `e`\n  see PTX ISA 9.0, 4.1"
        );
    }

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
