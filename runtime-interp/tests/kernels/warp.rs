//! Operations of the lanes of a warp.

use super::*;

#[test]
fn shuffles_follow_the_pseudocode() {
    for (mode, b, c, expected) in [
        ("up", 3, 0, (|t| if t >= 3 { (t - 3, true) } else { (t, false) }) as fn(u32) -> (u32, bool)),
        ("down", 5, 31, |t| if t + 5 < 32 { (t + 5, true) } else { (t, false) }),
        ("bfly", 9, 31, |t| (t ^ 9, true)),
        ("idx", 6, 31, |_| (6, true)),
        // Segments of eight lanes.
        ("up", 1, 0x1800, |t| if t % 8 >= 1 { (t - 1, true) } else { (t, false) }),
        ("down", 2, 0x1807, |t| if t % 8 + 2 < 8 { (t + 2, true) } else { (t, false) }),
        ("idx", 3, 0x1807, |t| (t / 8 * 8 + 3, true)),
        ("bfly", 8, 0x1807, |t| if t & 8 == 0 { (t, false) } else { (t ^ 8, true) }),
    ] {
        let program = kernel(
            "",
            &format!(
                "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1000; shfl.sync.{mode}.b32 %r0|%p0, %r2, {b}, {c}, -1; @%p0 add.u32 %r0, %r0, 10000; {STORE}"
            ),
        );
        let expected: Vec<u32> = (0..32)
            .map(expected)
            .map(|(from, inside)| 1000 + from + if inside { 10000 } else { 0 })
            .collect();
        assert_eq!(words(&program, 32, 32).unwrap(), expected, "{mode} {b} {c:#x}");
    }
}

#[test]
fn lanes_meet_from_different_instructions() {
    // The halves of the warp call for each other's values in two places.
    let program = kernel("", &format!(
        "mov.u32 %r1, %tid.x; mov.u32 %r5, -1; setp.lt.u32 %p0, %r1, 16; @%p0 bra low;
         mul.lo.u32 %r2, %r1, 2; shfl.sync.bfly.b32 %r0, %r2, 16, 31, %r5; bra join;
         low: add.u32 %r3, %r1, 100; add.u32 %r3, %r3, 0; shfl.sync.bfly.b32 %r4, %r3, 16, 31, %r5; mov.u32 %r0, %r4;
         join: {STORE}"
    ));
    let expected: Vec<u32> = (0..32).map(|t| if t < 16 { 2 * (t + 16) } else { t - 16 + 100 }).collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([32, 1, 1]), 32), expected);
}

#[test]
fn partitions_of_a_warp_work_side_by_side() {
    // Every thread shuffles within the lanes that have its value of tid % 3.
    let program = kernel("", &format!(
        "mov.u32 %r1, %tid.x; rem.u32 %r2, %r1, 3; match.any.sync.b32 %r3, %r2, -1;
         redux.sync.add.u32 %r4, %r1, %r3; vote.sync.ballot.b32 %r5, 1, %r3; setp.ne.u32 %p0, %r5, %r3; @%p0 trap;
         elect.sync %r6|%p1, %r3; mad.lo.u32 %r0, %r6, 1000, %r4; @%p1 add.u32 %r0, %r0, 100000; {STORE}"
    ));
    let expected: Vec<u32> = (0..32)
        .map(|t| {
            let sum: u32 = (0..32).filter(|i| i % 3 == t % 3).sum();
            sum + 1000 * (t % 3) + if t < 3 { 100_000 } else { 0 }
        })
        .collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([32, 1, 1]), 32), expected);
}

#[test]
fn votes_count_the_lanes_that_are_there() {
    let program = kernel("", &format!(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 5; vote.sync.ballot.b32 %r0, %p0, 0xfffff; vote.sync.all.pred %p1, %p0, 0xfffff;
         vote.sync.any.pred %p2, %p0, 0xfffff; vote.sync.uni.pred %p3, %p0, 0xfffff; vote.sync.all.pred %p4, !%p1, 0xfffff;
         @%p1 add.u32 %r0, %r0, 0x100; @%p2 add.u32 %r0, %r0, 0x200; @%p3 add.u32 %r0, %r0, 0x400; @%p4 add.u32 %r0, %r0, 0x800; {STORE}"
    ));
    assert_eq!(words(&program, 20, 20).unwrap(), [0xa1f; 20]);
}

#[test]
fn matching_and_reducing() {
    let program = kernel("", &format!(
        "mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; shl.b64 %rd1, %rd1, 33; match.any.sync.b64 %r2, %rd1, -1; popc.b32 %r0, %r2;
         match.all.sync.b32 %r3|%p0, %r1, -1; @%p0 trap; match.all.sync.b32 %r3|%p0, 5, -1; @!%p0 trap; popc.b32 %r3, %r3; mad.lo.u32 %r0, %r3, 10, %r0;
         sub.s32 %r4, %r1, 9; redux.sync.min.s32 %r5, %r4, -1; mad.lo.s32 %r0, %r5, -1000, %r0; redux.sync.xor.b32 %r6, %r1, -1;
         redux.sync.max.u32 %r7, %r4, -1; add.u32 %r7, %r7, 1; add.u32 %r6, %r6, %r7; mad.lo.u32 %r0, %r6, 100000, %r0; {STORE}"
    ));
    assert_eq!(words(&program, 32, 32).unwrap(), [1 + 320 + 9000; 32]);
}

#[test]
fn lanes_that_exit_are_not_waited_for() {
    let program = kernel(
        "",
        &format!(
            "mov.u32 %r1, %tid.x; setp.ge.u32 %p0, %r1, 10; @%p0 bra leave; bar.warp.sync -1; activemask.b32 %r0; {STORE} ret; leave: mov.u32 %r9, 3; exit;"
        ),
    );
    assert_eq!(under_seeds(&program, Launch::new("k").block([32, 1, 1]), 10), [0x3ff; 10]);
}

#[test]
fn bad_masks_are_faults() {
    let fault = words(&kernel("", "shfl.sync.idx.b32 %r0, %r1, 0, 31, 0xff;"), 32, 1).unwrap_err();
    assert_eq!((fault.code.name(), fault.thread), ("bad_mask", Some([8, 0, 0])));
    // Lane 0 never comes.
    let program = kernel(
        "",
        "mov.u32 %r1, %tid.x; setp.eq.u32 %p0, %r1, 0; @%p0 bra apart; bar.warp.sync -1; bra done; apart: bar.sync 0; done:",
    );
    let fault = words(&program, 32, 1).unwrap_err();
    assert_eq!(fault.code.name(), "deadlock");
    assert!(fault.message.contains("for lanes 0x00000001 of their warp"), "{fault}");
}
