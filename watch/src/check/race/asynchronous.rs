//! Asynchronous operations: agents of their own, after what their thread has done and before what waits for them.

use super::super::groups::group_of;
use super::Race;
use super::accesses::{Target, line_at};
use super::clock::{Agent, BULK, BULK_READS, COPIES, Knowledge, PRODUCTS};
use super::shadow::{Knower, LINE, Manner, Record, Shape, span};
use super::threads::{Parts, Waited};
use crate::lanes::lanes_of;
use warpsmith_interp::engine::{AsyncOp, Completion, Group, Scope, TransferSource};
use warpsmith_interp::observe::{At, MemoryRange, OperationKind, Stage};
use warpsmith_isa::Instruction;

/// An asynchronous operation.
pub(super) struct Transfer {
    pub(super) block: u32,
    pub(super) warp: u32,
    /// Lanes that are not complete.
    pub(super) lanes: u32,
    /// When it was issued, and what its lanes knew and had waited for.
    pub(super) time: u32,
    pub(super) parts: Parts,
    pub(super) waited: Waited,
    /// How many operations of its kind each lane had issued, itself included.
    pub(super) counts: [u32; 32],
    /// Accesses that are reported when their mbarrier object is known.
    pub(super) accesses: Vec<(u32, Stage)>,
}

impl Race {
    pub(super) fn transferred(&mut self, at: &At<'_>, number: u64, stage: Stage) {
        let cluster =
            if self.select(at.block) { self.blocks[self.current].cluster } else { self.cluster_of(at.block) };
        let key = (cluster, number);
        let kind = at.program.operation(at.pc).map(|o| o.kind);
        let group = group_of(at);
        match stage {
            Stage::Issued => {
                let Some(block) = self.blocks.get_mut(self.current).filter(|b| b.id == at.block) else {
                    return;
                };
                let (time, number) = (block.now, block.number);
                block.now += 1;
                let Some(warp) = block.warps.get_mut(at.warp as usize) else { return };
                // What moves in tensor memory is counted as products are: no target has both.
                let (counted, group) = match &kind {
                    Some(OperationKind::Async(AsyncOp::TensorCopy(_) | AsyncOp::TensorProduct(_))) => {
                        (true, Group::Matrix)
                    }
                    Some(OperationKind::Async(AsyncOp::TensorCommit(_))) => (false, Group::Matrix),
                    _ => (group.is_some(), group.unwrap_or(Group::Copy)),
                };
                let issued = &mut warp.issued[group as usize];
                if counted {
                    lanes_of(at.mask).for_each(|lane| issued.count[lane] += 1);
                }
                let (counts, parts, lanes) = (issued.count, warp.parts.clone(), at.mask);
                let waited = warp.waited.clone();
                let accesses = Vec::new();
                self.transfers.insert(
                    key,
                    Transfer { block: number, warp: at.warp, lanes, time, parts, waited, counts, accesses },
                );
            }
            Stage::Described(place) => self.read_map(at, place),
            Stage::Complete => {
                let Some(transfer) = self.transfers.get_mut(&key) else { return };
                transfer.lanes &= !at.mask;
                let (done, lane) = (transfer.lanes == 0, at.mask.trailing_zeros() as usize & 31);
                let agent = match &kind {
                    Some(OperationKind::Async(AsyncOp::ArriveOnCopies { .. })) => Some(COPIES),
                    Some(OperationKind::Async(AsyncOp::TensorCommit(_))) => Some(PRODUCTS),
                    _ => None,
                };
                if let Some(agent) = agent {
                    // What the lane's operations before it have done, and what came before these.
                    let mut known = Knowledge::default();
                    transfer.parts.iter().filter(|(l, _)| l & at.mask != 0).for_each(|(_, k)| known.join(k));
                    known.clock.add(transfer.block, transfer.warp as Agent, at.mask, transfer.time);
                    let agent = agent + transfer.warp as Agent;
                    known.clock.add(transfer.block, agent, at.mask, transfer.counts[lane]);
                    for (owner, offset, phase) in self.arriving.drain(..) {
                        let Some(owner) = self.blocks.get_mut(owner) else { continue };
                        let number = owner.number;
                        let object = owner.object(offset);
                        object.gathering.join(&known);
                        object.settle(number, phase);
                    }
                }
                if done {
                    self.transfers.remove(&key);
                }
            }
            Stage::Read(_) | Stage::Written(_) | Stage::Reduced { .. } => {
                let lane = at.mask.trailing_zeros() & 31;
                let Some(transfer) = self.transfers.get_mut(&key) else { return };
                let (block, warp, count) =
                    (transfer.block, transfer.warp as Agent, transfer.counts[lane as usize]);
                let reads = matches!(stage, Stage::Read(_));
                let who = match (&kind, group) {
                    (_, Some(Group::Copy)) => (block, COPIES + warp, count),
                    (_, Some(Group::Bulk)) if reads => (block, BULK_READS + warp, count),
                    (_, Some(Group::Bulk)) => (block, BULK + warp, count),
                    (_, Some(Group::Matrix))
                    | (Some(OperationKind::Async(AsyncOp::TensorCopy(_) | AsyncOp::TensorProduct(_))), _) => {
                        (block, PRODUCTS + warp, count)
                    }
                    (Some(OperationKind::Async(op)), _)
                        if matches!(op.completion(), Some(Completion::Mbarrier(_))) =>
                    {
                        transfer.accesses.push((lane, stage));
                        self.writing = Some(key);
                        return;
                    }
                    // Nobody can know of its completion.
                    _ => (block, BULK + warp, u32::MAX),
                };
                self.asynchronous(at, key, lane, stage, who);
            }
        }
    }

    /// An asynchronous operation reads its tensor map when it is issued.
    pub(super) fn read_map(&mut self, at: &At<'_>, place: MemoryRange) {
        let Some(block) = self.blocks.get(self.current).filter(|b| b.id == at.block) else { return };
        let manner = Manner { proxy: true, map: true, ..Manner::default() };
        let record = block.record(at, u64::MAX, 1, manner);
        for line in place.address / LINE..(place.address + place.bytes).div_ceil(LINE) {
            self.touch(at, Target { memory: None, line }, record);
        }
    }

    /// An asynchronous operation signals an mbarrier object that it is complete.
    pub(super) fn completed(&mut self, at: &At<'_>, owner: usize, offset: u64, phase: bool) {
        let number = self.blocks[owner].number;
        let object = self.blocks[owner].object(offset);
        let (agent, time) = (object.agent, object.count + 1);
        if let Some(key) = self.writing {
            let accesses =
                self.transfers.get_mut(&key).map(|t| std::mem::take(&mut t.accesses)).unwrap_or_default();
            for (lane, stage) in accesses {
                self.asynchronous(at, key, lane, stage, (number, agent, time));
            }
        }
        self.blocks[owner].object(offset).settle(number, phase);
    }

    /// What an asynchronous operation does to memory.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others take a byte of one element as one access")]
    pub(super) fn asynchronous(
        &mut self,
        at: &At<'_>,
        key: (u64, u64),
        lane: u32,
        stage: Stage,
        (block, agent, time): (u32, Agent, u32),
    ) {
        let (size, proxy) = match at.program.operation(at.pc).map(|o| o.kind) {
            Some(OperationKind::Async(op)) => {
                let size = match op {
                    AsyncOp::Transfer(op) if at.instruction().and_then(scope_of_elements).is_some() => {
                        match &op.from {
                            TransferSource::Values { bytes, .. } => *bytes,
                            TransferSource::Memory(_) | TransferSource::Cancel => 16,
                        }
                    }
                    _ => 1,
                };
                (size, op.is_in_async_proxy())
            }
            Some(OperationKind::Matrix(_)) => (1, true),
            _ => return,
        };
        let (place, writes) = match stage {
            Stage::Read(place) => (place, false),
            Stage::Written(place) | Stage::Reduced { place, .. } => (place, true),
            Stage::Issued | Stage::Described(_) | Stage::Complete => return,
        };
        let MemoryRange { rank, address, bytes, at: _ } = place;
        let (size, atomic) = match stage {
            Stage::Reduced { element, .. } => (element, true),
            Stage::Issued | Stage::Described(_) | Stage::Read(_) | Stage::Written(_) | Stage::Complete => {
                (size, false)
            }
        };
        // A copy may say that each of its elements is accessed at once, and for whom; so does a store that releases.
        let strong = if atomic { Some(Scope::Gpu) } else { at.instruction().and_then(scope_of_elements) };
        let memory = match rank {
            Some(rank) => match self.member(rank) {
                Some(index) => Some(index),
                None => return,
            },
            None => None,
        };
        let Some(transfer) = self.transfers.get(&key) else { return };
        let record = Record {
            bytes: 0,
            block,
            home: transfer.block,
            time,
            pc: at.pc,
            lanes: 1 << lane,
            agent,
            warp: transfer.warp as u8,
            size,
            manner: Manner { writes, strong, atomic, proxy, map: false, shared: proxy && memory.is_some() },
            shape: Shape::Uniform,
        };
        let end = address.saturating_add(bytes);
        for line in address / LINE..end.div_ceil(LINE) {
            let from = address.max(line * LINE);
            let bytes = span((from % LINE) as i64, end - from);
            let Some(transfer) = self.transfers.get(&key) else { return };
            let knower = Knower {
                parts: &transfer.parts,
                block: transfer.block,
                warp: transfer.warp as Agent,
                waited: transfer.waited.as_deref(),
                issued: Some(transfer.time),
            };
            let target = Target { memory, line };
            let Some(place) = line_at(&mut self.shared, &mut self.global, target) else { continue };
            place.touch(Record { bytes, ..record }, &knower, self.clusters, &mut self.conflicts);
            if !self.conflicts.is_empty() {
                self.report_conflicts(at, target);
            }
        }
    }
}

/// The scope of an asynchronous copy or store whose accesses are strong.
fn scope_of_elements(i: &Instruction) -> Option<Scope> {
    match i.order()? {
        warpsmith_isa::Order::Relaxed | warpsmith_isa::Order::Release => i.scope().map(Scope::from),
        warpsmith_isa::Order::Weak
        | warpsmith_isa::Order::Volatile
        | warpsmith_isa::Order::Acquire
        | warpsmith_isa::Order::AcqRel
        | warpsmith_isa::Order::Sc => None,
    }
}
