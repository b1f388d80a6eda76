//! A GPU and its memory.

use crate::driver::{CAPABILITY, Device, DevicePtr, Functions, Handle};
use crate::error::{Absent, Error};
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::rc::Rc;

/// What a GPU says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Description {
    /// Its name: `NVIDIA H100 80GB HBM3`.
    pub name: String,
    /// Its compute capability, major and minor.
    pub compute: (u32, u32),
    /// The version of CUDA that its driver supports, major and minor.
    pub cuda: (u32, u32),
}

/// The first GPU, with its primary context current on the thread that opened it.
pub struct Gpu {
    pub(crate) functions: Rc<Functions>,
    device: Device,
    description: Description,
}

impl Gpu {
    /// Opens the driver and the first GPU.
    pub fn open() -> Result<Gpu, Absent> {
        let functions = Functions::open()?;
        let absent = |error: Error| Absent(error.to_string());
        let (mut count, mut device, mut version) = (0, 0, 0);
        // SAFETY: out-parameters are valid for writes; `cuInit` comes first.
        unsafe {
            functions.check("cuInit", (functions.init)(0)).map_err(absent)?;
            functions.check("cuDeviceGetCount", (functions.device_count)(&mut count)).map_err(absent)?;
            if count == 0 {
                return Err(Absent("the driver reports no device".into()));
            }
            functions.check("cuDeviceGet", (functions.device_get)(&mut device, 0)).map_err(absent)?;
            functions
                .check("cuDriverGetVersion", (functions.driver_version)(&mut version))
                .map_err(absent)?;
        }
        let mut name = [0 as c_char; 256];
        // SAFETY: the driver writes at most so many bytes, a zero among them.
        let name = unsafe {
            (functions.device_name)(name.as_mut_ptr(), name.len() as c_int - 1, device);
            CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
        };
        let [major, minor] = CAPABILITY.map(|attribute| {
            let mut value = 0;
            // SAFETY: the out-parameter is valid for writes. An attribute that is unknown leaves zero.
            unsafe { (functions.device_attribute)(&mut value, attribute, device) };
            value as u32
        });
        let cuda = ((version / 1000) as u32, (version % 1000 / 10) as u32);
        let gpu = Gpu {
            functions: Rc::new(functions),
            device,
            description: Description { name, compute: (major, minor), cuda },
        };
        gpu.enter().map_err(absent)?;
        Ok(gpu)
    }

    /// What it says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Makes the primary context and makes it current.
    fn enter(&self) -> Result<(), Error> {
        let mut context = null_mut();
        // SAFETY: the out-parameter is valid for writes; the device was given by the driver.
        unsafe {
            let retained = (self.functions.retain_context)(&mut context, self.device);
            self.check("cuDevicePrimaryCtxRetain", retained)?;
            self.check("cuCtxSetCurrent", (self.functions.set_context)(context))
        }
    }

    /// Throws the context away with all that is in it, and makes a new one: what is needed after a fault of a kernel.
    pub fn reset(&mut self) -> Result<(), Error> {
        // SAFETY: the device was given by the driver; nothing borrows the context any more.
        self.check("cuDevicePrimaryCtxReset", unsafe { (self.functions.reset_context)(self.device) })?;
        self.enter()
    }

    pub(crate) fn check(&self, call: &'static str, status: c_int) -> Result<(), Error> {
        self.functions.check(call, status)
    }

    /// Memory of the GPU with this content.
    pub fn upload(&self, bytes: &[u8]) -> Result<Memory<'_>, Error> {
        let mut address = 0;
        // SAFETY: the out-parameter is valid for writes.
        let allocated = unsafe { (self.functions.allocate)(&mut address, bytes.len().max(1)) };
        self.check("cuMemAlloc", allocated)?;
        let memory = Memory { gpu: self, address, len: bytes.len() };
        self.write(address, bytes)?;
        Ok(memory)
    }

    /// Writes memory that is known to have so many bytes.
    pub(crate) fn write(&self, address: DevicePtr, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the copy reads `bytes`, and stays within memory of that size, as callers say.
        let copied = unsafe { (self.functions.to_device)(address, bytes.as_ptr().cast(), bytes.len()) };
        self.check("cuMemcpyHtoD", copied)
    }

    /// Reads so many bytes of memory that has them.
    pub(crate) fn read(&self, address: DevicePtr, len: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0u8; len];
        // SAFETY: the destination has `len` bytes, and so has the memory, as callers say.
        let copied = unsafe { (self.functions.to_host)(bytes.as_mut_ptr().cast(), address, len) };
        self.check("cuMemcpyDtoH", copied)?;
        Ok(bytes)
    }
}

/// Memory of a GPU, freed when it is dropped.
pub struct Memory<'g> {
    gpu: &'g Gpu,
    address: DevicePtr,
    len: usize,
}

impl Memory<'_> {
    /// Its address on the GPU.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// What it holds.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        self.gpu.read(self.address, self.len)
    }

    /// Writes part of it, from byte `at` on; an error if it has no such part.
    pub fn write(&self, at: usize, bytes: &[u8]) -> Result<(), Error> {
        if at.checked_add(bytes.len()).is_none_or(|end| end > self.len) {
            let message = format!("{} bytes at {at} of a buffer of {}", bytes.len(), self.len);
            return Err(Error::own("cuMemcpyHtoD", message));
        }
        self.gpu.write(self.address + at as u64, bytes)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: `upload` allocated it, and it is freed once. A failure here follows one that was reported.
        unsafe { (self.gpu.functions.free)(self.address) };
    }
}

/// A handle that is destroyed by one function.
pub(crate) struct Owned<'g> {
    pub handle: Handle,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    _gpu: PhantomData<&'g Gpu>,
}

impl<'g> Owned<'g> {
    /// # Safety
    /// `destroy` ends the life of the handle, which nothing else does.
    pub unsafe fn new(
        _: &'g Gpu,
        handle: Handle,
        destroy: unsafe extern "C" fn(Handle) -> c_int,
    ) -> Owned<'g> {
        Owned { handle, destroy, _gpu: PhantomData }
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` says so.
        unsafe { (self.destroy)(self.handle) };
    }
}
