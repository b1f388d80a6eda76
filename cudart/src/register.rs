//! What the host code of a compiler registers: fat binaries, and the functions and variables of the host that denote those of the device.
//!
//! A fat binary is loaded when something of it is first used, as a library of the driver, so that every context has its own variables.

use crate::context;
use crate::driver::cu;
use crate::error::{Code, Error, call, rt};
use crate::ffi::{In, Out, Plain, Pointer, Text};
use rustc_hash::FxHashMap;
use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What host code hands over for a fat binary.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Wrapper {
    magic: u32,
    version: u32,
    data: Pointer,
    more: Pointer,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for Wrapper {}

const MAGIC: u32 = 0x4662_43b1;

/// A fat binary.
#[derive(Debug)]
struct Binary {
    data: Pointer,
    library: Option<Result<u64, Error>>,
    /// The places of the host that are to hold the addresses of managed variables, and their names.
    managed: Vec<(Out<u64>, CString)>,
    placed: bool,
}

// SAFETY: the places of managed variables are the program's own, which writes them nowhere else.
unsafe impl Send for Binary {}

/// A variable of the host that denotes one of the device.
#[derive(Clone, Debug)]
struct Variable {
    binary: usize,
    name: CString,
    bytes: usize,
    managed: bool,
}

/// All that is registered.
#[derive(Debug, Default)]
struct Registered {
    binaries: FxHashMap<usize, Binary>,
    last: usize,
    functions: FxHashMap<u64, (usize, CString)>,
    kernels: FxHashMap<u64, u64>,
    variables: FxHashMap<u64, Variable>,
}

static REGISTERED: Mutex<Option<Registered>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Registered>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn name(text: Text) -> Result<CString, Error> {
    CString::new(text.get()?).map_err(|error| Error::value(error.to_string()))
}

impl Registered {
    /// The library of a fat binary, which is loaded when it is first asked for; managed variables get their addresses then.
    fn library(&mut self, handle: usize) -> Result<u64, Error> {
        let gone = || Error::new(Code::INVALID_RESOURCE_HANDLE, "a fat binary that was given back");
        let binary = self.binaries.get_mut(&handle).ok_or_else(gone)?;
        let data = binary.data;
        let load = || {
            let (mut library, null) = (0u64, 0usize);
            cu!(cuLibraryLoadData(&mut library, data, null, null, 0u32, null, null, 0u32)).map(|()| library)
        };
        let library = binary.library.get_or_insert_with(load).clone()?;
        if !binary.placed && !binary.managed.is_empty() && context::ready().is_ok() {
            binary.placed = true;
            for (place, name) in &binary.managed {
                place.offer(global(library, name, true)?.0);
            }
        }
        Ok(library)
    }

    /// Where a variable is, and its size.
    fn place(&mut self, variable: &Variable) -> Result<(u64, usize), Error> {
        let library = self.library(variable.binary)?;
        let (address, bytes) = global(library, &variable.name, variable.managed)?;
        Ok((address, if bytes == 0 { variable.bytes } else { bytes }))
    }
}

/// Where a variable of a library is, and its size.
fn global(library: u64, name: &CString, managed: bool) -> Result<(u64, usize), Error> {
    let (mut address, mut bytes) = (0u64, 0usize);
    let text = name.as_ptr().expose_provenance();
    let found = if managed {
        cu!(cuLibraryGetManaged(&mut address, &mut bytes, library, text))
    } else {
        cu!(cuLibraryGetGlobal(&mut address, &mut bytes, library, text))
    };
    match found {
        Err(error) if error.code == Code::SYMBOL_NOT_FOUND => {
            Err(Error::new(Code::INVALID_SYMBOL, error.message))
        }
        found => found.map(|()| (address, bytes)),
    }
}

/// The kernel that a function of the host denotes. What is a kernel's handle already stays one.
pub fn kernel(function: usize) -> Result<usize, Error> {
    let mut guard = lock();
    let registered = guard.get_or_insert_default();
    let function = function as u64;
    if let Some(kernel) = registered.kernels.get(&function) {
        return Ok(*kernel as usize);
    }
    let Some((binary, name)) = registered.functions.get(&function).cloned() else {
        if registered.kernels.values().any(|kernel| *kernel == function) || is_kernel(function) {
            return Ok(function as usize);
        }
        let message = format!("{function:#x} is not the host function of a kernel");
        return Err(Error::new(Code::INVALID_RESOURCE_HANDLE, message));
    };
    let library = registered.library(binary)?;
    let mut kernel = 0u64;
    match cu!(cuLibraryGetKernel(&mut kernel, library, name.as_ptr().expose_provenance())) {
        Err(error) if error.code == Code::SYMBOL_NOT_FOUND => {
            Err(Error::new(Code::INVALID_DEVICE_FUNCTION, error.message))
        }
        Err(error) => Err(error),
        Ok(()) => {
            registered.kernels.insert(function, kernel);
            Ok(kernel as usize)
        }
    }
}

/// Whether the driver knows a handle as a kernel's.
fn is_kernel(handle: u64) -> bool {
    let mut library = 0u64;
    cu!(cuKernelGetLibrary(&mut library, handle)).is_ok()
}

/// The function of the host that denotes a kernel, or the kernel if none does.
pub fn function_of(kernel: u64) -> u64 {
    let mut guard = lock();
    let registered = guard.get_or_insert_default();
    let is = |known: u64| {
        let mut function = 0u64;
        known == kernel || cu!(cuKernelGetFunction(&mut function, known)).is_ok() && function == kernel
    };
    let found = registered.kernels.iter().find(|(_, known)| is(**known));
    found.map_or(kernel, |(function, _)| *function)
}

/// Where a variable is that one of the host denotes, and its size.
pub fn variable(symbol: Pointer) -> Result<(u64, usize), Error> {
    context::ready()?;
    let mut guard = lock();
    let registered = guard.get_or_insert_default();
    if let Some(variable) = registered.variables.get(&symbol.address()).cloned() {
        return registered.place(&variable);
    }
    // Host code names a managed variable by what its pointer leads to.
    let managed: Vec<Variable> = registered.variables.values().filter(|v| v.managed).cloned().collect();
    for variable in managed {
        let found = registered.place(&variable)?;
        if found.0 == symbol.address() {
            return Ok(found);
        }
    }
    let message = format!("{:#x} is not the host variable of one on the device", symbol.address());
    Err(Error::new(Code::INVALID_SYMBOL, message))
}

/// Registers a variable; what is wrong with it is reported when it is used.
fn register(handle: usize, symbol: u64, device_name: Text, bytes: usize, managed: Option<Out<u64>>) {
    call("__cudaRegisterVar", || {
        let name = name(device_name)?;
        let mut guard = lock();
        let registered = guard.get_or_insert_default();
        if let (Some(place), Some(binary)) = (managed, registered.binaries.get_mut(&handle)) {
            binary.managed.push((place, name.clone()));
        }
        let variable = Variable { binary: handle, name, bytes, managed: managed.is_some() };
        registered.variables.insert(symbol, variable);
        Ok(())
    });
}

/// `__cudaRegisterFatBinary`: the handle is a number, of which the program does nothing but hand it back.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinary(wrapper: In<Wrapper>) -> usize {
    let mut handle = 0;
    call("__cudaRegisterFatBinary", || {
        let wrapper = wrapper.get()?;
        if wrapper.magic != MAGIC {
            return Err(Error::new(Code::INVALID_KERNEL_IMAGE, "not a fat binary"));
        }
        let mut guard = lock();
        let registered = guard.get_or_insert_default();
        registered.last += 16;
        handle = registered.last;
        let binary = Binary { data: wrapper.data, library: None, managed: Vec::new(), placed: false };
        registered.binaries.insert(handle, binary);
        Ok(())
    });
    handle
}

/// `__cudaRegisterFatBinaryEnd`
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_handle: usize) {}

/// `__cudaUnregisterFatBinary`
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary(handle: usize) {
    call("__cudaUnregisterFatBinary", || {
        let mut guard = lock();
        let registered = guard.get_or_insert_default();
        let kernels = registered.functions.iter().filter(|(_, (binary, _))| *binary == handle);
        for function in kernels.map(|(function, _)| *function).collect::<Vec<_>>() {
            registered.functions.remove(&function);
            registered.kernels.remove(&function);
        }
        registered.variables.retain(|_, variable| variable.binary != handle);
        match registered.binaries.remove(&handle).and_then(|binary| binary.library) {
            // A process that ends in a fault has nothing left to unload.
            Some(Ok(library)) if context::fault().is_ok() => cu!(cuLibraryUnload(library)),
            Some(_) | None => Ok(()),
        }
    });
}

/// `__cudaRegisterFunction`
#[allow(non_snake_case)]
#[allow(clippy::too_many_arguments, reason = "the compiler's host code has so many")]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFunction(
    handle: usize,
    function: Pointer,
    _device_function: Pointer,
    device_name: Text,
    _thread_limit: i32,
    _thread: Pointer,
    _block: Pointer,
    _block_size: Pointer,
    _grid_size: Pointer,
    _warp_size: Pointer,
) {
    call("__cudaRegisterFunction", || {
        let name = name(device_name)?;
        lock().get_or_insert_default().functions.insert(function.address(), (handle, name));
        Ok(())
    });
}

/// `__cudaRegisterVar`
#[allow(non_snake_case)]
#[allow(clippy::too_many_arguments, reason = "the compiler's host code has so many")]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterVar(
    handle: usize,
    variable: Pointer,
    _device_address: Pointer,
    device_name: Text,
    _external: i32,
    bytes: usize,
    _constant: i32,
    _global: i32,
) {
    register(handle, variable.address(), device_name, bytes, None);
}

/// `__cudaRegisterManagedVar`
#[allow(non_snake_case)]
#[allow(clippy::too_many_arguments, reason = "the compiler's host code has so many")]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterManagedVar(
    handle: usize,
    place: Out<u64>,
    _device_address: Pointer,
    device_name: Text,
    _external: i32,
    bytes: usize,
    _constant: i32,
    _global: i32,
) {
    register(handle, place.address(), device_name, bytes, Some(place));
}

/// `__cudaInitModule`: host code is about to use managed variables.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(handle: usize) -> u8 {
    let code = call("__cudaInitModule", || {
        context::ready()?;
        lock().get_or_insert_default().library(handle).map(|_| ())
    });
    u8::from(code == 0)
}

rt! {
    fn __cudaGetKernel(kernel_handle: Out<u64>, function: usize) {
        // Asked once for each place of a program: a fault that is there by then must not be the answer forever.
        context::initialise()?;
        kernel_handle.set(kernel(function)? as u64)
    }

    fn cudaGetKernel(kernel_handle: Out<u64>, function: usize) {
        context::ready()?;
        kernel_handle.set(kernel(function)? as u64)
    }

    fn cudaGetFuncBySymbol(answer: Out<u64>, function: usize) {
        context::ready()?;
        let mut found = 0u64;
        cu!(cuKernelGetFunction(&mut found, kernel(function)?))?;
        answer.set(found)
    }
}
