//! Tokens on demand. The lexer knows no keywords: what a name means depends on where it stands.

use memchr::{memchr, memmem};

/// What a token is. One-byte punctuation is its own byte in [`Kind::Punct`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `name`, `%r1`, `$L__BB0_1`, `_`
    Name,
    /// `.b32`, `.shared::cta`, `.4byte`
    Dot,
    /// `42`, `0x2aU`
    Int,
    /// `1.5`, `1e5`
    Decimal,
    /// `0f3F800000`
    F32,
    /// `0d3FF0000000000000`
    F64,
    /// `"text"`
    Str,
    /// `;`, `{`...
    Punct(u8),
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `==`
    EqEq,
    /// `!=`
    Ne,
    /// `&&`
    AndAnd,
    /// `||`
    OrOr,
    /// `@@`
    AtAt,
    /// A byte or a literal that is not a token; [`Token::problem`] says why where that is not plain.
    Bad(Problem),
    /// The end of the text.
    End,
}

/// Why a token is [`Kind::Bad`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// No token begins so.
    Byte,
    /// `"` without its partner.
    OpenString,
    /// `/*` without `*/`
    OpenComment,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Classes of bytes.
const SPACE: u8 = 1;
const NAME_START: u8 = 2;
const NAME: u8 = 4;
const DIGIT: u8 = 8;
const HEX: u8 = 16;

const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = match b {
            // Bytes past ASCII are reported once for the whole text.
            b' ' | b'\t' | b'\n' | b'\r' | 0x80.. => SPACE,
            b'0'..=b'9' => NAME | DIGIT | HEX,
            b'a'..=b'f' | b'A'..=b'F' => NAME_START | NAME | HEX,
            b'g'..=b'z' | b'G'..=b'Z' | b'_' | b'$' => NAME_START | NAME,
            b'%' => NAME_START,
            _ => 0,
        };
        byte += 1;
    }
    table
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) pos: usize,
}

impl<'a> Lexer<'a> {
    /// The byte at a position; a NUL past the end, which is not a token.
    #[inline]
    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// The end of the run of bytes of a class that begins at `at`.
    #[inline]
    fn run(&self, at: usize, class: u8) -> usize {
        let rest = self.text.get(at..).unwrap_or(&[]);
        at + rest.iter().position(|byte| !is(*byte, class)).unwrap_or(rest.len())
    }

    /// Skips blanks, comments and line marks. False at a comment without an end.
    #[inline]
    pub(crate) fn skip_blanks(&mut self) -> bool {
        loop {
            let first = self.byte(self.pos);
            if is(first, SPACE) {
                self.pos += 1;
                continue;
            }
            if !matches!(first, b'/' | b'#') {
                return true;
            }
            let skipped = match (first, self.byte(self.pos + 1)) {
                (b'/', b'/') => {
                    memchr(b'\n', &self.text[self.pos..]).map_or(self.text.len() - self.pos, |n| n + 1)
                }
                (b'/', b'*') => match memmem::find(&self.text[self.pos + 2..], b"*/") {
                    Some(n) => n + 4,
                    None => return false,
                },
                (b'#', _) => match line_mark(&self.text[self.pos..]) {
                    Some(len) => len,
                    None => return true,
                },
                _ => return true,
            };
            self.pos += skipped;
        }
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Token {
        let closed = self.skip_blanks();
        let start = self.pos;
        let (kind, end) =
            if closed { self.scan(start) } else { (Kind::Bad(Problem::OpenComment), self.text.len()) };
        self.pos = end;
        Token { kind, start: start as u32, end: end as u32 }
    }

    #[inline]
    fn scan(&self, start: usize) -> (Kind, usize) {
        let Some(&first) = self.text.get(start) else { return (Kind::End, start) };
        if is(first, NAME_START) {
            let end = self.run(start + 1, NAME);
            // A lone `%` is the operator, a lone `$` nothing; `_` alone is the sink.
            if end == start + 1 && matches!(first, b'%' | b'$') {
                return if first == b'%' {
                    (Kind::Punct(b'%'), end)
                } else {
                    (Kind::Bad(Problem::Byte), end)
                };
            }
            return (Kind::Name, end);
        }
        if is(first, DIGIT) {
            return self.number(start);
        }
        let two = |kind| (kind, start + 2);
        match (first, self.byte(start + 1)) {
            (b'.', next) if is(next, DIGIT) => self.dot_digit(start),
            (b'.', next) if is(next, NAME) => (Kind::Dot, self.modifier(start + 1)),
            (b'"', _) => match memchr(b'"', &self.text[start + 1..]) {
                Some(len) => (Kind::Str, start + len + 2),
                None => (Kind::Bad(Problem::OpenString), self.text.len()),
            },
            (b'<', b'<') => two(Kind::Shl),
            (b'>', b'>') => two(Kind::Shr),
            (b'<', b'=') => two(Kind::Le),
            (b'>', b'=') => two(Kind::Ge),
            (b'=', b'=') => two(Kind::EqEq),
            (b'!', b'=') => two(Kind::Ne),
            (b'&', b'&') => two(Kind::AndAnd),
            (b'|', b'|') => two(Kind::OrOr),
            (b'@', b'@') => two(Kind::AtAt),
            (
                b';' | b',' | b':' | b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'<' | b'>' | b'=' | b'+'
                | b'-' | b'*' | b'/' | b'!' | b'~' | b'&' | b'|' | b'^' | b'?' | b'@',
                _,
            ) => (Kind::Punct(first), start + 1),
            _ => (Kind::Bad(Problem::Byte), start + 1),
        }
    }

    /// The end of the modifier whose text begins at `at`, with its `::` parts.
    fn modifier(&self, at: usize) -> usize {
        let mut end = self.run(at, NAME);
        while self.byte(end) == b':' && self.byte(end + 1) == b':' && is(self.byte(end + 2), NAME) {
            let part = end + 2;
            end = self.run(part, NAME);
            // `.sp::2:4`
            if self.byte(end) == b':' && self.run(part, DIGIT) == end && is(self.byte(end + 1), DIGIT) {
                end = self.run(end + 1, DIGIT);
            }
        }
        end
    }

    /// The end of the mnemonic of which the opcode ends at `at`: all modifiers that follow without a blank.
    pub(crate) fn modifiers(&self, mut at: usize) -> usize {
        while self.byte(at) == b'.' && is(self.byte(at + 1), NAME) {
            at = self.modifier(at + 1);
        }
        at
    }

    /// `.5`, or a directive such as `.4byte`.
    fn dot_digit(&self, start: usize) -> (Kind, usize) {
        let end = self.run(start + 1, DIGIT);
        if self.text[end..].starts_with(b"byte") {
            return (Kind::Dot, end + 4);
        }
        (Kind::Decimal, self.exponent(end))
    }

    /// The end of a decimal of which the exponent, if any, begins at `at`.
    fn exponent(&self, at: usize) -> usize {
        if !matches!(self.byte(at), b'e' | b'E') {
            return at;
        }
        let digits = at + 1 + usize::from(matches!(self.byte(at + 1), b'+' | b'-'));
        if is(self.byte(digits), DIGIT) { self.run(digits, DIGIT) } else { at }
    }

    fn number(&self, start: usize) -> (Kind, usize) {
        let bits = |digits: usize| self.run(start + 2, HEX).min(start + 2 + digits) == start + 2 + digits;
        let second = self.byte(start + 1);
        if self.byte(start) == b'0' {
            match second {
                b'f' | b'F' if bits(8) => return (Kind::F32, start + 10),
                b'd' | b'D' if bits(16) => return (Kind::F64, start + 18),
                b'x' | b'X' if is(self.byte(start + 2), HEX) => {
                    return (Kind::Int, self.unsigned(self.run(start + 2, HEX)));
                }
                b'b' | b'B' if matches!(self.byte(start + 2), b'0' | b'1') => {
                    let rest = &self.text[start + 2..];
                    let len = rest.iter().position(|b| !matches!(b, b'0' | b'1')).unwrap_or(rest.len());
                    return (Kind::Int, self.unsigned(start + 2 + len));
                }
                _ => {}
            }
        }
        let digits = self.run(start, DIGIT);
        // The longest match wins: `1.` and `1e5` are decimals; `1e` is `1` and a name.
        let end = if self.byte(digits) == b'.' {
            self.exponent(self.run(digits + 1, DIGIT))
        } else {
            self.exponent(digits)
        };
        if end != digits {
            return (Kind::Decimal, end);
        }
        if self.byte(start) != b'0' {
            return (Kind::Int, self.unsigned(digits));
        }
        // An octal ends before the first digit that is none.
        let rest = &self.text[start..digits];
        let end = start + rest.iter().position(|b| matches!(b, b'8' | b'9')).unwrap_or(rest.len());
        (Kind::Int, self.unsigned(end))
    }

    fn unsigned(&self, end: usize) -> usize {
        end + usize::from(self.byte(end) == b'U')
    }
}

/// The length of a line mark of a preprocessor, without the line end: `# 12 "a.cu" 1` or `#line 12 "a.cu"`.
fn line_mark(text: &[u8]) -> Option<usize> {
    let blanks = |at: usize| at + text[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let digits = |at: usize| at + text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = blanks(1);
    if text[at..].starts_with(b"line") {
        at = blanks(at + 4);
    }
    let number = digits(at);
    let open = blanks(number);
    if number == at || open == number || text.get(open) != Some(&b'"') {
        return None;
    }
    let close = open + 1 + memchr(b'"', &text[open + 1..])?;
    let mut end = close + 1;
    while let Some(b' ' | b'\t' | b'\r' | b'0'..=b'9') = text.get(end) {
        end += 1;
    }
    matches!(text.get(end), None | Some(b'\n')).then_some(end)
}

/// The value of an integer literal and whether it ends in `U`. `None` for "constant overflow": a digit follows when
/// bit 63 is already taken. Longer literals wrap unnoticed otherwise, as they do in ptxas.
pub(super) fn integer(text: &[u8]) -> Option<(u64, bool)> {
    let (text, unsigned) = match text {
        [digits @ .., b'U'] => (digits, true),
        digits => (digits, false),
    };
    let (digits, radix) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', b'b' | b'B', digits @ ..] => (digits, 2),
        [b'0', digits @ ..] => (digits, 8),
        digits => (digits, 10),
    };
    let mut value = 0u64;
    for digit in digits {
        if (value as i64) < 0 {
            return None;
        }
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            b'A'..=b'F' => digit - b'A' + 10,
            _ => 0,
        };
        let digit = if u64::from(digit) < radix { u64::from(digit) } else { 0 };
        value = value.wrapping_mul(radix).wrapping_add(digit);
    }
    Some((value, unsigned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> String {
        let mut lexer = Lexer { text: text.as_bytes(), pos: 0 };
        let mut out = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Kind::End {
                return out.join(" ");
            }
            out.push(format!("{:?}:{}", token.kind, &text[token.start as usize..token.end as usize]));
        }
    }

    #[test]
    fn names_and_operators_share_the_percent_sign() {
        assert_eq!(tokens("7%3"), "Int:7 Name:%3");
        assert_eq!(tokens("7 % 3"), "Int:7 Punct(37):% Int:3");
        assert_eq!(tokens("a%b$"), "Name:a Name:%b$");
        assert_eq!(tokens("$ _ $x"), "Bad(Byte):$ Name:_ Name:$x");
    }

    #[test]
    fn numbers_take_the_longest_match() {
        assert_eq!(tokens("08 017U 1UU"), "Int:0 Int:8 Int:017U Int:1U Name:U");
        assert_eq!(
            tokens("1. .5 1e5 1e 1.e+5 00.5"),
            "Decimal:1. Decimal:.5 Decimal:1e5 Int:1 Name:e Decimal:1.e+5 Decimal:00.5"
        );
        assert_eq!(tokens("0b2 0xg 0b101U"), "Int:0 Name:b2 Int:0 Name:xg Int:0b101U");
        assert_eq!(
            tokens("0f3F800000 0f3F8000001 0f3F8"),
            "F32:0f3F800000 F32:0f3F800000 Int:1 Int:0 Name:f3F8"
        );
        assert_eq!(tokens("0d3FF0000000000000"), "F64:0d3FF0000000000000");
    }

    #[test]
    fn dots_begin_words_and_decimals() {
        assert_eq!(tokens(".4byte .b8 .shared::cta.x"), "Dot:.4byte Dot:.b8 Dot:.shared::cta Dot:.x");
        assert_eq!(tokens("x:y a::b"), "Name:x Punct(58):: Name:y Name:a Punct(58):: Punct(58):: Name:b");
    }

    #[test]
    fn comments_and_line_marks_are_blank() {
        assert_eq!(tokens("a// b\nc/* d\n*/e"), "Name:a Name:c Name:e");
        assert_eq!(tokens("# 12 \"a.cu\" 1 2\nx"), "Name:x");
        assert_eq!(tokens("#line 5 \"a\"\n# 12 a"), "Bad(Byte):# Int:12 Name:a");
        assert_eq!(tokens("a /* b"), "Name:a Bad(OpenComment):/* b");
        assert_eq!(tokens("\"a\\\"b\""), "Str:\"a\\\" Name:b Bad(OpenString):\"");
    }

    #[test]
    fn integers_overflow_as_ptxas_says() {
        let value = |text: &str| integer(text.as_bytes());
        assert_eq!(value("0x2aU"), Some((42, true)));
        assert_eq!(value("0123"), Some((0o123, false)));
        assert_eq!(value("18446744073709551617"), Some((1, false)));
        assert_eq!(value("92233720368547758070"), Some((u64::MAX - 9, false)));
        assert_eq!([value("92233720368547758080"), value("0xfffffffffffffffff")], [None, None]);
        assert_eq!(value("0x10000000000000000000"), Some((0, false)));
    }
}
