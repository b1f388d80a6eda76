//! `fuzz` and `debug`, and calls that no command takes.

use crate::{DOUBLE, Folder, text, warpsmith, with_stdin};
use serde_json::json;

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

#[cfg(all(unix, feature = "terminal"))]
#[test]
fn a_search_that_is_interrupted_says_what_it_did() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    // On a busy machine the signal may come before the search begins, and then ends the process.
    let ended = [1, 4, 16, 64].into_iter().find_map(|seconds| {
        let mut search = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
        search.args(["fuzz", "--oracle", "text", "--jobs", "1"]).stdout(Stdio::piped());
        let search = search.spawn().expect("the command starts");
        std::thread::sleep(std::time::Duration::from_secs(seconds));
        let sent = Command::new("kill").args(["-INT", &search.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        let output = search.wait_with_output().expect("it ends");
        output.status.signal().is_none().then_some(output)
    });
    let output = ended.expect("Ctrl-C is handled");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains(" 0 failures"), "{}", text(&output.stdout));
}
