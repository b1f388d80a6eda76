//! What passes between frames of functions, and between lanes.

use super::Init;
use super::flow::Slot;
use crate::lanes::lanes_of;
use crate::report::Site;
use warpsmith_interp::engine::Move;
use warpsmith_interp::observe::{At, Crossing, Participant};

impl Init {
    pub(super) fn cross(&mut self, at: &At<'_>, crossing: &Crossing<'_>) {
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

    pub(super) fn exchange(
        &mut self,
        at: &At<'_>,
        participants: &[Participant<'_>],
        from: Option<&[u8; 32]>,
    ) {
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
                    site.memory = Some(format!("lane {lane} reads lane {}", source_of(lane as usize)).into());
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
}
