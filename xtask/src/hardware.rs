//! `cargo xtask hardware`: runs the golden cases on the GPU at hand and records what it computed in `tests/golden/`.

use crate::in_root;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};
use warpsmith::gpu::{Description, Gpu, Optimization};
use warpsmith::launch::{GpuError, LaunchSpec, execute_on_gpu, literal};
use warpsmith_harness::golden::{self, Case, Golden, Record};

/// The argument of the process that uses the GPU.
pub const WORKER: &str = "hardware-worker";

/// What the recorder needs of a GPU.
trait Recorder {
    /// Its name, its compute capability (`sm_90`), and the version of CUDA that its driver supports.
    fn describe(&self) -> (String, String, String);

    /// Runs a kernel and gives the buffers. `Ok(Err)`: this GPU cannot run this text, and why. `Err`: nothing more can be run.
    fn run(&mut self, case: &Case) -> Result<Result<Buffers, String>, String>;
}

/// The GPU, in a process of its own: a fault of a kernel takes the context with it, and the driver gives the same process no other.
struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    description: (String, String, String),
}

impl Worker {
    /// Starts the process; `Err(Ok)`: there is no GPU, and the reason to think so.
    fn start() -> Result<Worker, Result<String, String>> {
        let failed = |e: std::io::Error| Err(format!("the process that uses the GPU: {e}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = (Command::new(program).arg(WORKER))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Err("the process that uses the GPU has no pipes".into()));
        };
        let mut worker =
            Worker { child, requests, answers: BufReader::new(answers), description: Default::default() };
        let hello = worker.answer().map_err(Err)?;
        let text = |key: &str| hello[key].as_str().unwrap_or_default().to_owned();
        if let Some(reason) = hello["absent"].as_str() {
            return Err(Ok(reason.to_owned()));
        }
        worker.description = (text("gpu"), text("compute"), text("driver"));
        Ok(worker)
    }

    /// The next line that it writes.
    fn answer(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|e| e.to_string())?;
        serde_json::from_str(&line).map_err(|_| "the process that uses the GPU ended".to_owned())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already, or hang in a kernel: either way it is over.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Recorder for Worker {
    fn describe(&self) -> (String, String, String) {
        self.description.clone()
    }

    fn run(&mut self, case: &Case) -> Result<Result<Buffers, String>, String> {
        let request = json!({"ptx": case.ptx, "launch": case.launch});
        let answer =
            writeln!(self.requests, "{request}").map_err(|e| e.to_string()).and_then(|()| self.answer());
        let answer = match answer {
            Ok(answer) => answer,
            Err(reason) => json!({"fault": reason}),
        };
        if let Some(fault) = answer["fault"].as_str() {
            *self = Worker::start().map_err(|error| match error {
                Ok(reason) | Err(reason) => reason,
            })?;
            return Ok(Err(format!("a fault on the GPU, of {}: {fault}", case.name)));
        }
        if let Some(reason) = answer["refused"].as_str() {
            return Ok(Err(reason.to_owned()));
        }
        let buffers = answer["buffers"].as_array().ok_or("no buffers")?;
        let bytes = |hex: &Value| hex.as_str().map(literal::bytes_from_hex).transpose();
        buffers.iter().map(bytes).collect::<Result<_, _>>().map(Ok)
    }
}

/// What the process of a [`Worker`] does: a line of JSON for each that it reads, after one about the GPU.
pub fn work() -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let mut say = move |line: Value| writeln!(out, "{line}").and_then(|()| out.flush());
    let gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(absent) => return say(json!({"absent": absent.to_string()})).map_err(|e| e.to_string()),
    };
    let Description { name, compute: (major, minor), cuda, .. } = gpu.description();
    let driver = format!("{}.{}", cuda.0, cuda.1);
    let hello = json!({"gpu": name, "compute": format!("sm_{major}{minor}"), "driver": driver});
    say(hello).map_err(|e| e.to_string())?;
    for line in std::io::stdin().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let request: Value = serde_json::from_str(&line).map_err(|e| e.to_string())?;
        let ptx = request["ptx"].as_str().unwrap_or_default();
        let launch = LaunchSpec::from_json(&request["launch"]).map_err(|errors| errors[0].to_string())?;
        let answer = match execute_on_gpu(&gpu, ptx, &launch, Optimization::Full) {
            Ok(done) => {
                let hex: Vec<Option<String>> =
                    done.buffers.iter().map(|b| b.as_deref().map(literal::hex)).collect();
                json!({"buffers": hex})
            }
            Err(GpuError::Driver(error)) if error.is_hang() || error.is_fault() => {
                json!({"fault": error.to_string()})
            }
            Err(error) => json!({"refused": error.to_string()}),
        };
        say(answer).map_err(|e| e.to_string())?;
    }
    Ok(())
}

type Buffers = Vec<Option<Vec<u8>>>;

/// How it ended.
pub enum Outcome {
    /// A file was written.
    Recorded,
    /// There is no GPU here, and the reason to think so.
    NoGpu(String),
}

/// Records all cases, and says where the engine differs.
pub fn record() -> Result<Outcome, String> {
    let mut gpu = match Worker::start() {
        Ok(gpu) => gpu,
        Err(Ok(reason)) => return Ok(Outcome::NoGpu(reason)),
        Err(Err(message)) => return Err(message),
    };
    let cases = golden::cases(&in_root("."))?;
    println!("{} cases", cases.len());
    let (golden, skipped) = run_all(&mut gpu, cases)?;
    for (reason, count) in skipped {
        println!("{count} cases cannot run here: {reason}");
    }
    let differences: Vec<String> =
        golden.differences().into_iter().map(|(name, how)| format!("{name}: {how}")).collect();
    let path = in_root("tests/golden").join(file_name(&golden));
    std::fs::create_dir_all(in_root("tests/golden"))
        .and_then(|()| std::fs::write(&path, golden.compressed()))
        .map_err(|e| format!("{}: {e}", path.display()))?;
    println!("{} records in {}", golden.records.len(), path.display());
    if differences.is_empty() {
        return Ok(Outcome::Recorded);
    }
    Err(format!("the engine differs in {} cases:\n{}", differences.len(), differences.join("\n")))
}

/// Runs the cases; also gives how many could not run, by reason.
fn run_all(gpu: &mut dyn Recorder, cases: Vec<Case>) -> Result<(Golden, BTreeMap<String, usize>), String> {
    let (name, compute, driver) = gpu.describe();
    let mut golden = Golden { gpu: name, compute, driver, date: today(), records: Vec::new() };
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases {
        let at = |e: String| format!("{}: {e}", case.name);
        // The engine checks what a GPU would not: that the arguments are the kernel's, and every access.
        if let Err(reason) = golden::run(&case) {
            *skipped.entry(format!("the engine cannot run {}: {reason}", case.name)).or_default() += 1;
            continue;
        }
        match gpu.run(&case).map_err(at)? {
            Ok(buffers) => golden.records.push(Record { case, buffers }),
            Err(reason) => *skipped.entry(reason).or_default() += 1,
        }
    }
    Ok((golden, skipped))
}

/// `nvidia-h100-80gb-sm_90.jsonl.gz`
fn file_name(golden: &Golden) -> String {
    let mut name: String = golden
        .gpu
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    format!("{}-{}.jsonl.gz", name.trim_matches('-'), golden.compute)
}

/// The date in UTC: `2026-01-31`.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    date(seconds / 86_400)
}

/// The Gregorian date of a day counted from 1970-01-01 (H. Hinnant, chrono-compatible date algorithms).
fn date(day: u64) -> String {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // March is month 0, so that the leap day is the last.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + u64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The engine in place of a GPU: the recorder and the files can be tested anywhere.
    struct Engine;

    impl Recorder for Engine {
        fn describe(&self) -> (String, String, String) {
            ("The engine (itself)".into(), "sm_90".into(), "0.0".into())
        }

        fn run(&mut self, case: &Case) -> Result<Result<Buffers, String>, String> {
            if case.ptx.contains(".target sm_10") {
                return Ok(Err("no code for this target".into()));
            }
            // As what it says it is.
            let mut case = case.clone();
            if let Some(launch) = case.launch.as_object_mut() {
                launch.entry("arithmetic").or_insert("hopper".into());
            }
            golden::run(&case).map(Ok)
        }
    }

    #[test]
    fn every_case_is_recorded_and_compares() {
        let cases = golden::cases(&in_root(".")).unwrap();
        assert!(cases.len() > 1000, "{} cases", cases.len());
        assert!(cases.iter().any(|case| case.name.starts_with("matmul.wir")));
        let total = cases.len();
        let (recorded, skipped) = run_all(&mut Engine, cases).unwrap();
        assert_eq!(recorded.records.len() + skipped.values().sum::<usize>(), total);
        // Apart from targets, only the forms without a meaning are left out.
        // And statements whose operands no kernel can give, or that are at odd addresses.
        let known = [
            "this target",
            "not in PTX",
            "no semantics here",
            "misaligned",
            "out_of_bounds",
            "sparsity selector",
            "cannot be operand",
            "does not go with",
        ];
        let unknown = |reason: &&String| !known.iter().any(|r| reason.contains(r));
        assert_eq!(skipped.keys().find(unknown), None);
        assert!(recorded.records.len() > 900, "{skipped:?}");
        // What the file says is what was recorded, and the engine agrees with itself.
        let read = Golden::parse(&recorded.to_string()).unwrap();
        assert_eq!(read, recorded);
        let differing = read.differences();
        assert!(differing.is_empty(), "{differing:?}");
        // Results that are all zero would show nothing.
        let dull =
            |record: &&Record| record.buffers.iter().flatten().all(|b| b.iter().all(|byte| *byte == 0));
        assert!(read.records.iter().filter(dull).count() < read.records.len() / 20);
    }

    #[test]
    fn dates() {
        assert_eq!(
            [0, 59, 789, 11_016, 20_484].map(date),
            ["1970-01-01", "1970-03-01", "1972-02-29", "2000-02-29", "2026-01-31"]
        );
    }

    #[test]
    fn files_are_named_after_the_gpu() {
        let (gpu, compute, driver) = Engine.describe();
        let golden = Golden { gpu, compute, driver, date: today(), records: Vec::new() };
        assert_eq!(file_name(&golden), "the-engine-itself-sm_90.jsonl.gz");
    }
}
