//! The suites of programs that use CUDA, run with our libcuda: pinned packages, and how many of their tests pass at least.

use crate::in_root;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A suite of unit tests of a Python package.
struct Suite {
    /// What it is called on the command line.
    name: &'static str,
    /// The package that its modules are in.
    modules: &'static str,
    /// Modules that need something that is not there: a GPU's own library, or a package that is not installed.
    without: &'static [&'static str],
    /// Tests that pass; fewer is a failure of ours.
    passes: usize,
}

/// What the suites need. Without nvJitLink numba has the driver link.
const PACKAGES: &[&str] = &[
    "numba==0.68.1",
    "numba-cuda==0.30.4",
    "cuda-core==1.2.2",
    "cuda-bindings==13.5.0",
    "nvidia-cuda-nvrtc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    "numpy==2.4.6",
    "filecheck",
    "cffi",
    "psutil",
];

const SUITES: &[Suite] =
    &[Suite { name: "numba-doc", modules: "numba.cuda.tests.doc_examples", without: &[], passes: 15 }];

/// Bytes of the device: some tests fill half of it.
const MEMORY: &str = "2G";

/// Runs the suites of these names, or all.
pub fn run(names: &[&str]) -> Result<(), String> {
    let unknown = names.iter().find(|name| SUITES.iter().all(|suite| suite.name != **name));
    if let Some(name) = unknown {
        let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        return Err(format!("there is no suite `{name}`: {}", known.join(", ")));
    }
    let python = install()?;
    let library = build()?;
    let mut failed = Vec::new();
    for suite in SUITES.iter().filter(|suite| names.is_empty() || names.contains(&suite.name)) {
        let found = measure(suite, &python, &library)?;
        let list: Vec<String> = found.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        println!("{}: {}", suite.name, list.join(", "));
        let passes = found.get("ok").copied().unwrap_or(0);
        if passes < suite.passes {
            failed.push(format!("{}: {passes} tests pass, not {}", suite.name, suite.passes));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// Installs the packages into a folder of their own, and gives its Python.
fn install() -> Result<PathBuf, String> {
    let folder = in_root("target/clients");
    let (python, stamp) = (folder.join("bin/python"), folder.join("installed"));
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) && python.exists() {
        return Ok(python);
    }
    eprintln!("installing the clients into {}", folder.display());
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
    fs::write(&stamp, wanted).map_err(|e| format!("cannot write {}: {e}", stamp.display()))?;
    Ok(python)
}

/// Builds the library, and gives a folder with it under its name.
fn build() -> Result<PathBuf, String> {
    succeed(Command::new(env!("CARGO")).current_dir(in_root(".")).args([
        "build",
        "--release",
        "-p",
        "warpsmith-cuda",
    ]))?;
    let folder = in_root("target/clients/cuda");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    for name in ["libcuda.so.1", "libcuda.so"] {
        let to = folder.join(name);
        let from = in_root("target/release/libwarpsmith_cuda.so");
        fs::copy(&from, &to).map_err(|e| format!("cannot copy {}: {e}", from.display()))?;
    }
    Ok(folder)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

/// Runs a suite, module after module in one process, and counts what became of its tests: `ok`, `skipped`, `FAIL`, `ERROR`.
fn measure(suite: &Suite, python: &Path, library: &Path) -> Result<BTreeMap<String, usize>, String> {
    let list = format!(
        "import pkgutil, importlib; p = importlib.import_module('{0}')\n\
         print(*sorted('{0}.' + m.name for m in pkgutil.iter_modules(p.__path__) if m.name.startswith('test_')))",
        suite.modules
    );
    let environment = |command: &mut Command| {
        command.env("LD_LIBRARY_PATH", library).env("WARPSMITH_MEMORY", MEMORY);
    };
    let mut command = Command::new(python);
    environment(&mut command);
    let output = command.args(["-c", &list]).output().map_err(|e| format!("cannot run Python: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let modules: Vec<&str> = text
        .split_whitespace()
        .filter(|module| !suite.without.iter().any(|without| module.ends_with(without)))
        .collect();
    if modules.is_empty() {
        return Err(format!("{}: no tests: {}", suite.name, String::from_utf8_lossy(&output.stderr)));
    }
    let mut command = Command::new(python);
    environment(&mut command);
    let output = command.args(["-m", "unittest", "-v"]).args(&modules).output();
    let output = output.map_err(|e| format!("cannot run Python: {e}"))?;
    let log = in_root(&format!("target/clients/{}.txt", suite.name));
    fs::write(&log, &output.stderr).map_err(|e| format!("cannot write {}: {e}", log.display()))?;
    let mut counts = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        // What a test prints comes before its outcome, which may stand alone.
        let outcome = line.rsplit("... ").next().unwrap_or(line);
        let outcome = ["ok", "FAIL", "ERROR", "skipped"]
            .into_iter()
            .find(|known| outcome == *known || *known == "skipped" && outcome.starts_with("skipped '"));
        if let Some(outcome) = outcome {
            *counts.entry(outcome.to_owned()).or_default() += 1;
        }
    }
    Ok(counts)
}
