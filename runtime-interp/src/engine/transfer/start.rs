//! Copies, stores and reductions start: `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`,
//! `clusterlaunchcontrol.try_cancel`, and the arrival that follows copies.

use super::flight::Work;
use super::piece::{Piece, Signal, Source};
use super::places::{Spot, Target, Wanted};
use crate::engine::access::addresses;
use crate::engine::async_op::{Completion, TransferAction, TransferOp, TransferSource};
use crate::engine::mbarrier::{self, Object};
use crate::engine::op::{Access, Guard};
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{holds, lane32, lane128, lanes_of};
use crate::fault::{Fault, FaultCode};
use crate::memory::global::Replica;
use smallvec::SmallVec;
use warpsmith_isa::StateSpace;

/// The most bytes that `.ignore_oob` leaves alone at an end.
const MOST_IGNORED: u32 = 15;

/// The addresses of an operation's operands in all lanes.
struct Addresses<'o> {
    to: [u64; 32],
    /// Of a source in memory.
    from: [u64; 32],
    /// The mbarrier object that is signalled, if any.
    object: Option<(&'o Access, [u64; 32])>,
    /// The lanes whose source is not read (`ignore-src`).
    ignored: u32,
}

impl<'o> Addresses<'o> {
    fn of(issue: Issue<'_>, op: &'o TransferOp) -> Self {
        let of = |at: &Access| addresses(issue.frame, at, issue.stack);
        let to = of(&op.to);
        Addresses {
            to,
            from: if let TransferSource::Memory(at) = &op.from { of(at) } else { to },
            object: if let Completion::Mbarrier(at) = &op.completion { Some((at, of(at))) } else { None },
            ignored: op.ignore.map_or(0, |pred| holds(issue.frame, Guard { pred, negated: false })),
        }
    }
}

/// How much a lane moves.
#[derive(Clone, Copy)]
struct Extent {
    /// Bytes to write, and those of them that are read: what is not read is zero.
    bytes: u32,
    read: u32,
    /// Bytes at the beginning, and at both ends together, that are neither read nor written. `bytes` and `read` are without them.
    left: u32,
    ignored: u32,
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Puts a transfer in flight.
    pub fn start_transfer(&mut self, issue: Issue<'_>, op: &TransferOp) -> Fallible<Next> {
        if let Some(copy) = self.warp_copy(issue, op)
            && self.launch_copy(issue, copy)?
        {
            return Ok(Next::Advance);
        }
        let mut pieces: SmallVec<[Piece; 1]> = SmallVec::with_capacity(issue.mask.count_ones() as usize);
        let addresses = Addresses::of(issue, op);
        for lane in lanes_of(issue.mask) {
            pieces.push(self.piece(issue.only(1 << lane), op, &addresses, lane)?);
        }
        let group = match op.completion {
            Completion::Group(group) => Some(group),
            // An mbarrier that is signalled later tracks `cp.async` alone.
            Completion::Mbarrier(_) | Completion::Silent => None,
        };
        self.launch(issue, group, Work::Move(op.action), pieces)?;
        Ok(Next::Advance)
    }

    /// What one lane moves, every operand of it checked.
    fn piece(
        &self,
        one: Issue<'_>,
        op: &TransferOp,
        addresses: &Addresses<'_>,
        lane: usize,
    ) -> Fallible<Piece> {
        let extent = self.extent(one, op, addresses.ignored, lane)?;
        let (from, data) = self.source(one, op, addresses.from[lane], extent, lane)?;
        let byte_mask = op.byte_mask.map_or(u16::MAX, |r| lane32(one.frame, r, lane) as u16);
        let Extent { bytes, read, left, ignored } = extent;
        let piece = Piece { from, read, bytes, byte_mask, data, ..Piece::of_lane(lane) };
        if op.replicas {
            let replicas = self.replicas(one, op.to.bytes.into(), addresses.to[lane], bytes.into())?;
            let target = |&(_, _, place): &Replica<'_>| Target { at: Spot::Global(place), signal: None };
            return Ok(Piece { to: replicas.iter().map(target).collect(), ..piece });
        }
        let wanted = match op.completion {
            Completion::Mbarrier(_) => Some(Wanted::Shared),
            Completion::Silent => Some(Wanted::Global),
            Completion::Group(_) => None,
        };
        let whole = (addresses.to[lane], bytes + ignored);
        let at = self.place(one, &op.to, whole, "destination", wanted)?.after(left);
        let object = match addresses.object {
            Some((access, addresses)) => {
                match self.place(
                    one,
                    access,
                    (addresses[lane], 8),
                    "mbarrier object",
                    Some(Wanted::Shared),
                )? {
                    Spot::Shared(rank, offset) => Some((rank, offset)),
                    Spot::Global(_) => None,
                }
            }
            None => None,
        };
        if let (Spot::Shared(to, _), Some((tracker, _))) = (at, object) {
            self.check_blocks(one, op, to, tracker)?;
        }
        let to = self.targets(one, op, Target { at, signal: object }, lane)?;
        Ok(Piece { to, signal: Signal { ignored, report: op.report }, ..piece })
    }

    /// How much a lane moves.
    fn extent(&self, one: Issue<'_>, op: &TransferOp, ignored: u32, lane: usize) -> Fallible<Extent> {
        let bytes = lane32(one.frame, op.bytes, lane);
        let read = match op.read_bytes {
            _ if ignored >> lane & 1 != 0 => 0,
            Some(r) => lane32(one.frame, r, lane),
            None => bytes,
        };
        if read > bytes {
            return Err(self.misuse(one, format!("{read} bytes are to be read for a copy of {bytes}")));
        }
        if op.bulk && !bytes.is_multiple_of(16) {
            let message = format!("a bulk copy of {bytes} bytes, which is not a multiple of 16");
            return Err(self.misuse(one, message));
        }
        let [left, right] = op.ignored_ends.map_or([0; 2], |ends| ends.map(|r| lane32(one.frame, r, lane)));
        if left.max(right) > MOST_IGNORED || left + right > bytes {
            return Err(self.misuse(
                one,
                format!(
                    "{left} bytes at the beginning and {right} at the end of {bytes} are to be ignored; up to {MOST_IGNORED} can be"
                ),
            ));
        }
        let ignored = left + right;
        Ok(Extent { bytes: bytes - ignored, read: read.saturating_sub(ignored), left, ignored })
    }

    /// Where the bytes of a lane come from, and those that are there already.
    fn source(
        &self,
        one: Issue<'_>,
        op: &TransferOp,
        address: u64,
        extent: Extent,
        lane: usize,
    ) -> Fallible<(Source, SmallVec<[u8; 16]>)> {
        let mut data = SmallVec::new();
        let Extent { bytes, read, left, ignored } = extent;
        let source = match &op.from {
            TransferSource::Memory(_) if read == 0 => {
                data.resize(bytes as usize, 0);
                Source::Read
            }
            TransferSource::Memory(at) if ignored == 0 => {
                Source::Memory(self.place(one, at, (address, read), "source", None)?)
            }
            // The whole is aligned; what is read of it begins anywhere.
            TransferSource::Memory(at) => {
                let unit = u64::from(at.bytes);
                if !address.is_multiple_of(unit) {
                    let message = format!("global address {address:#x} is not a multiple of {unit}");
                    return Err(self.fault_at(one, FaultCode::Misaligned, address, message));
                }
                let inner = Access { bytes: 1, ..*at };
                let start = address + u64::from(left);
                Source::Memory(self.place(one, &inner, (start, read), "source", None)?)
            }
            TransferSource::Values { values, bytes } => {
                for r in values {
                    let value = lane128(one.frame, *r, lane).to_le_bytes();
                    data.extend_from_slice(&value[..usize::from(*bytes)]);
                }
                Source::Read
            }
            TransferSource::Cancel => Source::Cancel,
        };
        Ok((source, data))
    }

    /// The place of an operand, which a message names, given by its address and how many bytes it has.
    fn place(
        &self,
        one: Issue<'_>,
        at: &Access,
        (address, bytes): (u64, u32),
        what: &str,
        wanted: Option<Wanted>,
    ) -> Fallible<Spot> {
        self.spot(one.block, at, address, bytes, wanted).map_err(|(code, message)| {
            self.fault_at(one, code, address, format!("{what} of {bytes} bytes: {message}"))
        })
    }

    /// What the manual demands of the block that a transfer writes to, and of that whose mbarrier object tracks it.
    fn check_blocks(&self, one: Issue<'_>, op: &TransferOp, to: usize, tracker: usize) -> Fallible<()> {
        let own = one.block.rank;
        let alone = one.block.cluster.members.len() == 1;
        match (&op.from, op.action) {
            (TransferSource::Values { .. }, TransferAction::Store) if alone => {
                Err(self.misuse(one, "an asynchronous store in a cluster of one block"))
            }
            (TransferSource::Values { .. }, TransferAction::Store) if to != tracker => {
                let message = format!(
                    "the destination is in block {to} of the cluster, its mbarrier object in block {tracker}"
                );
                Err(self.misuse(one, message))
            }
            (TransferSource::Values { .. }, TransferAction::Reduce { .. }) if to != tracker || to == own => {
                let message = format!(
                    "the destination is in block {to} of the cluster and its mbarrier object in block {tracker}; \
                     both must be in one block other than the executing block {own}"
                );
                Err(self.misuse(one, message))
            }
            // Of copies only (9.7.9.25.4.1): a reduction may go to the block's own memory (9.7.9.25.4.2).
            (TransferSource::Memory(from), TransferAction::Store)
                if from.space == StateSpace::Shared && to == own =>
            {
                Err(self.misuse(one, "a copy to the shared memory of the executing block itself"))
            }
            _ => Ok(()),
        }
    }

    /// Where a lane writes: one target, or in a multicast that at the same offsets of each block.
    fn targets(
        &self,
        one: Issue<'_>,
        op: &TransferOp,
        target: Target,
        lane: usize,
    ) -> Fallible<SmallVec<[Target; 1]>> {
        let count = one.block.cluster.members.len();
        let everyone = u32::MAX >> (32 - count.clamp(1, 32));
        let ranks = match op.multicast {
            Some(r) => Some(lane32(one.frame, r, lane) & (u32::MAX >> (32 - op.multicast_bits))),
            None => op.multicast_all.then_some(everyone),
        };
        let (Some(ranks), Spot::Shared(_, offset)) = (ranks, target.at) else {
            return Ok(SmallVec::from_iter([target]));
        };
        if ranks & !everyone != 0 {
            return Err(self.misuse(one, format!("multicast to blocks {ranks:#b} of a cluster of {count}")));
        }
        let in_block = |rank| Target {
            at: Spot::Shared(rank, offset),
            signal: target.signal.map(|(_, object)| (rank, object)),
        };
        Ok(lanes_of(ranks).map(in_block).collect())
    }

    /// `cp.async.mbarrier.arrive`
    pub fn arrive_on_copies(&mut self, issue: Issue<'_>, at: &Access, increment: bool) -> Fallible<Next> {
        let addresses = addresses(issue.frame, at, issue.stack);
        let mut pieces: SmallVec<[Piece; 1]> = SmallVec::new();
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            let (rank, offset) = self.shared_operand(one, at, addresses[lane], 8)?;
            let memory = &issue.block.cluster.members[rank].memory;
            let change = |o: Object| if increment { o.increment() } else { Ok(o) };
            if let Err(message) = mbarrier::update(memory, offset, change) {
                return Err(self.fault(one, FaultCode::BadMbarrier, message));
            }
            let target = Target { at: Spot::Shared(rank, offset), signal: Some((rank, offset)) };
            pieces.push(Piece { to: SmallVec::from_iter([target]), ..Piece::of_lane(lane) });
        }
        self.launch(issue, None, Work::ArriveOnCopies, pieces)?;
        Ok(Next::Advance)
    }

    /// The fault of operands that the manual forbids.
    #[cold]
    fn misuse(&self, one: Issue<'_>, message: impl Into<String>) -> Box<Fault> {
        self.fault(one, FaultCode::BadOperand, message)
    }
}
