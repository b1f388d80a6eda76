//! The random number generator: for choices of the scheduler, for the data that launches describe, and for generated programs.

/// SplitMix64, from a seed: small, and the same everywhere.
///
/// ```
/// use warpsmith_base::SplitMix64;
/// assert_eq!(SplitMix64::new(0).next(), 0xe220_a839_7b1d_cdaf);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts from a seed.
    pub const fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next number.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`, or 0.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.next() >> 32) * u64::from(n)) >> 32) as u32
    }
}
