//! `kernels/saxpy.cu` to bitcode with clang (`CLANG` names another than `clang-22` or `clang`), and from there to PTX and typed launches.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=kernels");
    println!("cargo::rerun-if-env-changed=CLANG");
    let bitcode = PathBuf::from(env::var("OUT_DIR")?).join("saxpy.bc");
    let named = env::var("CLANG").ok();
    let candidates = named.as_deref().map_or(vec!["clang-22", "clang"], |name| vec![name]);
    let Some(clang) = candidates.iter().find(|name| Command::new(name).arg("--version").output().is_ok()) else {
        return Err(format!("none of {candidates:?} is installed: `CLANG=/path/to/clang` names one").into());
    };
    let status = Command::new(clang)
        .args(["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib"])
        // Without the toolkit's headers, clang takes a version of PTX that is too old for the target.
        .args(["-Xclang", "-target-feature", "-Xclang", "+ptx83"])
        .args(["-Wno-unknown-cuda-version", "-O2", "-emit-llvm", "-c", "kernels/saxpy.cu", "-o"])
        .arg(&bitcode)
        .status()?;
    if !status.success() {
        return Err("clang does not compile kernels/saxpy.cu: its errors are above".into());
    }
    warpsmith_build::Build::new().target("sm_80").file(bitcode).compile("kernels")?;
    Ok(())
}
