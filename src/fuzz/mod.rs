//! Round trips: does a program mean the same by every way that it can be compiled and run?
//!
//! [`round_trip`] is the one function for a compiler's own tests and fuzz targets: it takes what the compiler made and a launch, and compares every byte
//! that comes out of every way. [`Case`] makes programs of seeds, [`check`] runs any of the [`Oracle`]s on one; the command `warpsmith fuzz` does
//! so in a loop. `docs/fuzzing.md` shows both.
//!
//! ```
//! use warpsmith::fuzz::round_trip;
//! use warpsmith::launch::LaunchSpec;
//! use warpsmith::OptLevel;
//!
//! let text = "
//!     kernel @twice(%data: ptr<global>) {
//!     entry:
//!       %i = sreg.tid.x
//!       %p = index %data, %i, 4
//!       %x = load.i32 %p
//!       %y = iadd %x, %x
//!       store %y, %p
//!       ret
//!     }";
//! let launch = r#"{"block": [32], "args": [{"buffer_type": "u32", "iota": 32}]}"#;
//! let launch = LaunchSpec::parse(launch).map_err(|errors| errors[0].clone())?;
//! round_trip(text, &launch, &OptLevel::ALL)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod check;
mod folding;
mod metamorphic;
mod patterns;
mod spoilt;

pub use case::Case;
pub use check::{
    Effort, NoCode, NoRemains, NoTools, Remains, Tools, Verdict, check, check_with, difference, is_defined,
    reference_launch,
};
pub use folding::{Folded, FoldingResult, folding};
pub use metamorphic::{Changed, Subject};
pub use patterns::ir_config;
pub use spoilt::{Both, spoilt};
pub use warpsmith_smith as smith;

use crate::launch::LaunchSpec;
use crate::{Language, Module, OptLevel};
use std::fmt;

/// A way to find out that a program does not mean the same everywhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Oracle {
    /// The verifier, or the validator, accepts what is valid by construction; it loads, compiles, and what comes out is accepted.
    Accept,
    /// Printing and parsing is the identity.
    Text,
    /// The IR's own meaning is that of the PTX of every level.
    Levels,
    /// The IR's own meaning is that of the PTX with each single pass of `-O2` left out, and with registers assigned block by block.
    Passes,
    /// The engine gives the same under other schedules and seeds.
    Schedules,
    /// The engine gives what the reference interpreter gives.
    Reference,
    /// The IR's own meaning is that of the module as machine code of the host, where it is compiled so (feature `native`).
    Native,
    /// The checkers have nothing to say about what is right by construction.
    Checkers,
    /// ptxas takes what the validator takes.
    Ptxas,
    /// The PTX that LLVM makes of the same program, run by the engine, leaves what the IR's own meaning leaves.
    Llvm,
    /// A GPU at hand leaves what the engine leaves.
    Gpu,
    /// What transformations make of a program leaves what the program leaves ([`Subject::vary`]).
    Metamorphic,
    /// What ptxas folds to a constant is what the engine computes ([`folding`]).
    Folding,
    /// What the validator says of a spoilt statement is what ptxas says ([`spoilt`]).
    Spoilt,
}

impl Oracle {
    /// All that check a program by itself.
    pub const ALL: [Oracle; 11] = [
        Oracle::Accept,
        Oracle::Text,
        Oracle::Levels,
        Oracle::Passes,
        Oracle::Schedules,
        Oracle::Reference,
        Oracle::Native,
        Oracle::Checkers,
        Oracle::Ptxas,
        Oracle::Llvm,
        Oracle::Gpu,
    ];

    /// Those that cost little enough to be asked about every program, and that see every bit: machine code of the host leaves other NaNs of `f64`.
    pub const DEFAULT: [Oracle; 5] =
        [Oracle::Accept, Oracle::Text, Oracle::Levels, Oracle::Schedules, Oracle::Reference];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Oracle::Accept => "accept",
            Oracle::Text => "text",
            Oracle::Levels => "levels",
            Oracle::Passes => "passes",
            Oracle::Schedules => "schedules",
            Oracle::Reference => "reference",
            Oracle::Native => "native",
            Oracle::Checkers => "checkers",
            Oracle::Ptxas => "ptxas",
            Oracle::Llvm => "llvm",
            Oracle::Gpu => "gpu",
            Oracle::Metamorphic => "metamorphic",
            Oracle::Folding => "folding",
            Oracle::Spoilt => "spoilt",
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Oracle {
    type Err = String;

    fn from_str(text: &str) -> Result<Oracle, String> {
        let found = Oracle::ALL.into_iter().find(|oracle| oracle.name() == text);
        found.ok_or_else(|| format!("`{text}` is not one of {}", Oracle::ALL.map(Oracle::name).join(", ")))
    }
}

/// What an oracle found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Which oracle.
    pub oracle: Oracle,
    /// What is wrong.
    pub what: String,
}

impl Failure {
    /// What is the same for all failures that probably have one cause: the message without its numbers.
    pub fn cause(&self) -> String {
        let line = self.what.lines().next().unwrap_or_default();
        let mut cause = String::with_capacity(line.len());
        let mut rest = line.chars().peekable();
        while let Some(c) = rest.next() {
            if c.is_ascii_digit() {
                // A number, or a name that ends in one.
                while rest.next_if(|c| c.is_ascii_hexdigit() || *c == 'x').is_some() {}
                cause.push('#');
            } else {
                cause.push(c);
            }
        }
        format!("{}: {cause}", self.oracle)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.oracle, self.what)
    }
}

impl std::error::Error for Failure {}

/// What a round trip is made of: a module of the IR, or a text of either language.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The IR.
    Module(&'a Module),
    /// IR text, or PTX, which begins with `.version`.
    Text(&'a str),
}

impl<'a> From<&'a Module> for Input<'a> {
    fn from(module: &'a Module) -> Input<'a> {
        Input::Module(module)
    }
}

impl<'a> From<&'a str> for Input<'a> {
    fn from(text: &'a str) -> Input<'a> {
        Input::Text(text)
    }
}

/// The language of a text: PTX says its version before anything else.
pub fn language_of(text: &str) -> Language {
    let says = |line: &str| {
        let line = line.trim_start();
        (!line.is_empty() && !line.starts_with("//")).then(|| line.starts_with(".version"))
    };
    match text.lines().find_map(says) {
        Some(true) => Language::Ptx,
        Some(false) | None => Language::Wir,
    }
}

/// Makes the round trip of a program with a launch: it is accepted, is read as it is printed, and gives the same in every byte as IR, as PTX of
/// each of the levels, under other schedules, and by the reference interpreter as far as that knows its instructions.
///
/// A compiler's fuzz target calls it with what the compiler made of the fuzzer's bytes.
pub fn round_trip<'a>(
    input: impl Into<Input<'a>>,
    launch: &LaunchSpec,
    levels: &[OptLevel],
) -> Result<Verdict, Failure> {
    let text = match input.into() {
        Input::Module(module) => module.to_string(),
        Input::Text(text) => text.to_owned(),
    };
    let case =
        Case { language: language_of(&text), text, launch: launch.clone(), description: String::new() };
    check_with(&case, &Oracle::DEFAULT, Effort { levels, way: None, allocation: None }, &NoTools)
}
