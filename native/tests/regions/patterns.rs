//! Shared memory at addresses of registers that do not change any more, with what is equal in all lanes added: in rows, at places of halves, and by no rule;
//! up to the end of the memory and past it.

use crate::{THREADS, same};

/// Offsets of lanes, from `%t` to `%a2`.
const ROOTS: &[(&str, &str)] = &[
    ("a row", "shl.b32 %a2, %t, 2;"),
    ("rows of a half", "and.b32 %a2, %t, 15; shl.b32 %a2, %a2, 2;"),
    ("a place for each half", "shr.u32 %a2, %t, 4; shl.b32 %a2, %a2, 6;"),
    ("a row and a place", "min.u32 %a2, %t, 16; shl.b32 %a2, %a2, 2;"),
    ("halves of different alignment", "shl.b32 %a2, %t, 2; shr.u32 %a3, %t, 4; mad.lo.u32 %a2, %a3, 2, %a2;"),
    ("a column", "shl.b32 %a2, %t, 5;"),
    ("a row backwards", "sub.u32 %a2, 127, %t; shl.b32 %a2, %a2, 2;"),
    ("scattered", "mul.lo.u32 %a2, %t, 29; and.b32 %a2, %a2, 127; shl.b32 %a2, %a2, 2;"),
    ("far below", "shl.b32 %a2, %t, 2; sub.u32 %a2, %a2, 65536;"),
];

/// An address of 32 bits in `%a6` or of 64 in `%p2`, by the offset, which is at `%a4` or `%p1` past the tile, and the round in `%a5`.
const SUMS: &[(&str, &str, bool)] = &[
    ("the register", "mov.u32 %a6, %a4;", false),
    ("a sum", "shl.b32 %a7, %a5, 2; add.u32 %a6, %a4, %a7;", false),
    (
        "a sum of sums",
        "shl.b32 %a7, %a5, 3; add.u32 %a6, %a7, %a4; add.u32 %a6, %a6, 4; sub.u32 %a6, %a6, 8; add.u32 %a6, %a6, %a7;",
        false,
    ),
    ("a product", "mad.lo.u32 %a6, %a5, 64, %a4;", false),
    ("a difference", "mul.lo.u32 %a7, %a5, -4; sub.u32 %a6, %a4, %a7;", false),
    ("half of an element", "mad.lo.u32 %a6, %a5, 2, %a4;", false),
    ("64 bits", "mul.wide.u32 %p2, %a5, 4; add.s64 %p2, %p1, %p2;", true),
    ("a wide product", "mad.wide.s32 %p2, %a5, 16, %p1;", true),
    ("below zero", "mad.wide.s32 %p2, %a5, -16, %p1;", true),
];

/// What is loaded, as far as it says something else than the other loads, and made part of `%a8`.
const LOADS: &[&str] = &[
    "ld.shared.u32 %a9, [ADDRESS]; ld.shared.u32 %a10, [ADDRESS+128]; add.u32 %a9, %a9, %a10;",
    "ld.shared.s8 %a9, [ADDRESS+3]; ld.shared.u8 %a10, [ADDRESS]; xor.b32 %a9, %a9, %a10;",
    "ld.shared.u16 %a9, [ADDRESS+64]; ld.shared.s16 %a10, [ADDRESS+2]; add.u32 %a9, %a9, %a10;",
    "ld.shared.f32 %f1, [ADDRESS+64]; ld.shared.f32 %f2, [ADDRESS]; fma.rn.f32 %f3, %f1, %f2, %f3; mov.b32 %a9, %f3;",
    "ld.shared.v2.u32 {%a9, %a10}, [ADDRESS]; mad.lo.u32 %a9, %a9, 3, %a10;",
    "ld.shared.v4.u32 {%a9, %a10, %a11, %a12}, [ADDRESS]; add.u32 %a9, %a9, %a12; xor.b32 %a9, %a9, %a10; sub.u32 %a9, %a9, %a11;",
    "ld.shared.u64 %p4, [ADDRESS]; mul.lo.u64 %p4, %p4, 77; cvt.u32.u64 %a9, %p4;",
    "ld.shared.u32 %a9, [ADDRESS]; ld.shared.u32 %a10, [tile+16]; add.u32 %a9, %a9, %a10; st.shared.u32 [%a4], %a9; ld.shared.u32 %a10, [ADDRESS+4]; st.shared.u32 [%a4+64], %a10; ld.shared.u32 %a9, [ADDRESS];",
    "ld.shared.u32 %a9, [ADDRESS]; cvt.u64.u32 %p4, %a9; mad.lo.u64 %p4, %p4, 9, %p4; st.shared.u64 [%a4], %p4; st.shared.u16 [%a4+2], %a9;",
];

fn body(root: &str, (sum, wide): (&str, bool), load: &str, past: u32, apart: bool) -> String {
    let address = if wide { "%p2" } else { "%a6" };
    let load = load.replace("ADDRESS", address);
    let (skip, over) = match apart {
        true => ("and.b32 %a13, %t, 4; setp.eq.u32 %q7, %a13, 0; @%q7 bra over;", "over:"),
        false => ("", ""),
    };
    format!(
        "    mov.u32 %a0, tile;
    and.b32 %a1, %t, 31;
    mad.lo.u32 %a1, %a1, 4, %a0;
    mov.u32 %a3, 0;
fill:
    mad.lo.u32 %a9, %a1, -1640531527, %t;
    st.shared.u32 [%a1], %a9;
    add.u32 %a1, %a1, 128; add.u32 %a3, %a3, 1; setp.lt.u32 %q0, %a3, 32;
    @%q0 bra fill;
    {root}
    add.u32 %a2, %a2, {past};
    add.u32 %a4, %a0, %a2;
    cvt.s64.s32 %p1, %a4;
    mov.u32 %a5, 0;
    mov.u32 %a8, 0;
    mov.f32 %f3, 0f3f800000;
    bar.sync 0;
    {skip}
round:
    {sum}
    {load}
    mad.lo.u32 %a8, %a8, 31, %a9;
    add.u32 %a5, %a5, 1;
    setp.lt.u32 %q1, %a5, %n;
    @%q1 bra round;
{over}
    st.global.u32 [%o], %a8;"
    )
}

/// Addresses of each kind for a few rounds, where they are good, and for so many that they are not any more.
#[test]
fn patterns() {
    for (i, (root_name, root)) in ROOTS.iter().enumerate() {
        for (j, &(sum_name, sum, wide)) in SUMS.iter().enumerate() {
            // Each with each of the others, in a fourth of all cases.
            for load in LOADS.iter().skip((i + j) % 4).step_by(4) {
                let text = |past| {
                    format!("// {root_name}, {sum_name}\n{}", body(root, (sum, wide), load, past, false))
                };
                same(&text(1024), 32, 5, None);
                same(&text(1024), 45, 400, Some(40_000));
                same(&text(3584), 32, 1, None);
            }
        }
    }
}

/// Where lanes are apart, and for the last elements of the memory, of which a window would reach past it.
#[test]
fn patterns_apart_and_at_the_end() {
    for (name, root) in ROOTS {
        for load in LOADS {
            for threads in THREADS {
                same(
                    &format!("// {name}\n{}", body(root, ("mov.u32 %a6, %a4;", false), load, 512, true)),
                    threads,
                    4,
                    None,
                );
            }
        }
    }
    for bytes in [1, 2, 4, 8, 16] {
        let load = match bytes {
            1 => "ld.shared.u8 %a9, [ADDRESS];",
            2 => "ld.shared.u16 %a9, [ADDRESS];",
            4 => "ld.shared.u32 %a9, [ADDRESS];",
            8 => "ld.shared.v2.u32 {%a9, %a10}, [ADDRESS]; add.u32 %a9, %a9, %a10;",
            _ => "ld.shared.v4.u32 {%a9, %a10, %a11, %a12}, [ADDRESS]; add.u32 %a9, %a9, %a12;",
        };
        for past in [0, bytes] {
            // The first half at one place, the other at another: the last element, or the one behind it.
            let root = format!("shr.u32 %a2, %t, 4; and.b32 %a2, %a2, 1; mul.lo.u32 %a2, %a2, {bytes};");
            let text = body(&root, ("mov.u32 %a6, %a4;", false), load, 4096 - 2 * bytes + past, false);
            let found = same(&text, 32, 3, None);
            assert_eq!(found.contains("OutOfBounds"), past > 0, "{found}\n{text}");
        }
    }
}

/// A register that is computed anew in a loop around does not keep its pattern, nor does one that the other side of a branch writes.
#[test]
fn registers_that_change() {
    for (before, again) in [
        ("", "add.u32 %a3, %a3, 4;"),
        ("", "mul.lo.u32 %a3, %t, %a5; and.b32 %a3, %a3, 255; shl.b32 %a3, %a3, 2; add.u32 %a3, %a3, %a0;"),
        ("and.b32 %a13, %t, 4; setp.eq.u32 %q2, %a13, 0;", "@%q2 add.u32 %a3, %a3, 4;"),
        ("", "and.b32 %a13, %a5, 1; setp.eq.u32 %q2, %a13, 0; @%q2 bra side; xor.b32 %a3, %a3, 64;\nside:"),
    ] {
        let text = format!(
            "    mov.u32 %a0, tile;
    mad.lo.u32 %a3, %t, 4, %a0;
    mov.u32 %a5, 0;
    mov.u32 %a8, 0;
    {before}
outer:
    mov.u32 %a6, 0;
inner:
    ld.shared.u32 %a9, [%a3];
    ld.shared.u32 %a10, [%a3+512];
    mad.lo.u32 %a8, %a8, 31, %a9;
    add.u32 %a8, %a8, %a10;
    add.u32 %a8, %a8, %t;
    st.shared.u32 [%a3], %a8;
    add.u32 %a6, %a6, 1;
    setp.lt.u32 %q0, %a6, 3;
    @%q0 bra inner;
    {again}
    add.u32 %a5, %a5, 1;
    setp.lt.u32 %q1, %a5, %n;
    @%q1 bra outer;
    st.global.u32 [%o], %a8;"
        );
        for threads in THREADS {
            same(&text, threads, 9, None);
        }
    }
}

/// What grows evenly in each half of a warp, or seems to, as an index in `%a6` or an address in `%p2`, by the round in `%a5`.
const EVEN: &[(&str, &str)] = &[
    ("an index", "add.u32 %a6, %a1, %a5; mad.wide.u32 %p2, %a6, 4, %i;"),
    ("rows of a matrix", "mad.lo.u32 %a6, %a2, 24, %a5; mad.wide.u32 %p2, %a6, 4, %i;"),
    ("a row and a product", "mad.lo.u32 %a6, %a2, %a5, %a1; mul.wide.u32 %p2, %a6, 4; add.s64 %p2, %i, %p2;"),
    (
        "shifted",
        "sub.u32 %a6, %a1, %a5; add.u32 %a6, %a6, 64; shl.b32 %a6, %a6, 2; cvt.u64.u32 %p2, %a6; add.s64 %p2, %p2, %i;",
    ),
    (
        "negative",
        "sub.s32 %a6, %a1, 40; mad.lo.s32 %a7, %a5, 4, 60; add.s32 %a6, %a6, %a7; mul.wide.s32 %p2, %a6, 4; add.s64 %p2, %p2, %i;",
    ),
    (
        "wraps in the middle of a half",
        "add.u32 %a6, %a1, -8; add.u32 %a6, %a6, %a5; mad.wide.u32 %p2, %a6, 4, %i; add.s64 %p2, %p2, 64;",
    ),
    (
        "wraps and is used",
        "add.u32 %a6, %a1, -8; mul.wide.u32 %p3, %a6, 4; cvt.u32.u64 %a7, %p3; and.b32 %a7, %a7, 4092; cvt.u64.u32 %p2, %a7; add.s64 %p2, %p2, %i; add.u32 %a7, %a6, %a5; mul.wide.s32 %p4, %a7, 4; add.s64 %p4, %p4, %i; add.s64 %p4, %p4, 64; ld.global.u32 %a8, [%p4];",
    ),
    (
        "widened before it wraps",
        "add.u32 %a6, %a1, -16; mad.wide.u32 %p2, %a6, 4, %i; shl.b64 %p3, %p5, 34; sub.s64 %p2, %p2, %p3; add.s64 %p2, %p2, 64;",
    ),
    ("apart", "add.u32 %a6, %a1, %a5; mad.wide.u32 %p2, %a6, 12, %i;"),
    ("one place", "mad.wide.u32 %p2, %a5, 4, %i;"),
    ("the end", "mad.wide.u32 %p2, %a5, 4, %i; add.s64 %p2, %p2, 16364;"),
    (
        "places at the end",
        "shr.u32 %a6, %a1, 4; add.u32 %a6, %a6, %a5; mad.wide.u32 %p2, %a6, 4, %i; add.s64 %p2, %p2, 16360;",
    ),
    ("rows at the end", "add.u32 %a6, %a1, %a5; mad.wide.u32 %p2, %a6, 4, %i; add.s64 %p2, %p2, 16248;"),
    ("before the beginning", "sub.u32 %a6, %a1, %a5; mad.wide.s32 %p2, %a6, 4, %i;"),
    ("half of an element", "mad.wide.u32 %p2, %a1, 4, %i; cvt.u64.u32 %p3, %a5; add.s64 %p2, %p2, %p3;"),
    ("scattered", "xor.b32 %a6, %a1, %a5; mad.wide.u32 %p2, %a6, 4, %i;"),
    (
        "two allocations",
        "mul.wide.u32 %p3, %a5, 4; sub.s64 %p4, %o, %i; mad.wide.s32 %p2, %a1, 4, %i; and.b32 %a6, %a5, 1; setp.eq.u32 %q2, %a6, 1; selp.b64 %p4, %p5, 0, %q2; add.s64 %p2, %p2, %p4; add.s64 %p2, %p2, %p3;",
    ),
];

const EVEN_LOADS: &[&str] = &[
    "ld.global.u32 %a9, [%p2];",
    "ld.global.u32 %a9, [%p2+4]; ld.global.u32 %a10, [%p2]; sub.u32 %a9, %a9, %a10;",
    "ld.global.s8 %a9, [%p2]; ld.global.u16 %a10, [%p2+2]; mad.lo.u32 %a9, %a9, 3, %a10;",
    "ld.global.v2.u32 {%a9, %a10}, [%p2]; xor.b32 %a9, %a9, %a10;",
    "ld.global.f32 %f1, [%p2]; fma.rn.f32 %f3, %f1, %f1, %f3; mov.b32 %a9, %f3;",
    "ld.global.u32 %a9, [%p2]; st.shared.u32 [%a4], %a9; ld.shared.u32 %a10, [%a4]; add.u32 %a9, %a9, %a10;",
];

/// Global memory at addresses that are computed for each half of a warp.
#[test]
fn even_addresses() {
    for (name, address) in EVEN {
        for load in EVEN_LOADS {
            // Blocks of one row of threads, and of rows of 16: `%a1` is the place in the row, and `%a2` the row.
            for row in [32, 16, 12] {
                let text = format!(
                    "// {name}
    rem.u32 %a1, %t, {row};
    div.u32 %a2, %t, {row};
    mov.u32 %a0, tile;
    mad.lo.u32 %a4, %t, 4, %a0;
    mov.u64 %p5, 1;
    mov.u32 %a5, 0;
    mov.u32 %a8, 0;
    mov.f32 %f3, 0f3f800000;
round:
    {address}
    {load}
    mad.lo.u32 %a8, %a8, 31, %a9;
    add.u32 %a5, %a5, 1;
    setp.lt.u32 %q1, %a5, %n;
    @%q1 bra round;
    st.global.u32 [%o], %a8;"
                );
                same(&text, 64, 4, None);
                same(&text, 32, 6, None);
            }
        }
    }
}
