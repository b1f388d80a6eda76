//! Other ways to run PTX: the reference interpreter, other schedules, under the checkers.

use super::compare::{difference, differs_from_reference};
use super::{Outcome, Trial, Verdict, failure, reference_launch};
use crate::fuzz::{Failure, Oracle};
use crate::launch::{execute, execute_observed};
use crate::watch::{Checkers, Selection};
use crate::{Program, ptx};
use warpsmith_interp::Schedule;
use warpsmith_smith::reference::{self, Stop};

/// What the reference interpreter is not asked about.
const LONG: &str = "programs of so many instructions";

impl Trial<'_> {
    /// Other ways to run PTX.
    pub(super) fn ways(
        &self,
        module: &ptx::ValidatedModule,
        program: &Program,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        if self.asks(Oracle::Reference) && self.is_long(expected) {
            verdict.unknown = Some(LONG.to_owned());
        } else if self.asks(Oracle::Reference) {
            self.reference(module, expected, verdict)?;
        }
        self.engine(module, program, expected, verdict)
    }

    /// Whether a run took more instructions than a launch may: what was compiled may take more than what was generated. One thread at a time, or watched, that is
    /// a minute.
    fn is_long(&self, expected: &Outcome) -> bool {
        let limit = self.case.launch.steps.unwrap_or(u64::MAX);
        expected.as_ref().is_ok_and(|ended| ended.thread_instructions > limit)
    }

    /// Other ways for the engine and for hardware.
    pub(super) fn engine(
        &self,
        module: &ptx::ValidatedModule,
        program: &Program,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        self.accelerated(program, expected, verdict)?;
        if self.asks(Oracle::Gpu)
            && let Ok(expected) = expected
        {
            self.gpu(module, expected, verdict)?;
        }
        if self.asks(Oracle::Schedules) {
            self.schedules(program, expected, verdict)?;
        }
        if self.asks(Oracle::Checkers) && !self.is_long(expected) {
            self.checkers(program, verdict)?;
        }
        Ok(())
    }

    /// The reference interpreter, where it knows everything that the program does.
    fn reference(
        &self,
        module: &ptx::ValidatedModule,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        let found = reference_launch(&self.case.launch).and_then(|launch| reference::run(module, &launch));
        match found {
            Err(Stop::Unsupported(what)) => verdict.unknown = Some(what),
            // It also counts what a false predicate keeps from being executed.
            Err(Stop::Steps) if expected.is_ok() => verdict.unknown = Some(LONG.to_owned()),
            Err(stop) => return failure(Oracle::Reference, format!("the reference stops: {stop}")),
            Ok(found) => {
                verdict.runs += 1;
                if let Some(what) = differs_from_reference(expected, &found) {
                    return failure(Oracle::Reference, what);
                }
            }
        }
        Ok(())
    }

    /// The engine, with its threads in other orders.
    fn schedules(&self, program: &Program, expected: &Outcome, verdict: &mut Verdict) -> Result<(), Failure> {
        for (schedule, seed) in [(Schedule::Random, 1), (Schedule::Adversarial, 2), (Schedule::LowestPc, 3)] {
            let mut launch = self.case.launch.clone();
            (launch.schedule, launch.seed) = (Some(schedule), Some(seed));
            verdict.runs += 1;
            let found = execute(program, &launch);
            if let Some(what) = difference(["the usual order", "another"], expected, &found) {
                return failure(Oracle::Schedules, format!("{schedule:?}, seed {seed}: {what}"));
            }
        }
        Ok(())
    }

    /// All checkers, which must not find anything.
    fn checkers(&self, program: &Program, verdict: &mut Verdict) -> Result<(), Failure> {
        let mut checkers = Checkers::new(Selection::all());
        verdict.runs += 1;
        let found = execute_observed(program, &self.case.launch, std::io::sink(), &mut checkers.observer());
        if let Err(fault) = found {
            return failure(Oracle::Checkers, format!("a watched run faults: {fault}"));
        }
        match checkers.into_report().findings().first() {
            Some(finding) => {
                let what = format!("{} at a program that is right: {}", finding.code, finding.message);
                failure(Oracle::Checkers, what)
            }
            None => Ok(()),
        }
    }
}
