//! The device of a thread, whose primary context is made when it is first needed.

use crate::driver::cu;
use crate::error::{Code, Error};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

thread_local! {
    /// `cudaSetDevice`
    static DEVICE: Cell<i32> = const { Cell::new(0) };
    /// The reset that the context of this thread was made after.
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// The fault of a kernel, which is the answer of every call until the device is reset.
static FAULT: AtomicU32 = AtomicU32::new(0);
/// How often a device was reset.
static RESETS: AtomicU64 = AtomicU64::new(0);
/// The primary contexts that were retained, by device.
static PRIMARIES: Mutex<Vec<(i32, u64)>> = Mutex::new(Vec::new());

/// Keeps the fault of a kernel.
pub fn fail(code: Code) {
    FAULT.store(code.0, Ordering::Release);
}

/// The fault that was kept.
pub fn fault() -> Result<(), Error> {
    match FAULT.load(Ordering::Acquire) {
        0 => Ok(()),
        code => Err(Error::new(Code(code), "a kernel has failed before")),
    }
}

/// Initialises the driver.
pub fn initialise() -> Result<(), Error> {
    static DONE: OnceLock<Result<(), Error>> = OnceLock::new();
    DONE.get_or_init(|| cu!(cuInit(0u32))).clone()
}

/// How many devices there are.
pub fn count() -> Result<i32, Error> {
    initialise()?;
    let mut count = 0i32;
    cu!(cuDeviceGetCount(&mut count))?;
    Ok(count)
}

/// The device of this thread.
pub fn device() -> i32 {
    DEVICE.get()
}

/// The primary context of a device.
pub fn primary(device: i32) -> Result<u64, Error> {
    let mut known = PRIMARIES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, context)) = known.iter().find(|(of, _)| *of == device) {
        return Ok(*context);
    }
    let mut context = 0u64;
    cu!(cuDevicePrimaryCtxRetain(&mut context, device))?;
    known.push((device, context));
    Ok(context)
}

/// The context that a call works in: the one that is current, or else that of the thread's device. An error if a kernel has failed.
pub fn ready() -> Result<usize, Error> {
    fault()?;
    initialise()?;
    let resets = RESETS.load(Ordering::Acquire);
    let mut current = 0u64;
    cu!(cuCtxGetCurrent(&mut current))?;
    if current == 0 || SEEN.get() != resets {
        SEEN.set(resets);
        current = primary(device())?;
        cu!(cuCtxSetCurrent(current))?;
    }
    Ok(current as usize)
}

/// Makes a device that of this thread.
pub fn choose(device: i32) -> Result<(), Error> {
    if device < 0 || device >= count()? {
        return Err(Error::new(Code::INVALID_DEVICE, format!("unknown device {device}")));
    }
    DEVICE.set(device);
    match fault() {
        // The device is chosen all the same: its first use reports the fault.
        Err(_) => Ok(()),
        Ok(()) => cu!(cuCtxSetCurrent(primary(device)?)),
    }
}

/// Destroys what the process has on the device of this thread.
pub fn reset() -> Result<(), Error> {
    initialise()?;
    PRIMARIES.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of != device());
    FAULT.store(0, Ordering::Release);
    RESETS.fetch_add(1, Ordering::AcqRel);
    cu!(cuDevicePrimaryCtxReset_v2(device()))
}
