//! Why a call ended early.

use std::fmt;
use warpsmith_diag::Span;

/// What went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// Memory that does not exist was accessed.
    OutOfBounds,
    /// An address is not a multiple of the alignment that the access has.
    Misaligned,
    /// `trap` or `unreachable` was executed.
    Trap,
    /// `assert` was executed on a false condition.
    Assert,
    /// More loops and calls were executed than the limit allows.
    StepLimit,
    /// Calls are nested too deeply, or their stack slots are too large together.
    StackOverflow,
    /// A call through an address that is not that of a function with this signature.
    BadCall,
    /// A kernel was launched with arguments that are not its own, or threads that no launch has.
    BadLaunch,
}

impl FaultKind {
    /// The sentence.
    pub const fn message(self) -> &'static str {
        match self {
            FaultKind::OutOfBounds => "an access outside of memory",
            FaultKind::Misaligned => "an access at an address that is not aligned",
            FaultKind::Trap => "a trap was executed",
            FaultKind::Assert => "an assertion failed",
            FaultKind::StepLimit => "more rounds and calls than the limit allows",
            FaultKind::StackOverflow => "calls are nested too deeply",
            FaultKind::BadCall => "a call through an address that is not a function of the called signature",
            FaultKind::BadLaunch => "the arguments or the numbers of threads are not those of a launch",
        }
    }
}

/// A fault of compiled code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The function it went wrong in.
    pub function: String,
    /// The place of the instruction in the module's source.
    pub span: Span,
    /// The address, of an access.
    pub address: Option<u64>,
    /// Block and thread, in a kernel.
    pub thread: Option<([u32; 3], [u32; 3])>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in `{}`", self.kind.message(), self.function)?;
        if let Some(address) = self.address {
            write!(f, ", address {address:#x}")?;
        }
        if let Some((block, thread)) = self.thread {
            write!(f, ", block {block:?}, thread {thread:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// A place in compiled code where a fault can happen.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub kind: FaultKind,
    pub function: String,
    pub span: Span,
}
