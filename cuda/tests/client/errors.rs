//! Misuse: null pointers, handles that are foreign or gone, wrong sizes. Each has its documented answer, and nothing crashes.

use crate::SAXPY;
use crate::library::{Context, allocate, function, launch, module, null, param, upload};
use std::ffi::{CStr, CString, c_char};

const INVALID_VALUE: u32 = 1;
const INVALID_CONTEXT: u32 = 201;
const INVALID_HANDLE: u32 = 400;

#[test]
fn null_pointers() {
    let _context = Context::new();
    let nothing = null();
    let answers = [
        cu!(cuDeviceGet(nothing, 0i32)),
        cu!(cuDeviceGetCount(nothing)),
        cu!(cuDeviceGetAttribute(nothing, 1u32, 0i32)),
        cu!(cuDeviceGetName(nothing, 10i32, 0i32)),
        cu!(cuCtxCreate_v2(nothing, 0u32, 0i32)),
        cu!(cuMemAlloc_v2(nothing, 16usize)),
        cu!(cuMemHostAlloc(nothing, 16usize, 0u32)),
        cu!(cuMemHostRegister_v2(nothing, 16usize, 0u32)),
        cu!(cuModuleLoadData(nothing, c".version 7.0\n.target sm_80\n".as_ptr())),
        cu!(cuModuleLoadData(&mut 0u64, nothing)),
        cu!(cuModuleLoad(&mut 0u64, nothing)),
        cu!(cuStreamCreate(nothing, 0u32)),
        cu!(cuEventCreate(nothing, 0u32)),
        cu!(cuGraphCreate(nothing, 0u32)),
        cu!(cuGetProcAddress_v2(nothing, nothing, 13000i32, 0u64, nothing)),
        cu!(cuMemcpy2D_v2(nothing)),
        cu!(cuMemcpy3DAsync_v2(nothing, 0u64)),
        cu!(cuLaunchKernelEx(nothing, 0u64, nothing, nothing)),
        cu!(cuPointerGetAttribute(nothing, 2u32, allocate(4))),
        cu!(cuLaunchHostFunc(0u64, nothing, nothing)),
        cu!(cuStreamAddCallback(0u64, nothing, nothing, 0u32)),
        cu!(cuLinkCreate_v2(0u32, nothing, nothing, nothing)),
        cu!(cuMemcpyHtoD_v2(allocate(16), nothing, 16usize)),
        cu!(cuMemcpyDtoH_v2(nothing, allocate(16), 16usize)),
        cu!(cuIpcGetMemHandle(nothing, allocate(16))),
        cu!(cuMemPoolCreate(nothing, nothing)),
    ];
    for (i, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer, INVALID_VALUE, "call {i}");
    }
    assert_eq!(cu!(cuMemFree_v2(0u64)), 0, "freeing nothing is allowed");
}

#[test]
fn handles_that_are_none() {
    let _context = Context::new();
    for wrong in [0u64, 1, 0xdead_beef_dead_beef, u64::MAX] {
        assert_eq!(cu!(cuModuleGetFunction(&mut 0u64, wrong, c"k".as_ptr())), INVALID_HANDLE);
        assert_eq!(cu!(cuModuleUnload(wrong)), INVALID_HANDLE);
        assert_eq!(launch(wrong, 1, 1, 0, &mut []), INVALID_HANDLE);
        assert_eq!(cu!(cuEventRecord(wrong, 0u64)), INVALID_HANDLE);
        assert_eq!(cu!(cuEventDestroy_v2(wrong)), INVALID_HANDLE);
        assert_eq!(cu!(cuEventElapsedTime(&mut 0f32, wrong, wrong)), INVALID_HANDLE);
        assert_eq!(cu!(cuGraphLaunch(wrong, 0u64)), INVALID_VALUE);
        assert_eq!(cu!(cuGraphDestroy(wrong)), INVALID_VALUE);
        let no_context = if wrong == 0 { INVALID_VALUE } else { INVALID_CONTEXT };
        assert_eq!(cu!(cuCtxPushCurrent_v2(wrong)), no_context);
        assert_eq!(cu!(cuCtxDestroy_v2(wrong)), no_context);
        assert_eq!(cu!(cuLinkComplete(wrong, &mut 0u64, &mut 0usize)), INVALID_HANDLE);
        assert_eq!(cu!(cuLibraryUnload(wrong)), INVALID_HANDLE);
        assert_eq!(cu!(cuMemPoolDestroy(wrong)), INVALID_VALUE);
        assert_eq!(cu!(cuGraphNodeGetType(wrong, &mut 0u32)), INVALID_VALUE);
        if wrong > 2 {
            assert_eq!(cu!(cuStreamSynchronize(wrong)), INVALID_HANDLE);
            assert_eq!(cu!(cuStreamDestroy_v2(wrong)), INVALID_HANDLE);
            assert_eq!(cu!(cuMemFree_v2(wrong)), INVALID_VALUE);
            assert_eq!(cu!(cuMemcpyDtoD_v2(wrong, wrong, 8usize)), INVALID_VALUE);
            assert_eq!(cu!(cuMemsetD8_v2(wrong, 0u8, 8usize)), INVALID_VALUE);
        }
    }
}

#[test]
fn handles_that_are_gone() {
    let _context = Context::new();
    let (mut stream, mut event) = (0u64, 0u64);
    assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
    assert_eq!(cu!(cuEventCreate(&mut event, 0u32)), 0);
    assert_eq!((cu!(cuStreamDestroy_v2(stream)), cu!(cuStreamDestroy_v2(stream))), (0, INVALID_HANDLE));
    assert_eq!((cu!(cuEventDestroy_v2(event)), cu!(cuEventDestroy_v2(event))), (0, INVALID_HANDLE));
    let address = allocate(64);
    assert_eq!((cu!(cuMemFree_v2(address)), cu!(cuMemFree_v2(address))), (0, INVALID_VALUE));
    assert_eq!(cu!(cuMemcpyDtoH_v2([0u8; 64].as_mut_ptr(), address, 64usize)), INVALID_VALUE);
    let module = module(SAXPY);
    assert_eq!((cu!(cuModuleUnload(module)), cu!(cuModuleUnload(module))), (0, INVALID_HANDLE));
    // Of a context that is gone, everything is.
    let other = Context::new();
    let inner = allocate(64);
    drop(other);
    assert_eq!(cu!(cuMemFree_v2(inner)), INVALID_VALUE);
}

#[test]
fn no_context() {
    assert_eq!(cu!(cuInit(0u32)), 0);
    std::thread::spawn(|| {
        assert_eq!(cu!(cuMemAlloc_v2(&mut 0u64, 4usize)), INVALID_CONTEXT);
        assert_eq!(cu!(cuCtxGetDevice(&mut 0i32)), INVALID_CONTEXT);
        assert_eq!(cu!(cuCtxPopCurrent_v2(&mut 0u64)), INVALID_CONTEXT);
        let mut current = 1u64;
        assert_eq!((cu!(cuCtxGetCurrent(&mut current)), current), (0, 0));
        let context = Context::new();
        assert_eq!(cu!(cuCtxPushCurrent_v2(context.0)), 0);
        assert_eq!(cu!(cuCtxDestroy_v2(context.0)), 0);
        assert_eq!(cu!(cuMemAlloc_v2(&mut 0u64, 4usize)), 709, "the one below was destroyed");
    })
    .join()
    .unwrap();
}

#[test]
fn sizes_that_do_not_fit() {
    let _context = Context::new();
    let address = allocate(64);
    let mut bytes = [0u8; 128];
    assert_eq!(cu!(cuMemcpyDtoH_v2(bytes.as_mut_ptr(), address, 65usize)), INVALID_VALUE);
    assert_eq!(cu!(cuMemcpyHtoD_v2(address + 1, bytes.as_ptr(), 64usize)), INVALID_VALUE);
    assert_eq!(cu!(cuMemcpyHtoD_v2(address, bytes.as_ptr(), usize::MAX)), INVALID_VALUE);
    assert_eq!(cu!(cuMemsetD32_v2(address, 0u32, 17usize)), INVALID_VALUE);
    assert_eq!(cu!(cuMemsetD32_v2(address, 0u32, usize::MAX / 2)), INVALID_VALUE);
    assert_eq!(cu!(cuMemsetD32_v2(address + 2, 0u32, 1usize)), INVALID_VALUE);
    assert_eq!(cu!(cuMemAlloc_v2(&mut 0u64, 0usize)), INVALID_VALUE);
    assert_eq!(cu!(cuMemAlloc_v2(&mut 0u64, usize::MAX)), 2);
    assert_eq!(cu!(cuMemAlloc_v2(&mut 0u64, 1usize << 45)), 2);
    let kernel = function(module(SAXPY), "saxpy");
    let (mut x, mut a) = (address, 1u64);
    let mut params = [param(&mut x), param(&mut x), param(&mut a), param(&mut a)];
    for (grid, block) in [(0, 1), (1, 0), (1, 1025), (u32::MAX, 1)] {
        assert_eq!(launch(kernel, grid, block, 0, &mut params), INVALID_VALUE, "{grid} {block}");
    }
    assert_eq!(launch(kernel, 1, 1, 0, &mut []), INVALID_VALUE, "no parameters");
    params[2] = null();
    assert_eq!(launch(kernel, 1, 1, 0, &mut params), INVALID_VALUE, "a null parameter");
}

#[test]
fn a_fault_is_told_and_the_next_launch_works() {
    let _context = Context::new();
    let kernel = function(module(SAXPY), "saxpy");
    let (mut x, mut y) = (upload(&[1f32; 8]), upload(&[1f32; 8]));
    let (mut a, mut n) = (2f32, 9u32);
    let mut params = [param(&mut x), param(&mut y), param(&mut a), param(&mut n)];
    assert_eq!(launch(kernel, 1, 32, 0, &mut params), 700);
    x += 2;
    let mut params = [param(&mut x), param(&mut y), param(&mut a), param(&mut n)];
    assert_eq!(launch(kernel, 1, 32, 0, &mut params), 716);
    (x, n) = (x - 2, 8);
    let mut params = [param(&mut x), param(&mut y), param(&mut a), param(&mut n)];
    assert_eq!(launch(kernel, 1, 32, 0, &mut params), 0);
}

#[test]
fn images_that_are_refused() {
    let _context = Context::new();
    let load = |bytes: &[u8]| {
        let bytes = CString::new(bytes).unwrap();
        cu!(cuModuleLoadData(&mut 0u64, bytes.as_ptr()))
    };
    assert_eq!(load(b".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { ret\n}"), 218);
    assert_eq!(load(b""), 218);
    assert_eq!(load(b"\x7fELF\x02\x01\x01"), 209);
    assert_eq!(load(b"\xde\xc0\x17\x0b what"), 200);
    assert_eq!(load(b".version 8.7\n.target sm_120\n.address_size 64\n"), 209);
    // A fat binary of a header that says more than there is, and one of nothing.
    let mut fat = [0u8; 80];
    fat[..8].copy_from_slice(&[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]);
    assert_eq!(cu!(cuModuleLoadData(&mut 0u64, fat.as_ptr())), 209);
    fat[8] = 64;
    fat[16..24].copy_from_slice(&[1, 0, 1, 1, 64, 0, 0, 0]);
    fat[24] = 200;
    assert_eq!(cu!(cuModuleLoadData(&mut 0u64, fat.as_ptr())), 200);
    assert_eq!(cu!(cuModuleLoad(&mut 0u64, c"/no/such/file.ptx".as_ptr())), 301);
}

#[test]
fn errors_have_names_and_texts() {
    let text = |number: u32| {
        let (mut name, mut meaning): (*const c_char, *const c_char) = (std::ptr::null(), std::ptr::null());
        let results = (cu!(cuGetErrorName(number, &mut name)), cu!(cuGetErrorString(number, &mut meaning)));
        if results != (0, 0) {
            assert!(name.is_null() && meaning.is_null() && results == (1, 1));
            return None;
        }
        // SAFETY: the library says that they are texts.
        Some(unsafe { (CStr::from_ptr(name).to_str().unwrap(), CStr::from_ptr(meaning).to_str().unwrap()) })
    };
    assert_eq!(text(700), Some(("CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered")));
    assert_eq!(text(0), Some(("CUDA_SUCCESS", "no error")));
    assert_eq!(text(12345), None);
}
