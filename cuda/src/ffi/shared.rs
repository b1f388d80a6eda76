//! Pages that two processes have.
//!
//! **Invariant.** [`share`] is called for an allocation of the library's own arena while nothing runs: its pages are no other allocation's, and what
//! replaces them has the same bytes. What [`open`] maps is never unmapped.

use super::Pointer;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Result;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use warpsmith_base::FxHashMap;

const PAGE: u64 = 4096;

/// The files of allocations that are shared, by address. They stay open until the process ends: another may still open them.
static FILES: Mutex<Option<FxHashMap<u64, OwnedFd>>> = Mutex::new(None);

/// Puts the pages of an allocation into a file, and gives its number in this process and where the allocation is in it.
pub fn share(address: u64, bytes: u64) -> Result<(u64, u64)> {
    let first = address / PAGE * PAGE;
    let len = (address + bytes).next_multiple_of(PAGE) - first;
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let files = files.get_or_insert_default();
    if let Some(file) = files.get(&address) {
        return Ok((file.as_raw_fd() as u64, address - first));
    }
    let file = memfd_create("warpsmith", MemfdFlags::CLOEXEC)?;
    ftruncate(&file, len)?;
    let content = super::memory::bytes(Pointer::at(first), len as usize);
    let mut done = 0;
    while done < content.len() {
        done += rustix::io::pwrite(&file, &content[done..], done as u64)?;
    }
    // SAFETY: the module's invariant.
    unsafe {
        mmap(
            Pointer::at(first).0,
            len as usize,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED | MapFlags::FIXED,
            &file,
            0,
        )?;
    }
    let number = file.as_raw_fd() as u64;
    files.insert(address, file);
    Ok((number, address - first))
}

/// Maps a file of another process.
pub fn open(process: u64, file: u64, bytes: u64) -> Result<Pointer> {
    use rustix::fs::{Mode, OFlags, fstat};
    let path = format!("/proc/{process}/fd/{file}");
    let file = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    if (fstat(&file)?.st_size as u64) < bytes {
        return Err(rustix::io::Errno::INVAL);
    }
    // SAFETY: the system chooses a place that nothing has.
    unsafe {
        mmap(
            std::ptr::null_mut(),
            bytes as usize,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            &file,
            0,
        )
    }
    .map(Pointer)
}
