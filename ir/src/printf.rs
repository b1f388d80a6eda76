//! Formats of `printf` (C17, 7.21.6.1): what they are made of, for the verifier and for whoever prints by them, and which arguments they take.

use crate::types::{Scalar, Type};

/// The most arguments that a device prints (CUDA C++ Programming Guide, formatted output).
pub const MOST_ARGUMENTS: usize = 32;

/// A part of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// What is printed as it stands; of `%%` one `%`.
    Text(&'a [u8]),
    /// A conversion.
    Conversion {
        /// What it says.
        conversion: Conversion,
        /// As it is written.
        written: &'a [u8],
    },
    /// A `%` that begins no conversion. What is behind it is the next piece.
    Malformed(Malformed),
}

/// Why a `%` begins no conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// The format ends before the conversion does.
    Ends,
    /// No conversion is named so.
    Unknown(u8),
}

/// One conversion: flags, width, precision, length and kind, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// `-`: to the left of its field.
    pub left: bool,
    /// `+`: a sign before numbers that are not negative too.
    pub plus: bool,
    /// A blank before numbers that are not negative.
    pub space: bool,
    /// `#`: the alternative form.
    pub alternate: bool,
    /// `0`: zeros before the number fill its field.
    pub zero: bool,
    /// The least characters of the field.
    pub width: Option<Amount>,
    /// What is behind the point: digits, or the most characters of a text.
    pub precision: Option<Amount>,
    /// The size of the argument.
    pub length: Length,
    /// What is printed.
    pub kind: Kind,
    /// Letters of digits, exponents, infinities and NaNs are capitals.
    pub upper: bool,
}

/// A width or precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// Written in the format; cut to the greatest `usize`.
    Number(usize),
    /// `*`: an argument before the one that is printed.
    Argument,
}

/// The word of a conversion that says how large its argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// None: 32 bits.
    Plain,
    /// `hh`: of an argument of 32 bits the lowest 8.
    Char,
    /// `h`: of an argument of 32 bits the lowest 16.
    Short,
    /// `l ll j z t`: 64 bits.
    Long,
    /// `L`: C's `long double`, which devices do not have; of integers as `ll`.
    LongDouble,
}

impl Length {
    /// The bits of an integer that are printed.
    pub const fn bits(self) -> u32 {
        match self {
            Length::Char => 8,
            Length::Short => 16,
            Length::Plain => 32,
            Length::Long | Length::LongDouble => 64,
        }
    }
}

/// What a conversion prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `%d %i`: a signed integer in decimal.
    Signed,
    /// An unsigned integer.
    Unsigned(Radix),
    /// `%c`: one byte.
    Character,
    /// `%s`: bytes up to a zero.
    Text,
    /// `%p`: an address.
    Pointer,
    /// A float.
    Float(Notation),
}

/// How an unsigned integer is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Radix {
    /// `%u`
    Decimal,
    /// `%o`
    Octal,
    /// `%x`
    Hexadecimal,
}

/// How a float is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// `%f`: with a point.
    Fixed,
    /// `%e`: with an exponent.
    Scientific,
    /// `%g`: the shorter of `%f` and `%e`.
    Shortest,
    /// `%a`: in hexadecimal.
    Hexadecimal,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        Some(match byte {
            b'd' | b'i' => Kind::Signed,
            b'u' => Kind::Unsigned(Radix::Decimal),
            b'o' => Kind::Unsigned(Radix::Octal),
            b'x' | b'X' => Kind::Unsigned(Radix::Hexadecimal),
            b'c' => Kind::Character,
            b's' => Kind::Text,
            b'p' => Kind::Pointer,
            b'f' | b'F' => Kind::Float(Notation::Fixed),
            b'e' | b'E' => Kind::Float(Notation::Scientific),
            b'g' | b'G' => Kind::Float(Notation::Shortest),
            b'a' | b'A' => Kind::Float(Notation::Hexadecimal),
            _ => return None,
        })
    }
}

impl Conversion {
    /// Reads the conversion that a text begins with, and its length.
    fn read(from: &[u8]) -> Result<(Conversion, usize), Malformed> {
        let mut at = 1;
        let byte = |at: usize| from.get(at).copied().ok_or(Malformed::Ends);
        let mut made = Conversion {
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: None,
            precision: None,
            length: Length::Plain,
            kind: Kind::Signed,
            upper: false,
        };
        loop {
            match byte(at)? {
                b'-' => made.left = true,
                b'+' => made.plus = true,
                b' ' => made.space = true,
                b'#' => made.alternate = true,
                b'0' => made.zero = true,
                _ => break,
            }
            at += 1;
        }
        let amount = |at: &mut usize| {
            if from.get(*at) == Some(&b'*') {
                *at += 1;
                return Some(Amount::Argument);
            }
            let mut value = None;
            while let Some(digit) = from.get(*at).filter(|byte| byte.is_ascii_digit()) {
                value =
                    Some(value.unwrap_or(0usize).saturating_mul(10).saturating_add((digit - b'0').into()));
                *at += 1;
            }
            value.map(Amount::Number)
        };
        made.width = amount(&mut at);
        if from.get(at) == Some(&b'.') {
            at += 1;
            // A point alone is one of zero.
            made.precision = Some(amount(&mut at).unwrap_or(Amount::Number(0)));
        }
        let (length, bytes) = match (byte(at)?, from.get(at + 1)) {
            (b'h', Some(b'h')) => (Length::Char, 2),
            (b'h', _) => (Length::Short, 1),
            (b'l', Some(b'l')) => (Length::Long, 2),
            (b'l' | b'j' | b'z' | b't', _) => (Length::Long, 1),
            (b'L', _) => (Length::LongDouble, 1),
            _ => (Length::Plain, 0),
        };
        at += bytes;
        let kind = byte(at)?;
        made.length = length;
        made.kind = Kind::of(kind).ok_or(Malformed::Unknown(kind))?;
        made.upper = kind.is_ascii_uppercase();
        Ok((made, at + 1))
    }

    /// The arguments that it takes: those of `*`, then its own.
    pub fn arguments(&self) -> impl Iterator<Item = Argument> + use<> {
        let star = |amount| (amount == Some(Amount::Argument)).then_some(Argument::Int { signed: true });
        let own = match self.kind {
            Kind::Signed | Kind::Unsigned(_) if self.length.bits() == 64 => Argument::Long,
            Kind::Signed | Kind::Character => Argument::Int { signed: true },
            Kind::Unsigned(_) => Argument::Int { signed: false },
            Kind::Text => Argument::Text,
            Kind::Pointer => Argument::Pointer,
            Kind::Float(_) => Argument::Float,
        };
        star(self.width).into_iter().chain(star(self.precision)).chain([own])
    }

    /// Why a device has no argument for it. `None` if it has.
    fn refusal(&self) -> Option<&'static str> {
        match (self.kind, self.length) {
            (_, Length::Plain) => None,
            (_, Length::LongDouble) => Some("is of a `long double`, which devices do not have"),
            (Kind::Signed | Kind::Unsigned(_), _) => None,
            // Which is what it is without the word.
            (Kind::Float(_), Length::Long) => None,
            (Kind::Text | Kind::Character, Length::Long) => {
                Some("is of wide characters, which devices do not print")
            }
            (Kind::Float(_) | Kind::Text | Kind::Character | Kind::Pointer, _) => {
                Some("has a length that its argument cannot have")
            }
        }
    }
}

/// The parts of a format, from the first to the last.
pub fn pieces(format: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let (piece, length) = match rest {
            [] => return None,
            [b'%', b'%', ..] => (Piece::Text(&rest[..1]), 2),
            [b'%', ..] => match Conversion::read(rest) {
                Ok((conversion, length)) => {
                    (Piece::Conversion { conversion, written: &rest[..length] }, length)
                }
                Err(malformed) => (Piece::Malformed(malformed), 1),
            },
            _ => {
                let end = rest.iter().position(|byte| *byte == b'%').unwrap_or(rest.len());
                (Piece::Text(&rest[..end]), end)
            }
        };
        rest = &rest[length..];
        Some(piece)
    })
}

/// What a conversion takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// An integer of up to 32 bits; whether it is read as signed.
    Int {
        /// `%d` and `%i`.
        signed: bool,
    },
    /// An integer of 64 bits.
    Long,
    /// A float, passed as `f64`.
    Float,
    /// A generic pointer to text that ends in a zero.
    Text,
    /// Any pointer.
    Pointer,
}

impl Argument {
    /// True for a type of which values can be passed to it.
    pub fn takes(self, ty: Type) -> bool {
        match self {
            Argument::Int { .. } => ty.is_int() && ty.bits() <= 32,
            Argument::Long => ty == Type::I64,
            Argument::Float => {
                ty.is_float()
                    && matches!(ty.element(), Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64)
            }
            Argument::Text => ty == Type::PTR,
            Argument::Pointer => ty.is_ptr() || ty == Type::I64,
        }
    }

    /// The type of a number that is written for it. `None` where only a value can stand.
    pub const fn literal_type(self) -> Option<Type> {
        match self {
            Argument::Int { .. } => Some(Type::I32),
            Argument::Long => Some(Type::I64),
            Argument::Float => Some(Type::F64),
            Argument::Text | Argument::Pointer => None,
        }
    }

    /// What it takes, for messages.
    pub const fn describe(self) -> &'static str {
        match self {
            Argument::Int { .. } => "an integer of up to 32 bits",
            Argument::Long => "an i64",
            Argument::Float => "a float",
            Argument::Text => "a generic pointer to text",
            Argument::Pointer => "a pointer",
        }
    }

    /// The bytes that it takes among the arguments, which is its alignment too.
    pub const fn bytes(self) -> u32 {
        match self {
            Argument::Int { .. } => 4,
            Argument::Long | Argument::Float | Argument::Text | Argument::Pointer => 8,
        }
    }
}

/// Where each of so many arguments lies, and the bytes of all: each at a multiple of its size.
pub fn layout(arguments: &[Argument]) -> (Vec<u32>, u32) {
    let mut end = 0u32;
    let offsets = arguments.iter().map(|argument| {
        let at = end.next_multiple_of(argument.bytes());
        end = at + argument.bytes();
        at
    });
    let offsets = offsets.collect();
    (offsets, end)
}

/// The arguments that a format takes, or what is wrong with it.
pub fn arguments(format: &[u8]) -> Result<Vec<Argument>, String> {
    if format.contains(&0) {
        return Err("a zero ends the format before its end".into());
    }
    let mut found = Vec::new();
    for piece in pieces(format) {
        match piece {
            Piece::Text(_) => {}
            Piece::Conversion { conversion, written } => {
                if let Some(refusal) = conversion.refusal() {
                    return Err(format!("`{}` {refusal}", written.escape_ascii()));
                }
                found.extend(conversion.arguments());
            }
            Piece::Malformed(Malformed::Ends) => {
                return Err("the format ends in a `%` or a conversion that is not finished".into());
            }
            Piece::Malformed(Malformed::Unknown(kind)) => {
                return Err(format!("`%{}` is not a conversion of `printf`", kind.escape_ascii()));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        use Argument::*;
        let signed = Int { signed: true };
        assert_eq!(arguments(b"%d%% %-5.3lu %f\n"), Ok(vec![signed, Long, Float]));
        assert_eq!(arguments(b"%*x %s %p"), Ok(vec![signed, Int { signed: false }, Text, Pointer]));
        assert_eq!(arguments(b"%*.*lf"), Ok(vec![signed, signed, Float]));
        assert_eq!(layout(&[signed, Float, signed]), (vec![0, 8, 16], 20));
    }

    #[test]
    fn what_is_no_format() {
        for (format, error) in [
            (&b"100%"[..], "the format ends in a `%` or a conversion that is not finished"),
            (b"%-5", "the format ends in a `%` or a conversion that is not finished"),
            (b"%.3l", "the format ends in a `%` or a conversion that is not finished"),
            (b"%y", "`%y` is not a conversion of `printf`"),
            (b"%n", "`%n` is not a conversion of `printf`"),
            // Flags come first, a width once, and a `%` is printed by two.
            (b"%5-d", "`%-` is not a conversion of `printf`"),
            (b"%**d", "`%*` is not a conversion of `printf`"),
            (b"%.3.3f", "`%.` is not a conversion of `printf`"),
            (b"%hhhd", "`%h` is not a conversion of `printf`"),
            (b"%5%", "`%%` is not a conversion of `printf`"),
            (b"%\xff", "`%\\xff` is not a conversion of `printf`"),
            (b"%ls", "`%ls` is of wide characters, which devices do not print"),
            (b"%-3lc", "`%-3lc` is of wide characters, which devices do not print"),
            (b"%Lf", "`%Lf` is of a `long double`, which devices do not have"),
            (b"%hf", "`%hf` has a length that its argument cannot have"),
            (b"%zp", "`%zp` has a length that its argument cannot have"),
            (b"a\0b", "a zero ends the format before its end"),
        ] {
            assert_eq!(arguments(format), Err(error.to_owned()), "{}", format.escape_ascii());
        }
    }

    #[test]
    fn the_pieces_are_the_format() {
        let number = |n| Some(Amount::Number(n));
        let found: Vec<Piece> = pieces(b"a%%%-+ #012.*llX%").collect();
        let [Piece::Text(b"a"), Piece::Text(b"%"), Piece::Conversion { conversion, written }, last] =
            found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!((written, last), (&b"%-+ #012.*llX"[..], Piece::Malformed(Malformed::Ends)));
        assert!(
            conversion.left && conversion.plus && conversion.space && conversion.alternate && conversion.zero
        );
        assert_eq!((conversion.width, conversion.precision), (number(12), Some(Amount::Argument)));
        assert_eq!(
            (conversion.length, conversion.kind, conversion.upper),
            (Length::Long, Kind::Unsigned(Radix::Hexadecimal), true)
        );
    }
}
