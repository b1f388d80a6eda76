//! The functions of the driver that are used.
//!
//! Signatures, structures and constants are those of `cuda.h` (CUDA Driver API reference manual), whose ABI is stable under these names.

use crate::error::{Absent, Error};
use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

const NAMES: [&str; 3] = ["libcuda.so.1", "libcuda.so", "nvcuda.dll"];

pub type Status = c_int;
pub type Device = c_int;
pub type Handle = *mut c_void;
pub type DevicePtr = u64;

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`, `.._MINOR`
pub const CAPABILITY: [c_int; 2] = [75, 76];
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
pub const MAX_DYNAMIC_SHARED: c_int = 8;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`
pub const LARGE_CLUSTERS: c_int = 14;
/// `CUDA_ERROR_NOT_READY`
pub const NOT_READY: Status = 600;
/// `CU_JIT_ERROR_LOG_BUFFER`, `.._SIZE_BYTES`, `CU_JIT_OPTIMIZATION_LEVEL`
pub const JIT_LOG: c_int = 5;
pub const JIT_LOG_BYTES: c_int = 6;
pub const JIT_LEVEL: c_int = 7;
/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`, `.._CLUSTER_DIMENSION`
pub const COOPERATIVE: c_int = 2;
pub const CLUSTER: c_int = 4;

/// `CUlaunchAttribute`
#[repr(C)]
pub struct Attribute {
    pub id: c_int,
    pub padding: [u8; 4],
    pub value: [u32; 16],
}

/// `CUlaunchConfig`
#[repr(C)]
pub struct Config {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared: c_uint,
    pub stream: Handle,
    pub attributes: *const Attribute,
    pub count: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

/// A side of a `CUDA_MEMCPY3D`.
#[repr(C)]
pub struct Side {
    pub x_bytes: usize,
    pub y: usize,
    pub z: usize,
    pub level: usize,
    pub kind: c_uint,
    pub host: *const c_void,
    pub device: DevicePtr,
    pub array: Handle,
    pub reserved: *const c_void,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
pub struct Copy3d {
    pub from: Side,
    pub to: Side,
    pub width_bytes: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
pub struct ResourceDescriptor {
    pub kind: c_uint,
    pub padding: c_uint,
    pub words: [u64; 16],
    pub flags: c_uint,
    pub more: c_uint,
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
pub struct TextureDescriptor {
    pub address: [c_uint; 3],
    pub filter: c_uint,
    pub flags: c_uint,
    pub anisotropy: c_uint,
    pub mip_filter: c_uint,
    pub bias: f32,
    pub min: f32,
    pub max: f32,
    pub border: [f32; 4],
    pub reserved: [c_int; 12],
}

const _: () = assert!(size_of::<Config>() == 56 && size_of::<Attribute>() == 72);
const _: () = assert!(size_of::<ResourceDescriptor>() == 144 && size_of::<TextureDescriptor>() == 104);
const _: () = assert!(size_of::<Copy3d>() == 200 && size_of::<ArrayDescriptor>() == 40);

/// Declares the functions that are used, with their types, and looks all of them up.
macro_rules! functions {
    ($($name:ident: $symbol:literal ($($arg:ty),* $(,)?);)*) => {
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> Status,)*
            error_name: unsafe extern "C" fn(Status, *mut *const c_char) -> Status,
            /// Keeps the functions loaded.
            _library: Library,
        }

        impl Functions {
            fn load(library: Library) -> Result<Functions, Absent> {
                // SAFETY: the types are those of the manual for these names.
                unsafe {
                    $(let $name: Symbol<'_, unsafe extern "C" fn($($arg),*) -> Status> =
                        library.get(concat!($symbol, "\0").as_bytes()).map_err(|e| Absent(format!("{}: {e}", $symbol)))?;
                    let $name = *$name;)*
                    let error_name: Symbol<'_, unsafe extern "C" fn(Status, *mut *const c_char) -> Status> =
                        library.get(b"cuGetErrorName\0").map_err(|e| Absent(e.to_string()))?;
                    let error_name = *error_name;
                    Ok(Functions { $($name,)* error_name, _library: library })
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
    reset_context: "cuDevicePrimaryCtxReset_v2" (Device);
    set_context: "cuCtxSetCurrent" (Handle);
    stream_query: "cuStreamQuery" (Handle);
    load_module: "cuModuleLoadDataEx" (*mut Handle, *const c_void, c_uint, *const c_int, *const *mut c_void);
    unload_module: "cuModuleUnload" (Handle);
    get_function: "cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    get_variable: "cuModuleGetGlobal_v2" (*mut DevicePtr, *mut usize, Handle, *const c_char);
    set_attribute: "cuFuncSetAttribute" (Handle, c_int, c_int);
    allocate: "cuMemAlloc_v2" (*mut DevicePtr, usize);
    free: "cuMemFree_v2" (DevicePtr);
    to_device: "cuMemcpyHtoD_v2" (DevicePtr, *const c_void, usize);
    to_host: "cuMemcpyDtoH_v2" (*mut c_void, DevicePtr, usize);
    copy_3d: "cuMemcpy3D_v2" (*const Copy3d);
    array_create: "cuArray3DCreate_v2" (*mut Handle, *const ArrayDescriptor);
    array_destroy: "cuArrayDestroy" (Handle);
    mipmap_create: "cuMipmappedArrayCreate" (*mut Handle, *const ArrayDescriptor, c_uint);
    mipmap_level: "cuMipmappedArrayGetLevel" (*mut Handle, Handle, c_uint);
    mipmap_destroy: "cuMipmappedArrayDestroy" (Handle);
    texture_create: "cuTexObjectCreate" (*mut u64, *const ResourceDescriptor, *const TextureDescriptor, *const c_void);
    texture_destroy: "cuTexObjectDestroy" (u64);
    surface_create: "cuSurfObjectCreate" (*mut u64, *const ResourceDescriptor);
    surface_destroy: "cuSurfObjectDestroy" (u64);
    encode_tiled: "cuTensorMapEncodeTiled" (
        *mut c_void, c_uint, c_uint, DevicePtr, *const u64, *const u64, *const u32, *const u32, c_uint, c_uint, c_uint, c_uint,
    );
    encode_im2col: "cuTensorMapEncodeIm2col" (
        *mut c_void, c_uint, c_uint, DevicePtr, *const u64, *const u64, *const c_int, *const c_int, c_uint, c_uint, *const u32, c_uint,
        c_uint, c_uint, c_uint,
    );
    launch: "cuLaunchKernelEx" (*const Config, Handle, *mut *mut c_void, *mut *mut c_void);
}

impl Functions {
    /// Opens the driver; the error is why there is none.
    pub fn open() -> Result<Functions, Absent> {
        let mut reasons = Vec::new();
        let library = NAMES.iter().find_map(|name| {
            // SAFETY: loading the driver runs its initialisers, which is what it is for.
            unsafe { Library::new(*name) }.map_err(|e| reasons.push(e.to_string())).ok()
        });
        Functions::load(library.ok_or_else(|| Absent(reasons.join("; ")))?)
    }

    /// The error that a status denotes.
    pub fn check(&self, call: &'static str, status: Status) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        let mut name = std::ptr::null();
        // SAFETY: the driver gives a static string, or leaves the null pointer for a status it does not know.
        let known = unsafe {
            (self.error_name)(status, &mut name);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        };
        Err(Error { call, status, message: known.unwrap_or_else(|| format!("error {status}")) })
    }
}
