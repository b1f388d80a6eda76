//! Lanes that part and meet, faults among them, and loops without an end.

use crate::{THREADS, kernel, load, same};
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_native::accelerate;

/// Lanes that part and meet, with `%a0` as result.
const BRANCHES: &[(&str, &str)] = &[
    (
        "if",
        "mov.u32 %a0, 5; and.b32 %a1, %t, 1; setp.eq.u32 %q0, %a1, 0; @%q0 bra one; add.u32 %a0, %a0, 7; mul.lo.u32 %a0, %a0, %t; one:",
    ),
    (
        "if and else",
        "mov.u32 %a0, 5; and.b32 %a1, %t, 1; setp.eq.u32 %q0, %a1, 0; @%q0 bra one; add.u32 %a0, %a0, 7; mul.lo.u32 %a0, %a0, %t; bra two; one: add.u32 %a0, %t, %t; st.global.u32 [%o+24], %a0; two:",
    ),
    (
        "in a loop",
        "mov.u32 %a0, %t; mov.u32 %a2, 0; again: and.b32 %a1, %a0, 1; setp.eq.u32 %q0, %a1, 0; @%q0 bra one; mad.lo.u32 %a0, %a0, 3, 1; bra two; one: shr.u32 %a0, %a0, 1; add.u32 %a0, %a0, 3; two: add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, %n; @%q1 bra again;",
    ),
    (
        "one by one",
        "mov.u32 %a0, 0; mov.u32 %a2, 0; again: add.u32 %a0, %a0, %t; xor.b32 %a0, %a0, 9; add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, %t; @%q1 bra again;",
    ),
    (
        "one by one, and an if",
        "mov.u32 %a0, 0; mov.u32 %a2, 0; again: add.u32 %a0, %a0, %t; and.b32 %a3, %a0, 1; setp.ne.u32 %q2, %a3, 0; @%q2 bra on; xor.b32 %a0, %a0, 9; add.u32 %a0, %a0, 3; on: add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, %t; @%q1 bra again; add.u32 %a0, %a0, 1;",
    ),
    // The others wait for more jumps back than are fair.
    (
        "for long",
        "mov.u32 %a0, %t; mov.u32 %a2, 0; setp.lt.u32 %q0, %t, 3; @%q0 bra leave; again: add.u32 %a0, %a0, %a2; and.b32 %a3, %a0, %t; setp.eq.u32 %q2, %a3, 0; @%q2 bra on; xor.b32 %a0, %a0, 9; add.u32 %a0, %a0, 5; on: add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, 5000; @%q1 bra again; leave: add.u32 %a0, %a0, 1; add.u32 %a0, %a0, %a2;",
    ),
    (
        "two loops",
        "mov.u32 %a0, 1; mov.u32 %a2, 0; outer: mov.u32 %a3, 0; inner: mad.lo.u32 %a0, %a0, 5, %a3; add.u32 %a3, %a3, 1; setp.lt.u32 %q0, %a3, %a2; @%q0 bra inner; add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, 12; @%q1 bra outer; and.b32 %a4, %t, 1; add.u32 %a0, %a0, %a4;",
    ),
    // Who falls through to a loop comes to where others wait, and does not meet them: they go round apart.
    (
        "others in front of a loop",
        "and.b32 %a2, %t, 3; sub.u32 %a0, %a2, 1; setp.lt.s32 %q0, %a0, 1; @%q0 bra low; bra round; low: add.u32 %a0, %a0, 4; setp.lt.s32 %q1, %a0, 4; @!%q1 bra leave; round: add.u32 %a0, %a0, 1; setp.lt.s32 %q1, %a0, 4; mov.u32 %a3, 0; @%q1 bra round; leave:",
    ),
    (
        "lanes leave",
        "mov.u32 %a0, 1; mov.u32 %a2, 0; again: add.u32 %a2, %a2, 1; add.u32 %a0, %a0, %a2; setp.gt.u32 %q0, %a2, %t; @%q0 exit; st.global.u32 [%o+20], %a0; bra again;",
    ),
    (
        "barriers",
        "mov.u32 %a0, %t; mov.u32 %a2, 0; mov.u32 %a5, tile; mad.lo.u32 %a6, %t, 4, %a5; again: st.shared.u32 [%a6], %a0; bar.sync 0; ld.shared.u32 %a1, [%a6]; add.u32 %a3, %t, 1; and.b32 %a3, %a3, 3; mad.lo.u32 %a7, %a3, 4, %a5; ld.shared.u32 %a4, [%a7]; bar.sync 0; add.u32 %a0, %a1, %a4; add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, 20; @%q1 bra again;",
    ),
    (
        "exchanges",
        "mov.u32 %a0, %t; mov.u32 %a2, 0; again: mul.lo.u32 %a1, %a0, 3; add.u32 %a1, %a1, 1; shfl.sync.bfly.b32 %a0, %a1, 1, 31, 0xffffffff; add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, 20; @%q1 bra again;",
    ),
    (
        "predicates",
        "setp.lt.u32 %q0, %t, 9; setp.gt.u32 %q1, %t, 3; and.pred %q2, %q0, %q1; or.pred %q3, %q0, %q1; xor.pred %q4, %q0, %q1; not.pred %q5, %q2; mov.pred %q6, %q5; selp.u32 %a0, 1, 2, %q2; selp.u32 %a1, 4, 8, %q3; add.u32 %a0, %a0, %a1; selp.u32 %a1, 16, 32, %q4; add.u32 %a0, %a0, %a1; selp.u32 %a1, 64, 128, %q6; add.u32 %a0, %a0, %a1;",
    ),
    (
        "NaNs on the way",
        "cvt.rn.f32.u32 %f0, %t; mov.f32 %f1, 0f7f800000; sub.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %f0; mul.f32 %f4, %f3, %f3; fma.rn.f32 %f5, %f4, %f0, %f1; mov.b32 %a0, %f5; mov.b32 %a1, %f2; xor.b32 %a0, %a0, %a1; setp.nan.f32 %q0, %f5, %f5; @%q0 add.u32 %a0, %a0, 3;",
    ),
];

#[test]
fn branches() {
    for (name, text) in BRANCHES {
        for threads in THREADS {
            if *name == "exchanges" && threads % 32 != 0 {
                continue;
            }
            same(&format!("// {name}\n{text}\n    st.global.u32 [%o], %a0;"), threads, 11, None);
            same(
                &format!(
                    "// {name}, on other terms\n bar.sync 0; {text}\n add.u32 %a0, %a0, %t;\n st.global.u32 [%o], %a0;"
                ),
                threads,
                2,
                None,
            );
        }
    }
}

const FAULTS: &[&str] = &[
    "mad.wide.u32 %p0, %t, 4096, %i; ld.global.u32 %a0, [%p0]; add.u32 %a0, %a0, 1; add.u32 %a1, %a0, 2; st.global.u32 [%o], %a1;",
    "mad.wide.u32 %p0, %t, 2, %i; ld.global.u32 %a0, [%p0]; add.u32 %a0, %a0, 1; add.u32 %a1, %a0, 2; st.global.u32 [%o], %a1;",
    "add.u32 %a0, %t, 1; add.u32 %a1, %a0, 2; ld.global.u32 %a2, [%i]; ld.global.u32 %a3, [%i+16384]; add.u32 %a2, %a2, %a3; st.global.u32 [%o], %a2;",
    "mov.u32 %a0, 0; mov.u32 %a2, 1; again: mad.wide.u32 %p0, %a0, 64, %i; st.global.u32 [%p0], %a2; mad.lo.u32 %a2, %a2, 3, %a0; add.u32 %a0, %a0, 1; bra again;",
    "and.b32 %a1, %t, 1; setp.eq.u32 %q0, %a1, 0; @%q0 bra one; add.u32 %a0, %t, 7; mov.u32 %a3, 4000; add.u32 %a3, %a3, %t; ld.shared.u32 %a2, [%a3]; one: add.u32 %a0, %a0, 1; st.global.u32 [%o], %a0;",
    "mul.lo.u32 %a1, %t, 8; add.u32 %a2, %a1, 3; st.shared.u32 [%a2], %a1; add.u32 %a0, %a1, 1; st.global.u32 [%o], %a0;",
    "cvt.u64.u32 %p0, %t; mul.lo.u64 %p0, %p0, 12; mov.u64 %p1, own; add.u64 %p0, %p0, %p1; st.local.u32 [%p0], %t; add.u32 %a0, %t, 1; st.global.u32 [%o], %a0;",
    "mov.u64 %p0, 64; mul.lo.u64 %p1, %p0, 3; ld.u32 %a0, [%p1]; add.u32 %a0, %a0, 1; add.u32 %a1, %a0, 1; st.global.u32 [%o], %a1;",
    // Addresses of all lanes that leave their space in a loop, or are not aligned.
    "mov.u64 %p1, own; mov.u32 %a2, 0; mov.u32 %a0, 0; again: mul.wide.u32 %p2, %a2, 4; add.s64 %p3, %p1, %p2; st.local.u32 [%p3], %t; add.u32 %a2, %a2, 1; add.u32 %a0, %a0, %a2; xor.b32 %a0, %a0, %t; bra again;",
    "mov.u64 %p1, table; mov.u32 %a2, 0; mov.u32 %a0, 0; again: mul.wide.u32 %p2, %a2, 4; add.s64 %p3, %p1, %p2; ld.const.u32 %a3, [%p3]; add.u32 %a2, %a2, 1; add.u32 %a0, %a0, %a3; xor.b32 %a0, %a0, %t; bra again;",
    "mov.u32 %a3, tile; mov.u32 %a2, 0; mov.u32 %a0, 0; again: add.u32 %a4, %a3, %a2; ld.shared.u32 %a5, [%a4]; add.u32 %a2, %a2, 6; add.u32 %a0, %a0, %a5; xor.b32 %a0, %a0, %t; bra again;",
    "mov.u32 %a2, 0; mov.u32 %a0, 0; again: sub.u32 %a2, %a2, 4; ld.shared.v2.u32 {%a4, %a5}, [%a2]; add.u32 %a0, %a0, %a5; xor.b32 %a0, %a0, %t; bra again;",
    // The first load at fault is not of the first batch.
    "mov.u64 %p0, 64; mul.lo.u64 %p1, %p0, 4; ld.global.u32 %a0, [%i]; ld.global.u32 %a2, [%p1];\n ld.global.u32 %a3, [%i+524288]; add.u32 %a0, %a0, %a2; add.u32 %a0, %a0, %a3; st.global.u32 [%o], %a0;",
];

#[test]
fn faults() {
    for body in FAULTS {
        for threads in [96, 32, 9] {
            let text = same(body, threads, 1, None);
            assert!(text.contains("code:") || threads == 9, "no fault: {body}\n{text}");
        }
    }
}

#[test]
fn endless_loops_end() {
    let endless = [
        "mov.u32 %a0, 0; again: add.u32 %a0, %a0, 1; xor.b32 %a1, %a0, %t; add.u32 %a2, %a1, %a2; bra again;",
        "mov.u32 %a0, %t; again: add.u32 %a0, %a0, 1; and.b32 %a1, %a0, 1; setp.eq.u32 %q0, %a1, 0; @%q0 bra one; mul.lo.u32 %a2, %a2, 3; add.u32 %a2, %a2, 3; one: bra again;",
        "setp.eq.u32 %q1, %t, 3; @%q1 bra leave; again: add.u32 %a0, %a0, 1; xor.b32 %a1, %a0, %t; add.u32 %a2, %a1, %a2; bra again; leave: st.global.u32 [%o], %t;",
    ];
    for body in endless {
        let text = same(body, 64, 1, Some(300_000));
        assert!(text.contains("StepLimit"), "{text}");
    }
}

/// Memory that nothing has been written to has the bytes that the launch asks for.
#[test]
fn poison() {
    let body = "mov.u32 %a2, tile; mad.lo.u32 %a2, %t, 4, %a2; mov.u32 %a3, 0; mov.u32 %a4, 1; \
                again: ld.shared.u32 %a0, [%a2+64]; ld.local.u32 %a1, [own+8]; xor.b32 %a4, %a4, %a0; mad.lo.u32 %a4, %a4, 3, %a1; \
                add.u32 %a3, %a3, 1; setp.lt.u32 %q1, %a3, %n; @%q1 bra again; st.global.u32 [%o], %a0; st.global.u32 [%o+4], %a1; st.global.u32 [%o+8], %a4;";
    let plain = load(&kernel(body));
    let mut native = plain.clone();
    assert!(accelerate(&mut native).unwrap().regions > 0);
    let run = |program: &Program, poison: Option<u8>| {
        let mut device = Device::new();
        let out = device.alloc(64 * 32).unwrap();
        let mut launch = Launch::new("k").block([64, 1, 1]).workers(1).arg(out).arg(out).arg(3u32);
        launch.poison = poison;
        device.launch(program, &launch).unwrap();
        device.read(out).unwrap()
    };
    for poison in [None, Some(0xff), Some(0x5a)] {
        let expected = run(&plain, poison);
        assert_eq!(expected[..8], [poison.unwrap_or(0); 8]);
        assert_eq!(run(&native, poison), expected, "{poison:?}");
    }
}
