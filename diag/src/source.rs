//! Source texts, and bytes turned into lines and columns.

use crate::Span;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The languages of source texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// Warpsmith IR text.
    Wir,
    /// PTX text.
    Ptx,
}

impl Language {
    /// The language of a file by the extension of its name.
    pub fn of_path(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "wir" => Some(Language::Wir),
            "ptx" => Some(Language::Ptx),
            _ => None,
        }
    }
}

/// A source text and its name, shared: a clone costs a reference count.
///
/// The lines are found when they are first asked for.
#[derive(Clone)]
pub struct Source(Arc<Inner>);

/// What messages call a text without a name.
const UNNAMED: &str = "<text>";

struct Inner {
    name: String,
    text: String,
    starts: OnceLock<Vec<u32>>,
}

impl Source {
    /// A text and what messages call it: a path, `<stdin>`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source(Arc::new(Inner { name: name.into(), text: text.into(), starts: OnceLock::new() }))
    }

    /// What messages call the text.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The lines of the text.
    pub fn lines(&self) -> LineIndex<'_> {
        let text = self.0.text.as_bytes();
        let starts = self.0.starts.get_or_init(|| line_starts(text));
        LineIndex { text, starts: Cow::Borrowed(starts) }
    }

    /// The line and column of a byte of the text.
    pub fn position(&self, offset: u32) -> Position {
        self.lines().position(offset)
    }

    /// A text without a name or content: the source of what was built rather than written.
    pub fn none() -> Source {
        Source::new("", "")
    }

    /// True for [`Source::none`].
    pub fn is_none(&self) -> bool {
        self.name().is_empty() && self.text().is_empty()
    }
}

impl From<&Source> for Source {
    fn from(source: &Source) -> Source {
        source.clone()
    }
}

impl From<String> for Source {
    /// A text without a name of its own.
    fn from(text: String) -> Source {
        Source::new(UNNAMED, text)
    }
}

impl From<&str> for Source {
    /// A text without a name of its own.
    fn from(text: &str) -> Source {
        Source::from(text.to_owned())
    }
}

impl From<&String> for Source {
    /// A text without a name of its own.
    fn from(text: &String) -> Source {
        Source::from(text.clone())
    }
}

impl From<&[u8]> for Source {
    /// A text without a name of its own; what is not UTF-8 becomes U+FFFD, which no language of ours takes.
    fn from(text: &[u8]) -> Source {
        Source::from(String::from_utf8_lossy(text).into_owned())
    }
}

impl Default for Source {
    fn default() -> Self {
        Source::none()
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.name() == other.name() && self.text() == other.text())
    }
}

impl Eq for Source {}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?}, {} bytes)", self.name(), self.text().len())
    }
}

/// Offsets of the first byte of each line.
fn line_starts(text: &[u8]) -> Vec<u32> {
    // Iterators that filter take several times as long without optimisation, and every byte of a source comes by here.
    let (mut starts, mut at) = (vec![0], 0);
    while at < text.len() {
        let byte = text[at];
        at += 1;
        if byte == b'\n' {
            starts.push(at as u32);
        }
    }
    starts
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
    starts: Cow<'a, [u32]>,
}

impl<'a> LineIndex<'a> {
    /// Finds the lines of `text`.
    pub fn new(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        let text = text.as_ref();
        LineIndex { text, starts: Cow::Owned(line_starts(text)) }
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

    /// The span of what a line (counted from 1) has between its leading and trailing blanks; [`Span::NONE`] for a line that is not there.
    pub fn line_span(&self, line: u32) -> Span {
        let Some(start) = (line as usize).checked_sub(1).and_then(|line| self.starts.get(line)) else {
            return Span::NONE;
        };
        let bytes = self.line(line);
        let start = start + (bytes.len() - bytes.trim_ascii_start().len()) as u32;
        Span::new(start, start + bytes.trim_ascii().len() as u32)
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
    fn the_span_of_a_line_is_what_is_written_on_it() {
        let source = Source::new("t", "a\n  bc \r\n   \nd");
        let at = |line| source.lines().line_span(line);
        assert_eq!([at(1), at(2), at(4)], [Span::new(0, 1), Span::new(4, 6), Span::new(13, 14)]);
        assert_eq!([at(0), at(5)], [Span::NONE; 2]);
        assert_eq!(at(3).range(99).len(), 0);
        assert_eq!(source.position(4).to_string(), "2:3");
    }
}
