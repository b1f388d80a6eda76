//! What runs when the process ends.

use std::ffi::c_int;

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// Has a function called when the process ends in order; false if the C library has no room for it.
pub fn at_exit(function: extern "C" fn()) -> bool {
    // SAFETY: a function without arguments that lives as long as the library, which is never unloaded before exit functions run.
    unsafe { atexit(function) == 0 }
}
