//! The checkers: each an observer that fills a report, alone or several together.

mod checkers;
pub mod codes;
mod groups;
pub mod init;
pub(crate) mod map;
pub mod memory;
pub mod race;
pub mod report;
pub mod sync;

pub use checkers::{Checkers, Selection};
pub use init::Init;
pub use memory::Memory;
pub use race::Race;
pub use report::{Checker, Finding, Findings, Nearby, NearbyVariable, Report, Site};
pub use sync::Sync;

use warpsmith_interp::engine::Reg;
use warpsmith_interp::observe::At;

/// What a report calls a register of the running function.
fn register_name(at: &At<'_>, r: Reg) -> Nearby {
    let function = at.program.function_at(at.pc);
    let named = function.and_then(|f| at.program.registers(f).iter().find(|n| n.reg == r));
    match named {
        Some(named) => {
            let text = format!("register `{}`", named.name);
            Nearby { text, variable: None, register: Some(named.name.to_string()) }
        }
        None => Nearby::from(String::from("a register without a name")),
    }
}
