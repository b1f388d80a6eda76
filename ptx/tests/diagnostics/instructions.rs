//! Instructions and their operands.

use crate::{body, module};
use expect_test::expect;

#[test]
fn missing_operand() {
    body(
        "add.u32 %r1, , %r2;\nmov.u32 %r1, 1;\nmov.u32 %r1 %r2;",
        expect![[r#"
            2:14: error[P0101]: expected an operand, found `,`
              see PTX ISA 9.0, 4.3
            4:12: error[P0101]: expected `,` between operands, found `%r2`
              help: separate them: `,`
              see PTX ISA 9.0, 4.3
        "#]],
    );
}

#[test]
fn negative_offset_without_plus() {
    body(
        "ld.global.u32 %r1, [%rd1-4];",
        expect![[r#"
            2:25: error[P0101]: a negative offset is written `[name+-4]`
              help: add the negative number: `+-`
              see PTX ISA 9.0, 4.3
        "#]],
    );
}

#[test]
fn unknown_instruction_and_modifier() {
    body(
        "mvo.u32 %r1, 1;\nadd.u23 %r1, %r2, 1;",
        expect![[r#"
            2:1: error[P0601]: unknown instruction `mvo`
              help: perhaps this was meant: `mov.u32`
              see PTX ISA 9.0, 9.7
            3:4: error[P0601]: unknown modifier `.u23`
              3:4: expected `.u16`, `.u32`, `.u64`, `.s16`, `.s32` or `.s64`, found `.u23`
              help: did you mean: `add.u32`
              see PTX ISA 9.0, 9.7.1.1
        "#]],
    );
}

#[test]
fn wrong_register_type() {
    body(
        "add.f32 %f1, %f2, %r1;\nadd.f32 %f1, %f2, 1;",
        expect![[r#"
            3:19: error[I0207]: the integer 1 cannot be operand `b` of `add.f32`
              3:19: expected a register of type `.b32` or `.f32` or a float constant, found the integer 1
              help: the number 1 as a `.f32`: `0f3F800000`
              see PTX ISA 9.0, 9.7.3.3
        "#]],
    );
}

#[test]
fn wrong_number_of_operands() {
    body(
        "add.u32 %r1, %r2;",
        expect![[r#"
            2:1: error[I0201]: `add.u32` has the wrong number of operands
              2:1: expected 3, found 2
              note: its form: `add .type d, a, b`
              see PTX ISA 9.0, 9.7.1.1
        "#]],
    );
}

#[test]
fn spread_mnemonics_are_pointed_at_word_by_word() {
    body(
        "add .rn\n .u32 %r1, %r2, %r3;\n@%p1 add.rn.u32 %r1, %r2, %r3;",
        expect![[r#"
        2:5: error[I0101]: `.rn` does not go with `add` here
          help: perhaps this was meant: `add.u32`
          see PTX ISA 9.0, 9.7.1.1
        4:9: error[I0101]: `.rn` does not go with `add` here
          help: perhaps this was meant: `add.u32`
          see PTX ISA 9.0, 9.7.1.1
    "#]],
    );
}

#[test]
fn guard_that_is_no_predicate() {
    body(
        "@%r1 mov.u32 %r2, 1;\n@%q mov.u32 %r2, 1;",
        expect![[r#"
            2:2: error[P0602]: `%r1` is not a predicate register, so it cannot guard an instruction
              1:113: declared `.reg .b32` here
              note: `setp.ne.s32 p, a, 0` makes a predicate of an integer
              see PTX ISA 9.0, 9.3
            3:2: error[P0402]: `%q` is not declared here
              see PTX ISA 9.0, 4.4
        "#]],
    );
}

#[test]
fn data_out_of_range() {
    module(
        ".section .debug_str { .b8 256 }\n.section .debug_info { .b16 -40000 }",
        expect![[r#"
            4:27: error[P0105]: 256 does not fit `.b8`
              see PTX ISA 9.0, 11.5.2
            5:29: error[P0105]: -40000 does not fit `.b16`
              see PTX ISA 9.0, 11.5.2
        "#]],
    );
}

#[test]
fn debug_directives() {
    module(
        ".file 1 \"a\"\n.file 1 \"b\"",
        expect![[r#"
            5:1: error[P0701]: file 1 is declared already
              see PTX ISA 9.0, 11.5.3
        "#]],
    );
    body(
        ".loc 1 2 3, function_name f, inlined_at 1 1 1\n.pragma \"frequency 0\";",
        expect![[r#"
            2:1: error[P0702]: no `.loc` before this one has the place 1 1 1
              note: the place of the call must have a `.loc` of its own before (PTX ISA 9.0, 11.5.4)
              see PTX ISA 9.0, 11.5.4
            2:1: error[P0702]: no `.section` has the label `f`
              note: `function_name` is a label of `.debug_str`, or `.debug_str+offset`
              see PTX ISA 9.0, 11.5.4
            3:1: error[P0305]: the pragma `frequency` is not in PTX 8.0 for sm_80
              3:1: needs .version 9.0 or later, or .target sm_72 or lower
              1:10: the module is for this
              help: raise the version: `9.0`
              see PTX ISA 9.0, 11.4.7
            3:1: error[P0703]: `0` is not a value of the pragma `frequency`
              see PTX ISA 9.0, 11.4.7
        "#]],
    );
}

#[test]
fn vector_components() {
    body(
        "mov.u32 %r1, %tid.q;\nmov.u32 %r1, %r2.x;\n.reg .v2 .b32 v; mov.b32 %r1, v.z;",
        expect![[r#"
            2:14: error[P0603]: `%tid` has no component `.q`
              note: it has `.x`, `.y`, `.z`, `.w`
            3:14: error[I0219]: operand `a` has no such part
              3:14: expected a register of type `.b32`, `.u32`, `.s32` or `.f16x2`, an integer constant, a special register or a variable, found part `.x` of a `.b32` register
              note: its form: `mov .btype d, a`
              see PTX ISA 9.0, 9.7.9.3
            4:31: error[P0603]: `v` has no component `.z`
              note: it has `.x`, `.y`
        "#]],
    );
}
