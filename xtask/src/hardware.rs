//! `cargo xtask hardware`: runs the golden cases on the GPU at hand and records what it computed in `tests/golden/`.

use crate::in_root;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};
use warpsmith::gpu::{Description, Gpu, Optimization};
use warpsmith::launch::{GpuError, LaunchSpec, execute_on_gpu};
use warpsmith_harness::golden::{self, Case, Golden, Record};

/// What the recorder needs of a GPU.
trait Recorder {
    /// Its name, its compute capability (`sm_90`), and the version of CUDA that its driver supports.
    fn describe(&self) -> (String, String, String);

    /// Runs a kernel and gives the buffers. `Ok(Err)`: this GPU cannot run this text, and why. `Err`: nothing more can be run.
    fn run(&mut self, ptx: &str, launch: &LaunchSpec) -> Result<Result<Buffers, String>, String>;
}

impl Recorder for Gpu {
    fn describe(&self) -> (String, String, String) {
        let Description { name, compute: (major, minor), cuda, .. } = self.description();
        (name.clone(), format!("sm_{major}{minor}"), format!("{}.{}", cuda.0, cuda.1))
    }

    fn run(&mut self, ptx: &str, launch: &LaunchSpec) -> Result<Result<Buffers, String>, String> {
        match execute_on_gpu(self, ptx, launch, Optimization::Full) {
            Ok(done) => Ok(Ok(done.buffers)),
            Err(GpuError::Driver(error)) if error.is_hang() => Err(error.to_string()),
            Err(GpuError::Driver(error)) if error.is_fault() => {
                self.reset().map_err(|e| format!("{error}, and then {e}"))?;
                Ok(Err(format!("a fault on the GPU: {error}")))
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }
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
    let mut gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(absent) => return Ok(Outcome::NoGpu(absent.to_string())),
    };
    let cases = golden::cases(&in_root("."))?;
    println!("{} cases", cases.len());
    let (golden, skipped) = run_all(&mut gpu, cases)?;
    for (reason, count) in skipped {
        println!("{count} cases cannot run here: {reason}");
    }
    let differences: Vec<String> = (golden.records.iter())
        .filter_map(|record| Some(format!("{}: {}", record.case.name, record.difference()?)))
        .collect();
    let path = in_root("tests/golden").join(file_name(&golden));
    std::fs::create_dir_all(in_root("tests/golden"))
        .and_then(|()| std::fs::write(&path, golden.to_string()))
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
        let launch = LaunchSpec::from_json(&case.launch).map_err(|errors| at(errors[0].to_string()))?;
        // The engine checks what a GPU would not: that the arguments are the kernel's, and every access.
        if let Err(reason) = golden::run(&case) {
            *skipped.entry(format!("the engine cannot run {}: {reason}", case.name)).or_default() += 1;
            continue;
        }
        match gpu.run(&case.ptx, &launch).map_err(at)? {
            Ok(buffers) => golden.records.push(Record { case, buffers }),
            Err(reason) => *skipped.entry(reason).or_default() += 1,
        }
    }
    Ok((golden, skipped))
}

/// `nvidia-h100-80gb-sm_90.jsonl`
fn file_name(golden: &Golden) -> String {
    let mut name: String = golden
        .gpu
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    format!("{}-{}.jsonl", name.trim_matches('-'), golden.compute)
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
    use warpsmith::launch::execute;
    use warpsmith::ptx::ValidatedModule;

    /// The engine in place of a GPU: the recorder and the files can be tested anywhere.
    struct Engine;

    impl Recorder for Engine {
        fn describe(&self) -> (String, String, String) {
            ("The engine (itself)".into(), "sm_90".into(), "0.0".into())
        }

        fn run(&mut self, ptx: &str, launch: &LaunchSpec) -> Result<Result<Buffers, String>, String> {
            if ptx.contains(".target sm_10") {
                return Ok(Err("no code for this target".into()));
            }
            let module = ValidatedModule::parse(ptx).map_err(|errors| errors[0].message.clone())?;
            let program = warpsmith::Program::load_entry(&module, &launch.entry)
                .map_err(|errors| errors[0].message.clone())?;
            execute(&program, launch).map(|done| Ok(done.buffers)).map_err(|fault| fault.to_string())
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
        let unknown =
            |reason: &&String| !["this target", "fma.rz", "testp.f32"].iter().any(|r| reason.contains(r));
        assert_eq!(skipped.keys().find(unknown), None);
        assert!(recorded.records.len() > 900, "{skipped:?}");
        // What the file says is what was recorded, and the engine agrees with itself.
        let read = Golden::parse(&recorded.to_string()).unwrap();
        assert_eq!(read, recorded);
        let differing: Vec<_> =
            read.records.iter().filter_map(|r| Some((&r.case.name, r.difference()?))).collect();
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
        assert_eq!(file_name(&golden), "the-engine-itself-sm_90.jsonl");
    }
}
