//! The command's contracts: exit statuses, what goes to standard output, and the JSON that other programs read.

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const DOUBLE: &str = "\
.version 7.0
.target sm_80
.address_size 64
.visible .entry double(.param .u64 data, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p, %r2, %r1;
  @%p bra done;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.u32 %r4, %r3, %r3;
  st.global.u32 [%rd3], %r4;
done:
  ret;
}
";

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("warpsmith-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

fn warpsmith<A: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = A>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsmith")).args(args).stdin(Stdio::null()).output().unwrap()
}

fn with_stdin(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The lines of standard output as JSON, and the exit status.
fn json_lines(output: &Output) -> (Vec<Value>, i32) {
    let lines = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (lines, output.status.code().unwrap())
}

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name).display().to_string()
}

/// Without a driver the oracle is an error that says so; with one, the engine is compared with the GPU.
#[test]
fn the_oracle_of_a_gpu_asks_for_one() {
    let output = warpsmith(["fuzz", "--oracle", "gpu", "--iterations", "2", "--jobs", "1"]);
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        assert!(said.contains("--oracle gpu: no GPU with a driver was found: "), "{said}");
    } else {
        assert_eq!(output.status.code(), Some(0), "{}{said}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn usage_errors_exit_with_2() {
    for args in [
        &["check"][..],
        &["nonsense"],
        &["check", "--target", "sm_91", "x.ptx"],
        &["compile", "-O9", "x.wir"],
        &[],
    ] {
        let output = warpsmith(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
    assert_eq!(warpsmith(["--help"]).status.code(), Some(0));
}

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
fn check_judges_for_another_target() {
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
    // Bytes that are no text are an input like any other.
    let folder = Folder::new("bytes");
    let bytes = folder.file("x.ptx", [0xff, 0xfe, 0x00, 0x80]);
    let (lines, status) = json_lines(&warpsmith(["check".as_ref(), "--json".as_ref(), bytes.as_os_str()]));
    assert_eq!((lines[0]["ok"].as_bool(), status), (Some(false), 1));
}

#[test]
fn check_judges_thousands_of_files_in_seconds() {
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
fn run_prints_the_buffers() {
    let folder = Folder::new("run");
    let kernel = folder.file("double.ptx", DOUBLE);
    let launch = folder.file(
        "launch.json",
        r#"{"entry":"double","grid":[1,1,1],"block":[32,1,1],
            "args":[{"buffer_type":"u32","values":[1,2,3,4]},{"type":"u32","value":3}]}"#,
    );
    let run = |extra: &[&str]| {
        let mut args = vec!["run", kernel.to_str().unwrap()];
        args.extend_from_slice(extra);
        warpsmith(args)
    };
    let (lines, status) = json_lines(&run(&["--json", "--launch", launch.to_str().unwrap()]));
    assert_eq!((lines.len(), status), (1, 0));
    assert_eq!(lines[0]["ok"], true);
    assert_eq!(lines[0]["buffers"], json!(["02000000040000000600000004000000", null]));
    assert!(lines[0]["stats"]["thread_instructions"].as_u64().unwrap() >= 32, "{}", lines[0]);
    assert!(lines[0]["stats"]["seconds"].is_f64());

    // By flags, and for people.
    let flags =
        ["--entry", "double", "--grid", "1", "--block", "32", "--arg", "u32[]:1,2,3,4", "--arg", "u32:3"];
    let (by_flags, _) = json_lines(&run(&[&["--json"], &flags[..]].concat()));
    assert_eq!(by_flags[0]["buffers"], lines[0]["buffers"]);
    let output = run(&flags);
    assert!(text(&output.stdout).contains("2, 4, 6, 4"), "{}", text(&output.stdout));
}

#[test]
fn limits_and_cooperation_go_with_any_launch() {
    const ENDLESS: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .u32 %r;\nL: add.u32 %r, %r, 1;\nbra L;\n}";
    let folder = Folder::new("limits");
    let endless = folder.file("endless.ptx", ENDLESS);
    let launch = folder.file("launch.json", r#"{"entry":"k","grid":[100000],"block":[32],"args":[]}"#);
    let run = |extra: &[&str]| {
        let flags = ["run", "--json", endless.to_str().unwrap(), "--launch", launch.to_str().unwrap()];
        let (lines, status) = json_lines(&warpsmith([&flags, extra].concat()));
        (lines[0]["error"].clone(), status)
    };
    let (error, status) = run(&["--steps", "1000"]);
    assert!(status == 1 && error["code"] == "step_limit", "{error}");
    let (error, status) = run(&["--steps", "1000", "--cooperative"]);
    assert!(status == 1 && error["code"] == "bad_launch", "{error}");
}

#[test]
fn run_takes_the_launch_that_the_file_describes() {
    let output = warpsmith(["run", "--json", &example("saxpy.wir")]);
    let (lines, status) = json_lines(&output);
    assert_eq!((status, &lines[0]["ok"]), (0, &json!(true)));
    let folder = Folder::new("own");
    let kernel = folder.file("double.ptx", DOUBLE);
    let output = warpsmith(["run".as_ref(), kernel.as_os_str()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no `run:` directive"), "{}", text(&output.stderr));
}

#[test]
fn faults_are_answers() {
    let folder = Folder::new("fault");
    let kernel = folder.file("double.ptx", DOUBLE);
    let run = |launch: &str| {
        let launch = folder.file("launch.json", launch);
        json_lines(&warpsmith([
            "run",
            kernel.to_str().unwrap(),
            "--json",
            "--launch",
            launch.to_str().unwrap(),
        ]))
    };
    // Thread 2 reads past two elements.
    let (lines, status) = run(r#"{"entry":"double","grid":[1,1,1],"block":[32,1,1],
            "args":[{"buffer_type":"u32","values":[1,2]},{"type":"u32","value":3}]}"#);
    let error = &lines[0]["error"];
    assert_eq!((&lines[0]["ok"], status), (&json!(false), 1));
    assert_eq!(
        (&error["ptx_line"], &error["block"], &error["thread"]),
        (&json!(16), &json!([0, 0, 0]), &json!([2, 0, 0])),
        "{error}"
    );
    assert!(
        error["code"].is_string() && error["message"].is_string() && error["address"].is_string(),
        "{error}"
    );
    // For people, with the line and the thread.
    let flags = ["--entry", "double", "--block", "32", "--arg", "u32[]:1,2", "--arg", "u32:3"];
    let output = warpsmith(["run", kernel.to_str().unwrap()].iter().chain(&flags));
    let shown = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    for part in [
        "error[out_of_bounds]: ",
        "double.ptx:16:",
        "ld.global.u32 %r3, [%rd3];",
        "in thread (2, 0, 0) of block (0, 0, 0)",
    ] {
        assert!(shown.contains(part), "`{part}` is not in {shown}");
    }
    assert!(text(&warpsmith(["explain", "out_of_bounds"]).stdout).starts_with("out_of_bounds: An access"));
    // Launches that cannot be.
    for launch in [
        r#"{"entry":"other","grid":[1,1,1],"block":[32,1,1],"args":[]}"#,
        r#"{"entry":"double","grid":[1,1,1],"block":[32,1,1],"args":[]}"#,
        r#"{"entry":"double","grid":[0,1,1],"block":[32,1,1],"args":[]}"#,
        r#"{"entry":"double","#,
        "[]",
    ] {
        let (lines, status) = run(launch);
        assert_eq!((&lines[0]["ok"], status), (&json!(false), 1), "{launch}");
        assert!(
            lines[0]["error"]["code"].is_string() && lines[0]["error"]["message"].is_string(),
            "{launch}: {}",
            lines[0]
        );
    }
}

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

const HELLO: &str = "\
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 list);
.global .align 1 .b8 format[] = {104, 105, 32, 37, 100, 10, 0};
.visible .entry hello(.param .u32 fails)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .reg .pred %p;
  .local .align 8 .b8 list[8];
  mov.u32 %r1, %tid.x;
  st.local.u32 [list], %r1;
  mov.u64 %rd1, format;
  cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, list;
  cvta.local.u64 %rd2, %rd2;
  .param .b64 p0;
  .param .b64 p1;
  .param .b32 r0;
  st.param.b64 [p0], %rd1;
  st.param.b64 [p1], %rd2;
  call.uni (r0), vprintf, (p0, p1);
  ld.param.u32 %r2, [fails];
  setp.ne.u32 %p, %r2, 0;
  @%p trap;
  ret;
}
";

#[test]
fn what_a_kernel_prints_is_shown() {
    let folder = Folder::new("print");
    let file = folder.file("hello.ptx", HELLO);
    let run = |fails: &str, json: bool| {
        let mut args =
            vec!["run", file.to_str().unwrap(), "--entry", "hello", "--block", "2", "--arg", fails];
        args.extend(json.then_some("--json"));
        warpsmith(args)
    };
    let output = run("u32:0", false);
    assert!(text(&output.stdout).starts_with("hi 0\nhi 1\n"), "{output:?}");
    let output = run("u32:1", false);
    assert!(text(&output.stdout) == "hi 0\nhi 1\n" && text(&output.stderr).contains("trap"), "{output:?}");
    let (lines, status) = json_lines(&run("u32:0", true));
    assert_eq!((&lines[0]["output"], status), (&json!("hi 0\nhi 1\n"), 0));
    let (lines, status) = json_lines(&run("u32:1", true));
    assert_eq!((&lines[0]["output"], &lines[0]["ok"], status), (&json!("hi 0\nhi 1\n"), &json!(false), 1));
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

/// `-x` and `--ex` come first, then the pipe, unless `--batch` ends it; a fault is the exit status.
#[test]
fn the_debugger_takes_commands_from_scripts_options_and_a_pipe() {
    let folder = Folder::new("debug");
    let kernel = folder.file("double.ptx", DOUBLE);
    let script = folder.file("stop.gdb", "break 17\nrun\nprint %r3\n");
    let launch = |n: u32| {
        let launch = json!({"entry": "double", "grid": [1, 1, 1], "block": [32, 1, 1],
            "args": [{"buffer_type": "u32", "iota": 8}, {"type": "u32", "value": n}]});
        folder.file(&format!("{n}.json"), launch.to_string()).display().to_string()
    };
    let (kernel, script) = (kernel.display().to_string(), script.display().to_string());
    let (sound, beyond) = (launch(8), launch(9));
    let debug = ["debug", &kernel, "--launch"];
    let piped = [&debug[..], &[&sound, "-x", &script, "--ex", "cuda thread 5"]].concat();
    let output = with_stdin(&piped, "print %r3\ncontinue\n");
    let said = text(&output.stdout);
    assert!(said.contains("$1 = 0") && said.contains("$2 = 5") && said.contains("exited normally"), "{said}");
    assert_eq!(output.status.code(), Some(0));
    let output = with_stdin(&[&piped[..], &["--batch"]].concat(), "print %r3\n");
    assert!(!text(&output.stdout).contains("$2"), "{}", text(&output.stdout));
    let output = warpsmith([&debug[..], &[&beyond, "--batch", "--ex", "run"]].concat());
    assert!(text(&output.stdout).contains("double.ptx:16"), "{}", text(&output.stdout));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(warpsmith([&debug[..], &[&sound, "-x", "nothing.gdb"]].concat()).status.code(), Some(2));
}

#[test]
fn a_search_ends_at_a_program_that_takes_too_long() {
    let out = warpsmith(["fuzz", "--limit", "0", "--iterations", "1000000", "--jobs", "1"]);
    assert_eq!(out.status.code(), Some(1));
    let said = text(&out.stdout);
    assert!(said.contains("FAIL no end") && said.contains("again: warpsmith fuzz --seed"), "{said}");
}
