//! Contexts: primary ones, those of clients, and the stack of each thread.

use crate::context::{current, current_handle, forget, pop, push, set};
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Pointer, api};
use crate::state::driver;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Flags of contexts: scheduling, mapped memory, local memory, core dumps, synchronous memory operations.
const FLAGS: u32 = 0xff;
/// `cuCtxGetApiVersion` of contexts that this library makes.
const API_VERSION: u32 = 13000;

/// The default of each limit: stack, printf buffer, heap, synchronisation depth, pending launches, granularity of the cache, persisting cache.
const LIMITS: [u64; 7] = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0];

/// The limit of how deep kernels wait for kernels that they launch, which devices from sm_90 on do not have.
const SYNC_DEPTH: u32 = 3;

fn default_limit(limit: u32) -> Result<u64, Error> {
    let found = LIMITS.get(limit as usize).copied();
    let found = found.ok_or_else(|| Error::value(format!("{limit} is not a limit")))?;
    if limit == SYNC_DEPTH {
        Err(Error::new(Code::UNSUPPORTED_LIMIT, "the depth of waiting"))
    } else {
        Ok(found)
    }
}

/// An error unless all flags are known, and one way of waiting is chosen at most.
fn check_flags(flags: u32) -> Result<(), Error> {
    if flags & !FLAGS != 0 || (flags & 7).count_ones() > 1 {
        return Err(Error::value(format!("flags {flags:#x} of a context")));
    }
    Ok(())
}

fn create(answer: Out<u64>, flags: u32, device: i32, version: u32) -> Result<(), Error> {
    let driver = driver()?;
    let device = driver.device(device)?;
    answer.check()?;
    check_flags(flags)?;
    let handle = driver.lock().add_context(None, device, flags, version);
    push(handle);
    answer.set(handle)
}

fn destroy(handle: u64) -> Result<(), Error> {
    let driver = driver()?;
    if handle == 0 {
        return Err(Error::value("no context to destroy"));
    }
    let context = driver.lock().contexts.get(handle)?;
    if context.primary {
        return Err(Error::new(Code::INVALID_CONTEXT, "a primary context is released, not destroyed"));
    }
    finish(handle)?;
    forget(handle);
    Ok(())
}

/// Waits for the work of a context and takes it away.
fn finish(handle: u64) -> Result<(), Error> {
    let driver = driver()?;
    let context = driver.lock().contexts.get(handle)?;
    // What has failed in it is no concern of what comes after.
    context.synchronize().unwrap_or_default();
    driver.lock().remove_context(handle)
}

fn retain(answer: Out<u64>, device: i32) -> Result<(), Error> {
    let driver = driver()?;
    let device = driver.device(device)?;
    answer.check()?;
    let mut state = driver.lock();
    let state = &mut *state;
    let reserved = state.primaries[device].handle.unwrap_or_else(|| state.contexts.reserve());
    let primary = &mut state.primaries[device];
    primary.handle = Some(reserved);
    primary.count += 1;
    let flags = primary.flags;
    if state.contexts.get(reserved).is_err() {
        state.add_context(Some(reserved), device, flags, API_VERSION);
    }
    answer.set(reserved)
}

fn release(device: i32) -> Result<(), Error> {
    let driver = driver()?;
    let device = driver.device(device)?;
    let mut state = driver.lock();
    let primary = &mut state.primaries[device];
    if primary.count == 0 {
        return Err(Error::new(Code::INVALID_CONTEXT, "a primary context that is not retained"));
    }
    primary.count -= 1;
    if primary.count > 0 {
        return Ok(());
    }
    let handle = primary.handle;
    drop(state);
    handle.map_or(Ok(()), finish)
}

fn reset(device: i32) -> Result<(), Error> {
    let driver = driver()?;
    let device = driver.device(device)?;
    let state = driver.lock();
    let handle = state.primaries[device].handle;
    let handle = handle.filter(|handle| state.contexts.get(*handle).is_ok());
    let Some(handle) = handle else { return Ok(()) };
    let flags = state.primaries[device].flags;
    drop(state);
    finish(handle)?;
    let mut state = driver.lock();
    if state.primaries[device].count > 0 {
        state.add_context(Some(handle), device, flags, API_VERSION);
    }
    Ok(())
}

fn set_primary_flags(device: i32, flags: u32) -> Result<(), Error> {
    let driver = driver()?;
    let device = driver.device(device)?;
    check_flags(flags)?;
    let mut state = driver.lock();
    state.primaries[device].flags = flags;
    if let Some(context) = state.primaries[device].handle.and_then(|handle| state.contexts.get(handle).ok()) {
        context.flags.store(flags, Ordering::Relaxed);
    }
    Ok(())
}

fn check_exists(handle: u64) -> Result<(), Error> {
    driver()?.lock().contexts.get(handle).map(|_| ())
}

fn pop_into(answer: Out<u64>) -> Result<(), Error> {
    driver()?;
    let popped =
        pop().ok_or_else(|| Error::new(Code::INVALID_CONTEXT, "no context is current on this thread"))?;
    answer.offer(popped);
    Ok(())
}

api! {
    fn cuDevicePrimaryCtxRetain(context: Out<u64>, device: i32) {
        retain(context, device)
    }

    fn cuDevicePrimaryCtxRelease(device: i32) {
        release(device)
    }

    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        release(device)
    }

    fn cuDevicePrimaryCtxReset(device: i32) {
        reset(device)
    }

    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        reset(device)
    }

    fn cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) {
        set_primary_flags(device, flags)
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        set_primary_flags(device, flags)
    }

    fn cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) {
        let driver = driver()?;
        let device = driver.device(device)?;
        let state = driver.lock();
        let primary = &state.primaries[device];
        flags.set(primary.flags)?;
        let there = primary.handle.is_some_and(|handle| state.contexts.get(handle).is_ok());
        active.set(there.into())
    }

    fn cuCtxCreate(context: Out<u64>, flags: u32, device: i32) {
        create(context, flags, device, 3010)
    }

    fn cuCtxCreate_v2(context: Out<u64>, flags: u32, device: i32) {
        create(context, flags, device, 3020)
    }

    fn cuCtxCreate_v3(context: Out<u64>, _affinities: In<u64>, count: i32, flags: u32, device: i32) {
        if count != 0 {
            return Err(Error::new(Code::UNSUPPORTED_EXEC_AFFINITY, "contexts are on all multiprocessors"));
        }
        create(context, flags, device, 3020)
    }

    fn cuCtxCreate_v4(context: Out<u64>, params: In<[u64; 3]>, flags: u32, device: i32) {
        if let Some([affinities, count, graphics]) = params.optional()
            && (affinities != 0 && count as u32 != 0 || graphics != 0)
        {
            return Err(Error::new(Code::UNSUPPORTED_EXEC_AFFINITY, "contexts are on all multiprocessors"));
        }
        create(context, flags, device, API_VERSION)
    }

    fn cuCtxDestroy(context: u64) {
        destroy(context)
    }

    fn cuCtxDestroy_v2(context: u64) {
        destroy(context)
    }

    fn cuCtxAttach(answer: Out<u64>, flags: u32) {
        if flags != 0 {
            return Err(Error::value("flags of cuCtxAttach"));
        }
        answer.set(current()?.id)
    }

    fn cuCtxDetach(context: u64) {
        check_exists(context)
    }

    fn cuCtxPushCurrent(context: u64) {
        check_exists(context)?;
        push(context);
        Ok(())
    }

    fn cuCtxPushCurrent_v2(context: u64) {
        if context == 0 {
            return Err(Error::value("no context to push"));
        }
        check_exists(context)?;
        push(context);
        Ok(())
    }

    fn cuCtxPopCurrent(context: Out<u64>) {
        pop_into(context)
    }

    fn cuCtxPopCurrent_v2(context: Out<u64>) {
        pop_into(context)
    }

    fn cuCtxSetCurrent(context: u64) {
        driver()?;
        if context != 0 {
            check_exists(context)?;
        }
        set(context);
        Ok(())
    }

    fn cuCtxGetCurrent(context: Out<u64>) {
        driver()?;
        context.set(current_handle().unwrap_or(0))
    }

    fn cuCtxGetDevice(device: Out<i32>) {
        device.set(current()?.device as i32)
    }

    fn cuCtxGetDevice_v2(device: Out<i32>, context: u64) {
        let context = if context == 0 { current()? } else { driver()?.lock().contexts.get(context)? };
        device.set(context.device as i32)
    }

    fn cuCtxGetFlags(flags: Out<u32>) {
        flags.set(current()?.flags())
    }

    fn cuCtxSetFlags(flags: u32) {
        let context = current()?;
        if flags & !FLAGS != 0 {
            return Err(Error::value(format!("flags {flags:#x} of a context")));
        }
        context.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetId(context: u64, id: Out<u64>) {
        let context = if context == 0 { current()? } else { driver()?.lock().contexts.get(context)? };
        id.set(context.id)
    }

    fn cuCtxGetApiVersion(context: u64, version: Out<u32>) {
        let context = if context == 0 { current()? } else { driver()?.lock().contexts.get(context)? };
        version.set(context.version)
    }

    fn cuCtxSynchronize() {
        current()?.synchronize()
    }

    fn cuCtxSynchronize_v2(context: u64) {
        let context = if context == 0 { current()? } else { driver()?.lock().contexts.get(context)? };
        context.synchronize()
    }

    fn cuCtxGetLimit(value: Out<usize>, limit: u32) {
        let context = current()?;
        let default = default_limit(limit)?;
        let set = context.limits.lock().unwrap_or_else(PoisonError::into_inner).get(&limit).copied();
        value.set(set.unwrap_or(default) as usize)
    }

    fn cuCtxSetLimit(limit: u32, value: usize) {
        let context = current()?;
        default_limit(limit)?;
        // The engine has limits of its own: those of the heap and the stack are larger.
        context.limits.lock().unwrap_or_else(PoisonError::into_inner).insert(limit, value as u64);
        Ok(())
    }

    fn cuCtxGetCacheConfig(config: Out<u32>) {
        current()?;
        config.set(0)
    }

    fn cuCtxSetCacheConfig(config: u32) {
        current()?;
        if config > 3 { Err(Error::value(format!("cache configuration {config}"))) } else { Ok(()) }
    }

    fn cuCtxGetSharedMemConfig(config: Out<u32>) {
        current()?;
        config.set(1)
    }

    fn cuCtxSetSharedMemConfig(config: u32) {
        current()?;
        if config > 2 { Err(Error::value(format!("configuration {config} of shared memory"))) } else { Ok(()) }
    }

    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        current()?;
        least.offer(0);
        greatest.offer(-5);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        current().map(|_| ())
    }

    fn cuCtxGetExecAffinity(_affinity: Out<u64>, _kind: u32) {
        current()?;
        Err(Error::new(Code::UNSUPPORTED_EXEC_AFFINITY, "contexts are on all multiprocessors"))
    }

    fn cuCtxEnablePeerAccess(peer: u64, flags: u32) {
        let context = current()?;
        let peer = driver()?.lock().contexts.get(peer)?;
        if flags != 0 {
            return Err(Error::value("flags of peer access"));
        }
        if peer.device == context.device {
            return Err(Error::new(Code::PEER_ACCESS_UNSUPPORTED, "both contexts are of one device"));
        }
        let mut peers = context.peers();
        if peers.contains(&peer.id) {
            return Err(Error::new(Code::PEER_ACCESS_ALREADY_ENABLED, "access is enabled"));
        }
        peers.push(peer.id);
        Ok(())
    }

    fn cuCtxDisablePeerAccess(peer: u64) {
        let context = current()?;
        let peer = driver()?.lock().contexts.get(peer)?;
        let mut peers = context.peers();
        let before = peers.len();
        peers.retain(|known| *known != peer.id);
        if peers.len() == before {
            return Err(Error::new(Code::PEER_ACCESS_NOT_ENABLED, "access is not enabled"));
        }
        Ok(())
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        driver()?;
        let new = mode.get()?;
        if new > 2 {
            return Err(Error::value(format!("capture mode {new}")));
        }
        mode.set(crate::context::exchange_capture_mode(new))
    }

    fn cuCtxRecordEvent(context: u64, event: u64) {
        let (context, event) = {
            let state = driver()?.lock();
            (state.contexts.get(context)?, state.events.get(event)?)
        };
        context.synchronize()?;
        context.legacy.record(&context, &event)
    }

    fn cuCtxWaitEvent(context: u64, event: u64) {
        let (context, event) = {
            let state = driver()?.lock();
            (state.contexts.get(context)?, state.events.get(event)?)
        };
        context.legacy.wait(&context, &event)
    }

    fn cuCtxGetDevResource(_context: Pointer, _resource: Pointer, _kind: u32) {
        Err(Error::unsupported("parts of a device"))
    }
}
