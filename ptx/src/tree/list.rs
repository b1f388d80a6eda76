//! Ranges of the arenas of a [`Module`](super::Module), typed by what they hold.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// Neighbours in the arena of `T`: `module[list]` is the slice.
pub struct List<T> {
    start: u32,
    len: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    /// No elements.
    pub const EMPTY: Self = List { start: 0, len: 0, of: PhantomData };

    pub(crate) const fn new(start: usize, end: usize) -> Self {
        List { start: start as u32, len: (end - start) as u32, of: PhantomData }
    }

    /// How many elements.
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// True without elements.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The positions in the arena.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    /// The ids of the elements, in order.
    pub fn ids(self) -> impl ExactSizeIterator<Item = Id<T>> + DoubleEndedIterator + Clone {
        (self.start..self.start + self.len).map(Id::new)
    }

    /// The id of one element.
    pub fn get(self, index: usize) -> Option<Id<T>> {
        (index < self.len()).then(|| Id::new(self.start + index as u32))
    }
}

/// One element of the arena of `T`: `module[id]`.
pub struct Id<T> {
    index: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    pub(crate) const fn new(index: u32) -> Self {
        Id { index, of: PhantomData }
    }

    /// The position in the arena.
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

// Derives would ask the same of `T`, of which nothing is held.
macro_rules! plain_data {
    ($($name:ident { $first:ident $(, $field:ident)* } $prefix:literal;)*) => {$(
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<T> {}
        impl<T> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.$first == other.$first $(&& self.$field == other.$field)*
            }
        }
        impl<T> Eq for $name<T> {}
        impl<T> std::hash::Hash for $name<T> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.$first.hash(state);
                $(self.$field.hash(state);)*
            }
        }
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, self.$first)?;
                $(write!(f, "+{}", self.$field)?;)*
                Ok(())
            }
        }
    )*};
}

plain_data! {
    List { start, len } "list";
    Id { index } "id";
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}
