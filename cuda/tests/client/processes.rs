//! Memory and events that two processes have.

use crate::library::{Context, allocate, download, null, symbol, upload};
use std::ffi::c_void;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Names the handles, as hexadecimal numbers, to the process that opens them.
const VARIABLE: &str = "WARPSMITH_TEST_HANDLES";

/// `CUipcMemHandle`, `CUipcEventHandle`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Handle([u64; 8]);

/// Calls a function that takes a handle by value.
fn open(name: &str, handle: Handle) -> (u32, u64) {
    // SAFETY: as `cuda.h` has the functions that open, but for flags, which are in the register that follows.
    let function: extern "C" fn(*mut u64, Handle, u32) -> u32 = unsafe { std::mem::transmute(symbol(name)) };
    let mut opened = 0;
    (function(&raw mut opened, handle, 1), opened)
}

extern "C" fn wait_for_flag(flag: *mut c_void) {
    // SAFETY: the test passes a flag that outlives the call.
    let flag = unsafe { &*flag.cast::<AtomicU32>() };
    while flag.load(Ordering::Acquire) == 0 {
        std::thread::sleep(Duration::from_micros(50));
    }
}

#[test]
fn another_process_waits_for_an_event() {
    let _context = Context::new();
    let (mut stream, mut event, flag) = (0u64, 0u64, AtomicU32::new(0));
    assert_eq!((cu!(cuStreamCreate(&mut stream, 1u32)), cu!(cuEventCreate(&mut event, 6u32))), (0, 0));
    let place = upload(&[1u32, 0, 0]);
    let mut handles = [Handle([0; 8]); 2];
    assert_eq!(cu!(cuIpcGetMemHandle(&mut handles[0], place)), 0);
    assert_eq!(cu!(cuIpcGetEventHandle(&mut handles[1], event)), 0);
    let function = wait_for_flag as extern "C" fn(*mut c_void) as *const c_void;
    assert_eq!(cu!(cuLaunchHostFunc(stream, function, (&raw const flag).cast_mut())), 0);
    assert_eq!(cu!(cuMemsetD32Async(place, 7u32, 1usize, stream)), 0);
    assert_eq!((cu!(cuEventRecord(event, stream)), cu!(cuEventQuery(event))), (0, 600));

    let words: Vec<String> = handles.iter().flat_map(|h| h.0.map(|word| format!("{word:x}"))).collect();
    let mut command = Command::new(std::env::current_exe().expect("the test has a path"));
    command.args(["--ignored", "--exact", "processes::the_other_process", "--test-threads=1", "--nocapture"]);
    let mut child = command.env(VARIABLE, words.join(" ")).spawn().expect("the test runs again");
    // The other process says so when it has seen that the event has not happened.
    while download::<u32>(place + 4, 1) != [1] {
        assert_eq!(child.try_wait().expect("it is a child"), None, "it has ended too soon");
        std::thread::sleep(Duration::from_millis(1));
    }
    flag.store(1, Ordering::Release);
    assert_eq!((cu!(cuEventSynchronize(event)), cu!(cuEventQuery(event))), (0, 0));
    assert!(child.wait().expect("it is a child").success());
    assert_eq!(download::<u32>(place, 3), [7, 1, 9], "what the other process has written behind the event");
    assert_eq!((cu!(cuEventQuery(event)), cu!(cuEventDestroy_v2(event))), (0, 0));
}

#[test]
#[ignore = "run by another, with handles"]
fn the_other_process() {
    let text = std::env::var(VARIABLE).expect("it is run by another");
    let words: Vec<u64> =
        text.split(' ').map(|word| u64::from_str_radix(word, 16).expect("a number")).collect();
    let [memory, event] = [0, 8].map(|at| Handle(words[at..at + 8].try_into().expect("eight words")));
    let _context = Context::new();
    let (answer, place) = open("cuIpcOpenMemHandle_v2", memory);
    assert_eq!((answer, download::<u32>(place, 1)), (0, vec![1]));
    let (answer, event) = open("cuIpcOpenEventHandle", event);
    assert_eq!((answer, cu!(cuEventQuery(event))), (0, 600));
    let mut stream = 0u64;
    assert_eq!(cu!(cuStreamCreate(&mut stream, 1u32)), 0);
    assert_eq!(cu!(cuStreamWaitEvent(stream, event, 0u32)), 0);
    assert_eq!(cu!(cuMemsetD32Async(place + 8, 9u32, 1usize, stream)), 0);
    assert_eq!((cu!(cuStreamQuery(stream)), download::<u32>(place + 8, 1)), (600, vec![0]));
    assert_eq!(cu!(cuMemsetD32Async(place + 4, 1u32, 1usize, null())), 0);
    assert_eq!((cu!(cuEventSynchronize(event)), download::<u32>(place, 1)), (0, vec![7]));
    assert_eq!((cu!(cuStreamSynchronize(stream)), download::<u32>(place + 8, 1)), (0, vec![9]));
    // This process may record it, too.
    assert_eq!((cu!(cuEventRecord(event, stream)), cu!(cuEventQuery(event))), (0, 0));
    assert_eq!((cu!(cuEventDestroy_v2(event)), cu!(cuIpcCloseMemHandle(place))), (0, 0));
}

#[test]
fn handles_for_other_processes_are_checked() {
    let _context = Context::new();
    let (mut event, mut plain) = (0u64, 0u64);
    assert_eq!((cu!(cuEventCreate(&mut event, 6u32)), cu!(cuEventCreate(&mut plain, 2u32))), (0, 0));
    let (mut memory, mut handle) = (Handle([0; 8]), Handle([0; 8]));
    assert_eq!(cu!(cuIpcGetEventHandle(&mut handle, plain)), 400, "an event of this process alone");
    assert_eq!(
        (cu!(cuIpcGetEventHandle(null(), event)), cu!(cuIpcGetEventHandle(&mut handle, 1u64))),
        (1, 400)
    );
    assert_eq!(cu!(cuIpcGetEventHandle(&mut handle, event)), 0);
    assert_eq!(cu!(cuIpcGetMemHandle(&mut memory, allocate(16))), 0);
    assert_eq!(open("cuIpcOpenEventHandle", handle).0, 201, "it is of this process");
    let zero = Handle([0; 8]);
    let wrong = [zero, memory].map(|handle| open("cuIpcOpenEventHandle", handle).0);
    assert_eq!(wrong, [205, 205]);
    assert_eq!([zero, handle].map(|handle| open("cuIpcOpenMemHandle_v2", handle).0), [1, 1]);
    // A process, or a file of one, that is not there.
    for (at, word) in [(1, 0x7fff_ffff), (2, 0xffff)] {
        let mut gone = handle;
        gone.0[at] = word;
        gone.0[1] += u64::from(at == 2);
        assert_eq!(open("cuIpcOpenEventHandle", gone).0, 205);
    }
}
