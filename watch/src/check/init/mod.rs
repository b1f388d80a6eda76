//! Uses of what was never written: registers, and bytes of shared, local and allocated memory.
//!
//! Every byte of every register of every thread, and of memory, is defined or not. Undefinedness is followed through moves, packing, arithmetic,
//! shuffles and memory, and told where it decides something: a branch or a predicate, an address, what is stored to the
//! host's buffers, an operand on which several threads depend. Reading alone is no mistake: compilers and programmers load whole tiles and use
//! what is valid of them.

mod flow;
mod matrix;
mod shadow;
mod values;

use super::groups::select;
use super::map::MemoryMap;
use super::register_name;
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Findings, Report, Site};
use flow::{Act, Decides, Flow, Flows, Slot};
use rustc_hash::FxHashMap;
use shadow::{ByteMap, Global, MOST_BYTES, Masks, Shared, Warp, get_bits, put_bits};
use warpsmith_interp::engine::{Access, AsyncOp, Move, Reg, TransferSource};
use warpsmith_interp::observe::{
    AccessKind, Addresses, At, BlockView, Crossing, FrameView, LaunchView, MbarrierEvent, MemoryKind,
    MemoryRange, Observer, OperationKind, Participant, Registers, Scratch, Stage, Sync, shared_owner,
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

/// Where undefined values come from. Number 0 is unknown.
#[derive(Default)]
struct Origins {
    /// By operation, and the register or none for memory.
    numbers: FxHashMap<(u32, Option<Reg>), u32>,
    sites: Vec<Origin>,
}

struct Origin {
    pc: u32,
    site: Site,
}

impl Origins {
    fn number(&mut self, key: (u32, Option<Reg>), site: impl FnOnce() -> Site) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        self.sites.push(Origin { pc: key.0, site: site() });
        let number = self.sites.len() as u32;
        self.numbers.insert(key, number);
        number
    }

    fn get(&self, number: u32) -> Option<&Origin> {
        self.sites.get((number as usize).checked_sub(1)?)
    }
}

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

    /// The origin of what is undefined in a register: known, or the register itself, which nobody has written.
    fn origin_of(&mut self, at: &At<'_>, base: usize, r: Reg, lanes: u32) -> u32 {
        let slot = Slot::new(r);
        let Some(warp) = self.warp(at) else { return 0 };
        match warp.origin(base, slot) {
            0 => {
                let block = self.launch.block;
                self.known.number((at.pc, Some(r)), || {
                    let lane = lanes.trailing_zeros().min(31);
                    let mut site = Site::of_lane(at, lane, block).role("read, and never written");
                    site.memory = Some(register_name(at, r));
                    site
                })
            }
            known => known,
        }
    }

    /// Reports that something undefined decides, for the lanes of a mask.
    #[cold]
    fn decide(&mut self, code: &'static str, at: &At<'_>, undefined: u32, what: &str, origin: u32) {
        let lane = undefined.trailing_zeros().min(31);
        let (shape, known) = (self.launch.block, self.known.get(origin));
        let pcs = [at.pc, known.map_or(u32::MAX, |o| o.pc)];
        self.report.add(code, &pcs, undefined.count_ones().into(), || {
            let message = format!("a value that was never written {what}");
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

    /// Gives what a load has found to the registers it writes.
    fn deliver(&mut self, at: &At<'_>, access: &Access, found: &Masks, origin: u32) {
        let Some(flow) = self.flows.get(at.pc) else { return };
        let (base, size) = (self.base, usize::from(access.bytes));
        let Some(warp) = self.blocks.get_mut(self.current).and_then(|b| b.warps.get_mut(at.warp as usize))
        else {
            return;
        };
        let written = self.flows.written(&flow);
        if written.is_empty() {
            let undefined = found.iter().fold(0, |any, m| any | m) & at.mask;
            return self.decide(codes::UNDEFINED_RESULT, at, undefined, "is printed", origin);
        }
        for (element, slot) in written.iter().enumerate() {
            let bytes = &found[(element * size).min(MOST_BYTES - size)..][..size];
            let top = if access.signed { bytes[size - 1] } else { 0 };
            let masks = warp.masks_mut(base, *slot).iter_mut().enumerate();
            masks.for_each(|(b, m)| *m = *m & !at.mask | bytes.get(b).copied().unwrap_or(top) & at.mask);
            if bytes.iter().any(|m| m & at.mask != 0) {
                warp.set_origin(base, *slot, origin);
            }
        }
    }

    /// What of the values that an access stores is undefined, byte by byte, and where it comes from; `None` if nothing is.
    fn stored(&mut self, at: &At<'_>, flow: &Flow, access: &Access) -> Option<(Masks, u32)> {
        let base = self.base;
        let warp = self.blocks.get(self.current)?.warps.get(at.warp as usize)?;
        let values = self.flows.values(flow);
        if values.iter().all(|slot| warp.any(base, *slot) & at.mask == 0) {
            return None;
        }
        let size = usize::from(access.bytes);
        let mut masks = [0; MOST_BYTES];
        let mut undefined = (0, 0);
        // The third operand of an atomic is stored where the second is.
        for (i, slot) in values.iter().enumerate() {
            let element = i % usize::from(access.count.max(1));
            if access.skipped >> (element % 8) & 1 != 0 {
                continue;
            }
            for (b, m) in warp.masks(base, *slot).iter().enumerate().take(size) {
                if let (Some(mask), 1..) = (masks.get_mut(element * size + b), m & at.mask) {
                    *mask = m & at.mask;
                    if undefined.1 == 0 {
                        undefined = (i, *mask);
                    }
                }
            }
        }
        if undefined.1 == 0 {
            return None;
        }
        let operation = at.program.operation(at.pc)?;
        let r = *operation.reads.get(operation.reads.len() - values.len() + undefined.0)?;
        Some((masks, self.origin_of(at, base, r, undefined.1)))
    }

    /// The origin of undefined bytes that a load has found at a lane's address.
    fn origin_at(&mut self, at: &At<'_>, space: StateSpace, found: &Masks, addresses: &Addresses<'_>) -> u32 {
        let Some((byte, lanes)) = found.iter().enumerate().find(|(_, m)| **m & at.mask != 0) else {
            return 0;
        };
        let lane = (lanes & at.mask).trailing_zeros().min(31);
        let address = addresses.of(lane as usize).wrapping_add(byte as u64);
        let stored = match space {
            StateSpace::Global => self.origins.get(&(address / 4)),
            _ => {
                let key = origin_key(space, at.warp, lane, address);
                self.blocks.get(self.current).and_then(|b| b.origins.get(&key))
            }
        };
        if let Some(stored) = stored {
            return *stored;
        }
        let (map, shape) = (&self.map, self.launch.block);
        self.known.number((at.pc, None), || {
            let mut site = Site::of_lane(at, lane, shape).role("loaded, and never stored");
            site = site.address(space, address);
            site.memory = map.holding(space, address).map(|p| p.relation(address, 1));
            site
        })
    }

    /// Reports an atomic operation whose new value depends on bytes that nobody has written. Like other values that decide, they count as
    /// written from then on.
    #[cold]
    fn accumulated(&mut self, at: &At<'_>, undefined: u32, origin: u32, place: (StateSpace, u64)) {
        let (lane, (space, address)) = (undefined.trailing_zeros().min(31), place);
        let (map, shape) = (&self.map, self.launch.block);
        // Where an undefined value was stored, it has a story of its own.
        let known = self.known.get(origin).filter(|origin| origin.pc != at.pc);
        let pcs = [at.pc, known.map_or(u32::MAX, |o| o.pc)];
        self.report.add(codes::UNDEFINED_ACCUMULATOR, &pcs, undefined.count_ones().into(), || {
            let mut site = Site::of_lane(at, lane, shape).address(space, address);
            site.memory = map.holding(space, address).map(|p| p.relation(address, 1));
            let message = "an atomic operation updates memory that was never written";
            let finding = Finding::new(Checker::Init, codes::UNDEFINED_ACCUMULATOR, message, site);
            let finding = known.iter().fold(finding, |f, origin| f.site(origin.site.clone()));
            finding.note("what it starts from is left to chance: store the first value, and let a barrier follow, before it is updated")
        });
    }

    /// What of the old value of an atomic operation is undefined, lane by lane; and for what its first byte is: the lane's address there.
    fn updated(
        &mut self,
        at: &At<'_>,
        space: StateSpace,
        found: &Masks,
        addresses: &Addresses<'_>,
        flow: &Flow,
        access: &Access,
    ) {
        let origin = self.origin_at(at, space, found, addresses);
        if flow.overwrites {
            if !self.flows.written(flow).is_empty() {
                self.deliver(at, access, found, origin);
            }
            return;
        }
        let undefined = found.iter().fold(0, |any, m| any | m) & at.mask;
        let lane = undefined.trailing_zeros() as usize & 31;
        let byte = found.iter().position(|m| m >> lane & 1 != 0).unwrap_or(0);
        self.accumulated(at, undefined, origin, (space, addresses.of(lane).wrapping_add(byte as u64)));
    }

    /// Remembers where undefined bytes come from that are stored.
    fn keep_origin(
        &mut self,
        at: &At<'_>,
        space: StateSpace,
        masks: &Masks,
        addresses: &Addresses<'_>,
        origin: u32,
    ) {
        for lane in lanes_of(at.mask) {
            for (byte, _) in masks.iter().enumerate().filter(|(_, m)| **m >> lane & 1 != 0) {
                let address = addresses.of(lane).wrapping_add(byte as u64);
                if space == StateSpace::Global {
                    self.origins.insert(address / 4, origin);
                } else if let Some(block) = self.blocks.get_mut(self.current) {
                    block.origins.insert(origin_key(space, at.warp, lane as u32, address), origin);
                }
            }
        }
    }

    /// An access to shared memory: all lanes to their own block's, or lane by lane.
    fn shared(&mut self, at: &At<'_>, kind: AccessKind, access: &Access, addresses: Addresses<'_>) {
        // Addresses that follow a rule have been checked against the block's own memory.
        let own = |lane| shared_owner(addresses.of(lane)).0.is_none();
        if matches!(addresses, Addresses::Lines(_)) || lanes_of(at.mask).all(own) {
            return self.in_shared(at, self.current, kind, access, addresses);
        }
        for lane in lanes_of(at.mask) {
            let (rank, offset) = shared_owner(addresses.of(lane));
            let index = rank.map_or(Some(self.current), |rank| self.member(at.block, rank));
            if let Some(index) = index {
                let one = At { mask: 1 << lane, ..*at };
                self.in_shared(&one, index, kind, access, Addresses::Each(&[offset; 32]));
            }
        }
    }

    fn in_shared(
        &mut self,
        at: &At<'_>,
        index: usize,
        kind: AccessKind,
        access: &Access,
        addresses: Addresses<'_>,
    ) {
        let size = u32::from(access.bytes) * u32::from(access.count);
        let Some(flow) = self.flows.get(at.pc) else { return };
        if kind != AccessKind::Store {
            let found =
                self.blocks.get(index).and_then(|b| shadow::load(&b.shared, &addresses, size, at.mask));
            let found = found.and_then(|masks| used(access, masks));
            if let Some(masks) = &found {
                if kind == AccessKind::Load {
                    let origin = self.origin_at(at, StateSpace::Shared, masks, &addresses);
                    self.deliver(at, access, masks, origin);
                } else {
                    self.updated(at, StateSpace::Shared, masks, &addresses, &flow, access);
                }
            }
        }
        if kind == AccessKind::Load {
            return;
        }
        let stored = self.stored(at, &flow, access);
        if let Some((masks, origin)) = &stored {
            self.keep_origin(at, StateSpace::Shared, masks, &addresses, *origin);
        }
        if let Some(block) = self.blocks.get_mut(index) {
            let (shape, masks) =
                ((size, access.bytes.into(), access.skipped), stored.map(|(masks, _)| masks));
            shadow::store(&mut block.shared, &addresses, shape, at.mask, masks.as_ref());
        }
    }

    fn local(&mut self, at: &At<'_>, kind: AccessKind, access: &Access, addresses: Addresses<'_>) {
        let size = usize::from(access.bytes) * usize::from(access.count);
        let Some(flow) = self.flows.get(at.pc) else { return };
        let stored = if kind == AccessKind::Load { None } else { self.stored(at, &flow, access) };
        let mut found: Masks = [0; MOST_BYTES];
        // Usually all lanes have the same address, each in its own memory.
        let same = match addresses {
            Addresses::Lines([low, high]) => low == high && low.step == 0,
            Addresses::Each(_) => false,
        };
        let whole = [(addresses.of(at.mask.trailing_zeros() as usize & 31), at.mask)];
        let each: Vec<(u64, u32)> =
            if same { Vec::new() } else { lanes_of(at.mask).map(|l| (addresses.of(l), 1 << l)).collect() };
        let Some(warp) = self.blocks.get_mut(self.current).and_then(|b| b.warps.get_mut(at.warp as usize))
        else {
            return;
        };
        for &(address, lanes) in if same { &whole[..] } else { &each } {
            let Some(masks) = warp.local_mut(address, size) else { continue };
            for (b, m) in masks.iter_mut().enumerate() {
                let old = *m & lanes;
                let skipped = access.skipped >> (b / usize::from(access.bytes) % 8) & 1 != 0;
                if kind != AccessKind::Store && access.uses(b as u32) {
                    found[b] |= old;
                }
                if kind != AccessKind::Load && !skipped {
                    *m = *m & !lanes | stored.as_ref().map_or(0, |(s, _)| s[b] & lanes);
                }
            }
        }
        if let Some((masks, origin)) = &stored {
            self.keep_origin(at, StateSpace::Local, masks, &addresses, *origin);
        }
        if kind != AccessKind::Store && found.iter().any(|m| *m != 0) {
            if kind == AccessKind::Load {
                let origin = self.origin_at(at, StateSpace::Local, &found, &addresses);
                self.deliver(at, access, &found, origin);
            } else {
                self.updated(at, StateSpace::Local, &found, &addresses, &flow, access);
            }
        }
    }

    fn global(&mut self, at: &At<'_>, kind: AccessKind, access: &Access, addresses: Addresses<'_>) {
        let size = u32::from(access.bytes) * u32::from(access.count);
        let Some(flow) = self.flows.get(at.pc) else { return };
        let near = match &addresses {
            Addresses::Lines(lines) => {
                lines.iter().any(|l| !self.global.is_defined(l.start, 16 * u64::from(size)))
            }
            Addresses::Each(_) => !self.global.is_clear(),
        };
        let found = near.then(|| shadow::load(&self.global, &addresses, size, at.mask)).flatten();
        let found = found.and_then(|masks| used(access, masks));
        if kind != AccessKind::Store
            && let Some(masks) = &found
        {
            if kind == AccessKind::Load {
                let origin = self.origin_at(at, StateSpace::Global, masks, &addresses);
                self.deliver(at, access, masks, origin);
            } else {
                self.updated(at, StateSpace::Global, masks, &addresses, &flow, access);
            }
        }
        if kind == AccessKind::Load {
            return;
        }
        let mut stored = self.stored(at, &flow, access);
        if let Some((masks, origin)) = &mut stored {
            let undefined = masks.iter().fold(0, |any, m| any | m);
            let told = lanes_of(undefined)
                .filter(|l| self.global.is_host(addresses.of(*l)))
                .fold(0, |m, l| m | 1 << l);
            if told != 0 {
                let what = "is stored to the host's memory";
                self.decide(codes::UNDEFINED_RESULT, at, told, what, *origin);
                masks.iter_mut().for_each(|m| *m &= !told);
            }
        }
        if !near {
            return;
        }
        let stored = stored.filter(|(masks, _)| masks.iter().any(|m| *m != 0));
        if let Some((masks, origin)) = &stored {
            self.keep_origin(at, StateSpace::Global, masks, &addresses, *origin);
        }
        let masks = stored.map(|(masks, _)| masks);
        let shape = (size, access.bytes.into(), access.skipped);
        shadow::store(&mut self.global, &addresses, shape, at.mask, masks.as_ref());
    }

    /// The bytes of a transfer, as a map of what is undefined, and where they lie in it.
    fn place(&mut self, at: &At<'_>, place: &MemoryRange) -> Option<&mut dyn ByteMap> {
        match place.rank {
            None => Some(&mut self.global),
            Some(rank) => {
                let index = self.member(at.block, rank)?;
                Some(&mut self.blocks[index].shared)
            }
        }
    }

    /// The lanes of an asynchronous store whose values are undefined.
    fn issued(&mut self, at: &At<'_>, number: u64) {
        let Some(operation) = at.program.operation(at.pc) else { return };
        let OperationKind::Async(AsyncOp::Transfer(transfer)) = operation.kind else { return };
        let TransferSource::Values { values, bytes } = &transfer.from else { return };
        let base = self.base;
        let Some(warp) = self.blocks.get(self.current).and_then(|b| b.warps.get(at.warp as usize)) else {
            return;
        };
        for lane in lanes_of(at.mask) {
            let (mut bits, mut at_bit) = (0u64, 0);
            for r in values {
                let masks = warp.masks(base, Slot::new(*r));
                for b in 0..usize::from(*bytes) {
                    bits |= u64::from(masks.get(b).map_or(0, |m| m >> lane & 1)) << at_bit;
                    at_bit += 1;
                }
            }
            if bits != 0 {
                self.in_flight.insert((number, lane as u32), vec![bits]);
            }
        }
    }
}

/// Says which register it is.
/// What of the undefined bytes of a load the program uses; `None` if that is nothing.
fn used(access: &Access, mut found: Masks) -> Option<Masks> {
    for (_, lanes) in found.iter_mut().enumerate().filter(|(byte, _)| !access.uses(*byte as u32)) {
        *lanes = 0;
    }
    found.iter().any(|lanes| *lanes != 0).then_some(found)
}

fn origin_key(space: StateSpace, warp: u32, lane: u32, address: u64) -> (u32, u64) {
    if space == StateSpace::Local { (1 + warp * 32 + lane, address / 4) } else { (0, address / 4) }
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
        self.base = base;
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
            _ => {}
        }
    }

    fn crossed(&mut self, at: &At<'_>, crossing: &Crossing<'_>) {
        if !self.select(at.block) {
            return;
        }
        let Some(warp) = self.warp(at) else { return };
        let [from, to] = [crossing.from, crossing.to].map(|f| f.row as usize * 32);
        let words = to..to + crossing.to.rows as usize * 32;
        warp.reserve(words.end);
        if !crossing.returns {
            let stack = crossing.to.stack as usize..crossing.to.stack_end as usize;
            warp.enter(words, stack, at.mask);
        }
        for m in crossing.moves {
            match *m {
                Move::Reg { from: a, to: b } => {
                    let (source, target) = (Slot::new(a), Slot::new(b));
                    let mut masks = [0; 16];
                    masks.iter_mut().zip(warp.masks(from, source)).for_each(|(m, s)| *m = *s);
                    let origin = warp.origin(from, source);
                    let targets = warp.masks_mut(to, target).iter_mut();
                    targets.zip(masks).for_each(|(t, s)| *t = *t & !at.mask | s & at.mask);
                    if origin != 0 {
                        warp.set_origin(to, target, origin);
                    }
                }
                Move::Stack { from: a, to: b, bytes } => {
                    let [source, target] = [crossing.from.stack + a, crossing.to.stack + b].map(u64::from);
                    let copy = warp.local_mut(source, bytes as usize).map(|m| m.to_vec());
                    if let (Some(copy), Some(target)) = (copy, warp.local_mut(target, bytes as usize)) {
                        target.iter_mut().zip(copy).for_each(|(t, s)| *t = *t & !at.mask | s & at.mask);
                    }
                }
            }
        }
    }

    fn exchanged(&mut self, at: &At<'_>, participants: &[Participant<'_>], from: Option<&[u8; 32]>) {
        if !self.select(at.block) {
            return;
        }
        let Some(warp) = self.warp(at) else { return };
        // The masks of what lanes give, and of what says whom they read; and the first register of those that are undefined.
        let (mut given, mut control, mut source) = ([0u32; 16], 0, None);
        for p in participants {
            let base = p.row as usize * 32;
            for (i, r) in p.op.src.iter().enumerate() {
                let undefined = warp.any(base, Slot::new(*r)) & p.lanes;
                if undefined != 0 && source.is_none() {
                    source = Some((p.pc, base, *r, undefined));
                }
                if i == 0 {
                    given
                        .iter_mut()
                        .zip(warp.masks(base, Slot::new(*r)))
                        .for_each(|(g, m)| *g |= m & p.lanes);
                } else {
                    control |= undefined;
                }
            }
        }
        // What a shuffle gives from a lane that takes no part is undefined, whoever it is (9.7.9.6).
        let source_of = |lane: usize| from.map_or(lane, |from| usize::from(from[lane]) % 32);
        let strangers = lanes_of(at.mask)
            .filter(|lane| at.mask >> source_of(*lane) & 1 == 0)
            .fold(0u32, |m, lane| m | 1 << lane);
        let results = match from {
            Some(_) => given.map(|m| {
                lanes_of(at.mask)
                    .fold(control | strangers, |all, lane| all | (m >> source_of(lane) & 1) << lane)
            }),
            None if given.iter().any(|m| *m != 0) || control != 0 => [at.mask; 16],
            None => [0; 16],
        };
        let origin = match source {
            Some((pc, base, r, undefined)) => {
                self.origin_of(&At { pc, mask: undefined, ..*at }, base, r, undefined)
            }
            None if strangers != 0 => {
                let (lane, shape) = (strangers.trailing_zeros(), self.launch.block);
                self.known.number((at.pc, None), || {
                    let mut site = Site::of_lane(at, lane, shape).role("read from a lane that takes no part");
                    site.memory = Some(format!("lane {lane} reads lane {}", source_of(lane as usize)));
                    site
                })
            }
            None => 0,
        };
        let Some(warp) = self.warp(at) else { return };
        for p in participants {
            let base = p.row as usize * 32;
            for (i, r) in p.op.dst.iter().enumerate().filter_map(|(i, r)| Some((i, (*r)?))) {
                let slot = Slot::new(r);
                // The second result of a shuffle says whether there was such a lane; those of other operations are as good as the first.
                let results = if i == 1 && from.is_some() { [control; 16] } else { results };
                let masks = warp.masks_mut(base, slot).iter_mut();
                masks.zip(results).for_each(|(m, u)| *m = *m & !p.lanes | u & p.lanes);
                if origin != 0 {
                    warp.set_origin(base, slot, origin);
                }
            }
        }
    }

    fn transfer(&mut self, at: &At<'_>, number: u64, stage: Stage) {
        if !self.select(at.block) {
            return;
        }
        let key = (number, at.mask.trailing_zeros());
        match stage {
            Stage::Issued => self.issued(at, number),
            Stage::Described(_) => {}
            Stage::Read(place) => {
                let Some(map) = self.place(at, &place) else { return };
                if map.is_clear() {
                    return;
                }
                let part = |start: u64| {
                    let bytes = (place.bytes - start).min(64) as u32;
                    (start, bytes, map.get(place.address + start, bytes))
                };
                let parts: Vec<(u64, u32, u64)> = (0..place.bytes).step_by(64).map(part).collect();
                if parts.iter().any(|(_, _, bits)| *bits != 0) {
                    let bits = self.in_flight.entry(key).or_default();
                    let words = (place.at + place.bytes).div_ceil(64) as usize;
                    bits.resize(words.max(bits.len()), 0);
                    for (start, bytes, part) in parts {
                        put_bits(bits, (place.at + start) as usize, bytes, part);
                    }
                }
            }
            Stage::Written(place) | Stage::Reduced(place) => {
                let bits = self.in_flight.get(&key).cloned();
                let undefined = |start: u64| {
                    let bytes = (place.bytes - start).min(64) as u32;
                    bits.as_ref().map_or(0, |b| get_bits(b, (place.at + start) as usize, bytes))
                };
                let any = bits.is_some() && (0..place.bytes).step_by(64).any(|start| undefined(start) != 0);
                if any && place.rank.is_none() && self.global.is_host(place.address) {
                    let what = "is copied to the host's memory";
                    return self.decide(codes::UNDEFINED_RESULT, at, at.mask, what, 0);
                }
                let reduced = matches!(stage, Stage::Reduced(_));
                let Some(map) = self.place(at, &place) else { return };
                let mut first = None;
                for start in (0..place.bytes).step_by(64) {
                    let bytes = (place.bytes - start).min(64) as u32;
                    let new = undefined(start);
                    let old = if reduced { map.get(place.address + start, bytes) } else { 0 };
                    if old != 0 && first.is_none() {
                        first = Some(place.address + start + u64::from(old.trailing_zeros()));
                    }
                    map.put(place.address + start, bytes, new);
                }
                if let Some(address) = first {
                    let space = if place.rank.is_some() { StateSpace::Shared } else { StateSpace::Global };
                    self.accumulated(at, at.mask, 0, (space, address));
                }
            }
            Stage::Complete => _ = self.in_flight.remove(&key),
        }
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
mod tests {
    use super::*;
    use warpsmith_interp::{Device, Fault, Launch, Program};
    use warpsmith_ptx::ValidatedModule;

    fn load(body: &str) -> Program {
        let source = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {{\n.reg .pred %p<4>;\n\
             .reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n{body}\nret;\n}}"
        );
        let module = ValidatedModule::parse(&source).unwrap();
        Program::load(&module).unwrap()
    }

    /// The codes of what is found in launches of one warp, one after the other.
    fn codes_of(bodies: &[&str], unwritten: &[usize]) -> Result<Vec<&'static str>, Fault> {
        let mut device = Device::new();
        let (input, out) = (device.upload(&[0u32; 64])?, device.upload(&[0u32; 64])?);
        let mut init = Init::new().with_unwritten_arguments(unwritten.iter().copied());
        for body in bodies {
            let launch = Launch::new("k").block([32, 1, 1]).arg(input).arg(out);
            device.launch_observed(&load(body), &launch, &mut init)?;
        }
        Ok(init.report().findings().iter().map(|f| f.code).collect())
    }

    #[test]
    fn buffers_that_the_host_has_not_written() {
        let copy = "ld.global.u32 %r1, [%rd1+8]; st.global.u32 [%rd2], %r1;";
        assert_eq!(codes_of(&[copy], &[]).unwrap(), [""; 0]);
        assert_eq!(codes_of(&[copy], &[0]).unwrap(), ["W0203"]);
        // An earlier launch may write them.
        let fill = "mov.u32 %r1, 7; st.global.u32 [%rd1+8], %r1;";
        assert_eq!(codes_of(&[fill, copy], &[0]).unwrap(), [""; 0]);
        let other = "ld.global.u32 %r1, [%rd1+12]; st.global.u32 [%rd2], %r1;";
        assert_eq!(codes_of(&[fill, other], &[0]).unwrap(), ["W0203"]);
    }

    #[test]
    fn bytes_are_followed_through_moves() {
        let silent = [
            // The undefined half is shifted out, masked, permuted away, cut off, multiplied away.
            "mov.u32 %r1, %tid.x; mov.b64 %rd3, {%r1, %r0}; shl.b64 %rd3, %rd3, 32; st.global.u64 [%rd2], %rd3;",
            "mov.u32 %r1, %tid.x; mov.b64 %rd3, {%r1, %r0}; and.b64 %rd3, %rd3, 0xffffffff; st.global.u64 [%rd2], %rd3;",
            "mov.u32 %r1, %tid.x; prmt.b32 %r2, %r1, %r0, 0x0123; st.global.u32 [%rd2], %r2;",
            "mov.u32 %r1, %tid.x; mov.b64 %rd3, {%r1, %r0}; cvt.u32.u64 %r2, %rd3; st.global.u32 [%rd2], %r2;",
            "mul.lo.u32 %r1, %r0, 0; or.b32 %r1, %r0, -1; st.global.u32 [%rd2], %r1;",
            "mov.u32 %r1, %tid.x; bfi.b32 %r2, %r1, %r0, 0, 32; st.global.u32 [%rd2], %r2;",
            "mov.u32 %r1, 5; setp.eq.u32 %p1, %r1, 5; or.pred %p2, %p0, %p1; @%p2 st.global.u32 [%rd2], %r1;",
            "mov.u32 %r1, %tid.x; cvt.u16.u32 %h1, %r1; mov.b32 %r2, {%h1, %h0}; mov.b32 {%h2, %h3}, %r2; st.global.u16 [%rd2], %h2;",
        ];
        for body in silent {
            assert_eq!(codes_of(&[body], &[]).unwrap(), [""; 0], "{body}");
        }
        let found = [
            (
                "mov.u32 %r1, %tid.x; mov.b64 %rd3, {%r1, %r0}; shl.b64 %rd3, %rd3, 31; st.global.u64 [%rd2], %rd3;",
                "W0203",
            ),
            ("mov.u32 %r1, %tid.x; prmt.b32 %r2, %r1, %r0, 0x4123; st.global.u32 [%rd2], %r2;", "W0203"),
            ("setp.eq.u32 %p1, %r0, 12345; @%p1 st.global.u32 [%rd2], 1;", "W0201"),
            ("add.f32 %r1, %r0, 0f00000000; setp.eq.f32 %p1, %r1, 0f3f800000; @%p1 trap;", "W0201"),
            ("mov.u32 %r1, %tid.x; min.u32 %r2, %r1, %r0; st.global.u32 [%rd2], %r2;", "W0203"),
        ];
        for (body, code) in found {
            let body = body.replace("], 1;", "], %r4;").replace("setp.eq.u32", "mov.u32 %r4, 1; setp.eq.u32");
            assert_eq!(codes_of(&[&body], &[]).unwrap(), [code], "{body}");
        }
    }
}
