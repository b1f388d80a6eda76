//! Images in arrays of the GPU, and objects that read or write them.

use crate::driver::{ArrayDescriptor, Copy3d, Handle, ResourceDescriptor, Side, TextureDescriptor};
use crate::error::Error;
use crate::gpu::{Gpu, Owned};
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

/// `CU_MEMORYTYPE_HOST`, `.._ARRAY`
const HOST: u32 = 1;
const ARRAY: u32 = 3;
/// `CUDA_ARRAY3D_LAYERED`, `.._SURFACE_LDST`, `.._CUBEMAP`, `.._TEXTURE_GATHER`
const LAYERED: u32 = 1;
const SURFACE: u32 = 2;
const CUBEMAP: u32 = 4;
const GATHER: u32 = 8;
/// `CU_RESOURCE_TYPE_ARRAY`, `.._MIPMAPPED_ARRAY`, `.._LINEAR`
const OF_ARRAY: u32 = 0;
const OF_MIPMAP: u32 = 1;
const OF_MEMORY: u32 = 2;

/// The shape of an image, and what its texels are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// `CUarray_format`
    pub format: u32,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// Bytes of a texel.
    pub texel: usize,
    /// Dimensions: 1 to 3.
    pub dims: u32,
    /// Texels in each dimension; 1 for those that it lacks.
    pub size: [u32; 3],
    /// Layers; of cubes, cubes.
    pub layers: Option<u32>,
    /// Each layer has six faces.
    pub cube: bool,
    /// Levels of a mipmap.
    pub levels: Option<u32>,
    /// Surfaces write it.
    pub surface: bool,
}

impl Shape {
    /// Layers as the driver counts them: faces of cubes.
    fn slices(&self) -> u32 {
        self.layers.unwrap_or(1) * if self.cube { 6 } else { 1 }
    }

    /// Sizes of a level.
    fn level(&self, level: u32) -> [usize; 3] {
        self.size.map(|size| (size >> level).max(1) as usize)
    }
}

/// Texels of a GPU, freed when it is dropped.
pub struct Array<'g> {
    gpu: &'g Gpu,
    owned: Owned<'g>,
    shape: Shape,
}

impl Gpu {
    /// An array with these texels: row after row, layer after layer, level after level.
    pub fn array(&self, shape: &Shape, texels: &[u8]) -> Result<Array<'_>, Error> {
        let slices = shape.slices() as usize;
        let layered = shape.layers.is_some() || shape.cube;
        let zero_if = |absent: bool, n: usize| if absent { 0 } else { n };
        let mut flags = if shape.surface { SURFACE } else { 0 };
        flags |= if shape.cube { CUBEMAP } else { 0 };
        flags |= if shape.layers.is_some() { LAYERED } else { 0 };
        // Gathers are of two dimensions.
        flags |= if shape.dims == 2 && !shape.surface && shape.levels.is_none() { GATHER } else { 0 };
        let descriptor = ArrayDescriptor {
            width: shape.size[0] as usize,
            height: zero_if(shape.dims < 2, shape.size[1] as usize),
            depth: if layered { slices } else { zero_if(shape.dims < 3, shape.size[2] as usize) },
            format: shape.format,
            channels: shape.channels,
            flags,
        };
        let mut handle = null_mut();
        let functions = &self.functions;
        // SAFETY: the descriptor is valid for reads, the out-parameter for writes; the array has one owner.
        let owned = unsafe {
            match shape.levels {
                None => {
                    let made = (functions.array_create)(&mut handle, &descriptor);
                    self.check("cuArray3DCreate", made)?;
                    Owned::new(self, handle, functions.array_destroy)
                }
                Some(levels) => {
                    let made = (functions.mipmap_create)(&mut handle, &descriptor, levels);
                    self.check("cuMipmappedArrayCreate", made)?;
                    Owned::new(self, handle, functions.mipmap_destroy)
                }
            }
        };
        let array = Array { gpu: self, owned, shape: shape.clone() };
        let mut rest = texels;
        for level in 0..shape.levels.unwrap_or(1) {
            let bytes = array.bytes(level);
            let Some((own, more)) = rest.split_at_checked(bytes) else {
                let message = format!("{} bytes are not the texels of the array", texels.len());
                return Err(Error::own("cuMemcpy3D", message));
            };
            array.copy(level, own.as_ptr().cast_mut(), true)?;
            rest = more;
        }
        Ok(array)
    }
}

impl Array<'_> {
    /// Rows, columns in bytes, and layers or depth of a level.
    fn extent(&self, level: u32) -> [usize; 3] {
        let [width, height, depth] = self.shape.level(level);
        let layered = self.shape.layers.is_some() || self.shape.cube;
        [width * self.shape.texel, height, if layered { self.shape.slices() as usize } else { depth }]
    }

    fn bytes(&self, level: u32) -> usize {
        self.extent(level).iter().product()
    }

    /// What the texels are now.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        for level in 0..self.shape.levels.unwrap_or(1) {
            let mut texels = vec![0; self.bytes(level)];
            self.copy(level, texels.as_mut_ptr(), false)?;
            all.extend(texels);
        }
        Ok(all)
    }

    /// Copies a level; `host` has as many bytes as it, to be written if the copy is not to the array.
    fn copy(&self, level: u32, host: *mut u8, to_array: bool) -> Result<(), Error> {
        let mut array: Handle = self.owned.handle;
        if self.shape.levels.is_some() {
            // SAFETY: the mipmap exists; the out-parameter is valid for writes.
            let found = unsafe { (self.gpu.functions.mipmap_level)(&mut array, self.owned.handle, level) };
            self.gpu.check("cuMipmappedArrayGetLevel", found)?;
        }
        let [width_bytes, height, depth] = self.extent(level);
        let nothing = |kind: u32| Side {
            x_bytes: 0,
            y: 0,
            z: 0,
            level: 0,
            kind,
            host: null(),
            device: 0,
            array: null_mut(),
            reserved: null(),
            pitch: 0,
            height: 0,
        };
        let of_host = Side { host: host.cast(), pitch: width_bytes, height, ..nothing(HOST) };
        let of_array = Side { array, ..nothing(ARRAY) };
        let (from, to) = if to_array { (of_host, of_array) } else { (of_array, of_host) };
        let copy = Copy3d { from, to, width_bytes, height, depth };
        // SAFETY: the host's side has the bytes of the level, as callers say, and the array has the level.
        self.gpu.check("cuMemcpy3D", unsafe { (self.gpu.functions.copy_3d)(&copy) })
    }
}

/// How a texture is read, in the numbers of the driver's enumerations.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reading {
    /// `CUaddress_mode` of each dimension.
    pub address: [u32; 3],
    /// `CUfilter_mode` of texels, and of levels.
    pub filter: u32,
    /// See `filter`.
    pub mip_filter: u32,
    /// `CU_TRSF_..`
    pub flags: u32,
    /// Added to each level that is asked for.
    pub bias: f32,
    /// The least and the greatest level.
    pub levels: [f32; 2],
    /// What is read past the edges.
    pub border: [f32; 4],
}

/// Texels in a row of ordinary memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linear {
    /// The address of the first.
    pub address: u64,
    /// `CUarray_format`
    pub format: u32,
    /// Channels of a texel.
    pub channels: u32,
    /// Bytes of all.
    pub bytes: u64,
}

/// A texture or surface object, destroyed when it is dropped.
pub struct Texture<'g> {
    handle: u64,
    destroy: unsafe extern "C" fn(u64) -> c_int,
    _gpu: PhantomData<&'g Gpu>,
}

impl<'g> Texture<'g> {
    /// What a kernel takes for it.
    pub fn handle(&self) -> u64 {
        self.handle
    }

    /// A texture of an array.
    pub fn of_array(gpu: &'g Gpu, array: &'g Array<'_>, reading: &Reading) -> Result<Texture<'g>, Error> {
        Texture::make(gpu, resource(array), Some(reading))
    }

    /// A texture of ordinary memory, which has to outlive it.
    pub fn of_memory(gpu: &'g Gpu, memory: Linear, reading: &Reading) -> Result<Texture<'g>, Error> {
        let mut words = [0; 16];
        words[0] = memory.address;
        words[1] = u64::from(memory.format) | u64::from(memory.channels) << 32;
        words[2] = memory.bytes;
        let resource = ResourceDescriptor { kind: OF_MEMORY, padding: 0, words, flags: 0, more: 0 };
        Texture::make(gpu, resource, Some(reading))
    }

    /// A surface of an array.
    pub fn surface(gpu: &'g Gpu, array: &'g Array<'_>) -> Result<Texture<'g>, Error> {
        Texture::make(gpu, resource(array), None)
    }

    fn make(
        gpu: &'g Gpu,
        resource: ResourceDescriptor,
        reading: Option<&Reading>,
    ) -> Result<Texture<'g>, Error> {
        let (functions, mut handle) = (&gpu.functions, 0);
        // SAFETY: descriptors are valid for reads, and name what exists; the out-parameter is valid for writes.
        unsafe {
            let destroy = match reading {
                Some(reading) => {
                    let texture = TextureDescriptor {
                        address: reading.address,
                        filter: reading.filter,
                        flags: reading.flags,
                        anisotropy: 0,
                        mip_filter: reading.mip_filter,
                        bias: reading.bias,
                        min: reading.levels[0],
                        max: reading.levels[1],
                        border: reading.border,
                        reserved: [0; 12],
                    };
                    let made = (functions.texture_create)(&mut handle, &resource, &texture, null());
                    gpu.check("cuTexObjectCreate", made)?;
                    functions.texture_destroy
                }
                None => {
                    let made = (functions.surface_create)(&mut handle, &resource);
                    gpu.check("cuSurfObjectCreate", made)?;
                    functions.surface_destroy
                }
            };
            Ok(Texture { handle, destroy, _gpu: PhantomData })
        }
    }
}

fn resource(array: &Array<'_>) -> ResourceDescriptor {
    let mut words = [0; 16];
    words[0] = array.owned.handle as u64;
    let kind = if array.shape.levels.is_some() { OF_MIPMAP } else { OF_ARRAY };
    ResourceDescriptor { kind, padding: 0, words, flags: 0, more: 0 }
}

impl Drop for Texture<'_> {
    fn drop(&mut self) {
        // SAFETY: `make` created it, and it is destroyed once.
        unsafe { (self.destroy)(self.handle) };
    }
}
