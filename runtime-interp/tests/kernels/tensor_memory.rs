//! Tensor memory: allocation, and the cells that each thread's registers denote.

use super::*;
use warpsmith_interp::FaultCode;

const ALLOCATE: &str = ".shared .align 16 .b8 s[8192]; .shared .b32 taddr; .shared .align 8 .b64 bar; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.u32 %p1, %r2, 0;
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], 512; bar.sync 0; ld.shared.u32 %r3, [taddr]; shl.b32 %r4, %r2, 21; add.u32 %r4, %r4, %r3;";
const FREE: &str = "bar.sync 0; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 512; @%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;";

/// The registers `%r20` and up, `n` of them, as a list.
fn registers(n: u32) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("%v{i}")).collect();
    format!("{{{}}}", names.join(", "))
}

fn tensor(body: &str) -> Program {
    load_for("sm_100a", &tensor_text(body))
}

/// A kernel with all of tensor memory.
fn tensor_text(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 out) {{ .reg .b32 %r<64>, %v<128>; .reg .b64 %rd<64>, %out; .reg .pred %p<16>; ld.param.u64 %out, [out];\n{ALLOCATE}\n{body}\n{FREE}\nret; }}"
    )
}

/// Columns 0 to 15 of all lanes, each `lane << 8 | column`, stored as `.32x32b`, loaded in a shape and written to `out` as registers.
fn loaded(shape: &str, pack: &str, offset: &str, count: u32) -> Vec<u32> {
    let fill: String = (0..16).map(|c| format!("mad.lo.u32 %v{c}, %r1, 256, {c};\n")).collect();
    let store: String = (0..count)
        .map(|i| format!("mov.u32 %r6, {i}; mad.lo.u32 %r6, %r1, {count}, %r6; mad.wide.u32 %rd1, %r6, 4, %out; st.global.u32 [%rd1], %v{i};\n"))
        .collect();
    let (sixteen, regs) = (registers(16), registers(count));
    let program = tensor(&format!(
        "{fill} tcgen05.st.sync.aligned.32x32b.x16.b32 [%r4], {sixteen}; tcgen05.wait::st.sync.aligned;
        tcgen05.ld.sync.aligned.{shape}{pack}.b32 {regs}, [%r4]{offset}; tcgen05.wait::ld.sync.aligned; {store}"
    ));
    launch(&program, Launch::new("k").block([128, 1, 1]), 128 * count as usize).unwrap().0
}

#[test]
fn registers_stand_for_cells() {
    // Of thread `t` of a warp and register `i`: lane and column within the warp's quarter.
    type Place = fn(u32, u32) -> (u32, u32);
    let shapes: [(&str, &str, &str, u32, Place); 6] = [
        ("32x32b.x8", "", "", 8, |t, i| (t, i)),
        ("16x64b.x4", "", "", 4, |t, i| (t / 4 + t % 2 * 8, 2 * i + t / 2 % 2)),
        ("16x128b.x2", "", "", 4, |t, i| (t / 4 + i % 2 * 8, i / 2 * 4 + t % 4)),
        ("16x256b.x2", "", "", 8, |t, i| (t / 4 + i / 2 % 2 * 8, i / 4 * 8 + t % 4 * 2 + i % 2)),
        ("16x32bx2.x4", "", ", 8", 4, |t, i| (t % 16, i + t / 16 * 8)),
        ("32x32b.x1", "", "", 1, |t, i| (t, i)),
    ];
    for (shape, pack, offset, count, place) in shapes {
        let expected: Vec<u32> = (0..128)
            .flat_map(|t| {
                (0..count).map(move |i| {
                    let (lane, column) = place(t % 32, i);
                    (t / 32 * 32 + lane) << 8 | column
                })
            })
            .collect();
        assert_eq!(loaded(shape, pack, offset, count), expected, "{shape}");
    }
    // Two columns in a register.
    let packed: Vec<u32> = (0..128u32)
        .flat_map(|t| (0..4).map(move |i| (((t << 8) | (2 * i)) & 0xffff) | (((t << 8) | (2 * i + 1)) << 16)))
        .collect();
    assert_eq!(loaded("32x32b.x4", ".pack::16b", "", 4), packed);
}

#[test]
fn loads_reduce_what_a_thread_gets() {
    // Four values in the columns of a lane, and what is made of them.
    let run = |form: &str, values: [u32; 4]| {
        let fill: String =
            values.iter().enumerate().map(|(c, bits)| format!("mov.b32 %v{c}, {bits};\n")).collect();
        let body = format!(
            "{fill} tcgen05.st.sync.aligned.32x32b.x4.b32 [%r4], {}; tcgen05.wait::st.sync.aligned;
            tcgen05.ld.red.sync.aligned.{form};
            tcgen05.wait::ld.sync.aligned; mad.wide.u32 %rd1, %r1, 8, %out; st.global.v2.u32 [%rd1], {{%v5, %r5}};",
            registers(4)
        );
        let program = load_for("sm_103a", &tensor_text(&body));
        let out = launch(&program, Launch::new("k").block([128, 1, 1]), 256).unwrap().0;
        assert!(out.chunks(2).all(|pair| pair == &out[..2]), "{form}: all threads get the same");
        (out[0], out[1])
    };
    let all = "{%v4, %v5, %v6, %v7}, %r5, [%r4]";
    let mixed = [5, u32::MAX, 7, 3];
    for (operation, expected) in
        [("min.u32", 3), ("max.u32", u32::MAX), ("min.s32", u32::MAX), ("max.s32", 7)]
    {
        assert_eq!(run(&format!("32x32b.x4.{operation} {all}"), mixed), (mixed[1], expected), "{operation}");
    }
    let floats = [1.5f32, -4.0, 0.25, f32::NAN].map(f32::to_bits);
    for (operation, expected) in [
        ("min.f32", (-4.0f32).to_bits()),
        ("max.f32", 1.5f32.to_bits()),
        ("min.abs.f32", 0.25f32.to_bits()),
        ("max.abs.f32", 4.0f32.to_bits()),
        ("max.abs.NaN.f32", 0x7fff_ffff),
        ("min.NaN.f32", 0x7fff_ffff),
    ] {
        assert_eq!(
            run(&format!("32x32b.x4.{operation} {all}"), floats),
            (floats[1], expected),
            "{operation}"
        );
    }
    // The second half of the threads has the same columns.
    assert_eq!(run("16x32bx2.x2.max.u32 {%v4, %v5}, %r5, [%r4], 0", [1, 2, 3, 4]), (2, 2));
}

#[test]
fn stores_are_not_there_before_the_wait() {
    let body = |wait: &str| {
        format!(
            "mov.u32 %v0, 5; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {{%v0}}; {wait} tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r5}}, [%r4]; tcgen05.wait::ld.sync.aligned;
            mad.wide.u32 %rd1, %r1, 4, %out; st.global.u32 [%rd1], %r5; tcgen05.wait::st.sync.aligned;"
        )
    };
    let run = |wait| launch(&tensor(&body(wait)), Launch::new("k").block([128, 1, 1]), 128).unwrap().0;
    assert_eq!(run("tcgen05.wait::st.sync.aligned;"), [5; 128]);
    assert_eq!(run(""), [0; 128]);
}

/// `docs/engine.md`, where hardware and the manual differ.
#[test]
fn loads_are_there_before_the_wait() {
    let program = tensor(
        "add.u32 %v0, %r1, 7; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%v0}; tcgen05.wait::st.sync.aligned;
         tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r5}, [%r4]; add.u32 %r5, %r5, 1; tcgen05.wait::ld.sync.aligned;
         mad.wide.u32 %rd1, %r1, 4, %out; st.global.u32 [%rd1], %r5;",
    );
    let found = launch(&program, Launch::new("k").block([128, 1, 1]), 128).unwrap().0;
    assert_eq!(found, (8..136).collect::<Vec<u32>>());
}

#[test]
fn an_allocation_waits_until_there_is_room() {
    // Warp 1 asks for more than is left, and gets it when warp 0 has freed its own.
    let program = load_for("sm_100a", "
        .visible .entry k(.param .u64 out) { .reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<4>; .shared .b32 a, b; .shared .align 8 .b64 bar; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.ne.u32 %p1, %r2, 0;
        @%p1 bra second;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], 256; bar.arrive 1, 64; mov.u32 %r5, 0;
        more: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 500; @%p2 bra more;
        ld.shared.u32 %r3, [a]; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 256; ret;
        second: bar.sync 1, 64; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [b], 512; ld.shared.u32 %r3, [b]; add.u32 %r3, %r3, 7; st.global.u32 [%rd1], %r3;
        sub.u32 %r3, %r3, 7; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 512; ret; }");
    for seed in [None, Some(1), Some(2), Some(3)] {
        let mut description = Launch::new("k").block([64, 1, 1]);
        description.seed = seed;
        assert_eq!(launch(&program, description, 1).unwrap().0, [7], "seed {seed:?}");
    }
}

#[test]
fn copies_from_shared_memory_are_told_of_by_a_commit() {
    // 32 rows of 16 bytes, to the same lanes of all four warps; then the rows move down.
    let copy = |shape: &str, stride: u32| {
        format!(
            "mov.u32 %r10, s; shl.b32 %r11, %r1, 6; add.u32 %r11, %r11, %r10; mad.lo.u32 %r12, %r1, 16, 1000; st.shared.u32 [%r11], %r12; add.u32 %r12, %r12, 1; st.shared.u32 [%r11+16], %r12;
            st.shared.u32 [%r11+32], %r12; st.shared.u32 [%r11+48], %r12; fence.proxy.async.shared::cta; setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;
            shr.u32 %r13, %r10, 4; cvt.u64.u32 %rd3, %r13; or.b64 %rd3, %rd3, {}; mov.u32 %r14, bar; cvt.u64.u32 %rd4, %r14;
            @%p2 tcgen05.cp.cta_group::1.{shape} [%r3], %rd3; @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd4];
            w: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra w; tcgen05.fence::after_thread_sync;
            tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r5}}, [%r4]; tcgen05.wait::ld.sync.aligned; mad.wide.u32 %rd1, %r1, 4, %out; st.global.u32 [%rd1], %r5;",
            u64::from(stride >> 4) << 32 | 1 << 46
        )
    };
    // Row r of the source is at 16 r: thread r / 4 wrote it.
    let word = |row: u32| 1000 + row / 4 * 16 + u32::from(!row.is_multiple_of(4));
    let run = |body: &str| launch(&tensor(body), Launch::new("k").block([128, 1, 1]), 128).unwrap().0;
    let four = run(&copy("32x128b.warpx4", 128));
    assert_eq!(four, (0..128).map(|lane| word(lane % 32)).collect::<Vec<_>>());
    let pairs = run(&copy("64x128b.warpx2::02_13", 128));
    assert_eq!(pairs, (0..128).map(|lane| word(lane % 64)).collect::<Vec<_>>());
    let neighbours = run(&copy("64x128b.warpx2::01_23", 128));
    assert_eq!(neighbours, (0..128).map(|lane| word(lane / 64 * 32 + lane % 32)).collect::<Vec<_>>());
    let all = run(&copy("128x128b", 128));
    assert_eq!(all, (0..128).map(word).collect::<Vec<_>>());
    let shifted = copy("128x128b", 128)
        .replace("@%p2 tcgen05.commit", "@%p2 tcgen05.shift.cta_group::1.down [%r3]; @%p2 tcgen05.commit");
    let down = |lane: u32| if (1..32).contains(&lane) { lane - 1 } else { lane };
    // Copies and shifts are not ordered with each other, but for a seed that happens in order.
    assert_eq!(run(&shifted), (0..128).map(|lane| word(down(lane))).collect::<Vec<_>>());
}

#[test]
fn misuse_of_tensor_memory() {
    let is = |body: &str, code: FaultCode, part: &str| {
        let fault = launch(&tensor(body), Launch::new("k").block([128, 1, 1]), 128).unwrap_err();
        assert!(fault.code == code && fault.message.contains(part), "{body}: {fault}");
        assert!(fault.ptx_line.is_some() && fault.thread.is_some(), "{fault}");
    };
    let bad = FaultCode::BadTensorMemory;
    let load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r5}, [%r4];";
    is(&format!("xor.b32 %r4, %r4, 0x200000; {load}"), bad, "warp 0 of the block can access lanes 0 to 31");
    is(&format!("add.u32 %r4, %r4, %r1; {load}"), bad, "in another thread of the warp");
    is(&format!("or.b32 %r4, %r4, 512; {load}"), bad, "column 512 of tensor memory is not allocated");
    is(
        &format!(
            "bar.sync 0; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 512; bar.sync 0; {load}"
        ),
        bad,
        "no tensor memory is allocated",
    );
    is(
        "mov.u32 %r7, 64; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, %r7;",
        bad,
        "there is no allocation of 64 columns at 0x0",
    );
    is(
        "mov.u32 %r7, 48; @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], %r7;",
        bad,
        "48 columns; it must be a power of two",
    );
    is(
        "@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], 32;",
        bad,
        "relinquish_alloc_permit",
    );
    let copy = |descriptor: &str| {
        format!("mov.u64 %rd3, {descriptor}; @%p1 tcgen05.cp.cta_group::1.128x256b [%r3], %rd3;")
    };
    is(&copy("0"), FaultCode::BadOperand, "bits 46 to 48 are 0b000");
    is(&copy("0x6000400000000000"), FaultCode::BadOperand, "the swizzling mode in bits 61 to 63 is 3");
    is(&copy("0x0000440000003fff"), FaultCode::OutOfBounds, "beyond the 8208 bytes of shared memory");
    // Nobody frees what is waited for.
    let full = "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [taddr], 32;";
    let mut limits = warpsmith_interp::Limits::default();
    limits.block_steps = 1 << 22;
    let description = Launch::new("k").block([128, 1, 1]).limits(limits);
    let fault = launch(&tensor(full), description, 128).unwrap_err();
    assert!(matches!(fault.code, FaultCode::Deadlock | FaultCode::StepLimit), "{fault}");
}
