//! Lines: tokens with the blanks, the indentation and the comments between them.

use super::tokens::{Comment, Token};
use super::{MAX_INDENT, Writer};
use crate::parse::Kind;
use warpsmith_isa::layout::align_comments;

impl Writer<'_> {
    /// That many tokens with blanks in between, as far as there are any.
    pub(super) fn words(&mut self, count: usize) {
        for _ in 0..count {
            if !self.at_end() {
                self.write_spaced();
            }
        }
    }

    pub(super) fn write_spaced(&mut self) {
        let text = self.token().text;
        let before = self.out.as_bytes().get(self.line..).and_then(|line| line.last()).copied();
        let last = self.next.checked_sub(1).map(|index| &self.tokens[index]);
        let joined = matches!(text, "," | ";" | ":" | ")" | "]" | ">" | "[" | "<")
            || matches!(before, None | Some(b' ' | b'(' | b'[' | b'<' | b'+' | b'-'))
            || (matches!(text, "+" | "-") && last.is_some_and(|token| token.kind == Kind::Name))
            // Their parentheses belong to them.
            || (text == "(" && last.is_some_and(|token| matches!(token.text, ".attribute" | ".unified")));
        self.write(!joined);
    }

    /// Writes the next token, with what comments stand before it.
    pub(super) fn write(&mut self, spaced: bool) {
        let token = self.token();
        if self.at_end() {
            return;
        }
        let mut spaced = spaced;
        while self.comments_done < token.comments.len() {
            let comment = &token.comments[self.comments_done];
            self.comments_done += 1;
            if comment.takes_line() || comment.breaks > 0 {
                if comment.breaks > 0 || comment.is_mark() {
                    self.new_line(1);
                } else if self.column() > 0 {
                    self.out.push(' ');
                }
                self.push(comment.text, comment.is_mark());
                if comment.takes_line() || token.breaks > 0 {
                    self.new_line(1);
                    spaced = false;
                }
            } else {
                if self.column() > 0 && !self.out.ends_with(' ') {
                    self.out.push(' ');
                }
                self.push(comment.text, false);
                spaced = true;
            }
        }
        if spaced && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
        self.out.push_str(token.text);
        self.block_start = false;
        self.next += 1;
        self.comments_done = 0;
    }

    /// Appends a comment; a mark of a preprocessor stands at the start of its line.
    pub(super) fn push(&mut self, text: &str, mark: bool) {
        if mark {
            self.out.truncate(self.line);
        }
        self.out.push_str(text);
        if let Some(at) = text.rfind('\n') {
            self.line = self.out.len() - text.len() + at + 1;
        }
    }

    /// Ends the line with the comments that stand behind its code.
    pub(super) fn end_line(&mut self) {
        let token = self.token();
        let begin = self.line;
        while let Some(comment) = token.comments.get(self.comments_done)
            && comment.breaks == 0
            && !comment.is_mark()
            && (comment.takes_line() || self.ends_its_line(comment, token))
        {
            if self.line == begin && comment.takes_line() && self.column() > 0 {
                self.trailing.push((self.line, self.out.len()));
            }
            self.out.push(' ');
            self.push(comment.text, false);
            self.comments_done += 1;
            if comment.takes_line() {
                break;
            }
        }
        if self.column() > 0 {
            self.out.push('\n');
            self.line = self.out.len();
        }
    }

    /// True for a comment after which the author began a new line.
    pub(super) fn ends_its_line(&self, comment: &Comment<'_>, token: &Token<'_>) -> bool {
        let after = token.comments.iter().skip_while(|other| !std::ptr::eq(*other, comment)).nth(1);
        after.map_or(token.breaks, |next| next.breaks) > 0 || token.kind == Kind::End
    }

    /// Begins a line: what comments stand above the next token, then the indentation.
    pub(super) fn begin(&mut self, more: usize) {
        self.comments_above(more);
        let token = self.token();
        if token.kind != Kind::End && self.column() == 0 {
            if token.breaks > 1 && token.text != "}" {
                self.blank_line();
            }
            self.indent(more);
        }
        self.block_start = false;
    }

    /// The comments before the next token, of which the last may share its line.
    pub(super) fn comments_above(&mut self, more: usize) {
        let token = self.token();
        while let Some(comment) = token.comments.get(self.comments_done) {
            if comment.breaks > 1 {
                self.blank_line();
            }
            self.block_start = false;
            self.indent(more);
            self.push(comment.text, comment.is_mark());
            self.comments_done += 1;
            if comment.takes_line() || self.ends_its_line(comment, token) {
                self.out.push('\n');
                self.line = self.out.len();
            } else {
                self.out.push(' ');
                return self.comments_inline(token);
            }
        }
    }

    /// A blank line, but not at the start of a block.
    pub(super) fn blank_line(&mut self) {
        if !self.block_start && !self.out.is_empty() && self.column() == 0 {
            self.out.push('\n');
            self.line = self.out.len();
        }
    }

    /// Further comments on the line of the token.
    pub(super) fn comments_inline(&mut self, token: &Token<'_>) {
        while let Some(comment) = token.comments.get(self.comments_done)
            && !comment.takes_line()
            && comment.breaks == 0
        {
            self.push(comment.text, false);
            self.out.push(' ');
            self.comments_done += 1;
        }
    }

    pub(super) fn indent(&mut self, more: usize) {
        if self.column() == 0 {
            self.out.extend(std::iter::repeat_n("    ", (self.depth + more).min(MAX_INDENT)));
        }
    }

    /// Breaks a line within a statement.
    pub(super) fn new_line(&mut self, more: usize) {
        let kept = self.out.trim_end_matches(' ').len().max(self.line);
        self.out.truncate(kept);
        if self.column() > 0 {
            self.out.push('\n');
            self.line = self.out.len();
        }
        self.indent(more);
    }

    pub(super) fn finish(self) -> String {
        align_comments(&self.out, &self.trailing)
    }
}
