//! Metamorphic tests: any program with a launch against what transformations that keep its meaning make of it.

use super::check::{check, difference};
use super::{Case, Failure, Oracle, Tools, Verdict};
use crate::launch::{Arg, Execution, execute};
use crate::{Fault, Language, Module, Program, ptx};
use warpsmith_interp::Schedule;
use warpsmith_smith::transform::{self, Known, Step, shrink};

/// A program with what its launch leaves.
#[derive(Debug)]
pub struct Subject {
    case: Case,
    program: transform::Program,
    expected: Result<Execution, Fault>,
}

/// A sequence of transformations after which a program means something else, and none of which can be left out.
#[derive(Clone, Debug)]
pub struct Changed {
    /// What is wrong.
    pub failure: Failure,
    /// The transformations.
    pub steps: Vec<Step>,
    /// The program that they make.
    pub case: Case,
}

fn load(case: &Case) -> Result<Program, String> {
    match case.language {
        Language::Wir => {
            let module = Module::parse(case.text.as_str()).map_err(|errors| errors[0].to_string())?;
            Program::from_ir(&module).map_err(|errors| errors[0].to_string())
        }
        Language::Ptx => {
            let module =
                ptx::ValidatedModule::parse(case.text.as_str()).map_err(|errors| errors[0].to_string())?;
            Program::load(&module).map_err(|errors| errors[0].to_string())
        }
    }
}

impl Subject {
    /// Takes a program that is valid, does not fault, and leaves the same whatever the order of its threads; the error says why another cannot be a subject.
    pub fn new(case: &Case) -> Result<Subject, String> {
        let loaded = load(case)?;
        let expected = execute(&loaded, &case.launch);
        if let Err(fault) = &expected {
            return Err(fault.to_string());
        }
        let mut other = case.launch.clone();
        (other.schedule, other.seed) = (Some(Schedule::Random), Some(1));
        if let Some(what) = difference(["one order", "another"], &expected, &execute(&loaded, &other)) {
            return Err(format!("what it leaves depends on the order of its threads: {what}"));
        }
        let kernels: Vec<String> = loaded.kernels().map(str::to_owned).collect();
        let entry = match (case.launch.entry.as_str(), kernels.as_slice()) {
            ("", [only]) => only.clone(),
            (name, _) => name.to_owned(),
        };
        let scalars = case.launch.args.iter().enumerate().filter_map(|(n, arg)| match arg {
            Arg::Value(bytes) => Some((entry.clone(), n, bytes.clone())),
            Arg::Buffer { .. }
            | Arg::SameAs(_)
            | Arg::Multicast(_)
            | Arg::TensorMap(_)
            | Arg::Resource(_) => None,
        });
        let known = Known { scalars: scalars.collect() };
        let program = transform::Program::new(&case.text, case.language, known);
        let program = program.ok_or_else(|| "it is not valid".to_owned())?;
        let mut case = case.clone();
        // What is transformed executes more.
        case.launch.steps = case.launch.steps.map(|steps| steps.saturating_mul(64));
        Ok(Subject { case, program, expected })
    }

    fn check(&self, text: String, oracles: &[Oracle], tools: &dyn Tools) -> (Case, Result<Verdict, Failure>) {
        let case = Case { text, ..self.case.clone() };
        let checked = check(&case, oracles, tools).and_then(|mut verdict| {
            let failure = |what| Failure { oracle: Oracle::Metamorphic, what };
            let program = load(&case).map_err(failure)?;
            verdict.runs += 1;
            let found = execute(&program, &case.launch);
            match difference(["the program", "what was made of it"], &self.expected, &found) {
                Some(what) => Err(failure(what)),
                None => Ok(verdict),
            }
        });
        (case, checked)
    }

    /// Asks oracles about what at most so many transformations drawn from a seed make of the program, and whether it still leaves the same. What
    /// does not is made small by leaving transformations out.
    pub fn vary(
        &self,
        seed: u64,
        length: usize,
        oracles: &[Oracle],
        tools: &dyn Tools,
    ) -> Result<(Case, Verdict), Box<Changed>> {
        let (steps, text) = self.program.sequence(seed, length);
        let (case, checked) = self.check(text, oracles, tools);
        let failure = match checked {
            Ok(verdict) => return Ok((case, verdict)),
            Err(failure) => failure,
        };
        let fails = |steps: &[Step]| {
            let (_, checked) = self.check(self.program.apply(steps), &[failure.oracle], tools);
            checked.is_err_and(|other| other.oracle == failure.oracle)
        };
        if fails(&[]) {
            // The oracle objects to the program itself, which is what its author meant.
            return Ok((case, Verdict::default()));
        }
        let steps = shrink(&steps, fails);
        let (case, checked) = self.check(self.program.apply(&steps), &[failure.oracle], tools);
        Err(Box::new(Changed { failure: checked.err().unwrap_or(failure), steps, case }))
    }
}
