//! Does the net hold? Faults are planted in a copy of this repository, and `warpsmith fuzz` has to find each.
//!
//! `mutants.tsv` has a row for each fault: an area, a file, a piece of it that stands there once, and what is planted in its place, in which `PLANTED` is
//! true while the fault is switched on. All are compiled into one program, so that a hundred faults cost one build; the environment variable
//! `WARPSMITH_PLANTED` of that program, and of no other, says which is on. Nothing of this is in the code that users get.

use crate::{in_root, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const TABLE: &str = include_str!("../mutants.tsv");

/// What is appended to the root of each crate that has a fault.
const SWITCH: &str = "
/// True while a planted fault is on.
#[doc(hidden)]
pub fn planted(fault: u32) -> bool {
    static ON: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ON.get_or_init(|| std::env::var(\"WARPSMITH_PLANTED\").ok().and_then(|n| n.parse().ok()).unwrap_or(0)) == fault
}
";

/// How many spoilt statements are asked about, with a fault of the validator and without.
const STATEMENTS: &str = "1500";

struct Mutant<'a> {
    number: u32,
    area: &'a str,
    file: &'a str,
    find: &'a str,
    replace: &'a str,
}

impl Mutant<'_> {
    /// ptxas checks what the validator checks: no program of ours needs its leniency.
    fn is_of_validator(&self) -> bool {
        self.area == "validator"
    }
}

/// What `warpsmith fuzz` is asked, and how much processor time it may take.
#[derive(Clone, Copy)]
struct Search<'a> {
    how: &'a [&'a str],
    limit: Duration,
}

fn mutants() -> Result<Vec<Mutant<'static>>, String> {
    let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.zip(1..)
        .map(|(line, number)| match line.split('\t').collect::<Vec<_>>().as_slice() {
            &[area, file, find, replace] => Ok(Mutant { number, area, file, find, replace }),
            _ => Err(format!("row {number} of mutants.tsv: expected four columns")),
        })
        .collect()
}

/// Reads which rows are asked for: `all`, or numbers and ranges such as `10,29,82-128`.
fn rows(text: &str) -> Result<Vec<RangeInclusive<u32>>, String> {
    if text == "all" {
        return Ok(vec![1..=u32::MAX]);
    }
    let number =
        |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is not a row of mutants.tsv"));
    text.split(',')
        .map(|part| match part.split_once('-') {
            Some((first, last)) => Ok(number(first)?..=number(last)?),
            None => number(part).map(|row| row..=row),
        })
        .collect()
}

/// Plants all faults in a copy below `target/`, builds it, and has those of the rows asked for (`all`, `10,82-128`) looked for by so many threads, each at
/// most `seconds` of processor time a thread.
pub fn run(seconds: u64, asked_rows: &str, jobs: u32) -> Result<(), String> {
    let asked_rows = rows(asked_rows)?;
    let mutants = mutants()?;
    let copy = in_root("target/mutants/tree");
    let build = in_root("target/mutants/build");
    copy_tree(&copy, &planted(&mutants)?)?;
    let status = Command::new("cargo")
        .args(["build", "--release", "-p", "warpsmith-cli", "--no-default-features"])
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", &build)
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("the copy with planted faults is not compiled".to_owned());
    }
    let program = build.join("release/warpsmith");
    let searching = Search { how: &["--first"], limit: Duration::from_secs(seconds * u64::from(jobs)) };
    let fuzz = |number: u32, Search { how, limit }: Search| -> Result<BTreeSet<String>, String> {
        let mut command = Command::new(&program);
        command.args(["fuzz", "--jobs", &jobs.to_string()]).args(how);
        command.env("WARPSMITH_PLANTED", number.to_string());
        let output = output_within(&mut command, limit).map_err(|e| format!("{}: {e}", program.display()))?;
        let Some(output) = output else { return Ok(BTreeSet::new()) };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.code() {
            Some(0 | 1) => {
                Ok(said.lines().filter_map(|line| line.strip_prefix("FAIL ")).map(str::to_owned).collect())
            }
            Some(_) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            // A signal: what overflows its stack cannot say so.
            None => Ok(BTreeSet::from([format!("crash: {}", output.status)])),
        }
    };
    if let Some(found) = fuzz(0, searching)?.first() {
        return Err(format!("without a fault there is a failure: {found}"));
    }
    let asked = |mutant: &&Mutant| asked_rows.iter().any(|rows| rows.contains(&mutant.number));
    // Where the validator and ptxas differ without a fault counts for nothing; all are asked about, or some would count with one.
    let statements = Search { how: &["--spoilt", "--iterations", STATEMENTS], limit: Duration::MAX };
    let mut differences = BTreeSet::new();
    if mutants.iter().filter(asked).any(Mutant::is_of_validator) {
        differences = fuzz(0, statements)?;
    }
    let mut page =
        String::from("| Fault | Area | File | Planted | Found by | Seconds |\n|---|---|---|---|---|---|\n");
    let (mut caught, mut count) = (0, 0);
    for mutant in mutants.iter().filter(asked) {
        let start = Instant::now();
        let mut found = fuzz(mutant.number, searching)?.pop_first();
        if found.is_none() && mutant.is_of_validator() {
            found = fuzz(mutant.number, statements)?.difference(&differences).next().cloned();
        }
        count += 1;
        caught += u32::from(found.is_some());
        let oracle = found.as_deref().and_then(|cause| cause.split(':').next()).unwrap_or("**missed**");
        let Mutant { number, area, file, replace, .. } = mutant;
        let row = format!(
            "| {number} | {area} | `{file}` | `{}` | {oracle} | {:.1} |",
            replace.replace('|', "\\|"),
            start.elapsed().as_secs_f64()
        );
        println!("{row}");
        writeln!(page, "{row}").map_err(|e| e.to_string())?;
    }
    println!("{caught} of {count} found");
    let path = in_root("target/mutants/table.md");
    std::fs::write(&path, page).map_err(|e| format!("{}: {e}", path.display()))
}

/// What a command prints, or `None` if it has taken so much processor time (elsewhere than on Linux: real time) without an end: what other programs do
/// at the same time must not decide what is found.
fn output_within(command: &mut Command, limit: Duration) -> std::io::Result<Option<Output>> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (start, id) = (Instant::now(), child.id());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let stdout = scope.spawn(|| everything(stdout));
        let stderr = scope.spawn(|| everything(stderr));
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if processor_time(id).unwrap_or_else(|| start.elapsed()) > limit {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        let read = |thread: std::thread::ScopedJoinHandle<std::io::Result<Vec<u8>>>| {
            thread.join().map_err(|_| std::io::Error::other("the thread that reads its output panicked"))?
        };
        let (stdout, stderr) = (read(stdout)?, read(stderr)?);
        Ok(status.map(|status| Output { status, stdout, stderr }))
    })
}

fn everything(from: Option<impl Read>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.map_or(Ok(0), |mut from| from.read_to_end(&mut bytes))?;
    Ok(bytes)
}

/// What a process and those of its children that have ended have taken: fields 14 to 17 of Linux's `/proc/PID/stat`, in hundredths of a second. The
/// program's name, which may have spaces, ends with the last parenthesis, two fields in.
fn processor_time(id: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4).map(|field| field.parse::<u64>().ok());
    Some(Duration::from_millis(ticks.sum::<Option<u64>>()? * 10))
}

/// The files that have faults or the switch, as they are with them.
fn planted(mutants: &[Mutant]) -> Result<BTreeMap<String, String>, String> {
    let read = |file: &str| std::fs::read_to_string(in_root(file)).map_err(|e| format!("{file}: {e}"));
    let mut files = BTreeMap::new();
    let mut crates = BTreeSet::new();
    for mutant in mutants {
        let text = match files.remove(mutant.file) {
            Some(text) => text,
            None => read(mutant.file)?,
        };
        files.insert(mutant.file.to_owned(), plant(&text, mutant)?);
        crates.insert(mutant.file.split("/src/").next().unwrap_or_default());
    }
    for folder in crates {
        let file = format!("{folder}/src/lib.rs");
        let text = match files.remove(&file) {
            Some(text) => text,
            None => read(&file)?,
        };
        files.insert(file, text + SWITCH);
    }
    Ok(files)
}

/// Copies what git tracks or would, with faults planted, and removes what an earlier copy left that is gone since. A file that is already there and the
/// same is left alone, so that the build begins with what has changed.
fn copy_tree(copy: &Path, planted: &BTreeMap<String, String>) -> Result<(), String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output();
    let listed = listed.map_err(|e| format!("git: {e}"))?.stdout;
    let mut kept = BTreeSet::new();
    for file in String::from_utf8_lossy(&listed).split('\0').filter(|file| !file.is_empty()) {
        let (from, to) = (in_root(file), copy.join(file));
        // A tracked file that is deleted in the working tree is none.
        let Ok(bytes) = std::fs::read(&from) else { continue };
        let bytes = planted.get(file).map_or(bytes, |text| text.clone().into_bytes());
        kept.insert(to.clone());
        if std::fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        let folder = to.parent().map_or(Ok(()), std::fs::create_dir_all);
        folder.and_then(|()| std::fs::write(&to, bytes)).map_err(|e| format!("{}: {e}", to.display()))?;
    }
    remove_others(copy, &kept).map_err(|e| format!("{}: {e}", copy.display()))
}

/// Removes the files of a folder that are not among these, whatever is in `target` folders excepted.
fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_dir() {
            if !kept.contains(&path) {
                std::fs::remove_file(path)?;
            }
        } else if entry.file_name() != "target" {
            remove_others(&path, kept)?;
        }
    }
    Ok(())
}

/// A text with one of the faults that it has a place for.
fn plant(text: &str, mutant: &Mutant) -> Result<String, String> {
    let count = text.matches(mutant.find).count();
    if count != 1 {
        return Err(format!(
            "fault {}: `{}` stands {count} times in {}",
            mutant.number, mutant.find, mutant.file
        ));
    }
    let planted = mutant.replace.replace("PLANTED", &format!("crate::planted({})", mutant.number));
    Ok(text.replace(mutant.find, &planted))
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_are_numbers_and_ranges() {
        assert_eq!(super::rows("10,82-128"), Ok(vec![10..=10, 82..=128]));
        assert!(super::rows("10,82-").is_err() && super::rows("every").is_err());
    }

    #[test]
    fn every_fault_has_its_place() {
        for mutant in super::mutants().expect("a table of four columns") {
            let text = std::fs::read_to_string(crate::in_root(mutant.file)).expect(mutant.file);
            let count = text.matches(mutant.find).count();
            assert_eq!(count, 1, "fault {}: `{}` in {}", mutant.number, mutant.find, mutant.file);
            assert!(mutant.replace.contains("PLANTED"), "fault {} has no switch", mutant.number);
        }
    }
}
