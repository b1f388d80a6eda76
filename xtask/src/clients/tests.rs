//! The tests of clients: how each suite is run. All give what was written, with a line for each test and its outcome.

use super::{CUDARC, Clients, TINYGRAD, binaries, counted, succeed};
use crate::in_root;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Instant;

/// A warning of cuda.core for each process, which tests of what is written to standard error would find: that the driver links.
const NO_LINKER: &str = "ignore:cuda.bindings.nvjitlink is not available";

/// What a command writes to both of its streams.
fn written(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    Ok([output.stdout, output.stderr].concat())
}

/// Runs the test modules of a package, each in a process of its own, as many at a time as the host has threads.
pub fn package(clients: &Clients, package: &str, devices: &str, reports: &Path) -> Result<Vec<u8>, String> {
    let list = format!(
        "import pkgutil, importlib; p = importlib.import_module('{package}')\n\
         print(*sorted('{package}.' + m.name for m in pkgutil.iter_modules(p.__path__) if m.name.startswith('test_')))"
    );
    let output = clients.command(&clients.python, reports).args(["-c", &list]).output();
    let output = output.map_err(|e| format!("cannot run Python: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let modules: Vec<&str> = text.split_whitespace().collect();
    if modules.is_empty() {
        return Err(format!("{package}: no tests: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let binaries = binaries::folder(clients)?;
    let (next, done) = (Mutex::new(0..modules.len()), Mutex::new(vec![Ok(Vec::new()); modules.len()]));
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(index) = take() {
            let name = modules[index].rsplit('.').next().unwrap_or_default();
            let mut command = clients.command(&clients.python, &reports.join(name));
            command.env("WARPSMITH_DEVICES", devices).env("NUMBA_CUDA_TEST_BIN_DIR", &binaries);
            command.args(["-W", NO_LINKER, "-m", "unittest", "-v", modules[index]]);
            let begin = Instant::now();
            let output = written(&mut command);
            let outcome = output.as_ref().map_or_else(String::clone, |output| counted(output));
            println!("  {name}: {outcome}, {} s", begin.elapsed().as_secs());
            done.lock().unwrap_or_else(PoisonError::into_inner)[index] = output;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let all: Result<Vec<Vec<u8>>, String> = done.into_iter().collect();
    Ok(all?.concat())
}

/// The path of our libraries and, behind them, NVRTC, which opens a library of its own by that path.
fn with_nvrtc(clients: &Clients, toolkit: &Path) -> Result<OsString, String> {
    let path = std::env::join_paths([&clients.library, &toolkit.join("lib")]);
    path.map_err(|e| format!("a path with a colon: {e}"))
}

/// Runs the tests that are in tinygrad's source package, which pip unpacks.
pub fn tinygrad(clients: &Clients, device: &str, reports: &Path) -> Result<Vec<u8>, String> {
    let folder = in_root("target/clients/tinygrad");
    let unpacked = folder.join(TINYGRAD.replace("==", "-"));
    if !unpacked.exists() {
        let mut pip = Command::new(&clients.python);
        pip.args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary",
            "tinygrad",
            TINYGRAD,
            "-d",
        ]);
        succeed(pip.arg(&folder))?;
        let archive = unpacked.with_file_name(format!("{}.tar.gz", TINYGRAD.replace("==", "-")));
        succeed(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&folder))?;
    }
    let toolkit = clients.toolkit()?;
    let mut command = clients.command(&clients.python, &reports.join("test_tiny"));
    // Without a cache each kernel is compiled, whatever ran before. What is constant it computes on the host, with a compiler.
    command.env("DEV", device).env("CACHELEVEL", "0").env("CC", "clang-22").env("PYTHONPATH", &unpacked);
    command.env("LD_LIBRARY_PATH", with_nvrtc(clients, &toolkit)?);
    command.env("CUDA_PATH", &toolkit).env("NVRTC_PATH", toolkit.join("lib/libnvrtc.so.13"));
    written(command.current_dir(&unpacked).args(["test/test_tiny.py", "-v"]))
}

/// Builds and runs the tests of cudarc's library, with the parts of it that need the driver, the runtime and NVRTC alone; then, one after the other, those
/// that are ignored because they want to be run by themselves or with several devices.
pub fn cudarc(clients: &Clients, reports: &Path) -> Result<Vec<u8>, String> {
    let folder = in_root("target/clients/cudarc");
    let source = folder.join("source");
    if !source.exists() {
        copy(&fetched(&folder)?, &source)?;
        // It is not a member of ours.
        let manifest = source.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map(|text| text + "\n[workspace]\n");
        let written = text.and_then(|text| fs::write(&manifest, text));
        written.map_err(|e| format!("cannot change {}: {e}", manifest.display()))?;
    }
    let toolkit = clients.toolkit()?;
    let run = |rest: &[&str]| {
        let mut command = clients.command(Path::new(env!("CARGO")), &reports.join("cudarc"));
        command.env("LD_LIBRARY_PATH", with_nvrtc(clients, &toolkit)?);
        command.env("CARGO_TARGET_DIR", folder.join("target")).env("WARPSMITH_DEVICES", "2xsm_90");
        // Kernels of two streams run side by side, and a launch answers before its kernel has failed.
        command.env("WARPSMITH_STREAMS", "async");
        let features = "std,driver,nvrtc,runtime,dynamic-loading,f16,cuda-13000";
        command.args(["test", "--lib", "--no-default-features", "--features", features, "--"]);
        written(command.args(rest).current_dir(&source))
    };
    Ok([run(&[])?, run(&["--ignored", "--test-threads=1"])?].concat())
}

/// Where cargo has put the crate: a package that depends on it is all that it takes.
fn fetched(folder: &Path) -> Result<PathBuf, String> {
    let manifest = folder.join("fetch/Cargo.toml");
    let text = format!(
        "[package]\nname = \"fetch\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[dependencies]\ncudarc = \"={CUDARC}\"\n[workspace]\n"
    );
    let made = fs::create_dir_all(folder.join("fetch"))
        .and_then(|()| fs::write(&manifest, text))
        .and_then(|()| fs::write(folder.join("fetch/lib.rs"), ""));
    made.map_err(|e| format!("cannot write {}: {e}", manifest.display()))?;
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&manifest);
    let output = command.output().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("{command:?}: {e}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let found = packages.iter().find(|package| package["name"] == "cudarc");
    let manifest = found.and_then(|package| package["manifest_path"].as_str());
    let place = manifest.and_then(|path| Path::new(path).parent());
    place.map(Path::to_owned).ok_or_else(|| format!("cargo has not fetched cudarc {CUDARC}"))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |e| format!("cannot copy {}: {e}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(failed)?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).map_err(failed)?;
        }
    }
    Ok(())
}

/// Runs a script of unit tests.
pub fn script(clients: &Clients, name: &str, reports: &Path) -> Result<Vec<u8>, String> {
    let path = in_root("cuda/tests/clients").join(name);
    let mut command = clients.command(&clients.python, &reports.join(name.trim_end_matches(".py")));
    // Triton keeps what it compiles, and reads which `ptxas` it is to call from here.
    command
        .env("TRITON_CACHE_DIR", in_root("target/clients/triton"))
        .env("TRITON_LIBCUDA_PATH", &clients.library);
    for variable in ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"] {
        command.env(variable, in_root("cuda/tests/clients/ptx-as-it-is.sh"));
    }
    written(command.arg(path).arg("-v"))
}
