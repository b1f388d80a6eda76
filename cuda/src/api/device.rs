//! Devices and their attributes.

use crate::attribute::of_device;
use crate::error::Error;
use crate::ffi::{Out, Plain, Text, api};
use crate::profile::Profile;
use crate::state::driver;
use warpsmith::isa::limits;

/// `CUdevprop`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    max_threads: i32,
    max_block: [i32; 3],
    max_grid: [i32; 3],
    shared: i32,
    constant: i32,
    warp: i32,
    pitch: i32,
    registers: i32,
    clock: i32,
    texture_alignment: i32,
}
// SAFETY: numbers.
unsafe impl Plain for Properties {}

fn profile(device: i32) -> Result<(usize, &'static Profile), Error> {
    let driver = driver()?;
    let index = driver.device(device)?;
    Ok((index, &driver.settings.devices[index]))
}

fn attribute(number: u32, device: i32) -> Result<i32, Error> {
    let (index, profile) = profile(device)?;
    of_device(number, profile, index)
        .ok_or_else(|| Error::value(format!("{number} is not an attribute of a device")))
}

fn uuid(device: i32) -> Result<[u8; 16], Error> {
    let (index, profile) = profile(device)?;
    let mut id = *b"warpsmith\0\0\0\0\0\0\0";
    id[12..14].copy_from_slice(&profile.target.sm.to_be_bytes());
    id[15] = index as u8;
    Ok(id)
}

fn bus_id(index: usize) -> String {
    format!("0000:{:02X}:00.0", index + 1)
}

api! {
    fn cuDeviceGet(device: Out<i32>, ordinal: i32) {
        driver()?.device(ordinal)?;
        device.set(ordinal)
    }

    fn cuDeviceGetCount(count: Out<i32>) {
        count.set(driver()?.settings.devices.len() as i32)
    }

    fn cuDeviceGetName(name: Out<u8>, room: i32, device: i32) {
        let (_, profile) = profile(device)?;
        name.text(&profile.name(), usize::try_from(room).unwrap_or(0))
    }

    fn cuDeviceGetUuid(id: Out<[u8; 16]>, device: i32) {
        id.set(uuid(device)?)
    }

    fn cuDeviceGetUuid_v2(id: Out<[u8; 16]>, device: i32) {
        id.set(uuid(device)?)
    }

    fn cuDeviceGetLuid(_luid: Out<u8>, _mask: Out<u32>, device: i32) {
        profile(device)?;
        Err(Error::unsupported("only devices of Windows have such a number"))
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32) {
        bytes.set(profile(device)?.1.memory as usize)
    }

    fn cuDeviceGetAttribute(value: Out<i32>, number: u32, device: i32) {
        value.check()?;
        value.set(attribute(number, device)?)
    }

    fn cuDeviceGetProperties(properties: Out<Properties>, device: i32) {
        let (_, profile) = profile(device)?;
        properties.set(Properties {
            max_threads: limits::BLOCK_THREADS as i32,
            max_block: limits::BLOCK.map(|n| n as i32),
            max_grid: limits::GRID.map(|n| n as i32),
            shared: limits::STATIC_SHARED_BYTES as i32,
            constant: limits::CONST_BYTES as i32,
            warp: 32,
            pitch: i32::MAX,
            registers: 65536,
            clock: (profile.clock_mhz * 1000) as i32,
            texture_alignment: 512,
        })
    }

    fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32) {
        let [a, b] = profile(device)?.1.capability();
        major.set(a as i32)?;
        minor.set(b as i32)
    }

    fn cuDeviceGetByPCIBusId(device: Out<i32>, id: Text) {
        let id = id.get()?.to_uppercase();
        let count = driver()?.settings.devices.len();
        // The domain and the function may be left out.
        let found = (0..count).find(|index| {
            let own = bus_id(*index);
            own == id || own[5..] == id || own[5..10] == id || own[..10] == id
        });
        device.set(found.ok_or_else(|| Error::value(format!("no device at {id}")))? as i32)
    }

    fn cuDeviceGetPCIBusId(id: Out<u8>, room: i32, device: i32) {
        let (index, _) = profile(device)?;
        id.text(&bus_id(index), usize::try_from(room).unwrap_or(0))
    }

    fn cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        let (device, peer) = (driver()?.device(device)?, driver()?.device(peer)?);
        can.set((device != peer).into())
    }

    fn cuDeviceGetP2PAttribute(value: Out<i32>, number: u32, device: i32, peer: i32) {
        let (device, peer) = (driver()?.device(device)?, driver()?.device(peer)?);
        if device == peer || !(1..=5).contains(&number) {
            return Err(Error::value(format!("attribute {number} between devices {device} and {peer}")));
        }
        // Rank 0 of performance; access, atomics and arrays are possible, some atomics alone is not the case.
        value.set((number == 2 || number == 3 || number == 4).into())
    }

    fn cuDeviceGetExecAffinitySupport(value: Out<i32>, _kind: u32, device: i32) {
        profile(device)?;
        value.set(0)
    }

    fn cuDeviceGetTexture1DLinearMaxWidth(width: Out<usize>, _format: u32, _channels: u32, device: i32) {
        profile(device)?;
        width.set(1 << 28)
    }

    fn cuFlushGPUDirectRDMAWrites(_target: u32, _scope: u32) {
        driver().map(|_| ())
    }
}
