//! Why a file cannot be read or imported.

use std::fmt;
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};

/// What is wrong with a file of bitcode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The code of the diagnostic: [`crate::codes`].
    pub code: &'static str,
    /// The byte of the file at which the record or block starts, where one is to blame.
    pub offset: Option<u64>,
    /// The function that holds it, where there is one.
    pub function: Option<String>,
    /// What was found, and what was expected.
    pub message: String,
}

/// What a reader or the importer answers.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A container that is damaged: `B0001`.
    pub(crate) fn container(offset: u64, message: impl Into<String>) -> Error {
        Error::new("B0001", Some(offset), message)
    }

    /// A record that means nothing: `B0002`.
    pub(crate) fn record(offset: u64, message: impl Into<String>) -> Error {
        Error::new("B0002", Some(offset), message)
    }

    /// A construct that is understood and not supported: `B0003`.
    pub(crate) fn unsupported(message: impl Into<String>) -> Error {
        Error::new("B0003", None, message)
    }

    /// Modules that do not fit together: `B0004`.
    pub(crate) fn link(message: impl Into<String>) -> Error {
        Error::new("B0004", None, message)
    }

    fn new(code: &'static str, offset: Option<u64>, message: impl Into<String>) -> Error {
        Error { code, offset, function: None, message: message.into() }
    }

    /// The error with the place of the record to blame, if it has none yet.
    pub(crate) fn at(mut self, offset: u64) -> Error {
        self.offset.get_or_insert(offset);
        self
    }

    /// The error with the function that it is in, if it has none yet.
    pub(crate) fn in_function(mut self, name: &str) -> Error {
        self.function.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The error as a diagnostic. A file of bitcode has no lines: the place is part of the message.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(self.code, Span::NONE, self.to_string())
    }

    /// The error as the only finding about a file.
    pub fn into_diagnostics(self, file: &str) -> Diagnostics {
        Diagnostics::new(Source::new(file, ""), vec![self.diagnostic()])
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = &self.function {
            write!(f, "@{function}: ")?;
        }
        f.write_str(&self.message)?;
        match self.offset {
            Some(offset) => write!(f, " (record at byte {offset:#x})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
