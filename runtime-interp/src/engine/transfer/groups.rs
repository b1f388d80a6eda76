//! Groups of asynchronous operations: which a thread has committed, and waits for (PTX ISA 9.0, 9.7.9.25.3).

use super::flight::MOST_HELD;
use crate::engine::async_op::Group;
use crate::engine::observe::Sync;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{lanes_of, lanes_where};

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// `commit_group`
    pub fn commit(&mut self, issue: Issue<'_>, group: Group) -> Next {
        let mut flight = issue.block.cluster.flight.borrow_mut();
        let committed = flight.committed(self.cx.warps(), issue.block.rank, issue.warp);
        lanes_of(issue.mask).for_each(|lane| committed[group as usize][lane] += 1);
        if WATCHED {
            let at = self.at(issue);
            self.observer.synchronise(&at, Sync::Commit(group));
        }
        Next::Advance
    }

    /// `wait_group`: what the lanes wait for happens now.
    pub fn wait(&mut self, issue: Issue<'_>, (group, pending, read): (Group, u32, bool)) -> Fallible<Next> {
        let mut flight = issue.block.cluster.flight.borrow_mut();
        let committed = flight.committed(self.cx.warps(), issue.block.rank, issue.warp)[group as usize];
        for i in 0..flight.queue.len() {
            let t = &flight.queue[i];
            let Some((kind, number)) = t.group else { continue };
            if kind != group || t.issuer.rank != issue.block.rank || t.issuer.warp != issue.warp {
                continue;
            }
            let lanes = lanes_where(issue.mask, |lane| {
                committed[lane].checked_sub(pending).is_some_and(|complete| number < complete)
            });
            if lanes == 0 {
                continue;
            }
            if read && flight.held < MOST_HELD {
                self.read(issue.block.cluster, &mut flight.queue[i], lanes)?;
                flight.held += flight.queue[i].held;
            } else {
                self.complete(issue.block.cluster, &mut flight.queue, i, lanes)?;
            }
        }
        flight.tidy();
        if WATCHED {
            let at = self.at(issue);
            self.observer.synchronise(&at, Sync::Wait { group, pending, read });
        }
        Ok(Next::Advance)
    }
}
