//! The compilers beside ours, where they are installed.

use crate::corpus::Source;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes PTX of a file; `None` if that fails.
pub type Compile = Box<dyn Fn(&Source) -> Option<String>>;

/// The peers, with or without flags that keep loops rolled.
pub fn all(rolled: bool) -> Vec<(&'static str, Compile)> {
    let nvcc = std::env::var_os("NVCC").unwrap_or_else(|| "nvcc".into());
    let mut found: Vec<(&'static str, Compile)> = Vec::new();
    match starts(&nvcc) {
        true => found.push(("nvcc", Box::new(move |source| by_nvcc(&nvcc, &source.cuda, rolled)))),
        false => println!("nvcc is not installed: no comparison"),
    }
    match starts(&"opt-22".into()) && starts(&"llc-22".into()) {
        true => found.push(("llvm", Box::new(|source| by_llvm(&source.bitcode)))),
        false => println!("opt-22 and llc-22 are not installed: no comparison"),
    }
    found
}

fn starts(program: &OsString) -> bool {
    let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn by_nvcc(nvcc: &OsString, cuda: &Path, rolled: bool) -> Option<String> {
    let text = std::env::temp_dir().join(format!("warpsmith-code-{}.ptx", std::process::id()));
    let status = Command::new(nvcc)
        .args(["-arch=sm_90", if rolled { "-DROLLED" } else { "-DAS_LIKED" }, "-ptx", "-o"])
        .args([text.as_path(), cuda])
        .status()
        .ok()?;
    let read = std::fs::read_to_string(&text).ok().filter(|_| status.success());
    std::fs::remove_file(&text).ok().and(read)
}

fn by_llvm(bitcode: &Path) -> Option<String> {
    let mut optimised = Command::new("opt-22")
        .args(["-passes=default<O3>", "-o", "-"])
        .arg(bitcode)
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let output = Command::new("llc-22")
        .args(["-O3", "-mcpu=sm_90", "-mattr=+ptx83", "-o", "-", "-"])
        .stdin(optimised.stdout.take()?)
        .output()
        .ok()?;
    optimised.wait().ok().filter(|status| status.success())?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
