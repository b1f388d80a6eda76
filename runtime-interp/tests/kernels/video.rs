//! Video instructions with parts, lanes and masks (PTX ISA 9.0, 9.7.18).

use super::*;

#[test]
fn parts_lanes_and_masks_are_selected() {
    // The operands of all: a = 0x8091a2b3, b = 0x7f1e2d3c, c = 0x01020304.
    let cases: &[(&str, u32)] = &[
        ("vadd.u32.u32.u32 %r0, %r1.b3, %r2.b0;", 0x80 + 0x3c),
        ("vadd.s32.s32.s32 %r0, %r1.b3, %r2.h1;", (-128i32 + 0x7f1e) as u32),
        ("vsub.s32.u32.u32.sat %r0.b1, %r1.b0, %r2.h0, %r3;", 0x0102_7f04),
        (
            "vabsdiff.u32.s32.u32.add %r0, %r1.h1, %r2.b1, %r3;",
            (0x8091 - 0x10000i32 - 0x2d).unsigned_abs() + 0x0102_0304,
        ),
        ("vmin.s32.s32.s32.max %r0, %r1, %r2, %r3;", 0x0102_0304),
        ("vmax.u32.u32.u32 %r0.h1, %r1.b1, 7, %r3;", 0x0000_0304),
        ("vmax.u32.u32.u32 %r0.h0, %r1.b1, 7, %r3;", 0x0102_00a2),
        ("vshl.u32.u32.u32.clamp %r0, %r1.b0, 33;", 0),
        ("vshl.u32.u32.u32.wrap %r0, %r1.b0, 33;", 0x166),
        ("vshr.s32.s32.u32.clamp %r0, %r1, %r2;", u32::MAX),
        ("vmad.s32.s32.u32 %r0, -%r1.b3, %r2.b2, %r3;", 128 * 0x1e + 0x0102_0304),
        (
            "vmad.u32.u32.u32.po.shr7 %r0, %r1.h0, %r2.h1, %r3;",
            ((0xa2b3u64 * 0x7f1e + 0x0102_0304 + 1) >> 7) as u32,
        ),
        ("vset.s32.u32.lt.add %r0, %r1, %r2, %r3;", 0x0102_0305),
        ("vadd2.u32.u32.u32 %r0, %r1, %r2, %r3;", 0xffaf_cfef),
        ("vsub2.s32.s32.s32.sat %r0.h1, %r1.h20, %r2.h31, %r3;", 0xae1e_0304),
        ("vavrg4.u32.u32.u32.add %r0.b30, %r1, %r2, %r3;", 0x0102_0304 + 0x80 + 0x78),
        ("vmin4.s32.s32.s32 %r0.b21, %r1.b7654, %r2.b0123, %r3;", 0x01a2_9104),
        ("vset4.u32.u32.ge %r0, %r1, %r2, %r3;", 0x0101_0101),
    ];
    for (text, expected) in cases {
        let body = format!(
            "mov.u32 %r1, 0x8091a2b3; mov.u32 %r2, 0x7f1e2d3c; mov.u32 %r3, 0x01020304; {text} {STORE}"
        );
        let found = words(&kernel("", &body), 1, 1).unwrap()[0];
        assert_eq!(found, *expected, "{text} gives {found:#x}, not {expected:#x}");
    }
}
