//! Textures and surfaces.

use crate::array::Channels;
use crate::context;
use crate::driver::cu;
use crate::error::{Error, rt};
use crate::ffi::{In, Out, Plain, Pointer};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `cudaResourceDesc`, and `CUDA_RESOURCE_DESC`, whose memory is described in other words.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    kind: u32,
    words: [u64; 16],
    flags: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Resource {}

/// `cudaTextureDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    address: [u32; 3],
    filter: u32,
    read: u32,
    srgb: i32,
    border: [f32; 4],
    normalized: i32,
    anisotropy: u32,
    mip_filter: u32,
    bias: f32,
    min: f32,
    max: f32,
    no_trilinear: i32,
    seamless: i32,
}
// SAFETY: numbers.
unsafe impl Plain for Texture {}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Driver {
    address: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    mip_filter: u32,
    bias: f32,
    min: f32,
    max: f32,
    border: [f32; 4],
    reserved: [i32; 12],
}

const _: () =
    assert!(size_of::<Resource>() == 144 && size_of::<Texture>() == 72 && size_of::<Driver>() == 104);

/// `cudaResourceType`: memory, in one row and in several.
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// What textures and surfaces were made of, by their handles.
type Made = FxHashMap<u64, (Resource, Option<Texture>)>;

/// What they were made of, as the program has said it.
static MADE: Mutex<Option<Made>> = Mutex::new(None);

fn made() -> MutexGuard<'static, Option<Made>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Resource {
    fn driver(mut self) -> Result<Resource, Error> {
        if [LINEAR, PITCHED].contains(&self.kind) {
            // An address, five numbers of 32 bits, then bytes, or width, height and pitch.
            let half = |word: u64, high: bool| (if high { word >> 32 } else { word }) as i32;
            let words = self.words;
            let bits = [(1, false), (1, true), (2, false), (2, true)].map(|(i, high)| half(words[i], high));
            let (format, channels) = Channels::new(bits, words[3] as u32).format()?;
            self.words = [0; 16];
            self.words[0] = words[0];
            self.words[1] = u64::from(format) | u64::from(channels) << 32;
            self.words[2..5].copy_from_slice(&words[4..7]);
        }
        Ok(self)
    }
}

impl Texture {
    fn driver(&self) -> Driver {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        let flags = flag(self.read == 0, 1)
            | flag(self.normalized != 0, 2)
            | flag(self.srgb != 0, 16)
            | flag(self.no_trilinear != 0, 32)
            | flag(self.seamless != 0, 64);
        Driver {
            address: self.address,
            filter: self.filter,
            flags,
            anisotropy: self.anisotropy,
            mip_filter: self.mip_filter,
            bias: self.bias,
            min: self.min,
            max: self.max,
            border: self.border,
            reserved: [0; 12],
        }
    }
}

fn known(object: u64) -> Result<(Resource, Option<Texture>), Error> {
    let found = made().as_ref().and_then(|made| made.get(&object).copied());
    found.ok_or_else(|| Error::value(format!("{object:#x} is not a texture or surface")))
}

rt! {
    fn cudaCreateTextureObject(object: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: Pointer) {
        context::ready()?;
        object.check()?;
        let (resource, texture) = (resource.get()?, texture.get()?);
        let mut found = 0u64;
        cu!(cuTexObjectCreate(&mut found, &resource.driver()?, &texture.driver(), view))?;
        made().get_or_insert_default().insert(found, (resource, Some(texture)));
        object.set(found)
    }

    fn cudaDestroyTextureObject(object: u64) {
        context::ready()?;
        if object == 0 {
            return Ok(());
        }
        cu!(cuTexObjectDestroy(object))?;
        made().get_or_insert_default().remove(&object);
        Ok(())
    }

    fn cudaGetTextureObjectResourceDesc(resource: Out<Resource>, object: u64) {
        resource.set(known(object)?.0)
    }

    fn cudaGetTextureObjectTextureDesc(texture: Out<Texture>, object: u64) {
        let found = known(object)?.1.ok_or_else(|| Error::value("a surface, not a texture"))?;
        texture.set(found)
    }

    fn cudaCreateSurfaceObject(object: Out<u64>, resource: In<Resource>) {
        context::ready()?;
        object.check()?;
        let resource = resource.get()?;
        let mut found = 0u64;
        cu!(cuSurfObjectCreate(&mut found, &resource.driver()?))?;
        made().get_or_insert_default().insert(found, (resource, None));
        object.set(found)
    }

    fn cudaGetSurfaceObjectResourceDesc(resource: Out<Resource>, object: u64) {
        resource.set(known(object)?.0)
    }
}
