//! CUDA's runtime API over the driver API: a `libcudart` for programs that are linked with it dynamically.
//!
//! The library is `libcudart.so.13` by name. It calls the `libcuda.so.1` that the process finds, and only its documented functions.
//!
//! - `forward`: functions that only forward to the driver (`data/forward.tsv`), and those that are not implemented (`data/names.txt`);
//! - `register`: what the host code of nvcc and clang registers when a program starts: fat binaries, kernels, variables;
//! - `launch`, `memory`, `copy`, `symbol`, `array`, `texture`, `graph`, `function`, `device`, `errors`: functions that do more than call the driver;
//! - `context`: the device of a thread, whose primary context is created on first use, and the fault that persists until the device is reset;
//! - `driver`: the driver's library;
//! - `ffi`, `error`: pointers of clients, and error codes.

mod array;
mod context;
mod copy;
mod device;
mod driver;
mod error;
mod errors;
#[allow(dead_code, reason = "the driver's library uses the rest of it")]
#[path = "../../cuda/src/ffi/pointer.rs"]
mod ffi;
mod forward;
mod function;
mod graph;
mod launch;
mod memory;
mod register;
mod symbol;
mod texture;

/// The stream of a handle: null is the legacy stream, or the thread's own if the program was compiled for per-thread streams.
fn stream(handle: usize, default: usize) -> usize {
    if handle == 0 { default } else { handle }
}
