//! The file tests of the passes: each `.wir` file under `opt/` names the passes and holds what they leave. `BLESS=1` rewrites them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use warpsmith_filetests::runner::{Failed, Made, Test, Trial, file_tests, files, main as run_trials, read};
use warpsmith_ir as ir;
use warpsmith_lower::{Options, Passes, Pipeline};

fn main() -> ExitCode {
    let mut trials = file_tests(&folder(), "", opt);
    trials.push(Trial::test("every_pass_is_documented_and_tested", documented_and_tested));
    run_trials(trials)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opt")
}

fn opt(test: &Test<'_>) -> Result<Made, Failed> {
    if test.mode != "opt" {
        return Err(test.unknown());
    }
    let pipeline = Pipeline::parse(test.argument).map_err(|e| e.to_string())?;
    let mut module = ir::parse_module(test.source).map_err(|errors| errors.to_string())?;
    ir::verify(&module).map_err(|errors| errors.to_string())?;
    // What a pass says it has kept must hold in every file.
    let mut options = Options { verify_each: true, ..Options::default() };
    pipeline.run(&mut module, &mut options).map_err(|errors| errors.to_string())?;
    Ok(Made::Output(module.to_string()))
}

/// A pass is a row of the table in `docs/lowering.md`, and the first that a file here is about.
fn documented_and_tested() -> Result<(), Failed> {
    let docs = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/lowering.md"))?;
    let tested: Vec<String> = files(&folder()).iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let mut missing = Vec::new();
    for (name, summary) in Passes::standard().list() {
        if !docs.contains(&format!("\n| `{name}` |")) {
            missing.push(format!("`{name}` has no row in the table of passes in docs/lowering.md"));
        }
        let begins = |text: &String| {
            text.lines()
                .filter_map(|line| line.strip_prefix(";; test opt="))
                .any(|passes| passes.split(',').next().is_some_and(|first| first.trim() == name))
        };
        if !tested.iter().any(begins) {
            missing.push(format!("`{name}` has no file in lower/tests/opt"));
        }
        if summary.is_empty() {
            missing.push(format!("`{name}` has no summary"));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n").into()) }
}
