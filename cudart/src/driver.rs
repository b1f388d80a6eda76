//! The driver's library: found by its name, and called through the addresses of its functions.
//!
//! **Invariant.** A [`Slot`] is called with the arguments that `cuda.h` declares for its function, each in a register or slot of its own, as C has integers
//! and pointers. The library is never closed.

use crate::error::{Code, Error};
use libloading::Library;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What the driver is called.
const NAME: &str = "libcuda.so.1";

fn library() -> Result<&'static Library, Error> {
    static LIBRARY: OnceLock<Result<Library, Error>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        // SAFETY: a driver's library may be opened by anybody.
        let opened = unsafe { Library::new(NAME) };
        opened.map_err(|error| Error::new(Code::INSUFFICIENT_DRIVER, format!("{NAME}: {error}")))
    });
    found.as_ref().map_err(Clone::clone)
}

/// A function of the driver, looked up when it is first called.
#[derive(Debug)]
pub struct Slot {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Slot {
    /// A function by its name.
    pub const fn new(name: &'static CStr) -> Slot {
        Slot { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Where it is.
    pub fn address(&self) -> Result<*mut c_void, Error> {
        let known = self.address.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        // SAFETY: only the address is taken.
        let found = unsafe { library()?.get::<unsafe extern "C" fn()>(self.name.to_bytes_with_nul()) };
        let found = found.map_err(|error| {
            Error::new(Code::CALL_REQUIRES_NEWER_DRIVER, format!("{}: {error}", self.name.to_string_lossy()))
        })?;
        let address = *found as *mut c_void;
        self.address.store(address, Ordering::Release);
        Ok(address)
    }

    /// Calls it.
    pub fn call(&self, args: &[usize]) -> Result<(), Error> {
        let code = self.raw(args)?;
        if code == 0 { Ok(()) } else { Err(Error::of_driver(code, self.name)) }
    }

    /// Calls it, and gives the driver's own answer.
    pub fn raw(&self, args: &[usize]) -> Result<u32, Error> {
        type W = usize;
        let at = self.address()?;
        macro_rules! call {
            ($($arg:ident: $ty:ident),*) => {{
                // SAFETY: the module's invariant.
                let function: extern "C" fn($($ty),*) -> u32 = unsafe { std::mem::transmute(at) };
                Ok(function($(*$arg),*))
            }};
        }
        match args {
            [] => call!(),
            [a] => call!(a: W),
            [a, b] => call!(a: W, b: W),
            [a, b, c] => call!(a: W, b: W, c: W),
            [a, b, c, d] => call!(a: W, b: W, c: W, d: W),
            [a, b, c, d, e] => call!(a: W, b: W, c: W, d: W, e: W),
            [a, b, c, d, e, f] => call!(a: W, b: W, c: W, d: W, e: W, f: W),
            [a, b, c, d, e, f, g] => call!(a: W, b: W, c: W, d: W, e: W, f: W, g: W),
            [a, b, c, d, e, f, g, h] => call!(a: W, b: W, c: W, d: W, e: W, f: W, g: W, h: W),
            [a, b, c, d, e, f, g, h, i] => call!(a: W, b: W, c: W, d: W, e: W, f: W, g: W, h: W, i: W),
            [a, b, c, d, e, f, g, h, i, j] => {
                call!(a: W, b: W, c: W, d: W, e: W, f: W, g: W, h: W, i: W, j: W)
            }
            [a, b, c, d, e, f, g, h, i, j, k] => {
                call!(a: W, b: W, c: W, d: W, e: W, f: W, g: W, h: W, i: W, j: W, k: W)
            }
            more => Err(Error::new(Code::UNKNOWN, format!("a call of {} arguments", more.len()))),
        }
    }

    /// Calls a function that takes a handle of another process by value, between two words.
    pub fn call_with_handle(&self, first: usize, handle: Handle, last: usize) -> Result<(), Error> {
        // SAFETY: the module's invariant.
        let function: extern "C" fn(usize, Handle, usize) -> u32 =
            unsafe { std::mem::transmute(self.address()?) };
        match function(first, handle, last) {
            0 => Ok(()),
            code => Err(Error::of_driver(code, self.name)),
        }
    }
}

/// `cudaIpcMemHandle_t`, `cudaIpcEventHandle_t`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handle([u64; 8]);

/// What goes into a register.
pub trait Word {
    /// The register.
    fn word(self) -> usize;
}

macro_rules! words {
    ($($t:ty)*) => {$(
        impl Word for $t {
            fn word(self) -> usize {
                self as usize
            }
        }
    )*};
}
words!(u8 u32 u64 i32 usize);

impl<T> Word for &mut T {
    fn word(self) -> usize {
        std::ptr::from_mut(self).expose_provenance()
    }
}
impl<T> Word for &T {
    fn word(self) -> usize {
        std::ptr::from_ref(self).expose_provenance()
    }
}
impl Word for crate::ffi::Pointer {
    fn word(self) -> usize {
        self.address() as usize
    }
}

/// Calls a function of the driver: `cu!(cuMemFree_v2(address))?`.
macro_rules! cu {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        static SLOT: $crate::driver::Slot =
            $crate::driver::Slot::new(match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            });
        SLOT.call(&[$($crate::driver::Word::word($arg)),*])
    }};
}
pub(crate) use cu;
