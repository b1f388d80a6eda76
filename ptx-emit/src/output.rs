//! The output: nothing leaves that the validator refuses, and what it refuses becomes an error at the operation that asked for it.

use crate::module::{Origins, Plan};
use warpsmith_diag::{Diagnostic, Diagnostics, Origin, Source, Span};
use warpsmith_ir as ir;
use warpsmith_isa::codes as isa_codes;
use warpsmith_isa::{Target, Version};
use warpsmith_ptx::{Module, Refusal, Rejected, ValidatedModule};

/// The first version that knows the target of a module, unless that is more than is asked for.
pub fn first_version(
    module: &ir::Module,
    target: Target,
    limit: Option<Version>,
) -> Result<Version, Diagnostics> {
    let message = match (target.since(), limit) {
        (None, _) => format!("unknown target `{target}`"),
        (Some(since), Some(limit)) if since > limit => {
            format!("target {target} needs .version {since}, but {limit} is asked for")
        }
        (Some(since), _) => return Ok(since),
    };
    Err(module.diagnostics(vec![Diagnostic::error("E0001", Span::NONE, message)]))
}

/// The module as it is printed. The validator says which version its instructions, directives and declarations ask for; where the plan's is lower, and
/// no other is asked for, it is raised.
pub fn validated(
    mut tree: Module,
    plan: &mut Plan<'_>,
    origins: &[Origins],
    asked: Option<Version>,
) -> Result<ValidatedModule, Diagnostics> {
    let name = output_name(&plan.module.source);
    loop {
        let Rejected { module, source, refusal } = match ValidatedModule::print(tree, &*name, asked.is_none())
        {
            Ok(validated) => return Ok(validated),
            Err(rejected) => *rejected,
        };
        tree = module;
        match refusal {
            Refusal::Version(later) if asked.is_none() && later > plan.version => {
                plan.version = later;
                tree.set_version(later);
            }
            refusal @ (Refusal::Version(_) | Refusal::Findings(_)) => {
                return Err(refused(plan, origins, &tree, &source, refusal));
            }
        }
    }
}

/// The codes of what the target does not have.
const GATES: [&str; 4] =
    [isa_codes::GATE, isa_codes::SPECIAL_GATE, isa_codes::OPERAND_GATE, warpsmith_ptx::codes::GATE];

/// What messages call the output of a source.
fn output_name(source: &Source) -> String {
    if source.is_none() { "<output>".to_owned() } else { format!("{}, compiled", source.name()) }
}

/// The errors about an output that is refused, at the operations that its statements were made for.
#[cold]
fn refused(
    plan: &Plan<'_>,
    origins: &[Origins],
    tree: &warpsmith_ptx::Module,
    output: &Source,
    refusal: Refusal,
) -> Diagnostics {
    let (findings, later) = match refusal {
        Refusal::Findings(findings) => (findings.into_vec(), None),
        Refusal::Version(later) => (warpsmith_ptx::validate(tree), Some(later)),
    };
    let bodies: Vec<_> = tree.functions().filter_map(|f| Some((f.name_span, f.body?))).collect();
    let origin = |at: u32| {
        bodies.iter().zip(origins).rfind(|((name, _), _)| name.start <= at).map(
            |((_, body), (id, origins))| {
                let func = &plan.module.functions[*id];
                let stmt = body.ids().position(|stmt| {
                    let span = tree.stmt_span(stmt);
                    (span.start..span.end).contains(&at)
                });
                let origin = stmt.and_then(|stmt| origins.get(stmt).copied().flatten());
                (func, origin)
            },
        )
    };
    let placed = findings.into_iter().filter(Diagnostic::is_error).map(|finding| {
        let message = finding.message;
        let mut error = match later {
            Some(later) => {
                let asked = plan.version;
                let message = format!("{message}: .version {later} is needed, but {asked} is asked for");
                Diagnostic::error("E0003", Span::NONE, message)
            }
            None if GATES.contains(&finding.code) => Diagnostic::error("E0002", Span::NONE, message),
            None => {
                let message = format!("the output is not valid PTX: {message} ({})", finding.code);
                Diagnostic::error("E0004", Span::NONE, message)
            }
        };
        (error.section, error.notes) = (finding.section, finding.notes);
        if !finding.span.is_none() {
            let from = origin(finding.span.start);
            error.span = from
                .map_or(Span::NONE, |(func, inst)| inst.map_or(func.span, |inst| func.operation_span(inst)));
            if let Some((func, inst)) = from {
                error = located(error, plan.module, func, inst);
            }
            let line = output.lines().line(output.position(finding.span.start).line);
            let line = String::from_utf8_lossy(line.trim_ascii()).into_owned();
            error = error.note(format!("in `{line}`"));
        }
        error
    });
    plan.module.diagnostics(placed.collect())
}

/// An error with what it is about. The numbers of instructions are not those of the module that was given: passes have run.
pub fn located(
    error: Diagnostic,
    module: &ir::Module,
    func: &ir::Function,
    inst: Option<ir::Inst>,
) -> Diagnostic {
    let mut origin = Origin::of(&func.name);
    origin.place = inst.and_then(|inst| module.origin(func, inst).place);
    let noted = match (&origin.place, error.span.is_none()) {
        (Some(place), true) => error.note(format!("in `@{}`, made for {place}", func.name)),
        (None, true) => error.note(format!("in `@{}`", func.name)),
        (_, false) => error,
    };
    noted.origin(origin)
}

/// The errors about a module that no text can be made of. Of one that the passes have broken the verifier says what is wrong in the terms of the IR.
#[cold]
pub fn not_built(module: &ir::Module, error: Diagnostic) -> Diagnostics {
    match ir::verify(module) {
        Err(errors) => errors.map(|error| {
            error.note("found when code was made of it; with `--verify-each`, behind the pass that broke it")
        }),
        Ok(()) => module.diagnostics(vec![error]),
    }
}

/// The error about an output whose text is not what was validated.
#[cold]
pub fn unreadable(module: &ir::Module, errors: Diagnostics) -> Diagnostics {
    let placed = errors.into_iter().filter(Diagnostic::is_error).map(|error| {
        let message = format!("the output does not read back: {} ({})", error.message, error.code);
        Diagnostic::error("E0004", Span::NONE, message)
    });
    module.diagnostics(placed.collect())
}
