//! Devices: which there are, which one a thread uses, and what they are like.

use crate::context;
use crate::driver::cu;
use crate::error::{Code, Error, rt};
use crate::ffi::{In, Out, Pointer, Text};

/// The version of CUDA whose runtime this one is like.
const VERSION: i32 = 13000;

/// A member of `cudaDeviceProp` that has the value of an attribute.
struct Member {
    offset: usize,
    wide: bool,
    attribute: u32,
}

include!(concat!(env!("OUT_DIR"), "/properties.rs"));

/// Where the members are that are not attributes.
const NAME: std::ops::Range<usize> = 0..256;
const UUID: std::ops::Range<usize> = 256..272;
const MEMORY: std::ops::Range<usize> = 288..296;

/// `CU_CTX_..`: what can be asked of a context of a device.
const FLAGS: u32 = 0x1f;

/// `cudaDeviceMapHost`, which devices of unified addresses always have.
const MAPS_HOST: u32 = 8;

fn exists(device: i32) -> Result<(), Error> {
    if device >= 0 && device < context::count()? {
        Ok(())
    } else {
        Err(Error::new(Code::INVALID_DEVICE, format!("unknown device {device}")))
    }
}

fn properties(device: i32) -> Result<[u8; BYTES], Error> {
    exists(device)?;
    let mut found = [0u8; BYTES];
    let mut name = [0u8; 256];
    cu!(cuDeviceGetName(&mut name, 256i32, device))?;
    found[NAME].copy_from_slice(&name);
    let mut uuid = [0u8; 16];
    cu!(cuDeviceGetUuid_v2(&mut uuid, device))?;
    found[UUID].copy_from_slice(&uuid);
    let mut memory = 0u64;
    cu!(cuDeviceTotalMem_v2(&mut memory, device))?;
    found[MEMORY].copy_from_slice(&memory.to_le_bytes());
    for Member { offset, wide, attribute } in MEMBERS {
        let mut value = 0i32;
        // A driver that is older does not know all of them: they are zero then.
        if cu!(cuDeviceGetAttribute(&mut value, *attribute, device)).is_ok() {
            if *wide {
                found[*offset..][..8].copy_from_slice(&i64::from(value).to_le_bytes());
            } else {
                found[*offset..][..4].copy_from_slice(&value.to_le_bytes());
            }
        }
    }
    Ok(found)
}

rt! {
    fn cudaGetDeviceCount(answer: Out<i32>) {
        answer.check()?;
        match context::count()? {
            0 => Err(Error::new(Code::NO_DEVICE, "no device is visible")),
            count => answer.set(count),
        }
    }

    fn cudaGetDevice(answer: Out<i32>) {
        context::initialise()?;
        answer.set(context::device())
    }

    fn cudaSetDevice(device: i32) {
        context::choose(device)
    }

    fn cudaInitDevice(device: i32, _device_flags: u32, _flags: u32) {
        exists(device)?;
        context::primary(device).map(|_| ())
    }

    fn cudaSetValidDevices(devices: In<i32>, count: i32) {
        let list = devices.list(count.max(0) as usize)?;
        list.iter().try_for_each(|device| exists(*device))
    }

    fn cudaChooseDevice(answer: Out<i32>, properties: Pointer) {
        context::initialise()?;
        if properties.is_null() {
            return Err(Error::value("no properties to choose by"));
        }
        answer.set(0)
    }

    fn cudaGetDeviceProperties(answer: Out<[u8; BYTES]>, device: i32) {
        answer.check()?;
        answer.set(properties(device)?)
    }

    fn cudaDeviceReset() {
        context::reset()
    }

    fn cudaDeviceSynchronize() {
        context::ready()?;
        cu!(cuCtxSynchronize())
    }

    fn cudaSetDeviceFlags(flags: u32) {
        context::initialise()?;
        if flags & !FLAGS != 0 || (flags & 7).count_ones() > 1 {
            return Err(Error::value(format!("flags {flags:#x}")));
        }
        cu!(cuDevicePrimaryCtxSetFlags_v2(context::device(), flags))
    }

    fn cudaGetDeviceFlags(answer: Out<u32>) {
        answer.check()?;
        context::ready()?;
        let mut flags = 0u32;
        cu!(cuCtxGetFlags(&mut flags))?;
        answer.set(flags | MAPS_HOST)
    }

    fn cudaRuntimeGetVersion(answer: Out<i32>) {
        answer.set(VERSION)
    }

    fn cudaDeviceEnablePeerAccess(peer: i32, flags: u32) {
        context::ready()?;
        exists(peer)?;
        if peer == context::device() {
            return Err(Error::new(Code::PEER_ACCESS_UNSUPPORTED, "a device is not its own peer"));
        }
        cu!(cuCtxEnablePeerAccess(context::primary(peer)?, flags))
    }

    fn cudaDeviceDisablePeerAccess(peer: i32) {
        context::ready()?;
        exists(peer)?;
        cu!(cuCtxDisablePeerAccess(context::primary(peer)?))
    }

    fn cudaEventCreate(event: Out<u64>) {
        context::ready()?;
        event.check()?;
        let mut found = 0u64;
        cu!(cuEventCreate(&mut found, 0u32))?;
        event.set(found)
    }

    fn cudaStreamCreate(stream: Out<u64>) {
        context::ready()?;
        stream.check()?;
        let mut found = 0u64;
        cu!(cuStreamCreate(&mut found, 0u32))?;
        stream.set(found)
    }

    fn cudaGetDriverEntryPoint(name: Text, answer: Out<Pointer>, flags: u64, state: Out<u32>) {
        entry(name, answer, VERSION, flags, state)
    }

    fn cudaGetDriverEntryPointByVersion(name: Text, answer: Out<Pointer>, version: i32, flags: u64, state: Out<u32>) {
        entry(name, answer, version, flags, state)
    }
}

/// The address of a function of the driver: 0 it is there, 1 it is not, as `cudaDriverEntryPointQueryResult` has them.
fn entry(name: Text, answer: Out<Pointer>, version: i32, flags: u64, state: Out<u32>) -> Result<(), Error> {
    context::initialise()?;
    answer.check()?;
    let name = std::ffi::CString::new(name.get()?).map_err(|error| Error::value(error.to_string()))?;
    let (mut found, mut status) = (0u64, 0u32);
    let text = name.as_ptr().expose_provenance();
    let outcome = cu!(cuGetProcAddress_v2(text, &mut found, version, flags, &mut status));
    answer.set(Pointer::at(found))?;
    state.offer(u32::from(found == 0));
    match outcome {
        Err(error) if error.code != Code::SYMBOL_NOT_FOUND => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
