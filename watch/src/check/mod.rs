//! The checkers.

pub(crate) mod groups;
pub mod init;
pub mod memory;
mod places;
pub mod race;
pub mod sync;

pub use init::Init;
pub use memory::Memory;
pub use race::Race;
pub use sync::Sync;
