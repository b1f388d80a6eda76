//! Data races, by the memory consistency model (PTX ISA 9.0, chapter 8).
//!
//! Two accesses race if they conflict, neither is ordered after the other, and they are not morally strong. Order comes from the program
//! order of a thread, from barriers of all kinds, and from what a thread releases and another acquires. All of it is kept as vector clocks (`clock`)
//! and, for each stretch of memory that was touched, the last accesses that still matter (`shadow`).
//!
//! What is asynchronous is an agent of its own: it comes after its thread's instructions before it, and before whatever has waited for it.
//! Operations of the async proxy see what threads have written only past a proxy fence.

mod accesses;
mod asynchronous;
mod clock;
mod departure;
mod location;
mod objects;
mod ordering;
mod report;
mod shadow;
mod texture;
mod threads;
mod together;

use super::groups::select;
use super::map::MemoryMap;
use crate::lanes::lanes_of;
use crate::report::{Findings, Report, reports};
use asynchronous::Transfer;
use shadow::{Clusters, Conflict, Global, Shared};
use std::sync::Arc;
use texture::Fetches;
use threads::{Block, Gathering};
use together::Together;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::{Access, CollectiveKind};
use warpsmith_interp::observe::{
    AccessKind, Addresses, At, BlockView, Interest, LaunchView, Observer, Overwritten, Participant,
    Registers, Stage, Sync,
};
use warpsmith_isa::StateSpace;

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

reports!(Race);

impl Race {
    /// A checker for one launch, or several in a row.
    pub fn new() -> Race {
        Race::default()
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

    fn exited(&mut self, at: &At<'_>) {
        self.depart(at);
    }

    fn access(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        self.accessed(at, kind, access, space, addresses);
    }

    fn overwrites(&mut self, at: &At<'_>, bytes: &Overwritten<'_>) {
        if !self.together.is_empty() {
            self.keep_overwritten(at, bytes);
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
        self.transferred(at, number, stage);
    }

    fn synchronise(&mut self, at: &At<'_>, sync: Sync) {
        self.synchronised(at, sync);
    }

    fn allocated(&mut self, _: &At<'_>, address: u64, bytes: u64) {
        // The allocator orders who had it before and who has it now.
        self.global.forget(address, bytes);
    }
}
