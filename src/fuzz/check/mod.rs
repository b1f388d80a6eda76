//! The oracles: a case is compiled and run by every way that is asked for, and what each way leaves is compared.

mod compare;
mod defined;
mod others;
mod tools;
mod ways;

pub use compare::difference;
pub use defined::{is_defined, reference_launch};
pub use tools::{NoCode, NoRemains, NoTools, Remains, Tools};

use super::{Case, Failure, Oracle};
use crate::emit::regs::Registers;
use crate::launch::{Execution, execute};
use crate::{Compiler, Fault, FaultCode, Language, Module, OptLevel, Program, Target, lower, ptx};
use warpsmith_ir::Opcode;

/// The checks that a passing case went through.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// How often it was run.
    pub runs: u32,
    /// What the reference interpreter does not support, if that prevented the check.
    pub unknown: Option<String>,
    /// What prevented the check by machine code.
    pub not_compiled: Option<String>,
    /// The targets cannot do what the program asks for, by the compiler's own message; nothing was compared.
    pub refused: Option<String>,
    /// The last crash of ptxas, if it crashed.
    pub ptxas_crashed: Option<String>,
    /// Why LLVM was not asked, if it was to be.
    pub not_llvm: Option<String>,
    /// Why no GPU was asked, if one was to be.
    pub not_gpu: Option<String>,
}

/// How much is compiled of a module of IR: everything, or what a search has time for with each of many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort<'a> {
    /// The levels whose PTX is compared with the IR's own meaning. The first, and the one that optimises the most, are also run in other ways.
    pub levels: &'a [OptLevel],
    /// Which of the ways that [`Oracle::Passes`] compiles is looked at, and which level the reference interpreter is asked about, counted round; all of
    /// them if `None`.
    pub way: Option<u64>,
    /// How machine code gets its registers, counted round; in all ways if `None`.
    pub allocation: Option<u64>,
}

impl Effort<'static> {
    /// All levels, and each single pass left out.
    pub const ALL: Effort<'static> = Effort { levels: &OptLevel::ALL, way: None, allocation: None };
}

/// Asks oracles about a case, with all levels.
pub fn check(case: &Case, oracles: &[Oracle], tools: &dyn Tools) -> Result<Verdict, Failure> {
    check_with(case, oracles, Effort::ALL, tools)
}

/// Asks oracles about a case of which only so much is compiled.
pub fn check_with(
    case: &Case,
    oracles: &[Oracle],
    effort: Effort,
    tools: &dyn Tools,
) -> Result<Verdict, Failure> {
    let trial = Trial { case, oracles, effort, tools };
    let mut verdict = Verdict::default();
    match case.language {
        Language::Wir => trial.ir(&mut verdict)?,
        Language::Ptx => trial.ptx(&mut verdict)?,
    }
    Ok(verdict)
}

struct Trial<'a> {
    case: &'a Case,
    oracles: &'a [Oracle],
    effort: Effort<'a>,
    tools: &'a dyn Tools,
}

type Outcome = Result<Execution, Fault>;

/// How else the PTX of one way to compile is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    Not,
    /// On the engine only: the reference interpreter is slow, and looks at another level.
    WithoutReference,
    InAllWays,
}

fn failure<T>(oracle: Oracle, what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure { oracle, what: what.into() })
}

impl Trial<'_> {
    fn asks(&self, oracle: Oracle) -> bool {
        self.oracles.contains(&oracle)
    }

    fn run(&self, program: &Program, verdict: &mut Verdict) -> Outcome {
        verdict.runs += 1;
        execute(program, &self.case.launch)
    }

    /// What ptxas says of a text that it rejects, if it is to be asked; a crash goes into the verdict.
    fn ptxas_rejects(&self, text: &str, target: Target, verdict: &mut Verdict) -> Option<String> {
        if !self.asks(Oracle::Ptxas) {
            return None;
        }
        match self.tools.ptxas(text, target)?.err()? {
            NoCode::Rejected(said) => Some(said),
            NoCode::Crashed(how) => {
                verdict.ptxas_crashed = Some(how);
                None
            }
        }
    }

    fn ir(&self, verdict: &mut Verdict) -> Result<(), Failure> {
        let module = match Module::parse(self.case.text.as_str()) {
            Ok(module) => module,
            Err(errors) => return failure(Oracle::Accept, format!("IR text is rejected: {}", errors[0])),
        };
        if self.asks(Oracle::Text) {
            let again = module.to_string();
            // What is generated was printed itself.
            let same = || Module::parse(again.as_str()).map(|module| module.to_string());
            if again != self.case.text && same().as_deref().ok() != Some(again.as_str()) {
                return failure(Oracle::Text, "IR that is printed, read and printed is another");
            }
        }
        // This verifies the module, which compiling does again.
        let meaning = match Program::from_ir(&module) {
            Ok(program) => program,
            Err(errors) => return failure(Oracle::Accept, format!("the IR is rejected: {}", errors[0])),
        };
        let expected = self.run(&meaning, verdict);
        if let Err(fault) = &expected {
            return failure(Oracle::Accept, format!("the IR faults: {fault}"));
        }
        self.native(&module, &expected, verdict)?;
        let target = module.target.unwrap_or(Target::sm(90));
        let levels = self.effort.levels;
        // Levels differ in little that other ways to run look at: the plainest and one that is optimised.
        let optimised = levels.iter().find(|level| **level == OptLevel::O2).or(levels.last());
        // Not by the way alone, which goes round with the levels that are chosen.
        let turn = self.effort.way.map(|way| (way / 2 % levels.len().max(1) as u64) as usize);
        for (n, level) in levels.iter().enumerate() {
            let compiler = Compiler::new(target).with_opt_level(*level);
            let shown = match turn {
                _ if levels.first() != Some(level) && optimised != Some(level) => Shown::Not,
                Some(turn) if turn != n => Shown::WithoutReference,
                Some(_) | None => Shown::InAllWays,
            };
            self.compiled(&module, &compiler, &level.to_string(), shown, &expected, verdict)?;
        }
        if self.asks(Oracle::Llvm) {
            self.llvm(&module, target, &expected, verdict)?;
        }
        if self.asks(Oracle::Passes) {
            let optimising = || Compiler::new(target).with_opt_level(OptLevel::O2);
            let whole = lower::Pipeline::for_level(OptLevel::O2);
            let names = whole.names();
            let count = names.len() + 1;
            let asked = match self.effort.way {
                Some(way) => (way % count as u64) as usize..(way % count as u64) as usize + 1,
                None => 0..count,
            };
            for n in asked {
                let (compiler, way) = match names.get(n) {
                    Some(name) => {
                        (optimising().with_passes(whole.without(n)), format!("-O2 without {name} ({n})"))
                    }
                    // What functions of very many blocks get.
                    None => {
                        let way = "-O2 with registers assigned block by block".to_owned();
                        (optimising().with_registers(Registers::Local), way)
                    }
                };
                self.compiled(&module, &compiler, &way, Shown::Not, &expected, verdict)?;
            }
        }
        Ok(())
    }

    /// What becomes of the module by one way of compiling it, and of the PTX by other ways to run it where that is to be shown.
    fn compiled(
        &self,
        module: &Module,
        compiler: &Compiler,
        way: &str,
        shown: Shown,
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
        let of_engine = if self.asks(Oracle::Levels) || self.asks(Oracle::Passes) {
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
            Some(found)
        } else {
            None
        };
        // The engine's own says how many instructions the PTX takes.
        let expected = of_engine.as_ref().unwrap_or(expected);
        let target = module.target.unwrap_or(Target::sm(90));
        if let Some(said) = self.ptxas_rejects(&compiled.text, target, verdict) {
            return failure(Oracle::Ptxas, format!("{way}: ptxas rejects: {said}"));
        }
        match shown {
            Shown::Not => Ok(()),
            Shown::WithoutReference => self.engine(&compiled.module, &program, expected, verdict),
            Shown::InAllWays => self.ways(&compiled.module, &program, expected, verdict),
        }
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
        if let Some(said) = self.ptxas_rejects(&self.case.text, module.target(), verdict) {
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
}

/// PTX is stopped after so many instructions in any case: some ten seconds. If the IR reaches its own limit, the program has no verdict.
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
