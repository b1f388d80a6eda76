//! Programs that several host threads execute at once: what is hot is compiled and tried meanwhile, and nothing of that changes what a launch does.

use super::load;
use warpsmith_interp::{Device, Launch, Machine, NativeCode, Program};
use warpsmith_native::attach;

/// Two loops apart from each other, each hot, with a barrier and shared memory in the second; every thread has its own results, and all add to one sum. A thread
/// of one block stores out of bounds, if it is asked for.
const KERNEL: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 sum, .param .u32 n, .param .u32 bad) {
    .reg .b32 %r<12>;
    .reg .b64 %rd<5>;
    .reg .pred %p, %q;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd0, [out];
    ld.param.u64 %rd4, [sum];
    ld.param.u32 %r0, [n];
    ld.param.u32 %r10, [bad];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 64, %r1;
    mad.wide.u32 %rd1, %r3, 8, %rd0;
    mov.u32 %r4, %r3;
    mov.u32 %r5, 0;
one:
    mad.lo.u32 %r4, %r4, 3, 1;
    shr.u32 %r6, %r4, 3;
    xor.b32 %r4, %r4, %r6;
    mad.lo.u32 %r4, %r4, 5, 7;
    shr.u32 %r6, %r4, 9;
    xor.b32 %r4, %r4, %r6;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, %r0;
    @%p bra one;
    st.global.u32 [%rd1], %r4;
    atom.global.add.u32 %r6, [%rd4], %r4;
    mov.u32 %r7, tile;
    mad.lo.u32 %r8, %r1, 4, %r7;
    xor.b32 %r9, %r1, 33;
    mad.lo.u32 %r9, %r9, 4, %r7;
    mov.u32 %r5, 0;
two:
    st.shared.u32 [%r8], %r4;
    bar.sync 0;
    ld.shared.u32 %r6, [%r9];
    mad.lo.u32 %r4, %r4, 5, %r6;
    xor.b32 %r4, %r4, %r5;
    mad.lo.u32 %r4, %r6, 3, %r4;
    shr.u32 %r6, %r4, 7;
    xor.b32 %r4, %r4, %r6;
    bar.sync 0;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, %r0;
    @%p bra two;
    setp.eq.u32 %q, %r3, %r10;
    @%q mov.u64 %rd1, 3;
    st.global.u32 [%rd1+4], %r4;
    ret;
}
";

const BLOCKS: u32 = 24;
const NONE: u32 = u32::MAX;

/// Memory and statistics, or the fault.
fn outcome(program: &Program, workers: usize, native: NativeCode, bad: u32) -> String {
    let mut machine = Machine::default();
    machine.native = native;
    let mut device = Device::with_machine(machine);
    let (out, sum) = (device.alloc(u64::from(BLOCKS) * 64 * 8).unwrap(), device.alloc(4).unwrap());
    let launch = Launch::new("k").grid([BLOCKS, 1, 1]).block([64, 1, 1]).workers(workers);
    match device.launch(program, &launch.arg(out).arg(sum).arg(300u32).arg(bad)) {
        Ok(stats) => {
            let (out, sum) = (device.read(out).unwrap(), device.read(sum).unwrap());
            format!("{} {} {sum:?} {out:?}", stats.warp_instructions, stats.thread_instructions)
        }
        Err(fault) => format!("{fault:?}"),
    }
}

/// Launches until nothing more happens to the program's regions, and some more.
fn settle(program: &Program, expected: &str, workers: usize) {
    let state = || (program.compiled_regions(), program.dropped_regions());
    let (mut known, mut last) = (state(), 0);
    for n in 0.. {
        assert!(outcome(program, workers, NativeCode::Auto, NONE) == expected, "launch {n}");
        if state() != known {
            (known, last) = (state(), n);
        }
        // What is hot is compiled by then, and timed.
        if n > 2 * last + 12 && known != ((0, 0), 0) {
            return;
        }
        assert!(n < 2000, "nothing is hot");
    }
}

#[test]
fn regions_get_hot_while_several_threads_execute_them() {
    let plain = load(KERNEL);
    let expected = outcome(&plain, 1, NativeCode::Off, NONE);
    for workers in [2, 5] {
        let mut program = plain.clone();
        attach(&mut program).unwrap();
        settle(&program, &expected, workers);
        // A fault is that of the interpreter.
        let bad = 64 * 17 + 5;
        let [fault, found] = [(&plain, NativeCode::Off), (&program, NativeCode::Auto)]
            .map(|(program, native)| outcome(program, workers, native, bad));
        assert!(fault.contains("Fault") || fault.contains("code"), "{fault}");
        assert_eq!(found, fault);
    }
    let mut always = plain.clone();
    attach(&mut always).unwrap();
    assert!(outcome(&always, 3, NativeCode::Always, NONE) == expected);
    assert!(always.compiled_regions().0 > 0, "all is compiled");
}

/// Launches of one program on several devices at once, too, each with several host threads: they share its code, and what is on trial.
#[test]
fn launches_at_once_share_a_program() {
    let plain = load(KERNEL);
    let expected = outcome(&plain, 1, NativeCode::Off, NONE);
    let mut program = plain.clone();
    attach(&mut program).unwrap();
    std::thread::scope(|scope| {
        for workers in [1, 2, 3] {
            let (program, expected) = (&program, &expected);
            scope.spawn(move || settle(program, expected, workers));
        }
    });
    assert!(program.compiled_regions().0 + program.dropped_regions() > 0, "something was hot");
}
