//! The formatter: one layout, the same program, all comments.

use expect_test::{Expect, expect};
use std::path::{Path, PathBuf};
use warpsmith_ptx::{format, parse};

fn formatted(text: &str, expected: Expect) {
    let once = format(text).unwrap();
    expected.assert_eq(&once);
    assert_eq!(format(&once).unwrap(), once);
}

#[test]
fn statements_stand_one_a_line() {
    formatted(
        ".version 8.0 .target sm_80, debug\n.address_size 64 .file 1 \"a.cu\",1,2\n\n\n\n.visible .func(.reg .b32 r)f(.param.b64 p,.param .align 8 .b8 q[16])\n.noreturn{ret;}\n.extern .func (.param .b32 r) vprintf\n(\n.param .b64 a,\n.param .b64 b\n)\n;\n.alias a,f;",
        expect![[r#"
            .version 8.0
            .target sm_80, debug
            .address_size 64
            .file 1 "a.cu", 1, 2

            .visible .func (.reg .b32 r) f(
                .param .b64 p,
                .param .align 8 .b8 q[16]
            ) .noreturn
            {
                ret;
            }
            .extern .func (.param .b32 r) vprintf(
                .param .b64 a,
                .param .b64 b
            );
            .alias a, f;
        "#]],
    );
}

#[test]
fn bodies_are_indented_and_labels_stand_out() {
    formatted(
        ".entry k(){.reg .b32 %r<4>;.reg.pred p,q;\n$L1: add .rn.u32 %r1 ,%r2,-1;@!p bra $L1;@p bra.uni $L1;\n\n\n{ // call\n.loc 1 2 3, function_name $info+4, inlined_at 1 1 1\ncall.uni (%r0) ,\nf , ( %r1 ,\n%r2 ) ;}\nshfl.sync.bfly.b32 %r1|p,%r2,16,31,-1;ld.global.v2.u32 {%r1,%r2},[%rd1+-4];mov.u32 %r1,%tid.x;\nmov.u32 %r1, 7 % 3 + WARP_SZ*2;\nproto : .callprototype (.param .b32 _) _ (.param .b64 _);setp.eq.u32 p|q,%r1,!q;\n\n}",
        expect![[r#"
            .entry k()
            {
                .reg .b32 %r<4>;
                .reg .pred p, q;
            $L1:
                add.rn.u32 %r1, %r2, -1;
                @!p bra $L1;
                @p bra.uni $L1;

                { // call
                    .loc 1 2 3, function_name $info+4, inlined_at 1 1 1
                    call.uni (%r0), f, (%r1, %r2);
                }
                shfl.sync.bfly.b32 %r1|p, %r2, 16, 31, -1;
                ld.global.v2.u32 {%r1, %r2}, [%rd1+-4];
                mov.u32 %r1, %tid.x;
                mov.u32 %r1, 7 % 3 + WARP_SZ * 2;
                proto: .callprototype (.param .b32 _) _(.param .b64 _);
                setp.eq.u32 p|q, %r1, !q;
            }
        "#]],
    );
}

#[test]
fn comments_keep_their_places() {
    formatted(
        "// head\n/* two\n   lines */\n.version 8.0 // v\n.target sm_80\n\n// above\n.entry k( // params\n  .param .u64 a, // first\n  .param .u64 b // last\n) // behind\n{ // open\n\n  // inside\n  .reg .b32 %r1; // one\n  .reg .b64 %averylongname; // two\n  add.u32 %r1, // half\n    %r1, /* of */ 1;\n  /* here */ ret; /* there */\n\n  // end\n} // closed\n# 12 \"a.cu\" 1\n// tail",
        expect![[r#"
            // head
            /* two
               lines */
            .version 8.0 // v
            .target sm_80

            // above
            .entry k( // params
                .param .u64 a, // first
                .param .u64 b  // last
            ) // behind
            { // open
                // inside
                .reg .b32 %r1;            // one
                .reg .b64 %averylongname; // two
                add.u32 %r1, // half
                    %r1, /* of */ 1;
                /* here */ ret; /* there */

                // end
            } // closed
            # 12 "a.cu" 1
            // tail
        "#]],
    );
}

#[test]
fn initial_values_keep_their_rows() {
    formatted(
        ".global .align 4 .b32 t[6]={1,2,3,\n4,5,  6};.const .b8 m[2][2] = { {1,2} , {3,4} };\n.global .u64 a[2] = {generic(t)+4,\n0xff ( t ) };\n.section .debug_info{ .b32 1,-2 , 3 .b8 1\nL: .b64 L+4 .b32 e-s }",
        expect![[r#"
            .global .align 4 .b32 t[6] = {1, 2, 3,
                4, 5, 6};
            .const .b8 m[2][2] = {{1, 2}, {3, 4}};
            .global .u64 a[2] = {generic(t) + 4,
                0xff(t)};
            .section .debug_info
            {
                .b32 1, -2, 3
                .b8 1
                L:
                .b64 L+4
                .b32 e-s
            }
        "#]],
    );
}

#[test]
fn long_lists_are_broken_at_commas() {
    let list: Vec<String> = (0..40).map(|i| format!("%f{i}")).collect();
    let text = format!(".entry k(){{ wgmma.x {{{}}}, %rd1; }}", list.join(","));
    formatted(
        &text,
        expect![[r#"
        .entry k()
        {
            wgmma.x {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15, %f16, %f17,
                %f18, %f19, %f20, %f21, %f22, %f23, %f24, %f25, %f26, %f27, %f28, %f29, %f30, %f31, %f32, %f33, %f34,
                %f35, %f36, %f37, %f38, %f39}, %rd1;
        }
    "#]],
    );
}

#[test]
fn what_does_not_parse_is_answered_with_its_errors() {
    assert_eq!(format("add.u32 %r1").unwrap_err()[0].code, "P0101");
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            found.push(path);
        }
    }
}

/// Formatting twice is formatting once, the tree stays, and so do the comments.
fn holds(name: &str, text: &str) {
    let once = format(text).unwrap_or_else(|errors| panic!("{name}: {:?}", errors[0]));
    let (before, after) = (parse(text), parse(&once));
    assert!(before.module == after.module, "{name}: the tree changes:\n{once}");
    assert_eq!(comments(text), comments(&once), "{name}: the comments change");
    if let Some((number, (first, second))) =
        once.lines().zip(format(&once).unwrap().lines()).enumerate().find(|(_, (a, b))| a != b)
    {
        panic!("{name}: line {number} changes again:\n{first}\n{second}");
    }
}

/// Every comment of a text, found without the lexer.
fn comments(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let len = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest.find("*/").map_or(rest.len(), |n| n + 2),
            [b'"', ..] => {
                at += rest[1..].find('"').map_or(rest.len(), |n| n + 2);
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        found.push(rest[..len].trim_end());
        at += len;
    }
    found
}

#[test]
fn real_modules_keep_their_trees_and_comments() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut paths = Vec::new();
    files(&root.join("real"), &mut paths);
    assert!(paths.len() > 100);
    files(&root.join("filetests/run"), &mut paths);
    for path in paths {
        holds(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn statements_of_every_family_keep_their_trees() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracle");
    for part in ["arith", "data", "sync", "matrix"] {
        let rows = std::fs::read_to_string(root.join(part).with_extension("tsv")).unwrap();
        // All accepted statements of a table in one body each, scoped so that their declarations do not clash.
        for row in rows.lines().skip(1).filter(|row| row.split('\t').nth(5) == Some("ok")) {
            let fields: Vec<String> = row.split('\t').map(|field| field.replace("\\n", "\n")).collect();
            let (decls, statement, module) = (&fields[7], &fields[8], &fields[9]);
            holds(
                &fields[0],
                &format!("{module}\n.entry k(.param .u64 p0) {{\n{decls}\n{statement}\nret; }}"),
            );
        }
    }
}

/// Comments and line breaks wherever a blank stands: still the same tree, the same comments, and a layout that stays.
#[test]
fn comments_may_stand_anywhere() {
    const TEXT: &str = ".version 8.0 .target sm_80 , debug .address_size 64 .file 1 \"a.cu\" , 1 , 2 .global .b32 t [ 4 ] = { 1 , 2 , 3 } ; \
        .extern .func ( .param .b32 r ) f ( .param .b64 a , .param .b64 b ) ; .visible .entry k ( .param .u64 p ) .maxntid 1 , 2 { .reg .b32 %r<4> ; \
        .reg .pred %p ; L: @ %p bra L ; { .loc 1 2 3 call ( %r0 ) , f , ( %r1 , %r2 ) ; } add.u32 %r1 , %r2 , - 1 ; \
        ld.global.v2.u32 { %r1 , %r2 } , [ %r3 + 4 ] ; x : .branchtargets L ; ret ; } .section .debug_str { L2 : .b8 1 , 2 .b32 L2 + 4 }";
    const INSERTED: [&str; 7] =
        [" ", "\n", "\n\n\n", " // line\n", "\n// own line\n", " /* block */ ", "\n/* two\n  lines */\n"];
    arbtest::arbtest(|u| {
        let mut text = String::new();
        for piece in TEXT.split(' ') {
            text += piece;
            text += if u.ratio(1, 4)? { u.choose(&INSERTED)? } else { " " };
        }
        holds(&text, &text);
        Ok(())
    });
}
