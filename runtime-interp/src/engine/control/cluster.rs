//! A cluster of blocks: they are resident together, reach each other's shared memory, and meet at the cluster's barrier.
//!
//! A cluster runs on one host thread. A launch without clusters has clusters of one block.

use crate::engine::async_op::AsyncOp;
use crate::engine::block::{Block, Done, locate};
use crate::engine::context::Context;
use crate::engine::matrix::Warpgroups;
use crate::engine::mbarrier::{self, Object};
use crate::engine::observe::{BlockView, Sync, TensorHazard, View};
use crate::engine::op::{Access, Op};
use crate::engine::run::{Fallible, Runner};
use crate::engine::standstill::Progress;
use crate::engine::tensor_memory::TensorMemory;
use crate::engine::transfer::Flight;
use crate::engine::values::put;
use crate::engine::warp::{State, Warp};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use crate::memory::window;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use warpsmith_isa::StateSpace;

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

/// A block as the others of its cluster see it.
pub(in crate::engine) struct Member {
    pub id: [u32; 3],
    /// Its shared memory.
    pub memory: Bytes,
    /// All its threads have exited.
    pub gone: Cell<bool>,
    pub tensor: RefCell<TensorMemory>,
}

/// What the blocks of a cluster share.
pub(in crate::engine) struct ClusterState {
    pub members: Vec<Member>,
    /// Instructions that its warps have executed.
    pub clock: Cell<u64>,
    /// Something is under way or waited for that the scheduler has to look after.
    attention: Cell<bool>,
    /// Phases of mbarrier objects have completed, or objects were made or ended, since waiting threads last looked.
    event: Cell<bool>,
    /// Threads have arrived at the cluster's barrier.
    arrivals: Cell<bool>,
    /// The running warp's turn ended with a question that was answered no.
    pub yielded: Cell<bool>,
    /// Tests that failed since the last event, and the object that was asked last.
    polls: Cell<(u64, usize, usize)>,
    /// Waits in vain.
    vain: Cell<u32>,
    pub flight: RefCell<Flight>,
    pub warpgroups: RefCell<Warpgroups>,
}

impl ClusterState {
    /// The place of `size` bytes at an address in the shared memory of the cluster, as block `rank` sees it, or what is wrong.
    /// Addresses of other blocks are valid only where `cluster` says so.
    pub fn locate(
        &self,
        rank: usize,
        address: u64,
        size: u64,
        cluster: bool,
    ) -> Result<(usize, usize), String> {
        let (named, offset) = window::member(address);
        let owner = named.unwrap_or(rank);
        if owner != rank && !cluster {
            return Err(format!(
                "it is in the memory of block {owner} of the cluster, and not in `.shared::cta`"
            ));
        }
        let Some(member) = self.members.get(owner) else {
            return Err(format!("there is no block {owner} in a cluster of {}", self.members.len()));
        };
        let len = member.memory.len() as u64;
        if len == 0 {
            return Err("there is no shared memory".into());
        }
        match offset.checked_add(size) {
            Some(end) if end <= len => {}
            _ => {
                let past = offset.saturating_add(size) - len;
                return Err(format!("ends {past} bytes past the end of shared memory ({len} bytes)"));
            }
        }
        if owner != rank && member.gone.get() {
            return Err(format!("block {owner} of the cluster has exited, and its shared memory is gone"));
        }
        Ok((owner, offset as usize))
    }

    /// The block and the offset of the aligned operand of an instruction, which may be a generic address.
    pub fn operand(
        &self,
        rank: usize,
        at: &Access,
        address: u64,
        bytes: u64,
    ) -> Result<(usize, usize), (FaultCode, String)> {
        let (space, offset) = match at.space {
            StateSpace::Generic => window::classify(address),
            space => (space, address),
        };
        if space != StateSpace::Shared {
            return Err((
                FaultCode::OutOfBounds,
                format!("{space} address {address:#x} is not in shared memory"),
            ));
        }
        let unit = u64::from(at.bytes);
        if !offset.is_multiple_of(unit) {
            let message = format!("shared address {offset:#x} is not a multiple of {unit}");
            return Err((FaultCode::Misaligned, message));
        }
        self.locate(rank, offset, bytes, at.cluster)
            .map_err(|e| (FaultCode::OutOfBounds, format!("shared address {offset:#x}: {e}")))
    }

    /// The scheduler must look after transfers.
    pub fn attend(&self) {
        self.attention.set(true);
    }

    /// Threads have arrived at the cluster's barrier.
    pub fn note_arrival(&self) {
        self.arrivals.set(true);
        self.attend();
    }

    /// Something has happened that threads may wait for.
    pub fn note_event(&self) {
        self.event.set(true);
        self.vain.set(0);
        self.polls.set((0, 0, 0));
    }

    /// A thread waits for an event.
    pub fn wait_for_event(&self) {
        self.attention.set(true);
    }

    pub fn note_failed_poll(&self, rank: usize, offset: usize) {
        self.polls.set((self.polls.get().0 + 1, rank, offset));
    }

    /// What spinning threads ask for, if the last thing that happened is long ago.
    pub fn spinning(&self) -> Option<String> {
        let (count, rank, offset) = self.polls.get();
        (count >= 1000).then(|| {
            format!(
                "{count} tests of mbarrier objects were answered no since the last phase completed; the last asked {}",
                self.describe(rank, offset)
            )
        })
    }

    /// Says what an mbarrier object holds.
    fn describe(&self, rank: usize, offset: usize) -> String {
        let mut text = format!("the object at shared address {offset:#x}");
        if self.members.len() > 1 {
            text += &format!(" of block {rank} of the cluster");
        }
        if let Some(o) = Object::unpack(mbarrier::word(&self.members[rank].memory, offset)) {
            text += &format!(", which needs {} more arrivals and {} more bytes", o.pending, o.bytes);
        }
        text
    }
}

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
            members.push(Member { id: [0; 3], memory, gone: Cell::new(false), tensor });
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
            // Blocks that end in their first turn are not told so otherwise.
            let to_come = (cx.clusters() - number).saturating_mul(cx.cluster_blocks().into());
            let message = format!(
                "the launch executed as many thread instructions as its limit allows, and {to_come} blocks have not started"
            );
            return Err(Box::new(Fault::new(FaultCode::StepLimit, message)));
        }
        for (rank, (block, member)) in self.blocks.iter_mut().zip(&mut self.state.members).enumerate() {
            member.id = cx.member_id(number, rank as u32);
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

    /// Tells the observer of the blocks of a cluster that has been started.
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

    /// Says where the threads are that run and get nowhere, and whether they read memory there.
    pub fn describe_standstill(&self, cx: &Context<'_>) -> (Fault, bool) {
        let (mut fault, mut asks) = (Fault::new(FaultCode::Deadlock, ""), false);
        for (block, member) in self.blocks.iter().zip(&self.state.members) {
            for warp in block.warps() {
                let Some(group) = warp.groups.iter().find(|g| g.state == State::Ready) else { continue };
                asks |= warp.patience.asks;
                if fault.message.is_empty() {
                    locate(&mut fault, cx, member.id, warp.index, group.mask, group.pc);
                    let at = cx.at(member.id, warp.index, group.pc, group.mask);
                    fault.message = format!(
                        "block {:?} warp {} lanes {:#010x} are in `{}`",
                        member.id,
                        warp.index,
                        group.mask,
                        at.mnemonic()
                    );
                }
            }
        }
        (fault, asks)
    }

    /// Says who waits for whom.
    fn deadlock(&mut self, cx: &Context<'_>) -> Box<Fault> {
        let mut fault = Fault::new(FaultCode::Deadlock, "");
        let mut waits = Vec::new();
        let clustered = self.blocks.len() > 1;
        let state = &self.state;
        for (rank, (block, member)) in self.blocks.iter_mut().zip(&state.members).enumerate() {
            for warp in block.warps_mut() {
                for i in 0..warp.groups.len() {
                    let g = warp.groups[i];
                    if waits.is_empty() {
                        locate(&mut fault, cx, member.id, warp.index, g.mask, g.pc);
                    }
                    let at = cx.at(member.id, warp.index, g.pc, g.mask);
                    let what = match g.state {
                        State::Barrier { id, arrived: true } => format!("at barrier {id} for other warps"),
                        State::Barrier { id, arrived: false } => {
                            format!("at barrier {id} for lanes {:#010x} of their warp", warp.alive & !g.mask)
                        }
                        State::Collective(members) => {
                            format!("for lanes {:#010x} of their warp", members & warp.alive & !g.mask)
                        }
                        State::Cluster => "at the barrier of the cluster for other threads".into(),
                        State::Mbarrier { .. } => match asked(cx, state, rank, warp, i) {
                            Some((rank, offset)) => format!("for {}", state.describe(rank, offset)),
                            None if matches!(cx.program.code[g.pc as usize].op, Op::Matrix(_)) => {
                                "for the other warps of its warpgroup to start the product".into()
                            }
                            None => "for an mbarrier object".into(),
                        },
                        State::Ready => "for an answer that does not come".into(),
                    };
                    let of = if clustered { format!("block {:?} ", member.id) } else { String::new() };
                    let source = match at.line() {
                        0 => String::new(),
                        line => format!(" of line {line}"),
                    };
                    waits.push(format!(
                        "{of}warp {} lanes {:#010x} wait in `{}`{source} {what}",
                        warp.index,
                        g.mask,
                        at.mnemonic()
                    ));
                }
            }
        }
        let (shown, more) = (waits.len().min(4), waits.len().saturating_sub(4));
        let whole = if clustered { "cluster" } else { "block" };
        fault.message = format!("no thread of the {whole} can go on: {}", waits[..shown].join("; "));
        if more > 0 {
            fault.message += &format!("; and {more} more groups of lanes");
        }
        Box::new(fault)
    }
}

/// The mbarrier object that the first lane of a group asks.
fn asked(
    cx: &Context<'_>,
    state: &ClusterState,
    rank: usize,
    warp: &mut Warp,
    g: usize,
) -> Option<(usize, usize)> {
    let group = warp.groups[g];
    let Op::Async(op) = &cx.program.code[group.pc as usize].op else { return None };
    let AsyncOp::Mbarrier(op) = &**op else { return None };
    let activation = *warp.activation(group.frame);
    let frame = warp.frame(activation.place(), cx.constants);
    let addresses = crate::engine::access::addresses(frame, &op.at, activation.stack);
    state.operand(rank, &op.at, addresses[group.mask.trailing_zeros() as usize & 31], 8).ok()
}
