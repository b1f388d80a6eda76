//! The heap that kernels allocate from with `malloc`.
//!
//! One stretch of global memory holds it, so that an address which was found valid stays valid for the host however the guest's
//! threads race; which parts of the stretch the guest may touch is in a table. Fresh memory is given out before freed memory, and
//! blocks have gaps between them, so that stale pointers and small overruns are found for as long as possible.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock};

/// `malloc` promises addresses for any type (CUDA C++ Programming Guide, dynamic global memory allocation).
const ALIGN: u64 = 16;
/// Addresses between two blocks.
const GAP: u64 = 16;

/// The table of blocks of a device's heap.
#[derive(Debug)]
pub(crate) struct Heap {
    start: u64,
    limit: u64,
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// Live blocks: offset to length.
    live: BTreeMap<u64, u64>,
    /// Freed stretches, gaps included: offset to length, and the other way round.
    free: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    /// Where memory that was never given out starts.
    fresh: u64,
    used: u64,
}

/// What a block takes, the gap after it included; `None` if no heap is that large.
fn room(size: u64) -> Option<u64> {
    size.max(1).checked_next_multiple_of(ALIGN)?.checked_add(GAP)
}

impl Heap {
    /// The heap of `limit` bytes in global memory from `start` on, which is [`Heap::extent`] long.
    pub fn new(start: u64, limit: u64) -> Self {
        Heap { start, limit, table: RwLock::default() }
    }

    /// How much global memory a heap of `limit` bytes takes: blocks of the smallest size have a gap as large as they are.
    pub fn extent(limit: u64) -> Option<u64> {
        limit.checked_mul(2)
    }

    /// The address of a new block; `None` if there is no room.
    pub fn allocate(&self, size: u64) -> Option<u64> {
        let room = room(size)?;
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let used = table.used.checked_add(room - GAP).filter(|used| *used <= self.limit)?;
        let fits = table.fresh.checked_add(room).filter(|end| *end <= 2 * self.limit);
        let offset = match fits {
            Some(end) => std::mem::replace(&mut table.fresh, end),
            None => {
                let (found, offset) = table.by_size.range((room, 0)..).next().copied()?;
                table.take(offset, found);
                if found > room {
                    table.give(offset + room, found - room);
                }
                offset
            }
        };
        table.live.insert(offset, size);
        table.used = used;
        Some(self.start + offset)
    }

    /// Frees the block at an address; `Err` says why it cannot be.
    pub fn free(&self, address: u64) -> Result<(), String> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let offset = address.wrapping_sub(self.start);
        match table.live.remove(&offset) {
            Some(size) => {
                // It had room when it was allocated.
                let room = room(size).unwrap_or(GAP);
                table.used -= room - GAP;
                table.give(offset, room);
                Ok(())
            }
            None => Err(format!("`free` of {address:#x}: {}", table.describe(offset, self.start))),
        }
    }

    /// How many bytes from an address on belong to its block; `None` if it is in none.
    pub fn rest(&self, address: u64) -> Option<u64> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let offset = address.checked_sub(self.start)?;
        let (block, size) = table.live.range(..=offset).next_back()?;
        size.checked_sub(offset - block)
    }

    /// Says what lies at an address that no block holds.
    pub fn describe(&self, address: u64) -> String {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.describe(address.wrapping_sub(self.start), self.start)
    }

    /// The live blocks: address and size.
    pub fn blocks(&self) -> Vec<(u64, u64)> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.live.iter().map(|(offset, size)| (self.start + offset, *size)).collect()
    }

    /// Bytes that blocks take.
    pub fn used(&self) -> u64 {
        self.table.read().unwrap_or_else(PoisonError::into_inner).used
    }
}

impl Table {
    fn take(&mut self, offset: u64, len: u64) {
        self.free.remove(&offset);
        self.by_size.remove(&(len, offset));
    }

    /// Adds a stretch to the free ones, joined with its neighbours.
    fn give(&mut self, mut offset: u64, mut len: u64) {
        if let Some((&next, &more)) = self.free.range(offset..).next()
            && next == offset + len
        {
            self.take(next, more);
            len += more;
        }
        if let Some((&before, &more)) = self.free.range(..offset).next_back()
            && before + more == offset
        {
            self.take(before, more);
            (offset, len) = (before, len + more);
        }
        self.free.insert(offset, len);
        self.by_size.insert((len, offset));
    }

    fn describe(&self, offset: u64, start: u64) -> String {
        let freed = self.free.range(..=offset).next_back().is_some_and(|(at, len)| offset - at < *len);
        if freed {
            return "memory of `malloc` that was freed".into();
        }
        match self.live.range(..=offset).next_back().filter(|_| offset < self.fresh) {
            Some((at, size)) => format!(
                "{} bytes from the start of the nearest block of `malloc` ({size} bytes at {:#x})",
                offset - at,
                start + at
            ),
            None => "no block that `malloc` gave".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_disjoint_and_come_back() {
        let heap = Heap::new(4096, 256);
        let blocks: Vec<u64> = std::iter::from_fn(|| heap.allocate(24)).collect();
        assert_eq!(blocks.len(), 8, "24 bytes take 32 of 256");
        assert!(blocks.windows(2).all(|w| w[1] - w[0] == 48 && w[0] % 16 == 0));
        assert_eq!(
            (heap.rest(blocks[3] + 20), heap.rest(blocks[3] + 24), heap.rest(4000)),
            (Some(4), Some(0), None)
        );
        assert_eq!(heap.rest(blocks[3] + 25), None);
        for i in [2, 4, 3, 5] {
            heap.free(blocks[i]).unwrap();
        }
        assert!(heap.free(blocks[2]).unwrap_err().contains("was freed"));
        assert!(heap.free(blocks[1] + 8).unwrap_err().contains("8 bytes from the start"));
        assert!(heap.free(77).is_err());
        assert_eq!((heap.rest(blocks[2]), heap.used()), (None, 128));
        // The four are one stretch now, which is used once fresh memory does not suffice.
        let again: Vec<u64> = [64, 48, 16].iter().filter_map(|size| heap.allocate(*size)).collect();
        assert_eq!(again, [blocks[7] + 48, blocks[2], blocks[7] + 48 + 80]);
        assert_eq!((heap.allocate(1), heap.allocate(u64::MAX), heap.used()), (None, None, 256));
    }

    #[test]
    fn blocks_of_no_bytes_are_told_apart() {
        let heap = Heap::new(0, 64);
        let (a, b) = (heap.allocate(0).unwrap(), heap.allocate(0).unwrap());
        assert!(a != b && heap.rest(a) == Some(0));
    }
}
