//! `ar` archives, as rlibs are: members by name, in order.

use crate::error::{Error, Result};

/// A member of an archive.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Its name.
    pub name: &'a str,
    /// The byte of the archive that its content starts at.
    pub offset: u64,
    /// Its content.
    pub data: &'a [u8],
}

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

/// True if the bytes begin like an archive.
pub fn is_archive(data: &[u8]) -> bool {
    data.starts_with(MAGIC)
}

/// The members of an archive: GNU's and BSD's names, tables of symbols left out. Contents are not looked at.
///
/// # Errors
/// A header that is damaged or cut off.
pub fn members(data: &[u8]) -> Result<Vec<Member<'_>>> {
    let mut rest =
        data.strip_prefix(MAGIC).ok_or_else(|| Error::container(0, "no archive: `!<arch>` is missing"))?;
    let mut long_names: &[u8] = &[];
    let mut all = Vec::new();
    while !rest.is_empty() {
        let at = (data.len() - rest.len()) as u64;
        let wrong = |what: &str| Error::container(at, format!("a member of an archive {what}"));
        let (header, after) = rest.split_at_checked(HEADER).ok_or_else(|| wrong("that is cut off"))?;
        if !header.ends_with(b"`\n") {
            return Err(wrong("with a damaged header"));
        }
        let size = text(&header[48..58])
            .and_then(|size| size.parse::<usize>().ok())
            .ok_or_else(|| wrong("of no size"))?;
        let (content, after) =
            after.split_at_checked(size).ok_or_else(|| wrong("that is longer than the file"))?;
        // Contents begin at even bytes.
        rest = after.get(size % 2..).unwrap_or_default();
        let name = text(&header[..16]).ok_or_else(|| wrong("whose name is not a text"))?;
        let offset = at + HEADER as u64;
        if name == "//" {
            long_names = content;
        } else if let Some(len) = name.strip_prefix("#1/") {
            let len = len
                .parse::<usize>()
                .ok()
                .filter(|len| *len <= content.len())
                .ok_or_else(|| wrong("without its name"))?;
            let (name, content) = content.split_at(len);
            let name = text(name).unwrap_or_default().trim_end_matches('\0');
            if !name.starts_with("__.SYMDEF") {
                all.push(Member { name, offset: offset + len as u64, data: content });
            }
        } else if let Some(start) = name.strip_prefix('/').and_then(|start| start.parse::<usize>().ok()) {
            let name = long_names.get(start..).unwrap_or_default();
            let end = name.iter().position(|byte| matches!(byte, b'/' | b'\n')).unwrap_or(name.len());
            let name = text(&name[..end]).ok_or_else(|| wrong("whose name is not a text"))?;
            all.push(Member { name, offset, data: content });
        } else if !matches!(name, "/" | "/SYM64/") {
            all.push(Member { name: name.trim_end_matches('/'), offset, data: content });
        }
    }
    Ok(all)
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::members;

    fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = b"!<arch>\n".to_vec();
        for (name, content) in parts {
            out.extend(
                format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len()).bytes(),
            );
            out.extend_from_slice(content);
            if content.len() % 2 == 1 {
                out.push(b'\n');
            }
        }
        out
    }

    #[test]
    fn names_of_three_kinds() {
        let all = archive(&[
            ("/", b"symbols"),
            ("//", b"a-name-that-is-long.rcgu.o/\nanother-long-name.o/\n"),
            ("lib.rmeta/", b"123"),
            ("/0", b"BC"),
            ("/28", b"x"),
            ("#1/8", b"bsd.o\0\0\0content"),
        ]);
        let found: Vec<(&str, &[u8])> = members(&all).unwrap().iter().map(|m| (m.name, m.data)).collect();
        let expected: [(&str, &[u8]); 4] = [
            ("lib.rmeta", b"123"),
            ("a-name-that-is-long.rcgu.o", b"BC"),
            ("another-long-name.o", b"x"),
            ("bsd.o", b"content"),
        ];
        assert_eq!(found, expected);
        // Cut anywhere but between members, it is an error.
        let whole = members(&all).unwrap().len();
        for len in 0..all.len() {
            assert!(members(&all[..len]).map_or(0, |found| found.len()) <= whole);
        }
        assert!(members(&all[..all.len() - 3]).is_err());
    }
}
