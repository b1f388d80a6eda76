//! Attributes of functions and kernels.

use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::{Out, api};
use crate::kernel::{Attributes, Callable, most_dynamic_shared};
use crate::profile::Profile;
use crate::registers::registers;
use crate::state::driver;
use std::sync::atomic::Ordering;
use warpsmith::isa::limits;

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`, and the first and last of those that say how to place blocks.
const DYNAMIC_SHARED: u32 = 8;
const PREFERENCES: std::ops::RangeInclusive<u32> = 9..=15;

fn profile_of(device: Option<i32>) -> Result<&'static Profile, Error> {
    let driver = driver()?;
    let index = match device {
        Some(device) => driver.device(device)?,
        None => current()?.device,
    };
    Ok(&driver.settings.devices[index])
}

fn get(number: u32, handle: u64, device: Option<i32>) -> Result<i32, Error> {
    let profile = profile_of(device)?;
    let (program, name, attributes) = driver()?.lock().described(handle)?;
    let info = program.kernel_info(&name).ok_or_else(|| Error::new(Code::NOT_FOUND, "the kernel is gone"))?;
    let [major, minor] = profile.capability();
    let required = info.attributes.required_cluster;
    let value = match number {
        0 => info.attributes.max_threads.unwrap_or(limits::BLOCK_THREADS).into(),
        1 => info.static_shared,
        2 => program.constant_bytes(),
        3 => info.local.into(),
        4 => registers(&info).into(),
        5 | 6 => u64::from(major * 10 + minor),
        7 => 0,
        DYNAMIC_SHARED => most_dynamic_shared(&info, &attributes, profile),
        10 => info.attributes.explicit_cluster.into(),
        11..=13 if required.is_some() => required.map_or(0, |shape| shape[number as usize - 11].into()),
        number if PREFERENCES.contains(&number) => {
            return Ok(
                attributes.preferences[(number - PREFERENCES.start()) as usize].load(Ordering::Relaxed)
            );
        }
        _ => return Err(Error::value(format!("{number} is not an attribute of a function"))),
    };
    Ok(i32::try_from(value).unwrap_or(i32::MAX))
}

fn set(number: u32, value: i32, handle: u64, device: Option<i32>) -> Result<(), Error> {
    let profile = profile_of(device)?;
    let (program, name, attributes) = driver()?.lock().described(handle)?;
    let attributes: &Attributes = &attributes;
    match number {
        DYNAMIC_SHARED => {
            let info = program.kernel_info(&name);
            let own = info.map_or(0, |info| info.static_shared);
            let most = u64::from(profile.sm.block_shared_bytes).saturating_sub(own);
            let wanted = u32::try_from(value).ok().filter(|wanted| u64::from(*wanted) <= most);
            let wanted = wanted.ok_or_else(|| {
                Error::value(format!(
                    "{value} bytes of dynamic shared memory for `{name}`, the most is {most}"
                ))
            })?;
            attributes.dynamic_shared.store(wanted, Ordering::Relaxed);
            Ok(())
        }
        number if PREFERENCES.contains(&number) => {
            attributes.preferences[(number - PREFERENCES.start()) as usize].store(value, Ordering::Relaxed);
            Ok(())
        }
        _ => Err(Error::value(format!("attribute {number} of a function cannot be set"))),
    }
}

fn parameter(handle: u64, index: usize, offset: Out<usize>, size: Out<usize>) -> Result<(), Error> {
    let (program, name, _) = driver()?.lock().described(handle)?;
    let params = program.kernel(&name).unwrap_or(&[]);
    let param = params.get(index);
    let param = param.ok_or_else(|| Error::value(format!("`{name}` has {} parameters", params.len())))?;
    offset.set(param.offset as usize)?;
    size.offer(param.bytes as usize);
    Ok(())
}

fn exists(handle: u64) -> Result<(), Error> {
    driver()?.lock().functions.get(handle).map(|_| ())
}

api! {
    fn cuFuncGetAttribute(value: Out<i32>, number: u32, function: u64) {
        value.check()?;
        value.set(get(number, function, None)?)
    }

    fn cuFuncSetAttribute(function: u64, number: u32, value: i32) {
        set(number, value, function, None)
    }

    fn cuFuncSetCacheConfig(function: u64, config: u32) {
        exists(function)?;
        if config > 3 { Err(Error::value(format!("cache configuration {config}"))) } else { Ok(()) }
    }

    fn cuFuncSetSharedMemConfig(function: u64, config: u32) {
        exists(function)?;
        if config > 2 { Err(Error::value(format!("configuration {config} of shared memory"))) } else { Ok(()) }
    }

    fn cuFuncGetModule(module: Out<u64>, function: u64) {
        let found = driver()?.lock().functions.get(function)?;
        match &*found {
            Callable::Function(function) => module.set(function.module_handle),
            Callable::Kernel { .. } => Err(Error::new(Code::INVALID_HANDLE, "a kernel of a library")),
        }
    }

    fn cuFuncGetParamInfo(function: u64, index: usize, offset: Out<usize>, size: Out<usize>) {
        parameter(function, index, offset, size)
    }

    fn cuFuncIsLoaded(state: Out<u32>, function: u64) {
        exists(function)?;
        state.set(1)
    }

    fn cuFuncLoad(function: u64) {
        exists(function)
    }

    fn cuKernelGetAttribute(value: Out<i32>, number: u32, kernel: u64, device: i32) {
        value.check()?;
        value.set(get(number, kernel, Some(device))?)
    }

    fn cuKernelSetAttribute(number: u32, value: i32, kernel: u64, device: i32) {
        set(number, value, kernel, Some(device))
    }

    fn cuKernelSetCacheConfig(kernel: u64, config: u32, device: i32) {
        profile_of(Some(device))?;
        exists(kernel)?;
        if config > 3 { Err(Error::value(format!("cache configuration {config}"))) } else { Ok(()) }
    }

    fn cuKernelGetParamInfo(kernel: u64, index: usize, offset: Out<usize>, size: Out<usize>) {
        parameter(kernel, index, offset, size)
    }
}
