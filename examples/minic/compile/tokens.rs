//! From text to tokens, and the reading of them.

use super::{Front, Result};
use warpsmith::diag::{Diagnostic, Span};

/// Words, numbers, signs and texts, and where each begins; behind the last an empty one.
pub(super) fn tokens(source: &str) -> Vec<(&str, usize)> {
    const LONG: [&str; 8] = ["||", "&&", "==", "!=", "<=", ">=", "<<", ">>"];
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let word = |c: char| c.is_alphanumeric() || c == '_' || first.is_ascii_digit() && c == '.';
        let comment = rest.starts_with("//");
        let len = match first {
            '"' => rest[1..].find('"').map_or(1, |end| end + 2),
            _ if comment => rest.find('\n').unwrap_or(rest.len()),
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            c => LONG.iter().find(|long| rest.starts_with(**long)).map_or(c.len_utf8(), |long| long.len()),
        };
        if !comment && !first.is_whitespace() {
            found.push((&rest[..len], at));
        }
        at += len;
    }
    found.push(("", at));
    found
}

impl<'a> Front<'a> {
    pub(super) fn peek(&self) -> &'a str {
        self.tokens[self.next].0
    }

    pub(super) fn bump(&mut self) -> &'a str {
        let token = self.peek();
        self.next += usize::from(!token.is_empty());
        token
    }

    pub(super) fn accept(&mut self, text: &str) -> bool {
        self.peek() == text && !self.bump().is_empty()
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    pub(super) fn name(&mut self) -> Result<&'a str> {
        let is_name = self.peek().starts_with(|c: char| c.is_alphabetic() || c == '_');
        if is_name { Ok(self.bump()) } else { Err(self.expected("a name")) }
    }

    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> Box<Diagnostic> {
        let (token, start) = self.tokens[at];
        let span = Span::new(start as u32, (start + token.len()) as u32);
        Box::new(Diagnostic::error("minic", span, message))
    }

    pub(super) fn expected(&self, what: &str) -> Box<Diagnostic> {
        let found = if self.peek().is_empty() { "the end".into() } else { format!("`{}`", self.peek()) };
        self.error(self.next, format!("expected {what}, found {found}"))
    }
}
