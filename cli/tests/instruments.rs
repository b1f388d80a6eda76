//! Trace, coverage, profile and exploration by the command. What the files hold is tested beside the library, in `watch/tests/`.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the kernel whose counts are known.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../watch/tests/instruments")
}

fn warpsmith(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsmith")).args(arguments).output().expect("the command starts")
}

/// A folder of the test's own.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the folder can be made");
    path
}

#[test]
fn command() {
    let (file, scratch) = (folder().join("strides.ptx"), scratch("instruments-command"));
    let to = |option: &str, name: &str| format!("--{option}={}", scratch.join(name).display());
    let read = |name: &str| std::fs::read_to_string(scratch.join(name)).expect("the file was written");
    let run = |more: &[&str]| {
        let launch = ["run", file.to_str().unwrap(), "--entry=strides", "--block=32", "--arg=u32[64]:zero"];
        warpsmith(&[&launch, more].concat())
    };
    let output = run(&[
        &to("coverage", "c.info"),
        &to("profile", "p.json"),
        &to("trace", "t.jsonl"),
        "--trace-filter=class=store",
    ]);
    assert!(output.status.success(), "{output:?}");
    assert!(read("c.info").contains("SF:strides.cu\n") && read("c.info").contains("DA:11,0\n"));
    let profile: Value = serde_json::from_str(&read("p.json")).unwrap();
    assert_eq!(profile["memory"]["shared"]["bank_conflicts"], 32);
    assert_eq!(read("t.jsonl").lines().count(), 6);
    // The text of the source lies beside the PTX.
    let output = run(&["--coverage", "--profile"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("22 of 23 instructions") && text.contains("v += w;") && text.contains("hottest lines"),
        "{text}"
    );
    let answer: Value = serde_json::from_slice(&run(&["--profile", "--json"]).stdout).unwrap();
    assert_eq!((&answer["ok"], &answer["profile"]["branches"]["divergent"]), (&true.into(), &1.into()));
    let output = run(&["--trace", "--trace-filter=lane=3"]);
    assert_eq!(output.status.code(), Some(2));
    let same = scratch.join("t.jsonl").display().to_string();
    assert_eq!(warpsmith(&["trace-diff", &same, &same]).status.code(), Some(0));
    assert_eq!(run(&[&to("trace", "no/such/folder/t")]).status.code(), Some(2));
}

/// A text of the IR is in files that coverage names, and the source in the debug information of `-g`.
#[test]
fn a_text_is_its_own_source() {
    let scratch = scratch("instruments-own-source");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/block_sum.wir");
    let file = file.to_str().unwrap();
    let lcov = scratch.join("c.info");
    let output = warpsmith(&["run", file, &format!("--coverage={}", lcov.display())]);
    assert!(output.status.success(), "{output:?}");
    let lcov = std::fs::read_to_string(lcov).expect("the file was written");
    let files: Vec<&str> = lcov.lines().filter_map(|line| line.strip_prefix("SF:")).collect();
    assert!(matches!(files[..], [name] if name.ends_with("block_sum.wir")), "{files:?}");
    // `%other = ptx.shfl..` of a function that is inlined: in each of 5 blocks 8 warps, then one.
    assert!(lcov.lines().any(|line| line.starts_with("DA:17,")) && !lcov.contains(".ptx"), "{lcov}");

    let output = warpsmith(&["compile", file, "-O0", "-g", "--debug-stats"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.matches("(100 %)").count() == 3, "{said}");
}

#[test]
fn exploration() {
    let scratch = scratch("instruments-explore");
    let file = scratch.join("race.ptx");
    let kernel = |guard: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out) {{\n.reg .pred %q;\n.reg .b32 %r<3>;\n.reg .b64 %p;\n\
                 mov.u32 %r2, %tid.x;\nsetp.lt.u32 %q, %r2, 32;\nld.param.u64 %p, [out];\n{guard} ld.global.u32 %r0, [%p];\n\
                 {guard} add.u32 %r1, %r0, 1;\n{guard} st.global.u32 [%p], %r1;\nret;\n}}\n"
        )
    };
    let explore = |more: &[&str]| {
        let launch =
            ["run", file.to_str().unwrap(), "--entry=k", "--block=64", "--arg=u32[1]:zero", "--explore=30"];
        warpsmith(&[&launch, more].concat())
    };
    std::fs::write(&file, kernel("")).unwrap();
    let output = explore(&[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text.starts_with("30 schedules: 2 different results\n"), "{text}");
    assert!(text.contains("element 0 (u32) is 1 in place of 2"), "{text}");
    assert!(text.contains("in `st.global.u32` of line 13"), "{text}");
    let answer: Value = serde_json::from_slice(&explore(&["--json"]).stdout).unwrap();
    assert_eq!(answer["results"].as_array().map(Vec::len), Some(2));
    // An order that a report names gives that result again.
    let order = &answer["results"][1]["orders"][0];
    let (schedule, seed) = (order["schedule"].as_str().unwrap(), order["seed"].as_u64().unwrap());
    let again = warpsmith(&[
        "run",
        file.to_str().unwrap(),
        "--entry=k",
        "--block=64",
        "--arg=u32[1]:zero",
        "--json",
        &format!("--schedule={schedule}"),
        &format!("--seed={seed}"),
    ]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["buffers"][0], "01000000");
    // One warp alone does not race.
    std::fs::write(&file, kernel("@%q")).unwrap();
    let output = explore(&[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "30 schedules: the results agree in every byte\n");
}
