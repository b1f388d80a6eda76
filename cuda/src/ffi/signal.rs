//! Words that several processes have: how often an event was recorded, and up to which of these it has happened.
//!
//! **Invariant.** A [`Signal`] is one page of a file that is mapped until it is dropped, and is accessed by atomic operations alone.

use super::Pointer;
use rustix::fs::{MemfdFlags, Mode, OFlags, fstat, ftruncate, memfd_create};
use rustix::io::{Errno, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const PAGE: usize = 4096;

/// What processes share of an event.
#[derive(Debug)]
pub struct Signal {
    page: Pointer,
    file: OwnedFd,
}

impl Signal {
    /// The page of an event that was never recorded.
    pub fn new() -> Result<Signal> {
        let file = memfd_create("warpsmith event", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, PAGE as u64)?;
        Signal::map(file)
    }

    /// The page of another process, by the number of its file there.
    pub fn open(process: u64, file: u64) -> Result<Signal> {
        let path = format!("/proc/{process}/fd/{file}");
        let file = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        if fstat(&file)?.st_size != PAGE as i64 {
            return Err(Errno::INVAL);
        }
        Signal::map(file)
    }

    fn map(file: OwnedFd) -> Result<Signal> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses a place that nothing has.
        let page = unsafe { mmap(std::ptr::null_mut(), PAGE, access, MapFlags::SHARED, &file, 0) }?;
        Ok(Signal { page: Pointer(page), file })
    }

    /// The number of its file in this process.
    pub fn file(&self) -> u64 {
        self.file.as_raw_fd() as u64
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        // SAFETY: the module's invariant; the page is aligned and has room for more words than two.
        unsafe { &*self.page.0.cast::<AtomicU64>().add(index) }
    }

    /// Says that the event is recorded once more, and gives the number of that.
    pub fn record(&self) -> u64 {
        self.word(0).fetch_add(1, Ordering::AcqRel) + 1
    }

    /// How often it was recorded.
    pub fn recorded(&self) -> u64 {
        self.word(0).load(Ordering::Acquire)
    }

    /// Says that what came before a recording has been done.
    pub fn happen(&self, number: u64) {
        self.word(1).fetch_max(number, Ordering::AcqRel);
    }

    /// True if what came before a recording has been done.
    pub fn has_happened(&self, number: u64) -> bool {
        self.word(1).load(Ordering::Acquire) >= number
    }

    /// Waits for that. Nothing wakes another process, so it looks again and again.
    pub fn wait(&self, number: u64) {
        let mut pause = Duration::from_micros(20);
        while !self.has_happened(number) {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        // SAFETY: the page is its own, and nothing refers to it any more. If it stays, nothing is lost but the page.
        unsafe { munmap(self.page.0, PAGE) }.ok();
    }
}
