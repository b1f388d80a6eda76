//! The library, opened.

use libloading::Library;
use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Calls a function of the library: `cu!(cuInit(0u32))`. The answer is the number of the result.
macro_rules! cu {
    (@int $_arg:expr) => { usize };
    ($name:ident($($arg:expr),* $(,)?)) => {{
        let address = $crate::library::symbol(stringify!($name));
        // SAFETY: the test passes what `cuda.h` says: each argument in a register or slot of its own, as C does.
        #[allow(unused_unsafe)]
        unsafe {
            let function: extern "C" fn($(cu!(@int $arg)),*) -> u32 = std::mem::transmute(address);
            function($($crate::library::Word::word($arg)),*)
        }
    }};
}

/// An argument as a register has it.
pub trait Word {
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
words!(u8 u16 u32 u64 i32 usize);

impl<T> Word for *const T {
    fn word(self) -> usize {
        self.expose_provenance()
    }
}

impl<T> Word for *mut T {
    fn word(self) -> usize {
        self.expose_provenance()
    }
}

impl<T> Word for &mut T {
    fn word(self) -> usize {
        (self as *mut T).expose_provenance()
    }
}

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // Beside this test: cargo has built it for that.
        let test = std::env::current_exe().expect("the test has a path");
        let folder = test.parent().map(PathBuf::from).unwrap_or_default();
        let path = folder.join("libwarpsmith_cuda.so");
        // SAFETY: it is ours, and has no initialisers.
        unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    })
}

/// The address of a function.
pub fn symbol(name: &str) -> *const c_void {
    let name = CString::new(name).expect("a name");
    // SAFETY: only the address is taken.
    let found = unsafe { library().get::<unsafe extern "C" fn()>(name.as_bytes_with_nul()) };
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    *found as *const c_void
}

/// Calls a function with words whose number is only known when it runs.
pub fn invoke(name: &str, args: &[usize]) -> u32 {
    type W = usize;
    let address = symbol(name);
    macro_rules! call {
        ($($arg:ident: $ty:ident),*) => {{
            // SAFETY: the test passes what `cuda.h` says, each argument in a register or slot of its own.
            let function: extern "C" fn($($ty),*) -> u32 = unsafe { std::mem::transmute(address) };
            function($(*$arg),*)
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
        [a, b, c, d, e, f, g, h, i, j] => call!(a: W, b: W, c: W, d: W, e: W, f: W, g: W, h: W, i: W, j: W),
        [a, b, c, d, e, f, g, h, i, j, k] => {
            call!(a: W, b: W, c: W, d: W, e: W, f: W, g: W, h: W, i: W, j: W, k: W)
        }
        [a, b, c, d, e, f, g, h, i, j, k, l] => {
            call!(a: W, b: W, c: W, d: W, e: W, f: W, g: W, h: W, i: W, j: W, k: W, l: W)
        }
        more => panic!("{name} with {} arguments", more.len()),
    }
}

/// A pointer to nothing.
pub fn null() -> *mut c_void {
    std::ptr::null_mut()
}

/// A new context, current on this thread until the value is dropped.
pub struct Context(pub u64);

impl Context {
    pub fn new() -> Context {
        assert_eq!(cu!(cuInit(0u32)), 0);
        let mut context = 0u64;
        assert_eq!(cu!(cuCtxCreate_v2(&mut context, 0u32, 0i32)), 0);
        Context(context)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        cu!(cuCtxDestroy_v2(self.0));
    }
}

/// A module of PTX text.
pub fn module(text: &str) -> u64 {
    let text = CString::new(text).expect("a text");
    let mut module = 0u64;
    assert_eq!(cu!(cuModuleLoadData(&mut module, text.as_ptr())), 0);
    module
}

/// A function of a module.
pub fn function(module: u64, name: &str) -> u64 {
    let name = CString::new(name).expect("a name");
    let mut function = 0u64;
    assert_eq!(cu!(cuModuleGetFunction(&mut function, module, name.as_ptr())), 0);
    function
}

/// The place and size of a variable of a module.
pub fn global(module: u64, name: &str) -> (u64, usize) {
    let name = CString::new(name).expect("a name");
    let (mut address, mut bytes) = (0u64, 0usize);
    assert_eq!(cu!(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr())), 0);
    (address, bytes)
}

/// Memory of the device.
pub fn allocate(bytes: usize) -> u64 {
    let mut address = 0u64;
    assert_eq!(cu!(cuMemAlloc_v2(&mut address, bytes)), 0);
    address
}

/// Memory of the device with these values.
pub fn upload<T: Copy>(values: &[T]) -> u64 {
    let address = allocate(size_of_val(values));
    assert_eq!(cu!(cuMemcpyHtoD_v2(address, values.as_ptr(), size_of_val(values))), 0);
    address
}

/// So many values of memory of the device.
pub fn download<T: Copy + Default>(address: u64, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    assert_eq!(cu!(cuMemcpyDtoH_v2(values.as_mut_ptr(), address, count * size_of::<T>())), 0);
    values
}

/// Launches a kernel with pointers to its parameters.
pub fn launch(function: u64, grid: u32, block: u32, stream: u64, params: &mut [*mut c_void]) -> u32 {
    let params = if params.is_empty() { std::ptr::null_mut() } else { params.as_mut_ptr() };
    cu!(cuLaunchKernel(function, grid, 1u32, 1u32, block, 1u32, 1u32, 0u32, stream, params, null()))
}

/// A pointer to a parameter.
pub fn param<T>(value: &mut T) -> *mut c_void {
    (value as *mut T).cast()
}
