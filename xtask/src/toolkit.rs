//! `cargo xtask toolkit RELEASE`: what a release of ptxas that the tables do not know yet does otherwise than the newest that they know. With
//! this begins the work on a new release (`docs/toolkits.md`).

use crate::strings::{self, Likeness};
use crate::{in_root, oracle, tools};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use warpsmith::isa::{TARGETS, Target, Version};
use warpsmith_harness::ptxas::{Ptxas, Toolbox};

/// A line of progress after so many rows.
const STEP: usize = 2000;

/// Installs the release, compares it with the newest of ours or another one of ours: asks it about every recorded row, reads the words in it, and prints what is new.
pub fn compare(release: &str, against: Option<&str>) -> Result<(), String> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !release.split_once('.').is_some_and(|(major, minor)| number(major) && number(minor)) {
        return Err(format!("a release is two numbers, as 13.6; `{release}` is none"));
    }
    let toolbox = Toolbox::search([tools::install()?.as_path()]);
    let ours = match against {
        Some(release) => {
            toolbox.release(release).ok_or_else(|| format!("unknown release {release} of ptxas"))?
        }
        None => toolbox.newest().ok_or("no ptxas is installed")?,
    };
    let path = tools::install_release(release)?;
    let theirs =
        Ptxas::probe(&path).ok_or_else(|| format!("{} does not answer as ptxas does", path.display()))?;
    println!(
        "ptxas {} (`.version` up to {}) against {} ({})",
        theirs.release, theirs.newest, ours.release, ours.newest
    );

    println!("\nversions: the tables end with {}, this ptxas with {}", Version::LATEST, theirs.newest);
    let targets = |known: fn(&Ptxas, Target) -> bool| {
        let names: Vec<String> =
            (TARGETS.iter().filter(|row| known(&theirs, row.target) != known(ours, row.target)))
                .map(|row| row.target.to_string())
                .collect();
        names.join(" ")
    };
    println!("targets of the tables that one of the two lacks: {}", or_none(&targets(Ptxas::knows)));
    println!("targets that the tables lack: {}", or_none(&theirs.unknown_targets.join(" ")));

    let known = strings::known();
    let read = |ptxas: &Ptxas| {
        let bytes =
            std::fs::read(&ptxas.path).map_err(|e| format!("cannot read {}: {e}", ptxas.path.display()))?;
        Ok::<_, String>(strings::words(&bytes, &known))
    };
    let (new, old) = (read(&theirs)?, read(ours)?);
    let (mut among, mut apart) = (Vec::new(), Vec::new());
    for (word, near) in new.iter().filter(|(word, _)| !old.contains_key(*word)) {
        match (strings::likeness(word, &known), near) {
            (Likeness::Known, _) | (Likeness::Unlike, false) => {}
            (_, true) => among.push(word.as_str()),
            (Likeness::Like, false) => apart.push(word.as_str()),
        }
    }
    println!("\nwords in the program that neither {} nor the tables have, among words of PTX:", ours.release);
    println!("  {}", or_none(&among.join("\n  ")));
    println!("\nothers that look like words of PTX:\n  {}", or_none(&apart.join("\n  ")));

    println!("\nrecorded rows with another verdict:");
    let changes = compare_rows(&theirs, ours)?;
    let mut kinds: BTreeMap<(bool, &str), Vec<&Change>> = BTreeMap::new();
    for change in &changes {
        kinds.entry((change.accepted, change.message.as_str())).or_default().push(change);
    }
    for ((accepted, message), rows) in kinds {
        let what = if accepted { "accepted now, was" } else { "rejected now:" };
        println!("  {} rows {what} {message}", rows.len());
        for row in rows.iter().take(SHOWN) {
            println!("    {}  {}", row.id, row.statement);
        }
    }
    println!("{} rows have another verdict", changes.len());
    Ok(())
}

/// So many rows of a kind are shown.
const SHOWN: usize = 5;

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

/// A row whose verdict is another one.
struct Change {
    id: String,
    statement: String,
    accepted: bool,
    /// What the release that rejects it says.
    message: String,
}

/// Asks the new release about all rows of targets that it knows, and where it differs from the record, ours too.
fn compare_rows(theirs: &Ptxas, ours: &Ptxas) -> Result<Vec<Change>, String> {
    let mut rows = Vec::new();
    for path in oracle::tables(&in_root("tests/oracle"))? {
        rows.extend(oracle::rows(&path)?);
    }
    rows.retain(|row| row.target().is_ok_and(|target| theirs.knows(target) && ours.knows(target)));
    println!("  asking about {} rows", rows.len());
    let (next, changes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(change) = changed(row, theirs, ours) {
                changes.lock().unwrap_or_else(PoisonError::into_inner).push(change);
            }
            let done = next.load(Ordering::Relaxed);
            if done.is_multiple_of(STEP) {
                eprintln!("{done} of {} rows", rows.len());
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let mut changes = changes.into_inner().unwrap_or_else(PoisonError::into_inner);
    changes.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(changes)
}

fn changed(row: &oracle::Row, theirs: &Ptxas, ours: &Ptxas) -> Option<Change> {
    let target = row.target().ok()?;
    // Checking is much faster than compiling, and most rows stay what they were.
    let recorded = row.verdict == "ok";
    if theirs.check(&row.module, target).is_ok() == recorded {
        return None;
    }
    let (new, old) = (theirs.assemble(&row.module, target), ours.assemble(&row.module, target));
    let accepted = new.is_ok();
    if accepted == old.is_ok() {
        return None;
    }
    let said = new.err().or(old.err()).unwrap_or_default();
    // `file, line 9; error : ...`; kinds are distinguished by what is said behind the line.
    let message = oracle::first_line(&said);
    let message = message.split_once("; ").map_or(message, |(_, message)| message).to_owned();
    let statement =
        row.module.lines().rev().find(|line| !matches!(*line, "}" | "ret;" | "")).unwrap_or_default();
    Some(Change { id: row.id.clone(), statement: statement.to_owned(), accepted, message })
}
