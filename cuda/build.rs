//! Makes Rust tables of the tables in `data/`, and a function that says so for every entry point that nothing in `src/api/` defines.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

type Anything<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Anything<()> {
    println!("cargo:rerun-if-changed=data");
    println!("cargo:rerun-if-changed=src/api");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("entries.rs"), entries()?)?;
    std::fs::write(out.join("errors.rs"), errors()?)?;
    Ok(())
}

/// The rows of a table, without comments.
fn rows(path: &str) -> Anything<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    Ok(lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

/// The functions that the files of a folder define with `api!`, with their modules.
fn defined(folder: &Path) -> Anything<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(&path)?.lines() {
            let name = line.strip_prefix("    fn cu").and_then(|rest| rest.split('(').next());
            if let Some(name) = name {
                found.insert(format!("cu{name}"), module.clone());
            }
        }
    }
    Ok(found)
}

fn entries() -> Anything<String> {
    let defined = defined(Path::new("src/api"))?;
    let (mut table, mut stubs) = (String::new(), String::new());
    for row in rows("data/symbols.tsv")? {
        let [symbol, name, version] = row.as_slice() else {
            return Err(format!("data/symbols.tsv: {row:?} has not three columns").into());
        };
        let (path, here) = match defined.get(symbol) {
            Some(module) => (format!("crate::api::{module}::{symbol}"), true),
            None => {
                writeln!(
                    stubs,
                    "    #[unsafe(no_mangle)] pub extern \"C\" fn {symbol}() -> u32 {{ crate::ffi::missing(\"{symbol}\") }}"
                )?;
                (format!("stubs::{symbol}"), false)
            }
        };
        writeln!(
            table,
            "    Entry {{ symbol: \"{symbol}\", name: \"{name}\", version: {version}, address: Address({path} as *const ()), here: {here} }},"
        )?;
    }
    Ok(format!(
        "/// Every function of the driver API.\npub static ENTRIES: &[Entry] = &[\n{table}];\n\n/// What is not there yet.\n#[allow(non_snake_case, missing_docs)]\npub mod stubs {{\n{stubs}}}\n"
    ))
}

fn errors() -> Anything<String> {
    let (mut constants, mut table) = (String::new(), String::new());
    for row in rows("data/errors.tsv")? {
        let [number, name, text] = row.as_slice() else {
            return Err(format!("data/errors.tsv: {row:?} has not three columns").into());
        };
        let short = name.trim_start_matches("CUDA_ERROR_").trim_start_matches("CUDA_");
        writeln!(constants, "    /// `{name}`: {text}\n    pub const {short}: Code = Code({number});")?;
        writeln!(table, "    ({number}, c\"{name}\", c\"{text}\"),")?;
    }
    Ok(format!(
        "impl Code {{\n{constants}}}\n\n/// Number, name and text of every code.\npub static CODES: &[(u32, &CStr, &CStr)] = &[\n{table}];\n"
    ))
}
