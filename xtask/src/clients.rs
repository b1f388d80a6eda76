//! The suites of programs that use CUDA, run with our libcuda: pinned packages, and how many of their tests pass at least.

use crate::in_root;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A suite of unit tests of a Python package; `runtime` is one of programs that nvcc compiles.
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
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "numpy==2.4.6",
    "filecheck",
    "cffi",
    "psutil",
    "pytest",
];

const SUITES: &[Suite] = &[
    Suite { name: "numba-doc", modules: "numba.cuda.tests.doc_examples", without: &[], passes: 15 },
    Suite { name: "numba-cudadrv", modules: "numba.cuda.tests.cudadrv", without: &[], passes: 239 },
    Suite { name: "numba-cudapy", modules: "numba.cuda.tests.cudapy", without: &[], passes: 1_577 },
];

/// The programs of `cudart/tests/programs`.
const RUNTIME: &str = "runtime";

/// Bytes of the device: some tests fill half of it.
const MEMORY: &str = "2G";

/// Runs the suites of these names, or all.
pub fn run(names: &[&str]) -> Result<(), String> {
    let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).chain([RUNTIME]).collect();
    let unknown = names.iter().find(|name| !known.contains(name));
    if let Some(name) = unknown {
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
    if names.is_empty() || names.contains(&RUNTIME) {
        failed.extend(programs(&python, &library)?);
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
        "-p",
        "warpsmith-cudart",
    ]))?;
    let folder = in_root("target/clients/cuda");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let libraries = [
        ("libcuda.so.1", "libwarpsmith_cuda.so"),
        ("libcuda.so", "libwarpsmith_cuda.so"),
        ("libcudart.so.13", "libwarpsmith_cudart.so"),
        ("libcudart.so", "libwarpsmith_cudart.so"),
    ];
    for (name, built) in libraries {
        let to = folder.join(name);
        let from = in_root("target/release").join(built);
        fs::copy(&from, &to).map_err(|e| format!("cannot copy {}: {e}", from.display()))?;
    }
    Ok(folder)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

/// Compiles the programs of the runtime with nvcc, runs them with our libraries, and compares what they print with what is recorded of a GPU, but for the
/// deviations that are listed. Gives those that differ.
fn programs(python: &Path, library: &Path) -> Result<Vec<String>, String> {
    let folder = in_root("cudart/tests/programs");
    let toolkit = "import nvidia.cu13, sys; print(nvidia.cu13.__path__[0])";
    let output = Command::new(python).args(["-c", toolkit]).output();
    let output = output.map_err(|e| format!("cannot run Python: {e}"))?;
    let nvcc = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).join("bin/nvcc");
    let listed = fs::read_dir(&folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    let mut sources: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    sources.sort();
    let listed = fs::read_to_string(folder.join("deviations.tsv"));
    let listed = listed.map_err(|e| format!("cannot read the list of deviations: {e}"))?;
    let deviations: Vec<Vec<&str>> = listed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|row| row.len() == 4)
        .collect();
    let (mut failed, count) = (Vec::new(), sources.len());
    for source in sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let binary = in_root("target/clients").join(&name);
        let mut command = Command::new(&nvcc);
        command.args(["-std=c++17", "-arch=compute_90", "-cudart", "shared", "-cudadevrt", "none", "-o"]);
        succeed(command.arg(&binary).arg(&source).arg("-L").arg(library))?;
        let output = Command::new(&binary).env("LD_LIBRARY_PATH", library).output();
        let output = output.map_err(|e| format!("cannot run {}: {e}", binary.display()))?;
        let printed = binary.with_extension("out");
        fs::write(&printed, &output.stdout)
            .map_err(|e| format!("cannot write {}: {e}", printed.display()))?;
        let expected = source.with_extension("out");
        let wanted =
            fs::read_to_string(&expected).map_err(|e| format!("cannot read {}: {e}", expected.display()))?;
        let own = String::from_utf8_lossy(&output.stdout).into_owned();
        let same = own.lines().count() == wanted.lines().count()
            && own.lines().zip(wanted.lines()).all(|(own, wanted)| {
                let listed =
                    |row: &Vec<&str>| row.first() == Some(&name.as_str()) && row[1..3] == [wanted, own];
                own == wanted || deviations.iter().any(listed)
            });
        if !same || !output.status.success() {
            failed.push(format!("{name}: {} differs from {}", printed.display(), expected.display()));
        }
    }
    println!("{RUNTIME}: {} ok, {} differ", count - failed.len(), failed.len());
    Ok(failed)
}

/// Runs a suite, each module in a process of its own, and counts what became of its tests: `ok`, `skipped`, `FAIL`, `ERROR`.
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
    let mut output = Vec::new();
    for module in modules {
        let mut command = Command::new(python);
        environment(&mut command);
        let ran = command.args(["-m", "unittest", "-v", module]).output();
        output.extend(ran.map_err(|e| format!("cannot run Python: {e}"))?.stderr);
    }
    let log = in_root(&format!("target/clients/{}.txt", suite.name));
    fs::write(&log, &output).map_err(|e| format!("cannot write {}: {e}", log.display()))?;
    let mut counts = BTreeMap::new();
    for line in String::from_utf8_lossy(&output).lines() {
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
