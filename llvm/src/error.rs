//! Why a file cannot be read or imported.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Deref, DerefMut};
use warpsmith_diag::{Diagnostic, Diagnostics, Origin, Place, Source, Span};

/// What is wrong with a file of bitcode, as a [`Finding`].
///
/// It is one word, so that a result with it fits into registers: whatever reads or imports returns one, and few are errors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(Box<Finding>);

/// What an [`Error`] says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The code of the diagnostic: [`crate::codes`].
    pub code: &'static str,
    /// The byte of the file at which the record or block starts, where one is to blame.
    pub offset: Option<u64>,
    /// The file that holds it, where it is known.
    pub file: Option<String>,
    /// The function that holds it, where there is one.
    pub function: Option<String>,
    /// Where the source of the program has it, if the file knows: the place itself, and in front of what was inlined the calls, the innermost first.
    pub places: Vec<Place>,
    /// What was found, and what was expected.
    pub message: String,
}

impl Deref for Error {
    type Target = Finding;

    fn deref(&self) -> &Finding {
        &self.0
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Finding {
        &mut self.0
    }
}

/// What a reader or the importer answers.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A container that is damaged: `B0001`.
    #[cold]
    pub(crate) fn container(offset: u64, message: impl Into<String>) -> Error {
        Error::new("B0001", Some(offset), message)
    }

    /// A record that means nothing: `B0002`.
    #[cold]
    pub(crate) fn record(offset: u64, message: impl Into<String>) -> Error {
        Error::new("B0002", Some(offset), message)
    }

    /// A record that means nothing, whose place is added on the way: `B0002`.
    #[cold]
    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::new("B0002", None, message)
    }

    /// A construct that is understood and not supported: `B0003`.
    #[cold]
    pub(crate) fn unsupported(message: impl Into<String>) -> Error {
        Error::new("B0003", None, message)
    }

    /// Modules that do not fit together: `B0004`.
    #[cold]
    pub(crate) fn link(message: impl Into<String>) -> Error {
        Error::new("B0004", None, message)
    }

    fn new(code: &'static str, offset: Option<u64>, message: impl Into<String>) -> Error {
        let message = message.into();
        Error(Box::new(Finding { code, offset, file: None, function: None, places: Vec::new(), message }))
    }

    /// The error with the place of the record to blame, if it has none yet.
    pub(crate) fn at(mut self, offset: u64) -> Error {
        self.offset.get_or_insert(offset);
        self
    }

    /// The error with the file that it is in, if it has none yet.
    pub fn in_file(mut self, name: &str) -> Error {
        if !name.is_empty() {
            self.file.get_or_insert_with(|| name.to_owned());
        }
        self
    }

    /// The error with the function that it is in, if it has none yet.
    pub(crate) fn in_function(mut self, name: &str) -> Error {
        self.function.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The error with its place in the source, if it has none yet.
    pub(crate) fn in_source(mut self, places: impl FnOnce() -> Vec<Place>) -> Error {
        if self.places.is_empty() {
            self.places = places();
        }
        self
    }

    fn without_file(&self) -> String {
        Described(self).to_string()
    }

    /// The error as a diagnostic. A file of bitcode has no lines: the place is part of the message.
    pub fn diagnostic(&self) -> Diagnostic {
        let error = Diagnostic::error(self.code, Span::NONE, self.to_string());
        match (&self.function, self.places.first()) {
            (Some(function), Some(place)) => error.origin(Origin::of(function).place(place.clone())),
            (None | Some(_), None) | (None, Some(_)) => error,
        }
    }

    /// The error as a finding about the line of source that it is about, where the file knows one and `read` has its text; else about the file.
    ///
    /// The line shown is the first place that can be read: of a function of the standard library that was inlined, the user's call.
    pub fn report(&self, file: &str, read: impl Fn(&str) -> Option<String>) -> Diagnostics {
        let shown = self.places.iter().enumerate().find_map(|(n, place)| {
            let source = Source::new(place.file.as_str(), read(&place.file)?);
            let span = word_at(&source, place)?;
            Some((n, source, span))
        });
        let Some((shown, source, span)) = shown else { return self.clone().into_diagnostics(file) };
        let mut finding = self.diagnostic();
        // The line that is shown says which file of the source it is, and that says more than the file of bitcode.
        finding.message = self.without_file();
        finding.span = span;
        for (n, place) in self.places.iter().enumerate() {
            match n.cmp(&shown) {
                Ordering::Less => finding = finding.note(format!("this inlines {place}")),
                Ordering::Equal => {}
                Ordering::Greater => finding = finding.note(format!("inlined by the call at {place}")),
            }
        }
        Diagnostics::new(source, vec![finding])
    }

    /// The error as the only finding about a file.
    pub fn into_diagnostics(self, file: &str) -> Diagnostics {
        let error = self.in_file(file);
        let file = error.file.as_deref().unwrap_or_default();
        Diagnostics::new(Source::new(file, ""), vec![error.diagnostic()])
    }
}

/// The word that begins at a place of a text.
fn word_at(source: &Source, place: &Place) -> Option<Span> {
    let lines = source.lines();
    let (span, line) = (lines.line_span(place.line), lines.line(place.line));
    if span.is_none() {
        return None;
    }
    let blanks = (line.len() - line.trim_ascii_start().len()) as u32;
    // Compilers count columns in bytes.
    let start = span.start - blanks + place.column.saturating_sub(1).max(blanks);
    let rest = source.text().get(start.min(span.end) as usize..span.end as usize)?;
    let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(Span::new(start.min(span.end), start.min(span.end) + length.max(1) as u32))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        f.write_str(&self.without_file())
    }
}

/// The text of an error, behind the name of its file.
struct Described<'a>(&'a Finding);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Described(error) = self;
        if let Some(function) = &error.function {
            write!(f, "@{function}: ")?;
        }
        if error.code == "B0003" {
            f.write_str("unsupported: ")?;
        }
        f.write_str(&error.message)?;
        if let Some(place) = error.places.first() {
            write!(f, ", at {place}")?;
        }
        match error.offset {
            Some(offset) => write!(f, " (record at byte {offset:#x})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
