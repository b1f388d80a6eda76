//! Data races, by the memory consistency model (PTX ISA 9.0, chapter 8).
//!
//! Two accesses race if they conflict, neither is ordered after the other, and they are not morally strong. Order comes from the program
//! order of a thread, from barriers of all kinds, and from what a thread releases and another acquires. All of it is kept as vector clocks ([`clock`])
//! and, for each stretch of memory that was touched, the last accesses that still matter ([`shadow`]).
//!
//! What is asynchronous is an agent of its own: it comes after its thread's instructions before it, and before whatever has waited for it.
//! Operations of the async proxy see what threads have written only past a proxy fence.

mod clock;
mod location;
mod report;
mod shadow;
mod texture;
mod threads;
mod together;

use super::groups::{group_of, select};
use super::map::MemoryMap;
use crate::lanes::lanes_of;
use crate::report::{Findings, Report};
use clock::{Agent, BULK, BULK_READS, COPIES, Knowledge, PRODUCTS};
use location::{Location, MIXED, Release, Seen};
use rustc_hash::FxHashMap;
use shadow::{Clusters, Conflict, Global, Knower, LINE, Line, Manner, Record, Shape, Shared, span};
use smallvec::SmallVec;
use std::sync::Arc;
use texture::Fetches;
use threads::{Block, Fenced, Gathering, Parts, Waited};
use together::Together;
use warpsmith_interp::engine::{
    Access, AsyncOp, BarrierKind, CollectiveKind, Completion, Group, Order, Scope, TransferAction,
    TransferOp, TransferSource,
};
use warpsmith_interp::observe::{
    self, AccessKind, Addresses, At, BlockView, Interest, LaunchView, MbarrierEvent, MemoryRange, Observer,
    OperationKind, Participant, Registers, Stage, Sync, shared_owner,
};
use warpsmith_isa::{Instruction, Mod, Proxy, StateSpace, Traits};

/// Finds data races.
///
/// ```
/// use warpsmith_interp::{Device, Launch, Program};
/// use warpsmith_ptx::ValidatedModule;
/// use warpsmith_watch::check::Race;
/// let source = "
/// .version 8.0
/// .target sm_80
/// .address_size 64
/// .entry reverse() {
///     .reg .b32 %r<4>;
///     .shared .b32 tile[64];
///     mov.u32 %r1, %tid.x;
///     shl.b32 %r2, %r1, 2;
///     st.shared.u32 [%r2], %r1;
///     sub.u32 %r2, 252, %r2;
///     ld.shared.u32 %r3, [%r2];
///     ret;
/// }";
/// let module = ValidatedModule::parse(source).unwrap();
/// let program = Program::load(&module).unwrap();
/// let mut race = Race::new();
/// Device::new().launch_observed(&program, &Launch::new("reverse").block([64, 1, 1]), &mut race)?;
/// // Threads of one warp read what the other writes, and the other way round.
/// for finding in race.report().findings() {
///     assert_eq!((finding.code, finding.sites.len()), ("W0301", 2));
/// }
/// assert!(race.report().has_errors());
/// # Ok::<(), warpsmith_interp::Fault>(())
/// ```
#[derive(Default)]
pub struct Race {
    report: Report,
    map: MemoryMap,
    block_shape: [u32; 3],
    clusters: Clusters,
    threads_per_block: u32,
    blocks: Vec<Block>,
    /// The shared memory of each of `blocks`.
    shared: Vec<Shared>,
    /// The block that was looked at last.
    current: usize,
    global: Global,
    /// Writes to places through which threads synchronise.
    writes: u64,
    /// Threads of a cluster on their way through its barrier.
    cluster_barriers: FxHashMap<u64, Gathering>,
    /// Asynchronous operations under way, by cluster and number.
    transfers: FxHashMap<(u64, u64), Transfer>,
    /// The one that has written last, and the arrival on an object that another makes.
    writing: Option<(u64, u64)>,
    arriving: Vec<(usize, u64, bool)>,
    conflicts: Vec<Conflict>,
    together: Together,
    fetches: Fetches,
}

/// An asynchronous operation.
struct Transfer {
    block: u32,
    warp: u32,
    /// Lanes that are not complete.
    lanes: u32,
    /// When it was issued, and what its lanes knew and had waited for.
    time: u32,
    parts: Parts,
    waited: Waited,
    /// How many operations of its kind each lane had issued, itself included.
    counts: [u32; 32],
    /// Accesses that will be told when an mbarrier object is.
    accesses: Vec<(u32, Stage)>,
}

impl Race {
    /// A checker for one launch, or several in a row.
    pub fn new() -> Race {
        Race::default()
    }

    /// What was found.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Has `to` told of findings as they are made.
    pub(super) fn telling(mut self, to: &Findings) -> Self {
        self.report.tell(to);
        self
    }

    /// What was found.
    pub fn into_report(self) -> Report {
        self.report
    }

    /// Makes the block of `at` the current one; false if it is not resident.
    #[inline]
    fn select(&mut self, id: [u32; 3]) -> bool {
        select(&self.blocks, &mut self.current, |b| b.id == id)
    }

    /// The resident block of a rank in the cluster of the current one.
    fn member(&self, rank: usize) -> Option<usize> {
        let cluster = self.blocks.get(self.current)?.cluster;
        self.blocks.iter().position(|b| (b.cluster, b.rank) == (cluster, rank))
    }

    /// The number of the cluster of a block that has ended: no transfer of it is under way any more that could touch shared memory.
    fn cluster_of(&self, id: [u32; 3]) -> u64 {
        let number = self.number(id);
        let mut of = self.transfers.iter().filter(|(_, t)| t.block == number);
        of.next().map_or(u64::MAX, |((cluster, _), _)| *cluster)
    }

    fn number(&self, [x, y, z]: [u32; 3]) -> u32 {
        let [w, h, _] = self.clusters.grid;
        x.wrapping_add(w.wrapping_mul(y.wrapping_add(h.wrapping_mul(z))))
    }

    /// Accesses of lanes of the current block's warp, to lines one after the other. `bytes` says which of those from the first line on.
    fn touch(&mut self, at: &At<'_>, target: Target, record: Record) {
        let Some(block) = self.blocks.get(self.current) else { return };
        let Some(warp) = block.warps.get(at.warp as usize) else { return };
        let knower = Knower {
            parts: &warp.parts,
            block: block.number,
            warp: at.warp as Agent,
            waited: warp.waited.as_deref(),
            issued: None,
        };
        let Some(line) = line_at(&mut self.shared, &mut self.global, target) else { return };
        line.touch(record, &knower, self.clusters, &mut self.conflicts);
        if !self.conflicts.is_empty() {
            self.tell(at, target);
        }
    }

    /// A line of sixteen lanes, or of two halves with the same addresses.
    fn touch_half(
        &mut self,
        at: &At<'_>,
        memory: Option<usize>,
        line: observe::Line,
        bytes: u64,
        lanes: u32,
        record: Record,
    ) {
        if lanes == 0 {
            return;
        }
        let record = Record { lanes, ..record };
        let first = line.start / LINE;
        if line.step == 0 {
            let bytes = span((line.start % LINE) as i64, bytes);
            let target = Target { memory, line: first };
            if record.manner.writes && record.manner.strong.is_none() && !lanes.is_power_of_two() {
                self.overlap(at, target, Record { bytes, ..record });
            }
            return self.touch(at, target, Record { bytes, ..record });
        }
        let which = (lanes | lanes >> 16) & 0xffff;
        let (low, high) = (which.trailing_zeros(), 31 - which.leading_zeros());
        let whole = which == (1 << high << 1) - (1 << low);
        let last = (line.start + u64::from(high) * line.step + line.step - 1) / LINE;
        for number in (line.start + u64::from(low) * line.step) / LINE..=last {
            let start = line.start as i64 - (number * LINE) as i64;
            let of = |i: u32| span(start + i64::from(i) * line.step as i64, line.step);
            let bytes = if whole {
                span(start + i64::from(low) * line.step as i64, u64::from(high - low + 1) * line.step)
            } else {
                (low..=high).filter(|i| which >> i & 1 != 0).fold(0, |m, i| m | of(i))
            };
            if bytes == 0 {
                continue;
            }
            // Only the lanes that are in this line.
            let inside = (low..=high).filter(|i| of(*i) & bytes != 0).fold(0u32, |m, i| m | 1 << i);
            let lanes = lanes & (inside | inside << 16);
            let shape = Shape::Linear { start: start as i16, step: line.step as u8 };
            self.touch(at, Target { memory, line: number }, Record { bytes, lanes, shape, ..record });
        }
    }

    /// The lanes one by one; neighbours with the same address together.
    fn touch_each(
        &mut self,
        at: &At<'_>,
        space: StateSpace,
        addresses: &Addresses<'_>,
        access: &Access,
        record: Record,
    ) {
        let (all, size) = (addresses.all(), u64::from(access.bytes));
        let mut rest = at.mask;
        while rest != 0 {
            let first = rest.trailing_zeros();
            let address = all[first as usize];
            let run = (first..32).take_while(|i| rest >> i & 1 != 0 && all[*i as usize] == address);
            let lanes = run.fold(0, |m, i| m | 1 << i);
            rest &= !lanes;
            let Some((memory, offset)) = self.place(space, address) else { continue };
            let target = Target { memory, line: offset / LINE };
            let mut bytes = 0;
            for element in (0..u32::from(access.count)).filter(|e| access.skipped >> e & 1 == 0) {
                bytes |= span((offset % LINE) as i64 + i64::from(element) * size as i64, size);
            }
            for unused in (0..u32::BITS).filter(|byte| !access.uses(*byte)) {
                bytes &= !span((offset % LINE) as i64 + i64::from(unused), 1);
            }
            if bytes == 0 {
                continue;
            }
            let record = Record { bytes, lanes, ..record };
            if record.manner.writes && record.manner.strong.is_none() && !lanes.is_power_of_two() {
                self.overlap(at, target, record);
            }
            self.touch(at, target, record);
        }
    }

    /// Whose memory an address is in, and where.
    fn place(&self, space: StateSpace, address: u64) -> Option<(Option<usize>, u64)> {
        if space == StateSpace::Global {
            return Some((None, address));
        }
        let (owner, offset) = shared_owner(address);
        let index = owner.map_or(Some(self.current), |rank| self.member(rank))?;
        Some((Some(index), offset))
    }

    /// What strong accesses of lanes release and acquire. True if something was released.
    fn synchronising(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: &Addresses<'_>,
    ) -> bool {
        let acquires = matches!(access.order, Order::Acquire | Order::AcqRel | Order::SeqCst)
            && kind != AccessKind::Store;
        let releases = matches!(access.order, Order::Release | Order::AcqRel | Order::SeqCst)
            && kind != AccessKind::Load;
        let scope = reach(access);
        // `red` reads nothing that an acquire pattern could start from (8.11.1).
        let reduction = at.instruction().is_some_and(|i| i.traits().contains(Traits::REDUCTION));
        let reads = kind != AccessKind::Store && !reduction;
        let mut released = false;
        for lane in lanes_of(at.mask) {
            let Some((memory, offset)) = self.place(space, addresses.of(lane)) else { continue };
            let Some(line) =
                line_at(&mut self.shared, &mut self.global, Target { memory, line: offset / LINE })
            else {
                continue;
            };
            let Some(block) = self.blocks.get_mut(self.current) else { return false };
            let (number, one) = (block.number, 1u32 << lane);
            let place = (offset % LINE) as u8;
            let mut known = line.locations.iter().position(|l| (l.offset, l.size) == (place, access.bytes));
            let mut new: SmallVec<[Release; 2]> = SmallVec::new();
            let thread = at.warp * 32 + lane as u32;
            if kind != AccessKind::Load {
                if releases {
                    let knowledge = Arc::new(block.current(at.warp, one));
                    new.push(Release { block: number, thread, scope, time: block.now, knowledge });
                }
                let fences = block.warps.get(at.warp as usize).map(|w| w.fences.clone()).unwrap_or_default();
                for f in fences.iter().filter(|f| f.lanes & one != 0 && !(releases && f.scope <= scope)) {
                    let knowledge = Arc::new(block.publish(at.warp, one, &f.parts, f.time));
                    new.push(Release { block: number, thread, scope: f.scope, time: f.time, knowledge });
                }
            }
            if let Some(i) = known
                && reads
                && let Some(warp) = block.warps.get_mut(at.warp as usize)
                && let version = line.locations[i].version
                && warp.looks(lane, Seen { version, acquired: acquires.then_some(scope) })
            {
                for r in &line.locations[i].releases {
                    let distance =
                        if r.block == MIXED { Scope::Cta } else { self.clusters.distance(r.block, number) };
                    if distance > r.scope || distance > Scope::Cluster && r.scope < Scope::Gpu {
                        continue;
                    }
                    if warp.of_lane(lane).is_some_and(|known| r.is_known(known)) {
                        continue;
                    }
                    if acquires && distance <= scope {
                        warp.learn(one, &r.knowledge);
                    } else {
                        warp.observe(one, distance, &r.knowledge);
                    }
                }
            }
            if kind != AccessKind::Load {
                if known.is_none() && !new.is_empty() {
                    let new =
                        Location { offset: place, size: access.bytes, releases: Vec::new(), version: 0 };
                    line.locations.push(new);
                    known = Some(line.locations.len() - 1);
                }
                released |= releases;
                if let Some(i) = known {
                    let location = &mut line.locations[i];
                    location.write(kind == AccessKind::Atomic, number, thread, new);
                    self.writes += 1;
                    location.version = self.writes;
                }
            }
        }
        released
    }

    /// True if what strong accesses of these lanes may release or acquire has to be looked at.
    fn may_synchronise(
        &mut self,
        at: &At<'_>,
        access: &Access,
        space: StateSpace,
        addresses: &Addresses<'_>,
    ) -> bool {
        if matches!(access.order, Order::Release | Order::AcqRel | Order::SeqCst) {
            return true;
        }
        let Some(warp) = self.blocks.get(self.current).and_then(|b| b.warps.get(at.warp as usize)) else {
            return false;
        };
        if warp.fences.iter().any(|f| f.lanes & at.mask != 0) {
            return true;
        }
        lanes_of(at.mask).any(|lane| {
            let Some((memory, offset)) = self.place(space, addresses.of(lane)) else { return false };
            line_at(&mut self.shared, &mut self.global, Target { memory, line: offset / LINE })
                .is_some_and(|line| !line.locations.is_empty())
        })
    }

    fn fence(&mut self, at: &At<'_>, order: Order, scope: Scope) {
        let Some(block) = self.blocks.get_mut(self.current) else { return };
        let (now, number) = (block.now, block.number);
        let Some(warp) = block.warps.get_mut(at.warp as usize) else { return };
        match at.instruction().and_then(|i| i.proxy()) {
            Some(Proxy::Async | Proxy::AsyncToGeneric) => {
                warp.update(at.mask, |k| {
                    let Knowledge { clock, fenced, .. } = k;
                    fenced.join(clock);
                    fenced.add(number, at.warp as Agent, at.mask, now);
                });
                block.now += 1;
                return;
            }
            Some(Proxy::TensormapToGeneric) if order != Order::Release => {
                warp.update(at.mask, |k| {
                    let Knowledge { clock, mapped, .. } = k;
                    mapped.join(clock);
                    mapped.add(number, at.warp as Agent, at.mask, now);
                });
                block.now += 1;
                return;
            }
            Some(
                Proxy::Alias
                | Proxy::TensormapToGeneric
                | Proxy::GenericToFabric
                | Proxy::FabricToGeneric
                | Proxy::FabricToFabric,
            ) => return,
            None => {}
        }
        if order != Order::Release {
            let pending = std::mem::take(&mut warp.pending);
            for mut p in pending {
                if p.distance <= scope && p.lanes & at.mask != 0 {
                    warp.learn(p.lanes & at.mask, &p.knowledge);
                    p.lanes &= !at.mask;
                }
                if p.lanes != 0 {
                    warp.pending.push(p);
                }
            }
        }
        if order != Order::Acquire {
            warp.fences.iter_mut().filter(|f| f.scope <= scope).for_each(|f| f.lanes &= !at.mask);
            warp.fences.retain(|f| f.lanes != 0);
            let parts = warp
                .parts
                .iter()
                .filter(|(l, _)| l & at.mask != 0)
                .map(|(l, k)| (l & at.mask, k.clone()))
                .collect();
            warp.fences.push(Fenced { lanes: at.mask, scope, time: now, parts });
            block.now += 1;
        }
    }

    fn mbarrier(&mut self, at: &At<'_>, rank: usize, offset: u64, phase: bool, event: MbarrierEvent) {
        if !self.select(at.block) {
            return;
        }
        let Some(owner) = self.member(rank) else { return };
        if let Some(OperationKind::Async(op)) = at.program.operation(at.pc).map(|o| o.kind) {
            match op {
                AsyncOp::ArriveOnCopies { .. } | AsyncOp::TensorCommit(_) => {
                    self.arriving.push((owner, offset, phase));
                    return;
                }
                // An asynchronous operation says that its bytes are there.
                AsyncOp::Transfer(_) | AsyncOp::Tensor(_)
                    if matches!(event, MbarrierEvent::CompleteTx(_)) =>
                {
                    self.completed(at, owner, offset, phase);
                    return;
                }
                AsyncOp::Transfer(_)
                | AsyncOp::Tensor(_)
                | AsyncOp::ReplaceField(_)
                | AsyncOp::TensorMemory(_)
                | AsyncOp::TensorCopy(_)
                | AsyncOp::TensorProduct(_)
                | AsyncOp::Mbarrier(_)
                | AsyncOp::Commit(_)
                | AsyncOp::Wait { .. }
                | AsyncOp::ClusterArrive
                | AsyncOp::ClusterWait
                | AsyncOp::Fill { .. }
                | AsyncOp::Multimem(_)
                | AsyncOp::Mark { .. } => {}
            }
        }
        let relaxed = is_relaxed(at);
        // The object is memory, too: those who use it must know that it was made. Its end is one of its operations: the lanes that libcu++
        // counts together by `match` before one of them ends the object are not ordered by that, and no harm comes of it.
        self.touch_object(at, owner, offset, (event != MbarrierEvent::Init).then_some(Scope::Sys));
        match event {
            MbarrierEvent::Init => {
                let object = self.blocks[owner].object(offset);
                (object.phase, object.gathering) = (false, Knowledge::default());
            }
            MbarrierEvent::Arrive(_) => {
                // An arrival from another block must say so, if it names a scope.
                let narrow = owner != self.current && at.instruction().is_some_and(|i| i.has(Mod::Cta));
                let known =
                    (!relaxed && !narrow).then(|| self.blocks[self.current].current(at.warp, at.mask));
                let owner_number = self.blocks[owner].number;
                let object = self.blocks[owner].object(offset);
                known.iter().for_each(|k| object.gathering.join(k));
                object.settle(owner_number, phase);
                self.blocks[self.current].now += 1;
            }
            MbarrierEvent::Test { complete: true } if !relaxed => {
                let complete = self.blocks[owner].object(offset).complete.clone();
                if let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) {
                    warp.learn(at.mask, &complete);
                }
            }
            MbarrierEvent::Test { .. }
            | MbarrierEvent::Invalidate
            | MbarrierEvent::ExpectTx(_)
            | MbarrierEvent::CompleteTx(_) => {
                let number = self.blocks[owner].number;
                self.blocks[owner].object(offset).settle(number, phase);
            }
        }
    }

    fn touch_object(&mut self, at: &At<'_>, owner: usize, offset: u64, strong: Option<Scope>) {
        let Some(block) = self.blocks.get(self.current) else { return };
        let manner = Manner { writes: true, strong, atomic: strong.is_some(), proxy: false, map: false };
        let record = block.record(at, span((offset % LINE) as i64, 8), 8, manner);
        self.touch(at, Target { memory: Some(owner), line: offset / LINE }, record);
    }

    /// An asynchronous operation reads its tensor map when it is issued.
    fn read_map(&mut self, at: &At<'_>, place: MemoryRange) {
        let Some(block) = self.blocks.get(self.current).filter(|b| b.id == at.block) else { return };
        let manner = Manner { writes: false, strong: None, atomic: false, proxy: true, map: true };
        let record = block.record(at, u64::MAX, 1, manner);
        for line in place.address / LINE..(place.address + place.bytes).div_ceil(LINE) {
            self.touch(at, Target { memory: None, line }, record);
        }
    }

    /// An asynchronous operation tells an mbarrier object that it is complete.
    fn completed(&mut self, at: &At<'_>, owner: usize, offset: u64, phase: bool) {
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
    fn asynchronous(
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
                    AsyncOp::Transfer(TransferOp {
                        action: TransferAction::Reduce { bytes, .. }, ..
                    }) => *bytes,
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
            Stage::Written(place) | Stage::Reduced(place) => (place, true),
            Stage::Issued | Stage::Described(_) | Stage::Complete => return,
        };
        let MemoryRange { rank, address, bytes, at: _ } = place;
        let atomic = matches!(stage, Stage::Reduced(_));
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
            manner: Manner { writes, strong, atomic, proxy, map: false },
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
                self.tell(at, target);
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

/// True for an instruction that is `.relaxed`, said or not.
fn is_relaxed(at: &At<'_>) -> bool {
    at.instruction().and_then(|i| i.order()) == Some(warpsmith_isa::Order::Relaxed)
}

/// A line of memory: of a resident block's shared memory, or of global memory.
#[derive(Clone, Copy, Debug)]
struct Target {
    memory: Option<usize>,
    line: u64,
}

#[inline]
fn line_at<'a>(shared: &'a mut [Shared], global: &'a mut Global, at: Target) -> Option<&'a mut Line> {
    match at.memory {
        Some(index) => shared.get_mut(index)?.line(at.line),
        None => Some(global.line(at.line)),
    }
}

/// The scope of a strong access: a volatile one reaches everybody (8.4.2).
fn reach(access: &Access) -> Scope {
    if matches!(access.order, Order::Volatile | Order::Mmio) { Scope::Sys } else { access.scope }
}

impl Observer for Race {
    fn interest(&self) -> Interest {
        Interest { accesses: true, ..Interest::RARE }
    }

    fn begin(&mut self, launch: &LaunchView<'_>) {
        self.map = MemoryMap::new(launch);
        let [x, y, z] = launch.block();
        self.block_shape = [x, y, z];
        self.threads_per_block = x.saturating_mul(y).saturating_mul(z);
        self.clusters = Clusters { grid: launch.grid(), shape: launch.cluster().map(|n| n.max(1)) };
        self.blocks.clear();
        self.shared.clear();
        self.cluster_barriers.clear();
        self.transfers.clear();
        // A launch is ordered after those before it.
        self.global.clear();
        self.fetches = Fetches::new(launch.program());
    }

    fn end(&mut self, _: &LaunchView<'_>, _: Option<&warpsmith_interp::Fault>) {
        self.blocks.clear();
        self.shared.clear();
        self.transfers.clear();
        self.global.clear();
    }

    fn block_started(&mut self, view: &BlockView) {
        let block = Block::new(view, self.number(view.id), self.threads_per_block);
        self.blocks.push(block);
        self.shared.push(Shared::default());
    }

    fn block_ended(&mut self, view: &BlockView) {
        if let Some(i) = self.blocks.iter().position(|b| b.id == view.id) {
            self.blocks.swap_remove(i);
            self.shared.swap_remove(i);
        }
        if !self.blocks.iter().any(|b| b.cluster == view.cluster) {
            self.cluster_barriers.remove(&view.cluster);
        }
    }

    fn access(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        if !matches!(space, StateSpace::Global | StateSpace::Shared) || at.mask == 0 || !self.select(at.block)
        {
            return;
        }
        self.together.clear();
        if space == StateSpace::Global && self.fetches.matter() {
            self.fetched(at, kind, access, &addresses);
        }
        let strong = (access.order != Order::Weak).then(|| reach(access));
        let released = strong.is_some()
            && self.may_synchronise(at, access, space, &addresses)
            && self.synchronising(at, kind, access, space, &addresses);
        let block = &self.blocks[self.current];
        let atomic = kind == AccessKind::Atomic;
        let record = Record {
            bytes: 0,
            block: block.number,
            home: block.number,
            time: block.now,
            pc: at.pc,
            lanes: 0,
            agent: at.warp as Agent,
            warp: at.warp as u8,
            size: access.bytes,
            manner: Manner { writes: kind != AccessKind::Load, strong, atomic, proxy: false, map: false },
            shape: Shape::Uniform,
        };
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        match &addresses {
            Addresses::Lines([low, high])
                if access.skipped == 0
                    && access.unused == 0
                    && (!record.manner.writes || low.step != 0 || bytes == 0) =>
            {
                let memory = (space == StateSpace::Shared).then_some(self.current);
                if low == high && kind == AccessKind::Load {
                    self.touch_half(at, memory, *low, bytes, at.mask, record);
                } else {
                    self.touch_half(at, memory, *low, bytes, at.mask & 0xffff, record);
                    self.touch_half(at, memory, *high, bytes, at.mask & 0xffff_0000, record);
                }
            }
            _ => self.touch_each(at, space, &addresses, access, record),
        }
        self.await_values(space, &addresses);
        if released {
            self.blocks[self.current].now += 1;
        }
    }

    fn stored(&mut self, at: &At<'_>, registers: &Registers<'_>) {
        if !self.together.is_empty() {
            self.compare_values(at, registers);
        }
    }

    fn exchanged(&mut self, at: &At<'_>, participants: &[Participant<'_>], _: Option<&[u8; 32]>) {
        if !participants.first().is_some_and(|p| matches!(p.op.kind, CollectiveKind::Sync))
            || !self.select(at.block)
        {
            return;
        }
        let block = &mut self.blocks[self.current];
        let all = Arc::new(block.current(at.warp, at.mask));
        if let Some(warp) = block.warps.get_mut(at.warp as usize) {
            warp.set(at.mask, &all);
        }
        block.now += 1;
    }

    fn transfer(&mut self, at: &At<'_>, number: u64, stage: Stage) {
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
            Stage::Read(_) | Stage::Written(_) | Stage::Reduced(_) => {
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

    fn synchronise(&mut self, at: &At<'_>, sync: Sync) {
        if !self.select(at.block) {
            return;
        }
        let current = self.current;
        let block = &mut self.blocks[current];
        let warp = at.warp as usize;
        match sync {
            Sync::Arrive(id) => {
                let kind = at.program.operation(at.pc).map(|o| o.kind);
                let passing =
                    matches!(kind, Some(OperationKind::Barrier(b)) if b.kind == BarrierKind::Arrive);
                block.gather(id as usize, at.warp, at.mask, passing);
            }
            Sync::Complete(id) => block.complete(id as usize),
            Sync::Leave(id) => {
                if let (Some(complete), Some(warp)) = (
                    block.barriers.get(id as usize).and_then(|b| b.complete.clone()),
                    block.warps.get_mut(warp),
                ) {
                    warp.set(at.mask, &complete);
                }
            }
            Sync::Warp { .. } => {}
            Sync::Fence(fence) => self.fence(at, fence.order, fence.scope),
            Sync::ClusterArrive => {
                if !is_relaxed(at) {
                    let known = block.current(at.warp, at.mask);
                    self.cluster_barriers.entry(block.cluster).or_default().knowledge.join(&known);
                } else if let Some(w) = block.warps.get(warp) {
                    // With fences before and after, it is ordered all the same (9.7.13.3).
                    let fences: SmallVec<[Fenced; 1]> = w
                        .fences
                        .iter()
                        .filter(|f| f.lanes & at.mask != 0 && f.scope >= Scope::Cluster)
                        .cloned()
                        .collect();
                    for f in fences {
                        let known = block.publish(at.warp, f.lanes & at.mask, &f.parts, f.time);
                        self.cluster_barriers.entry(block.cluster).or_default().knowledge.join(&known);
                    }
                }
                self.blocks[current].now += 1;
            }
            Sync::ClusterComplete => {
                let gathering = self.cluster_barriers.entry(block.cluster).or_default();
                let knowledge = std::mem::take(&mut gathering.knowledge);
                gathering.complete = Some(Arc::new(knowledge));
            }
            Sync::ClusterLeave => {
                let complete = self.cluster_barriers.get(&block.cluster).and_then(|g| g.complete.clone());
                if let (Some(complete), Some(warp)) = (complete, block.warps.get_mut(warp)) {
                    warp.learn(at.mask, &complete);
                }
            }
            Sync::Mbarrier { rank, offset, phase, event } => {
                self.mbarrier(at, rank, offset as u64, phase, event)
            }
            Sync::Tensor { .. } => {}
            Sync::Commit(group) => {
                if let Some(warp) = block.warps.get_mut(warp) {
                    warp.issued[group as usize].commit(at.mask);
                }
            }
            Sync::Wait { group, pending, read } => {
                if let Some(warp) = block.warps.get_mut(warp) {
                    warp.wait(group, pending, read, at.mask);
                }
            }
        }
    }

    fn allocated(&mut self, _: &At<'_>, address: u64, bytes: u64) {
        // The allocator orders who had it before and who has it now.
        self.global.forget(address, bytes);
    }
}
