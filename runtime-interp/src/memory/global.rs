//! Global memory: allocations at 64-bit addresses with gaps between them.

#[cfg(feature = "mapped")]
use super::arena::Arena;
use super::bytes::{Bytes, WideAtomics};
use super::window;
use smallvec::SmallVec;

/// At least this many addresses lie between two allocations, so that a small overrun hits nothing.
pub(super) const GAP: u64 = 4096;
/// Allocations start at multiples of this, as `cudaMalloc`'s do.
pub(super) const ALIGN: u64 = 256;
/// So many freed ranges are remembered, to say of a stale address what it was.
const MOST_FREED: usize = 1 << 13;

/// An allocation.
#[derive(Clone, Debug)]
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
    /// Memory of the host that it lets kernels use.
    pub adopted: bool,
    /// It was freed; its length is 0, and it waits to be swept.
    pub dead: bool,
}

/// The table of allocations, sorted by address. A clone is what a launch sees: the same blocks, whatever is allocated and freed meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    /// With those that were freed since the table was last swept: to free many must not move the others each time.
    table: Vec<Allocation>,
    dead: usize,
    /// Ranges that were freed; their addresses are not given out again.
    freed: Vec<(u64, u64)>,
    #[cfg(feature = "mapped")]
    arena: Option<Arena>,
    next: u64,
    used: u64,
    limit: u64,
    multicasts: Vec<Multicast>,
    next_multicast: u64,
    /// For atomics of 128 bits.
    pub wide: WideAtomics,
}

/// A range of multicast addresses: each denotes the same place in several buffers.
#[derive(Clone, Debug)]
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
            table: Vec::new(),
            dead: 0,
            freed: Vec::new(),
            #[cfg(feature = "mapped")]
            arena: None,
            next: window::GLOBAL,
            used: 0,
            limit,
            multicasts: Vec::new(),
            next_multicast: window::MULTICAST,
            wide: WideAtomics::default(),
        }
    }

    /// Empty memory of `limit` bytes, whose addresses are those of the host.
    #[cfg(feature = "mapped")]
    pub fn mapped(limit: u64) -> Self {
        Global { arena: Some(Arena::new()), ..Global::new(limit) }
    }

    /// True if addresses are those of the host.
    pub fn is_mapped(&self) -> bool {
        #[cfg(feature = "mapped")]
        return self.arena.is_some();
        #[cfg(not(feature = "mapped"))]
        false
    }

    /// Allocates zeroed memory and gives its address; `None` if the device or the host has not that much.
    pub fn allocate(&mut self, len: u64) -> Option<u64> {
        self.add(len, [false, false])
    }

    /// Allocates zeroed memory that the host is not taken to have written.
    pub fn allocate_unwritten(&mut self, len: u64) -> Option<u64> {
        let start = self.add(len, [false, false])?;
        let i = self.find(start);
        if let Some(allocation) = self.table.get_mut(i) {
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
        let (start, bytes) = self.fresh(len)?;
        let allocation =
            Allocation { start, len, bytes, heap, variables, unwritten: false, adopted: false, dead: false };
        self.insert(allocation);
        self.used = used;
        Some(start)
    }

    /// Zeroed memory at addresses that were never given out.
    fn fresh(&mut self, len: u64) -> Option<(u64, Bytes)> {
        #[cfg(feature = "mapped")]
        if let Some(arena) = &mut self.arena {
            return arena.allocate(len);
        }
        let start = self.next;
        let next = start.checked_add(len)?.checked_add(GAP)?.checked_next_multiple_of(ALIGN)?;
        if next > window::GLOBAL_END {
            return None;
        }
        let bytes = Bytes::zeroed(usize::try_from(len).ok()?)?;
        self.next = next;
        Some((start, bytes))
    }

    /// Puts an allocation into the table, where nothing live overlaps it.
    fn insert(&mut self, allocation: Allocation) {
        let end = allocation.start.saturating_add(allocation.len);
        let from = self.table.partition_point(|a| a.start < allocation.start);
        let to = from + self.table[from..].partition_point(|a| a.start < end.max(allocation.start + 1));
        // What is left there was freed.
        self.dead -= to - from;
        self.table.splice(from..to, [allocation]);
    }

    /// Takes a block of the host's memory into the table, at its own address; false if it overlaps an allocation or a window.
    pub fn adopt(&mut self, bytes: Bytes) -> bool {
        let (start, len) = (bytes.start().addr() as u64, bytes.len() as u64);
        let Some(end) = start.checked_add(len).filter(|end| *end <= window::GLOBAL_END && len > 0) else {
            return false;
        };
        let before = self.table[..self.table.partition_point(|a| a.start < end)].iter().rev();
        if before.filter(|a| !a.dead).take(1).any(|a| a.start + a.len > start) {
            return false;
        }
        self.insert(Allocation {
            start,
            len,
            bytes,
            heap: false,
            variables: false,
            unwritten: false,
            adopted: true,
            dead: false,
        });
        true
    }

    /// Frees the allocation that starts at `start`; false if there is none.
    pub fn free(&mut self, start: u64) -> bool {
        let Some(i) = self.index_of(start) else { return false };
        let gone = &mut self.table[i];
        let (len, adopted) = (gone.len, gone.adopted);
        // The block is given back now, unless a launch still uses it.
        gone.bytes = Bytes::none();
        (gone.len, gone.dead) = (0, true);
        self.dead += 1;
        if !adopted {
            self.used -= len;
            self.freed.push((start, len));
        }
        if self.freed.len() > MOST_FREED {
            self.freed.drain(..MOST_FREED / 2);
        }
        if self.dead > 64 && self.dead > self.table.len() / 2 {
            self.table.retain(|a| !a.dead);
            self.dead = 0;
        }
        true
    }

    fn index_of(&self, start: u64) -> Option<usize> {
        self.table.binary_search_by_key(&start, |a| a.start).ok().filter(|i| !self.table[*i].dead)
    }

    /// Index of the allocation that holds `address`, or of the one before it.
    #[inline]
    pub fn find(&self, address: u64) -> usize {
        self.table.partition_point(|a| a.start <= address).wrapping_sub(1)
    }

    /// The allocation at an index. One that was freed has no bytes.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&Allocation> {
        self.table.get(index)
    }

    /// The live allocations, by address.
    pub fn allocations(&self) -> impl Iterator<Item = &Allocation> {
        self.table.iter().filter(|a| !a.dead)
    }

    /// The live allocation that an address is in; past its last byte is outside, unless it has none.
    pub fn containing(&self, address: u64) -> Option<&Allocation> {
        self.get(self.find(address)).filter(|a| !a.dead && address - a.start < a.len.max(1))
    }

    /// The ranges that were freed: start and length.
    pub fn freed(&self) -> &[(u64, u64)] {
        &self.freed
    }

    /// The allocation that starts at `start`.
    pub fn starting_at(&self, start: u64) -> Option<&Allocation> {
        self.index_of(start).map(|i| &self.table[i])
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

    /// The places that a multicast address denotes; `None` if it is none, or a buffer was freed.
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
                .filter(|a| !a.dead && at - a.start <= a.len && size <= a.len - (at - a.start))?;
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
        let i = self.find(address).wrapping_add(1);
        let before = self.table[..i].iter().rev().find(|a| !a.dead);
        let before = before.map(|a| (address.saturating_add(size) - (a.start + a.len), a));
        let after = self.table[i..].iter().find(|a| !a.dead).map(|a| (a.start - address, a));
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
