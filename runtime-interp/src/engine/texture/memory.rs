//! The memory of an image, as fetches read it.

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
    pub fn new(memory: &'a Bytes, at: usize, bytes: u32) -> Self {
        assert!(at <= memory.len() && bytes as usize <= memory.len() - at, "an image past its memory");
        assert!(at.is_multiple_of(16), "an image that is not aligned");
        Guest { memory, at, bytes }
    }

    /// Where a texel is that is within the image; the last one that fits for any other offset.
    #[inline(always)]
    pub fn place(&self, offset: u32, bytes: u32) -> *mut u8 {
        let offset = offset.min(self.bytes.saturating_sub(bytes)) & !(bytes - 1);
        self.memory.start().wrapping_add(self.at + offset as usize)
    }
}

impl Texels for Guest<'_> {
    #[inline(always)]
    fn load(&self, bytes: u32, offsets: &Lanes<u32>, words: &mut [Lanes<u32>; 4]) {
        // SAFETY: `place` gives an aligned place of so many bytes within the image, which is not empty and whose size is a multiple of theirs.
        unsafe {
            match bytes {
                1 => {
                    for i in 0..32 {
                        words[0][i] = Concurrent::load::<u8>(self.place(offsets[i], 1)).into();
                    }
                }
                2 => {
                    for i in 0..32 {
                        words[0][i] = Concurrent::load::<u16>(self.place(offsets[i], 2)).into();
                    }
                }
                4 => {
                    for i in 0..32 {
                        words[0][i] = Concurrent::load::<u32>(self.place(offsets[i], 4));
                    }
                }
                8 => {
                    for i in 0..32 {
                        let texel = Concurrent::load::<u64>(self.place(offsets[i], 8));
                        (words[0][i], words[1][i]) = (texel as u32, (texel >> 32) as u32);
                    }
                }
                _ => {
                    for i in 0..32 {
                        let texel = Concurrent::load::<u128>(self.place(offsets[i], 16));
                        for (k, words) in words.iter_mut().enumerate() {
                            words[i] = (texel >> (32 * k)) as u32;
                        }
                    }
                }
            }
        }
    }
}
