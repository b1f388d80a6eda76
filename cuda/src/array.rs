//! Arrays: memory in the layout of images, for textures and surfaces.

use crate::error::Error;
use crate::ffi::Plain;
use warpsmith::interp::cuda::FORMATS;
use warpsmith::interp::texture::{Format, Image};

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// Texels in a row.
    pub width: usize,
    /// Rows; 0 for one dimension.
    pub height: usize,
    /// Slices or layers; 0 for one or two dimensions.
    pub depth: usize,
    /// `CUarray_format`
    pub format: u32,
    /// Channels of a texel.
    pub channels: u32,
    /// `CUDA_ARRAY3D_..`
    pub flags: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Descriptor {}

/// Layers, surfaces, cubes, gathers, depths.
const LAYERED: u32 = 1;
const CUBE: u32 = 4;
const FLAGS: u32 = 0x1f;

/// The format of texels.
pub fn format(number: u32, channels: u32) -> Result<Format, Error> {
    let found = FORMATS.iter().find(|(known, _)| *known == number);
    let (_, ty) = found.ok_or_else(|| Error::unsupported(format!("texels of format {number:#x}")))?;
    if !matches!(channels, 1 | 2 | 4) {
        return Err(Error::value(format!("texels of {channels} channels")));
    }
    Ok(Format { ty: *ty, channels })
}

impl Descriptor {
    /// The image that it describes, with so many levels.
    pub fn image(&self, levels: Option<u32>) -> Result<Image, Error> {
        if self.flags & !FLAGS != 0 {
            return Err(Error::unsupported(format!("flags {:#x} of an array", self.flags)));
        }
        let number = |n: usize| u32::try_from(n).map_err(|_| Error::value(format!("a size of {n}")));
        let (width, height, depth) = (number(self.width)?, number(self.height)?, number(self.depth)?);
        let format = format(self.format, self.channels)?;
        let layers = (self.flags & (LAYERED | CUBE) != 0).then_some(depth);
        let size = match (height, layers) {
            (0, _) => vec![width],
            (_, None) if depth > 0 => vec![width, height, depth],
            _ => vec![width, height],
        };
        let made = Image::with(format, &size, layers, self.flags & CUBE != 0, levels, None);
        made.map_err(|error| Error::value(error.to_string()))
    }
}

/// An array.
#[derive(Debug)]
pub struct Array {
    /// How it was made.
    pub descriptor: Descriptor,
    /// Its image, with one level.
    pub image: Image,
    /// Where it is.
    pub address: u64,
    /// The mipmapped array that it is a level of, whose memory it shares.
    pub level_of: Option<u64>,
}

impl Array {
    /// Bytes of a row.
    pub fn pitch(&self) -> usize {
        self.image.format().bytes() as usize * self.descriptor.width
    }

    /// Rows of a slice.
    pub fn rows(&self) -> usize {
        self.descriptor.height.max(1)
    }

    /// Slices or layers.
    pub fn slices(&self) -> usize {
        self.descriptor.depth.max(1)
    }
}

/// An array with levels.
#[derive(Debug)]
pub struct Mipmap {
    /// How it was made.
    pub descriptor: Descriptor,
    /// Its image, with all levels.
    pub image: Image,
    /// Where it is.
    pub address: u64,
    /// How many levels.
    pub levels: u32,
}

impl Mipmap {
    /// A level as an array of its own.
    pub fn level(&self, handle: u64, level: u32) -> Result<Array, Error> {
        if level >= self.levels {
            return Err(Error::value(format!("level {level} of {}", self.levels)));
        }
        let at = |level: u32| {
            let half = |n: usize| if n == 0 { 0 } else { (n >> level).max(1) };
            let layered = self.descriptor.flags & (LAYERED | CUBE) != 0;
            let depth = if layered { self.descriptor.depth } else { half(self.descriptor.depth) };
            Descriptor {
                width: half(self.descriptor.width),
                height: half(self.descriptor.height),
                depth,
                ..self.descriptor
            }
        };
        // Level lies behind level.
        let mut address = self.address;
        for before in 0..level {
            address += u64::from(at(before).image(None)?.bytes());
        }
        let descriptor = at(level);
        Ok(Array { descriptor, image: descriptor.image(None)?, address, level_of: Some(handle) })
    }
}
