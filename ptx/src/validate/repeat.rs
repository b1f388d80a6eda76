//! What is told once though it occurs often: names that are not declared, and what the version or the target does not have.

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
    /// A requirement that version and target do not meet, and the code it is told with.
    Gate(&'static str, String),
}

/// What was told, by its place among the findings, and how often it came again.
#[derive(Default)]
pub(super) struct Repeats {
    told: FxHashMap<Repeat, Told>,
    /// Looking for a similar name costs time in proportion to the names; enough is enough.
    looked_up: u32,
    /// How often something was told again.
    again: u32,
}

impl Repeats {
    /// True if anything was told that may be told again.
    pub(super) fn any(&self) -> bool {
        !self.told.is_empty()
    }

    /// True when so much was repeated that explaining more instructions would only cost time: the module is refused anyway.
    pub(super) fn is_exhausted(&self) -> bool {
        self.again >= MOST_REPEATED
    }
}

struct Told {
    finding: usize,
    more: u32,
    /// The other names of a prefix, and the highest number among all.
    names: Vec<Symbol>,
    highest: u64,
}

/// How many findings that were told before are counted.
const MOST_REPEATED: u32 = 10_000;

/// How many misspelt names are compared with all others.
const MOST_LOOKED_UP: u32 = 64;

impl Validator<'_> {
    /// Reports the first finding of its kind and counts the others.
    pub(super) fn report_once(&mut self, key: Repeat, diagnostic: Diagnostic) {
        if let Some(told) = self.repeats.told.get_mut(&key) {
            told.more += 1;
            self.repeats.again += 1;
            return;
        }
        let told = Told { finding: self.diagnostics.len(), more: 0, names: Vec::new(), highest: 0 };
        self.repeats.told.insert(key, told);
        self.report(diagnostic);
    }

    /// Adds the counts to what was told.
    pub(super) fn finish_repeats(&mut self) {
        for (key, told) in &self.repeats.told {
            let Some(finding) = self.diagnostics.get_mut(told.finding) else { continue };
            let times = |n: u32| if n == 1 { "once".to_owned() } else { format!("{n} times") };
            match key {
                Repeat::Name(..) if told.more > 0 => {
                    finding.notes.push(format!("it is used {} more", times(told.more)));
                }
                Repeat::Gate(..) if told.more > 0 => {
                    let plural = if told.more == 1 { " needs" } else { "s need" };
                    let least = if told.more >= MOST_REPEATED { "at least " } else { "" };
                    finding.notes.push(format!("{least}{} more instruction{plural} the same", told.more));
                }
                Repeat::Prefix(prefix, _) => {
                    if told.more > 0 {
                        let shown: Vec<String> =
                            told.names.iter().take(3).map(|name| format!("`{}`", &self.m[*name])).collect();
                        let rest =
                            (told.names.len() > 3).then(|| format!(" and {} more", told.names.len() - 3));
                        let used = told.more as usize + 1;
                        let also = match shown.is_empty() {
                            true => String::new(),
                            false => format!(
                                "nor {} {}{}; ",
                                if told.names.len() == 1 { "is" } else { "are" },
                                shown.join(", "),
                                rest.unwrap_or_default()
                            ),
                        };
                        finding.notes.push(format!("{also}{used} uses in all"));
                    }
                    let count = told.highest + 1;
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

    /// Tells if version and target do not meet a requirement.
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

    /// Tells that a name is not declared, and the nearest that is. Each name is told once in a function, and names that differ in their number
    /// as one.
    pub(super) fn unknown_name(&mut self, name: Symbol, span: Span) {
        let m = self.m;
        let spelling = &m[name];
        let digits = spelling.len() - spelling.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = spelling.split_at(spelling.len() - digits);
        // Its declaration could not be read, which has been told.
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
        if let Some(told) = self.repeats.told.get_mut(&key) {
            told.more += 1;
            if told.highest < number && register {
                told.highest = number.min(u64::from(u32::MAX));
            }
            let first = self
                .diagnostics
                .get(told.finding)
                .is_some_and(|f| f.message.contains(&format!("`{spelling}`")));
            if register && !first && told.names.len() < 1000 && !told.names.contains(&name) {
                told.names.push(name);
            }
            return;
        }
        let error =
            Diagnostic::error(codes::UNKNOWN_NAME, span, format!("`{spelling}` is not declared here"));
        let error = self.nearby(error, spelling, prefix, digits > 0, span);
        self.report_once(key.clone(), error);
        if let Some(told) = self.repeats.told.get_mut(&key) {
            told.highest = number.min(u64::from(u32::MAX));
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
