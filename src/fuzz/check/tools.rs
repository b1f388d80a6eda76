//! Programs of others that oracles ask.

use crate::Target;
use crate::isa::{Release, Version};
use crate::launch::LaunchSpec;

/// Programs of others that oracles ask, where they are installed.
pub trait Tools: Sync {
    /// The code that ptxas makes of a text, or why there is none; `None` without a ptxas that knows the target.
    fn ptxas(&self, text: &str, target: Target) -> Option<Result<Vec<u8>, NoCode>>;
    /// Which release of ptxas says what of a text without making code of it; `None` without one that knows the version and the target.
    fn check(
        &self,
        _text: &str,
        _version: Version,
        _target: Target,
    ) -> Option<(Release, Result<(), NoCode>)> {
        None
    }
    /// The PTX that LLVM makes of its own text; `None` without an LLVM.
    fn llvm(&self, text: &str, target: Target) -> Option<Result<String, String>>;
    /// What a launch of PTX leaves on a GPU.
    fn gpu(&self, _text: &str, _target: Target, _launch: &LaunchSpec) -> Result<Remains, NoRemains> {
        Err(NoRemains::NotRun("there is no GPU".to_owned()))
    }
}

/// Why ptxas has made no code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoCode {
    /// It rejects the text: what it says.
    Rejected(String),
    /// It was ended by a signal, which says nothing about the text: its release, and which signal.
    Crashed(String),
}

/// What a launch on a GPU leaves.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Remains {
    /// For each argument the content of its buffer; `None` for values.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The content of each variable that the launch names in `globals`.
    pub globals: Vec<(String, Vec<u8>)>,
    /// The content of each buffer of the launch's `memory`.
    pub memory: Vec<(String, Vec<u8>)>,
}

/// Why a GPU left nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoRemains {
    /// It was not asked, or could not run the program: that says nothing about the program.
    NotRun(String),
    /// The kernel went wrong there.
    Fault(String),
}

/// No tools.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoTools;

impl Tools for NoTools {
    fn ptxas(&self, _text: &str, _target: Target) -> Option<Result<Vec<u8>, NoCode>> {
        None
    }

    fn llvm(&self, _text: &str, _target: Target) -> Option<Result<String, String>> {
        None
    }
}
