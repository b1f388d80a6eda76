//! Inputs of every kind to modules of PTX.

use crate::{Error, kernel_crate};
use std::path::{Path, PathBuf};
use warpsmith_diag::Source;
use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_ir as ir;
use warpsmith_isa::Target;
use warpsmith_llvm as llvm;
use warpsmith_ptx::ValidatedModule;

/// A closure that builds IR.
type BuildIr = Box<dyn FnOnce(&mut ir::Module) -> Result<(), Box<dyn std::error::Error>>>;

/// What is compiled.
pub enum Input {
    /// `.wir`, `.ptx` or `.bc`.
    File(PathBuf),
    /// The folder of a crate of kernels.
    Crate(PathBuf),
    /// IR that a closure builds, and its name for messages.
    Ir(String, BuildIr),
}

/// How it is compiled.
pub struct Settings<'a> {
    /// The GPU, if the user names one.
    pub target: Option<Target>,
    /// How much to optimise.
    pub level: OptLevel,
    /// The parts of the standard library that crates of kernels are built with.
    pub build_std: &'a [String],
    /// Where crates of kernels are built.
    pub scratch: PathBuf,
}

/// The target of what names none.
const DEFAULT_TARGET: Target = Target::sm(75);

/// What a folder holds: a crate, or files.
///
/// # Errors
/// It cannot be read, or there is nothing in it.
pub fn of_folder(folder: &Path) -> Result<Vec<Input>, Error> {
    let said = |what: &str| {
        let help = "  help: it may hold `.wir`, `.ptx` and `.bc` files, or be a crate; other inputs are added by `file`, `kernel_crate` and `ir`";
        Error::new(format!("error: {what} `{}`\n{help}", folder.display()))
    };
    if folder.join("Cargo.toml").is_file() {
        return Ok(vec![Input::Crate(folder.to_owned())]);
    }
    let entries = std::fs::read_dir(folder).map_err(|error| said(&format!("{error}: the folder")))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| said(&format!("{error}: the folder")))?.path();
        if path
            .extension()
            .is_some_and(|extension| ["wir", "ptx", "bc"].iter().any(|known| extension == *known))
        {
            files.push(path);
        }
    }
    files.sort();
    // A file that is added is seen.
    println!("cargo::rerun-if-changed={}", folder.display());
    if files.is_empty() {
        return Err(said("no kernels in the folder"));
    }
    Ok(files.into_iter().map(Input::File).collect())
}

/// Compiles all inputs; bitcode is linked before, as one program.
///
/// # Errors
/// Everything that is wrong with any of them.
pub fn compile(inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<ValidatedModule>, Error> {
    let (mut modules, mut bitcode, mut reports) = (Vec::new(), Vec::new(), Vec::new());
    for input in inputs {
        let module = match input {
            Input::File(path) => {
                println!("cargo::rerun-if-changed={}", path.display());
                match read(&path) {
                    Ok(bytes) if llvm::module::is_bitcode(&bytes) => {
                        bitcode.push((path.display().to_string(), bytes));
                        continue;
                    }
                    Ok(bytes) => text(&path, &bytes, settings),
                    Err(error) => Err(error),
                }
            }
            Input::Crate(folder) => kernel_crate::compile(&folder, settings),
            Input::Ir(name, build) => built(&name, build, settings),
        };
        match module {
            Ok(module) => modules.push(module),
            Err(error) => reports.extend(error.reports),
        }
    }
    if !bitcode.is_empty() {
        match link(&bitcode, settings) {
            Ok(module) => modules.push(module),
            Err(error) => reports.extend(error.reports),
        }
    }
    if reports.is_empty() { Ok(modules) } else { Err(Error { reports }) }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::new(format!("error: cannot read {}: {error}", path.display())))
}

fn text(path: &Path, bytes: &[u8], settings: &Settings<'_>) -> Result<ValidatedModule, Error> {
    let source = Source::new(path.display().to_string(), String::from_utf8_lossy(bytes).into_owned());
    if path.extension().is_some_and(|extension| extension == "ptx") {
        return Ok(ValidatedModule::parse(&source)?);
    }
    let module = ir::parse_module(&source)?;
    emit(module, settings)
}

fn built(name: &str, build: BuildIr, settings: &Settings<'_>) -> Result<ValidatedModule, Error> {
    let mut module = ir::Module::new();
    build(&mut module).map_err(|error| Error::new(format!("error: {name}: {error}")))?;
    emit(module, settings)
}

fn link(files: &[(String, Vec<u8>)], settings: &Settings<'_>) -> Result<ValidatedModule, Error> {
    let mut modules = Vec::new();
    for (name, bytes) in files {
        let module = llvm::Module::read(bytes).map_err(|error| error.into_diagnostics(name))?;
        modules.push((name.clone(), module));
    }
    let options = llvm::Options::new().with_target(settings.target.unwrap_or(DEFAULT_TARGET));
    let module = llvm::import(modules, &options).map_err(|errors| {
        let reports = errors.iter().map(|error| format!("error[{}]: {error}", error.code));
        Error { reports: reports.collect() }
    })?;
    emit(module, settings)
}

fn emit(module: ir::Module, settings: &Settings<'_>) -> Result<ValidatedModule, Error> {
    let target = settings.target.or(module.target).unwrap_or(DEFAULT_TARGET);
    let compiled = Compiler::new(target).with_opt_level(settings.level).compile(module)?;
    Ok(compiled.module)
}
