//! What others make of a program: the host's machine code, LLVM and a GPU.

use super::compare::{difference, difference_of_buffers, difference_of_named};
use super::{NoRemains, Outcome, Trial, Verdict, failure};
use crate::fuzz::{Failure, Oracle};
use crate::launch::Execution;
use crate::{Module, Program, Target, ptx};

impl Trial<'_> {
    /// The program as machine code of the host: the same memory and as many instructions.
    #[cfg(feature = "native")]
    pub(super) fn accelerated(
        &self,
        program: &Program,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
        if !self.asks(Oracle::Native) {
            return Ok(());
        }
        use crate::launch::RegisterAllocation::{Backtracking, SinglePass};
        // Most of the time goes into compiling, and most of that into registers.
        let allocations: &[_] = match self.effort.allocation {
            None => &[Backtracking, SinglePass],
            Some(way) if way.is_multiple_of(8) => &[Backtracking],
            Some(_) => &[SinglePass],
        };
        for &allocation in allocations {
            let Some(program) = crate::launch::accelerated(program, allocation) else { return Ok(()) };
            let found = self.run(&program, verdict);
            if let Some(what) = difference(["the interpreter", "machine code"], expected, &found) {
                return failure(Oracle::Native, what);
            }
            if let (Ok(a), Ok(b)) = (expected, &found)
                && self.case.language == crate::Language::Ptx
                && a.thread_instructions != b.thread_instructions
            {
                let (a, b) = (a.thread_instructions, b.thread_instructions);
                return failure(
                    Oracle::Native,
                    format!("the interpreter executes {a} instructions, machine code {b}"),
                );
            }
        }
        Ok(())
    }

    #[cfg(not(feature = "native"))]
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(super) fn accelerated(&self, _: &Program, _: &Outcome, _: &mut Verdict) -> Result<(), Failure> {
        Ok(())
    }

    /// The module as machine code of the host.
    #[cfg(feature = "native")]
    pub(super) fn native(
        &self,
        module: &Module,
        expected: &Outcome,
        verdict: &mut Verdict,
    ) -> Result<(), Failure> {
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
                let names = ["the IR", "the machine code"];
                if let Some(what) = difference_of_buffers(names, &expected.buffers, &found) {
                    return failure(Oracle::Native, what);
                }
            }
        }
        Ok(())
    }

    #[cfg(not(feature = "native"))]
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(super) fn native(&self, _: &Module, _: &Outcome, verdict: &mut Verdict) -> Result<(), Failure> {
        if self.asks(Oracle::Native) {
            verdict.not_compiled = Some("anything (the feature `native` is off)".to_owned());
        }
        Ok(())
    }

    /// What LLVM makes of the module.
    pub(super) fn llvm(
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
    pub(super) fn gpu(
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
        let differs = difference_of_buffers(names, &expected.buffers, &found.buffers)
            .or_else(|| difference_of_named(names, &expected.globals, &found.globals))
            .or_else(|| difference_of_named(names, &expected.memory, &found.memory));
        differs.map_or(Ok(()), |what| failure(Oracle::Gpu, what))
    }
}
