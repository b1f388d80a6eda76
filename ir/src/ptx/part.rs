//! Parts of registers.

use std::fmt;

/// A part of a register, as video instructions select it: `b0` to `b3`, `h1`, `h10`, `b3210`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    text: [u8; 5],
    len: u8,
}

impl Part {
    /// The part of a name: `b` or `h` and one to four digits. Which ones an operand has is for the tables to say.
    pub fn from_name(name: &str) -> Option<Part> {
        let (b'b' | b'h', digits @ [_, ..]) = name.as_bytes().split_first()? else { return None };
        if digits.len() > 4 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mut text = [0; 5];
        text[..name.len()].copy_from_slice(name.as_bytes());
        Some(Part { text, len: name.len() as u8 })
    }

    /// Its name: `h1`.
    pub fn name(&self) -> &str {
        std::str::from_utf8(&self.text[..self.len.into()]).unwrap_or("")
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
