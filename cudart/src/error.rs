//! What calls answer, and the last error of a thread.

use crate::context;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// A result of the runtime API, as a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Code(pub u32);

include!(concat!(env!("OUT_DIR"), "/errors.rs"));

/// Why a call does not do what it was asked to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The code that the client gets.
    pub code: Code,
    /// Why; of what the driver has refused, the driver's log has it.
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

    /// What the driver has answered: the numbers are the same. The fault of a kernel stays.
    pub fn of_driver(code: u32, name: &CStr) -> Error {
        let code = Code(code);
        if code.is_fault() {
            context::fail(code);
        }
        Error::new(code, format!("{}: {}", name.to_string_lossy(), code.0))
    }
}

impl Code {
    /// Its name and its text, if it is one.
    pub fn describe(self) -> Option<(&'static CStr, &'static CStr)> {
        let row = CODES.iter().find(|(number, ..)| *number == self.0)?;
        Some((row.1, row.2))
    }

    /// The fault of a kernel, which is the answer of every later call.
    pub fn is_fault(self) -> bool {
        let not = [Code::LAUNCH_OUT_OF_RESOURCES, Code::COOPERATIVE_LAUNCH_TOO_LARGE];
        let peers = [Code::PEER_ACCESS_ALREADY_ENABLED, Code::PEER_ACCESS_NOT_ENABLED];
        let host = [Code::HOST_MEMORY_ALREADY_REGISTERED, Code::HOST_MEMORY_NOT_REGISTERED];
        let context = [Code::SET_ON_ACTIVE_PROCESS, Code::CONTEXT_IS_DESTROYED];
        (700..=721).contains(&self.0) && ![not, peers, host, context].concat().contains(&self)
    }
}

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(Code::SUCCESS) };
}

/// The last error of this thread.
pub fn last() -> Code {
    LAST.get()
}

/// Forgets the last error of this thread.
pub fn forget() {
    LAST.set(Code::SUCCESS);
}

/// Runs the body of a function, and keeps its error. Nothing unwinds into C.
pub fn call(name: &'static str, body: impl FnOnce() -> Result<(), Error>) -> u32 {
    let code = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return 0,
        // That work goes on is not an error.
        Ok(Err(error)) if error.code == Code::NOT_READY => return error.code.0,
        Ok(Err(error)) => {
            if error.code == Code::INSUFFICIENT_DRIVER {
                say(&format!("{name}: {}", error.message));
            }
            error.code
        }
        Err(_) => {
            say(&format!("{name}: internal error"));
            Code::UNKNOWN
        }
    };
    LAST.set(code);
    code.0
}

/// The answer of a function that is not there.
pub fn missing(name: &'static str) -> u32 {
    call(name, || {
        say(&format!("{name} is not supported"));
        Err(Error::new(Code::NOT_SUPPORTED, name))
    })
}

/// A line on standard error, once. If that is closed, it is dropped.
fn say(line: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned()) {
        writeln!(std::io::stderr().lock(), "warpsmith: {line}").unwrap_or_default();
    }
}

/// Defines functions: `fn name(parameters) { body }`, where the body is `Result<(), Error>`.
macro_rules! rt {
    ($($(#[doc = $doc:literal])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        $(#[doc = $doc])*
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> u32 {
            crate::error::call(stringify!($name), move || $body)
        }
    )*};
}
pub(crate) use rt;

/// As [`rt!`], of functions whose last parameter is a stream, with their twins for programs in which each thread has a stream of its own.
macro_rules! rt_stream {
    ($($(#[doc = $doc:literal])* fn $name:ident / $own:ident($($arg:ident: $ty:ty,)* ; $stream:ident) $body:block)*) => {$(
        crate::error::rt_stream!(@one $name, ($($arg: $ty,)*), $stream, 0, $body);
        crate::error::rt_stream!(@one $own, ($($arg: $ty,)*), $stream, 2, $body);
    )*};
    (@one $name:ident, ($($arg:ident: $ty:ty,)*), $stream:ident, $default:literal, $body:block) => {
        #[doc = concat!("`", stringify!($name), "`")]
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty,)* $stream: usize) -> u32 {
            let $stream = crate::stream($stream, $default);
            crate::error::call(stringify!($name), move || $body)
        }
    };
}
pub(crate) use rt_stream;
