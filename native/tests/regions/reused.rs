//! Registers that are used again: for addresses that grow evenly from lane to lane, for one that all lanes have, for such that follow no rule, one after the
//! other.

use crate::traces::Random;
use crate::{THREADS, same};
use std::fmt::Write;

/// A register that held addresses that grow evenly, and then one that all lanes have, and the other way round.
#[test]
fn registers_that_are_used_again() {
    let one = "add.u64 %p2, %i, 64; ld.global.u32 %a1, [%p2];";
    let each = "mul.wide.u32 %p1, %t, 4; add.u64 %p2, %i, %p1; ld.global.u32 %a0, [%p2];";
    let sum = "add.u64 %p2, %i, 32; add.u64 %p2, %p2, %p1; ld.global.u32 %a2, [%p2];";
    let from = "mad.wide.u32 %p2, %n, 8, %i; sub.u64 %p3, %p2, %p1; add.u64 %p3, %p3, %p1; add.u64 %p3, %p3, %p1; ld.global.u32 %a3, [%p3];";
    for order in
        [[each, one, sum, from], [one, each, from, sum], [each, sum, one, from], [from, one, each, sum]]
    {
        let body = format!(
            "mul.wide.u32 %p1, %t, 4; mov.u32 %a0, 0; bra.uni go;\ngo: {}\n\
             add.u32 %a4, %a0, %a1; xor.b32 %a5, %a2, %a3; mad.lo.u32 %a5, %a4, 7, %a5;\n\
             st.global.u32 [%o], %a0; st.global.u32 [%o+4], %a1; st.global.u32 [%o+8], %a2; st.global.u32 [%o+12], %a3; st.global.u32 [%o+16], %a5;",
            order.join("\n")
        );
        for threads in THREADS {
            same(&body, threads, 5, None);
        }
    }
}

/// Writes one of four offsets, `%p1` to `%p4`, or loads from one or two of them, or computes with what was loaded.
fn statement(random: &mut Random, text: &mut String) {
    let [d, x, y] = [(); 3].map(|()| random.below(4) + 1);
    let [v, w] = [(); 2].map(|()| random.below(6) + 8);
    let (p, size) = (random.below(2) + 5, [4, 8, 12][random.below(3) as usize]);
    let at = 4 * random.below(5);
    _ = match random.below(14) {
        0 => write!(text, "mul.wide.u32 %p{d}, %t, {size}; "),
        1 => write!(text, "mov.u64 %p{d}, {}; ", 4 * size),
        2 => write!(text, "mul.wide.u32 %p{d}, %n, {size}; "),
        3 => write!(text, "and.b32 %a7, %t, 15; mul.wide.u32 %p{d}, %a7, 4; "),
        4 => write!(text, "shr.u32 %a7, %t, 4; mul.wide.u32 %p{d}, %a7, 64; "),
        5 => write!(text, "mov.u64 %p{d}, %p{x}; "),
        6 => write!(text, "xor.b64 %p{d}, %p{x}, 8; "),
        7 => write!(text, "mad.wide.u32 %p{p}, %t, 4, %i; ld.global.u32 %a{v}, [%p{p}+{at}]; "),
        8 => write!(text, "add.u64 %p{p}, %i, %p{x}; ld.global.u32 %a{v}, [%p{p}+{at}]; "),
        9 => write!(
            text,
            "add.u64 %p{p}, %i, %p{x}; add.u64 %p{p}, %p{p}, %p{y}; ld.global.u32 %a{v}, [%p{p}+{at}]; "
        ),
        10 => {
            write!(text, "cvt.u32.u64 %a6, %p{x}; add.u32 %a6, %a6, %a5; ld.shared.u32 %a{v}, [%a6+{at}]; ")
        }
        11 => write!(text, "add.u32 %a6, %a5, {}; ld.shared.u32 %a{v}, [%a6+{at}]; ", 4 * size),
        12 => write!(text, "xor.b32 %a{v}, %a{v}, %a{w}; "),
        _ => write!(text, "mad.lo.u32 %a{v}, %a{v}, 3, %a{w}; "),
    };
}

#[test]
fn random_addresses() {
    for seed in 0..80 {
        let mut random = Random(seed * 131 + 7);
        let mut text = format!("// {seed}\n");
        text += "mov.u32 %a5, tile; mad.lo.u32 %a6, %t, 4, %a5; mad.lo.u32 %a7, %t, 77, 5; st.shared.u32 [%a6], %a7; bar.sync 0; mov.u32 %a4, 0; ";
        (1..5).for_each(|n| _ = write!(text, "mul.wide.u32 %p{n}, %t, {}; ", 4 * n));
        (8..14).for_each(|n| _ = write!(text, "add.u32 %a{n}, %t, {n}; "));
        text += "\nagain: ";
        (0..14).for_each(|_| statement(&mut random, &mut text));
        // Every other one is a loop: its registers change.
        if seed % 2 == 0 {
            text += "add.u32 %a4, %a4, 1; setp.lt.u32 %q0, %a4, 3; @%q0 bra again;";
        }
        (8..14).for_each(|n| _ = write!(text, "st.global.u32 [%o+{}], %a{n}; ", 4 * (n - 8)));
        for threads in [32, 96, 45] {
            same(&text, threads, 6, None);
        }
    }
}
