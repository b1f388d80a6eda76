//! Arrays, and the formats of their texels.

use crate::context;
use crate::driver::cu;
use crate::error::{Code, Error, rt};
use crate::ffi::{In, Out, Plain};
use crate::memory::Extent;

/// `cudaChannelFormatDesc`
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channels {
    bits: [i32; 4],
    kind: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Channels {}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
struct Descriptor {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

/// What the driver calls the types of channels: bits, kind (signed, unsigned, float), `CUarray_format`.
const FORMATS: [(i32, u32, u32); 8] =
    [(8, 1, 1), (16, 1, 2), (32, 1, 3), (8, 0, 8), (16, 0, 9), (32, 0, 10), (16, 2, 16), (32, 2, 32)];

impl Channels {
    /// So many bits of four channels, of a kind.
    pub fn new(bits: [i32; 4], kind: u32) -> Channels {
        Channels { bits, kind }
    }

    /// The driver's format, and how many channels.
    pub fn format(self) -> Result<(u32, u32), Error> {
        let count = self.bits.iter().take_while(|bits| **bits != 0).count() as u32;
        let bad = || Error::new(Code::INVALID_CHANNEL_DESCRIPTOR, format!("{self:?}"));
        let found = FORMATS.iter().find(|(bits, kind, _)| *bits == self.bits[0] && *kind == self.kind);
        let same = (0..4).all(|i| self.bits[i] == if (i as u32) < count { self.bits[0] } else { 0 });
        match found {
            Some((.., format)) if same && count != 3 => Ok((*format, count)),
            Some(_) | None => Err(bad()),
        }
    }

    /// As the driver describes an array.
    pub fn of(format: u32, channels: u32) -> Result<Channels, Error> {
        let found = FORMATS.iter().find(|(.., known)| *known == format);
        let (bits, kind, _) = found.ok_or_else(|| Error::value(format!("a format {format}")))?;
        let mut made = Channels { bits: [0; 4], kind: *kind };
        made.bits.iter_mut().take(channels as usize).for_each(|own| *own = *bits);
        Ok(made)
    }
}

fn descriptor(array: u64) -> Result<Descriptor, Error> {
    let mut found = Descriptor::default();
    cu!(cuArray3DGetDescriptor_v2(&mut found, array))?;
    Ok(found)
}

/// Bytes of a texel of an array.
pub fn element(array: u64) -> Result<usize, Error> {
    let Descriptor { format, channels, .. } = descriptor(array)?;
    let bits = Channels::of(format, channels)?.bits[0];
    Ok(bits as usize / 8 * channels as usize)
}

fn describe(format: In<Channels>, extent: Extent, flags: u32) -> Result<Descriptor, Error> {
    context::ready()?;
    let (format, channels) = format.get()?.format()?;
    Ok(Descriptor { width: extent.x, height: extent.y, depth: extent.z, format, channels, flags })
}

fn create(answer: Out<u64>, descriptor: Descriptor) -> Result<(), Error> {
    answer.check()?;
    let mut found = 0u64;
    cu!(cuArray3DCreate_v2(&mut found, &descriptor))?;
    answer.set(found)
}

/// `cudaCreateChannelDesc`
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> Channels {
    Channels { bits: [x, y, z, w], kind }
}

rt! {
    fn cudaMallocArray(array: Out<u64>, format: In<Channels>, width: usize, height: usize, flags: u32) {
        create(array, describe(format, Extent { x: width, y: height, z: 0 }, flags)?)
    }

    fn cudaMalloc3DArray(array: Out<u64>, format: In<Channels>, extent: Extent, flags: u32) {
        create(array, describe(format, extent, flags)?)
    }

    fn cudaMallocMipmappedArray(mipmap: Out<u64>, format: In<Channels>, extent: Extent, levels: u32, flags: u32) {
        let descriptor = describe(format, extent, flags)?;
        mipmap.check()?;
        let mut found = 0u64;
        cu!(cuMipmappedArrayCreate(&mut found, &descriptor, levels))?;
        mipmap.set(found)
    }

    fn cudaFreeArray(array: u64) {
        context::ready()?;
        if array == 0 { Ok(()) } else { cu!(cuArrayDestroy(array)) }
    }

    fn cudaFreeMipmappedArray(mipmap: u64) {
        context::ready()?;
        if mipmap == 0 { Ok(()) } else { cu!(cuMipmappedArrayDestroy(mipmap)) }
    }

    fn cudaGetChannelDesc(format: Out<Channels>, array: u64) {
        context::ready()?;
        let found = descriptor(array)?;
        format.set(Channels::of(found.format, found.channels)?)
    }

    fn cudaArrayGetInfo(format: Out<Channels>, extent: Out<Extent>, flags: Out<u32>, array: u64) {
        context::ready()?;
        let found = descriptor(array)?;
        format.offer(Channels::of(found.format, found.channels)?);
        extent.offer(Extent { x: found.width, y: found.height, z: found.depth });
        flags.offer(found.flags);
        Ok(())
    }
}
