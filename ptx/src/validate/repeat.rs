//! What is reported once even if it occurs often: names that are not declared, and what the version or the target does not have.

use super::Validator;
use crate::codes;
use crate::scope::{Binding, Bound};
use crate::tree::*;
use warpsmith_base::FxHashMap;
use warpsmith_diag::nearest;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::{Clause, Gate, Remedy, SpecialReg, Target, Version, lowest};

/// What makes two findings the same.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Repeat {
    /// The name is not declared in the function.
    Name(Symbol, Option<u32>),
    /// No name that begins so is declared in the function.
    Prefix(String, Option<u32>),
    /// A requirement that version and target do not meet, and the code of its report.
    Gate(&'static str, String),
}

/// What was reported, by its index among the findings, and how often it was repeated.
#[derive(Default)]
pub(super) struct Repeats {
    reported: FxHashMap<Repeat, Reported>,
    /// Looking for a similar name costs time in proportion to the names; enough is enough.
    looked_up: u32,
    /// How often something reported was found again.
    again: u32,
}

impl Repeats {
    /// True if anything was reported that may be found again.
    pub(super) fn any(&self) -> bool {
        !self.reported.is_empty()
    }

    /// True when so much was repeated that explaining more instructions would only cost time: the module is refused anyway.
    pub(super) fn is_exhausted(&self) -> bool {
        self.again >= MOST_REPEATED
    }
}

struct Reported {
    finding: usize,
    more: u32,
    /// The other names of a prefix, and the highest number among all.
    names: Vec<Symbol>,
    highest: u64,
}

/// The number of repetitions that are counted at most.
const MOST_REPEATED: u32 = 10_000;

/// How many misspelt names are compared with all others.
const MOST_LOOKED_UP: u32 = 64;

impl Validator<'_> {
    /// Reports the first finding of its kind and counts the others.
    pub(super) fn report_once(&mut self, key: Repeat, diagnostic: Diagnostic) {
        if let Some(reported) = self.repeats.reported.get_mut(&key) {
            reported.more += 1;
            self.repeats.again += 1;
            return;
        }
        let reported = Reported { finding: self.diagnostics.len(), more: 0, names: Vec::new(), highest: 0 };
        self.repeats.reported.insert(key, reported);
        self.report(diagnostic);
    }

    /// Adds the counts to what was reported.
    pub(super) fn finish_repeats(&mut self) {
        for (key, reported) in &self.repeats.reported {
            let Some(finding) = self.diagnostics.get_mut(reported.finding) else { continue };
            let times = |n: u32| if n == 1 { "once".to_owned() } else { format!("{n} times") };
            match key {
                Repeat::Name(..) if reported.more > 0 => {
                    finding.notes.push(format!("it is used {} more", times(reported.more)));
                }
                Repeat::Gate(..) if reported.more > 0 => {
                    let plural = if reported.more == 1 { " needs" } else { "s need" };
                    let least = if reported.more >= MOST_REPEATED { "at least " } else { "" };
                    finding.notes.push(format!("{least}{} more instruction{plural} the same", reported.more));
                }
                Repeat::Prefix(prefix, _) => {
                    if reported.more > 0 {
                        let shown: Vec<String> = reported
                            .names
                            .iter()
                            .take(3)
                            .map(|name| format!("`{}`", &self.m[*name]))
                            .collect();
                        let rest = (reported.names.len() > 3)
                            .then(|| format!(" and {} more", reported.names.len() - 3));
                        let used = reported.more as usize + 1;
                        let also = match shown.is_empty() {
                            true => String::new(),
                            false => format!(
                                "nor {} {}{}; ",
                                if reported.names.len() == 1 { "is" } else { "are" },
                                shown.join(", "),
                                rest.unwrap_or_default()
                            ),
                        };
                        finding.notes.push(format!("{also}{used} uses in all"));
                    }
                    let count = reported.highest + 1;
                    // A range that is too short is made longer; without one, this is how to declare it.
                    match finding
                        .suggestions
                        .last_mut()
                        .filter(|s| s.replacement.starts_with(&format!("{prefix}<")))
                    {
                        Some(suggestion) => suggestion.replacement = format!("{prefix}<{count}>"),
                        None if count > 1 => {
                            let note = format!(
                                "registers are declared before their use, as in `.reg .b32 {prefix}<{count}>;`"
                            );
                            finding.notes.push(note);
                        }
                        None => {}
                    }
                }
                Repeat::Name(..) | Repeat::Gate(..) => {}
            }
        }
    }

    /// False where version or target are unknown themselves: then nothing can be said of what they have.
    pub(super) fn validates_gates(&self) -> bool {
        self.has_version && self.has_target && !self.unknown_context
    }

    /// Points at `.version` and `.target`, and suggests others.
    pub(super) fn label_context(
        &self,
        diagnostic: Diagnostic,
        version: Option<Version>,
        target: Option<Target>,
    ) -> Diagnostic {
        let marks = &self.m.marks;
        let mut diagnostic = diagnostic;
        for (span, text) in [
            (marks.version, version.map(|version| (version.to_string(), "raise the version"))),
            (marks.target, target.map(|target| (target.to_string(), "name a target that has it"))),
        ] {
            if let (false, Some((text, message))) = (span.is_none(), text) {
                diagnostic = diagnostic.label(span, "the module is for this");
                // A newer version changes nothing else; another target is another machine.
                diagnostic = match target {
                    None => diagnostic.fix(message, span, text),
                    Some(_) => diagnostic.suggest(message, span, text),
                };
            }
        }
        diagnostic
    }

    /// Reports if version and target do not meet a requirement.
    pub(super) fn gate_of(&mut self, clauses: &[Clause], section: &'static str, what: &str, span: Span) {
        let cx = self.context;
        let blocking = clauses.iter().find(|clause| !clause.allows(cx.version, cx.target));
        let Some(clause) = blocking.filter(|_| self.validates_gates()) else { return };
        if self.seek(Gate::of(clauses).lowest_version(cx.target)) {
            return;
        }
        let message = format!("{what} is not in PTX {} for {}", cx.version, cx.target);
        let mut error = Diagnostic::error(codes::GATE, span, message).section(section);
        error = error.label(span, format!("needs {clause}"));
        let (help, remedy) = lowest(&Gate::of(clauses), &cx);
        error = match remedy {
            Some(Remedy::Context { version, target }) => self.label_context(error, version, target),
            _ => error,
        };
        if error.suggestions.is_empty() {
            error.notes.extend(help);
        }
        self.report_once(Repeat::Gate(codes::GATE, format!("{what} {clause}")), error);
    }

    /// Reports that a name is not declared, and the nearest that is. Each name is reported once in a function, and names that differ in their number
    /// as one.
    pub(super) fn unknown_name(&mut self, name: Symbol, span: Span) {
        let m = self.m;
        let spelling = &m[name];
        let digits = spelling.len() - spelling.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = spelling.split_at(spelling.len() - digits);
        // Its declaration could not be read, which has been reported.
        let lost = |text: &str| m.names.find(text).is_some_and(|symbol| self.lost.contains(&symbol));
        if lost(spelling) || (digits > 0 && lost(prefix)) {
            return;
        }
        let function = self.in_function.map(|function| function.index() as u32);
        let number: u64 = number.parse().unwrap_or(0);
        let register = digits > 0 && prefix.starts_with('%');
        let key = match register {
            true => Repeat::Prefix(prefix.to_owned(), function),
            false => Repeat::Name(name, function),
        };
        if let Some(reported) = self.repeats.reported.get_mut(&key) {
            reported.more += 1;
            if reported.highest < number && register {
                reported.highest = number.min(u64::from(u32::MAX));
            }
            let first = self
                .diagnostics
                .get(reported.finding)
                .is_some_and(|f| f.message.contains(&format!("`{spelling}`")));
            if register && !first && reported.names.len() < 1000 && !reported.names.contains(&name) {
                reported.names.push(name);
            }
            return;
        }
        let error =
            Diagnostic::error(codes::UNKNOWN_NAME, span, format!("`{spelling}` is not declared here"));
        let error = self.nearby(error, spelling, prefix, digits > 0, span);
        self.report_once(key.clone(), error);
        if let Some(reported) = self.repeats.reported.get_mut(&key) {
            reported.highest = number.min(u64::from(u32::MAX));
        }
    }

    /// Adds what may have been meant by a name that is not declared.
    fn nearby(
        &mut self,
        error: Diagnostic,
        spelling: &str,
        prefix: &str,
        numbered: bool,
        span: Span,
    ) -> Diagnostic {
        let m = self.m;
        let family =
            m.names.find(prefix).filter(|_| numbered).and_then(|prefix| self.scopes.family_named(prefix));
        if let Some((count, Bound { binding: Binding::Variable(_, declarator), .. })) = family {
            let at = m[declarator].span;
            let last = format!("`{prefix}<{count}>` ends at `{prefix}{}`", count.saturating_sub(1));
            // The number is put in at the end, when the highest is known.
            return error.label(at, last).fix(
                "declare as many as are used",
                at,
                format!("{prefix}<{count}>"),
            );
        }
        if self.repeats.looked_up == MOST_LOOKED_UP {
            return error;
        }
        self.repeats.looked_up += 1;
        let percent = format!("%{spelling}");
        let bare = spelling.strip_prefix('%');
        let folded = spelling.to_ascii_lowercase();
        let exact = [percent.as_str(), bare.unwrap_or_default(), &folded];
        let mut meant =
            exact.iter().find(|text| **text != spelling && self.scopes.binds(text)).map(|t| t.to_string());
        if meant.is_none() && spelling.len() > 1 {
            let visible = self.scopes.visible();
            let special =
                SpecialReg::all().map(|reg| -> &str { reg.name() }).filter(|_| spelling.starts_with('%'));
            let names = visible.iter().map(|name| &m[*name]).filter(|name| *name != spelling);
            meant = nearest(spelling, names.chain(special)).map(str::to_owned);
        }
        match meant {
            Some(text) => error.suggest("did you mean", span, text),
            None => error,
        }
    }
}
