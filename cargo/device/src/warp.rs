//! What the lanes of a warp do together. `mask` names the lanes that take part: all of them call the same function.

use crate::ptx;

/// All lanes.
pub const ALL: u32 = u32::MAX;

/// What lanes can exchange: numbers of 8 to 64 bits, `bool` and `char`. Those of 64 bits take two instructions.
pub trait Register: Copy {
    /// Its bits, those of 32 and fewer in the first word.
    #[doc(hidden)]
    fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self;
}

macro_rules! registers {
    ($($ty:ty, |$value:ident| $bits:expr, |$word:ident| $back:expr;)*) => {
        $(impl Register for $ty {
            #[inline(always)]
            fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self {
                let $value = self;
                let $word = exchange($bits);
                $back
            }
        })*
    };
}

registers! {
    u8, |x| u32::from(x), |word| word as u8;
    i8, |x| x as u32, |word| word as i8;
    u16, |x| u32::from(x), |word| word as u16;
    i16, |x| x as u32, |word| word as i16;
    u32, |x| x, |word| word;
    i32, |x| x as u32, |word| word as i32;
    f32, |x| x.to_bits(), |word| f32::from_bits(word);
    bool, |x| u32::from(x), |word| word != 0;
    char, |x| u32::from(x), |word| char::from_u32(word).unwrap_or_default();
}

macro_rules! pairs {
    ($($ty:ty, |$value:ident| $bits:expr, |$word:ident| $back:expr;)*) => {
        $(impl Register for $ty {
            #[inline(always)]
            fn map_words(self, exchange: impl Fn(u32) -> u32) -> Self {
                let $value = self;
                let bits: u64 = $bits;
                let (low, high) = (exchange(bits as u32), exchange((bits >> 32) as u32));
                let $word = u64::from(high) << 32 | u64::from(low);
                $back
            }
        })*
    };
}

pairs! {
    u64, |x| x, |word| word;
    i64, |x| x as u64, |word| word as i64;
    usize, |x| x as u64, |word| word as usize;
    isize, |x| x as u64, |word| word as isize;
    f64, |x| x.to_bits(), |word| f64::from_bits(word);
}

/// The value of lane `from`.
#[inline(always)]
pub fn shuffle<T: Register>(mask: u32, value: T, from: u32) -> T {
    value.map_words(|word| words::shuffle(mask, word, from))
}

/// The value of the lane `by` further; of the lane itself where there is none.
#[inline(always)]
pub fn shuffle_down<T: Register>(mask: u32, value: T, by: u32) -> T {
    value.map_words(|word| words::shuffle_down(mask, word, by))
}

/// The value of the lane `by` before; of the lane itself where there is none.
#[inline(always)]
pub fn shuffle_up<T: Register>(mask: u32, value: T, by: u32) -> T {
    value.map_words(|word| words::shuffle_up(mask, word, by))
}

/// The value of the lane whose number differs in the bits of `bits`.
#[inline(always)]
pub fn shuffle_xor<T: Register>(mask: u32, value: T, bits: u32) -> T {
    value.map_words(|word| words::shuffle_xor(mask, word, bits))
}

/// Shuffles of 32 bits.
mod words {
    use crate::ptx;

    ptx! {
        /// The value of lane `from`.
        pub fn shuffle(mask: u32, value: u32, from: u32) -> u32 = "shfl.sync.idx.b32 {}, {value}, {from}, 31, {mask};" else {
            crate::host::exchange(mask, value).values[(from & 31) as usize]
        };

        /// The value of the lane `by` further; of the lane itself where there is none.
        pub fn shuffle_down(mask: u32, value: u32, by: u32) -> u32 = "shfl.sync.down.b32 {}, {value}, {by}, 31, {mask};" else {
            let from = crate::thread::lane() + (by & 31);
            crate::host::exchange(mask, value).values.get(from as usize).copied().unwrap_or(value)
        };

        /// The value of the lane `by` before; of the lane itself where there is none.
        pub fn shuffle_up(mask: u32, value: u32, by: u32) -> u32 = "shfl.sync.up.b32 {}, {value}, {by}, 0, {mask};" else {
            let values = crate::host::exchange(mask, value).values;
            crate::thread::lane().checked_sub(by & 31).map_or(value, |from| values[from as usize])
        };

        /// The value of the lane whose number differs in the bits of `bits`.
        pub fn shuffle_xor(mask: u32, value: u32, bits: u32) -> u32 = "shfl.sync.bfly.b32 {}, {value}, {bits}, 31, {mask};" else {
            crate::host::exchange(mask, value).values[((crate::thread::lane() ^ bits) & 31) as usize]
        };
    }
}

ptx! {
    /// A bit for each lane whose value is not 0.
    pub fn ballot(mask: u32, value: u32) -> u32 = "{ .reg .pred %p; setp.ne.u32 %p, {value}, 0; vote.sync.ballot.b32 {}, %p, {mask}; }" else {
        let all = crate::host::exchange(mask, value);
        (0..32).filter(|lane| all.lanes >> lane & 1 == 1 && all.values[*lane as usize] != 0).fold(0, |bits, lane| bits | 1 << lane)
    };

    /// The lanes that are here.
    pub fn active() -> u32 = "activemask.b32 {};" else { 1 << thread_lane() };
}

/// True if `condition` is in every lane of `mask`.
#[inline(always)]
pub fn all(mask: u32, condition: bool) -> bool {
    ballot(mask, u32::from(!condition)) == 0
}

/// True if `condition` is in some lane of `mask`.
#[inline(always)]
pub fn any(mask: u32, condition: bool) -> bool {
    ballot(mask, u32::from(condition)) != 0
}

#[cfg(not(target_arch = "nvptx64"))]
fn thread_lane() -> u32 {
    crate::thread::lane()
}

#[cfg(test)]
mod tests {
    use super::{ALL, shuffle, shuffle_down, shuffle_up, shuffle_xor};
    use crate::{SliceMut, host, thread};

    #[test]
    fn every_size() {
        let mut out = [(0u64, 0f64, 0i16, false); 32];
        let all = SliceMut::new(&mut out);
        host::launch([1, 1, 1], [32, 1, 1], || {
            let lane = thread::lane();
            let a = shuffle(ALL, u64::from(lane) << 40 | 5, 7);
            let b = shuffle_down(ALL, f64::from(lane) + 0.25, 1);
            let c = shuffle_up(ALL, -(lane as i16), 2);
            all.set(lane as usize, (a, b, c, shuffle_xor(ALL, lane == 4, 1)));
        });
        assert_eq!(out[5], (7 << 40 | 5, 6.25, -3, true));
        assert_eq!(out[31], (7 << 40 | 5, 31.25, -29, false));
    }
}
