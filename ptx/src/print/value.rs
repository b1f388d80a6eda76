//! Numbers, strings and lists of them.

use crate::tree::*;
use std::fmt::{self, Display, Write};

/// Puts a number.
pub(super) fn decimal(out: &mut impl Write, value: u64) -> fmt::Result {
    ascii(out, warpsmith_base::decimal(&mut [0; 20], value))
}

/// [`decimal`], with its sign if it is negative.
pub(super) fn signed(out: &mut impl Write, value: i64) -> fmt::Result {
    if value < 0 {
        out.write_char('-')?;
    }
    decimal(out, value.unsigned_abs())
}

/// Puts so many digits of a number in base 16.
fn hexadecimal(out: &mut impl Write, bits: u64, digits: usize) -> fmt::Result {
    let mut text = [0; 16];
    for (place, digit) in text.iter_mut().rev().take(digits).enumerate() {
        *digit = b"0123456789ABCDEF"[(bits >> (4 * place) & 15) as usize];
    }
    ascii(out, &text[16 - digits..])
}

fn ascii(out: &mut impl Write, text: &[u8]) -> fmt::Result {
    text.iter().try_for_each(|byte| out.write_char(char::from(*byte)))
}

/// Puts a constant as PTX writes it, so that it reads back as the same constant.
pub(super) fn constant(out: &mut impl Write, value: Const) -> fmt::Result {
    match value {
        // `u64` is what a literal past `i64` has anyway.
        Const::Int { bits, unsigned: true } if bits > i64::MAX as u64 => decimal(out, bits),
        Const::Int { bits, unsigned: true } => {
            decimal(out, bits)?;
            out.write_char('U')
        }
        // The literal 9223372036854775808 is unsigned, and so is its negation.
        Const::Int { bits: 0x8000_0000_0000_0000, unsigned: false } => {
            out.write_str("(.s64)9223372036854775808")
        }
        Const::Int { bits, unsigned: false } => signed(out, bits as i64),
        Const::F32(bits) => {
            out.write_str("0f")?;
            hexadecimal(out, bits.into(), 8)
        }
        Const::F64(bits) => {
            out.write_str("0d")?;
            hexadecimal(out, bits, 16)
        }
    }
}

/// Values with commas between them.
pub(super) struct Commas<'a, T>(pub(super) &'a [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, value) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            value.fmt(f)?;
        }
        Ok(())
    }
}

/// A string literal. PTX has no escapes: the text between the quotes is the string.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

impl Display for Const {
    /// As PTX writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        constant(f, *self)
    }
}

impl Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Commas(&self.size[..usize::from(self.written).clamp(1, 3)]).fmt(f)
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.file, self.line, self.column)
    }
}
