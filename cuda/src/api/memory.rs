//! Memory: of devices, of the host, shared, and queries of it.

use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::{Out, Plain, Pointer, api};
use crate::memory::{Allocation, Kind};
use crate::state::driver;
use std::ptr::NonNull;

/// Rows of pitched memory start at multiples of this.
const PITCH: usize = 512;
/// `CU_MEMHOSTALLOC_..`: portable, mapped, write-combined.
const HOST_FLAGS: u32 = 7;
/// `CU_MEMHOSTREGISTER_..`: portable, mapped, memory of a device, read-only.
const REGISTER_FLAGS: u32 = 15;

/// `CUmemLocation`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Location {
    /// `CUmemLocationType`: 1 for a device.
    pub kind: u32,
    /// Which.
    pub id: i32,
}
// SAFETY: numbers.
unsafe impl Plain for Location {}

/// Gives memory back after all work of the current context.
fn free(address: u64, kinds: &[Kind]) -> Result<(), Error> {
    if address == 0 {
        return Ok(());
    }
    let context = current()?;
    let driver = driver()?;
    let kind = driver.lock().memory.at(address).map(|allocation| allocation.kind);
    if !kind.is_some_and(|kind| kinds.contains(&kind)) {
        return Err(Error::value(format!("{address:#x} is not the address of such an allocation")));
    }
    context.settle();
    driver.lock().free_now(address)
}

fn allocate(answer: Out<u64>, bytes: usize, kind: Kind, flags: u32) -> Result<(), Error> {
    let context = current()?;
    answer.check()?;
    let mut state = driver()?.lock();
    answer.set(state.allocate(bytes as u64, kind, Some(context.id), context.device, flags, None)?)
}

fn range(address: u64, bytes: usize) -> Result<(), Error> {
    current()?;
    driver()?.lock().span(address, bytes).map(|_| ())
}

/// An error unless memory is managed, or is the client's own: what can be moved by advice.
pub fn managed(address: u64, bytes: usize) -> Result<(), Error> {
    current()?;
    let state = driver()?.lock();
    match state.memory.containing(address) {
        Some((start, found)) if found.kind == Kind::Managed => {
            let fits = bytes > 0 && bytes as u64 <= found.bytes - (address - start);
            if fits { Ok(()) } else { Err(Error::value(format!("{bytes} bytes of {}", found.bytes))) }
        }
        _ => Err(Error::value(format!("{address:#x} is not in managed memory"))),
    }
}

/// An error unless there is such a place for memory.
pub fn location(place: Location) -> Result<(), Error> {
    match place.kind {
        1 => driver()?.device(place.id).map(|_| ()),
        2..=4 => Ok(()),
        kind => Err(Error::value(format!("{kind} is not a kind of place"))),
    }
}

fn register(pointer: Pointer, bytes: usize, flags: u32) -> Result<(), Error> {
    let context = current()?;
    let start = NonNull::new(pointer.0.cast::<u8>());
    let start = start.filter(|_| bytes > 0).ok_or_else(|| Error::value("no memory to register"))?;
    if flags & !REGISTER_FLAGS != 0 {
        return Err(Error::value(format!("flags {flags:#x}")));
    }
    let mut state = driver()?.lock();
    // SAFETY: the client says that the memory is its own and stays until it unregisters it.
    let adopted = unsafe { state.device.adopt(start, bytes as u64) };
    adopted.map_err(|fault| Error::new(Code::HOST_MEMORY_ALREADY_REGISTERED, fault.message))?;
    let allocation = Allocation {
        bytes: bytes as u64,
        kind: Kind::Registered,
        context: Some(context.id),
        device: context.device,
        flags,
        pool: None,
        number: 0,
        graph: None,
    };
    state.memory.add(pointer.address(), allocation);
    Ok(())
}

api! {
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let context = current()?;
        let [available, all] = driver()?.lock().memory.free_and_total(context.device);
        free.offer(available as usize);
        total.offer(all as usize);
        Ok(())
    }

    fn cuMemAlloc_v2(address: Out<u64>, bytes: usize) {
        allocate(address, bytes, Kind::Device, 0)
    }

    fn cuMemAllocPitch_v2(address: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: u32) {
        if ![4, 8, 16].contains(&element) || width == 0 || height == 0 {
            return Err(Error::value(format!("{height} rows of {width} bytes with elements of {element}")));
        }
        let wanted = width.checked_next_multiple_of(PITCH);
        let bytes = wanted.and_then(|pitch| pitch.checked_mul(height));
        let (Some(wanted), Some(bytes)) = (wanted, bytes) else {
            return Err(Error::new(Code::OUT_OF_MEMORY, format!("{height} rows of {width} bytes")));
        };
        pitch.check()?;
        allocate(address, bytes, Kind::Device, 0)?;
        pitch.set(wanted)
    }

    fn cuMemAllocManaged(address: Out<u64>, bytes: usize, flags: u32) {
        if flags != 1 && flags != 2 {
            return Err(Error::value(format!("flags {flags} of managed memory")));
        }
        allocate(address, bytes, Kind::Managed, flags)
    }

    fn cuMemFree_v2(address: u64) {
        free(address, &[Kind::Device, Kind::Managed])
    }

    fn cuMemAllocHost_v2(pointer: Out<u64>, bytes: usize) {
        allocate(pointer, bytes, Kind::Host, 0)
    }

    fn cuMemHostAlloc(pointer: Out<u64>, bytes: usize, flags: u32) {
        if flags & !HOST_FLAGS != 0 {
            return Err(Error::value(format!("flags {flags:#x}")));
        }
        allocate(pointer, bytes, Kind::Host, flags)
    }

    fn cuMemFreeHost(pointer: Pointer) {
        free(pointer.address(), &[Kind::Host])
    }

    fn cuMemHostRegister(pointer: Pointer, bytes: usize, flags: u32) {
        register(pointer, bytes, flags)
    }

    fn cuMemHostRegister_v2(pointer: Pointer, bytes: usize, flags: u32) {
        register(pointer, bytes, flags)
    }

    fn cuMemHostUnregister(pointer: Pointer) {
        let address = pointer.address();
        if driver()?.lock().memory.at(address).is_none_or(|found| found.kind != Kind::Registered) {
            return Err(Error::new(Code::HOST_MEMORY_NOT_REGISTERED, format!("{address:#x} is not registered")));
        }
        free(address, &[Kind::Registered])
    }

    fn cuMemHostGetDevicePointer_v2(address: Out<u64>, pointer: Pointer, flags: u32) {
        current()?;
        if flags != 0 {
            return Err(Error::value("flags"));
        }
        let state = driver()?.lock();
        let found = state.memory.containing(pointer.address());
        if !found.is_some_and(|(_, found)| matches!(found.kind, Kind::Host | Kind::Registered | Kind::Managed)) {
            return Err(Error::value(format!("{:#x} is not memory that devices reach", pointer.address())));
        }
        address.set(pointer.address())
    }

    fn cuMemHostGetFlags(flags: Out<u32>, pointer: Pointer) {
        current()?;
        let state = driver()?.lock();
        let found = state.memory.containing(pointer.address()).filter(|(_, found)| found.kind == Kind::Host);
        let (_, found) = found.ok_or_else(|| Error::value("not memory of cuMemHostAlloc"))?;
        // All of it is mapped.
        flags.set(found.flags | 2)
    }

    fn cuMemGetAddressRange_v2(start: Out<u64>, bytes: Out<usize>, address: u64) {
        current()?;
        let state = driver()?.lock();
        let found = state.device.containing(address);
        let (buffer, _) = found
            .ok_or_else(|| Error::new(Code::NOT_FOUND, format!("{address:#x} is not in memory of a device")))?;
        start.offer(buffer.address());
        bytes.offer(buffer.len() as usize);
        Ok(())
    }

    fn cuMemAdvise(address: u64, bytes: usize, advice: u32, _device: i32) {
        if !(1..=6).contains(&advice) {
            return Err(Error::value(format!("advice {advice}")));
        }
        managed(address, bytes)
    }

    fn cuMemAdvise_v2(address: u64, bytes: usize, advice: u32, place: Location) {
        if !(1..=6).contains(&advice) {
            return Err(Error::value(format!("advice {advice}")));
        }
        // Where memory is read mostly, the place says nothing.
        if advice > 2 {
            location(place)?;
        }
        managed(address, bytes)
    }

    fn cuMemPrefetchAsync(address: u64, bytes: usize, device: i32, stream: u64) {
        crate::context::stream(stream)?;
        if device != -1 {
            driver()?.device(device)?;
        }
        managed(address, bytes)
    }

    fn cuMemPrefetchAsync_v2(address: u64, bytes: usize, place: Location, flags: u32, stream: u64) {
        crate::context::stream(stream)?;
        location(place)?;
        if flags != 0 {
            return Err(Error::value("flags"));
        }
        managed(address, bytes)
    }

    fn cuStreamAttachMemAsync(stream: u64, address: u64, _bytes: usize, flags: u32) {
        crate::context::stream(stream)?;
        if ![1, 2, 4].contains(&flags) {
            return Err(Error::value(format!("flags {flags}")));
        }
        range(address, 0)
    }
}
