//! Matrix instructions and copies by tensor map: every form runs, and kernels give what arithmetic says.

mod descriptors;
mod every;
mod fifth;
mod forms;
#[path = "../common/levels.rs"]
mod levels;
mod maps;
mod operands;
mod products;
mod warpgroup;

use warpsmith_interp::Program;
use warpsmith_ptx::ValidatedModule;

fn load(source: &str) -> Program {
    try_load(source).unwrap_or_else(|errors| panic!("{source}\n{errors}"))
}

fn try_load(source: &str) -> Result<Program, String> {
    let module = ValidatedModule::parse(source).map_err(|errors| format!("{errors:?}"))?;
    Program::load(&module).map_err(|errors| format!("{errors:?}"))
}
