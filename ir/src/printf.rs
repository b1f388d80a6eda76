//! The conversions of a format of `printf`, as far as they say which arguments there must be (C17, 7.21.6.1).

use crate::types::{Scalar, Type};

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

/// The most arguments that a device prints (CUDA C++ Programming Guide, formatted output).
pub const MOST_ARGUMENTS: usize = 32;

/// The arguments that a format takes, or what is wrong with it.
pub fn arguments(format: &[u8]) -> Result<Vec<Argument>, String> {
    let mut found = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let mut long = false;
        loop {
            let Some(next) = rest.next() else { return Err("the format ends in a `%`".into()) };
            match next {
                b'%' => break,
                b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'.' | b'h' => continue,
                b'*' => found.push(Argument::Int { signed: true }),
                b'l' | b'j' | b'z' | b't' => {
                    long = true;
                    continue;
                }
                b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' => {
                    let signed = matches!(next, b'd' | b'i' | b'c');
                    found.push(if long { Argument::Long } else { Argument::Int { signed } });
                    break;
                }
                b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                    found.push(Argument::Float);
                    break;
                }
                b's' => {
                    found.push(Argument::Text);
                    break;
                }
                b'p' => {
                    found.push(Argument::Pointer);
                    break;
                }
                other => {
                    return Err(format!(
                        "`%{}` is no conversion of `printf`",
                        char::from(other).escape_default()
                    ));
                }
            }
        }
    }
    if format.contains(&0) {
        return Err("a zero ends the format before its end".into());
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
        assert!(arguments(b"100%").is_err() && arguments(b"%y").is_err() && arguments(b"a\0b").is_err());
        assert_eq!(layout(&[signed, Float, signed]), (vec![0, 8, 16], 20));
    }
}
