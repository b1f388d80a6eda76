//! Where the operations behind [`AsyncOp`] are: rare next to arithmetic and loads, so all are one operation of the main loop.

use crate::engine::async_op::AsyncOp;
use crate::engine::op::Guard;
use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::holds;
use crate::engine::warp::Warp;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// `trace.mark`
    fn mark(&mut self, issue: Issue<'_>, number: u32, condition: Option<(Reg, bool)>) -> Next {
        if WATCHED {
            let holding = |(pred, negated)| holds(issue.frame, Guard { pred, negated }) & issue.mask;
            self.observer.marked(&self.at(issue), number, condition.map(holding));
        }
        Next::Advance
    }

    /// Executes an operation that is behind the box.
    #[inline(never)]
    pub fn asynchronous(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &AsyncOp,
    ) -> Fallible<Next> {
        self.changes += 1;
        match op {
            AsyncOp::Mbarrier(op) => self.mbarrier(warp, g, issue, op),
            AsyncOp::Transfer(op) => self.start_transfer(issue, op),
            AsyncOp::ArriveOnCopies { mbarrier, increment } => {
                self.arrive_on_copies(issue, mbarrier, *increment)
            }
            AsyncOp::Commit(group) => Ok(self.commit(issue, *group)),
            AsyncOp::Wait { group, pending, read } => self.wait(issue, (*group, *pending, *read)),
            AsyncOp::ClusterArrive => self.cluster_arrive(warp, issue),
            AsyncOp::ClusterWait => self.cluster_wait(warp, g, issue),
            AsyncOp::Fill { at, bytes } => self.fill(issue, at, *bytes),
            AsyncOp::Discard { at } => self.discard(warp, issue, at),
            AsyncOp::Multimem(op) => self.multimem(issue, op),
            AsyncOp::Tensor(op) => self.start_tensor(issue, op),
            AsyncOp::Mark { number, condition } => Ok(self.mark(issue, *number, *condition)),
            AsyncOp::TensorCopy(op) => self.start_cells(issue, op),
            AsyncOp::TensorProduct(op) => self.start_tensor_product(issue, op),
            AsyncOp::TensorCommit(op) => self.start_commit(issue, op),
            AsyncOp::TensorMemory(op) => self.tensor_memory(warp, g, issue, op),
            AsyncOp::ReplaceField(op) => self.replace_field(issue, op),
        }
    }
}
