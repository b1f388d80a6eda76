//! A block of threads: its warps take turns, and meet at barriers (PTX ISA 9.0, 9.7.13.1).

use super::cluster::{ClusterState, Round};
use super::context::Context;
use super::observe::Sync;
use super::op::{Barrier, BarrierKind, Op};
use super::run::{Fallible, Held, Here, Runner, holds, lane32, lanes_of, lanes_where, put};
use super::warp::{State, Warp};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use std::ops::Add;
use std::sync::atomic::Ordering;

/// What a running warp sees of its block.
pub(super) struct BlockContext<'a> {
    /// `%ctaid`
    pub id: [u32; 3],
    /// Number in the cluster.
    pub rank: usize,
    pub cluster: &'a ClusterState,
    /// The block's own shared memory.
    pub shared: &'a Bytes,
    /// Instructions executed by the block before this turn.
    pub clock: u64,
}

/// Instructions a warp executes before the next warp of the block has a turn.
const QUANTUM: u64 = 1 << 14;
/// Instructions before the next turn for a warp whose lanes spin while others of it wait: what they spin for may be another warp's to give.
const SPINNING_QUANTUM: u64 = 1 << 10;

/// The state of one of the sixteen barriers of a block.
#[derive(Clone, Copy, Default)]
struct BarrierState {
    /// Warps that have arrived.
    warps: u32,
    /// Threads that have arrived, whole warps counted.
    threads: u32,
    /// Threads expected, 0 for all of the block.
    count: u32,
    /// True predicates; and threads that gave one.
    yes: u32,
    voters: u32,
}

/// A block in execution. Reused for block after block.
pub(super) struct Block {
    id: [u32; 3],
    rank: usize,
    warps: Vec<Warp>,
    barriers: [BarrierState; 16],
    executed: u64,
}

/// What a finished block has done.
#[derive(Clone, Copy, Default)]
pub(super) struct Done {
    pub warp_instructions: u64,
    pub thread_instructions: u64,
}

impl Add for Done {
    type Output = Done;

    fn add(self, other: Done) -> Done {
        Done {
            warp_instructions: self.warp_instructions + other.warp_instructions,
            thread_instructions: self.thread_instructions + other.thread_instructions,
        }
    }
}

impl Block {
    /// A block of this launch.
    pub fn new(cx: &Context<'_>, rank: usize) -> Block {
        let warps = (0..cx.warps()).map(|_| Warp::new()).collect();
        Block { id: [0; 3], rank, warps, barriers: [BarrierState::default(); 16], executed: 0 }
    }

    /// Makes it the block with this `%ctaid`.
    pub fn start(&mut self, cx: &Context<'_>, id: [u32; 3]) -> Fallible<()> {
        (self.id, self.executed) = (id, 0);
        self.barriers = [BarrierState::default(); 16];
        let kernel = &cx.program.functions[cx.kernel as usize];
        let mut threads = cx.threads();
        for (index, warp) in self.warps.iter_mut().enumerate() {
            if !warp.start(index as u32, threads, (cx.kernel, kernel), cx.fresh) {
                return Err(Box::new(Fault::new(
                    FaultCode::OutOfMemory,
                    "no memory for the local memory of a warp",
                )));
            }
            threads = threads.saturating_sub(32);
        }
        Ok(())
    }

    pub fn warps(&self) -> &[Warp] {
        &self.warps
    }

    pub fn warps_mut(&mut self) -> &mut [Warp] {
        &mut self.warps
    }

    /// Instructions that its warps have executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    pub fn finished(&self) -> bool {
        self.warps.iter().all(Warp::finished)
    }

    pub fn done(&self) -> Done {
        let sum = |f: fn(&Warp) -> u64| self.warps.iter().map(f).sum();
        Done { warp_instructions: sum(|w| w.executed), thread_instructions: sum(|w| w.thread_instructions) }
    }

    /// Gives each warp that can run a turn.
    pub fn round<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        cluster: &ClusterState,
    ) -> Fallible<Round> {
        let mut round = Round::default();
        let count = self.warps.len();
        let held = runner.held;
        let (mut from, mut again) = held.map_or((0, None), |held| (held.from, Some(held.warp as usize)));
        while from < count || again.is_some() {
            let w = match again.take() {
                Some(w) => w,
                None => {
                    let Some(w) = runner.turns.warp(&self.warps, self.rank, from) else { break };
                    from = if runner.turns.in_order() { w } else { from } + 1;
                    w
                }
            };
            round.ran = true;
            self.turn(runner, cluster, w)?;
            if let Some(held) = &mut runner.held {
                held.from = from;
                return Ok(round);
            }
            let in_vain = cluster.yielded.replace(false);
            round.worked |= !in_vain;
            runner.turns.turn_ended(in_vain);
            self.settle(runner, w)?;
            if runner.turns.is_singular() || runner.cx.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(round)
    }

    /// A turn beside the round, for an observer that lets one warp alone go on.
    pub fn turn_of<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        cluster: &ClusterState,
        w: usize,
    ) -> Fallible<()> {
        runner.held =
            Some(Held { warp: w as u32, end: self.warps[w].executed + QUANTUM, group: None, from: 0 });
        self.turn(runner, cluster, w)?;
        cluster.yielded.set(false);
        if runner.held.is_none() { self.settle(runner, w) } else { Ok(()) }
    }

    /// Lets one warp run and charges the limits.
    fn turn<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        cluster: &ClusterState,
        w: usize,
    ) -> Fallible<()> {
        let cx = runner.cx;
        let warp = &mut self.warps[w];
        let context = BlockContext {
            id: self.id,
            rank: self.rank,
            cluster,
            shared: &cluster.members[self.rank].memory,
            clock: self.executed - warp.executed,
        };
        let quantum = match runner.held {
            // The turn goes on.
            Some(_) => 0,
            None => {
                let budget = cx.budget.load(Ordering::Relaxed);
                let quantum = if warp.spins { SPINNING_QUANTUM } else { QUANTUM };
                quantum.min(budget / 32 + 1).min(runner.turns.turn())
            }
        };
        let (executed, threads, spin) = (warp.executed, warp.thread_instructions, warp.spin);
        let result = runner.run_warp(&context, warp, quantum);
        warp.spins &= warp.spin != spin;
        self.executed += warp.executed - executed;
        cluster.clock.set(cluster.clock.get() + warp.executed - executed);
        let used = warp.thread_instructions - threads;
        let spent =
            cx.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |b| Some(b.saturating_sub(used)));
        result?;
        let whole = spent.is_ok_and(|before| before <= used);
        if (whole || self.executed >= cx.limits.block_steps) && !warp.finished() {
            let group = warp.groups.first().copied();
            let mut message = if whole {
                "the launch executed as many thread instructions as its limit allows".to_string()
            } else {
                format!("a block executed {} warp instructions, its limit", cx.limits.block_steps)
            };
            if let Some(why) = cluster.spinning() {
                message = format!("{message}: {why}");
            }
            let mut fault = Fault::new(FaultCode::StepLimit, message);
            if let Some(g) = group {
                locate(&mut fault, cx, self.id, w as u32, g.mask, g.pc);
            }
            return Err(Box::new(fault));
        }
        Ok(())
    }

    /// Looks whether warp `w` has arrived at a barrier, and releases barriers that are complete.
    fn settle<const WATCHED: bool>(&mut self, runner: &mut Runner<'_, WATCHED>, w: usize) -> Fallible<()> {
        let pending = self.warps[w].groups.iter().fold(0u32, |ids, g| match g.state {
            State::Barrier { id, arrived: false } => ids | 1 << id,
            _ => ids,
        });
        for id in lanes_of(pending) {
            self.arrive(runner, w, id)?;
        }
        for id in 0..16 {
            let barrier = self.barriers[id];
            if barrier.threads == 0 {
                continue;
            }
            let complete = match barrier.count {
                0 => self.warps.iter().all(|w| w.finished() || barrier.warps >> w.index & 1 != 0),
                count => barrier.threads >= count,
            };
            if complete {
                self.release(runner, id, barrier);
            }
        }
        Ok(())
    }

    /// Counts a warp in at a barrier, once all its threads that have not exited are there.
    fn arrive<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        w: usize,
        id: usize,
    ) -> Fallible<()> {
        let cx = runner.cx;
        let warp = &mut self.warps[w];
        let waits = State::Barrier { id: id as u8, arrived: false };
        let there = warp.groups.iter().filter(|g| g.state == waits).fold(0, |m, g| m | g.mask);
        if there != warp.alive {
            return Ok(());
        }
        let state = &mut self.barriers[id];
        for i in 0..warp.groups.len() {
            let group = warp.groups[i];
            let Op::Barrier(op) = &cx.program.code[group.pc as usize].op else { continue };
            let activation = *warp.activation(group.frame);
            let frame = warp.file.frame(activation.row, activation.rows, cx.constants);
            let lane = group.mask.trailing_zeros() as usize;
            let count = op.count.map_or(0, |r| lane32(frame, r, lane));
            let problem = if count % 32 != 0 {
                Some(format!("barrier with {count} threads, which is not a multiple of the warp size"))
            } else if count == 0 && op.kind == BarrierKind::Arrive {
                Some("`barrier.arrive` without a number of threads".into())
            } else if state.threads != 0 && state.count != count {
                Some(format!(
                    "barrier {id} is used for {} and for {count} threads at once (0: all)",
                    state.count
                ))
            } else {
                None
            };
            if let Some(message) = problem {
                let mut fault = Fault::new(FaultCode::BadBarrier, message);
                locate(&mut fault, cx, self.id, w as u32, group.mask, group.pc);
                return Err(Box::new(fault));
            }
            state.count = count;
            if WATCHED {
                let at = cx.at(self.id, w as u32, group.pc, group.mask);
                runner.observer.synchronise(&at, Sync::Arrive(id as u32));
            }
            if let Some(src) = op.src {
                state.yes += (holds(frame, src) & group.mask).count_ones();
                state.voters += group.mask.count_ones();
            }
            let group = &mut warp.groups[i];
            if op.kind == BarrierKind::Arrive {
                (group.state, group.pc) = (State::Ready, group.pc + 1);
            } else {
                group.state = State::Barrier { id: id as u8, arrived: true };
            }
        }
        state.warps |= 1 << w;
        state.threads += 32;
        Ok(())
    }

    /// Lets the threads that wait at a barrier go on.
    fn release<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        id: usize,
        state: BarrierState,
    ) {
        let cx = runner.cx;
        self.barriers[id] = BarrierState::default();
        if WATCHED {
            let at = cx.at(self.id, 0, 0, 0);
            runner.observer.synchronise(&at, Sync::Complete(id as u32));
        }
        for warp in &mut self.warps {
            let mut released = 0;
            for i in 0..warp.groups.len() {
                let group = warp.groups[i];
                if group.state != (State::Barrier { id: id as u8, arrived: true }) {
                    continue;
                }
                if let Op::Barrier(op) = &cx.program.code[group.pc as usize].op
                    && let Some(dst) = op.dst
                {
                    let activation = *warp.activation(group.frame);
                    let frame = warp.file.frame(activation.row, activation.rows, cx.constants);
                    let value = match op.kind {
                        BarrierKind::Popc => state.yes,
                        BarrierKind::And => u32::from(state.yes == state.voters),
                        BarrierKind::Or => u32::from(state.yes != 0),
                        BarrierKind::Sync | BarrierKind::Arrive => 0,
                    };
                    put(frame, dst, group.mask, &[u64::from(value); 32]);
                    let at = cx.at(self.id, warp.index, group.pc, group.mask);
                    runner.tell_results(&at, frame, &activation);
                }
                if WATCHED {
                    let at = cx.at(self.id, warp.index, group.pc, group.mask);
                    runner.observer.synchronise(&at, Sync::Leave(id as u32));
                }
                let group = &mut warp.groups[i];
                (group.state, group.pc) = (State::Ready, group.pc + 1);
                released += 1;
            }
            warp.reunite(released);
        }
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Lets lanes wait at the barriers they name.
    pub fn reach_barrier(
        &mut self,
        block: &BlockContext<'_>,
        warp: &mut Warp,
        g: usize,
        here: Here,
        op: &Barrier,
    ) -> Fallible<()> {
        let skipped = warp.groups[g].mask & !here.mask;
        if skipped != 0 {
            warp.split(g, skipped, here.pc + 1, State::Ready);
        }
        let mut rest = here.mask;
        while rest != 0 {
            let id = lane32(here.frame, op.id, rest.trailing_zeros() as usize);
            let same = lanes_where(rest, |i| lane32(here.frame, op.id, i) == id);
            if id > 15 {
                let here = Here { mask: same, ..here };
                let message = format!("barrier {id}, and there are only barriers 0 to 15");
                return Err(self.fault(block, warp, here, FaultCode::BadBarrier, message));
            }
            rest &= !same;
            let state = State::Barrier { id: id as u8, arrived: false };
            if rest == 0 {
                warp.groups[g].state = state;
            } else {
                warp.split(g, same, here.pc, state);
            }
        }
        Ok(())
    }
}

/// Fills in where a fault happened.
pub(super) fn locate(fault: &mut Fault, cx: &Context<'_>, block: [u32; 3], warp: u32, mask: u32, pc: u32) {
    let line = cx.program.line(pc);
    fault.ptx_line = (line != 0).then_some(line);
    fault.block = Some(block);
    fault.thread = Some(cx.thread_id(warp * 32 + mask.trailing_zeros().min(31)));
}
