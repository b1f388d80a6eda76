//! The log: what fails, on standard error or in the file that `WARPSMITH_LOG` names.

use crate::error::{Code, Error};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Where the log goes.
enum Log {
    /// Only what the user must know, on standard error.
    Quiet,
    /// Every call that fails, on standard error.
    Verbose,
    /// Every call that fails, in a file.
    File(Mutex<File>),
}

fn log() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(|| match std::env::var_os("WARPSMITH_LOG") {
        None => Log::Quiet,
        Some(path) if path == "stderr" => Log::Verbose,
        Some(path) => match OpenOptions::new().create(true).append(true).open(&path) {
            Ok(file) => Log::File(Mutex::new(file)),
            Err(error) => {
                write(&format!("cannot write the log to {}: {error}", path.display()));
                Log::Verbose
            }
        },
    })
}

/// A line on standard error. If that is closed, it is dropped.
fn write(line: &str) {
    writeln!(std::io::stderr().lock(), "warpsmith: {line}").unwrap_or_default();
}

/// A call that has failed.
pub fn failed(name: &str, error: &Error) {
    // What clients ask for all the time to see whether it is so.
    if matches!(error.code, Code::NOT_READY) {
        return;
    }
    let line = format!("{name}: {error}");
    match log() {
        Log::Quiet if error.code == Code::NOT_SUPPORTED => once(&line),
        Log::Quiet => {}
        Log::Verbose => write(&line),
        Log::File(file) => to_file(file, &line),
    }
}

/// What the user must know, but not each time that a program asks for it.
pub fn once(line: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned()) {
        always(line);
    }
}

/// What the user must know, wherever the log goes.
pub fn always(line: &str) {
    write(line);
    if let Log::File(file) = log() {
        to_file(file, line);
    }
}

fn to_file(file: &Mutex<File>, line: &str) {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = writeln!(file, "{line}") {
        write(&format!("cannot write the log: {error}"));
    }
}
