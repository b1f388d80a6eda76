//! The meaning of a module before and after passes, executed.

use crate::roundtrip::{rendered, runs_of, strings};
use crate::runs::Run;
use warpsmith::diag::Language;
use warpsmith::fuzz::difference;
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
            let how = difference(["the IR before", "the IR after"], before, &after)?;
            Some(format!("the launch of line {}: {how}", run.line))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith::ir::{self, InstData};

    const KERNEL: &str = ";; run: {\"entry\": \"k\", \"grid\": [1, 1, 1], \"block\": [4, 1, 1], \"args\": [{\"buffer_zero\": 16}]}

kernel @k(%p: ptr<global>) {
entry:
  %i = sreg.tid.x
  %x = imul %i, 3
  %q = index %p, %i, 4
  store %x, %q
  ret
}
";

    #[test]
    fn a_change_of_meaning_is_seen() {
        let module = ir::parse_module(KERNEL).expect("a module");
        let meaning = Meaning::of(KERNEL, &module).expect("it runs");
        assert_eq!(meaning.changed(&module), None);
        let mut changed = module.clone();
        let func = changed.functions.values_mut().next().expect("one function");
        let constant = (func.layout.blocks().flat_map(|block| func.layout.insts(block)))
            .find(|inst| matches!(func.dfg[*inst], InstData::IntConst { value: 3 }))
            .expect("the factor");
        func.dfg.replace_inst(constant, InstData::IntConst { value: 4 });
        let how = meaning.changed(&changed).expect("another factor");
        assert!(
            how.starts_with(
                "the launch of line 1: buffer 0, byte 4: the IR before gives 0x03, the IR after 0x04"
            ),
            "{how}"
        );
        assert!(Meaning::of("kernel @k() {\nentry:\n  ret\n}\n", &module).is_err());
    }
}
