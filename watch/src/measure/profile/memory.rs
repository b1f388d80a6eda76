//! What an access of a warp costs in a memory system: sectors of 32 bytes and lines of 128 bytes of global memory, and passes through the 32
//! banks of shared memory.
//!
//! Banks are four bytes wide. Elements of up to 4 bytes are accessed by a warp at once, of 8 bytes by half of it, of 16 by a
//! quarter: as many passes are the least. A pass more is a conflict: lanes that want different words of one bank. Lanes that want
//! the same word share it, except in atomic operations.

use smallvec::SmallVec;
use warpsmith_interp::engine::Access;
use warpsmith_interp::observe::{AccessKind, Addresses, Line, MemoryRange};
use warpsmith_isa::StateSpace;

/// Bytes of a sector: the least that memory moves.
pub const SECTOR: u64 = 32;
/// Bytes of a cache line.
pub const CACHE_LINE: u64 = 128;
/// Bytes of a word of a bank, and how many banks there are.
const WORD: u64 = 4;
const BANKS: u64 = 32;

/// The accesses that an operation has made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessCount {
    /// The space of the first of them.
    pub space: StateSpace,
    /// Loads, stores or atomic operations of a warp; transfers, if they are asynchronous.
    pub requests: u64,
    /// By so many threads.
    pub threads: u64,
    /// Bytes that all threads together asked for.
    pub bytes: u64,
    /// What they did to global and local memory.
    pub sectors: Traffic,
    /// Cache lines they touched there.
    pub lines: u64,
    /// Passes through the banks of shared memory.
    pub passes: Traffic,
    /// The most passes that the lanes of one request needed for one bank.
    pub worst: u32,
    /// What the first of them went to.
    pub target: Option<Target>,
}

/// What an access goes to: a variable of the PTX, or the buffer that a parameter of the kernel points to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The name of the variable or parameter.
    pub name: String,
    /// It is what the parameter points to.
    pub buffer: bool,
    /// The address, in bytes from its start.
    pub offset: i64,
}

/// Units that were moved, and how few would have done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Units moved.
    pub moved: u64,
    /// Units that the same bytes would take if they lay side by side.
    pub needed: u64,
}

impl Traffic {
    fn add(&mut self, moved: u64, needed: u64) {
        self.moved += moved;
        self.needed += needed;
    }

    /// Both together.
    pub fn plus(self, other: Traffic) -> Traffic {
        Traffic { moved: self.moved + other.moved, needed: self.needed + other.needed }
    }

    /// The part of what was moved that was needed, from 0 to 1; `None` if nothing was moved.
    pub fn efficiency(self) -> Option<f64> {
        (self.moved != 0).then(|| self.needed as f64 / self.moved as f64)
    }

    /// Units that need not have been moved.
    pub fn excess(self) -> u64 {
        self.moved.saturating_sub(self.needed)
    }
}

impl AccessCount {
    pub(crate) fn new(space: StateSpace) -> AccessCount {
        let none = Traffic::default();
        AccessCount {
            space,
            requests: 0,
            threads: 0,
            bytes: 0,
            sectors: none,
            lines: 0,
            passes: none,
            worst: 0,
            target: None,
        }
    }

    /// The sum of two; `worst` is the worse.
    pub fn plus(&self, other: &AccessCount) -> AccessCount {
        AccessCount {
            space: self.space,
            requests: self.requests + other.requests,
            threads: self.threads + other.threads,
            bytes: self.bytes + other.bytes,
            sectors: self.sectors.plus(other.sectors),
            lines: self.lines + other.lines,
            passes: self.passes.plus(other.passes),
            worst: self.worst.max(other.worst),
            target: self.target.clone().or_else(|| other.target.clone()),
        }
    }

    #[inline]
    pub(crate) fn add(
        &mut self,
        mask: u32,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: &Addresses<'_>,
    ) {
        let size = u64::from(access.bytes) * u64::from(access.count);
        let threads = u64::from(mask.count_ones());
        self.requests += 1;
        self.threads += threads;
        self.bytes += threads * size;
        match (space, addresses) {
            (StateSpace::Global, Addresses::Lines(lines)) if mask == u32::MAX => {
                self.add_ranges(lines.map(|l| (l.start, l.start + 15 * l.step + size)));
            }
            (StateSpace::Global, _) => self.add_scattered(&lanes(mask, addresses), size),
            (StateSpace::Local, _) => {
                // Words of local memory with the same address lie side by side for the lanes of a warp.
                let words: SmallVec<[u64; 32]> = lanes_with_numbers(mask, addresses)
                    .flat_map(|(lane, a)| {
                        (a / WORD..=(a + size - 1) / WORD).map(move |word| (word * 32 + lane) * WORD)
                    })
                    .collect();
                self.add_scattered(&words, WORD);
            }
            (StateSpace::Shared, Addresses::Lines(lines))
                if mask == u32::MAX && kind != AccessKind::Atomic =>
            {
                let passes = passes_of_lines(lines, size);
                self.add_passes(passes);
            }
            (StateSpace::Shared, _) => {
                let shared_words = kind != AccessKind::Atomic;
                self.add_passes(passes(mask, addresses, size, shared_words));
            }
            _ => {}
        }
    }

    /// Half warps that access everything in a range.
    #[inline]
    fn add_ranges(&mut self, [a, b]: [(u64, u64); 2]) {
        let of = |unit: u64| {
            let [(a0, a1), (b0, b1)] = [a, b].map(|(start, end)| (start / unit, (end - 1) / unit + 1));
            let shared = a1.min(b1).saturating_sub(a0.max(b0));
            a1 - a0 + b1 - b0 - shared
        };
        self.sectors.add(of(SECTOR), of(1).div_ceil(SECTOR));
        self.lines += of(CACHE_LINE);
    }

    /// Elements of a size that are aligned to it, so that two are the same or apart.
    fn add_scattered(&mut self, addresses: &[u64], size: u64) {
        let mut sorted: SmallVec<[u64; 32]> = SmallVec::from_slice(addresses);
        if !sorted.is_sorted() {
            sorted.sort_unstable();
        }
        sorted.dedup();
        // An element may be larger than a sector only in bulk; then each part of it counts.
        let of = |unit: u64| {
            let (mut count, mut next) = (0, 0);
            for a in &sorted {
                let (first, end) = ((a / unit).max(next), (a + size.max(1) - 1) / unit + 1);
                count += end.saturating_sub(first);
                next = next.max(end);
            }
            count
        };
        self.sectors.add(of(SECTOR), (sorted.len() as u64 * size).div_ceil(SECTOR));
        self.lines += of(CACHE_LINE);
    }

    #[inline]
    fn add_passes(&mut self, (passes, least, worst): (u64, u64, u32)) {
        self.passes.add(passes, least);
        self.worst = self.worst.max(worst);
    }

    /// A part of an asynchronous transfer. Parts that follow one another share the sector they meet in.
    pub(crate) fn add_transfer(
        &mut self,
        number: u64,
        place: &MemoryRange,
        space: StateSpace,
        last: &mut (u64, u64),
    ) {
        if space != StateSpace::Global || place.bytes == 0 {
            return;
        }
        let (first, end) = (place.address / SECTOR, (place.address + place.bytes - 1) / SECTOR + 1);
        let met = *last == (number + 1, first);
        self.requests += u64::from(last.0 != number + 1);
        self.bytes += place.bytes;
        self.threads += 1;
        self.sectors.add(
            end - first - u64::from(met),
            place.bytes.div_ceil(SECTOR).min(end - first - u64::from(met)),
        );
        self.lines +=
            (place.address + place.bytes - 1) / CACHE_LINE - place.address / CACHE_LINE + u64::from(!met);
        *last = (number + 1, end - 1);
    }
}

fn lanes_with_numbers(mask: u32, addresses: &Addresses<'_>) -> impl Iterator<Item = (u64, u64)> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0).map(|lane| (lane as u64, addresses.of(lane)))
}

fn lanes(mask: u32, addresses: &Addresses<'_>) -> SmallVec<[u64; 32]> {
    lanes_with_numbers(mask, addresses).map(|(_, a)| a).collect()
}

/// Lanes that are served together.
fn lanes_at_once(size: u64) -> u64 {
    (32 * WORD / size.max(WORD)).clamp(1, 32)
}

/// Passes, the least number of passes, and the most for one bank, of a warp whose halves follow rules.
#[inline]
fn passes_of_lines(lines: &[Line; 2], size: u64) -> (u64, u64, u32) {
    if size > WORD {
        // Neighbours fill the banks exactly, and lanes at one place share it.
        let parts = 32 / lanes_at_once(size);
        return (parts, parts, 1);
    }
    // Two ranges of words. In each, no two words are of one bank.
    let [(a, a_end), (b, b_end)] =
        lines.map(|l| ((l.start / WORD) as i64, ((l.start + 15 * l.step + size - 1) / WORD) as i64));
    // Words of both are of one bank if they differ by a multiple of the number of banks, which is not zero.
    let (low, high) = (b - a_end, b_end - a);
    let banks = BANKS as i64;
    let multiples = high.div_euclid(banks) - (low - 1).div_euclid(banks);
    let zero = i64::from(low <= 0 && high >= 0);
    let passes = if multiples - zero > 0 { 2 } else { 1 };
    (passes, 1, passes as u32)
}

/// Passes, parts and the worst number of passes for any addresses, whether lanes may share a word or not.
fn passes(mask: u32, addresses: &Addresses<'_>, size: u64, shared_words: bool) -> (u64, u64, u32) {
    let at_once = lanes_at_once(size);
    let (mut total, mut parts, mut worst) = (0, 0, 0);
    for part in 0..32 / at_once {
        let mut words: SmallVec<[u64; 64]> = lanes_with_numbers(mask, addresses)
            .filter(|(lane, _)| lane / at_once == part)
            .flat_map(|(_, a)| a / WORD..=(a + size - 1) / WORD)
            .collect();
        if words.is_empty() {
            continue;
        }
        if shared_words {
            words.sort_unstable();
            words.dedup();
        }
        let mut banks = [0u32; BANKS as usize];
        words.iter().for_each(|w| banks[(w % BANKS) as usize] += 1);
        let most = banks.into_iter().max().unwrap_or(0);
        total += u64::from(most);
        parts += 1;
        worst = worst.max(most);
    }
    (total, parts, worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(address: impl Fn(u64) -> u64, size: u64) -> (u64, u64, u32) {
        passes(u32::MAX, &Addresses::Each(&std::array::from_fn(|i| address(i as u64))), size, true)
    }

    #[test]
    fn strides_conflict_as_the_banks_say() {
        for (stride, ways) in [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1)] {
            assert_eq!(shared(|i| 4 * i * stride, 4), (ways, 1, ways as u32), "stride {stride}");
        }
        assert_eq!(shared(|_| 64, 4), (1, 1, 1));
        assert_eq!(shared(|i| i, 1), (1, 1, 1));
        assert_eq!(shared(|i| 8 * i, 8), (2, 2, 1));
        assert_eq!(shared(|i| 16 * i, 8), (4, 2, 2));
        assert_eq!(shared(|i| 16 * i, 16), (4, 4, 1));
        let atomic = Addresses::Each(&[128; 32]);
        assert_eq!(passes(0xff, &atomic, 4, false), (8, 1, 8));
    }

    #[test]
    fn rules_give_what_the_addresses_give() {
        for size in [1, 2, 4, 8, 16] {
            for distance in (0..80).map(|d| d * size.max(4)).chain([1024, 4096]) {
                for steps in [[0, 0], [0, size], [size, 0], [size, size]] {
                    let lines =
                        [Line { start: 256, step: steps[0] }, Line { start: 256 + distance, step: steps[1] }];
                    let each = Addresses::Lines(lines).all();
                    let slow = passes(u32::MAX, &Addresses::Each(&each), size, true);
                    assert_eq!(passes_of_lines(&lines, size), slow, "{lines:?} of {size}");
                    let (mut a, mut b) =
                        (AccessCount::new(StateSpace::Global), AccessCount::new(StateSpace::Global));
                    a.add_ranges(lines.map(|l| (l.start, l.start + 15 * l.step + size)));
                    b.add_scattered(&each, size);
                    assert_eq!(a, b, "{lines:?} of {size}");
                }
            }
        }
    }
}
