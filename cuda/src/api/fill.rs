//! Fills.

use crate::context::stream;
use crate::copy::{Fill, Place};
use crate::error::Error;
use crate::ffi::{Pointer, api};
use crate::op::Op;
use crate::state::driver;

fn fill(
    address: u64,
    value: u32,
    width: usize,
    [count, rows]: [usize; 2],
    pitch: usize,
    handle: u64,
    wait: bool,
) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    let fill = make_fill(address, value, width, [count, rows], pitch)?;
    if wait {
        stream.not_captured()?;
    }
    if count == 0 || rows == 0 {
        return Ok(());
    }
    stream.submit(&context, Op::Fill(fill))
}

/// A fill of rows in memory of a device, checked.
pub fn make_fill(
    address: u64,
    value: u32,
    width: usize,
    [count, rows]: [usize; 2],
    pitch: usize,
) -> Result<Fill, Error> {
    let large = || Error::value("a fill larger than memory");
    let row = count.checked_mul(width).ok_or_else(large)?;
    if rows > 1 && pitch < row {
        return Err(Error::value(format!("rows of {row} bytes with a pitch of {pitch}")));
    }
    if !address.is_multiple_of(width as u64) || rows > 1 && !pitch.is_multiple_of(width) {
        return Err(Error::value(format!("{address:#x} is not aligned to {width} bytes")));
    }
    let bytes = if row == 0 || rows == 0 {
        0
    } else {
        (rows - 1).checked_mul(pitch).and_then(|before| before.checked_add(row)).ok_or_else(large)?
    };
    let keep = if bytes == 0 { None } else { Some(driver()?.lock().span(address, bytes)?) };
    let to = Place { at: Pointer::at(address), pitch, slice: 0, keep };
    Ok(Fill { to, value, width, extent: [count, rows] })
}

api! {
    fn cuMemsetD8_v2(to: u64, value: u8, count: usize) {
        fill(to, value.into(), 1, [count, 1], 0, 0, true)
    }

    fn cuMemsetD16_v2(to: u64, value: u16, count: usize) {
        fill(to, value.into(), 2, [count, 1], 0, 0, true)
    }

    fn cuMemsetD32_v2(to: u64, value: u32, count: usize) {
        fill(to, value, 4, [count, 1], 0, 0, true)
    }

    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: u64) {
        fill(to, value.into(), 1, [count, 1], 0, stream, false)
    }

    fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: u64) {
        fill(to, value.into(), 2, [count, 1], 0, stream, false)
    }

    fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: u64) {
        fill(to, value, 4, [count, 1], 0, stream, false)
    }

    fn cuMemsetD2D8_v2(to: u64, pitch: usize, value: u8, width: usize, height: usize) {
        fill(to, value.into(), 1, [width, height], pitch, 0, true)
    }

    fn cuMemsetD2D16_v2(to: u64, pitch: usize, value: u16, width: usize, height: usize) {
        fill(to, value.into(), 2, [width, height], pitch, 0, true)
    }

    fn cuMemsetD2D32_v2(to: u64, pitch: usize, value: u32, width: usize, height: usize) {
        fill(to, value, 4, [width, height], pitch, 0, true)
    }

    fn cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: u64) {
        fill(to, value.into(), 1, [width, height], pitch, stream, false)
    }

    fn cuMemsetD2D16Async(to: u64, pitch: usize, value: u16, width: usize, height: usize, stream: u64) {
        fill(to, value.into(), 2, [width, height], pitch, stream, false)
    }

    fn cuMemsetD2D32Async(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: u64) {
        fill(to, value, 4, [width, height], pitch, stream, false)
    }
}
