//! Tokens: what they say, and what is expected of them.

use super::Parser;
use crate::lexer::{Tok, Token, read_number};
use crate::literal::{Number, NumberError, float_bits, int_bits, wide_bits};
use crate::types::Type;
use std::borrow::Cow;
use warpsmith_diag::{Diagnostic, Span};

impl<'a> Parser<'a> {
    #[cold]
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: String) -> &mut Diagnostic {
        self.errors.push(Diagnostic::error(code, span, message));
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    #[inline]
    pub(super) fn bump(&mut self) -> Token {
        let token = self.tok;
        self.last_end = token.end;
        self.tok = self.lexer.next();
        token
    }

    #[inline]
    pub(super) fn bytes(&self, token: Token) -> &'a [u8] {
        &self.lexer.text[token.start as usize..token.end as usize]
    }

    /// The text of a token whose bytes the lexer has found to be ASCII.
    #[inline]
    pub(super) fn text(&self, token: Token) -> &'a str {
        let known = self.valid.get(token.start as usize..token.end as usize);
        known.unwrap_or_else(|| std::str::from_utf8(self.bytes(token)).unwrap_or(""))
    }

    /// The name behind the sigil of `%name`.
    pub(super) fn name(&self, token: Token) -> &'a str {
        self.text(token).get(1..).unwrap_or("")
    }

    /// The name of `@name` or `@"name"`, whose escapes are those of strings. Bytes that are not text are replaced.
    pub(super) fn symbol_name(&self, token: Token) -> Cow<'a, str> {
        let bytes = &self.bytes(token)[1..];
        let Some(quoted) = bytes.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
            return String::from_utf8_lossy(bytes);
        };
        if !quoted.contains(&b'\\') {
            return String::from_utf8_lossy(quoted);
        }
        let mut name = Vec::with_capacity(quoted.len());
        let mut rest = quoted;
        while let Some((&first, tail)) = rest.split_first() {
            let digits =
                tail.get(..2).filter(|digits| first == b'\\' && digits.iter().all(u8::is_ascii_hexdigit));
            match digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()) {
                Some(byte) => (name, rest) = (with(name, byte), &tail[2..]),
                None => (name, rest) = (with(name, first), tail),
            }
        }
        Cow::Owned(String::from_utf8_lossy(&name).into_owned())
    }

    /// What a token is, for messages.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other tokens are shown as they are written")]
    pub(super) fn describe(&self, token: Token) -> String {
        let bytes = self.bytes(token);
        match token.kind {
            Tok::End => "the end of the text".into(),
            _ if bytes.len() > 40 => format!("`{}...`", bytes[..40].escape_ascii()),
            _ => format!("`{}`", bytes.escape_ascii()),
        }
    }

    #[cold]
    pub(super) fn expected(&mut self, what: &str) {
        let message = format!("expected {what}, found {}", self.describe(self.tok));
        self.error("I0001", self.tok.span(), message);
    }

    #[inline]
    pub(super) fn is(&self, punct: u8) -> bool {
        self.tok.kind == Tok::Punct(punct)
    }

    #[inline]
    pub(super) fn accept(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        if found {
            self.bump();
        }
        found
    }

    #[inline]
    pub(super) fn expect(&mut self, punct: u8) -> Option<()> {
        if self.accept(punct) {
            return Some(());
        }
        self.expected(&format!("`{}`", punct as char));
        None
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.tok.kind == Tok::Word && self.bytes(self.tok) == word.as_bytes();
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect_kind(&mut self, kind: Tok, what: &str) -> Option<Token> {
        if self.tok.kind == kind {
            return Some(self.bump());
        }
        self.expected(what);
        None
    }

    /// A number with its sign.
    pub(super) fn number(&mut self) -> Option<(Number, Span)> {
        let start = self.tok.start;
        let negative = self.accept(b'-');
        let token = self.expect_kind(Tok::Number, "a number")?;
        let span = Span::new(start, token.end);
        match read_number(self.bytes(token), negative) {
            Some(number) => Some((number, span)),
            None => {
                let message = format!("{} is not a number", self.describe(token));
                self.error("I0004", span, message).notes.push(
                    "numbers are 42, -7, 0x2a, 0b101010, 1.5, 1e-3, or bits as in 0f3f800000 and 0d3ff0000000000000".into(),
                );
                None
            }
        }
    }

    /// An integer of a range that the grammar itself sets.
    pub(super) fn int<T: TryFrom<i128>>(&mut self, what: &str) -> Option<T> {
        let (number, span) = self.number()?;
        let value = match number {
            Number::Int { negative, magnitude, .. } => {
                i128::try_from(magnitude).ok().and_then(|m| T::try_from(if negative { -m } else { m }).ok())
            }
            Number::Decimal { .. } | Number::F32Bits(_) | Number::F64Bits(_) => None,
        };
        if value.is_none() {
            self.error("I0005", span, format!("invalid {what}"));
        }
        value
    }

    /// The bytes of a string; `\` is followed by two hexadecimal digits.
    pub(super) fn string(&mut self, token: Token) -> Option<Vec<u8>> {
        let bytes = self.bytes(token);
        let mut rest = &bytes[1..bytes.len() - 1];
        let mut value = Vec::with_capacity(rest.len());
        while let Some((&first, tail)) = rest.split_first() {
            if first != b'\\' {
                value.push(first);
                rest = tail;
                continue;
            }
            let digits = tail.get(..2).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
            match digits.and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok()) {
                Some(byte) => value.push(byte),
                None => {
                    let at = token.end - 1 - rest.len() as u32;
                    let message = "`\\` must be followed by two hexadecimal digits".to_string();
                    self.error("I0004", Span::new(at, at + 1), message);
                    return None;
                }
            }
            rest = &tail[2..];
        }
        Some(value)
    }

    /// An integer constant of a type; a number that is none is reported and denotes 0.
    pub(super) fn int_constant(&mut self, number: Number, ty: Type, span: Span) -> i64 {
        int_bits(number, ty).unwrap_or_else(|error| {
            self.constant_error(error, ty, span);
            0
        })
    }

    /// The bits of an integer constant of any width; a number that is none is reported and denotes 0.
    pub(super) fn wide_constant(&mut self, number: Number, ty: Type, span: Span) -> u128 {
        wide_bits(number, ty).unwrap_or_else(|error| {
            self.constant_error(error, ty, span);
            0
        })
    }

    /// The bits of a float constant of a type; a number that is none is reported and denotes 0.
    pub(super) fn float_constant(&mut self, number: Number, ty: Type, span: Span) -> u64 {
        float_bits(number, ty).unwrap_or_else(|error| {
            self.constant_error(error, ty, span);
            0
        })
    }

    #[cold]
    pub(super) fn constant_error(&mut self, error: NumberError, ty: Type, span: Span) {
        let bits = ty.bits();
        let (message, note) = match error {
            NumberError::Range if ty.bits() == 1 => ("an i1 is 0 or 1".to_string(), None),
            NumberError::Range if ty.is_int() => {
                let (low, high) = (i128::MIN >> (128 - bits), u128::MAX >> (128 - bits));
                (format!("the number does not fit {ty}"), Some(format!("{ty} takes {low} to {high}")))
            }
            NumberError::Range => (format!("the bit pattern does not fit {ty}"), None),
            NumberError::NotAnInteger => (format!("a float literal where {ty} is needed"), None),
            NumberError::NotAFloat => (
                format!("an integer literal where {ty} is needed"),
                Some("write a float, such as 2.0".into()),
            ),
            NumberError::Width => {
                let note = match bits {
                    64 => "bits of an f64 are written 0d3ff0000000000000".to_string(),
                    32 => "bits of an f32 are written 0f3f800000".to_string(),
                    _ => format!("bits of {ty} are written in hexadecimal, 0x..."),
                };
                (format!("a bit pattern of another width than {ty}"), Some(note))
            }
            NumberError::NoPower => {
                let note = format!("{ty} has the powers of two from 2^-127 to 2^127, and NaN as 0xff");
                (format!("{ty} does not have this number"), Some(note))
            }
            NumberError::NoLiteral => (format!("{ty} has no literals"), None),
        };
        self.error("I0005", span, message).notes.extend(note);
    }
}

fn with(mut bytes: Vec<u8>, byte: u8) -> Vec<u8> {
    bytes.push(byte);
    bytes
}
