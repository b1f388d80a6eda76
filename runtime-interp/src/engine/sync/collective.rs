//! Warp-level operations: lanes wait for the lanes their mask names, then compute together (PTX ISA 9.0, 9.7.9.6 and 9.7.13).
//!
//! The lanes need not be at the same instruction, only at one of the same kind with the same mask. So an operation is
//! performed on *participants*: groups of lanes, each with its own operands.

use crate::engine::file::Frame;
use crate::engine::observe::{self, Sync};
use crate::engine::op::{Collective, CollectiveKind, Op};
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{holds, lane32, lane64, lanes_of, lanes_where, put};
use crate::engine::warp::{Activation, State, Warp};
use crate::fault::FaultCode;
use smallvec::{SmallVec, smallvec};
use warpsmith_semantics::together::shuffle_source;

/// Lanes that take part with the operands of one instruction.
struct Participant<'a> {
    frame: Frame,
    lanes: u32,
    op: &'a Collective,
    pc: u32,
    activation: Activation,
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Executes the operation if all lanes it needs are here; otherwise lets the lanes of `here` wait.
    pub fn collective(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &Collective,
    ) -> Fallible<Next> {
        let Issue { frame, pc, mask, .. } = issue;
        if mask == 0 {
            return Ok(Next::Advance);
        }
        if WATCHED {
            let at = self.at(issue);
            let members = op.mask.map(|members| lane32(frame, members, mask.trailing_zeros() as usize));
            self.observer.synchronise(&at, Sync::Warp { members });
        }
        let Some(members) = op.mask else {
            // Which lanes are together is the scheduler's choice.
            self.looks += 1;
            let activation = *warp.activation(warp.groups[g].frame);
            self.perform(issue, &[Participant { frame, lanes: mask, op, pc, activation }], mask);
            return Ok(Next::Advance);
        };
        let named = |lane: usize| lane32(frame, members, lane);
        let outside = lanes_where(mask, |i| named(i) >> i & 1 == 0);
        if outside != 0 {
            let issue = issue.only(outside);
            let lane = outside.trailing_zeros();
            let message = format!(
                "member mask {:#010x} does not name lane {lane}, which executes",
                named(lane as usize)
            );
            return Err(self.fault(issue, FaultCode::BadMask, message));
        }
        let first = named(mask.trailing_zeros() as usize);
        if first & warp.alive & !mask == 0 && lanes_where(mask, |i| named(i) != first) == 0 {
            let activation = *warp.activation(warp.groups[g].frame);
            self.perform(issue, &[Participant { frame, lanes: mask, op, pc, activation }], mask);
            return Ok(Next::Advance);
        }

        // Not all are here, or there are several masks. Each set of lanes with one mask becomes a group of its own.
        let skipped = warp.groups[g].mask & !mask;
        if skipped != 0 {
            warp.split(g, skipped, pc + 1, State::Ready);
        }
        let mut rest = mask;
        while rest != 0 {
            let members = named(rest.trailing_zeros() as usize);
            let same = lanes_where(rest, |i| named(i) == members);
            rest &= !same;
            self.meet(warp, g, issue.only(same), op, members);
        }
        warp.remove(g);
        let mut g = 0;
        while g < warp.groups.len() {
            if warp.groups[g].state == State::Ready {
                g = warp.reconverge(g);
            }
            g += 1;
        }
        Ok(Next::Choose)
    }

    /// Lets lanes of group `g` that name `members` meet those that wait for them, or wait themselves.
    fn meet(&mut self, warp: &mut Warp, g: usize, issue: Issue<'_>, op: &Collective, members: u32) {
        let code = &self.cx.program.code;
        let activation = *warp.activation(warp.groups[g].frame);
        let mut participants: SmallVec<[Participant<'_>; 4]> =
            smallvec![Participant { frame: issue.frame, lanes: issue.mask, op, pc: issue.pc, activation }];
        let mut waiting: SmallVec<[usize; 4]> = SmallVec::new();
        for i in 0..warp.groups.len() {
            let group = warp.groups[i];
            let Op::Collective(other) = &code[group.pc as usize].op else { continue };
            if i == g || group.state != State::Collective(members) || !alike(&other.kind, &op.kind) {
                continue;
            }
            let activation = *warp.activation(group.frame);
            let frame = warp.frame(activation.place(), self.cx.constants);
            participants.push(Participant { frame, lanes: group.mask, op: other, pc: group.pc, activation });
            waiting.push(i);
        }
        let lanes = participants.iter().fold(0, |m, p| m | p.lanes);
        if members & warp.alive & !lanes != 0 {
            warp.split_waiting(g, issue.mask, issue.pc, State::Collective(members));
            return;
        }
        self.perform(issue, &participants, lanes);
        for i in waiting {
            warp.groups[i].pass();
        }
        warp.split(g, issue.mask, issue.pc + 1, State::Ready);
    }

    /// Performs the operation for lanes that are all there.
    fn perform(&mut self, issue: Issue<'_>, participants: &[Participant<'_>], lanes: u32) {
        if WATCHED {
            let pc = participants.first().map_or(0, |p| p.pc);
            let at = self.at(Issue { pc, mask: lanes, ..issue });
            let from = shuffle_sources(participants, lanes);
            let views: SmallVec<[observe::Participant<'_>; 4]> = participants
                .iter()
                .map(|p| observe::Participant { lanes: p.lanes, op: p.op, pc: p.pc, row: p.activation.row })
                .collect();
            self.observer.exchanged(&at, &views, from.as_ref());
        }
        perform(participants, lanes);
        for p in participants {
            let at = self.at(Issue { pc: p.pc, mask: p.lanes, ..issue });
            self.tell_results(&at, p.frame, &p.activation);
        }
    }
}

/// For a shuffle, the lane that each lane reads.
fn shuffle_sources(participants: &[Participant<'_>], lanes: u32) -> Option<[u8; 32]> {
    let Participant { op: Collective { kind: CollectiveKind::Shuffle(mode), .. }, .. } =
        participants.first()?
    else {
        return None;
    };
    let mut from: [u8; 32] = std::array::from_fn(|lane| lane as u8);
    for p in participants {
        for lane in lanes_of(p.lanes & lanes) {
            let operand = |n: usize| lane32(p.frame, p.op.src[n], lane);
            from[lane] = shuffle_source(*mode, lane as u32, operand(1), operand(2)).0 as u8;
        }
    }
    Some(from)
}

/// True if lanes at the one operation may meet lanes at the other.
fn alike(a: &CollectiveKind, b: &CollectiveKind) -> bool {
    match (a, b) {
        (CollectiveKind::Shuffle(a), CollectiveKind::Shuffle(b)) => a == b,
        (CollectiveKind::Reduce(a), CollectiveKind::Reduce(b)) => std::ptr::fn_addr_eq(*a, *b),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

fn perform(participants: &[Participant<'_>], lanes: u32) {
    let Some(Participant { op, .. }) = participants.first() else { return };
    // One value per lane, read and written through the operands of the lane's own instruction.
    let source = |n: usize| {
        let mut values = [0u64; 32];
        for p in participants {
            for lane in lanes_of(p.lanes) {
                values[lane] = lane64(p.frame, p.op.src[n], lane);
            }
        }
        values
    };
    let predicate = || {
        let of = |p: &Participant<'_>| {
            holds(p.frame, crate::engine::op::Guard { pred: p.op.src[0], negated: false }) & p.lanes
        };
        participants.iter().fold(0, |m, p| m | of(p))
    };
    let deliver = |n: usize, values: &[u64; 32]| {
        for p in participants {
            if let Some(dst) = p.op.dst[n] {
                put(p.frame, dst, p.lanes, values);
            }
        }
    };
    let uniform = |n: usize, value: u64| deliver(n, &[value; 32]);
    match op.kind {
        CollectiveKind::Sync => {}
        CollectiveKind::Shuffle(mode) => {
            let (values, b, c) = (source(0), source(1), source(2));
            let mut in_range = [0u64; 32];
            let mut result = [0u64; 32];
            for lane in lanes_of(lanes) {
                let (from, inside) = shuffle_source(mode, lane as u32, b[lane] as u32, c[lane] as u32);
                in_range[lane] = u64::from(inside);
                // A lane that does not take part has no value to give; the manual leaves the result open, and it is the reader's own.
                let from = if lanes >> from & 1 != 0 { from as usize } else { lane };
                result[lane] = values[from];
            }
            deliver(0, &result);
            deliver(1, &in_range);
        }
        CollectiveKind::All => uniform(0, u64::from(predicate() == lanes)),
        CollectiveKind::Any => uniform(0, u64::from(predicate() != 0)),
        CollectiveKind::Uni => {
            let p = predicate();
            uniform(0, u64::from(p == lanes || p == 0));
        }
        CollectiveKind::Ballot => uniform(0, u64::from(predicate())),
        CollectiveKind::MatchAny => {
            let values = source(0);
            let mut result = [0u64; 32];
            for lane in lanes_of(lanes) {
                result[lane] = u64::from(lanes_where(lanes, |i| values[i] == values[lane]));
            }
            deliver(0, &result);
        }
        CollectiveKind::MatchAll => {
            let values = source(0);
            let first = values[lanes.trailing_zeros() as usize & 31];
            let equal = lanes_where(lanes, |i| values[i] != first) == 0;
            uniform(0, if equal { u64::from(lanes) } else { 0 });
            uniform(1, u64::from(equal));
        }
        CollectiveKind::Reduce(f) => {
            let values = source(0);
            let result = lanes_of(lanes).map(|i| values[i]).reduce(f).unwrap_or(0);
            uniform(0, result);
        }
        CollectiveKind::Elect => {
            let leader = lanes.trailing_zeros() as u64;
            uniform(0, leader);
            deliver(1, &std::array::from_fn(|i| u64::from(i as u64 == leader)));
        }
    }
}
