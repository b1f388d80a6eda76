//! Copies.

use crate::context::{Context, stream};
use crate::copy::{Copy3, Place};
use crate::error::Error;
use crate::ffi::{In, Plain, Pointer, api};
use crate::op::Op;
use crate::state::{State, driver};
use crate::stream::Stream;

/// `CUmemorytype`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// What a copy reads or writes.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// Memory of anyone, with bytes from row to row and rows from layer to layer; 0 where they follow each other.
    Pointer {
        /// Where it starts.
        address: u64,
        /// Bytes from row to row.
        pitch: usize,
        /// Rows from layer to layer.
        height: usize,
    },
    /// An array, from a byte, row and layer on.
    Array {
        /// Its handle.
        array: u64,
        /// Byte of a row, row, layer.
        at: [usize; 3],
    },
}

/// A side of a copy in two or three dimensions.
#[derive(Clone, Copy, Debug)]
struct Side {
    x: usize,
    y: usize,
    z: usize,
    kind: u32,
    host: Pointer,
    device: u64,
    array: u64,
    level: usize,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy2D {
    src_x: usize,
    src_y: usize,
    src_type: u32,
    src_host: Pointer,
    src_device: u64,
    src_array: u64,
    src_pitch: usize,
    dst_x: usize,
    dst_y: usize,
    dst_type: u32,
    dst_host: Pointer,
    dst_device: u64,
    dst_array: u64,
    dst_pitch: usize,
    width: usize,
    height: usize,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for Copy2D {}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER` with contexts where the reserved members are.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3D {
    src_x: usize,
    src_y: usize,
    src_z: usize,
    src_level: usize,
    src_type: u32,
    src_host: Pointer,
    src_device: u64,
    src_array: u64,
    src_context: u64,
    src_pitch: usize,
    src_height: usize,
    dst_x: usize,
    dst_y: usize,
    dst_z: usize,
    dst_level: usize,
    dst_type: u32,
    dst_host: Pointer,
    dst_device: u64,
    dst_array: u64,
    dst_context: u64,
    dst_pitch: usize,
    dst_height: usize,
    width: usize,
    height: usize,
    depth: usize,
}
// SAFETY: as above.
unsafe impl Plain for Copy3D {}

const _: () = assert!(size_of::<Copy2D>() == 128 && size_of::<Copy3D>() == 200);

impl Copy2D {
    fn flat(self) -> Copy3D {
        Copy3D {
            src_x: self.src_x,
            src_y: self.src_y,
            src_z: 0,
            src_level: 0,
            src_type: self.src_type,
            src_host: self.src_host,
            src_device: self.src_device,
            src_array: self.src_array,
            src_context: 0,
            src_pitch: self.src_pitch,
            src_height: 0,
            dst_x: self.dst_x,
            dst_y: self.dst_y,
            dst_z: 0,
            dst_level: 0,
            dst_type: self.dst_type,
            dst_host: self.dst_host,
            dst_device: self.dst_device,
            dst_array: self.dst_array,
            dst_context: 0,
            dst_pitch: self.dst_pitch,
            dst_height: 0,
            width: self.width,
            height: self.height,
            depth: 1,
        }
    }
}

impl Copy3D {
    /// A description of a copy that was asked for otherwise.
    pub fn of(copy: &Copy3) -> Copy3D {
        let operand = |place: &Place| Operand::Pointer {
            address: place.at.address(),
            pitch: place.pitch,
            height: place.slice.checked_div(place.pitch).unwrap_or(0),
        };
        Copy3D::between(operand(&copy.from), operand(&copy.to), copy.extent)
    }

    /// A copy of bytes, rows and layers.
    pub fn between(from: Operand, to: Operand, [width, height, depth]: [usize; 3]) -> Copy3D {
        let (from, to) = (Side::from(from), Side::from(to));
        Copy3D {
            src_x: from.x,
            src_y: from.y,
            src_z: from.z,
            src_level: 0,
            src_type: from.kind,
            src_host: from.host,
            src_device: from.device,
            src_array: from.array,
            src_context: 0,
            src_pitch: from.pitch,
            src_height: from.height,
            dst_x: to.x,
            dst_y: to.y,
            dst_z: to.z,
            dst_level: 0,
            dst_type: to.kind,
            dst_host: to.host,
            dst_device: to.device,
            dst_array: to.array,
            dst_context: 0,
            dst_pitch: to.pitch,
            dst_height: to.height,
            width,
            height,
            depth,
        }
    }

    /// The copy that is asked for, its sides checked.
    pub fn resolve(self) -> Result<Copy3, Error> {
        let extent = [self.width, self.height, self.depth];
        let from = Side {
            x: self.src_x,
            y: self.src_y,
            z: self.src_z,
            kind: self.src_type,
            host: self.src_host,
            device: self.src_device,
            array: self.src_array,
            level: self.src_level,
            pitch: self.src_pitch,
            height: self.src_height,
        };
        let to = Side {
            x: self.dst_x,
            y: self.dst_y,
            z: self.dst_z,
            kind: self.dst_type,
            host: self.dst_host,
            device: self.dst_device,
            array: self.dst_array,
            level: self.dst_level,
            pitch: self.dst_pitch,
            height: self.dst_height,
        };
        let state = driver()?.lock();
        Ok(Copy3 { from: from.place(extent, &state)?, to: to.place(extent, &state)?, extent, staged: None })
    }
}

impl From<Operand> for Side {
    fn from(operand: Operand) -> Side {
        let nothing = Side {
            x: 0,
            y: 0,
            z: 0,
            kind: UNIFIED,
            host: Pointer::at(0),
            device: 0,
            array: 0,
            level: 0,
            pitch: 0,
            height: 0,
        };
        match operand {
            Operand::Pointer { address, pitch, height } => Side { device: address, pitch, height, ..nothing },
            Operand::Array { array, at: [x, y, z] } => Side { kind: ARRAY, array, x, y, z, ..nothing },
        }
    }
}

impl Side {
    /// An array as the memory that it is.
    fn of_array(self, [width, height, depth]: [usize; 3], state: &State) -> Result<Side, Error> {
        let array = state.arrays.get(self.array)?;
        let fits = |at: usize, len: usize, most: usize| at <= most && len <= most - at;
        let inside = fits(self.x, width, array.pitch())
            && fits(self.y, height, array.rows())
            && fits(self.z, depth, array.slices());
        if !inside || self.level != 0 {
            return Err(Error::value("a copy outside of an array"));
        }
        let (device, pitch, height) = (array.address, array.pitch(), array.rows());
        Ok(Side { kind: DEVICE, device, pitch, height, ..self })
    }

    fn place(self, [width, height, depth]: [usize; 3], state: &State) -> Result<Place, Error> {
        if self.kind == ARRAY {
            return self.of_array([width, height, depth], state)?.place([width, height, depth], state);
        }
        let large = || Error::value("a copy larger than memory");
        // Without a pitch rows follow each other.
        let pitch = if self.pitch == 0 { self.x.checked_add(width).ok_or_else(large)? } else { self.pitch };
        let rows = if self.height == 0 { self.y.checked_add(height).ok_or_else(large)? } else { self.height };
        if height > 1 && width > pitch || depth > 1 && height > rows {
            return Err(Error::value(format!(
                "{height} rows of {width} bytes with a pitch of {pitch}, {rows} rows"
            )));
        }
        let slice = pitch.checked_mul(rows).ok_or_else(large)?;
        let offset = |x: usize, y: usize, z: usize| {
            z.checked_mul(slice)?.checked_add(y.checked_mul(pitch)?)?.checked_add(x)
        };
        let start = offset(self.x, self.y, self.z).ok_or_else(large)?;
        let empty = width == 0 || height == 0 || depth == 0;
        let end = if empty { Some(0) } else { offset(width, height - 1, depth - 1) };
        let bytes = end.ok_or_else(large)?;
        let at = |base: u64| base.checked_add(start as u64).ok_or_else(large);
        let (at, keep) = match self.kind {
            HOST => {
                let pointer = Pointer::at(at(self.host.address())?);
                if self.host.is_null() && !empty {
                    return Err(Error::value("a null pointer where memory is expected"));
                }
                (pointer, None)
            }
            DEVICE => {
                let address = at(self.device)?;
                (Pointer::at(address), Some(state.span(address, bytes)?))
            }
            UNIFIED => {
                let pointer = Pointer::at(at(self.device)?);
                (pointer, state.any(pointer, bytes)?)
            }
            kind => return Err(Error::value(format!("{kind} is not a kind of memory"))),
        };
        Ok(Place { at, pitch, slice, keep })
    }
}

/// True for memory of the client that it may change as soon as a call returns.
fn is_pageable(place: &Place) -> bool {
    place.keep.is_none()
}

/// Has a copy made in its turn.
pub fn submit(context: &Context, stream: &Stream, mut copy: Copy3, wait: bool) -> Result<(), Error> {
    let captured = stream.capture().is_some();
    if wait && captured {
        stream.not_captured()?;
    }
    let busy = crate::queue::any_pending() || driver()?.settings.asynchronous;
    if busy && !captured && is_pageable(&copy.from) {
        copy.stage();
    }
    // What goes to pageable memory is there when the call returns, as a driver has it.
    let wait = wait || busy && !captured && is_pageable(&copy.to);
    stream.submit(context, Op::Copy(copy))?;
    if wait && busy { stream.synchronize(context) } else { Ok(()) }
}

/// Which side a pointer is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Host,
    Device,
    Any,
}

fn side(state: &State, pointer: Pointer, bytes: usize, of: Of) -> Result<Place, Error> {
    let keep = match of {
        _ if bytes == 0 => None,
        Of::Host if pointer.is_null() => return Err(Error::value("a null pointer where memory is expected")),
        // Memory of the host that devices reach, too, must not be overrun.
        Of::Host | Of::Any => state.any(pointer, bytes)?,
        Of::Device => Some(state.span(pointer.address(), bytes)?),
    };
    Ok(Place::row(pointer, keep))
}

fn between(to: (Pointer, Of), from: (Pointer, Of), bytes: usize) -> Result<Copy3, Error> {
    let state = driver()?.lock();
    let (from, to) = (side(&state, from.0, bytes, from.1)?, side(&state, to.0, bytes, to.1)?);
    Ok(Copy3 { from, to, extent: [bytes, 1, 1], staged: None })
}

/// A copy of bytes from any memory to any other.
pub fn linear_copy(to: u64, from: u64, bytes: usize) -> Result<Copy3, Error> {
    between(any(to), any(from), bytes)
}

fn linear(
    to: (Pointer, Of),
    from: (Pointer, Of),
    bytes: usize,
    handle: u64,
    wait: bool,
) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    let copy = between(to, from, bytes)?;
    if bytes == 0 { Ok(()) } else { submit(&context, &stream, copy, wait) }
}

fn shaped(copy: Copy3D, handle: u64, wait: bool) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    let copy = copy.resolve()?;
    if copy.extent.contains(&0) {
        return Ok(());
    }
    submit(&context, &stream, copy, wait)
}

fn device(address: u64) -> (Pointer, Of) {
    (Pointer::at(address), Of::Device)
}

fn any(address: u64) -> (Pointer, Of) {
    (Pointer::at(address), Of::Any)
}

fn host(pointer: Pointer) -> (Pointer, Of) {
    (pointer, Of::Host)
}

/// An error unless both contexts exist.
fn contexts(a: u64, b: u64) -> Result<(), Error> {
    let state = driver()?.lock();
    state.contexts.get(a)?;
    state.contexts.get(b).map(|_| ())
}

/// A place so many bytes into an array.
fn in_array(handle: u64, offset: usize) -> Result<(Pointer, Of), Error> {
    let array = driver()?.lock().arrays.get(handle)?;
    let bytes = u64::from(array.image.bytes());
    if offset as u64 > bytes {
        return Err(Error::value(format!("byte {offset} of an array of {bytes}")));
    }
    Ok(device(array.address + offset as u64))
}

api! {
    fn cuMemcpyHtoA_v2(to: u64, offset: usize, from: Pointer, bytes: usize) {
        linear(in_array(to, offset)?, host(from), bytes, 0, true)
    }

    fn cuMemcpyHtoAAsync_v2(to: u64, offset: usize, from: Pointer, bytes: usize, stream: u64) {
        linear(in_array(to, offset)?, host(from), bytes, stream, false)
    }

    fn cuMemcpyAtoH_v2(to: Pointer, from: u64, offset: usize, bytes: usize) {
        linear(host(to), in_array(from, offset)?, bytes, 0, true)
    }

    fn cuMemcpyAtoHAsync_v2(to: Pointer, from: u64, offset: usize, bytes: usize, stream: u64) {
        linear(host(to), in_array(from, offset)?, bytes, stream, false)
    }

    fn cuMemcpyDtoA_v2(to: u64, offset: usize, from: u64, bytes: usize) {
        linear(in_array(to, offset)?, device(from), bytes, 0, true)
    }

    fn cuMemcpyAtoD_v2(to: u64, from: u64, offset: usize, bytes: usize) {
        linear(device(to), in_array(from, offset)?, bytes, 0, true)
    }

    fn cuMemcpyAtoA_v2(to: u64, to_offset: usize, from: u64, from_offset: usize, bytes: usize) {
        linear(in_array(to, to_offset)?, in_array(from, from_offset)?, bytes, 0, true)
    }

    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        linear(any(to), any(from), bytes, 0, true)
    }

    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: u64) {
        linear(any(to), any(from), bytes, stream, false)
    }

    fn cuMemcpyHtoD_v2(to: u64, from: Pointer, bytes: usize) {
        linear(device(to), host(from), bytes, 0, true)
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: Pointer, bytes: usize, stream: u64) {
        linear(device(to), host(from), bytes, stream, false)
    }

    fn cuMemcpyDtoH_v2(to: Pointer, from: u64, bytes: usize) {
        linear(host(to), device(from), bytes, 0, true)
    }

    fn cuMemcpyDtoHAsync_v2(to: Pointer, from: u64, bytes: usize, stream: u64) {
        linear(host(to), device(from), bytes, stream, false)
    }

    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        linear(device(to), device(from), bytes, 0, true)
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) {
        linear(device(to), device(from), bytes, stream, false)
    }

    fn cuMemcpyPeer(to: u64, to_context: u64, from: u64, from_context: u64, bytes: usize) {
        contexts(to_context, from_context)?;
        linear(device(to), device(from), bytes, 0, true)
    }

    fn cuMemcpyPeerAsync(to: u64, to_context: u64, from: u64, from_context: u64, bytes: usize, stream: u64) {
        contexts(to_context, from_context)?;
        linear(device(to), device(from), bytes, stream, false)
    }

    fn cuMemcpy2D_v2(copy: In<Copy2D>) {
        shaped(copy.get()?.flat(), 0, true)
    }

    fn cuMemcpy2DUnaligned_v2(copy: In<Copy2D>) {
        shaped(copy.get()?.flat(), 0, true)
    }

    fn cuMemcpy2DAsync_v2(copy: In<Copy2D>, stream: u64) {
        shaped(copy.get()?.flat(), stream, false)
    }

    fn cuMemcpy3D_v2(copy: In<Copy3D>) {
        shaped(copy.get()?, 0, true)
    }

    fn cuMemcpy3DAsync_v2(copy: In<Copy3D>, stream: u64) {
        shaped(copy.get()?, stream, false)
    }

    fn cuMemcpy3DPeer(copy: In<Copy3D>) {
        shaped(copy.get()?, 0, true)
    }

    fn cuMemcpy3DPeerAsync(copy: In<Copy3D>, stream: u64) {
        shaped(copy.get()?, stream, false)
    }
}
