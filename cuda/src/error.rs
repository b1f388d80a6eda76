//! What calls answer.

use std::ffi::CStr;
use std::fmt;
use warpsmith::{Fault, FaultCode};

/// A result of the driver API, as a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Code(pub u32);

include!(concat!(env!("OUT_DIR"), "/errors.rs"));

impl Code {
    /// Its name and its text, if it is one.
    pub fn describe(self) -> Option<(&'static CStr, &'static CStr)> {
        let row = CODES.iter().find(|(number, ..)| *number == self.0)?;
        Some((row.1, row.2))
    }

    /// What a driver answers for a fault.
    pub fn of_fault(code: FaultCode) -> Code {
        match code {
            FaultCode::BadLaunch => Code::INVALID_VALUE,
            FaultCode::OutOfMemory => Code::OUT_OF_MEMORY,
            FaultCode::OutOfBounds => Code::ILLEGAL_ADDRESS,
            FaultCode::Misaligned => Code::MISALIGNED_ADDRESS,
            FaultCode::Deadlock | FaultCode::StepLimit => Code::LAUNCH_TIMEOUT,
            FaultCode::BadTarget => Code::INVALID_PC,
            FaultCode::Assertion => Code::ASSERT,
            FaultCode::StackOverflow => Code::HARDWARE_STACK_ERROR,
            FaultCode::BadTensorMemory
            | FaultCode::BadMask
            | FaultCode::BadBarrier
            | FaultCode::BadMbarrier
            | FaultCode::BadTensorMap
            | FaultCode::BadTexture
            | FaultCode::BadOperand => Code::ILLEGAL_INSTRUCTION,
            // `FaultCode` may grow: what it then names has no number of its own in the driver's list.
            _ => Code::LAUNCH_FAILED,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.describe() {
            Some((name, _)) => f.write_str(&name.to_string_lossy()),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Why a call does not do what it was asked to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The code that the client gets.
    pub code: Code,
    /// What the log says.
    pub message: String,
}

impl Error {
    /// An error with its explanation.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error { code, message: message.into() }
    }

    /// An argument that is not possible.
    pub fn value(message: impl Into<String>) -> Error {
        Error::new(Code::INVALID_VALUE, message)
    }

    /// Something that this library does not do.
    pub fn unsupported(message: impl Into<String>) -> Error {
        Error::new(Code::NOT_SUPPORTED, message)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::new(Code::of_fault(fault.code), fault.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}
