//! `run`: launches and what they leave.

use crate::{DOUBLE, Folder, example, json_lines, text, warpsmith};
use serde_json::json;

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
