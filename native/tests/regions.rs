//! Regions of programs as machine code: accesses that follow rules and that do not, lanes that part and meet, loops, faults and limits. Memory, statistics
//! and faults are those of the interpreter, word for word.

use std::sync::Arc;
use warpsmith_interp::engine::{CompiledRegion, Region, Tier};
use warpsmith_interp::{Device, Launch, Machine, NativeCode, Program};
use warpsmith_native::{accelerate, attach};
use warpsmith_ptx::ValidatedModule;

fn load(text: &str) -> Program {
    let module = ValidatedModule::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Bytes of the buffers that kernels have: `out`, and `in` of bytes that count.
const BYTES: usize = 1 << 14;

fn kernel(body: &str) -> String {
    format!(
        ".version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 table[8] = {{ 3, 1, 4, 1, 5, 9, 2, 6 }};
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n) {{
    .reg .b32 %a<16>;
    .reg .f32 %f<8>;
    .reg .b64 %o, %i, %p<8>;
    .reg .pred %q<8>;
    .reg .b32 %t, %n;
    .local .align 16 .b8 own[64];
    .shared .align 16 .b8 tile[4096];
    mov.u32 %t, %tid.x;
    ld.param.u64 %o, [out];
    ld.param.u64 %i, [in];
    ld.param.u32 %n, [n];
    mad.wide.u32 %o, %t, 32, %o;
{body}
    ret;
}}
"
    )
}

/// Memory and statistics, or the fault.
fn outcome(program: &Program, threads: u32, n: u32, native: NativeCode, steps: Option<u64>) -> String {
    let mut machine = Machine::default();
    machine.native = native;
    let mut device = Device::with_machine(machine);
    let out = device.alloc(BYTES as u64).unwrap();
    let bytes: Vec<u8> = (0..BYTES).map(|i| (i * 37 + i / 256) as u8).collect();
    let input = device.upload(&bytes).unwrap();
    let mut launch =
        Launch::new("k").grid([2, 1, 1]).block([threads, 1, 1]).workers(1).arg(out).arg(input).arg(n);
    if let Some(steps) = steps {
        launch.limits.block_steps = steps;
    }
    match device.launch(program, &launch) {
        Ok(stats) => {
            let memory = device.read(out).unwrap();
            format!("{} {} {memory:?}", stats.warp_instructions, stats.thread_instructions)
        }
        Err(fault) => format!("{fault:?}"),
    }
}

#[track_caller]
fn same(body: &str, threads: u32, n: u32, steps: Option<u64>) -> String {
    let text = kernel(body);
    let plain = load(&text);
    let mut fast = plain.clone();
    let made = accelerate(&mut fast).unwrap_or_else(|error| panic!("{error}"));
    assert!(made.regions > 0, "nothing is compiled\n{text}");
    let expected = outcome(&plain, threads, n, NativeCode::Auto, steps);
    let found = outcome(&fast, threads, n, NativeCode::Auto, steps);
    assert!(expected == found, "{threads} threads\n{text}\n{expected}\n{found}");
    expected
}

const THREADS: [u32; 4] = [32, 7, 45, 96];

/// What is loaded into `%a0`, `%a1` and so on, and is stored after some arithmetic.
const LOADS: &[(&str, &str)] = &[
    ("one place", "ld.global.u32 %a0, [%i]; ld.global.u32 %a1, [%i+4];"),
    ("in a row", "mad.wide.u32 %p0, %t, 4, %i; ld.global.u32 %a0, [%p0]; ld.global.u32 %a1, [%p0+64];"),
    ("apart", "mad.wide.u32 %p0, %t, 12, %i; ld.global.u32 %a0, [%p0]; ld.global.u32 %a1, [%p0+8];"),
    (
        "scattered",
        "mul.lo.u32 %a2, %t, 29; and.b32 %a2, %a2, 127; mad.wide.u32 %p0, %a2, 4, %i; ld.global.u32 %a0, [%p0]; ld.global.u32 %a1, [%p0+4];",
    ),
    (
        "bytes",
        "cvt.u64.u32 %p0, %t; add.u64 %p0, %p0, %i; ld.global.s8 %a0, [%p0]; ld.global.u8 %a1, [%p0+3];",
    ),
    ("16 bits", "mad.wide.u32 %p0, %t, 2, %i; ld.global.s16 %a0, [%p0]; ld.global.u16 %a1, [%p0+6];"),
    (
        "64 bits",
        "mad.wide.u32 %p0, %t, 8, %i; ld.global.u64 %p1, [%p0]; ld.global.u64 %p2, [%p0+8]; cvt.u32.u64 %a0, %p1; cvt.u32.u64 %a1, %p2;",
    ),
    (
        "vectors",
        "mad.wide.u32 %p0, %t, 16, %i; ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%p0]; add.u32 %a1, %a1, %a3; ld.global.v2.u32 {%a2, %a3}, [%p0+16]; xor.b32 %a0, %a0, %a2;",
    ),
    (
        "constants",
        "mov.u64 %p1, table; and.b32 %a2, %t, 7; mad.wide.u32 %p0, %a2, 4, %p1; ld.const.u32 %a0, [%p0]; ld.const.u32 %a1, [table+4];",
    ),
    ("parameters", "ld.param.u32 %a0, [n]; ld.param.u32 %a1, [out];"),
    ("generic", "mad.wide.u32 %p0, %t, 4, %i; ld.u32 %a0, [%p0]; ld.u32 %a1, [%p0+4];"),
    (
        "local",
        "st.local.u32 [own], %t; add.u32 %a2, %t, 5; st.local.u32 [own+4], %a2; ld.local.u32 %a0, [own]; ld.local.u32 %a1, [own+4];",
    ),
    (
        "own local",
        "mov.u64 %p1, own; and.b32 %a2, %t, 7; mad.wide.u32 %p0, %a2, 4, %p1; st.local.u32 [%p0], %t; st.local.u32 [%p0+32], %t; ld.local.u32 %a0, [%p0]; ld.local.u32 %a1, [own+8];",
    ),
    (
        "shared",
        "mov.u32 %a2, tile; mad.lo.u32 %a3, %t, 4, %a2; st.shared.u32 [%a3], %t; xor.b32 %a4, %a3, 4; ld.shared.u32 %a0, [%a4]; ld.shared.u32 %a1, [%a3];",
    ),
    // What one lane stores others load, instruction by instruction.
    (
        "the lane before",
        "mov.u32 %a2, tile; mad.lo.u32 %a3, %t, 4, %a2; st.shared.u32 [%a3], %t; ld.shared.u32 %a0, [%a3+4]; st.shared.u32 [%a3+4], %a0; ld.shared.u32 %a1, [%a3];",
    ),
    (
        "all at one place",
        "st.shared.u32 [tile], %t; ld.shared.u32 %a0, [tile]; add.u32 %a1, %t, 1; st.shared.u32 [tile+4], %a1; ld.shared.u32 %a1, [tile+4];",
    ),
    (
        "guarded",
        "and.b32 %a2, %t, 3; setp.eq.u32 %q0, %a2, 1; mov.b32 %a0, 9; mov.b32 %a1, 8; mad.wide.u32 %p0, %t, 4, %i; @%q0 ld.global.u32 %a0, [%p0]; @!%q0 ld.global.u32 %a1, [%p0+4]; @%q0 st.global.u32 [%o+28], %a0;",
    ),
    (
        "a register again",
        "ld.global.u32 %a2, [%i]; add.u32 %a1, %a2, %t; ld.global.u32 %a2, [%i+4]; xor.b32 %a0, %a1, %a2; ld.global.u32 %a2, [%i+8]; add.u32 %a1, %a0, %a2;",
    ),
    (
        "its own address",
        "mad.wide.u32 %p0, %t, 8, %i; ld.global.u64 %p0, [%p0]; and.b64 %p0, %p0, 1020; add.u64 %p0, %p0, %i; ld.global.u32 %a0, [%p0]; ld.global.u32 %a1, [%i+12];",
    ),
    // Addresses that all lanes have, computed in a loop.
    (
        "a ring",
        "mov.u64 %p1, own; mov.u64 %p6, table; mov.u32 %a2, 0; mov.b32 %a0, 1; mov.b32 %a1, 2;\nring: and.b32 %a3, %a2, 15; mul.wide.u32 %p2, %a3, 4; add.s64 %p3, %p1, %p2; mad.lo.u32 %a4, %t, 3, %a2; st.local.u32 [%p3], %a4; and.b32 %a5, %a2, 7; mul.wide.s32 %p4, %a5, 4; add.s64 %p5, %p6, %p4; ld.const.u32 %a6, [%p5]; add.u32 %a7, %a2, 9; and.b32 %a7, %a7, 15; mul.wide.u32 %p4, %a7, 4; add.s64 %p4, %p1, %p4; ld.local.u32 %a8, [%p4]; mad.lo.u32 %a0, %a0, %a6, %a8; xor.b32 %a8, %a8, %a2; st.local.u32 [%p4], %a8; sub.u32 %a1, %a1, %a0; add.u32 %a2, %a2, 1; setp.lt.u32 %q6, %a2, 40; @%q6 bra ring;",
    ),
    (
        "narrow and wide elements of a ring",
        "mov.u64 %p1, own; mov.u32 %a2, 0; mov.b32 %a0, 1; mov.b32 %a1, 2;\nring: and.b32 %a3, %a2, 3; mul.wide.u32 %p2, %a3, 16; add.s64 %p3, %p1, %p2; mad.lo.u32 %a4, %t, 40503, %a2; shl.b32 %a5, %a4, 16; st.local.v2.u16 [%p3], {%a4, %a5}; ld.local.s8 %a6, [%p3]; ld.local.s16 %a7, [%p3+2]; st.local.u8 [%p3+1], %a7; cvt.u64.u32 %p4, %a4; mul.lo.u64 %p4, %p4, %p4; st.local.u64 [%p3+8], %p4; ld.local.v4.u32 {%a8, %a9, %a10, %a11}, [%p3]; ld.local.u64 %p5, [%p3+8]; cvt.u32.u64 %a12, %p5; add.u32 %a0, %a0, %a6; xor.b32 %a0, %a0, %a7; add.u32 %a1, %a1, %a8; xor.b32 %a1, %a1, %a11; add.u32 %a1, %a1, %a12; add.u32 %a2, %a2, 1; setp.lt.u32 %q6, %a2, 9; @%q6 bra ring;",
    ),
    (
        "shared memory at one place",
        "mov.u32 %a2, tile; mad.lo.u32 %a3, %t, 4, %a2; st.shared.u32 [%a3], %t; bar.sync 0; mov.u32 %a4, 0; mov.b32 %a0, 7; mov.b32 %a1, 9;\nplaces: shl.b32 %a5, %a4, 2; add.u32 %a5, %a5, %a2; ld.shared.u32 %a6, [%a5]; ld.shared.s8 %a7, [%a5+4]; mad.lo.u32 %a0, %a0, 3, %a6; add.u32 %a1, %a1, %a7; add.u32 %a4, %a4, 1; setp.lt.u32 %q6, %a4, %n; @%q6 bra places;",
    ),
    // What counts alike differs once lanes have left the loop at their own times.
    (
        "counters of their own",
        "and.b32 %a3, %t, 3; mov.u64 %p1, own; mov.u64 %p3, table; mov.u32 %a2, 0;\ncount: add.u32 %a2, %a2, 1; setp.lt.u32 %q6, %a2, %a3; @%q6 bra count; and.b32 %a4, %a2, 7; mul.wide.u32 %p2, %a4, 4; add.s64 %p4, %p3, %p2; ld.const.u32 %a0, [%p4]; add.s64 %p5, %p1, %p2; st.local.u32 [%p5], %a0; add.u32 %a1, %a2, 3; ld.local.u32 %a5, [%p5]; xor.b32 %a1, %a1, %a5;",
    ),
    // The lanes part, meet, and agree again.
    (
        "alike again",
        "mov.u64 %p3, table; mov.u32 %a2, 0; mov.u32 %a0, 0; mov.u32 %a1, 0;\nround: and.b32 %a3, %t, %a2; setp.eq.u32 %q5, %a3, 1; @%q5 bra side; add.u32 %a0, %a0, %a3; add.u32 %a0, %a0, 5;\nside: and.b32 %a4, %a2, 7; mul.wide.u32 %p2, %a4, 4; add.s64 %p4, %p3, %p2; ld.const.u32 %a5, [%p4]; mad.lo.u32 %a1, %a1, 5, %a5; bar.warp.sync -1; add.u32 %a2, %a2, 1; setp.lt.u32 %q6, %a2, 30; @%q6 bra round;",
    ),
    (
        "volatile",
        "mad.wide.u32 %p0, %t, 4, %i; ld.volatile.global.u32 %a0, [%p0]; ld.acquire.gpu.global.u32 %a1, [%p0];",
    ),
];

const AFTER: &str = "
    add.u32 %a8, %a0, %a1;
    xor.b32 %a9, %a0, 77;
    mad.lo.u32 %a10, %a8, 31, %a9;
    st.global.v2.u32 [%o], {%a8, %a10};
    st.global.u32 [%o+8], %a9;";

#[test]
fn loads_and_stores() {
    for (name, text) in LOADS {
        for threads in THREADS {
            same(&format!("// {name}\n{text}{AFTER}"), threads, 5, None);
            // Where some lanes have gone another way, and in a loop.
            let apart = format!(
                "and.b32 %a15, %t, 2; setp.eq.u32 %q7, %a15, 0; mov.b32 %a14, 0; @%q7 bra over;\nagain:\n{text}{AFTER}
    add.u32 %a14, %a14, 1; setp.lt.u32 %q6, %a14, %n; @%q6 bra again;\nover:\n st.global.u32 [%o+16], %a14;"
            );
            same(&apart, threads, 5, None);
        }
    }
}

/// What lanes load: the type, its bytes, and whether the destination has 64 bits.
const ELEMENTS: &[(&str, u32, bool)] = &[
    ("u8", 1, false),
    ("s8", 1, false),
    ("s8", 1, true),
    ("u16", 2, false),
    ("s16", 2, false),
    ("u16", 2, true),
    ("u32", 4, false),
    ("s32", 4, true),
    ("u32", 4, true),
    ("b64", 8, true),
];

/// Loads of each element, alone and in vectors, from addresses of each rule, the first and the last of the memory among them.
#[test]
fn elements_of_loads() {
    // Memory of 4096 bytes from `%p0` on, that of a lane of 64.
    let memories = [
        ("global", "mov.u64 %p0, %i;".to_owned(), BYTES as u32),
        ("", "mov.u64 %p0, %i;".to_owned(), BYTES as u32),
        ("shared", filled("shared", "tile", 128, 32), 4096),
        ("local", filled("local", "own", 0, 16), 64),
        ("", format!("{} cvta.local.u64 %p0, %p0;", filled("local", "own", 0, 16)), 64),
    ];
    for (space, memory, size) in memories {
        for &(ty, bytes, wide) in ELEMENTS {
            for count in [1, 2, 4] {
                let lane = bytes * count;
                if lane > 16 {
                    continue;
                }
                let last = size - 2 * lane;
                let mut rules = vec![(String::new(), 0), (String::new(), last)];
                if size > 64 {
                    rules.extend([
                        (format!("mul.lo.u32 %a6, %a5, {lane};"), 0),
                        (format!("mul.lo.u32 %a6, %a5, {lane};"), last - 31 * lane),
                        (format!("shr.u32 %a6, %a5, 4; mul.lo.u32 %a6, %a6, {lane};"), last - lane),
                        (format!("and.b32 %a6, %a5, 15; mul.lo.u32 %a6, %a6, {lane};"), 64),
                        (
                            format!(
                                "and.b32 %a6, %a5, 16; mul.lo.u32 %a6, %a6, %a5; and.b32 %a6, %a6, -{lane};"
                            ),
                            0,
                        ),
                    ]);
                }
                let mut body = format!("{memory} mov.u64 %p7, 0;\n");
                for (n, (rule, offset)) in rules.iter().enumerate() {
                    body += &format!(
                        "and.b32 %a5, %t, 31; mov.u32 %a6, 0; {rule} cvt.u64.u32 %p1, %a6; add.u64 %p1, %p1, %p0;\n bra on{n}; on{n}:\n"
                    );
                    for at in [*offset, offset + lane] {
                        body += &elements(space, (ty, wide), count, at);
                    }
                }
                body += "st.global.u64 [%o], %p7;";
                for threads in [32, 64, 20] {
                    let found = same(&body, threads, 1, None);
                    assert!(!found.contains("code:"), "a fault: {found}\n{body}");
                }
            }
        }
    }
}

/// A load from `%p1`, and its elements made part of `%p7`.
fn elements(space: &str, (ty, wide): (&str, bool), count: u32, at: u32) -> String {
    let prefix = if wide { "%p" } else { "%a" };
    let dst: Vec<String> = (2..2 + count).map(|n| format!("{prefix}{n}")).collect();
    let dot = if space.is_empty() { "" } else { "." };
    let mut text = match count {
        1 => format!("ld{dot}{space}.{ty} {}, [%p1+{at}];", dst[0]),
        _ => format!("ld{dot}{space}.v{count}.{ty} {{{}}}, [%p1+{at}];", dst.join(", ")),
    };
    for register in dst {
        text += &match wide {
            true => format!(" mad.lo.u64 %p7, %p7, 31, {register};\n"),
            false => format!(" cvt.s64.s32 %p6, {register}; mad.lo.u64 %p7, %p7, 31, %p6;\n"),
        };
    }
    text
}

/// Code that fills memory with numbers that follow from where they are, and has its address in `%p0`.
fn filled(space: &str, name: &str, step: u32, words: u32) -> String {
    let mut text = format!("mov.u64 %p0, {name};");
    if step != 0 {
        text += " and.b32 %a2, %t, 31; mad.wide.u32 %p1, %a2, 4, %p0;";
    } else {
        text += " mov.u64 %p1, %p0;";
    }
    for n in 0..words {
        let at = n * step.max(4);
        // Another thread writes the same number where it writes at all.
        let own = if step == 0 { "%t" } else { "0" };
        text += &format!(
            " cvt.u32.u64 %a2, %p1; add.u32 %a2, %a2, {at}; add.u32 %a2, %a2, {own}; mul.lo.u32 %a2, %a2, -1640531527; st.{space}.u32 [%p1+{at}], %a2;"
        );
    }
    text + "\n"
}

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

/// What is executed often is compiled on the way, and nothing where the machine says so.
#[test]
fn hot_regions() {
    // Enough arithmetic a round for machine code to pay.
    let body = "mov.u32 %a0, %t; mov.u32 %a2, 0; again: mad.lo.u32 %a0, %a0, 3, 1; shr.u32 %a1, %a0, 3; xor.b32 %a0, %a0, %a1; \
                mad.lo.u32 %a0, %a0, 5, 7; shr.u32 %a1, %a0, 9; xor.b32 %a0, %a0, %a1; add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, %n; @%q1 bra again;";
    let text = kernel(&format!("{body}\n    st.global.u32 [%o], %a0;"));
    let plain = load(&text);
    let expected = outcome(&plain, 96, 9000, NativeCode::Auto, None);
    let mut program = plain.clone();
    attach(&mut program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        outcome(&program, 96, 5, NativeCode::Auto, None),
        outcome(&plain, 96, 5, NativeCode::Off, None)
    );
    assert_eq!(program.compiled_regions().0, 0, "a small launch compiles nothing");
    assert_eq!(outcome(&program, 96, 9000, NativeCode::Off, None), expected);
    assert_eq!(program.compiled_regions().0, 0, "the machine says so");
    assert_eq!(outcome(&program, 96, 9000, NativeCode::Auto, None), expected);
    assert_eq!(
        program.compiled_regions().0,
        0,
        "compiling it would take a good part of the time of the launch"
    );
    // Rounds are counted from launch to launch.
    for _ in 0..20 {
        assert_eq!(outcome(&program, 96, 9000, NativeCode::Auto, None), expected);
    }
    assert!(program.compiled_regions().0 > 0, "it is hot");
    assert_eq!(outcome(&program, 96, 9000, NativeCode::Auto, None), expected);
    let mut always = plain.clone();
    attach(&mut always).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        outcome(&always, 96, 5, NativeCode::Always, None),
        outcome(&plain, 96, 5, NativeCode::Auto, None)
    );
    assert!(always.compiled_regions().0 > 0, "all is compiled");
}

/// That lanes agree in what a called function reads says nothing of its caller, whose counters differ.
#[test]
fn lanes_that_agree_in_a_call() {
    let body = "and.b32 %a3, %t, 3; mov.u64 %p3, table; mov.u32 %a2, 0; mov.u32 %a0, 0; mov.u32 %a6, 0;
count: add.u32 %a2, %a2, 1; setp.lt.u32 %q6, %a2, %a3; @%q6 bra count;
rounds: call (%a5), mix, (%t);
    and.b32 %a4, %a2, 7; mul.wide.u32 %p2, %a4, 4; add.s64 %p4, %p3, %p2; ld.const.u32 %a7, [%p4];
    add.u32 %a0, %a0, %a7; xor.b32 %a0, %a0, %a5; add.u32 %a6, %a6, 1; setp.lt.u32 %q5, %a6, 20;
    @%q5 bra rounds;
    st.global.u32 [%o], %a0;";
    let mix = ".func (.reg .b32 %r) mix(.reg .b32 %x) {
    .reg .b32 %y;
    xor.b32 %y, %x, 77; add.u32 %y, %y, 3; mad.lo.u32 %r, %y, 5, %x;
    ret;
}
.visible .entry k(";
    let plain = load(&kernel(body).replacen(".visible .entry k(", mix, 1));
    let mut native = plain.clone();
    accelerate(&mut native).unwrap();
    for threads in THREADS {
        let run = |program: &Program, native| outcome(program, threads, 1, native, None);
        assert_eq!(run(&native, NativeCode::Always), run(&plain, NativeCode::Off), "{threads} threads");
    }
}

/// Refuses everything.
#[derive(Debug)]
struct Refusing;

// SAFETY: it makes no code.
unsafe impl Tier for Refusing {
    fn compile(&self, _: &Program, _: &Region<'_>) -> Result<Option<CompiledRegion>, String> {
        Err("there are too many registers".into())
    }
}

/// What the compiler refuses is interpreted, and the program says so.
#[test]
fn refused_regions_are_named() {
    let text = kernel("add.u32 %a0, %t, 3; xor.b32 %a0, %a0, %t; st.global.u32 [%o], %a0;");
    let plain = load(&text);
    let mut refused = plain.clone();
    refused.set_tier(Arc::new(Refusing));
    assert_eq!(refused.refused_regions(), [], "nothing was compiled yet");
    refused.compile_regions();
    let found = refused.refused_regions();
    assert!(!found.is_empty(), "it refuses everything");
    assert!(found.iter().all(|region| region.function == "k" && region.line > 0), "{found:?}");
    assert!(found.iter().all(|region| region.reason.contains("registers")), "{found:?}");
    let run = |program: &Program| outcome(program, 64, 1, NativeCode::Auto, None);
    assert_eq!(run(&refused), run(&plain));
}
