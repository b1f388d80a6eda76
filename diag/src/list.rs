//! All findings about one text, as one error.

use crate::{Diagnostic, Source};
use std::error::Error;
use std::fmt;
use std::ops::Deref;

/// The findings about one source text: at least one error if it is returned as one.
///
/// It owns its source and shows itself with the lines that it is about, so that `?` in a `main` prints what a user needs. (`main` prints errors
/// with `Debug`, which therefore is the same as `Display`.)
#[derive(Clone, PartialEq, Eq)]
pub struct Diagnostics {
    source: Source,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// The findings about a text, in the order in which they are to be shown.
    pub fn new(source: Source, list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { source, list }
    }

    /// The text that the spans of the findings count in.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The findings without their source.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }

    /// The findings, changed one by one.
    pub fn map(mut self, change: impl FnMut(Diagnostic) -> Diagnostic) -> Diagnostics {
        self.list = self.list.into_iter().map(change).collect();
        self
    }

    /// True if any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }
}

impl Deref for Diagnostics {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.list
    }
}

impl fmt::Display for Diagnostics {
    #[cfg(feature = "render")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(crate::Renderer::plain().diagnostics(&self.source, &self.list).trim_end())
    }

    #[cfg(not(feature = "render"))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.list.iter().map(|finding| compact(&self.source, finding)).collect();
        f.write_str(&texts.join("\n"))
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Diagnostics {}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// The form without source lines.
pub(crate) fn compact(source: &Source, finding: &Diagnostic) -> String {
    let text = finding.render(&source.lines());
    if source.name().is_empty() { text } else { format!("{}:{text}", source.name()) }
}
