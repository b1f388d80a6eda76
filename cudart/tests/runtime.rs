//! A program of nvcc, by hand: it registers a fat binary, kernels and variables, and calls the runtime, which finds our `libcuda`.
//!
//! The program is this test itself, started again where the libraries have their names. What programs of nvcc itself print is compared by `cargo xtask
//! clients runtime`.

use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;
use std::process::Command;

/// Says that this process is the program.
const CLIENT: &str = "WARPSMITH_TEST_RUNTIME";

const KERNELS: &CStr = c"
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .global .align 4 .b8 shared_by_both[8] = {7, 0, 0, 0, 9, 0, 0, 0};
.visible .entry count(.param .u32 times)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r0, [times];
    atom.global.add.u32 %r1, [counter], %r0;
    atom.global.add.u32 %r2, [shared_by_both], 1;
    ret;
}
.visible .entry wild() { .reg .b64 %rd; mov.u64 %rd, 8; st.global.u32 [%rd], 1; ret; }
";

/// What host code hands over for a fat binary: here of PTX alone.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const c_char,
    more: usize,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Dim3(u32, u32, u32);

fn place<T>(value: &mut T) -> usize {
    (value as *mut T).expose_provenance()
}

fn program() {
    // SAFETY: the library that the test has put there, called as `cuda_runtime_api.h` says.
    unsafe {
        let runtime = Library::new("libcudart.so.13").expect("a libcudart is found");
        type W = usize;
        let at = |name: &str| {
            *runtime.get::<unsafe extern "C" fn()>(name).unwrap_or_else(|e| panic!("{e}")) as *const c_void
        };
        macro_rules! rt {
            ($name:ident($($arg:expr),*)) => {{
                let function: extern "C" fn($(rt!(@word $arg)),*) -> u32 = std::mem::transmute(at(stringify!($name)));
                function($($arg as usize),*)
            }};
            (@word $arg:expr) => { W };
        }
        let text = |function: &str, code: u32| {
            let function: extern "C" fn(u32) -> *const c_char = std::mem::transmute(at(function));
            CStr::from_ptr(function(code)).to_str().unwrap().to_owned()
        };

        // What runs before `main`: nothing of the device is touched.
        let wrapper = Wrapper { magic: 0x4662_43b1, version: 1, data: KERNELS.as_ptr(), more: 0 };
        let register: extern "C" fn(*const Wrapper) -> W = std::mem::transmute(at("__cudaRegisterFatBinary"));
        let binary = register(&raw const wrapper);
        let (mut count, mut wild, mut counter, mut managed) = (0u8, 0u8, 0u32, 0u64);
        for (function, name) in [(place(&mut count), c"count"), (place(&mut wild), c"wild")] {
            let name = name.as_ptr().expose_provenance();
            rt!(__cudaRegisterFunction(binary, function, name, name, -1i32, 0, 0, 0, 0, 0));
        }
        let name = c"counter".as_ptr().expose_provenance();
        rt!(__cudaRegisterVar(binary, place(&mut counter), name, name, 0, 4, 0, 0));
        let name = c"shared_by_both".as_ptr().expose_provenance();
        rt!(__cudaRegisterManagedVar(binary, place(&mut managed), name, name, 0, 8, 0, 0));
        rt!(__cudaRegisterFatBinaryEnd(binary));

        // `count<<<dim3(2), dim3(32), 0, 0>>>(3)`
        let push: extern "C" fn(Dim3, Dim3, W, W) -> u32 =
            std::mem::transmute(at("__cudaPushCallConfiguration"));
        let launch: extern "C" fn(W, Dim3, Dim3, *mut W, W, W) -> u32 =
            std::mem::transmute(at("cudaLaunchKernel"));
        let start = |function: W, grid: Dim3, block: Dim3, times: u32| {
            assert_eq!(push(grid, block, 0, 0), 0);
            let (mut grid, mut block, mut shared, mut stream) =
                (Dim3(0, 0, 0), Dim3(0, 0, 0), 1usize, 1usize);
            let popped = rt!(__cudaPopCallConfiguration(
                place(&mut grid),
                place(&mut block),
                place(&mut shared),
                place(&mut stream)
            ));
            assert_eq!((popped, shared, stream), (0, 0, 0));
            let mut times = times;
            launch(function, grid, block, [place(&mut times)].as_mut_ptr(), shared, stream)
        };
        assert_eq!(rt!(__cudaPopCallConfiguration(0, 0, 0, 0)), 52, "nothing was pushed");
        assert_eq!(start(place(&mut count), Dim3(2, 1, 1), Dim3(32, 1, 1), 3), 0);
        assert_eq!(rt!(cudaDeviceSynchronize()), 0);

        // Variables: by the host's, by copies, and managed ones by pointer.
        let mut value = 0u32;
        assert_eq!(rt!(cudaMemcpyFromSymbol(place(&mut value), place(&mut counter), 4, 0, 2)), 0);
        assert_eq!(value, 5 + 64 * 3);
        value = 1;
        assert_eq!(rt!(cudaMemcpyToSymbol(place(&mut counter), place(&mut value), 4, 0, 1)), 0);
        let shared = std::ptr::with_exposed_provenance_mut::<u32>(managed as usize);
        assert_eq!((shared.read(), shared.add(1).read()), (7 + 64, 9));
        let (mut address, mut size) = (0u64, 0usize);
        assert_eq!(
            rt!(cudaGetSymbolAddress(place(&mut address), managed)),
            0,
            "named by what the pointer leads to"
        );
        assert_eq!(
            (rt!(cudaGetSymbolSize(place(&mut size), place(&mut managed))), address, size),
            (0, managed, 8)
        );
        assert_eq!(rt!(cudaGetSymbolSize(place(&mut size), place(&mut value))), 13);

        // The last error is kept until it is asked for; success does not change it.
        assert_eq!(start(place(&mut value), Dim3(1, 1, 1), Dim3(1, 1, 1), 0), 400, "no kernel");
        assert_eq!(rt!(cudaDeviceSynchronize()), 0);
        assert_eq!(
            (rt!(cudaPeekAtLastError()), rt!(cudaGetLastError()), rt!(cudaGetLastError())),
            (400, 400, 0)
        );
        assert_eq!(start(place(&mut count), Dim3(1, 1, 1), Dim3(1025, 1, 1), 0), 1);
        assert_eq!(start(place(&mut count), Dim3(0, 1, 1), Dim3(1, 1, 1), 0), 1);
        assert_eq!(rt!(cudaGetLastError()), 1);
        assert_eq!(text("cudaGetErrorName", 98), "cudaErrorInvalidDeviceFunction");
        assert_eq!(text("cudaGetErrorString", 700), "an illegal memory access was encountered");
        assert_eq!(text("cudaGetErrorString", 12345), "unrecognized error code");

        // Devices.
        let (mut devices, mut device) = (0i32, 9i32);
        assert_eq!((rt!(cudaGetDeviceCount(place(&mut devices))), devices), (0, 2));
        assert_eq!((rt!(cudaSetDevice(2)), rt!(cudaSetDevice(1))), (101, 0));
        assert_eq!((rt!(cudaGetDevice(place(&mut device))), device), (0, 1));
        let mut properties = vec![0u8; 4096];
        assert_eq!(rt!(cudaGetDeviceProperties(properties.as_mut_ptr().expose_provenance(), 1)), 0);
        let word = |at: usize| i32::from_le_bytes(*properties[at..].first_chunk().expect("it is inside"));
        // `major` and `minor`, of the architecture that the second device has; where `cuda_runtime_api.h` has them.
        assert_eq!((word(360), word(364)), (8, 0));
        assert_eq!(rt!(cudaSetDevice(0)), 0);

        // A fault stays for every call, until the device is reset.
        assert_eq!(start(place(&mut wild), Dim3(1, 1, 1), Dim3(1, 1, 1), 0), 0, "a launch does not wait");
        assert_eq!(rt!(cudaDeviceSynchronize()), 700);
        assert_eq!((rt!(cudaMalloc(place(&mut address), 16)), rt!(cudaGetLastError())), (700, 700));
        assert_eq!(rt!(cudaDeviceReset()), 0);
        rt!(cudaGetLastError());
        assert_eq!(rt!(cudaMalloc(place(&mut address), 16)), 0);
        assert_eq!(start(place(&mut count), Dim3(1, 1, 1), Dim3(1, 1, 1), 2), 0);
        assert_eq!(rt!(cudaMemcpyFromSymbol(place(&mut value), place(&mut counter), 4, 0, 4)), 0);
        assert_eq!(value, 7, "variables are as the program has them");

        assert_eq!(rt!(cudaImportExternalMemory(0, 0)), 801, "what is not there says so");
        rt!(__cudaUnregisterFatBinary(binary));
        println!("all is well");
    }
}

#[test]
fn a_program_by_hand() {
    if std::env::var_os(CLIENT).is_some() {
        return program();
    }
    let built = std::env::current_exe().expect("this test").parent().map(PathBuf::from).unwrap_or_default();
    let folder = built.join("runtime-test");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, of) in
        [("libcuda.so.1", "libwarpsmith_cuda.so"), ("libcudart.so.13", "libwarpsmith_cudart.so")]
    {
        let to = folder.join(name);
        if to.exists() {
            std::fs::remove_file(&to).expect("the old one goes");
        }
        std::fs::copy(built.join(of), &to).unwrap_or_else(|error| panic!("{of}: {error}"));
    }
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "a_program_by_hand", "--nocapture"]).env(CLIENT, "1");
    command.env("LD_LIBRARY_PATH", &folder).env("WARPSMITH_DEVICES", "sm_90,sm_80");
    let output = command.output().expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("all is well"), "{out}\n{err}");
    assert!(
        err.contains("cudaImportExternalMemory is not supported") && err.contains("out_of_bounds"),
        "{err}"
    );
}
