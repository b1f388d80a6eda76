//! Operations beyond loads and stores that are complete when the instruction is: on multicast addresses
//! (PTX ISA 9.0, 9.7.9.14), and filling shared memory (9.7.9.13).

use crate::engine::AtomicFn;
use crate::engine::async_op::{MultimemKind, MultimemOp, Reduction};
use crate::engine::context::Context;
use crate::engine::observe::{AccessKind, Addresses};
use crate::engine::op::Access;
use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Next, Runner, is_synchronising};
use crate::engine::values::{lane64, lanes_of, put};
use crate::fault::FaultCode;
use crate::memory::bytes::Bytes;
use crate::memory::global::Replica;
use crate::memory::window;
use smallvec::SmallVec;
use std::sync::atomic::{Ordering, fence};
use warpsmith_isa::StateSpace;

/// The most bytes that `st.bulk` fills.
const MOST_FILLED: u64 = 1 << 24;

impl<'a, const WATCHED: bool> Runner<'a, WATCHED> {
    /// `st.bulk`
    pub fn fill(&mut self, issue: Issue<'_>, at: &Access, bytes: Reg) -> Fallible<Next> {
        let addresses = crate::engine::access::addresses(issue.frame, at, issue.stack);
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            let bytes = lane64(issue.frame, bytes, lane);
            if !bytes.is_multiple_of(8) || bytes > MOST_FILLED {
                let message =
                    format!("{bytes} bytes to fill; it must be a multiple of 8 up to {MOST_FILLED}");
                return Err(self.fault(one, FaultCode::BadOperand, message));
            }
            let (rank, offset) = self.shared_operand(one, at, addresses[lane], bytes)?;
            issue.block.cluster.members[rank].memory.fill(offset, bytes as usize, 0);
            if WATCHED && self.interest.accesses {
                let at_pc = self.at(issue.only(1 << lane));
                for i in (0..bytes).step_by(8) {
                    let word = window::in_member(offset as u64 + i, rank as u32);
                    self.observer.access(
                        &at_pc,
                        AccessKind::Store,
                        at,
                        StateSpace::Shared,
                        Addresses::Each(&[word; 32]),
                    );
                }
            }
        }
        Ok(Next::Advance)
    }

    /// What is behind a multicast address, of which so many bytes are accessed, and which is a multiple of `unit`.
    pub fn replicas(
        &self,
        issue: Issue<'_>,
        unit: u64,
        address: u64,
        bytes: u64,
    ) -> Fallible<SmallVec<[Replica<'a>; 4]>> {
        if !address.is_multiple_of(unit) {
            let message = format!("multicast address {address:#x} is not a multiple of {unit}");
            return Err(self.fault_at(issue, FaultCode::Misaligned, address, message));
        }
        let cx: &'a Context<'a> = self.cx;
        cx.global.replicas(address, bytes).filter(|found| !found.is_empty()).ok_or_else(|| {
            let message =
                format!("{bytes} bytes at {address:#x}, which is not a multicast address of live buffers");
            self.fault_at(issue, FaultCode::OutOfBounds, address, message)
        })
    }

    /// `multimem.*`
    pub fn multimem(&mut self, issue: Issue<'_>, op: &MultimemOp) -> Fallible<Next> {
        if is_synchronising(op.at.order) {
            fence(Ordering::SeqCst);
        }
        let addresses = crate::engine::access::addresses(issue.frame, &op.at, issue.stack);
        let element = usize::from(op.at.bytes);
        let size = element * op.values.len();
        let mut results: SmallVec<[[u64; 32]; 4]> = SmallVec::new();
        results.resize(op.values.len(), [0; 32]);
        for lane in lanes_of(issue.mask) {
            let address = addresses[lane];
            let replicas = self.replicas(issue.only(1 << lane), size as u64, address, size as u64)?;
            let kind = match op.kind {
                MultimemKind::LoadReduce(_) => AccessKind::Load,
                MultimemKind::Store => AccessKind::Store,
                MultimemKind::Reduce { .. } => AccessKind::Atomic,
            };
            for &(_, _, place) in replicas.iter().filter(|_| WATCHED && self.interest.accesses) {
                let at = self.at(issue.only(1 << lane));
                self.observer.access(&at, kind, &op.at, StateSpace::Global, Addresses::Each(&[place; 32]));
            }
            for (i, &r) in op.values.iter().enumerate() {
                let offset = i * element;
                let value = lane64(issue.frame, r, lane);
                match op.kind {
                    MultimemKind::LoadReduce(how) => {
                        results[i][lane] =
                            reduce(&how, element, replicas.iter().map(|(m, o, _)| (*m, o + offset)));
                    }
                    MultimemKind::Store => {
                        for (memory, at, _) in &replicas {
                            memory.store_relaxed(at + offset, &value.to_le_bytes()[..element]);
                        }
                    }
                    MultimemKind::Reduce { bytes, function } => {
                        let (AtomicFn::Word(f) | AtomicFn::BySpace { global: f, .. }) = function else {
                            continue;
                        };
                        for (memory, at, _) in &replicas {
                            for part in 0..element / usize::from(bytes) {
                                let b = part_of(value, bytes, part);
                                let at = at + offset + part * usize::from(bytes);
                                memory.update(at, bytes.into(), |old| f(old, b, 0));
                            }
                        }
                    }
                }
            }
        }
        if let MultimemKind::LoadReduce(_) = op.kind {
            for (r, values) in op.values.iter().zip(&results) {
                put(issue.frame, *r, issue.mask, values);
            }
        }
        if is_synchronising(op.at.order) {
            fence(Ordering::SeqCst);
        }
        Ok(Next::Advance)
    }
}

/// Part `i` of `bytes` bytes.
fn part_of(value: u64, bytes: u8, i: usize) -> u64 {
    let bits = u32::from(bytes) * 8;
    (value >> (i as u32 * bits)) & (u64::MAX >> (64 - bits))
}

/// Folds the element at several places, part by part, in the order of the replicas.
fn reduce<'m>(how: &Reduction, element: usize, places: impl Iterator<Item = (&'m Bytes, usize)>) -> u64 {
    let values: SmallVec<[u64; 8]> = places
        .map(|(memory, at)| {
            let mut word = [0; 8];
            memory.load_relaxed(at, &mut word[..element]);
            u64::from_le_bytes(word)
        })
        .collect();
    let bits = u32::from(how.bytes) * 8;
    (0..element / usize::from(how.bytes)).fold(0, |whole, i| {
        let parts = values.iter().map(|v| (how.widen)(part_of(*v, how.bytes, i)));
        let sum = parts.reduce(how.fold).unwrap_or(0);
        whole | ((how.narrow)(sum) & (u64::MAX >> (64 - bits))) << (i as u32 * bits)
    })
}
