//! Branches, divergence, reconvergence, progress of every lane.

use super::*;

#[test]
fn lanes_leave_a_loop_one_by_one() {
    // The length of the Collatz sequence from tid + 1.
    let program = kernel(
        "",
        &format!(
            "mov.u32 %r1, %tid.x; add.u32 %r1, %r1, 1; mov.u32 %r0, 0;
         loop: setp.eq.u32 %p0, %r1, 1; @%p0 bra done;
         and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra even;
         mad.lo.u32 %r1, %r1, 3, 1; bra next;
         even: shr.u32 %r1, %r1, 1;
         next: add.u32 %r0, %r0, 1; bra loop;
         done: {STORE}"
        ),
    );
    let collatz = |mut n: u32| {
        let mut steps = 0;
        while n != 1 {
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    };
    let expected: Vec<u32> = (1..=100).map(collatz).collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([100, 1, 1]), 100), expected);
}

#[test]
fn both_sides_of_a_branch_meet_again() {
    // What is executed after the meeting point is executed once by the whole warp.
    let program = kernel(
        "",
        &format!(
            "mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 7; @%p0 bra small;
         mul.lo.u32 %r0, %r1, 3; bra join;
         small: add.u32 %r0, %r1, 100;
         join: activemask.b32 %r2; popc.b32 %r3, %r2; mad.lo.u32 %r0, %r3, 1000, %r0; {STORE}"
        ),
    );
    let expected: Vec<u32> = (0..32).map(|t| 32000 + if t < 7 { t + 100 } else { 3 * t }).collect();
    assert_eq!(words(&program, 32, 32).unwrap(), expected);
}

#[test]
fn guards_mask_every_kind_of_operation() {
    let program = kernel(
        "",
        &format!(
        "mov.u32 %r1, %tid.x; mov.u32 %r0, 7; mov.u64 %rd1, 5; and.b32 %r2, %r1, 1; setp.eq.u32 %p0, %r2, 0;
         @%p0 add.u32 %r0, %r1, 40; @!%p0 add.u64 %rd1, %rd1, 1; @%p0 setp.ge.u32 %p0|%p1, %r1, 2;
         selp.u32 %r3, 1000, 0, %p0; add.u32 %r0, %r0, %r3; selp.u32 %r3, 2000, 0, %p1; add.u32 %r0, %r0, %r3;
         cvt.u32.u64 %r3, %rd1; mad.lo.u32 %r0, %r3, 10000, %r0; {STORE}"
    ),
    );
    let expected: Vec<u32> = (0..32u32)
        .map(|t| match t % 2 {
            0 => 50000 + t + 40 + if t >= 2 { 1000 } else { 2000 },
            _ => 60000 + 7,
        })
        .collect();
    assert_eq!(words(&program, 32, 32).unwrap(), expected);
}

#[test]
fn an_indexed_branch_goes_many_ways() {
    let program = kernel(
        "",
        &format!(
            "mov.u32 %r1, %tid.x; rem.u32 %r2, %r1, 3; table: .branchtargets a, b, c; brx.idx %r2, table;
         a: mov.u32 %r0, 10; bra join; b: mov.u32 %r0, 20; bra join; c: mov.u32 %r0, 30;
         join: add.u32 %r0, %r0, %r1; activemask.b32 %r3; setp.ne.u32 %p0, %r3, -1; @%p0 trap; {STORE}"
        ),
    );
    let expected: Vec<u32> = (0..32).map(|t| 10 * (t % 3 + 1) + t).collect();
    assert_eq!(words(&program, 32, 32).unwrap(), expected);
}

#[test]
fn a_spin_lock_between_lanes_of_one_warp_ends() {
    // The lane that holds the lock is at a higher address than those that spin.
    let program = kernel(
        "",
        "
         spin: atom.global.cas.b32 %r1, [%out], 0, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra spin;
         ld.volatile.global.u32 %r2, [%out+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%out+4], %r2;
         membar.gl; atom.global.exch.b32 %r3, [%out], 0;",
    );
    assert_eq!(under_seeds(&program, Launch::new("k").block([96, 1, 1]), 2), [0, 96]);
}

#[test]
fn a_warp_can_wait_for_another() {
    // Warp 0 spins on a flag in shared memory that warp 3 sets.
    let program = kernel(
        "",
        &format!(
            ".shared .u32 flag; mov.u32 %r1, %tid.x; setp.ge.u32 %p0, %r1, 96; @%p0 st.shared.u32 [flag], 41;
         setp.ge.u32 %p1, %r1, 32; @%p1 bra done;
         wait: ld.volatile.shared.u32 %r0, [flag]; setp.eq.u32 %p2, %r0, 0; @%p2 bra wait;
         done: {STORE}"
        ),
    );
    assert_eq!(
        under_seeds(&program, Launch::new("k").block([128, 1, 1]), 128)[..33],
        [&[41; 32][..], &[0]].concat()
    );
}

#[test]
fn a_block_can_wait_for_a_later_one() {
    let program = kernel(
        "",
        "
         mov.u32 %r1, %ctaid.x; setp.eq.u32 %p0, %r1, 3; @%p0 bra last;
         wait: ld.acquire.gpu.global.u32 %r2, [%out]; setp.eq.u32 %p1, %r2, 0; @%p1 bra wait;
         red.global.add.u32 [%out+4], 1; bra done;
         last: st.release.gpu.global.u32 [%out], 1;
         done:",
    );
    for workers in [1, 2] {
        let description = Launch::new("k").grid([4, 1, 1]).workers(workers);
        assert_eq!(launch(&program, description, 2).unwrap().0, [1, 3]);
    }
}

#[test]
fn blocks_and_threads_know_their_place() {
    let program = kernel("", "
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r1, %r3, %r2, %r1;
         mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; mul.lo.u32 %r4, %r4, %r2; mad.lo.u32 %r1, %r3, %r4, %r1;
         mov.v4.u32 {%r5, %r6, %r7, _}, %ntid; mov.v4.u32 {%r8, %r9, %r10, %r11}, %tid;
         mad.lo.u32 %r9, %r10, %r6, %r9; mad.lo.u32 %r8, %r9, %r5, %r8;
         mul.lo.u32 %r5, %r5, %r6; mul.lo.u32 %r5, %r5, %r7; mad.lo.u32 %r1, %r1, %r5, %r8;
         mov.u32 %r12, %laneid; mov.u32 %r13, %warpid; mad.lo.u32 %r12, %r13, 32, %r12; sub.u32 %r12, %r8, %r12; add.u32 %r12, %r12, %r1;
         add.u32 %r12, %r12, %r11; mad.wide.u32 %rd1, %r1, 4, %out; st.global.u32 [%rd1], %r12;");
    let description = Launch::new("k").grid([3, 2, 2]).block([5, 3, 4]);
    let (words, stats) = launch(&program, description, 720).unwrap();
    assert_eq!(words, (0..720).collect::<Vec<u32>>());
    assert_eq!((stats.blocks, stats.threads), (12, 720));
}

#[test]
fn statistics_count_threads() {
    // Two warps of 40 threads: the parameter load, the five instructions and the end.
    let program =
        kernel("", "mov.u32 %r0, 0; loop: add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 10; @%p0 bra loop;");
    let (_, stats) = launch(&program, Launch::new("k").block([40, 1, 1]), 1).unwrap();
    assert_eq!((stats.warp_instructions, stats.thread_instructions), (2 * 33, 40 * 33));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    // An order-dependent hash of the threads' turns.
    let program = kernel("", "
         mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
         loop: ld.volatile.global.u32 %r3, [%out]; mad.lo.u32 %r3, %r3, 1664525, %r1; st.volatile.global.u32 [%out], %r3;
         add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 50; @%p0 bra loop;");
    let run = |seed| launch(&program, Launch::new("k").block([256, 1, 1]).seed(seed), 1).unwrap().0[0];
    let results: Vec<u32> = (0..8).map(run).collect();
    assert_eq!(results, (0..8).map(run).collect::<Vec<u32>>());
    assert!(results.iter().any(|r| *r != results[0]), "seeds explore different schedules");
}
