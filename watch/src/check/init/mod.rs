//! Uses of what was never written: registers, and bytes of shared, local and allocated memory.
//!
//! Every byte of every register of every thread, and of memory, is defined or not. Undefinedness is followed through moves, packing, arithmetic,
//! shuffles and memory, and reported where it decides something: a branch or a predicate, an address, what is stored to the
//! host's buffers, an operand on which several threads depend. Reading alone is not a mistake: compilers and programmers load whole tiles and use
//! what is valid of them.

mod asynchronous;
mod exchange;
mod flow;
mod matrix;
mod memory;
mod origins;
mod shadow;
mod values;

use super::groups::select;
use super::map::MemoryMap;
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Findings, Report, Site, reports};
use flow::{Act, Decides, Flows, Slot};
use origins::Origins;
use shadow::{ByteMap, Global, Shared, Warp};
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::{Access, Reg};
use warpsmith_interp::observe::{
    AccessKind, Addresses, At, BlockView, Crossing, FrameView, LaunchView, MbarrierEvent, MemoryKind,
    MemoryRange, Observer, Participant, Registers, Scratch, Stage, Sync, is_cancelled,
};
use warpsmith_isa::StateSpace;

/// Finds uses of values that were never written.
///
/// Buffers of the host and variables count as written, since [`Device::alloc`](warpsmith_interp::Device::alloc) and the manual (5.4) give zeros;
/// [`Init::with_unwritten_arguments`] says otherwise.
#[derive(Default)]
pub struct Init {
    report: Report,
    unwritten: Vec<usize>,
    launch: Shape,
    map: MemoryMap,
    flows: Flows,
    blocks: Vec<Block>,
    /// The block that was looked at last.
    current: usize,
    /// Where the registers of the running function start.
    base: usize,
    /// Where its local memory starts.
    stack: u64,
    global: Global,
    /// Where undefined bytes of global memory come from, by words of four.
    origins: FxHashMap<u64, u32>,
    known: Origins,
    /// What asynchronous operations have read, by number and lane.
    in_flight: FxHashMap<(u64, u32), Vec<u64>>,
    scratch: Scratch,
}

#[derive(Clone, Copy, Default)]
struct Shape {
    block: [u32; 3],
    cluster: [u32; 3],
}

/// A resident block.
struct Block {
    id: [u32; 3],
    shared: Shared,
    warps: Vec<Warp>,
    /// Where undefined bytes of shared and local memory come from: by words, and by lane for local memory.
    origins: FxHashMap<(u32, u64), u32>,
}

reports!(Init);

impl Init {
    /// A checker for one launch, or several in a row.
    pub fn new() -> Init {
        Init::default()
    }

    /// Treats the buffers that these arguments of the kernel point to as never written by the host.
    pub fn with_unwritten_arguments(mut self, arguments: impl IntoIterator<Item = usize>) -> Init {
        self.unwritten.extend(arguments);
        self
    }

    /// Makes the block of `at` the current one; false if it is not resident.
    #[inline]
    fn select(&mut self, id: [u32; 3]) -> bool {
        select(&self.blocks, &mut self.current, |b| b.id == id)
    }

    /// The resident block that has a number in the cluster of another.
    fn member(&self, of: [u32; 3], rank: usize) -> Option<usize> {
        let rank = u32::try_from(rank).ok()?;
        let [x, y, _] = self.launch.cluster.map(|n| n.max(1));
        let inner = [rank % x, rank / x % y, rank / x / y];
        let id: [u32; 3] = std::array::from_fn(|i| of[i] - of[i] % self.launch.cluster[i].max(1) + inner[i]);
        self.blocks.iter().position(|b| b.id == id)
    }

    #[inline]
    fn warp(&mut self, at: &At<'_>) -> Option<&mut Warp> {
        self.blocks.get_mut(self.current)?.warps.get_mut(at.warp as usize)
    }

    /// Reports that something undefined decides, for the lanes of a mask.
    #[cold]
    fn decide(&mut self, code: &'static str, at: &At<'_>, undefined: u32, what: &str, origin: u32) {
        let lane = undefined.trailing_zeros().min(31);
        let (shape, known) = (self.launch.block, self.known.get(origin));
        let pcs = [at.pc, known.map_or(u32::MAX, |o| o.pc)];
        self.report.add(code, &pcs, undefined.count_ones().into(), || {
            let fate = if known.is_some_and(|o| o.discarded) { "discarded" } else { "never written" };
            let message = format!("a value that was {fate} {what}");
            let finding = Finding::new(Checker::Init, code, message, Site::of_lane(at, lane, shape));
            known.iter().fold(finding, |f, origin| f.site(origin.site.clone()))
        });
    }

    /// Looks at registers that decide, and takes them for defined from then on.
    #[cold]
    fn look(&mut self, at: &At<'_>, decides: Decides, reads: &[Reg], base: usize, mask: u32) {
        for r in reads {
            let slot = Slot::new(*r);
            let Some(warp) = self.warp(at) else { return };
            let undefined = warp.any(base, slot) & mask;
            if undefined != 0 {
                let origin = self.origin_of(at, base, *r, undefined);
                let (code, what) = match decides {
                    Decides::Branch => (codes::UNDEFINED_BRANCH, "decides a branch"),
                    Decides::Address => (codes::UNDEFINED_ADDRESS, "is part of an address"),
                    Decides::Operand => {
                        (codes::UNDEFINED_OPERAND, "is an operand on which more than its own thread depends")
                    }
                };
                self.decide(code, at, undefined, what, origin);
                if let Some(warp) = self.warp(at) {
                    warp.define(base, slot, undefined);
                }
            }
        }
    }

    /// An operation with an undefined argument.
    #[cold]
    #[inline(never)]
    fn compute(&mut self, at: &At<'_>, registers: &Registers<'_>, base: usize) {
        let Some(operation) = at.program.operation(at.pc) else { return };
        let mut scratch = std::mem::take(&mut self.scratch);
        let results =
            self.warp(at).map(|warp| values::results(&mut scratch, at, registers, &operation, warp, base));
        self.scratch = scratch;
        let Some(results) = results else { return };
        let mut origin = 0;
        for r in &operation.reads {
            let undefined = self.warp(at).map_or(0, |w| w.any(base, Slot::new(*r))) & at.mask;
            if origin == 0 && undefined != 0 {
                origin = self.origin_of(at, base, *r, undefined);
            }
        }
        let Some(warp) = self.warp(at) else { return };
        for (r, undefined) in operation.writes.iter().zip(&results) {
            let slot = Slot::new(*r);
            let masks = warp.masks_mut(base, slot).iter_mut();
            masks.zip(undefined).for_each(|(m, u)| *m = *m & !at.mask | u & at.mask);
            if undefined.iter().any(|u| u & at.mask != 0) {
                warp.set_origin(base, slot, origin);
            }
        }
    }
}

impl Init {
    /// The first block of a cluster is taken from a response: there is none if the request has failed (PTX ISA 9.0, 9.7.13.18).
    #[cold]
    fn ask_cancelled(&mut self, at: &At<'_>, registers: &Registers<'_>, base: usize) {
        let Some(operation) = at.program.operation(at.pc) else { return };
        let Some(response) = operation.reads.first() else { return };
        let failed = |lane: &usize| !is_cancelled(registers.get(*response, *lane));
        let lanes = lanes_of(at.mask).filter(failed).fold(0u32, |lanes, lane| lanes | 1 << lane);
        if lanes == 0 {
            return;
        }
        let shape = self.launch.block;
        let origin = self.known.number((at.pc, None), || {
            Site::of_lane(at, lanes.trailing_zeros(), shape)
                .role("taken from the response to a request that has failed")
        });
        let Some(warp) = self.warp(at) else { return };
        for r in &operation.writes {
            let slot = Slot::new(*r);
            warp.masks_mut(base, slot).iter_mut().for_each(|mask| *mask |= lanes);
            warp.set_origin(base, slot, origin);
        }
    }
}

impl Observer for Init {
    fn begin(&mut self, launch: &LaunchView<'_>) {
        self.launch = Shape { block: launch.block(), cluster: launch.cluster() };
        self.map = MemoryMap::new(launch);
        self.flows = Flows::new(launch.program());
        self.blocks.clear();
        self.in_flight.clear();
        let arguments = launch.arguments();
        let memory = launch.memory();
        for index in &self.unwritten {
            let Some(p) = launch.params().get(*index).filter(|p| p.bytes == 8) else { continue };
            let bytes = arguments.get(p.offset as usize..).and_then(|b| b.first_chunk());
            let address = bytes.map_or(0, |b| u64::from_le_bytes(*b));
            if let Some(m) = memory.iter().find(|m| m.kind == MemoryKind::Buffer && m.start == address) {
                self.global.add_once(m.start, m.bytes, true, true);
            }
        }
        for m in memory.iter().filter(|m| m.unwritten) {
            self.global.add_once(m.start, m.bytes, true, true);
        }
        // What kernels keep between themselves is followed, not reported.
        for m in memory.iter().filter(|m| m.kind == MemoryKind::Variables && m.bytes > 0) {
            self.global.add_once(m.start, m.bytes, false, false);
        }
    }

    fn block_started(&mut self, block: &BlockView) {
        let warps = (0..block.warps).map(|_| Warp::default()).collect();
        let shared = Shared::new(block.shared_bytes);
        self.blocks.push(Block { id: block.id, shared, warps, origins: FxHashMap::default() });
    }

    fn block_ended(&mut self, block: &BlockView) {
        self.blocks.retain(|b| b.id != block.id);
    }

    #[inline]
    fn instruction(&mut self, at: &At<'_>, registers: &Registers<'_>) {
        if !self.select(at.block) {
            return;
        }
        let place = registers.place();
        let base = place.row as usize * 32;
        (self.base, self.stack) = (base, place.stack.into());
        let Some(flow) = self.flows.get(at.pc) else { return };
        let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) else { return };
        warp.reserve(base + place.rows as usize * 32);
        if let Some(word) = flow.guard
            && warp.any(base, Slot { word, masks: 1 }) & at.group != 0
            && let Some(guard) = at.program.operation(at.pc).and_then(|o| o.guard)
        {
            self.look(at, Decides::Branch, &[guard.pred], base, at.group);
            return self.instruction(at, registers);
        }
        if at.mask == 0 {
            return;
        }
        let deciding = self.flows.deciding(&flow).iter();
        if deciding.fold(0, |any, slot| any | warp.any(base, *slot)) & at.mask != 0
            && let Some(operation) = at.program.operation(at.pc)
        {
            let deciding = self.flows.deciding(&flow);
            let decides = |r: &Reg| deciding.contains(&Slot::new(*r));
            let reads: Vec<Reg> = operation.reads.iter().copied().filter(decides).collect();
            self.look(at, flow.decides, &reads, base, at.mask);
            return self.instruction(at, registers);
        }
        match flow.act {
            Act::Nothing => {}
            // Lanes that have to wait for others come again.
            Act::Matrix if at.mask != u32::MAX => {}
            Act::Matrix => self.matrix(at, &flow, base),
            Act::Define => {
                self.flows.written(&flow).iter().for_each(|slot| warp.define(base, *slot, at.mask));
            }
            Act::Compute => {
                let values = self.flows.values(&flow).iter();
                if values.fold(0, |any, slot| any | warp.any(base, *slot)) & at.mask != 0 {
                    return self.compute(at, registers, base);
                }
                self.flows.written(&flow).iter().for_each(|slot| warp.define(base, *slot, at.mask));
                if flow.asks_cancelled {
                    self.ask_cancelled(at, registers, base);
                }
            }
        }
    }

    #[inline]
    fn access(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        if at.mask == 0 || !self.select(at.block) {
            return;
        }
        match space {
            StateSpace::Shared => self.shared(at, kind, access, addresses),
            StateSpace::Local => self.local(at, kind, access, addresses),
            StateSpace::Global => self.global(at, kind, access, addresses),
            // Constants and parameters come from the host.
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Param
            | StateSpace::Tex => {}
        }
    }

    fn crossed(&mut self, at: &At<'_>, crossing: &Crossing<'_>) {
        self.cross(at, crossing);
    }

    fn exchanged(&mut self, at: &At<'_>, participants: &[Participant<'_>], from: Option<&[u8; 32]>) {
        self.exchange(at, participants, from);
    }

    fn transfer(&mut self, at: &At<'_>, number: u64, stage: Stage) {
        self.transferred(at, number, stage);
    }

    fn is_undefined(&mut self, at: &At<'_>, place: MemoryRange) -> bool {
        self.takes_undefined(at, place)
    }

    fn undefined_lanes(&mut self, at: &At<'_>, r: Reg, frame: FrameView) -> u32 {
        self.lanes_undefined(at, r, frame)
    }

    fn tainted(&mut self, at: &At<'_>, r: Reg, frame: FrameView, undefined: u32) {
        self.taint(at, r, frame, undefined);
    }

    fn synchronise(&mut self, at: &At<'_>, sync: Sync) {
        // The engine itself writes the object.
        if let Sync::Mbarrier { rank, offset, event: MbarrierEvent::Init, .. } = sync
            && let Some(index) = self.member(at.block, rank)
        {
            self.blocks[index].shared.put(offset as u64, 8, 0);
        }
    }

    fn allocated(&mut self, _: &At<'_>, address: u64, bytes: u64) {
        self.global.add(address, bytes, true, false);
    }

    fn freed(&mut self, _: &At<'_>, address: u64) {
        self.global.remove(address);
    }
}

#[cfg(test)]
mod tests;
