//! Copies: of rows of bytes, and in two and three dimensions, of memory and of arrays.

use crate::array;
use crate::context;
use crate::driver::cu;
use crate::error::{Code, Error, rt, rt_stream};
use crate::ffi::{In, Plain, Pointer};
use crate::memory::{Extent, Pitched};

/// `CUmemorytype`
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3D {
    from: Side,
    to: Side,
    extent: Extent,
}

/// A side of a copy.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Side {
    at: Extent,
    level: usize,
    kind: u32,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: usize,
    height: usize,
}

const _: () = assert!(size_of::<Copy3D>() == 200);

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params {
    from: ParamsSide,
    to: ParamsSide,
    extent: Extent,
    kind: u32,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for Params {}

/// A side of those.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct ParamsSide {
    array: u64,
    at: Extent,
    memory: Pitched,
}

const _: () = assert!(size_of::<Params>() == 160);

impl Side {
    fn memory(at: Pointer, pitch: usize, height: usize) -> Side {
        let start = Extent { x: 0, y: 0, z: 0 };
        let device = at.address();
        Side { at: start, level: 0, kind: UNIFIED, host: 0, device, array: 0, reserved: 0, pitch, height }
    }

    /// A place in an array: bytes along a row.
    fn array(array: u64, x: usize, y: usize) -> Side {
        let at = Extent { x, y, z: 0 };
        Side { at, level: 0, kind: ARRAY, host: 0, device: 0, array, reserved: 0, pitch: 0, height: 0 }
    }
}

impl Params {
    /// The copy as the driver describes it: in bytes.
    pub fn copy(&self) -> Result<Copy3D, Error> {
        known(self.kind)?;
        // The extent is in elements of an array, where there is one, and otherwise in bytes.
        let element = |side: &ParamsSide| if side.array == 0 { Ok(1) } else { array::element(side.array) };
        let (from, to) = (element(&self.from)?, element(&self.to)?);
        if self.from.array != 0 && self.to.array != 0 && from != to {
            return Err(Error::value("arrays of elements of other sizes"));
        }
        let side = |side: &ParamsSide, element: usize| {
            if (side.array == 0) == side.memory.at.is_null() {
                return Err(Error::value("a side of a copy is an array or memory"));
            }
            let mut made = match side.array {
                0 => Side::memory(side.memory.at, side.memory.pitch, side.memory.height),
                array => Side::array(array, 0, 0),
            };
            made.at = Extent { x: side.at.x * element, ..side.at };
            Ok(made)
        };
        let extent = Extent { x: self.extent.x * from.max(to), ..self.extent };
        Ok(Copy3D { from: side(&self.from, from)?, to: side(&self.to, to)?, extent })
    }
}

/// `cudaMemcpyKind`
pub fn known(kind: u32) -> Result<(), Error> {
    if kind <= 4 {
        Ok(())
    } else {
        Err(Error::new(Code::INVALID_MEMCPY_DIRECTION, format!("a copy of kind {kind}")))
    }
}

fn copy(copy: &Copy3D, stream: Option<usize>) -> Result<(), Error> {
    match stream {
        None => cu!(cuMemcpy3D_v2(copy)),
        Some(stream) => cu!(cuMemcpy3DAsync_v2(copy, stream)),
    }
}

fn linear(to: Pointer, from: Pointer, bytes: usize, kind: u32, stream: Option<usize>) -> Result<(), Error> {
    context::ready()?;
    known(kind)?;
    match stream {
        None => cu!(cuMemcpy(to, from, bytes)),
        Some(stream) => cu!(cuMemcpyAsync(to, from, bytes, stream)),
    }
}

/// A copy of rows.
#[derive(Clone, Copy, Debug)]
struct Rows {
    from: Side,
    to: Side,
    width: usize,
    height: usize,
    kind: u32,
}

fn rows(rows: Rows, stream: Option<usize>) -> Result<(), Error> {
    context::ready()?;
    known(rows.kind)?;
    for side in [rows.from, rows.to] {
        if side.kind == UNIFIED && side.pitch < rows.width && rows.height > 0 {
            let message = format!("rows of {} bytes, {} apart", rows.width, side.pitch);
            return Err(Error::new(Code::INVALID_PITCH_VALUE, message));
        }
    }
    let extent = Extent { x: rows.width, y: rows.height, z: 1 };
    copy(&Copy3D { from: rows.from, to: rows.to, extent }, stream)
}

fn params(params: In<Params>, stream: Option<usize>) -> Result<(), Error> {
    context::ready()?;
    copy(&params.get()?.copy()?, stream)
}

rt! {
    fn cudaMemcpy(to: Pointer, from: Pointer, bytes: usize, kind: u32) {
        linear(to, from, bytes, kind, None)
    }

    fn cudaMemcpy_ptds(to: Pointer, from: Pointer, bytes: usize, kind: u32) {
        linear(to, from, bytes, kind, None)
    }

    fn cudaMemcpyPeer(to: Pointer, _to_device: i32, from: Pointer, _from_device: i32, bytes: usize) {
        linear(to, from, bytes, 3, None)
    }

    fn cudaMemcpyPeerAsync(to: Pointer, _to_device: i32, from: Pointer, _from_device: i32, bytes: usize, stream: usize) {
        linear(to, from, bytes, 3, Some(stream))
    }

    fn cudaMemcpy2D(to: Pointer, to_pitch: usize, from: Pointer, from_pitch: usize, width: usize, height: usize, kind: u32) {
        let (from, to) = (Side::memory(from, from_pitch, height), Side::memory(to, to_pitch, height));
        rows(Rows { from, to, width, height, kind }, None)
    }

    fn cudaMemcpy2D_ptds(to: Pointer, to_pitch: usize, from: Pointer, from_pitch: usize, width: usize, height: usize, kind: u32) {
        let (from, to) = (Side::memory(from, from_pitch, height), Side::memory(to, to_pitch, height));
        rows(Rows { from, to, width, height, kind }, None)
    }

    fn cudaMemcpy2DToArray(array: u64, x: usize, y: usize, from: Pointer, pitch: usize, width: usize, height: usize, kind: u32) {
        let (from, to) = (Side::memory(from, pitch, height), Side::array(array, x, y));
        rows(Rows { from, to, width, height, kind }, None)
    }

    fn cudaMemcpy2DFromArray(to: Pointer, pitch: usize, array: u64, x: usize, y: usize, width: usize, height: usize, kind: u32) {
        let (from, to) = (Side::array(array, x, y), Side::memory(to, pitch, height));
        rows(Rows { from, to, width, height, kind }, None)
    }

    fn cudaMemcpy2DArrayToArray(
        to: u64, to_x: usize, to_y: usize, from: u64, x: usize, y: usize, width: usize, height: usize, kind: u32,
    ) {
        let (from, to) = (Side::array(from, x, y), Side::array(to, to_x, to_y));
        rows(Rows { from, to, width, height, kind }, None)
    }

    fn cudaMemcpyToArray(array: u64, x: usize, y: usize, from: Pointer, bytes: usize, kind: u32) {
        let (from, to) = (Side::memory(from, bytes, 1), Side::array(array, x, y));
        rows(Rows { from, to, width: bytes, height: 1, kind }, None)
    }

    fn cudaMemcpyFromArray(to: Pointer, array: u64, x: usize, y: usize, bytes: usize, kind: u32) {
        let (from, to) = (Side::array(array, x, y), Side::memory(to, bytes, 1));
        rows(Rows { from, to, width: bytes, height: 1, kind }, None)
    }

    fn cudaMemcpy3D(what: In<Params>) {
        params(what, None)
    }

    fn cudaMemcpy3D_ptds(what: In<Params>) {
        params(what, None)
    }
}

rt_stream! {
    fn cudaMemcpyAsync / cudaMemcpyAsync_ptsz(to: Pointer, from: Pointer, bytes: usize, kind: u32,; stream) {
        linear(to, from, bytes, kind, Some(stream))
    }

    fn cudaMemcpy2DAsync / cudaMemcpy2DAsync_ptsz(
        to: Pointer, to_pitch: usize, from: Pointer, from_pitch: usize, width: usize, height: usize, kind: u32,; stream
    ) {
        let (from, to) = (Side::memory(from, from_pitch, height), Side::memory(to, to_pitch, height));
        rows(Rows { from, to, width, height, kind }, Some(stream))
    }

    fn cudaMemcpy2DToArrayAsync / cudaMemcpy2DToArrayAsync_ptsz(
        array: u64, x: usize, y: usize, from: Pointer, pitch: usize, width: usize, height: usize, kind: u32,; stream
    ) {
        let (from, to) = (Side::memory(from, pitch, height), Side::array(array, x, y));
        rows(Rows { from, to, width, height, kind }, Some(stream))
    }

    fn cudaMemcpy2DFromArrayAsync / cudaMemcpy2DFromArrayAsync_ptsz(
        to: Pointer, pitch: usize, array: u64, x: usize, y: usize, width: usize, height: usize, kind: u32,; stream
    ) {
        let (from, to) = (Side::array(array, x, y), Side::memory(to, pitch, height));
        rows(Rows { from, to, width, height, kind }, Some(stream))
    }

    fn cudaMemcpy3DAsync / cudaMemcpy3DAsync_ptsz(what: In<Params>,; stream) {
        params(what, Some(stream))
    }
}
