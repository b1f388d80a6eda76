//! Observers of a run: the flags of `warpsmith run` for checkers and instruments, and what they report in the end.

use crate::Failure;
use crate::instruments::{InstrumentFlags, Instruments, Rendered};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::Path;
use warpsmith::interp::Program;
use warpsmith::interp::observe::Observer;
use warpsmith::watch::{Checkers, Report, Selection, Sources};

#[derive(Args, Clone)]
pub struct WatchFlags {
    /// Check the run: memory, init, race, sync, several with commas between, or all. Errors make the exit status 1.
    #[arg(long, value_name = "CHECKER,..")]
    check: Option<Selection>,
    /// For --check=init: arguments, counted from 0, whose buffers hold nothing yet, although they are zero.
    #[arg(long, value_name = "I,..", value_delimiter = ',', requires = "check")]
    unwritten: Vec<usize>,
    #[command(flatten)]
    instruments: InstrumentFlags,
}

impl WatchFlags {
    /// True if anything is watched.
    pub fn any(&self) -> bool {
        self.check.is_some() || self.instruments.any()
    }
}

/// The observers of one run.
pub struct Observers {
    checkers: Checkers,
    checked: bool,
    instruments: Instruments,
}

impl Observers {
    pub fn new(options: &WatchFlags, sources: &Sources) -> Result<Observers, Failure> {
        let checkers = Checkers::new(options.check.unwrap_or(Selection::empty()));
        let checkers = checkers.with_unwritten_arguments(&options.unwritten);
        let instruments = Instruments::new(&options.instruments)?.with_sources(sources);
        Ok(Observers { checkers, checked: options.check.is_some(), instruments })
    }

    pub fn observer(&mut self) -> impl Observer + '_ {
        (self.checkers.observer(), self.instruments.observer())
    }

    /// What they have found.
    pub fn finish(self, program: &Program, sources: Sources, input: &Path) -> Result<Observations, Failure> {
        let rendered = self.instruments.finish(program, &sources, input)?;
        Ok(Observations { report: self.checked.then(|| self.checkers.into_report()), sources, rendered })
    }
}

/// What the observers of a run have found.
pub struct Observations {
    report: Option<Report>,
    sources: Sources,
    /// What the instruments have to say.
    rendered: Rendered,
}

impl Observations {
    /// The run is not as it should be.
    pub fn is_bad(&self) -> bool {
        self.report.as_ref().is_some_and(Report::has_errors)
    }

    /// For people: findings on standard error, what the instruments have to say on standard output.
    pub fn show(&self) {
        print!("{}", self.rendered.text);
        if let Some(report) = &self.report {
            eprint!("{}", report.render(&crate::renderer(), &self.sources));
        }
    }

    /// For programs: the members of the answer.
    pub fn json(&self) -> Map<String, Value> {
        let findings =
            self.report.iter().map(|report| ("findings".to_owned(), json!(report.json(&self.sources))));
        findings.chain(self.rendered.members.clone()).collect()
    }
}
