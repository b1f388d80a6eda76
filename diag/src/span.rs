//! Ranges of bytes in a source text.

use std::fmt;
use std::ops::Range;

/// A range of bytes in a source text. [`Span::NONE`] is the span of what was built rather than written.
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
