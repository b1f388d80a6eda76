//! Large modules on several threads.
//!
//! Each thread walks the whole module, but of the function bodies only through its share of them. What one body says has no bearing on another,
//! with few exceptions ([`Validator::bodies_interact`]); what is *reported* of them does: repeats are counted, and after many findings there is
//! silence. So several threads only find out that there are no errors and few warnings, which is so for nearly every large module.

use super::{Known, MAX_WARNINGS, Question, Validator};
use crate::parallel::threads;
use crate::tree::*;
use rayon::prelude::*;

/// Fewer statements are not worth a thread.
const STATEMENTS: usize = 50_000;

/// A range of statements: the bodies that begin in it are looked at.
#[derive(Clone, Copy)]
pub(super) struct Share {
    start: usize,
    end: usize,
}

impl Share {
    /// All bodies.
    pub(super) const ALL: Share = Share { start: 0, end: usize::MAX };

    /// The first statement of its bodies is not before this one.
    pub(super) fn start(self) -> usize {
        self.start
    }

    pub(super) fn holds(self, body: Option<List<Stmt>>) -> bool {
        body.is_none_or(|body| (self.start..self.end).contains(&body.range().start))
    }
}

/// What is known of a large module without errors. `None`: it is small, or there may be errors to report.
pub(super) fn finds_no_errors(module: &Module, question: Question) -> Option<Known> {
    let statements = module.stmts.len();
    let threads = threads(statements / STATEMENTS);
    if threads < 2 {
        return None;
    }
    let share = |i: usize| Share { start: statements * i / threads, end: statements * (i + 1) / threads };
    let look = |share| {
        let mut validator = Validator::new(module, share, question);
        validator.module();
        let alone = validator.bodies_interact || validator.repeats.any();
        (validator.errors() == 0 && !alone).then(|| validator.known())
    };
    let found: Option<Vec<Known>> = (0..threads).into_par_iter().map(|i| look(share(i))).collect();
    let mut found = found?.into_iter();
    let first = found.next()?;
    found.try_fold(first, |found, other| found.join(other, module))
}

impl Known {
    /// What two shares of the bodies make known. What is outside of bodies is known to both.
    fn join(mut self, other: Known, module: &Module) -> Option<Known> {
        self.resolutions = self.resolutions.join(other.resolutions, module);
        self.sought = self.sought.max(other.sought);
        for warning in other.findings {
            if !self.findings.contains(&warning) {
                self.findings.push(warning);
            }
        }
        self.findings.sort_by_key(|finding| finding.span.start);
        // Which of too many are reported depends on the order of validation.
        (self.findings.len() < MAX_WARNINGS).then_some(self)
    }
}
