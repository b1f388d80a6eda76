//! A cursor over one logical line of a table file.

use super::model::{Error, Position};

pub struct Cursor<'a> {
    rest: &'a str,
    at: Position,
}

pub type Result<T> = std::result::Result<T, Error>;

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, at: Position) -> Self {
        Cursor { rest: text.trim(), at }
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error { at: self.at, message: message.into() })
    }

    /// What is left, without leading space.
    pub fn peek(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    pub fn at_end(&mut self) -> bool {
        self.peek().is_empty()
    }

    /// True where the text goes on without a space.
    pub fn adjacent(&self) -> bool {
        !self.rest.starts_with(char::is_whitespace)
    }

    /// Takes `text` if it comes next.
    pub fn eat(&mut self, text: &str) -> bool {
        match self.peek().strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub fn expect(&mut self, text: &str) -> Result<()> {
        if self.eat(text) { Ok(()) } else { self.expected(&format!("`{text}`")) }
    }

    pub fn expected<T>(&mut self, what: &str) -> Result<T> {
        let found: String = self.peek().chars().take(20).collect();
        self.error(format!("expected {what}, found {}", if found.is_empty() { "the end" } else { &found }))
    }

    /// Takes the longest non-empty run of accepted characters.
    pub fn run(&mut self, what: &str, accept: impl Fn(char) -> bool) -> Result<&'a str> {
        let text = self.peek();
        let end = text.find(|c| !accept(c)).unwrap_or(text.len());
        if end == 0 {
            return self.expected(what);
        }
        self.rest = &text[end..];
        Ok(&text[..end])
    }

    /// Takes a keyword, if a whole word equal to it comes next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        match self.peek().strip_prefix(word) {
            Some(rest) if ends(rest) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    pub fn word(&mut self, what: &str) -> Result<&'a str> {
        self.run(what, |c| c.is_ascii_alphanumeric() || c == '_')
    }

    pub fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let negative = self.eat("-");
        let digits = self.run(what, |c| c.is_ascii_digit())?;
        let text = if negative { format!("-{digits}") } else { digits.to_string() };
        match text.parse() {
            Ok(value) => Ok(value),
            Err(_) => self.error(format!("{what} out of range: {text}")),
        }
    }
}
