//! Memory pools: what they count, for memory itself is never kept back.

use crate::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

/// A pool of memory.
#[derive(Debug, Default)]
pub struct Pool {
    /// The number of its device.
    pub device: usize,
    /// The most that it gives; 0 for no limit.
    pub limit: u64,
    /// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`
    pub threshold: AtomicU64,
    /// `CU_MEMPOOL_ATTR_REUSE_..`, which nothing depends on.
    pub reuse: [AtomicU64; 3],
    used: AtomicU64,
    most: AtomicU64,
}

impl Pool {
    /// An empty pool.
    pub fn new(device: usize, limit: u64) -> Pool {
        let reuse = [AtomicU64::new(1), AtomicU64::new(1), AtomicU64::new(1)];
        Pool { device, limit, reuse, ..Pool::default() }
    }

    /// Counts an allocation.
    pub fn take(&self, bytes: u64) -> Result<(), Error> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.limit != 0 && used > self.limit {
            self.give_back(bytes);
            let message = format!("no room for {bytes} bytes in a pool of {}", self.limit);
            return Err(Error::new(crate::error::Code::OUT_OF_MEMORY, message));
        }
        self.most.fetch_max(used, Ordering::Relaxed);
        Ok(())
    }

    /// Counts what is freed.
    pub fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were in use at a time.
    pub fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    /// Forgets the most bytes that were in use.
    pub fn reset_most(&self) {
        self.most.store(self.used(), Ordering::Relaxed);
    }
}
