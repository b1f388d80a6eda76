//! What compiling takes, by settings: for benches.

use super::{RegionCompiler, compile_with, recipe};
use std::time::Duration;
use warpsmith_diag::Diagnostic;
use warpsmith_interp::engine::Program;

/// Settings of Cranelift by name.
pub type Settings = &'static [(&'static str, &'static str)];

/// What may be chosen.
pub const SETTINGS: [Settings; 4] = [
    &[("opt_level", "speed"), ("regalloc_algorithm", "backtracking")],
    &[("opt_level", "none"), ("regalloc_algorithm", "backtracking")],
    &[("opt_level", "speed"), ("regalloc_algorithm", "single_pass")],
    &[("opt_level", "none"), ("regalloc_algorithm", "single_pass")],
];

/// What came of it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Compiled {
    /// Operations that are machine code.
    pub operations: usize,
    /// Bytes of machine code.
    pub bytes: usize,
    /// Instructions of Cranelift.
    pub instructions: usize,
    /// How long it took to make them; the rest is Cranelift's.
    pub building: Duration,
}

/// A compiler with other settings.
pub fn compiler(settings: Settings) -> Result<RegionCompiler, Box<Diagnostic>> {
    RegionCompiler::with_settings(settings)
}

/// Compiles all regions of a program, and keeps none.
pub fn compile(program: &Program, compiler: &RegionCompiler) -> Result<Compiled, Box<Diagnostic>> {
    let shared = &compiler.0;
    let mut compiled = Compiled::default();
    for region in program.regions() {
        let (recipe, operations) = recipe::recipe(program, &region, shared.fused_multiply);
        if operations >= super::LEAST {
            let made = compile_with(&recipe, shared.isa()?)?;
            compiled.operations += operations;
            compiled.bytes += made.bytes;
            compiled.instructions += made.instructions;
            compiled.building += made.building;
        }
    }
    Ok(compiled)
}
