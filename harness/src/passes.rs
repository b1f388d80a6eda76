//! The meaning of a module before and after passes, executed.

use crate::roundtrip::{differs, rendered, runs_of, strings};
use crate::runs::Run;
use warpsmith::diag::Language;
use warpsmith::interp::{Fault, Program};
use warpsmith::ir::Module;
use warpsmith::launch::{Execution, execute};

/// What the launches of a module leave behind, to compare with what they leave once passes have changed it.
pub struct Meaning {
    runs: Vec<Run>,
    outcomes: Vec<Result<Execution, Fault>>,
}

impl Meaning {
    /// Executes the `run:` directives of a text of IR on the meaning of its module. The error is that there are none, or what is wrong.
    pub fn of(source: &str, module: &Module) -> Result<Meaning, Vec<String>> {
        let runs = runs_of(source, Language::Wir)?;
        if runs.is_empty() {
            return Err(vec!["the file has no `run:` directive that describes a launch".into()]);
        }
        let program = Program::from_ir(module).map_err(|errors| strings("", &rendered(source, &errors)))?;
        let outcomes = runs.iter().map(|run| execute(&program, &run.launch)).collect();
        Ok(Meaning { runs, outcomes })
    }

    /// How a changed module differs, if it does.
    pub fn changed(&self, module: &Module) -> Option<String> {
        let program = match Program::from_ir(module) {
            Ok(program) => program,
            Err(errors) => return Some(format!("the IR cannot be run any more: {errors}")),
        };
        self.runs.iter().zip(&self.outcomes).find_map(|(run, before)| {
            let after = execute(&program, &run.launch);
            let how = differs(before, &after, ["before", "after"])?;
            Some(format!("the launch of line {}: {how}", run.line))
        })
    }
}
