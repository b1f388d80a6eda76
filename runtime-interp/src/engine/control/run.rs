//! The main loop: a warp executes instructions until all its lanes wait, have exited, or its turn is over.

use crate::engine::block::{BlockContext, locate};
use crate::engine::context::Context;
use crate::engine::file::Frame;
use crate::engine::lanes::Level;
use crate::engine::observe::{At, Interest, Observer, Registers, Sync};
use crate::engine::op::{FuncId, Inst, Op, Order};
use crate::engine::schedule::Turns;
use crate::engine::standstill::{Progress, Worker};
use crate::engine::values::put;
use crate::engine::warp::{Activation, State, Warp};
use crate::fault::{Fault, FaultCode};
use crate::memory::window;
use std::sync::atomic::{Ordering, fence};
use warpsmith_isa::StateSpace;

/// Executes warps, watched by an observer or not. One per host thread and launch.
pub(in crate::engine) struct Runner<'a, const WATCHED: bool> {
    pub cx: &'a Context<'a>,
    /// Called only where `WATCHED` says so: the loop is compiled twice, with the calls and without.
    pub observer: &'a mut (dyn Observer + 'a),
    pub turns: Turns,
    /// The allocation that was accessed last, by a hash of the instruction.
    pub last_hit: [u32; 16],
    pub level: Level,
    /// How often something was changed that other threads may see.
    pub changes: u64,
    /// How often a thread has looked what time it is, or who is with it: what depends on the scheduler, and not on other threads.
    pub looks: u64,
    /// A thread has read what others may change: in this turn, and in this slice of its cluster.
    pub asks: bool,
    pub asked: bool,
    pub worker: Worker<'a>,
    /// What the observer asks for.
    pub interest: Interest,
    /// A turn that an observer has stopped, from then until it goes on.
    pub held: Option<Held>,
    /// Stands for the memory of an access at fault that an observer lets pass. Large enough for any access of one thread.
    pub sink: [u128; 16],
    /// What the lanes load of which not all exists.
    pub parts: Vec<[u128; 2]>,
}

/// A warp's turn that stands still.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Held {
    pub warp: u32,
    /// The number of executed instructions at which the turn ends.
    pub end: u64,
    /// The running group, when another is chosen, and the place in the program where to look who else is there.
    pub group: Option<(usize, u64, u32)>,
    /// The place in the round of the block's warps.
    pub from: usize,
}

pub(in crate::engine) type Fallible<T> = Result<T, Box<Fault>>;

/// An instruction as it is issued: to which lanes of which warp, with which registers and local memory.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Issue<'b> {
    pub block: &'b BlockContext<'b>,
    /// The number of the warp in the block.
    pub warp: u32,
    /// The registers of the running activation.
    pub frame: Frame,
    pub pc: u32,
    /// The lanes that execute the instruction.
    pub mask: u32,
    /// The part of local memory of the running activation.
    pub stack: u32,
    pub stack_end: u32,
}

impl Issue<'_> {
    /// This issue for some lanes alone.
    #[inline(always)]
    pub fn only(self, mask: u32) -> Self {
        Issue { mask, ..self }
    }
}

/// What becomes of the group after an operation that may rearrange the groups.
pub(in crate::engine) enum Next {
    /// It goes on to the next instruction.
    Advance,
    /// The groups have changed: choose one.
    Choose,
    /// It goes on to the next instruction when the others have had a turn.
    Yield,
}

impl<'a, const WATCHED: bool> Runner<'a, WATCHED> {
    /// Runs a warp for about `quantum` instructions.
    pub fn run_warp(&mut self, block: &BlockContext<'_>, warp: &mut Warp, quantum: u64) -> Fallible<()> {
        match self.level {
            // SAFETY: the host has the level, and each level what those below it have.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe { self.run_warp_avx2(block, warp, quantum) },
            _ => self.run_warp_here(block, warp, quantum),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_warp_avx2(&mut self, block: &BlockContext<'_>, warp: &mut Warp, quantum: u64) -> Fallible<()> {
        self.run_warp_here(block, warp, quantum)
    }

    #[inline(always)]
    fn run_warp_here(&mut self, block: &BlockContext<'_>, warp: &mut Warp, quantum: u64) -> Fallible<()> {
        let code: &[Inst] = &self.cx.program.code;
        let level = self.level;
        let stops = WATCHED && self.interest.stops;
        let mut held = if WATCHED { self.held.take() } else { None };
        let end_of_turn = held.map_or(warp.executed + quantum, |held| held.end);
        'choose: while let Some((g, until, kept)) = self.next_group(warp, &mut held, end_of_turn) {
            let mask = warp.groups[g].mask;
            let mut pc = warp.groups[g].pc;
            // Only the first instruction can be one that the lanes have waited in. They were counted when they came to it.
            let mut retried = std::mem::take(&mut warp.groups[g].waited);
            if retried != 0 && !stops {
                warp.uncount(&code[pc as usize], retried);
            }
            let activation = *warp.activation(warp.groups[g].frame);
            let frame = warp.frame(activation.place(), self.cx.constants);
            let Activation { stack, stack_end, .. } = activation;
            // Lanes that have exited may be written: with no other group about, arithmetic works on whole registers.
            let alone = warp.groups.len() == 1;
            let wide = if alone { u32::MAX } else { mask };
            let mut stop = if alone { u32::MAX } else { warp.meeting_point(g) };
            let lanes = u64::from(mask.count_ones());
            let deadline = end_of_turn.min(until);
            let mut executed = warp.executed;
            if self.turns.preempts() {
                let left = u32::try_from(deadline.saturating_sub(executed)).unwrap_or(u32::MAX);
                stop = stop.min(pc.saturating_add(left));
            }
            if WATCHED {
                stop = kept.unwrap_or(stop);
            }

            // Leaves the inner loop with the group at `pc`.
            macro_rules! leave {
                () => {{
                    warp.thread_instructions += (executed - warp.executed) * lanes;
                    warp.executed = executed;
                    warp.groups[g].pc = pc;
                }};
            }
            macro_rules! try_or_leave {
                ($e:expr) => {
                    match $e {
                        Ok(v) => v,
                        Err(fault) => {
                            leave!();
                            return Err(fault);
                        }
                    }
                };
            }
            loop {
                let inst = &code[pc as usize];
                // SAFETY: guards were checked when the program was built.
                let guard = unsafe { frame.pred(inst.guard) } ^ inst.flip;
                let active = mask & guard;
                let issue = Issue { block, warp: warp.index, frame, pc, mask: active, stack, stack_end };
                if stops && self.observer.breaks(&self.at(issue.only(mask)), executed) {
                    leave!();
                    warp.groups[g].waited = retried;
                    let group = Some((g, until, stop));
                    self.held = Some(Held { warp: warp.index, end: end_of_turn, group, from: 0 });
                    return Ok(());
                }
                executed += u64::from(inst.count);
                if WATCHED && self.interest.instructions {
                    let at = At { group: mask, retried, ..self.at(issue) };
                    let registers = Registers::new(
                        frame,
                        self.cx.constants,
                        activation.place(),
                        FuncId(activation.function),
                    );
                    self.observer.instruction(&at, &registers);
                }
                if WATCHED {
                    if stops && retried != 0 {
                        warp.uncount(inst, retried);
                    }
                    retried = 0;
                }
                match &inst.op {
                    Op::Lanes(f, operands) => {
                        if active != 0 {
                            // SAFETY: the operands were checked when the program was built, and the host has the runner's level.
                            unsafe { f.run(level, frame, operands, wide & guard) }
                        }
                    }
                    Op::Load(access, dst) => {
                        if active != 0 {
                            try_or_leave!(self.load(warp, issue, access, std::slice::from_ref(dst)));
                        }
                    }
                    Op::Store(access, src) => {
                        if active != 0 {
                            try_or_leave!(self.store(warp, issue, access, std::slice::from_ref(src)));
                            self.tell_stored(&self.at(issue), frame, &activation);
                        }
                    }
                    Op::LoadVector(access, list) => {
                        if active != 0 {
                            let dst = list.of(&self.cx.program.lists);
                            try_or_leave!(self.load(warp, issue, access, dst));
                        }
                    }
                    Op::StoreVector(access, list) => {
                        if active != 0 {
                            let src = list.of(&self.cx.program.lists);
                            try_or_leave!(self.store(warp, issue, access, src));
                            self.tell_stored(&self.at(issue), frame, &activation);
                        }
                    }
                    Op::Branch(target) => {
                        if WATCHED && self.interest.instructions {
                            let at = self.at(issue.only(mask));
                            self.observer.branch(&at, active);
                        }
                        if active == mask {
                            let backward = *target <= pc;
                            pc = *target;
                            if backward {
                                warp.spin += if alone { 0 } else { warp.haste };
                                if executed >= deadline || warp.spin >= crate::engine::warp::SPIN_LIMIT {
                                    leave!();
                                    warp.reconverge(g);
                                    continue 'choose;
                                }
                            }
                            if pc >= stop {
                                leave!();
                                warp.reconverge(g);
                                continue 'choose;
                            }
                            continue;
                        } else if active != 0 {
                            pc += 1;
                            leave!();
                            warp.split(g, active, *target, State::Ready);
                            let last = warp.groups.len() - 1;
                            warp.reconverge(last);
                            warp.spin += if *target < pc { warp.haste } else { 0 };
                            continue 'choose;
                        }
                    }
                    Op::Special(dst, special) => self.special(issue, block.clock + executed, *dst, *special),
                    Op::ActiveMask(dst) => {
                        // Which lanes are together is the scheduler's choice.
                        self.looks += 1;
                        put(frame, *dst, active, &[u64::from(active); 32]);
                    }
                    Op::StackAddress { dst, offset, generic } => {
                        let base = if *generic { window::base(StateSpace::Local).unwrap_or(0) } else { 0 };
                        let address = base.wrapping_add(u64::from(stack)).wrapping_add_signed(*offset);
                        put(frame, *dst, active, &[address; 32]);
                    }
                    Op::Atomic(atomic) => {
                        if active != 0 {
                            warp.haste = crate::engine::warp::HASTE;
                            try_or_leave!(self.atomic(warp, issue, atomic));
                        }
                    }
                    Op::Fence(f) => {
                        if active != 0 {
                            fence(Ordering::SeqCst);
                            if WATCHED {
                                let at = self.at(issue);
                                self.observer.synchronise(&at, Sync::Fence(*f));
                            }
                        }
                    }
                    Op::Collective(collective) => {
                        leave!();
                        match self.collective(warp, g, issue, collective)? {
                            Next::Choose => continue 'choose,
                            Next::Advance | Next::Yield => {}
                        }
                    }
                    Op::Barrier(barrier) => {
                        if active != 0 {
                            leave!();
                            self.reach_barrier(warp, g, issue, barrier)?;
                            continue 'choose;
                        }
                    }
                    Op::System(system) => {
                        if active != 0 {
                            pc += 1;
                            leave!();
                            // A fault is told of the call, not of what stands for the function.
                            let call = Issue { pc: activation.call, ..issue };
                            self.system(warp, call, system)?;
                            let at = self.at(issue);
                            self.tell_results(&at, frame, &activation);
                            warp.reconverge(g);
                            // What the call did beyond an instruction counts for the turn too.
                            if warp.executed + (warp.extra - warp.patience.extra) >= end_of_turn {
                                return Ok(());
                            }
                            continue 'choose;
                        }
                    }
                    Op::Stack(op) => {
                        if active != 0 {
                            leave!();
                            self.stack(warp, issue, op)?;
                        }
                    }
                    Op::Yield => {
                        if active != 0 {
                            pc += 1;
                            leave!();
                            warp.pause(g);
                            block.cluster.yielded.set(true);
                            return Ok(());
                        }
                    }
                    Op::Nop => {}
                    Op::Async(op) => {
                        if active != 0 {
                            leave!();
                            match self.asynchronous(warp, g, issue, op)? {
                                Next::Advance => {}
                                Next::Choose => continue 'choose,
                                Next::Yield => {
                                    let at = self.at(issue);
                                    self.tell_results(&at, frame, &activation);
                                    warp.groups[g].pc = pc + 1;
                                    warp.pause(g);
                                    block.cluster.yielded.set(true);
                                    return Ok(());
                                }
                            }
                        }
                    }
                    Op::Switch { index, targets } => {
                        if active != 0 {
                            leave!();
                            self.switch(warp, g, issue, *index, targets.of(&self.cx.program.targets))?;
                            continue 'choose;
                        }
                    }
                    Op::Call(call) => {
                        if active != 0 {
                            leave!();
                            self.call(warp, g, issue, call)?;
                            if executed >= deadline && warp.executed >= end_of_turn {
                                return Ok(());
                            }
                            continue 'choose;
                        }
                    }
                    Op::Ret => {
                        if active != 0 {
                            leave!();
                            self.ret(warp, g, issue);
                            continue 'choose;
                        }
                    }
                    Op::Exit => {
                        if active != 0 {
                            if WATCHED {
                                let at = self.at(issue);
                                self.observer.exited(&at);
                            }
                            pc += 1;
                            leave!();
                            self.changes += 1;
                            warp.exit(g, active);
                            continue 'choose;
                        }
                    }
                    Op::Trap => {
                        if active != 0 {
                            leave!();
                            return Err(self.fault(issue, FaultCode::Trap, "`trap` was executed"));
                        }
                    }
                }
                // The results of warp-level operations are told where the lanes meet.
                if WATCHED && self.interest.results && active != 0 && !matches!(inst.op, Op::Collective(_)) {
                    self.tell_results(&self.at(issue), frame, &activation);
                }
                pc += 1;
                if pc >= stop {
                    leave!();
                    warp.reconverge(g);
                    continue 'choose;
                }
            }
        }
        Ok(())
    }

    /// The group of a warp that runs next, until when, and where to look who else is there if that is decided; none at the end of
    /// the turn.
    #[inline(always)]
    fn next_group(
        &mut self,
        warp: &mut Warp,
        held: &mut Option<Held>,
        end: u64,
    ) -> Option<(usize, u64, Option<u32>)> {
        if WATCHED && let Some((g, until, stop)) = held.take().and_then(|held| held.group) {
            return Some((g, until, Some(stop)));
        }
        if warp.executed >= end {
            return None;
        }
        warp.choose(&mut self.turns).map(|(g, until)| (g, until, None))
    }

    /// Tells the observer that the results of an instruction are there.
    pub fn tell_results(&mut self, at: &At<'_>, frame: Frame, activation: &Activation) {
        if WATCHED && self.interest.results {
            let function = FuncId(activation.function);
            self.observer
                .results(at, &Registers::new(frame, self.cx.constants, activation.place(), function));
        }
    }

    /// Tells the observer what a store has stored.
    fn tell_stored(&mut self, at: &At<'_>, frame: Frame, activation: &Activation) {
        if WATCHED && self.interest.accesses {
            let function = FuncId(activation.function);
            self.observer.stored(at, &Registers::new(frame, self.cx.constants, activation.place(), function));
        }
    }

    /// What has changed so far.
    pub fn progress(&self) -> Progress {
        Progress { own: self.changes + self.looks, others: self.worker.others() }
    }

    pub fn at(&self, issue: Issue<'_>) -> At<'a> {
        let cx: &'a Context<'a> = self.cx;
        cx.at(issue.block.id, issue.warp, issue.pc, issue.mask)
    }

    /// A fault of the first lane.
    #[cold]
    pub fn fault(&self, issue: Issue<'_>, code: FaultCode, message: impl Into<String>) -> Box<Fault> {
        let mut fault = Box::new(Fault::new(code, message));
        locate(&mut fault, self.cx, issue.block.id, issue.warp, issue.mask, issue.pc);
        fault
    }
}

/// True for orderings that a host fence stands for.
pub(in crate::engine) fn is_synchronising(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst)
}
