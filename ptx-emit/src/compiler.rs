//! From a module of the IR to PTX text that is known to be valid.

use crate::debug::Debug;
use crate::debug::lines::{self, INLINED_SINCE};
use crate::module::{Built, Plan, build};
use crate::output;
use crate::regs::Registers;
use std::borrow::Cow;
use std::time::{Duration, Instant};
use warpsmith_diag::{Diagnostic, Diagnostics, Span};
use warpsmith_ir as ir;
use warpsmith_ir::debug::DebugStatistics;
use warpsmith_isa::{Target, Version};
use warpsmith_lower::mach::RegClass;
use warpsmith_lower::{self as lower, After, OptLevel, Options, Pipeline, Report, SelectOptions, Variables};
use warpsmith_ptx::ValidatedModule;

/// What the compilation of a module did and made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// The target compiled for.
    pub target: Target,
    /// The `.version` of the output.
    pub version: Version,
    /// Instructions, before block parameters became moves and branches were laid out.
    pub instructions: usize,
    /// Registers that are declared: by class, in the order of [`RegClass::ALL`].
    pub registers: [u32; RegClass::COUNT],
    /// What the passes did.
    pub passes: Report,
    /// How much debug information is emitted about lines and variables.
    pub debug: DebugStatistics,
    /// Time in verification of the input.
    pub verify_time: Duration,
    /// Time in selection.
    pub select_time: Duration,
    /// Time in register assignment and in building the tree.
    pub emit_time: Duration,
    /// Time in printing and validating the output.
    pub validate_time: Duration,
}

/// A compiled module.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The tree of the text, with the positions in it that a parser would find.
    pub module: ValidatedModule,
    /// PTX.
    pub text: String,
    /// What the compilation did, and its times.
    pub stats: Stats,
}

/// Compiles modules of the IR to PTX.
///
/// ```
/// use warpsmith_emit::{Compiler, OptLevel};
/// let source = "
///     kernel @k(%p: ptr<global>) {
///     entry:
///       store.i32 7, %p
///       ret
///     }";
/// let module = warpsmith_ir::Module::parse(source)?;
/// let compiler = Compiler::new("sm_80".parse().ok()).with_opt_level(OptLevel::O1);
/// let compiled = compiler.compile(&module)?;
/// assert!(compiled.text.starts_with(".version 7.0\n.target sm_80\n"));
/// assert!(compiled.text.contains("st.global.b32 [%rd0], 7;"));
/// # Ok::<(), warpsmith_diag::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compiler {
    target: Option<Target>,
    level: OptLevel,
    version: Option<Version>,
    passes: Option<Pipeline>,
    registers: Option<Registers>,
    debug: Debug,
    verify_each: bool,
    remarks: bool,
    bisect_limit: Option<u32>,
}

impl Compiler {
    /// A compiler for a target; with `None`, for the one that the module names.
    pub fn new(target: impl Into<Option<Target>>) -> Self {
        Compiler {
            target: target.into(),
            level: OptLevel::default(),
            version: None,
            passes: None,
            registers: None,
            debug: Debug::None,
            verify_each: false,
            remarks: false,
            bisect_limit: None,
        }
    }

    /// How much to optimise: [`OptLevel::O2`] unless set.
    pub fn with_opt_level(mut self, level: OptLevel) -> Self {
        self.level = level;
        self
    }

    /// The `.version` to write. Without it, the lowest that the module's features need; with it, what needs more is an error.
    pub fn with_ptx_version(mut self, version: impl Into<Option<Version>>) -> Self {
        self.version = version.into();
        self
    }

    /// The passes to run instead of those of the level.
    pub fn with_passes(mut self, passes: impl Into<Option<Pipeline>>) -> Self {
        self.passes = passes.into();
        self
    }

    /// Without passes that may round otherwise ([`Pipeline::exact`]): of a module, all levels compute the same bits.
    pub fn with_exact_rounding(self) -> Self {
        let exact = self.pipeline().exact();
        self.with_passes(exact)
    }

    /// How registers are assigned: [`Registers::Virtual`] at [`OptLevel::O0`], else [`Registers::Joined`] with [`Debug::Full`] and
    /// [`Registers::Allocated`] without, unless set.
    pub fn with_registers(mut self, registers: impl Into<Option<Registers>>) -> Self {
        self.registers = registers.into();
        self
    }

    /// Writes `.file` and `.loc` from the source locations of the IR: [`Debug::Lines`].
    pub fn with_line_info(self, line_info: bool) -> Self {
        self.with_debug(if line_info { Debug::Lines } else { Debug::None })
    }

    /// The debug information to emit: [`Debug::None`] unless set. A module without debug information is its own source, if it was read from text.
    pub fn with_debug(mut self, debug: Debug) -> Self {
        self.debug = debug;
        self
    }

    /// Runs the IR's verifier after every pass, and reads the output again: its text must be the tree that was validated.
    pub fn with_verify_each(mut self, verify_each: bool) -> Self {
        self.verify_each = verify_each;
        self
    }

    /// Keeps what passes say of their work: [`Report::remarks`] of [`Stats::passes`].
    pub fn with_remarks(mut self, remarks: bool) -> Self {
        self.remarks = remarks;
        self
    }

    /// Stops optimising after so many applications of a pass to a function and of rules in them.
    pub fn with_bisect_limit(mut self, limit: impl Into<Option<u32>>) -> Self {
        self.bisect_limit = limit.into();
        self
    }

    /// The passes that [`Compiler::compile`] runs.
    pub fn pipeline(&self) -> Pipeline {
        self.passes.clone().unwrap_or_else(|| Pipeline::for_level(self.level))
    }

    /// Verifies, optimises, selects, names registers, prints, and validates what is printed. Functions of the math library that the module declares
    /// are added first. A module that is given away is changed in place; of one that is lent, a copy is.
    pub fn compile<'m>(&self, module: impl Into<Cow<'m, ir::Module>>) -> Result<Compiled, Diagnostics> {
        self.compile_watched(module, None)
    }

    /// [`Compiler::compile`], calling `after` with each pass and the module it left.
    pub fn compile_watched<'m, 'a>(
        &self,
        module: impl Into<Cow<'m, ir::Module>>,
        after: Option<&'a mut After<'a>>,
    ) -> Result<Compiled, Diagnostics> {
        let module = module.into();
        let Some(target) = self.target.or(module.target) else {
            let error = Diagnostic::error("E0001", Span::NONE, "no target is given")
                .note("name one when compiling, or write `target \"sm_80\"` at the top of the module");
            return Err(module.diagnostics(vec![error]));
        };
        let start = Instant::now();
        let mut module = warpsmith_math::complete(module)?;
        ir::verify(&module)?;
        let verify_time = start.elapsed();

        if self.debug != Debug::None && ir::debug::lacks_source(&module) {
            module = Cow::Owned(ir::debug::with_own_source(&module));
        }
        let legal = self.legal(module, target)?;
        let (module, passes) = self.optimised(legal, target, after)?;

        let start = Instant::now();
        let variables = match (self.debug, self.level) {
            (Debug::Full, OptLevel::O0) => Variables::Kept,
            _ => Variables::WhereTheyAre,
        };
        let uniform_branches = self.level == OptLevel::O3;
        let options = SelectOptions { variables, uniform_branches, version: self.version };
        let code = lower::select_with(&module, target, options)?;
        let first = output::first_version(&module, target, self.version)?;
        // What `.loc` says of inlined functions asks for a version too.
        let inlines = self.debug != Debug::None && lines::names_inlined(&module);
        let first = if inlines { first.max(INLINED_SINCE) } else { first };
        let version = self.version.unwrap_or(first);
        let select_time = start.elapsed();

        let registers = self.registers();
        let inlined = self.version.is_none_or(|version| version >= INLINED_SINCE);
        let debug = self.debug;
        let mut plan = Plan { module: &module, target, version, registers, debug, inlined };
        let instructions = code.functions.iter().map(|function| function.insts.len()).sum();
        let start = Instant::now();
        let Built { tree, registers, origins, statistics } =
            build(&plan, code).map_err(|error| output::not_built(&module, *error))?;
        let emit_time = start.elapsed();
        let start = Instant::now();
        let validated = output::validated(tree, &mut plan, &origins, self.version)?;
        // The text is that of the tree: the printer promises it, and every output of a build with assertions, as tests are, is held to it.
        if self.verify_each || cfg!(debug_assertions) {
            validated.check_text().map_err(|errors| output::unreadable(&module, errors))?;
        }
        let validate_time = start.elapsed();
        let text = validated.source().text().to_owned();
        let stats = Stats {
            target,
            version: plan.version,
            instructions,
            registers,
            passes,
            debug: statistics,
            verify_time,
            select_time,
            emit_time,
            validate_time,
        };
        if let Cow::Owned(module) = module {
            ir::parallel::free(module);
        }
        Ok(Compiled { module: validated, text, stats })
    }

    /// The module in operations that the target has, before it is optimised.
    fn legal<'m>(
        &self,
        module: Cow<'m, ir::Module>,
        target: Target,
    ) -> Result<Cow<'m, ir::Module>, Diagnostics> {
        let optimises = !self.pipeline().is_empty();
        // Legalisation makes use of the flags that it can, and drops them all.
        let mut simpler = if optimises { lower::fast_math(module) } else { module };
        // So are assumptions: what they say of bits is used before.
        if optimises && assumes(&simpler) {
            let mut options =
                Options { target: Some(target), verify_each: self.verify_each, ..Options::default() };
            let simplify = Pipeline::parse("simplify").map_err(|unknown| {
                simpler.diagnostics(vec![Diagnostic::error("E0005", Span::NONE, unknown.to_string())])
            })?;
            simplify.run(simpler.to_mut(), &mut options)?;
        }
        let mut legal = lower::legalize(simpler, target)?;
        // What an operation was made a call of has its body in the math library.
        if !warpsmith_math::is_complete(&legal) {
            legal = lower::legalize(warpsmith_math::complete(legal)?, target)?;
        }
        if self.verify_each {
            ir::verify(&legal)
                .map_err(|errors| errors.map(|error| error.note("found after legalisation")))?;
        }
        Ok(legal)
    }

    /// The module after the passes, and what they did.
    fn optimised<'m, 'a>(
        &self,
        legal: Cow<'m, ir::Module>,
        target: Target,
        after: Option<&'a mut After<'a>>,
    ) -> Result<(Cow<'m, ir::Module>, Report), Diagnostics> {
        let pipeline = self.pipeline();
        if pipeline.is_empty() {
            return Ok((legal, Report::default()));
        }
        let mut module = legal.into_owned();
        // What passes write is verified for it, whatever older one the module was written for.
        module.target = Some(target);
        let mut options = Options {
            target: Some(target),
            verify_each: self.verify_each,
            bisect_limit: self.bisect_limit,
            remarks: self.remarks,
            after,
        };
        let passes = pipeline.run(&mut module, &mut options)?;
        Ok((Cow::Owned(module), passes))
    }

    /// How registers are assigned.
    fn registers(&self) -> Registers {
        self.registers.unwrap_or(match (self.level, self.debug) {
            (OptLevel::O0, _) => Registers::Virtual,
            // ptxas, which optimises nothing of it, has its own allocation to make; a debugger has more of the variables.
            (OptLevel::O1 | OptLevel::O2 | OptLevel::O3 | OptLevel::Os, Debug::Full) => Registers::Joined,
            (OptLevel::O1 | OptLevel::O2 | OptLevel::O3 | OptLevel::Os, _) => Registers::Allocated,
        })
    }
}

/// True if something is assumed in the module.
fn assumes(module: &ir::Module) -> bool {
    let mut functions = module.functions.values();
    functions.any(|func| {
        let mut blocks = func.layout.blocks();
        blocks.any(|block| func.layout.insts(block).any(|inst| func.dfg.opcode(inst) == ir::Opcode::Assume))
    })
}
