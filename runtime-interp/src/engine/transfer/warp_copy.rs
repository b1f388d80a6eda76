//! `cp.async` by the lanes of a warp at once: what nearly all copies that groups track are.
//!
//! A [`Piece`](super::piece::Piece) for each lane can be any copy, and costs as much. Here all lanes copy as many bytes, up to 16, from one allocation of
//! global memory to the shared memory of their own block; so each end is checked as a whole, and bytes lie in arrays. What is not so, and what
//! somebody watches, is left to pieces, which also find the lane at fault.

use super::flight::Issuer;
use crate::engine::async_op::{Completion, Group, TransferAction, TransferOp, TransferSource};
use crate::engine::cluster::ClusterState;
use crate::engine::op::Guard;
use crate::engine::run::{Issue, Runner};
use crate::engine::values::{holds, lane32, lanes_of};
use warpsmith_isa::StateSpace;

/// The most bytes of a lane.
const MOST: usize = 16;

/// The copies of the lanes of an instruction.
pub(super) struct WarpCopy {
    /// The lanes that are not complete.
    pub lanes: u32,
    /// The lanes of those whose sources are not read.
    unread: u32,
    /// Bytes that each lane writes, and that it reads: the others are zero.
    bytes: usize,
    read: [u8; 32],
    from: [u64; 32],
    /// Offsets in the block's shared memory.
    to: [u32; 32],
    data: [[u8; MOST]; 32],
}

/// The lowest and the highest of the addresses of some lanes, and the bits that are set in any.
fn extremes(addresses: &[u64; 32], lanes: u32) -> [u64; 3] {
    lanes_of(lanes).fold([u64::MAX, 0, 0], |[low, high, bits], lane| {
        let address = addresses[lane];
        [low.min(address), high.max(address), bits | address]
    })
}

impl WarpCopy {
    pub fn is_read(&self) -> bool {
        self.unread == 0
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// The copy that an operation is, if it is one of these; a fault is none.
    pub(super) fn warp_copy(&self, issue: Issue<'_>, op: &TransferOp) -> Option<Box<WarpCopy>> {
        let TransferSource::Memory(source) = &op.from else { return None };
        let plain =
            matches!((op.completion, op.action), (Completion::Group(Group::Copy), TransferAction::Store))
                && !(op.bulk || op.replicas || op.multicast_all)
                && op.byte_mask.is_none()
                && op.multicast.is_none()
                && op.ignored_ends.is_none()
                && op.report.is_none()
                && (source.space, op.to.space) == (StateSpace::Global, StateSpace::Shared);
        if WATCHED || !plain || issue.mask == 0 {
            return None;
        }
        let lanes = issue.mask;
        let bytes = lane32(issue.frame, op.bytes, lanes.trailing_zeros() as usize);
        let ignored = op.ignore.map_or(0, |pred| holds(issue.frame, Guard { pred, negated: false }));
        let mut copy = Box::new(WarpCopy {
            lanes,
            unread: lanes,
            bytes: bytes as usize,
            read: [0; 32],
            from: crate::engine::access::addresses(issue.frame, source, issue.stack),
            to: [0; 32],
            data: [[0; MOST]; 32],
        });
        if copy.bytes > MOST {
            return None;
        }
        for lane in lanes_of(lanes) {
            let read = op.read_bytes.map_or(bytes, |r| lane32(issue.frame, r, lane));
            if read > bytes || lane32(issue.frame, op.bytes, lane) != bytes {
                return None;
            }
            if ignored >> lane & 1 == 0 {
                copy.read[lane] = read as u8;
            }
            if copy.read[lane] == 0 {
                copy.unread &= !(1 << lane);
            }
        }
        let aligned = |bits: u64, unit: u8| bits.is_multiple_of(u64::from(unit));
        if copy.unread != 0 {
            let [low, high, bits] = extremes(&copy.from, copy.unread);
            let (_, _, rest) = self.cx.global_at(low)?;
            if !aligned(bits, source.bytes) || high - low + u64::from(bytes) > rest {
                return None;
            }
        }
        let to = crate::engine::access::addresses(issue.frame, &op.to, issue.stack);
        let [_, high, bits] = extremes(&to, lanes);
        // Addresses of other blocks, and this block's as the cluster sees them, are beyond any memory.
        if !aligned(bits, op.to.bytes) || high.checked_add(bytes.into())? > issue.block.shared.len() as u64 {
            return None;
        }
        for (to, address) in copy.to.iter_mut().zip(to) {
            *to = address as u32;
        }
        Some(copy)
    }

    /// Reads the sources of some lanes: how many bytes are held since, or the lane whose source has vanished.
    pub(super) fn read_copy(&self, copy: &mut WarpCopy, lanes: u32) -> Result<usize, (u8, u64)> {
        let lanes = copy.unread & lanes;
        if lanes == 0 {
            return Ok(0);
        }
        let [low, high, _] = extremes(&copy.from, lanes);
        let whole = self.cx.global_at(low).filter(|(_, _, rest)| high - low + copy.bytes as u64 <= *rest);
        for lane in lanes_of(lanes) {
            let (address, bytes) = (copy.from[lane], usize::from(copy.read[lane]));
            let (memory, offset) = match whole {
                Some((memory, offset, _)) => (memory, offset + (address - low) as usize),
                // Memory that a thread has freed meanwhile.
                None => match self.cx.global_at(address) {
                    Some((memory, offset, rest)) if bytes as u64 <= rest => (memory, offset),
                    _ => return Err((lane as u8, address)),
                },
            };
            memory.load_relaxed(offset, &mut copy.data[lane][..bytes]);
        }
        copy.unread &= !lanes;
        Ok(lanes.count_ones() as usize * copy.bytes)
    }

    /// Writes what some lanes have read.
    pub(super) fn write_copy(&self, cluster: &ClusterState, issuer: Issuer, copy: &mut WarpCopy, lanes: u32) {
        let member = &cluster.members[issuer.rank];
        // What a block was to get, and did not wait for, nobody can see.
        if !member.gone.get() {
            for lane in lanes_of(copy.lanes & lanes) {
                member.memory.store_relaxed(copy.to[lane] as usize, &copy.data[lane][..copy.bytes]);
            }
        }
        copy.lanes &= !lanes;
    }
}
