//! What checkers find in the suites: errors of the tests themselves, which a GPU passes over, are listed.

use crate::in_root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The list: suite, module of tests, code of the finding, why it is true.
const LISTED: &str = "cuda/tests/clients/findings.tsv";

/// The findings of a suite that are not listed, from the reports that its processes have written: a folder for each module of tests.
pub fn unlisted(suite: &str, reports: &Path) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(in_root(LISTED)).map_err(|e| format!("cannot read {LISTED}: {e}"))?;
    let mut listed = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [of, module, code, _reason] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("{LISTED}: four columns are expected: {line}"));
        };
        listed.insert((of, module, code));
    }
    let mut found = BTreeSet::new();
    if !reports.exists() {
        return Ok(Vec::new());
    }
    let read = |path: &Path| fs::read_dir(path).map_err(|e| format!("cannot read {}: {e}", path.display()));
    for module in read(reports)? {
        let module = module.map_err(|e| format!("cannot read {}: {e}", reports.display()))?.path();
        let name = module.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for report in read(&module)? {
            let path = report.map_err(|e| format!("cannot read {}: {e}", module.display()))?.path();
            let text =
                fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            for line in text.lines() {
                let line: serde_json::Value =
                    serde_json::from_str(line).map_err(|e| format!("{}: {e}", path.display()))?;
                if line["kind"] != "error" {
                    continue;
                }
                let key = line["key"].as_str().unwrap_or_default();
                let code = key.split(':').next().unwrap_or_default().to_owned();
                found.insert((name.clone(), code));
            }
        }
    }
    println!("{suite}: {} kinds of findings", found.len());
    Ok(found
        .into_iter()
        .filter(|(module, code)| !listed.contains(&(suite, module.as_str(), code.as_str())))
        .map(|(module, code)| {
            format!("{suite}: {code} in {module} is not in {LISTED}: {}", reports.display())
        })
        .collect())
}
