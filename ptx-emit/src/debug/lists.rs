//! Lists of places that end alike: one that another ends with is a part of that one.
//!
//! Loops that were unrolled leave many: where a value is at the end of one step, another is at the start of the next.

use super::section::{Bytes, Target};
use gimli::SectionId;
use gimli::write::Writer;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;

/// Bytes of the two addresses that an entry begins with. Where they are zeros, the list ends.
const ADDRESSES: usize = 2 * 8;

/// Leaves the lists out of `.debug_loc` that others end with, and lets `.debug_info` refer to these.
pub(super) fn share_ends(lists: &mut Bytes, info: &mut Bytes) -> gimli::write::Result<()> {
    let Tails { of_lists, behind_others, count } = tails(lists);
    let mut out = Bytes::new();
    let mut places: Vec<Option<usize>> = vec![None; count];
    for list in &of_lists {
        let [(at, head), ..] = list.entries[..] else { continue };
        if behind_others[head] || places[head].is_some() {
            continue;
        }
        let moved = out.len();
        for &(entry, tail) in &list.entries {
            places[tail].get_or_insert(moved + entry - at);
        }
        out.append(lists, at, list.end)?;
    }
    let place = |list: &List| {
        let [(at, head), ..] = list.entries[..] else { return None };
        Some((at, places[head]?))
    };
    let moved: FxHashMap<usize, usize> = of_lists.iter().filter_map(place).collect();
    // Each list has entries, and is in one that is written.
    if moved.len() == of_lists.len() {
        info.redirect(SectionId::DebugLoc, &moved);
        *lists = out;
    }
    Ok(())
}

/// A list from some entry to its end: equal ones have the same number.
type Tail = usize;

struct List {
    /// Where each entry is, and the list from there on.
    entries: Vec<(usize, Tail)>,
    end: usize,
}

struct Tails {
    of_lists: Vec<List>,
    /// Whether an entry stands in front of it somewhere.
    behind_others: Vec<bool>,
    count: usize,
}

/// What an entry says: its bytes, and the references among them.
type Entry<'a> = (&'a [u8], SmallVec<[(usize, Target); 2]>);

fn tails(lists: &Bytes) -> Tails {
    const END: Tail = 0;
    let mut known: FxHashMap<(Entry<'_>, Tail), Tail> = FxHashMap::default();
    let (mut of_lists, mut behind_others) = (Vec::new(), vec![true]);
    let mut at = 0;
    while at < lists.len() {
        let mut read: Vec<(usize, Entry<'_>)> = Vec::new();
        while let Some(entry) = entry(lists, at) {
            read.push((at, entry.clone()));
            at += entry.0.len();
        }
        at += ADDRESSES;
        let mut tail = END;
        let mut entries = Vec::with_capacity(read.len());
        for (at, entry) in read.into_iter().rev() {
            behind_others[tail] = true;
            tail = *known.entry((entry, tail)).or_insert_with(|| {
                behind_others.push(false);
                behind_others.len() - 1
            });
            entries.push((at, tail));
        }
        entries.reverse();
        of_lists.push(List { entries, end: at });
    }
    let count = behind_others.len();
    Tails { of_lists, behind_others, count }
}

/// The entry there; `None`: the list ends.
fn entry(lists: &Bytes, at: usize) -> Option<Entry<'_>> {
    let bytes = lists.from(at);
    let addressed = lists.references(at, at + ADDRESSES).next().is_some();
    let head = bytes.get(..ADDRESSES)?;
    if !addressed && head.iter().all(|byte| *byte == 0) {
        return None;
    }
    let length = bytes.get(ADDRESSES..ADDRESSES + 2)?;
    let length = ADDRESSES + 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    let references = lists.references(at, at + length).map(|(from, target)| (from - at, target));
    Some((bytes.get(..length)?, references.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gimli::write::Address;

    /// Entries by the numbers of their symbols and what they say.
    type Said = Vec<(usize, usize, Vec<u8>)>;

    fn write(lists: &[Said]) -> (Bytes, Bytes) {
        let (mut out, mut info) = (Bytes::new(), Bytes::new());
        for list in lists {
            info.write_offset(out.len(), SectionId::DebugLoc, 4).unwrap();
            for (begin, end, said) in list {
                for symbol in [*begin, *end] {
                    out.write_address(Address::Symbol { symbol, addend: 0 }, 8).unwrap();
                }
                out.write_udata(said.len() as u64, 2).unwrap();
                out.write(said).unwrap();
            }
            out.write_udata(0, 8).unwrap();
            out.write_udata(0, 8).unwrap();
        }
        (out, info)
    }

    fn read(lists: &Bytes, info: &Bytes) -> Vec<Said> {
        let list = |(_, target): (usize, Target)| {
            let Target::Section(SectionId::DebugLoc, mut at) = target else { panic!("{target:?}") };
            let mut said = Said::new();
            while let Some((bytes, references)) = entry(lists, at) {
                let symbols = references.iter().map(|(_, target)| match target {
                    Target::Symbol(symbol, 0) => *symbol,
                    other @ (Target::Symbol(..) | Target::Section(..)) => panic!("{other:?}"),
                });
                let [begin, end] = symbols.collect::<Vec<_>>()[..] else { panic!("two addresses") };
                said.push((begin, end, bytes[ADDRESSES + 2..].to_vec()));
                at += bytes.len();
            }
            said
        };
        info.references(0, info.len()).map(list).collect()
    }

    #[test]
    fn each_list_says_what_it_said() {
        let entry = |number: usize| (number, number + 1, vec![number as u8; number % 4]);
        let lists: Vec<Said> = vec![
            vec![entry(3), entry(4)],
            vec![entry(1), entry(2), entry(3), entry(4)],
            vec![entry(2), entry(3)],
            vec![entry(4)],
            vec![entry(7), entry(3), entry(4)],
            vec![entry(2), entry(3), entry(4)],
            // The same bytes in front of other places.
            vec![(8, 5, entry(4).2)],
            vec![entry(4)],
        ];
        let (mut written, mut info) = write(&lists);
        assert_eq!(read(&written, &info), lists);
        let before = written.len();
        share_ends(&mut written, &mut info).unwrap();
        assert_eq!(read(&written, &info), lists);
        // Four are left: of four entries, of two, of three, of one.
        let left = [1, 2, 4, 6].map(|index| write(&lists[index..=index]).0.len());
        assert_eq!(written.len(), left.iter().sum::<usize>());
        assert!(written.len() < before);
    }
}
