//! What of a run is watched: the flags of `warpsmith run` for it, and what is told in the end.

use clap::Args;
use serde_json::{Map, Value, json};
use warpsmith::interp::observe::Observer;
use warpsmith::watch::{Checkers, Report, Selection, Sources};

#[derive(Args, Clone)]
pub struct Watched {
    /// Check the run: memory, init, race, sync, several with commas between, or all. Errors make the exit status 1.
    #[arg(long, value_name = "CHECKER,..")]
    check: Option<Selection>,
}

impl Watched {
    /// True if anything is watched.
    pub fn any(&self) -> bool {
        self.check.is_some()
    }
}

/// The watchers of one run.
pub struct Watch {
    checkers: Checkers,
    checked: bool,
}

impl Watch {
    pub fn new(options: &Watched) -> Watch {
        let checkers = Checkers::new(options.check.unwrap_or(Selection::NONE));
        Watch { checkers, checked: options.check.is_some() }
    }

    pub fn observer(&mut self) -> impl Observer + '_ {
        self.checkers.observer()
    }

    /// What they have seen.
    pub fn finish(self, sources: Sources) -> Seen {
        Seen { report: self.checked.then(|| self.checkers.into_report()), sources }
    }
}

/// What the watchers of a run have seen.
pub struct Seen {
    report: Option<Report>,
    sources: Sources,
}

impl Seen {
    /// The run is not as it should be.
    pub fn is_bad(&self) -> bool {
        self.report.as_ref().is_some_and(Report::has_errors)
    }

    /// For people, on standard error.
    pub fn show(&self) {
        if let Some(report) = &self.report {
            eprint!("{}", report.text(&self.sources));
        }
    }

    /// For programs: the members of the answer.
    pub fn json(&self) -> Map<String, Value> {
        let findings =
            self.report.iter().map(|report| ("findings".to_owned(), json!(report.json(&self.sources))));
        findings.collect()
    }
}
