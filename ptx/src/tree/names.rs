//! Interned names: every spelling is stored once, and a tree holds four-byte [`Symbol`]s.

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use warpsmith_base::half_hash;

/// A name of a module, resolved by [`Names`]. Equal symbols of one module are equal names, and the other way round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

impl Symbol {
    /// `_`: the operand that discards a result, and the name of a parameter that has none.
    pub const SINK: Symbol = Symbol(0);

    /// The position in the order of interning, for maps that are dense in symbols.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn from_index(index: usize) -> Self {
        Symbol(index as u32)
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "symbol{}", self.0)
    }
}

/// The set of interned spellings, numbered densely from zero.
#[derive(Clone, Default)]
pub(crate) struct Interner {
    text: String,
    /// Where each spelling is in `text`.
    places: Vec<(u32, u32)>,
    /// Half of the hash of each spelling, so that few spellings are looked at, and its number.
    table: HashTable<(u32, u32)>,
    /// Seeded anew for each module: no text can be made of names that collide.
    hasher: DefaultHashBuilder,
}

impl Interner {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> &str {
        let (start, end) = self.places[index];
        &self.text[start as usize..end as usize]
    }

    /// The number of `name`, which is given one if it has none. What is not UTF-8 in it is replaced.
    #[inline]
    pub(crate) fn intern(&mut self, name: &[u8]) -> usize {
        let Interner { text, places, table, hasher } = self;
        let hash = hash(hasher, name);
        let spelling = |index: u32| {
            let (start, end) = places[index as usize];
            &text.as_bytes()[start as usize..end as usize]
        };
        let is_it = |&(known, index): &(u32, u32)| known == hash && spelling(index) == name;
        match table.entry(half_hash::whole(hash), is_it, |&(hash, _)| half_hash::whole(hash)) {
            Entry::Occupied(entry) => entry.get().1 as usize,
            Entry::Vacant(entry) => {
                let (index, start) = (places.len(), text.len() as u32);
                entry.insert((hash, index as u32));
                match std::str::from_utf8(name) {
                    Ok(name) => text.push_str(name),
                    Err(_) => text.push_str(&String::from_utf8_lossy(name)),
                }
                places.push((start, text.len() as u32));
                index
            }
        }
    }

    /// The number of `name` if it has one.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let hash = hash(&self.hasher, name.as_bytes());
        let is_it = |&(known, index): &(u32, u32)| known == hash && self.get(index as usize) == name;
        self.table.find(half_hash::whole(hash), is_it).map(|&(_, index)| index as usize)
    }

    /// Makes room for so many more names.
    fn reserve(&mut self, names: usize) {
        self.places.reserve(names);
        self.table.reserve(names, |&(hash, _)| half_hash::whole(hash));
    }
}

fn hash(hasher: &DefaultHashBuilder, bytes: &[u8]) -> u32 {
    let mut hasher = hasher.build_hasher();
    hasher.write(bytes);
    half_hash::of(hasher.finish())
}

/// The names and the string literals of one module.
#[derive(Clone)]
pub struct Names(Interner);

impl Default for Names {
    fn default() -> Self {
        let mut names = Interner::default();
        names.intern(b"_");
        Names(names)
    }
}

impl Names {
    /// The symbol of `name`, which is given one if it has none.
    pub fn intern(&mut self, name: &str) -> Symbol {
        self.intern_bytes(name.as_bytes())
    }

    #[inline]
    pub(crate) fn intern_bytes(&mut self, name: &[u8]) -> Symbol {
        Symbol(self.0.intern(name) as u32)
    }

    /// The symbol of `name` if the module knows it.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.0.find(name).map(Symbol::from_index)
    }

    /// The spelling.
    #[inline]
    pub fn get(&self, symbol: Symbol) -> &str {
        self.0.get(symbol.index())
    }

    /// Makes room for so many more names.
    pub(crate) fn reserve(&mut self, names: usize) {
        self.0.reserve(names);
    }

    /// How many symbols there are: every [`Symbol::index`] is below.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never: `_` is always known.
    pub fn is_empty(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_has_one_symbol() {
        let mut names = Names::default();
        let (a, b) = (names.intern("%r1"), names.intern("%r2"));
        assert_ne!(a, b);
        assert_eq!(names.intern("%r1"), a);
        assert_eq!([names.get(a), names.get(b), names.get(Symbol::SINK)], ["%r1", "%r2", "_"]);
        assert_eq!([names.find("%r2"), names.find("%r3")], [Some(b), None]);
        assert_eq!(names.len(), 3);
    }
}
