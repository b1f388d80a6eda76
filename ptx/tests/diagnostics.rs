//! What typical mistakes are told, word for word.

use expect_test::{Expect, expect};
use warpsmith_diag::LineIndex;
use warpsmith_ptx::{ValidatedModule, parse, validate};

/// Everything that parser and validator say of a text.
fn findings(text: &str) -> String {
    let parsed = parse(text);
    let mut findings = parsed.diagnostics;
    findings.extend(validate(&parsed.module));
    findings.sort_by_key(|finding| finding.span.start);
    let lines = LineIndex::new(text);
    findings.iter().map(|finding| finding.render(&lines) + "\n").collect()
}

/// A mistake at module level, on line 4.
fn module(text: &str, expected: Expect) {
    expected.assert_eq(&findings(&format!(".version 8.0\n.target sm_80\n.address_size 64\n{text}\n")));
}

/// A mistake in a body, on line 1.
fn body(text: &str, expected: Expect) {
    let prologue = ".version 8.0 .target sm_80 .address_size 64 .func f(.param .b32 n) { ret; } ";
    let kernel =
        ".entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;";
    expected.assert_eq(&findings(&format!("{prologue}{kernel}\n{text}\nret; }}\n")));
}

#[test]
fn missing_prologue() {
    expect![[r#"
        1:1: error[P0301]: the module does not begin with `.version`
          note: every module begins with `.version`, `.target` and `.address_size`
          see PTX ISA 9.0, 11.1
        1:1: error[P0301]: `.target` must follow `.version`
          see PTX ISA 9.0, 11.1
    "#]]
    .assert_eq(&findings(".global .b32 x;"));
}

#[test]
fn version_too_old_for_the_target() {
    expect![[r#"
        2:9: error[P0303]: PTX 7.0 does not know sm_90
          2:9: sm_90 needs .version 7.8 or later
          1:10: the module is written in this version
          help: raise the version: `7.8`
          see PTX ISA 9.0, 11.1.2
    "#]]
    .assert_eq(&findings(".version 7.0\n.target sm_90\n.address_size 64\n"));
}

#[test]
fn unknown_target() {
    expect![[r#"
        2:9: error[P0303]: `sm_81` is no target
          note: a target is an architecture such as `sm_90a`, then options such as `texmode_independent`
          help: did you mean: `sm_80`
          see PTX ISA 9.0, 11.1.2
    "#]]
    .assert_eq(&findings(".version 8.0\n.target sm_81\n.address_size 64\n"));
}

#[test]
fn what_is_newer_than_the_tables_is_checked_as_the_newest() {
    expect![[r#"
        1:10: warning[P0307]: PTX version 9.9 is newer than those that this validator knows
          note: the module is checked as one of version 9.5
          see PTX ISA 9.0, 11.1.1
        2:9: warning[P0307]: sm_108f is newer than the targets that this validator knows
          note: the module is checked as one for sm_107f
          see PTX ISA 9.0, 11.1.2
    "#]]
    .assert_eq(&findings(".version 9.9\n.target sm_108f\n.address_size 64\n"));
    // What is checked is checked by the rules of the newest: a typo stays one.
    expect![[r#"
        1:10: warning[P0307]: PTX version 10.0 is newer than those that this validator knows
          note: the module is checked as one of version 9.5
          see PTX ISA 9.0, 11.1.1
        2:9: warning[P0307]: sm_109 is newer than the targets that this validator knows
          note: the module is checked as one for sm_107
          see PTX ISA 9.0, 11.1.2
        4:13: error[P0601]: no instruction is called `ad`
          help: perhaps this was meant: `add.u32`
          see PTX ISA 9.0, 9.7
    "#]]
    .assert_eq(&findings(".version 10.0\n.target sm_109\n.address_size 64\n.func f() { ad.u32; }"));
    // A known architecture without that suffix, and one of no family, are mistakes.
    expect![[r#"
        2:9: error[P0303]: `sm_88a` is no target
          note: a target is an architecture such as `sm_90a`, then options such as `texmode_independent`
          help: did you mean: `sm_88`
          see PTX ISA 9.0, 11.1.2
    "#]]
    .assert_eq(&findings(".version 9.5\n.target sm_88a\n.address_size 64\n"));
    expect![[r#"
        2:9: error[P0303]: `sm_130` is no target
          note: a target is an architecture such as `sm_90a`, then options such as `texmode_independent`
          help: did you mean: `sm_13`
          see PTX ISA 9.0, 11.1.2
    "#]]
    .assert_eq(&findings(".version 9.5\n.target sm_130\n.address_size 64\n"));
    // A release of ptxas takes no version that it does not know, and no target.
    for (text, release, ok) in [
        (".version 9.1\n.target sm_90\n", "13.0", false),
        (".version 9.1\n.target sm_90\n", "13.1", true),
        (".version 9.6\n.target sm_90\n", "13.5", false),
        (".version 9.5\n.target sm_108\n", "13.5", false),
    ] {
        assert_eq!(ValidatedModule::parse_as(text, release.parse().ok()).is_ok(), ok, "{text} {release}");
    }
}

#[test]
fn releases_of_ptxas_differ() {
    // Some releases that know the version refuse it, then all.
    let text = |version, target| format!(".version {version}\n.target {target}\n.address_size 64\n");
    expect![[r#"
        2:9: warning[P0308]: ptxas 13.1 and later refuse sm_88 below `.version 9.0`
    "#]]
    .assert_eq(&findings(&text("8.8", "sm_88")));
    let braces = |version| text(version, "sm_90") + ".func f() { .reg .b16 a; add.bf16 a, {a}, a; ret; }";
    expect![[r#"
        4:38: warning[P0605]: operand `a` of `add.bf16` cannot be a vector
          4:38: expected a register of type `.b16` or `.bf16` or a float constant, found a vector of 1
          note: ptxas takes it, the manual does not
          note: its form: `add {.rn} .bf16|.bf16x2 d, a, b`
          see PTX ISA 9.0, 9.7.4.1
    "#]]
    .assert_eq(&findings(&braces("9.0")));
    expect![[r#"
        4:38: error[I0211]: operand `a` of `add.bf16` cannot be a vector
          4:38: expected a register of type `.b16` or `.bf16` or a float constant, found a vector of 1
          note: its form: `add {.rn} .bf16|.bf16x2 d, a, b`
          see PTX ISA 9.0, 9.7.4.1
    "#]]
    .assert_eq(&findings(&braces("9.1")));
    for (release, ok) in [("13.0", true), ("13.1", false), ("13.5", false)] {
        assert_eq!(ValidatedModule::parse_as(braces("9.0"), release.parse().ok()).is_ok(), ok, "{release}");
    }
}

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
fn unknown_instruction_and_modifier() {
    body(
        "mvo.u32 %r1, 1;\nadd.u23 %r1, %r2, 1;",
        expect![[r#"
            2:1: error[P0601]: no instruction is called `mvo`
              help: perhaps this was meant: `mov.u32`
              see PTX ISA 9.0, 9.7
            3:4: error[P0601]: no instruction has a modifier `.u23`
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
fn feature_of_a_later_target() {
    body(
        "@%p1 add.u16x2 %r1, %r2, %r3;",
        expect![[r#"
            2:6: error[I0110]: `add.u16x2` is not in PTX 8.0 for sm_80
              2:6: expected .version 8.0 or later and .target sm_90 or higher
              1:22: the module is for this
              help: name a target that has it: `sm_90`
              see PTX ISA 9.0, 9.7.1.1
        "#]],
    );
    module(
        ".entry k() .maxclusterrank 8 { ret; }",
        expect![[r#"
            4:12: error[P0305]: `.maxclusterrank` is not in PTX 8.0 for sm_80
              4:12: needs .version 7.8 or later and .target sm_90 or higher
              2:9: the module is for this
              help: name a target that has it: `sm_90`
              see PTX ISA 9.0, 11.7.3
        "#]],
    );
}

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
fn misspelt_directives_are_read_as_they_were_meant() {
    body(
        ".rge .b32 %x;\n.reg .i32 %y;\nadd.u32 %x, %y, 1;",
        expect![[r#"
            2:1: error[P0101]: `.rge` is no directive
              help: did you mean: `.reg`
              see PTX ISA 9.0, 4.3
            3:6: error[P0101]: `.i32` is no type
              help: did you mean: `.s32`
              see PTX ISA 9.0, 4.3
        "#]],
    );
    module(
        ".vsible .entyr k() { .regg .prd p; @p ret; ret }",
        expect![[r#"
            4:1: error[P0101]: `.vsible` is no directive
              help: did you mean: `.visible`
              see PTX ISA 9.0, 4.3
            4:9: error[P0101]: `.entyr` is no directive
              help: did you mean: `.entry`
              see PTX ISA 9.0, 4.3
            4:22: error[P0101]: `.regg` is no directive
              help: did you mean: `.reg`
              see PTX ISA 9.0, 4.3
            4:28: error[P0101]: `.prd` is no type
              help: did you mean: `.pred`
              see PTX ISA 9.0, 4.3
            4:47: error[P0101]: expected `;` after the instruction, found `}`
              help: end it here: `;`
              see PTX ISA 9.0, 4.3
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
            2:2: error[P0602]: `%r1` is no predicate register, so it cannot guard an instruction
              1:113: declared `.reg .b32` here
              note: `setp.ne.s32 p, a, 0` makes a predicate of an integer
              see PTX ISA 9.0, 9.3
            3:2: error[P0402]: `%q` is not declared here
              see PTX ISA 9.0, 4.4
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

#[test]
fn one_nul_may_end_the_text() {
    expect![""].assert_eq(&findings(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\0"));
    assert_ne!(findings(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\0\0"), "");
    assert_ne!(findings(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { \0ret; }"), "");
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

#[test]
fn directives_of_later_versions() {
    let text = ".version 9.5\n.target sm_90\n.address_size 64\n.file 1 \"a.py\"\n.nv_intermediate_source_section {\n.code_block {\n\
                .ir_name: \"tileir\"\n.sourceFileName: 1\n.source_begin\nmodule \"{\n.source_end\n}\n}\n\
                .visible .entry k() .language 5, \"PTX\" .minperctamemory 0x400 {\n.reg .b64 a;\n.loc_intermediate 1 2 3\n\
                mov.b64 a, %perctamemoryoffset;\n.pragma \"mma_throughput\";\nret;\n}\n";
    assert_eq!(findings(text), "");
    let module = parse(text).module;
    let printed = warpsmith_ptx::print(&module);
    for line in
        [".language \"ptx\", \"cuda c++\"", ".minperctamemory 1024", ".source_begin\nmodule \"{\n.source_end"]
    {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert!(parse(&printed).module == module, "{printed}");
    // Each is known from its version on, by its name.
    let older = text.replace(".version 9.5", ".version 9.1");
    expect![[r#"
        5:1: error[P0305]: `.nv_intermediate_source_section` is not in PTX 9.1 for sm_90
          5:1: needs .version 9.4 or later
          1:10: the module is for this
          help: raise the version: `9.4`
          see PTX ISA 9.4, 11.5.6
        14:21: error[P0305]: `.language` is not in PTX 9.1 for sm_90
          14:21: needs .version 9.2 or later
          1:10: the module is for this
          help: raise the version: `9.2`
          see PTX ISA 9.4, 11.8.2
        14:40: error[P0305]: `.minperctamemory` is not in PTX 9.1 for sm_90
          14:40: needs .version 9.4 or later and .target sm_80 or higher
          1:10: the module is for this
          help: raise the version: `9.4`
          see PTX ISA 9.4, 11.4.10
        16:1: error[P0305]: `.loc_intermediate` is not in PTX 9.1 for sm_90
          16:1: needs .version 9.4 or later
          1:10: the module is for this
          help: raise the version: `9.4`
          see PTX ISA 9.4, 11.5.5
        17:12: error[I0209]: operand `a` must be a vector
          17:12: expected 4 in braces, each a register of type `.b16`, `.u16`, `.s16`, `.f16` or `.bf16`, an integer constant or a special register, found the special register `%perctamemoryoffset`
          note: its form: `mov .b64 d, {a..}`
          see PTX ISA 9.0, 9.7.9.3
        18:1: error[P0305]: the pragma `mma_throughput` is not in PTX 9.1 for sm_90
          18:1: needs .version 9.3 or later
          1:10: the module is for this
          help: raise the version: `9.3`
          see PTX ISA 9.4, 12.5
    "#]].assert_eq(&findings(&older));
    let head = ".version 9.5\n.target sm_90\n.address_size 64\n";
    expect![[r#"
        4:22: error[P0101]: no such language; codes are 0 to 10
          see PTX ISA 9.0, 4.3
        5:22: error[P0101]: no such language; codes are 0 to 10
          see PTX ISA 9.0, 4.3
    "#]]
    .assert_eq(&findings(&format!(
        "{head}.entry k() .language \"cobol\" {{ ret; }}\n.entry l() .language 11 {{ ret; }}"
    )));
    expect![[r#"
        4:11: error[P0502]: a declaration has no body for this directive to speak of
          see PTX ISA 9.0, 11.4
        5:38: error[P0502]: `%perctamemorysize` in a kernel without `.minperctamemory`
          note: the directive says how many bytes each block needs at least
          see PTX ISA 9.0, 11.4
    "#]]
    .assert_eq(&findings(&format!(
        "{head}.func f() .language 3;\n.entry k() {{ .reg .b32 a; mov.b32 a, %perctamemorysize; }}"
    )));
    expect![[r#"
        4:1: error[P0702]: file 9 is not declared
          see PTX ISA 9.0, 11.5.4
    "#]].assert_eq(&findings(&format!(
        "{head}.nv_intermediate_source_section {{ .code_block {{ .ir_name: \"x\" .sourceFileName: 9 .source_begin .source_end }} }}"
    )));
    expect![[r#"
        4:82: error[P0102]: this source has no `.source_end`
          see PTX ISA 9.0, 4.3
    "#]].assert_eq(&findings(&format!(
        "{head}.nv_intermediate_source_section {{ .code_block {{ .ir_name: \"x\" .sourceFileName: 9 .source_begin x"
    )));
}
