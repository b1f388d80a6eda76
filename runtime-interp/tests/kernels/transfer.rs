//! Asynchronous copies, stores and reductions: right with the waits, visibly wrong without.

use super::*;

fn block(threads: u32) -> Launch {
    Launch::new("k").block([threads, 1, 1])
}

/// Runs with `out` of `count` words after an input of words; both are parameters. Gives `out` for no seed and for each of many.
fn outcomes(program: &Program, description: Launch, input: &[u32], count: usize) -> Vec<Vec<u32>> {
    let run = |seed: Option<u64>| {
        let mut device = levels::device();
        let (out, from) = (buffer(&mut device, &vec![0; count]), buffer(&mut device, input));
        let mut launch = description.clone().arg(out).arg(from);
        launch.seed = seed;
        device.launch(program, &launch).unwrap();
        device.download(out).unwrap()
    };
    std::iter::once(None).chain((0..30).map(Some)).map(run).collect()
}

fn always(program: &Program, description: Launch, input: &[u32], expected: &[u32]) {
    for (i, outcome) in outcomes(program, description, input, expected.len()).iter().enumerate() {
        assert_eq!(outcome, expected, "run {i}");
    }
}

/// The wrong result without a seed and in some runs with one: a kernel without a wait that it needs. Gives how often it was right.
fn seen(program: &Program, description: Launch, input: &[u32], expected: &[u32]) -> usize {
    let outcomes = outcomes(program, description, input, expected.len());
    let right = outcomes.iter().filter(|o| *o == expected).count();
    assert!(right < outcomes.len(), "the missing wait was never seen");
    assert_ne!(outcomes[0], expected, "without a seed transfers are late");
    right
}

/// The same where the few transfers also come in time in some runs.
fn sometimes(program: &Program, description: Launch, input: &[u32], expected: &[u32]) {
    assert!(seen(program, description, input, expected) > 0, "the copies never came in time");
}

fn program(body: &str) -> Program {
    program_for("sm_90", body)
}

fn program_for(target: &str, body: &str) -> Program {
    kernel_for(
        target,
        ", .param .u64 from",
        &format!("ld.param.u64 %rd50, [from]; cvta.to.global.u64 %rd50, %rd50; mov.u32 %r1, %tid.x;\n{body}"),
    )
}

fn iota(n: u32) -> Vec<u32> {
    (1000..1000 + n).collect()
}

#[test]
fn copies_of_all_sizes_arrive() {
    // Threads copy 16, 8 and 4 bytes; parts are filled with zeros, or nothing is read.
    let program = program("
        .shared .align 16 .b8 s[4096]; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 32, %r2; mad.wide.u32 %rd1, %r1, 32, %rd50;
        setp.eq.u32 %p1, %r1, 3; mov.u32 %r7, %r1; min.u32 %r7, %r7, 8;
        cp.async.cg.shared.global [%r3], [%rd1], 16; cp.async.ca.shared.global [%r3+16], [%rd1+16], 8, %r7; cp.async.ca.shared::cta.global.L2::128B [%r3+24], [%rd1+24], 4;
        cp.async.ca.shared.global [%r3+28], [%rd1+28], 4, %p1;
        cp.async.commit_group; cp.async.wait_group 0;
        ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r3]; ld.shared.v4.b32 {%r14, %r15, %r16, %r17}, [%r3+16];
        mad.wide.u32 %rd2, %r1, 32, %out; st.global.v4.b32 [%rd2], {%r10, %r11, %r12, %r13}; st.global.v4.b32 [%rd2+16], {%r14, %r15, %r16, %r17};");
    let input = iota(64 * 8);
    let mut bytes: Vec<u8> = input.iter().flat_map(|w| w.to_le_bytes()).collect();
    for (t, row) in bytes.chunks_exact_mut(32).enumerate() {
        row[16 + t.min(8)..24].fill(0);
        if t == 3 {
            row[28..].fill(0);
        }
    }
    let expected: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    always(&program, block(64), &input, &expected);
}

/// A pipeline of two stages over eight tiles of 64 words; `#` is how many groups may be pending.
fn pipeline(pending: u32, fence: &str) -> Program {
    program(&format!("
        .shared .align 16 .b32 s[128]; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; mad.wide.u32 %rd1, %r1, 4, %rd50; mov.u32 %r0, 0; mov.u32 %r4, 0;
        xor.b32 %r12, %r1, 33; mad.lo.u32 %r13, %r12, 4, %r2;
        cp.async.ca.shared.global [%r3], [%rd1], 4; cp.async.commit_group;
        loop: add.u32 %r5, %r4, 1; setp.lt.u32 %p1, %r5, 8; and.b32 %r6, %r5, 1; mad.lo.u32 %r7, %r6, 256, %r3; mad.wide.u32 %rd2, %r5, 256, %rd1;
        @%p1 cp.async.ca.shared.global [%r7], [%rd2], 4; cp.async.commit_group; cp.async.wait_group {pending}; {fence}
        and.b32 %r8, %r4, 1; mad.lo.u32 %r9, %r8, 256, %r13; ld.shared.u32 %r10, [%r9]; mad.lo.u32 %r0, %r0, 3, %r10; bar.sync 0;
        add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 8; @%p2 bra loop; {STORE}"))
}

fn pipeline_result(input: &[u32]) -> Vec<u32> {
    (0..64)
        .map(|t| (0..8).fold(0u32, |sum, tile| sum.wrapping_mul(3).wrapping_add(input[tile * 64 + (t ^ 33)])))
        .collect()
}

#[test]
fn a_pipeline_of_groups() {
    let input = iota(512);
    always(&pipeline(1, "bar.sync 0;"), block(64), &input, &pipeline_result(&input));
}

#[test]
fn a_group_that_is_not_waited_for_is_seen() {
    let input = iota(512);
    seen(&pipeline(2, "bar.sync 0;"), block(64), &input, &pipeline_result(&input));
    let none = program(&format!(".shared .b32 s[32]; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; mad.wide.u32 %rd1, %r1, 4, %rd50;
        cp.async.ca.shared.global [%r3], [%rd1], 4; cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r0, [%r3]; {STORE}"));
    // Copies that were never committed belong to no group.
    sometimes(&none, block(32), &iota(32), &iota(32));
}

#[test]
fn copies_arrive_at_mbarrier_objects() {
    for (arrive, count) in [
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [b];", 64),
        ("cp.async.mbarrier.arrive.shared.b64 [b]; mbarrier.arrive.shared.b64 _, [b];", 64),
    ] {
        let program = program(&format!("
            .shared .align 16 .b32 s[256]; .shared .align 8 .b64 b; setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared.b64 [b], {count}; bar.sync 0;
            mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 16, %r2; mad.wide.u32 %rd1, %r1, 16, %rd50; xor.b32 %r4, %r1, 63; mad.lo.u32 %r5, %r4, 16, %r2;
            cp.async.cg.shared.global [%r3], [%rd1], 16; {arrive}
            w: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra w; ld.shared.u32 %r0, [%r5+8]; {STORE}"));
        let input = iota(256);
        let expected: Vec<u32> = (0..64).map(|t| input[(63 - t) * 4 + 2]).collect();
        always(&program, block(64), &input, &expected);
    }
}

#[test]
fn bulk_copies_come_in_and_go_out() {
    // In with an mbarrier object, doubled, out with a group.
    let text = |wait_in: &str, wait_out: &str| {
        program(&format!("
            .shared .align 16 .b32 s[256]; .shared .align 8 .b64 b; setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared.b64 [b], 1; bar.sync 0;
            @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [b], 1024; @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd50], 1024, [b];
            {wait_in} mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; ld.shared.u32 %r4, [%r3]; add.u32 %r4, %r4, %r4; st.shared.u32 [%r3], %r4; fence.proxy.async.shared::cta; bar.sync 0;
            @!%p0 bra end; cp.async.bulk.global.shared::cta.bulk_group [%out], [s], 512; cp.async.bulk.global.shared::cta.bulk_group [%out+512], [s+512], 512; cp.async.bulk.commit_group;
            {wait_out} end: bar.sync 0; st.shared.u32 [%r3], 7;"))
    };
    let wait = "w: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra w;";
    let (input, expected) = (iota(256), (1000..1256).map(|v| 2 * v).collect::<Vec<u32>>());
    always(&text(wait, "cp.async.bulk.wait_group.read 0;"), block(256), &input, &expected);
    always(&text(wait, "cp.async.bulk.wait_group 0;"), block(256), &input, &expected);
    seen(&text("", "cp.async.bulk.wait_group 0;"), block(256), &input, &expected);
    // The source is overwritten while it is read.
    sometimes(&text(wait, ""), block(256), &input, &expected);
}

#[test]
fn a_read_wait_does_not_make_writes_visible() {
    let text = |read: &str| {
        program(&format!("
        .shared .align 16 .b32 s[4]; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; add.u32 %r4, %r1, 50; st.shared.u32 [%r3], %r4; bar.sync 0; setp.eq.u32 %p0, %r1, 0;
        @!%p0 bra end; cp.async.bulk.global.shared::cta.bulk_group [%rd50], [s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group{read} 0;
        ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%rd50]; st.global.v4.u32 [%out], {{%r5, %r6, %r7, %r8}}; end:"))
    };
    always(&text(""), block(4), &[1, 2, 3, 4], &[50, 51, 52, 53]);
    sometimes(&text(".read"), block(4), &[1, 2, 3, 4], &[50, 51, 52, 53]);
}

const PAIR: &str = "
    .shared .align 16 .b32 s[64]; .shared .align 16 .b32 d[64]; .shared .align 8 .b64 b; mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %p0, %r1, 0;
    @%p0 mbarrier.init.shared.b64 [b], 1; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; mov.u32 %r5, d; mad.lo.u32 %r6, %r1, 4, %r5; mov.u32 %r7, b;
    mad.lo.u32 %r8, %r2, 64, %r1; mad.wide.u32 %rd1, %r8, 4, %rd50; ld.global.u32 %r9, [%rd1]; st.shared.u32 [%r4], %r9; st.shared.u32 [%r6], %r1;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [b], 256; xor.b32 %r10, %r2, 1; mapa.shared::cluster.u32 %r11, %r5, %r10; mapa.shared::cluster.u32 %r12, %r7, %r10;
    mapa.shared::cluster.u32 %r13, %r6, %r10; fence.mbarrier_init.release.cluster; fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;";
const PAIR_END: &str = "
    w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [b], 0; @!%p1 bra w; ld.shared.u32 %r14, [%r6];
    mad.wide.u32 %rd2, %r8, 4, %out; st.global.u32 [%rd2], %r14; barrier.cluster.arrive; barrier.cluster.wait;";

/// What two blocks of 64 threads send each other, given each word and the thread's number.
fn exchange(send: &str, f: impl Fn(u32, u32) -> u32) {
    let program = program_for("sm_90a", &format!("{PAIR} {send} {PAIR_END}"));
    let input = iota(128);
    let expected: Vec<u32> = (0..128).map(|i| f(input[(i + 64) % 128], i as u32 % 64)).collect();
    always(&program, block(64).grid([2, 1, 1]).cluster([2, 1, 1]), &input, &expected);
}

#[test]
fn blocks_copy_to_each_other() {
    exchange(
        "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r11], [s], 256, [%r12];",
        |sent, _| sent,
    );
    exchange(
        "@%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r11], [s], 256, [%r12];",
        |sent, own| sent + own,
    );
    exchange(
        "@%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.dec.u32 [%r11], [s], 256, [%r12];",
        |sent, own| if own == 0 { sent } else { own - 1 },
    );
    exchange("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r13], %r9, [%r12];", |sent, _| {
        sent
    });
    exchange(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r13], %r9, [%r12];",
        |sent, _| sent,
    );
    exchange(
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%r13], %r9, [%r12];",
        |sent, own| sent ^ own,
    );
    exchange("cvt.u64.u32 %rd3, %r13; cvta.shared::cluster.u64 %rd3, %rd3; cvt.u64.u32 %rd4, %r12; cvta.shared::cluster.u64 %rd4, %rd4;
        red.async.relaxed.cluster.mbarrier::complete_tx::bytes.max.s32 [%rd3], %r9, [%rd4];", |sent, own| sent.max(own));
    exchange("and.b32 %r20, %r1, 3; setp.eq.u32 %p2, %r20, 0; ld.shared.v4.u32 {%r21, %r22, %r23, %r24}, [%r3]; shl.b32 %r20, %r1, 2;
        @%p2 add.u32 %r25, %r4, 0; @!%p2 mov.u32 %r25, %r3; ld.shared.v4.u32 {%r21, %r22, %r23, %r24}, [%r25];
        @%p2 st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r13], {%r21, %r22, %r23, %r24}, [%r12];", |sent, _| sent);
}

#[test]
fn a_block_reduces_to_its_own_memory() {
    // A copy must go to another block (9.7.9.25.4.1), a reduction need not (9.7.9.25.4.2).
    let program = program(
        ".shared .align 16 .b32 s[4]; .shared .align 16 .b32 d[4]; .shared .align 8 .b64 b; mov.u32 %r2, s; mov.u32 %r3, d; mov.u32 %r6, b; setp.ne.u32 %p0, %r1, 0; @%p0 bra end;
        ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd50]; st.shared.v4.u32 [s], {%r10, %r11, %r12, %r13}; st.shared.v4.u32 [d], {%r13, %r12, %r11, %r10};
        mbarrier.init.shared.b64 [b], 1; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [b], 16;
        cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r3], [%r2], 16, [%r6];
        w: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra w;
        ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [d]; st.global.v4.u32 [%out], {%r10, %r11, %r12, %r13}; end:",
    );
    always(&program, block(1), &[1, 20, 300, 4000], &[4001, 320, 320, 4001]);
}

#[test]
fn a_copy_goes_to_many_blocks() {
    // Block 1 of four sends to blocks 0, 2 and 3, at the same offset of each.
    let program = program("
        .shared .align 16 .b32 s[32]; .shared .align 8 .b64 b; mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %p0, %r1, 0; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], 5;
        @%p0 mbarrier.init.shared.b64 [b], 1; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [b], 128; barrier.cluster.arrive; barrier.cluster.wait;
        setp.eq.u32 %p1, %r2, 1; and.pred %p2, %p0, %p1; mov.b16 %rs1, 13;
        @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%rd50], 128, [b], %rs1;
        @%p1 bra store; w: mbarrier.try_wait.parity.shared.b64 %p3, [b], 0; @!%p3 bra w;
        store: ld.shared.u32 %r5, [%r4]; mad.lo.u32 %r6, %r2, 32, %r1; mad.wide.u32 %rd1, %r6, 4, %out; st.global.u32 [%rd1], %r5; barrier.cluster.arrive; barrier.cluster.wait;");
    let input = iota(32);
    let expected: Vec<u32> = [&input[..], &[5; 32], &input, &input].concat();
    always(&program, block(32).grid([4, 1, 1]).cluster([4, 1, 1]), &input, &expected);
}

#[test]
fn bulk_reductions_to_global_memory() {
    let reduce = |op: &str, old: &[u32], new: &[u32]| {
        let program = program(&format!("
            .shared .align 16 .b32 s[4]; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; mad.wide.u32 %rd1, %r1, 4, %rd50; ld.global.u32 %r4, [%rd1+16]; st.shared.u32 [%r3], %r4; bar.sync 0;
            setp.ne.u32 %p0, %r1, 0; @%p0 bra end; ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%rd50]; st.global.v4.u32 [%out], {{%r5, %r6, %r7, %r8}};
            cp.reduce.async.bulk.global.shared::cta.bulk_group.{op} [%out], [s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; end:"));
        let mut outcomes = outcomes(&program, block(4), &[old, new].concat(), 4);
        let first = outcomes.remove(0);
        assert!(outcomes.iter().all(|o| *o == first));
        first
    };
    assert_eq!(reduce("add.u32", &[1, 2, 3, u32::MAX], &[10, 20, 30, 2]), [11, 22, 33, 1]);
    assert_eq!(reduce("add.u64", &[u32::MAX, 0, 5, 5], &[1, 0, 6, 6]), [0, 1, 11, 11]);
    assert_eq!(reduce("min.s32", &[1, 2, 3, u32::MAX], &[0, u32::MAX, 4, 1]), [0, u32::MAX, 3, u32::MAX]);
    assert_eq!(reduce("or.b64", &[1, 2, 4, 8], &[16, 2, 0, 1]), [17, 2, 4, 9]);
    assert_eq!(reduce("inc.u32", &[1, 5, 6, 0], &[5, 5, 5, 0]), [2, 0, 0, 0]);
    let f = |v: f32| v.to_bits();
    // Subnormal numbers are flushed, as by `red.global.add.f32`.
    assert_eq!(
        reduce("add.f32", &[f(1.5), f(2.0), 1, f(0.0)], &[f(2.0), f(-2.0), f(0.0), 1]),
        [f(3.5), 0, 0, 0]
    );
    // Halves: 1 + 2, 0.5 + 0.25; subnormal ones are kept.
    assert_eq!(
        reduce("add.noftz.f16", &[0x3c00_3800, 1, 0, 0], &[0x4000_3400, 1, 0, 0]),
        [0x4200_3a00, 2, 0, 0]
    );
    assert_eq!(reduce("max.bf16", &[0x3f80_bf80, 0, 0, 0], &[0x4000_3f80, 0, 0, 0]), [0x4000_3f80, 0, 0, 0]);
}

#[test]
fn bytes_are_masked_and_memory_is_cleared() {
    let masked = program_for("sm_100", "
        .shared .align 16 .b32 s[8]; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], -1; bar.sync 0; setp.eq.u32 %p0, %r1, 0; mov.b16 %rs1, 0x8421;
        @%p0 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [s], 32, %rs1; @%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;");
    let row = [0x0000_00ff, 0x0000_ff00, 0x00ff_0000, 0xff00_0000];
    always(&masked, block(8), &[0], &[row, row].concat());
    let cleared = program_for("sm_100", &format!("
        .shared .align 16 .b32 s[64]; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; bar.sync 0; setp.eq.u32 %p0, %r1, 0; mov.u64 %rd1, 40;
        @%p0 st.bulk.weak.shared::cta [%r2+16], %rd1, 0; bar.sync 0; ld.shared.u32 %r0, [%r3]; {STORE}"));
    let expected: Vec<u32> = (0..64).map(|i| if (4..14).contains(&i) { 0 } else { i }).collect();
    always(&cleared, block(64), &[0], &expected);
}

#[test]
fn stores_and_reductions_without_a_signal_end_with_the_block() {
    let text = |op: &str| program_for("sm_100", &format!("mad.wide.u32 %rd1, %r1, 4, %out; {op}"));
    let expected: Vec<u32> = (0..32).collect();
    always(&text("st.async.release.gpu.global.u32 [%rd1], %r1;"), block(32), &[0], &expected);
    always(
        &text("red.async.release.gpu.global.add.u32 [%rd1], %r1; red.async.release.sys.add.u32 [%rd1], 0;"),
        block(32),
        &[0],
        &expected,
    );
}

#[test]
fn clusters_that_have_not_started_can_be_cancelled() {
    // Each block that starts works on its own number and on those it takes away from the grid.
    let text = |pair: bool| {
        let (multicast, sync) = if pair {
            (".multicast::cluster::all", "barrier.cluster.arrive; barrier.cluster.wait;")
        } else {
            ("", "bar.sync 0;")
        };
        program_for("sm_100a", &format!("
        .shared .align 16 .b128 h; .shared .align 8 .b64 b; .reg .b128 %q; setp.eq.u32 %p0, %r1, 0; @%p0 mbarrier.init.shared.b64 [b], 1; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;
        mov.u32 %r8, %cluster_ctarank; setp.eq.and.u32 %p5, %r8, 0, %p0; {sync}
        loop: mad.wide.u32 %rd1, %r2, 4, %out; @%p0 red.global.add.u32 [%rd1], 1; mad.wide.u32 %rd2, %r2, 4, %rd50; mov.u32 %r4, %ctaid.x; @%p0 st.global.u32 [%rd2], %r4;
        {sync} @%p0 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [b], 16; @%p5 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{multicast}.b128 [h], [b];
        w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [b], %r3; @!%p1 bra w; xor.b32 %r3, %r3, 1; ld.shared.b128 %q, [h];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q; @!%p2 bra done; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{%r2, _, _, _}}, %q;
        clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r5, %q; setp.ne.u32 %p3, %r5, 0; @%p3 trap; add.u32 %r2, %r2, %r8; bra loop; done: {sync}"))
    };
    always(&text(false), block(64).grid([40, 1, 1]), &[0; 40], &[1; 40]);
    always(&text(true), block(64).grid([40, 1, 1]).cluster([2, 1, 1]), &[0; 40], &[1; 40]);
    // Cancelled blocks did not run: their work was done by others.
    let mut device = levels::device();
    let (out, by) = (buffer(&mut device, &[0; 40]), buffer(&mut device, &[0; 40]));
    device.launch(&text(false), &block(64).grid([40, 1, 1]).arg(out).arg(by).workers(1)).unwrap();
    assert_eq!(device.download::<u32>(by).unwrap(), [0; 40]);
}

#[test]
fn tensor_maps_are_copied_with_a_fence() {
    let program = program_for("sm_90a", "
        .shared .align 128 .b32 s[32]; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; bar.warp.sync -1;
        tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], [s], 128; fence.proxy.tensormap::generic.acquire.gpu [%out], 128;");
    always(&program, block(32), &[0], &(0..32).collect::<Vec<u32>>());
}

#[test]
fn misuse_is_a_fault_by_name() {
    let is = |target: &str, body: &str, name: &str, part: &str| {
        let program = kernel_for(
            target,
            "",
            &format!(
                ".shared .align 16 .b32 s[8]; .shared .align 8 .b64 b; mov.u32 %r2, s; mbarrier.init.shared.b64 [b], 1; {body}"
            ),
        );
        let fault = launch(&program, Launch::new("k"), 16).unwrap_err();
        assert!(fault.code.name() == name && fault.message.contains(part), "{body}: {fault}");
        assert!(fault.ptx_line.is_some() && fault.thread == Some([0, 0, 0]));
    };
    is(
        "sm_90",
        "cp.async.ca.shared.global [%r2], [%out+64], 4;",
        "out_of_bounds",
        "ends 4 bytes past the end of the nearest allocation",
    );
    is(
        "sm_90",
        "cp.async.ca.shared.global [%r2+40], [%out], 8;",
        "out_of_bounds",
        "past the end of shared memory",
    );
    is("sm_90", "cp.async.cg.shared.global [%r2], [%out+8], 16;", "misaligned", "multiple of 16");
    is(
        "sm_90",
        "mov.u32 %r1, 5; cp.async.ca.shared.global [%r2], [%out], 4, %r1;",
        "bad_operand",
        "5 bytes are to be read for a copy of 4",
    );
    is(
        "sm_90",
        "mov.u32 %r1, 24; cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], %r1;",
        "bad_operand",
        "not a multiple of 16",
    );
    is(
        "sm_90",
        "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], 48;",
        "out_of_bounds",
        "past the end of shared memory",
    );
    is(
        "sm_90",
        "cp.async.bulk.global.shared::cta.bulk_group [%out+48], [%r2], 32;",
        "out_of_bounds",
        "global address",
    );
    is(
        "sm_90",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%out], 16, [s+16]; w: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra w;",
        "bad_mbarrier",
        "completion of an asynchronous operation",
    );
    is(
        "sm_90",
        "mov.b16 %rs1, 2; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%out], 16, [b], %rs1;",
        "bad_operand",
        "cluster of 1",
    );
    is(
        "sm_90",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], 1, [b];",
        "bad_operand",
        "cluster of one block",
    );
    is(
        "sm_90",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r2], 1, [b];",
        "bad_operand",
        "executing block 0",
    );
    is("sm_100", "mov.u64 %rd1, 12; st.bulk.shared::cta [%r2], %rd1, 0;", "bad_operand", "multiple of 8");
    is("sm_90", "cp.async.mbarrier.arrive.shared.b64 [s];", "bad_mbarrier", "no initialised");
}

#[test]
fn what_kernels_allocate_is_checked_too() {
    let text = |offset: u32| {
        load(&format!("
        .extern .func (.param .b64 r) malloc(.param .b64 n);
        .visible .entry k(.param .u64 out) {{ .reg .b64 %rd<8>; .reg .b32 %r<8>; .shared .align 16 .b32 s[4]; ld.param.u64 %rd1, [out];
        {{ .param .b64 n; st.param.b64 [n], 32; .param .b64 r; call (r), malloc, (n); ld.param.b64 %rd2, [r]; }}
        st.global.u32 [%rd2], 77; cp.async.ca.shared.global [s], [%rd2+{offset}], 8; cp.async.wait_all; ld.shared.u32 %r1, [s]; st.global.u32 [%rd1], %r1; ret; }}"))
    };
    assert_eq!(launch(&text(0), Launch::new("k"), 1).unwrap().0, [77]);
    assert_eq!(launch(&text(24), Launch::new("k"), 1).unwrap().0, [0]);
    assert_eq!(launch(&text(32), Launch::new("k"), 1).unwrap_err().code.name(), "out_of_bounds");
}

#[test]
fn a_block_that_leaves_cannot_be_written_to() {
    let program = program("
        .shared .align 16 .b32 s[4]; .shared .align 8 .b64 b; mov.u32 %r2, %cluster_ctarank; mbarrier.init.shared.b64 [b], 1; barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p0, %r2, 0; @!%p0 exit;
        mov.u32 %r3, s; mapa.shared::cluster.u32 %r4, %r3, 1; mov.u32 %r5, b; mapa.shared::cluster.u32 %r6, %r5, 1; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [s], 16, [%r6];");
    let mut device = levels::device();
    let (out, from) = (buffer(&mut device, &[0]), buffer(&mut device, &[0]));
    let fault = device
        .launch(&program, &Launch::new("k").grid([2, 1, 1]).cluster([2, 1, 1]).arg(out).arg(from))
        .unwrap_err();
    assert!(
        fault.code.name() == "out_of_bounds" && fault.message.contains("block 1 of the cluster"),
        "{fault}"
    );
}
