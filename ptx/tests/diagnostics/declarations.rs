//! Variables and parameters: types, spaces, sizes and initial values.

use crate::{body, module};
use expect_test::expect;

#[test]
fn arrays_and_alignments() {
    module(
        ".global .align 3 .b8 a[4];\n.global .b32 b[];\n.global .b32 c[4][0];",
        expect![[r#"
            4:1: error[P0405]: the alignment 3 is not a power of two
              see PTX ISA 9.0, 5.4.5
            5:14: error[P0406]: an array without a size must be `.extern` or have an initial value
              see PTX ISA 9.0, 5.4.3
            6:14: error[P0406]: only the first size of an array can be left open
              see PTX ISA 9.0, 5.4.3
        "#]],
    );
    body(
        ".reg .b32 a[4];",
        expect![[r#"
            2:11: error[P0406]: registers cannot be arrays: write `%r<4>` for four of them
              help: declare: `a<4>`
              see PTX ISA 9.0, 5.4.3
        "#]],
    );
}

#[test]
fn spaces_and_types() {
    module(
        ".reg .b32 a;\n.b32 b;\n.global .pred c;\n.global .v4 .b64 d;\n.global .e4m3 e;",
        expect![[r#"
            4:1: error[P0403]: `.reg` variables cannot be outside of functions
              note: they could be before `.version 3.0`
              see PTX ISA 9.0, 5.1
            5:1: error[P0403]: the declaration names no state space
              note: write `.global`, `.shared`, `.reg`... before the type
              see PTX ISA 9.0, 5.1
            6:1: error[P0404]: predicates exist in `.reg` only
              see PTX ISA 9.0, 5.2
            7:1: error[P0404]: `.v4 .b64` has 256 bits: vectors end at 128
              see PTX ISA 9.0, 5.2
            8:1: error[P0404]: `.e4m3` is a type of instructions: declare `.b8`
              see PTX ISA 9.0, 5.2
        "#]],
    );
}

#[test]
fn initial_values() {
    module(
        ".global .u32 a = 1.5;\n.global .f32 b = 1;\n.global .u32 c[2] = {1, 2, 3};\n.extern .global .b32 d = 1;",
        expect![[r#"
            4:18: error[P0408]: a floating-point constant cannot initialise `.u32`
              see PTX ISA 9.0, 5.4.4
            5:18: error[P0408]: an integer cannot initialise `.f32`
              note: write `1.0` or `0f3F800000`
              see PTX ISA 9.0, 5.4.4
            6:21: error[P0408]: 3 values for 2 elements
              see PTX ISA 9.0, 5.4.4
            7:26: error[P0408]: an `.extern` variable has its initial value elsewhere
              see PTX ISA 9.0, 5.4.4
        "#]],
    );
    module(
        ".shared .b32 s;\n.global .u64 a = s;\n.global .u64 b = nothing;\n.global .u8 c = 0xf0(b);",
        expect![[r#"
            5:18: error[P0408]: `s` is in `.shared`: its address is not known yet
              note: the address of a `.global` or `.const` variable can be an initial value
              see PTX ISA 9.0, 5.4.4
            6:18: error[P0402]: `nothing` is not declared here
              see PTX ISA 9.0, 4.4
            7:17: error[P0408]: the mask 0xf0 does not select one byte
              see PTX ISA 9.0, 5.4.4
        "#]],
    );
}

#[test]
fn too_many_parameters() {
    module(
        ".entry k(.param .b8 p[4353]) { ret; }",
        expect![[r#"
            4:8: error[P0305]: 4353 bytes of kernel parameters (more than 4352) is not in PTX 8.0 for sm_80
              4:8: needs .version 8.1 or later and .target sm_70 or higher
              1:10: the module is for this
              help: raise the version: `8.1`
              see PTX ISA 9.0, 5.1.6.1
        "#]],
    );
}

#[test]
fn kernel_parameters_without_a_size() {
    module(
        ".entry k(.param .u64 input[], .param .b8 large[0xffffffffffffffff][16]) { ret; }",
        expect![[r#"
            4:22: error[P0501]: a parameter of an `.entry` cannot be an array without a size
              see PTX ISA 9.0, 7.1
        "#]],
    );
}
