//! Asynchronous transfers: copies, stores and reductions that a thread starts and the machine completes later
//! (PTX ISA 9.0, 9.7.9.12, 9.7.9.25 and 9.7.13.7).
//!
//! A transfer is put in flight and gets two times: when it reads and when it is complete. It happens when the cluster's clock has
//! come there, when a thread waits for it, or when no thread has anything else to do, and not before: a kernel that forgets to
//! wait sees the old bytes. With a seed the times are drawn, and transfers overtake each other.

mod cells;
mod product;
mod tensor;
mod warp_copy;

use crate::engine::AtomicFn;
use crate::engine::async_op::{Completion, Group, ReportPattern, TransferAction, TransferOp, TransferSource};
use crate::engine::block::{BlockContext, locate};
use crate::engine::cluster::ClusterState;
use crate::engine::mbarrier::{self, Object};
use crate::engine::observe::{MbarrierEvent, MemoryRange, Stage, Sync};
use crate::engine::op::Access;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::tensor_memory::Region;
use crate::engine::values::{holds, lane32, lane128, lanes_of, lanes_where};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use crate::memory::window;
use cells::CellsPiece;
use smallvec::SmallVec;
use std::sync::atomic::{Ordering, fence};
use tensor::TilePiece;
use warp_copy::WarpCopy;
use warpsmith_isa::StateSpace;

/// How long a transfer takes without a seed, in instructions of the cluster.
const DELAY: u64 = 1 << 12;

/// The most bytes that `.ignore_oob` leaves alone at an end.
const MOST_IGNORED: u32 = 15;

/// The most transfers in flight, and bytes held by those that have read and not written. Past that, things happen early.
const MOST_IN_FLIGHT: usize = 4096;
const MOST_HELD: usize = 64 << 20;

/// The transfers in flight of a cluster.
#[derive(Default)]
pub(in crate::engine) struct Flight {
    queue: Vec<Transfer>,
    /// Nothing happens before.
    next: u64,
    issued: u64,
    /// Bytes that have been read and not written.
    held: usize,
    /// For each warp of the cluster, kind of group and lane: how many groups the thread has committed.
    committed: Vec<[[u32; 32]; 2]>,
}

/// Who issued a transfer.
#[derive(Clone, Copy)]
struct Issuer {
    number: u64,
    rank: usize,
    warp: u32,
    pc: u32,
}

/// What one instruction has put in flight, for lanes that commit it to the same group.
struct Transfer {
    issuer: Issuer,
    /// The kind and number of the group it belongs to, if it is tracked so.
    group: Option<(Group, u32)>,
    read_at: u64,
    due: u64,
    work: Work,
    pieces: SmallVec<[Piece; 1]>,
    /// In the place of pieces.
    copy: Option<Box<WarpCopy>>,
    /// All pieces have been read; and the bytes that they hold since.
    is_read: bool,
    held: usize,
}

impl Transfer {
    /// The lanes that are not complete.
    fn lanes(&self) -> u32 {
        let of_copy = self.copy.as_ref().map_or(0, |copy| copy.lanes);
        self.pieces.iter().fold(of_copy, |lanes, piece| lanes | 1 << piece.lane)
    }
}

#[derive(Clone, Copy)]
enum Work {
    Move(TransferAction),
    /// Only the signal, after all earlier copies of the lane.
    ArriveOnCopies,
    /// To tensor memory, after earlier shifts of the lane.
    Cells,
    /// In tensor memory, after earlier products of the lane.
    Shift,
    /// A product in tensor memory, after all of these of its block, or pair of blocks: threads that fence order them (9.7.16.6.2).
    Multiply,
    /// Only the signal, after all of these of the lane.
    ArriveOnCells,
}

/// The transfer of one lane.
struct Piece {
    lane: u8,
    from: Source,
    /// Bytes to read, and to write: what is not read is zero.
    read: u32,
    bytes: u32,
    byte_mask: u16,
    /// What the mbarrier object is told besides the bytes that are written.
    signal: Signal,
    /// What was read.
    data: SmallVec<[u8; 16]>,
    to: SmallVec<[Target; 1]>,
    /// What a tensor map describes: it takes the place of one of the two ends.
    tile: Option<Box<TilePiece>>,
    /// What moves in tensor memory.
    cells: Option<Box<CellsPiece>>,
}

impl Piece {
    /// A piece that moves nothing yet.
    fn of_lane(lane: usize) -> Piece {
        Piece {
            lane: lane as u8,
            from: Source::Read,
            read: 0,
            bytes: 0,
            byte_mask: 0,
            signal: Signal::default(),
            data: SmallVec::new(),
            to: SmallVec::new(),
            tile: None,
            cells: None,
        }
    }
}

/// What an mbarrier object is told of a piece.
#[derive(Clone, Copy, Default)]
struct Signal {
    /// Bytes that count as complete and are left alone.
    ignored: u32,
    /// What is reported if it is found.
    report: Option<ReportPattern>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Memory(Spot),
    /// The tile of the piece, from the tensor or from the shared memory of a block.
    Tile,
    Cancel,
    /// The data are there.
    Read,
}

/// A checked place in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    Global(u64),
    Shared(usize, usize),
}

#[derive(Clone, Copy)]
struct Target {
    at: Spot,
    signal: Option<(usize, usize)>,
}

/// Which memory an operand may be in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Global,
    Shared,
}

impl Flight {
    pub fn clear(&mut self) {
        self.queue.clear();
        self.committed.clear();
        (self.next, self.issued, self.held) = (u64::MAX, 0, 0);
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn committed(&mut self, warps: u32, rank: usize, warp: u32) -> &mut [[u32; 32]; 2] {
        let index = rank * warps as usize + warp as usize;
        if self.committed.len() <= index {
            self.committed.resize(index + 1, [[0; 32]; 2]);
        }
        &mut self.committed[index]
    }

    /// The instruction of an operation in flight that reads or writes a region of the tensor memory of a block, or, unless it is to be written,
    /// that writes it.
    pub fn in_cells(&self, rank: usize, region: &Region, writes: bool) -> Option<u32> {
        let conflicts = |piece: &Piece| {
            piece.cells.as_ref().is_some_and(|cells| {
                let [read, written] = cells.regions(rank);
                written.meets(region) || writes && read.meets(region)
            })
        };
        self.queue.iter().find(|t| t.pieces.iter().any(conflicts)).map(|t| t.issuer.pc)
    }

    /// Removes what is done and finds when something is to happen next.
    fn tidy(&mut self) {
        self.queue.retain(|t| t.lanes() != 0);
        let next = |t: &Transfer| if t.is_read { t.due } else { t.read_at.min(t.due) };
        self.next = self.queue.iter().map(next).min().unwrap_or(u64::MAX);
        self.held = self.queue.iter().map(|t| t.held).sum();
    }
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
        let of = |at: &Access| crate::engine::access::addresses(issue.frame, at, issue.stack);
        let to = of(&op.to);
        let from = if let TransferSource::Memory(at) = &op.from { of(at) } else { to };
        let signal = if let Completion::Mbarrier(at) = &op.completion { Some((at, of(at))) } else { None };
        let ignored =
            op.ignore.map_or(0, |pred| holds(issue.frame, crate::engine::op::Guard { pred, negated: false }));
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            let misuse = |message: String| self.fault(one, FaultCode::BadOperand, message);
            let bytes = lane32(issue.frame, op.bytes, lane);
            let read = match op.read_bytes {
                _ if ignored >> lane & 1 != 0 => 0,
                Some(r) => lane32(issue.frame, r, lane),
                None => bytes,
            };
            if read > bytes {
                return Err(misuse(format!("{read} bytes are to be read for a copy of {bytes}")));
            }
            if op.bulk && !bytes.is_multiple_of(16) {
                return Err(misuse(format!("a bulk copy of {bytes} bytes, which is not a multiple of 16")));
            }
            let place = |at: &Access, address: u64, bytes: u32, what: &str, wanted: Option<Wanted>| {
                self.spot(issue.block, at, address, bytes, wanted).map_err(|(code, message)| {
                    let mut fault = self.fault(one, code, format!("{what} of {bytes} bytes: {message}"));
                    fault.address = Some(address);
                    fault
                })
            };
            // What is ignored at both ends is neither read nor written.
            let [left, right] =
                op.ignored_ends.map_or([0; 2], |ends| ends.map(|r| lane32(issue.frame, r, lane)));
            if left.max(right) > MOST_IGNORED || left + right > bytes {
                return Err(misuse(format!(
                    "{left} bytes at the beginning and {right} at the end of {bytes} are to be ignored; up to {MOST_IGNORED} can be"
                )));
            }
            let ignored = left + right;
            let (bytes, read) = (bytes - ignored, read.saturating_sub(ignored));
            let mut data: SmallVec<[u8; 16]> = SmallVec::new();
            let source = match &op.from {
                TransferSource::Memory(at) if read > 0 && ignored > 0 => {
                    let unit = u64::from(at.bytes);
                    if !from[lane].is_multiple_of(unit) {
                        let message = format!("global address {:#x} is not a multiple of {unit}", from[lane]);
                        let mut fault = self.fault(one, FaultCode::Misaligned, message);
                        fault.address = Some(from[lane]);
                        return Err(fault);
                    }
                    let inner = Access { bytes: 1, ..*at };
                    Source::Memory(place(&inner, from[lane] + u64::from(left), read, "source", None)?)
                }
                TransferSource::Memory(at) if read > 0 => {
                    Source::Memory(place(at, from[lane], read, "source", None)?)
                }
                TransferSource::Memory(_) => {
                    data.resize(bytes as usize, 0);
                    Source::Read
                }
                TransferSource::Values { values, bytes } => {
                    for r in values {
                        data.extend_from_slice(
                            &lane128(issue.frame, *r, lane).to_le_bytes()[..usize::from(*bytes)],
                        );
                    }
                    Source::Read
                }
                TransferSource::Cancel => Source::Cancel,
            };
            let wanted = match op.completion {
                Completion::Mbarrier(_) => Some(Wanted::Shared),
                Completion::Silent => Some(Wanted::Global),
                Completion::Group(_) => None,
            };
            if op.replicas {
                let to = self.replicas(one, &op.to, to[lane], bytes)?;
                let byte_mask = op.byte_mask.map_or(u16::MAX, |r| lane32(issue.frame, r, lane) as u16);
                let (lane, signal, tile, cells) = (lane as u8, Signal::default(), None, None);
                pieces.push(Piece {
                    lane,
                    from: source,
                    read,
                    bytes,
                    byte_mask,
                    signal,
                    data,
                    to,
                    tile,
                    cells,
                });
                continue;
            }
            let at = place(&op.to, to[lane], bytes + ignored, "destination", wanted)?.after(left);
            let signal = match &signal {
                Some((access, addresses)) => {
                    match place(access, addresses[lane], 8, "mbarrier object", Some(Wanted::Shared))? {
                        Spot::Shared(rank, offset) => Some((rank, offset)),
                        Spot::Global(_) => None,
                    }
                }
                None => None,
            };
            // What the manual demands of the blocks involved.
            if let (Spot::Shared(to, _), Some((tracker, _))) = (at, signal) {
                let alone = issue.block.cluster.members.len() == 1;
                match (&op.from, op.action) {
                    (TransferSource::Values { .. }, TransferAction::Store) if to != tracker || alone => {
                        let message = if alone {
                            "an asynchronous store in a cluster of one block".into()
                        } else {
                            format!(
                                "the destination is in block {to} of the cluster, its mbarrier object in block {tracker}"
                            )
                        };
                        return Err(misuse(message));
                    }
                    (TransferSource::Values { .. }, TransferAction::Reduce { .. })
                        if to != tracker || to == issue.block.rank =>
                    {
                        let message = format!(
                            "the destination is in block {to} of the cluster and its mbarrier object in block {tracker}; \
                             both must be in one block other than the executing block {}",
                            issue.block.rank
                        );
                        return Err(misuse(message));
                    }
                    (TransferSource::Memory(from), _)
                        if from.space == StateSpace::Shared && to == issue.block.rank =>
                    {
                        return Err(misuse(
                            "a copy to the shared memory of the executing block itself".into(),
                        ));
                    }
                    _ => {}
                }
            }
            let mut targets: SmallVec<[Target; 1]> = SmallVec::new();
            let everyone = u32::MAX >> (32 - issue.block.cluster.members.len().clamp(1, 32));
            let ranks = match op.multicast {
                Some(r) => Some(lane32(issue.frame, r, lane) & (u32::MAX >> (32 - op.multicast_bits))),
                None => op.multicast_all.then_some(everyone),
            };
            match (ranks, at) {
                (Some(ranks), Spot::Shared(_, offset)) => {
                    if ranks & !everyone != 0 {
                        let count = issue.block.cluster.members.len();
                        return Err(misuse(format!(
                            "multicast to blocks {ranks:#b} of a cluster of {count}"
                        )));
                    }
                    targets.extend(lanes_of(ranks).map(|rank| Target {
                        at: Spot::Shared(rank, offset),
                        signal: signal.map(|(_, offset)| (rank, offset)),
                    }));
                }
                _ => targets.push(Target { at, signal }),
            }
            let byte_mask = op.byte_mask.map_or(u16::MAX, |r| lane32(issue.frame, r, lane) as u16);
            let (tile, cells) = (None, None);
            pieces.push(Piece {
                lane: lane as u8,
                from: source,
                read,
                bytes,
                byte_mask,
                signal: Signal { ignored, report: op.report },
                data,
                to: targets,
                tile,
                cells,
            });
        }
        let group = match op.completion {
            Completion::Group(group) => Some(group),
            // An mbarrier that is told later tracks `cp.async` alone.
            _ => None,
        };
        self.launch(issue, group, Work::Move(op.action), pieces)?;
        Ok(Next::Advance)
    }

    /// `cp.async.mbarrier.arrive`
    pub fn arrive_on_copies(&mut self, issue: Issue<'_>, at: &Access, increment: bool) -> Fallible<Next> {
        let addresses = crate::engine::access::addresses(issue.frame, at, issue.stack);
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
            let (data, to) = (SmallVec::new(), SmallVec::from_iter([target]));
            pieces.push(Piece { data, to, ..Piece::of_lane(lane) });
        }
        self.launch(issue, None, Work::ArriveOnCopies, pieces)?;
        Ok(Next::Advance)
    }

    fn launch(
        &mut self,
        issue: Issue<'_>,
        group: Option<Group>,
        work: Work,
        mut pieces: SmallVec<[Piece; 1]>,
    ) -> Fallible<()> {
        let (read_after, after) = self.turns.delay(DELAY);
        let now = issue.block.cluster.clock.get();
        let mut flight = issue.block.cluster.flight.borrow_mut();
        let committed = *flight.committed(self.cx.warps(), issue.block.rank, issue.warp);
        while let Some(first) = pieces.first() {
            // Lanes that have committed equally often go together; usually all have.
            let number = |lane: u8| group.map(|g| (g, committed[g as usize][usize::from(lane)]));
            let of_group = number(first.lane);
            let own = if pieces.iter().all(|p| number(p.lane) == of_group) {
                std::mem::take(&mut pieces)
            } else {
                let (own, rest) = pieces.into_iter().partition(|p| number(p.lane) == of_group);
                pieces = rest;
                own
            };
            let issuer =
                Issuer { number: flight.issued, rank: issue.block.rank, warp: issue.warp, pc: issue.pc };
            flight.issued += 1;
            if WATCHED {
                let mask = own.iter().fold(0, |m, p| m | 1 << p.lane);
                self.observer.transfer(&self.at(issue.only(mask)), issuer.number, Stage::Issued);
            }
            flight.queue.push(Transfer {
                issuer,
                group: of_group,
                read_at: now + read_after,
                due: now + after,
                work,
                is_read: own.iter().all(|p| p.from == Source::Read),
                held: 0,
                pieces: own,
                copy: None,
            });
            if after == 0 {
                let last = flight.queue.len() - 1;
                self.complete(issue.block.cluster, &mut flight.queue, last, u32::MAX)?;
                flight.tidy();
            }
        }
        self.note_launch(issue, &mut flight, now + read_after)
    }

    /// Puts a copy in flight, unless its lanes belong to different groups.
    fn launch_copy(&mut self, issue: Issue<'_>, copy: Box<WarpCopy>) -> Fallible<bool> {
        let mut flight = issue.block.cluster.flight.borrow_mut();
        let committed = flight.committed(self.cx.warps(), issue.block.rank, issue.warp)[Group::Copy as usize];
        let number = committed[issue.mask.trailing_zeros() as usize];
        if lanes_of(issue.mask).any(|lane| committed[lane] != number) {
            return Ok(false);
        }
        let (read_after, after) = self.turns.delay(DELAY);
        let now = issue.block.cluster.clock.get();
        let issuer = Issuer { number: flight.issued, rank: issue.block.rank, warp: issue.warp, pc: issue.pc };
        flight.issued += 1;
        flight.queue.push(Transfer {
            issuer,
            group: Some((Group::Copy, number)),
            read_at: now + read_after,
            due: now + after,
            work: Work::Move(TransferAction::Store),
            is_read: copy.is_read(),
            held: 0,
            pieces: SmallVec::new(),
            copy: Some(copy),
        });
        if after == 0 {
            let last = flight.queue.len() - 1;
            self.complete(issue.block.cluster, &mut flight.queue, last, u32::MAX)?;
            flight.tidy();
        }
        self.note_launch(issue, &mut flight, now + read_after)?;
        Ok(true)
    }

    /// Something was put in flight that happens at a time.
    fn note_launch(&mut self, issue: Issue<'_>, flight: &mut Flight, at: u64) -> Fallible<()> {
        flight.next = flight.next.min(at);
        if flight.queue.len() > MOST_IN_FLIGHT {
            for oldest in 0..MOST_IN_FLIGHT / 2 {
                self.complete(issue.block.cluster, &mut flight.queue, oldest, u32::MAX)?;
            }
            flight.tidy();
        }
        issue.block.cluster.attend();
        Ok(())
    }

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

    /// Lets happen what is due. If the threads have nothing to do, the next thing is due. True if something happened.
    pub fn deliver(&mut self, cluster: &ClusterState, idle: bool) -> Fallible<bool> {
        let mut flight = cluster.flight.borrow_mut();
        let now = if idle { cluster.clock.get().max(flight.next) } else { cluster.clock.get() };
        if flight.queue.is_empty() || flight.next > now {
            return Ok(false);
        }
        let mut due: SmallVec<[(u64, usize); 16]> = SmallVec::new();
        let Flight { queue, held, .. } = &mut *flight;
        for (i, transfer) in queue.iter_mut().enumerate() {
            if transfer.due <= now {
                due.push((transfer.due, i));
            } else if transfer.read_at <= now && !transfer.is_read && *held < MOST_HELD {
                self.read(cluster, transfer, u32::MAX)?;
                *held += transfer.held;
            }
        }
        due.sort_unstable();
        for (_, i) in due {
            self.complete(cluster, &mut flight.queue, i, u32::MAX)?;
        }
        flight.tidy();
        Ok(true)
    }

    /// Completes everything, when all threads of the cluster have exited.
    pub fn drain(&mut self, cluster: &ClusterState) -> Fallible<()> {
        let mut flight = cluster.flight.borrow_mut();
        for i in 0..flight.queue.len() {
            self.complete(cluster, &mut flight.queue, i, u32::MAX)?;
        }
        flight.tidy();
        Ok(())
    }

    /// Reads the sources of some lanes.
    fn read(&mut self, cluster: &ClusterState, transfer: &mut Transfer, lanes: u32) -> Fallible<()> {
        let issuer = transfer.issuer;
        if let Some(copy) = &mut transfer.copy {
            let held = self.read_copy(copy, lanes);
            transfer.held +=
                held.map_err(|(lane, address)| self.vanished(cluster, issuer, lane, Spot::Global(address)))?;
        }
        for piece in transfer.pieces.iter_mut().filter(|p| lanes >> p.lane & 1 != 0) {
            match piece.from {
                Source::Read => continue,
                Source::Cancel => piece.data = SmallVec::from_slice(&self.cancel().to_le_bytes()),
                Source::Tile => self.read_tile(cluster, issuer, piece)?,
                Source::Memory(spot) => {
                    piece.data.resize(piece.bytes as usize, 0);
                    let (memory, offset) = self
                        .memory(cluster, spot, piece.read)
                        .ok_or_else(|| self.vanished(cluster, issuer, piece.lane, spot))?;
                    memory.load_relaxed(offset, &mut piece.data[..piece.read as usize]);
                    self.report(cluster, issuer, piece.lane, || Stage::Read(spot.place(piece.read)));
                }
            }
            piece.from = Source::Read;
            transfer.held += piece.data.len();
        }
        transfer.is_read |= lanes == u32::MAX;
        Ok(())
    }

    /// Completes some lanes of a transfer: reads what is not read, writes, and tells.
    fn complete(
        &mut self,
        cluster: &ClusterState,
        queue: &mut [Transfer],
        index: usize,
        lanes: u32,
    ) -> Fallible<()> {
        let Issuer { rank, warp, .. } = queue[index].issuer;
        let work = queue[index].work;
        let lanes_here = queue[index].lanes() & lanes;
        for earlier in if lanes_here == 0 || matches!(work, Work::Move(_)) { 0..0 } else { 0..index } {
            let t = &queue[earlier];
            let own = t.issuer.rank == rank && t.issuer.warp == warp;
            let near = t.issuer.rank / 2 == rank / 2;
            let lanes = match (work, t.work) {
                (Work::ArriveOnCopies, _) if own && matches!(t.group, Some((Group::Copy, _))) => lanes_here,
                (Work::ArriveOnCells, Work::Cells | Work::Shift | Work::Multiply) if own => lanes_here,
                (Work::Cells, Work::Shift) | (Work::Shift, Work::Multiply) if own => lanes_here,
                (Work::Multiply, Work::Cells | Work::Shift | Work::Multiply) if near => u32::MAX,
                _ => continue,
            };
            self.complete(cluster, queue, earlier, lanes)?;
        }
        let transfer = &mut queue[index];
        self.read(cluster, transfer, lanes)?;
        let issuer = transfer.issuer;
        if let Some(copy) = &mut transfer.copy {
            self.write_copy(cluster, issuer, copy, lanes);
        }
        for piece in transfer.pieces.iter().filter(|p| lanes >> p.lane & 1 != 0) {
            self.move_cells(cluster, issuer, piece)?;
            for target in &piece.to {
                self.write(cluster, issuer, transfer.work, piece, target)?;
            }
            self.report(cluster, issuer, piece.lane, || Stage::Complete);
        }
        transfer.pieces.retain(|p| lanes >> p.lane & 1 == 0);
        Ok(())
    }

    fn write(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        work: Work,
        piece: &Piece,
        target: &Target,
    ) -> Fallible<()> {
        if let Spot::Shared(rank, _) = target.at
            && cluster.members[rank].gone.get()
        {
            // What a block was to get, and did not wait for, nobody can see.
            if rank == issuer.rank {
                return Ok(());
            }
            return Err(self.vanished(cluster, issuer, piece.lane, target.at));
        }
        let bytes = piece.data.len() as u32;
        if let (Work::Move(action), Some(tile)) = (work, &piece.tile) {
            self.write_tile(cluster, issuer, action, piece, tile, target)?;
        } else if let Work::Move(action) = work
            && bytes > 0
        {
            let (memory, offset) = self
                .memory(cluster, target.at, bytes)
                .ok_or_else(|| self.vanished(cluster, issuer, piece.lane, target.at))?;
            match action {
                TransferAction::Store if piece.byte_mask == u16::MAX => {
                    memory.store_relaxed(offset, &piece.data)
                }
                TransferAction::Store => {
                    for (i, b) in
                        piece.data.iter().enumerate().filter(|(i, _)| piece.byte_mask >> (i % 16) & 1 != 0)
                    {
                        memory.store_relaxed(offset + i, &[*b]);
                    }
                }
                TransferAction::Reduce { bytes, function } => {
                    reduce(memory, offset, target.at, function, usize::from(bytes), &piece.data);
                }
            }
            self.report(cluster, issuer, piece.lane, || {
                let place = target.at.place(bytes);
                match action {
                    TransferAction::Store => Stage::Written(place),
                    TransferAction::Reduce { bytes, .. } => Stage::Reduced { place, element: bytes },
                }
            });
        }
        let Some((rank, offset)) = target.signal else { return Ok(()) };
        // The signal releases what was written.
        fence(Ordering::SeqCst);
        let arrives = matches!(work, Work::ArriveOnCopies | Work::ArriveOnCells);
        let bytes = bytes + piece.signal.ignored;
        let reports = piece.signal.report.is_some_and(|pattern| is_found(pattern, &piece.data));
        let signal = |o: Object| match arrives {
            true => o.arrive(1, false),
            false => (if reports { o.report()? } else { o }).complete(bytes),
        };
        match mbarrier::update(&cluster.members[rank].memory, offset, signal) {
            Ok((before, after)) => {
                if (before >> 63 != 0) != after.phase {
                    cluster.note_event();
                }
                if WATCHED {
                    let event =
                        if arrives { MbarrierEvent::Arrive(1) } else { MbarrierEvent::CompleteTx(bytes) };
                    let id = cluster.members[issuer.rank].id;
                    let at = self.cx.at(id, issuer.warp, issuer.pc, 1 << piece.lane);
                    self.observer
                        .synchronise(&at, Sync::Mbarrier { rank, offset, phase: after.phase, event });
                }
                Ok(())
            }
            Err(message) => {
                let mut fault = Fault::new(
                    FaultCode::BadMbarrier,
                    format!("the completion of an asynchronous operation: {message}"),
                );
                self.blame(&mut fault, cluster, issuer, piece.lane);
                fault.address = Some(offset as u64);
                Err(Box::new(fault))
            }
        }
    }

    /// Takes a cluster that has not started away from the grid: a response with the `%ctaid` of its first block, or zero.
    fn cancel(&self) -> u128 {
        match self.cx.take_cluster() {
            Some(number) => {
                let [x, y, z] = self.cx.member_id(number, 0);
                1 << 127 | u128::from(z) << 64 | u128::from(y) << 32 | u128::from(x)
            }
            None => 0,
        }
    }

    /// The places behind a multicast address.
    fn replicas(
        &self,
        issue: Issue<'_>,
        at: &Access,
        address: u64,
        bytes: u32,
    ) -> Fallible<SmallVec<[Target; 1]>> {
        let bad = |code: FaultCode, message: String| {
            let mut fault = self.fault(issue, code, message);
            fault.address = Some(address);
            fault
        };
        let unit = u64::from(at.bytes);
        if !address.is_multiple_of(unit) {
            let message = format!("multicast address {address:#x} is not a multiple of {unit}");
            return Err(bad(FaultCode::Misaligned, message));
        }
        let replicas = self.cx.global.replicas(address, bytes.into()).filter(|found| !found.is_empty());
        let Some(replicas) = replicas else {
            let message =
                format!("{bytes} bytes at {address:#x}, which is no multicast address of live buffers");
            return Err(bad(FaultCode::OutOfBounds, message));
        };
        Ok(replicas.iter().map(|&(_, _, place)| Target { at: Spot::Global(place), signal: None }).collect())
    }

    /// Checks an operand.
    fn spot(
        &self,
        block: &BlockContext<'_>,
        at: &Access,
        address: u64,
        bytes: u32,
        wanted: Option<Wanted>,
    ) -> Result<Spot, (FaultCode, String)> {
        let space = match at.space {
            StateSpace::Generic => window::classify(address).0,
            space => space,
        };
        let wrong = match wanted {
            Some(Wanted::Global) => space != StateSpace::Global,
            Some(Wanted::Shared) => space != StateSpace::Shared,
            None => false,
        };
        if wrong {
            return Err((
                FaultCode::OutOfBounds,
                format!("{space} address {address:#x} is in another state space"),
            ));
        }
        if space != StateSpace::Global {
            return block
                .cluster
                .operand(block.rank, at, address, bytes.into())
                .map(|(r, o)| Spot::Shared(r, o));
        }
        let unit = u64::from(at.bytes);
        if !address.is_multiple_of(unit) {
            return Err((
                FaultCode::Misaligned,
                format!("global address {address:#x} is not a multiple of {unit}"),
            ));
        }
        match self.memory(block.cluster, Spot::Global(address), bytes) {
            Some(_) => Ok(Spot::Global(address)),
            None => {
                let place = self.cx.describe_global(address, bytes.into());
                Err((FaultCode::OutOfBounds, format!("global address {address:#x}: {place}")))
            }
        }
    }

    /// The memory of a place, if it is still there.
    fn memory<'c>(&'c self, cluster: &'c ClusterState, spot: Spot, bytes: u32) -> Option<(&'c Bytes, usize)> {
        let (memory, offset, rest) = match spot {
            Spot::Shared(rank, offset) => {
                let memory = &cluster.members[rank].memory;
                (memory, offset, memory.len().checked_sub(offset)? as u64)
            }
            Spot::Global(address) => self.cx.global_at(address)?,
        };
        (u64::from(bytes) <= rest).then_some((memory, offset))
    }

    #[cold]
    fn vanished(&self, cluster: &ClusterState, issuer: Issuer, lane: u8, spot: Spot) -> Box<Fault> {
        let message = match spot {
            Spot::Shared(rank, _) => {
                format!("an asynchronous operation reaches block {rank} of the cluster, which has exited")
            }
            Spot::Global(address) => {
                format!("an asynchronous operation reaches global address {address:#x}, which has been freed")
            }
        };
        let mut fault = Fault::new(FaultCode::OutOfBounds, message);
        self.blame(&mut fault, cluster, issuer, lane);
        Box::new(fault)
    }

    fn blame(&self, fault: &mut Fault, cluster: &ClusterState, issuer: Issuer, lane: u8) {
        let id = cluster.members[issuer.rank].id;
        locate(fault, self.cx, id, issuer.warp, 1 << lane, issuer.pc);
    }

    fn report(&mut self, cluster: &ClusterState, issuer: Issuer, lane: u8, stage: impl FnOnce() -> Stage) {
        if WATCHED {
            let at = self.cx.at(cluster.members[issuer.rank].id, issuer.warp, issuer.pc, 1 << lane);
            self.observer.transfer(&at, issuer.number, stage());
        }
    }
}

/// True if the bytes of a copy have what is to be reported.
fn is_found(pattern: ReportPattern, data: &[u8]) -> bool {
    match pattern {
        ReportPattern::AllOnes => data.contains(&0xff),
        ReportPattern::NegativeZero(bits) => data.chunks_exact(16).any(|chunk| {
            let mut first = [0; 4];
            first.copy_from_slice(&chunk[..4]);
            u32::from_le_bytes(first) & (u32::MAX >> (32 - bits)) == 1 << (bits - 1)
        }),
    }
}

/// Combines elements of `bytes` bytes with those in memory.
fn reduce(memory: &Bytes, offset: usize, at: Spot, function: AtomicFn, bytes: usize, data: &[u8]) {
    let f = match (function, at) {
        (AtomicFn::Word(f), _)
        | (AtomicFn::BySpace { global: f, .. }, Spot::Global(_))
        | (AtomicFn::BySpace { shared: f, .. }, Spot::Shared(..)) => f,
        (AtomicFn::Wide(_), _) => |old, _, _| old,
    };
    for (i, element) in data.chunks_exact(bytes).enumerate() {
        let mut word = [0; 8];
        word[..element.len()].copy_from_slice(element);
        let b = u64::from_le_bytes(word);
        memory.update(offset + i * element.len(), element.len(), |old| f(old, b, 0));
    }
}

impl Spot {
    /// The place so many bytes further on.
    fn after(self, bytes: u32) -> Spot {
        match self {
            Spot::Global(address) => Spot::Global(address + u64::from(bytes)),
            Spot::Shared(rank, offset) => Spot::Shared(rank, offset + bytes as usize),
        }
    }

    fn place(self, bytes: u32) -> MemoryRange {
        self.part(0, bytes)
    }

    /// The part of a tile that lies here.
    fn part(self, at: u32, bytes: u32) -> MemoryRange {
        let (at, bytes) = (at.into(), bytes.into());
        match self {
            Spot::Global(address) => MemoryRange { rank: None, address, bytes, at },
            Spot::Shared(rank, offset) => MemoryRange { rank: Some(rank), address: offset as u64, bytes, at },
        }
    }
}
