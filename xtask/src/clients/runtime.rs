//! The programs of `cudart/tests/programs`, which nvcc compiles: what they print is compared with what is recorded of a GPU.

use super::{Clients, succeed};
use crate::in_root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A line that differs on purpose.
struct Deviation {
    program: String,
    recorded: String,
    own: String,
}

/// Compiles and runs the programs with our libraries. Gives how many print what is recorded, but for the deviations that are listed, and those that do not.
pub fn programs(clients: &Clients) -> Result<(usize, Vec<String>), String> {
    let folder = in_root("cudart/tests/programs");
    let nvcc = clients.toolkit()?.join("bin/nvcc");
    let listed = fs::read_dir(&folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    let mut sources: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    sources.sort();
    let deviations = deviations(&folder.join("deviations.tsv"))?;
    let (mut differ, count) = (Vec::new(), sources.len());
    for source in sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let binary = in_root("target/clients").join(&name);
        let mut command = Command::new(&nvcc);
        command.args(["-std=c++17", "-arch=compute_90", "-cudart", "shared", "-cudadevrt", "none", "-o"]);
        succeed(command.arg(&binary).arg(&source).arg("-L").arg(&clients.library))?;
        let output = Command::new(&binary).env("LD_LIBRARY_PATH", &clients.library).output();
        let output = output.map_err(|e| format!("cannot run {}: {e}", binary.display()))?;
        let printed = binary.with_extension("out");
        fs::write(&printed, &output.stdout)
            .map_err(|e| format!("cannot write {}: {e}", printed.display()))?;
        let expected = source.with_extension("out");
        let wanted =
            fs::read_to_string(&expected).map_err(|e| format!("cannot read {}: {e}", expected.display()))?;
        let own = String::from_utf8_lossy(&output.stdout).into_owned();
        let listed = |own: &str, wanted: &str| {
            deviations.iter().any(|d| d.program == name && d.recorded == wanted && d.own == own)
        };
        let same = own.lines().count() == wanted.lines().count()
            && own.lines().zip(wanted.lines()).all(|(own, wanted)| own == wanted || listed(own, wanted));
        if !same || !output.status.success() {
            differ.push(format!("{name}: {} differs from {}", printed.display(), expected.display()));
        }
    }
    Ok((count - differ.len(), differ))
}

/// Reads the list: program, what is recorded, what is ours, why.
fn deviations(path: &Path) -> Result<Vec<Deviation>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let mut all = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [program, recorded, own, _reason] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("{}: four columns are expected: {line}", path.display()));
        };
        all.push(Deviation {
            program: program.to_owned(),
            recorded: recorded.to_owned(),
            own: own.to_owned(),
        });
    }
    Ok(all)
}
