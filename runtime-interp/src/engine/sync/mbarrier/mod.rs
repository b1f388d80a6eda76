//! Operations on mbarrier objects (PTX ISA 9.0, 9.7.13.15), and how lanes wait for a phase.

mod object;

pub use object::pending_count;
pub(in crate::engine) use object::{Object, phase, update, word};

use crate::engine::async_op::MbarrierOp;
use crate::engine::observe::{MbarrierEvent, Sync};
use crate::engine::op::Access;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{lane64, lanes_of, put};
use crate::engine::warp::{State, Warp};
use crate::fault::FaultCode;
use warpsmith_isa::BarrierLayout;
use warpsmith_semantics::MbarrierAction;

/// What a blocking test waits at most where it does not say: instructions of the cluster.
const TIME_LIMIT: u64 = 1 << 20;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// The place of a lane's 8-byte operand in the shared memory of the cluster: rank and offset.
    pub fn shared_operand(
        &self,
        issue: Issue<'_>,
        at: &Access,
        address: u64,
        bytes: u64,
    ) -> Fallible<(usize, usize)> {
        let place = issue.block.cluster.operand(issue.block.rank, at, address, bytes);
        place.map_err(|(code, message)| {
            self.fault_at(issue, code, address, format!("operand of {bytes} bytes: {message}"))
        })
    }

    /// Executes an operation on mbarrier objects, lane by lane.
    pub fn mbarrier(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &MbarrierOp,
    ) -> Fallible<Next> {
        match op.action {
            MbarrierAction::Test { parity, blocking } => {
                return self.test(warp, g, issue, op, (parity, blocking, op.conditional));
            }
            MbarrierAction::CheckLayout => return self.check_layout(issue, op),
            MbarrierAction::Init
            | MbarrierAction::Invalidate
            | MbarrierAction::ExpectTx
            | MbarrierAction::CompleteTx
            | MbarrierAction::Arrive { .. } => {}
        }
        let addresses = crate::engine::access::addresses(issue.frame, &op.at, issue.stack);
        let mut states = [0u64; 32];
        for lane in lanes_of(issue.mask) {
            let lane_issue = issue.only(1 << lane);
            let (rank, offset) = self.shared_operand(lane_issue, &op.at, addresses[lane], 8)?;
            let members = issue.block.cluster.members.len();
            let ranks = op.multicast.map_or(1 << rank, |r| lane64(issue.frame, r, lane) as u32);
            if u64::from(ranks) >> members != 0 {
                let message = format!("multicast to blocks {ranks:#b} of a cluster of {members}");
                return Err(self.fault(lane_issue, FaultCode::BadOperand, message));
            }
            for rank in lanes_of(ranks) {
                match self.change_object(lane_issue, op, lane, (rank, offset)) {
                    Ok(before) => states[lane] = before,
                    Err(message) => {
                        let address = addresses[lane];
                        return Err(self.fault_at(lane_issue, FaultCode::BadMbarrier, address, message));
                    }
                }
            }
        }
        if let Some(dst) = op.dst {
            put(issue.frame, dst, issue.mask, &states);
        }
        Ok(Next::Advance)
    }

    /// Changes the object of one lane, in the memory of one block. Gives its word before.
    fn change_object(
        &mut self,
        issue: Issue<'_>,
        op: &MbarrierOp,
        lane: usize,
        (rank, offset): (usize, usize),
    ) -> Result<u64, String> {
        let member = &issue.block.cluster.members[rank];
        if member.gone.get() {
            return Err(format!("block {rank} of the cluster has exited"));
        }
        let memory = &member.memory;
        let operand = op.operand.map_or(1, |r| lane64(issue.frame, r, lane) as u32);
        let (before, after, event) = match op.action {
            MbarrierAction::Init => {
                let object = Object::new(op.layout, operand)?;
                memory.write(offset, &object.pack().to_le_bytes());
                (0, object, MbarrierEvent::Init)
            }
            MbarrierAction::Invalidate => {
                let (before, object) = update(memory, offset, Ok)?;
                memory.write(offset, &[0; 8]);
                (before, object, MbarrierEvent::Invalidate)
            }
            MbarrierAction::ExpectTx => {
                let (before, after) = update(memory, offset, |o| o.expect(operand))?;
                (before, after, MbarrierEvent::ExpectTx(operand))
            }
            MbarrierAction::CompleteTx => {
                let (before, after) = update(memory, offset, |o| o.complete(operand))?;
                (before, after, MbarrierEvent::CompleteTx(operand))
            }
            MbarrierAction::Arrive { drop, expect_tx, no_complete } => {
                let count = if expect_tx { 1 } else { operand };
                let arrive = |o: Object| {
                    let o = if expect_tx { o.expect(operand)? } else { o };
                    let after = o.arrive(count, drop)?;
                    if no_complete && after.phase != o.phase {
                        return Err("an arrival with `.noComplete` completes the phase".into());
                    }
                    Ok(after)
                };
                let (before, after) = update(memory, offset, arrive)?;
                (before, after, MbarrierEvent::Arrive(count))
            }
            // These change nothing.
            MbarrierAction::Test { .. } | MbarrierAction::CheckLayout => return Ok(0),
        };
        if before == 0 || phase(before) != after.phase {
            issue.block.cluster.note_event();
        }
        if WATCHED {
            let at = self.at(issue);
            if let MbarrierAction::Arrive { expect_tx: true, .. } = op.action {
                let (phase, event) = (phase(before), MbarrierEvent::ExpectTx(operand));
                self.observer.synchronise(&at, Sync::Mbarrier { rank, offset, phase, event });
            }
            self.observer.synchronise(&at, Sync::Mbarrier { rank, offset, phase: after.phase, event });
        }
        Ok(before)
    }

    /// `mbarrier.check_layout`
    fn check_layout(&mut self, issue: Issue<'_>, op: &MbarrierOp) -> Fallible<Next> {
        let addresses = crate::engine::access::addresses(issue.frame, &op.at, issue.stack);
        let mut answers = [0u64; 32];
        for lane in lanes_of(issue.mask) {
            let (_, _, object) = self.object_of(issue.only(1 << lane), op, addresses[lane])?;
            let found = if object.reports.is_some() { BarrierLayout::V1 } else { BarrierLayout::V0 };
            answers[lane] = u64::from(found == op.layout);
        }
        if let Some(dst) = op.dst {
            put(issue.frame, dst, issue.mask, &answers);
        }
        Ok(Next::Advance)
    }

    /// The object that one lane names, and its place.
    fn object_of(&self, issue: Issue<'_>, op: &MbarrierOp, address: u64) -> Fallible<(usize, usize, Object)> {
        let (rank, offset) = self.shared_operand(issue, &op.at, address, 8)?;
        match Object::unpack(word(&issue.block.cluster.members[rank].memory, offset)) {
            Some(object) => Ok((rank, offset, object)),
            None => {
                let message = format!("shared address {offset:#x} holds no initialised mbarrier object");
                Err(self.fault_at(issue, FaultCode::BadMbarrier, address, message))
            }
        }
    }

    /// `test_wait` and `try_wait`. Lanes that all have to wait do so, if the operation may, until a phase completes somewhere in
    /// the cluster or the time is over.
    fn test(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &MbarrierOp,
        (parity, blocking, conditional): (bool, bool, bool),
    ) -> Fallible<Next> {
        let addresses = crate::engine::access::addresses(issue.frame, &op.at, issue.stack);
        let (mut done, mut waits) = (0u32, None);
        let (mut reported, mut values) = ([0u64; 32], [0u64; 32]);
        for lane in lanes_of(issue.mask) {
            let lane_issue = issue.only(1 << lane);
            let (rank, offset, object) = self.object_of(lane_issue, op, addresses[lane])?;
            let operand = op.operand.map_or(0, |r| lane64(issue.frame, r, lane));
            if parity && operand > 1 {
                let message = format!("phase parity {operand}; it is 0 or 1");
                return Err(self.fault(lane_issue, FaultCode::BadOperand, message));
            }
            let asked = if parity { operand != 0 } else { phase(operand) };
            let current = if conditional { object.conditional() } else { object.phase };
            if current != asked {
                done |= 1 << lane;
                let report = object.last_report();
                reported[lane] = u64::from(report.predicate);
                values[lane] = report.value.into();
            } else {
                waits = Some((rank, offset));
            }
            if WATCHED {
                let at = self.at(issue.only(1 << lane));
                let event = MbarrierEvent::Test { complete: current != asked };
                self.observer.synchronise(&at, Sync::Mbarrier { rank, offset, phase: object.phase, event });
            }
        }
        let impatient = blocking && self.turns.is_impatient();
        if blocking && done == 0 && !impatient {
            let lane = issue.mask.trailing_zeros() as usize;
            let limit = op.limit.map_or(TIME_LIMIT, |r| lane64(issue.frame, r, lane).max(1));
            let until = issue.block.cluster.clock.get().saturating_add(limit);
            return Ok(await_event(warp, g, issue, until));
        }
        if let Some(dst) = op.dst {
            put(issue.frame, dst, issue.mask, &std::array::from_fn(|i| u64::from(done >> i & 1)));
        }
        for (dst, report) in op.report.into_iter().zip([&reported, &values]) {
            if let Some(dst) = dst {
                put(issue.frame, dst, issue.mask, report);
            }
        }
        match waits {
            Some((rank, offset)) => {
                issue.block.cluster.note_failed_poll(rank, offset);
                Ok(Next::Yield)
            }
            None => Ok(Next::Advance),
        }
    }
}

/// The lanes wait in their instruction for something to happen, until a time at the most; those that the guard leaves out go on.
pub(in crate::engine) fn await_event(warp: &mut Warp, g: usize, issue: Issue<'_>, until: u64) -> Next {
    let skipped = warp.groups[g].mask & !issue.mask;
    if skipped != 0 {
        warp.split(g, skipped, issue.pc + 1, State::Ready);
    }
    warp.groups[g].wait(State::Mbarrier { until });
    issue.block.cluster.wait_for_event();
    Next::Choose
}
