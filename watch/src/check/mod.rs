//! The checkers.

pub mod init;
pub mod memory;
mod places;

pub use init::Init;
pub use memory::Memory;
