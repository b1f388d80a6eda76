//! Memory: what is allocated in rows and slices, and the attributes of a pointer.

use crate::context;
use crate::driver::{Handle, cu};
use crate::error::{Error, rt, rt_stream};
use crate::ffi::{Out, Plain, Pointer};

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pitched {
    /// The first row.
    pub at: Pointer,
    /// From a row to the next.
    pub pitch: usize,
    /// Bytes of a row.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
}
// SAFETY: numbers and an address.
unsafe impl Plain for Pitched {}

/// `cudaExtent`, `cudaPos`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Along a row.
    pub x: usize,
    /// Rows.
    pub y: usize,
    /// Slices.
    pub z: usize,
}
// SAFETY: numbers.
unsafe impl Plain for Extent {}

/// `cudaPointerAttributes`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    kind: u32,
    device: i32,
    on_device: u64,
    on_host: u64,
    reserved: [u64; 8],
}
// SAFETY: numbers.
unsafe impl Plain for Attributes {}

/// `CU_POINTER_ATTRIBUTE_..`
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const MEMORY_TYPE: u32 = 2;
const IS_MANAGED: u32 = 8;
const DEVICE: u32 = 9;

/// `cudaHostAllocPortable`
const PORTABLE: u32 = 1;

/// Rows of pitched memory are multiples of this.
fn pitched(width: usize, rows: usize) -> Result<(u64, usize), Error> {
    let (mut address, mut pitch) = (0u64, 0usize);
    if width == 0 || rows == 0 {
        return Ok((0, 0));
    }
    cu!(cuMemAllocPitch_v2(&mut address, &mut pitch, width, rows, 4u32))?;
    Ok((address, pitch))
}

fn fill(memory: Pitched, value: i32, extent: Extent, stream: Option<usize>) -> Result<(), Error> {
    context::ready()?;
    for slice in 0..extent.z {
        let at = Pointer::at(memory.at.address() + (slice * memory.pitch * memory.height) as u64);
        match stream {
            None => cu!(cuMemsetD2D8_v2(at, memory.pitch, value, extent.x, extent.y))?,
            Some(stream) => cu!(cuMemsetD2D8Async(at, memory.pitch, value, extent.x, extent.y, stream))?,
        }
    }
    Ok(())
}

rt! {
    fn cudaMalloc(address: Out<u64>, bytes: usize) {
        context::ready()?;
        address.check()?;
        let mut found = 0u64;
        if bytes > 0 {
            cu!(cuMemAlloc_v2(&mut found, bytes))?;
        }
        address.set(found)
    }

    fn cudaMallocPitch(address: Out<u64>, pitch: Out<usize>, width: usize, height: usize) {
        context::ready()?;
        address.check()?;
        pitch.check()?;
        let (found, size) = pitched(width, height)?;
        address.set(found)?;
        pitch.set(size)
    }

    fn cudaHostGetFlags(answer: Out<u32>, pointer: Pointer) {
        context::ready()?;
        answer.check()?;
        let mut flags = 0u32;
        cu!(cuMemHostGetFlags(&mut flags, pointer))?;
        // Where addresses are unified all memory of the host is portable: nothing is said of it.
        answer.set(flags & !PORTABLE)
    }

    fn cudaMalloc3D(answer: Out<Pitched>, extent: Extent) {
        context::ready()?;
        answer.check()?;
        let rows = extent.y.checked_mul(extent.z).ok_or_else(|| Error::value("too many rows"))?;
        let (found, pitch) = pitched(extent.x, rows)?;
        answer.set(Pitched { at: Pointer::at(found), pitch, width: extent.x, height: extent.y })
    }

    fn cudaMemset3D(memory: Pitched, value: i32, extent: Extent) {
        fill(memory, value, extent, None)
    }

    fn cudaMemset_ptds(memory: Pointer, value: i32, bytes: usize) {
        context::ready()?;
        cu!(cuMemsetD8_v2(memory, value, bytes))
    }

    fn cudaMemset2D_ptds(memory: Pointer, pitch: usize, value: i32, width: usize, height: usize) {
        context::ready()?;
        cu!(cuMemsetD2D8_v2(memory, pitch, value, width, height))
    }

    fn cudaMemset3D_ptds(memory: Pitched, value: i32, extent: Extent) {
        fill(memory, value, extent, None)
    }

    fn cudaPointerGetAttributes(answer: Out<Attributes>, pointer: Pointer) {
        context::ready()?;
        answer.check()?;
        let none = Attributes { kind: 0, device: -2, on_device: 0, on_host: pointer.address(), reserved: [0; 8] };
        let (mut kind, mut managed, mut device) = (0u32, 0u32, 0i32);
        let (mut on_device, mut on_host) = (0u64, 0u64);
        if cu!(cuPointerGetAttribute(&mut kind, MEMORY_TYPE, pointer)).is_err() {
            return answer.set(none);
        }
        cu!(cuPointerGetAttribute(&mut managed, IS_MANAGED, pointer))?;
        cu!(cuPointerGetAttribute(&mut device, DEVICE, pointer))?;
        cu!(cuPointerGetAttribute(&mut on_device, DEVICE_POINTER, pointer))?;
        // Memory of a device has no place of the host.
        if kind == 1 || managed != 0 {
            cu!(cuPointerGetAttribute(&mut on_host, HOST_POINTER, pointer))?;
        }
        let kind = if managed != 0 { 3 } else { kind };
        answer.set(Attributes { kind, device, on_device, on_host, reserved: [0; 8] })
    }

    fn cudaIpcOpenMemHandle(address: Out<u64>, handle: Handle, flags: u32) {
        context::ready()?;
        static OPEN: crate::driver::Slot = crate::driver::Slot::new(c"cuIpcOpenMemHandle_v2");
        let mut found = 0u64;
        let place = std::ptr::from_mut(&mut found).expose_provenance();
        OPEN.call_with_handle(place, handle, flags as usize)?;
        address.set(found)
    }

    fn cudaIpcOpenEventHandle(event: Out<u64>, handle: Handle) {
        context::ready()?;
        static OPEN: crate::driver::Slot = crate::driver::Slot::new(c"cuIpcOpenEventHandle");
        let mut found = 0u64;
        let place = std::ptr::from_mut(&mut found).expose_provenance();
        OPEN.call_with_handle(place, handle, 0)?;
        event.set(found)
    }
}

rt_stream! {
    fn cudaMemset3DAsync / cudaMemset3DAsync_ptsz(memory: Pitched, value: i32, extent: Extent,; stream) {
        fill(memory, value, extent, Some(stream))
    }
}
