//! Where hardware does something else than the manual says: the table of `docs/engine.md`, row by row.

use super::*;

#[test]
fn hardware_is_followed_where_the_manual_says_something_else() {
    // %r1 and %r2 hold 256 and 264, %rd1 0x8123456789abcdef, %f1 the least positive number and %f2 its negative; the result is %r0.
    let cases: &[(&str, u32)] = &[
        // All 32 bits of position and length count at 64 bits, the low 8 at 32.
        ("bfe.u64 %rd0, %rd1, %r1, 8; cvt.u32.u64 %r0, %rd0;", 0),
        ("bfe.s64 %rd0, %rd1, %r1, 8; cvt.u32.u64 %r0, %rd0;", u32::MAX),
        ("bfe.u64 %rd0, %rd1, 4, %r2; cvt.u32.u64 %r0, %rd0;", 0x789a_bcde),
        ("bfi.b64 %rd0, %rd1, 0, %r1, 8; cvt.u32.u64 %r0, %rd0;", 0),
        ("bfi.b64 %rd0, %rd1, 0, 4, %r2; cvt.u32.u64 %r0, %rd0;", 0x9abc_def0),
        ("bfe.u32 %r0, %r2, %r1, %r2;", 8),
        ("bfi.b32 %r0, -1, 0, %r1, %r2;", 0xff),
        // No conversion to f16 flushes; one to bf16 does.
        ("cvt.rp.ftz.f16.f32 %rs0, %f1; cvt.u32.u16 %r0, %rs0;", 1),
        ("cvt.rm.ftz.f16.f32 %rs0, %f2; cvt.u32.u16 %r0, %rs0;", 0x8001),
        ("cvt.rp.ftz.bf16.f32 %rs0, %f1; cvt.u32.u16 %r0, %rs0;", 0),
        // A second operation compares sums and differences in 32 bits, other results in 64.
        ("vmax.s32.s32.u32.min %r0, 0, 0x80000000, 0x6e2f65b8;", 0x6e2f_65b8),
        ("vadd.s32.s32.u32.min %r0, 0x7fffffff, 1, 5;", 0x8000_0000),
        // Of the result, the sign fills the upper word before numbers without sign are compared.
        ("vsub.u32.u32.u32.min %r0, 1, 2, 0xfffffffe;", 0xffff_fffe),
        // Sums without sign saturate from below only, into a part of the destination from above only.
        ("vadd.u32.u32.u32.sat %r0, 0xffffffff, 2;", 1),
        ("vsub.u32.u32.u32.sat %r0, 1, 2;", 0),
        ("vsub.u32.u32.u32.sat %r0.b0, 1, 2, 0;", 0xff),
        ("vsub.s32.u32.u32.sat %r0.b0, 1, 2, 0;", 0x7f),
        // The upper half of the destination takes the upper half of the result.
        ("vadd.u32.u32.u32 %r0.h1, 0x12340000, 0x5678, 0x9abc;", 0x1234_9abc),
        ("vadd.u32.u32.u32 %r0.h0, 0x12340000, 0x5678, 0x9abc;", 0x0000_5678),
        // A shift saturates to 32 bits, whatever the destination.
        ("vshl.s32.u32.u32.clamp.sat %r0.b0, 0x180, 0, 0;", 0x80),
        ("vshr.s32.u32.u32.clamp.sat %r0, 0xffffffff, 0;", 0x7fff_ffff),
        // Multiplicands and addends of 32 bits are signed.
        ("vmad.u32.u32.u32.shr7 %r0, 0xffffffff, 256, 0;", 0xffff_fffe),
        // An offset that cannot be negated finds the lowest bit.
        ("fns.b32 %r0, 0, 99, 0x80000000;", 0),
        // Saturation works on 34 bits of a shift's result.
        ("vshl.u32.u32.u32.clamp.sat %r0, 0xffffffff, 31;", 0),
        ("vshl.u32.u32.u32.clamp.sat %r0, 0xffffffff, 1;", u32::MAX),
        // What is tiny after rounding is flushed.
        ("div.approx.ftz.f32 %f0, 0f00ffffff, 0f40000000; mov.b32 %r0, %f0;", 0),
        ("div.full.ftz.f32 %f0, 0f00ffffff, 0f40000000; mov.b32 %r0, %f0;", 0),
        ("div.full.f32 %f0, 0f00ffffff, 0f40000000; mov.b32 %r0, %f0;", 0x0080_0000),
    ];
    for (text, expected) in cases {
        let body = format!(
            "mov.u32 %r1, 256; mov.u32 %r2, 264; mov.b64 %rd1, 0x8123456789abcdef; mov.f32 %f1, 0f00000001; mov.f32 %f2, 0f80000001; \
             {text} {STORE}"
        );
        let found = words(&kernel("", &body), 1, 1).unwrap()[0];
        assert_eq!(found, *expected, "{text} gives {found:#x}, not {expected:#x}");
    }
}

#[test]
fn a_comparison_of_halves_sets_a_bfloat() {
    for (op, a, b, expected) in [
        ("lt", 0x3c00, 0x4000, 0x3f80),
        ("lt", 0x4000, 0x3c00, 0),
        ("num", 0x7e00, 0, 0),
        ("leu", 0x7e00, 0, 0x3f80),
    ] {
        let body = format!(
            "mov.b16 %rs1, {a}; mov.b16 %rs2, {b}; set.{op}.bf16.f16 %rs0, %rs1, %rs2; cvt.u32.u16 %r0, %rs0; {STORE}"
        );
        assert_eq!(words(&kernel("", &body), 1, 1).unwrap(), [expected], "{op} {a:#x} {b:#x}");
    }
    let body = format!(
        "mov.b16 %rs1, 0; setp.eq.u32 %p1, 1, 1; set.ne.xor.bf16.f16 %rs0, %rs1, %rs1, %p1; cvt.u32.u16 %r0, %rs0; {STORE}"
    );
    assert_eq!(words(&kernel("", &body), 1, 1).unwrap(), [0x3f80]);
}
