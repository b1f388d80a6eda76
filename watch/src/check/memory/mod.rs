//! Accesses to memory: bounds, lifetime, alignment, state spaces, and what is left over.
//!
//! The engine itself checks every access, so this checker needs to see few: it is asked what becomes of each that is at fault,
//! reports what the address means, and lets the run go on without it, to find the next. It looks at the accesses whose address was computed from a
//! variable that has neighbours in memory (`extents`), for those that leave it.

mod extents;
mod provenance;

use super::map::{MemoryMap, Region};
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Findings, Nearby, Report, Site, reports};
use extents::{Bound, Extent, Extents};
use std::collections::BTreeMap;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::Access;
use warpsmith_interp::observe::{
    AccessKind, Addresses, At, BadAccess, BlockView, Crossing, Interest, LaunchView, Line, Observer,
    Registers, Verdict, shared_owner,
};
use warpsmith_interp::{Fault, FaultCode};
use warpsmith_isa::StateSpace;

/// Finds accesses that go wrong.
///
/// ```
/// use warpsmith_interp::{Device, Launch, Program};
/// use warpsmith_ptx::ValidatedModule;
/// use warpsmith_watch::check::Memory;
/// let source = "
/// .version 8.0
/// .target sm_80
/// .address_size 64
/// .entry fill(.param .u64 out) {
///     .reg .b32 %r<2>;
///     .reg .b64 %rd<3>;
///     ld.param.u64 %rd1, [out];
///     mov.u32 %r1, %tid.x;
///     mad.wide.u32 %rd2, %r1, 4, %rd1;
///     st.global.u32 [%rd2], %r1;
///     ret;
/// }";
/// let module = ValidatedModule::parse(source).unwrap();
/// let program = Program::load(&module).unwrap();
/// let mut device = Device::new();
/// let out = device.upload(&[0u32; 30])?;
/// let mut memory = Memory::new();
/// device.launch_observed(&program, &Launch::new("fill").block([32, 1, 1]).arg(out), &mut memory)?;
/// let [finding] = memory.report().findings() else { panic!() };
/// assert_eq!((finding.code, finding.count, finding.sites[0].thread), ("W0101", 2, [30, 0, 0]));
/// # Ok::<(), warpsmith_interp::Fault>(())
/// ```
#[derive(Default)]
pub struct Memory {
    report: Report,
    map: MemoryMap,
    block_shape: [u32; 3],
    /// Whether blocks are in clusters, and then those of the clusters that are running.
    clustered: bool,
    members: Vec<Member>,
    heap: BTreeMap<u64, Block>,
    /// For each operation at fault, how often, and the code of the last finding.
    faults: FxHashMap<u32, (u64, &'static str)>,
    extents: Extents,
    /// Where the local memory of the running function starts, if the extents ask for it.
    stack: u64,
    /// Where its registers start, likewise.
    row: u32,
}

/// Faults of one operation that are looked at; further ones are counted as the last.
const MOST_LOOKED_AT: u64 = 4096;

/// A block of a cluster.
struct Member {
    block: BlockView,
    exited: bool,
}

/// What `malloc` has given.
struct Block {
    bytes: u64,
    /// By whom, if it was in this launch; and with which operation.
    allocated: Option<(Site, u32)>,
    freed: Option<Site>,
}

reports!(Memory);

impl Memory {
    /// A checker for one launch, or several in a row.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// The block of `malloc` that an address is in, or just behind: live or freed.
    fn block_at(&self, address: u64) -> Option<(u64, &Block)> {
        let (start, block) = self.heap.range(..=address).next_back()?;
        (address - start < block.bytes.max(1)).then_some((*start, block))
    }

    /// The nearest live block of `malloc`.
    fn nearest_block(&self, address: u64) -> Option<(Region, &Block)> {
        let before = self.heap.range(..=address).rev().find(|(_, b)| b.freed.is_none());
        let after = self.heap.range(address..).find(|(_, b)| b.freed.is_none());
        let distance = |(start, block): &(&u64, &Block)| {
            if address >= **start { address.saturating_sub(**start + block.bytes) } else { **start - address }
        };
        let (start, block) = before.into_iter().chain(after).min_by_key(distance)?;
        let what = "a block of `malloc`".into();
        Some((Region { start: *start, bytes: block.bytes, what, freed: false, named: None }, block))
    }

    fn bad_access(&self, at: &At<'_>, bad: &BadAccess<'_>, misaligned: bool) -> Finding {
        let BadAccess { kind, space, address, bytes, .. } = *bad;
        let said = bad.access.space;
        let what = describe_access(kind, bytes);
        let mut site = Site::new(at, self.block_shape).address(space, address);
        let make = |code, message: String, site| Finding::new(Checker::Memory, code, message, site);
        if let Some(why) = self.map.confusion(said, address) {
            let message = format!("{what} in {said} space, and the address is {why}");
            let finding = make(codes::WRONG_SPACE, message, site);
            return finding.note(
                "an instruction on a state space takes addresses of that space; for a generic pointer leave the space out, or \
                 convert it with `cvta.to` to the space that it points to",
            );
        }
        if let (StateSpace::Shared, false, (Some(rank), offset)) =
            (said, bad.access.cluster, shared_owner(address))
        {
            site.memory = self.describe(space, offset, bytes);
            let message =
                format!("{what} in shared::cta space, and the address is one of block {rank} of the cluster");
            return make(codes::WRONG_SPACE, message, site).note(
                "what `mapa` gives is an address for `.shared::cluster`, or for instructions without a space",
            );
        }
        if misaligned {
            let off = address % bytes;
            let message =
                format!("{what} at a {space} address that is not a multiple of {bytes}, but {off} past one");
            site.memory = self.describe(space, address, bytes);
            return make(codes::MISALIGNED, message, site);
        }
        if kind != AccessKind::Load && matches!(space, StateSpace::Const | StateSpace::Param) {
            site.memory = self.describe(space, address, bytes);
            return make(codes::READ_ONLY, format!("{what} to {space} memory, which is read-only"), site);
        }
        if space == StateSpace::Global {
            if let Some((start, Block { bytes: size, allocated, freed: Some(freed) })) =
                self.block_at(address)
            {
                let into = address - start;
                site.memory = Some(format!("{into} bytes into a block of {size} bytes at {start:#x}").into());
                let message = format!("{what} in memory of `malloc` that was freed");
                let finding = make(codes::USE_AFTER_FREE, message, site).site(freed.clone());
                return allocated.iter().fold(finding, |f, (site, _)| f.site(site.clone()));
            }
            if let Some(place) = self.map.holding(space, address).filter(|p| p.freed) {
                site.memory = Some(place.relation(address, bytes));
                return make(
                    codes::USE_AFTER_FREE,
                    format!("{what} in memory that the host has freed"),
                    site,
                );
            }
        }
        if space == StateSpace::Shared
            && let Some([x, y, z]) = self.exited_owner(at.block, address)
        {
            site.memory = self.describe(space, shared_owner(address).1, bytes);
            let message = format!("{what} in the shared memory of block ({x}, {y}, {z}), which has exited");
            return make(codes::USE_AFTER_FREE, message, site).note(
                "shared memory lasts as long as its block: let the blocks of the cluster meet at `barrier.cluster` before they exit (2.2.2)",
            );
        }
        let message = format!("{what} out of bounds of {space} memory");
        if let (StateSpace::Global, 0..0x10000) = (space, address) {
            return make(codes::OUT_OF_BOUNDS, message, site).note(
                "so low an address is a null pointer with an offset, or one of shared or local memory that was not made generic",
            );
        }
        site.memory = self.describe(space, address, bytes);
        let mut finding = make(codes::OUT_OF_BOUNDS, message, site);
        if space == StateSpace::Global
            && let Some((place, Block { allocated: Some((site, _)), .. })) = self.nearest_block(address)
            && finding.sites[0].memory.as_ref().is_some_and(|m| *m == place.relation(address, bytes))
        {
            finding = finding.site(site.clone());
        }
        finding
    }

    /// The block that a shared address belongs to, if it is of the same cluster and has exited.
    fn exited_owner(&self, block: [u32; 3], address: u64) -> Option<[u32; 3]> {
        let (rank, offset) = shared_owner(address);
        let cluster = self.members.iter().find(|m| m.block.id == block)?.block.cluster;
        let of_rank = |m: &&Member| (m.block.cluster, Some(m.block.rank)) == (cluster, rank);
        let owner = self.members.iter().find(of_rank)?;
        (owner.exited && offset < owner.block.shared_bytes).then_some(owner.block.id)
    }

    /// Says what is at, or next to, an address.
    fn describe(&self, space: StateSpace, address: u64, bytes: u64) -> Option<Nearby> {
        if space == StateSpace::Local {
            return None;
        }
        let nearest = self.map.nearest(space, address, bytes);
        let block = if space == StateSpace::Global { self.nearest_block(address) } else { None };
        let distance = |p: &Region| p.start.abs_diff(address).min((p.start + p.bytes).abs_diff(address));
        match (nearest, block) {
            (Some(place), Some((block, _))) if distance(&block) < distance(place) => {
                Some(block.relation(address, bytes))
            }
            (None, Some((block, _))) => Some(block.relation(address, bytes)),
            (Some(place), _) => Some(place.relation(address, bytes)),
            (None, None) => Some(format!("there is no {space} memory").into()),
        }
    }

    /// Looks for lanes that leave the variable from which their address was computed.
    fn hold_against(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: &Addresses<'_>,
    ) {
        // What the program does not use of a load counts for nothing.
        let bytes = u32::from(access.bytes) * u32::from(access.count);
        let bytes = (0..bytes).rev().find(|byte| access.uses(*byte)).map_or(0, |last| u64::from(last) + 1);
        let bound = self.extents.at(at.pc);
        let bound = |lane: usize| -> Option<(&Extent, u64)> {
            let (extent, base) = match bound {
                Bound::None => return None,
                Bound::Of(number) => {
                    (self.extents.get(number)?, if space == StateSpace::Local { self.stack } else { 0 })
                }
                Bound::Argument(parameter) => self.extents.argument(at, self.row, parameter, lane)?,
            };
            (extent.space == space).then_some((extent, extent.start + base))
        };
        let inside = |(extent, start): (&Extent, u64), first: u64| {
            first >= start && first.checked_add(bytes).is_some_and(|last| last <= start + extent.bytes)
        };
        // What names another block's memory, or leaves this one's, is looked at elsewhere.
        let elsewhere = |address: u64| {
            space == StateSpace::Shared && shared_owner(address).0.is_some()
                || !self.map.is_mapped(space, address, bytes)
        };
        let strays: Vec<(usize, u64)> = lanes_of(at.mask)
            .map(|lane| (lane, addresses.of(lane)))
            .filter(|(lane, address)| {
                bound(*lane).is_some_and(|b| !inside(b, *address)) && !elsewhere(*address)
            })
            .collect();
        let Some(&(lane, address)) = strays.first() else { return };
        let Some((extent, start)) = bound(lane) else { return };
        let end = start + extent.bytes;
        let (map, shape) = (&self.map, self.block_shape);
        self.report.add(codes::OVERRUN, &[at.pc], strays.len() as u64, || {
            let (what, freed) = (extent.what.clone(), false);
            // The map knows it by name, if it is a variable of the module.
            let named = map.holding(space, start).filter(|known| known.start == start);
            let on_stack = || (space == StateSpace::Local).then(|| (extent.name.clone(), false));
            let named = named.and_then(|known| known.named.clone()).or_else(on_stack);
            let variable = Region { start, bytes: extent.bytes, what, freed, named };
            let message = format!(
                "{} leaves the variable that its address was computed from",
                describe_access(kind, bytes)
            );
            let mut site = Site::of_lane(at, lane as u32, shape).address(space, address);
            site.memory = Some(variable.relation(address, bytes));
            let finding = Finding::new(Checker::Memory, codes::OVERRUN, message, site);
            match map.holding(space, if address >= start && address < end { end } else { address }) {
                Some(other) => finding.note(format!("what it hits is {}", other.what)),
                None => finding,
            }
        });
    }

    fn bad_free(&self, at: &At<'_>, address: u64) -> Finding {
        let mut site = Site::new(at, self.block_shape).address(StateSpace::Global, address);
        let make = |message: &str, site| Finding::new(Checker::Memory, codes::BAD_FREE, message, site);
        match self.block_at(address) {
            Some((start, Block { freed: Some(freed), allocated, bytes })) if start == address => {
                site.memory = Some(format!("a block of {bytes} bytes").into());
                let finding = make("`free` of memory that was freed already", site).site(freed.clone());
                allocated.iter().fold(finding, |f, (site, _)| f.site(site.clone()))
            }
            Some((start, Block { bytes, allocated, .. })) => {
                let into = address - start;
                site.memory =
                    Some(format!("{into} bytes into a block of {bytes} bytes at {start:#x}").into());
                let finding = make("`free` of an address inside a block, not of its start", site);
                allocated.iter().fold(finding, |f, (site, _)| f.site(site.clone()))
            }
            None => {
                site.memory = self.describe(StateSpace::Global, address, 1);
                make("`free` of memory that `malloc` did not give", site)
            }
        }
    }

    /// What is left of this launch's allocations: one finding for each place in the code that allocates.
    fn leaks(&mut self) {
        let mut by_pc: BTreeMap<u32, (u64, u64, &Site, u64)> = BTreeMap::new();
        for (address, block) in &self.heap {
            if let (Some((site, pc)), None) = (&block.allocated, &block.freed) {
                let entry = by_pc.entry(*pc).or_insert((0, 0, site, *address));
                (entry.0, entry.1) = (entry.0 + 1, entry.1 + block.bytes);
            }
        }
        for (pc, (count, bytes, site, address)) in by_pc {
            let message = format!(
                "{bytes} bytes of `malloc` in {count} block{} were not freed when the launch ended",
                if count == 1 { "" } else { "s" }
            );
            let site = Site { role: "", ..site.clone() }.address(StateSpace::Global, address);
            self.report.add(codes::LEAK, &[pc], count, || {
                Finding::new(Checker::Memory, codes::LEAK, message, site)
                    .note("they stay allocated until a kernel frees them, in this launch or a later one")
                    .warning()
            });
        }
    }
}

/// "load of 4 bytes"
fn describe_access(kind: AccessKind, bytes: u64) -> String {
    let verb = match kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::Atomic => "atomic operation",
    };
    format!("{verb} of {bytes} byte{}", if bytes == 1 { "" } else { "s" })
}

impl Observer for Memory {
    fn interest(&self) -> Interest {
        Interest {
            accesses: !self.extents.is_empty(),
            instructions: self.extents.in_frames || self.extents.are_passed(),
            ..Interest::RARE
        }
    }

    #[inline]
    fn instruction(&mut self, _: &At<'_>, registers: &Registers<'_>) {
        let place = registers.place();
        (self.stack, self.row) = (place.stack.into(), place.row);
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
        let bound = self.extents.at(at.pc);
        if bound == Bound::None {
            return;
        }
        // Nearly every access is in order, and is seen to be here.
        if let (Bound::Of(number), Addresses::Lines([low, high])) = (bound, &addresses)
            && let Some(extent) = self.extents.get(number)
        {
            let start = extent.start + if space == StateSpace::Local { self.stack } else { 0 };
            let bytes = u64::from(access.bytes) * u64::from(access.count);
            let inside = |line: &Line| {
                let needed = 15 * line.step + bytes;
                needed <= extent.bytes && line.start.wrapping_sub(start) <= extent.bytes - needed
            };
            if inside(low) & inside(high) {
                return;
            }
        }
        self.hold_against(at, kind, access, space, &addresses);
    }

    fn begin(&mut self, launch: &LaunchView<'_>) {
        self.map = MemoryMap::new(launch);
        self.block_shape = launch.block();
        self.clustered = launch.cluster().into_iter().any(|n| n > 1);
        self.members.clear();
        (self.extents, self.stack, self.row) = (Extents::new(launch), 0, 0);
        for block in self.heap.values_mut() {
            // Those of earlier launches are not this one's leaks.
            block.allocated = None;
        }
        for (address, bytes) in launch.heap() {
            self.heap.entry(address).or_insert(Block { bytes, allocated: None, freed: None });
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other faults are about other things than memory")]
    fn end(&mut self, _: &LaunchView<'_>, fault: Option<&Fault>) {
        let Some(fault) = fault else { return self.leaks() };
        let code = match fault.code {
            FaultCode::OutOfBounds => codes::OUT_OF_BOUNDS,
            FaultCode::Misaligned => codes::MISALIGNED,
            FaultCode::StackOverflow => codes::STACK_OVERFLOW,
            _ => return,
        };
        let (line, block, thread) =
            (fault.ptx_line.unwrap_or(0), fault.block.unwrap_or_default(), fault.thread.unwrap_or_default());
        let (role, mnemonic, address, memory) = ("", String::new(), None, None);
        let site = Site { role, line, mnemonic, block, thread, address, memory };
        self.report.add(code, &[], 1, || {
            Finding::new(Checker::Memory, code, fault.message.as_str(), site).note("the run ended here")
        });
    }

    fn crossed(&mut self, at: &At<'_>, crossing: &Crossing<'_>) {
        self.extents.crossed(at, crossing);
    }

    fn block_started(&mut self, block: &BlockView) {
        if self.clustered {
            self.members.push(Member { block: *block, exited: false });
        }
    }

    fn block_ended(&mut self, block: &BlockView) {
        self.extents.forget(block.id);
        let of_cluster = |m: &Member| m.block.cluster == block.cluster;
        self.members.iter_mut().filter(|m| m.block.id == block.id).for_each(|m| m.exited = true);
        if self.members.iter().all(|m| !of_cluster(m) || m.exited) {
            self.members.retain(|m| !of_cluster(m));
        }
    }

    fn allocated(&mut self, at: &At<'_>, address: u64, bytes: u64) {
        // What was freed there and is given out again is forgotten.
        let end = address.saturating_add(bytes.max(1));
        let stale: Vec<u64> = self.heap.range(address..end).map(|(start, _)| *start).collect();
        stale.iter().for_each(|start| _ = self.heap.remove(start));
        if let Some((start, block)) = self.heap.range_mut(..address).next_back() {
            block.bytes = block.bytes.min(address - start);
        }
        let site = Site::new(at, self.block_shape).role("allocated");
        self.heap.insert(address, Block { bytes, allocated: Some((site, at.pc)), freed: None });
    }

    fn freed(&mut self, at: &At<'_>, address: u64) {
        if let Some(block) = self.heap.get_mut(&address) {
            block.freed = Some(Site::new(at, self.block_shape).role("freed"));
        }
    }

    fn fault(&mut self, at: &At<'_>, fault: &Fault, access: Option<&BadAccess<'_>>) -> Verdict {
        if let Some((count, code)) = self.faults.get(&at.pc)
            && *count >= MOST_LOOKED_AT
        {
            self.report.count(code, &[at.pc], 1);
            return Verdict::Skip;
        }
        let finding = match (fault.code, access) {
            (FaultCode::BadFree, _) => self.bad_free(at, fault.address.unwrap_or(0)),
            (code, Some(bad)) => self.bad_access(at, bad, code == FaultCode::Misaligned),
            _ => return Verdict::Stop,
        };
        let seen = self.faults.entry(at.pc).or_insert((0, finding.code));
        *seen = (seen.0 + 1, finding.code);
        self.report.add(finding.code, &[at.pc], 1, || finding);
        Verdict::Skip
    }
}
