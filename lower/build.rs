//! Compiles `rules/*.rules` to static data.

// The build script is the language's compiler alone.
#![allow(dead_code)]

#[path = "src/rules/generate.rs"]
mod generate;
#[path = "src/rules/language.rs"]
mod language;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    for dependency in ["build.rs", "rules", "src/rules/language.rs", "src/rules/generate.rs"] {
        println!("cargo::rerun-if-changed={dependency}");
    }
    let mut files = match rule_files() {
        Ok(files) => files,
        Err(error) => return fail(&format!("cannot read the rules: {error}")),
    };
    files.sort();
    let mut failed = false;
    let mut parsed = Vec::new();
    for (name, text) in files {
        match language::parse(&text) {
            Ok(rules) => parsed.push((name, rules)),
            Err(errors) => {
                failed = true;
                for error in errors {
                    fail(&format!("rules/{name}:{}: {}", error.line, error.message));
                }
            }
        }
    }
    let Some(out) = std::env::var_os("OUT_DIR").map(|dir| Path::new(&dir).join("rules.rs")) else {
        return fail("OUT_DIR is not set");
    };
    if let Err(error) = std::fs::write(out, generate::generate(&parsed)) {
        return fail(&format!("cannot write the rules: {error}"));
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn fail(message: &str) -> ExitCode {
    println!("cargo::error={message}");
    ExitCode::FAILURE
}

fn rule_files() -> std::io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir("rules")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".rules") {
            files.push((name, std::fs::read_to_string(entry.path())?));
        }
    }
    Ok(files)
}
