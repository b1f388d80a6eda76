//! The suites of programs that use CUDA, run with our libcuda: pinned packages, and how many of their tests pass at least.

mod binaries;
mod findings;
mod runtime;
mod tests;

use crate::in_root;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A suite.
struct Suite {
    /// What it is called on the command line.
    name: &'static str,
    /// What is run.
    runs: Runs,
    /// Tests that pass; fewer is a failure of ours.
    passes: usize,
}

/// What a suite runs.
enum Runs {
    /// Unit tests of an installed package.
    Package {
        /// The package that their modules are in.
        modules: &'static str,
        /// What there is: `WARPSMITH_DEVICES`.
        devices: &'static str,
    },
    /// The tests that tinygrad's source package carries, by the way from its own code to PTX (`DEV`).
    Tinygrad(&'static str),
    /// The tests of cudarc's library.
    Cudarc,
    /// Unit tests of ours of a package that brings none, in `cuda/tests/clients`.
    Script(&'static str),
    /// The programs of `cudart/tests/programs`.
    Runtime,
}

/// What the suites need. Without nvJitLink numba has the driver link. Later bindings than 13.3 give no bytes of a handle for other processes, which
/// numba 0.30.4 reads.
const PACKAGES: &[&str] = &[
    "numba==0.68.1",
    "numba-cuda==0.30.4",
    "cuda-core==1.2.2",
    "cuda-bindings==13.3.1",
    "nvidia-cuda-nvrtc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-curand==10.4.0.35",
    "triton==3.9.0",
    "tinygrad==0.14.0",
    "numpy==2.4.6",
    "ml_dtypes==0.6.0",
    "filecheck==1.0.6",
    "cffi==2.1.1",
    "psutil==7.2.2",
    "pytest==9.2.0",
];

/// The package whose sources are wanted for its tests.
const TINYGRAD: &str = "tinygrad==0.14.0";

/// The version of cudarc.
const CUDARC: &str = "0.19.10";

const SUITES: &[Suite] = &[
    Suite {
        name: "numba-doc",
        runs: Runs::Package { modules: "numba.cuda.tests.doc_examples", devices: "sm_90" },
        passes: 15,
    },
    Suite {
        name: "numba-cudadrv",
        runs: Runs::Package { modules: "numba.cuda.tests.cudadrv", devices: "sm_90,sm_80" },
        passes: 246,
    },
    Suite {
        name: "numba-cudapy",
        runs: Runs::Package { modules: "numba.cuda.tests.cudapy", devices: "sm_90,sm_80" },
        passes: 1_609,
    },
    Suite { name: "cuda-core", runs: Runs::Script("cuda_core.py"), passes: 10 },
    Suite { name: "triton", runs: Runs::Script("triton_launcher.py"), passes: 5 },
    Suite { name: "tinygrad-ptx", runs: Runs::Tinygrad("CUDA:PTX"), passes: 19 },
    Suite { name: "tinygrad-nvrtc", runs: Runs::Tinygrad("CUDA"), passes: 19 },
    Suite { name: "cudarc", runs: Runs::Cudarc, passes: 50 },
    Suite { name: "runtime", runs: Runs::Runtime, passes: 0 },
];

/// Bytes of the device: some tests fill half of it.
const MEMORY: &str = "2G";

/// Where everything is.
pub struct Clients {
    /// The Python that the packages are installed for.
    python: PathBuf,
    /// A folder with our libraries under their names.
    library: PathBuf,
    /// All checkers watch the launches.
    check: bool,
}

impl Clients {
    /// A command whose driver is ours. What it reports goes into a folder.
    fn command(&self, program: &Path, reports: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", &self.library).env("WARPSMITH_MEMORY", MEMORY);
        if self.check {
            command.env("WARPSMITH_CHECK", "all").env("WARPSMITH_REPORT", reports);
        }
        command
    }

    /// The folder of NVIDIA's compilers.
    fn toolkit(&self) -> Result<PathBuf, String> {
        let place = "import nvidia.cu13; print(nvidia.cu13.__path__[0])";
        let output = Command::new(&self.python).args(["-c", place]).output();
        let output = output.map_err(|e| format!("cannot run Python: {e}"))?;
        Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    }
}

/// Runs the suites of these names, or all; with `--check` under all checkers, whose findings must be those that are listed.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let (options, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().copied().partition(|word| word.starts_with("--"));
    if let Some(option) = options.iter().find(|option| **option != "--check") {
        return Err(format!("unknown option `{option}`, expected `--check`"));
    }
    let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!("unknown suite `{name}`, expected one of: {}", known.join(", ")));
    }
    let clients = Clients { python: install()?, library: build()?, check: !options.is_empty() };
    let mut failed = Vec::new();
    for suite in SUITES.iter().filter(|suite| names.is_empty() || names.contains(&suite.name)) {
        let log = in_root(&format!("target/clients/{}.txt", suite.name));
        let reports = in_root(&format!("target/clients/{}.reports", suite.name));
        if clients.check && reports.exists() {
            fs::remove_dir_all(&reports).map_err(|e| format!("cannot remove {}: {e}", reports.display()))?;
        }
        let output = match suite.runs {
            Runs::Package { modules, devices } => tests::package(&clients, modules, devices, &reports)?,
            Runs::Tinygrad(device) => tests::tinygrad(&clients, device, &reports)?,
            Runs::Cudarc => tests::cudarc(&clients, &reports)?,
            Runs::Script(name) => tests::script(&clients, name, &reports)?,
            Runs::Runtime => {
                let (same, differ) = runtime::programs(&clients)?;
                println!("{}: {same} ok, {} differ", suite.name, differ.len());
                failed.extend(differ);
                continue;
            }
        };
        fs::write(&log, &output).map_err(|e| format!("cannot write {}: {e}", log.display()))?;
        println!("{}: {}", suite.name, counted(&output));
        let text = String::from_utf8_lossy(&output);
        for (reason, count) in skipped(&text) {
            println!("  {count} skipped: {reason}");
        }
        let passes = counts(&text).get("ok").copied().unwrap_or(0);
        // A checker's error ends no test, and what it costs is time: some tests have a limit of that.
        if passes < suite.passes && !clients.check {
            failed.push(format!("{}: {passes} tests pass, not {}", suite.name, suite.passes));
        }
        if clients.check {
            failed.extend(findings::unlisted(suite.name, &reports)?);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// What became of the tests whose names and outcomes Python's `unittest` or Rust's harness has written.
fn counts(output: &str) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for line in output.lines() {
        // What a test prints comes before its outcome, which may stand alone.
        let outcome = line.rsplit("... ").next().unwrap_or(line);
        let known = ["ok", "FAIL", "FAILED", "ERROR", "expected failure", "skipped", "ignored"].into_iter();
        let reason = |known: &str| {
            matches!(known, "skipped" | "ignored")
                && outcome
                    .strip_prefix(known)
                    .is_some_and(|rest| [" '", " \"", ", "].iter().any(|start| rest.starts_with(start)))
        };
        if let Some(outcome) = known.into_iter().find(|known| outcome == *known || reason(known)) {
            *counts.entry(outcome).or_default() += 1;
        }
    }
    counts
}

/// How many tests had each outcome, in words.
fn counted(output: &[u8]) -> String {
    let counts = counts(&String::from_utf8_lossy(output));
    let list: Vec<String> = counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    if list.is_empty() { "no outcome".to_owned() } else { list.join(", ") }
}

/// How many tests Python's `unittest` has skipped for each reason.
fn skipped(output: &str) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    for line in output.lines() {
        let outcome = line.rsplit("... ").next().unwrap_or(line);
        let quoted = outcome.strip_prefix("skipped ").filter(|rest| rest.starts_with(['\'', '"']));
        if let Some(reason) = quoted {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    reasons
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

/// Builds the libraries, and gives a folder with them under their names.
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

#[cfg(test)]
mod outcomes {
    use super::*;

    const WRITTEN: &str = "test_a (x.Y.test_a) ... ok
test_b (x.Y.test_b) ... a warning
  options = LinkerOptions(
ok
test_c (x.Y.test_c) ... skipped 'need more than 1 gpus'
test_d (x.Y.test_d) ... skipped \"it doesn't fail\"
test_e (x.Y.test_e) ... FAIL
test_f (x.Y.test_f) ... expected failure
test driver::tests::g ... ignored, must be executed by itself
FAILED (failures=1, skipped=2)
OK
";

    #[test]
    fn outcomes_are_counted() {
        let expected = "1 FAIL, 1 expected failure, 1 ignored, 2 ok, 2 skipped";
        assert_eq!(counted(WRITTEN.as_bytes()), expected);
        assert_eq!(counted(b"Traceback"), "no outcome");
        let reasons = skipped(WRITTEN);
        assert_eq!(reasons.len(), 2);
        assert_eq!(reasons["'need more than 1 gpus'"], 1);
    }
}
