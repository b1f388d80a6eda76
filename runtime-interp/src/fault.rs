//! What can go wrong when a kernel runs, as values.

use std::fmt;

/// The kinds of faults. The names that [`FaultCode::name`] gives are stable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FaultCode {
    /// The launch cannot be made as described: no such kernel, wrong arguments, impossible sizes.
    BadLaunch,
    /// The device has not enough memory.
    OutOfMemory,
    /// An access to an address that holds nothing.
    OutOfBounds,
    /// An access to an address that is not a multiple of its size.
    Misaligned,
    /// `trap` was executed.
    Trap,
    /// The threads of a block wait for each other and none can go on.
    Deadlock,
    /// The launch executed more instructions than its limits allow.
    StepLimit,
    /// Calls nest deeper than the limits allow.
    StackOverflow,
    /// A `.sync` instruction whose mask does not name the executing thread.
    BadMask,
    /// A barrier that does not exist, or that is used with different thread counts at once.
    BadBarrier,
    /// A branch or call through a value that is no target.
    BadTarget,
    /// An operation on memory that holds no mbarrier object, or one that its counts forbid.
    BadMbarrier,
    /// An operand outside of what the instruction allows.
    BadOperand,
    /// `__assertfail` was called: an assertion of the source does not hold.
    Assertion,
    /// `free` of what `malloc` did not give, or of what was freed.
    BadFree,
    /// Whoever watched the launch has ended it.
    Interrupted,
}

impl FaultCode {
    /// A stable name: `out_of_bounds`.
    pub const fn name(self) -> &'static str {
        match self {
            FaultCode::BadLaunch => "bad_launch",
            FaultCode::OutOfMemory => "out_of_memory",
            FaultCode::OutOfBounds => "out_of_bounds",
            FaultCode::Misaligned => "misaligned",
            FaultCode::Trap => "trap",
            FaultCode::Deadlock => "deadlock",
            FaultCode::StepLimit => "step_limit",
            FaultCode::StackOverflow => "stack_overflow",
            FaultCode::BadMask => "bad_mask",
            FaultCode::BadBarrier => "bad_barrier",
            FaultCode::BadTarget => "bad_target",
            FaultCode::BadMbarrier => "bad_mbarrier",
            FaultCode::BadOperand => "bad_operand",
            FaultCode::Assertion => "assertion",
            FaultCode::BadFree => "bad_free",
            FaultCode::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for FaultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a launch did not finish: what, where in the source, and in which thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind.
    pub code: FaultCode,
    /// The whole story in a sentence.
    pub message: String,
    /// The line of the instruction in the PTX (or IR) text, from 1.
    pub ptx_line: Option<u32>,
    /// `%ctaid` of the block.
    pub block: Option<[u32; 3]>,
    /// `%tid` of the thread, the lowest-numbered one if several fault together.
    pub thread: Option<[u32; 3]>,
    /// The address of a memory access.
    pub address: Option<u64>,
}

impl Fault {
    /// A fault that belongs to no thread.
    pub fn new(code: FaultCode, message: impl Into<String>) -> Self {
        Fault { code, message: message.into(), ptx_line: None, block: None, thread: None, address: None }
    }

    pub(crate) fn launch(message: impl Into<String>) -> Self {
        Fault::new(FaultCode::BadLaunch, message)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        if let Some(line) = self.ptx_line {
            write!(f, ", line {line}")?;
        }
        if let Some([x, y, z]) = self.block {
            write!(f, ", block ({x}, {y}, {z})")?;
        }
        if let Some([x, y, z]) = self.thread {
            write!(f, ", thread ({x}, {y}, {z})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
