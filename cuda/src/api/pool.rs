//! Memory pools, and memory in the order of streams.

use crate::api::memory::Location;
use crate::api::virtual_memory::Access;
use crate::context::stream;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Plain, api};
use crate::memory::Kind;
use crate::op::Op;
use crate::pool::Pool;
use crate::state::driver;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

/// `CUmemPoolProps`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    kind: u32,
    handles: u32,
    location: Location,
    security: u64,
    most: usize,
    usage: u16,
    reserved: [u8; 54],
}
// SAFETY: numbers.
unsafe impl Plain for Properties {}
const _: () = assert!(size_of::<Properties>() == 88);

impl Properties {
    /// The properties of memory of a device.
    pub fn of_device(device: usize) -> Properties {
        let location = Location { kind: 1, id: device as i32 };
        Properties { kind: 1, handles: 0, location, security: 0, most: 0, usage: 0, reserved: [0; 54] }
    }

    /// The number of the device whose memory is meant.
    pub fn device(&self) -> Result<usize, Error> {
        match (self.kind, self.location.kind, self.handles) {
            (1, 1, 0) => driver()?.device(self.location.id),
            (kind, place, handles) => Err(Error::value(format!(
                "memory of kind {kind} at a place of kind {place} with handles of kind {handles}"
            ))),
        }
    }
}

fn allocate(answer: Out<u64>, bytes: usize, pool: Option<u64>, handle: u64) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    answer.check()?;
    let driver = driver()?;
    let mut state = driver.lock();
    if stream.capture().is_some() {
        let device = match pool {
            Some(pool) => state.pools.get(pool)?.device,
            None => context.device,
        };
        let memory = state.allocate_for_graph(bytes as u64, device)?;
        drop(state);
        let address = memory.address;
        stream.submit(&context, Op::Allocate(memory, false))?;
        return answer.set(address);
    }
    let pool = pool.unwrap_or(state.device_pools[context.device][1]);
    let owner = state.pools.get(pool)?;
    owner.take(bytes as u64)?;
    let made = state.allocate(bytes as u64, Kind::Device, None, owner.device, 0, Some(pool));
    let address = made.inspect_err(|_| owner.give_back(bytes as u64))?;
    answer.set(address)
}

/// The pools of a device: the default one, and the current one.
fn of_device(device: i32) -> Result<[u64; 2], Error> {
    let driver = driver()?;
    let device = driver.device(device)?;
    let pools = driver.lock().device_pools[device];
    Ok(pools)
}

fn of_place(place: Location) -> Result<i32, Error> {
    if place.kind == 1 { Ok(place.id) } else { Err(Error::unsupported("pools of memory of the host")) }
}

fn attribute(pool: &Pool, number: u32) -> Result<(u64, Option<&AtomicU64>), Error> {
    let reuse = |i: usize| (pool.reuse[i].load(Ordering::Relaxed), Some(&pool.reuse[i]));
    Ok(match number {
        1..=3 => reuse(number as usize - 1),
        4 => (pool.threshold.load(Ordering::Relaxed), Some(&pool.threshold)),
        5 | 7 => (pool.used(), None),
        6 | 8 => (pool.most(), None),
        _ => return Err(Error::value(format!("{number} is not an attribute of a pool"))),
    })
}

api! {
    fn cuMemAllocAsync(address: Out<u64>, bytes: usize, stream: u64) {
        allocate(address, bytes, None, stream)
    }

    fn cuMemAllocFromPoolAsync(address: Out<u64>, bytes: usize, pool: u64, stream: u64) {
        allocate(address, bytes, Some(pool), stream)
    }

    fn cuMemFreeAsync(address: u64, handle: u64) {
        let (context, stream) = stream(handle)?;
        if address == 0 {
            return Ok(());
        }
        let driver = driver()?;
        let kind = driver.lock().memory.at(address).map(|allocation| allocation.kind);
        if !matches!(kind, Some(Kind::Device | Kind::Managed)) {
            return Err(Error::value(format!("{address:#x} is not the address of an allocation")));
        }
        if stream.capture().is_some() {
            // A graph may be launched again: what it uses but does not allocate stays.
            return stream.submit(&context, crate::api::graph_memory::free(address).unwrap_or(Op::Empty));
        }
        stream.submit(&context, Op::Free(address))
    }

    fn cuDeviceGetDefaultMemPool(pool: Out<u64>, device: i32) {
        pool.check()?;
        pool.set(of_device(device)?[0])
    }

    fn cuDeviceGetMemPool(pool: Out<u64>, device: i32) {
        pool.check()?;
        pool.set(of_device(device)?[1])
    }

    fn cuDeviceSetMemPool(device: i32, pool: u64) {
        let driver = driver()?;
        let device = driver.device(device)?;
        let mut state = driver.lock();
        if state.pools.get(pool)?.device != device {
            return Err(Error::value("a pool of another device"));
        }
        state.device_pools[device][1] = pool;
        Ok(())
    }

    fn cuMemGetDefaultMemPool(pool: Out<u64>, place: In<Location>, _kind: u32) {
        pool.check()?;
        pool.set(of_device(of_place(place.get()?)?)?[0])
    }

    fn cuMemGetMemPool(pool: Out<u64>, place: In<Location>, _kind: u32) {
        pool.check()?;
        pool.set(of_device(of_place(place.get()?)?)?[1])
    }

    fn cuMemPoolCreate(pool: Out<u64>, properties: In<Properties>) {
        let driver = driver()?;
        let properties = properties.get()?;
        pool.check()?;
        if properties.kind != 1 {
            return Err(Error::value(format!("{} is not a kind of allocation of pools", properties.kind)));
        }
        if properties.handles != 0 {
            return Err(Error::unsupported("pools that other processes can use"));
        }
        let device = driver.device(of_place(properties.location)?)?;
        let made = Pool::new(device, properties.most as u64);
        pool.set(driver.lock().pools.add(made))
    }

    fn cuMemPoolDestroy(pool: u64) {
        let mut state = driver()?.lock();
        let gone = state.pools.get(pool)?;
        if state.device_pools[gone.device][0] == pool {
            return Err(Error::value("the default pool of a device stays"));
        }
        if state.device_pools[gone.device][1] == pool {
            state.device_pools[gone.device][1] = state.device_pools[gone.device][0];
        }
        state.pools.remove(pool).map(|_| ())
    }

    fn cuMemPoolTrimTo(pool: u64, _keep: usize) {
        driver()?.lock().pools.get(pool).map(|_| ())
    }

    fn cuMemPoolGetAttribute(pool: u64, number: u32, value: Out<c_void>) {
        let pool = driver()?.lock().pools.get(pool)?;
        let (found, _) = attribute(&pool, number)?;
        if number < 4 { value.of::<i32>().set(found as i32) } else { value.of::<u64>().set(found) }
    }

    fn cuMemPoolSetAttribute(pool: u64, number: u32, value: Out<c_void>) {
        let pool = driver()?.lock().pools.get(pool)?;
        let wanted = if number < 4 { value.of::<u32>().get()?.into() } else { value.of::<u64>().get()? };
        match attribute(&pool, number)? {
            (_, Some(place)) => {
                place.store(wanted, Ordering::Relaxed);
                Ok(())
            }
            (_, None) if wanted == 0 && (number == 6 || number == 8) => {
                pool.reset_most();
                Ok(())
            }
            _ => Err(Error::value("this attribute can only be read, or a maximum set to 0")),
        }
    }

    fn cuMemPoolSetAccess(pool: u64, list: In<Access>, count: usize) {
        driver()?.lock().pools.get(pool)?;
        for access in list.list(count)? {
            driver()?.device(of_place(access.location)?)?;
        }
        Ok(())
    }

    fn cuMemPoolGetAccess(flags: Out<u32>, pool: u64, place: In<Location>) {
        driver()?.lock().pools.get(pool)?;
        driver()?.device(of_place(place.get()?)?)?;
        // Reading and writing.
        flags.set(3)
    }

    fn cuDeviceGraphMemTrim(device: i32) {
        driver()?.device(device).map(|_| ())
    }

    fn cuDeviceGetGraphMemAttribute(device: i32, number: u32, value: Out<u64>) {
        driver()?.device(device)?;
        if number > 3 {
            return Err(Error::value(format!("{number} is not an attribute of the memory of graphs")));
        }
        value.set(0)
    }

    fn cuDeviceSetGraphMemAttribute(device: i32, _number: u32, value: Out<u64>) {
        driver()?.device(device)?;
        if value.get()? == 0 { Ok(()) } else { Err(Error::new(Code::INVALID_VALUE, "a maximum is set to 0")) }
    }
}
