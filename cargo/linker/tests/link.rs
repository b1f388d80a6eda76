//! The command as rustc calls it: objects and archives in, PTX out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../llvm/tests/corpus").join(name)
}

fn linker(inputs: &[&Path], exports: &[&str], output: &Path, cpu: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith-linker"));
    for export in exports {
        command.args(["--export-symbol", export]);
    }
    command.args(inputs).args(["--target", "nvptx64-nvidia-cuda", "--target-cpu", cpu]);
    command.arg("-o").arg(output).args(["-O3", "--debug"]).output().unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linker");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// An archive with one member that is not bitcode, and one that is.
fn rlib(object: &Path) -> PathBuf {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in [("lib.rmeta/", vec![1, 2, 3, 4]), ("k.rcgu.o/", std::fs::read(object).unwrap())] {
        bytes
            .extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len()).bytes());
        bytes.extend_from_slice(&content);
        if content.len() % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    let path = scratch("libk.rlib");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn an_object_and_an_rlib_become_ptx() {
    let object = corpus("kernels.O3.bc");
    for (n, input) in [object.clone(), rlib(&object)].iter().enumerate() {
        let output = scratch(&format!("out{n}.ptx"));
        let run = linker(&[input], &["saxpy"], &output, "sm_80");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let text = std::fs::read_to_string(&output).unwrap();
        assert!(text.contains(".target sm_80") && text.contains(".entry saxpy("), "{text}");
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let (object, output) = (corpus("kernels.O3.bc"), scratch("none.ptx"));
    let error = |inputs: &[&Path], exports: &[&str], cpu| {
        let run = linker(inputs, exports, &output, cpu);
        assert!(!run.status.success());
        String::from_utf8(run.stderr).unwrap()
    };
    assert!(
        error(&[&object], &["nowhere"], "sm_80")
            .contains("`nowhere` is to be exported, and nothing defines it")
    );
    assert!(error(&[&object], &["saxpy"], "sm_30").contains("ptxas 13 begins at sm_75"));
    let twice = error(&[&object, &object], &["saxpy"], "sm_80");
    assert!(twice.contains("`saxpy` is defined in") && twice.contains("and again in"), "{twice}");
    assert!(error(&[Path::new(file!())], &[], "sm_80").contains("cannot read") || !output.exists());
    assert!(error(&[&corpus("kernels.cu")], &[], "sm_80").contains("neither LLVM bitcode nor an archive"));
}

#[test]
fn debug_information_is_written_if_the_modules_have_it() {
    let output = scratch("debug.ptx");
    let text = |object: &str, level: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith-linker"));
        command.args(["--export-symbol", if object.starts_with("debug") { "k" } else { "saxpy" }]);
        command.arg(corpus(object)).args(["--target-cpu", "sm_80", level, "--debug", "-o"]).arg(&output);
        let run = command.output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        std::fs::read_to_string(&output).unwrap()
    };
    for level in ["-O0", "-O3"] {
        let lines = text("debug/source.O0.bc", level);
        assert!(lines.contains(".loc ") && !lines.contains(".debug_info"), "{level}: {lines}");
    }
    assert!(!text("kernels.O0.bc", "-O0").contains(".loc "));
}

#[test]
fn what_nothing_defines_is_reported_with_its_place() {
    let run = linker(&[&corpus("debug/undefined.O1.bc")], &["k"], &scratch("undefined.ptx"), "sm_80");
    let error = String::from_utf8(run.stderr).unwrap();
    assert!(!run.status.success());
    assert!(error.contains("nothing defines `nowhere`, used by `k`, at /src/undefined.c:5:12"), "{error}");
}
