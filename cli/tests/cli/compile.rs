//! `compile`, `opt`, `link`, `roundtrip` and `targets`.

use crate::{Folder, example, json_lines, text, warpsmith, with_stdin};
use serde_json::json;

/// A caller in the IR, and in PTX what it calls, a table it reads, and what nobody needs.
const CALLER: &str = "\
func extern @helper(%x: i32) -> i32
global extern @table: [i32; 4]
kernel @k(%out: ptr<global>) {
entry:
  %r = call @helper(5)
  %t = global_addr @table
  %v = load.i32 %t + 4
  %s = iadd %r, %v
  store %s, %out
  ret
}
";

const CALLEE: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .b32 table[4] = {1, 2, 3, 4};
.visible .func (.param .b32 r) helper(.param .b32 x)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r0, [x];
  add.s32 %r1, %r0, 100;
  st.param.b32 [r], %r1;
  ret;
}
.visible .func unused() { ret; }
";

#[test]
fn files_are_linked_and_run_and_checked_as_one_program() {
    let folder = Folder::new("link");
    let (caller, callee) = (folder.file("caller.wir", CALLER), folder.file("callee.ptx", CALLEE));
    let (caller, callee) = (caller.to_str().unwrap(), callee.to_str().unwrap());
    let linked = warpsmith(["link", caller, callee]);
    assert_eq!(linked.status.code(), Some(0), "{}", text(&linked.stderr));
    let whole = text(&linked.stdout);
    assert!(
        whole.contains(".target sm_90") && whole.contains("unused") && !whole.contains(".extern"),
        "{whole}"
    );
    for flag in ["--keep", "--entry"] {
        let out = folder.0.join("out.ptx");
        let linked = warpsmith(["link", caller, callee, flag, "k", "-o", out.to_str().unwrap()]);
        assert_eq!(linked.status.code(), Some(0), "{}", text(&linked.stderr));
        assert!(!std::fs::read_to_string(&out).unwrap().contains("unused"));
        let run =
            warpsmith(["run", out.to_str().unwrap(), "--entry", "k", "--block", "1", "--arg", "s32[]:0"]);
        assert!(text(&run.stdout).contains(": 107\n"), "{}{}", text(&run.stdout), text(&run.stderr));
    }
    let run = warpsmith(["run", caller, callee, "--entry", "k", "--block", "1", "--arg", "s32[]:0"]);
    assert!(text(&run.stdout).contains(": 107\n"), "{}{}", text(&run.stdout), text(&run.stderr));
    assert_eq!(warpsmith(["check", "--link", caller, callee]).status.code(), Some(0));

    // Each is right by itself; what it lacks is named with its users.
    assert_eq!(warpsmith(["check", caller, callee]).status.code(), Some(0));
    for wrong in [warpsmith(["check", "--link", caller]), warpsmith(["link", caller])] {
        let said = [&wrong.stdout[..], &wrong.stderr].concat();
        let said = text(&said);
        assert_eq!(wrong.status.code(), Some(1), "{said}");
        for part in ["no module defines `helper`", "no module defines `table`", "used by `k`"] {
            assert!(said.contains(part), "{said}");
        }
    }
    assert_eq!(warpsmith(["link", caller, "--allow-undefined"]).status.code(), Some(0));
    let twice = warpsmith(["link", caller, callee, callee]);
    assert!(text(&twice.stderr).contains("`helper` is defined by two modules"), "{}", text(&twice.stderr));
    let unknown = warpsmith(["link", caller, callee, "--keep", "kk"]);
    assert!(text(&unknown.stderr).contains("did you mean `k`?"), "{}", text(&unknown.stderr));
}

#[test]
fn compile_prints_ptx_that_check_accepts() {
    let output = warpsmith(["compile", &example("saxpy.wir"), "-O1", "--target", "sm_90a"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let ptx = text(&output.stdout);
    assert!(ptx.contains(".target sm_90a") && ptx.contains(".entry saxpy"), "{ptx}");
    let (lines, status) = json_lines(&with_stdin(&["check", "--json", "-"], ptx));
    assert_eq!(status, 0, "{}", lines[0]);
    // A triple is a target, and the output can go to a file.
    let folder = Folder::new("compile");
    let out = folder.0.join("out.ptx");
    let args = [
        "compile",
        &example("saxpy.wir"),
        "-O0",
        "--target",
        "nvptx64-nvidia-cuda",
        "--ptx",
        "8.0",
        "-o",
        out.to_str().unwrap(),
    ];
    assert_eq!(warpsmith(args).status.code(), Some(0));
    assert!(std::fs::read_to_string(out).unwrap().starts_with(".version 8.0"));
}

#[test]
fn compile_reports_errors_at_their_place() {
    let source = "kernel @k(%x: i32) {\nentry:\n  %y = iadd %x, %nowhere\n  ret\n}\n";
    let output = with_stdin(&["compile", "-"], source);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let shown = text(&output.stderr);
    assert!(shown.contains("<stdin>:3:") && shown.contains("nowhere"), "{shown}");
    let (lines, status) = json_lines(&with_stdin(&["check", "--json", "-"], source));
    assert_eq!((status, &lines[0]["diagnostics"][0]["line"]), (1, &json!(3)), "{}", lines[0]);
}

#[test]
fn opt_prints_ir_that_it_reads_again() {
    let output = warpsmith(["opt", &example("scan.wir"), "-O1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let again = with_stdin(&["opt", "-", "--passes", ""], text(&output.stdout));
    assert_eq!(text(&again.stdout), text(&output.stdout));
    assert_eq!(warpsmith(["opt", &example("scan.wir"), "--passes", "nonsense"]).status.code(), Some(2));
}

#[test]
fn roundtrip_says_one_line_a_kernel() {
    let output = warpsmith(["roundtrip", &example("saxpy.wir"), &example("block_sum.wir")]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}{}", text(&output.stderr));
    let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with("ok ")).collect();
    assert!(lines.len() == 2 && lines[0].contains("saxpy") && lines[1].contains("block_sum"), "{shown}");
    // A wrong expectation is found.
    let folder = Folder::new("roundtrip");
    let source = std::fs::read_to_string(example("saxpy.wir"))
        .unwrap()
        .replace("\"start\": 1, \"step\": 3", "\"start\": 1, \"step\": 4");
    let wrong = folder.file("wrong.wir", source);
    let output = warpsmith(["roundtrip", wrong.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("element 1: expected 5.0, found 4.0"), "{}", text(&output.stdout));
}

#[test]
fn targets_are_listed() {
    let (lines, status) = json_lines(&warpsmith(["targets", "--json"]));
    assert_eq!(status, 0);
    assert!(lines.contains(&json!({"target": "sm_90a", "ptx": "8.0"})), "{lines:?}");
}
