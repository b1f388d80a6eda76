//! The error codes that programs get.

use crate::error::{self, Code};
use std::ffi::c_char;

const UNKNOWN: &std::ffi::CStr = c"unrecognized error code";

/// `cudaGetErrorName`
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(code: u32) -> *const c_char {
    Code(code).describe().map_or(UNKNOWN, |(name, _)| name).as_ptr()
}

/// `cudaGetErrorString`
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(code: u32) -> *const c_char {
    Code(code).describe().map_or(UNKNOWN, |(_, text)| text).as_ptr()
}

/// `cudaPeekAtLastError`
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> u32 {
    error::last().0
}

/// `cudaGetLastError`
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> u32 {
    let last = cudaPeekAtLastError();
    error::forget();
    last
}
