//! Global memory: allocations at 64-bit addresses with gaps between them.

use super::bytes::{Bytes, WideAtomics};
use super::window;
use smallvec::SmallVec;

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
    /// The heap of kernels: which of its bytes may be accessed, its own table says.
    pub heap: bool,
    /// The variables of a program.
    pub variables: bool,
    /// The host has not written it.
    pub unwritten: bool,
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
    multicasts: Vec<Multicast>,
    next_multicast: u64,
    /// For atomics of 128 bits.
    pub wide: WideAtomics,
}

/// A range of multicast addresses: each stands for the same place in several buffers.
#[derive(Debug)]
struct Multicast {
    start: u64,
    len: u64,
    /// The addresses of the buffers.
    replicas: Vec<u64>,
}

/// A place in the memory of a replica: the block, the offset in it, and the address.
pub(crate) type Replica<'a> = (&'a Bytes, usize, u64);

impl Global {
    /// Empty memory of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Global {
            live: Vec::new(),
            freed: Vec::new(),
            next: window::GLOBAL,
            used: 0,
            limit,
            multicasts: Vec::new(),
            next_multicast: window::MULTICAST,
            wide: WideAtomics::default(),
        }
    }

    /// Allocates zeroed memory and gives its address; `None` if the device or the host has not that much.
    pub fn allocate(&mut self, len: u64) -> Option<u64> {
        self.add(len, [false, false])
    }

    /// Allocates zeroed memory that the host is not taken to have written.
    pub fn allocate_unwritten(&mut self, len: u64) -> Option<u64> {
        let start = self.add(len, [false, false])?;
        if let Some(allocation) = self.live.last_mut() {
            allocation.unwritten = true;
        }
        Some(start)
    }

    /// Allocates zeroed memory for the variables of a program.
    pub fn allocate_variables(&mut self, len: u64) -> Option<u64> {
        self.add(len, [false, true])
    }

    /// Allocates the memory of the heap that kernels allocate from.
    pub fn allocate_heap(&mut self, len: u64) -> Option<u64> {
        self.add(len, [true, false])
    }

    fn add(&mut self, len: u64, [heap, variables]: [bool; 2]) -> Option<u64> {
        let used = self.used.checked_add(len).filter(|u| *u <= self.limit)?;
        let start = self.next;
        let next = start.checked_add(len)?.checked_add(GAP)?.checked_next_multiple_of(ALIGN)?;
        if next > window::GLOBAL_END {
            return None;
        }
        let bytes = Bytes::zeroed(usize::try_from(len).ok()?)?;
        self.live.push(Allocation { start, len, bytes, heap, variables, unwritten: false });
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

    /// The live allocations, by address.
    pub fn allocations(&self) -> &[Allocation] {
        &self.live
    }

    /// The ranges that were freed: start and length.
    pub fn freed(&self) -> &[(u64, u64)] {
        &self.freed
    }

    /// The allocation that starts at `start`.
    pub fn starting_at(&self, start: u64) -> Option<&Allocation> {
        self.live.binary_search_by_key(&start, |a| a.start).ok().map(|i| &self.live[i])
    }

    /// A range of multicast addresses for ranges of `len` bytes; `None` if there are no more.
    pub fn multicast(&mut self, replicas: Vec<u64>, len: u64) -> Option<u64> {
        let start = self.next_multicast;
        let end = start.checked_add(len)?.checked_add(GAP)?.checked_next_multiple_of(ALIGN)?;
        if end > window::MULTICAST + window::SIZE {
            return None;
        }
        self.next_multicast = end;
        self.multicasts.push(Multicast { start, len, replicas });
        Some(start)
    }

    /// The places that a multicast address stands for; `None` if it is none, or a buffer was freed.
    pub fn replicas(&self, address: u64, size: u64) -> Option<SmallVec<[Replica<'_>; 4]>> {
        let i = self.multicasts.partition_point(|m| m.start <= address).checked_sub(1)?;
        let multicast = &self.multicasts[i];
        let offset = address - multicast.start;
        if offset > multicast.len || size > multicast.len - offset {
            return None;
        }
        let place = |start: &u64| {
            let at = start + offset;
            let a = self
                .get(self.find(at))
                .filter(|a| at - a.start <= a.len && size <= a.len - (at - a.start))?;
            Some((&a.bytes, (at - a.start) as usize, at))
        };
        multicast.replicas.iter().map(place).collect()
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
