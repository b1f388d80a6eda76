//! Versions, targets and releases.

use crate::{body, findings, module};
use expect_test::expect;
use warpsmith_ptx::{ValidatedModule, parse};

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
        2:9: error[P0303]: unknown target `sm_81`
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
        4:13: error[P0601]: unknown instruction `ad`
          help: perhaps this was meant: `add.u32`
          see PTX ISA 9.0, 9.7
    "#]]
    .assert_eq(&findings(".version 10.0\n.target sm_109\n.address_size 64\n.func f() { ad.u32; }"));
    // A known architecture without that suffix, and one of no family, are mistakes.
    expect![[r#"
        2:9: error[P0303]: unknown target `sm_88a`
          note: a target is an architecture such as `sm_90a`, then options such as `texmode_independent`
          help: did you mean: `sm_88`
          see PTX ISA 9.0, 11.1.2
    "#]]
    .assert_eq(&findings(".version 9.5\n.target sm_88a\n.address_size 64\n"));
    expect![[r#"
        2:9: error[P0303]: unknown target `sm_130`
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
