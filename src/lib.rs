//! A compiler backend for NVIDIA GPUs: typed SSA in, PTX out, and the PTX executed on the CPU.

pub mod codes;
#[cfg(feature = "json")]
pub mod launch;

pub use warpsmith_diag as diag;
pub use warpsmith_emit as emit;
pub use warpsmith_interp as interp;
pub use warpsmith_ir as ir;
pub use warpsmith_isa as isa;
pub use warpsmith_lower as lower;
pub use warpsmith_ptx as ptx;
#[cfg(feature = "watch")]
pub use warpsmith_watch as watch;

use diag::Severity;

pub use diag::{Diagnostic, Diagnostics, Language, Source};
pub use emit::{Compiled, Compiler, OptLevel};
pub use interp::{Buffer, Device, Fault, FaultCode, Launch, Program, Stats};
pub use ir::Module;
pub use isa::{Target, Version};

/// The target of modules that name none, where the user names none: the oldest that current drivers and releases of ptxas take.
pub const DEFAULT_TARGET: Target = Target::sm(75);

/// Checks a source text: parses and validates PTX, parses and verifies IR. The findings are in the order of the text.
///
/// `target` is used in place of the module's own. Only errors mean that the text is refused ([`Diagnostics::has_errors`]).
pub fn check(source: impl Into<Source>, language: Language, target: Option<Target>) -> Diagnostics {
    let source = source.into();
    let mut findings = match language {
        Language::Ptx => check_ptx(source.text(), target),
        Language::Wir => Module::parse(&source)
            .and_then(|mut module| {
                module.target = target.or(module.target);
                ir::verify(&module)
            })
            .map_or_else(Diagnostics::into_vec, |()| Vec::new()),
    };
    findings.sort_by_key(|finding| (finding.span.start, finding.severity != Severity::Error));
    Diagnostics::new(source, findings)
}

fn check_ptx(source: &str, target: Option<Target>) -> Vec<Diagnostic> {
    let mut parsed = ptx::parse(source);
    if let Some(target) = target {
        parsed.module.set_target(target);
    }
    parsed.diagnostics.extend(ptx::validate(&parsed.module));
    parsed.diagnostics
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
