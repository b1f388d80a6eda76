//! How the static data refers to its own rows: by number. An address in it would be a relocation, three words in the executable and work for the
//! loader of every process, and there would be tens of thousands.

use super::{OperandSpec, Slot};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// What the static data has a table of.
pub trait Row: Sized + 'static {
    /// The table, in which equal rows and equal runs of rows are stored once.
    fn table() -> &'static [Self];
}

/// Consecutive rows of the table of a type: a slice that is stored as two numbers.
pub struct Rows<T> {
    pub(super) start: u16,
    pub(super) len: u16,
    of: PhantomData<fn() -> T>,
}

impl<T> Rows<T> {
    /// So many rows from this one on.
    pub(crate) const fn new(start: u16, len: u16) -> Self {
        Rows { start, len, of: PhantomData }
    }
}

impl<T: Row> Rows<T> {
    /// The rows.
    pub fn all(self) -> &'static [T] {
        let start = usize::from(self.start);
        &T::table()[start..start + usize::from(self.len)]
    }
}

impl<T> Clone for Rows<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Rows<T> {}

impl<T: Row> Deref for Rows<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.all()
    }
}

impl<T: Row> IntoIterator for Rows<T> {
    type Item = &'static T;
    type IntoIter = std::slice::Iter<'static, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.all().iter()
    }
}

impl<T: Row + PartialEq> PartialEq for Rows<T> {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

impl<T: Row + Eq> Eq for Rows<T> {}

impl<T: Row + fmt::Debug> fmt::Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all().fmt(f)
    }
}

/// The number of a row that many lists share; it dereferences to the row.
pub struct RowId<T> {
    pub(super) index: u16,
    of: PhantomData<fn() -> T>,
}

/// A [`Slot`] of a form.
pub type SlotId = RowId<Slot>;

/// An [`OperandSpec`] of a form.
pub type OperandId = RowId<OperandSpec>;

impl<T> RowId<T> {
    /// The row of this number.
    pub(crate) const fn new(index: u16) -> Self {
        RowId { index, of: PhantomData }
    }
}

impl<T: Row> RowId<T> {
    /// The row.
    pub fn row(&self) -> &'static T {
        &T::table()[usize::from(self.index)]
    }
}

impl<T: Row> Deref for RowId<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.row()
    }
}

impl<T: Row + fmt::Debug> fmt::Debug for RowId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.row().fmt(f)
    }
}
