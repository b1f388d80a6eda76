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
    lines: OnceLock<Lines>,
}

impl Source {
    /// A text and what messages call it: a path, `<stdin>`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source(Arc::new(Inner { name: name.into(), text: text.into(), lines: OnceLock::new() }))
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
        LineIndex { text, lines: Cow::Borrowed(self.0.lines.get_or_init(|| Lines::of(text))) }
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

/// What is known of the lines of a text.
#[derive(Clone)]
struct Lines {
    /// Offsets of the first byte of each line.
    starts: Vec<u32>,
    /// How many characters start before each block of [`BLOCK`] bytes; found when a column in a long line is first asked for.
    blocks: OnceLock<Vec<u32>>,
}

/// Columns further into a line than this are not counted from its start: a text may be a single line, and every statement of it have a position.
const BLOCK: usize = 1024;

impl Lines {
    fn of(text: &[u8]) -> Lines {
        Lines { starts: line_starts(text), blocks: OnceLock::new() }
    }

    /// How many characters start between two offsets.
    fn characters(&self, text: &[u8], start: usize, end: usize) -> usize {
        if end - start <= BLOCK {
            return characters(&text[start..end]);
        }
        let blocks = self.blocks.get_or_init(|| {
            let before = text.chunks(BLOCK).scan(0, |sum, block| {
                let before = *sum;
                *sum += characters(block) as u32;
                Some(before)
            });
            before.chain([characters(text) as u32]).collect()
        });
        let before = |offset: usize| {
            let block = offset / BLOCK;
            blocks[block] as usize + characters(&text[block * BLOCK..offset])
        };
        before(end) - before(start)
    }
}

/// How many characters start in some bytes of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    // A continuation byte starts none.
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
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
    lines: Cow<'a, Lines>,
}

impl<'a> LineIndex<'a> {
    /// Finds the lines of `text`.
    pub fn new(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        let text = text.as_ref();
        LineIndex { text, lines: Cow::Owned(Lines::of(text)) }
    }

    /// The position of a byte; an offset past the end is the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let starts = &self.lines.starts;
        let line = starts.partition_point(|start| *start <= offset) - 1;
        let column = self.lines.characters(self.text, starts[line] as usize, offset as usize);
        Position { line: line as u32 + 1, column: column as u32 + 1 }
    }

    /// The bytes of a line (counted from 1), without its line end; empty for a line that is not there.
    pub fn line(&self, line: u32) -> &'a [u8] {
        let (line, starts) = (line as usize, &self.lines.starts);
        if line == 0 || line > starts.len() {
            return &[];
        }
        let end = starts.get(line).map_or(self.text.len(), |next| *next as usize - 1);
        let bytes = &self.text[starts[line - 1] as usize..end];
        bytes.strip_suffix(b"\r").unwrap_or(bytes)
    }

    /// The span of what a line (counted from 1) has between its leading and trailing blanks; [`Span::NONE`] for a line that is not there.
    pub fn line_span(&self, line: u32) -> Span {
        let Some(start) = (line as usize).checked_sub(1).and_then(|line| self.lines.starts.get(line)) else {
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
    fn columns_of_long_lines_count_the_same_characters() {
        let line = "a\u{e9}\u{2192}".repeat(BLOCK);
        let text = format!("x\n{line}\n{line}");
        let lines = LineIndex::new(&text);
        let mut counted = Position { line: 1, column: 1 };
        for (offset, c) in text.char_indices() {
            assert_eq!(lines.position(offset as u32), counted, "byte {offset}");
            counted.column += 1;
            if c == '\n' {
                counted = Position { line: counted.line + 1, column: 1 };
            }
        }
        assert_eq!(lines.position(text.len() as u32), counted);
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
