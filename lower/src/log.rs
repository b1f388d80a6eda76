//! What passes say of their work: which rules they applied, and remarks for whoever asks why.

use crate::rules::Rule;
use std::fmt;
use warpsmith_base::FxHashMap;
use warpsmith_diag::Span;
use warpsmith_ir::{Function, Inst};

/// Something that a pass did, or found a reason not to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// The pass.
    pub pass: &'static str,
    /// What it is about: the name of a rule, or a few words that stay the same from version to version.
    pub name: &'static str,
    /// True for what was done, false for what was not.
    pub applied: bool,
    /// The name of the function.
    pub function: String,
    /// The place of the operation in the source of the module; [`Span::NONE`] where it is about a function as a whole.
    pub span: Span,
    /// What was done, or why it was not.
    pub message: String,
}

/// How often something was applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    /// The pass.
    pub pass: &'static str,
    /// The name of the rule.
    pub rule: &'static str,
    /// How often.
    pub times: u32,
}

/// Where a pass over functions says what it does. There is one for each function.
#[derive(Default)]
pub struct Log {
    pass: &'static str,
    counts: FxHashMap<(&'static str, &'static str), u32>,
    applied: u32,
    last: Option<&'static str>,
    limit: Option<u32>,
    remarks: Option<Vec<Remark>>,
}

impl Log {
    /// A log that keeps remarks, if they are wanted, and allows only so many applications of rules.
    pub(crate) fn new(pass: &'static str, remarks: bool, limit: Option<u32>) -> Log {
        Log { pass, limit, remarks: remarks.then(Vec::new), ..Log::default() }
    }

    /// Goes on with the next pass.
    pub(crate) fn enter(&mut self, pass: &'static str) {
        self.pass = pass;
        self.last = None;
    }

    /// True if another rule may be applied.
    pub fn allows(&self) -> bool {
        self.limit.is_none_or(|limit| self.applied < limit)
    }

    /// Counts an application of what has no remark.
    pub fn applied(&mut self, rule: &'static str) {
        self.applied += 1;
        self.last = Some(rule);
        *self.counts.entry((self.pass, rule)).or_default() += 1;
    }

    /// Counts the application of a rule to an instruction that is still what it was. False if no more are allowed.
    pub(crate) fn rule(&mut self, rule: &'static Rule, func: &Function, inst: Inst) -> bool {
        if !self.allows() {
            return false;
        }
        self.applied(rule.name);
        self.remark(func, Some(inst), rule.name, true, || format!("applied `{}`", rule.text));
        true
    }

    /// Says what was done with an instruction or a function, or why not. The message is made if somebody wants it.
    pub fn remark(
        &mut self,
        func: &Function,
        inst: Option<Inst>,
        name: &'static str,
        applied: bool,
        message: impl FnOnce() -> String,
    ) {
        let pass = self.pass;
        if let Some(remarks) = &mut self.remarks {
            let span = inst.map_or(func.span, |inst| func.operation_span(inst));
            let function = func.name.clone();
            remarks.push(Remark { pass, name, applied, function, span, message: message() });
        }
    }

    /// How many rules were applied, and the last one of the last pass.
    pub(crate) fn total(&self) -> (u32, Option<&'static str>) {
        (self.applied, self.last)
    }

    /// The counts in order of their names, and the remarks in the order they were made.
    pub(crate) fn finish(self) -> (Vec<Count>, Vec<Remark>) {
        let mut counts: Vec<Count> =
            self.counts.into_iter().map(|((pass, rule), times)| Count { pass, rule, times }).collect();
        counts.sort_unstable_by_key(|count| (count.pass, count.rule));
        (counts, self.remarks.unwrap_or_default())
    }
}

/// Adds counts up, both in order of their names.
pub(crate) fn add(all: &mut Vec<Count>, more: Vec<Count>) {
    for count in more {
        match all.binary_search_by_key(&(count.pass, count.rule), |known| (known.pass, known.rule)) {
            Ok(at) => all[at].times += count.times,
            Err(at) => all.insert(at, count),
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Remark { pass, name, function, message, .. } = self;
        write!(f, "@{function}: {pass}: {message} [{name}]")
    }
}
