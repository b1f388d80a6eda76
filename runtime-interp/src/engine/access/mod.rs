//! Loads, stores and atomics of a warp.
//!
//! Addresses that follow a rule are the matter of `lines`. Those of all other accesses are checked together: their lowest and
//! highest, and the bits that alignment forbids. Only if that fails, or the lanes reach different allocations or spaces, is each
//! lane looked at by itself.

mod lines;
mod multimem;

use crate::engine::file::Frame;
use crate::engine::lanes::Lane;
use crate::engine::observe::{AccessKind, Addresses, BadAccess, Verdict};
use crate::engine::op::{Access, Atomic, AtomicFn};
use crate::engine::reg::{Reg, Width};
use crate::engine::run::{AVX2, AVX512, Fallible, Issue, Runner, is_synchronising};
use crate::engine::values::{lane64, lanes_of, opaque};
use crate::engine::warp::{DYNAMIC, Warp};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::{self, Bytes, Concurrent, Element, Mode, Private, WideAtomics};
use crate::memory::window;
use lines::{load_lines, store_lines};
use std::cell::Cell;
use std::sync::atomic::{Ordering, fence};
use warpsmith_isa::StateSpace;

/// Where the lanes' data lie. Lanes outside the mask repeat one inside it, so that all may be read.
struct Places {
    at: [*mut u8; 32],
    /// Other host threads access them too.
    concurrent: bool,
    /// The lanes whose data are in shared memory.
    shared: u32,
}

/// The registers of a load's or store's elements.
#[derive(Clone, Copy)]
enum Elements<'a> {
    Load(&'a [Reg]),
    Store(&'a [Reg]),
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    #[inline(always)]
    pub fn load<const LEVEL: usize>(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        dst: &[Reg],
    ) -> Fallible<()> {
        if is_synchronising(access.order) {
            fence(Ordering::SeqCst);
        }
        if let Some(lines) = self.lines(warp, issue, access, AccessKind::Load) {
            // SAFETY: the lines were found for this access.
            unsafe {
                match access.bytes {
                    1 => load_lines::<u8>(&lines, issue, access.signed, dst),
                    2 => load_lines::<u16>(&lines, issue, access.signed, dst),
                    4 => load_lines::<u32>(&lines, issue, access.signed, dst),
                    8 => load_lines::<u64>(&lines, issue, access.signed, dst),
                    _ => load_lines::<u128>(&lines, issue, access.signed, dst),
                }
            }
        } else {
            self.scattered::<LEVEL>(warp, issue, access, Elements::Load(dst))?;
        }
        if is_synchronising(access.order) {
            fence(Ordering::SeqCst);
        }
        Ok(())
    }

    #[inline(always)]
    pub fn store<const LEVEL: usize>(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        src: &[Reg],
    ) -> Fallible<()> {
        if is_synchronising(access.order) {
            fence(Ordering::SeqCst);
        }
        if let Some(lines) = self.lines(warp, issue, access, AccessKind::Store) {
            // SAFETY: as in `load`.
            unsafe {
                match access.bytes {
                    1 => store_lines::<u8>(&lines, issue, access.skipped, src),
                    2 => store_lines::<u16>(&lines, issue, access.skipped, src),
                    4 => store_lines::<u32>(&lines, issue, access.skipped, src),
                    8 => store_lines::<u64>(&lines, issue, access.skipped, src),
                    _ => store_lines::<u128>(&lines, issue, access.skipped, src),
                }
            }
        } else {
            self.scattered::<LEVEL>(warp, issue, access, Elements::Store(src))?;
        }
        if is_synchronising(access.order) {
            fence(Ordering::SeqCst);
        }
        Ok(())
    }

    /// A load or store whose addresses follow no rule. Apart from the loop, and compiled for each instruction set as it is.
    #[inline(always)]
    fn scattered<const LEVEL: usize>(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        elements: Elements<'_>,
    ) -> Fallible<()> {
        match LEVEL {
            // SAFETY: the loop of a level calls this only where the host has it.
            #[cfg(target_arch = "x86_64")]
            AVX512 => unsafe { self.scattered_avx512(warp, issue, access, elements) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            AVX2 => unsafe { self.scattered_avx2(warp, issue, access, elements) },
            _ => self.scattered_baseline(warp, issue, access, elements),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    fn scattered_avx512(&mut self, w: &Warp, i: Issue<'_>, a: &Access, e: Elements<'_>) -> Fallible<()> {
        self.scattered_here(w, i, a, e)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    fn scattered_avx2(&mut self, w: &Warp, i: Issue<'_>, a: &Access, e: Elements<'_>) -> Fallible<()> {
        self.scattered_here(w, i, a, e)
    }

    #[inline(never)]
    fn scattered_baseline(&mut self, w: &Warp, i: Issue<'_>, a: &Access, e: Elements<'_>) -> Fallible<()> {
        self.scattered_here(w, i, a, e)
    }

    #[inline(always)]
    fn scattered_here(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        elements: Elements<'_>,
    ) -> Fallible<()> {
        let kind = match elements {
            Elements::Load(_) => AccessKind::Load,
            Elements::Store(_) => AccessKind::Store,
        };
        let places = self.places(warp, issue, access, kind)?;
        // SAFETY: `places` has checked bounds and alignment of all elements for every lane.
        unsafe {
            match elements {
                Elements::Load(dst) => match access.bytes {
                    1 => load_lanes::<u8>(&places, issue, access.signed, dst),
                    2 => load_lanes::<u16>(&places, issue, access.signed, dst),
                    4 => load_lanes::<u32>(&places, issue, access.signed, dst),
                    8 => load_lanes::<u64>(&places, issue, access.signed, dst),
                    _ => load_lanes::<u128>(&places, issue, access.signed, dst),
                },
                Elements::Store(src) => match access.bytes {
                    1 => store_lanes::<u8>(&places, issue, access.skipped, src),
                    2 => store_lanes::<u16>(&places, issue, access.skipped, src),
                    4 => store_lanes::<u32>(&places, issue, access.skipped, src),
                    8 => store_lanes::<u64>(&places, issue, access.skipped, src),
                    _ => store_lanes::<u128>(&places, issue, access.skipped, src),
                },
            }
        }
        Ok(())
    }

    /// Updates memory lane by lane, in the order of lanes.
    pub fn atomic(&mut self, warp: &Warp, issue: Issue<'_>, atomic: &Atomic) -> Fallible<()> {
        let access = &atomic.access;
        let places = self.places(warp, issue, access, AccessKind::Atomic)?;
        for element in 0..usize::from(access.count) {
            let (b, dst) = (atomic.b.get(element).copied(), atomic.dst.get(element).copied());
            let (global, shared) = match atomic.function {
                AtomicFn::Word(f) => (f, f),
                AtomicFn::BySpace { global, shared } => (global, shared),
                AtomicFn::Wide(f) => {
                    // SAFETY: as in `load`.
                    let changed = unsafe {
                        update_wide(&self.cx.global.wide, &places, issue, f, (element, b, atomic.c, dst))
                    };
                    self.changes += u64::from(changed);
                    continue;
                }
            };
            let operands = Update { element, functions: [global, shared], b, c: atomic.c, dst };
            // SAFETY: as in `load`.
            let changed = unsafe {
                match access.bytes {
                    1 => update_lanes::<u8>(&places, issue, &operands),
                    2 => update_lanes::<u16>(&places, issue, &operands),
                    4 => update_lanes::<u32>(&places, issue, &operands),
                    _ => update_lanes::<u64>(&places, issue, &operands),
                }
            };
            self.changes += u64::from(changed);
        }
        Ok(())
    }

    /// Takes note of an access, for the question whether threads get on. Of an atomic, what it changes counts.
    #[inline(always)]
    pub(in crate::engine) fn note_access(&mut self, kind: AccessKind, space: StateSpace) {
        match (kind, space) {
            (_, StateSpace::Local) => {}
            (AccessKind::Store, _) => self.changes += 1,
            (AccessKind::Load | AccessKind::Atomic, _) => self.asks = true,
        }
    }

    /// Finds and checks the memory that the lanes access.
    #[inline(always)]
    fn places(
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
        if WATCHED && self.interest.accesses {
            let at_pc = self.at(issue);
            self.observer.access(&at_pc, kind, access, space, Addresses::Each(&at));
        }
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
            _ => (0, 0, std::ptr::null_mut(), false),
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
            return Ok(Places { at: each_place(place), concurrent: false, shared: 0 });
        }
        if aligned && size <= len && low >= start && high - start <= len - size {
            let place = |i: usize| base.wrapping_add((at[i] - start) as usize);
            let shared = if space == StateSpace::Shared { u32::MAX } else { 0 };
            return Ok(Places { at: each_place(place), concurrent, shared });
        }
        let at = addresses(issue.frame, access, issue.stack);
        self.places_one_by_one(warp, issue, access, kind, &at)
    }

    /// Finds the memory of each lane by itself, or the first lane that is at fault.
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
        for lane in lanes_of(issue.mask) {
            let address = addresses[lane];
            let (space, offset) = match access.space {
                StateSpace::Generic => window::classify(address),
                space => (space, address),
            };
            self.note_access(kind, space);
            if WATCHED && self.interest.accesses && access.space == StateSpace::Generic {
                let at = self.at(issue.only(1 << lane));
                self.observer.access(&at, kind, access, space, Addresses::Each(&[offset; 32]));
            }
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
                let issue = issue.only(1 << lane);
                let fault = self.bad_access(warp, issue, (kind, access.cluster), space, offset, size);
                if WATCHED {
                    let at = self.at(issue);
                    let stack_end = issue.stack_end;
                    let bad = BadAccess { kind, access, space, address: offset, bytes: size, stack_end };
                    if self.observer.fault(&at, &fault, Some(&bad)) == Verdict::Skip {
                        self.sink = [0; 16];
                        places.at[lane] = self.sink.as_mut_ptr().cast();
                        continue;
                    }
                }
                return Err(fault);
            };
            places.at[lane] = at;
            places.shared |= u32::from(space == StateSpace::Shared) << lane;
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
            _ => None,
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
                _ => region(self.cx.params.len() as u64),
            };
            (FaultCode::OutOfBounds, format!("{what}: {place}"))
        };
        let mut fault = self.fault(issue, code, message);
        fault.address = Some(address);
        fault
    }
}

/// An array of a function of the lane. Loops rather than `array::map` and `from_fn`, whose closures are not compiled for the
/// instruction set of the loop they are in.
#[inline(always)]
fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; 32] {
    let mut values = [T::default(); 32];
    for (i, v) in values.iter_mut().enumerate() {
        *v = f(i);
    }
    values
}

#[inline(always)]
fn each_place(f: impl Fn(usize) -> *mut u8) -> [*mut u8; 32] {
    let mut places = [std::ptr::null_mut(); 32];
    for (i, p) in places.iter_mut().enumerate() {
        *p = f(i);
    }
    places
}

/// The addresses that the lanes compute.
#[inline(always)]
pub(in crate::engine) fn addresses(frame: Frame, access: &Access, stack: u32) -> [u64; 32] {
    let offset = access.offset as u64;
    // SAFETY: the base register was checked when the program was built.
    unsafe {
        match access.base.width() {
            Width::W64 => {
                let offset = if access.on_stack { offset.wrapping_add(u64::from(stack)) } else { offset };
                let row = &(*frame.row::<u64>(access.base)).0;
                each(|i| row[i].wrapping_add(offset))
            }
            _ => {
                let row = &(*frame.row::<u32>(access.base)).0;
                each(|i| u64::from(row[i].wrapping_add(offset as u32)))
            }
        }
    }
}

/// A memory element as the bits of a register.
pub(in crate::engine) trait Bits: Element {
    const WIDTH: u32;
    fn widen(self) -> u64;
    fn narrow(v: u64) -> Self;
}

macro_rules! bits {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            const WIDTH: u32 = <$t>::BITS;

            #[inline(always)]
            fn widen(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn narrow(v: u64) -> Self {
                v as $t
            }
        }
    )*};
}
bits!(u8 u16 u32 u64 u128);

/// # Safety
/// Every lane of `places` has `dst.len()` aligned elements in bounds.
#[inline(always)]
unsafe fn load_lanes<T: Bits>(places: &Places, issue: Issue<'_>, signed: bool, dst: &[Reg]) {
    for (element, &r) in dst.iter().enumerate() {
        let issue = issue.only(opaque(issue.mask));
        let offset = element * T::BYTES;
        let mut values = [T::default(); 32];
        // SAFETY: the caller's promise.
        unsafe {
            for (v, p) in values.iter_mut().zip(&places.at) {
                *v = Concurrent::load(p.add(offset));
            }
            set_extended(issue, r, signed, &values);
        }
    }
}

/// # Safety
/// `r` is a destination of the running function.
#[inline(always)]
pub(in crate::engine) unsafe fn set_extended<T: Bits>(
    issue: Issue<'_>,
    r: Reg,
    signed: bool,
    values: &[T; 32],
) {
    let Issue { frame, mask, .. } = issue;
    let unused = 64 - T::WIDTH.min(64);
    let extend = |v: T| if signed { ((v.widen() << unused) as i64 >> unused) as u64 } else { v.widen() };
    // SAFETY: the caller's promise.
    unsafe {
        match r.width() {
            Width::W32 if signed => u32::set(frame, r, mask, &each(|i| extend(values[i]) as u32)),
            Width::W32 => u32::set(frame, r, mask, &each(|i| values[i].widen() as u32)),
            Width::W64 => u64::set(frame, r, mask, &each(|i| extend(values[i]))),
            _ if T::WIDTH == 128 => {
                // A 16-byte element is exactly a 128-bit register.
                let wide = std::array::from_fn(|i| std::mem::transmute_copy::<T, u128>(&values[i]));
                u128::set(frame, r, mask, &wide);
            }
            _ if signed => u128::set(frame, r, mask, &values.map(|v| extend(v) as i64 as u128)),
            _ => u128::set(frame, r, mask, &values.map(|v| u128::from(v.widen()))),
        }
    }
}

/// The low bits of a source's lanes.
///
/// # Safety
/// `r` is a source of the running function.
#[inline(always)]
pub(in crate::engine) unsafe fn source_lanes<T: Bits>(frame: Frame, r: Reg) -> [T; 32] {
    // SAFETY: the caller's promise.
    unsafe {
        match r.width() {
            Width::W32 => {
                let row = &(*frame.row::<u32>(r)).0;
                each(|i| T::narrow(u64::from(row[i])))
            }
            Width::W64 => {
                let row = &(*frame.row::<u64>(r)).0;
                each(|i| T::narrow(row[i]))
            }
            _ if T::WIDTH == 128 => {
                let wide = &(*frame.row::<u128>(r)).0;
                std::array::from_fn(|i| std::mem::transmute_copy::<u128, T>(&wide[i]))
            }
            _ => (*frame.row::<u128>(r)).0.map(|v| T::narrow(v as u64)),
        }
    }
}

/// # Safety
/// As for `load_lanes`.
#[inline(always)]
unsafe fn store_lanes<T: Bits>(places: &Places, issue: Issue<'_>, skipped: u8, src: &[Reg]) {
    for (element, &r) in src.iter().enumerate() {
        if skipped >> element & 1 != 0 {
            continue;
        }
        let offset = element * T::BYTES;
        // SAFETY: the caller's promise, and the source was checked when the program was built.
        unsafe {
            let values: [T; 32] = source_lanes(issue.frame, r);
            if issue.mask != u32::MAX {
                for i in lanes_of(issue.mask) {
                    Concurrent::store(places.at[i].add(offset), values[i]);
                }
            } else {
                for (v, p) in values.iter().zip(&places.at) {
                    Concurrent::store(p.add(offset), *v);
                }
            }
        }
    }
}

/// One element of an atomic.
struct Update {
    element: usize,
    /// For global and for shared memory.
    functions: [fn(u64, u64, u64) -> u64; 2],
    b: Option<Reg>,
    c: Option<Reg>,
    dst: Option<Reg>,
}

/// Updates the lanes' elements. True if any has changed.
///
/// # Safety
/// As for `load_lanes`.
unsafe fn update_lanes<T: Bits + bytes::Atomic>(places: &Places, issue: Issue<'_>, update: &Update) -> bool {
    let mut old = [T::default(); 32];
    let changed = Cell::new(false);
    for lane in lanes_of(issue.mask) {
        let operand = |r: Option<Reg>| r.map_or(0, |r| T::narrow(lane64(issue.frame, r, lane)).widen());
        let (b, c) = (operand(update.b), operand(update.c));
        let f = update.functions[(places.shared >> lane & 1) as usize];
        let new = |v: T| {
            let new = T::narrow(f(v.widen(), b, c));
            changed.set(changed.get() | (new.widen() != v.widen()));
            new
        };
        // SAFETY: the caller's promise.
        unsafe {
            let p = places.at[lane].add(update.element * T::BYTES);
            old[lane] = if places.concurrent {
                T::update(p, new)
            } else {
                let old = Private::load::<T>(p);
                Private::store(p, new(old));
                old
            };
        }
    }
    if let Some(dst) = update.dst {
        // SAFETY: the destination was checked when the program was built.
        unsafe { set_extended(issue, dst, false, &old) }
    }
    changed.get()
}

/// Updates elements of 16 bytes.
///
/// # Safety
/// As for `load_lanes`.
unsafe fn update_wide(
    wide: &WideAtomics,
    places: &Places,
    issue: Issue<'_>,
    f: fn(u128, u128, u128) -> u128,
    (element, b, c, dst): (usize, Option<Reg>, Option<Reg>, Option<Reg>),
) -> bool {
    let mut old = [0u128; 32];
    let changed = Cell::new(false);
    for lane in lanes_of(issue.mask) {
        let operand = |r: Option<Reg>| match r {
            // SAFETY: operands were checked when the program was built.
            Some(r) if r.width() == Width::W128 => unsafe { u128::get(issue.frame, r, lane) },
            Some(r) => u128::from(lane64(issue.frame, r, lane)),
            None => 0,
        };
        let (b, c) = (operand(b), operand(c));
        let new = |v| {
            let new = f(v, b, c);
            changed.set(changed.get() | (new != v));
            new
        };
        // SAFETY: the caller's promise.
        old[lane] = unsafe { wide.update(places.at[lane].add(element * 16), new) };
    }
    if let Some(dst) = dst {
        // SAFETY: the destination was checked when the program was built.
        unsafe { set_extended(issue, dst, false, &old) }
    }
    changed.get()
}
