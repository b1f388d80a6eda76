//! The IR's own meaning against what it should be, and against the text that is emitted for it.

use std::path::PathBuf;
use warpsmith::directives::{self, Language};
use warpsmith::execute::execute;
use warpsmith::interp::Program;

/// The files of a folder with an extension, in order.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

#[test]
fn examples_hold_on_the_ir_s_own_meaning() {
    let mut failures = Vec::new();
    let mut launches = 0;
    for path in files("examples", "wir") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        let scanned = directives::scan(&source, Language::Wir).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let runs = directives::runs(&scanned).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let module = match warpsmith::ir::parse_module(&source) {
            Ok(module) => module,
            Err(errors) => {
                failures.push(format!("{name}: {errors:#?}"));
                continue;
            }
        };
        let program = match Program::from_ir(&module) {
            Ok(program) => program,
            Err(errors) => {
                failures.push(format!("{name}: {errors:#?}"));
                continue;
            }
        };
        for run in runs {
            launches += 1;
            let outcome = match execute(&program, &run.launch) {
                Ok(execution) => run.expects.iter().try_for_each(|expect| expect.check(&execution.buffers)),
                Err(fault) => Err(format!("{fault}")),
            };
            if let Err(message) = outcome {
                failures.push(format!("{name}:{}: {message}", run.line));
            }
        }
    }
    assert!(launches > 10, "the examples are there");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
