//! The engine against what GPUs computed: the files of `tests/golden`, which `cargo xtask hardware` records.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::PathBuf;
use warpsmith_harness::golden::Golden;

fn compare(path: &PathBuf) -> Result<(), Failed> {
    let golden = Golden::decompress(&std::fs::read(path)?)?;
    let differing: Vec<String> =
        golden.differences().into_iter().map(|(name, how)| format!("{name}: {how}")).collect();
    if differing.is_empty() {
        return Ok(());
    }
    let Golden { gpu, driver, date, .. } = &golden;
    let (count, of) = (differing.len(), golden.records.len());
    let list = differing.join("\n");
    Err(format!("{count} of {of} cases differ from {gpu} (CUDA {driver}, {date}):\n{list}").into())
}

fn main() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<PathBuf> = (std::fs::read_dir(folder).into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".jsonl.gz"))
        .collect();
    paths.sort();
    let mut trials: Vec<Trial> = paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Trial::test(name, move || compare(&path))
        })
        .collect();
    if trials.is_empty() {
        // No results have been recorded: that is not a success.
        let name = "no_golden_files: record them with `cargo xtask hardware` on a machine with a GPU";
        trials.push(
            Trial::test(name, || Err("there are no files in tests/golden".into())).with_ignored_flag(true),
        );
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
