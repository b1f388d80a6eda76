//! Bytes to tokens of the text form: one forward scan, no allocation.

use crate::literal::Number;
use memchr::{memchr, memchr2};
use warpsmith_diag::Span;

/// What a token is. Its text is the span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tok {
    /// The end of the text, or of the part being read.
    End,
    /// A word: letters, digits, `_ . $` and `::`, not starting with a digit.
    Word,
    /// `%name`
    Local,
    /// `@name` or `@"name"`
    Global,
    /// A number without its sign.
    Number,
    /// `"..."`, without line breaks.
    String,
    /// One of `{ } ( ) [ ] < > , : = + - !`, and `;` in array types.
    Punct(u8),
    /// A byte that begins no token, or a string without an end.
    Stray,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Tok,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// It is the first of its line.
    pub(crate) first_of_line: bool,
}

impl Token {
    pub(crate) fn span(self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// What a byte may be part of.
const WORD: u8 = 1;
const START: u8 = 2;
const SPACE: u8 = 4;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        class[i] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'.' => WORD | START,
            b'0'..=b'9' => WORD,
            b' ' | b'\t' | b'\r' | b'\n' => SPACE,
            _ => 0,
        };
        i += 1;
    }
    class
};

/// Where the line ends that `at` is in.
pub(crate) fn end_of_line(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n)
}

/// Where a text in quotes ends, whose first byte is at `at`: at the quote, or at the end of the line or of all text.
pub(crate) fn end_of_quoted(text: &[u8], at: usize) -> usize {
    memchr2(b'"', b'\n', &text[at..]).map_or(text.len(), |n| at + n)
}

/// A scanner over `text[..end]`.
pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) position: usize,
    /// Between the brackets of an array type `[T; n]`, where `;` does not begin a comment.
    pub(crate) in_array: bool,
}

impl<'a> Lexer<'a> {
    fn class(&self, at: usize) -> u8 {
        self.text.get(at).map_or(0, |byte| CLASS[*byte as usize])
    }

    fn skip_word(&self, mut at: usize) -> usize {
        // Where the part behind the last `::` begins; none has begun yet.
        let mut part = usize::MAX;
        loop {
            at = self.skip_name(at);
            if self.text.get(at) != Some(&b':') {
                return at;
            }
            // `sp::2:4` is one word.
            let number = |from: usize, to: usize| {
                self.text.get(from..to).is_some_and(|t| !t.is_empty() && t.iter().all(u8::is_ascii_digit))
            };
            if number(part, at) && number(at + 1, at + 2) {
                at = self.skip_name(at + 1);
            }
            // `::` joins two words: `shared::cta`, `L2::128B`.
            if self.text[at.min(self.text.len())..].starts_with(b"::") && self.class(at + 2) & WORD != 0 {
                at += 2;
                part = at;
            } else {
                return at;
            }
        }
    }

    /// The next token.
    #[inline]
    pub(crate) fn next(&mut self) -> Token {
        let text = self.text;
        let mut at = self.position;
        let mut first_of_line = at == 0;
        let first = loop {
            let Some(&byte) = text.get(at) else {
                self.position = at;
                return Token { kind: Tok::End, start: at as u32, end: at as u32, first_of_line: true };
            };
            if CLASS[byte as usize] & SPACE != 0 {
                first_of_line |= byte == b'\n';
                at += 1;
            } else if byte == b';' && !self.in_array {
                at = end_of_line(text, at);
            } else {
                break byte;
            }
        };
        let start = at;
        let kind = match first {
            b'@' if text.get(at + 1) == Some(&b'"') => {
                let end = end_of_quoted(text, at + 2);
                let closed = text.get(end) == Some(&b'"');
                at = if closed { end + 1 } else { end };
                if closed { Tok::Global } else { Tok::Stray }
            }
            b'%' | b'@' => {
                at = self.skip_name(at + 1);
                match (at - start > 1, first) {
                    (false, _) => Tok::Stray,
                    (true, b'%') => Tok::Local,
                    (true, _) => Tok::Global,
                }
            }
            b'0'..=b'9' => {
                at = self.skip_number(at);
                Tok::Number
            }
            b'"' => {
                let end = end_of_quoted(text, at + 1);
                let closed = text.get(end) == Some(&b'"');
                at = if closed { end + 1 } else { end };
                if closed { Tok::String } else { Tok::Stray }
            }
            b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'=' | b'+' | b'-'
            | b'!' | b';' => {
                at += 1;
                Tok::Punct(first)
            }
            byte if CLASS[byte as usize] & START != 0 => {
                at = self.skip_word(at);
                Tok::Word
            }
            _ => {
                // A whole character, and its like behind it, so that binary input gives one error a run.
                at += 1;
                while text
                    .get(at)
                    .is_some_and(|b| !b.is_ascii() || b.is_ascii_control() && CLASS[*b as usize] == 0)
                {
                    at += 1;
                }
                Tok::Stray
            }
        };
        self.position = at;
        Token { kind, start: start as u32, end: at as u32, first_of_line }
    }

    fn skip_name(&self, mut at: usize) -> usize {
        while self.class(at) & WORD != 0 {
            at += 1;
        }
        at
    }

    /// Digits, letters, dots, and a sign behind the `e` of a decimal exponent. What it means is [`read_number`]'s to say.
    fn skip_number(&self, start: usize) -> usize {
        let radix = self.text[start] == b'0' && self.text.get(start + 1).is_some_and(u8::is_ascii_alphabetic);
        let mut at = start;
        while self.class(at) & WORD != 0 {
            at += 1;
            let sign = matches!(self.text.get(at), Some(b'+' | b'-'));
            let exponent = matches!(self.text[at - 1], b'e' | b'E');
            if sign && exponent && !radix && self.text.get(at + 1).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        }
        at
    }
}

/// Reads the text of a [`Tok::Number`], with the sign that stood before it. `None` if it is not a number.
pub(crate) fn read_number(text: &[u8], negative: bool) -> Option<Number> {
    let int = |magnitude, hex| Some(Number::Int { negative, magnitude, hex });
    let radix = |digits: &[u8], radix: u32| {
        // So many digits fit 64 bits, up to the sixteen of base 16.
        if (1..=16).contains(&digits.len()) {
            let value = digits.iter().try_fold(0, |value: u64, digit| {
                Some(value * u64::from(radix) + u64::from(char::from(*digit).to_digit(radix)?))
            });
            return value.map(u128::from);
        }
        let digits = std::str::from_utf8(digits).ok().filter(|d| !d.starts_with('+'))?;
        u128::from_str_radix(digits, radix).ok()
    };
    match text {
        // Most numbers are a few digits.
        digits if digits.len() < 19 && digits.iter().all(u8::is_ascii_digit) => {
            int(digits.iter().fold(0u64, |value, digit| value * 10 + (digit - b'0') as u64) as u128, false)
        }
        [b'0', b'x' | b'X', digits @ ..] => int(radix(digits, 16)?, true),
        [b'0', b'b' | b'B', digits @ ..] => int(radix(digits, 2)?, true),
        [b'0', b'f' | b'F', digits @ ..] if digits.len() == 8 && !negative => {
            Some(Number::F32Bits(radix(digits, 16)? as u32))
        }
        [b'0', b'd' | b'D', digits @ ..] if digits.len() == 16 && !negative => {
            Some(Number::F64Bits(radix(digits, 16)? as u64))
        }
        digits if digits.iter().all(u8::is_ascii_digit) => int(radix(digits, 10)?, false),
        decimal => {
            let legal = decimal.iter().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
            let text = std::str::from_utf8(decimal).ok().filter(|_| legal)?;
            let (as_f64, as_f32) = (text.parse::<f64>().ok()?, text.parse::<f32>().ok()?);
            Some(match negative {
                true => Number::Decimal { as_f64: -as_f64, as_f32: -as_f32 },
                false => Number::Decimal { as_f64, as_f32 },
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Vec<(Tok, &str)> {
        let mut lexer = Lexer { text: text.as_bytes(), position: 0, in_array: false };
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Tok::End {
                return tokens;
            }
            tokens.push((token.kind, &text[token.start as usize..token.end as usize]));
        }
    }

    #[test]
    fn tokens() {
        use Tok::*;
        assert_eq!(
            lex("%a.b = ptx.ld.shared::cta.b32 [%p+-4] ; note\nx: 1.5e-3 0x1e-2 \"s\" \"open"),
            [
                (Local, "%a.b"),
                (Punct(b'='), "="),
                (Word, "ptx.ld.shared::cta.b32"),
                (Punct(b'['), "["),
                (Local, "%p"),
                (Punct(b'+'), "+"),
                (Punct(b'-'), "-"),
                (Number, "4"),
                (Punct(b']'), "]"),
                (Word, "x"),
                (Punct(b':'), ":"),
                (Number, "1.5e-3"),
                (Number, "0x1e"),
                (Punct(b'-'), "-"),
                (Number, "2"),
                (String, "\"s\""),
                (Stray, "\"open"),
            ]
        );
    }

    #[test]
    fn numbers() {
        let int = |magnitude, hex| Some(Number::Int { negative: false, magnitude, hex });
        assert_eq!(read_number(b"42", false), int(42, false));
        assert_eq!(read_number(b"0xff", false), int(255, true));
        assert_eq!(read_number(b"18446744073709551616", false), int(1 << 64, false));
        assert_eq!(read_number(b"0f3f800000", false), Some(Number::F32Bits(0x3f800000)));
        assert_eq!(read_number(b"0.5", true), Some(Number::Decimal { as_f64: -0.5, as_f32: -0.5 }));
        for wrong in [&b"1_0"[..], b"0x", b"0xg", b"0f3f80000", b"1.2.3", b"1e", b"12ab", b"0x+1"] {
            assert_eq!(read_number(wrong, false), None, "{}", wrong.escape_ascii());
        }
        assert_eq!(read_number(&[b'9'; 60], false), None);
    }
}
