//! From text to tokens, and the reading of them.

use super::{Front, Result};
use regex_lite::Regex;
use warpsmith::diag::{Diagnostic, Span};

/// A comment, or what is captured: a text, a number, a word, a sign.
const TOKEN: &str = r#"//.*|("[^"]*"|[0-9][\w.]*|\w+|\|\||&&|[=!<>]=|<<|>>|\S)"#;

/// Words, numbers, signs and texts, and where each begins; behind the last an empty one.
pub(super) fn tokens(source: &str) -> Vec<(&str, usize)> {
    let token = Regex::new(TOKEN).expect("a regular expression");
    let found = token.captures_iter(source).filter_map(|found| found.get(1));
    found.map(|found| (found.as_str(), found.start())).chain([("", source.len())]).collect()
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
