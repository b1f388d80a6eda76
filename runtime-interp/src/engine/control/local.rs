//! The local memory of a warp: what frames have, and what `alloca` gives.

use crate::memory::bytes::Bytes;

/// Where the local addresses start that `alloca` gives: above every frame.
pub const DYNAMIC: u64 = 1 << 31;

/// The local memory of 32 lanes, one stretch of `stride` bytes after the other.
#[derive(Default)]
pub(in crate::engine) struct LocalMemory {
    bytes: Option<Bytes>,
    stride: usize,
    /// What every byte is before it is written.
    fresh: u8,
}

impl LocalMemory {
    /// Makes every lane's stretch at least `len` bytes long; false if the host has no more memory.
    #[must_use]
    pub fn reserve(&mut self, len: u32) -> bool {
        let len = len as usize;
        if len <= self.stride {
            return true;
        }
        let stride = len.next_power_of_two().max(256);
        let Some(bytes) = Bytes::zeroed(stride * 32) else { return false };
        if self.fresh != 0 {
            bytes.fill_all(self.fresh);
        }
        if let Some(old) = &self.bytes {
            let mut lane = vec![0; self.stride];
            for i in 0..32 {
                old.read(i * self.stride, &mut lane);
                bytes.write(i * stride, &lane);
            }
        }
        (self.bytes, self.stride) = (Some(bytes), stride);
        true
    }

    /// Copies bytes within one lane's stretch.
    pub fn copy(&self, lane: usize, from: u32, to: u32, len: u32) {
        if let Some(bytes) = &self.bytes {
            bytes.copy(lane * self.stride + from as usize, lane * self.stride + to as usize, len as usize);
        }
    }

    /// Bytes of all lanes together.
    pub fn bytes(&self) -> usize {
        self.bytes.as_ref().map_or(0, Bytes::len)
    }

    /// Copies all of it.
    pub fn copy_to(&self, all: &mut [u8]) {
        if let Some(bytes) = &self.bytes {
            bytes.read(0, all);
        }
    }

    /// All of it is as these bytes.
    pub fn equals(&self, all: &[u8]) -> bool {
        let mut chunk = [0; 256];
        all.chunks(chunk.len()).enumerate().all(|(i, expected)| {
            let found = &mut chunk[..expected.len()];
            if let Some(bytes) = &self.bytes {
                bytes.read(i * 256, found);
            }
            found == expected
        })
    }

    /// Bytes that a lane's stretch has.
    pub fn len(&self) -> usize {
        self.stride
    }

    /// Copies bytes out of a lane's stretch; panics if the range is not within it.
    pub fn read(&self, lane: usize, at: usize, into: &mut [u8]) {
        assert!(at <= self.stride && into.len() <= self.stride - at, "read past a lane's memory");
        if let Some(bytes) = &self.bytes {
            bytes.read(lane * self.stride + at, into);
        }
    }

    /// Copies bytes into a lane's stretch; panics if they do not fit.
    pub fn write(&self, lane: usize, at: usize, from: &[u8]) {
        assert!(at <= self.stride && from.len() <= self.stride - at, "write past a lane's memory");
        if let Some(bytes) = &self.bytes {
            bytes.write(lane * self.stride + at, from);
        }
    }

    /// The start of lane 0's stretch and the distance to the next lane's.
    pub fn layout(&self) -> (*mut u8, usize) {
        (self.bytes.as_ref().map_or(std::ptr::null_mut(), Bytes::start), self.stride)
    }

    /// Makes a range of a lane's stretch as it was before it was written; panics if the range is not within it.
    pub fn renew(&self, lane: usize, range: std::ops::Range<u32>) {
        assert!(range.end as usize <= self.stride, "write past a lane's memory");
        if let Some(bytes) = &self.bytes {
            bytes.fill(lane * self.stride + range.start as usize, range.len(), self.fresh);
        }
    }

    /// Makes every byte what it is before it is written.
    pub fn clear(&mut self, fresh: u8) {
        self.fresh = fresh;
        if let Some(bytes) = &self.bytes {
            bytes.fill_all(fresh);
        }
    }
}
