//! A table of what is known of few of many things.

use cranelift_entity::{EntityRef, SecondaryMap};

/// What is known of some entities, in four bytes for each of the others: a table of all that is known of each would not fit into the cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sparse<K: EntityRef, V> {
    /// Which of `values` an entity has, plus one; 0 for none.
    numbers: SecondaryMap<K, u32>,
    values: Vec<V>,
}

impl<K: EntityRef, V> Default for Sparse<K, V> {
    fn default() -> Self {
        Sparse { numbers: SecondaryMap::new(), values: Vec::new() }
    }
}

impl<K: EntityRef, V> Sparse<K, V> {
    /// An empty table for so many entities.
    pub(crate) fn new(count: usize) -> Self {
        let mut sparse = Sparse::default();
        sparse.numbers.resize(count);
        sparse
    }

    #[inline]
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        let number = self.numbers[key].checked_sub(1)?;
        Some(&self.values[number as usize])
    }

    pub(crate) fn set(&mut self, key: K, value: V) {
        let number = &mut self.numbers[key];
        match number.checked_sub(1) {
            Some(known) => self.values[known as usize] = value,
            None => {
                self.values.push(value);
                *number = self.values.len() as u32;
            }
        }
    }
}
