//! The words of PTX that a program holds: its opcodes, modifiers, directives and special registers are strings of C in it.

use std::collections::{BTreeMap, BTreeSet};
use warpsmith::isa::{DIRECTIVES, Mod, Opcode, SpecialReg};

/// Shorter strings are mostly no words, but bytes of something else between two zeros.
const SHORTEST: usize = 4;
const LONGEST: usize = 60;
/// Words of PTX stand in tables, so some that are known are among so many strings before and behind each.
const NEIGHBOURS: usize = 16;
const KNOWN_NEIGHBOURS: usize = 3;

/// The strings between two zero bytes that could be PTX (`.valid_addr`, `clmad.lo`, `%laneid`), and whether they stand among words that
/// are known. Programs hold much else that looks like words.
pub fn words(program: &[u8], known: &BTreeSet<String>) -> BTreeMap<String, bool> {
    let pieces: Vec<&str> = program
        .split(|byte| *byte == 0)
        .filter(|piece| !piece.is_empty())
        .map(|piece| std::str::from_utf8(piece).unwrap_or_default())
        .collect();
    // How many known words stand before each piece.
    let mut before = vec![0];
    let mut count = 0;
    for piece in &pieces {
        count += usize::from(piece.len() >= SHORTEST && known.contains(*piece));
        before.push(count);
    }
    let mut words = BTreeMap::new();
    for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| is_word(piece)) {
        let (start, end) = (at.saturating_sub(NEIGHBOURS), (at + NEIGHBOURS + 1).min(pieces.len()));
        let among = before[end] - before[start] >= KNOWN_NEIGHBOURS;
        *words.entry((*piece).to_owned()).or_insert(false) |= among;
    }
    words
}

fn is_word(text: &str) -> bool {
    let body = text.strip_prefix(['.', '%']).unwrap_or(text);
    let first = body.bytes().next();
    let prefixed = body.len() < text.len();
    (SHORTEST..=LONGEST).contains(&text.len())
        && first.is_some_and(|byte| byte.is_ascii_lowercase() || prefixed && byte.is_ascii_digit())
        && body
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.:".contains(&byte))
        && body.bytes().any(|byte| byte.is_ascii_lowercase())
        && !body.ends_with(['.', ':'])
}

/// The words of the tables: those of opcodes and directives part by part too, since programs put them together of parts.
pub fn known() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    let names = Opcode::all().map(Opcode::text).chain(DIRECTIVES.iter().map(|directive| directive.name));
    for name in names {
        known.insert(name.to_owned());
        known.extend(parts(name).map(str::to_owned));
    }
    known.extend(SpecialReg::all().map(|register| register.name().to_owned()));
    known.extend(Mod::all().map(|modifier| format!(".{}", modifier.text())));
    known
}

/// How much a word looks like one of the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Likeness {
    /// The tables have it, or each of its parts.
    Known,
    /// Some of its parts are known, or it begins as a modifier or a register does.
    Like,
    /// It is some word.
    Unlike,
}

/// How much a word looks like one of the tables.
pub fn likeness(word: &str, known: &BTreeSet<String>) -> Likeness {
    let has = |part| known.contains(part);
    if has(word) || parts(word).all(has) {
        Likeness::Known
    } else if word.starts_with(['.', '%']) || parts(word).any(has) {
        Likeness::Like
    } else {
        Likeness::Unlike
    }
}

/// `a`, `.b` and `.c::d` of `a.b.c::d`.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let end = rest.char_indices().skip(1).find(|(_, c)| *c == '.').map_or(rest.len(), |(at, _)| at);
        let (part, left) = rest.split_at(end);
        rest = left;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_between_zeros_and_among_others() {
        let program = b"\x7fELF\0junk\x01.not\0Unknown %s\0.9\0a::b.\0\0.rn.ftz\0.relaxed\0.valid_addr\0\0.acquire\0.async\0tail";
        let words = |program| words(program, &known());
        let found = words(program);
        assert_eq!(found.get(".valid_addr"), Some(&true));
        assert_eq!(found.get("tail"), Some(&true));
        assert_eq!(found.keys().filter(|word| word.contains("not") || word.contains("9")).count(), 0);
        assert_eq!(words(b"\0.zz_addr\0zmad.lo\0%zaneid\0").values().filter(|among| **among).count(), 0);
    }

    #[test]
    fn words_of_the_tables_are_known() {
        let known = known();
        let likeness = |word| likeness(word, &known);
        for word in
            ["add", "cp.async.bulk.wait_group", ".shared::cta", "%laneid", ".entry", "mad.lo", ".f32.ftz"]
        {
            assert_eq!(likeness(word), Likeness::Known, "{word}");
        }
        for word in [".frobnicate", "add.frobnicate", "%frobnicate", "frobnicate.lo"] {
            assert_eq!(likeness(word), Likeness::Like, "{word}");
        }
        assert_eq!(likeness("frobnicate"), Likeness::Unlike);
    }
}
