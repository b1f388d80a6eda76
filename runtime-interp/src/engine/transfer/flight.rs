//! The transfers in flight of a cluster: put in a queue where they start, until all their lanes are complete.

use super::piece::{Piece, Source};
use super::warp_copy::WarpCopy;
use crate::engine::async_op::{Group, TransferAction};
use crate::engine::observe::Stage;
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::tensor_memory::Region;
use crate::engine::values::lanes_of;
use smallvec::SmallVec;

/// How long a transfer takes without a seed, in instructions of the cluster.
const DELAY: u64 = 1 << 12;

/// The most transfers in flight, and bytes held by those that have read and not written. Past that, things happen early.
const MOST_IN_FLIGHT: usize = 4096;
pub(super) const MOST_HELD: usize = 64 << 20;

/// The transfers in flight of a cluster.
#[derive(Default)]
pub(in crate::engine) struct Flight {
    pub(super) queue: Vec<Transfer>,
    /// Nothing happens before.
    pub(super) next: u64,
    /// How many transfers were put in flight: the number of the next one.
    pub(super) issued: u64,
    /// Bytes that have been read and not written.
    pub(super) held: usize,
    /// For each warp of the cluster, kind of group and lane: how many groups the thread has committed.
    committed: Vec<[[u32; 32]; 2]>,
}

/// Who issued a transfer.
#[derive(Clone, Copy)]
pub(super) struct Issuer {
    pub number: u64,
    pub rank: usize,
    pub warp: u32,
    pub pc: u32,
}

/// What one instruction has put in flight, for lanes that commit it to the same group.
pub(super) struct Transfer {
    pub issuer: Issuer,
    /// The kind and number of the group it belongs to, if it is tracked so.
    pub group: Option<(Group, u32)>,
    pub times: Times,
    pub work: Work,
    pub load: Load,
    /// All of the load has been read; and the bytes that it holds since.
    pub is_read: bool,
    pub held: usize,
}

impl Transfer {
    /// The lanes that are not complete.
    pub fn lanes(&self) -> u32 {
        match &self.load {
            Load::Pieces(pieces) => pieces.iter().fold(0, |lanes, piece| lanes | 1 << piece.lane),
            Load::Warp(copy) => copy.lanes,
        }
    }
}

/// When a transfer reads and when it is complete, by the clock of the cluster.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub read: u64,
    pub due: u64,
}

/// What a transfer moves.
pub(super) enum Load {
    /// What each lane moves, until it is complete.
    Pieces(SmallVec<[Piece; 1]>),
    /// The `cp.async` of a warp.
    Warp(Box<WarpCopy>),
}

impl Load {
    /// Nothing is left to read.
    fn is_read(&self) -> bool {
        match self {
            Load::Pieces(pieces) => pieces.iter().all(|piece| piece.from == Source::Read),
            Load::Warp(copy) => copy.is_read(),
        }
    }
}

/// What a transfer does when it is complete, and what is complete before it.
#[derive(Clone, Copy)]
pub(super) enum Work {
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

impl Flight {
    pub fn clear(&mut self) {
        self.queue.clear();
        self.committed.clear();
        (self.next, self.issued, self.held) = (u64::MAX, 0, 0);
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// For each kind of group and lane of a warp: how many groups the thread has committed.
    pub(super) fn committed(&mut self, warps: u32, rank: usize, warp: u32) -> &mut [[u32; 32]; 2] {
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
        let of_cells = |transfer: &&Transfer| match &transfer.load {
            Load::Pieces(pieces) => pieces.iter().any(conflicts),
            Load::Warp(_) => false,
        };
        self.queue.iter().find(of_cells).map(|transfer| transfer.issuer.pc)
    }

    /// Removes what is done and finds when something is to happen next.
    pub(super) fn tidy(&mut self) {
        self.queue.retain(|t| t.lanes() != 0);
        let next = |t: &Transfer| if t.is_read { t.times.due } else { t.times.read.min(t.times.due) };
        self.next = self.queue.iter().map(next).min().unwrap_or(u64::MAX);
        self.held = self.queue.iter().map(|t| t.held).sum();
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Puts what the lanes of an instruction move in flight: a transfer for those that commit it to the same group.
    pub(super) fn launch(
        &mut self,
        issue: Issue<'_>,
        group: Option<Group>,
        work: Work,
        mut pieces: SmallVec<[Piece; 1]>,
    ) -> Fallible<()> {
        let times = self.times(issue);
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
            if WATCHED {
                let mask = own.iter().fold(0, |m, p| m | 1 << p.lane);
                self.observer.transfer(&self.at(issue.only(mask)), flight.issued, Stage::Issued);
            }
            self.enqueue(issue, &mut flight, of_group, times, work, Load::Pieces(own))?;
        }
        self.note_launch(issue, &mut flight, times.read)
    }

    /// Puts the copy of a warp in flight, unless its lanes belong to different groups: then there is none.
    pub(super) fn launch_copy(&mut self, issue: Issue<'_>, copy: Box<WarpCopy>) -> Fallible<bool> {
        let mut flight = issue.block.cluster.flight.borrow_mut();
        let committed = flight.committed(self.cx.warps(), issue.block.rank, issue.warp)[Group::Copy as usize];
        let number = committed[issue.mask.trailing_zeros() as usize];
        if lanes_of(issue.mask).any(|lane| committed[lane] != number) {
            return Ok(false);
        }
        let times = self.times(issue);
        let work = Work::Move(TransferAction::Store);
        self.enqueue(issue, &mut flight, Some((Group::Copy, number)), times, work, Load::Warp(copy))?;
        self.note_launch(issue, &mut flight, times.read)?;
        Ok(true)
    }

    /// The times of a transfer that starts now.
    fn times(&mut self, issue: Issue<'_>) -> Times {
        let (read_after, after) = self.turns.delay(DELAY);
        let now = issue.block.cluster.clock.get();
        Times { read: now + read_after, due: now + after }
    }

    /// Appends a transfer to the queue, and completes one that takes no time.
    fn enqueue(
        &mut self,
        issue: Issue<'_>,
        flight: &mut Flight,
        group: Option<(Group, u32)>,
        times: Times,
        work: Work,
        load: Load,
    ) -> Fallible<()> {
        let issuer = Issuer { number: flight.issued, rank: issue.block.rank, warp: issue.warp, pc: issue.pc };
        flight.issued += 1;
        let is_read = load.is_read();
        flight.queue.push(Transfer { issuer, group, times, work, load, is_read, held: 0 });
        if times.due == issue.block.cluster.clock.get() {
            let last = flight.queue.len() - 1;
            self.complete(issue.block.cluster, &mut flight.queue, last, u32::MAX)?;
            flight.tidy();
        }
        Ok(())
    }

    /// Something was put in flight that happens at a time. Where too much is, the oldest half happens now.
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
}
