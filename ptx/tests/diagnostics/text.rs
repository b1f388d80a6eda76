//! What is not a PTX text at all.

use crate::{body, findings, module};
use expect_test::expect;
use warpsmith_ptx::{parse, validate};

#[test]
fn missing_semicolons_are_each_told_once() {
    body(
        "mov.u32 %r1, %r2\nmov.u32 %r2, %r3\nadd.u32 %r1, %r2, 1;",
        expect![[r#"
            2:17: error[P0101]: expected `;` after the instruction, found `mov`
              help: end it here: `;`
              see PTX ISA 9.0, 4.3
            3:17: error[P0101]: expected `;` after the instruction, found `add`
              help: end it here: `;`
              see PTX ISA 9.0, 4.3
        "#]],
    );
}

#[test]
fn open_comment_and_string() {
    module(
        ".file 1 \"a.cu",
        expect![[r#"
        4:9: error[P0003]: this string has no closing `"`
    "#]],
    );
    module(
        "/* never closed",
        expect![[r#"
            4:1: error[P0004]: this comment is never closed
              see PTX ISA 9.0, 4.2
        "#]],
    );
}

#[test]
fn unclosed_body() {
    expect![[r#"
        4:1: error[P0102]: this body has no closing `}`
          2:12: opened here
          see PTX ISA 9.0, 4.3
    "#]]
    .assert_eq(&findings(".version 8.0 .target sm_80 .address_size 64\n.entry k() {\n{ ret;\n"));
}

#[test]
fn not_ascii() {
    module(
        "// caf\u{e9}\n.global .b32 x;",
        expect![[r#"
            4:7: error[P0001]: U+00E9 is not ASCII
              note: PTX text is ASCII, in comments and strings too
              see PTX ISA 9.0, 4.1
        "#]],
    );
}

#[test]
fn constant_expressions() {
    module(
        ".global .u64 x = 1/(2-2);\n.global .u64 y = 1 + 1.5;\n.global .u64 z = 99999999999999999999;",
        expect![[r#"
            4:19: error[P0202]: this constant expression divides by zero
              see PTX ISA 9.0, 4.5.4
            5:19: error[P0201]: one side is an integer, the other a floating-point constant
              see PTX ISA 9.0, 4.5.4
            6:18: error[P0005]: this integer does not fit 64 bits
              see PTX ISA 9.0, 4.5.1
        "#]],
    );
    module(
        ".global .u64 x = (.u32)1;\n.global .f64 y = 1e309;\n.global .f32 z = -0f3F800000;",
        expect![[r#"
            4:18: error[P0203]: a constant is cast to `.s64` or `.u64` only
              see PTX ISA 9.0, 4.5.4
            5:18: error[P0005]: this decimal is out of the normal range of `.f64`
              see PTX ISA 9.0, 4.5.1
            6:19: error[P0101]: `-` cannot stand before a `0f` literal
              note: write the sign into the bits: bit 31 of a `0f` literal is the sign
              see PTX ISA 9.0, 4.3
        "#]],
    );
}

#[test]
fn misspelt_directives_are_read_as_they_were_meant() {
    body(
        ".rge .b32 %x;\n.reg .i32 %y;\nadd.u32 %x, %y, 1;",
        expect![[r#"
            2:1: error[P0101]: unknown directive `.rge`
              help: did you mean: `.reg`
              see PTX ISA 9.0, 4.3
            3:6: error[P0101]: unknown type `.i32`
              help: did you mean: `.s32`
              see PTX ISA 9.0, 4.3
        "#]],
    );
    module(
        ".vsible .entyr k() { .regg .prd p; @p ret; ret }",
        expect![[r#"
            4:1: error[P0101]: unknown directive `.vsible`
              help: did you mean: `.visible`
              see PTX ISA 9.0, 4.3
            4:9: error[P0101]: unknown directive `.entyr`
              help: did you mean: `.entry`
              see PTX ISA 9.0, 4.3
            4:22: error[P0101]: unknown directive `.regg`
              help: did you mean: `.reg`
              see PTX ISA 9.0, 4.3
            4:28: error[P0101]: unknown type `.prd`
              help: did you mean: `.pred`
              see PTX ISA 9.0, 4.3
            4:47: error[P0101]: expected `;` after the instruction, found `}`
              help: end it here: `;`
              see PTX ISA 9.0, 4.3
        "#]],
    );
}

#[test]
fn errors_are_cut_off() {
    let text: String = (0..10_000).map(|i| format!("mov.u32 %q{i}x, 1;\n")).collect();
    let text = format!(".version 8.0 .target sm_80 .address_size 64 .entry k() {{\n{text} }}");
    let findings = validate(&parse(&text).module);
    assert_eq!(findings.len(), 501);
    assert_eq!(findings[500].code, "P0007");
    let parsed = parse(&"? ;\n".repeat(10_000));
    assert_eq!((parsed.diagnostics.len(), parsed.diagnostics[500].code), (501, "P0007"));
}

#[test]
fn one_nul_may_end_the_text() {
    expect![""].assert_eq(&findings(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\0"));
    assert_ne!(findings(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\0\0"), "");
    assert_ne!(findings(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { \0ret; }"), "");
}
