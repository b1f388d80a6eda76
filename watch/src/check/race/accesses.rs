//! What accesses of threads touch, line by line.

use super::Race;
use super::clock::Agent;
use super::shadow::{Global, Knower, LINE, Line, Manner, Record, Shape, Shared, span};
use warpsmith_interp::engine::{Access, Order, Scope};
use warpsmith_interp::observe::{self, AccessKind, Addresses, At, shared_owner};
use warpsmith_isa::StateSpace;

/// A line of memory: of a resident block's shared memory, or of global memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub memory: Option<usize>,
    pub line: u64,
}

#[inline]
pub(super) fn line_at<'a>(
    shared: &'a mut [Shared],
    global: &'a mut Global,
    at: Target,
) -> Option<&'a mut Line> {
    match at.memory {
        Some(index) => shared.get_mut(index)?.line(at.line),
        None => Some(global.line(at.line)),
    }
}

/// The scope of a strong access: a volatile one reaches everybody (8.4.2).
pub(super) fn reach(access: &Access) -> Scope {
    if matches!(access.order, Order::Volatile | Order::Mmio) { Scope::Sys } else { access.scope }
}

impl Race {
    pub(super) fn accessed(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        if !matches!(space, StateSpace::Global | StateSpace::Shared) || at.mask == 0 || !self.select(at.block)
        {
            return;
        }
        self.forget_values(at);
        if space == StateSpace::Global && self.fetches.matter() {
            self.fetched(at, kind, access, &addresses);
        }
        let strong = (access.order != Order::Weak).then(|| reach(access));
        let released = strong.is_some()
            && self.may_synchronise(at, access, space, &addresses)
            && self.synchronising(at, kind, access, space, &addresses);
        let block = &self.blocks[self.current];
        let atomic = kind == AccessKind::Atomic;
        let record = Record {
            bytes: 0,
            block: block.number,
            home: block.number,
            time: block.now,
            pc: at.pc,
            lanes: 0,
            agent: at.warp as Agent,
            warp: at.warp as u8,
            size: access.bytes,
            manner: Manner { writes: kind != AccessKind::Load, strong, atomic, ..Manner::default() },
            shape: Shape::Uniform,
        };
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        match &addresses {
            Addresses::Lines([low, high])
                if access.skipped == 0
                    && access.unused == 0
                    && (!record.manner.writes || low.step != 0 || bytes == 0) =>
            {
                let memory = (space == StateSpace::Shared).then_some(self.current);
                if low == high && kind == AccessKind::Load {
                    self.touch_half(at, memory, *low, bytes, at.mask, record);
                } else {
                    self.touch_half(at, memory, *low, bytes, at.mask & 0xffff, record);
                    self.touch_half(at, memory, *high, bytes, at.mask & 0xffff_0000, record);
                }
            }
            Addresses::Lines(_) | Addresses::Each(_) => {
                self.touch_each(at, space, &addresses, access, record)
            }
        }
        self.await_values(space, &addresses);
        if released {
            self.blocks[self.current].now += 1;
        }
    }

    /// Accesses of lanes of the current block's warp, to lines one after the other. `bytes` says which of those from the first line on.
    pub(super) fn touch(&mut self, at: &At<'_>, target: Target, record: Record) {
        let Some(block) = self.blocks.get(self.current) else { return };
        let Some(warp) = block.warps.get(at.warp as usize) else { return };
        let knower = Knower {
            parts: &warp.parts,
            block: block.number,
            warp: at.warp as Agent,
            waited: warp.waited.as_deref(),
            issued: None,
        };
        let Some(line) = line_at(&mut self.shared, &mut self.global, target) else { return };
        line.touch(record, &knower, self.clusters, &mut self.conflicts);
        if !self.conflicts.is_empty() {
            self.report_conflicts(at, target);
        }
    }

    /// A line of sixteen lanes, or of two halves with the same addresses.
    pub(super) fn touch_half(
        &mut self,
        at: &At<'_>,
        memory: Option<usize>,
        line: observe::Line,
        bytes: u64,
        lanes: u32,
        record: Record,
    ) {
        if lanes == 0 {
            return;
        }
        let record = Record { lanes, ..record };
        let first = line.start / LINE;
        if line.step == 0 {
            let bytes = span((line.start % LINE) as i64, bytes);
            let target = Target { memory, line: first };
            if record.manner.writes && record.manner.strong.is_none() && !lanes.is_power_of_two() {
                self.overlap(at, target, Record { bytes, ..record });
            }
            return self.touch(at, target, Record { bytes, ..record });
        }
        let which = (lanes | lanes >> 16) & 0xffff;
        let (low, high) = (which.trailing_zeros(), 31 - which.leading_zeros());
        let whole = which == (1 << high << 1) - (1 << low);
        let last = (line.start + u64::from(high) * line.step + line.step - 1) / LINE;
        for number in (line.start + u64::from(low) * line.step) / LINE..=last {
            let start = line.start as i64 - (number * LINE) as i64;
            let of = |i: u32| span(start + i64::from(i) * line.step as i64, line.step);
            let bytes = if whole {
                span(start + i64::from(low) * line.step as i64, u64::from(high - low + 1) * line.step)
            } else {
                (low..=high).filter(|i| which >> i & 1 != 0).fold(0, |m, i| m | of(i))
            };
            if bytes == 0 {
                continue;
            }
            // Only the lanes that are in this line.
            let inside = (low..=high).filter(|i| of(*i) & bytes != 0).fold(0u32, |m, i| m | 1 << i);
            let lanes = lanes & (inside | inside << 16);
            let shape = Shape::Linear { start: start as i16, step: line.step as u8 };
            self.touch(at, Target { memory, line: number }, Record { bytes, lanes, shape, ..record });
        }
    }

    /// The lanes one by one; neighbours with the same address together.
    pub(super) fn touch_each(
        &mut self,
        at: &At<'_>,
        space: StateSpace,
        addresses: &Addresses<'_>,
        access: &Access,
        record: Record,
    ) {
        let (all, size) = (addresses.all(), u64::from(access.bytes));
        let mut rest = at.mask;
        while rest != 0 {
            let first = rest.trailing_zeros();
            let address = all[first as usize];
            let run = (first..32).take_while(|i| rest >> i & 1 != 0 && all[*i as usize] == address);
            let lanes = run.fold(0, |m, i| m | 1 << i);
            rest &= !lanes;
            let Some((memory, offset)) = self.place(space, address) else { continue };
            let target = Target { memory, line: offset / LINE };
            let mut bytes = 0;
            for element in (0..u32::from(access.count)).filter(|e| access.skipped >> e & 1 == 0) {
                bytes |= span((offset % LINE) as i64 + i64::from(element) * size as i64, size);
            }
            for unused in (0..u32::BITS).filter(|byte| !access.uses(*byte)) {
                bytes &= !span((offset % LINE) as i64 + i64::from(unused), 1);
            }
            if bytes == 0 {
                continue;
            }
            let record = Record { bytes, lanes, ..record };
            if record.manner.writes && record.manner.strong.is_none() && !lanes.is_power_of_two() {
                self.overlap(at, target, record);
            }
            self.touch(at, target, record);
        }
    }

    /// Whose memory an address is in, and where.
    pub(super) fn place(&self, space: StateSpace, address: u64) -> Option<(Option<usize>, u64)> {
        if space == StateSpace::Global {
            return Some((None, address));
        }
        let (owner, offset) = shared_owner(address);
        let index = owner.map_or(Some(self.current), |rank| self.member(rank))?;
        Some((Some(index), offset))
    }
}
