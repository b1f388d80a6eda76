//! Virtual memory: addresses that a client reserves, pages that it makes, and which of them are where.

use crate::error::{Code, Error};
use crate::ffi::{Pointer, pages};
use crate::memory::{Allocation, Kind};
use crate::state::State;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sizes and addresses are multiples of this.
pub const GRANULARITY: u64 = 2 << 20;

/// Pages.
#[derive(Debug)]
pub struct Physical {
    /// The file that they are in.
    pub file: OwnedFd,
    /// How many bytes.
    pub bytes: u64,
    /// The number of the device.
    pub device: usize,
    /// `CUmemAllocationHandleType`: how other processes can be given them.
    pub shareable: u32,
    /// How often the client holds the handle.
    pub held: AtomicU64,
    /// Bytes of all pages of the device.
    pub used: Arc<AtomicU64>,
}

impl Drop for Physical {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Pages at addresses.
#[derive(Clone, Debug)]
struct Mapping {
    bytes: u64,
    handle: u64,
    pages: Arc<Physical>,
    /// They may be used.
    access: bool,
}

/// All ranges, and what is in them, by address.
#[derive(Debug, Default)]
pub struct Virtual {
    reserved: BTreeMap<u64, u64>,
    mappings: BTreeMap<u64, Mapping>,
    /// The runs of mappings that kernels and copies may use.
    usable: BTreeMap<u64, u64>,
}

fn system(code: Code, what: &'static str) -> impl Fn(rustix::io::Errno) -> Error {
    move |error| Error::new(code, format!("{what}: {error}"))
}

impl Virtual {
    /// The mappings that a range consists of; an error unless it consists of whole ones.
    fn whole(&self, address: u64, bytes: u64) -> Result<Vec<u64>, Error> {
        let end = address.checked_add(bytes).ok_or_else(|| Error::value("a range that does not end"))?;
        let (mut at, mut found) = (address, Vec::new());
        while at < end {
            let Some(mapping) = self.mappings.get(&at) else {
                return Err(Error::value(format!("no mapping starts at {at:#x}")));
            };
            found.push(at);
            at += mapping.bytes;
        }
        if at == end && bytes > 0 { Ok(found) } else { Err(Error::value("a part of a mapping")) }
    }

    /// What can be used as one: mappings beside each other.
    fn runs(&self) -> BTreeMap<u64, u64> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (start, mapping) in self.mappings.iter().filter(|(_, mapping)| mapping.access) {
            match runs.last_mut() {
                Some((first, bytes)) if *first + *bytes == *start => *bytes += mapping.bytes,
                Some(_) | None => runs.push((*start, mapping.bytes)),
            }
        }
        runs.into_iter().collect()
    }

    /// The pages that an address has.
    pub fn at(&self, address: u64) -> Option<(u64, &Arc<Physical>, bool)> {
        let (start, mapping) = self.mappings.range(..=address).next_back()?;
        (address - start < mapping.bytes).then_some((mapping.handle, &mapping.pages, mapping.access))
    }
}

impl State {
    /// Reserves addresses.
    pub fn reserve_addresses(&mut self, bytes: u64, align: u64) -> Result<u64, Error> {
        let aligned = align == 0 || align.is_power_of_two();
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) || !aligned {
            return Err(Error::value(format!("{bytes} bytes of addresses aligned to {align}")));
        }
        let start = pages::reserve(bytes as usize, align.max(GRANULARITY) as usize);
        let start = start.map_err(system(Code::OUT_OF_MEMORY, "no such range of addresses"))?.address();
        self.virtual_memory.reserved.insert(start, bytes);
        Ok(start)
    }

    /// Gives addresses back.
    pub fn release_addresses(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        if self.virtual_memory.reserved.get(&address) != Some(&bytes) {
            return Err(Error::value(format!("{bytes} bytes at {address:#x} were not reserved so")));
        }
        if self.virtual_memory.mappings.range(address..address + bytes).next().is_some() {
            return Err(Error::value("the addresses have pages"));
        }
        self.virtual_memory.reserved.remove(&address);
        pages::release(Pointer::at(address), bytes as usize).map_err(system(Code::UNMAP_FAILED, "addresses"))
    }

    /// Puts pages at addresses.
    pub fn map_pages(&mut self, address: u64, bytes: u64, handle: u64) -> Result<(), Error> {
        let physical = self.physical.get(handle)?;
        let known = &self.virtual_memory;
        let reserved = known.reserved.range(..=address).next_back();
        let end = address.checked_add(bytes);
        let inside = reserved.zip(end).is_some_and(|((start, room), end)| end - start <= *room);
        if bytes == 0 || bytes > physical.bytes || !(bytes | address).is_multiple_of(GRANULARITY) || !inside {
            return Err(Error::value(format!("{bytes} bytes of {} at {address:#x}", physical.bytes)));
        }
        let before = known.mappings.range(..address + bytes).next_back();
        if before.is_some_and(|(start, mapping)| start + mapping.bytes > address) {
            return Err(Error::value(format!("{address:#x} has pages")));
        }
        pages::map(Pointer::at(address), bytes as usize, &physical.file)
            .map_err(system(Code::MAP_FAILED, "pages"))?;
        let mapping = Mapping { bytes, handle, pages: physical, access: false };
        self.virtual_memory.mappings.insert(address, mapping);
        Ok(())
    }

    /// Lets pages be used, or not.
    pub fn allow_pages(&mut self, address: u64, bytes: u64, access: bool) -> Result<(), Error> {
        for start in self.virtual_memory.whole(address, bytes)? {
            if let Some(mapping) = self.virtual_memory.mappings.get_mut(&start) {
                pages::allow(Pointer::at(start), mapping.bytes as usize, access)
                    .map_err(system(Code::MAP_FAILED, "access to pages"))?;
                mapping.access = access;
            }
        }
        self.refresh()
    }

    /// Takes pages away from addresses, when all work is done.
    pub fn unmap_pages(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        for start in self.virtual_memory.whole(address, bytes)? {
            self.virtual_memory.mappings.remove(&start);
        }
        self.refresh()?;
        pages::unmap(Pointer::at(address), bytes as usize).map_err(system(Code::UNMAP_FAILED, "pages"))
    }

    /// Passes the current mappings to the device.
    fn refresh(&mut self) -> Result<(), Error> {
        let runs = self.virtual_memory.runs();
        let gone: Vec<u64> = self
            .virtual_memory
            .usable
            .iter()
            .filter(|(start, bytes)| runs.get(start) != Some(bytes))
            .map(|(start, _)| *start)
            .collect();
        for start in gone {
            self.virtual_memory.usable.remove(&start);
            self.free_now(start)?;
        }
        for (start, bytes) in runs {
            if self.virtual_memory.usable.insert(start, bytes).is_some() {
                continue;
            }
            let at =
                NonNull::new(Pointer::at(start).0.cast::<u8>()).ok_or_else(|| Error::value("no address"))?;
            // SAFETY: pages of the library's, which are taken away after the device has been notified.
            unsafe { self.device.adopt(at, bytes) }?;
            let device = self.virtual_memory.at(start).map_or(0, |(_, pages, _)| pages.device);
            let (kind, context, pool) = (Kind::Virtual, None, None);
            self.memory.add(
                start,
                Allocation { bytes, kind, context, device, flags: 0, pool, number: 0, graph: None },
            );
        }
        Ok(())
    }

    /// A handle of pages less; those that are mapped stay until they are not.
    pub fn release_pages(&mut self, handle: u64) -> Result<(), Error> {
        if self.physical.get(handle)?.held.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.physical.remove(handle)?;
        }
        Ok(())
    }
}
