//! One finding about an input, as plain data.

use crate::fix::help;
use crate::{LineIndex, Origin, Span, Suggestion};
use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Legal, yet likely a mistake.
    Warning,
    /// The input is refused.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// One finding about an input.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Whether the input is refused.
    pub severity: Severity,
    /// A stable name for the kind of finding, which `warpsmith explain` explains: `P0123` from PTX, `I0123` from the IR.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub message: String,
    /// The place in the text that is at fault.
    pub span: Span,
    /// Other places that matter, each with a word about why. A label at `span` itself is written under it.
    pub labels: Vec<(Span, String)>,
    /// What was expected, what would be legal.
    pub notes: Vec<String>,
    /// Changes of the text that would put it right.
    pub suggestions: Vec<Suggestion>,
    /// The section of the PTX manual that has the rule, as `9.7.1.1`.
    pub section: Option<&'static str>,
    /// What of a program that was built the finding is about, and where its user wrote that.
    pub origin: Option<Box<Origin>>,
}

impl Diagnostic {
    /// An error without labels or notes.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        Diagnostic {
            severity: Severity::Error,
            code,
            message,
            span,
            labels: Vec::new(),
            notes: Vec::new(),
            suggestions: Vec::new(),
            section: None,
            origin: None,
        }
    }

    /// A warning without labels or notes.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Adds a place that matters. A label without a place is kept as a note.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        if span.is_none() {
            self.notes.push(text.into());
        } else {
            self.labels.push((span, text.into()));
        }
        self
    }

    /// Adds a note.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a change that may be what was meant. Without a place it is kept as a note.
    pub fn suggest(self, message: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.suggestion(message.into(), span, replacement.into(), false)
    }

    /// Adds a change that must be what was meant.
    pub fn fix(self, message: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        self.suggestion(message.into(), span, replacement.into(), true)
    }

    fn suggestion(mut self, message: String, span: Span, replacement: String, certain: bool) -> Self {
        if span.is_none() {
            return self.note(help(&message, &replacement));
        }
        self.suggestions.push(Suggestion { message, span, replacement, certain });
        self
    }

    /// Names the section of the PTX manual that has the rule.
    pub fn section(mut self, section: &'static str) -> Self {
        self.section = Some(section);
        self
    }

    /// Says what of a built program the finding is about.
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = Some(Box::new(origin));
        self
    }

    /// True unless it is a warning.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The compact form: the finding in one line (`3:14: error[I0102]: ...`) with its labels and notes indented below.
    pub fn render(&self, lines: &LineIndex) -> String {
        let at = |span: Span| match span.is_none() {
            true => String::new(),
            false => format!("{}: ", lines.position(span.start)),
        };
        let mut text = format!("{}{}[{}]: {}", at(self.span), self.severity, self.code, self.message);
        for (span, label) in &self.labels {
            text += &format!("\n  {}{label}", at(*span));
        }
        for note in &self.notes {
            text += &format!("\n  note: {note}");
        }
        for suggestion in &self.suggestions {
            text += &format!("\n  help: {suggestion}");
        }
        if let Some(section) = self.section {
            text += &format!("\n  see {}", reference(section));
        }
        text
    }
}

/// The manual that [`Diagnostic::section`] counts in.
const MANUAL: &str = "PTX ISA 9.0";

/// A section with the manual that has it: `9.7.1.5` is a section of PTX ISA 9.0, `9.4:9.7.1.5` one of PTX ISA 9.4.
pub fn reference(section: &str) -> String {
    match section.split_once(':') {
        Some((version, section)) => format!("PTX ISA {version}, {section}"),
        None => format!("{MANUAL}, {section}"),
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendering_keeps_labels_and_notes() {
        let finding = Diagnostic::error("X0001", Span::new(3, 4), "wrong")
            .label(Span::new(0, 1), "declared here")
            .label(Span::NONE, "declared nowhere")
            .note("write it right")
            .suggest("did you mean", Span::new(3, 4), "e")
            .section("4.1");
        let text = finding.render(&LineIndex::new("ab\ncd"));
        assert_eq!(
            text,
            "2:1: error[X0001]: wrong\n  1:1: declared here\n  note: declared nowhere\n  note: write it right\
             \n  help: did you mean: `e`\n  see PTX ISA 9.0, 4.1"
        );
    }
}
