//! A cluster of blocks: they are resident together, reach each other's shared memory, and meet at the cluster's barrier.
//!
//! A cluster runs on one host thread. A launch without clusters has clusters of one block.

mod standstill;
mod state;

pub(in crate::engine) use state::{ClusterState, Member};

use crate::engine::async_op::AsyncOp;
use crate::engine::block::{Block, Done};
use crate::engine::context::Context;
use crate::engine::observe::{BlockView, Sync, TensorHazard, View};
use crate::engine::op::Op;
use crate::engine::run::{Fallible, Runner};
use crate::engine::standstill::Progress;
use crate::engine::values::put;
use crate::engine::warp::{State, Warp};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

/// Instructions a cluster executes before another of the same host thread has a turn: milliseconds, so that blocks which wait for each other get
/// on, and changing costs nothing beside them.
pub(in crate::engine) const SLICE: u64 = 1 << 17;
/// Slices without a change after which a cluster that reads memory is suspected to wait.
const QUIET_SLICES: u32 = 4;
/// Rounds in which all threads only ask whether something has happened, before another cluster has a turn.
const IDLE_ROUNDS: u32 = 64;
/// How often all threads of a cluster may find that waiting was in vain, with nothing under way that could change that, before
/// it is called a deadlock.
const VAIN_ROUNDS: u32 = 10_000;

/// A cluster in execution. Reused for cluster after cluster.
pub(in crate::engine) struct Cluster {
    pub blocks: Vec<Block>,
    pub state: ClusterState,
    /// In the grid.
    pub number: u64,
    /// None of its threads can get on before something changes.
    pub still: Option<Progress>,
    /// In how many of its last slices it only read: it may be waiting in a way that looks like work (until a time, or for so many tries).
    quiet: u32,
    /// It has waited so before, or those before it do: its slices are short, and it is suspected at once.
    pub suspect: bool,
}

/// What came of a round of turns.
#[derive(Clone, Copy, Default)]
pub(in crate::engine) struct Round {
    /// Some thread could run.
    pub ran: bool,
    /// Some thread did more than ask.
    pub worked: bool,
}

impl Cluster {
    /// The memory of a cluster of this launch.
    pub fn new(cx: &Context<'_>) -> Fallible<Cluster> {
        let (mut blocks, mut members) = (Vec::new(), Vec::new());
        for rank in 0..cx.cluster_blocks() {
            let memory = Bytes::zeroed(cx.shared_bytes() as usize).ok_or_else(|| {
                Box::new(Fault::new(FaultCode::OutOfMemory, "no memory for the shared memory of a block"))
            })?;
            let tensor = RefCell::default();
            members.push(Member {
                id: [0; 3],
                memory,
                ends: Cell::new(false),
                gone: Cell::new(false),
                tensor,
            });
            blocks.push(Block::new(cx, rank as usize));
        }
        let state = ClusterState {
            members,
            clock: Cell::new(0),
            attention: Cell::new(false),
            event: Cell::new(false),
            arrivals: Cell::new(false),
            yielded: Cell::new(false),
            polls: Cell::default(),
            vain: Cell::new(0),
            flight: RefCell::default(),
            warpgroups: RefCell::default(),
        };
        Ok(Cluster { blocks, state, number: 0, still: None, quiet: 0, suspect: false })
    }

    /// Its threads seem to wait for others.
    pub fn waits(&self) -> bool {
        self.suspect && self.quiet > 0
    }

    /// Makes it the cluster with this number.
    pub fn start(&mut self, cx: &Context<'_>, number: u64) -> Fallible<()> {
        if cx.budget.load(Ordering::Relaxed) == 0 {
            // Blocks that end in their first turn are not notified otherwise.
            let to_come = (cx.clusters() - number).saturating_mul(cx.cluster_blocks().into());
            let message = format!(
                "the launch executed as many thread instructions as its limit allows, and {to_come} blocks have not started"
            );
            return Err(Box::new(Fault::new(FaultCode::StepLimit, message)));
        }
        for (rank, (block, member)) in self.blocks.iter_mut().zip(&mut self.state.members).enumerate() {
            member.id = cx.member_id(number, rank as u32);
            member.ends.set(false);
            member.gone.set(false);
            member.memory.fill_all(cx.fresh);
            member.tensor.get_mut().reset(cx.fresh);
            block.start(cx, member.id)?;
        }
        let state = &mut self.state;
        state.clock.set(0);
        state.vain.set(0);
        state.polls.set((0, 0, 0));
        for flag in [&state.attention, &state.event, &state.arrivals, &state.yielded] {
            flag.set(false);
        }
        state.flight.get_mut().clear();
        state.warpgroups.get_mut().clear();
        (self.still, self.quiet, self.suspect) = (None, 0, false);
        Ok(())
    }

    /// Notifies the observer of the blocks of a started cluster.
    pub fn announce<const WATCHED: bool>(&mut self, runner: &mut Runner<'_, WATCHED>, number: u64) {
        self.number = number;
        if WATCHED {
            for rank in 0..self.blocks.len() {
                runner.observer.block_started(&self.view(runner.cx, rank));
            }
        }
    }

    fn view(&self, cx: &Context<'_>, rank: usize) -> BlockView {
        let id = self.state.members[rank].id;
        BlockView { id, cluster: self.number, rank, warps: cx.warps(), shared_bytes: cx.shared_bytes() }
    }

    /// Runs until all threads have exited, for one slice, or until no thread can get on. Gives what was done when the cluster is finished. `others` are resident too.
    pub fn run<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        others: &mut VecDeque<Cluster>,
        slice: u64,
    ) -> Fallible<Option<Done>> {
        let before = runner.changes;
        (self.still, runner.asked) = (None, false);
        let result = self.slice(runner, others, slice);
        self.quiet = if runner.changes == before && runner.asked { self.quiet.saturating_add(1) } else { 0 };
        self.suspect |= self.quiet >= QUIET_SLICES;
        if WATCHED
            && runner.interest.stops
            && let Err(fault) = &result
        {
            runner.observer.faulted(&mut View::new(runner.cx, self, others, None), fault);
        }
        result
    }

    fn slice<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        others: &mut VecDeque<Cluster>,
        slice: u64,
    ) -> Fallible<Option<Done>> {
        let cx = runner.cx;
        let end = self.state.clock.get() + runner.turns.slice(slice);
        let count = self.blocks.len();
        let mut idle = 0;
        loop {
            let mut round = Round::default();
            let first = runner.turns.block(count);
            for turn in 0..count {
                let rank = (first + turn) % count;
                if self.state.members[rank].gone.get() {
                    continue;
                }
                let Round { mut ran, mut worked } = self.blocks[rank].round(runner, &self.state)?;
                while WATCHED && runner.held.is_some() {
                    self.stand_still(runner, others, rank)?;
                    let rest = self.blocks[rank].round(runner, &self.state)?;
                    (ran, worked) = (ran | rest.ran, worked | rest.worked);
                }
                round = Round { ran: round.ran | ran, worked: round.worked | worked };
                if self.blocks[rank].finished() {
                    if WATCHED {
                        self.state.members[rank].ends.set(true);
                        runner.finish(&self.state, rank)?;
                    }
                    self.state.members[rank].gone.set(true);
                    if WATCHED {
                        let member = &self.state.members[rank];
                        for (columns, warp, pc) in member.tensor.borrow().left() {
                            let at = cx.at(member.id, warp, pc, u32::MAX);
                            let hazard = TensorHazard::Left { columns };
                            runner.observer.synchronise(&at, Sync::Tensor { hazard, other: pc });
                        }
                        runner.observer.block_ended(&self.view(cx, rank));
                    }
                }
                if ran && runner.turns.is_singular() {
                    break;
                }
            }
            if self.state.members.iter().all(|m| m.gone.get()) {
                runner.drain(&self.state)?;
                let done = self.blocks.iter().map(Block::done);
                return Ok(Some(done.fold(Done::default(), |sum, d| sum + d)));
            }
            let mut vain = false;
            if self.state.attention.get() {
                let settled = self.settle(runner, round)?;
                // What happens by itself when its time comes is a change, and so is what is under way.
                runner.changes += u64::from(settled || self.is_timed());
                round.ran |= settled;
                if !round.ran && self.state.vain.get() < VAIN_ROUNDS {
                    vain = self.time_out(runner, u64::MAX);
                    round.ran |= vain;
                    runner.changes += u64::from(vain);
                    self.state.vain.set(self.state.vain.get() + 1);
                }
            }
            if !round.ran {
                return Err(self.deadlock(cx));
            }
            let now = runner.progress();
            let runs = |b: &Block| b.warps().iter().any(Warp::runnable);
            if self.blocks.iter().any(runs) && self.blocks.iter().all(|b| b.stands_still(now)) {
                self.still = Some(now);
                return Ok(None);
            }
            idle = if round.worked && !vain { 0 } else { idle + 1 };
            if self.state.clock.get() >= end || idle > IDLE_ROUNDS || cx.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
    }

    /// Looks after what happens between the blocks and beside the threads. True if threads may go on that could not.
    fn settle<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        round: Round,
    ) -> Fallible<bool> {
        let mut progress = self.release_barrier(runner);
        // With nothing else to do, time passes until the next transfer is due.
        let idle = !round.worked && !progress;
        progress |= runner.deliver(&self.state, idle)?;
        if self.state.event.replace(false) {
            progress |= self.wake(|state| matches!(state, State::Mbarrier { .. }));
        }
        progress |= self.time_out(runner, self.state.clock.get());
        self.state.attention.set(self.state.arrivals.get() || self.is_timed());
        Ok(progress)
    }

    /// Transfers are under way, or threads wait for a time.
    fn is_timed(&self) -> bool {
        let waits = |w: &Warp| w.groups.iter().any(|g| matches!(g.state, State::Mbarrier { .. }));
        !self.state.flight.borrow().is_empty() || self.blocks.iter().any(|b| b.warps().iter().any(waits))
    }

    /// Completes the cluster's barrier when all threads that have not exited are there.
    fn release_barrier<const WATCHED: bool>(&mut self, runner: &mut Runner<'_, WATCHED>) -> bool {
        let all = |b: &Block| b.warps().iter().all(|w| w.alive & !w.cluster_arrived == 0);
        if !self.state.arrivals.get() || !self.blocks.iter().all(all) {
            return false;
        }
        self.state.arrivals.set(false);
        for block in &mut self.blocks {
            for warp in block.warps_mut() {
                warp.cluster_open |= warp.cluster_arrived & warp.alive;
                warp.cluster_arrived = 0;
            }
        }
        if WATCHED {
            let pc =
                self.blocks.iter().flat_map(|b| b.warps()).find_map(|w| w.groups.first()).map_or(0, |g| g.pc);
            let at = runner.cx.at(self.state.members[0].id, 0, pc, 0);
            runner.observer.synchronise(&at, Sync::ClusterComplete);
        }
        self.wake(|state| state == State::Cluster)
    }

    /// Makes groups in a state ready.
    fn wake(&mut self, of: impl Fn(State) -> bool) -> bool {
        let mut any = false;
        for warp in self.blocks.iter_mut().flat_map(|b| b.warps_mut()) {
            let mut woken = 0;
            for group in warp.groups.iter_mut().filter(|g| of(g.state)) {
                group.state = State::Ready;
                woken += 1;
            }
            any |= woken > 0;
            warp.reunite(woken);
        }
        any
    }

    /// Answers no to the threads that have waited for an mbarrier object until `now`.
    fn time_out<const WATCHED: bool>(&mut self, runner: &mut Runner<'_, WATCHED>, now: u64) -> bool {
        let mut any = false;
        let cx = runner.cx;
        let members = self.state.members.iter().map(|m| m.id);
        let warps = self
            .blocks
            .iter_mut()
            .zip(members)
            .flat_map(|(b, id)| b.warps_mut().iter_mut().map(move |w| (id, w)));
        for (id, warp) in warps {
            let mut woken = 0;
            for i in 0..warp.groups.len() {
                let group = warp.groups[i];
                if !matches!(group.state, State::Mbarrier { until } if until <= now) {
                    continue;
                }
                let code = &cx.program.code[group.pc as usize].op;
                let op = if let Op::Async(op) = code { Some(&**op) } else { None };
                if matches!((code, op), (Op::Matrix(_), _) | (_, Some(AsyncOp::TensorMemory(_)))) {
                    // It has no answer to give, and asks again.
                    warp.groups[i].state = State::Ready;
                    woken += 1;
                    continue;
                }
                if let Some(AsyncOp::Mbarrier(op)) = op
                    && let Some(dst) = op.dst
                {
                    let activation = *warp.activation(group.frame);
                    let frame = warp.frame(activation.place(), cx.constants);
                    put(frame, dst, group.mask, &[0; 32]);
                    let at = cx.at(id, warp.index, group.pc, group.mask);
                    runner.tell_results(&at, frame, &activation);
                }
                warp.groups[i].pass();
                woken += 1;
            }
            any |= woken > 0;
            warp.reunite(woken);
        }
        any
    }
}
