//! The barriers of a block (PTX ISA 9.0, 9.7.13.1): lanes wait for the rest of their warp, then warps for each other.

use crate::engine::block::{Block, locate};
use crate::engine::observe::Sync;
use crate::engine::op::{Barrier, BarrierKind, Op};
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::values::{holds, lane32, lanes_of, lanes_where, put};
use crate::engine::warp::{Group, State, Warp};
use crate::fault::{Fault, FaultCode};

/// The state of one of the sixteen barriers of a block.
#[derive(Clone, Copy, Default)]
pub(in crate::engine) struct BarrierState {
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

impl BarrierState {
    /// Counts a warp that has arrived: threads of it that the block lacks, or that have ended, too.
    fn count_warp(&mut self, w: usize) {
        self.warps |= 1 << w;
        self.threads += 32;
    }
}

/// All barriers of a block.
const ALL: u32 = 0xffff;

impl Block {
    /// Looks whether warp `w` has arrived at a barrier, and releases barriers that are complete.
    pub fn settle<const WATCHED: bool>(
        &mut self,
        runner: &mut Runner<'_, WATCHED>,
        w: usize,
    ) -> Fallible<()> {
        if !WATCHED && let [group] = self.warps[w].groups.as_mut_slice() {
            // A whole warp at a barrier of the whole block, as a rule, or at none.
            let State::Barrier { id, arrived: false } = group.state else { return Ok(()) };
            let id = usize::from(id);
            let state = &mut self.barriers[id];
            if let Op::Barrier(op) = &runner.cx.program.code[group.pc as usize].op
                && matches!(**op, Barrier { kind: BarrierKind::Sync, count: None, src: None, .. })
                && state.count == 0
            {
                group.state = State::Barrier { id: id as u8, arrived: true };
                state.count_warp(w);
                self.release_if_complete(runner, id);
                return Ok(());
            }
        }
        let pending = self.warps[w].groups.iter().fold(0u32, |ids, g| match g.state {
            State::Barrier { id, arrived: false } => ids | 1 << id,
            State::Ready
            | State::Collective(_)
            | State::Barrier { .. }
            | State::Mbarrier { .. }
            | State::Cluster => ids,
        });
        // A barrier gets complete by arrivals, and by the end of warps that it would wait for.
        if pending == 0 && !self.warps[w].finished() {
            return Ok(());
        }
        for id in lanes_of(pending) {
            self.arrive(runner, w, id)?;
        }
        // By what has arrived alone, or by the end of a warp any of them.
        let touched = if self.warps[w].finished() { ALL } else { pending };
        lanes_of(touched).for_each(|id| self.release_if_complete(runner, id));
        Ok(())
    }

    /// Releases a barrier at which all are that it waits for.
    fn release_if_complete<const WATCHED: bool>(&mut self, runner: &mut Runner<'_, WATCHED>, id: usize) {
        let barrier = &self.barriers[id];
        let complete = match barrier.count {
            _ if barrier.threads == 0 => false,
            // The last one is the last to arrive as a rule.
            0 => self.warps.iter().rev().all(|w| w.finished() || barrier.warps >> w.index & 1 != 0),
            count => barrier.threads >= count,
        };
        if complete {
            self.release(runner, id, *barrier);
        }
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
            let Group { mask, pc, frame, .. } = warp.groups[i];
            let Op::Barrier(op) = &cx.program.code[pc as usize].op else { continue };
            let place = warp.activation(frame).place();
            let frame = warp.frame(place, cx.constants);
            let lane = mask.trailing_zeros() as usize;
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
                locate(&mut fault, cx, self.id, w as u32, mask, pc);
                return Err(Box::new(fault));
            }
            state.count = count;
            if WATCHED {
                let at = cx.at(self.id, w as u32, pc, mask);
                runner.observer.synchronise(&at, Sync::Arrive(id as u32));
            }
            if let Some(src) = op.src {
                state.yes += (holds(frame, src) & mask).count_ones();
                state.voters += mask.count_ones();
            }
            let group = &mut warp.groups[i];
            if op.kind == BarrierKind::Arrive {
                group.pass();
            } else {
                group.state = State::Barrier { id: id as u8, arrived: true };
            }
        }
        state.count_warp(w);
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
                let group = &warp.groups[i];
                if group.state != (State::Barrier { id: id as u8, arrived: true }) {
                    continue;
                }
                let Group { mask, pc, frame, .. } = *group;
                // Those that give a predicate have a result.
                if state.voters != 0
                    && let Op::Barrier(op) = &cx.program.code[pc as usize].op
                    && let Some(dst) = op.dst
                {
                    let activation = *warp.activation(frame);
                    let frame = warp.frame(activation.place(), cx.constants);
                    let value = match op.kind {
                        BarrierKind::Popc => state.yes,
                        BarrierKind::And => u32::from(state.yes == state.voters),
                        BarrierKind::Or => u32::from(state.yes != 0),
                        BarrierKind::Sync | BarrierKind::Arrive => 0,
                    };
                    put(frame, dst, mask, &[u64::from(value); 32]);
                    let at = cx.at(self.id, warp.index, pc, mask);
                    runner.tell_results(&at, frame, &activation);
                }
                if WATCHED {
                    let at = cx.at(self.id, warp.index, pc, mask);
                    runner.observer.synchronise(&at, Sync::Leave(id as u32));
                }
                warp.groups[i].pass();
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
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &Barrier,
    ) -> Fallible<()> {
        self.changes += 1;
        let skipped = warp.groups[g].mask & !issue.mask;
        if skipped != 0 {
            warp.split(g, skipped, issue.pc + 1, State::Ready);
        }
        let mut rest = issue.mask;
        while rest != 0 {
            let id = lane32(issue.frame, op.id, rest.trailing_zeros() as usize);
            let same = match op.id.is_constant() {
                true => rest,
                false => lanes_where(rest, |i| lane32(issue.frame, op.id, i) == id),
            };
            if id > 15 {
                let issue = issue.only(same);
                let message = format!("barrier {id}, and there are only barriers 0 to 15");
                return Err(self.fault(issue, FaultCode::BadBarrier, message));
            }
            rest &= !same;
            if WATCHED {
                let at = self.at(issue.only(same));
                self.observer.synchronise(&at, Sync::Reach(id));
            }
            // Written where it lies, part by part: a copy as a whole would wait for the parts.
            if rest == 0 {
                warp.groups[g].state = State::Barrier { id: id as u8, arrived: false };
            } else {
                warp.split(g, same, issue.pc, State::Barrier { id: id as u8, arrived: false });
            }
        }
        Ok(())
    }
}
