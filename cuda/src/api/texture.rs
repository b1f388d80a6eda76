//! Texture and surface objects.

use crate::array::{Descriptor, format};
use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Plain, api};
use crate::state::{State, driver};
use warpsmith::interp::Handle;
use warpsmith::interp::cuda::{
    ADDRESS_MODES, FILTERS, NORMALIZED_COORDINATES, READ_AS_INTEGER, SRGB, VIEW_FORMATS,
};
use warpsmith::interp::texture::{AddressMode, Filter, Format, Image, LevelRange, ReadMode, Sampler};

/// Bytes that the distance of the rows of a pitched texture is a multiple of: `TEXTURE_PITCH_ALIGNMENT`.
pub const PITCH_ALIGNMENT: u32 = 32;

/// `CUresourcetype`: what the texels of a texture or surface are in.
pub const ARRAY: u32 = 0;
/// An array with levels.
pub const MIPMAP: u32 = 1;
/// Memory in one row.
pub const LINEAR: u32 = 2;
/// Memory in rows.
const PITCHED: u32 = 3;

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
#[derive(Clone, Copy, Debug, Default)]
pub struct Texture {
    /// `CUaddress_mode` of each dimension.
    pub address: [u32; 3],
    /// `CUfilter_mode`
    pub filter: u32,
    /// `CU_TRSF_..`
    pub flags: u32,
    /// The most samples of an anisotropic fetch.
    pub anisotropy: u32,
    /// `CUfilter_mode` between levels.
    pub mip_filter: u32,
    /// What is added to the level.
    pub bias: f32,
    /// The finest level.
    pub min: f32,
    /// The coarsest level.
    pub max: f32,
    /// The colour of the border.
    pub border: [f32; 4],
    reserved: [i32; 12],
}
// SAFETY: numbers.
unsafe impl Plain for Texture {}

/// `CUDA_RESOURCE_VIEW_DESC`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    format: u32,
    size: [usize; 3],
    levels: [u32; 2],
    layers: [u32; 2],
    reserved: [u32; 16],
}
// SAFETY: numbers.
unsafe impl Plain for View {}

const _: () = assert!(size_of::<Resource>() == 144 && size_of::<Texture>() == 104);
const _: () = assert!(size_of::<View>() == 112);

impl Resource {
    fn new(kind: u32, words: &[u64]) -> Resource {
        let mut resource = Resource { kind, padding: 0, words: [0; 16], flags: 0, more: 0 };
        resource.words[..words.len()].copy_from_slice(words);
        resource
    }

    /// An array, or one with levels: `kind` says which.
    pub fn array(kind: u32, handle: u64) -> Resource {
        Resource::new(kind, &[handle])
    }

    /// Texels of a `CUarray_format` with so many channels, one after the other.
    pub fn linear(address: u64, format: (u32, u32), bytes: u64) -> Resource {
        Resource::new(LINEAR, &[address, packed(format), bytes])
    }

    /// Rows of such texels.
    pub fn pitched(address: u64, format: (u32, u32), [width, height]: [u64; 2], pitch: u64) -> Resource {
        Resource::new(PITCHED, &[address, packed(format), width, height, pitch])
    }

    /// Has memory that is not an array read as another format.
    pub fn set_format(&mut self, format: (u32, u32)) {
        if let LINEAR | PITCHED = self.kind {
            self.words[1] = packed(format);
        }
    }

    /// Its kind, and the array or address.
    pub fn place(&self) -> [u64; 2] {
        [self.kind.into(), self.words[0]]
    }
}

fn packed((format, channels): (u32, u32)) -> u64 {
    u64::from(format) | u64::from(channels) << 32
}

impl View {
    /// The part of an array that it shows.
    fn of(&self, descriptor: &Descriptor, image: &Image) -> Result<Image, Error> {
        let size = [descriptor.width, descriptor.height, descriptor.depth];
        if self.size != size {
            return Err(Error::value(format!("a view of {:?} texels of an array of {size:?}", self.size)));
        }
        let (first, last) = (self.layers[0], self.layers[1]);
        let view = image.view(self.format(image)?, self.levels[0]..=self.levels[1], first..=last);
        view.map_err(|error| Error::value(error.to_string()))
    }

    fn format(&self, image: &Image) -> Result<Format, Error> {
        let Some(index) = self.format.checked_sub(1) else { return Ok(image.format()) };
        let ty = VIEW_FORMATS.get(index as usize / 3).copied();
        let ty = ty.ok_or_else(|| Error::unsupported(format!("a view of format {:#x}", self.format)))?;
        Ok(Format { ty, channels: 1 << (index % 3) })
    }
}

/// What a texture or surface is made of: where the texels are, and how they lie.
fn texels(resource: &Resource, view: Option<&View>, state: &State) -> Result<(u64, Image), Error> {
    let [first, second, third, fourth, ..] = resource.words;
    let large = |n: u64| u32::try_from(n).map_err(|_| Error::value(format!("a size of {n}")));
    match resource.kind {
        ARRAY => {
            let array = state.arrays.get(first)?;
            let image =
                view.map_or_else(|| Ok(array.image.clone()), |v| v.of(&array.descriptor, &array.image));
            Ok((array.address, image?))
        }
        MIPMAP => {
            let mipmap = state.mipmaps.get(first)?;
            let image =
                view.map_or_else(|| Ok(mipmap.image.clone()), |v| v.of(&mipmap.descriptor, &mipmap.image));
            Ok((mipmap.address, image?))
        }
        LINEAR | PITCHED if view.is_some() => Err(Error::value("a view is of an array")),
        // The address, format and channels in one word, then bytes.
        LINEAR => {
            let format = format(second as u32, (second >> 32) as u32)?;
            let texels = large(third / u64::from(format.bytes()))?;
            let image =
                Image::new(format, &[texels], None).map_err(|error| Error::value(error.to_string()))?;
            Ok((first, image.in_linear_memory()))
        }
        // As above, then width, height, pitch.
        PITCHED => {
            let format = format(second as u32, (second >> 32) as u32)?;
            let pitch = large(resource.words[4])?;
            if !pitch.is_multiple_of(PITCH_ALIGNMENT) {
                return Err(Error::value(format!(
                    "a pitch of {pitch} bytes, no multiple of {PITCH_ALIGNMENT}"
                )));
            }
            let image = Image::new(format, &[large(third)?, large(fourth)?], None);
            let image = image.and_then(|image| image.pitched(pitch));
            Ok((first, image.map_err(|error| Error::value(error.to_string()))?))
        }
        kind => Err(Error::value(format!("{kind} is not a kind of resource"))),
    }
}

impl Texture {
    /// The description of a way of reading.
    pub fn reading(sampler: &Sampler) -> Texture {
        // The modes of C are all that a description can say; the one of PTX that it lacks is a clamp, too.
        let mode = |mode: AddressMode| ADDRESS_MODES.iter().position(|known| *known == mode).unwrap_or(1);
        let filter = |filter: Filter| FILTERS.iter().position(|known| *known == filter).unwrap_or(0);
        Texture {
            address: sampler.address.map(|own| mode(own) as u32),
            filter: filter(sampler.filter) as u32,
            flags: if sampler.normalized { NORMALIZED_COORDINATES } else { 0 },
            ..Texture::default()
        }
    }

    fn sampler(&self, image: &Image) -> Result<Sampler, Error> {
        let mode = |list: &[AddressMode], number: u32| list.get(number as usize).copied();
        let filter = |number: u32| {
            let found = FILTERS.get(number as usize).copied();
            found.ok_or_else(|| Error::value(format!("{number} is not a filter")))
        };
        let mut address = [AddressMode::Clamp; 3];
        for (own, number) in address.iter_mut().zip(self.address) {
            *own = mode(&ADDRESS_MODES, number)
                .ok_or_else(|| Error::value(format!("{number} is not an address mode")))?;
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
    /// The texels.
    pub resource: Resource,
    /// How they are read, of a texture.
    pub texture: Option<Texture>,
    /// The part of them that is shown.
    pub view: Option<View>,
}

fn buffer(state: &State, address: u64, bytes: u32) -> Result<warpsmith::Buffer, Error> {
    let (buffer, _) = state
        .device
        .containing(address)
        .ok_or_else(|| Error::value(format!("{address:#x} is not in memory of a device")))?;
    let part = buffer.slice(address - buffer.address(), bytes.into());
    part.ok_or_else(|| Error::value(format!("{bytes} bytes of texels in an allocation of {}", buffer.len())))
}

/// Makes an object on the device.
pub fn create(state: &mut State, object: &Object) -> Result<Handle, Error> {
    let (address, image) = texels(&object.resource, object.view.as_ref(), state)?;
    let place = buffer(state, address, image.bytes())?;
    let handle = match &object.texture {
        Some(texture) => state.device.create_texture(place, &image, &texture.sampler(&image)?),
        None => state.device.create_surface(place, &image),
    };
    handle.map_err(|fault| Error::value(fault.message))
}

/// Makes an object that the client has.
fn give(object: Object, answer: Out<u64>) -> Result<(), Error> {
    let mut state = driver()?.lock();
    let handle = create(&mut state, &object)?.value();
    state.objects.insert(handle, object);
    answer.set(handle)
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
    fn cuTexObjectCreate(object: Out<u64>, resource: In<Resource>, texture: In<Texture>, view: In<View>) {
        current()?;
        object.check()?;
        let (resource, texture) = (resource.get()?, Some(texture.get()?));
        give(Object { resource, texture, view: view.optional() }, object)
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

    fn cuTexObjectGetResourceViewDesc(view: Out<View>, object: u64) {
        let found = known(object)?.of(true)?.view;
        view.set(found.ok_or_else(|| Error::value("the texture was made without a view"))?)
    }

    fn cuSurfObjectCreate(object: Out<u64>, resource: In<Resource>) {
        current()?;
        object.check()?;
        let resource = resource.get()?;
        if resource.kind != ARRAY {
            return Err(Error::value("a surface is of an array"));
        }
        give(Object { resource, texture: None, view: None }, object)
    }

    fn cuSurfObjectDestroy(object: u64) {
        destroy(object, false)
    }

    fn cuSurfObjectGetResourceDesc(resource: Out<Resource>, object: u64) {
        resource.set(known(object)?.of(false)?.resource)
    }
}
