//! What PTX 9.1 to 9.5 brought: what is computed, and what goes on later.

use super::*;

fn later(target: &str, params: &str, body: &str) -> Program {
    let source = format!(
        ".version 9.5 .target {target} .address_size 64\n\
         .visible .entry k(.param .u64 out{params}) {{ .reg .b32 %r<64>; .reg .b64 %rd<64>, %out; .reg .pred %p<16>; \
         .reg .f32 %f<16>; .reg .b16 %rs<16>; .reg .b8 %c<4>; .reg .b128 %q<4>; ld.param.u64 %out, [out];\n{body}\nret; }}"
    );
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn block(threads: u32) -> Launch {
    Launch::new("k").block([threads, 1, 1])
}

fn fault(target: &str, body: &str) -> Fault {
    launch(&later(target, "", body), block(1), 64).unwrap_err()
}

/// The words of `out` after one thread has executed the statements.
fn one(target: &str, body: &str, count: usize) -> Vec<u32> {
    words(&later(target, "", body), 1, count).unwrap()
}

#[test]
fn values_of_all_families() {
    for (target, statement, expected) in [
        (
            "sm_120f",
            "mov.b32 %r1, 0x7fff0180; mov.b32 %r2, 0x01ff0180; add.sat.s8x4 %r0, %r1, %r2;",
            0x7ffe_0280,
        ),
        ("sm_120f", "mov.b32 %r1, 0x00ff0180; mov.b32 %r2, 0x01010180; sub.u8x4 %r0, %r1, %r2;", 0xfffe_0000),
        (
            "sm_120f",
            "mov.b32 %r1, 0x80ff7f02; mov.b32 %r2, 0x01010101; min.relu.s8x4 %r0, %r1, %r2;",
            0x0000_0101,
        ),
        ("sm_120f", "mov.b32 %r1, 0x80ff0100; neg.s8x4 %r0, %r1;", 0x8001_ff00),
        (
            "sm_107f",
            "mov.b32 %r1, 0xffff0001; mov.b32 %r2, 0x00020002; add.sat.u16x2 %r0, %r1, %r2;",
            0xffff_0003,
        ),
        ("sm_107f", "mov.b32 %r1, -2; add.sat.u32 %r0, %r1, 5;", 0xffff_ffff),
        (
            "sm_107f",
            "mov.b32 %r1, 0x80000001; mov.b32 %r2, 0x00000001; set.lt.s16x2 %r0, %r1, %r2;",
            0xffff_0000,
        ),
        ("sm_80", "mov.b64 %rd1, 3; clmad.lo.u64 %rd2, %rd1, %rd1, 8; cvt.u32.u64 %r0, %rd2;", 13),
        ("sm_75", "mov.f32 %f1, 0f3e800000; sin.approx.ftz.2pi.f32 %f2, %f1; mov.b32 %r0, %f2;", 0x3f80_0000),
        (
            "sm_107f",
            "mov.b32 %r1, 0x3c004000; mov.b64 %rd1, 0x3f8000003f800000; add.f32x2.f16x2.f32x2 %rd2, %r1, %rd1; mov.b64 {%r0, %r2}, %rd2;",
            0x4040_0000,
        ),
        (
            "sm_107f",
            "mov.b64 %rd1, 0x3f8000003f800000; add.rz.bf16x2.f32x2.f32x2 %r0, %rd1, %rd1;",
            0x4000_4000,
        ),
        ("sm_100a", "mov.b32 %r1, 0x38383838; fma.rn.e4m3x4.e4m3x4.e4m3x4 %r0, %r1, %r1, %r1;", 0x4040_4040),
        (
            "sm_100a",
            "mov.f32 %f1, 0f3f800000; cvt.rn.satfinite.s2f6x2.f32 %rs1, %f1, %f1; cvt.u32.u16 %r0, %rs1;",
            0x4040,
        ),
        (
            "sm_107f",
            "mov.f32 %f1, 0fbf800000; cvt.rp.satfinite.ue5m3x2.f32 %rs1, %f1, %f1; cvt.u32.u16 %r0, %rs1;",
            0x7878,
        ),
        ("sm_107f", "mov.f32 %f1, 0f80000000; cvt.rn.pzo.f16x2.f32 %r0, %f1, %f1;", 0),
        (
            "sm_107f",
            "mov.f32 %f1, 0f40800000; mov.b16 %rs2, 0x80; cvt.u8.u16 %c1, %rs2; cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32 %rs1, %f1, %f1, %c1; cvt.u32.u16 %r0, %rs1;",
            0x4040,
        ),
        (
            "sm_100f",
            "mov.b16 %rs1, 0x3838; mov.b16 %rs2, 0x807f; cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r0, %rs1, %rs2;",
            0x4000_3f80,
        ),
    ] {
        let found = one(target, &format!("{statement} st.global.b32 [%out], %r0;"), 1);
        assert_eq!(found, [expected], "{statement}");
    }
}

#[test]
fn sparse_vectors() {
    // Of 1, -2, 3, -4 and 5, 6, -7, 8 of s8 the two of greatest magnitude, and back.
    let found = one(
        "sm_107a",
        "mov.b32 %r1, 0xfc03fe01; mov.b32 %r2, 0x08f90605; mov.b32 %r3, 5;
        spcompress.b8.b4.sp::2:4.x2 {%r10}, {%r11, %r12}, {%r1, %r2, %r1, %r1}, %r3;
        spdecompress.b8.b4.sp::2:4.x4 {%r20, %r21, %r22, %r23}, {%r10}, {%r11, %r12};
        st.global.v4.u32 [%out], {%r10, %r11, %r12, %r20}; st.global.v2.u32 [%out+16], {%r21, %r23};",
        6,
    );
    assert_eq!(found, [0x3232_3232, 0x08f9_fc03, 0xfc03_fc03, 0xfc03_0000, 0x08f9_0000, 0xfc03_0000]);
    // f16: 1, -2, 0.5, -0; the greatest two are 1 and 0.5.
    let found = one("sm_107a", "mov.b32 %r1, 0xc0003c00; mov.b32 %r2, 0x80003800; mov.b32 %r3, 0;
        spcompress.b16.b2.sp::2:4.x1 {%r10}, {%r11}, {%r1, %r2}, %r3; spdecompress.b16.b2.sp::2:4.x1 {%r20, %r21}, {%r10}, {%r11};
        st.global.v4.u32 [%out], {%r10, %r11, %r20, %r21};", 4);
    assert_eq!(found, [0b1000, 0x3800_3c00, 0x0000_3c00, 0x3800]);
}

#[test]
fn objects_have_layouts() {
    let program = |layout: &str| {
        later("sm_90", "", &format!(
            ".shared .align 8 .b64 b; mbarrier.init{layout}.shared.b64 [b], 1; mbarrier.check_layout.layout::v0.shared.b64 %p1, [b];
             mbarrier.check_layout.layout::v1.shared.b64 %p2, [b]; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; add.u32 %r0, %r1, %r2; {STORE}"))
    };
    for (layout, expected) in [("", 1), (".layout::v0", 1), (".layout::v1", 2)] {
        assert_eq!(words(&program(layout), 1, 1).unwrap(), [expected]);
    }
    let many = "mov.u32 %r1, 512; mbarrier.init.layout::v1.shared.b64 [b], %r1;";
    let fault = fault("sm_90", &format!(".shared .align 8 .b64 b; {many}"));
    assert!(fault.message.contains("512 arrivals; from 1 to 511"), "{fault}");
}

/// Copies 32 bytes with a report, waits for the phase, and stores what was reported and whether the conditional phase is complete.
fn reported(pattern: &str, layout: &str) -> Program {
    later("sm_107f", ", .param .u64 from", &format!(
        ".shared .align 16 .b8 a[32]; .shared .align 8 .b64 b; ld.param.u64 %rd1, [from]; mbarrier.init{layout}.shared.b64 [b], 1;
         mbarrier.arrive.expect_tx.shared.b64 _, [b], 32;
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::{pattern} [a], [%rd1], 32, [b];
         w: mbarrier.try_wait.parity.phase_type::primary.shared.b64 %p1|%p2, %c1, [b], 0; @!%p1 bra w;
         mbarrier.test_wait.parity.phase_type::conditional.shared.b64 %p3, [b], 0;
         selp.u32 %r1, 1, 0, %p2; selp.u32 %r2, 2, 0, %p3; cvt.u32.u8 %r3, %c1; shl.b32 %r3, %r3, 8; add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3;
         st.global.u32 [%out], %r0; ld.shared.u32 %r4, [a+28]; st.global.u32 [%out+4], %r4;"))
}

#[test]
fn copies_report_what_is_not_valid() {
    let run = |pattern: &str, data: [u32; 8]| {
        let program = reported(pattern, ".layout::v1");
        let mut device = levels::device();
        let (out, from) = (buffer(&mut device, &[0; 2]), buffer(&mut device, &data));
        device.launch(&program, &block(1).arg(out).arg(from)).unwrap();
        let words: Vec<u32> = device.download(out).unwrap();
        assert_eq!(words[1], data[7]);
        words[0]
    };
    // 1: something was reported; 2: the conditional phase is complete.
    let clean = [1, 2, 3, 4, 5, 6, 7, 8];
    let second = |word: u32| [1, 2, 3, 4, word, 6, 7, 8];
    assert_eq!(run("disabled", second(0x8000_0000)), 2);
    for (pattern, found, other) in [
        ("validity::per_16bytes::80000000", 0x8000_0000, 0x8000_0001),
        ("validity::per_16bytes::8000", 0x1234_8000, 0x8000_1234),
        ("validity::per_16bytes::80", 0x80, 0x8000),
        ("validity::per_16bytes::8", 0x18, 0x80),
        ("validity::per_element::ff", 0x00ff_0000, 0x0ff0_0ff0),
    ] {
        assert_eq!(run(pattern, clean), 2, "{pattern}");
        assert_eq!(run(pattern, second(found)), 1, "{pattern}");
        assert_eq!(run(pattern, second(other)), 2, "{pattern}");
    }
    let mut device = levels::device();
    let (out, from) = (buffer(&mut device, &[0; 2]), buffer(&mut device, &[u32::MAX; 8]));
    let program = reported("validity::per_element::ff", "");
    let fault = device.launch(&program, &block(1).arg(out).arg(from)).unwrap_err();
    assert!(fault.message.contains("layout v0"), "{fault}");
}

#[test]
fn arrivals_go_to_many_blocks() {
    // Block 0 arrives in all four blocks; each waits for its own object.
    let program = later("sm_107f", "",
        ".shared .align 8 .b64 b; mov.u32 %r1, %cluster_ctarank; mbarrier.init.shared.b64 [b], 1; fence.mbarrier_init.release.cluster;
         barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, b; mapa.shared::cluster.u32 %r3, %r2, 0; mov.u32 %r4, 15;
         @%p1 mbarrier.expect_tx.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64 [%r3], 16, %r4;
         @%p1 mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [%r3], 1, %r4;
         @%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64 [%r3], 16, %r4;
         w: mbarrier.try_wait.parity.shared.b64 %p2, [b], 0; @!%p2 bra w; mad.wide.u32 %rd1, %r1, 4, %out; add.u32 %r0, %r1, 7; st.global.u32 [%rd1], %r0;
         barrier.cluster.arrive; barrier.cluster.wait;");
    let launch = Launch::new("k").grid([4, 1, 1]).cluster([4, 1, 1]);
    assert_eq!(under_seeds(&program, launch, 4), [7, 8, 9, 10]);
}

#[test]
fn ends_of_copies_may_be_out_of_bounds() {
    // The buffer begins 4 bytes after the copy and ends 8 bytes before its end.
    let program = |left: u32| {
        later("sm_90", ", .param .u64 from", &format!(
        ".shared .align 16 .b8 a[32]; .shared .align 8 .b64 b; ld.param.u64 %rd1, [from]; sub.u64 %rd1, %rd1, 16; mbarrier.init.shared.b64 [b], 1;
         mbarrier.arrive.expect_tx.shared.b64 _, [b], 32; mov.u32 %r5, {left};
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [a], [%rd1], 32, %r5, 8, [b];
         w: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra w; ld.shared.u32 %r1, [a+16]; ld.shared.u32 %r2, [a+20]; st.global.u32 [%out], %r1;
         st.global.u32 [%out+4], %r2;"))
    };
    let run = |left: u32| {
        let mut device = levels::device();
        let (out, from) = (buffer(&mut device, &[0; 2]), buffer(&mut device, &[11, 22]));
        device.launch(&program(left), &block(1).arg(out).arg(from))?;
        Ok::<Vec<u32>, Fault>(device.download(out).unwrap())
    };
    assert!(run(16).unwrap_err().message.contains("up to 15"));
    // 15 bytes are ignored, and the sixteenth is not there.
    assert!(run(15).unwrap_err().message.contains("source"));
    let inner = later("sm_90", ", .param .u64 from",
        ".shared .align 16 .b8 a[32]; .shared .align 8 .b64 b; ld.param.u64 %rd1, [from]; mbarrier.init.shared.b64 [b], 1;
         mbarrier.arrive.expect_tx.shared.b64 _, [b], 32; mov.u32 %r5, 4; mov.u32 %r6, -1; st.shared.u32 [a], %r6; fence.proxy.async.shared::cta;
         cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [a], [%rd1], 32, %r5, 12, [b];
         w: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra w; ld.shared.u32 %r1, [a+4]; ld.shared.u32 %r2, [a+16]; st.global.u32 [%out], %r1;
         st.global.u32 [%out+4], %r2;");
    let mut device = levels::device();
    // Five words, where eight are copied: the last three are ignored.
    let (out, from) = (buffer(&mut device, &[0; 2]), buffer(&mut device, &[1, 2, 3, 4, 5]));
    device.launch(&inner, &block(1).arg(out).arg(from)).unwrap();
    assert_eq!(device.download::<u32>(out).unwrap(), [2, 5]);
}

#[test]
fn multicast_copies_and_stores() {
    let run = |target: &str, body: &str| {
        let program = later(target, ", .param .u64 all", &format!(
            ".shared .align 16 .b32 a[8]; ld.param.u64 %rd50, [all]; mov.u32 %r1, 5; st.shared.v4.u32 [a], {{%r1, %r1, %r1, %r1}}; mov.u32 %r2, 6;
             st.shared.v4.u32 [a+16], {{%r2, %r2, %r2, %r2}}; fence.proxy.async.shared::cta;\n{body}"));
        let mut device = levels::device();
        let out = buffer(&mut device, &[0; 8]);
        let buffers = [[1u32; 8], [2u32; 8]].map(|words| buffer(&mut device, &words));
        let all = device.multicast(&buffers).unwrap();
        device.launch(&program, &Launch::new("k").arg(out).arg(all)).unwrap();
        buffers.map(|b| device.download::<u32>(b).unwrap())
    };
    let wait = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
    let both = [5, 5, 5, 5, 6, 6, 6, 6];
    assert_eq!(
        run(
            "sm_90",
            &format!("multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd50], [a], 32; {wait}")
        ),
        [both, both]
    );
    let relaxed = "multimem.cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.b128 [%rd50], [a], 32;";
    assert_eq!(run("sm_90", &format!("{relaxed} {wait}")), [both, both]);
    let masked = "mov.b16 %rs1, 0x00f0; multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd50], [a], 32, %rs1;";
    assert_eq!(
        run("sm_100", &format!("{masked} {wait}")),
        [[1, 5, 1, 1, 1, 6, 1, 1], [2, 5, 2, 2, 2, 6, 2, 2]]
    );
    let sum = "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd50], [a], 32;";
    assert_eq!(run("sm_90", &format!("{sum} {wait}")), [[6, 6, 6, 6, 7, 7, 7, 7], [7, 7, 7, 7, 8, 8, 8, 8]]);
    let stores = "multimem.st.async.release.gpu.global.u32 [%rd50+4], %r1; multimem.red.async.release.sys.add.u32 [%rd50+8], %r2;";
    assert_eq!(run("sm_100", stores), [[1, 5, 7, 1, 1, 1, 1, 1], [2, 5, 8, 2, 2, 2, 2, 2]]);
}

#[test]
fn sixteen_bytes_are_stored_at_once() {
    let program = later("sm_90", "",
        ".shared .align 16 .b8 a[16]; .shared .align 8 .b64 b; mov.u32 %r1, %cluster_ctarank; mbarrier.init.shared.b64 [b], 1;
         mbarrier.arrive.expect_tx.shared.b64 _, [b], 16; barrier.cluster.arrive; barrier.cluster.wait; xor.b32 %r2, %r1, 1; mov.u32 %r3, a; mov.u32 %r4, b;
         mapa.shared::cluster.u32 %r3, %r3, %r2; mapa.shared::cluster.u32 %r4, %r4, %r2; mov.b64 %rd1, 0x1111111122222222; cvt.u64.u32 %rd2, %r1;
         mov.b128 %q1, {%rd1, %rd2}; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b128 [%r3], %q1, [%r4];
         w: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p1, [b], 0; @!%p1 bra w; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [a]; add.u32 %r0, %r5, %r6;
         add.u32 %r0, %r0, %r7; mad.wide.u32 %rd3, %r1, 4, %out; st.global.u32 [%rd3], %r0; barrier.cluster.arrive; barrier.cluster.wait;");
    let launch = Launch::new("k").grid([2, 1, 1]).cluster([2, 1, 1]);
    assert_eq!(under_seeds(&program, launch, 2), [0x3333_3334, 0x3333_3333]);
}

#[test]
fn subnormal_sums_are_kept_on_request() {
    let sum = |modifier: &str| {
        one(
            "sm_90",
            &format!(
                "mov.b32 %f1, 0f00000001; red.global.add{modifier}.f32 [%out], %f1; red.global.add{modifier}.f32 [%out], %f1;"
            ),
            1,
        )
    };
    assert_eq!([sum(""), sum(".noftz")], [[0], [2]]);
}

#[test]
fn hints_and_fences_do_no_harm() {
    let body = "prefetch.global.L1::32B.valid_addr [%out]; ld.global.proxy::readonly.u32 %r1, [%out]; ld.acquire.mmio.sys.global.u32 %r1, [%out];
        fence.proxy.alias.acquire.sys; fence.proxy.alias.release.sys; fence.alias.sync_restrict::read.release.sys; membar.proxy.async;
        .local .u32 l; st.local.volatile.u32 [l], 5; ld.local.volatile.u32 %r0, [l]; st.global.u32 [%out], %r0;";
    assert_eq!(one("sm_90", body, 1), [5]);
    let body = "cp.async.bulk.prefetch.L2.global.L2::evict_last [%out], 16; applypriority.async.bulk.global.bulk_group.L2::evict_normal [%out], 16;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group.sync_restrict::proxy::async 0; trace.mark 7; setp.eq.u32 %p1, 0, 0; trace.mark.cond 8, !%p1;";
    assert_eq!(one("sm_107f", body, 4), [0; 4]);
}

#[test]
fn marks_are_told() {
    #[derive(Default)]
    struct Marks(Vec<(u32, u32, Option<u32>)>);
    impl warpsmith_interp::observe::Observer for Marks {
        fn marked(&mut self, at: &warpsmith_interp::observe::At<'_>, number: u32, condition: Option<u32>) {
            self.0.push((number, at.mask, condition));
        }
    }
    let program = later(
        "sm_107f",
        "",
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 3; @%p1 trace.mark 5; setp.eq.u32 %p2, %r1, 1; trace.mark.cond 4095, !%p2;",
    );
    let mut device = levels::device();
    let out = buffer(&mut device, &[0]);
    let mut marks = Marks::default();
    device.launch_observed(&program, &block(4).arg(out), &mut marks).unwrap();
    assert_eq!(marks.0, [(5, 0b111, None), (4095, 0b1111, Some(0b1101))]);
}

/// Copies a tile of 4 x 2 words by tensor map and gives it, or the state of an mbarrier object of layout v1.
fn tile(copy: &str, then: &str) -> Program {
    later(
        "sm_107f",
        ", .param .align 64 .b8 map[128], .param .u64 other",
        &format!(
            ".shared .align 128 .b8 s[128]; .shared .align 8 .b64 bar; .reg .b16 %h<4>; mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [other];
            mov.b16 %h0, 4; mov.b16 %h1, 2; mov.b32 %r1, 2; mov.b32 %r2, 3; mov.b16 %h2, 0; mbarrier.init.layout::v1.shared.b64 [bar], 1; fence.proxy.async.shared::cta;
            mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32; {copy}
            W: mbarrier.try_wait.parity.phase_type::primary.shared.b64 %p1|%p2, [bar], 0; @!%p1 bra W;
            mov.u32 %r9, s; ld.shared.v4.b32 {{%r10, %r11, %r12, %r13}}, [%r9]; ld.shared.v4.b32 {{%r14, %r15, %r16, %r17}}, [%r9+16]; {then}
            st.global.v4.b32 [%out], {{%r10, %r11, %r12, %r13}}; st.global.v4.b32 [%out+16], {{%r14, %r15, %r16, %r17}};"
        ),
    )
}

/// What [`tile`] gives of two tensors of 8 x 8 words.
fn copied(program: &Program, numbers: [Vec<u32>; 2]) -> Result<Vec<u32>, Fault> {
    let mut device = levels::device();
    let out = device.upload(&[0u32; 8])?;
    let [first, second] = [device.upload(&numbers[0])?, device.upload(&numbers[1])?];
    let tensor =
        warpsmith_interp::Tensor::new(warpsmith_interp::ElementType::U32, first.address(), &[8, 8], &[32]);
    let launch = block(1).arg(out).arg(tensor.encode_tiled(&[4, 2]).unwrap()).arg(second);
    device.launch(program, &launch)?;
    device.download(out)
}

#[test]
fn copies_give_fields_of_their_map() {
    let numbers = [(0..64).collect(), (100..164).collect::<Vec<u32>>()];
    let copy = |fields: &str, operands: &str| {
        let copy = format!(
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes{fields} [s], [%rd1, {operands}], [bar];"
        );
        copied(&tile(&copy, ""), numbers.clone())
    };
    assert_eq!(copy("", "{4, 1}").unwrap(), [12, 13, 14, 15, 20, 21, 22, 23]);
    let address = ".override::global_address";
    assert_eq!(copy(address, "%rd2, {4, 1}").unwrap(), [112, 113, 114, 115, 120, 121, 122, 123]);
    // Tensors of 4 x 2 whose rows are 48 and 32 bytes apart.
    let strides = ".override::global_address.override::global_dim_stride";
    let rows = copy(strides, "%rd2, {%h0, %h1}, {%r2}, %h2, {0, 0}");
    assert_eq!(rows.unwrap(), [100, 101, 102, 103, 112, 113, 114, 115]);
    let rows = copy(strides, "%rd2, {%h0, %h1}, {%r1}, %h2, {0, 0}");
    assert_eq!(rows.unwrap(), [100, 101, 102, 103, 108, 109, 110, 111]);
    let fault = copy(strides, "%rd2, {%h0, %h1}, {%r1}, %h2, {0, 1}").unwrap_err();
    assert!(fault.message.contains("coordinate 1 is 1"), "{fault}");
}

#[test]
fn copies_by_tensor_map_report_what_is_not_valid() {
    let copy = "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_16bytes::80000000 [s], [%rd1, {0, 0}], [bar];";
    let program = tile(copy, "selp.b32 %r10, 1, 0, %p2;");
    let mut numbers = [vec![7; 64], vec![0; 64]];
    assert_eq!(copied(&program, numbers.clone()).unwrap()[0], 0);
    numbers[0][8] = 0x8000_0000;
    assert_eq!(copied(&program, numbers).unwrap()[0], 1);
}

#[test]
fn a_map_knows_the_class_of_its_memory() {
    let asked = |class: &str| {
        let replace =
            format!("tensormap.replace.tile.global_address{class}.shared::cta.b1024.b64 [s], %rd3;");
        let body = format!(
            ".shared .align 128 .b8 s[128]; mov.u32 %r1, s; mov.u32 %r2, 0; mov.b64 %rd3, 4096;
            Z: add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], 0; add.u32 %r2, %r2, 4; setp.lt.u32 %p1, %r2, 128; @%p1 bra Z;
            {replace} tensormap.query.alloc_class_large.b1024.shared::cta %p2, [s]; selp.b32 %r0, 1, 0, %p2; st.global.u32 [%out], %r0;"
        );
        one("sm_100f", &body, 1)[0]
    };
    assert_eq!([".alloc_large", ".alloc_small", "", ".alloc_same"].map(asked), [1, 0, 0, 0]);
}

#[test]
fn nibbles_of_lines_are_sign_extended() {
    let body = ".shared .align 16 .b8 s[128]; mov.u32 %r1, %laneid; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 16, %r2; setp.lt.u32 %p1, %r1, 8;
        @%p1 st.shared.v2.b32 [%r3], {0x87654321, 0x0fedcba9}; bar.warp.sync -1; ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {%r0}, [%r3];
        mad.wide.u32 %rd1, %r1, 4, %out; st.global.u32 [%rd1], %r0;";
    let program = later("sm_100f", "", body);
    let found = words(&program, 32, 32).unwrap();
    assert_eq!(found[..4], [0x0403_0201, 0xf807_0605, 0xfcfb_faf9, 0x00ff_fefd]);
    assert_eq!(found[28..], found[..4]);
}
