//! Loads and stores of all spaces, sizes and rules of addresses.

use crate::{BYTES, THREADS, same};

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

/// A part that the engine would do for lanes that have parted has no loads of its own: those of the part before it stay.
#[test]
fn loads_of_the_part_before_one_without() {
    let uniform = "ld.const.u32 %a0, [table+8]; and.b32 %a1, %a0, 4; cvt.u64.u32 %p4, %a1; mov.u64 %p5, table; add.u64 %p4, %p4, %p5; \
                   ld.const.u32 %a2, [%p4]; mad.wide.u32 %p5, %a2, 3, %p4; mad.lo.u32 %a3, %a2, 5, %a0;";
    for step in [0, 8, 24] {
        let body = format!(
            "mul.wide.u32 %p0, %t, {step}; add.s64 %p1, %i, %p0; ld.global.u64 %p2, [%p1]; mad.lo.u64 %p3, %p2, 3, %p0; {uniform}
    xor.b64 %p3, %p3, %p5; st.global.u64 [%o], %p3; st.global.u32 [%o+8], %a3;"
        );
        for threads in THREADS {
            same(&body, threads, 9, None);
        }
    }
}
