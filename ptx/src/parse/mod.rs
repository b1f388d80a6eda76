//! The parser: recursive descent over tokens, one error per mistake, and a tree whatever the text.
//!
//! Invariants:
//! - Parsing never fails and never panics: it returns a tree and the errors, and what could not be read is not in the tree.
//! - Time and memory are linear in the text. Each error consumes input or ends the list it is in; recursion (constant
//!   expressions, initialiser lists) stops at [`MAX_DEPTH`]; scopes do not recurse at all.
//! - A large text is read in parts at the same time, if nothing is wrong with it (`parallel`); the tree is the same.
//! - After [`MAX_ERRORS`] errors the rest of the text is skipped.

mod body;
mod constant;
mod decl;
mod item;
mod lexer;
mod operand;
mod parallel;
mod section;
mod source;

use crate::codes;
use crate::tree::*;
pub(crate) use lexer::{Kind, Lexer};
use lexer::{Problem, Token};
use warpsmith_diag::nearest;
use warpsmith_diag::{Diagnostic, Span};

/// The deepest nesting of constant expressions and of initialiser lists.
const MAX_DEPTH: u32 = 128;

/// The number of errors that are reported at most.
const MAX_ERRORS: usize = 500;

/// What [`parse`] found.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree of all that could be read.
    pub module: Module,
    /// The findings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a PTX module. There is always a tree; it is the whole text if no diagnostic is an error.
///
/// ```
/// let parsed = warpsmith_ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 x[4] = {1, 2, 3};");
/// assert!(parsed.diagnostics.is_empty());
/// assert_eq!(parsed.module.items().len(), 4);
/// ```
pub fn parse(source: &(impl AsRef<[u8]> + ?Sized)) -> Parsed {
    let text = source.as_ref();
    // NVRTC gives a text with the NUL that ends it in C.
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    let mut parser = Parser::new(text);
    if text.len() >= u32::MAX as usize {
        let error = Diagnostic::error(codes::TOO_LARGE, Span::NONE, "the text has 4 GiB or more");
        return Parsed { module: Module::default(), diagnostics: vec![error] };
    }
    if let Some(parsed) = parallel::parse(text) {
        return parsed;
    }
    parser.check_ascii();
    parser.bump();
    parser.items();
    // Errors of the text as a whole were found first; a reader wants them in the order of the text.
    parser.diagnostics.sort_by_key(|d| d.span.start);
    Parsed { module: parser.module, diagnostics: parser.diagnostics }
}

/// A syntax error has been reported; the caller's caller resumes somewhere safe.
struct Failed;

type Parse<T> = Result<T, Failed>;

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token to be read next.
    token: Token,
    /// Where the token before it ends.
    last_end: u32,
    module: Module,
    diagnostics: Vec<Diagnostic>,
    depth: u32,
    /// Operands whose list is not complete yet; nested lists leave first.
    operands: Vec<(Operand, Span)>,
    /// Set when [`MAX_ERRORS`] is reached.
    gave_up: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8]) -> Self {
        Parser {
            lexer: Lexer { text, pos: 0 },
            token: Token { kind: Kind::End, start: 0, end: 0 },
            last_end: 0,
            module: Module::default(),
            diagnostics: Vec::new(),
            depth: 0,
            operands: Vec::new(),
            gave_up: false,
        }
    }

    fn check_ascii(&mut self) {
        let text = self.lexer.text;
        if text.is_ascii() {
            return;
        }
        let mut runs = text.chunk_by(|a, b| a.is_ascii() == b.is_ascii());
        let mut at = 0;
        while let Some(run) = runs.next()
            && !self.gave_up
        {
            let span = Span::new(at, at + run.len() as u32);
            at = span.end;
            if !run[0].is_ascii() {
                self.report(not_ascii(&String::from_utf8_lossy(run), span));
            }
        }
    }

    fn report(&mut self, mut diagnostic: Diagnostic) {
        if self.gave_up {
            return;
        }
        diagnostic.section = diagnostic.section.or_else(|| codes::section(diagnostic.code));
        self.diagnostics.push(diagnostic);
        if self.diagnostics.len() == MAX_ERRORS {
            let end = self.lexer.text.len() as u32;
            let message = format!("{MAX_ERRORS} errors: the rest of the text is not read");
            self.diagnostics.push(Diagnostic::error(codes::TOO_MANY, Span::new(end, end), message));
            self.gave_up = true;
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Failed {
        self.report(Diagnostic::error(code, span, message));
        Failed
    }

    /// "expected `..`, found `..`" at the current token.
    fn expected(&mut self, what: &str) -> Failed {
        let span = self.span();
        match self.token.kind {
            Kind::Bad(Problem::OpenString) => {
                let span = Span::new(span.start, span.start + 1);
                self.error(codes::OPEN_STRING, span, "this string has no closing `\"`")
            }
            Kind::Bad(Problem::OpenComment) => {
                let span = Span::new(span.start, span.start + 2);
                self.error(codes::OPEN_COMMENT, span, "this comment is never closed")
            }
            Kind::Bad(Problem::Byte) => {
                let message = format!("{} begins nothing in PTX: expected {what}", self.found());
                self.error(codes::BAD_BYTE, span, message)
            }
            _ => {
                let message = format!("expected {what}, found {}", self.found());
                self.error(codes::SYNTAX, span, message)
            }
        }
    }

    /// The current token as a message names it.
    fn found(&self) -> String {
        match self.token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", String::from_utf8_lossy(clip(self.text())).escape_debug()),
        }
    }

    /// The bytes of the current token.
    #[inline]
    fn text(&self) -> &'a [u8] {
        &self.lexer.text[self.token.start as usize..self.token.end as usize]
    }

    #[inline]
    fn span(&self) -> Span {
        Span::new(self.token.start, self.token.end)
    }

    /// From a position to the end of the token before the current one.
    #[inline]
    fn since(&self, start: u32) -> Span {
        Span::new(start, self.last_end.max(start))
    }

    #[inline]
    fn bump(&mut self) {
        self.last_end = self.token.end;
        self.token = if self.gave_up {
            let end = self.lexer.text.len() as u32;
            Token { kind: Kind::End, start: end, end }
        } else {
            self.lexer.next()
        };
    }

    #[inline]
    fn at(&self, punct: u8) -> bool {
        self.token.kind == Kind::Punct(punct)
    }

    #[inline]
    fn eat(&mut self, punct: u8) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, punct: u8, what: &str) -> Parse<()> {
        if self.eat(punct) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// The `;` that ends a statement. One that is missing at the end of a line, or of the body, is reported, and assumed.
    #[inline]
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.eat(b';') {
            return Ok(());
        }
        let missing_at = Span::new(self.last_end, self.last_end);
        let gap = &self.lexer.text[self.last_end as usize..self.token.start as usize];
        let next_line =
            gap.contains(&b'\n') && matches!(self.token.kind, Kind::Name | Kind::Dot | Kind::Punct(b'@'));
        if next_line || self.at(b'}') {
            let message = format!("expected `;` after {after}, found {}", self.found());
            let error = Diagnostic::error(codes::SYNTAX, missing_at, message);
            self.report(error.fix("end it here", missing_at, ";"));
            return Ok(());
        }
        Err(self.expected(&format!("`;` after {after}")))
    }

    /// Remembers a name that stands where nothing could be understood, so that its uses are not reported too.
    fn lose_name(&mut self) {
        if self.token.kind == Kind::Name {
            let symbol = self.intern(self.span());
            self.module.marks.lost.insert(symbol);
        }
    }

    /// Reports the current directive's name if it is a misspelling of one of these: it is then read as if it were that.
    fn misspelt(&mut self, what: &str, words: &[&'static str]) -> Option<&'static str> {
        if self.token.kind != Kind::Dot {
            return None;
        }
        let text = std::str::from_utf8(&self.text()[1..]).ok()?.to_ascii_lowercase();
        let near = nearest(&text, words.iter().copied())?;
        let span = self.span();
        let message = format!("unknown {what} `.{}`", clip_str(&text));
        self.report(Diagnostic::error(codes::SYNTAX, span, message).fix(
            "did you mean",
            span,
            format!(".{near}"),
        ));
        Some(near)
    }

    fn at_dot(&self, word: &str) -> bool {
        self.token.kind == Kind::Dot && &self.text()[1..] == word.as_bytes()
    }

    fn intern(&mut self, span: Span) -> Symbol {
        self.module.names.intern_bytes(&self.lexer.text[span.range(self.lexer.text.len())])
    }

    /// A name, which `_` is not.
    fn name(&mut self, what: &str) -> Parse<(Symbol, Span)> {
        match self.token.kind {
            Kind::Name if self.text() != b"_" && !is_word(self.text()) => {
                let span = self.span();
                let symbol = self.intern(span);
                self.bump();
                Ok((symbol, span))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A string literal, interned without its quotes.
    fn string(&mut self, what: &str) -> Parse<Symbol> {
        if self.token.kind != Kind::Str {
            return Err(self.expected(what));
        }
        let symbol = self.intern(Span::new(self.token.start + 1, self.token.end - 1));
        self.bump();
        Ok(symbol)
    }

    /// Runs `inner` one level deeper, or reports that it is too deep.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth == MAX_DEPTH {
            let span = self.span();
            return Err(self.error(codes::TOO_DEEP, span, format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

/// True for a word of the language that is spelled as a name.
fn is_word(text: &[u8]) -> bool {
    warpsmith_isa::limits::RESERVED_WORDS.iter().any(|word| word.as_bytes() == text)
}

/// Characters that editors, web pages and input methods put in place of those of ASCII.
const LOOKALIKES: [(&str, &str); 10] = [
    ("\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2212}\u{ff0d}", "-"),
    ("\u{201c}\u{201d}\u{201e}\u{ff02}", "\""),
    ("\u{a0}\u{2002}\u{2003}\u{2009}\u{202f}\u{3000}", " "),
    ("\u{feff}\u{200b}\u{200e}\u{200f}", ""),
    ("\u{ff1b}\u{37e}", ";"),
    ("\u{ff0c}", ","),
    ("\u{ff05}", "%"),
    ("\u{ff08}", "("),
    ("\u{ff09}", ")"),
    ("\u{b5}\u{3bc}", "u"),
];

/// The error of a run of characters outside of ASCII.
fn not_ascii(run: &str, span: Span) -> Diagnostic {
    let first = run.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    let message = format!("U+{:04X} is not ASCII", u32::from(first));
    let error = Diagnostic::error(codes::NON_ASCII, span, message)
        .note("PTX text is ASCII, in comments and strings too");
    let ascii = |c: char| LOOKALIKES.iter().find(|(alike, _)| alike.contains(c)).map(|(_, ascii)| *ascii);
    match run.chars().map(ascii).collect::<Option<String>>() {
        Some(text) => error.fix(if text.is_empty() { "take it away" } else { "write" }, span, text),
        None => error,
    }
}

fn clip_str(text: &str) -> &str {
    text.get(..40).unwrap_or(text)
}

/// The beginning of a token that may be as long as the text.
fn clip(text: &[u8]) -> &[u8] {
    &text[..text.len().min(40)]
}
