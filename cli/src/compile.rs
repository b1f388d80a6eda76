//! `warpsmith compile`

use crate::{Compilation, Failure, Outcome, input, report, write_output};
use clap::Args;
use std::path::{Path, PathBuf};
use warpsmith::DEFAULT_TARGET;
use warpsmith::Diagnostics;
use warpsmith::emit::Compiler;
use warpsmith::{ir, llvm, lower};

#[derive(Args)]
pub struct Options {
    /// A `.wir` file, or - for standard input; or files of LLVM bitcode, which are linked.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The symbol of a kernel, function or variable that is compiled with what it needs (LLVM bitcode). Default: all that are not local.
    #[arg(long, value_name = "NAME")]
    export_symbol: Vec<String>,
    /// Where the PTX goes; the default is standard output.
    #[arg(short, long, value_name = "OUT.ptx")]
    output: Option<PathBuf>,
    #[command(flatten)]
    compilation: Compilation,
    /// Say on standard error how much -g tells of variables and lines.
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
    /// Verify the IR after each pass.
    #[arg(long)]
    verify_each: bool,
    /// Say on standard error how long each pass took.
    #[arg(long)]
    time_passes: bool,
    /// Stop after so many applications of a pass to a function.
    #[arg(long, value_name = "N")]
    bisect_limit: Option<u32>,
}

pub fn run(options: &Options) -> Outcome {
    let module = match options.files.as_slice() {
        [only] if !input::is_bitcode(only) => read_ir(only)?,
        files => {
            let mut import =
                llvm::Options::new().with_target(options.compilation.target.unwrap_or(DEFAULT_TARGET));
            if !options.export_symbol.is_empty() {
                import = import.with_exports(options.export_symbol.clone());
            }
            input::linked(files, &import)?
        }
    };
    let debugging = &options.debugging;
    let compiler = compiler(&options.compilation, &module)?
        .with_verify_each(debugging.verify_each)
        .with_bisect_limit(debugging.bisect_limit);
    let mut print = |pass: &'static str, module: &ir::Module| debugging.print(pass, module);
    match compiler.compile_watched(&module, Some(&mut print)) {
        Ok(compiled) => {
            debugging.report(&compiled.stats.passes);
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
    Ok(compiler)
}

impl Debugging {
    /// Prints the module after a pass if that is wanted.
    fn print(&self, pass: &'static str, module: &ir::Module) {
        if self.print_after.iter().any(|name| name == pass || name == "all") {
            eprintln!("; after {pass}\n{module}");
        }
    }

    /// Says what the passes did if that is wanted.
    fn report(&self, report: &lower::Report) {
        if self.time_passes || self.bisect_limit.is_some() {
            eprint!("{report}");
        }
    }

    /// Runs a pipeline on a module.
    pub fn run(&self, pipeline: &lower::Pipeline, module: &mut ir::Module) -> Result<(), Diagnostics> {
        let mut print = |pass: &'static str, module: &ir::Module| self.print(pass, module);
        let mut options = lower::Options {
            target: module.target,
            verify_each: self.verify_each,
            bisect_limit: self.bisect_limit,
            remarks: false,
            after: Some(&mut print),
        };
        pipeline.run(module, &mut options).map(|report| self.report(&report))
    }
}

/// Reads IR text; what is wrong with it has been shown when this fails.
pub fn read_ir(path: &Path) -> Result<ir::Module, Failure> {
    let source = input::read(path).map_err(Failure::Usage)?;
    let checked = ir::parse_module(&source.source).and_then(|module| ir::verify(&module).map(|()| module));
    checked.map_err(|errors| {
        report(&errors);
        Failure::Rejected
    })
}
