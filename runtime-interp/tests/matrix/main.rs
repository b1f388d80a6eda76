//! Matrix instructions of a warp: every form runs, and kernels give what arithmetic says.

mod forms;
#[path = "../common/levels.rs"]
mod levels;
mod products;
mod warpgroup;

use warpsmith_interp::Program;
use warpsmith_ptx::ValidatedModule;

fn load(source: &str) -> Program {
    let module = ValidatedModule::parse(source).unwrap_or_else(|errors| panic!("{source}\n{errors:#?}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{source}\n{errors:#?}"))
}
