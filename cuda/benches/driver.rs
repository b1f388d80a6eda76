//! What calls of the driver API cost beside the engine's own work: launches, allocations, loading a module, the best of many rounds.
//!
//! It opens the library that `WARPSMITH_LIBCUDA` names, or the one that cargo has built beside it. Times are the processor's for this thread, which does
//! the work of a launch of one block, so that other programs do not count.

use libloading::Library;
use std::ffi::{CString, c_void};
use std::fmt::Write;
use std::path::PathBuf;
use warpsmith::ptx::ValidatedModule;
use warpsmith::{Device, Launch, Program};

const KERNELS: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry empty(.param .u64 p, .param .u32 n) { ret; }
.visible .entry stores(.param .u64 p, .param .u32 n)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// Microseconds that this thread has had a processor for.
fn now() -> f64 {
    /// `CLOCK_THREAD_CPUTIME_ID` of Linux.
    const OWN: i32 = 3;
    let mut time = [0; 2];
    // SAFETY: a `timespec` of a 64-bit system.
    assert_eq!(unsafe { clock_gettime(OWN, &raw mut time) }, 0);
    time[0] as f64 * 1e6 + time[1] as f64 / 1e3
}

/// Microseconds since then.
fn since(start: f64) -> f64 {
    now() - start
}

/// Microseconds of a call, the best of 40 rounds.
fn best(calls: usize, mut call: impl FnMut()) -> f64 {
    let round = |_| {
        let start = now();
        (0..calls).for_each(|_| call());
        since(start) / calls as f64
    };
    (0..40).map(round).fold(f64::INFINITY, f64::min)
}

/// Microseconds of what is too long for many rounds, and what it gives: the best of three.
fn best_of_three<T>(mut call: impl FnMut() -> T) -> f64 {
    let round = |_| {
        let start = now();
        let made = call();
        let took = since(start);
        drop(made);
        took
    };
    (0..3).map(round).fold(f64::INFINITY, f64::min)
}

/// What the engine itself needs for a launch of one block.
fn own_launch(kernel: &str, threads: u32) -> f64 {
    let program = Program::load(&ValidatedModule::parse(KERNELS).expect("it is valid")).expect("it is known");
    let mut device = Device::new();
    let buffer = device.alloc(4096).expect("there is room");
    let launch = Launch::new(kernel).block([threads, 1, 1]).arg(buffer).arg(5u32);
    best(1000, || assert!(device.launch(&program, &launch).is_ok()))
}

fn place<T>(value: &mut T) -> usize {
    (value as *mut T).expose_provenance()
}

fn main() {
    let beside = || {
        let own = std::env::current_exe().expect("this has a path");
        own.parent().expect("a folder").join("libwarpsmith_cuda.so")
    };
    let path = std::env::var_os("WARPSMITH_LIBCUDA").map_or_else(beside, PathBuf::from);
    // SAFETY: a libcuda, called as `cuda.h` says.
    unsafe {
        let cuda = Library::new(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        type W = usize;
        let at = |name: &str| {
            *cuda.get::<unsafe extern "C" fn()>(name).unwrap_or_else(|error| panic!("{error}"))
                as *const c_void
        };
        macro_rules! function {
            ($name:literal, $($arg:ty),*) => {
                std::mem::transmute::<*const c_void, extern "C" fn($($arg),*) -> u32>(at($name))
            };
        }
        let (mut context, mut module, mut address, mut n) = (0u64, 0u64, 0u64, 5u32);
        assert_eq!(function!("cuInit", W)(0), 0);
        assert_eq!(function!("cuCtxCreate_v2", W, W, W)(place(&mut context), 0, 0), 0);
        let load = function!("cuModuleLoadData", W, W);
        let text = CString::new(KERNELS).expect("a text");
        assert_eq!(load(place(&mut module), text.as_ptr().expose_provenance()), 0);
        let get = function!("cuModuleGetFunction", W, W, W);
        let [empty, stores] = [c"empty", c"stores"].map(|name| {
            let mut function = 0u64;
            assert_eq!(get(place(&mut function), module as W, name.as_ptr().expose_provenance()), 0);
            function as W
        });
        let (alloc, free) = (function!("cuMemAlloc_v2", W, W), function!("cuMemFree_v2", W));
        assert_eq!(alloc(place(&mut address), 4096), 0);
        let launch = function!("cuLaunchKernel", W, W, W, W, W, W, W, W, W, W, W);
        let mut params = [place(&mut address), place(&mut n)];
        let params = place(&mut params);
        let run = |function: W, threads: W| {
            assert_eq!(launch(function, 1, 1, 1, threads, 1, 1, 0, 0, params, 0), 0);
        };
        let line = |what: &str, all: f64, own: f64| {
            println!("{what}: {all:.2} us, of which the engine {own:.2} us");
        };
        line("launch of an empty kernel of one thread", best(1000, || run(empty, 1)), own_launch("empty", 1));
        line("launch of a warp that stores", best(1000, || run(stores, 32)), own_launch("stores", 32));
        let mut other = 0u64;
        let pair = best(1000, || {
            assert_eq!((alloc(place(&mut other), 256), free(other as W)), (0, 0));
        });
        println!("allocation and its end: {pair:.2} us");
        let start = now();
        let mut all = vec![0u64; 100_000];
        all.iter_mut().for_each(|one| assert_eq!(alloc(place(one), 64), 0));
        println!("one of 100,000 allocations: {:.2} us", since(start) / 1e5);
        println!("launch of a warp that stores among them: {:.2} us", best(1000, || run(stores, 32)));
        let start = now();
        all.iter().for_each(|one| assert_eq!(free(*one as W), 0));
        println!("the end of one of them: {:.2} us", since(start) / 1e5);
        let mut text = ".version 7.0\n.target sm_80\n.address_size 64\n".to_owned();
        for i in 0..50_000 {
            let body = "{ .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [p]; mov.u32 %r, %tid.x; st.global.u32 [%rd], %r; ret; }";
            writeln!(text, ".visible .entry k{i}(.param .u64 p) {body}").expect("a text takes it");
        }
        let bytes = text.len() as f64;
        let own = best_of_three(|| {
            let module = ValidatedModule::parse(text.as_str()).expect("it is valid");
            Program::load(&module).expect("it is known")
        });
        let text = CString::new(text).expect("a text");
        let unload = function!("cuModuleUnload", W);
        let took = best_of_three(|| {
            assert_eq!(load(place(&mut module), text.as_ptr().expose_provenance()), 0);
            assert_eq!(unload(module as W), 0);
        });
        println!(
            "a module of {:.1} MB: {:.0} ms, {:.1} MB/s; parsed and decoded by the engine {:.0} ms",
            bytes / 1e6,
            took / 1e3,
            bytes / took,
            own / 1e3
        );
    }
}
