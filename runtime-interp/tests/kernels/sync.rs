//! Block barriers.

use super::*;

#[test]
fn a_barrier_orders_phases() {
    // Each thread adds its left neighbour's value eight times over.
    let program = kernel("", &format!(
        ".shared .u32 a[256]; mov.u32 %r1, %tid.x; mov.u32 %r2, a; mad.lo.u32 %r3, %r1, 4, %r2; add.u32 %r4, %r1, 255; and.b32 %r4, %r4, 255;
         mad.lo.u32 %r4, %r4, 4, %r2; st.shared.u32 [%r3], %r1; mov.u32 %r5, 0;
         loop: bar.sync 0; ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r7, [%r3]; barrier.sync 0; add.u32 %r7, %r7, %r6; st.shared.u32 [%r3], %r7;
         add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 8; @%p0 bra loop; ld.shared.u32 %r0, [%r3]; {STORE}"
    ));
    let mut a: Vec<u32> = (0..256).collect();
    for _ in 0..8 {
        a = (0..256).map(|i| a[i] + a[(i + 255) % 256]).collect();
    }
    assert_eq!(under_seeds(&program, Launch::new("k").block([256, 1, 1]), 256), a);
}

#[test]
fn barriers_reduce() {
    let program = kernel("", &format!(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 70; barrier.red.popc.u32 %r0, 3, %p0; bar.red.popc.u32 %r2, 3, !%p0; mad.lo.u32 %r0, %r2, 1000, %r0;
         bar.red.and.pred %p1, 0, %p0; @%p1 add.u32 %r0, %r0, 1000000; bar.red.or.pred %p2, 0, %p0; @%p2 add.u32 %r0, %r0, 2000000; {STORE}"
    ));
    assert_eq!(under_seeds(&program, Launch::new("k").block([100, 1, 1]), 100), vec![2_030_070; 100]);
}

#[test]
fn producers_arrive_and_consumers_wait() {
    // Warps 0 and 1 produce, warps 2 and 3 consume, in five rounds over two barriers.
    let program = kernel("", "
         .shared .u32 box[64]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 63; mov.u32 %r3, box; mad.lo.u32 %r3, %r2, 4, %r3;
         mov.u32 %r4, 0; mov.u32 %r5, 0; setp.ge.u32 %p0, %r1, 64; @%p0 bra consume;
         produce: mad.lo.u32 %r6, %r4, 100, %r2; st.shared.u32 [%r3], %r6; bar.arrive 1, 128; bar.sync 2, 128;
         add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 5; @%p1 bra produce; bra done;
         consume: bar.sync 1, 128; ld.shared.u32 %r6, [%r3]; add.u32 %r5, %r5, %r6; bar.arrive 2, 128;
         add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 5; @%p1 bra consume; mad.wide.u32 %rd1, %r2, 4, %out; st.global.u32 [%rd1], %r5;
         done:");
    let expected: Vec<u32> = (0..64).map(|t| 5 * t + 1000).collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([128, 1, 1]), 64), expected);
}

#[test]
fn threads_that_have_exited_are_not_waited_for() {
    let program = kernel(
        "",
        &format!(
            ".shared .u32 n; mov.u32 %r1, %tid.x; setp.ge.u32 %p0, %r1, 40; @%p0 exit;
         atom.shared.add.u32 %r2, [n], 1; bar.sync 0; ld.shared.u32 %r0, [n]; {STORE}"
        ),
    );
    let result = under_seeds(&program, Launch::new("k").block([200, 1, 1]), 200);
    assert_eq!(result, [vec![40; 40], vec![0; 160]].concat());
}

#[test]
fn lanes_may_come_to_a_barrier_apart() {
    let program = kernel("", &format!(
        ".shared .u32 n; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra even;
         atom.shared.add.u32 %r3, [n], 1; barrier.sync 5; bra join; even: atom.shared.add.u32 %r3, [n], 100; barrier.sync 5;
         join: ld.shared.u32 %r0, [n]; {STORE}"
    ));
    assert_eq!(under_seeds(&program, Launch::new("k").block([64, 1, 1]), 64), vec![3232; 64]);
}

#[test]
fn a_barrier_that_not_all_reach_is_a_deadlock_with_a_story() {
    let program = kernel(
        "",
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 32; @%p0 bra one;\nbar.sync 1;\nbra done; one:\nbar.sync 2; done:",
    );
    let fault = words(&program, 96, 1).unwrap_err();
    assert_eq!((fault.code.name(), fault.ptx_line, fault.thread), ("deadlock", Some(6), Some([0, 0, 0])));
    for part in [
        "warp 0 lanes 0xffffffff wait in `bar.sync` of line 6 at barrier 2",
        "warp 2",
        "of line 4 at barrier 1",
    ] {
        assert!(fault.message.contains(part), "{part}: {}", fault.message);
    }
    let program = kernel(
        "",
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 8; @%p0 bra one; bar.sync 1; bra done; one: bar.sync 2; done:",
    );
    let fault = words(&program, 32, 1).unwrap_err();
    assert!(fault.message.contains("at barrier 1 for lanes 0x000000ff of their warp"), "{}", fault.message);
}

#[test]
fn wrong_barriers_are_faults() {
    for (text, part) in [
        ("mov.u32 %r1, 16; bar.sync %r1;", "only barriers 0 to 15"),
        ("mov.u32 %r1, 33; bar.sync 0, %r1;", "not a multiple"),
        (
            "mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 32; @%p0 bar.sync 0, 96; @!%p0 bar.sync 0, 64;",
            "at once",
        ),
    ] {
        let fault = words(&kernel("", text), 96, 1).unwrap_err();
        assert_eq!(fault.code.name(), "bad_barrier", "{fault}");
        assert!(fault.message.contains(part), "{fault}");
    }
}
