//! What is due happens: sources are read, destinations written, and mbarrier objects signalled.

use super::flight::{Flight, Issuer, Load, MOST_HELD, Transfer, Work};
use super::piece::{Piece, Source};
use super::places::{Spot, Target};
use super::response;
use crate::engine::AtomicFn;
use crate::engine::async_op::{Group, TransferAction};
use crate::engine::cluster::ClusterState;
use crate::engine::mbarrier::{self, Object};
use crate::engine::observe::{MbarrierEvent, MemoryRange, Stage, Sync};
use crate::engine::run::{Fallible, Runner};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use smallvec::SmallVec;
use std::sync::atomic::{Ordering, fence};

impl<const WATCHED: bool> Runner<'_, WATCHED> {
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
            if transfer.times.due <= now {
                due.push((transfer.times.due, i));
            } else if transfer.times.read <= now && !transfer.is_read && *held < MOST_HELD {
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

    /// Completes what the threads of a block have started, when they have exited: observers see what nobody has waited for.
    pub fn finish(&mut self, cluster: &ClusterState, rank: usize) -> Fallible<()> {
        let mut flight = cluster.flight.borrow_mut();
        for i in 0..flight.queue.len() {
            if flight.queue[i].issuer.rank == rank {
                self.complete(cluster, &mut flight.queue, i, u32::MAX)?;
            }
        }
        flight.tidy();
        Ok(())
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
    pub(super) fn read(
        &mut self,
        cluster: &ClusterState,
        transfer: &mut Transfer,
        lanes: u32,
    ) -> Fallible<()> {
        let issuer = transfer.issuer;
        match &mut transfer.load {
            Load::Warp(copy) => {
                let held = self.read_copy(copy, lanes);
                transfer.held += held
                    .map_err(|(lane, address)| self.vanished(cluster, issuer, lane, Spot::Global(address)))?;
            }
            Load::Pieces(pieces) => {
                for piece in pieces.iter_mut().filter(|p| lanes >> p.lane & 1 != 0) {
                    match piece.from {
                        Source::Read => continue,
                        Source::Cancel => piece.data = SmallVec::from_slice(&self.cancel().to_le_bytes()),
                        Source::Tile => self.read_tile(cluster, issuer, piece)?,
                        Source::Memory(spot) => {
                            piece.data.resize(piece.bytes as usize, 0);
                            let (memory, offset) =
                                self.live_memory(cluster, issuer, piece.lane, spot, piece.read)?;
                            memory.load_relaxed(offset, &mut piece.data[..piece.read as usize]);
                            self.report(cluster, issuer, piece.lane, || Stage::Read(spot.place(piece.read)));
                        }
                    }
                    piece.from = Source::Read;
                    transfer.held += piece.data.len();
                }
            }
        }
        transfer.is_read |= lanes == u32::MAX;
        Ok(())
    }

    /// Completes some lanes of a transfer, after what must be complete before it: reads what is not read, writes, and signals.
    pub(super) fn complete(
        &mut self,
        cluster: &ClusterState,
        queue: &mut [Transfer],
        index: usize,
        lanes: u32,
    ) -> Fallible<()> {
        let lanes_here = queue[index].lanes() & lanes;
        if lanes_here != 0 && !matches!(queue[index].work, Work::Move(_)) {
            for earlier in 0..index {
                let before = lanes_before(&queue[index], &queue[earlier], lanes_here);
                if before != 0 {
                    self.complete(cluster, queue, earlier, before)?;
                }
            }
        }
        let transfer = &mut queue[index];
        self.read(cluster, transfer, lanes)?;
        let (issuer, work) = (transfer.issuer, transfer.work);
        match &mut transfer.load {
            Load::Warp(copy) => self.write_copy(cluster, issuer, copy, lanes),
            Load::Pieces(pieces) => {
                for piece in pieces.iter().filter(|p| lanes >> p.lane & 1 != 0) {
                    self.move_cells(cluster, issuer, piece)?;
                    for target in &piece.to {
                        self.reach(cluster, issuer, work, piece, target)?;
                    }
                    self.report(cluster, issuer, piece.lane, || Stage::Complete);
                }
                pieces.retain(|p| lanes >> p.lane & 1 == 0);
            }
        }
        Ok(())
    }

    /// Writes what a piece has read to one of its targets, and signals the mbarrier object there.
    fn reach(
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
        if let Work::Move(action) = work {
            match &piece.tile {
                Some(tile) => self.write_tile(cluster, issuer, action, piece, tile, target)?,
                None if piece.data.is_empty() => {}
                None => self.write(cluster, issuer, action, piece, target.at)?,
            }
        }
        match target.signal {
            Some(object) => self.signal(cluster, issuer, work, piece, object),
            None => Ok(()),
        }
    }

    /// Writes what a piece has read, or combines it with what is there.
    fn write(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        action: TransferAction,
        piece: &Piece,
        spot: Spot,
    ) -> Fallible<()> {
        let bytes = piece.data.len() as u32;
        let (memory, offset) = self.live_memory(cluster, issuer, piece.lane, spot, bytes)?;
        match action {
            TransferAction::Store if piece.byte_mask == u16::MAX => memory.store_relaxed(offset, &piece.data),
            TransferAction::Store => {
                let kept = |i: usize| piece.byte_mask >> (i % 16) & 1 != 0;
                for (i, byte) in piece.data.iter().enumerate().filter(|(i, _)| kept(*i)) {
                    memory.store_relaxed(offset + i, &[*byte]);
                }
            }
            TransferAction::Reduce { bytes, function } => {
                reduce(memory, offset, spot, function, usize::from(bytes), &piece.data);
            }
        }
        self.report(cluster, issuer, piece.lane, || written(action, spot.place(bytes)));
        Ok(())
    }

    /// Signals an mbarrier object, given by its block and its offset there, that a piece is complete.
    fn signal(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        work: Work,
        piece: &Piece,
        (rank, offset): (usize, usize),
    ) -> Fallible<()> {
        // The signal releases what was written.
        fence(Ordering::SeqCst);
        let arrives = matches!(work, Work::ArriveOnCopies | Work::ArriveOnCells);
        let bytes = piece.data.len() as u32 + piece.signal.ignored;
        let reports = piece.signal.is_found(&piece.data);
        let change = |o: Object| match arrives {
            true => o.arrive(1, false),
            false => (if reports { o.report()? } else { o }).complete(bytes),
        };
        let (before, after) = match mbarrier::update(&cluster.members[rank].memory, offset, change) {
            Ok(states) => states,
            // The object was ended before its block, and nobody can ask it any more.
            Err(_) if rank == issuer.rank && cluster.members[rank].ends.get() => return Ok(()),
            Err(message) => {
                let message = format!("the completion of an asynchronous operation: {message}");
                let mut fault = Fault::new(FaultCode::BadMbarrier, message);
                self.blame(&mut fault, cluster, issuer, piece.lane);
                fault.address = Some(offset as u64);
                return Err(Box::new(fault));
            }
        };
        if mbarrier::phase(before) != after.phase {
            cluster.note_event();
        }
        if WATCHED {
            let event = if arrives { MbarrierEvent::Arrive(1) } else { MbarrierEvent::CompleteTx(bytes) };
            let at = self.cx.at(cluster.members[issuer.rank].id, issuer.warp, issuer.pc, 1 << piece.lane);
            self.observer.synchronise(&at, Sync::Mbarrier { rank, offset, phase: after.phase, event });
        }
        Ok(())
    }

    /// Takes a cluster that has not started away from the grid, and gives the response.
    fn cancel(&self) -> u128 {
        let first = self.cx.take_cluster().map(|number| self.cx.member_id(number, 0));
        first.map_or(response::NOT_CANCELLED, response::cancelled)
    }

    /// Shows an observer a stage of the transfer of a lane.
    pub(super) fn report(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        lane: u8,
        stage: impl FnOnce() -> Stage,
    ) {
        if WATCHED {
            let at = self.cx.at(cluster.members[issuer.rank].id, issuer.warp, issuer.pc, 1 << lane);
            self.observer.transfer(&at, issuer.number, stage());
        }
    }
}

/// The lanes of an earlier transfer that must be complete before some lanes of a transfer are.
fn lanes_before(transfer: &Transfer, earlier: &Transfer, lanes: u32) -> u32 {
    let own = earlier.issuer.rank == transfer.issuer.rank && earlier.issuer.warp == transfer.issuer.warp;
    let near = earlier.issuer.rank / 2 == transfer.issuer.rank / 2;
    match (transfer.work, earlier.work) {
        (Work::ArriveOnCopies, _) if own && matches!(earlier.group, Some((Group::Copy, _))) => lanes,
        (Work::ArriveOnCells, Work::Cells | Work::Shift | Work::Multiply) if own => lanes,
        (Work::Cells, Work::Shift) | (Work::Shift, Work::Multiply) if own => lanes,
        (Work::Multiply, Work::Cells | Work::Shift | Work::Multiply) if near => u32::MAX,
        _ => 0,
    }
}

/// What an observer is shown of a place that an action has changed.
pub(super) fn written(action: TransferAction, place: MemoryRange) -> Stage {
    match action {
        TransferAction::Store => Stage::Written(place),
        TransferAction::Reduce { bytes, .. } => Stage::Reduced { place, element: bytes },
    }
}

/// Combines elements of `bytes` bytes with those in memory.
pub(super) fn reduce(memory: &Bytes, offset: usize, at: Spot, function: AtomicFn, bytes: usize, data: &[u8]) {
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
