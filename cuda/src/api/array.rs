//! Arrays, and arrays with levels.

use crate::array::{Array, Descriptor, Mipmap};
use crate::context::current;
use crate::error::Error;
use crate::ffi::{In, Out, Plain, api};
use crate::memory::Kind;
use crate::state::driver;

/// `CUDA_ARRAY_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Flat {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Flat {}

const _: () = assert!(size_of::<Flat>() == 24 && size_of::<Descriptor>() == 40);

/// Texels, for the alignment that textures want.
fn memory(bytes: u32) -> Result<u64, Error> {
    let context = current()?;
    driver()?.lock().allocate(bytes.into(), Kind::Device, Some(context.id), context.device, 0, None)
}

fn create(answer: Out<u64>, descriptor: Descriptor) -> Result<(), Error> {
    current()?;
    answer.check()?;
    let image = descriptor.image(None)?;
    let address = memory(image.bytes())?;
    answer.set(driver()?.lock().arrays.add(Array { descriptor, image, address, level_of: None }))
}

fn describe(answer: Out<Descriptor>, handle: u64) -> Result<(), Error> {
    answer.set(driver()?.lock().arrays.get(handle)?.descriptor)
}

api! {
    fn cuArrayCreate_v2(array: Out<u64>, descriptor: In<Flat>) {
        let Flat { width, height, format, channels } = descriptor.get()?;
        create(array, Descriptor { width, height, depth: 0, format, channels, flags: 0 })
    }

    fn cuArray3DCreate_v2(array: Out<u64>, descriptor: In<Descriptor>) {
        create(array, descriptor.get()?)
    }

    fn cuArrayGetDescriptor_v2(answer: Out<Flat>, array: u64) {
        let found = driver()?.lock().arrays.get(array)?.descriptor;
        let Descriptor { width, height, format, channels, .. } = found;
        answer.set(Flat { width, height, format, channels })
    }

    fn cuArray3DGetDescriptor_v2(answer: Out<Descriptor>, array: u64) {
        describe(answer, array)
    }

    fn cuArrayDestroy(array: u64) {
        let context = current()?;
        let driver = driver()?;
        if driver.lock().arrays.get(array)?.level_of.is_some() {
            return Err(Error::value("a level goes with its mipmapped array"));
        }
        context.settle();
        let mut state = driver.lock();
        let gone = state.arrays.remove(array)?;
        state.free_now(gone.address)
    }

    fn cuMipmappedArrayCreate(mipmap: Out<u64>, descriptor: In<Descriptor>, levels: u32) {
        current()?;
        mipmap.check()?;
        let descriptor = descriptor.get()?;
        // More levels than there can be are as many as there can be.
        let largest = descriptor.width.max(descriptor.height).max(1);
        let levels = levels.min(largest.ilog2() + 1);
        let image = descriptor.image(Some(levels))?;
        let address = memory(image.bytes())?;
        mipmap.set(driver()?.lock().mipmaps.add(Mipmap { descriptor, image, address, levels }))
    }

    fn cuMipmappedArrayGetLevel(array: Out<u64>, mipmap: u64, level: u32) {
        array.check()?;
        let mut state = driver()?.lock();
        let made = state.mipmaps.get(mipmap)?.level(mipmap, level)?;
        let known = state.arrays.iter().find(|(_, array)| {
            array.level_of == Some(mipmap) && array.address == made.address
        });
        let known = known.map(|(handle, _)| handle);
        array.set(known.unwrap_or_else(|| state.arrays.add(made)))
    }

    fn cuMipmappedArrayDestroy(mipmap: u64) {
        let context = current()?;
        let driver = driver()?;
        driver.lock().mipmaps.get(mipmap)?;
        context.settle();
        let mut state = driver.lock();
        let gone = state.mipmaps.remove(mipmap)?;
        state.arrays.take(|array| array.level_of == Some(mipmap));
        state.free_now(gone.address)
    }
}
