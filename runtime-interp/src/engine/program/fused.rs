//! Runs of arithmetic that machine code executes as one.
//!
//! A *run* is a stretch of operations that follow each other whatever happens: each is a statement of its own, computes with registers alone,
//! and nothing branches between them. Whoever compiles them ([`Program::runs`]) gives back code for whole runs ([`Program::fuse`]), and the loop
//! then dispatches once for a run. All else stays with the loop, and registers are where they were: a run begins and ends in the state that its
//! operations one by one would begin and end in, and where the loop has to look at a group in the middle of one, it executes them so.

use super::Program;
use crate::engine::op::{Guard, Inst, Op};
use crate::engine::reg::{Reg, Width};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use warpsmith_isa::Instruction;

/// Machine code of a run: the registers of the running function, the constants of the program, and the lanes that are written; with a guard, of
/// those the ones that it names.
pub type RunCode = unsafe extern "C" fn(registers: *mut u32, constants: *const u32, lanes: u32);

/// One operation of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunStep<'a> {
    /// The instruction as the validator found it, whose only destination and whose sources are the registers.
    pub instruction: &'a Instruction,
    /// Where the result goes.
    pub dst: Reg,
    /// The sources, in the instruction's order; the rest repeats one of them or is [`Reg::ZERO`].
    pub src: [Reg; 4],
    /// How many sources there are.
    pub sources: usize,
    /// The guard, if it has one.
    pub guard: Option<Guard>,
}

/// A stretch of operations that code can stand for.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// Where in the program.
    pub range: Range<u32>,
    /// The operations.
    pub steps: Vec<RunStep<'a>>,
}

/// The code of a program with runs as single operations.
pub(in crate::engine) struct Fused {
    pub code: Vec<Inst>,
    pub runs: Vec<FusedRun>,
    /// What the code of the runs belongs to.
    _owner: Arc<dyn Any + Send + Sync>,
}

/// A run with its code.
pub(in crate::engine) struct FusedRun {
    pub entry: RunCode,
    pub end: u32,
    /// The statements in it.
    pub count: u32,
}

impl std::fmt::Debug for Fused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fused({} runs)", self.runs.len())
    }
}

impl Program {
    /// The longest runs of at least `least` operations that `knows` says yes to.
    pub fn runs(&self, least: usize, knows: &dyn Fn(&RunStep<'_>) -> bool) -> Vec<Run<'_>> {
        let mut targets = vec![false; self.code.len() + 1];
        for function in &self.functions {
            targets[function.entry as usize] = true;
        }
        for inst in &self.code {
            if let Op::Branch(to) = inst.op {
                targets[to as usize] = true;
            }
        }
        for to in &self.targets {
            targets[*to as usize] = true;
        }
        let (mut runs, mut run) = (Vec::new(), Run { range: 0..0, steps: Vec::new() });
        for (pc, is_target) in targets.iter().enumerate() {
            let step = self.run_step(pc).filter(|step| knows(step));
            if *is_target || step.is_none() {
                if run.steps.len() >= least {
                    runs.push(run);
                }
                run = Run { range: pc as u32..pc as u32, steps: Vec::new() };
            }
            match step {
                Some(step) => run.steps.push(step),
                None => run.range.start = pc as u32 + 1,
            }
            run.range.end = pc as u32 + 1;
        }
        runs
    }

    /// The operation at a place, if it is arithmetic and all of its statement.
    fn run_step(&self, pc: usize) -> Option<RunStep<'_>> {
        let inst = self.code.get(pc)?;
        let number = |pc: usize| self.sites.get(pc).map(|site| site.statement);
        let alone = number(pc) != number(pc + 1) && (pc == 0 || number(pc) != number(pc - 1));
        let (Op::Lanes(function, operands), true, 1) = (&inst.op, alone, inst.count) else { return None };
        let signature = function.signature();
        if signature.dst.len() != 1 {
            return None;
        }
        let guard = (inst.guard != Reg::ZERO || inst.flip == 0)
            .then_some(Guard { pred: inst.guard, negated: inst.flip != 0 });
        Some(RunStep {
            instruction: self.instruction(pc as u32)?,
            dst: operands.dst[0],
            src: operands.src,
            sources: signature.src.len(),
            guard,
        })
    }

    /// The number that a constant of up to 32 bits is, which no device changes.
    pub fn small_constant(&self, r: Reg) -> Option<u32> {
        if !r.is_constant() || r.width() != Width::W32 {
            return None;
        }
        let word = r.offset() as usize;
        self.constants.get(word / 32).map(|row| row.0[word % 32])
    }

    /// Executes runs by their code from now on. Runs that are not watched use it.
    ///
    /// # Safety
    /// The code of each does what the operations of one of [`Program::runs`] do to the registers that it is given, and accesses nothing else; it
    /// stays where it is as long as `owner` lives.
    pub unsafe fn fuse(&mut self, runs: Vec<(Range<u32>, RunCode)>, owner: Arc<dyn Any + Send + Sync>) {
        let mut fused = Fused { code: self.code.clone(), runs: Vec::new(), _owner: owner };
        for (range, entry) in runs {
            let (Some(count), Some(inst)) =
                (range.end.checked_sub(range.start), fused.code.get_mut(range.start as usize))
            else {
                continue;
            };
            let op = Op::Fused(fused.runs.len() as u32);
            *inst = Inst { op, guard: Reg::ZERO, flip: u32::MAX, count: 0 };
            fused.runs.push(FusedRun { entry, end: range.end, count });
        }
        self.fused = Some(Arc::new(fused));
    }

    /// How many runs are executed by code of their own.
    pub fn fused_runs(&self) -> usize {
        self.fused.as_ref().map_or(0, |fused| fused.runs.len())
    }
}
