//! A crate of kernels, compiled by cargo for `nvptx64-nvidia-cuda`.
//!
//! The linker that rustc calls is the build script itself: nothing has to be installed. An environment variable makes it act as one.

use crate::Error;
use crate::input::Settings;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpsmith_diag::Source;
use warpsmith_ptx::ValidatedModule;

/// Set for cargo when the program that runs is to be its linker.
const AS_LINKER: &str = "WARPSMITH_BUILD_AS_LINKER";
const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// Links, and ends the program, if rustc called it for that.
pub fn link_if_asked() {
    if std::env::var_os(AS_LINKER).is_none() {
        return;
    }
    let status = match warpsmith_linker::run(std::env::args().skip(1)) {
        Ok(()) => 0,
        Err(message) => {
            eprintln!("{message}");
            1
        }
    };
    std::process::exit(status);
}

/// Compiles the crate in a folder.
///
/// # Errors
/// Cargo cannot be run, or says that something is wrong: it has shown that itself.
pub fn compile(folder: &Path, settings: &Settings<'_>) -> Result<ValidatedModule, Error> {
    let manifest = folder.join("Cargo.toml");
    for watched in [&manifest, &folder.join("src")] {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    let said = |what: String| Error::new(format!("error: {}: {what}", folder.display()));
    let linker =
        std::env::current_exe().map_err(|error| said(format!("no path of this program: {error}")))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // What cargo has set for the package that this is a part of says nothing of the crate.
    for (name, _) in std::env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        let inherited = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_PROFILE_"];
        if inherited.iter().any(|prefix| text.starts_with(prefix))
            || matches!(text, "CARGO_ENCODED_RUSTFLAGS" | "RUSTFLAGS" | "CARGO_BUILD_TARGET" | "TARGET")
            || matches!(text, "RUSTC_WRAPPER" | "RUSTC_WORKSPACE_WRAPPER" | "CARGO_MAKEFLAGS" | "OUT_DIR")
        {
            command.env_remove(name);
        }
    }
    command.args(["build", "--release", "--lib", "--target", TRIPLE, "--manifest-path"]).arg(&manifest);
    command.arg("--target-dir").arg(&settings.scratch);
    if !settings.build_std.is_empty() {
        command.arg(format!("-Zbuild-std={}", settings.build_std.join(",")));
    }
    if let Some(target) = settings.target {
        command.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS", format!("-Ctarget-cpu={target}"));
    }
    command.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", linker).env(AS_LINKER, "1");
    // What it writes is for people, and this program's output is for cargo.
    let run = command.output().map_err(|error| said(format!("cannot run cargo: {error}")))?;
    if !run.status.success() {
        let text = String::from_utf8_lossy(&run.stderr);
        let mut help = String::new();
        if text.contains("can't find crate for `core`") {
            help = format!(
                "\n  help: `rustup target add {TRIPLE}` installs the target; `build_std(&[\"core\"])` compiles it, on nightly"
            );
        } else if text.contains("can't find crate for `alloc`") {
            help = "\n  help: a crate that uses `alloc` takes `build_std(&[\"core\", \"alloc\"])`".to_owned();
        } else if text.contains("no global memory allocator found") {
            help = "\n  help: `#[global_allocator] static HEAP: warpsmith_device::Heap = warpsmith_device::Heap;` is the device's"
                .to_owned();
        }
        return Err(said(format!("the crate of kernels does not compile\n{}{help}", text.trim_end())));
    }
    let ptx = product(&settings.scratch.join(TRIPLE).join("release"), folder).map_err(said)?;
    let text = std::fs::read_to_string(&ptx)
        .map_err(|error| said(format!("cannot read {}: {error}", ptx.display())))?;
    Ok(ValidatedModule::parse(Source::new(ptx.display().to_string(), text))?)
}

/// The file that cargo made: named as the crate.
fn product(release: &Path, folder: &Path) -> Result<PathBuf, String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(release).map_err(|error| format!("{}: {error}", release.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            found.push(path);
        }
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err("it makes no .ptx: `[lib] crate-type = [\"cdylib\"]` is missing".to_owned()),
        // One of several crates that this script compiles.
        _ => {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
            let path = release.join(format!("{name}.ptx"));
            if path.is_file() { Ok(path) } else { Err(format!("several .ptx files, none named {name}.ptx")) }
        }
    }
}
