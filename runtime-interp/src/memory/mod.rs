//! Guest memory: blocks of bytes, the table of global allocations, and the windows of the generic address space.

#[cfg(feature = "mapped")]
pub(crate) mod arena;
pub(crate) mod bytes;
pub(crate) mod global;
pub(crate) mod heap;
pub(crate) mod window;
