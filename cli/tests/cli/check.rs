//! `check`, `fmt` and `explain`.

use crate::{DOUBLE, Folder, json_lines, text, warpsmith, with_stdin};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn check_answers_for_each_file_in_input_order() {
    let folder = Folder::new("check");
    let good = folder.file("b/good.ptx", DOUBLE);
    let bad = folder.file("a/bad.ptx", DOUBLE.replace("add.u32 %r4, %r3, %r3;", "add.u33 %r4, %r3, %r3;"));
    let output = warpsmith(["check".as_ref(), "--json".as_ref(), good.as_os_str(), bad.as_os_str()]);
    let (lines, status) = json_lines(&output);
    assert_eq!(status, 1);
    assert_eq!(lines[0], json!({"file": good, "ok": true, "diagnostics": []}));
    assert_eq!((&lines[1]["file"], &lines[1]["ok"]), (&json!(bad), &json!(false)));
    let finding = &lines[1]["diagnostics"][0];
    assert_eq!((&finding["severity"], &finding["line"]), (&json!("error"), &json!(17)), "{finding}");
    assert!(finding["column"].is_u64() && finding["notes"].is_array(), "{finding}");
    assert!(
        finding["code"].as_str().unwrap().starts_with('P')
            && !finding["message"].as_str().unwrap().is_empty()
    );

    // A folder means its files in order of their paths.
    let (lines, status) = json_lines(&warpsmith(["check".as_ref(), "--json".as_ref(), folder.0.as_os_str()]));
    assert_eq!((lines.len(), status), (2, 1));
    assert_eq!(lines[0]["file"], json!(bad));

    // For people: nothing on standard output, the offending line on standard error.
    let output = warpsmith(["check".as_ref(), bad.as_os_str()]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let shown = text(&output.stderr);
    assert!(shown.contains("bad.ptx:17:") && shown.contains("add.u33"), "{shown}");
    assert_eq!(warpsmith(["check".as_ref(), good.as_os_str()]).status.code(), Some(0));
}

#[test]
fn check_validates_for_another_target() {
    let folder = Folder::new("target");
    let asynchronous = DOUBLE.replace("done:", "cp.async.commit_group;\ndone:");
    let file = folder.file("x.ptx", asynchronous);
    let status = |target: &[&str]| {
        let args = [&["check", file.to_str().unwrap()], target].concat();
        warpsmith(args).status.code()
    };
    assert_eq!(status(&[]), Some(0));
    assert_eq!(status(&["--target", "sm_90a"]), Some(1), "PTX 7.0 has no sm_90a");
    assert_eq!(status(&["--target", "sm_75"]), Some(1), "sm_75 has no cp.async");
    assert_eq!(status(&["--target", "sm_80"]), Some(0));
}

#[test]
fn check_reads_standard_input_and_names_what_it_cannot_read() {
    let (lines, status) = json_lines(&with_stdin(&["check", "--json", "-"], DOUBLE));
    assert_eq!((lines[0]["ok"].as_bool(), status), (Some(true), 0));
    let (lines, status) = json_lines(&warpsmith(["check", "--json", "/nonexistent/x.ptx"]));
    assert_eq!((lines[0]["ok"].as_bool(), status), (Some(false), 2));
    assert!(lines[0]["diagnostics"][0]["message"].as_str().unwrap().contains("/nonexistent/x.ptx"));
    // Bytes that are not text are an input like any other.
    let folder = Folder::new("bytes");
    let bytes = folder.file("x.ptx", [0xff, 0xfe, 0x00, 0x80]);
    let (lines, status) = json_lines(&warpsmith(["check".as_ref(), "--json".as_ref(), bytes.as_os_str()]));
    assert_eq!((lines[0]["ok"].as_bool(), status), (Some(false), 1));
}

#[test]
fn check_validates_thousands_of_files_in_seconds() {
    let folder = Folder::new("many");
    for i in 0..3000 {
        folder.file(&format!("{i:04}.ptx"), DOUBLE.replace("double", &format!("k{i}")));
    }
    let start = Instant::now();
    let (lines, status) = json_lines(&warpsmith(["check".as_ref(), "--json".as_ref(), folder.0.as_os_str()]));
    assert_eq!((lines.len(), status), (3000, 0));
    assert!(lines.windows(2).all(|pair| pair[0]["file"].as_str() < pair[1]["file"].as_str()));
    // An unoptimised build on a busy machine has ten times what an optimised one takes.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn fmt_lays_out_and_leaves_what_is_wrong_alone() {
    let folder = Folder::new("fmt");
    let untidy = DOUBLE.replace("  ld.param.u64 %rd1, [data];", "ld.param.u64   %rd1,[data] ; // the buffer");
    let ptx = folder.file("a.ptx", &untidy);
    let wir = folder.file("b.wir", "kernel @k( ) {\nentry:\nret ; done\n}\n");
    let wrong = folder.file("c.ptx", "mov.u32 %r1");
    let run = |args: &[&str]| {
        let mut all = vec!["fmt", folder.0.to_str().unwrap()];
        all.extend_from_slice(args);
        warpsmith(all)
    };
    let output = run(&["--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), format!("{}\n{}\n", ptx.display(), wir.display()));
    assert!(text(&output.stderr).contains("c.ptx"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(&ptx).unwrap(), untidy);
    assert_eq!(run(&[]).status.code(), Some(1), "one of the files does not parse");
    let tidy = std::fs::read_to_string(&ptx).unwrap();
    assert!(tidy.contains("\n    ld.param.u64 %rd1, [data]; // the buffer\n"), "{tidy}");
    assert_eq!(std::fs::read_to_string(&wir).unwrap(), "kernel @k() {\nentry:\n  ret ; done\n}\n");
    assert_eq!(std::fs::read_to_string(&wrong).unwrap(), "mov.u32 %r1");
    std::fs::remove_file(&wrong).unwrap();
    assert_eq!(run(&["--check"]).status.code(), Some(0));
    // Standard input, and a file that stays as it is.
    assert_eq!(text(&with_stdin(&["fmt", "-"], &untidy).stdout), tidy);
    assert_eq!(text(&warpsmith(["fmt", "--stdout", ptx.to_str().unwrap()]).stdout), tidy);
}

#[test]
fn check_fixes_what_is_certain() {
    let folder = Folder::new("fix");
    let broken = DOUBLE
        .replace(".reg .b32 %r<5>;", ".rge .b32 %r<4>;")
        .replace("add.s64 %rd3, %rd1, %rd2;", "add.i64 %rd3, %rd1, %rd2")
        .replace("%r4, %r3, %r3;", "%r4, %r3 %r3;");
    let file = folder.file("x.ptx", broken);
    assert_eq!(warpsmith(["check", file.to_str().unwrap()]).status.code(), Some(1));
    let output = warpsmith(["check", "--fix", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), DOUBLE);
}

#[test]
fn findings_have_places_labels_and_suggestions_in_json() {
    let source = DOUBLE.replace("add.u32 %r4, %r3, %r3;", "add.f32 %r4, %r3, %rd1;");
    let (lines, _) = json_lines(&with_stdin(&["check", "--json", "-"], &source));
    let finding = &lines[0]["diagnostics"][0];
    let start = source.find("%rd1;\n  st").unwrap();
    assert_eq!(finding["span"], json!({"start": start, "end": start + 4}), "{finding}");
    assert_eq!(
        (&finding["line"], &finding["column"], &finding["end_line"], &finding["end_column"]),
        (&json!(17), &json!(21), &json!(17), &json!(25)),
        "{finding}"
    );
    assert_eq!((&finding["file"], &finding["section"]), (&json!("<stdin>"), &json!("PTX ISA 9.0, 9.7.3.3")));
    assert!(finding["labels"].as_array().unwrap().iter().any(|label| label["line"] == 8), "{finding}");
    let source = DOUBLE.replace("[data];", "[dta];");
    let (lines, _) = json_lines(&with_stdin(&["check", "--json", "-"], &source));
    let suggestion = &lines[0]["diagnostics"][0]["suggestions"][0];
    assert_eq!(
        (&suggestion["replacement"], &suggestion["certain"]),
        (&json!("data"), &json!(false)),
        "{suggestion}"
    );
}

#[test]
fn explain_knows_every_code() {
    let output = warpsmith(["explain", "p0402"]);
    assert!(
        text(&output.stdout).starts_with("P0402: A name that is not declared."),
        "{}",
        text(&output.stdout)
    );
    assert!(text(&warpsmith(["explain"]).stdout).lines().count() > 100);
    assert_eq!(warpsmith(["explain", "P9999"]).status.code(), Some(2));
}
