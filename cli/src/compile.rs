//! `warpsmith compile`

use crate::{Compilation, Failure, FpContract, Outcome, input, report, write_output};
use clap::Args;
use std::path::{Path, PathBuf};
use warpsmith::DEFAULT_TARGET;
use warpsmith::Diagnostics;
use warpsmith::diag::{Language, Source};
use warpsmith::emit::Compiler;
use warpsmith::{ir, llvm, lower};
use warpsmith_harness::passes::Meaning;

#[derive(Args)]
pub struct Options {
    /// A `.wir` file, or - for standard input; or files of LLVM bitcode, which are linked.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The symbol of a kernel, function or variable that is compiled with what it needs (LLVM bitcode). Default: all that are not local.
    #[arg(long, value_name = "NAME")]
    export_symbol: Vec<String>,
    /// CUDA's library of functions in bitcode (`nvvm/libdevice/libdevice.10.bc` of the toolkit), to call `__nv_*` functions of it in place of the
    /// math library's. Only what is called is taken.
    #[arg(long, value_name = "PATH")]
    libdevice: Option<PathBuf>,
    /// Where the PTX goes; the default is standard output.
    #[arg(short, long, value_name = "OUT.ptx")]
    output: Option<PathBuf>,
    #[command(flatten)]
    compilation: Compilation,
    /// Print on standard error how much of variables and lines -g covers.
    #[arg(long)]
    debug_stats: bool,
    #[command(flatten)]
    debugging: Debugging,
}

/// What helps to find a pass that breaks a program.
#[derive(Args)]
pub struct Debugging {
    /// Print the IR on standard error after these passes (`all`: after each).
    #[arg(long, value_name = "PASS,..", value_delimiter = ',')]
    print_after: Vec<String>,
    /// Verify the IR after each pass; =run: execute the launches of the file's `run:` directives before and after each pass too, and name
    /// the pass, the function and the rule that changed what they leave (without `contract`, which may round otherwise).
    #[arg(long, value_name = "run", num_args = 0..=1, require_equals = true, default_missing_value = "ir")]
    verify_each: Option<VerifyEach>,
    /// Say on standard error how long each pass took.
    #[arg(long)]
    time_passes: bool,
    /// Say on standard error how often each pass applied each rewrite rule.
    #[arg(long)]
    stats: bool,
    /// Say on standard error what passes did and why they did not; =json: one JSON object a line.
    #[arg(long, value_name = "json", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    remarks: Option<Remarks>,
    /// Stop after so many applications of a pass to a function and of rules in them.
    #[arg(long, value_name = "N")]
    bisect_limit: Option<u32>,
}

/// What is checked after each pass.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum VerifyEach {
    /// That the IR is valid.
    Ir,
    /// And that it means the same.
    Run,
}

/// How remarks are written.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Remarks {
    Text,
    Json,
}

pub fn run(options: &Options) -> Outcome {
    let module = match options.files.as_slice() {
        // The compiler verifies what it is given; what is run before it has to be verified first.
        [only] if !input::is_bitcode(only) && options.debugging.verify_each == Some(VerifyEach::Run) => {
            read_ir(only)?
        }
        [only] if !input::is_bitcode(only) => parse_ir(only)?,
        files => {
            let mut import =
                llvm::Options::new().with_target(options.compilation.target.unwrap_or(DEFAULT_TARGET));
            if !options.export_symbol.is_empty() {
                import = import.with_exports(options.export_symbol.clone());
            }
            let mut files = files.to_vec();
            if let Some(library) = &options.libdevice {
                import = import.with_library(library.display().to_string());
                files.push(library.clone());
            }
            input::linked(&files, &import)?
        }
    };
    let debugging = &options.debugging;
    let compiler = compiler(&options.compilation, &module)?
        .with_verify_each(debugging.verify_each.is_some())
        .with_remarks(debugging.remarks.is_some())
        .with_bisect_limit(debugging.bisect_limit);
    let meaning = debugging.meaning(&module)?;
    // What may be rounded otherwise leaves other bits.
    let compiler = if meaning.is_some() { compiler.with_exact_rounding() } else { compiler };
    let watched = debugging.is_watched();
    let original = meaning.is_some().then(|| module.clone());
    let source = module.source.clone();
    let mut change = None;
    let mut after = |pass: &'static str, module: &ir::Module| {
        debugging.after(pass, module, meaning.as_ref(), &mut change)
    };
    let compiled = compiler.compile_watched(module, if watched { Some(&mut after) } else { None });
    if let (Some(meaning), Some(original), Some((pass, how))) = (&meaning, &original, change) {
        let last = culprit(&compiled.map(|compiled| compiled.stats.passes).unwrap_or_default(), |limit| {
            let mut end = None;
            let mut keep = |_: &'static str, module: &ir::Module| end = Some(module.clone());
            let compiled =
                compiler.clone().with_bisect_limit(limit).compile_watched(original, Some(&mut keep));
            let report = compiled.ok()?.stats.passes;
            Some((end.is_some_and(|end| meaning.changed(&end).is_some()), report))
        });
        return Err(miscompiled(pass, &how, last));
    }
    match compiled {
        Ok(compiled) => {
            debugging.report(&compiled.stats.passes, &source);
            if options.debug_stats {
                eprint!("{}", compiled.stats.debug);
            }
            write_output(options.output.as_deref(), &compiled.text)
        }
        Err(errors) => {
            report(&errors);
            Err(Failure::Rejected)
        }
    }
}

/// The compiler that the flags describe, for the module's own target where they name none.
pub fn compiler(flags: &Compilation, module: &ir::Module) -> Result<Compiler, Failure> {
    let target = flags.target.or(module.target).unwrap_or(DEFAULT_TARGET);
    let mut compiler = Compiler::new(target).with_opt_level(flags.level).with_debug(flags.debug());
    if let Some(version) = flags.ptx {
        compiler = compiler.with_ptx_version(version);
    }
    if let Some(passes) = &flags.passes {
        let pipeline = lower::Pipeline::parse(passes).map_err(|e| Failure::Usage(e.to_string()))?;
        compiler = compiler.with_passes(pipeline);
    }
    if flags.fp_contract == FpContract::On {
        compiler = compiler.with_exact_rounding();
    }
    Ok(compiler)
}

impl Debugging {
    /// Prints the module after a pass if that is wanted.
    fn print(&self, pass: &'static str, module: &ir::Module) {
        if self.print_after.iter().any(|name| name == pass || name == "all") {
            eprintln!("; after {pass}\n{module}");
        }
    }

    /// True if something is to be done after each pass.
    fn is_watched(&self) -> bool {
        !self.print_after.is_empty() || self.verify_each == Some(VerifyEach::Run)
    }

    /// Prints the module after a pass if that is wanted, and finds out whether its launches leave something else.
    fn after(
        &self,
        pass: &'static str,
        module: &ir::Module,
        meaning: Option<&Meaning>,
        change: &mut Option<(&'static str, String)>,
    ) {
        self.print(pass, module);
        if change.is_none() {
            *change = meaning.and_then(|meaning| meaning.changed(module)).map(|how| (pass, how));
        }
    }

    /// What the launches of the module leave, where that is to stay so.
    fn meaning(&self, module: &ir::Module) -> Result<Option<Meaning>, Failure> {
        if self.verify_each != Some(VerifyEach::Run) {
            return Ok(None);
        }
        let found = Meaning::of(module.source.text(), module);
        found.map(Some).map_err(|errors| Failure::Usage(format!("--verify-each=run: {}", errors.join("; "))))
    }

    /// Says what the passes did if that is wanted.
    fn report(&self, report: &lower::Report, source: &Source) {
        if self.time_passes || self.bisect_limit.is_some() {
            eprint!("{report}");
        }
        if self.stats {
            for lower::Count { pass, rule, times } in &report.rules {
                eprintln!("{times:>8}  {pass}: {rule}");
            }
        }
        for remark in self.remarks.iter().flat_map(|_| &report.remarks) {
            let at = (!remark.span.is_none()).then(|| source.position(remark.span.start));
            match self.remarks {
                Some(Remarks::Json) => {
                    let lower::Remark { pass, name, applied, function, message, .. } = remark;
                    let (file, line, column) = (source.name(), at.map(|at| at.line), at.map(|at| at.column));
                    eprintln!(
                        "{}",
                        serde_json::json!({
                            "pass": pass, "name": name, "applied": applied, "function": function,
                            "file": file, "line": line, "column": column, "message": message,
                        })
                    );
                }
                _ => match at {
                    Some(at) => eprintln!("{}:{}:{}: {remark}", source.name(), at.line, at.column),
                    None => eprintln!("{}: {remark}", source.name()),
                },
            }
        }
    }

    /// Runs a pipeline on a module; what is wrong has been shown when this fails.
    pub fn run(&self, pipeline: &lower::Pipeline, module: &mut ir::Module) -> Outcome {
        let original = module.clone();
        let meaning = self.meaning(module)?;
        let exact = meaning.is_some().then(|| pipeline.exact());
        let pipeline = exact.as_ref().unwrap_or(pipeline);
        let mut change = None;
        let mut after =
            |pass: &'static str, module: &ir::Module| self.after(pass, module, meaning.as_ref(), &mut change);
        let mut options = lower::Options {
            target: module.target,
            verify_each: self.verify_each.is_some(),
            bisect_limit: self.bisect_limit,
            remarks: self.remarks.is_some(),
            after: if self.is_watched() { Some(&mut after) } else { None },
        };
        let found = pipeline.run(module, &mut options).map_err(|errors| {
            report(&errors);
            Failure::Rejected
        })?;
        if let (Some(meaning), Some((pass, how))) = (&meaning, change) {
            let last = culprit(&found, |limit| {
                let mut module = original.clone();
                let target = module.target;
                let mut options =
                    lower::Options { target, bisect_limit: Some(limit), ..lower::Options::default() };
                let report = pipeline.run(&mut module, &mut options).ok()?;
                Some((meaning.changed(&module).is_some(), report))
            });
            return Err(miscompiled(pass, &how, last));
        }
        self.report(&found, &original.source);
        Ok(())
    }
}

/// The application of a pass or rule after which launches leave something else, by halving the limit. `changed` runs with a limit.
fn culprit(
    full: &lower::Report,
    mut changed: impl FnMut(u32) -> Option<(bool, lower::Report)>,
) -> Option<lower::Applied> {
    let (mut good, mut bad) = (0, full.last_applied.as_ref()?.count);
    let mut last = full.last_applied.clone();
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        let (is_changed, report) = changed(middle)?;
        if is_changed {
            (bad, last) = (middle, report.last_applied);
        } else {
            good = middle;
        }
    }
    last
}

/// Shows that a pass changed what a program means.
fn miscompiled(pass: &str, how: &str, last: Option<lower::Applied>) -> Failure {
    eprintln!("error: pass `{pass}` changed what the program means: {how}");
    if let Some(last) = last {
        eprintln!("first wrong with --bisect-limit={}: {last}", last.count);
    }
    Failure::Rejected
}

/// Reads IR text and verifies it; what is wrong with it has been shown when this fails.
pub fn read_ir(path: &Path) -> Result<ir::Module, Failure> {
    let module = parse_ir(path)?;
    ir::verify(&module).map_err(rejected)?;
    Ok(module)
}

/// Reads IR text, which is still to be verified.
fn parse_ir(path: &Path) -> Result<ir::Module, Failure> {
    let source = input::read(path).map_err(Failure::Usage)?;
    if source.language == Language::Ptx {
        let name = source.name();
        return Err(Failure::Usage(format!(
            "{name} is PTX, and this command takes IR text or LLVM bitcode: `warpsmith check {name}` validates PTX, `warpsmith run {name}` runs it"
        )));
    }
    ir::parse_module(&source.source).map_err(rejected)
}

fn rejected(errors: Diagnostics) -> Failure {
    report(&errors);
    Failure::Rejected
}
