//! What can go wrong when a kernel runs, as values.

use std::fmt;
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};

/// Defines [`FaultCode`] and its names; the doc comment of a code is also its explanation.
macro_rules! fault_codes {
    ($($(#[doc = $doc:literal])* $code:ident = $name:literal,)*) => {
        /// The kinds of faults. The names that [`FaultCode::name`] gives are stable.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum FaultCode {
            $($(#[doc = $doc])* $code,)*
        }

        impl FaultCode {
            /// A stable name: `out_of_bounds`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(FaultCode::$code => $name,)*
                }
            }

            /// Every name and its explanation.
            pub const EXPLANATIONS: warpsmith_diag::Codes = &[$(($name, &[$($doc),*])),*];
        }
    };
}

fault_codes! {
    /// The launch cannot be made as described: no such kernel, wrong arguments, impossible sizes.
    BadLaunch = "bad_launch",
    /// The device has not enough memory.
    OutOfMemory = "out_of_memory",
    /// An access to an address that holds nothing.
    ///
    /// The fault names the nearest allocation and the distance: a few bytes past its end are an index one too large or a missing check of the
    /// bounds; far away it is a wrong base, a null pointer, or an index in bytes that should be one in elements.
    OutOfBounds = "out_of_bounds",
    /// An access to an address that is not a multiple of its size.
    ///
    /// The size is that of all elements together for `.v2` and `.v4`.
    Misaligned = "misaligned",
    /// `trap` was executed.
    ///
    /// Compilers write it for what must not happen, and for assertions.
    Trap = "trap",
    /// The threads of a launch wait for each other and none can go on.
    ///
    /// The fault says who waits where, and for what.
    Deadlock = "deadlock",
    /// The launch executed more instructions than its limits allow.
    ///
    /// Mostly a loop that does not end. A kernel that is long is given higher limits: `--steps`, `limits` of a launch.
    StepLimit = "step_limit",
    /// Calls nest deeper than the limits allow.
    StackOverflow = "stack_overflow",
    /// A `.sync` instruction whose mask does not name the executing thread.
    BadMask = "bad_mask",
    /// A barrier that does not exist, or that is used with different thread counts at once.
    BadBarrier = "bad_barrier",
    /// A branch or call through a value that is not a target.
    BadTarget = "bad_target",
    /// An operation on memory that holds no mbarrier object, or one that its counts forbid.
    BadMbarrier = "bad_mbarrier",
    /// A tensor map that is none, or whose fields break a rule.
    ///
    /// The rules are those of the driver's `cuTensorMapEncodeTiled`. A map that a kernel makes by `tensormap.replace` is checked where it is used.
    BadTensorMap = "bad_tensor_map",
    /// Tensor memory that is not allocated, or lanes of it that belong to another warp.
    ///
    /// Each warp of four reaches its own quarter of the 128 lanes, in columns that are allocated and not freed.
    BadTensorMemory = "bad_tensor_memory",
    /// A handle that is none, a reference that nothing is bound to, or a texture or surface that is not what the instruction takes it for.
    ///
    /// Handles come from the launch: as arguments, in buffers, or bound to the module's references by name.
    BadTexture = "bad_texture",
    /// An operand outside of what the instruction allows.
    BadOperand = "bad_operand",
    /// `__assertfail` was called: an assertion of the source does not hold.
    Assertion = "assertion",
    /// `free` of what `malloc` did not give, or of what was freed.
    BadFree = "bad_free",
    /// An observer of the launch has ended it.
    Interrupted = "interrupted",
}

impl fmt::Display for FaultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a launch did not finish: what, where in the source, and in which thread.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
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

    /// The fault with the line of `source` at which it happened; `source` is that of the program that was launched
    /// ([`Program::source`](crate::Program::source)).
    pub fn diagnostics(&self, source: &Source) -> Diagnostics {
        let span = self.ptx_line.map_or(Span::NONE, |line| source.lines().line_span(line));
        let error = Diagnostic::error(self.code.name(), span, self.message.as_str());
        let error = match (self.thread, self.block) {
            (Some([x, y, z]), Some([a, b, c])) => {
                error.label(span, format!("in thread ({x}, {y}, {z}) of block ({a}, {b}, {c})"))
            }
            (None, Some([a, b, c])) => error.label(span, format!("in block ({a}, {b}, {c})")),
            (_, None) => error,
        };
        Diagnostics::new(source.clone(), vec![error])
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
