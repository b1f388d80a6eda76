//! Textures, samplers and surfaces (PTX ISA 9.0, 5.3, 9.7.10 and 9.7.11): what they are, and what a fetch gives.
//!
//! Nothing here knows of the engine. An [`Image`] says how texels lie in memory, a [`Sampler`] how they are read;
//! `fetch` and `gather` compute the results of 32 lanes from memory that is behind the trait `Texels`.
//!
//! - `format`: types of channels, and texels as numbers;
//! - `image`: sizes, layers, levels, and where a texel lies;
//! - `sampler`: filters, address modes and the rest;
//! - `axis`: from a coordinate to texels and weights, in one dimension;
//! - `object`: what handles denote;
//! - `level`: which level of a mipmap;
//! - `cube`: faces, and what is beyond their edges;
//! - `blend`: texels as numbers, and sums of them;
//! - `fetch`: all of it together;
//! - `plain`: the same for fetches of the common kind, in less time.
//!
//! The arithmetic is that of the CUDA programming guide's chapter on texture fetching, where hardware is not known to do otherwise;
//! `docs/textures.md` lists which is which.

mod axis;
mod blend;
mod cube;
pub(crate) mod fetch;
mod format;
mod image;
pub(crate) mod level;
pub(crate) mod object;
mod plain;
mod sampler;

pub(crate) use format::formatted;
pub use format::{ChannelType, Format};
pub use image::{Image, ImageError, ImageField, TEXEL_ALIGN};
pub use object::{Initial, ReferenceKind};
pub(crate) use plain::Plain;
pub use sampler::{AddressMode, Comparison, Filter, LevelRange, ReadMode, Sampler};

/// A value in each lane of a warp.
pub(crate) type Lanes<T> = [T; 32];

/// The memory of an image.
pub(crate) trait Texels {
    /// Reads texels of 1, 2, 4, 8 or 16 bytes as little-endian words. The offsets are multiples of their size.
    fn load(&self, bytes: u32, offsets: &Lanes<u32>, words: &mut [Lanes<u32>; 4]);
}

/// Receives the texels that a fetch reads.
pub(crate) trait Taps {
    /// Offsets of texels in some lanes.
    fn read(&mut self, lanes: u32, offsets: &Lanes<u32>);
}

/// No one.
impl Taps for () {
    #[inline(always)]
    fn read(&mut self, _: u32, _: &Lanes<u32>) {}
}
