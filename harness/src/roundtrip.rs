//! The round trip: a file's kernels compiled at every level, assembled by ptxas, and run both by the IR's own meaning and from the
//! emitted text, with every byte of every buffer compared.

use crate::ptxas::Toolbox;
use crate::runs::{Run, runs};
use warpsmith::diag::{Diagnostic, Language, LineIndex};
use warpsmith::fuzz::difference;
#[cfg(feature = "native")]
use warpsmith::launch::RegisterAllocation;
use warpsmith::launch::{Execution, execute};
use warpsmith::ptx::ValidatedModule;
use warpsmith::{Compiler, DEFAULT_TARGET, Fault, OptLevel, Program, Target, ir};
use warpsmith_filetests::scan;

/// How to make a round trip.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// The target in place of the module's own.
    pub target: Option<Target>,
    /// Leave out the kernels as machine code of the host, where that is built in.
    pub no_native: bool,
    /// The installed assemblers; with none, that part is left out.
    pub toolbox: Toolbox,
}

/// What came of a file.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was compiled for.
    pub target: Target,
    /// The release of the ptxas that assembled the text; `None` if none knows the target.
    pub ptxas: Option<String>,
    /// What concerns the whole file: it cannot be parsed, compiled or loaded.
    pub errors: Vec<String>,
    /// One entry per kernel.
    pub kernels: Vec<Kernel>,
}

/// What came of one kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// How many `run:` directives start it.
    pub runs: usize,
    /// Runs as machine code of the host that gave the same.
    pub native: usize,
    /// What of the kernel or its launches is not compiled to machine code of the host, if that is why it was left out.
    pub not_compiled: Option<String>,
    /// Thread instructions executed from the emitted text, over all runs and levels.
    pub thread_instructions: u64,
    /// What went wrong.
    pub failures: Vec<String>,
}

impl Report {
    /// Everything that went wrong, a line each.
    pub fn failures(&self) -> Vec<String> {
        let of_kernels = self.kernels.iter().flat_map(|kernel| &kernel.failures);
        self.errors.iter().chain(of_kernels).cloned().collect()
    }
}

/// Makes the round trip of one `.wir` file.
pub fn file(source: &str, options: &Options) -> Report {
    let mut report = Report {
        target: options.target.unwrap_or(DEFAULT_TARGET),
        ptxas: None,
        errors: Vec::new(),
        kernels: Vec::new(),
    };
    if let Err(errors) = attempt(source, options, &mut report) {
        report.errors.extend(errors);
    }
    report
}

fn attempt(source: &str, options: &Options, report: &mut Report) -> Result<(), Vec<String>> {
    let runs = runs_of(source, Language::Wir)?;
    let module = ir::parse_module(source).map_err(|errors| rendered(source, &errors))?;
    ir::verify(&module).map_err(|errors| rendered(source, &errors))?;
    report.target = options.target.or(module.target).unwrap_or(DEFAULT_TARGET);
    report.kernels = module.kernels().map(|(_, kernel)| Kernel::new(&kernel.name)).collect();
    let meaning = Program::from_ir(&module)
        .map_err(|errors| strings("the IR's meaning: ", &rendered(source, &errors)))?;
    let mut programs = Vec::new();
    let mut assembled: Vec<String> = Vec::new();
    for level in OptLevel::ALL {
        // What may be rounded otherwise is not the same in every byte.
        let compiler = Compiler::new(report.target).with_opt_level(level).with_exact_rounding();
        let compiled = compiler
            .compile(&module)
            .map_err(|errors| strings(&format!("{level}: "), &rendered(source, &errors)))?;
        let program =
            Program::load(&compiled.module).map_err(|errors| strings(&format!("{level}: "), &errors))?;
        programs.push((level, program));
        // Levels that make the same text are assembled once.
        if !assembled.contains(&compiled.text) {
            if let Some(ptxas) = options.toolbox.for_module(compiled.stats.version, report.target) {
                report.ptxas = Some(ptxas.release.clone());
                if let Err(said) = ptxas.assemble(&compiled.text, report.target) {
                    report.errors.push(format!("{level}: ptxas {} rejects the PTX: {said}", ptxas.release));
                }
            }
            assembled.push(compiled.text);
        }
    }
    #[cfg(feature = "native")]
    let machine_code = programs
        .iter()
        .find(|(level, _)| *level == OptLevel::O2 && !options.no_native && !runs.is_empty())
        .and_then(|(_, program)| warpsmith::launch::accelerated(program, RegisterAllocation::default()));
    for run in &runs {
        let only = run.launch.entry.is_empty() && report.kernels.len() == 1;
        let Some(kernel) = report.kernels.iter_mut().find(|kernel| only || kernel.name == run.launch.entry)
        else {
            report.errors.push(format!("line {}: unknown kernel `{}`", run.line, run.launch.entry));
            continue;
        };
        kernel.runs += 1;
        let expected = execute(&meaning, &run.launch);
        kernel
            .failures
            .extend(unexpected(run, &expected).into_iter().map(|what| format!("line {}: {what}", run.line)));
        #[cfg(feature = "native")]
        if !options.no_native
            && let Ok(expected) = &expected
        {
            native(&module, run, expected, kernel);
        }
        for (level, program) in &programs {
            let found = execute(program, &run.launch);
            kernel.thread_instructions += found.as_ref().map_or(0, |execution| execution.thread_instructions);
            if let Some(what) = difference(["the IR", "the PTX"], &expected, &found) {
                kernel.failures.push(format!("line {}: {level}: {what}", run.line));
            }
            #[cfg(feature = "native")]
            if let Some(machine_code) = &machine_code
                && *level == OptLevel::O2
            {
                let failures = accelerated(machine_code, run, &found).into_iter();
                kernel.failures.extend(failures.map(|what| format!("line {}: {level}: {what}", run.line)));
            }
        }
    }
    Ok(())
}

/// What is wrong with a run whose arithmetic is machine code of the host: what the directives expect is not there, or, of a single block, memory,
/// the fault or what was executed is not what the interpreter gives. Of several blocks, an order of host threads may show in all of those.
#[cfg(feature = "native")]
fn accelerated(program: &Program, run: &Run, interpreted: &Result<Execution, Fault>) -> Vec<String> {
    let found = execute(program, &run.launch);
    let mut failures = unexpected(run, &found);
    if run.launch.grid == [1; 3] {
        failures.extend(match (interpreted, &found) {
            (Ok(a), Ok(b)) if a.thread_instructions != b.thread_instructions => {
                Some(format!("{} instructions instead of {}", b.thread_instructions, a.thread_instructions))
            }
            (Err(a), Err(b)) => {
                let place = |fault: &Fault| (fault.ptx_line, fault.block, fault.thread, fault.address);
                (place(a) != place(b)).then(|| format!("the fault {b} instead of {a}"))
            }
            _ => None,
        });
        failures.extend(difference(["the interpreter", "machine code"], interpreted, &found));
    }
    failures.into_iter().map(|what| format!("with machine code: {what}")).collect()
}

/// The kernel as machine code of the host.
#[cfg(feature = "native")]
fn native(module: &ir::Module, run: &Run, expected: &Execution, kernel: &mut Kernel) {
    use warpsmith::launch::{NotRun, execute_native};
    let line = run.line;
    match execute_native(module, &run.launch) {
        Err(NotRun::NotCompiled(what)) => kernel.not_compiled = Some(what),
        Err(NotRun::Rejected(what)) => kernel.failures.push(format!("line {line}: machine code: {what}")),
        Err(NotRun::Fault(fault)) => {
            kernel.failures.push(format!("line {line}: the machine code faults: {fault}"))
        }
        Ok(found) => {
            kernel.native += 1;
            for (n, (a, b)) in expected.buffers.iter().zip(&found).enumerate() {
                if let (Some(a), Some(b)) = (a, b)
                    && let Some(at) = a.iter().zip(b).position(|(a, b)| a != b)
                {
                    let (a, b) = (a[at], b[at]);
                    kernel.failures.push(format!(
                        "line {line}: buffer {n}, byte {at}: the IR means {a:#04x}, the machine code gives {b:#04x}"
                    ));
                }
            }
        }
    }
}

impl Kernel {
    fn new(name: &str) -> Kernel {
        Kernel {
            name: name.to_owned(),
            runs: 0,
            native: 0,
            not_compiled: None,
            thread_instructions: 0,
            failures: Vec::new(),
        }
    }
}

/// Executes the `run:` directives of a `.ptx` file; returns what went wrong.
pub fn ptx(source: &str) -> Vec<String> {
    let attempt = || {
        let runs = runs_of(source, Language::Ptx)?;
        let program = ValidatedModule::parse(source).and_then(|module| Program::load(&module));
        let program = program.map_err(|errors| rendered(source, &errors))?;
        #[cfg(feature = "native")]
        let machine_code = warpsmith::launch::accelerated(&program, RegisterAllocation::default());
        let outcomes = runs.iter().flat_map(|run| {
            let found = execute(&program, &run.launch);
            #[cfg_attr(not(feature = "native"), expect(unused_mut, reason = "machine code may add to them"))]
            let mut failures = unexpected(run, &found);
            #[cfg(feature = "native")]
            if let Some(machine_code) = &machine_code {
                failures.extend(accelerated(machine_code, run, &found));
            }
            failures.into_iter().map(|what| format!("line {}: {what}", run.line))
        });
        Ok(if runs.is_empty() { vec!["no `run:` directive".to_owned()] } else { outcomes.collect() })
    };
    attempt().unwrap_or_else(|errors| errors)
}

pub(crate) fn runs_of(source: &str, language: Language) -> Result<Vec<Run>, Vec<String>> {
    scan(source, language).and_then(|found| runs(&found)).map_err(|errors| strings("", &errors))
}

/// How an outcome differs from what the directives expect.
fn unexpected(run: &Run, outcome: &Result<Execution, Fault>) -> Vec<String> {
    match (outcome, &run.fault) {
        (Ok(execution), None) => {
            let checks = run.expects.iter().map(|expect| (expect.line, expect.check(execution)));
            checks
                .filter_map(|(line, check)| Some(format!("expectation of line {line}: {}", check.err()?)))
                .collect()
        }
        (Ok(_), Some(code)) => vec![format!("expected the fault {code}, but the kernel ended")],
        (Err(fault), Some(code)) if fault.code.name() == code => Vec::new(),
        (Err(fault), Some(code)) => vec![format!("expected the fault {code}, found {fault}")],
        (Err(fault), None) => vec![fault.to_string()],
    }
}

pub(crate) fn rendered(source: &str, diagnostics: &[Diagnostic]) -> Vec<String> {
    let lines = LineIndex::new(source);
    diagnostics.iter().map(|diagnostic| diagnostic.render(&lines)).collect()
}

pub(crate) fn strings<T: ToString>(prefix: &str, items: &[T]) -> Vec<String> {
    items.iter().map(|item| format!("{prefix}{}", item.to_string())).collect()
}
