//! The CUDA driver, opened when it is needed. Nothing of CUDA is linked.
//!
//! Signatures and constants are those of `cuda.h` (CUDA Driver API reference manual), whose ABI is stable under these names.

use super::{Buffers, Gpu};
use libloading::{Library, Symbol};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use warpsmith::launch::{Arg, LaunchSpec};

const NAMES: [&str; 3] = ["libcuda.so.1", "libcuda.so", "nvcuda.dll"];

type Status = c_int;
type Device = c_int;
type Handle = *mut c_void;
type DevicePtr = u64;

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`, `.._MINOR`
const CAPABILITY: [c_int; 2] = [75, 76];
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
const MAX_DYNAMIC_SHARED: c_int = 8;
/// What can be had without asking.
const DEFAULT_SHARED: u32 = 48 << 10;

/// Declares the functions that are used, with their types, and looks all of them up.
macro_rules! functions {
    ($($name:ident: $symbol:literal ($($arg:ty),*);)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($arg),*) -> Status,)*
            /// Keeps the functions loaded.
            _library: Library,
        }

        impl Functions {
            fn load(library: Library) -> Result<Functions, String> {
                // SAFETY: the types are those of the manual for these names.
                unsafe {
                    $(let $name: Symbol<'_, unsafe extern "C" fn($($arg),*) -> Status> =
                        library.get(concat!($symbol, "\0").as_bytes()).map_err(|e| format!("{}: {e}", $symbol))?;
                    let $name = *$name;)*
                    Ok(Functions { $($name,)* _library: library })
                }
            }
        }
    };
}

functions! {
    init: "cuInit" (c_uint);
    driver_version: "cuDriverGetVersion" (*mut c_int);
    device_count: "cuDeviceGetCount" (*mut c_int);
    device_get: "cuDeviceGet" (*mut Device, c_int);
    device_name: "cuDeviceGetName" (*mut c_char, c_int, Device);
    device_attribute: "cuDeviceGetAttribute" (*mut c_int, c_int, Device);
    retain_context: "cuDevicePrimaryCtxRetain" (*mut Handle, Device);
    set_context: "cuCtxSetCurrent" (Handle);
    synchronize: "cuCtxSynchronize" ();
    error_name: "cuGetErrorName" (Status, *mut *const c_char);
    load_module: "cuModuleLoadData" (*mut Handle, *const c_void);
    unload_module: "cuModuleUnload" (Handle);
    get_function: "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    set_attribute: "cuFuncSetAttribute" (Handle, c_int, c_int);
    allocate: "cuMemAlloc_v2" (*mut DevicePtr, usize);
    free: "cuMemFree_v2" (DevicePtr);
    to_device: "cuMemcpyHtoD_v2" (DevicePtr, *const c_void, usize);
    to_host: "cuMemcpyDtoH_v2" (*mut c_void, DevicePtr, usize);
    launch: "cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
}

/// The first GPU, with its primary context current on this thread.
pub struct Cuda {
    functions: Functions,
    device: Device,
    version: c_int,
}

impl Cuda {
    /// Opens the driver; the error is why there is none.
    pub fn open() -> Result<Cuda, String> {
        let mut reasons = Vec::new();
        let library = NAMES.iter().find_map(|name| {
            // SAFETY: loading the driver runs its initialisers, which is what it is for.
            unsafe { Library::new(*name) }.map_err(|e| reasons.push(e.to_string())).ok()
        });
        let functions = Functions::load(library.ok_or_else(|| reasons.join("; "))?)?;
        let mut cuda = Cuda { functions, device: 0, version: 0 };
        let (mut count, mut context) = (0, null_mut());
        let f = &cuda.functions;
        // SAFETY: out-parameters are valid for writes; `cuInit` comes first.
        unsafe {
            cuda.check("cuInit", (f.init)(0))?;
            cuda.check("cuDeviceGetCount", (f.device_count)(&mut count))?;
            if count == 0 {
                return Err("the driver knows no device".into());
            }
            let (mut device, mut version) = (0, 0);
            cuda.check("cuDeviceGet", (f.device_get)(&mut device, 0))?;
            cuda.check("cuDriverGetVersion", (f.driver_version)(&mut version))?;
            cuda.check("cuDevicePrimaryCtxRetain", (f.retain_context)(&mut context, device))?;
            cuda.check("cuCtxSetCurrent", (f.set_context)(context))?;
            (cuda.device, cuda.version) = (device, version);
        }
        Ok(cuda)
    }

    fn check(&self, what: &str, status: Status) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        let mut name = std::ptr::null();
        // SAFETY: the driver gives a static string, or leaves the null pointer for a status it does not know.
        let known = unsafe {
            (self.functions.error_name)(status, &mut name);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        };
        Err(format!("{what}: {}", known.unwrap_or_else(|| format!("error {status}"))))
    }

    fn attribute(&self, attribute: c_int) -> c_int {
        let mut value = 0;
        // SAFETY: the out-parameter is valid for writes. An attribute that is unknown leaves zero.
        unsafe { (self.functions.device_attribute)(&mut value, attribute, self.device) };
        value
    }

    /// Launches a function of a loaded module and reads the buffers back.
    fn launch(&self, function: Handle, spec: &LaunchSpec) -> Result<Buffers, String> {
        let f = &self.functions;
        let mut memory = Memory { cuda: self, buffers: Vec::new() };
        // The bytes of each parameter, at addresses that suit any type.
        let mut params: Vec<Vec<u128>> = Vec::with_capacity(spec.args.len());
        for arg in &spec.args {
            let (bytes, buffer) = match arg {
                Arg::Value(bytes) => (bytes.clone(), None),
                Arg::Buffer { bytes, .. } => {
                    let address = memory.upload(bytes)?;
                    (address.to_le_bytes().to_vec(), Some((address, bytes.len())))
                }
                Arg::SameAs(index) => {
                    let buffer = memory.buffers.get(*index).copied().flatten();
                    (buffer.map_or(0, |(address, _)| address).to_le_bytes().to_vec(), None)
                }
                // `run` has refused them.
                Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_) => (Vec::new(), None),
            };
            let mut words = vec![0u128; bytes.len().div_ceil(16).max(1)];
            for (word, chunk) in words.iter_mut().zip(bytes.chunks(16)) {
                *word = chunk.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte));
            }
            params.push(words);
            memory.buffers.push(buffer);
        }
        let mut pointers: Vec<*mut c_void> =
            params.iter_mut().map(|words| words.as_mut_ptr().cast::<c_void>()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (spec.grid, spec.block);
        let shared = spec.dynamic_shared;
        // SAFETY: the function belongs to a loaded module; there is a pointer for each of its parameters, to as many bytes as it
        // has, which the engine checked when it ran the same launch; both outlive the call, which copies them.
        unsafe {
            if shared > DEFAULT_SHARED {
                let status = (f.set_attribute)(function, MAX_DYNAMIC_SHARED, shared as c_int);
                self.check("cuFuncSetAttribute", status)?;
            }
            let status = (f.launch)(
                function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shared,
                null_mut(),
                pointers.as_mut_ptr(),
                null_mut(),
            );
            self.check("cuLaunchKernel", status)?;
            self.check("cuCtxSynchronize", (f.synchronize)())?;
        }
        memory.download(&spec.args)
    }
}

/// Buffers of a launch, freed at its end.
struct Memory<'c> {
    cuda: &'c Cuda,
    buffers: Vec<Option<(DevicePtr, usize)>>,
}

impl Memory<'_> {
    fn upload(&self, bytes: &[u8]) -> Result<DevicePtr, String> {
        let (f, mut address) = (&self.cuda.functions, 0);
        // SAFETY: the out-parameter is valid for writes; the copy reads `bytes` and stays within the allocation.
        unsafe {
            self.cuda.check("cuMemAlloc", (f.allocate)(&mut address, bytes.len().max(1)))?;
            let copied = (f.to_device)(address, bytes.as_ptr().cast(), bytes.len());
            self.cuda.check("cuMemcpyHtoD", copied)?;
        }
        Ok(address)
    }

    fn download(&self, args: &[Arg]) -> Result<Buffers, String> {
        let read = |arg: &Arg| {
            let index = match arg {
                Arg::Value(_) | Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_) => return Ok(None),
                Arg::Buffer { .. } => args.iter().position(|a| std::ptr::eq(a, arg)),
                Arg::SameAs(index) => Some(*index),
            };
            let buffer = index.and_then(|i| self.buffers.get(i).copied().flatten());
            let Some((address, len)) = buffer else { return Ok(None) };
            let mut bytes = vec![0u8; len];
            // SAFETY: the destination has `len` bytes, and so has the allocation.
            let copied = unsafe { (self.cuda.functions.to_host)(bytes.as_mut_ptr().cast(), address, len) };
            self.cuda.check("cuMemcpyDtoH", copied)?;
            Ok(Some(bytes))
        };
        args.iter().map(read).collect()
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        for (address, _) in self.buffers.iter().flatten() {
            // SAFETY: `upload` allocated it, and it is freed once. A failure here follows one that was reported.
            unsafe { (self.cuda.functions.free)(*address) };
        }
    }
}

impl Gpu for Cuda {
    fn describe(&self) -> (String, String, String) {
        let mut name = [0 as c_char; 256];
        // SAFETY: the driver writes at most so many bytes, a zero among them.
        let name = unsafe {
            (self.functions.device_name)(name.as_mut_ptr(), name.len() as c_int - 1, self.device);
            CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
        };
        let [major, minor] = CAPABILITY.map(|attribute| self.attribute(attribute));
        let version = format!("{}.{}", self.version / 1000, self.version % 1000 / 10);
        (name, format!("sm_{major}{minor}"), version)
    }

    fn run(&mut self, ptx: &str, spec: &LaunchSpec) -> Result<Result<Buffers, String>, String> {
        if spec.cluster.is_some() {
            return Ok(Err("launches with clusters are not recorded".into()));
        }
        if spec.args.iter().any(|arg| matches!(arg, Arg::Multicast(_))) {
            return Ok(Err("multicast addresses need several GPUs".into()));
        }
        let of_textures = |arg: &Arg| matches!(arg, Arg::Resource(_));
        if spec.args.iter().any(of_textures) || !spec.bindings.is_empty() || !spec.handles.is_empty() {
            return Ok(Err("launches with textures and surfaces are not recorded".into()));
        }
        if spec.args.iter().any(|arg| matches!(arg, Arg::TensorMap(_))) {
            return Ok(Err("launches with tensor maps are not recorded".into()));
        }
        let text = CString::new(ptx).map_err(|e| e.to_string())?;
        let entry = CString::new(spec.entry.as_str()).map_err(|e| e.to_string())?;
        let (mut module, mut function) = (null_mut(), null_mut());
        // SAFETY: the text ends with a zero, as the driver wants PTX; out-parameters are valid for writes.
        let loaded = unsafe { (self.functions.load_module)(&mut module, text.as_ptr().cast()) };
        if let Err(reason) = self.check("cuModuleLoadData", loaded) {
            return Ok(Err(reason));
        }
        // SAFETY: the module was loaded; the name ends with a zero.
        let found = unsafe { (self.functions.get_function)(&mut function, module, entry.as_ptr()) };
        let result = self.check("cuModuleGetFunction", found).and_then(|()| self.launch(function, spec));
        // SAFETY: no kernel of the module runs any more: the launch was waited for, or failed.
        unsafe { (self.functions.unload_module)(module) };
        result.map(Ok)
    }
}
