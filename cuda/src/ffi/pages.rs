//! Ranges of addresses that have pages when a client gives them some.
//!
//! **Invariant.** Addresses come from [`reserve`], and are given back once; pages are only taken away when nothing runs that can reach them.

use super::Pointer;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Result;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mmap_anonymous, mprotect, munmap};
use std::os::fd::OwnedFd;

/// Pages that nothing maps yet.
pub fn create(bytes: u64) -> Result<OwnedFd> {
    let file = memfd_create("warpsmith", MemfdFlags::CLOEXEC)?;
    ftruncate(&file, bytes)?;
    Ok(file)
}

/// A range of addresses without pages, aligned to a power of two.
pub fn reserve(bytes: usize, align: usize) -> Result<Pointer> {
    let room = bytes.checked_add(align).ok_or(rustix::io::Errno::NOMEM)?;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: the system chooses a place that nothing has.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), room, ProtFlags::empty(), flags) }?;
    let first = Pointer(start).address() as usize;
    let own = first.next_multiple_of(align);
    for (at, len) in [(first, own - first), (own + bytes, first + room - own - bytes)] {
        if len > 0 {
            // SAFETY: of the range that was made just now, what was not asked for.
            unsafe { munmap(Pointer::at(at as u64).0, len) }?;
        }
    }
    Ok(Pointer::at(own as u64))
}

/// Gives a range of addresses back.
pub fn release(at: Pointer, bytes: usize) -> Result<()> {
    // SAFETY: the module's invariant.
    unsafe { munmap(at.0, bytes) }
}

/// Puts pages at addresses of a range, which nobody may use yet.
pub fn map(at: Pointer, bytes: usize, pages: &OwnedFd) -> Result<()> {
    // SAFETY: the module's invariant.
    unsafe { mmap(at.0, bytes, ProtFlags::empty(), MapFlags::SHARED | MapFlags::FIXED, pages, 0) }.map(|_| ())
}

/// Lets pages be used, or not.
pub fn allow(at: Pointer, bytes: usize, access: bool) -> Result<()> {
    let flags = if access { MprotectFlags::READ | MprotectFlags::WRITE } else { MprotectFlags::empty() };
    // SAFETY: the module's invariant.
    unsafe { mprotect(at.0, bytes, flags) }
}

/// Takes pages away from addresses of a range, which stay reserved.
pub fn unmap(at: Pointer, bytes: usize) -> Result<()> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: the module's invariant.
    unsafe { mmap_anonymous(at.0, bytes, ProtFlags::empty(), flags) }.map(|_| ())
}

/// A file of pages that another process has handed over.
pub fn received(number: i32) -> Result<OwnedFd> {
    // SAFETY: the client says that the descriptor is open, and it stays the client's: this is another one of the same file.
    rustix::io::dup(unsafe { std::os::fd::BorrowedFd::borrow_raw(number) })
}

/// A file of pages for another process: the client closes it.
pub fn sent(pages: &OwnedFd) -> Result<i32> {
    use std::os::fd::IntoRawFd;
    Ok(rustix::io::dup(pages)?.into_raw_fd())
}

/// Bytes of a file of pages.
pub fn size(pages: &OwnedFd) -> Result<u64> {
    Ok(rustix::fs::fstat(pages)?.st_size as u64)
}
