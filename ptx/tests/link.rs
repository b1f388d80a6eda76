//! Linking: which definition counts, what is renamed, dropped and moved, and what is an error, with its places in both files.

use expect_test::expect;
use warpsmith_diag::Source;
use warpsmith_ptx::{ValidatedModule, link};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn module(name: &str, body: &str) -> ValidatedModule {
    let text = if body.starts_with(".version") { body.to_owned() } else { format!("{HEAD}{body}") };
    ValidatedModule::parse(Source::new(name, text)).unwrap_or_else(|e| panic!("{e}"))
}

fn modules(bodies: &[&str]) -> Vec<ValidatedModule> {
    bodies
        .iter()
        .enumerate()
        .map(|(n, body)| module(&format!("{}.ptx", (b'a' + n as u8) as char), body))
        .collect()
}

fn linked(bodies: &[&str], keep: &[&str]) -> String {
    let options = link::Options { keep: keep.iter().map(|s| s.to_string()).collect(), ..Default::default() };
    let module = link::link(&modules(bodies), &options).unwrap_or_else(|e| panic!("{e:?}"));
    module.source().text().to_owned()
}

fn refused(bodies: &[&str]) -> String {
    let errors = link::link(&modules(bodies), &link::Options::default()).unwrap_err();
    errors.iter().map(|e| format!("{e}\n")).collect()
}

#[test]
fn private_names_of_one_spelling_stay_apart() {
    let a = ".global .b32 state = 1;\n.func help() { .reg .b32 %r; ld.global.b32 %r, [state]; ret; }\n.visible .entry ka() { call help; ret; }\n";
    let b = ".global .b32 state = 2;\n.func help() { .reg .b32 %r, %s; ld.global.b32 %r, [state]; ret; }\n.visible .entry kb() { call help; ret; }\n";
    expect![[r#"
        .version 8.0
        .target sm_80
        .address_size 64

        .global .b32 state = 1;
        .global .b32 state$2 = 2;
        .func help()
        {
            .reg .b32 %r;
            ld.global.b32 %r, [state];
            ret;
        }

        .visible .entry ka()
        {
            call help;
            ret;
        }

        .func help$2()
        {
            .reg .b32 %r, %s;
            ld.global.b32 %r, [state$2];
            ret;
        }

        .visible .entry kb()
        {
            call help$2;
            ret;
        }

    "#]]
    .assert_eq(&linked(&[a, b], &[]));
}

#[test]
fn externs_find_their_definitions_and_stand_behind_them() {
    let a = ".extern .global .b32 table[2];\n.extern .func (.param .b32 r) f(.param .b32 x);\n.global .u64 at = table;\n\
             .visible .entry k(.param .u64 p) { .reg .b32 %r; .reg .b64 %d; ld.global.b32 %r, [table+4];\n\
             { .param .b32 x; .param .b32 y; st.param.b32 [x], %r; call (y), f, (x); ld.param.b32 %r, [y]; }\n\
             ld.param.u64 %d, [p]; st.global.b32 [%d], %r; ret; }\n";
    let b = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .global .b32 table[2] = {3, 4};\n\
             .visible .func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.s32 %r, %r, 1; st.param.b32 [r], %r; ret; }\n\
             .visible .func unused() { ret; }\n";
    let text = linked(&[a, b], &["k"]);
    assert!(text.starts_with(".version 8.3\n.target sm_90\n"), "{text}");
    assert!(!text.contains(".extern") && !text.contains("unused"), "{text}");
    // The declaration of f comes before its user, the table before the variable that points to it.
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    assert!(place(" f(") < place(".visible .entry k"), "{text}");
    let text = linked(&[a, b], &[]);
    assert!(text.contains("unused"), "{text}");
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    assert!(place("table[2] = {3, 4}") < place("at = table"), "{text}");
}

#[test]
fn weak_and_common_give_way() {
    let strong =
        ".visible .global .b32 x = 5;\n.visible .func f() { ret; }\n.visible .entry k() { call f; ret; }\n";
    let weak = ".weak .global .b32 x = 9;\n.weak .func f() { bar.sync 0; ret; }\n.visible .entry l() { call f; ret; }\n";
    for order in [[strong, weak], [weak, strong]] {
        let text = linked(&order, &[]);
        assert!(text.contains("x = 5") && !text.contains("x = 9") && !text.contains("bar"), "{text}");
    }
    let text = linked(&[weak, &weak.replace("x = 9", "x = 8").replace(" l(", " m(")], &[]);
    assert!(text.contains("x = 9") && !text.contains("x = 8"), "{text}");
    let text = linked(&[".common .global .b32 c[2];\n", ".common .global .b32 c[8];\n"], &[]);
    assert_eq!(text.matches(".common").count(), 1);
    assert!(text.contains("c[8]"), "{text}");
}

#[test]
fn what_is_wrong_has_places_in_both_files() {
    let define = ".visible .func f() { ret; }\n";
    expect![[r#"
        error[P0802]: `f` is defined by two modules
         --> b.ptx:4:16
          |
        4 | .visible .func f() { ret; }
          |                ^
          |
          = note: the other definition is at a.ptx:4:16
          = note: one of them may be `.weak`
    "#]]
    .assert_eq(&refused(&[define, define]));
    expect![[r#"
        error[P0803]: no module defines `g`
         --> a.ptx:4:15
          |
        4 | .extern .func g();
          |               ^
        5 | .visible .entry k() { call g; ret; }
          |                       ------- used by `k`
          |
          = note: link the module that defines it too
    "#]]
    .assert_eq(&refused(&[".extern .func g();\n.visible .entry k() { call g; ret; }\n", define]));
    let misspelt = refused(&[
        ".extern .func scald();\n.visible .entry k() { call scald; ret; }\n",
        ".visible .func scale() { ret; }\n",
    ]);
    assert!(misspelt.contains("did you mean `scale`, which is defined?"), "{misspelt}");
    expect![[r#"
        error[P0804]: `f` does not fit its definition: it has 1 parameters, the definition 0
    "#]]
    .assert_eq(
        &refused(&[".extern .func f(.param .b32 x);\n", define])
            .lines()
            .next()
            .map(|l| format!("{l}\n"))
            .unwrap(),
    );
    assert!(
        refused(&[
            ".version 8.0\n.target sm_90a\n.address_size 64\n",
            ".version 8.7\n.target sm_100\n.address_size 64\n"
        ])
        .contains("P0801")
    );
    assert!(
        refused(&[
            ".extern .global .u64 y;\n.visible .global .u64 x = y;\n",
            ".extern .global .u64 x;\n.visible .global .u64 y = x;\n"
        ])
        .contains("P0805")
    );
    assert!(link::link(&[], &link::Options::default()).is_err());
    let unknown = link::Options { keep: vec!["kk".into()], ..Default::default() };
    let errors = link::link(&modules(&[".visible .entry k() { ret; }\n"]), &unknown).unwrap_err();
    assert_eq!(errors[0][0].notes, ["did you mean `k`?"]);
}

#[test]
fn what_the_system_or_the_launch_defines_stays_extern() {
    let a = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .shared .align 4 .b8 dynamic[];\n\
             .visible .entry k() { .reg .b64 %d; .reg .b32 %r; ld.shared.b32 %r, [dynamic];\n\
             { .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], 0; st.param.b64 [y], 0; call (z), vprintf, (x, y); } ret; }\n";
    let text = linked(&[a, &a.replace(" k(", " l(")], &[]);
    assert_eq!(text.matches(".extern").count(), 2, "{text}");
}

#[test]
fn debug_information_stays_and_points_to_the_right_places() {
    let with = |name: &str, file: &str| {
        format!(
            ".file 1 \"{file}\"\n.visible .entry {name}() {{\n$begin:\n.loc 1 7 3\nret;\n$end:\n}}\n.section .debug_str\n{{\nname0:\n.b8 97,0\n}}\n\
             .section .debug_info\n{{\n.b32 16\n.b32 .debug_abbrev\n.b32 .debug_str+1\n.b64 $begin\n}}\n.section .debug_abbrev\n{{\n.b8 1,2,3\n}}\n"
        )
    };
    let text = linked(&[&with("k", "k.cu"), &with("l", "l.cu")], &[]);
    assert!(
        text.contains(".file 1 \"k.cu\"") && text.contains(".file 2 \"l.cu\"") && text.contains(".loc 2 7 3"),
        "{text}"
    );
    assert_eq!(text.matches(".section .debug_info").count(), 1, "{text}");
    assert!(text.contains(".debug_abbrev+3") && text.contains(".debug_str+3"), "{text}");
    assert!(text.contains("$begin$2"), "{text}");
    // One file of both has one number.
    let text = linked(&[&with("k", "same.cu"), &with("l", "same.cu")], &[]);
    assert_eq!(text.matches(".file").count(), 1, "{text}");
}

#[test]
fn results_that_a_definition_lacks_are_dropped_on_request() {
    let caller = ".extern .func (.param .b32 r) f(.param .b32 x);
.extern .func (.param .b32 r) g();
.visible .entry k()
{
    .reg .b32 %a;
    .param .b32 p;
    .param .b32 q;
    st.param.b32 [p], 1;
    call (q), f, (p);
    call (q), g;
    ld.param.b32 %a, [q];
    ret;
}
";
    let callee = ".visible .func f(.param .b32 x) { ret; }
.visible .func (.param .b32 r) g() { st.param.b32 [r], 2; ret; }
";
    assert!(refused(&[caller, callee]).contains("it has 1 results, the definition 0"));
    let options = link::Options { allow_missing_results: true, ..Default::default() };
    let module = link::link(&modules(&[caller, callee]), &options).unwrap_or_else(|e| panic!("{e:?}"));
    let text = module.source().text();
    assert!(text.contains("call f, (p);") && text.contains("call (q), g;"), "{text}");
    // Parameters are held against each other in any case, and so are results of other sizes or where none are declared.
    for (caller, callee) in [
        (".extern .func (.param .b32 r) f(.param .b32 x);", ".visible .func f() { ret; }"),
        (
            ".extern .func (.param .b32 r) f();",
            ".visible .func (.param .b64 r) f() { st.param.b64 [r], 2; ret; }",
        ),
        (".extern .func f();", ".visible .func (.param .b32 r) f() { st.param.b32 [r], 2; ret; }"),
    ] {
        let errors = link::link(&modules(&[caller, callee]), &options).unwrap_err();
        assert!(errors[0].to_string().contains("P0804"), "{errors:?}");
    }
}
