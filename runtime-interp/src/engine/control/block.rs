//! A block of threads: its warps take turns, and meet at barriers (PTX ISA 9.0, 9.7.13.1).

use crate::engine::cluster::{ClusterState, Round};
use crate::engine::context::Context;
use crate::engine::run::{Fallible, Held, Runner};
use crate::engine::standstill::Progress;
use crate::engine::sync::barrier::BarrierState;
use crate::engine::warp::Warp;
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use std::ops::Add;
use std::sync::atomic::Ordering;

/// What a running warp sees of its block.
pub(in crate::engine) struct BlockContext<'a> {
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

/// A block in execution. Reused for block after block.
pub(in crate::engine) struct Block {
    pub id: [u32; 3],
    rank: usize,
    pub warps: Vec<Warp>,
    pub barriers: [BarrierState; 16],
    executed: u64,
}

/// What a finished block has done.
#[derive(Clone, Copy, Default)]
pub(in crate::engine) struct Done {
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

    /// Instructions that its warps have executed, in a turn that goes on too.
    pub fn executed(&self) -> u64 {
        self.executed + self.warps.iter().map(|w| w.executed - w.turn.executed).sum::<u64>()
    }

    pub fn finished(&self) -> bool {
        self.warps.iter().all(Warp::finished)
    }

    /// No warp can get on before something changes.
    pub fn stands_still(&self, now: Progress) -> bool {
        self.warps.iter().all(|w| !w.runnable() || w.patience.still == Some(now))
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
        // If it is the warp whose turn is interrupted, that part is over.
        self.charge(runner, cluster, w);
        runner.held =
            Some(Held { warp: w as u32, end: self.warps[w].executed + QUANTUM, group: None, from: 0 });
        self.turn(runner, cluster, w)?;
        cluster.yielded.set(false);
        if runner.held.is_none() { self.settle(runner, w) } else { Ok(()) }
    }

    /// Charges what a warp has executed since its turn started: the thread instructions, and what was left of the budget before.
    fn charge<const WATCHED: bool>(
        &mut self,
        runner: &Runner<'_, WATCHED>,
        cluster: &ClusterState,
        w: usize,
    ) -> (u64, u64) {
        let warp = &mut self.warps[w];
        let start = warp.turn;
        warp.turn = warp.progressed();
        let extra = warp.extra - start.extra;
        let ticks = warp.executed - start.executed + extra;
        let used = warp.thread_instructions - start.thread_instructions + extra;
        self.executed += ticks;
        cluster.clock.set(cluster.clock.get() + ticks);
        let budget = &runner.cx.budget;
        let rest = |before: u64| Some(before.saturating_sub(used));
        let before = if runner.alone {
            // Nobody else takes from it, and turns are short where warps meet at barriers.
            let before = budget.load(Ordering::Relaxed);
            budget.store(before.saturating_sub(used), Ordering::Relaxed);
            before
        } else {
            let (Ok(before) | Err(before)) = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
            before
        };
        (used, before)
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
            clock: self.executed - if runner.held.is_some() { warp.turn.executed } else { warp.executed },
        };
        let quantum = match runner.held {
            // The turn goes on.
            Some(_) => 0,
            None => {
                let budget = cx.budget.load(Ordering::Relaxed);
                let quantum = if warp.spins { SPINNING_QUANTUM } else { QUANTUM };
                (warp.patience.turn_started, warp.patience.extra) = (runner.progress(), warp.extra);
                warp.patience.limit(quantum.min(budget / 32 + 1).min(runner.turns.turn()))
            }
        };
        if runner.held.is_none() {
            warp.turn = warp.progressed();
        }
        runner.asks = false;
        let result = runner.run_warp(&context, warp, quantum);
        warp.patience.asks |= runner.asks;
        runner.asked |= runner.asks;
        if runner.held.is_some() && result.is_ok() {
            // What a turn costs is charged when it is over, so that clocks show the same whether it stands still in between or not.
            return Ok(());
        }
        warp.spins &= warp.spin != warp.turn.spin;
        let (used, before) = self.charge(runner, cluster, w);
        result?;
        let warp = &mut self.warps[w];
        warp.turn_ended(runner.progress());
        let whole = before <= used;
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
}

/// Fills in where a fault happened.
pub(in crate::engine) fn locate(
    fault: &mut Fault,
    cx: &Context<'_>,
    block: [u32; 3],
    warp: u32,
    mask: u32,
    pc: u32,
) {
    let line = cx.program.line(pc);
    fault.ptx_line = (line != 0).then_some(line);
    fault.block = Some(block);
    fault.thread = Some(cx.thread_id(warp * 32 + mask.trailing_zeros().min(31)));
}
