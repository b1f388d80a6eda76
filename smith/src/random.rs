//! The one source of randomness: a seed, and the bytes that follow from it on every machine.

use warpsmith_base::SplitMix64;

/// [`SplitMix64`] with what generators ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// The sequence of a seed.
    pub const fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0.next()
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end.max(1)
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend(self.word().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}
