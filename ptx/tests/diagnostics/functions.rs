//! Functions: headers, directives, calls.

use crate::{body, module};
use expect_test::expect;

#[test]
fn parameters_of_functions() {
    module(
        ".func (.param .b32 a, .param .b32 b) f(.param .b8 c[], .shared .b32 d) { ret; }",
        expect![[r#"
            4:35: error[P0501]: several return parameters must all be in `.reg`
              see PTX ISA 9.0, 7.1
            4:51: error[P0501]: only the last parameter can be an array without a size
              see PTX ISA 9.0, 7.1
            4:56: error[P0403]: a parameter of a `.func` must be in `.param` or `.reg`
              see PTX ISA 9.0, 5.1
        "#]],
    );
}

#[test]
fn declarations_that_differ() {
    module(
        ".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }\n.func f(.param .b64 a) { ret; }",
        expect![[r#"
            5:7: error[P0401]: `f` is declared again with a parameter of another type
              4:7: first declared here
              see PTX ISA 9.0, 4.4
            6:7: error[P0401]: `f` has been defined already
              5:7: first declared here
              see PTX ISA 9.0, 4.4
        "#]],
    );
}

#[test]
fn directives_that_exclude_each_other() {
    module(
        ".entry k() .maxntid 32 .reqntid 32 .maxnreg 0 { ret; }",
        expect![[r#"
            4:24: error[P0502]: `.maxntid` and `.reqntid` exclude each other
              4:12: `.maxntid` is here
              see PTX ISA 9.0, 11.4
            4:36: error[P0502]: `.maxnreg` must be at least 1
              see PTX ISA 9.0, 11.4
        "#]],
    );
}

#[test]
fn calls() {
    body(
        "call f;\ncall f, (%rd1);\ncall k, ();\ncall %rd1, (1);",
        expect![[r#"
            2:6: error[P0505]: the call has 0 arguments, the function 1
              1:51: declared here
              see PTX ISA 9.0, 9.7.12.5
            3:10: error[P0505]: `%rd1` is `.b64`, the parameter `.b32`
              1:65: the parameter is declared here
              see PTX ISA 9.0, 9.7.12.5
            4:6: error[P0505]: `k` is a kernel: only `.func` functions can be called
              see PTX ISA 9.0, 9.7.12.5
            5:1: error[P0505]: a call through a register names the functions that it may call
              note: add the label of a `.callprototype` or `.calltargets` as the last operand
              see PTX ISA 9.0, 9.7.12.5
        "#]],
    );
    body(
        "call (%r1), f, (1);\ncall f, (1.5);\ncall f, (p);",
        expect![[r#"
            2:6: error[P0505]: the call has 1 result, the function 0
              1:51: declared here
              see PTX ISA 9.0, 9.7.12.5
            4:10: error[P0505]: `p`, a parameter of this function, cannot be passed on: load it first
              1:65: the parameter is declared here
              see PTX ISA 9.0, 9.7.12.5
        "#]],
    );
}

#[test]
fn parameters_of_calls() {
    body(
        ".param .b32 a; @%p1 st.param.b32 [a], %r1;\nmov.b64 %rd1, a;",
        expect![[r#"
            2:34: error[P0604]: an access to `a`, a parameter of a call, cannot be guarded
              note: branch around the whole call instead
              see PTX ISA 9.0, 7.1
            3:15: error[P0604]: the parameter `a` of a call has no address
              see PTX ISA 9.0, 7.1
        "#]],
    );
}

#[test]
fn aliases() {
    module(
        ".func f() { ret; }\n.func g(.param .b32 a);\n.alias g, f;\n.alias h, f;",
        expect![[r#"
            6:1: error[P0504]: `g` and `f` differ: another number of parameters
              see PTX ISA 9.0, 11.2.3
            7:1: error[P0504]: no function `h` is declared
              see PTX ISA 9.0, 11.2.3
        "#]],
    );
}

#[test]
fn directives_of_the_other_kind_of_function() {
    module(
        ".func g() .maxnreg 3 { ret; }\n.entry k() .noreturn { ret; }",
        expect![[r#"
            4:11: error[P0101]: `.maxnreg` is a directive of an `.entry`
              see PTX ISA 9.0, 4.3
            5:12: error[P0101]: `.noreturn` is a directive of a `.func`
              see PTX ISA 9.0, 4.3
        "#]],
    );
}

/// A function with several results turns the ABI off for the whole module: registers of all types are passed, and no call is indirect.
#[test]
fn parameters_without_the_abi() {
    let call = ".func (.reg .b32 r) f(.reg .pred p) { selp.b32 r, 1, 2, p; ret; }
.func g() { .reg .b32 a; .reg .pred q; setp.eq.b32 q, a, 1; call (a), f, (q); ret; }";
    module(
        call,
        expect![[r#"
            5:74: error[P0505]: `.pred` parameters cannot be passed to a function
              4:34: declared here
              note: declare `.b16` or a type of 32 bits or more; only in a module without the ABI, which a function with several results turns off, are there others
              see PTX ISA 9.0, 9.7.12.5
        "#]],
    );
    let two =
        ".func (.reg .u16 a, .reg .v2 .u32 b) two(.reg .s8 c) { cvt.u16.s8 a, c; mov.b32 b.x, 1; ret; }";
    module(&format!("{call}\n{two}"), expect![""]);
    let indirect = ".func h() { .reg .b64 a; P: .callprototype _ (); call a, P; }";
    module(
        &format!("{two}\n{indirect}"),
        expect![[r#"
            5:50: error[P0505]: an indirect call needs the ABI, which this module turns off
              4:38: by this declaration
              see PTX ISA 9.0, 9.7.12.5
        "#]],
    );
    module(indirect, expect![""]);
}
