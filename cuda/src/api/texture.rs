//! Texture and surface objects.

use crate::array::format;
use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Plain, Pointer, api};
use crate::state::{State, driver};
use warpsmith::interp::cuda::{ADDRESS_MODES, FILTERS, NORMALIZED_COORDINATES, READ_AS_INTEGER, SRGB};
use warpsmith::interp::texture::{AddressMode, Image, LevelRange, ReadMode, Sampler};

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    kind: u32,
    padding: u32,
    words: [u64; 16],
    flags: u32,
    more: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Resource {}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Texture {
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
// SAFETY: numbers.
unsafe impl Plain for Texture {}

const _: () = assert!(size_of::<Resource>() == 144 && size_of::<Texture>() == 104);

/// What a texture or surface is made of: where the texels are, and how they lie.
fn texels(resource: &Resource, state: &State) -> Result<(u64, Image), Error> {
    let [first, second, third, fourth, ..] = resource.words;
    let large = |n: u64| u32::try_from(n).map_err(|_| Error::value(format!("a size of {n}")));
    match resource.kind {
        0 => {
            let array = state.arrays.get(first)?;
            Ok((array.address, array.image.clone()))
        }
        1 => {
            let mipmap = state.mipmaps.get(first)?;
            Ok((mipmap.address, mipmap.image.clone()))
        }
        // The address, format and channels in one word, then bytes.
        2 => {
            let format = format(second as u32, (second >> 32) as u32)?;
            let texels = large(third / u64::from(format.bytes()))?;
            let image =
                Image::new(format, &[texels], None).map_err(|error| Error::value(error.to_string()))?;
            Ok((first, image.in_linear_memory()))
        }
        // As above, then width, height, pitch.
        3 => {
            let format = format(second as u32, (second >> 32) as u32)?;
            let pitch = resource.words[4];
            if pitch != third * u64::from(format.bytes()) {
                return Err(Error::unsupported(format!(
                    "a texture of rows of {} bytes with a pitch of {pitch}",
                    third * u64::from(format.bytes())
                )));
            }
            let image = Image::new(format, &[large(third)?, large(fourth)?], None);
            Ok((first, image.map_err(|error| Error::value(error.to_string()))?))
        }
        kind => Err(Error::value(format!("{kind} is no kind of resource"))),
    }
}

impl Texture {
    fn sampler(&self, image: &Image) -> Result<Sampler, Error> {
        let mode = |list: &[AddressMode], number: u32| list.get(number as usize).copied();
        let filter = |number: u32| {
            let found = FILTERS.get(number as usize).copied();
            found.ok_or_else(|| Error::value(format!("{number} is no filter")))
        };
        let mut address = [AddressMode::Clamp; 3];
        for (own, number) in address.iter_mut().zip(self.address) {
            *own = mode(&ADDRESS_MODES, number)
                .ok_or_else(|| Error::value(format!("{number} is no address mode")))?;
        }
        let ty = image.format().ty;
        // Integers of 8 and 16 bits are read as fractions unless the client says otherwise.
        let normal = self.flags & READ_AS_INTEGER == 0 && ty.is_integer() && ty.can_be_normalized();
        Ok(Sampler {
            normalized: self.flags & NORMALIZED_COORDINATES != 0,
            filter: filter(self.filter)?,
            mip_filter: filter(self.mip_filter)?,
            address,
            read: if normal { ReadMode::NormalizedFloat } else { ReadMode::Element },
            border: self.border.map(f64::from),
            srgb: self.flags & SRGB != 0,
            lod: LevelRange { min: self.min, max: self.max, bias: self.bias },
            ..Sampler::default()
        })
    }
}

/// A texture or surface that a client has.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    resource: Resource,
    texture: Option<Texture>,
}

fn buffer(state: &State, address: u64, bytes: u32) -> Result<warpsmith::Buffer, Error> {
    let (buffer, _) = state
        .device
        .containing(address)
        .ok_or_else(|| Error::value(format!("{address:#x} is not in memory of a device")))?;
    let part = buffer.slice(address - buffer.address(), bytes.into());
    part.ok_or_else(|| Error::value(format!("{bytes} bytes of texels in an allocation of {}", buffer.len())))
}

fn known(handle: u64) -> Result<Object, Error> {
    let found = driver()?.lock().objects.get(&handle).copied();
    found.ok_or_else(|| Error::value(format!("{handle:#x} is not a texture or surface")))
}

fn destroy(handle: u64, texture: bool) -> Result<(), Error> {
    if handle == 0 {
        return Ok(());
    }
    known(handle)?.of(texture)?;
    driver()?.lock().objects.remove(&handle);
    Ok(())
}

impl Object {
    fn of(self, texture: bool) -> Result<Object, Error> {
        if self.texture.is_some() == texture {
            Ok(self)
        } else {
            Err(Error::new(
                Code::INVALID_VALUE,
                "a texture where a surface is expected, or the other way round",
            ))
        }
    }
}

api! {
    fn cuTexObjectCreate(object: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: Pointer) {
        current()?;
        object.check()?;
        let (resource, texture) = (resource.get()?, texture.get()?);
        if !view.is_null() {
            return Err(Error::unsupported("views of resources"));
        }
        let mut state = driver()?.lock();
        let (address, image) = texels(&resource, &state)?;
        let sampler = texture.sampler(&image)?;
        let place = buffer(&state, address, image.bytes())?;
        let handle = state.device.create_texture(place, &image, &sampler);
        let handle = handle.map_err(|fault| Error::value(fault.message))?.value();
        state.objects.insert(handle, Object { resource, texture: Some(texture) });
        object.set(handle)
    }

    fn cuTexObjectDestroy(object: u64) {
        destroy(object, true)
    }

    fn cuTexObjectGetResourceDesc(resource: Out<Resource>, object: u64) {
        resource.set(known(object)?.of(true)?.resource)
    }

    fn cuTexObjectGetTextureDesc(texture: Out<Texture>, object: u64) {
        let found = known(object)?.of(true)?.texture;
        found.map_or(Ok(()), |found| texture.set(found))
    }

    fn cuSurfObjectCreate(object: Out<u64>, resource: In<Resource>) {
        current()?;
        object.check()?;
        let resource = resource.get()?;
        if resource.kind != 0 {
            return Err(Error::value("a surface is of an array"));
        }
        let mut state = driver()?.lock();
        let (address, image) = texels(&resource, &state)?;
        let place = buffer(&state, address, image.bytes())?;
        let handle = state.device.create_surface(place, &image);
        let handle = handle.map_err(|fault| Error::value(fault.message))?.value();
        state.objects.insert(handle, Object { resource, texture: None });
        object.set(handle)
    }

    fn cuSurfObjectDestroy(object: u64) {
        destroy(object, false)
    }

    fn cuSurfObjectGetResourceDesc(resource: Out<Resource>, object: u64) {
        resource.set(known(object)?.of(false)?.resource)
    }
}
