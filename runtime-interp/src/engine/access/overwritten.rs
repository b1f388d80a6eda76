//! What a store finds in memory, for observers.

use crate::memory::bytes::{Concurrent, Mode};
use std::marker::PhantomData;

/// The most bytes that a lane stores with one instruction.
const MOST: usize = 32;

/// The memory that a store is about to overwrite, read when asked for.
#[derive(Debug)]
pub struct Overwritten<'a> {
    /// `len` bytes may be read at the place of each lane of the mask.
    places: [*mut u8; 32],
    mask: u32,
    len: usize,
    memory: PhantomData<&'a u8>,
}

impl<'a> Overwritten<'a> {
    /// # Safety
    /// For `'a`, so many bytes may be read at the place of each lane of the mask.
    pub(in crate::engine) unsafe fn new(places: &[*mut u8; 32], mask: u32, len: usize) -> Overwritten<'a> {
        Overwritten { places: *places, mask, len: len.min(MOST), memory: PhantomData }
    }

    /// The byte that a lane is about to overwrite with the one of this number; `None` for lanes that store nothing, and for stores that leave
    /// elements out.
    pub fn byte(&self, lane: usize, number: usize) -> Option<u8> {
        let place = *self.places.get(lane)?;
        let stored = self.mask >> lane & 1 != 0 && number < self.len;
        // SAFETY: by the promise of `new`, since the lane is in the mask and the byte is one of `len`.
        stored.then(|| unsafe { Concurrent::load::<u8>(place.add(number)) })
    }
}
