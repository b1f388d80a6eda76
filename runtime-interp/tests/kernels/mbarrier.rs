//! mbarrier objects: phases, states and parities, counts of bytes, misuse.

use super::*;

fn block(threads: u32) -> Launch {
    Launch::new("k").block([threads, 1, 1])
}

/// An object `b` for a number of arrivals, made by thread 0.
fn object(arrivals: u32) -> String {
    format!(
        ".shared .align 8 .b64 b; mov.u32 %r1, %tid.x; setp.eq.u32 %p15, %r1, 0; @%p15 mbarrier.init.shared.b64 [b], {arrivals}; bar.sync 0;\n"
    )
}

fn fault(threads: u32, body: &str) -> Fault {
    launch(&kernel("", body), block(threads), 64).unwrap_err()
}

#[test]
fn threads_meet_phase_after_phase() {
    // As `a_barrier_orders_phases`: each thread adds its left neighbour's value eight times over.
    let exchange = |wait: &str| {
        kernel("", &format!(
            "{} .shared .u32 a[256]; mov.u32 %r2, a; mad.lo.u32 %r3, %r1, 4, %r2; add.u32 %r4, %r1, 255; and.b32 %r4, %r4, 255;
             mad.lo.u32 %r4, %r4, 4, %r2; st.shared.u32 [%r3], %r1; mov.u32 %r5, 0; mov.u32 %r10, 0;
             loop: {} ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r7, [%r3]; {} add.u32 %r7, %r7, %r6; st.shared.u32 [%r3], %r7;
             add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 8; @%p0 bra loop; ld.shared.u32 %r0, [%r3]; {STORE}",
            object(256), wait.replace('#', "1"), wait.replace('#', "2"),
        ))
    };
    let mut a: Vec<u32> = (0..256).collect();
    for _ in 0..8 {
        a = (0..256).map(|i| a[i] + a[(i + 255) % 256]).collect();
    }
    for wait in [
        "mbarrier.arrive.shared.b64 %rd1, [b]; w#: mbarrier.test_wait.shared.b64 %p1, [b], %rd1; @!%p1 bra w#;",
        "mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [b]; w#: mbarrier.try_wait.shared::cta.b64 %p1, [b], %rd1; @!%p1 bra w#;",
        "mbarrier.arrive.shared.b64 _, [b]; w#: mbarrier.try_wait.parity.acquire.cta.shared.b64 %p1, [b], %r10, 100; @!%p1 bra w#; xor.b32 %r10, %r10, 1;",
        "mbarrier.arrive.shared.b64 %rd1, [b]; w#: mbarrier.test_wait.parity.shared.b64 %p1, [b], %r10; @!%p1 nanosleep.u32 20; @!%p1 bra w#; xor.b32 %r10, %r10, 1;",
    ] {
        assert_eq!(under_seeds(&exchange(wait), block(256), 256), a, "{wait}");
    }
}

#[test]
fn generic_addresses_name_objects() {
    let program = kernel("", &format!(
        "{} mov.u64 %rd2, b; cvta.shared.u64 %rd3, %rd2; mbarrier.arrive.b64 %rd1, [%rd3]; w: mbarrier.try_wait.b64 %p1, [%rd3], %rd1; @!%p1 bra w;
         mov.u32 %r0, 7; {STORE}", object(40)));
    assert_eq!(under_seeds(&program, block(40), 40), vec![7; 40]);
}

#[test]
fn lanes_of_one_warp_wait_for_each_other() {
    // The odd lanes wait for the even ones, which arrive one by one in a loop further down the program.
    let program = kernel("", &format!(
        "{} and.b32 %r2, %r1, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra even; w: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra w; mov.u32 %r0, 1; bra join;
         even: mov.u32 %r3, %r1; more: setp.eq.u32 %p2, %r3, 0; @%p2 bra done; sub.u32 %r3, %r3, 1; bra more;
         done: mbarrier.arrive.shared.b64 _, [b]; mov.u32 %r0, 2; join: {STORE}", object(16)));
    let expected: Vec<u32> = (0..32).map(|i| 2 - i % 2).collect();
    assert_eq!(under_seeds(&program, block(32), 32), expected);
}

#[test]
fn producers_and_consumers_share_a_ring() {
    // Warp 0 fills four slots of 32 words, warp 1 empties them, 24 rounds; two objects a slot.
    let program = kernel("", "
        .shared .align 8 .b64 full[4]; .shared .align 8 .b64 empty[4]; .shared .u32 slot[128];
        mov.u32 %r1, %tid.x; setp.lt.u32 %p0, %r1, 4; mov.u32 %r2, full; mad.lo.u32 %r3, %r1, 8, %r2; mov.u32 %r4, empty; mad.lo.u32 %r5, %r1, 8, %r4;
        @%p0 mbarrier.init.shared.b64 [%r3], 32; @%p0 mbarrier.init.shared.b64 [%r5], 32; bar.sync 0;
        and.b32 %r6, %r1, 31; mov.u32 %r7, slot; mad.lo.u32 %r7, %r6, 4, %r7; mov.u32 %r8, 0; mov.u32 %r0, 0; setp.ge.u32 %p1, %r1, 32;
        loop: and.b32 %r9, %r8, 3; shr.u32 %r10, %r8, 2; and.b32 %r10, %r10, 1; mad.lo.u32 %r11, %r9, 8, %r2; mad.lo.u32 %r12, %r9, 8, %r4;
        mad.lo.u32 %r13, %r9, 128, %r7; @%p1 bra consume;
        xor.b32 %r14, %r10, 1; w1: mbarrier.try_wait.parity.shared.b64 %p2, [%r12], %r14; @!%p2 bra w1;
        mad.lo.u32 %r15, %r8, 100, %r6; st.shared.u32 [%r13], %r15; mbarrier.arrive.shared.b64 _, [%r11]; bra next;
        consume: w2: mbarrier.try_wait.parity.shared.b64 %p2, [%r11], %r10; @!%p2 bra w2;
        ld.shared.u32 %r15, [%r13]; add.u32 %r0, %r0, %r15; mbarrier.arrive.shared.b64 _, [%r12];
        next: add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 24; @%p3 bra loop; mad.wide.u32 %rd1, %r6, 4, %out; @%p1 st.global.u32 [%rd1], %r0;");
    let expected: Vec<u32> = (0..32).map(|t| (0..24).map(|i| 100 * i + t).sum()).collect();
    assert_eq!(under_seeds(&program, block(64), 32), expected);
}

#[test]
fn threads_that_drop_out_are_not_expected_again() {
    // Thread t takes part in t + 1 phases and counts those it has seen.
    let program = kernel("", &format!(
        "{} mov.u32 %r2, 0; mov.u32 %r0, 0;
         loop: setp.eq.u32 %p0, %r2, %r1; @%p0 bra last; mbarrier.arrive.shared.b64 %rd1, [b]; w: mbarrier.try_wait.shared.b64 %p1, [b], %rd1; @!%p1 bra w;
         add.u32 %r0, %r0, 1; add.u32 %r2, %r2, 1; bra loop;
         last: mbarrier.arrive_drop.shared.b64 %rd1, [b]; {STORE}", object(16)));
    assert_eq!(under_seeds(&program, block(16), 16), (0..16).collect::<Vec<u32>>());
}

#[test]
fn a_phase_waits_for_the_bytes_it_expects() {
    let program = kernel("", &format!(
        "{} @!%p15 bra rest; mbarrier.arrive.expect_tx.shared.b64 %rd1, [b], 96; mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 32;
         mbarrier.test_wait.shared.b64 %p1, [b], %rd1; selp.u32 %r2, 1, 0, %p1; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 4; mbarrier.complete_tx.shared.b64 [b], 68;
         mbarrier.test_wait.shared.b64 %p1, [b], %rd1; selp.u32 %r3, 10, 0, %p1; add.u32 %r0, %r2, %r3; rest: {STORE}", object(1)));
    assert_eq!(under_seeds(&program, block(1), 1), [10]);
}

#[test]
fn states_tell_pending_counts() {
    let program = kernel("", &format!(
        "{} mbarrier.arrive.noComplete.shared.b64 %rd1, [b], 3; mbarrier.arrive.noComplete.release.cta.shared.b64 %rd2, [b], 2; mbarrier.arrive_drop.noComplete.shared.b64 %rd3, [b], 4;
         mbarrier.pending_count.b64 %r2, %rd1; mbarrier.pending_count.b64 %r3, %rd2; mbarrier.pending_count.b64 %r4, %rd3;
         mbarrier.arrive.shared.b64 _, [b], 1; mbarrier.arrive.noComplete.shared.b64 %rd4, [b], 1; mbarrier.pending_count.b64 %r5, %rd4;
         mad.lo.u32 %r0, %r2, 100, %r3; mad.lo.u32 %r0, %r0, 100, %r4; mad.lo.u32 %r0, %r0, 100, %r5; {STORE}", object(10)));
    assert_eq!(words(&program, 1, 1).unwrap(), [10_07_05_06]);
}

#[test]
fn other_blocks_arrive() {
    // Block 0 waits for 32 arrivals and 64 bytes from each of three other blocks, thrice.
    let program = kernel("", "
        .shared .align 8 .b64 b; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; or.b32 %r3, %r1, %r2; setp.eq.u32 %p0, %r3, 0;
        @%p0 mbarrier.init.shared.b64 [b], 96; @%p0 fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;
        mapa.shared::cluster.u32 %r4, b, 0; mov.u64 %rd1, b; cvta.shared.u64 %rd2, %rd1; mapa.u64 %rd3, %rd2, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; setp.eq.u32 %p1, %r2, 0;
        loop: @%p1 bra wait;
        mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r4], 2; mbarrier.arrive.release.cluster.b64 _, [%rd3]; mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r4], 2; bra next;
        wait: w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b], %r5; @!%p2 bra w;
        next: barrier.cluster.arrive; barrier.cluster.wait; xor.b32 %r5, %r5, 1; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 3; @%p3 bra loop;
        mad.wide.u32 %rd9, %r1, 4, %out; @%p1 st.global.u32 [%rd9], %r6;");
    let launch = Launch::new("k").grid([4, 1, 1]).block([32, 1, 1]).cluster([4, 1, 1]);
    assert_eq!(under_seeds(&program, launch, 32), [3; 32]);
}

#[test]
fn misuse_is_a_fault_by_name() {
    let code = |body: &str| {
        let fault = fault(1, &format!(".shared .align 8 .b64 b; .shared .b64 c; {body}"));
        assert_eq!(fault.thread, Some([0, 0, 0]));
        assert!(fault.ptx_line.is_some());
        (fault.code.name(), fault.message)
    };
    let is = |body: &str, name: &str, part: &str| {
        let (found, message) = code(body);
        assert!(found == name && message.contains(part), "{body}: {found}: {message}");
    };
    is("mbarrier.arrive.shared.b64 _, [b];", "bad_mbarrier", "no initialised mbarrier object");
    is("mbarrier.test_wait.parity.shared.b64 %p0, [b], 0;", "bad_mbarrier", "no initialised mbarrier object");
    is(
        "st.shared.b64 [b], -1; mbarrier.arrive.shared.b64 _, [b];",
        "bad_mbarrier",
        "no initialised mbarrier object",
    );
    is(
        "mbarrier.init.shared.b64 [b], 1; mbarrier.inval.shared.b64 [b]; mbarrier.expect_tx.shared.b64 [b], 1;",
        "bad_mbarrier",
        "no initialised",
    );
    is("mov.u32 %r1, 0; mbarrier.init.shared.b64 [b], %r1;", "bad_mbarrier", "0 arrivals");
    is("mbarrier.init.shared.b64 [b], 1048576;", "bad_mbarrier", "1048576 arrivals");
    is(
        "mbarrier.init.shared.b64 [b], 3; mbarrier.arrive.shared.b64 _, [b], 4;",
        "bad_mbarrier",
        "4 arrivals at an mbarrier object of which 3 are pending",
    );
    is(
        "mbarrier.init.shared.b64 [b], 2; mbarrier.arrive.noComplete.shared.b64 _, [b], 2;",
        "bad_mbarrier",
        "noComplete",
    );
    is(
        "mbarrier.init.shared.b64 [b], 2; mbarrier.expect_tx.shared.b64 [b], 1048575; mbarrier.expect_tx.shared.b64 [b], 1;",
        "bad_mbarrier",
        "1048576",
    );
    is(
        "mbarrier.init.shared.b64 [b], 2; mov.u32 %r1, 2; mbarrier.test_wait.parity.shared.b64 %p0, [b], %r1;",
        "bad_operand",
        "parity 2",
    );
    is("mov.u32 %r1, b; mbarrier.init.shared.b64 [%r1+4], 2;", "misaligned", "multiple of 8");
    is(
        "mov.u32 %r1, b; mbarrier.init.shared.b64 [%r1+16], 2;",
        "out_of_bounds",
        "past the end of shared memory",
    );
    is("mbarrier.init.b64 [%out], 2;", "out_of_bounds", "not in shared memory");
}

#[test]
fn a_wait_that_nothing_can_end_is_a_deadlock() {
    let wait =
        "mbarrier.arrive.shared.b64 %rd1, [b]; w: mbarrier.try_wait.shared.b64 %p1, [b], %rd1; @!%p1 bra w;";
    let stuck = fault(64, &format!("{} {wait}", object(65)));
    assert_eq!(stuck.code.name(), "deadlock");
    for part in ["warp 0", "mbarrier.try_wait.shared.b64", "needs 1 more arrivals and 0 more bytes"] {
        assert!(stuck.message.contains(part), "{stuck}");
    }
    // A program that gives up after some tries is not stuck.
    let patient = kernel("", &format!(
        "{} mbarrier.arrive.shared.b64 %rd1, [b]; mov.u32 %r0, 0; w: mbarrier.try_wait.shared.b64 %p1, [b], %rd1, 1000; @%p1 bra over; add.u32 %r0, %r0, 1; setp.lt.u32 %p2, %r0, 50; @%p2 bra w;
         over: {STORE}", object(65)));
    assert_eq!(under_seeds(&patient, block(64), 64), [50; 64]);
}

#[test]
fn a_spinning_test_reaches_the_step_limit_with_a_story() {
    let program = kernel(
        "",
        &format!(
            "{} mbarrier.arrive.shared.b64 %rd1, [b]; w: mbarrier.test_wait.shared.b64 %p1, [b], %rd1; @!%p1 bra w;",
            object(3)
        ),
    );
    let limits = {
        let mut l = warpsmith_interp::Limits::default();
        l.block_steps = 100_000;
        l
    };
    let stuck = launch(&program, block(2).limits(limits), 1).unwrap_err();
    assert_eq!(stuck.code.name(), "step_limit");
    for part in ["tests of mbarrier objects", "needs 1 more arrivals"] {
        assert!(stuck.message.contains(part), "{stuck}");
    }
}
