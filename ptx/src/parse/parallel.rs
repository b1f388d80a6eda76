//! Large texts on several threads: parts that begin and end at module level are read at the same time, and appended.

use super::{Parsed, Parser, Token, lexer::Kind};
use crate::parallel::threads;
use crate::tree::Module;
use memchr::memmem;
use rayon::prelude::*;

/// Shorter parts are not worth a thread.
const BYTES: usize = 2 << 20;

/// More parts would be read faster than appended.
const MOST_PARTS: usize = 4;

/// The tree of a large text. `None`: it is small, or there is something to report, which takes a reader of the whole.
///
/// A part that is read without errors ends where an item ends: the text is cut where functions seem to end, and had the cut hit a comment, a
/// string or a list, the part before it would not be complete.
pub(super) fn parse(text: &[u8]) -> Option<Parsed> {
    let parts = threads(text.len() / BYTES).min(MOST_PARTS);
    if parts < 2 {
        return None;
    }
    let mut cuts = vec![0];
    for i in 1..parts {
        const END: &[u8] = b"\n}\n";
        let from = (text.len() * i / parts).max(cuts[i - 1]);
        cuts.push(memmem::find(&text[from..], END).map_or(text.len(), |at| from + at + END.len()));
    }
    cuts.push(text.len());
    let parts: Vec<(usize, usize)> = cuts.windows(2).map(|part| (part[0], part[1])).collect();
    let parts: Option<Vec<Module>> =
        parts.into_par_iter().map(|(start, end)| part(&text[..end], start)).collect();
    let mut parts = parts?.into_iter();
    let mut module = parts.next()?;
    parts.for_each(|part| module.append(part));
    Some(Parsed { module, diagnostics: Vec::new() })
}

/// Reads the text from `start` on; `None` if there is anything to report.
fn part(text: &[u8], start: usize) -> Option<Module> {
    if !text[start..].is_ascii() {
        return None;
    }
    let mut parser = Parser::new(text);
    parser.lexer.pos = start;
    parser.token = Token { kind: Kind::End, start: start as u32, end: start as u32 };
    parser.bump();
    parser.items();
    parser.diagnostics.is_empty().then_some(parser.module)
}
