//! The boundary to C: what its functions are made of.
//!
//! An entry point is written in [`api!`] as a safe function. Its pointers come as [`In`], [`Out`], [`Text`] and the like, which only C can make: they are
//! checked for null when they are used, and trusted to point to what the API's documentation says they point to, as any C library must.

pub mod callback;
pub mod exit;
pub mod memory;
pub mod pages;
mod pointer;
pub mod shared;
pub mod signal;

pub use pointer::{In, Out, Plain, Pointer, Text};

use crate::error::{Code, Error};
use crate::log;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Defines entry points: `fn name(parameters) { body }`, where the body is `Result<(), Error>`.
macro_rules! api {
    ($($(#[doc = $doc:literal])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, as `cuda.h` declares it.")]
        $(#[doc = $doc])*
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> u32 {
            crate::ffi::call(stringify!($name), move || $body)
        }
    )*};
}
pub(crate) use api;

/// Runs the body of an entry point. Nothing unwinds into C: a panic is an error like any other, and a mistake of ours.
pub fn call(name: &'static str, body: impl FnOnce() -> Result<(), Error>) -> u32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Code::SUCCESS.0,
        Ok(Err(error)) => {
            log::failed(name, &error);
            error.code.0
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            log::always(&format!("{name}: internal error: {text}"));
            Code::UNKNOWN.0
        }
    }
}

/// The answer of an entry point that is not there.
pub fn missing(name: &'static str) -> u32 {
    log::once(&format!("{name} is not supported"));
    Code::NOT_SUPPORTED.0
}
