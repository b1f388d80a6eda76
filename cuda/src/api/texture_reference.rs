//! Texture and surface references, which CUDA 13 still has but calls deprecated: objects of textures do all that they do.

use crate::api::texture::{ARRAY, LINEAR, MIPMAP, PITCH_ALIGNMENT, Resource};
use crate::array::{Descriptor, format};
use crate::context::current;
use crate::error::Error;
use crate::ffi::{In, Out, Plain, Text, api};
use crate::reference::{Binding, Reference};
use crate::state::driver;
use std::sync::Arc;
use warpsmith::interp::cuda::{ADDRESS_MODES, FILTERS, NORMALIZED_COORDINATES, READ_AS_INTEGER, SRGB};
use warpsmith::interp::texture::{ReferenceKind, TEXEL_ALIGN};

/// `CUDA_ARRAY_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Rows {}

/// `CU_TRSA_OVERRIDE_FORMAT`, which every binding to an array must say: its format is that of the texels.
const OVERRIDE_FORMAT: u32 = 1;
/// `CU_TRSF_..`, levels that are not blended and cubes without seams among them.
const FLAGS: u32 = READ_AS_INTEGER | NORMALIZED_COORDINATES | SRGB | 0x20 | 0x40;
/// `CU_PARAM_TR_DEFAULT`
const DEFAULT_UNIT: i32 = -1;

fn get(handle: u64) -> Result<Arc<Reference>, Error> {
    driver()?.lock().references.get(handle)
}

fn binding(handle: u64) -> Result<Binding, Error> {
    Ok(get(handle)?.binding())
}

fn change(handle: u64, change: impl FnOnce(&mut Binding) -> Result<(), Error>) -> Result<(), Error> {
    get(handle)?.change(change)
}

fn of_module(answer: Out<u64>, module: u64, name: Text, kind: ReferenceKind) -> Result<(), Error> {
    current()?;
    answer.check()?;
    let name = name.get()?;
    let found = driver()?.lock().reference(module, &name, kind)?;
    answer.set(found)
}

/// An error if a number has no place in a table.
fn known<T>(table: &[T], number: u32, what: &str) -> Result<(), Error> {
    let found = table.get(number as usize).map(|_| ());
    found.ok_or_else(|| Error::value(format!("{number} is not a valid {what}")))
}

/// Has a reference read otherwise.
fn set(handle: u64, set: impl FnOnce(&mut Binding)) -> Result<(), Error> {
    change(handle, |binding| {
        set(binding);
        Ok(())
    })
}

fn bind_array(handle: u64, resource: Resource, descriptor: &Descriptor, flags: u32) -> Result<(), Error> {
    if flags != OVERRIDE_FORMAT {
        return Err(Error::value(format!("flags {flags}")));
    }
    set(handle, |binding| {
        binding.format = (descriptor.format, descriptor.channels);
        binding.resource = Some(resource);
    })
}

// What is behind what texels may start at is the offset that the client has to add.
fn bind_memory(offset: Out<usize>, handle: u64, address: u64, bytes: usize) -> Result<(), Error> {
    let beyond = address % TEXEL_ALIGN;
    if beyond != 0 && offset.is_null() {
        return Err(Error::value(format!(
            "texels at {address:#x}, no multiple of {TEXEL_ALIGN}, without an offset"
        )));
    }
    change(handle, |binding| {
        if address != 0 {
            driver()?.lock().span(address, bytes)?;
        }
        let bytes = bytes as u64 + beyond;
        let resource = Resource::linear(address - beyond, binding.format, bytes);
        binding.resource = (address != 0).then_some(resource);
        Ok(())
    })?;
    offset.offer(beyond as usize);
    Ok(())
}

fn bind_rows(handle: u64, rows: In<Rows>, address: u64, pitch: usize) -> Result<(), Error> {
    let Rows { width, height, format: number, channels } = rows.get()?;
    format(number, channels)?;
    if !pitch.is_multiple_of(PITCH_ALIGNMENT as usize) {
        return Err(Error::value(format!("a pitch of {pitch} bytes, no multiple of {PITCH_ALIGNMENT}")));
    }
    change(handle, |binding| {
        binding.format = (number, channels);
        let size = [width as u64, height as u64];
        binding.resource =
            (address != 0).then(|| Resource::pitched(address, binding.format, size, pitch as u64));
        Ok(())
    })
}

/// The handle that the resource of a reference holds, of the kind that is asked for.
fn bound(found: Option<[u64; 2]>, kind: u32, answer: Out<u64>) -> Result<(), Error> {
    match found {
        Some([own, handle]) if own == u64::from(kind) => answer.set(handle),
        _ => Err(Error::value("the reference is bound to nothing of the kind")),
    }
}

api! {
    fn cuModuleGetTexRef(answer: Out<u64>, module: u64, name: Text) {
        of_module(answer, module, name, ReferenceKind::Texture)
    }

    fn cuModuleGetSurfRef(answer: Out<u64>, module: u64, name: Text) {
        of_module(answer, module, name, ReferenceKind::Surface)
    }

    fn cuTexRefCreate(answer: Out<u64>) {
        current()?;
        answer.check()?;
        let made = driver()?.lock().references.add(Reference::unnamed());
        answer.set(made)
    }

    fn cuTexRefDestroy(handle: u64) {
        if get(handle)?.is_named() {
            return Err(Error::value("the reference of a module goes with it"));
        }
        driver()?.lock().references.remove(handle).map(|_| ())
    }

    fn cuParamSetTexRef(function: u64, unit: i32, handle: u64) {
        driver()?.lock().described(function)?;
        if unit != DEFAULT_UNIT {
            return Err(Error::value(format!("texture unit {unit}")));
        }
        // A launch reads all references of the module.
        get(handle).map(|_| ())
    }

    fn cuTexRefSetArray(handle: u64, array: u64, flags: u32) {
        let found = driver()?.lock().arrays.get(array)?;
        bind_array(handle, Resource::array(ARRAY, array), &found.descriptor, flags)
    }

    fn cuTexRefSetMipmappedArray(handle: u64, mipmap: u64, flags: u32) {
        let found = driver()?.lock().mipmaps.get(mipmap)?;
        bind_array(handle, Resource::array(MIPMAP, mipmap), &found.descriptor, flags)
    }

    fn cuTexRefSetAddress_v2(offset: Out<usize>, handle: u64, address: u64, bytes: usize) {
        bind_memory(offset, handle, address, bytes)
    }

    fn cuTexRefSetAddress2D_v2(handle: u64, rows: In<Rows>, address: u64, pitch: usize) {
        bind_rows(handle, rows, address, pitch)
    }

    fn cuTexRefSetAddress2D_v3(handle: u64, rows: In<Rows>, address: u64, pitch: usize) {
        bind_rows(handle, rows, address, pitch)
    }

    fn cuTexRefSetFormat(handle: u64, number: u32, channels: i32) {
        let channels = channels as u32;
        format(number, channels)?;
        change(handle, |binding| {
            binding.format = (number, channels);
            if let Some(resource) = &mut binding.resource {
                resource.set_format(binding.format);
            }
            Ok(())
        })
    }

    fn cuTexRefSetAddressMode(handle: u64, dim: i32, mode: u32) {
        known(&ADDRESS_MODES, mode, "address mode")?;
        change(handle, |binding| {
            let own = usize::try_from(dim).ok().and_then(|dim| binding.texture.address.get_mut(dim));
            *own.ok_or_else(|| Error::value(format!("dimension {dim}")))? = mode;
            Ok(())
        })
    }

    fn cuTexRefSetFilterMode(handle: u64, mode: u32) {
        known(&FILTERS, mode, "filter")?;
        set(handle, |binding| binding.texture.filter = mode)
    }

    fn cuTexRefSetMipmapFilterMode(handle: u64, mode: u32) {
        known(&FILTERS, mode, "filter")?;
        set(handle, |binding| binding.texture.mip_filter = mode)
    }

    fn cuTexRefSetMipmapLevelBias(handle: u64, bias: f32) {
        set(handle, |binding| binding.texture.bias = bias)
    }

    fn cuTexRefSetMipmapLevelClamp(handle: u64, min: f32, max: f32) {
        set(handle, |binding| (binding.texture.min, binding.texture.max) = (min, max))
    }

    fn cuTexRefSetMaxAnisotropy(handle: u64, most: u32) {
        set(handle, |binding| binding.texture.anisotropy = most)
    }

    fn cuTexRefSetBorderColor(handle: u64, color: In<[f32; 4]>) {
        let color = color.get()?;
        set(handle, |binding| binding.texture.border = color)
    }

    fn cuTexRefSetFlags(handle: u64, flags: u32) {
        if flags & !FLAGS != 0 {
            return Err(Error::value(format!("flags {flags:#x} of a texture reference")));
        }
        set(handle, |binding| binding.texture.flags = flags)
    }

    fn cuTexRefGetAddress_v2(address: Out<u64>, handle: u64) {
        bound(binding(handle)?.resource.map(|resource| resource.place()), LINEAR, address)
    }

    fn cuTexRefGetArray(array: Out<u64>, handle: u64) {
        bound(binding(handle)?.resource.map(|resource| resource.place()), ARRAY, array)
    }

    fn cuTexRefGetMipmappedArray(mipmap: Out<u64>, handle: u64) {
        bound(binding(handle)?.resource.map(|resource| resource.place()), MIPMAP, mipmap)
    }

    fn cuTexRefGetFormat(number: Out<u32>, channels: Out<u32>, handle: u64) {
        let (own, count) = binding(handle)?.format;
        number.offer(own);
        channels.offer(count);
        Ok(())
    }

    fn cuTexRefGetAddressMode(mode: Out<u32>, handle: u64, dim: i32) {
        let modes = binding(handle)?.texture.address;
        let own = usize::try_from(dim).ok().and_then(|dim| modes.get(dim));
        mode.set(*own.ok_or_else(|| Error::value(format!("dimension {dim}")))?)
    }

    fn cuTexRefGetFilterMode(mode: Out<u32>, handle: u64) {
        mode.set(binding(handle)?.texture.filter)
    }

    fn cuTexRefGetMipmapFilterMode(mode: Out<u32>, handle: u64) {
        mode.set(binding(handle)?.texture.mip_filter)
    }

    fn cuTexRefGetMipmapLevelBias(bias: Out<f32>, handle: u64) {
        bias.set(binding(handle)?.texture.bias)
    }

    fn cuTexRefGetMipmapLevelClamp(min: Out<f32>, max: Out<f32>, handle: u64) {
        let texture = binding(handle)?.texture;
        min.offer(texture.min);
        max.offer(texture.max);
        Ok(())
    }

    fn cuTexRefGetMaxAnisotropy(most: Out<u32>, handle: u64) {
        most.set(binding(handle)?.texture.anisotropy)
    }

    fn cuTexRefGetBorderColor(color: Out<[f32; 4]>, handle: u64) {
        color.set(binding(handle)?.texture.border)
    }

    fn cuTexRefGetFlags(flags: Out<u32>, handle: u64) {
        flags.set(binding(handle)?.texture.flags)
    }

    fn cuSurfRefSetArray(handle: u64, array: u64, flags: u32) {
        if flags != 0 {
            return Err(Error::value(format!("flags {flags}")));
        }
        driver()?.lock().arrays.get(array)?;
        set(handle, |binding| binding.resource = Some(Resource::array(ARRAY, array)))
    }

    fn cuSurfRefGetArray(array: Out<u64>, handle: u64) {
        bound(binding(handle)?.resource.map(|resource| resource.place()), ARRAY, array)
    }
}
