//! CUDA's runtime API over the driver API: a `libcudart` for programs that are linked with it dynamically.
//!
//! The library is `libcudart.so.13` by name, and calls whatever `libcuda.so.1` the process finds: it needs nothing of that one that is not documented.
//!
//! - `forward`: functions that are the driver's but for their names (`data/forward.tsv`), and those that are not there yet (`data/names.txt`);
//! - `register`: what the host code of nvcc and clang registers when a program starts: fat binaries, kernels, variables;
//! - `launch`, `memory`, `copy`, `symbol`, `array`, `texture`, `graph`, `function`, `device`, `errors`: the functions that are more than a call of the driver;
//! - `context`: the device of a thread, whose primary context is made when it is first needed, and the fault that stays until the device is reset;
//! - `driver`: the driver's library, found and called;
//! - `ffi`, `error`: pointers of clients, and what calls answer.

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

/// The stream that a program means by a handle: null is the legacy stream, or the thread's own where the program was compiled so.
fn stream(handle: usize, default: usize) -> usize {
    if handle == 0 { default } else { handle }
}
