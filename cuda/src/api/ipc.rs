//! Memory and events that other processes use.

use crate::context::current;
use crate::error::{Code, Error};
use crate::event::Event;
use crate::ffi::signal::Signal;
use crate::ffi::{Out, api, shared};
use crate::memory::{Allocation, Kind};
use crate::state::driver;
use std::ptr::NonNull;

/// `CUipcMemHandle`, `CUipcEventHandle`
type Handle = [u8; 64];
/// What a handle of memory starts with.
const MAGIC: &[u8; 8] = b"warpsmem";
/// What a handle of an event starts with.
const EVENT: &[u8; 8] = b"warpsevt";

fn part(handle: &Handle, at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&handle[at..at + 8]);
    u64::from_le_bytes(word)
}

/// The handle that starts so and has these words.
fn handle<const N: usize>(magic: &[u8; 8], words: [u64; N]) -> Handle {
    let mut made = [0; 64];
    let (start, rest) = made.split_at_mut(8);
    start.copy_from_slice(magic);
    for (place, word) in rest.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    made
}

fn open(answer: Out<u64>, handle: &Handle) -> Result<(), Error> {
    let context = current()?;
    answer.check()?;
    if !handle.starts_with(MAGIC) {
        return Err(Error::value("this is not the handle of memory"));
    }
    let [process, file, bytes, offset] = [8, 16, 24, 32].map(|at| part(handle, at));
    if process == u64::from(std::process::id()) {
        return Err(Error::new(Code::INVALID_CONTEXT, "the memory is of this process"));
    }
    let mapped = shared::open(process, file, offset + bytes);
    let start = mapped
        .map_err(|error| Error::new(Code::INVALID_HANDLE, format!("memory of process {process}: {error}")))?;
    let at = start.0.cast::<u8>().wrapping_add(offset as usize);
    let mut state = driver()?.lock();
    let at = NonNull::new(at).ok_or_else(|| Error::new(Code::MAP_FAILED, "no address"))?;
    // SAFETY: mapped just now, and never unmapped.
    unsafe { state.device.adopt(at, bytes) }?;
    let address = at.as_ptr().expose_provenance() as u64;
    let allocation = Allocation {
        bytes,
        kind: Kind::Foreign,
        context: Some(context.id),
        device: context.device,
        flags: 0,
        pool: None,
        number: 0,
        graph: None,
    };
    state.memory.add(address, allocation);
    answer.set(address)
}

api! {
    fn cuIpcGetMemHandle(handle: Out<Handle>, address: u64) {
        let context = current()?;
        handle.check()?;
        let driver = driver()?;
        let found = driver.lock().memory.containing(address).map(|(start, found)| (start, found.clone()));
        let own = found.filter(|(_, found)| found.kind == Kind::Device && found.pool.is_none());
        let (start, found) = own.ok_or_else(|| Error::value(format!("{address:#x} is not in memory of cuMemAlloc")))?;
        // Nobody may write while the pages change hands.
        context.synchronize()?;
        let (file, offset) = shared::share(start, found.bytes)
            .map_err(|error| Error::new(Code::OPERATING_SYSTEM, format!("memory cannot be shared: {error}")))?;
        handle.set(self::handle(MAGIC, [u64::from(std::process::id()), file, found.bytes, offset]))
    }

    fn cuIpcGetEventHandle(handle: Out<Handle>, event: u64) {
        current()?;
        handle.check()?;
        let event = driver()?.lock().events.get(event)?;
        let signal = event.signal.as_ref();
        let signal = signal.ok_or_else(|| Error::new(Code::INVALID_HANDLE, "the event is not for other processes"))?;
        handle.set(self::handle(EVENT, [u64::from(std::process::id()), signal.file()]))
    }

    fn cuIpcOpenEventHandle(event: Out<u64>, handle: Handle64) {
        let context = current()?;
        event.check()?;
        if !handle.0.starts_with(EVENT) {
            return Err(Error::new(Code::MAP_FAILED, "this is not the handle of an event"));
        }
        let [process, file] = [8, 16].map(|at| part(&handle.0, at));
        if process == u64::from(std::process::id()) {
            return Err(Error::new(Code::INVALID_CONTEXT, "the event is of this process"));
        }
        let signal = Signal::open(process, file)
            .map_err(|error| Error::new(Code::MAP_FAILED, format!("an event of process {process}: {error}")))?;
        event.set(driver()?.lock().events.add(Event::foreign(context.id, signal)))
    }

    fn cuIpcOpenMemHandle(address: Out<u64>, handle: Handle64, _flags: u32) {
        open(address, &handle.0)
    }

    fn cuIpcOpenMemHandle_v2(address: Out<u64>, handle: Handle64, _flags: u32) {
        open(address, &handle.0)
    }

    fn cuIpcCloseMemHandle(address: u64) {
        let context = current()?;
        let driver = driver()?;
        if driver.lock().memory.at(address).is_none_or(|found| found.kind != Kind::Foreign) {
            return Err(Error::value(format!("{address:#x} is not memory of another process")));
        }
        context.synchronize()?;
        driver.lock().free_now(address)
    }
}

/// A handle as C passes it: by value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handle64(Handle);
