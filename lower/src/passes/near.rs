//! A table for walks that mostly meet again what they met a short while ago.
//!
//! In a large function a hash table does not fit into a cache, and each question to it waits for memory. Here things belong to a number, such as that of
//! their newest operand, and those of one number are in a list: numbers of neighbours in a function are near each other, and so is what is read of these
//! tables. What belongs to no number, or to one that many others belong to, is found by its hash.

use hashbrown::HashTable;
use std::hash::{Hash, Hasher};
use warpsmith_base::{FxHasher, half_hash};

/// The longest list that is walked.
const MAX_WALKED: usize = 8;

/// The end of a list.
const END: u32 = u32::MAX;

pub(super) struct Near<T> {
    /// The newest thing of each number.
    newest: Vec<u32>,
    all: Vec<Thing<T>>,
    /// Hashes and places of those that are in no list.
    others: HashTable<(u32, u32)>,
}

struct Thing<T> {
    hash: u32,
    older: u32,
    what: T,
}

/// Where something that was not found belongs.
pub(super) struct Room {
    hash: u32,
    /// The number whose list it goes into, if that is not too long.
    number: Option<u32>,
}

impl<T> Near<T> {
    /// A table with room for so many numbers and things.
    pub(super) fn new(numbers: usize, things: usize) -> Near<T> {
        Near { newest: vec![END; numbers], all: Vec::with_capacity(things), others: HashTable::new() }
    }

    /// What has this number and this hash, and is what is looked for.
    pub(super) fn find(
        &mut self,
        number: Option<u32>,
        hash: u32,
        is_it: impl Fn(&T) -> bool,
    ) -> Result<&mut T, Room> {
        let Near { newest, all, others } = self;
        let mut list_has_room = false;
        if let Some(number) = number {
            let mut at = newest.get(number as usize).copied().unwrap_or(END);
            for _ in 0..MAX_WALKED {
                let Some(thing) = all.get(at as usize) else {
                    list_has_room = true;
                    break;
                };
                if thing.hash == hash && is_it(&thing.what) {
                    return Ok(&mut all[at as usize].what);
                }
                at = thing.older;
            }
        }
        if !list_has_room {
            let is_it = |&(known, at): &(u32, u32)| known == hash && is_it(&all[at as usize].what);
            if let Some(&(_, at)) = others.find(half_hash::whole(hash), is_it) {
                return Ok(&mut all[at as usize].what);
            }
        }
        Err(Room { hash, number: number.filter(|_| list_has_room) })
    }

    /// Puts something where it belongs.
    pub(super) fn insert(&mut self, room: Room, what: T) {
        let at = u32::try_from(self.all.len()).expect("functions have fewer instructions");
        let Room { hash, number } = room;
        let mut older = END;
        match number {
            Some(number) => {
                let number = number as usize;
                if number >= self.newest.len() {
                    self.newest.resize(number + 1, END);
                }
                older = std::mem::replace(&mut self.newest[number], at);
            }
            None => {
                self.others
                    .insert_unique(half_hash::whole(hash), (hash, at), |&(hash, _)| half_hash::whole(hash));
            }
        }
        self.all.push(Thing { hash, older, what });
    }
}

/// Half of a hash.
pub(super) fn short_hash(key: &impl Hash) -> u32 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    half_hash::of(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, hashes and keys of all kinds, crowded and not: what was put in is found, and nothing else.
    #[test]
    fn finds_what_was_put_in() {
        let mut random = warpsmith_base::SplitMix64::new(3);
        let mut near: Near<(Option<u32>, u64)> = Near::new(10, 0);
        let mut known = std::collections::HashSet::new();
        for _ in 0..20_000 {
            let number = (!random.next().is_multiple_of(4)).then(|| (random.next() % 100) as u32);
            let key = random.next() % 100;
            // Many keys share a hash.
            let hash = (key % 30) as u32;
            match near.find(number, hash, |what| *what == (number, key)) {
                Ok(what) => assert!(known.contains(what)),
                Err(room) => {
                    assert!(known.insert((number, key)));
                    near.insert(room, (number, key));
                }
            }
        }
        assert!(known.len() > 5_000);
    }
}
