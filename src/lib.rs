//! Warpsmith compiles kernels for NVIDIA GPUs and runs them without one.
//!
//! A front end builds a [`Module`] of typed SSA. A [`Compiler`] verifies it, optimises it, and emits PTX that `ptxas` assembles. A
//! [`Program`] is PTX, or the IR itself, ready to run. A simulated [`Device`] runs it on the CPU, with the results of a GPU, and
//! with an error report where a GPU has none (an address out of bounds, a deadlock, a race).
//!
//! ```text
//! IR: text, FunctionBuilder ──> Module ──Compiler──> Compiled { text, module }
//!                                 │                                   │
//!                                 │ Program::from_ir                  │ Program::load
//!                                 ▼                                   ▼
//!                              Program ───────── Device::launch ── Program <── ptx::ValidatedModule <── any PTX
//! ```
//!
//! The two paths from a module to a program share nothing but the engine's arithmetic, so every compilation can be checked from end to end
//! by comparing their results.
//!
//! # From text to results
//!
//! ```
//! use warpsmith::{Compiler, Device, Launch, Module, Program, Target};
//!
//! // Parsing and verification report all errors, with their positions.
//! let module = Module::parse("
//!     kernel @scale(%data: ptr<global>, %factor: f32) {
//!     entry:
//!       %i = sreg.tid.x
//!       %p = index %data, %i, 4
//!       %x = load.f32 %p
//!       %y = fmul %x, %factor
//!       store %y, %p
//!       ret
//!     }")?;
//!
//! // The output has been validated.
//! let compiled = Compiler::new(Target::sm(80)).compile(&module)?;
//! assert!(compiled.text.contains("mul.f32") || compiled.text.contains("mul.rn.f32"), "{}", compiled.text);
//!
//! // Arguments are typed: buffers, numbers, bytes.
//! let program = Program::load(&compiled.module)?;
//! let mut device = Device::new();
//! let data = device.upload(&[1.0f32, 2.0, 3.0, 4.0])?;
//! let stats = device.launch(&program, &Launch::new("scale").block([4, 1, 1]).arg(data).arg(0.5f32))?;
//! assert_eq!(device.download::<f32>(data)?, [0.5, 1.0, 1.5, 2.0]);
//! assert_eq!(stats.threads, 4);
//!
//! // The IR can also be run directly, without going through PTX.
//! let direct = Program::from_ir(&module)?;
//! device.launch(&direct, &Launch::new("scale").block([4, 1, 1]).arg(data).arg(2.0f32))?;
//! assert_eq!(device.download::<f32>(data)?, [1.0, 2.0, 3.0, 4.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A front end in Rust does not need the text form: [`ir::FunctionBuilder`] has the shape of Cranelift's, variables and sealing included.
//!
//! # Errors
//!
//! Everything that parses text returns [`Diagnostics`]: all errors and warnings, with codes, notes and suggestions, and the source that they refer to. It is
//! a [`std::error::Error`] and displays itself with source lines, so `?` in a `main` prints everything a user needs:
//!
//! ```
//! use warpsmith::{Module, Source};
//!
//! let errors = Module::parse(Source::new("k.wir", "kernel @k() {\nentry:\n  retn\n}\n")).unwrap_err();
//! assert_eq!(
//!     errors.to_string(),
//!     "error[I0002]: unknown operation `retn`
//!  --> k.wir:3:3
//!   |
//! 3 |   retn
//!   |   ^^^^
//!   |
//!   = note: did you mean `ret`?"
//! );
//! ```
//!
//! A launch that fails returns a [`Fault`]: the cause, the line and the thread. [`Fault::diagnostics`] displays it in the
//! same way.
//!
//! # Any PTX
//!
//! [`check`] is the validator as a function. [`ptx::ValidatedModule`] is its result as a type, which the engine loads:
//!
//! ```
//! use warpsmith::{Device, Launch, Program, Source, ptx::ValidatedModule};
//!
//! let source = Source::new("store.ptx", "
//! .version 7.0
//! .target sm_80
//! .address_size 64
//! .visible .entry store(.param .u64 out) {
//!     .reg .b32 %r;
//!     .reg .b64 %rd<2>;
//!     ld.param.u64 %rd0, [out];
//!     mov.u32 %r, %tid.x;
//!     mad.wide.u32 %rd1, %r, 4, %rd0;
//!     st.global.u32 [%rd1], %r;
//!     ret;
//! }
//! ");
//! let program = Program::load_entry(&ValidatedModule::parse(source)?, "store")?;
//! let mut device = Device::new();
//! let out = device.upload(&[0u32; 8])?;
//! let fault = device.launch(&program, &Launch::new("store").block([9, 1, 1]).arg(out)).unwrap_err();
//! assert_eq!((fault.code.name(), fault.thread), ("out_of_bounds", Some([8, 0, 0])));
//! assert!(fault.diagnostics(program.source()).to_string().contains("st.global.u32 [%rd1], %r;"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Watching
//!
//! An observer sees every instruction, access, branch and barrier of a launch ([`interp::observe`]). With the feature `watch` there are checkers
//! (bounds, uninitialised values, races, synchronisation), traces, coverage, profiles, and a debugger; `docs/watching.md` describes them:
//!
//! ```
//! # #[cfg(feature = "watch")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use warpsmith::watch::{Checkers, Selection};
//! # use warpsmith::{Device, Launch, Program, ptx::ValidatedModule};
//! # let source = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [p]; mov.u32 %r, %tid.x; st.global.u32 [%rd], %r; ret; }";
//! # let program = Program::load(&ValidatedModule::parse(source)?)?;
//! # let mut device = Device::new();
//! # let out = device.upload(&[0u32])?;
//! # let launch = Launch::new("k").block([64, 1, 1]).arg(out);
//! let mut checkers = Checkers::new(Selection::all());
//! device.launch_observed(&program, &launch, &mut checkers.observer())?;
//! let report = checkers.into_report();
//! assert!(report.findings().iter().any(|finding| finding.code == "W0301"), "two warps store to the same address");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "watch"))]
//! # fn main() {}
//! ```
//!
//! # Features
//!
//! The default is the compiler and the engine, 38 packages, those of this repository included.
//!
//! | Feature | Adds | Packages |
//! |---|---|---|
//! | `fuzz` | round trips of random programs and of your own (`warpsmith::fuzz`) | 52 |
//! | `gpu` | launches on a real GPU, through NVIDIA's driver (`warpsmith::gpu`) | 45 |
//! | `json` | launches as JSON (`warpsmith::launch`), diagnostics as JSON (`diag::json`) | 42 |
//! | `llvm` | LLVM bitcode as input (`warpsmith::llvm`) | 39 |
//! | `native` | machine code for the host (`warpsmith::native`) | 58 |
//! | `watch` | checkers, traces, coverage, profiles, debugger (`warpsmith::watch`), unit tests of kernels (`warpsmith::testing`) | 48 |
//!
//! The command is a package of its own, `warpsmith-cli`.
//!
//! # Crates
//!
//! The modules below are the crates of the project: [`diag`] diagnostics, [`isa`] the instruction tables, [`ir`] the IR, [`lower`]
//! passes and instruction selection, [`math`] the math library, [`ptx`] PTX text, [`emit`] the compiler, [`interp`] the engine. `docs/architecture.md` is the map.
//!
//! Where an instruction of PTX passes through: its row in [`isa`]'s tables says which spellings are legal, [`ptx::validate()`] applies it, `warpsmith-semantics` computes values,
//! [`interp::engine`] executes effects and reports them to an [`interp::observe::Observer`]; of `warpsmith::watch`, `check::race` looks for races and
//! `measure::profile` counts. The last section of `docs/architecture.md` names the file and function of each step for `mbarrier.try_wait`.

#![forbid(unsafe_code)]

pub mod codes;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "json")]
pub mod launch;
#[cfg(feature = "watch")]
pub mod testing;

pub use warpsmith_diag as diag;
pub use warpsmith_emit as emit;
#[cfg(feature = "gpu")]
pub use warpsmith_gpu as gpu;
pub use warpsmith_interp as interp;
pub use warpsmith_ir as ir;
pub use warpsmith_isa as isa;
#[cfg(feature = "llvm")]
pub use warpsmith_llvm as llvm;
pub use warpsmith_lower as lower;
pub use warpsmith_math as math;
#[cfg(feature = "native")]
pub use warpsmith_native as native;
pub use warpsmith_ptx as ptx;
#[cfg(feature = "watch")]
pub use warpsmith_watch as watch;

/// A unit test of kernels: the function takes a [`testing::TestDevice`], whose launches checkers watch. `#[warpsmith::test(checkers = "memory,race")]` chooses
/// some of them.
#[cfg(feature = "watch")]
pub use warpsmith_device_macros::test;

use diag::Severity;

pub use diag::{Diagnostic, Diagnostics, Language, Source};
pub use emit::{Compiled, Compiler, OptLevel};
pub use interp::{Buffer, Device, Fault, FaultCode, Launch, Program, Stats};
pub use ir::Module;
pub use isa::{Release, Target, Version};

/// What runs kernels: a [`Device`], or what stands before one (`testing::TestDevice`).
pub trait Launcher {
    /// Runs a kernel.
    ///
    /// # Errors
    /// What happened, at which line, in which thread.
    fn launch(&mut self, program: &Program, launch: &Launch) -> Result<Stats, Fault>;
}

impl Launcher for Device {
    fn launch(&mut self, program: &Program, launch: &Launch) -> Result<Stats, Fault> {
        Device::launch(self, program, launch)
    }
}

/// The target of modules that name none, where the user names none: the oldest that current drivers and releases of ptxas take.
pub const DEFAULT_TARGET: Target = Target::sm(75);

/// Checks a source text: parses and validates PTX, parses and verifies IR. The findings are in the order of the text.
///
/// `target` is used in place of the module's own. Only errors mean that the text is refused ([`Diagnostics::has_errors`]).
pub fn check(source: impl Into<Source>, language: Language, target: Option<Target>) -> Diagnostics {
    check_as(source, language, target, None)
}

/// As [`check`], PTX by the verdicts of one release of ptxas. Where none is named, what every release refuses that knows the `.version` is an error,
/// and what some refuse a warning.
pub fn check_as(
    source: impl Into<Source>,
    language: Language,
    target: Option<Target>,
    release: Option<Release>,
) -> Diagnostics {
    let source = source.into();
    let mut findings = match language {
        Language::Ptx => check_ptx(source.text(), target, release),
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

fn check_ptx(source: &str, target: Option<Target>, release: Option<Release>) -> Vec<Diagnostic> {
    let mut parsed = ptx::parse(source);
    if let Some(target) = target {
        parsed.module.set_target(target);
    }
    parsed.diagnostics.extend(ptx::validate_as(&parsed.module, release));
    parsed.diagnostics
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/front-end.md")]
struct FrontEndGuide;
