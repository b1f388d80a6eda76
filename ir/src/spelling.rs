//! How a symbol is called in PTX, whose identifiers are letters, digits, `_` and `$` (PTX ISA 9.0, 4.4).
//!
//! A name that PTX takes as it is stays as it is. In others, a dot becomes `_$_`, as LLVM's NVPTX writes it, and any other byte that cannot stand where
//! it stands `_$` and two hexadecimal digits. What would read as one of these is spelled so too, which makes the spelling reversible.
//!
//! ```
//! use warpsmith_ir::spelling::{ptx_name, user_name};
//! assert_eq!(ptx_name("saxpy"), "saxpy");
//! assert_eq!(ptx_name("core.fmt"), "core_$_fmt");
//! assert_eq!(ptx_name("größe"), "gr_$c3_$b6_$c3_$9fe");
//! assert_eq!(user_name("gr_$c3_$b6_$c3_$9fe"), "größe");
//! ```

use std::borrow::Cow;
use warpsmith_isa::limits::is_reserved_name;

/// The identifier of PTX that a name becomes. Different names become different identifiers; the empty one, which the verifier refuses, `_$`.
pub fn ptx_name(name: &str) -> Cow<'_, str> {
    let bytes = name.as_bytes();
    let stays = |at: usize| {
        let byte = bytes[at];
        byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || (byte.is_ascii_digit() && at > 0)
    };
    let is_word = matches!(name, "_" | "$") || is_reserved_name(name);
    if (0..bytes.len()).all(stays) && !is_word && !name.is_empty() && !has_escape(bytes) {
        return Cow::Borrowed(name);
    }
    if name.is_empty() {
        return Cow::Borrowed("_$");
    }
    let mut out = String::with_capacity(bytes.len() + 8);
    for (at, &byte) in bytes.iter().enumerate() {
        // It would read as the beginning of an escape: what follows makes one, or is spelled with one.
        let before_escape = at + 1 < bytes.len() && !stays(at + 1);
        let escaped = byte == b'$'
            && at > 0
            && bytes[at - 1] == b'_'
            && (before_escape || escape(&bytes[at - 1..]).is_some());
        // One byte of a word is enough to make it none.
        let first_of_word = at == 0 && is_word;
        match byte {
            b'.' => out.push_str("_$_"),
            _ if stays(at) && !escaped && !first_of_word => out.push(char::from(byte)),
            _ => out.push_str(&format!("_${byte:02x}")),
        }
    }
    Cow::Owned(out)
}

/// The name that became an identifier of PTX: the inverse of [`ptx_name`]. What is no such identifier is its own name.
pub fn user_name(identifier: &str) -> Cow<'_, str> {
    let bytes = identifier.as_bytes();
    if !has_escape(bytes) {
        return Cow::Borrowed(identifier);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match escape(&bytes[at..]) {
            Some((byte, len)) => {
                out.push(byte);
                at += len;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    match String::from_utf8(out) {
        Ok(name) if ptx_name(&name) == identifier => Cow::Owned(name),
        _ => Cow::Borrowed(identifier),
    }
}

fn has_escape(bytes: &[u8]) -> bool {
    bytes.contains(&b'$') && (0..bytes.len()).any(|at| escape(&bytes[at..]).is_some())
}

/// The byte that an escape at the beginning denotes, and the length of the escape.
fn escape(bytes: &[u8]) -> Option<(u8, usize)> {
    match bytes {
        [b'_', b'$', b'_', ..] => Some((b'.', 3)),
        [b'_', b'$', high, low, ..] => {
            let digit = |byte: u8| match byte {
                b'0'..=b'9' => Some(byte - b'0'),
                b'a'..=b'f' => Some(byte - b'a' + 10),
                _ => None,
            };
            Some((digit(*high)? << 4 | digit(*low)?, 4))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back() {
        let pieces = ["_", "$", "_$", ".", "a", "0", "ff", "_$_", "_$41", "é", " ", "@", "%", "WARP_SZ", "-"];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    for name in [a.to_string(), format!("{a}{b}"), format!("{a}{b}{c}")] {
                        let identifier = ptx_name(&name);
                        assert_eq!(user_name(&identifier), name, "{identifier}");
                        let mut bytes = identifier.bytes();
                        assert!(bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b"_$".contains(&b)));
                        assert!(
                            bytes.all(|b| b.is_ascii_alphanumeric() || b"_$".contains(&b)),
                            "{identifier}"
                        );
                        assert!(identifier.len() > 1 || identifier.as_bytes()[0].is_ascii_alphabetic());
                    }
                }
            }
        }
    }
}
