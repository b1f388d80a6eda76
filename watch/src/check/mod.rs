//! The checkers: each an observer that fills a report, alone or several together.

mod checkers;
pub mod codes;
mod groups;
pub mod init;
mod map;
pub mod memory;
pub mod race;
pub mod report;
pub mod sync;

pub use checkers::{Checkers, Selection};
pub use init::Init;
pub use memory::Memory;
pub use race::Race;
pub use report::{Checker, Finding, Report, Site};
pub use sync::Sync;
