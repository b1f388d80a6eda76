//! Functions of the client that the library calls.
//!
//! **Invariant.** A function pointer here was given by the client for this purpose, with the argument that it is to be called with.

use super::Pointer;

/// `CUhostFn`
pub type HostFunction = Option<extern "C" fn(Pointer)>;
/// `CUstreamCallback`
pub type StreamCallback = Option<extern "C" fn(u64, u32, Pointer)>;
/// `CUoccupancyB2DSize`
pub type BlockToShared = Option<extern "C" fn(i32) -> usize>;

/// A function to call, with its argument.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// What is called.
    pub function: extern "C" fn(Pointer),
    /// With what.
    pub data: Pointer,
}

// SAFETY: an option of a function pointer; null is `None`, and anything else is a function by the module's invariant.
unsafe impl super::Plain for HostFunction {}
