//! Tokens with their comments, and the blanks between tokens.

use crate::parse::{Kind, Lexer};

/// A token and what stands before it.
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// Empty at the end.
    pub(super) text: &'t str,
    /// The comments between the token before and this one.
    pub(super) comments: Vec<Comment<'t>>,
    /// Line breaks since the comment, or the token, before.
    pub(super) breaks: usize,
}

/// A comment or a line mark of a preprocessor, without blanks around.
pub(super) struct Comment<'t> {
    pub(super) text: &'t str,
    /// Line breaks since the comment, or the token, before.
    pub(super) breaks: usize,
}

impl Comment<'_> {
    /// True for what ends with its line.
    pub(super) fn takes_line(&self) -> bool {
        !self.text.starts_with("/*")
    }

    /// True for `# 12 "a.cu"`.
    pub(super) fn is_mark(&self) -> bool {
        self.text.starts_with('#')
    }
}

impl Token<'_> {
    /// True for what begins a piece of a section.
    pub(super) fn is_data_directive(&self) -> bool {
        matches!(self.text, ".b8" | ".byte" | ".b16" | ".b32" | ".4byte" | ".b64" | ".quad")
    }
}

/// The tokens of a text; the last is the end.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text: source.as_bytes(), pos: 0 };
    let mut all = Vec::new();
    let mut last = 0;
    loop {
        let token = lexer.next();
        let (start, mut end) = (token.start as usize, token.end as usize);
        // A mnemonic is one token, as `.1d` is none by itself.
        let digit = lexer.byte(end) == b'.' && lexer.byte(end + 1).is_ascii_digit();
        if token.kind == Kind::Name || (token.kind == Kind::Dot && digit) {
            end = lexer.modifiers(end);
            lexer.pos = end;
        }
        let (comments, breaks) = comments(source.get(last..start).unwrap_or(""));
        let text = source.get(start..end).unwrap_or("");
        all.push(Token { kind: token.kind, text, comments, breaks });
        if token.kind == Kind::End {
            return all;
        }
        last = end;
    }
}

/// The comments in the gap between two tokens, and the line breaks after the last.
fn comments(gap: &str) -> (Vec<Comment<'_>>, usize) {
    let (mut found, mut breaks, mut rest) = (Vec::new(), 0, gap);
    while let Some(first) = rest.bytes().next() {
        let len = match first {
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |n| n + 2),
            b'/' | b'#' => rest.find('\n').unwrap_or(rest.len()),
            _ => {
                breaks += usize::from(first == b'\n');
                rest = rest.get(1..).unwrap_or("");
                continue;
            }
        };
        let (text, after) = rest.split_at(len);
        found.push(Comment { text: text.trim_end(), breaks });
        (rest, breaks) = (after, 0);
    }
    (found, breaks)
}

/// Where blanks go within a statement.
pub(super) struct Style {
    stage: Stage,
    before: Before,
    brackets: usize,
    /// Within `<n>`.
    counting: bool,
}

/// Which part of a statement is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// An instruction: `@` or the opcode comes.
    Start,
    /// After `@`.
    Guard,
    /// The opcode is read.
    Mnemonic,
    Operands,
    /// A declaration or a directive, of which each word stands alone.
    Words,
}

/// What the token before was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// `(`, `[`, `{`, a sign: what follows is attached.
    Opening,
    Comma,
    /// A number or a closing bracket: after it an operator is binary.
    Value,
    /// A name: after it a bracket or an offset is attached.
    Name,
    /// `.reg`, `add.u32`, `@%p`, or an operator with blanks around it.
    Word,
}

impl Style {
    /// Of an instruction; else each word with a dot stands alone.
    pub(super) fn new(instruction: bool) -> Self {
        let stage = if instruction { Stage::Start } else { Stage::Words };
        Style { stage, before: Before::Nothing, brackets: 0, counting: false }
    }

    /// Of what follows `name:`.
    pub(super) fn after_label() -> Self {
        Style { before: Before::Word, ..Style::new(false) }
    }

    pub(super) fn after_comma(&self) -> bool {
        self.before == Before::Comma
    }

    /// True if a blank goes before the token.
    pub(super) fn space_before(&self, token: &Token<'_>) -> bool {
        use Before::*;
        match token.text {
            "," | ";" | ")" | "]" | "}" => false,
            "(" => !matches!(self.before, Name | Value | Nothing | Opening),
            "[" if self.stage == Stage::Words => matches!(self.before, Comma),
            "[" | "<" | "|" if self.before == Name => false,
            ">" if self.counting => false,
            "+" | "-" if self.brackets > 0 || self.before == Name => false,
            _ if token.kind == Kind::Dot && self.stage != Stage::Words => false,
            _ => !matches!(self.before, Nothing | Opening),
        }
    }

    /// Takes note of a token that is written.
    pub(super) fn note(&mut self, token: &Token<'_>) {
        use Before::*;
        let attached = self.brackets > 0 || !matches!(self.before, Value);
        self.stage = match (self.stage, token.kind) {
            (Stage::Start, Kind::Punct(b'@')) => Stage::Guard,
            (Stage::Start, _) => Stage::Mnemonic,
            (Stage::Guard, Kind::Name) => Stage::Start,
            (Stage::Mnemonic, kind) if kind != Kind::Dot => Stage::Operands,
            (stage, _) => stage,
        };
        match token.text {
            "[" => self.brackets += 1,
            "]" => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        let counts = self.before == Name && token.text == "<";
        let closes = self.counting && token.text == ">";
        self.counting = (self.counting || counts) && !closes;
        self.before = match (token.text, token.kind) {
            ("(" | "[" | "{" | "@" | "!" | "~", _) => Opening,
            (")" | "]" | "}", _) => Value,
            (",", _) => Comma,
            _ if counts => Opening,
            _ if closes => Value,
            ("|", _) if self.before == Name => Opening,
            ("+" | "-", _) if attached => Opening,
            // Their parentheses belong to them.
            (".attribute" | ".unified", _) => Name,
            (_, Kind::Name | Kind::Dot) if matches!(self.stage, Stage::Operands) => Name,
            (_, Kind::Name) if self.stage == Stage::Words => Name,
            (_, Kind::Int | Kind::Decimal | Kind::F32 | Kind::F64 | Kind::Str) => Value,
            _ => Word,
        };
    }
}
