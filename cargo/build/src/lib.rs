//! Kernels in `build.rs`: compiles the kernels of a package to one PTX file and typed launch functions.
//!
//! ```no_run
//! // build.rs: everything in the folder `kernels`, or the crate there.
//! fn main() -> Result<(), warpsmith_build::Error> {
//!     warpsmith_build::Build::new().target("sm_80").compile("kernels")?;
//!     Ok(())
//! }
//! ```
//!
//! ```ignore
//! // src/main.rs
//! mod kernels {
//!     include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//! }
//!
//! let kernels = kernels::cpu::Kernels::load()?;             // on the CPU, through `warpsmith`
//! kernels.saxpy(&mut device, launch, n, a, x, y)?;
//!
//! let kernels = kernels::cuda::Kernels::load(&context)?;    // on a GPU, through `cudarc`: feature `cudarc` of your package
//! unsafe { kernels.saxpy(&stream, config, n, a, &x, &mut y)? };
//! ```
//!
//! Inputs are `.wir` (IR), `.ptx`, `.bc` (LLVM bitcode), a crate of kernels in Rust, and closures that build IR. The output goes to `OUT_DIR`, the `rerun-if-changed` lines
//! are printed, and errors are reported as build errors, with source lines. `docs/cargo.md` is the guide.

#![forbid(unsafe_code)]

pub mod bindings;
mod input;
mod kernel_crate;

use input::Input;
use std::fmt;
use std::path::{Path, PathBuf};
use warpsmith_diag::Diagnostics;
pub use warpsmith_emit::OptLevel;
pub use warpsmith_ir as ir;
use warpsmith_isa::Target;
use warpsmith_ptx::ValidatedModule;

/// The inputs of a compilation, and its options.
#[derive(Default)]
pub struct Build {
    target: Option<String>,
    level: OptLevel,
    inputs: Vec<Input>,
    build_std: Vec<String>,
    out_dir: Option<PathBuf>,
}

/// The paths of the output files.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Output {
    /// `OUT_DIR/NAME.ptx`
    pub ptx: PathBuf,
    /// `OUT_DIR/NAME.rs`: the text of the PTX and functions that launch its kernels.
    pub bindings: PathBuf,
}

/// The errors of a failed build, all with their source lines. `build.rs` returns it, and cargo shows it.
pub struct Error {
    reports: Vec<String>,
}

impl Error {
    fn new(report: impl Into<String>) -> Error {
        Error { reports: vec![report.into()] }
    }

    fn of(findings: &[Diagnostics]) -> Error {
        Error { reports: findings.iter().map(ToString::to_string).collect() }
    }

    /// All errors, each with its source lines.
    pub fn reports(&self) -> &[String] {
        &self.reports
    }
}

impl From<Diagnostics> for Error {
    fn from(findings: Diagnostics) -> Error {
        Error::of(&[findings])
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reports.join("\n\n"))
    }
}

/// What follows `Error: ` where `main` returns it, and an `unwrap`'s message.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the kernels do not compile\n\n{self}")
    }
}

impl std::error::Error for Error {}

impl Build {
    /// A build without inputs; if none are added, [`Build::compile`] compiles the folder of that name.
    ///
    /// For a crate of kernels, rustc calls this same program as its linker; in that case this function does not return.
    pub fn new() -> Self {
        kernel_crate::link_if_asked();
        Build::default()
    }

    /// The target, such as `sm_80`. Default: the target of each input, else `sm_75`.
    pub fn target(mut self, target: &str) -> Self {
        self.target = Some(target.to_owned());
        self
    }

    /// How much to optimise; default `O2`.
    pub fn level(mut self, level: OptLevel) -> Self {
        self.level = level;
        self
    }

    /// Adds a file: `.wir`, `.ptx` or `.bc`.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.inputs.push(Input::File(path.into()));
        self
    }

    /// Adds a crate of kernels by its folder: a library with `crate-type = ["cdylib"]`, which cargo compiles for `nvptx64-nvidia-cuda`.
    pub fn kernel_crate(mut self, folder: impl Into<PathBuf>) -> Self {
        self.inputs.push(Input::Crate(folder.into()));
        self
    }

    /// For crates of kernels: compiles these parts of the standard library (`core`, `alloc`) from source, for toolchains without the target. It requires
    /// a nightly toolchain, or `RUSTC_BOOTSTRAP=1`.
    pub fn build_std(mut self, parts: &[&str]) -> Self {
        self.build_std = parts.iter().map(|part| (*part).to_owned()).collect();
        self
    }

    /// Adds IR that a closure builds, and its name for messages.
    ///
    /// ```no_run
    /// use warpsmith_build::Build;
    /// use warpsmith_build::ir::{FuncKind, Function, FunctionBuilder, InstBuilder, MemFlags, Param, Sreg, Type};
    ///
    /// fn main() -> Result<(), warpsmith_build::Error> {
    ///     // kernel numbers(out): thread i writes 3 i.
    ///     let build = Build::new().target("sm_80").ir("numbers", |module| {
    ///         let params = vec![Param::new(Type::PTR_GLOBAL)];
    ///         let id = module.add_function(Function::new("numbers", FuncKind::Kernel, params, vec![]));
    ///         let mut b = FunctionBuilder::new(module, id);
    ///         let entry = b.entry_block();
    ///         let out = b.block_params(entry)[0];
    ///         let i = b.ins().sreg(Sreg::from_name("tid.x").ok_or("no such register")?);
    ///         let value = b.ins().imul_imm(i, 3);
    ///         let place = b.ins().index(out, i, 4);
    ///         b.ins().store(MemFlags::PLAIN, value, place, 0);
    ///         b.ins().ret(&[]);
    ///         b.finalize()?;
    ///         Ok(())
    ///     });
    ///     build.compile("kernels")?;
    ///     Ok(())
    /// }
    /// ```
    pub fn ir(
        mut self,
        name: &str,
        build: impl FnOnce(&mut warpsmith_ir::Module) -> Result<(), Box<dyn std::error::Error>> + 'static,
    ) -> Self {
        self.inputs.push(Input::Ir(name.to_owned(), Box::new(build)));
        self
    }

    /// Writes to this folder instead of `OUT_DIR`.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Compiles everything to `NAME.ptx` and `NAME.rs`, and prints `rerun-if-changed` lines for cargo.
    ///
    /// # Errors
    /// Everything that is wrong with the inputs.
    pub fn compile(mut self, name: &str) -> Result<Output, Error> {
        let out_dir = match self.out_dir.take() {
            Some(folder) => folder,
            None => std::env::var_os("OUT_DIR")
                .map(PathBuf::from)
                .ok_or_else(|| Error::new("error: no `OUT_DIR`: not a build script, and no `out_dir`"))?,
        };
        let target = match self.target.as_deref() {
            None => None,
            Some(text) => Some(text.parse::<Target>().map_err(|()| unknown_target(text))?),
        };
        let mut inputs = std::mem::take(&mut self.inputs);
        if inputs.is_empty() {
            inputs = input::of_folder(Path::new(name))?;
        }
        let settings = input::Settings {
            target,
            level: self.level,
            build_std: &self.build_std,
            scratch: out_dir.join(format!("{name}-crates")),
        };
        let modules = input::compile(inputs, &settings)?;
        let module = match <[ValidatedModule; 1]>::try_from(modules) {
            Ok([only]) => only,
            Err(modules) => warpsmith_ptx::link::link(&modules, &warpsmith_ptx::link::Options::default())
                .map_err(|findings| Error::of(&findings))?,
        };
        let output =
            Output { ptx: out_dir.join(format!("{name}.ptx")), bindings: out_dir.join(format!("{name}.rs")) };
        // The bindings ask for a feature that the package may not have.
        println!("cargo::rustc-check-cfg=cfg(feature, values(\"cudarc\"))");
        write(&output.ptx, module.source().text())?;
        write(&output.bindings, &bindings::generate(&module, &format!("{name}.ptx")))?;
        Ok(output)
    }
}

fn unknown_target(text: &str) -> Error {
    Error::new(format!(
        "error: unknown target `{text}`\n  help: a GPU is named as in `sm_80`; `warpsmith targets` lists them"
    ))
}

/// Writes a file if that changes it, so that what depends on it is not compiled again for nothing.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    std::fs::write(path, text)
        .map_err(|error| Error::new(format!("error: cannot write {}: {error}", path.display())))
}
