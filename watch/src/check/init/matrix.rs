//! Undefined values in matrices that the lanes of a warp hold: they move between lanes, and spread along rows and columns of a product.

use super::super::register_name;
use super::Init;
use super::flow::{Flow, Slot};
use super::shadow::Warp;
use crate::report::Site;
use warpsmith_interp::engine::{MatrixOp, Reg, Width};
use warpsmith_interp::observe::{At, FrameView, MemoryRange, OperationKind};

/// The lanes of a 32-bit register.
type Lanes = [u32; 32];

/// Which bits of a register are undefined: words of 32 bits, the low one of a wider register first.
fn undefined(warp: &Warp, base: usize, r: Reg) -> Vec<Lanes> {
    let words = if r.width() == Width::W64 { 2 } else { 1 };
    let mut bits = vec![[0; 32]; words];
    for (byte, mask) in warp.masks(base, Slot::new(r)).iter().enumerate() {
        for (lane, word) in bits[byte / 4 % words].iter_mut().enumerate() {
            *word |= if mask >> lane & 1 != 0 { 0xff << (8 * (byte % 4)) } else { 0 };
        }
    }
    bits
}

impl Init {
    /// An operation on matrices takes bytes of memory.
    pub(super) fn takes_undefined(&mut self, at: &At<'_>, place: MemoryRange) -> bool {
        if !self.select(at.block) {
            return false;
        }
        let Some(map) = self.place(at, &place).filter(|map| !map.is_clear()) else { return false };
        (0..place.bytes)
            .step_by(64)
            .any(|start| map.get(place.address + start, (place.bytes - start).min(64) as u32) != 0)
    }

    /// An operation on matrices takes a register.
    pub(super) fn lanes_undefined(&mut self, at: &At<'_>, r: Reg, frame: FrameView) -> u32 {
        if r.is_constant() || !self.select(at.block) {
            return 0;
        }
        self.warp(at).map_or(0, |warp| warp.any(frame.row as usize * 32, Slot::new(r)))
    }

    /// An operation on matrices gives a register values, undefined ones in some lanes.
    pub(super) fn taint(&mut self, at: &At<'_>, r: Reg, frame: FrameView, undefined: u32) {
        if !self.select(at.block) {
            return;
        }
        let (base, slot, shape) = (frame.row as usize * 32, Slot::new(r), self.launch.block);
        let lane = undefined.trailing_zeros().min(31);
        let origin = if undefined == 0 {
            0
        } else {
            self.known.number((at.pc, Some(r)), || {
                let mut site = Site::of_lane(at, lane, shape).role("made of what was never written");
                site.memory = Some(register_name(at, r));
                site
            })
        };
        let Some(warp) = self.warp(at) else { return };
        warp.reserve(base + frame.rows as usize * 32);
        warp.masks_mut(base, slot).iter_mut().for_each(|m| *m = *m & !at.mask | undefined & at.mask);
        if undefined != 0 {
            warp.set_origin(base, slot, origin);
        }
    }

    /// The lanes of a warp have come together for an operation on matrices.
    pub(super) fn matrix(&mut self, at: &At<'_>, flow: &Flow, base: usize) {
        let Some(warp) = self.blocks.get_mut(self.current).and_then(|b| b.warps.get_mut(at.warp as usize))
        else {
            return;
        };
        let kind = at.program.operation(at.pc).map(|o| o.kind);
        // What a product of a warpgroup gives comes later, and the engine says what of it is undefined.
        if let Some(OperationKind::Matrix(MatrixOp::Warpgroup(_))) = kind {
            return;
        }
        if self.flows.values(flow).iter().all(|slot| warp.any(base, *slot) == 0) {
            self.flows.written(flow).iter().for_each(|slot| warp.define(base, *slot, at.mask));
            return;
        }
        let Some(OperationKind::Matrix(op)) = kind else { return };
        let mut results: Vec<Lanes> = Vec::new();
        let (read, written): (Vec<Reg>, &[Option<Reg>]) = match op {
            MatrixOp::Warpgroup(_)
            | MatrixOp::Converge
            | MatrixOp::WarpgroupFence
            | MatrixOp::WarpgroupCommit
            | MatrixOp::WarpgroupWait(_)
            | MatrixOp::RegisterCount { .. } => return,
            MatrixOp::Multiply(op) => {
                let of =
                    |registers: &Vec<Reg>| registers.iter().flat_map(|r| undefined(warp, base, *r)).collect();
                let [a, b, c] = &op.sources;
                op.product.undefined(&[of(a), of(b), of(c)], &mut results);
                (op.sources.concat(), &op.d)
            }
            MatrixOp::Exchange { exchange, from, to } => {
                let bits: Vec<Lanes> = from.iter().flat_map(|r| undefined(warp, base, *r)).collect();
                results.resize(to.len(), [0; 32]);
                exchange.run(&bits, &mut results);
                (from.clone(), to)
            }
        };
        let first = read.into_iter().find_map(|r| {
            let lanes = warp.any(base, Slot::new(r));
            (lanes != 0).then_some((r, lanes))
        });
        let origin = first.map_or(0, |(r, lanes)| self.origin_of(at, base, r, lanes));
        let Some(warp) = self.warp(at) else { return };
        let words = results.len() / written.len().max(1);
        for (r, own) in written.iter().zip(results.chunks(words.max(1))) {
            let Some(r) = r else { continue };
            let slot = Slot::new(*r);
            for (byte, mask) in warp.masks_mut(base, slot).iter_mut().enumerate() {
                let part = |lane: &u32| lane >> (8 * (byte % 4)) & 0xff != 0;
                let lanes = own.get(byte / 4).map_or(0, |word| {
                    word.iter().enumerate().fold(0, |mask, (lane, bits)| mask | u32::from(part(bits)) << lane)
                });
                *mask = lanes;
            }
            if own.iter().any(|word| word.iter().any(|bits| *bits != 0)) {
                warp.set_origin(base, slot, origin);
            }
        }
    }
}
