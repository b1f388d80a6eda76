//! `warpsmith with`: a program that uses CUDA finds our `libcuda` instead of the driver, and what its kernels did is reported in the end.

use crate::{Failure, Outcome};
use clap::Args;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use warpsmith::watch::Selection;

/// Where the library may be named, as a file or as the folder that it is in.
const LIBRARY: &str = "WARPSMITH_LIBCUDA";
/// What the library is called: by programs, and by the build.
const NAMES: [&str; 2] = ["libcuda.so.1", "libwarpsmith_cuda.so"];
/// What that of the runtime is called, which is beside it if there is one.
const RUNTIME: [&str; 2] = ["libcudart.so.13", "libwarpsmith_cudart.so"];

#[derive(Args)]
pub struct Options {
    /// Check every launch: memory, init, race, sync, several with commas between, or all.
    #[arg(long, value_name = "CHECKER,..")]
    check: Option<String>,
    /// Write what every module's kernels cost into a folder, as text and JSON.
    #[arg(long, value_name = "FOLDER")]
    profile: Option<PathBuf>,
    /// Write which instructions of every module were reached into a folder, as LCOV and HTML.
    #[arg(long, value_name = "FOLDER")]
    coverage: Option<PathBuf>,
    /// The devices that the program finds: sm_90, 2xsm_80, several with commas between, or how many. Default: one sm_90.
    #[arg(long, visible_alias = "devices", value_name = "sm_NN,..")]
    device: Option<String>,
    /// Write the report as JSON, too.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Let streams run beside the program, as on a GPU, in place of each call doing its work at once.
    #[arg(long = "async")]
    asynchronous: bool,
    /// Keep the fault of a kernel as a driver does: every later call in its context fails.
    #[arg(long)]
    sticky: bool,
    /// The most instructions that the threads of a launch may execute together.
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn run(options: &Options) -> Outcome {
    if let Some(check) = &options.check {
        check.parse::<Selection>().map_err(Failure::Usage)?;
    }
    let library = find()?;
    let folder = Folder::new()?;
    let reports = folder.0.join("report");
    for name in ["libcuda.so.1", "libcuda.so"] {
        link(&library, &folder.0.join(name))?;
    }
    let runtime = library.parent().and_then(|place| first_of(&RUNTIME, place));
    if let Some(runtime) = runtime.and_then(|path| path.canonicalize().ok()) {
        link(&runtime, &folder.0.join(RUNTIME[0]))?;
    }
    let status = command(options, &folder.0, &reports)?;
    let report = Report::read(&reports)?;
    if let Some(path) = &options.report {
        let text = format!("{:#}\n", report.json());
        std::fs::write(path, text)
            .map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))?;
    }
    report.show();
    let own = status_of(status);
    match own {
        0 if report.is_bad() => Err(Failure::Rejected),
        0 => Ok(()),
        status => Err(Failure::Status(status)),
    }
}

/// The first file of a folder that has one of these names.
fn first_of(names: &[&str], folder: &Path) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// The library: where the environment says, or beside this command, or where an installation has it.
fn find() -> Result<PathBuf, Failure> {
    let in_folder = |folder: &Path| first_of(&NAMES, folder);
    if let Some(named) = std::env::var_os(LIBRARY) {
        let named = PathBuf::from(named);
        let found =
            if named.is_dir() { in_folder(&named) } else { Some(named.clone()).filter(|p| p.is_file()) };
        let found = found.and_then(|path| path.canonicalize().ok());
        return found
            .ok_or_else(|| Failure::Usage(format!("{LIBRARY} is {}: no libcuda is there", named.display())));
    }
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    let own = own.map_err(|e| Failure::Usage(format!("cannot find out where this command is: {e}")))?;
    let beside = own.parent().unwrap_or(Path::new("/"));
    let places = [beside.to_owned(), beside.join("../lib/warpsmith"), beside.join("../lib")];
    let found = places.iter().find_map(|place| in_folder(place)).and_then(|path| path.canonicalize().ok());
    found.ok_or_else(|| {
        let list = places.map(|place| place.display().to_string()).join(", ");
        Failure::Usage(format!(
            "no libcuda of Warpsmith in {list}: build it with `cargo build --release -p warpsmith-cuda`, or set {LIBRARY}"
        ))
    })
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let path = std::env::temp_dir().join(format!("warpsmith-with-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|e| Failure::Usage(format!("cannot make {}: {e}", path.display())))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays in the folder for temporary files is no reason to fail.
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

fn link(library: &Path, to: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(library, to);
    #[cfg(not(unix))]
    let made = std::fs::copy(library, to).map(|_| ());
    made.map_err(|e| Failure::Usage(format!("cannot make {}: {e}", to.display())))
}

/// Runs the program with the library in front of others.
fn command(options: &Options, folder: &Path, reports: &Path) -> Result<ExitStatus, Failure> {
    let mut words = options.command.iter();
    let program = words.next().cloned().unwrap_or_default();
    let mut command = Command::new(&program);
    command.args(words);
    let mut path = folder.as_os_str().to_owned();
    if let Some(before) = std::env::var_os("LD_LIBRARY_PATH").filter(|before| !before.is_empty()) {
        path.push(":");
        path.push(before);
    }
    command.env("LD_LIBRARY_PATH", path).env("TRITON_LIBCUDA_PATH", folder).env("WARPSMITH_REPORT", reports);
    let mut set = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            command.env(name, value);
        }
    };
    set("WARPSMITH_CHECK", options.check.clone().map(Into::into));
    set("WARPSMITH_PROFILE", options.profile.clone().map(Into::into));
    set("WARPSMITH_COVERAGE", options.coverage.clone().map(Into::into));
    set("WARPSMITH_DEVICES", options.device.clone().map(Into::into));
    set("WARPSMITH_STREAMS", options.asynchronous.then(|| "async".into()));
    set("WARPSMITH_ERRORS", options.sticky.then(|| "sticky".into()));
    set("WARPSMITH_STEPS", options.steps.map(|steps| steps.to_string().into()));
    command.status().map_err(|e| Failure::Usage(format!("cannot run {}: {e}", program.to_string_lossy())))
}

/// The status of the program as a shell reports it.
fn status_of(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128u8.saturating_add(signal.unsigned_abs() as u8);
    }
    status.code().map_or(1, |code| code as u8)
}

/// What the processes of the program have reported.
#[derive(Default)]
struct Report {
    /// Findings, faults, refused modules, in the order in which they were reported.
    entries: Vec<Value>,
    launches: u64,
    processes: usize,
}

/// The kinds of entries that are reported, and whether the run is not as it should be with one.
const KINDS: [(&str, &str, bool); 4] = [
    ("error", "errors found by checkers", true),
    ("warning", "warnings of checkers", false),
    ("fault", "kernels that failed", true),
    ("refused", "modules refused", false),
];

impl Report {
    fn read(folder: &Path) -> Result<Report, Failure> {
        let mut report = Report::default();
        // A program that does not use CUDA reports nothing.
        let Ok(files) = std::fs::read_dir(folder) else { return Ok(report) };
        let mut paths: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path)
                .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
            report.processes += 1;
            // The last line of a process that was killed may be half a line.
            for entry in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                match entry["kind"].as_str() {
                    Some("end") => report.launches += entry["launches"].as_u64().unwrap_or(0),
                    _ => report.entries.push(entry),
                }
            }
        }
        Ok(report)
    }

    fn count(&self, kind: &str) -> usize {
        self.entries.iter().filter(|entry| entry["kind"] == kind).count()
    }

    fn is_bad(&self) -> bool {
        KINDS.iter().any(|(kind, _, bad)| *bad && self.count(kind) > 0)
    }

    fn json(&self) -> Value {
        json!({"processes": self.processes, "launches": self.launches, "entries": self.entries})
    }

    /// The sum, on standard error: the findings themselves were shown when they were made.
    fn show(&self) {
        let plural = if self.launches == 1 { "" } else { "es" };
        eprintln!("warpsmith: {} launch{plural}", self.launches);
        for (kind, what, _) in KINDS {
            let count = self.count(kind);
            if count == 0 {
                continue;
            }
            eprintln!("warpsmith: {count} {what}:");
            for entry in self.entries.iter().filter(|entry| entry["kind"] == kind) {
                let text = entry["text"].as_str().unwrap_or_default();
                let first = text.lines().next().unwrap_or_default();
                eprintln!("  {}: {first}", entry["subject"].as_str().unwrap_or_default());
            }
        }
    }
}
