//! Where undefined values come from.

use super::super::map::Region;
use super::super::register_name;
use super::Init;
use super::flow::Slot;
use super::shadow::{self, MOST_BYTES, Masks};
use crate::lanes::lanes_of;
use crate::report::{Nearby, Site};
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::Reg;
use warpsmith_interp::observe::{Addresses, At};
use warpsmith_isa::StateSpace;

/// Where undefined values come from. Number 0 is unknown.
#[derive(Default)]
pub(super) struct Origins {
    /// By operation, and the register or none for memory.
    pub(super) numbers: FxHashMap<(u32, Option<Reg>), u32>,
    pub(super) sites: Vec<Origin>,
}

pub(super) struct Origin {
    pub(super) pc: u32,
    pub(super) site: Site,
    /// It was written once: memory that was discarded since.
    pub(super) discarded: bool,
}

impl Origins {
    pub(super) fn number(&mut self, key: (u32, Option<Reg>), site: impl FnOnce() -> Site) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        self.sites.push(Origin { pc: key.0, site: site(), discarded: false });
        let number = self.sites.len() as u32;
        self.numbers.insert(key, number);
        number
    }

    /// The `discard` at an operation.
    fn of_discard(&mut self, pc: u32, site: impl FnOnce() -> Site) -> u32 {
        let number = self.number((pc, None), site);
        if let Some(origin) = self.sites.last_mut().filter(|origin| origin.pc == pc) {
            origin.discarded = true;
        }
        number
    }

    pub(super) fn get(&self, number: u32) -> Option<&Origin> {
        self.sites.get((number as usize).checked_sub(1)?)
    }
}

pub(super) fn origin_key(space: StateSpace, warp: u32, lane: u32, address: u64) -> (u32, u64) {
    if space == StateSpace::Local { (1 + warp * 32 + lane, address / 4) } else { (0, address / 4) }
}

/// The variable of the running function that a local address is in.
fn on_stack(at: &At<'_>, stack: u64, address: u64) -> Option<Nearby> {
    let offset = address.checked_sub(stack)?;
    let locals = at.program.locals(at.program.function_at(at.pc)?);
    let local = locals.iter().find(|local| {
        offset.checked_sub(local.offset.into()).is_some_and(|offset| offset < u64::from(local.bytes))
    })?;
    let (start, bytes) = (stack + u64::from(local.offset), local.bytes.into());
    let (what, freed) = (format!("variable `{}`", local.name), false);
    let region = Region { start, bytes, what, freed, named: Some((local.name.to_string(), false)) };
    Some(region.relation(address, 1))
}

impl Init {
    /// The origin of what is undefined in a register: known, or the register itself, which nobody has written.
    pub(super) fn origin_of(&mut self, at: &At<'_>, base: usize, r: Reg, lanes: u32) -> u32 {
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

    /// The origin of undefined bytes that a load has found at a lane's address.
    pub(super) fn origin_at(
        &mut self,
        at: &At<'_>,
        space: StateSpace,
        found: &Masks,
        addresses: &Addresses<'_>,
    ) -> u32 {
        let Some((byte, lanes)) = found.iter().enumerate().find(|(_, m)| **m & at.mask != 0) else {
            return 0;
        };
        let lane = (lanes & at.mask).trailing_zeros().min(31);
        let address = addresses.of(lane as usize).wrapping_add(byte as u64);
        let stored = match space {
            StateSpace::Global => self.origins.get(&(address / 4)),
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Local
            | StateSpace::Param
            | StateSpace::Shared
            | StateSpace::Tex => {
                let key = origin_key(space, at.warp, lane, address);
                self.blocks.get(self.current).and_then(|b| b.origins.get(&key))
            }
        };
        if let Some(stored) = stored {
            return *stored;
        }
        let (map, shape, stack) = (&self.map, self.launch.block, self.stack);
        self.known.number((at.pc, None), || {
            let mut site = Site::of_lane(at, lane, shape).role("loaded, and never stored");
            site = site.address(space, address);
            site.memory = match space {
                StateSpace::Local => on_stack(at, stack, address),
                StateSpace::Generic
                | StateSpace::Reg
                | StateSpace::Sreg
                | StateSpace::Const
                | StateSpace::Global
                | StateSpace::Param
                | StateSpace::Shared
                | StateSpace::Tex => map.holding(space, address).map(|p| p.relation(address, 1)),
            };
            site
        })
    }

    /// `discard` leaves bytes of global memory of which nobody knows what they are.
    pub(super) fn discard(&mut self, at: &At<'_>, addresses: &Addresses<'_>, size: u32) {
        let shape = self.launch.block;
        let lane = at.mask.trailing_zeros().min(31);
        let origin = self.known.of_discard(at.pc, || Site::of_lane(at, lane, shape).role("discarded"));
        let mut masks = [0; MOST_BYTES];
        masks.iter_mut().take(size as usize).for_each(|m| *m = at.mask);
        for lane in lanes_of(at.mask) {
            self.global.follow(addresses.of(lane), size.into());
        }
        self.keep_origin(at, StateSpace::Global, &masks, addresses, origin);
        shadow::store(&mut self.global, addresses, (size, size, 0), at.mask, Some(&masks));
    }

    /// Remembers where undefined bytes come from that are stored.
    pub(super) fn keep_origin(
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
}
