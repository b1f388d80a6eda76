//! What the driver answers when it does not do what it was asked.

use std::fmt;

/// A call of the driver that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Error {
    /// The function: `cuLaunchKernelEx`.
    pub call: &'static str,
    /// The code that it returned (`CUresult`); 0 where this library gave up.
    pub status: i32,
    /// The code by its name, and what the driver's compiler said.
    pub message: String,
}

impl Error {
    pub(crate) fn own(call: &'static str, message: impl Into<String>) -> Error {
        Error { call, status: 0, message: message.into() }
    }

    /// A kernel went wrong while it ran: the context is lost, and with it all memory. [`crate::Gpu::reset`] makes a new one.
    pub fn is_fault(&self) -> bool {
        // CUDA_ERROR_ILLEGAL_ADDRESS, .._LAUNCH_TIMEOUT; from HARDWARE_STACK_ERROR to LAUNCH_FAILED; TENSOR_MEMORY_LEAK, EXTERNAL_DEVICE.
        matches!(self.status, 700 | 702 | 710 | 714..=719 | 721 | 726)
    }

    /// The kernel did not end in the time that it was given: the process can only end too.
    pub fn is_hang(&self) -> bool {
        self.call == "cuStreamQuery" && self.status == 0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, self.message)
    }
}

impl std::error::Error for Error {}

/// Why there is no GPU to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Absent(pub(crate) String);

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no GPU with a driver was found: {}", self.0)
    }
}

impl std::error::Error for Absent {}
