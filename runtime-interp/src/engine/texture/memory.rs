//! The memory of an image, as fetches read it.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::memory::bytes::{Bytes, Concurrent, Mode};
use crate::texture::{Lanes, Texels};

/// The texels of an image in guest memory.
pub(super) struct Guest<'a> {
    memory: &'a Bytes,
    /// Where the image starts in it.
    at: usize,
    bytes: u32,
}

impl<'a> Guest<'a> {
    /// Panics unless the image is within the memory, at a multiple of 16.
    #[inline(always)]
    pub fn new(memory: &'a Bytes, at: usize, bytes: u32) -> Self {
        assert!(at <= memory.len() && bytes as usize <= memory.len() - at, "an image past its memory");
        assert!(at.is_multiple_of(16), "an image that is not aligned");
        Guest { memory, at, bytes }
    }

    /// Where texels are that are within the image, and the last one that fits for any other offset.
    ///
    /// Panics if the image is smaller than a texel, of which the size is a power of two.
    #[inline(always)]
    pub fn places(&self, bytes: u32, offsets: &Lanes<u32>) -> Places {
        assert!(bytes.is_power_of_two() && bytes <= self.bytes, "a texel larger than its image");
        let last = self.bytes - bytes;
        let mut places = Places { start: self.memory.start().wrapping_add(self.at), offsets: [0; 32] };
        for (place, offset) in places.offsets.iter_mut().zip(offsets) {
            *place = (*offset).min(last) & !(bytes - 1);
        }
        places
    }
}

/// Places within an image, of texels of a size that they are at multiples of.
pub(super) struct Places {
    start: *mut u8,
    offsets: Lanes<u32>,
}

impl Places {
    /// The place of a lane.
    #[inline(always)]
    pub fn of(&self, lane: usize) -> *mut u8 {
        self.start.wrapping_add(self.offsets[lane] as usize)
    }
}

impl Texels for Guest<'_> {
    #[inline(always)]
    fn load(&self, bytes: u32, offsets: &Lanes<u32>, words: &mut [Lanes<u32>; 4]) {
        let places = self.places(bytes, offsets);
        // SAFETY: the places are those of so many bytes within the image, aligned to them.
        unsafe {
            match bytes {
                1 => {
                    for i in 0..32 {
                        words[0][i] = Concurrent::load::<u8>(places.of(i)).into();
                    }
                }
                2 => {
                    for i in 0..32 {
                        words[0][i] = Concurrent::load::<u16>(places.of(i)).into();
                    }
                }
                4 => {
                    for i in 0..32 {
                        words[0][i] = Concurrent::load::<u32>(places.of(i));
                    }
                }
                8 => {
                    for i in 0..32 {
                        let texel = Concurrent::load::<u64>(places.of(i));
                        (words[0][i], words[1][i]) = (texel as u32, (texel >> 32) as u32);
                    }
                }
                _ => {
                    for i in 0..32 {
                        let texel = Concurrent::load::<u128>(places.of(i));
                        for (k, words) in words.iter_mut().enumerate() {
                            words[i] = (texel >> (32 * k)) as u32;
                        }
                    }
                }
            }
        }
    }
}
