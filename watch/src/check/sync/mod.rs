//! The use of barriers, member masks, mbarrier objects and groups of copies: what the manual demands of it.
//!
//! Some mistakes end the run by a fault of the engine, such as a deadlock; this checker reports them as findings. Others let it go on, here or on some
//! GPU, and are noticed from the events alone: no instruction is looked at that does not synchronise, but for stores where there are mbarrier objects.

mod barrier;
mod mbarrier;
mod registers;
mod states;
mod warpgroup;

use super::groups::{Issued, group_of, select};
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Findings, Report, Site, reports};
use barrier::{Arrival, Reached};
use mbarrier::Object;
use registers::RegisterCounts;
use smallvec::SmallVec;
use states::States;
use warpgroup::Warpgroups;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::{Access, AsyncOp, CollectiveKind, Group, MatrixOp};
use warpsmith_interp::observe::{
    AccessKind, Addresses, At, BlockView, Interest, LaunchView, Observer, OperationKind, Participant,
    Registers, Stage, Sync as Event, TensorHazard,
};
use warpsmith_interp::{Fault, FaultCode, Program};
use warpsmith_isa::{Operation, StateSpace};

/// Finds misuse of what threads synchronise with.
///
/// ```
/// use warpsmith_interp::{Device, Launch, Program};
/// use warpsmith_ptx::ValidatedModule;
/// let source = "
/// .version 8.0
/// .target sm_80
/// .address_size 64
/// .entry k() {
///     .reg .pred %p;
///     .reg .b32 %r;
///     mov.u32 %r, %tid.x;
///     setp.lt.u32 %p, %r, 16;
///     @%p bra low;
///     bar.sync 0;
///     ret;
/// low:
///     bar.sync 0;
///     ret;
/// }";
/// let module = ValidatedModule::parse(source).unwrap();
/// let program = Program::load(&module).unwrap();
/// let mut sync = warpsmith_watch::check::Sync::new();
/// Device::new().launch_observed(&program, &Launch::new("k").block([32, 1, 1]), &mut sync)?;
/// assert_eq!(sync.report().findings()[0].code, "W0401");
/// # Ok::<(), warpsmith_interp::Fault>(())
/// ```
#[derive(Default)]
pub struct Sync {
    report: Report,
    block_shape: [u32; 3],
    threads: u32,
    blocks: Vec<Block>,
    current: usize,
    gone: Vec<Gone>,
    /// The program has mbarrier objects.
    has_objects: bool,
    /// Of a barrier and an exit, whether threads that end there have gone past the barrier.
    passed: FxHashMap<(u32, u32), bool>,
    /// The states of mbarrier objects that threads hold.
    states: States,
    /// Tests of mbarrier objects that were answered no since one was answered yes.
    polls: u64,
    /// The registers of products of warpgroups, if the program has any.
    warpgroups: Option<Warpgroups>,
    /// The registers that warps ask for, if the program has them ask.
    register_counts: Option<RegisterCounts>,
}

/// So many tests in vain are a loop that waits for what does not come.
const SPINNING: u64 = 1000;

struct Block {
    id: [u32; 3],
    cluster: u64,
    rank: usize,
    warps: Vec<Warp>,
    /// The arrivals of the phase, for each of the barriers.
    barriers: [Vec<Arrival>; 16],
    objects: FxHashMap<usize, Object>,
    /// Where the first and the last object was made.
    extent: Option<(usize, usize)>,
}

struct Warp {
    alive: u32,
    issued: [Issued; 3],
    /// Operations that each lane has waited for, or left to an mbarrier object.
    waited: [[u32; 32]; 3],
    /// The last operation of each kind.
    last: [Option<Site>; 3],
    last_pc: [u32; 3],
    /// The arrivals of the lanes at the barrier of the cluster.
    cluster: SmallVec<[Arrival; 1]>,
    /// Lanes that wait for the rest of the warp at a barrier of the block, by their instruction.
    reached: SmallVec<[(u32, Reached); 1]>,
    /// Lanes that wait for others of their member mask.
    gathering: SmallVec<[Gathering; 1]>,
    exits: SmallVec<[Exit; 1]>,
}

/// Lanes at a warp-level operation, whose mask names others that have not come yet.
#[derive(Clone)]
struct Gathering {
    pc: u32,
    lanes: u32,
    members: u32,
    site: Site,
}

/// Where lanes have exited.
struct Exit {
    pc: u32,
    lanes: u32,
    site: Site,
}

/// Where lanes have exited of a block that has ended before its cluster.
struct Gone {
    cluster: u64,
    pc: u32,
    site: Site,
    /// They have arrived at the barrier of the cluster, which is not complete.
    arrived: bool,
}

impl Warp {
    /// The lanes that have arrived at the barrier of the cluster, which is not complete.
    fn arrived_in_cluster(&self) -> u32 {
        self.cluster.iter().fold(0, |lanes, arrival| lanes | arrival.lanes)
    }
}

reports!(Sync);

impl Sync {
    /// A checker for one launch, or several in a row.
    pub fn new() -> Sync {
        Sync::default()
    }

    fn select(&mut self, id: [u32; 3]) -> bool {
        select(&self.blocks, &mut self.current, |b| b.id == id)
    }

    fn site(&self, at: &At<'_>) -> Site {
        Site::new(at, self.block_shape)
    }

    /// Adds a finding at one operation or two.
    fn add(&mut self, code: &'static str, pcs: &[u32], finding: impl FnOnce() -> Finding) {
        self.report.add(code, pcs, 1, finding);
    }

    fn collective(&mut self, at: &At<'_>, members: Option<u32>) {
        let Some(alive) =
            self.blocks.get(self.current).and_then(|b| b.warps.get(at.warp as usize)).map(|w| w.alive)
        else {
            return;
        };
        let Some(members) = members else {
            if at.mask != alive {
                let (site, missing) = (self.site(at), alive & !at.mask);
                self.add(codes::NOT_CONVERGED, &[at.pc], || {
                    let message = format!("executed by lanes {:#010x} of a warp, without lanes {missing:#010x}", at.mask);
                    Finding::new(Checker::Sync, codes::NOT_CONVERGED, message, site)
                        .note("which lanes take part is left to chance without `.sync` and a member mask (9.7.9.5)")
                        .warning()
                });
            }
            return;
        };
        // Those of a warp that is not full were never there to wait for.
        let gone = members & self.existing(at.warp) & !alive;
        if gone != 0 && waits_for_exited(at) {
            let site = self.site(at);
            self.add(codes::MEMBERS_GONE, &[at.pc], || {
                let message = format!("member mask {members:#010x} names lanes {gone:#010x}, that have exited");
                Finding::new(Checker::Sync, codes::MEMBERS_GONE, message, site)
                    .note("this instruction waits for all threads of its mask, not only for those that have not exited (9.7.13.2, 9.7.13.14)")
                    .warning()
            });
        } else if gone != 0 {
            self.members_passed(at, members, gone);
        }
        if members & alive & !at.mask != 0 {
            let site = self.site(at);
            let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) else { return };
            warp.gathering.retain(|g| g.lanes & at.mask == 0);
            warp.gathering.push(Gathering { pc: at.pc, lanes: at.mask, members, site });
        }
    }

    /// Lanes come to an operation whose mask names lanes that have exited: fine if they returned early, a mistake if they have executed what follows it.
    fn members_passed(&mut self, at: &At<'_>, members: u32, gone: u32) {
        let Some(warp) = self.blocks[self.current].warps.get(at.warp as usize) else { return };
        let exits: SmallVec<[(u32, Site); 1]> =
            warp.exits.iter().filter(|e| e.lanes & gone != 0).map(|e| (e.pc, e.site.clone())).collect();
        for (pc, exit) in exits {
            if self.goes_past(at.program, at.pc, pc) {
                let gathering = Gathering { pc: at.pc, lanes: at.mask, members, site: self.site(at) };
                self.went_past(gathering, pc, exit);
            }
        }
    }

    /// Members of a mask have exited past the operation that it belongs to.
    fn went_past(&mut self, gathering: Gathering, exit_pc: u32, exit: Site) {
        let Gathering { pc, members, site, .. } = gathering;
        self.add(codes::MEMBERS_GONE, &[pc, exit_pc], || {
            let message =
                format!("member mask {members:#010x} names lanes that have gone past this instruction");
            Finding::new(Checker::Sync, codes::MEMBERS_GONE, message, site)
                .site(exit.role("the others exit"))
                .note("all threads of the mask must execute the instruction (9.7.9.6, 9.7.13)")
                .warning()
        });
    }

    /// The lanes of a warp that the launch has threads for.
    fn existing(&self, warp: u32) -> u32 {
        let lanes = self.threads.saturating_sub(warp.saturating_mul(32));
        if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 }
    }

    /// Tensor memory is used in a way that the engine has noticed.
    fn tensor(&mut self, at: &At<'_>, hazard: TensorHazard, other: u32) {
        let site = self.site(at);
        let earlier = Site::new(&At { pc: other, ..*at }, self.block_shape);
        let (message, note) = match hazard {
            TensorHazard::Left { columns } => {
                return self.add(codes::TENSOR_MEMORY_LEFT, &[at.pc], || {
                    let message = format!("a block ends with {columns} columns of tensor memory allocated");
                    Finding::new(Checker::Sync, codes::TENSOR_MEMORY_LEFT, message, site)
                        .note("free them with `tcgen05.dealloc` before the block ends (9.7.16.7.1)")
                });
            }
            TensorHazard::InFlight => (
                "tensor memory is accessed that an operation under way reads or writes",
                "wait for it first: `tcgen05.commit`, and then the mbarrier object that it names (9.7.16.6.4)",
            ),
            TensorHazard::Stored => (
                "tensor memory is accessed that a store writes that nobody has waited for",
                "the warp that stores waits with `tcgen05.wait::st`, and other threads for that warp (9.7.16.6.4)",
            ),
            TensorHazard::Loaded => (
                "tensor memory is written that a load reads that nobody has waited for",
                "the warp that loads waits with `tcgen05.wait::ld`, and other threads for that warp (9.7.16.6.4)",
            ),
        };
        self.add(codes::TENSOR_MEMORY_IN_FLIGHT, &[at.pc, other], || {
            Finding::new(Checker::Sync, codes::TENSOR_MEMORY_IN_FLIGHT, message, site)
                .site(earlier.role("the operation"))
                .note(note)
        });
    }
}

/// True for a fault of an instruction that tests the parity of an mbarrier object's phase.
fn tests_parity(program: &Program, fault: &Fault) -> bool {
    let of_line = program.statements().iter().filter(|s| Some(s.line) == fault.ptx_line && s.head < s.end);
    let mut operations = of_line.filter_map(|s| program.instruction(s.head)).map(|i| i.operation());
    operations.any(|o| matches!(o, Operation::MbarrierTestWaitParity | Operation::MbarrierTryWaitParity))
}

/// True if the manual has the instruction wait for all threads of its mask, those included that have exited.
fn waits_for_exited(at: &At<'_>) -> bool {
    let Some(OperationKind::Collective(collective)) = at.program.operation(at.pc).map(|o| o.kind) else {
        return false;
    };
    match collective.kind {
        CollectiveKind::Sync | CollectiveKind::Elect => true,
        CollectiveKind::Shuffle(_)
        | CollectiveKind::All
        | CollectiveKind::Any
        | CollectiveKind::Uni
        | CollectiveKind::Ballot
        | CollectiveKind::MatchAny
        | CollectiveKind::MatchAll
        | CollectiveKind::Reduce(_) => false,
    }
}

impl Observer for Sync {
    fn interest(&self) -> Interest {
        let instructions = self.warpgroups.is_some() || self.register_counts.is_some();
        Interest { instructions, accesses: self.has_objects, ..Interest::RARE }
    }

    fn begin(&mut self, launch: &LaunchView<'_>) {
        self.block_shape = launch.block();
        self.threads = launch.block().into_iter().fold(1, u32::saturating_mul);
        self.blocks.clear();
        self.polls = 0;
        self.passed.clear();
        self.gone.clear();
        self.has_objects = mbarrier::has_objects(launch.program());
        self.states = States::of(launch.program());
        self.warpgroups = Warpgroups::of(launch.program());
        self.register_counts = RegisterCounts::of(launch.program());
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other faults are not about synchronisation")]
    fn end(&mut self, launch: &LaunchView<'_>, fault: Option<&Fault>) {
        let blocks = std::mem::take(&mut self.blocks);
        let Some(fault) = fault else { return };
        let code = match fault.code {
            FaultCode::Deadlock => codes::DEADLOCK,
            FaultCode::BadMask => codes::BAD_MASK,
            FaultCode::BadBarrier => codes::BAD_BARRIER,
            FaultCode::BadMbarrier => codes::MBARRIER_MISUSE,
            FaultCode::BadOperand if tests_parity(launch.program(), fault) => codes::MBARRIER_MISUSE,
            FaultCode::BadTensorMemory => codes::TENSOR_MEMORY_MISUSE,
            FaultCode::StepLimit if self.polls >= SPINNING => codes::DEADLOCK,
            _ => return,
        };
        let (line, block, thread) =
            (fault.ptx_line.unwrap_or(0), fault.block.unwrap_or_default(), fault.thread.unwrap_or_default());
        let address = fault.address.map(|a| (StateSpace::Shared, a));
        let site = Site { role: "", line, mnemonic: String::new(), block, thread, address, memory: None };
        let (head, waits) = match fault.message.split_once(": ") {
            Some((head, waits)) if fault.code == FaultCode::Deadlock => (head, waits),
            _ => (fault.message.as_str(), ""),
        };
        self.report.add(code, &[], 1, || {
            let finding = Finding::new(Checker::Sync, code, head, site);
            let finding = waits.split("; ").filter(|w| !w.is_empty()).fold(finding, |f, wait| f.note(wait));
            finding.note("the run ended here")
        });
        if code == codes::DEADLOCK {
            self.starved(blocks);
        }
    }

    fn block_started(&mut self, view: &BlockView) {
        let warps = (0..view.warps).map(|w| {
            let alive = self.existing(w);
            let (issued, waited, last) = Default::default();
            Warp {
                alive,
                issued,
                waited,
                last,
                last_pc: [0; 3],
                cluster: SmallVec::new(),
                reached: SmallVec::new(),
                gathering: SmallVec::new(),
                exits: SmallVec::new(),
            }
        });
        self.blocks.push(Block {
            id: view.id,
            cluster: view.cluster,
            rank: view.rank,
            warps: warps.collect(),
            barriers: Default::default(),
            objects: FxHashMap::default(),
            extent: None,
        });
    }

    fn block_ended(&mut self, view: &BlockView) {
        let Some(i) = self.blocks.iter().position(|b| b.id == view.id) else { return };
        let block = self.blocks.swap_remove(i);
        self.states.forget(block.id);
        if self.blocks.iter().any(|b| b.cluster == block.cluster) {
            let exits = block.warps.iter().flat_map(|warp| warp.exits.iter().map(move |exit| (warp, exit)));
            self.gone.extend(exits.map(|(warp, exit)| Gone {
                cluster: block.cluster,
                pc: exit.pc,
                site: exit.site.clone(),
                arrived: exit.lanes & !warp.arrived_in_cluster() == 0,
            }));
        } else {
            self.gone.retain(|gone| gone.cluster != block.cluster);
        }
        if let Some(warpgroups) = &mut self.warpgroups {
            warpgroups.forget(block.id);
        }
        if let Some(counts) = &mut self.register_counts {
            counts.forget(block.id);
        }
        for (id, arrivals) in block.barriers.into_iter().enumerate() {
            let Some(last) = arrivals.last().cloned() else { continue };
            let threads: u32 = arrivals.iter().map(|a| a.lanes.count_ones()).sum();
            self.add(codes::BARRIER_INCOMPLETE, &[last.pc], || {
                let message = format!(
                    "the block ends with {threads} threads arrived at barrier {id}, which is not complete"
                );
                Finding::new(Checker::Sync, codes::BARRIER_INCOMPLETE, message, last.site)
                    .note("fewer threads have arrived than the barrier expects")
                    .warning()
            });
        }
        self.all_bytes(block.objects);
    }

    fn instruction(&mut self, at: &At<'_>, registers: &Registers<'_>) {
        if at.mask == u32::MAX
            && let Some(counts) = &mut self.register_counts
        {
            counts.instruction(at, &mut self.report, self.block_shape);
        }
        let is_fence = |m: &MatrixOp| matches!(m, MatrixOp::WarpgroupFence);
        let Some(warpgroups) = &mut self.warpgroups else { return };
        warpgroups.instruction(at, registers, &mut self.report, self.block_shape);
        if at.mask == u32::MAX
            && let Some(OperationKind::Matrix(op)) = at.program.operation(at.pc).map(|o| o.kind)
            && is_fence(op)
        {
            warpgroups.fence(at);
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
        if kind != AccessKind::Load && space == StateSpace::Shared && self.select(at.block) {
            self.overwrite(at, access, &addresses);
        }
    }

    fn exited(&mut self, at: &At<'_>) {
        if !self.select(at.block) {
            return;
        }
        let Some(warp) = self.blocks.get_mut(self.current).and_then(|b| b.warps.get_mut(at.warp as usize))
        else {
            return;
        };
        warp.alive &= !at.mask;
        let waiting = warp.reached.iter().find(|(pc, _)| barrier::is_aligned(at.program, *pc)).cloned();
        if warp.alive == 0
            && let Some(counts) = &mut self.register_counts
        {
            counts.exited(at, &mut self.report, self.block_shape);
        }
        let mut left: SmallVec<[(u32, Site, Group); 2]> = SmallVec::new();
        for (kind, group) in [Group::Copy, Group::Bulk, Group::Matrix].into_iter().enumerate() {
            let pending =
                lanes_of(at.mask).any(|lane| warp.issued[kind].count[lane] > warp.waited[kind][lane]);
            if let (true, Some(site)) = (pending, &warp.last[kind]) {
                left.push((warp.last_pc[kind], site.clone(), group));
            }
        }
        let named = |g: &&Gathering| g.members & at.mask != 0;
        warp.gathering.retain(|g| g.lanes & at.mask == 0);
        let gathered: SmallVec<[Gathering; 1]> = warp.gathering.iter().filter(named).cloned().collect();
        if let Some((pc, barrier)) = waiting {
            self.leave_waiting(at, pc, barrier);
        }
        self.leave_block_waiting(at);
        self.leave_cluster_waiting(at);
        let exit = self.site(at);
        for gathering in gathered {
            if self.goes_past(at.program, gathering.pc, at.pc) {
                self.went_past(gathering, at.pc, exit.clone());
            }
        }
        if let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) {
            match warp.exits.iter_mut().find(|e| e.pc == at.pc) {
                Some(known) => known.lanes |= at.mask,
                None => warp.exits.push(Exit { pc: at.pc, lanes: at.mask, site: exit }),
            }
        }
        for (pc, site, group) in left {
            self.add(codes::NEVER_WAITED, &[pc], || {
                let wait = match group {
                    Group::Copy => "cp.async.wait_group",
                    Group::Bulk => "cp.async.bulk.wait_group",
                    Group::Matrix => "wgmma.wait_group",
                };
                let message = "a thread exits without having waited for its asynchronous operations";
                Finding::new(Checker::Sync, codes::NEVER_WAITED, message, site)
                    .note(format!(
                        "commit them to a group, and wait for it with `{wait}` before the memory goes away"
                    ))
                    .warning()
            });
        }
    }

    fn exchanged(&mut self, at: &At<'_>, participants: &[Participant<'_>], from: Option<&[u8; 32]>) {
        if !self.select(at.block) {
            return;
        }
        let lanes = participants.iter().fold(0, |m, p| m | p.lanes);
        if let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) {
            warp.gathering.retain(|g| g.lanes & lanes == 0);
        }
        let Some(from) = from else { return };
        if !participants.first().is_some_and(|p| matches!(p.op.kind, CollectiveKind::Shuffle(_))) {
            return;
        }
        let Some(lane) = lanes_of(lanes).find(|lane| lanes >> (from[*lane] & 31) & 1 == 0) else { return };
        let (site, source) = (Site::of_lane(at, lane as u32, self.block_shape), u32::from(from[lane] & 31));
        let alive = self.blocks[self.current].warps.get(at.warp as usize).map_or(0, |w| w.alive);
        let why = if self.existing(at.warp) >> source & 1 == 0 {
            "does not exist"
        } else if alive >> source & 1 == 0 {
            "has exited"
        } else {
            "does not take part"
        };
        self.add(codes::SHUFFLE_SOURCE, &[at.pc], || {
            let message = format!("lane {lane} reads lane {source}, which {why}");
            Finding::new(Checker::Sync, codes::SHUFFLE_SOURCE, message, site)
                .note("the value is unspecified: keep lanes that are read in the shuffle, or do not use what it gives (9.7.9.6)")
                .warning()
        });
    }

    fn transfer(&mut self, at: &At<'_>, _: u64, stage: Stage) {
        if stage != Stage::Issued || !self.select(at.block) {
            return;
        }
        let site = self.site(at);
        let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) else { return };
        if let Some(OperationKind::Async(AsyncOp::ArriveOnCopies { .. })) =
            at.program.operation(at.pc).map(|o| o.kind)
        {
            lanes_of(at.mask).for_each(|lane| warp.waited[0][lane] = warp.issued[0].count[lane]);
            return;
        }
        let Some(group) = group_of(at) else { return };
        let kind = group as usize;
        lanes_of(at.mask).for_each(|lane| warp.issued[kind].count[lane] += 1);
        (warp.last[kind], warp.last_pc[kind]) = (Some(site), at.pc);
    }

    fn synchronise(&mut self, at: &At<'_>, event: Event) {
        if !self.select(at.block) {
            return;
        }
        match event {
            Event::Reach(id) => self.reach(at, id),
            Event::Arrive(id) => self.arrive(at, id),
            Event::Complete(id) => {
                if let Some(arrivals) = self.blocks[self.current].barriers.get_mut(id as usize) {
                    arrivals.clear();
                }
            }
            Event::Warp { members } => self.collective(at, members),
            Event::ClusterArrive => self.cluster_arrive(at),
            Event::ClusterComplete => {
                let cluster = self.blocks[self.current].cluster;
                for block in self.blocks.iter_mut().filter(|b| b.cluster == cluster) {
                    block.warps.iter_mut().for_each(|w| w.cluster.clear());
                }
                self.gone.iter_mut().filter(|g| g.cluster == cluster).for_each(|g| g.arrived = false);
            }
            Event::Mbarrier { rank, offset, phase, event } => self.mbarrier(at, rank, offset, phase, event),
            Event::Tensor { hazard, other } => self.tensor(at, hazard, other),
            Event::Commit(group) => {
                if let (Group::Matrix, Some(warpgroups)) = (group, &mut self.warpgroups) {
                    warpgroups.commit(at);
                }
                if let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) {
                    warp.issued[group as usize].commit(at.mask);
                }
            }
            Event::Wait { group, pending, .. } => {
                if let (Group::Matrix, Some(warpgroups)) = (group, &mut self.warpgroups) {
                    warpgroups.wait(at, pending);
                }
                let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) else { return };
                for lane in lanes_of(at.mask) {
                    if let Some(complete) = warp.issued[group as usize].complete(lane, pending) {
                        let waited = &mut warp.waited[group as usize][lane];
                        *waited = complete.max(*waited);
                    }
                }
            }
            Event::Leave(_) | Event::ClusterLeave | Event::Fence(_) => {}
        }
    }
}
