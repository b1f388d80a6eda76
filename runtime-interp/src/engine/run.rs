//! The main loop: a warp executes instructions until all its lanes wait, have exited, or its turn is over.

use super::block::BlockContext;
use super::context::Context;
use super::file::Frame;
use super::lanes::{Lane, Level};
use super::observe::{At, Crossing, Interest, Observer, Registers, Sync};
use super::op::{Call, Callee, FuncId, Guard, Inst, Move, Op, Order};
use super::reg::{Reg, Width};
use super::schedule::Turns;
use super::warp::{Activation, State, Warp};
use crate::fault::{Fault, FaultCode};
use crate::memory::window;
use std::sync::atomic::{Ordering, fence};
use warpsmith_isa::StateSpace;

/// Executes warps, watched by an observer or not. One per host thread and launch.
pub(super) struct Runner<'a, const WATCHED: bool> {
    pub cx: &'a Context<'a>,
    /// Called only where `WATCHED` says so: the loop is compiled twice, with the calls and without.
    pub observer: &'a mut (dyn Observer + 'a),
    pub turns: Turns,
    /// The allocation that was accessed last, by a hash of the instruction.
    pub last_hit: [u32; 16],
    pub level: Level,
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
pub(super) struct Held {
    pub warp: u32,
    /// The number of executed instructions at which the turn ends.
    pub end: u64,
    /// The running group, when another is chosen, and the place in the program where to look who else is there.
    pub group: Option<(usize, u64, u32)>,
    /// The place in the round of the block's warps.
    pub from: usize,
}

pub(super) type Fallible<T> = Result<T, Box<Fault>>;

/// The registers of the running activation and what else an operation on them needs.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub frame: Frame,
    pub pc: u32,
    /// The lanes that execute the instruction.
    pub mask: u32,
    /// The part of local memory of the running activation.
    pub stack: u32,
    pub stack_end: u32,
}

/// What becomes of the group after an operation that may rearrange the groups.
pub(super) enum Next {
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
            let activation = *warp.activation(warp.groups[g].frame);
            let frame = warp.file.frame(activation.row, activation.rows, self.cx.constants);
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
                if stops && self.observer.breaks(&self.at(block, warp, pc, mask), executed) {
                    leave!();
                    let group = Some((g, until, stop));
                    self.held = Some(Held { warp: warp.index, end: end_of_turn, group, from: 0 });
                    return Ok(());
                }
                executed += 1;
                if WATCHED && self.interest.instructions {
                    let at = At { group: mask, ..self.at(block, warp, pc, active) };
                    let registers = Registers::new(
                        frame,
                        self.cx.constants,
                        activation.place(),
                        FuncId(activation.function),
                    );
                    self.observer.instruction(&at, &registers);
                }
                let here = Here { frame, pc, mask: active, stack, stack_end };
                match &inst.op {
                    Op::Lanes(f, operands) => {
                        if active != 0 {
                            // SAFETY: the operands were checked when the program was built, and the host has the runner's level.
                            unsafe { f.run(level, frame, operands, wide & guard) }
                        }
                    }
                    Op::Load(access, dst) => {
                        if active != 0 {
                            try_or_leave!(self.load(block, warp, here, access, std::slice::from_ref(dst)));
                        }
                    }
                    Op::Store(access, src) => {
                        if active != 0 {
                            try_or_leave!(self.store(block, warp, here, access, std::slice::from_ref(src)));
                            self.tell_stored(&self.at(block, warp, pc, active), frame, &activation);
                        }
                    }
                    Op::LoadVector(access, list) => {
                        if active != 0 {
                            let dst = list.of(&self.cx.program.lists);
                            try_or_leave!(self.load(block, warp, here, access, dst));
                        }
                    }
                    Op::StoreVector(access, list) => {
                        if active != 0 {
                            let src = list.of(&self.cx.program.lists);
                            try_or_leave!(self.store(block, warp, here, access, src));
                            self.tell_stored(&self.at(block, warp, pc, active), frame, &activation);
                        }
                    }
                    Op::Branch(target) => {
                        if WATCHED && self.interest.instructions {
                            let at = self.at(block, warp, pc, mask);
                            self.observer.branch(&at, active);
                        }
                        if active == mask {
                            let backward = *target <= pc;
                            pc = *target;
                            if backward {
                                warp.spin += if alone { 0 } else { warp.haste };
                                if executed >= deadline || warp.spin >= super::warp::SPIN_LIMIT {
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
                    Op::Special(dst, special) => self.special(block, warp, here, executed, *dst, *special),
                    Op::ActiveMask(dst) => put(frame, *dst, active, &[u64::from(active); 32]),
                    Op::StackAddress { dst, offset, generic } => {
                        let base = if *generic { window::base(StateSpace::Local).unwrap_or(0) } else { 0 };
                        let address = base.wrapping_add(u64::from(stack)).wrapping_add_signed(*offset);
                        put(frame, *dst, active, &[address; 32]);
                    }
                    Op::Atomic(atomic) => {
                        if active != 0 {
                            warp.haste = super::warp::HASTE;
                            try_or_leave!(self.atomic(block, warp, here, atomic));
                        }
                    }
                    Op::Fence(f) => {
                        if active != 0 {
                            fence(Ordering::SeqCst);
                            if WATCHED {
                                let at = self.at(block, warp, pc, active);
                                self.observer.synchronise(&at, Sync::Fence(*f));
                            }
                        }
                    }
                    Op::Collective(collective) => {
                        leave!();
                        match self.collective(block, warp, g, here, collective)? {
                            Next::Choose => continue 'choose,
                            Next::Advance | Next::Yield => {}
                        }
                    }
                    Op::Barrier(barrier) => {
                        if active != 0 {
                            leave!();
                            self.reach_barrier(block, warp, g, here, barrier)?;
                            continue 'choose;
                        }
                    }
                    Op::System(system) => {
                        if active != 0 {
                            pc += 1;
                            leave!();
                            // A fault is told of the call, not of what stands for the function.
                            let here = Here { pc: activation.call, ..here };
                            self.system(block, warp, here, system)?;
                            let at = self.at(block, warp, pc - 1, active);
                            self.tell_results(&at, frame, &activation);
                            warp.reconverge(g);
                            continue 'choose;
                        }
                    }
                    Op::Stack(op) => {
                        if active != 0 {
                            leave!();
                            self.stack(block, warp, here, op)?;
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
                            match self.asynchronous(block, warp, g, here, op)? {
                                Next::Advance => {}
                                Next::Choose => continue 'choose,
                                Next::Yield => {
                                    let at = self.at(block, warp, pc, active);
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
                            self.switch(block, warp, g, here, *index, targets.of(&self.cx.program.targets))?;
                            continue 'choose;
                        }
                    }
                    Op::Call(call) => {
                        if active != 0 {
                            leave!();
                            self.call(block, warp, g, here, call)?;
                            if executed >= deadline && warp.executed >= end_of_turn {
                                return Ok(());
                            }
                            continue 'choose;
                        }
                    }
                    Op::Ret => {
                        if active != 0 {
                            leave!();
                            self.ret(block, warp, g, here);
                            continue 'choose;
                        }
                    }
                    Op::Exit => {
                        if active != 0 {
                            if WATCHED {
                                let at = self.at(block, warp, pc, active);
                                self.observer.exited(&at);
                            }
                            pc += 1;
                            leave!();
                            warp.exit(g, active);
                            continue 'choose;
                        }
                    }
                    Op::Trap => {
                        if active != 0 {
                            leave!();
                            return Err(self.fault(
                                block,
                                warp,
                                here,
                                FaultCode::Trap,
                                "`trap` was executed",
                            ));
                        }
                    }
                }
                // The results of warp-level operations are told where the lanes meet.
                if WATCHED && self.interest.results && active != 0 && !matches!(inst.op, Op::Collective(_)) {
                    self.tell_results(&self.at(block, warp, pc, active), frame, &activation);
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

    /// Jumps through a table, to as many places as the lanes' indices name.
    fn switch(
        &mut self,
        block: &BlockContext<'_>,
        warp: &mut Warp,
        g: usize,
        here: Here,
        index: Reg,
        targets: &[u32],
    ) -> Fallible<()> {
        let mut rest = here.mask;
        let skipped = warp.groups[g].mask & !here.mask;
        if skipped != 0 {
            warp.split(g, skipped, here.pc + 1, State::Ready);
        }
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let value = lane32(here.frame, index, lane);
            let same = lanes_where(rest, |i| lane32(here.frame, index, i) == value);
            let Some(&target) = targets.get(value as usize) else {
                let message = format!("`brx.idx` with index {value} into a table of {}", targets.len());
                return Err(self.fault(
                    block,
                    warp,
                    Here { mask: same, ..here },
                    FaultCode::BadTarget,
                    message,
                ));
            };
            if WATCHED && self.interest.instructions {
                let at = At { group: here.mask, ..self.at(block, warp, here.pc, same) };
                self.observer.switched(&at, value);
            }
            rest &= !same;
            if rest == 0 {
                warp.groups[g].pc = target;
            } else {
                warp.split(g, same, target, State::Ready);
            }
            warp.spin += if target <= here.pc { warp.haste } else { 0 };
        }
        // Lanes may have jumped to where others already are.
        let mut g = 0;
        while g < warp.groups.len() {
            g = warp.reconverge(g) + 1;
        }
        Ok(())
    }

    /// Enters a function with the lanes of `here`. Lanes that call another function do so in a later choice.
    fn call(
        &mut self,
        block: &BlockContext<'_>,
        warp: &mut Warp,
        g: usize,
        here: Here,
        call: &Call,
    ) -> Fallible<()> {
        let (callee, lanes) = match &call.callee {
            Callee::Direct(f) => (f.0, here.mask),
            Callee::Indirect(r, candidates) => {
                let first = here.mask.trailing_zeros() as usize;
                let address = lane64(here.frame, *r, first);
                let same = lanes_where(here.mask, |i| lane64(here.frame, *r, i) == address);
                let function = window::function_at(address).filter(|f| candidates.iter().any(|c| c.0 == *f));
                let Some(function) = function else {
                    let named = window::function_at(address);
                    let named = named.and_then(|f| self.cx.program.functions.get(f as usize));
                    let message = match named {
                        Some(f) if !f.defined => format!(
                            "indirect call of `{}`, which this module does not define and the system does not provide",
                            f.name
                        ),
                        Some(f) => {
                            format!("indirect call of `{}`, which is none of the call's targets", f.name)
                        }
                        None => format!("indirect call of {address:#x}, which is none of the call's targets"),
                    };
                    return Err(self.fault(block, warp, here, FaultCode::BadTarget, message));
                };
                (function, same)
            }
        };
        let (skipped, later) = (warp.groups[g].mask & !here.mask, here.mask & !lanes);
        if skipped != 0 {
            warp.split(g, skipped, here.pc + 1, State::Ready);
        }
        if later != 0 {
            warp.split(g, later, here.pc, State::Ready);
        }
        let function = &self.cx.program.functions[callee as usize];
        let caller_id = warp.groups[g].frame;
        let caller = *warp.activation(caller_id);
        let (row, stack) = (warp.free_row(&caller, callee, function.rows), caller.stack_end);
        let stack_end = stack + function.stack;
        let all_rows = caller.all_rows + function.rows;
        // Registers count as stack: that bounds the recursion of functions without local memory too.
        let per_thread = u64::from(stack_end) + 4 * u64::from(all_rows) + 16 * u64::from(caller.depth);
        if per_thread > self.cx.limits.stack {
            let message = format!(
                "call of `{}` at depth {} needs more than the {} bytes of stack a thread has",
                function.name,
                caller.depth + 1,
                self.cx.limits.stack
            );
            return Err(self.fault(block, warp, here, FaultCode::StackOverflow, message));
        }
        warp.file.reserve(row, function.rows);
        if !warp.local.reserve(stack_end) {
            return Err(self.fault(
                block,
                warp,
                here,
                FaultCode::OutOfMemory,
                "no memory for local variables",
            ));
        }
        let activation = Activation {
            parent: caller_id,
            function: callee,
            call: here.pc,
            depth: caller.depth + 1,
            row,
            rows: function.rows,
            all_rows,
            stack,
            stack_end,
            users: 1,
        };
        let id = warp.enter(activation);
        let activation = *warp.activation(id);
        (warp.groups[g].frame, warp.groups[g].pc) = (id, function.entry);
        if let Some(top) = function.saved_top {
            let frame = warp.file.frame(activation.row, function.rows, self.cx.constants);
            put(frame, top, lanes, &warp.tops.map(u64::from));
        }
        if self.cx.fresh != 0 {
            lanes_of(lanes).for_each(|lane| warp.local.renew(lane, activation.stack..activation.stack_end));
        }
        transfer(warp, self.cx.constants, &caller, &activation, &call.args, lanes);
        self.cross(block, warp, [&caller, &activation], &call.args, Here { mask: lanes, ..here });
        warp.reconverge(g);
        Ok(())
    }

    fn ret(&mut self, block: &BlockContext<'_>, warp: &mut Warp, g: usize, here: Here) {
        let skipped = warp.groups[g].mask & !here.mask;
        if skipped != 0 {
            warp.split(g, skipped, here.pc + 1, State::Ready);
        }
        let id = warp.groups[g].frame;
        let callee = *warp.activation(id);
        if let Some(Inst { op: Op::Call(call), .. }) = self.cx.program.code.get(callee.call as usize) {
            let caller = *warp.activation(callee.parent);
            if let Some(top) = self.cx.program.functions[callee.function as usize].saved_top {
                for lane in lanes_of(here.mask) {
                    warp.tops[lane] = lane32(here.frame, top, lane);
                }
            }
            transfer(warp, self.cx.constants, &callee, &caller, &call.results, here.mask);
            self.cross(block, warp, [&callee, &caller], &call.results, Here { pc: callee.call, ..here });
            warp.retain(callee.parent);
            warp.groups[g].frame = callee.parent;
            warp.groups[g].pc = callee.call + 1;
            warp.release(id);
            warp.reconverge(g);
        } else {
            // A device function that was started as a kernel does not exist; `ret` in a kernel is `exit`.
            if WATCHED {
                let at = self.at(block, warp, here.pc, here.mask);
                self.observer.exited(&at);
            }
            warp.exit(g, here.mask);
        }
    }

    /// Tells the observer of a call or return. `here` is the call.
    fn cross(
        &mut self,
        block: &BlockContext<'_>,
        warp: &Warp,
        [from, to]: [&Activation; 2],
        moves: &[Move],
        here: Here,
    ) {
        if WATCHED {
            let returns = from.depth > to.depth;
            let function = FuncId(if returns { from.function } else { to.function });
            let crossing =
                Crossing { function, returns, depth: to.depth, from: from.place(), to: to.place(), moves };
            let at = self.at(block, warp, here.pc, here.mask);
            self.observer.crossed(&at, &crossing);
        }
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

    pub fn at(&self, block: &BlockContext<'_>, warp: &Warp, pc: u32, mask: u32) -> At<'a> {
        let cx: &'a Context<'a> = self.cx;
        cx.at(block.id, warp.index, pc, mask)
    }

    /// A fault of the first lane of `here`.
    #[cold]
    pub fn fault(
        &self,
        block: &BlockContext<'_>,
        warp: &Warp,
        here: Here,
        code: FaultCode,
        message: impl Into<String>,
    ) -> Box<Fault> {
        let lane = here.mask.trailing_zeros().min(31);
        let line = self.cx.program.line(here.pc);
        Box::new(Fault {
            code,
            message: message.into(),
            ptx_line: (line != 0).then_some(line),
            block: Some(block.id),
            thread: Some(self.cx.thread_id(warp.index * 32 + lane)),
            address: None,
        })
    }
}

/// Copies arguments or results between two activations.
fn transfer(
    warp: &mut Warp,
    constants: &[super::file::Cell],
    from: &Activation,
    to: &Activation,
    moves: &[Move],
    lanes: u32,
) {
    let source = warp.file.frame(from.row, from.rows, constants);
    let target = warp.file.frame(to.row, to.rows, constants);
    for m in moves {
        match *m {
            Move::Reg { from, to } => copy(source, from, target, to, lanes),
            Move::Stack { from: a, to: b, bytes } => {
                for lane in lanes_of(lanes) {
                    warp.local.copy(lane, from.stack + a, to.stack + b, bytes);
                }
            }
        }
    }
}

fn copy(source: Frame, from: Reg, target: Frame, to: Reg, lanes: u32) {
    // SAFETY: the registers of a call were checked against both functions when the program was built.
    unsafe {
        match to.width() {
            Width::Pred => target.set_pred(to, source.pred(from), lanes),
            Width::W32 => u32::set(target, to, lanes, &(*source.row::<u32>(from)).0),
            Width::W64 => u64::set(target, to, lanes, &(*source.row::<u64>(from)).0),
            Width::W128 => u128::set(target, to, lanes, &(*source.row::<u128>(from)).0),
        }
    }
}

/// The numbers of the lanes in a mask.
pub(super) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The lanes of `mask` in which `f` holds.
pub(super) fn lanes_where(mask: u32, f: impl Fn(usize) -> bool) -> u32 {
    lanes_of(mask).filter(|&i| f(i)).fold(0, |m, i| m | 1 << i)
}

/// One lane of a register of up to 64 bits.
pub(super) fn lane64(frame: Frame, r: Reg, lane: usize) -> u64 {
    // SAFETY: registers of operations were checked when the program was built.
    unsafe {
        match r.width() {
            Width::Pred => u64::from(frame.pred(r) >> lane & 1),
            Width::W32 => u64::from(u32::get(frame, r, lane)),
            Width::W64 => u64::get(frame, r, lane),
            Width::W128 => u128::get(frame, r, lane) as u64,
        }
    }
}

/// One lane of a 32-bit register.
pub(super) fn lane32(frame: Frame, r: Reg, lane: usize) -> u32 {
    lane64(frame, r, lane) as u32
}

/// The lanes in which a predicate and its negation flag say yes.
pub(super) fn holds(frame: Frame, guard: Guard) -> u32 {
    // SAFETY: predicates of operations were checked when the program was built.
    let value = unsafe { frame.pred(guard.pred) };
    if guard.negated { !value } else { value }
}

/// Writes values to a register, cut or zero-extended to its width; to a predicate, whether they are not zero.
#[inline]
pub(super) fn put(frame: Frame, r: Reg, mask: u32, values: &[u64; 32]) {
    // SAFETY: destinations of operations were checked when the program was built.
    unsafe {
        match r.width() {
            Width::Pred => bool::set(frame, r, mask, &values.map(|v| v != 0)),
            Width::W32 => u32::set(frame, r, mask, &values.map(|v| v as u32)),
            Width::W64 => u64::set(frame, r, mask, values),
            Width::W128 => u128::set(frame, r, mask, &values.map(u128::from)),
        }
    }
}

/// True for orderings that a host fence stands for.
pub(super) fn is_synchronising(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst)
}
