//! Launches in all their forms, and what a function says of itself.

use crate::library::{
    Context, allocate, download, function, global, launch, module, null, param, symbol, upload,
};
use crate::{COUNTER, SAXPY};
use std::ffi::{CStr, c_char, c_void};

#[test]
fn saxpy() {
    let _context = Context::new();
    let kernel = function(module(SAXPY), "saxpy");
    let (mut x, mut y) = (upload(&[1f32, 2.0, 3.0]), upload(&[10f32, 20.0, 30.0]));
    let (mut a, mut n) = (2f32, 3u32);
    let mut params = [param(&mut x), param(&mut y), param(&mut a), param(&mut n)];
    assert_eq!(launch(kernel, 1, 32, 0, &mut params), 0);
    assert_eq!(cu!(cuCtxSynchronize()), 0);
    assert_eq!(download::<f32>(y, 3), [12.0, 24.0, 36.0]);
}

#[test]
fn parameters_in_one_buffer() {
    let _context = Context::new();
    let kernel = function(module(SAXPY), "saxpy");
    let (x, y) = (upload(&[1f32, 2.0]), upload(&[0f32, 0.0]));
    let mut buffer = Vec::new();
    buffer.extend_from_slice(&x.to_le_bytes());
    buffer.extend_from_slice(&y.to_le_bytes());
    buffer.extend_from_slice(&3f32.to_le_bytes());
    buffer.extend_from_slice(&2u32.to_le_bytes());
    let mut size = buffer.len();
    let mut launch = |size: &mut usize, key: usize| {
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(key),
            buffer.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(2),
            param(size),
            null(),
        ];
        cu!(cuLaunchKernel(
            kernel,
            1u32,
            1u32,
            1u32,
            2u32,
            1u32,
            1u32,
            0u32,
            0u64,
            null(),
            extra.as_mut_ptr()
        ))
    };
    assert_eq!(launch(&mut size, 1), 0);
    assert_eq!(download::<f32>(y, 2), [3.0, 6.0]);
    // A buffer that is too short, and a key that is none.
    assert_eq!(launch(&mut 4, 1), 1);
    assert_eq!(launch(&mut size, 9), 1);
}

#[repr(C)]
struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: u64,
    attributes: *const [u32; 18],
    count: u32,
}

#[test]
fn launches_with_attributes() {
    let _context = Context::new();
    let text = "
.version 7.8
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, %cluster_nctarank;
    mad.lo.u32 %r3, %r2, 10, %r1;
    mad.wide.u32 %rd1, %r0, 4, %rd0;
    st.global.u32 [%rd1], %r3;
    ret;
}";
    let kernel = function(module(text), "ranks");
    let mut out = allocate(16);
    let mut params = [param(&mut out)];
    let mut attributes = [[0u32; 18]; 2];
    (attributes[0][0], attributes[0][2], attributes[0][3], attributes[0][4]) = (4, 2, 1, 1);
    (attributes[1][0], attributes[1][2]) = (2, 1);
    let mut config = Config {
        grid: [4, 1, 1],
        block: [1; 3],
        shared: 0,
        stream: 0,
        attributes: attributes.as_ptr(),
        count: 2,
    };
    assert_eq!(cu!(cuLaunchKernelEx(&mut config, kernel, params.as_mut_ptr(), null())), 0);
    assert_eq!(download::<u32>(out, 4), [20, 21, 20, 21]);
    // Clusters that do not fill the grid, and an attribute that there is not.
    let odd = [[4, 0, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0u32]];
    (config.attributes, config.count) = (odd.as_ptr(), 1);
    assert_eq!(cu!(cuLaunchKernelEx(&mut config, kernel, params.as_mut_ptr(), null())), 912);
    let wrong = [[99u32; 18]];
    (config.attributes, config.count) = (wrong.as_ptr(), 1);
    assert_eq!(cu!(cuLaunchKernelEx(&mut config, kernel, params.as_mut_ptr(), null())), 1);
}

#[test]
fn variables_of_modules() {
    let _context = Context::new();
    let module = module(COUNTER);
    let kernel = function(module, "count");
    let ((counter, bytes), (step, _)) = (global(module, "counter"), global(module, "step"));
    assert_eq!(bytes, 4);
    let mut times = 5u32;
    assert_eq!(launch(kernel, 1, 1, 0, &mut [param(&mut times)]), 0);
    assert_eq!(download::<u32>(counter, 1), [5]);
    assert_eq!(cu!(cuMemcpyHtoD_v2(step, [100u32].as_ptr(), 4usize)), 0);
    assert_eq!(launch(kernel, 1, 1, 0, &mut [param(&mut times)]), 0);
    assert_eq!(download::<u32>(counter, 1), [505]);
    assert_eq!(cu!(cuModuleUnload(module)), 0);
    assert_eq!(launch(kernel, 1, 1, 0, &mut [param(&mut times)]), 400, "a function of a module that is gone");
}

#[test]
fn libraries_have_a_module_in_each_context() {
    let first = Context::new();
    let text = std::ffi::CString::new(COUNTER).unwrap();
    let (mut library, mut kernel, mut counter) = (0u64, 0u64, 0u64);
    let load =
        cu!(cuLibraryLoadData(&mut library, text.as_ptr(), null(), null(), 0u32, null(), null(), 0u32));
    assert_eq!(load, 0);
    assert_eq!(cu!(cuLibraryGetKernel(&mut kernel, library, c"count".as_ptr())), 0);
    let mut times = 7u32;
    assert_eq!(launch(kernel, 1, 1, 0, &mut [param(&mut times)]), 0, "a kernel is taken for a function");
    assert_eq!(cu!(cuLibraryGetGlobal(&mut counter, null(), library, c"counter".as_ptr())), 0);
    assert_eq!(download::<u32>(counter, 1), [7]);
    let second = Context::new();
    let mut other = 0u64;
    assert_eq!(cu!(cuLibraryGetGlobal(&mut other, null(), library, c"counter".as_ptr())), 0);
    assert_eq!(download::<u32>(other, 1), [0]);
    drop(second);
    assert_eq!(cu!(cuCtxSetCurrent(first.0)), 0);
    let mut name: *const c_char = std::ptr::null();
    assert_eq!(cu!(cuKernelGetName(&mut name, kernel)), 0);
    // SAFETY: the library says that it is a text.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"count");
    assert_eq!(cu!(cuLibraryUnload(library)), 0);
    assert_eq!(launch(kernel, 1, 1, 0, &mut [param(&mut times)]), 400);
}

#[test]
fn attributes_and_occupancy() {
    let _context = Context::new();
    let text = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 b)
.maxntid 256
{
    .shared .align 4 .b8 tile[1024];
    .reg .b32 %r;
    mov.u32 %r, tile;
    st.shared.u32 [%r], %r;
    ret;
}";
    let kernel = function(module(text), "k");
    let get = |number: u32| {
        let mut value = -1i32;
        (cu!(cuFuncGetAttribute(&mut value, number, kernel)), value)
    };
    assert_eq!((get(0), get(1), get(8)), ((0, 256), (0, 1024), (0, 47 << 10)));
    assert_eq!(get(99).0, 1);
    assert_eq!(cu!(cuFuncSetAttribute(kernel, 8u32, 100_000i32)), 0);
    assert_eq!(get(8), (0, 100_000));
    assert_eq!(cu!(cuFuncSetAttribute(kernel, 8u32, 10_000_000i32)), 1);
    let (mut offset, mut size) = (0usize, 0usize);
    assert_eq!(cu!(cuFuncGetParamInfo(kernel, 1usize, &mut offset, &mut size)), 0);
    assert_eq!((offset, size), (8, 4));
    assert_eq!(cu!(cuFuncGetParamInfo(kernel, 2usize, &mut offset, &mut size)), 1);
    let (mut grid, mut block, mut blocks) = (0i32, 0i32, 0i32);
    let best = cu!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, kernel, null(), 0usize, 0i32));
    assert_eq!((best, grid, block), (0, 132 * 8, 256));
    assert_eq!(cu!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel, 1024i32, 0usize)), 0);
    assert_eq!(blocks, 2);
}

#[test]
fn functions_are_found_by_name_and_version() {
    assert_eq!(cu!(cuInit(0u32)), 0);
    let find = |name: &CStr, version: i32| {
        let (mut address, mut status) = (null(), 7u32);
        let result = cu!(cuGetProcAddress_v2(name.as_ptr(), &mut address, version, 0u64, &mut status));
        (result, address.cast_const(), status)
    };
    assert_eq!(find(c"cuMemAlloc", 13000), (0, symbol("cuMemAlloc_v2"), 0));
    assert_eq!(find(c"cuCtxCreate", 11040), (0, symbol("cuCtxCreate_v3"), 0));
    assert_eq!(find(c"cuNoSuchThing", 13000), (0, std::ptr::null(), 1));
    assert_eq!(find(c"cuLaunchKernelEx", 11000), (0, std::ptr::null(), 2));
    // What is not there says so when it is called.
    let (found, address, _) = find(c"cuGreenCtxCreate", 13000);
    assert_eq!((found, address), (0, symbol("cuGreenCtxCreate")));
    assert_eq!(cu!(cuGreenCtxCreate(null(), null(), 0i32, 0u32)), 801);
}

#[test]
fn tensor_maps_are_checked() {
    let _context = Context::new();
    let (address, mut map) = (allocate(64 * 256), [0u8; 128]);
    let (sizes, strides, mut boxes, steps) = ([128u64, 64], [256u64], [64u32, 8], [1u32, 1]);
    let mut encode = |rank: u32, data_type: u32, boxes: &[u32; 2]| {
        cu!(cuTensorMapEncodeTiled(
            &mut map,
            data_type,
            rank,
            address,
            sizes.as_ptr(),
            strides.as_ptr(),
            boxes.as_ptr(),
            steps.as_ptr(),
            0u32,
            3u32,
            0u32,
            0u32
        ))
    };
    assert_eq!(encode(2, 6, &boxes), 0);
    assert_eq!((encode(6, 6, &boxes), encode(2, 99, &boxes)), (1, 1));
    boxes[0] = 128;
    assert_eq!(encode(2, 6, &boxes), 1, "a box wider than the swizzle");
    assert_ne!(map, [0u8; 128]);
}

/// What nvcc 13.0 makes of `extern "C" __global__ void fill(int* p, int v) { p[threadIdx.x] = v + threadIdx.x; }` with
/// `-fatbin -arch=compute_90`, and `--no-compress`, nothing, or `-compress-mode=speed`.
const FAT_BINARIES: [&[u8]; 3] = [
    include_bytes!("data/plain.fatbin"),
    include_bytes!("data/zstd.fatbin"),
    include_bytes!("data/lz4.fatbin"),
];

#[test]
fn fat_binaries_of_nvcc() {
    let _context = Context::new();
    for (number, binary) in (7i32..).zip(FAT_BINARIES) {
        // As a file has it, and in the wrapper that a program has.
        let wrapper = [0x1_4662_43b1u64, binary.as_ptr().expose_provenance() as u64, 0];
        for image in [binary.as_ptr(), wrapper.as_ptr().cast()] {
            let mut module = 0u64;
            assert_eq!(cu!(cuModuleLoadData(&mut module, image)), 0, "{number}");
            let (mut out, mut first) = (allocate(16), number);
            let mut params = [param(&mut out), param(&mut first)];
            assert_eq!(launch(function(module, "fill"), 1, 4, 0, &mut params), 0);
            assert_eq!(download::<i32>(out, 4), [number, number + 1, number + 2, number + 3]);
        }
        // Damaged ones are refused, whatever byte it is that differs.
        for at in (4..binary.len()).step_by(9) {
            let mut damaged = binary.to_vec();
            damaged[at] ^= 0x55;
            // The size in the header is how much is read: what it says of this memory is believed.
            if (8..16).contains(&at) {
                continue;
            }
            let answer = cu!(cuModuleLoadData(&mut 0u64, damaged.as_ptr()));
            assert!([0, 200, 209, 218, 801].contains(&answer), "{number} {at}: {answer}");
        }
    }
}

#[test]
fn a_function_that_holds_its_parameters() {
    let _context = Context::new();
    let kernel = function(module(SAXPY), "saxpy");
    let (x, y) = (upload(&[1f32, 2.0, 3.0]), upload(&[10f32, 20.0, 30.0]));
    let pointers = [x, y];
    assert_eq!(cu!(cuFuncSetBlockShape(kernel, 0i32, 1i32, 1i32)), 1);
    assert_eq!(cu!(cuFuncSetBlockShape(kernel, 32i32, 1i32, 1i32)), 0);
    assert_eq!(cu!(cuFuncSetSharedSize(kernel, 64u32)), 0);
    assert_eq!(cu!(cuParamSetv(kernel, 0i32, pointers.as_ptr(), 16u32)), 0);
    assert_eq!(cu!(cuParamSeti(kernel, 16i32, 2f32.to_bits())), 0);
    assert_eq!(cu!(cuParamSeti(kernel, 20i32, 3u32)), 0);
    assert_eq!(cu!(cuParamSeti(kernel, -1i32, 3u32)), 1);
    assert_eq!(cu!(cuParamSetv(kernel, 32_760i32, pointers.as_ptr(), 16u32)), 1);
    assert_eq!(cu!(cuLaunch(kernel)), 1, "no size was set");
    assert_eq!((cu!(cuParamSetSize(kernel, 1u32 << 20)), cu!(cuParamSetSize(kernel, 24u32))), (1, 0));
    assert_eq!((cu!(cuLaunch(kernel)), cu!(cuCtxSynchronize())), (0, 0));
    assert_eq!(download::<f32>(y, 3), [12.0, 24.0, 36.0]);
    assert_eq!((cu!(cuLaunchGrid(kernel, 1i32, 0i32)), cu!(cuLaunchGrid(kernel, 1i32, 1i32))), (1, 0));
    let mut stream = 0u64;
    assert_eq!(cu!(cuStreamCreate(&mut stream, 0u32)), 0);
    assert_eq!(cu!(cuLaunchGridAsync(kernel, 1i32, 1i32, stream)), 0);
    assert_eq!((cu!(cuStreamSynchronize(stream)), download::<f32>(y, 3)), (0, vec![16.0, 32.0, 48.0]));
}
