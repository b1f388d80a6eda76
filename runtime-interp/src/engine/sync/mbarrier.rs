//! mbarrier objects (PTX ISA 9.0, 9.7.13.15): 64 bits of shared memory that count arrivals and bytes, phase after phase.
//!
//! The layout is ours; the manual leaves it open. From the top: the parity of the phase (1 bit), pending arrivals (20),
//! expected arrivals (20), bytes outstanding plus 2^20 (21), and two bits that tell an object from memory that holds none.

use crate::engine::async_op::{MbarrierKind, MbarrierOp};
use crate::engine::observe::{MbarrierEvent, Sync};
use crate::engine::op::Access;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{lane64, lanes_of, put};
use crate::engine::warp::{State, Warp};
use crate::fault::FaultCode;
use crate::memory::bytes::Bytes;

/// The greatest count of arrivals, and of bytes outstanding.
const MOST: u32 = (1 << 20) - 1;
/// The low bits of an object.
const TAG: u64 = 0b10;

/// What a blocking test waits at most where it does not say: instructions of the cluster.
const TIME_LIMIT: u64 = 1 << 20;

/// The contents of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) struct Object {
    /// The parity of the current phase.
    pub phase: bool,
    /// Arrivals that the current phase still needs.
    pub pending: u32,
    /// Arrivals that the next phase needs.
    pub expected: u32,
    /// Bytes that the current phase still needs; negative if they came before they were expected.
    pub bytes: i32,
}

impl Object {
    /// A new object, if the count is possible.
    pub fn new(count: u32) -> Option<Object> {
        (1..=MOST).contains(&count).then_some(Object {
            phase: false,
            pending: count,
            expected: count,
            bytes: 0,
        })
    }

    pub fn unpack(word: u64) -> Option<Object> {
        let field = |shift: u32| (word >> shift) as u32 & MOST;
        (word & 3 == TAG).then(|| Object {
            phase: word >> 63 != 0,
            pending: field(43),
            expected: field(23),
            bytes: (word >> 2 & 0x1f_ffff) as i32 - (1 << 20),
        })
    }

    pub fn pack(self) -> u64 {
        u64::from(self.phase) << 63
            | u64::from(self.pending) << 43
            | u64::from(self.expected) << 23
            | ((self.bytes + (1 << 20)) as u64) << 2
            | TAG
    }

    /// Moves to the next phase if this one has all it needs.
    fn settle(mut self) -> Object {
        if self.pending == 0 && self.bytes == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
        self
    }

    pub fn arrive(mut self, count: u32, drop: bool) -> Result<Object, String> {
        if count == 0 || count > self.pending {
            return Err(format!(
                "{count} arrivals at an mbarrier object of which {} are pending",
                self.pending
            ));
        }
        if drop {
            let expected = self.expected.checked_sub(count);
            self.expected = expected.ok_or_else(|| {
                format!("{count} arrivals are dropped from an mbarrier object that expects {}", self.expected)
            })?;
        }
        self.pending -= count;
        Ok(self.settle())
    }

    /// Counts one more arrival as pending.
    pub fn increment(mut self) -> Result<Object, String> {
        self.pending += 1;
        if self.pending > MOST { Err(format!("more than {MOST} pending arrivals")) } else { Ok(self) }
    }

    pub fn expect(self, bytes: u32) -> Result<Object, String> {
        self.with_bytes(i64::from(self.bytes) + i64::from(bytes))
    }

    pub fn complete(self, bytes: u32) -> Result<Object, String> {
        self.with_bytes(i64::from(self.bytes) - i64::from(bytes)).map(Object::settle)
    }

    fn with_bytes(mut self, bytes: i64) -> Result<Object, String> {
        if bytes.unsigned_abs() > u64::from(MOST) {
            return Err(format!("the count of an mbarrier object's bytes would be {bytes}, beyond {MOST}"));
        }
        self.bytes = bytes as i32;
        Ok(self)
    }
}

/// The pending arrivals in a state that an arrival returned.
pub fn pending_count(state: u64) -> u32 {
    (state >> 43) as u32 & MOST
}

pub(in crate::engine) fn word(memory: &Bytes, offset: usize) -> u64 {
    let mut bytes = [0; 8];
    memory.read(offset, &mut bytes);
    u64::from_le_bytes(bytes)
}

/// Changes an object in place. Gives the word before, or says what is wrong.
pub(in crate::engine) fn update(
    memory: &Bytes,
    offset: usize,
    f: impl FnOnce(Object) -> Result<Object, String>,
) -> Result<(u64, Object), String> {
    let before = word(memory, offset);
    let object = Object::unpack(before)
        .ok_or_else(|| format!("shared address {offset:#x} holds no initialised mbarrier object"))?;
    let after = f(object)?;
    memory.write(offset, &after.pack().to_le_bytes());
    Ok((before, after))
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// The place of a lane's 8-byte operand in the shared memory of the cluster: rank and offset.
    pub fn shared_operand(
        &self,
        issue: Issue<'_>,
        at: &Access,
        address: u64,
        bytes: u64,
    ) -> Fallible<(usize, usize)> {
        let what = "operand";
        match issue.block.cluster.operand(issue.block.rank, at, address, bytes) {
            Ok(place) => Ok(place),
            Err((code, message)) => {
                let mut fault = self.fault(issue, code, format!("{what} of {bytes} bytes: {message}"));
                fault.address = Some(address);
                Err(fault)
            }
        }
    }

    /// Executes an operation on mbarrier objects, lane by lane.
    pub fn mbarrier(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &MbarrierOp,
    ) -> Fallible<Next> {
        if let MbarrierKind::Test { parity, blocking } = op.kind {
            return self.test(warp, g, issue, op, parity, blocking);
        }
        let addresses = crate::engine::access::addresses(issue.frame, &op.at, issue.stack);
        let mut states = [0u64; 32];
        for lane in lanes_of(issue.mask) {
            let lane_issue = issue.only(1 << lane);
            let (rank, offset) = self.shared_operand(lane_issue, &op.at, addresses[lane], 8)?;
            let memory = &issue.block.cluster.members[rank].memory;
            let operand = op.operand.map_or(1, |r| lane64(issue.frame, r, lane) as u32);
            let outcome = match op.kind {
                MbarrierKind::Init => match Object::new(operand) {
                    Some(object) => {
                        memory.write(offset, &object.pack().to_le_bytes());
                        Ok((0, object, MbarrierEvent::Init))
                    }
                    None => Err(format!(
                        "an mbarrier object for {operand} arrivals; from 1 to {MOST} are possible"
                    )),
                },
                MbarrierKind::Invalidate => update(memory, offset, Ok).map(|(before, object)| {
                    memory.write(offset, &[0; 8]);
                    (before, object, MbarrierEvent::Invalidate)
                }),
                MbarrierKind::ExpectTx => update(memory, offset, |o| o.expect(operand))
                    .map(|(before, after)| (before, after, MbarrierEvent::ExpectTx(operand))),
                MbarrierKind::CompleteTx => update(memory, offset, |o| o.complete(operand))
                    .map(|(before, after)| (before, after, MbarrierEvent::CompleteTx(operand))),
                MbarrierKind::Arrive { drop, expect_tx, no_complete } => {
                    let count = if expect_tx { 1 } else { operand };
                    let arrive = |o: Object| {
                        let o = if expect_tx { o.expect(operand)? } else { o };
                        let after = o.arrive(count, drop)?;
                        if no_complete && after.phase != o.phase {
                            return Err("an arrival with `.noComplete` completes the phase".into());
                        }
                        Ok(after)
                    };
                    update(memory, offset, arrive)
                        .map(|(before, after)| (before, after, MbarrierEvent::Arrive(count)))
                }
                MbarrierKind::Test { .. } => return Ok(Next::Advance),
            };
            match outcome {
                Ok((before, after, event)) => {
                    states[lane] = before;
                    if before == 0 || (before >> 63 != 0) != after.phase {
                        issue.block.cluster.note_event();
                    }
                    if WATCHED {
                        let at = self.at(issue.only(1 << lane));
                        if let MbarrierKind::Arrive { expect_tx: true, .. } = op.kind {
                            let (phase, event) = (before >> 63 != 0, MbarrierEvent::ExpectTx(operand));
                            self.observer.synchronise(&at, Sync::Mbarrier { rank, offset, phase, event });
                        }
                        self.observer
                            .synchronise(&at, Sync::Mbarrier { rank, offset, phase: after.phase, event });
                    }
                }
                Err(message) => {
                    let mut fault = self.fault(lane_issue, FaultCode::BadMbarrier, message);
                    fault.address = Some(addresses[lane]);
                    return Err(fault);
                }
            }
        }
        if let Some(dst) = op.dst {
            put(issue.frame, dst, issue.mask, &states);
        }
        Ok(Next::Advance)
    }

    /// `test_wait` and `try_wait`. Lanes that all have to wait do so, if the operation may, until a phase completes somewhere in
    /// the cluster or the time is over.
    #[allow(clippy::too_many_arguments)]
    fn test(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &MbarrierOp,
        parity: bool,
        blocking: bool,
    ) -> Fallible<Next> {
        let addresses = crate::engine::access::addresses(issue.frame, &op.at, issue.stack);
        let (mut done, mut waits) = (0u32, None);
        for lane in lanes_of(issue.mask) {
            let lane_issue = issue.only(1 << lane);
            let (rank, offset) = self.shared_operand(lane_issue, &op.at, addresses[lane], 8)?;
            let Some(object) = Object::unpack(word(&issue.block.cluster.members[rank].memory, offset)) else {
                let message = format!("shared address {offset:#x} holds no initialised mbarrier object");
                let mut fault = self.fault(lane_issue, FaultCode::BadMbarrier, message);
                fault.address = Some(addresses[lane]);
                return Err(fault);
            };
            let operand = op.operand.map_or(0, |r| lane64(issue.frame, r, lane));
            if parity && operand > 1 {
                let message = format!("phase parity {operand}; it is 0 or 1");
                return Err(self.fault(lane_issue, FaultCode::BadOperand, message));
            }
            let asked = if parity { operand != 0 } else { operand >> 63 != 0 };
            if object.phase != asked {
                done |= 1 << lane;
            } else {
                waits = Some((rank, offset));
            }
            if WATCHED {
                let at = self.at(issue.only(1 << lane));
                let event = MbarrierEvent::Test { complete: object.phase != asked };
                self.observer.synchronise(&at, Sync::Mbarrier { rank, offset, phase: object.phase, event });
            }
        }
        let impatient = blocking && self.turns.is_impatient();
        if blocking && done == 0 && !impatient {
            let lane = issue.mask.trailing_zeros() as usize;
            let limit = op.limit.map_or(TIME_LIMIT, |r| lane64(issue.frame, r, lane).max(1));
            let until = issue.block.cluster.clock.get().saturating_add(limit);
            let skipped = warp.groups[g].mask & !issue.mask;
            if skipped != 0 {
                warp.split(g, skipped, issue.pc + 1, State::Ready);
            }
            warp.groups[g].wait(State::Mbarrier { until });
            issue.block.cluster.wait_for_event();
            return Ok(Next::Choose);
        }
        if let Some(dst) = op.dst {
            put(issue.frame, dst, issue.mask, &std::array::from_fn(|i| u64::from(done >> i & 1)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_survive_their_bits() {
        for object in [
            Object { phase: false, pending: 1, expected: 1, bytes: 0 },
            Object { phase: true, pending: MOST, expected: 0, bytes: -(MOST as i32) },
            Object { phase: true, pending: 0, expected: MOST, bytes: MOST as i32 },
        ] {
            assert_eq!(Object::unpack(object.pack()), Some(object));
        }
        assert_eq!(Object::unpack(0), None);
        assert_eq!(Object::unpack(u64::MAX), None);
    }

    #[test]
    fn a_phase_needs_arrivals_and_bytes() {
        let o = Object::new(2).unwrap().expect(16).unwrap().arrive(1, false).unwrap();
        assert_eq!(pending_count(o.pack()), 1);
        let o = o.arrive(1, false).unwrap();
        assert_eq!((o.phase, o.pending, o.bytes), (false, 0, 16));
        let o = o.complete(16).unwrap();
        assert_eq!((o.phase, o.pending, o.bytes), (true, 2, 0));
        // Bytes may come before they are expected, while arrivals are pending.
        let o = o.complete(8).unwrap();
        assert_eq!((o.phase, o.bytes), (true, -8));
        let o = o.expect(8).unwrap().arrive(2, true).unwrap();
        assert_eq!((o.phase, o.pending, o.expected), (false, 0, 0));
    }

    #[test]
    fn counts_are_kept_within_bounds() {
        assert_eq!(Object::new(0), None);
        assert_eq!(Object::new(1 << 20), None);
        let o = Object::new(1).unwrap();
        assert!(o.arrive(2, false).is_err());
        assert!(o.arrive(0, false).is_err());
        assert!(o.expect(1 << 20).is_err());
        assert!(o.complete(MOST).unwrap().complete(1).is_err());
        assert!(Object::new(MOST).unwrap().increment().is_err());
    }
}
