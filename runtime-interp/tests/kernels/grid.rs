//! Blocks that wait for each other, and grids that do not end.

use super::*;
use warpsmith_interp::Limits;
use warpsmith_interp::observe::{At, Observer, Registers};

/// Between two barriers of the whole grid each block stores the round it is in and looks at its neighbour's. The counter of arrivals is the first word; in
/// the end each block has left the number of rounds in which the neighbour was not behind. `pause` is executed between two looks at the counter.
fn grid_barriers(rounds: u32, pause: &str) -> Program {
    kernel(
        "",
        &format!(
            "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %nctaid.x; mov.u32 %r2, 0; mov.u32 %r3, %r1; mov.u32 %r9, 0; mov.u32 %r10, %tid.x;
             setp.ne.u32 %p0, %r10, 0; mad.wide.u32 %rd1, %r0, 4, %out; add.u32 %r4, %r0, 1; rem.u32 %r4, %r4, %r1; mad.wide.u32 %rd2, %r4, 4, %out;
             round: add.u32 %r2, %r2, 1; @!%p0 st.relaxed.gpu.global.u32 [%rd1+4], %r2; bar.sync 0; @%p0 bra passed;
             atom.add.acq_rel.gpu.global.u32 %r5, [%out], 1;
             wait: {pause} ld.acquire.gpu.global.u32 %r6, [%out]; setp.lt.u32 %p1, %r6, %r3; @%p1 bra wait;
             passed: bar.sync 0; add.u32 %r3, %r3, %r1; ld.relaxed.gpu.global.u32 %r7, [%rd2+4]; setp.ge.u32 %p2, %r7, %r2; @%p2 add.u32 %r9, %r9, 1;
             setp.lt.u32 %p3, %r2, {rounds}; @%p3 bra round;
             bar.sync 0; @!%p0 bra last; bra done; last: atom.add.acq_rel.gpu.global.u32 %r5, [%out], 1;
             end: ld.acquire.gpu.global.u32 %r6, [%out]; setp.lt.u32 %p1, %r6, %r3; @%p1 bra end;
             st.global.u32 [%rd1+4], %r9; done:"
        ),
    )
}

fn passes(program: &Program, of: Launch, rounds: u32) {
    let blocks = of.grid[0];
    let what = format!("{blocks} blocks, {:?}, {:?} workers", of.schedule, of.workers);
    let (words, _) =
        launch(program, of, blocks as usize + 1).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    assert_eq!(words[0], (rounds + 1) * blocks, "{what}");
    assert!(words[1..].iter().all(|w| *w == rounds), "{what}: {words:?}");
}

fn grid(blocks: u32, threads: u32) -> Launch {
    Launch::new("k").grid([blocks, 1, 1]).block([threads, 1, 1])
}

#[test]
fn more_blocks_than_a_host_thread_keeps_wait_for_each_other() {
    let program = grid_barriers(200, "");
    passes(&program, grid(33, 64).workers(1), 200);
    passes(&program, grid(33, 64).workers(1).cooperative(), 200);
    passes(&program, grid(100, 32).workers(2), 200);
    passes(&program, grid(100, 32).workers(2).cooperative(), 200);
    // As in the documented example of numba's grid synchronisation.
    passes(&grid_barriers(1023, ""), grid(32, 32).cooperative(), 1023);
}

#[test]
fn they_may_do_so_with_pauses_and_clocks() {
    for pause in ["nanosleep.u32 100;", "mov.u64 %rd3, %globaltimer;", "add.u32 %r11, %r11, 1;"] {
        passes(&grid_barriers(3, pause), grid(33, 32).workers(1), 3);
        passes(&grid_barriers(3, pause), grid(40, 32).workers(2), 3);
    }
}

#[test]
fn they_may_do_so_in_any_order() {
    let program = grid_barriers(3, "");
    for schedule in Schedule::ALL {
        passes(&program, grid(20, 32).schedule(schedule).seed(5), 3);
    }
}

#[test]
fn they_may_do_so_under_the_eyes_of_an_observer() {
    struct Count(u64);
    impl Observer for Count {
        fn instruction(&mut self, _: &At<'_>, _: &Registers<'_>) {
            self.0 += 1;
        }
    }
    let mut device = levels::device();
    let out = device.upload(&[0u32; 34]).unwrap();
    let mut count = Count(0);
    device.launch_observed(&grid_barriers(50, ""), &grid(33, 64).arg(out), &mut count).unwrap();
    assert!(device.download::<u32>(out).unwrap()[1..].iter().all(|w| *w == 50));
    // Waiting costs turns, and not slices of a hundred thousand instructions.
    assert!(count.0 < 33 * 51 * 10_000, "{}", count.0);
}

#[test]
fn a_cooperative_launch_has_to_fit_the_machine() {
    let mut machine = levels::machine();
    (machine.sms, machine.blocks_per_sm, machine.warps_per_sm) = (2, 3, 4);
    let program = grid_barriers(2, "");
    let mut device = Device::with_machine(machine);
    let out = device.upload(&[0u32; 16]).unwrap();
    let mut run = |of: Launch| device.launch(&program, &of.arg(out)).map_err(|f| (f.code.name(), f.message));
    assert!(run(grid(6, 32).cooperative()).is_ok());
    let (code, message) = run(grid(7, 32).cooperative()).unwrap_err();
    assert!(code == "bad_launch" && message.contains("room for 6 of them"), "{message}");
    let (code, message) = run(grid(5, 64).cooperative()).unwrap_err();
    assert!(code == "bad_launch" && message.contains("room for 4 of them"), "{message}");
}

#[test]
fn blocks_that_wait_for_more_than_the_machine_holds_are_a_deadlock() {
    let mut machine = levels::machine();
    (machine.sms, machine.blocks_per_sm) = (1, 20);
    let mut device = Device::with_machine(machine);
    let out = device.upload(&[0u32; 32]).unwrap();
    for workers in [1, 2] {
        let of = grid(21, 32).workers(workers).arg(out);
        let fault = device.launch(&grid_barriers(2, ""), &of).unwrap_err();
        assert_eq!(fault.code.name(), "deadlock", "{fault}");
        assert!(fault.message.contains("1 blocks have not started"), "{fault}");
        device.write(out, &[0; 128]).unwrap();
    }
}

#[test]
fn a_grid_that_waits_for_nobody_is_a_deadlock() {
    let body = "mov.u32 %r1, 0;\nwait: ld.volatile.global.u32 %r0, [%out];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra wait;";
    let lock = "lock: atom.global.cas.b32 %r0, [%out+4], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra lock;";
    let calls = "{ .param .b32 a; st.param.b32 [a], 3; }\nwait: ld.acquire.gpu.global.u32 %r0, [%out]; and.b32 %r0, %r0, 6;\nnanosleep.u32 50;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra wait;";
    for (body, blocks, threads) in
        [(body, 1, 1), (body, 1, 100), (body, 40, 64), (lock, 40, 32), (calls, 3, 40)]
    {
        for workers in [1, 2] {
            let fault = launch(&kernel("", body), grid(blocks, threads).workers(workers), 2).unwrap_err();
            assert_eq!(fault.code.name(), "deadlock", "{fault}");
            assert!(fault.block.is_some() && fault.ptx_line.is_some_and(|line| line >= 3), "{fault:?}");
        }
    }
}

#[test]
fn a_wait_for_a_time_comes_to_its_end() {
    let body = "mov.u64 %rd1, %clock64; wait: mov.u64 %rd2, %clock64; sub.u64 %rd2, %rd2, %rd1; shr.u64 %rd2, %rd2, 17; setp.eq.u64 %p0, %rd2, 0; mov.u64 %rd2, 0; @%p0 bra wait;
         st.global.u32 [%out], 7;";
    let (words, _) = launch(&kernel("", body), grid(1, 32), 1).unwrap();
    assert_eq!(words, [7]);
}

#[test]
fn an_endless_loop_ends_whatever_the_grid() {
    for body in ["loop: bra loop;", "setp.eq.u32 %p0, %r0, %r0; loop: xor.b32 %r1, %r1, 1; @%p0 bra loop;"] {
        for (blocks, threads) in [(1, 1), (25, 64), (1000, 33)] {
            let fault = launch(&kernel("", body), grid(blocks, threads), 1).unwrap_err();
            assert_eq!(fault.code.name(), "step_limit");
            assert!(fault.message.contains("endless loop"), "{fault}");
        }
    }
    // One that counts has no state twice, and the limit of a block ends it: in time for one block and all others together.
    let mut limits = Limits::default();
    limits.block_steps = 1 << 20;
    let counts = kernel("", "loop: add.u32 %r0, %r0, 1; bra loop;");
    let fault = launch(&counts, grid(100_000, 32).limits(limits).workers(1), 1).unwrap_err();
    assert!(fault.message.contains("its limit") && fault.block == Some([0, 0, 0]), "{fault}");
}

#[test]
fn a_loop_that_allocates_ends_soon() {
    let program = load(
        ".extern .func (.param .b64 r) malloc (.param .b64 n);
         .visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r; .param .b64 n; .param .b64 p; ld.param.u64 %rd0, [out];
         loop: st.param.b64 [n], 16; call (p), malloc, (n); atom.global.add.u32 %r, [%rd0], 1; bra loop; }",
    );
    let mut limits = Limits::default();
    limits.block_steps = 1 << 20;
    let mut device = levels::device();
    let out = device.upload(&[0u32]).unwrap();
    let fault = device.launch(&program, &grid(1, 64).limits(limits).arg(out)).unwrap_err();
    assert_eq!(fault.code.name(), "step_limit");
    // A thread's call counts as much as 32 instructions.
    let calls = device.download::<u32>(out).unwrap()[0];
    assert!((1000..(1 << 20) / 16).contains(&calls), "{calls}");
}

#[test]
fn a_grid_may_be_as_large_as_any() {
    let whole = Launch::new("k").grid([i32::MAX as u32, 65535, 65535]).block([32, 1, 1]);
    // No memory is taken for blocks that have not started: what ends it is the first one, or the limit.
    let trap = launch(&kernel("", "trap;"), whole.clone().workers(1), 1).unwrap_err();
    assert_eq!((trap.code.name(), trap.block), ("trap", Some([0; 3])), "{trap}");
    let mut limits = Limits::default();
    limits.steps = 10_000;
    for workers in [1, 2] {
        let limited = whole.clone().limits(limits.clone()).workers(workers);
        let fault = launch(&kernel("", ""), limited, 1).unwrap_err();
        assert_eq!(fault.code.name(), "step_limit");
        assert!(fault.message.contains("blocks have not started"), "{fault}");
    }
    let fault = launch(&kernel("", ""), Launch::new("k").grid([1, 65536, 1]), 1).unwrap_err();
    assert_eq!(fault.code.name(), "bad_launch", "{fault}");
}

#[test]
fn statements_are_counted_and_not_operations() {
    let of = |body: &str| {
        let (_, stats) = launch(&kernel("", body), grid(1, 40), 1).unwrap();
        (stats.warp_instructions, stats.thread_instructions)
    };
    let (warps, threads) = of("");
    for body in [
        "mov.u32 %r1, %tid.y;",
        "mov.b64 {%r1, %r2}, %rd1;",
        "mov.b64 %rd1, {%r1, %r2};",
        "setp.lt.and.u32 %p0|%p1, %r1, %r2, %p2;",
        "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;",
        "@%p0 mov.u32 %r1, %ctaid.x;",
    ] {
        assert_eq!(of(body), (warps + 2, threads + 40), "{body}");
    }
}
