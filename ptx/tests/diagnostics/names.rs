//! What names mean: declared, misspelt, declared twice, out of sight.

use crate::{body, module};
use expect_test::expect;

#[test]
fn undeclared_names() {
    body(
        "mov.u32 %r9, r1;\nbra nowhere;",
        expect![[r#"
            2:9: error[P0402]: `%r9` is not declared here
              1:113: `%r<4>` ends at `%r3`
              help: declare as many as are used: `%r<10>`
              see PTX ISA 9.0, 4.4
            2:14: error[P0402]: `r1` is not declared here
              help: did you mean: `%r1`
              see PTX ISA 9.0, 4.4
            3:5: error[P0402]: `nowhere` is not declared here
              see PTX ISA 9.0, 4.4
        "#]],
    );
}

#[test]
fn undeclared_registers_are_told_once() {
    let text = (0..300).map(|i| format!("add.u32 %q{i}, %q{i}, q;\n")).collect::<String>();
    body(
        &text,
        expect![[r#"
            2:9: error[P0402]: `%q0` is not declared here
              note: nor are `%q1`, `%q2`, `%q3` and 296 more; 600 uses in all
              note: registers are declared before their use, as in `.reg .b32 %q<300>;`
              see PTX ISA 9.0, 4.4
            2:19: error[P0402]: `q` is not declared here
              note: it is used 299 times more
              see PTX ISA 9.0, 4.4
        "#]],
    );
}

#[test]
fn what_was_declared_is_not_told_where_the_declaration_could_not_be_read() {
    body(
        ".reg .b32 %x<4, %y;\nadd.u32 %x1, %x2, %y;\nadd.u32 %r1, %r2, %z;",
        expect![[r#"
            2:15: error[P0101]: expected `>`, found `,`
              see PTX ISA 9.0, 4.3
            4:19: error[P0402]: `%z` is not declared here
              see PTX ISA 9.0, 4.4
        "#]],
    );
    module(
        ".global .b32 table[4 = {1};\n.func f() { .reg .b32 a; ld.global.u32 a, [table]; }",
        expect![[r#"
            4:22: error[P0101]: expected `]`, found `=`
              see PTX ISA 9.0, 4.3
        "#]],
    );
}

#[test]
fn names_declared_twice() {
    body(
        ".reg .b32 a; .reg .f32 a;\n.reg .b32 %r2;\nL: L: ret;",
        expect![[r#"
            2:24: error[P0401]: `a` is declared twice in the same scope
              2:11: first declared here
              see PTX ISA 9.0, 4.4
            3:11: error[P0401]: `%r2` is declared twice in the same scope
              1:113: first declared here
              see PTX ISA 9.0, 4.4
            4:4: error[P0401]: the label `L` has a name that is taken in this scope
              4:1: first declared here
              see PTX ISA 9.0, 4.4
        "#]],
    );
    module(
        ".global .b32 g;\n.global .f32 g;\n.func g() { ret; }",
        expect![[r#"
            5:14: error[P0401]: `g` is declared again with another type
              4:14: first declared here
              see PTX ISA 9.0, 4.4
            6:7: error[P0401]: `g` is declared again as a function
              4:14: first declared here
              see PTX ISA 9.0, 4.4
        "#]],
    );
}

#[test]
fn labels_of_inner_scopes() {
    body(
        "bra L; { L: }",
        expect![[r#"
            2:5: error[P0402]: `L` is not declared here
              see PTX ISA 9.0, 4.4
        "#]],
    );
}

/// As ptxas has it: an inner family hides the names that it has, and no others; all digits at the end of a name are its number.
#[test]
fn names_of_nested_families() {
    body(
        ".reg .b64 %q<4>; mov.b64 %q1, 0;\n{ .reg .b32 %q<2>; mov.b32 %q1, 0; mov.b64 %q3, 0; }",
        expect![""],
    );
    body(
        ".reg .b64 %q<4>; { .reg .b32 %q<2>;\nmov.b32 %q2, 0; }\n.reg .b32 %s1<3>;\nmov.b32 %s12, 0;",
        expect![[r#"
            3:9: error[I0209]: operand `d` must be a vector
              3:9: expected 4 in braces, each a register of type `.b8`, `.u8`, `.s8`, `.e4m3`, `.e5m2`, `.ue8m0` or `.ue4m3`, found a `.b64` register
              note: its form: `mov .b32 {d..}, a`
              see PTX ISA 9.0, 9.7.9.3
            5:9: error[P0402]: `%s12` is not declared here
              note: registers are declared before their use, as in `.reg .b32 %s<13>;`
              help: did you mean: `%pm2`
              see PTX ISA 9.0, 4.4
        "#]],
    );
}
