//! Tests of video instructions.

use super::*;

#[test]
fn scalar_forms() {
    let word = |signed| (signed, Part::WORD);
    let add = Scalar {
        operation: Operation::Add,
        signed: true,
        a: word(true),
        b: word(false),
        sat: true,
        second: Second::None,
    };
    assert_eq!(add.apply(0x7fff_ffff, 0xffff_ffff, 0), 0x7fff_ffff);
    assert_eq!(Scalar { sat: false, ..add }.apply(0x7fff_ffff, 2, 0), 0x8000_0001);
    assert_eq!(Scalar { second: Second::Add, ..add }.apply(1, 2, 10), 13);
    assert_eq!(Scalar { second: Second::Max, ..add }.apply(1, 2, -5i32 as u32), 3);
    assert_eq!(Scalar { second: Second::Min, ..add }.apply(1, 2, -5i32 as u32), -5i32 as u32);
    let largest = Scalar { operation: Operation::Max, sat: false, second: Second::Min, ..add };
    assert_eq!(largest.apply(0, 0x8000_0000, 0x6e2f_65b8), 0x6e2f_65b8, "2^31 is compared in 64 bits");
    let sum = Scalar { sat: false, second: Second::Min, ..add };
    assert_eq!(sum.apply(0x7fff_ffff, 1, 5), 0x8000_0000, "of a sum, 32 bits");
    let merged = Scalar {
        a: (true, Part::byte(0)),
        b: (true, Part::half(1)),
        second: Second::Merge(Part::byte(2)),
        ..add
    };
    assert_eq!(merged.apply(0x0000_0080, 0xfff0_0000, 0x1122_3344), 0x117f_3344, "saturated from above only");
    assert_eq!(merged.apply(0x0000_0010, 0xfff0_0000, 0x1122_3344), 0x1100_3344);
    let upper = Scalar { sat: false, second: Second::Merge(Part::half(1)), ..merged };
    assert_eq!(upper.apply(0x0000_0080, 0xfff0_0000, 0x1122_3344), 0xffff_3344);
    let natural = Scalar { signed: false, a: word(false), b: word(false), ..add };
    assert_eq!(natural.apply(u32::MAX, 2, 0), 1, "saturated from below only");
    assert_eq!(Scalar { operation: Operation::Sub, ..natural }.apply(1, 2, 0), 0);
    let shift = Scalar {
        operation: Operation::Shl { wrap: false },
        signed: false,
        a: word(false),
        b: word(false),
        ..add
    };
    assert_eq!(shift.apply(0xffff_ffff, 31, 0), 0, "of 34 bits that are negative");
    assert_eq!(shift.apply(0xffff_ffff, 1, 0), 0xffff_ffff);
    assert_eq!(shift.apply(1, 32, 0), 0xffff_ffff, "2^32 is positive in 34 bits");
    assert_eq!(shift.apply(1, 200, 0), 0xffff_ffff, "the amount is clamped to 32");
    assert_eq!(Scalar { sat: false, ..shift }.apply(0xffff_ffff, 200, 0), 0);
    let less = Scalar {
        operation: Operation::Set(Comparison::Lt),
        signed: false,
        a: word(true),
        b: word(false),
        sat: false,
        ..add
    };
    assert_eq!((less.apply(u32::MAX, 0, 0), less.apply(1, 0, 0)), (1, 0));
}

#[test]
fn multiply_add_negates_by_complement() {
    let mad = Mad {
        a: (true, Part::WORD),
        b: (true, Part::WORD),
        negate_product: false,
        negate_addend: false,
        plus_one: false,
        sat: false,
        scale: 0,
    };
    assert_eq!(mad.apply(-3i32 as u32, 5, 7), -8i32 as u32);
    let natural = Mad { a: (false, Part::WORD), b: (false, Part::WORD), ..mad };
    assert_eq!(Mad { scale: 7, ..natural }.apply(u32::MAX, 256, 0), -2i32 as u32);
    assert_eq!(Mad { sat: true, scale: 7, ..natural }.apply(u32::MAX, 256, 0), u32::MAX);
    assert_eq!(Mad { sat: true, ..natural }.apply(u32::MAX, 256, 0), 0);
    assert_eq!(Mad { negate_product: true, ..mad }.apply(-3i32 as u32, 5, 7), 22);
    assert_eq!(Mad { negate_addend: true, ..mad }.apply(-3i32 as u32, 5, 7), -22i32 as u32);
    assert_eq!(Mad { plus_one: true, scale: 7, ..mad }.apply(1 << 20, 1 << 10, 127), (1 << 23) + 1);
    assert_eq!(Mad { sat: true, ..mad }.apply(1 << 20, 1 << 20, 0), i32::MAX as u32);
}

#[test]
fn packed_forms() {
    let average = Simd {
        operation: Operation::Average,
        bits: 8,
        signed: false,
        a_signed: false,
        b_signed: false,
        a_select: [0, 1, 2, 3],
        b_select: [4, 5, 6, 7],
        mask: [true; 4],
        sat: false,
        accumulate: false,
    };
    assert_eq!(average.apply(0x0003_ff00, 0x0102_ff01, 0), 0x0103_ff01);
    assert_eq!(
        Simd { mask: [false, true, false, true], ..average }.apply(0x0003_ff00, 0x0102_ff01, 0xabab_abab),
        0x01ab_ffab
    );
    let difference = Simd { operation: Operation::AbsDiff, accumulate: true, ..average };
    assert_eq!(difference.apply(0x0003_ff00, 0x0102_fe05, 100), 100 + 1 + 1 + 1 + 5);
    let halves = Simd {
        operation: Operation::Sub,
        bits: 16,
        signed: true,
        a_signed: true,
        b_signed: true,
        b_select: [2, 3, 0, 0],
        sat: true,
        ..average
    };
    assert_eq!(halves.apply(0x8000_7fff, 0x0001_ffff, 0), 0x8000_7fff);
    assert_eq!(Simd { a_select: [3, 2, 0, 0], ..halves }.apply(0, 0x0005_0009, 0), 0x0004_fffc);
}
