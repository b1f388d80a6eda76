//! Accesses to memory: what loads find undefined, what stores leave so.

use super::Init;
use super::flow::Flow;
use super::shadow::{self, ByteMap, MOST_BYTES, Masks};
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Site};
use warpsmith_interp::engine::Access;
use warpsmith_interp::observe::{AccessKind, Addresses, At, shared_owner};
use warpsmith_isa::StateSpace;

/// What of the undefined bytes of a load the program uses; `None` if that is nothing.
fn used(access: &Access, mut found: Masks) -> Option<Masks> {
    for (_, lanes) in found.iter_mut().enumerate().filter(|(byte, _)| !access.uses(*byte as u32)) {
        *lanes = 0;
    }
    found.iter().any(|lanes| *lanes != 0).then_some(found)
}

impl Init {
    /// Gives what a load has found to the registers it writes.
    pub(super) fn deliver(&mut self, at: &At<'_>, access: &Access, found: &Masks, origin: u32) {
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
    pub(super) fn stored(&mut self, at: &At<'_>, flow: &Flow, access: &Access) -> Option<(Masks, u32)> {
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

    /// Reports an atomic operation whose new value depends on bytes that nobody has written. Like other values that decide, they count as
    /// written from then on.
    #[cold]
    pub(super) fn accumulated(&mut self, at: &At<'_>, undefined: u32, origin: u32, place: (StateSpace, u64)) {
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
    pub(super) fn updated(
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

    /// An access to shared memory: all lanes to their own block's, or lane by lane.
    pub(super) fn shared(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        addresses: Addresses<'_>,
    ) {
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

    pub(super) fn in_shared(
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

    pub(super) fn local(&mut self, at: &At<'_>, kind: AccessKind, access: &Access, addresses: Addresses<'_>) {
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

    pub(super) fn global(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        addresses: Addresses<'_>,
    ) {
        let size = u32::from(access.bytes) * u32::from(access.count);
        let Some(flow) = self.flows.get(at.pc) else { return };
        if flow.discards {
            return self.discard(at, &addresses, size);
        }
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
            let undefined_lanes = lanes_of(undefined)
                .filter(|l| self.global.is_host(addresses.of(*l)))
                .fold(0, |m, l| m | 1 << l);
            if undefined_lanes != 0 {
                let what = "is stored to the host's memory";
                self.decide(codes::UNDEFINED_RESULT, at, undefined_lanes, what, *origin);
                masks.iter_mut().for_each(|m| *m &= !undefined_lanes);
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
}
