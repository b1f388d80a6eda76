//! Global memory at addresses of the host: what a kernel calls an address, the host can use as a pointer.
//!
//! One stretch of the host's address space grows in large steps, so that any number of allocations is few mappings to the kernel (Linux allows 65,530).
//! Allocations do not share a page, so that the pages of a freed one can be given back; their addresses are not used again.
//!
//! **Invariant.** What lies between the arena's start and its end is mapped to read and write for as long as the process lives; freed pages
//! read as zeros. So a stale pointer cannot hurt the host.

use super::bytes::{Bytes, Owner};
use super::global::{ALIGN, GAP};
use super::window;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// The arena grows by multiples of this.
const STEP: u64 = 256 << 20;
/// Where something else of the host is in the way, the arena goes on so much further.
const STRIDE: u64 = 1 << 36;
const PAGE: u64 = 4096;

/// The stretch of addresses that allocations are taken from. A clone goes on where the original was: only one of them may allocate.
#[derive(Clone, Debug)]
pub(crate) struct Arena {
    next: u64,
    end: u64,
}

/// The pages of an allocation.
#[derive(Debug)]
struct Pages {
    start: u64,
    len: u64,
}

impl Owner for Pages {}

impl Drop for Pages {
    fn drop(&mut self) {
        let start = std::ptr::with_exposed_provenance_mut::<c_void>(self.start as usize);
        // SAFETY: the pages are the arena's, and no block in them is left.
        let outcome = unsafe { madvise(start, self.len as usize, Advice::LinuxDontNeed) };
        // Pages that stay are not an error: their addresses are not used again.
        outcome.unwrap_or_default();
    }
}

impl Arena {
    /// An arena without memory yet.
    pub fn new() -> Arena {
        Arena { next: window::GLOBAL, end: window::GLOBAL }
    }

    /// Zeroed memory and its address.
    pub fn allocate(&mut self, len: u64) -> Option<(u64, Bytes)> {
        let room = len.checked_add(GAP)?.checked_next_multiple_of(ALIGN)?;
        if self.end - self.next < room {
            self.grow(room)?;
        }
        let start = self.next;
        self.next += room;
        let first = start / PAGE * PAGE;
        let pages = Pages { start: first, len: (start + len.max(1)).next_multiple_of(PAGE) - first };
        let place = NonNull::new(std::ptr::with_exposed_provenance_mut(start as usize))?;
        // SAFETY: the arena has mapped it, gives it to no one else, and never takes it back.
        let bytes = unsafe { Bytes::at(place, usize::try_from(len).ok()?, Some(Arc::new(pages))) };
        Some((start, bytes))
    }

    /// Maps what is missing for `room` bytes, at the end or, if that is taken, further on.
    fn grow(&mut self, room: u64) -> Option<()> {
        let missing = (room - (self.end - self.next)).checked_next_multiple_of(STEP)?;
        if self.map(self.end, missing) {
            self.end += missing;
            return Some(());
        }
        let all = room.checked_next_multiple_of(STEP)?;
        let mut start = self.end.next_multiple_of(STRIDE);
        while start.checked_add(all)? < window::GLOBAL_END {
            if self.map(start, all) {
                (self.next, self.end) = (start, start + all);
                return Some(());
            }
            start += STRIDE;
        }
        None
    }

    fn map(&self, start: u64, len: u64) -> bool {
        let Ok(bytes) = usize::try_from(len) else { return false };
        let place = std::ptr::with_exposed_provenance_mut::<c_void>(start as usize);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
        // SAFETY: with FIXED_NOREPLACE nothing that is mapped is touched.
        let mapped = unsafe { mmap_anonymous(place, bytes, ProtFlags::READ | ProtFlags::WRITE, flags) };
        match mapped {
            Ok(at) if at == place => true,
            Ok(elsewhere) => {
                // SAFETY: an old kernel took the address for a hint; what it mapped is no one's yet.
                unsafe { rustix::mm::munmap(elsewhere, bytes) }.unwrap_or_default();
                false
            }
            Err(_) => false,
        }
    }
}
