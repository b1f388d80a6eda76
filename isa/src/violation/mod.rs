//! What is wrong with an instruction, in words.

mod fault;
mod gates;
mod repair;
mod words;

pub(crate) use fault::of_fault;
pub use gates::lowest;
pub(crate) use gates::{of_gates, of_leniency};
pub(crate) use repair::{renumbered, retyped};
pub(crate) use words::list;

use crate::{ScalarType, Target, Version};

/// One thing that is wrong with an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Stable: `I0104`.
    pub code: &'static str,
    /// What it is about.
    pub place: Place,
    /// What is wrong, in a sentence without capital and full stop.
    pub message: String,
    /// What would be right there.
    pub expected: Option<String>,
    /// What is there.
    pub found: Option<String>,
    /// How to put it right, in words.
    pub help: Option<String>,
    /// How to put it right, as a change of the text.
    pub fix: Option<Fix>,
    /// The manual's section: `9.7.1.1`.
    pub section: &'static str,
}

/// A change that would put an instruction right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// The change.
    pub remedy: Remedy,
    /// True where hardly anything else can have been meant.
    pub certain: bool,
}

/// What to change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// The mnemonic, to this.
    Mnemonic(String),
    /// What is at the violation's place, to this.
    Text(String),
    /// What is at the place, by putting it in brackets.
    Brackets,
    /// The constant at the place, to one of this type.
    Constant(ScalarType),
    /// What the module is for.
    Context {
        /// The lowest version that would do, if it is higher than the module's.
        version: Option<Version>,
        /// The lowest target, if the module's will not do in any version.
        target: Option<Target>,
    },
}

/// What a [`Violation`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The instruction as a whole.
    Instruction,
    /// A word of the mnemonic: 0 is what comes before its first dot.
    Word(usize),
    /// An operand, by its index among those written, and where it has parts (braces, a bracket, a pair) the part's index.
    Operand(usize, Option<usize>),
}
