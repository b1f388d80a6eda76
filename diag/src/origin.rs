//! What a finding is about in a program that was built rather than read: there is no text to show.

use std::fmt;

/// The part of a built program that a finding is about.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Origin {
    /// The function, by the name that its maker gave it.
    pub function: String,
    /// The number of the instruction, as the builder returned it.
    pub instruction: Option<u32>,
    /// The place in the source of the program's user that the instruction was made for.
    pub place: Option<Place>,
}

/// A place in a source that only the maker of a program has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// Counted from 1; 0 for what no line says.
    pub line: u32,
    /// Counted from 1; 0 if not known.
    pub column: u32,
}

impl Origin {
    /// A function as a whole.
    pub fn of(function: impl Into<String>) -> Origin {
        Origin { function: function.into(), instruction: None, place: None }
    }

    /// One of its instructions.
    pub fn instruction(mut self, number: u32) -> Origin {
        self.instruction = Some(number);
        self
    }

    /// A place in the user's source.
    pub fn place(mut self, place: Place) -> Origin {
        self.place = Some(place);
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}:{}", self.file, self.line),
            column => write!(f, "{}:{}:{column}", self.file, self.line),
        }
    }
}
