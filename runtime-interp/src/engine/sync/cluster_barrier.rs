//! The barrier of a cluster (PTX ISA 9.0, 9.7.13.3), as the lanes that arrive and wait see it.

use crate::engine::observe::Sync;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::warp::{State, Warp};
use crate::fault::FaultCode;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// `barrier.cluster.arrive`
    pub fn cluster_arrive(&mut self, warp: &mut Warp, issue: Issue<'_>) -> Fallible<Next> {
        let again = issue.mask & (warp.cluster_arrived | warp.cluster_open);
        if again != 0 {
            let message = "a second arrival at the barrier of the cluster without a wait between";
            return Err(self.fault(issue.only(again), FaultCode::BadBarrier, message));
        }
        warp.cluster_arrived |= issue.mask;
        issue.block.cluster.note_arrival();
        if WATCHED {
            let at = self.at(issue);
            self.observer.synchronise(&at, Sync::ClusterArrive);
        }
        Ok(Next::Advance)
    }

    /// `barrier.cluster.wait`
    pub fn cluster_wait(&mut self, warp: &mut Warp, g: usize, issue: Issue<'_>) -> Fallible<Next> {
        let never = issue.mask & !(warp.cluster_arrived | warp.cluster_open);
        if never != 0 {
            let message = "a wait at the barrier of the cluster without an arrival before";
            return Err(self.fault(issue.only(never), FaultCode::BadBarrier, message));
        }
        // Lanes may be a phase apart: those whose phase is complete must not wait for those whose is not.
        let open = issue.mask & warp.cluster_open;
        if open != 0 {
            warp.cluster_open &= !open;
            if WATCHED {
                let at = self.at(issue.only(open));
                self.observer.synchronise(&at, Sync::ClusterLeave);
            }
            if open == issue.mask {
                return Ok(Next::Advance);
            }
            warp.split_waiting(g, issue.mask & !open, issue.pc, State::Cluster);
            warp.groups[g].pc = issue.pc + 1;
            return Ok(Next::Choose);
        }
        let skipped = warp.groups[g].mask & !issue.mask;
        if skipped != 0 {
            warp.split(g, skipped, issue.pc + 1, State::Ready);
        }
        warp.groups[g].wait(State::Cluster);
        Ok(Next::Choose)
    }
}
