//! Global memory: allocations at 64-bit addresses with gaps between them.

use super::bytes::Bytes;
use super::window;

/// At least this many addresses lie between two allocations, so that a small overrun hits nothing.
const GAP: u64 = 4096;
/// Allocations start at multiples of this, as `cudaMalloc`'s do.
const ALIGN: u64 = 256;

/// A live allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub start: u64,
    pub len: u64,
    pub bytes: Bytes,
}

/// The table of allocations, sorted by address.
#[derive(Debug)]
pub(crate) struct Global {
    live: Vec<Allocation>,
    /// Ranges that were freed; their addresses are not given out again.
    freed: Vec<(u64, u64)>,
    next: u64,
    used: u64,
    limit: u64,
}

impl Global {
    /// Empty memory of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Global { live: Vec::new(), freed: Vec::new(), next: window::GLOBAL, used: 0, limit }
    }

    /// Allocates zeroed memory and gives its address; `None` if the device or the host has not that much.
    pub fn allocate(&mut self, len: u64) -> Option<u64> {
        let used = self.used.checked_add(len).filter(|u| *u <= self.limit)?;
        let start = self.next;
        let next = start.checked_add(len)?.checked_add(GAP)?.checked_next_multiple_of(ALIGN)?;
        if next > window::GLOBAL_END {
            return None;
        }
        let bytes = Bytes::zeroed(usize::try_from(len).ok()?)?;
        self.live.push(Allocation { start, len, bytes });
        (self.used, self.next) = (used, next);
        Some(start)
    }

    /// Frees the allocation that starts at `start`; false if there is none.
    pub fn free(&mut self, start: u64) -> bool {
        let Ok(i) = self.live.binary_search_by_key(&start, |a| a.start) else { return false };
        let gone = self.live.remove(i);
        self.used -= gone.len;
        self.freed.push((gone.start, gone.len));
        true
    }

    /// Index of the allocation that holds `address`, or of the one before it.
    #[inline]
    pub fn find(&self, address: u64) -> usize {
        self.live.partition_point(|a| a.start <= address).wrapping_sub(1)
    }

    /// The allocation at an index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&Allocation> {
        self.live.get(index)
    }

    /// The allocation that starts at `start`.
    pub fn starting_at(&self, start: u64) -> Option<&Allocation> {
        self.live.binary_search_by_key(&start, |a| a.start).ok().map(|i| &self.live[i])
    }

    /// Bytes allocated.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Says where an address that no allocation holds lies.
    pub fn describe(&self, address: u64, size: u64) -> String {
        if let Some((start, len)) = self.freed.iter().find(|(s, l)| (*s..s + l).contains(&address)) {
            return format!(
                "{} bytes into memory of {len} bytes that was freed (at {start:#x})",
                address - start
            );
        }
        let i = self.find(address);
        let before = self.get(i).map(|a| (address.saturating_add(size) - (a.start + a.len), a));
        let after = self.get(i.wrapping_add(1)).map(|a| (a.start - address, a));
        match (before, after) {
            (Some((past, a)), other) if other.is_none_or(|(d, _)| past <= d) => {
                format!(
                    "ends {past} bytes past the end of the nearest allocation ({} bytes at {:#x})",
                    a.len, a.start
                )
            }
            (_, Some((distance, a))) => {
                format!("{distance} bytes before the nearest allocation ({} bytes at {:#x})", a.len, a.start)
            }
            _ => "there are no allocations".into(),
        }
    }
}
