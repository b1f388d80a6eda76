//! The formatter: one canonical layout for PTX text, comments kept.
//!
//! It works on tokens, not on the tree, which has forgotten comments and spelling. What it writes has the same tokens and the same comments in
//! the same order; only blanks differ. Line breaks come from the structure of the text: a statement a line, labels outdented, the parameters
//! of a function one a line, long operand lists broken at commas. Two things are kept as the author had them: single blank lines, and the
//! rows of initial values.

mod line;
mod tokens;

use crate::codes;
use crate::parse::Kind;
use tokens::{Style, Token, tokens};
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};

/// Lines are broken before they get longer.
const WIDTH: usize = 110;

/// How deep indentation goes; a hostile text nests without bounds.
const MAX_INDENT: usize = 24;

/// The text in canonical layout. A text that does not parse is answered with its errors.
///
/// ```
/// let text = ".version 8.0 .target sm_80\n\n\n.func f(.param .b32 n){ // all\nL:bra\tL ;}";
/// let formatted = warpsmith_ptx::format(text).unwrap();
/// assert_eq!(formatted, ".version 8.0\n.target sm_80\n\n.func f(.param .b32 n)\n{ // all\nL:\n    bra L;\n}\n");
/// ```
pub fn format(source: impl Into<Source>) -> Result<String, Diagnostics> {
    let file = source.into();
    let source = file.text();
    let parsed = crate::parse(source);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Diagnostics::new(file.clone(), parsed.diagnostics));
    }
    let all = tokens(source);
    let mut writer = Writer::new(&all);
    writer.module();
    let text = writer.finish();
    // What comes out must be the same program: better no layout than another meaning.
    let written = tokens(&text);
    let characters = |all: &[Token<'_>]| all.iter().map(|token| token.text).collect::<String>();
    let comments = |all: &[Token<'_>]| -> Vec<String> {
        all.iter().flat_map(|token| &token.comments).map(|comment| comment.text.to_owned()).collect()
    };
    let again = crate::parse(&text);
    if again.module != parsed.module
        || characters(&all) != characters(&written)
        || comments(&all) != comments(&written)
    {
        let message = "this text cannot be formatted without changing its meaning; it is left alone";
        let error = Diagnostic::error(codes::FORMAT, Span::NONE, message);
        return Err(Diagnostics::new(file.clone(), vec![error]));
    }
    Ok(text)
}

struct Writer<'t> {
    tokens: &'t [Token<'t>],
    next: usize,
    out: String,
    /// Where the current line begins in `out`.
    line: usize,
    depth: usize,
    /// True where a blank line would be the first of a block.
    block_start: bool,
    /// The comments before the next token that are written already.
    comments_done: usize,
    /// Lines with a comment behind their code: where the line begins and where the comment does.
    trailing: Vec<(usize, usize)>,
}

impl<'t> Writer<'t> {
    fn new(tokens: &'t [Token<'t>]) -> Self {
        Writer {
            tokens,
            next: 0,
            out: String::new(),
            line: 0,
            depth: 0,
            block_start: true,
            comments_done: 0,
            trailing: Vec::new(),
        }
    }

    /// The token to be written next; past the end it is the last, which has no text.
    fn token(&self) -> &'t Token<'t> {
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn peek(&self, ahead: usize) -> &'t Token<'t> {
        &self.tokens[(self.next + ahead).min(self.tokens.len() - 1)]
    }

    fn at(&self, text: &str) -> bool {
        self.token().text == text
    }

    fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn column(&self) -> usize {
        self.out.len() - self.line
    }

    fn module(&mut self) {
        while !self.at_end() {
            self.item();
        }
        self.begin(0);
    }

    fn item(&mut self) {
        self.begin(0);
        match self.token().text {
            ".version" | ".address_size" => self.words(2),
            ".target" => self.target(),
            ".file" => self.file(),
            ".section" => self.section(),
            _ if self.is_function() => self.function(),
            _ => self.statement(),
        }
        self.end_line();
    }

    fn target(&mut self) {
        self.words(2);
        while self.at(",") {
            self.words(2);
        }
    }

    fn file(&mut self) {
        self.words(3);
        while self.at(",") {
            self.words(2);
        }
    }

    /// True if `.entry` or `.func` follows the linkage.
    fn is_function(&self) -> bool {
        let ahead = usize::from(matches!(self.token().text, ".visible" | ".extern" | ".weak" | ".common"));
        matches!(self.peek(ahead).text, ".entry" | ".func")
    }

    /// A header: the parameters behind the name stand one a line.
    fn function(&mut self) {
        let mut named = false;
        while !self.at_end() {
            match self.token().text {
                ";" => {
                    self.write(false);
                    return;
                }
                "{" => {
                    self.end_line();
                    self.begin(0);
                    self.body();
                    return;
                }
                "(" if named => self.params(),
                "(" => self.group(),
                // A pragma among the directives has a `;` of its own.
                ".pragma" => {
                    while !self.at_end() && !self.at(";") {
                        self.write_spaced();
                    }
                    self.write(false);
                }
                _ => {
                    named |= self.token().kind == Kind::Name;
                    self.write_spaced();
                }
            }
        }
    }

    fn params(&mut self) {
        self.write(false);
        if self.fits_here() {
            while !self.at_end() && !self.at(")") {
                self.write_spaced();
            }
            return self.write(false);
        }
        while !self.at_end() && !self.at(")") {
            self.end_line();
            self.begin(1);
            while !self.at_end() && !matches!(self.token().text, "," | ")") {
                match self.at("(") {
                    true => self.group(),
                    false => self.write_spaced(),
                }
            }
            if self.at(",") {
                self.write(false);
            }
        }
        self.end_line();
        self.begin(0);
        self.write(false);
    }

    /// True for a list of at most one parameter, without comments, that fits on the line.
    fn fits_here(&self) -> bool {
        let mut width = self.column();
        for token in &self.tokens[self.next..] {
            width += token.text.len() + 1;
            if !token.comments.is_empty() || token.text == "," || width > WIDTH {
                return false;
            }
            // An attribute's parentheses come with a comma.
            if token.text == ")" {
                return true;
            }
        }
        false
    }

    /// From a parenthesis to its partner, on the line.
    fn group(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() {
            depth = match self.token().text {
                "(" => depth + 1,
                ")" => depth.saturating_sub(1),
                _ => depth,
            };
            self.write_spaced();
            if depth == 0 {
                return;
            }
        }
    }

    fn open(&mut self) {
        self.write(false);
        self.depth += 1;
        self.block_start = true;
        self.end_line();
    }

    fn close(&mut self) {
        // Comments above the brace are about what it closes.
        self.comments_above(0);
        self.depth = self.depth.saturating_sub(1);
        self.begin(0);
        self.write(false);
    }

    fn body(&mut self) {
        self.open();
        let outer = self.depth;
        while !self.at_end() {
            match self.token().text {
                "}" => {
                    self.close();
                    if self.depth < outer {
                        return;
                    }
                    self.end_line();
                }
                "{" => {
                    self.begin(0);
                    self.open();
                }
                _ => {
                    self.body_statement();
                    self.end_line();
                }
            }
        }
    }

    fn body_statement(&mut self) {
        let list = matches!(self.peek(2).text, ".branchtargets" | ".calltargets" | ".callprototype");
        if self.token().kind == Kind::Name && self.peek(1).text == ":" && !list {
            // Labels stand out.
            self.depth -= 1;
            self.begin(0);
            self.depth += 1;
            return self.words(2);
        }
        self.begin(0);
        match self.token().text {
            ".loc" => {
                self.words(4);
                if self.at(",") {
                    // `, function_name label {+ offset}, inlined_at file line column`
                    self.words(3);
                    if self.at("+") {
                        self.words(2);
                    }
                    self.words(5);
                }
            }
            ".target" => self.target(),
            _ if list => {
                self.words(2);
                self.statement_in(Style::after_label());
            }
            _ => self.statement(),
        }
    }

    fn section(&mut self) {
        self.words(2);
        self.end_line();
        self.begin(0);
        self.open();
        while !self.at_end() && !self.at("}") {
            self.begin(0);
            if self.token().kind == Kind::Name {
                self.words(2);
            } else {
                self.write(false);
                while !self.at_end()
                    && !self.at("}")
                    && !(self.token().is_data_directive())
                    && self.peek(1).text != ":"
                {
                    self.write_spaced();
                }
            }
            self.end_line();
        }
        self.close();
    }

    /// Tokens up to a `;`. Initial values keep their rows.
    fn statement(&mut self) {
        let instruction = matches!(self.token().kind, Kind::Name) || self.at("@");
        self.statement_in(Style::new(instruction));
    }

    fn statement_in(&mut self, mut style: Style) {
        let mut braces = 0usize;
        let mut initial = false;
        while !self.at_end() {
            let token = self.token();
            let end = token.text == ";";
            initial |= token.text == "=";
            if initial
                && braces > 0
                && token.breaks > 0
                && self.comments_done == 0
                && token.comments.is_empty()
            {
                self.end_line();
                self.begin(if token.text == "}" { braces - 1 } else { braces });
                self.write(false);
                style.note(token);
            } else {
                let spaced = style.space_before(token);
                let wide = self.column() + token.text.len() + 2 > WIDTH;
                if !initial && wide && style.after_comma() {
                    self.end_line();
                    self.begin(1);
                    self.write(false);
                } else {
                    self.write(spaced);
                }
                style.note(token);
            }
            match token.text {
                "{" => braces += 1,
                "}" => braces = braces.saturating_sub(1),
                _ => {}
            }
            if end {
                return;
            }
        }
    }
}
