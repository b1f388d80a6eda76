//! The observers of `warpsmith run`: their flags, and what they report at the end.

use crate::Failure;
use crate::seeing::{Seeing, Shown, Visible};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::Path;
use warpsmith::interp::Program;
use warpsmith::interp::observe::Observer;
use warpsmith::watch::{Checkers, Report, Selection, Sources};

#[derive(Args, Clone)]
pub struct Watched {
    /// Check the run: memory, init, race, sync, several with commas between, or all. Errors make the exit status 1.
    #[arg(long, value_name = "CHECKER,..")]
    check: Option<Selection>,
    /// For --check=init: arguments, counted from 0, whose buffers hold nothing yet, although they are zero.
    #[arg(long, value_name = "I,..", value_delimiter = ',', requires = "check")]
    unwritten: Vec<usize>,
    #[command(flatten)]
    seeing: Visible,
}

impl Watched {
    /// True if anything is watched.
    pub fn any(&self) -> bool {
        self.check.is_some() || self.seeing.any()
    }
}

/// The watchers of one run.
pub struct Watch {
    checkers: Checkers,
    checked: bool,
    seeing: Seeing,
}

impl Watch {
    pub fn new(options: &Watched) -> Result<Watch, Failure> {
        let checkers = Checkers::new(options.check.unwrap_or(Selection::NONE));
        let checkers = checkers.with_unwritten_arguments(&options.unwritten);
        let seeing = Seeing::new(&options.seeing)?;
        Ok(Watch { checkers, checked: options.check.is_some(), seeing })
    }

    pub fn observer(&mut self) -> impl Observer + '_ {
        (self.checkers.observer(), self.seeing.observer())
    }

    /// What they have seen.
    pub fn finish(self, program: &Program, sources: Sources, input: &Path) -> Result<Seen, Failure> {
        let shown = self.seeing.finish(program, &sources, input)?;
        Ok(Seen { report: self.checked.then(|| self.checkers.into_report()), sources, shown })
    }
}

/// What the watchers of a run have seen.
pub struct Seen {
    report: Option<Report>,
    sources: Sources,
    shown: Shown,
}

impl Seen {
    /// The run is not as it should be.
    pub fn is_bad(&self) -> bool {
        self.report.as_ref().is_some_and(Report::has_errors)
    }

    /// For people: findings on standard error, what was asked to be shown on standard output.
    pub fn show(&self) {
        print!("{}", self.shown.text);
        if let Some(report) = &self.report {
            eprint!("{}", report.text(&self.sources));
        }
    }

    /// For programs: the members of the answer.
    pub fn json(&self) -> Map<String, Value> {
        let findings =
            self.report.iter().map(|report| ("findings".to_owned(), json!(report.json(&self.sources))));
        findings.chain(self.shown.members.clone()).collect()
    }
}
