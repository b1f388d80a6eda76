//! What compiling takes, by settings: for benches.

use super::chunk::PLAIN;
use super::{RegionCompiler, compile_with, emit, internal, recipe};
use crate::host::Code;
use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{Linkage, Module as _};
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

/// What nothing compiled by Cranelift can do with less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Least {
    /// One instruction for an operation, of the host's integer registers, in one block.
    Scalar,
    /// A vector is loaded, added to and stored, for an operation: an eighth of a warp, without a loop.
    Vector,
}

/// Compiles a function of so many operations that do the least, and keeps it not.
pub fn compile_least(
    compiler: &RegionCompiler,
    least: Least,
    operations: u32,
) -> Result<(), Box<Diagnostic>> {
    let error = |e: &dyn std::fmt::Debug| internal("the least", format!("{e:?}"));
    let mut code = Code::of_regions(compiler.0.isa()?.clone());
    let (mut builder, mut context) = (FunctionBuilderContext::new(), code.make_context());
    let mut signature = code.make_signature();
    emit::signature(&mut signature);
    let id = code.declare_function("least", Linkage::Local, &signature).map_err(|e| error(&e))?;
    context.func.signature = signature;
    let config = code.target_config();
    let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let state = b.block_params(entry)[0];
    let (mut sum, other) = (state, b.ins().load(types::I64, PLAIN, state, 0));
    for n in 0..operations {
        match least {
            Least::Scalar if n % 2 == 0 => sum = b.ins().iadd(sum, other),
            Least::Scalar => sum = b.ins().bxor(sum, other),
            Least::Vector => {
                let at = (16 * (n % 64)) as i32;
                let value = b.ins().load(types::I32X4, PLAIN, state, at);
                let value = b.ins().iadd(value, value);
                b.ins().store(PLAIN, value, state, at);
            }
        }
    }
    b.ins().return_(&[sum]);
    b.seal_all_blocks();
    b.finalize(config);
    code.define_function(id, &mut context).map_err(|e| error(&e))?;
    code.finalize_definitions().map_err(|e| error(&e))
}
