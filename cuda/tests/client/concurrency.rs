//! Work that waits: functions of the host, streams, threads.

use crate::library::{Context, allocate, download, function, launch, module, null, param, upload};
use crate::{COUNTER, SAXPY};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

extern "C" fn wait_for_flag(flag: *mut c_void) {
    // SAFETY: the test passes a flag that outlives the call.
    let flag = unsafe { &*flag.cast::<AtomicU32>() };
    while flag.load(Ordering::Acquire) == 0 {
        std::thread::sleep(Duration::from_micros(50));
    }
}

#[test]
fn a_host_function_may_wait_for_its_caller() {
    let _context = Context::new();
    let kernel = function(module(SAXPY), "saxpy");
    let (mut stream, mut event, flag) = (0u64, 0u64, AtomicU32::new(0));
    assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
    assert_eq!(cu!(cuEventCreate(&mut event, 0u32)), 0);
    let (mut x, mut y, mut a, mut n) = (upload(&[1f32; 4]), upload(&[1f32; 4]), 4f32, 4u32);
    let function = wait_for_flag as extern "C" fn(*mut c_void) as *const c_void;
    assert_eq!(cu!(cuLaunchHostFunc(stream, function, (&raw const flag).cast_mut())), 0);
    let mut params = [param(&mut x), param(&mut y), param(&mut a), param(&mut n)];
    assert_eq!(launch(kernel, 1, 4, stream, &mut params), 0);
    assert_eq!(cu!(cuEventRecord(event, stream)), 0);
    assert_eq!((cu!(cuEventQuery(event)), cu!(cuStreamQuery(stream))), (600, 600));
    // Other streams go on, and so does the host.
    assert_eq!(download::<f32>(y, 1), [1.0]);
    flag.store(1, Ordering::Release);
    assert_eq!(cu!(cuEventSynchronize(event)), 0);
    assert_eq!(download::<f32>(y, 4), [5.0; 4]);
    assert_eq!(cu!(cuStreamSynchronize(stream)), 0);
}

#[test]
fn the_legacy_stream_waits_for_others() {
    let _context = Context::new();
    let (mut stream, flag) = (0u64, AtomicU32::new(0));
    assert_eq!(cu!(cuStreamCreate(&mut stream, 0u32)), 0);
    let place = upload(&[1u32]);
    let function = wait_for_flag as extern "C" fn(*mut c_void) as *const c_void;
    assert_eq!(cu!(cuLaunchHostFunc(stream, function, (&raw const flag).cast_mut())), 0);
    assert_eq!(cu!(cuMemsetD32Async(place, 2u32, 1usize, stream)), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(5));
            flag.store(1, Ordering::Release);
        });
        assert_eq!(download::<u32>(place, 1), [2], "a copy in the legacy stream");
    });
}

#[test]
fn a_stream_waits_for_a_value_that_another_writes() {
    let _context = Context::new();
    let (mut a, mut b) = (0u64, 0u64);
    assert_eq!((cu!(cuStreamCreate(&mut a, 1u32)), cu!(cuStreamCreate(&mut b, 1u32))), (0, 0));
    let (flag, place) = (upload(&[0u32]), upload(&[0u32]));
    assert_eq!(cu!(cuStreamWaitValue32_v2(a, flag, 5u32, 0u32)), 0);
    assert_eq!(cu!(cuMemsetD32Async(place, 9u32, 1usize, a)), 0);
    assert_eq!(cu!(cuStreamQuery(a)), 600);
    assert_eq!(cu!(cuStreamWriteValue32_v2(b, flag, 5u32, 0u32)), 0);
    assert_eq!(cu!(cuStreamSynchronize(a)), 0);
    assert_eq!(download::<u32>(place, 1), [9]);
}

#[test]
fn threads_launch_at_the_same_time() {
    let context = Context::new();
    let loaded = module(COUNTER);
    let (kernel, (counter, _)) = (function(loaded, "count"), crate::library::global(loaded, "counter"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(cu!(cuCtxSetCurrent(context.0)), 0);
                let mut stream = 0u64;
                assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
                for _ in 0..50 {
                    let (mut times, scratch) = (1u32, allocate(100));
                    assert_eq!(launch(kernel, 3, 32, stream, &mut [param(&mut times)]), 0);
                    assert_eq!(cu!(cuMemFree_v2(scratch)), 0);
                }
                assert_eq!((cu!(cuStreamSynchronize(stream)), cu!(cuStreamDestroy_v2(stream))), (0, 0));
            });
        }
    });
    assert_eq!(download::<u32>(counter, 1), [4 * 50 * 3 * 32]);
    assert_eq!(cu!(cuStreamQuery(2u64)), 0, "the stream of this thread");
    assert_eq!(cu!(cuGetErrorName(0u32, null())), 1);
}

#[test]
fn a_forked_child_goes_on() {
    // In a process of one thread, for a lock that another thread has when a process forks is never free in the child.
    let own = std::env::current_exe().expect("the test has a path");
    let mut command = std::process::Command::new(own);
    command.args(["--ignored", "--exact", "concurrency::fork_and_go_on", "--test-threads=1"]);
    let ran = command.output().expect("the test runs again");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

#[test]
#[ignore = "run by another, in a process of one thread"]
fn fork_and_go_on() {
    let _context = Context::new();
    let loaded = module(COUNTER);
    let (kernel, (counter, _)) = (function(loaded, "count"), crate::library::global(loaded, "counter"));
    let (mut stream, flag) = (0u64, AtomicU32::new(1));
    assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
    // The stream has a thread in the parent, and the engine has its own.
    let work = || {
        let function = wait_for_flag as extern "C" fn(*mut c_void) as *const c_void;
        let mut times = 1u32;
        let answers = [
            cu!(cuLaunchHostFunc(stream, function, (&raw const flag).cast_mut())),
            launch(kernel, 64, 32, stream, &mut [param(&mut times)]),
            cu!(cuStreamSynchronize(stream)),
        ];
        (answers, download::<u32>(counter, 1)[0])
    };
    assert_eq!(work(), ([0; 3], 2048));
    // SAFETY: the child calls the library, and ends without the destructors of its parent.
    unsafe {
        let child = fork();
        if child == 0 {
            _exit(i32::from(work() != ([0; 3], 4096)));
        }
        let mut status = 1;
        assert_eq!((waitpid(child, &raw mut status, 0), status), (child, 0));
    }
    // Each has its own memory from there on.
    assert_eq!(work(), ([0; 3], 4096));
}
