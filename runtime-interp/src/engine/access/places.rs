//! Where the data of accesses lie whose addresses follow no rule: found and checked, together if that is enough, else lane by lane.

use super::elements::{addresses, each_place};
use crate::engine::local::DYNAMIC;
use crate::engine::observe::{AccessKind, Addresses, BadAccess, Verdict};
use crate::engine::op::Access;
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::values::lanes_of;
use crate::engine::warp::Warp;
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::{Bytes, Concurrent, Mode};
use crate::memory::window;
use warpsmith_isa::StateSpace;

/// Where the lanes' data lie. Lanes outside the mask repeat one inside it, so that all may be read.
pub(super) struct Places {
    pub at: [*mut u8; 32],
    /// Other host threads access them too.
    pub concurrent: bool,
    /// The lanes whose data are in shared memory.
    pub shared: u32,
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Finds and checks the memory that the lanes access.
    #[inline(always)]
    pub(super) fn places(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        kind: AccessKind,
    ) -> Fallible<Places> {
        let size = u64::from(access.bytes) * u64::from(access.count);
        let mut at = addresses(issue.frame, access, issue.stack);
        if issue.mask != u32::MAX {
            let first = at[issue.mask.trailing_zeros() as usize & 31];
            for (i, a) in at.iter_mut().enumerate() {
                *a = if issue.mask >> i & 1 != 0 { *a } else { first };
            }
        }
        let (mut low, mut high, mut low_bits) = (u64::MAX, 0, 0);
        for a in at {
            low = low.min(a);
            high = high.max(a);
            low_bits |= a;
        }
        let mut space = access.space;
        if space == StateSpace::Generic {
            let (of_low, offset) = window::classify(low);
            let (of_high, _) = window::classify(high);
            if of_low != of_high {
                return self.places_one_by_one(warp, issue, access, kind, &at);
            }
            let base = low - offset;
            at.iter_mut().for_each(|a| *a -= base);
            (low, high, space) = (low - base, high - base, of_low);
        }
        self.note_access(kind, space);
        let aligned = low_bits & (size - 1) == 0;
        let (start, len, base, concurrent) = match space {
            StateSpace::Shared => (0, issue.block.shared.len() as u64, issue.block.shared.start(), false),
            StateSpace::Global => {
                let hint = &mut self.last_hit[issue.pc as usize % 16];
                let holds = |i: u32| {
                    self.cx.global.get(i as usize).filter(|a| low >= a.start && low - a.start < a.len)
                };
                let found = holds(*hint).or_else(|| {
                    *hint = self.cx.global.find(low) as u32;
                    holds(*hint)
                });
                match found {
                    // Which part of the heap is whose, each lane looks up.
                    Some(a) if a.heap => (0, 0, std::ptr::null_mut(), true),
                    Some(a) => (a.start, a.len, a.bytes.start(), true),
                    None => (0, 0, std::ptr::null_mut(), true),
                }
            }
            StateSpace::Const if kind == AccessKind::Load => {
                (0, self.cx.constant.len() as u64, self.cx.constant.start(), false)
            }
            StateSpace::Param if kind == AccessKind::Load => {
                (0, self.cx.params.len() as u64, self.cx.params.start(), false)
            }
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Local
            | StateSpace::Param
            | StateSpace::Tex => (0, 0, std::ptr::null_mut(), false),
        };
        if space == StateSpace::Local
            && aligned
            && high.checked_add(size).is_some_and(|e| e <= u64::from(issue.stack_end))
        {
            let (base, stride) = warp.local.layout();
            let first = issue.mask.trailing_zeros() as usize;
            let place = |i: usize| {
                let lane = if issue.mask >> i & 1 != 0 { i } else { first };
                base.wrapping_add(lane * stride + at[i] as usize)
            };
            self.show_access(issue, kind, access, space, &at);
            return Ok(Places { at: each_place(place), concurrent: false, shared: 0 });
        }
        if aligned && size <= len && low >= start && high - start <= len - size {
            let place = |i: usize| base.wrapping_add((at[i] - start) as usize);
            let shared = if space == StateSpace::Shared { u32::MAX } else { 0 };
            self.show_access(issue, kind, access, space, &at);
            return Ok(Places { at: each_place(place), concurrent, shared });
        }
        let at = addresses(issue.frame, access, issue.stack);
        self.places_one_by_one(warp, issue, access, kind, &at)
    }

    /// Shows an observer what lanes access.
    #[inline(always)]
    fn show_access(
        &mut self,
        issue: Issue<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        at: &[u64; 32],
    ) {
        if WATCHED && self.interest.accesses && issue.mask != 0 {
            let at_pc = self.at(issue);
            self.observer.access(&at_pc, kind, access, space, Addresses::Each(at));
        }
    }

    /// Finds the memory of each lane by itself, or the first lane that is at fault. An observer is not shown the access of a lane whose fault it lets pass.
    #[cold]
    #[inline(never)]
    fn places_one_by_one(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        kind: AccessKind,
        addresses: &[u64; 32],
    ) -> Fallible<Places> {
        let size = u64::from(access.bytes) * u64::from(access.count);
        let first = issue.mask.trailing_zeros() as usize & 31;
        let mut places = Places { at: [std::ptr::null_mut(); 32], concurrent: true, shared: 0 };
        let mut passed = 0;
        for lane in lanes_of(issue.mask) {
            let address = addresses[lane];
            let (space, offset) = window::locate(access.space, address);
            self.note_access(kind, space);
            let mut found = None;
            if address & (size - 1) == 0 {
                found = self.memory_at(warp, issue, (kind, access.cluster), lane, space, offset);
                found = found.filter(|(_, rest)| size <= *rest);
                if found.is_none() && access.unused != 0 {
                    let part = self.used_part(warp, issue, access, lane, space, offset);
                    found = part.map(|at| (at, size));
                }
            }
            let Some((at, _)) = found else {
                let one = issue.only(1 << lane);
                let fault = self.bad_access(warp, one, (kind, access.cluster), space, offset, size);
                if WATCHED {
                    let at = self.at(one);
                    let stack_end = issue.stack_end;
                    let bad = BadAccess { kind, access, space, address: offset, bytes: size, stack_end };
                    if self.observer.fault(&at, &fault, Some(&bad)) == Verdict::Skip {
                        self.sink = [0; 16];
                        places.at[lane] = self.sink.as_mut_ptr().cast();
                        passed |= 1 << lane;
                        continue;
                    }
                    if access.space == StateSpace::Generic {
                        self.show_access(one, kind, access, space, &[offset; 32]);
                    } else {
                        self.show_access(issue.only(issue.mask & !passed), kind, access, space, addresses);
                    }
                }
                return Err(fault);
            };
            if access.space == StateSpace::Generic {
                self.show_access(issue.only(1 << lane), kind, access, space, &[offset; 32]);
            }
            places.at[lane] = at;
            places.shared |= u32::from(space == StateSpace::Shared) << lane;
        }
        if access.space != StateSpace::Generic {
            self.show_access(issue.only(issue.mask & !passed), kind, access, access.space, addresses);
        }
        let spare = places.at[first];
        for p in places.at.iter_mut().filter(|p| p.is_null()) {
            *p = spare;
        }
        Ok(places)
    }

    /// A copy of the bytes that the program uses of a lane's load, with zeros for the others: where those are outside of what there is.
    #[allow(clippy::too_many_arguments)]
    fn used_part(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        lane: usize,
        space: StateSpace,
        offset: u64,
    ) -> Option<*mut u8> {
        let size = u32::from(access.bytes) * u32::from(access.count);
        let mut bytes = [0; 32];
        for i in (0..size).filter(|i| access.uses(*i)) {
            let offset = offset.checked_add(i.into())?;
            let manner = (AccessKind::Load, access.cluster);
            let (at, rest) = self.memory_at(warp, issue, manner, lane, space, offset)?;
            if rest == 0 {
                return None;
            }
            // SAFETY: the byte is in bounds.
            *bytes.get_mut(i as usize)? = unsafe { Concurrent::load::<u8>(at) };
        }
        self.parts.resize(32, [0; 2]);
        let part = &mut self.parts[lane];
        for (word, bytes) in part.iter_mut().zip(bytes.chunks_exact(16)) {
            *word = bytes.iter().rev().fold(0, |word, b| word << 8 | u128::from(*b));
        }
        Some(part.as_mut_ptr().cast())
    }

    /// The memory at an address of a space as a lane sees it, and how many bytes of it there are from there on. Addresses of
    /// other blocks of the cluster are valid only where `cluster` says so.
    #[allow(clippy::too_many_arguments)]
    pub(in crate::engine) fn memory_at(
        &self,
        warp: &Warp,
        issue: Issue<'_>,
        (kind, cluster): (AccessKind, bool),
        lane: usize,
        space: StateSpace,
        offset: u64,
    ) -> Option<(*mut u8, u64)> {
        let within = |base: *mut u8, offset: u64, len: u64| {
            (offset <= len).then(|| (base.wrapping_add(offset as usize), len - offset))
        };
        let of = |bytes: &Bytes| within(bytes.start(), offset, bytes.len() as u64);
        match space {
            StateSpace::Shared => {
                let (rank, at) = issue.block.cluster.locate(issue.block.rank, offset, 0, cluster).ok()?;
                let memory = &issue.block.cluster.members[rank].memory;
                within(memory.start(), at as u64, memory.len() as u64)
            }
            StateSpace::Const if kind == AccessKind::Load => of(self.cx.constant),
            StateSpace::Param if kind == AccessKind::Load => of(self.cx.params),
            StateSpace::Local => {
                let (memory, offset, len) = match offset.checked_sub(DYNAMIC) {
                    None => (&warp.local, offset, issue.stack_end),
                    Some(offset) => (&warp.dynamic, offset, warp.tops[lane]),
                };
                let (base, stride) = memory.layout();
                within(base.wrapping_add(lane * stride), offset, len.into())
            }
            StateSpace::Global => {
                let (memory, at, rest) = self.cx.global_at(offset)?;
                Some((memory.start().wrapping_add(at), rest))
            }
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Param
            | StateSpace::Tex => None,
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(in crate::engine) fn bad_access(
        &self,
        warp: &Warp,
        issue: Issue<'_>,
        (kind, cluster): (AccessKind, bool),
        space: StateSpace,
        address: u64,
        size: u64,
    ) -> Box<Fault> {
        let verb = match kind {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        };
        let what = format!("{verb} of {size} bytes at {space} address {address:#x}");
        let (code, message) = if address & (size - 1) != 0 {
            (FaultCode::Misaligned, format!("{what}, which is not a multiple of {size}"))
        } else {
            let region = |len: u64| match address.saturating_add(size).checked_sub(len) {
                Some(past) if len > 0 => {
                    format!("ends {past} bytes past the end of {space} memory ({len} bytes)")
                }
                _ => format!("there is no {space} memory"),
            };
            let place = match space {
                StateSpace::Global => self.cx.describe_global(address, size),
                StateSpace::Local if address >= DYNAMIC => {
                    let lane = issue.mask.trailing_zeros() as usize & 31;
                    format!("the thread has {} bytes of `alloca` from {DYNAMIC:#x} on", warp.tops[lane])
                }
                StateSpace::Shared => {
                    let outcome = issue.block.cluster.locate(issue.block.rank, address, size, cluster);
                    outcome.err().unwrap_or_else(|| region(issue.block.shared.len() as u64))
                }
                StateSpace::Local => region(u64::from(issue.stack_end)),
                StateSpace::Const | StateSpace::Param if kind != AccessKind::Load => {
                    format!("{space} memory is read-only")
                }
                StateSpace::Const => region(self.cx.constant.len() as u64),
                StateSpace::Generic
                | StateSpace::Reg
                | StateSpace::Sreg
                | StateSpace::Param
                | StateSpace::Tex => region(self.cx.params.len() as u64),
            };
            (FaultCode::OutOfBounds, format!("{what}: {place}"))
        };
        let mut fault = self.fault(issue, code, message);
        fault.address = Some(address);
        fault
    }
}
