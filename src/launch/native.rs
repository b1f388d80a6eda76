//! A launch by machine code of the host.

use super::{Arg, LaunchSpec};
use crate::{Module, Program};
use warpsmith_native::{self as native, Fault, FaultKind, Kernel, Limits, RegionCompiler, codes};

pub use warpsmith_native::RegisterAllocation;

/// Why machine code has no result to compare.
#[derive(Clone, PartialEq, Debug)]
pub enum NotRun {
    /// The kernel or the launch has something that is not compiled, in a sentence.
    NotCompiled(String),
    /// The kernel should compile, and does not.
    Rejected(String),
    /// The compiled kernel ended early.
    Fault(Fault),
}

/// The program with its regions as machine code of the host. `None` if it has none, or the host has no machine code.
pub fn accelerated(program: &Program, allocation: RegisterAllocation) -> Option<Program> {
    let mut program = program.clone();
    let made = RegionCompiler::with(allocation).ok()?.accelerate(&mut program);
    (made.regions > 0).then_some(program)
}

/// Runs a kernel of a module as machine code of the host, thread after thread: for each argument the content of its buffer.
///
/// Kernels whose threads wait for each other are not compiled; of those that race, the result is that of one order.
pub fn execute_native(module: &Module, spec: &LaunchSpec) -> Result<Vec<Option<Vec<u8>>>, NotRun> {
    let not_compiled = |what: &str| Err(NotRun::NotCompiled(what.to_owned()));
    let plain = spec.cluster.is_none()
        && spec.dynamic_shared == 0
        && spec.memory.is_empty()
        && spec.globals.is_empty()
        && spec.bindings.is_empty()
        && spec.handles.is_empty();
    if !plain {
        return not_compiled(
            "clusters, dynamic memory, textures, and variables that the launch sets or reads",
        );
    }
    let mut args = Vec::new();
    for arg in &spec.args {
        args.push(match arg {
            Arg::Value(bytes) => native::Arg::Value(bytes.clone()),
            Arg::Buffer { bytes, .. } => native::Arg::Buffer(bytes.clone()),
            Arg::SameAs(_) | Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_) => {
                return not_compiled("an argument that is neither a value nor a buffer of its own");
            }
        });
    }
    let mut kernels = module.kernels();
    let name = match (spec.entry.is_empty(), kernels.next()) {
        (true, Some((_, only))) => only.name.clone(),
        _ => spec.entry.clone(),
    };
    let kernel = Kernel::compile(module, &name).map_err(|errors| {
        match errors.iter().find(|error| ![codes::OPERATION, codes::HOST].contains(&error.code)) {
            Some(error) => NotRun::Rejected(error.to_string()),
            None => NotRun::NotCompiled(errors[0].message.clone()),
        }
    })?;
    let mut limits = Limits::default();
    limits.rounds = spec.steps.unwrap_or(limits.rounds);
    match kernel.with_limits(limits).launch(spec.grid, spec.block, &mut args) {
        Ok(()) => {}
        Err(Fault { kind: FaultKind::StepLimit, .. }) => {
            return not_compiled("a run that reaches the limit of its steps");
        }
        Err(Fault { kind: FaultKind::BadLaunch, .. }) => return not_compiled("a launch with such arguments"),
        Err(fault) => return Err(NotRun::Fault(fault)),
    }
    let content = args.into_iter().map(|arg| match arg {
        native::Arg::Value(_) => None,
        native::Arg::Buffer(bytes) => Some(bytes),
    });
    Ok(content.collect())
}
