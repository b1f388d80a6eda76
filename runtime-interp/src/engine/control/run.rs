//! The main loop: a warp executes instructions until all its lanes wait, have exited, or its turn is over.

use super::region::{Coming, Loads};
use crate::device::NativeCode;
use crate::engine::block::BlockContext;
use crate::engine::context::Context;
use crate::engine::file::Frame;
use crate::engine::lanes::Level;
use crate::engine::matrix::Room;
use crate::engine::native::{Fast, PERIOD};
use crate::engine::observe::{Interest, Observer, Registers, Tally};
use crate::engine::op::{FuncId, Inst, Op, Order};
use crate::engine::region_state::Window;
use crate::engine::schedule::Turns;
use crate::engine::standstill::Worker;
use crate::engine::trial::Trial;
use crate::engine::values::opaque;
use crate::engine::warp::{Activation, State, Warp};
use crate::fault::Fault;
use std::sync::Arc;
use std::time::Instant;

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
    /// How often each operation was executed, if the observer asks for it.
    pub tally: Tally,
    /// A turn that an observer has stopped, from then until it goes on.
    pub held: Option<Held>,
    /// Stands for the memory of an access at fault that an observer lets pass. Large enough for any access of one thread.
    pub sink: [u128; 16],
    /// What the lanes load of which not all exists.
    pub parts: Vec<[u128; 2]>,
    /// Where matrices are multiplied, once one has been.
    pub room: Option<Box<Room>>,
    /// The code with machine code in it, and of which version it is.
    pub fast: Option<Arc<Fast>>,
    pub fast_version: u32,
    /// What of it is on trial, if this host thread sees to that; and past the highest region that was executed in this turn.
    pub trial: Option<Box<Trial>>,
    pub newest: u32,
    /// No other host thread works for the launch.
    pub alone: bool,
    /// Jumps back and turns until it is asked whether something is hot.
    pub cool: u32,
    /// What machine code loads waits here.
    pub loads: Option<Box<Loads>>,
    /// Where its accesses have found global memory, by the numbers that regions have for them.
    pub windows: Vec<Window>,
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

/// The levels as constants, by which the loop and its parts are compiled.
pub(in crate::engine) const BASELINE: usize = Level::Baseline as usize;
pub(in crate::engine) const AVX2: usize = Level::Avx2 as usize;
pub(in crate::engine) const AVX512: usize = Level::Avx512 as usize;

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
    /// It is in another function. Choose one if there is time left.
    Call,
    /// The system was asked for something, which may have taken its time. Choose one if there is time left.
    System,
}

impl<'a, const WATCHED: bool> Runner<'a, WATCHED> {
    /// Runs a warp for about `quantum` instructions.
    pub fn run_warp(&mut self, block: &BlockContext<'_>, warp: &mut Warp, quantum: u64) -> Fallible<()> {
        // What is watched shows every operation, and a schedule may end turns before any.
        let native = self.cx.program.native.as_ref().filter(|_| !WATCHED && !self.turns.preempts());
        let mut fast = None;
        if let Some(native) = native.filter(|_| self.cx.machine.native != NativeCode::Off) {
            if self.fast_version != native.version() {
                if let Some(trial) = self.trial.take() {
                    native.put_back(trial);
                }
                let (version, code, trial) = native.current();
                (self.fast_version, self.fast, self.trial) = (version, Some(code), trial);
            }
            fast = self.fast.take();
            self.cool -= 1;
            if self.cool == 0 {
                self.sample(warp.groups.first().map_or(0, |group| group.pc));
            }
        }
        let result = if fast.is_some()
            && let Some(trial) = self.trial.take()
        {
            self.run_on_trial(block, warp, quantum, trial)
        } else {
            self.run_warp_by_level(block, warp, quantum, fast.as_deref())
        };
        self.fast = fast;
        result
    }

    /// Runs a warp with the code on trial or without it, and times it.
    #[cold]
    #[inline(never)]
    fn run_on_trial(
        &mut self,
        block: &BlockContext<'_>,
        warp: &mut Warp,
        quantum: u64,
        mut trial: Box<Trial>,
    ) -> Fallible<()> {
        let (with, code) = trial.next();
        let (place, executed) = (warp.groups.first().map_or(0, |group| group.pc), warp.executed);
        self.newest = 0;
        let begin = Instant::now();
        let result = self.run_warp_by_level(block, warp, quantum, Some(&code));
        let took = begin.elapsed();
        // A turn that has not come to it says nothing of the code.
        let over = if with && self.newest <= trial.first {
            trial.pass()
        } else {
            trial.note(place, with, warp.executed - executed, took)
        };
        match self.cx.program.native.as_ref() {
            Some(native) if over => native.decide(&trial),
            _ => self.trial = Some(trial),
        }
        result
    }

    /// Something at this place may be hot.
    #[cold]
    #[inline(never)]
    fn sample(&mut self, pc: u32) {
        self.cool = PERIOD;
        let auto = self.cx.machine.native == NativeCode::Auto && !self.turns.preempts();
        if let Some(native) = self.cx.program.native.as_ref().filter(|_| !WATCHED && auto) {
            native.sample(self.cx.program, pc);
        }
    }

    #[inline(always)]
    fn run_warp_by_level(
        &mut self,
        block: &BlockContext<'_>,
        warp: &mut Warp,
        quantum: u64,
        fast: Option<&Fast>,
    ) -> Fallible<()> {
        match self.level {
            // SAFETY: the host has the level.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if !WATCHED => unsafe { self.run_warp_avx512(block, warp, quantum, fast) },
            // A watched loop gains nothing from the wider registers, and to compile one more costs as much as a small crate. What its lanes
            // compute has the host's own level all the same.
            // SAFETY: as above; a higher level has all of a lower one.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Avx2 => unsafe { self.run_warp_avx2(block, warp, quantum, fast) },
            _ => self.run_warp_here::<BASELINE>(block, warp, quantum, fast),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_warp_avx2(
        &mut self,
        block: &BlockContext<'_>,
        warp: &mut Warp,
        quantum: u64,
        fast: Option<&Fast>,
    ) -> Fallible<()> {
        self.run_warp_here::<AVX2>(block, warp, quantum, fast)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_warp_avx512(
        &mut self,
        block: &BlockContext<'_>,
        warp: &mut Warp,
        quantum: u64,
        fast: Option<&Fast>,
    ) -> Fallible<()> {
        self.run_warp_here::<AVX512>(block, warp, quantum, fast)
    }

    #[inline(always)]
    fn run_warp_here<const LEVEL: usize>(
        &mut self,
        block: &BlockContext<'_>,
        warp: &mut Warp,
        quantum: u64,
        fast: Option<&Fast>,
    ) -> Fallible<()> {
        let fast = if WATCHED { None } else { fast.filter(|fast| !fast.code.is_empty()) };
        let code: &[Inst] = fast.map_or(&self.cx.program.code, |fast| &fast.code);
        let level = if WATCHED { self.level } else { Level::ALL[LEVEL] };
        let interest = if WATCHED { self.interest } else { Interest::RARE };
        let stops = interest.stops;
        // One question for what is asked at each instruction: most observers ask for none of it.
        let each = stops || interest.instructions || interest.results || interest.counts;
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

            // What an observer sees. Made once, and not for each instruction: it would be half of the price of being watched.
            let function = FuncId(activation.function);
            let registers = Registers::new(frame, self.cx.constants, activation.place(), function);
            let mut at = self.cx.at(block.id, warp.index, pc, mask);
            macro_rules! at {
                ($mask:expr) => {{
                    let mask: u32 = $mask;
                    (at.pc, at.mask, at.group, at.retried) = (pc, mask, mask, 0);
                    &at
                }};
            }

            // Leaves the inner loop with the group at `pc`.
            macro_rules! leave {
                () => {{
                    warp.thread_instructions += (executed - warp.executed) * lanes;
                    warp.executed = executed;
                    warp.groups[g].pc = pc;
                }};
            }
            // The instruction as it is issued to some lanes. Made only where it is used: arithmetic has no need of it, and half of
            // its time would go into filling it.
            macro_rules! issue {
                ($mask:expr) => {
                    Issue { block, warp: warp.index, frame, pc, mask: $mask, stack, stack_end }
                };
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
                let active = opaque(mask & guard);
                if WATCHED && each {
                    if stops && self.observer.breaks(at!(mask), executed) {
                        leave!();
                        warp.groups[g].waited = retried;
                        let group = Some((g, until, stop));
                        self.held = Some(Held { warp: warp.index, end: end_of_turn, group, from: 0 });
                        return Ok(());
                    }
                    if interest.counts {
                        self.tally.count(pc, active, mask, retried);
                    }
                    if interest.instructions {
                        (at.pc, at.mask, at.group, at.retried) = (pc, active, mask, retried);
                        self.observer.instruction(&at, &registers);
                    }
                    if stops && retried != 0 {
                        warp.uncount(inst, retried);
                    }
                    retried = 0;
                }
                executed += u64::from(inst.count);
                match &inst.op {
                    Op::Lanes(f, operands) => {
                        if active != 0 {
                            // SAFETY: the operands were checked when the program was built, and the host has the runner's level.
                            unsafe { f.run(level, frame, operands, wide & guard) }
                        }
                    }
                    Op::Region(entry) => {
                        let Some(fast) = fast else { unreachable!("only fast code has regions") };
                        leave!();
                        let coming = Coming { entry: *entry, wide, stop, deadline, end_of_turn, until };
                        let after = self.region::<LEVEL>(warp, g, issue!(mask), fast, coming)?;
                        let Some((at, choose)) = after.place() else { continue 'choose };
                        pc = at;
                        executed = warp.executed;
                        if choose || pc >= stop {
                            leave!();
                            warp.reconverge(g);
                            continue 'choose;
                        }
                        continue;
                    }
                    Op::Load(access, dst) => {
                        if active != 0 {
                            let dst = std::slice::from_ref(dst);
                            try_or_leave!(self.load::<LEVEL>(warp, issue!(active), access, dst));
                        }
                    }
                    Op::Store(access, src) => {
                        if active != 0 {
                            let src = std::slice::from_ref(src);
                            try_or_leave!(self.store::<LEVEL>(warp, issue!(active), access, src));
                            if interest.accesses {
                                self.observer.stored(at!(active), &registers);
                            }
                        }
                    }
                    Op::LoadVector(access, list) => {
                        if active != 0 {
                            let dst = list.of(&self.cx.program.lists);
                            try_or_leave!(self.load_vector::<LEVEL>(warp, issue!(active), access, dst));
                        }
                    }
                    Op::StoreVector(access, list) => {
                        if active != 0 {
                            let src = list.of(&self.cx.program.lists);
                            try_or_leave!(self.store_vector::<LEVEL>(warp, issue!(active), access, src));
                            if interest.accesses {
                                self.observer.stored(at!(active), &registers);
                            }
                        }
                    }
                    Op::Branch(target) => {
                        if interest.branches {
                            self.observer.branch(at!(mask), active);
                        }
                        if active == mask {
                            let backward = *target <= pc;
                            pc = *target;
                            if backward {
                                if !WATCHED {
                                    self.cool -= 1;
                                    if self.cool == 0 {
                                        self.sample(pc);
                                    }
                                }
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
                    Op::Nop => {}
                    op @ (Op::Special(..)
                    | Op::ActiveMask(_)
                    | Op::StackAddress { .. }
                    | Op::Atomic(_)
                    | Op::Fence(_)
                    | Op::Collective(_)
                    | Op::Barrier(_)
                    | Op::System(_)
                    | Op::Stack(_)
                    | Op::Yield
                    | Op::Async(_)
                    | Op::Matrix(_)
                    | Op::Texture(_)
                    | Op::Switch { .. }
                    | Op::Call(_)
                    | Op::Ret
                    | Op::Exit
                    | Op::Trap) => {
                        leave!();
                        match self.step(warp, g, issue!(active), &activation, op)? {
                            Next::Advance => {}
                            Next::Choose => continue 'choose,
                            Next::Yield => return Ok(()),
                            Next::Call => {
                                if executed >= deadline && warp.executed >= end_of_turn {
                                    return Ok(());
                                }
                                continue 'choose;
                            }
                            Next::System => {
                                // What the call did beyond an instruction counts for the turn too.
                                if warp.executed + (warp.extra - warp.patience.extra) >= end_of_turn {
                                    return Ok(());
                                }
                                continue 'choose;
                            }
                        }
                    }
                }
                // The results of warp-level operations are observed where the lanes meet.
                if WATCHED && each && interest.results && active != 0 && !matches!(inst.op, Op::Collective(_))
                {
                    self.observer.results(at!(active), &registers);
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
        let chosen = warp.choose(&mut self.turns);
        if let (Some((g, _)), Some(stamp)) = (chosen, warp.chosen_before.take()) {
            warp.groups[g].stamp = stamp;
        }
        chosen.map(|(g, until)| (g, until, None))
    }
}

/// True for orderings that a host fence denotes.
pub(in crate::engine) fn is_synchronising(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst)
}
