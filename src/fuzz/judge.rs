//! The oracles.

use super::{Case, Failure, Oracle};
use crate::launch::{Arg, Execution, LaunchSpec, execute, execute_observed};
use crate::watch::{Checkers, Selection};
use crate::{Compiler, Fault, FaultCode, Language, Module, OptLevel, Program, Target, ir, lower, ptx};
use warpsmith_interp::Schedule;
use warpsmith_ir::Opcode;
use warpsmith_smith::reference::{self, Stop};

/// Programs of others that oracles ask, where they are installed.
pub trait Tools: Sync {
    /// The code that ptxas makes of a text, or what it says; `None` without a ptxas that knows the target.
    fn ptxas(&self, text: &str, target: Target) -> Option<Result<Vec<u8>, String>>;
    /// The PTX that LLVM makes of its own text; `None` without an LLVM.
    fn llvm(&self, text: &str, target: Target) -> Option<Result<String, String>>;
    /// What a launch of PTX leaves on a GPU.
    fn gpu(&self, _text: &str, _target: Target, _launch: &LaunchSpec) -> Result<Remains, NoRemains> {
        Err(NoRemains::NotRun("there is no GPU".to_owned()))
    }
}

/// What a launch on a GPU leaves.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Remains {
    /// For each argument the content of its buffer; `None` for values.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The content of each variable that the launch names in `globals`.
    pub globals: Vec<(String, Vec<u8>)>,
    /// The content of each buffer of the launch's `memory`.
    pub memory: Vec<(String, Vec<u8>)>,
}

/// Why a GPU left nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoRemains {
    /// It was not asked, or could not run the program: that says nothing about the program.
    NotRun(String),
    /// The kernel went wrong there.
    Fault(String),
}

/// No tools.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoTools;

impl Tools for NoTools {
    fn ptxas(&self, _text: &str, _target: Target) -> Option<Result<Vec<u8>, String>> {
        None
    }

    fn llvm(&self, _text: &str, _target: Target) -> Option<Result<String, String>> {
        None
    }
}

/// What a case that no oracle objects to was judged by.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// How often it was run.
    pub runs: u32,
    /// What the reference interpreter did not know, if that kept it from judging.
    pub unknown: Option<String>,
    /// What kept machine code of the host from judging.
    pub not_compiled: Option<String>,
    /// The targets cannot do what the program asks for, by the compiler's own message; nothing was compared.
    pub refused: Option<String>,
    /// Why LLVM was not asked, if it was to be.
    pub not_llvm: Option<String>,
    /// Why no GPU was asked, if one was to be.
    pub not_gpu: Option<String>,
}

/// Asks oracles about a case.
pub fn judge(case: &Case, oracles: &[Oracle], tools: &dyn Tools) -> Result<Verdict, Failure> {
    judge_levels(case, oracles, &OptLevel::ALL, tools)
}

pub(super) fn judge_levels(
    case: &Case,
    oracles: &[Oracle],
    levels: &[OptLevel],
    tools: &dyn Tools,
) -> Result<Verdict, Failure> {
    let judge = Judge { case, oracles, levels, tools };
    let mut verdict = Verdict::default();
    match case.language {
        Language::Wir => judge.ir(&mut verdict)?,
        Language::Ptx => judge.ptx(&mut verdict)?,
    }
    Ok(verdict)
}

struct Judge<'a> {
    case: &'a Case,
    oracles: &'a [Oracle],
    levels: &'a [OptLevel],
    tools: &'a dyn Tools,
}

type Outcome = Result<Execution, Fault>;

fn failure<T>(oracle: Oracle, what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure { oracle, what: what.into() })
}

impl Judge<'_> {
    fn asks(&self, oracle: Oracle) -> bool {
        self.oracles.contains(&oracle)
    }

    fn run(&self, program: &Program, verdict: &mut Verdict) -> Outcome {
        verdict.runs += 1;
        execute(program, &self.case.launch)
    }

    fn ir(&self, verdict: &mut Verdict) -> Result<(), Failure> {
        let module = match Module::parse(self.case.text.as_str()) {
            Ok(module) => module,
            Err(errors) => return failure(Oracle::Accept, format!("IR text is rejected: {}", errors[0])),
        };
        if let Err(errors) = ir::verify(&module) {
            return failure(Oracle::Accept, format!("the verifier rejects: {}", errors[0]));
        }
        if self.asks(Oracle::Text) {
            let again = module.to_string();
            let same = Module::parse(again.as_str()).map(|module| module.to_string());
            if same.as_deref().ok() != Some(again.as_str()) {
                return failure(Oracle::Text, "IR that is printed, read and printed is another");
            }
        }
        let meaning = match Program::from_ir(&module) {
            Ok(program) => program,
            Err(errors) => return failure(Oracle::Accept, format!("the IR has no meaning: {}", errors[0])),
        };
        let expected = self.run(&meaning, verdict);
        if let Err(fault) = &expected {
            return failure(Oracle::Accept, format!("the IR faults: {fault}"));
        }
        self.native(&module, &expected, verdict)?;
        let target = module.target.unwrap_or(Target::sm(90));
        for &level in self.levels {
            let compiler = Compiler::new(target).with_opt_level(level);
            self.compiled(&module, &compiler, &level.to_string(), &expected, verdict)?;
        }
        if self.asks(Oracle::Llvm) {
            self.llvm(&module, target, &expected, verdict)?;
        }
        if self.asks(Oracle::Passes) {
            let whole = lower::Pipeline::for_level(OptLevel::O2);
            for (n, name) in whole.names().into_iter().enumerate() {
                let compiler =
                    Compiler::new(target).with_opt_level(OptLevel::O2).with_passes(whole.without(n));
                let way = format!("-O2 without {name} ({n})");
                self.compiled(&module, &compiler, &way, &expected, verdict)?;
            }
        }
        Ok(())
    }

    /// The program as machine code of the host: the same memory and as many instructions.
    #[cfg(feature = "native")]
    fn accelerated(
        &self,
        program: &Program,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        if !self.asks(Oracle::Native) {
            return Ok(());
        }
        let Some(program) = crate::launch::accelerated(program) else { return Ok(()) };
        let found = self.run(&program, verdict);
        if let Some(what) = difference(["the interpreter", "machine code"], expected, &found) {
            return failure(Oracle::Native, what);
        }
        if let (Ok(a), Ok(b)) = (expected, &found)
            && self.case.language == Language::Ptx
            && a.thread_instructions != b.thread_instructions
        {
            let (a, b) = (a.thread_instructions, b.thread_instructions);
            return failure(
                Oracle::Native,
                format!("the interpreter executes {a} instructions, machine code {b}"),
            );
        }
        Ok(())
    }

    #[cfg(not(feature = "native"))]
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    fn accelerated(&self, _: &Program, _: &Outcome, _: &mut Verdict) -> Result<(), Failure> {
        Ok(())
    }

    /// The module as machine code of the host.
    #[cfg(feature = "native")]
    fn native(&self, module: &Module, expected: &Outcome, verdict: &mut Verdict) -> Result<(), Failure> {
        use crate::launch::{NotRun, execute_native};
        let (true, Ok(expected)) = (self.asks(Oracle::Native), expected) else { return Ok(()) };
        match execute_native(module, &self.case.launch) {
            Err(NotRun::NotCompiled(what)) => verdict.not_compiled = Some(what),
            Err(NotRun::Rejected(what)) => return failure(Oracle::Native, what),
            Err(NotRun::Fault(fault)) => {
                return failure(Oracle::Native, format!("the machine code faults: {fault}"));
            }
            Ok(found) => {
                verdict.runs += 1;
                for (n, (a, b)) in expected.buffers.iter().zip(&found).enumerate() {
                    if let (Some(a), Some(b)) = (a, b)
                        && let Some(what) =
                            first_difference(["the IR", "the machine code"], &format!("buffer {n}"), a, b)
                    {
                        return failure(Oracle::Native, what);
                    }
                }
            }
        }
        Ok(())
    }

    #[cfg(not(feature = "native"))]
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    fn native(&self, _: &Module, _: &Outcome, verdict: &mut Verdict) -> Result<(), Failure> {
        if self.asks(Oracle::Native) {
            verdict.not_compiled = Some("anything (the feature `native` is off)".to_owned());
        }
        Ok(())
    }

    /// What LLVM makes of the module.
    fn llvm(
        &self,
        module: &Module,
        target: Target,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        let text = match crate::llvm::export(module) {
            Ok(text) => text,
            Err(refused) => {
                verdict.not_llvm = Some(refused.what);
                return Ok(());
            }
        };
        let Some(made) = self.tools.llvm(&text, target) else {
            verdict.not_llvm = Some("there is no LLVM".to_owned());
            return Ok(());
        };
        let made = match made {
            Ok(made) => made,
            Err(said) => return failure(Oracle::Llvm, format!("LLVM rejects: {said}")),
        };
        let valid = match ptx::ValidatedModule::parse(made.as_str()) {
            Ok(valid) => valid,
            Err(errors) => return failure(Oracle::Llvm, format!("LLVM's PTX is rejected: {}", errors[0])),
        };
        let program = match Program::load(&valid) {
            Ok(program) => program,
            Err(errors) => return failure(Oracle::Llvm, format!("LLVM's PTX is not loaded: {}", errors[0])),
        };
        let found = self.run(&program, verdict);
        match difference(["the IR", "LLVM's PTX"], expected, &found) {
            Some(what) => failure(Oracle::Llvm, what),
            None => Ok(()),
        }
    }

    /// What a GPU leaves of the launch. It has an order of threads of its own, and no limit of steps.
    fn gpu(
        &self,
        module: &ptx::ValidatedModule,
        expected: &Execution,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        let mut launch = self.case.launch.clone();
        (launch.schedule, launch.seed, launch.steps) = (None, None, None);
        let found = match self.tools.gpu(&ptx::print(module), module.target(), &launch) {
            Ok(found) => found,
            Err(NoRemains::NotRun(why)) => {
                verdict.not_gpu = Some(why);
                return Ok(());
            }
            Err(NoRemains::Fault(what)) => {
                return failure(Oracle::Gpu, format!("the GPU faults, the engine does not: {what}"));
            }
        };
        verdict.runs += 1;
        let names = ["the engine", "the GPU"];
        let named = |a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)]| {
            a.iter().zip(b).find_map(|((name, a), (_, b))| first_difference(names, name, a, b))
        };
        let mut buffers = expected.buffers.iter().zip(&found.buffers).enumerate();
        let differs = buffers
            .find_map(|(n, (a, b))| first_difference(names, &format!("buffer {n}"), a.as_ref()?, b.as_ref()?))
            .or_else(|| named(&expected.globals, &found.globals))
            .or_else(|| named(&expected.memory, &found.memory));
        differs.map_or(Ok(()), |what| failure(Oracle::Gpu, what))
    }

    /// What becomes of the module by one way of compiling it.
    fn compiled(
        &self,
        module: &Module,
        compiler: &Compiler,
        way: &str,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        let compiled = match compiler.compile(module) {
            Ok(compiled) => compiled,
            Err(errors) if errors.iter().all(|error| error.code == "L0002") => {
                verdict.refused = Some(errors[0].message.clone());
                return Ok(());
            }
            Err(errors) => return failure(Oracle::Accept, format!("{way}: is not compiled: {}", errors[0])),
        };
        let program = match Program::load(&compiled.module) {
            Ok(program) => program,
            Err(errors) => return failure(Oracle::Accept, format!("{way}: is not loaded: {}", errors[0])),
        };
        if self.asks(Oracle::Levels) || self.asks(Oracle::Passes) {
            // How long the PTX may take follows from how long the IR took.
            let mut launch = self.case.launch.clone();
            let enough = expected
                .as_ref()
                .map_or(u64::MAX, |ended| ended.thread_instructions.saturating_mul(expansion(module)));
            launch.steps = launch.steps.map(|limit| limit.max(enough.min(MOST_STEPS)));
            verdict.runs += 1;
            let found = execute(&program, &launch);
            if let Err(Fault { code: FaultCode::StepLimit, .. }) = &found
                && launch.steps.is_some_and(|limit| limit >= enough)
            {
                return failure(Oracle::Levels, format!("{way}: the IR ends, the PTX goes on without end"));
            }
            if let Some(what) = difference(["the IR", "the PTX"], expected, &found) {
                return failure(Oracle::Levels, format!("{way}: {what}"));
            }
        }
        let target = module.target.unwrap_or(Target::sm(90));
        if self.asks(Oracle::Ptxas)
            && let Some(Err(said)) = self.tools.ptxas(&compiled.text, target)
        {
            return failure(Oracle::Ptxas, format!("{way}: ptxas rejects: {said}"));
        }
        // Levels differ in little that these look at: the plainest and one that is optimised.
        let shown = self.levels.first().map(ToString::to_string).as_deref() == Some(way) || way.contains('2');
        if shown && !way.contains("without") {
            self.ways(&compiled.module, &program, expected, verdict)?;
        }
        Ok(())
    }

    fn ptx(&self, verdict: &mut Verdict) -> Result<(), Failure> {
        let module = match ptx::ValidatedModule::parse(self.case.text.as_str()) {
            Ok(module) => module,
            Err(errors) => return failure(Oracle::Accept, format!("PTX is rejected: {}", errors[0])),
        };
        if self.asks(Oracle::Text) {
            let printed = ptx::print(&module);
            let again = ptx::parse(&printed);
            if again.module != *module {
                return failure(Oracle::Text, "PTX that is printed and read is another");
            }
        }
        if self.asks(Oracle::Ptxas)
            && let Some(Err(said)) = self.tools.ptxas(&self.case.text, module.target())
        {
            return failure(Oracle::Ptxas, format!("ptxas rejects: {said}"));
        }
        let program = match Program::load(&module) {
            Ok(program) => program,
            Err(errors) => return failure(Oracle::Accept, format!("is not loaded: {}", errors[0])),
        };
        let expected = self.run(&program, verdict);
        if let Err(fault) = &expected {
            return failure(Oracle::Accept, format!("the PTX faults: {fault}"));
        }
        self.ways(&module, &program, &expected, verdict)
    }

    /// Other ways to run PTX.
    fn ways(
        &self,
        module: &ptx::ValidatedModule,
        program: &Program,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        if self.asks(Oracle::Reference) {
            match reference_launch(&self.case.launch).and_then(|launch| reference::run(module, &launch)) {
                Err(Stop::Unsupported(what)) => verdict.unknown = Some(what),
                Err(stop) => return failure(Oracle::Reference, format!("the reference stops: {stop}")),
                Ok(found) => {
                    verdict.runs += 1;
                    if let Some(what) = differs_from_reference(expected, &found) {
                        return failure(Oracle::Reference, what);
                    }
                }
            }
        }
        self.accelerated(program, expected, verdict)?;
        if self.asks(Oracle::Gpu)
            && let Ok(expected) = expected
        {
            self.gpu(module, expected, verdict)?;
        }
        if self.asks(Oracle::Schedules) {
            for (schedule, seed) in
                [(Schedule::Random, 1), (Schedule::Adversarial, 2), (Schedule::LowestPc, 3)]
            {
                let mut launch = self.case.launch.clone();
                (launch.schedule, launch.seed) = (Some(schedule), Some(seed));
                verdict.runs += 1;
                let found = execute(program, &launch);
                if let Some(what) = difference(["the usual order", "another"], expected, &found) {
                    return failure(Oracle::Schedules, format!("{schedule:?}, seed {seed}: {what}"));
                }
            }
        }
        if self.asks(Oracle::Checkers) {
            let mut checkers = Checkers::new(Selection::ALL);
            verdict.runs += 1;
            let found =
                execute_observed(program, &self.case.launch, std::io::sink(), &mut checkers.observer());
            if let Err(fault) = found {
                return failure(Oracle::Checkers, format!("a watched run faults: {fault}"));
            }
            if let Some(finding) = checkers.into_report().findings().first() {
                let what = format!("{} at a program that is right: {}", finding.code, finding.message);
                return failure(Oracle::Checkers, what);
            }
        }
        Ok(())
    }
}

/// PTX is stopped after so many instructions in any case: some ten seconds. Where the IR took so long that they say nothing, nothing is told.
const MOST_STEPS: u64 = 1 << 31;

/// How many instructions of PTX one of the IR becomes, at most and roughly: remainders of floats and quotients of 128 bits are loops over bits.
fn expansion(module: &Module) -> u64 {
    let loops = module.functions.values().any(|func| {
        func.layout.blocks().flat_map(|block| func.layout.insts(block)).any(|inst| {
            let opcode = func.dfg.opcode(inst);
            let quotient = matches!(opcode, Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem);
            let bytes = func.dfg.first_result(inst).and_then(|value| func.dfg.ty(value).bytes());
            let wide = bytes.is_some_and(|bytes| bytes > 8);
            opcode == Opcode::Frem || quotient && wide
        })
    });
    if loops { 1 << 15 } else { 1 << 6 }
}

/// True if what a case leaves depends neither on addresses nor on what nothing has written: only then does a difference mean something. Where the
/// reference interpreter cannot tell, the checkers are asked.
pub fn is_defined(case: &Case) -> bool {
    let text = match case.language {
        Language::Ptx => case.text.clone(),
        Language::Wir => {
            let module = Module::parse(case.text.as_str()).ok();
            let compiled = module.and_then(|module| {
                let target = module.target.unwrap_or(Target::sm(90));
                Compiler::new(target).with_opt_level(OptLevel::O0).compile(&module).ok()
            });
            match compiled {
                Some(compiled) => compiled.text,
                None => return false,
            }
        }
    };
    let Ok(module) = ptx::ValidatedModule::parse(text.as_str()) else { return false };
    match reference_launch(&case.launch).and_then(|launch| reference::is_defined(&module, &launch)) {
        Ok(defined) => defined,
        Err(Stop::Unsupported(_)) => {
            let plain = Case { language: Language::Ptx, text, ..case.clone() };
            judge(&plain, &[Oracle::Checkers], &NoTools).is_ok()
        }
        Err(Stop::Fault(_) | Stop::Steps | Stop::Deadlock) => false,
    }
}

/// The launch for the reference interpreter, if it has all that the launch has.
pub fn reference_launch(spec: &LaunchSpec) -> Result<reference::Launch, Stop> {
    let args = spec.args.iter().map(|arg| match arg {
        Arg::Value(bytes) => Ok(reference::Arg::Value(bytes.clone())),
        Arg::Buffer { bytes, .. } => Ok(reference::Arg::Buffer(bytes.clone())),
        Arg::SameAs(_) | Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_) => {
            Err(Stop::Unsupported("an argument that is neither a value nor a buffer of its own".to_owned()))
        }
    });
    let plain = spec.cluster.is_none()
        && spec.dynamic_shared == 0
        && spec.memory.is_empty()
        && spec.bindings.is_empty()
        && spec.handles.is_empty()
        && spec.poison.is_none()
        && spec.globals.iter().all(|global| global.content.is_none());
    if !plain {
        return Err(Stop::Unsupported(
            "clusters, dynamic memory, textures and contents of variables".to_owned(),
        ));
    }
    Ok(reference::Launch {
        entry: spec.entry.clone(),
        grid: spec.grid,
        block: spec.block,
        args: args.collect::<Result<_, _>>()?,
        steps: spec.steps.unwrap_or(1 << 30),
        other_rubbish: false,
    })
}

fn differs_from_reference(expected: &Outcome, found: &reference::Outcome) -> Option<String> {
    let expected = expected.as_ref().ok()?;
    let names = ["the engine", "the reference"];
    for (n, (a, b)) in expected.buffers.iter().zip(&found.buffers).enumerate() {
        if let (Some(a), Some(b)) = (a, b)
            && let Some(what) = first_difference(names, &format!("buffer {n}"), a, b)
        {
            return Some(what);
        }
    }
    expected.globals.iter().find_map(|(name, a)| first_difference(names, name, a, found.variables.get(name)?))
}

fn first_difference([one, other]: [&str; 2], subject: &str, a: &[u8], b: &[u8]) -> Option<String> {
    let at = a.iter().zip(b).position(|(a, b)| a != b)?;
    Some(format!("{subject}, byte {at}: {one} gives {:#04x}, {other} {:#04x}", a[at], b[at]))
}

/// How two outcomes of one launch differ, by the names of who gave them.
pub fn difference(names: [&str; 2], a: &Outcome, b: &Outcome) -> Option<String> {
    let [one, other] = names;
    match (a, b) {
        (Ok(a), Ok(b)) => {
            let mut buffers = a.buffers.iter().zip(&b.buffers).enumerate();
            let named = |a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)]| {
                let mut both = a.iter().zip(b);
                both.find_map(|((name, a), (_, b))| first_difference(names, name, a, b))
            };
            buffers
                .find_map(|(n, (a, b))| {
                    first_difference(names, &format!("buffer {n}"), a.as_ref()?, b.as_ref()?)
                })
                .or_else(|| named(&a.globals, &b.globals))
                .or_else(|| named(&a.memory, &b.memory))
                .or_else(|| named(&a.bindings, &b.bindings))
        }
        (Err(a), Err(b)) if a.code == b.code => None,
        // What is stopped at a limit says nothing about what it computes.
        (Err(Fault { code: FaultCode::StepLimit, .. }), _)
        | (_, Err(Fault { code: FaultCode::StepLimit, .. })) => None,
        (Err(a), Err(b)) => Some(format!("{one} faults with {a}, {other} with {b}")),
        (Ok(_), Err(fault)) => Some(format!("{other} faults, {one} does not: {fault}")),
        (Err(fault), Ok(_)) => Some(format!("{one} faults, {other} does not: {fault}")),
    }
}
