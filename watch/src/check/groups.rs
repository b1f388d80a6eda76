//! Groups of asynchronous operations: what a wait waits for (PTX ISA 9.0, 9.7.9.25.1.1).

use crate::lanes::lanes_of;
use warpsmith_interp::engine::{Completion, Group, MatrixOp};
use warpsmith_interp::observe::At;
use warpsmith_interp::observe::OperationKind;

/// Groups that a lane remembers. Waits that leave more of them pending wait for nothing.
const MOST_GROUPS: usize = 64;

/// The operations of a warp's lanes that one kind of groups tracks.
#[derive(Default)]
pub(super) struct Issued {
    /// How many each lane has issued.
    pub count: [u32; 32],
    /// How many had been issued at each commit.
    commits: [Vec<u32>; 32],
}

impl Issued {
    /// `commit_group`
    pub fn commit(&mut self, lanes: u32) {
        for lane in lanes_of(lanes) {
            let commits = &mut self.commits[lane];
            if commits.len() >= 2 * MOST_GROUPS {
                commits.drain(..MOST_GROUPS);
            }
            commits.push(self.count[lane]);
        }
    }

    /// How many of a lane's operations are complete when all but the last so many groups are.
    pub fn complete(&self, lane: usize, pending: u32) -> Option<u32> {
        let commits = &self.commits[lane];
        commits.len().checked_sub(pending as usize + 1).and_then(|i| commits.get(i)).copied()
    }
}

/// The kind of groups that track the operation of `at`.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else completes in a group")]
pub(super) fn group_of(at: &At<'_>) -> Option<Group> {
    match at.program.operation(at.pc)?.kind {
        OperationKind::Async(op) => match op.completion()? {
            Completion::Group(group) => Some(group),
            Completion::Mbarrier(_) | Completion::Silent => None,
        },
        OperationKind::Matrix(MatrixOp::Warpgroup(_)) => Some(Group::Matrix),
        _ => None,
    }
}

/// Makes the block that is meant the current one, which it mostly is already; false if it is not resident.
#[inline]
pub(super) fn select<B>(blocks: &[B], current: &mut usize, is_meant: impl Fn(&B) -> bool) -> bool {
    if blocks.get(*current).is_some_and(&is_meant) {
        return true;
    }
    let found = blocks.iter().position(is_meant);
    *current = found.unwrap_or(*current);
    found.is_some()
}
