//! The attributes of a pointer.

use crate::context::{current, current_handle};
use crate::error::{Code, Error};
use crate::ffi::{In, Out, api};
use crate::memory::Kind;
use crate::state::{State, driver};
use std::ffi::c_void;
use warpsmith::interp::Holder;

/// What is known of memory.
struct Known {
    start: u64,
    bytes: u64,
    kind: Kind,
    context: u64,
    device: usize,
    number: u64,
    pool: u64,
}

fn known(state: &State, address: u64) -> Option<Known> {
    if let Some((start, found)) = state.memory.containing(address) {
        let context = found.context.or_else(|| state.primaries[found.device].handle).unwrap_or(0);
        let (bytes, kind, device) = (found.bytes, found.kind, found.device);
        return Some(Known {
            start,
            bytes,
            kind,
            context,
            device,
            number: found.number,
            pool: found.pool.unwrap_or(0),
        });
    }
    let (buffer, holder) = state.device.containing(address)?;
    let context = current_handle().unwrap_or(0);
    let device = state.contexts.get(context).map_or(0, |context| context.device);
    let internal = holder == Holder::Internal;
    internal.then(|| Known {
        start: buffer.address(),
        bytes: buffer.len(),
        kind: Kind::Device,
        context,
        device,
        number: buffer.address(),
        pool: 0,
    })
}

/// Gives an attribute; with `zero`, of what is not known as none of any kind, as the call for several attributes does.
fn give(number: u32, address: u64, value: Out<c_void>, zero: bool) -> Result<(), Error> {
    let state = driver()?.lock();
    let found = known(&state, address);
    let unknown = || Error::value(format!("{address:#x} is not in memory that was allocated or registered"));
    let Some(found) = found else {
        if !zero {
            return Err(unknown());
        }
        return match number {
            2 | 8 | 9 | 10 | 13 | 15 => value.of::<u32>().set(if number == 9 { u32::MAX - 1 } else { 0 }),
            4 => value.of::<u64>().set(address),
            1..=21 if number != 5 => value.of::<u64>().set(0),
            _ => Err(Error::value(format!("{number} is not an attribute of a pointer"))),
        };
    };
    let on_host = matches!(found.kind, Kind::Host | Kind::Registered | Kind::Managed);
    match number {
        1 => value.of::<u64>().set(found.context),
        // The types of host and device memory; managed memory is reported as the device's.
        2 => value.of::<u32>().set(if matches!(found.kind, Kind::Host | Kind::Registered) { 1 } else { 2 }),
        3 => value.of::<u64>().set(address),
        4 if on_host => value.of::<u64>().set(address),
        4 if zero => value.of::<u64>().set(0),
        4 => Err(Error::value("memory of a device is not the host's")),
        6 => value.of::<u32>().set(0),
        7 => value.of::<u64>().set(found.number),
        8 => value.of::<u32>().set((found.kind == Kind::Managed).into()),
        9 => value.of::<i32>().set(found.device as i32),
        10 => value.of::<u32>().set((found.kind == Kind::Device && found.pool == 0).into()),
        11 | 19 => value.of::<u64>().set(found.start),
        12 | 18 => value.of::<u64>().set(found.bytes),
        13 => value.of::<u32>().set(1),
        14 => value.of::<u64>().set(0),
        15 => value.of::<u32>().set(0),
        16 => value.of::<u32>().set(3),
        17 => value.of::<u64>().set(found.pool),
        20 => value.of::<u64>().set(found.number),
        21 => value.of::<u32>().set(0),
        _ => Err(Error::value(format!("{number} is not an attribute of a pointer"))),
    }
}

api! {
    fn cuPointerGetAttribute(value: Out<c_void>, number: u32, address: u64) {
        driver()?;
        give(number, address, value, false)
    }

    fn cuPointerGetAttributes(count: u32, numbers: In<u32>, values: In<Out<c_void>>, address: u64) {
        driver()?;
        for (i, number) in numbers.list(count as usize)?.into_iter().enumerate() {
            give(number, address, values.at(i)?, true)?;
        }
        Ok(())
    }

    fn cuPointerSetAttribute(value: In<u32>, number: u32, address: u64) {
        current()?;
        value.get()?;
        if known(&driver()?.lock(), address).is_none() {
            return Err(Error::value(format!("{address:#x} is not in memory that was allocated")));
        }
        // Copies wait where they have to in any case.
        if number == 6 { Ok(()) } else { Err(Error::new(Code::INVALID_VALUE, "this attribute cannot be set")) }
    }

    fn cuMemRangeGetAttribute(value: Out<c_void>, bytes: usize, number: u32, address: u64, count: usize) {
        current()?;
        range(value, bytes, number, address, count)
    }

    fn cuMemRangeGetAttributes(
        values: In<Out<c_void>>,
        sizes: In<usize>,
        numbers: In<u32>,
        many: usize,
        address: u64,
        count: usize,
    ) {
        current()?;
        let sizes = sizes.list(many)?;
        for (i, number) in numbers.list(many)?.into_iter().enumerate() {
            range(values.at(i)?, sizes[i], number, address, count)?;
        }
        Ok(())
    }
}

/// Nothing that was advised about managed memory is kept: it is where it is.
fn range(value: Out<c_void>, bytes: usize, number: u32, address: u64, count: usize) -> Result<(), Error> {
    let state = driver()?.lock();
    let found = known(&state, address).filter(|found| {
        found.kind == Kind::Managed && count > 0 && count as u64 <= found.bytes - (address - found.start)
    });
    if found.is_none() {
        return Err(Error::value(format!("{count} bytes at {address:#x} are not in managed memory")));
    }
    // `CU_DEVICE_INVALID`
    const NONE: i32 = -2;
    match (number, bytes) {
        (1, 4) | (5 | 7, 4) => value.of::<i32>().set(0),
        (2 | 4 | 6 | 8, 4) => value.of::<i32>().set(NONE),
        (3, bytes) if bytes > 0 && bytes.is_multiple_of(4) => value.of::<i32>().list(&vec![NONE; bytes / 4]),
        _ => Err(Error::value(format!("{bytes} bytes for attribute {number} of a range"))),
    }
}
