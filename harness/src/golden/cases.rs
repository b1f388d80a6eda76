//! What is run on a GPU: vectors for the statements of `tests/oracle`, and kernels.

use super::{Case, Check, atomics, matrix, tensor, vectors};
use crate::runs::runs;
use serde_json::Value;
use std::path::{Path, PathBuf};
use warpsmith::diag::Language;
use warpsmith::{Compiler, DEFAULT_TARGET, ir};
use warpsmith_filetests::scan;

/// At most so many statements of a family.
const PER_FAMILY: usize = 24;

/// All cases, from the files below the workspace's folder.
pub fn cases(root: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    type Make = fn(&str) -> Option<(String, Case)>;
    let parts: [(&str, Make); 3] =
        [("arith", vectors::case), ("data", vectors::case), ("sync", vectors::of_warp)];
    for (part, make) in parts {
        let rows = read(&root.join(format!("tests/oracle/{part}.tsv")))?;
        let mut of_family: Vec<(String, usize)> = Vec::new();
        for row in rows.lines().skip(1) {
            let Some((family, case)) = make(row) else { continue };
            let at = of_family.iter().position(|(name, _)| *name == family);
            let at = at.unwrap_or_else(|| {
                of_family.push((family, 0));
                of_family.len() - 1
            });
            if of_family[at].1 < PER_FAMILY {
                of_family[at].1 += 1;
                cases.push(case);
            }
        }
    }
    cases.extend(atomics::cases());
    cases.extend(matrix::cases(&read(&root.join("tests/oracle/matrix.tsv"))?));
    cases.extend(tensor::cases());
    for folder in ["examples", "tests/filetests/run"] {
        for path in files(&root.join(folder))? {
            cases.extend(kernels(&path)?);
        }
    }
    Ok(cases)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

/// The runs of a file that end without a fault.
fn kernels(path: &Path) -> Result<Vec<Case>, String> {
    let Some(language) = Language::of_path(path) else { return Ok(Vec::new()) };
    let source = read(path)?;
    let at = |what: String| format!("{}: {what}", path.display());
    let found = scan(&source, language).map_err(|errors| at(errors[0].to_string()))?;
    let runs = runs(&found).map_err(|errors| at(errors[0].to_string()))?;
    let text = match language {
        Language::Ptx => source,
        Language::Wir => {
            let module = ir::parse_module(&source).map_err(|errors| at(errors[0].message.clone()))?;
            let compiler = Compiler::new(module.target.unwrap_or(DEFAULT_TARGET));
            compiler.compile(&module).map_err(|errors| at(errors[0].message.clone()))?.text
        }
    };
    let descriptions = found.iter().filter(|directive| directive.name == "run");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut cases = Vec::new();
    for (run, description) in runs.iter().zip(descriptions).filter(|(run, _)| run.fault.is_none()) {
        let launch: Value = serde_json::from_str(&description.text).map_err(|e| at(e.to_string()))?;
        // It reads what nothing has written.
        if launch.get("poison").is_some() {
            continue;
        }
        let name = format!("{name}:{}", run.line);
        cases.push(Case { name, ptx: text.clone(), launch, check: Check::Bits });
    }
    Ok(cases)
}
