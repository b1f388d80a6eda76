//! Virtual memory management.

use crate::api::memory::Location;
use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Plain, Pointer, api, pages};
use crate::state::driver;
use crate::virtual_memory::{GRANULARITY, Physical};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// `CUmemAllocationProp`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    kind: u32,
    shareable: u32,
    location: Location,
    security: u64,
    flags: u64,
}
// SAFETY: numbers.
unsafe impl Plain for Properties {}

/// `CUmemAccessDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Who may access the memory.
    pub location: Location,
    /// What for: `CUmemAccess_flags`.
    pub flags: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Access {}

const _: () = assert!(size_of::<Properties>() == 32 && size_of::<Access>() == 12);

/// `CU_MEM_ALLOCATION_TYPE_PINNED`, `CU_MEM_LOCATION_TYPE_DEVICE`, `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`
const PINNED: u32 = 1;
const DEVICE: u32 = 1;
const FILE: u32 = 1;
/// Reading and writing; `CUmemAccess_flags`
const ALL: u32 = 3;

fn place(location: Location) -> Result<usize, Error> {
    if location.kind != DEVICE {
        return Err(Error::value(format!("memory at a place of kind {}", location.kind)));
    }
    driver()?.device(location.id)
}

impl Properties {
    fn device(&self) -> Result<usize, Error> {
        if self.kind != PINNED {
            return Err(Error::value(format!("memory of kind {}", self.kind)));
        }
        if self.shareable & !FILE != 0 {
            return Err(Error::unsupported(format!("memory that is shared by {:#x}", self.shareable)));
        }
        place(self.location)
    }
}

fn put(
    answer: Out<u64>,
    file: std::os::fd::OwnedFd,
    bytes: u64,
    device: usize,
    shareable: u32,
) -> Result<(), Error> {
    let (mut state, held) = (driver()?.lock(), AtomicU64::new(1));
    let used = Arc::clone(&state.memory.pages[device]);
    used.fetch_add(bytes, Ordering::Relaxed);
    answer.set(state.physical.add(Physical { file, bytes, device, shareable, held, used }))
}

api! {
    fn cuMemGetAllocationGranularity(answer: Out<usize>, properties: In<Properties>, option: u32) {
        answer.check()?;
        properties.get()?.device()?;
        match option {
            0 | 1 => answer.set(GRANULARITY as usize),
            option => Err(Error::value(format!("{option} is not a granularity"))),
        }
    }

    fn cuMemCreate(answer: Out<u64>, bytes: usize, properties: In<Properties>, flags: u64) {
        answer.check()?;
        let properties = properties.get()?;
        let device = properties.device()?;
        if bytes == 0 || !(bytes as u64).is_multiple_of(GRANULARITY) || flags != 0 {
            return Err(Error::value(format!("{bytes} bytes with flags {flags}")));
        }
        driver()?.lock().memory.check(device, bytes as u64)?;
        let file = pages::create(bytes as u64);
        let file = file.map_err(|error| Error::new(Code::OUT_OF_MEMORY, error.to_string()))?;
        put(answer, file, bytes as u64, device, properties.shareable)
    }

    fn cuMemRelease(handle: u64) {
        driver()?.lock().release_pages(handle)
    }

    fn cuMemAddressReserve(answer: Out<u64>, bytes: usize, align: usize, _wanted: u64, flags: u64) {
        answer.check()?;
        if flags != 0 {
            return Err(Error::value(format!("flags {flags}")));
        }
        answer.set(driver()?.lock().reserve_addresses(bytes as u64, align as u64)?)
    }

    fn cuMemAddressFree(address: u64, bytes: usize) {
        driver()?.lock().release_addresses(address, bytes as u64)
    }

    fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64) {
        if offset != 0 || flags != 0 {
            return Err(Error::value(format!("an offset of {offset} or flags {flags}")));
        }
        driver()?.lock().map_pages(address, bytes as u64, handle)
    }

    fn cuMemUnmap(address: u64, bytes: usize) {
        if let Ok(context) = current() {
            context.settle();
        }
        driver()?.lock().unmap_pages(address, bytes as u64)
    }

    fn cuMemSetAccess(address: u64, bytes: usize, list: In<Access>, count: usize) {
        let list = list.list(count)?;
        let Some(last) = list.last() else { return Err(Error::value("access for nobody")) };
        for access in &list {
            place(access.location)?;
            if ![0, 1, ALL].contains(&access.flags) {
                return Err(Error::value(format!("{} is not an access", access.flags)));
            }
        }
        // Who may read may write: the engine knows no memory of one device that another may only read.
        driver()?.lock().allow_pages(address, bytes as u64, last.flags != 0)
    }

    fn cuMemGetAccess(flags: Out<u64>, location: In<Location>, address: u64) {
        flags.check()?;
        place(location.get()?)?;
        let state = driver()?.lock();
        match state.virtual_memory.at(address) {
            Some((.., access)) => flags.set(if access { ALL.into() } else { 0 }),
            None => {
                state.span(address, 0)?;
                flags.set(ALL.into())
            }
        }
    }

    fn cuMemRetainAllocationHandle(handle: Out<u64>, address: Pointer) {
        handle.check()?;
        let mut state = driver()?.lock();
        let found = state.virtual_memory.at(address.address()).map(|(handle, pages, _)| (handle, Arc::clone(pages)));
        let (number, pages) = found.ok_or_else(|| Error::value("an address without pages"))?;
        if pages.held.fetch_add(1, Ordering::AcqRel) == 0 {
            // The client had given its handle back, and gets it again.
            state.physical.put(number, pages);
        }
        handle.set(number)
    }

    fn cuMemGetAllocationPropertiesFromHandle(answer: Out<Properties>, handle: u64) {
        let pages = driver()?.lock().physical.get(handle)?;
        let location = Location { kind: DEVICE, id: pages.device as i32 };
        answer.set(Properties { kind: PINNED, shareable: pages.shareable, location, security: 0, flags: 0 })
    }

    fn cuMemExportToShareableHandle(answer: Out<i32>, handle: u64, kind: u32, flags: u64) {
        answer.check()?;
        let pages = driver()?.lock().physical.get(handle)?;
        if kind != FILE || flags != 0 || pages.shareable & FILE == 0 {
            return Err(Error::value(format!("memory that is not shared by {kind}")));
        }
        let file = pages::sent(&pages.file);
        answer.set(file.map_err(|error| Error::new(Code::OPERATING_SYSTEM, error.to_string()))?)
    }

    fn cuMemImportFromShareableHandle(answer: Out<u64>, file: Pointer, kind: u32) {
        answer.check()?;
        if kind != FILE {
            return Err(Error::value(format!("{kind} is not a way to share memory")));
        }
        let bad = |error: rustix::io::Errno| Error::value(error.to_string());
        let file = pages::received(file.address() as i32).map_err(bad)?;
        let bytes = pages::size(&file).map_err(bad)?;
        let device = current().map_or(0, |context| context.device);
        put(answer, file, bytes, device, FILE)
    }
}
