//! The checkers.

pub mod memory;

pub use memory::Memory;
