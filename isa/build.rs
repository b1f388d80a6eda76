//! Compiles `tables/*.isa` to static data.

// The build script is the language's compiler alone: it uses less of the shared modules than the crate does.
#![allow(dead_code, unused_imports)]
#![deny(clippy::wildcard_enum_match_arm)]

#[path = "src/class.rs"]
mod class;
#[path = "src/hash.rs"]
mod hash;
#[path = "src/lang/mod.rs"]
mod lang;
#[path = "src/release.rs"]
mod release;
#[path = "src/scalar.rs"]
mod scalar;
#[path = "src/target.rs"]
mod target;
#[path = "src/traits.rs"]
mod traits;
#[path = "src/version.rs"]
mod version;

use class::Class;
use release::{Release, ReleaseRange};
use scalar::{ScalarType, TypeClass};
use std::path::Path;
use std::process::ExitCode;
use target::{TARGETS, Target, Variant};
use traits::Traits;
use version::Version;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    for dependency in [
        "tables",
        "src/lang",
        "src/class.rs",
        "src/hash.rs",
        "src/release.rs",
        "src/scalar.rs",
        "src/target.rs",
        "src/traits.rs",
        "src/version.rs",
    ] {
        println!("cargo::rerun-if-changed={dependency}");
    }
    let files = match tables() {
        Ok(files) => files,
        Err(error) => return fail(&format!("cannot read the tables: {error}")),
    };
    let source = match lang::compile(&files).and_then(|tables| lang::generate(&tables)) {
        Ok(source) => source,
        Err(errors) => {
            for lang::Error { at, message } in errors {
                fail(&format!("{}:{}: {message}", files[at.file].0, at.line));
            }
            return ExitCode::FAILURE;
        }
    };
    let out = std::env::var_os("OUT_DIR").map(|dir| Path::new(&dir).join("tables.rs"));
    match out.map(|path| std::fs::write(path, source)) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => fail(&format!("cannot write the static data: {error}")),
        None => fail("OUT_DIR is not set"),
    }
}

/// The table files, `common.isa` first because the others use what it defines.
fn tables() -> std::io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir("tables")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "isa") {
            let name = format!("isa/tables/{}", path.file_name().unwrap_or_default().to_string_lossy());
            files.push((name, std::fs::read_to_string(path)?));
        }
    }
    files.sort_by_key(|(name, _)| (!name.ends_with("/common.isa"), name.clone()));
    Ok(files)
}

fn fail(message: &str) -> ExitCode {
    println!("cargo::error={message}");
    ExitCode::FAILURE
}
