//! Kernels of Triton give what NumPy says: the modules of `tests/real/numpy`, printed and read again, under several schedules and with all checkers
//! silent. `tests/real/src/triton_numpy` makes modules, launches and expectations. One trial a module.

use flate2::read::GzDecoder;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use warpsmith::diag::Language;
use warpsmith::interp::{Fault, Program, Schedule};
use warpsmith::launch::{Execution, execute, execute_observed};
use warpsmith::ptx::{self, ValidatedModule};
use warpsmith::watch::{Checkers, Selection, Sources};
use warpsmith_filetests::scan;
use warpsmith_harness::runs::{Run, runs};

/// Fewer kernels than this and the folder is damaged.
const AT_LEAST: usize = 42;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/numpy");
    let entries = std::fs::read_dir(folder).expect("the folder is part of the repository");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut trials = Vec::new();
    let (mut kernels, mut modules) = (0, 0);
    for path in paths {
        let name = path.file_name().expect("a listed file has a name").to_string_lossy().into_owned();
        if name.ends_with(".ptx.gz") {
            modules += 1;
        }
        let Some(kernel) = name.strip_suffix(".json.gz") else { continue };
        kernels += 1;
        for (target, run) in cases(&path) {
            let (module, run) = (path.with_file_name(format!("{kernel}.{target}.ptx.gz")), Arc::new(run));
            trials.push(Trial::test(format!("{kernel}.{target}"), move || agrees(&module, &run)));
        }
    }
    let complete = if kernels < AT_LEAST {
        Err(format!("only {kernels} kernels").into())
    } else if modules != trials.len() {
        Err(format!("{modules} modules and {} launches", trials.len()).into())
    } else {
        Ok(())
    };
    trials.push(Trial::test("the folder is complete", move || complete));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn unpacked(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// The launch of each target with what is expected of it.
fn cases(path: &Path) -> BTreeMap<String, Run> {
    let text = unpacked(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let description: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let launches = description["launches"].as_object().expect("a kernel has launches");
    let expects: String = description["expect"]
        .as_array()
        .expect("a kernel has results")
        .iter()
        .map(|expect| format!("//; expect: {expect}\n"))
        .collect();
    launches
        .iter()
        .map(|(target, launch)| {
            let text = format!("//; run: {launch}\n{expects}");
            let read = scan(&text, Language::Ptx).and_then(|directives| runs(&directives));
            let mut read = read.unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display()));
            (target.clone(), read.remove(0))
        })
        .collect()
}

fn agrees(path: &Path, run: &Run) -> Result<(), Failed> {
    let original = unpacked(path)?;
    let parsed = ptx::parse(&original);
    let text = ptx::print(&parsed.module);
    let tree = ValidatedModule::parse(&text).map_err(|findings| format!("{findings}"))?;
    if *tree != parsed.module {
        return Err("the printed text has another tree than the original".into());
    }
    let program = Program::load(&tree).map_err(|errors| format!("{errors:#?}"))?;
    let orders = [(None, None), (Some(Schedule::Random), Some(7)), (Some(Schedule::Adversarial), None)];
    for (schedule, seed) in orders {
        let mut launch = run.launch.clone();
        (launch.schedule, launch.seed) = (schedule, seed);
        let how = format!("schedule {schedule:?}, seed {seed:?}");
        expected(run, execute(&program, &launch)).map_err(|what| format!("{how}: {what}"))?;
    }
    let mut checkers = Checkers::new(Selection::all());
    let watched = execute_observed(&program, &run.launch, std::io::sink(), &mut checkers.observer());
    let report = checkers.into_report();
    expected(run, watched).map_err(|what| format!("watched: {what}"))?;
    if report.is_empty() {
        return Ok(());
    }
    let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Err(report.text(&Sources::new(module, &text, &tree)).into())
}

fn expected(run: &Run, outcome: Result<Execution, Fault>) -> Result<(), String> {
    let execution = outcome.map_err(|fault| fault.to_string())?;
    run.expects.iter().try_for_each(|expect| expect.check(&execution))
}
