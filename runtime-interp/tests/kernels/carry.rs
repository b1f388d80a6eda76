//! Extended precision (9.7.2): chains of words, and what the flag is between an addition and a subtraction.

use super::*;

/// Runs a body of one thread that leaves its words in `%r0`..., and gives so many.
fn flags(body: &str, count: usize) -> Vec<u32> {
    let stores: String = (0..count).map(|i| format!("st.global.u32 [%out+{}], %r{i};", 4 * i)).collect();
    words(&kernel("", &format!("{body}{stores}")), 1, count).expect("it runs")
}

#[test]
fn wide_numbers_are_added_and_subtracted_word_by_word() {
    let cases: [(u128, u128); 5] = [
        (0, 1),
        (u128::MAX, 1),
        (1 << 64, 1),
        (0x1234_5678_9abc_def0 << 31, 0xffff_ffff_0000_0001 << 17),
        (7, 7),
    ];
    let word = |v: u128, i: u32| (v >> (32 * i)) as u32;
    for (a, b) in cases {
        for (op, expected) in [("add", a.wrapping_add(b)), ("sub", a.wrapping_sub(b))] {
            let chain: String = (0..4)
                .map(|i| {
                    let carry = if i == 0 { "" } else { "c" };
                    format!("{op}{carry}.cc.u32 %r{i}, {}, {};", word(a, i), word(b, i))
                })
                .collect();
            assert_eq!(flags(&chain, 4), [0, 1, 2, 3].map(|i| word(expected, i)), "{a:#x} {op} {b:#x}");
        }
    }
    let square = flags(
        "mov.u32 %r9, 0xffffffff; mul.lo.u32 %r0, %r9, %r9; mul.hi.u32 %r1, %r9, %r9; mad.lo.cc.u32 %r1, %r9, %r9, %r1; \
         madc.hi.u32 %r2, %r9, %r9, 0; mad.lo.cc.u32 %r1, %r9, %r9, %r1; madc.hi.cc.u32 %r2, %r9, %r9, %r2; addc.u32 %r3, 0, 0; \
         mad.lo.cc.u32 %r2, %r9, %r9, %r2; madc.hi.u32 %r3, %r9, %r9, %r3;",
        4,
    );
    let expected = u128::from(u64::MAX) * u128::from(u64::MAX);
    assert_eq!(square, [0, 1, 2, 3].map(|i| word(expected, i)));
}

/// ptxas folds `sub.cc.u32 r, 5, 3; addc.u32 d, 0, 0;` to one and with 9 for 3 to zero.
#[test]
fn a_subtraction_sets_the_flag_where_it_does_not_borrow() {
    let found = flags(
        "sub.cc.u32 %r9, 5, 3; addc.u32 %r0, 0, 0; sub.cc.u32 %r9, 5, 9; addc.u32 %r1, 0, 0; sub.cc.u32 %r9, 5, 5; addc.u32 %r2, 0, 0; \
         add.cc.u32 %r9, 1, 2; subc.u32 %r3, 10, 4; add.cc.u32 %r9, -1, 2; subc.u32 %r4, 10, 4; \
         sub.cc.u32 %r9, 0, 1; madc.lo.u32 %r5, 2, 3, 0; sub.cc.u32 %r9, 1, 0; madc.lo.u32 %r6, 2, 3, 0;",
        7,
    );
    assert_eq!(found, [1, 0, 1, 5, 6, 6, 7]);
}
