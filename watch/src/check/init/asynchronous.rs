//! Asynchronous operations: what they have read travels with them.

use super::Init;
use super::flow::Slot;
use super::shadow::{ByteMap, get_bits, put_bits};
use crate::codes;
use crate::lanes::lanes_of;
use warpsmith_interp::engine::{AsyncOp, TransferSource};
use warpsmith_interp::observe::{At, MemoryRange, OperationKind, Stage};
use warpsmith_isa::StateSpace;

impl Init {
    pub(super) fn transferred(&mut self, at: &At<'_>, number: u64, stage: Stage) {
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
            Stage::Written(place) | Stage::Reduced { place, .. } => {
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
                let reduced = matches!(stage, Stage::Reduced { .. });
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

    /// The bytes of a transfer, as a map of what is undefined, and where they lie in it.
    pub(super) fn place(&mut self, at: &At<'_>, place: &MemoryRange) -> Option<&mut dyn ByteMap> {
        match place.rank {
            None => Some(&mut self.global),
            Some(rank) => {
                let index = self.member(at.block, rank)?;
                Some(&mut self.blocks[index].shared)
            }
        }
    }

    /// The lanes of an asynchronous store whose values are undefined.
    pub(super) fn issued(&mut self, at: &At<'_>, number: u64) {
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
