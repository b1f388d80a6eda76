//! Schedules reach interleavings that a program must be ready for, and find those again.

use super::*;

/// Each thread adds one to a counter that nothing protects.
fn lost_updates() -> Program {
    kernel("", "ld.volatile.global.u32 %r0, [%out]; add.u32 %r0, %r0, 1; st.volatile.global.u32 [%out], %r0;")
}

#[test]
fn a_turn_may_end_between_a_load_and_a_store() {
    let program = lost_updates();
    let count = |launch_of: Launch| launch(&program, launch_of, 1).unwrap().0[0];
    let warps = Launch::new("k").block([128, 1, 1]);
    // Warps that run to their end see each other's sums; lanes of a warp never do.
    assert_eq!(count(warps.clone()), 4);
    // Warps that are together in the program all read the counter before any of them writes it.
    assert_eq!(count(warps.clone().schedule(Schedule::LowestPc)), 1);
    for schedule in [Schedule::Random, Schedule::Adversarial] {
        let run = |seed| count(warps.clone().schedule(schedule).seed(seed));
        let results: Vec<u32> = (0..40).map(run).collect();
        assert_eq!(results, (0..40).map(run).collect::<Vec<_>>(), "{schedule} is not replayed");
        assert!(results.iter().all(|r| (1..=4).contains(r)));
        assert!(results.iter().any(|r| *r < 4) && results.contains(&4), "{schedule}: {results:?}");
    }
}

#[test]
fn blocks_interleave_under_a_schedule() {
    let program = lost_updates();
    let blocks = Launch::new("k").grid([4, 1, 1]).block([1, 1, 1]);
    let count = |launch_of: Launch| launch(&program, launch_of, 1).unwrap().0[0];
    assert_eq!(count(blocks.clone().workers(1)), 4);
    assert_eq!(count(blocks.clone().schedule(Schedule::LowestPc)), 1);
    let of = |schedule| (0..40).map(move |seed| (schedule, seed));
    for schedule in [Schedule::Random, Schedule::Adversarial] {
        let results: Vec<u32> =
            of(schedule).map(|(s, seed)| count(blocks.clone().schedule(s).seed(seed))).collect();
        assert!(results.iter().any(|r| *r < 4), "{schedule}: {results:?}");
    }
}

#[test]
fn a_thread_that_waits_for_another_is_not_favoured_for_ever() {
    // Thread 0 of the block waits for the last warp; in a second kernel, a lane for another of its warp.
    for (threads, other) in [(128, 127), (32, 31)] {
        let program = kernel("", &format!("
            mov.u32 %r1, %tid.x; setp.ne.u32 %p0, %r1, 0; @%p0 bra other;
            wait: ld.acquire.gpu.global.u32 %r2, [%out]; setp.eq.u32 %p1, %r2, 0; @%p1 bra wait;
            st.global.u32 [%out+4], %r2; bra done;
            other: setp.ne.u32 %p1, %r1, {other}; @%p1 bra done; mov.u32 %r2, 7; st.release.gpu.global.u32 [%out], %r2;
            done:"));
        assert_eq!(under_seeds(&program, Launch::new("k").block([threads, 1, 1]), 2), [7, 7]);
    }
}
