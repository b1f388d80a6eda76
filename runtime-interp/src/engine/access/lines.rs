//! Accesses whose addresses follow a rule: each half of the warp reads one element, or elements in a row.
//!
//! Nearly all accesses of real kernels are of this kind. They need two addresses and two checks of bounds instead of 32, and
//! their data move in blocks. Halves, because blocks of 16 threads in x are common.

use crate::engine::access::{Bits, set_extended, source_lanes};
use crate::engine::file::Frame;
use crate::engine::observe::{AccessKind, Addresses, Line};
use crate::engine::op::Access;
use crate::engine::reg::{Reg, Width};
use crate::engine::region_state::{ChunkPlaces, LanePattern};
use crate::engine::run::{Issue, Runner};
use crate::engine::values::{lanes_of, opaque};
use crate::engine::warp::Warp;
use crate::memory::bytes::{Concurrent, Mode, Private};
use crate::memory::window;
use warpsmith_isa::StateSpace;

/// Lanes of a half warp.
const HALF: usize = 16;

/// Where the lanes' data lie: those of lane `i` of half `h` at `at[h] + i * step[h]`. All of them are in bounds, whether the
/// lane is active or not.
pub(in crate::engine) struct Lines {
    at: [*mut u8; 2],
    step: [usize; 2],
    /// Other host threads access them too.
    concurrent: bool,
    /// The memory that they lie in: where it begins, and how many bytes it has. Of local memory that of one lane.
    within: (*mut u8, u64),
}

impl Lines {
    /// The same lines so many bytes on.
    #[inline(always)]
    pub(in crate::engine) fn past(&self, bytes: usize) -> Lines {
        Lines { at: self.at.map(|at| at.wrapping_add(bytes)), ..*self }
    }

    /// Gives machine code the locations of the data of a batch, of lanes of so many bytes, the last of whose accesses is `more` bytes past these lines; false
    /// where it cannot read them in the way that the space promises it.
    pub(in crate::engine) fn chunks(
        &self,
        space: StateSpace,
        bytes: usize,
        more: u64,
        places: &mut ChunkPlaces,
    ) -> bool {
        for h in 0..2 {
            let step = self.step[h];
            let mut back = 0;
            if space != StateSpace::Local && bytes < 16 {
                let rule = if step == 0 {
                    // The window of a single element reaches past it, or before it at the end of the memory.
                    let offset = self.at[h].addr() - self.within.0.addr();
                    let window = 16.min(CHUNK * bytes);
                    let fits = (offset + window) as u64 + more <= self.within.1;
                    back = if fits { 0 } else { window - bytes };
                    if offset < back {
                        return false;
                    }
                    if fits { FIRST } else { LAST }
                } else if step == bytes {
                    IN_A_ROW
                } else {
                    return false;
                };
                places.control[h] = CONTROLS.0[bytes.trailing_zeros() as usize & 3][rule];
            }
            places.step[h] = step;
            for c in 0..4 {
                places.at[4 * h + c] = self.at[h].wrapping_add(CHUNK * c * step).wrapping_sub(back);
            }
        }
        true
    }

    /// The place of each lane's data.
    pub(super) fn places(&self) -> [*mut u8; 32] {
        std::array::from_fn(|i| self.at[i / HALF].wrapping_add(i % HALF * self.step[i / HALF]))
    }
}

/// Lanes that machine code reads together.
const CHUNK: usize = 4;

/// Where a window has the elements of its lanes: each its own, or all the first or the last of it.
const IN_A_ROW: usize = 0;
const FIRST: usize = 1;
const LAST: usize = 2;

/// For lanes of 1, 2, 4 and 8 bytes and each of these rules, which byte of a window of [`ChunkPlaces`] is whose.
pub(in crate::engine) static CONTROLS: Controls = {
    let mut controls = [[[0x80; 16]; 3]; 4];
    let mut shift = 0;
    while shift < 4 {
        let bytes = 1 << shift;
        let each = if bytes < 4 { 4 } else { bytes };
        let window = if bytes < 4 { CHUNK * bytes } else { 16 };
        let mut n = 0;
        while n < 16 {
            let (lane, byte) = (n / each, n % each);
            if byte < bytes {
                controls[shift][IN_A_ROW][n] = (lane * bytes + byte) as u8;
                controls[shift][FIRST][n] = byte as u8;
                controls[shift][LAST][n] = (window - bytes + byte) as u8;
            }
            n += 1;
        }
        shift += 1;
    }
    Controls(controls)
};

/// Aligned as machine code loads them.
#[repr(C, align(64))]
pub(in crate::engine) struct Controls([[[u8; 16]; 3]; 4]);

macro_rules! find_lines {
    ($name:ident, $t:ty) => {
        /// The lines of the active lanes' addresses, if they follow the rule for elements of `1 << shift` bytes.
        #[inline(always)]
        fn $name<const ALL: bool>(
            addresses: &[$t; 32],
            mask: u32,
            offset: $t,
            shift: u32,
        ) -> Option<[Line; 2]> {
            let mask = if ALL { u32::MAX } else { mask };
            let mut lines = [Line { start: 0, step: 0 }; 2];
            for (h, line) in lines.iter_mut().enumerate() {
                let active = mask >> (HALF * h) & 0xffff;
                // A half without active lanes is where the first active lane is.
                let first =
                    if active == 0 { mask } else { active << (HALF * h) }.trailing_zeros() as usize & 31;
                let place = ((first % HALF) as $t) << shift;
                let start = addresses[first].wrapping_sub(place);
                let (mut apart, mut off) = (0, 0);
                for i in 0..HALF {
                    let named = if ALL { <$t>::MAX } else { <$t>::from(active >> i & 1 != 0).wrapping_neg() };
                    let distance = addresses[HALF * h + i].wrapping_sub(start);
                    apart |= (distance ^ place) & named;
                    off |= (distance ^ ((i as $t) << shift)) & named;
                }
                *line = match (apart, off) {
                    (0, _) => Line { start: addresses[first].wrapping_add(offset).into(), step: 0 },
                    (_, 0) => Line { start: start.wrapping_add(offset).into(), step: 1 << shift },
                    _ => return None,
                };
            }
            Some(lines)
        }
    };
}
find_lines!(find_lines_32, u32);
find_lines!(find_lines_64, u64);

macro_rules! even {
    ($name:ident, $t:ty) => {
        /// The first value and the step of each half, if all lanes are as far apart.
        #[inline(always)]
        fn $name(lanes: &[$t; 32]) -> Option<[(u64, u64); 2]> {
            let mut halves = [(0, 0); 2];
            for (half, lanes) in halves.iter_mut().zip(lanes.as_chunks::<HALF>().0) {
                let step = lanes[1].wrapping_sub(lanes[0]);
                let mut off = 0;
                for i in 0..HALF {
                    off |= lanes[0].wrapping_add(step.wrapping_mul(i as $t)) ^ lanes[i];
                }
                if off != 0 {
                    return None;
                }
                *half = (u64::from(lanes[0]), u64::from(step));
            }
            Some(halves)
        }
    };
}
even!(even_32, u32);
even!(even_64, u64);

#[inline(always)]
fn find_lines<const ALL: bool>(
    frame: Frame,
    access: &Access,
    stack: u32,
    mask: u32,
    shift: u32,
) -> Option<[Line; 2]> {
    // SAFETY: the base register was checked when the program was built.
    unsafe {
        match access.base.width() {
            Width::W64 => {
                let stack = if access.on_stack { u64::from(stack) } else { 0 };
                let offset = (access.offset as u64).wrapping_add(stack);
                find_lines_64::<ALL>(&(*frame.row::<u64>(access.base)).0, mask, offset, shift)
            }
            Width::Pred | Width::W32 | Width::W128 => {
                find_lines_32::<ALL>(&(*frame.row::<u32>(access.base)).0, mask, access.offset as u32, shift)
            }
        }
    }
}

impl LanePattern {
    /// How all lanes of a register lie whose accesses have so many bytes, a power of two up to 16, or zero for any step.
    ///
    /// # Safety
    /// The register, of 32 or 64 bits, is one of the function that the frame belongs to.
    #[inline(always)]
    pub(in crate::engine) unsafe fn of(frame: Frame, base: Reg, bytes: u32) -> LanePattern {
        if bytes == 0 {
            // SAFETY: the caller's promise.
            let steps = unsafe {
                match base.width() {
                    Width::W64 => even_64(&(*frame.row::<u64>(base)).0),
                    Width::Pred | Width::W32 | Width::W128 => even_32(&(*frame.row::<u32>(base)).0),
                }
            };
            let Some(steps) = steps else { return LanePattern::with_state(LanePattern::NONE) };
            let mut pattern = LanePattern::with_state(LanePattern::FOUND);
            for (h, (start, step)) in steps.into_iter().enumerate() {
                (pattern.past[4 * h], pattern.step[h]) = (start, step as usize);
            }
            return pattern;
        }
        let (shift, size) = (bytes.trailing_zeros(), u64::from(bytes));
        // SAFETY: the caller's promise.
        let (lines, most) = unsafe {
            match base.width() {
                Width::W64 => {
                    let lanes = &(*frame.row::<u64>(base)).0;
                    (find_lines_64::<true>(lanes, u32::MAX, 0, shift), u64::MAX)
                }
                Width::Pred | Width::W32 | Width::W128 => {
                    let lanes = &(*frame.row::<u32>(base)).0;
                    (find_lines_32::<true>(lanes, u32::MAX, 0, shift), u64::from(u32::MAX))
                }
            }
        };
        let end = |line: &Line| {
            let end = line.start.checked_add((HALF as u64 - 1) * line.step + size)?;
            (end <= most).then_some(end)
        };
        let ends = lines.as_ref().and_then(|[first, second]| Some(end(first)?.max(end(second)?)));
        let (Some(lines), Some(end)) = (lines, ends) else {
            return LanePattern::with_state(LanePattern::NONE);
        };
        let low = lines[0].start.min(lines[1].start);
        if (lines[0].start ^ lines[1].start) & (size - 1) != 0 {
            return LanePattern::with_state(LanePattern::NONE);
        }
        let in_rows = lines.iter().all(|line| line.step == size);
        let state = if in_rows { LanePattern::IN_ROWS } else { LanePattern::FOUND };
        let mut pattern = LanePattern { low, span: end - low, ..LanePattern::with_state(state) };
        for (h, line) in lines.iter().enumerate() {
            pattern.step[h] = line.step as usize;
            let rule = if line.step == 0 { FIRST } else { IN_A_ROW };
            pattern.control[h] = CONTROLS.0[shift as usize & 3][rule];
            for c in 0..4 {
                pattern.past[4 * h + c] = line.start - low + (CHUNK * c) as u64 * line.step;
            }
        }
        pattern
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Finds and checks the memory that the lanes access. `None` if they follow no rule, or any of them may be at fault.
    #[inline(always)]
    pub(in crate::engine) fn lines(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        kind: AccessKind,
    ) -> Option<Lines> {
        self.lines_over(warp, issue, access, 0, kind)
    }

    /// The lines of an access, and of others at addresses up to `more` bytes past its own.
    #[inline(always)]
    pub(in crate::engine) fn lines_over(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        access: &Access,
        more: u64,
        kind: AccessKind,
    ) -> Option<Lines> {
        let size = u64::from(access.bytes) * u64::from(access.count);
        let shift = size.trailing_zeros();
        // With all lanes there is nothing to leave out, which is most of the work.
        let mut lines = if issue.mask == u32::MAX {
            find_lines::<true>(issue.frame, access, issue.stack, issue.mask, shift)?
        } else {
            find_lines::<false>(issue.frame, access, issue.stack, issue.mask, shift)?
        };
        let mut space = access.space;
        if space == StateSpace::Generic {
            let (first, offset) = window::classify(lines[0].start);
            let base = lines[0].start - offset;
            if window::classify(lines[1].start).0 != first {
                return None;
            }
            space = first;
            lines.iter_mut().for_each(|l| l.start -= base);
        }
        let (start, len, base, concurrent) = match space {
            StateSpace::Shared => (0, issue.block.shared.len() as u64, issue.block.shared.start(), false),
            StateSpace::Global => {
                let low = lines[0].start;
                let hint = &mut self.last_hit[issue.pc as usize % 16];
                let holds =
                    |i: u32| self.cx.global.get(i as usize).filter(|a| low.wrapping_sub(a.start) < a.len);
                let a = holds(*hint).or_else(|| {
                    *hint = self.cx.global.find(low) as u32;
                    holds(*hint)
                })?;
                if a.heap {
                    return None;
                }
                (a.start, a.len, a.bytes.start(), true)
            }
            StateSpace::Const if kind == AccessKind::Load => {
                (0, self.cx.constant.len() as u64, self.cx.constant.start(), false)
            }
            StateSpace::Param if kind == AccessKind::Load => {
                (0, self.cx.params.len() as u64, self.cx.params.start(), false)
            }
            StateSpace::Local => (0, u64::from(issue.stack_end), warp.local.layout().0, false),
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Param
            | StateSpace::Tex => return None,
        };
        let mut found = Lines { at: [base; 2], step: [0; 2], concurrent, within: (base, len) };
        for (h, line) in lines.iter().enumerate() {
            let extent = (HALF as u64 - 1) * line.step + size + more;
            let offset = line.start.wrapping_sub(start);
            if line.start & (size - 1) != 0 || extent > len || offset > len - extent {
                return None;
            }
            found.step[h] = line.step as usize;
            let mut place = offset as usize;
            if space == StateSpace::Local {
                // The same address in every lane is another place for each.
                if line.step != 0 {
                    return None;
                }
                found.step[h] = warp.local.layout().1;
                place += HALF * h * found.step[h];
            }
            found.at[h] = base.wrapping_add(place);
        }
        self.note_access(kind, space);
        if WATCHED && self.interest.accesses {
            let at = self.at(issue);
            self.observer.access(&at, kind, access, space, Addresses::Lines(lines));
        }
        Some(found)
    }
}

/// # Safety
/// `lines` was found for this access, whose destinations are `dst`, of elements of the size of `T`.
#[inline(always)]
pub(in crate::engine) unsafe fn load_lines<T: Bits>(
    lines: &Lines,
    issue: Issue<'_>,
    signed: bool,
    dst: &[Reg],
) {
    for (element, &r) in dst.iter().enumerate() {
        let issue = issue.only(opaque(issue.mask));
        let mut values = [T::default(); 32];
        for (h, half) in values.as_chunks_mut::<HALF>().0.iter_mut().enumerate() {
            let step = lines.step[h];
            // SAFETY: `lines` has checked bounds and alignment of all elements of all lanes.
            unsafe {
                let p = lines.at[h].add(element * T::BYTES);
                if step == 0 {
                    *half = [Concurrent::load::<T>(p); HALF];
                } else if step == T::BYTES {
                    *half = if lines.concurrent { Concurrent::load_row(p) } else { Private::load_row(p) };
                } else if lines.concurrent {
                    for (i, v) in half.iter_mut().enumerate() {
                        *v = Concurrent::load(p.add(i * step));
                    }
                } else {
                    for (i, v) in half.iter_mut().enumerate() {
                        *v = Private::load(p.add(i * step));
                    }
                }
            }
        }
        // SAFETY: the destination was checked when the program was built.
        unsafe { set_extended(issue, r, signed, &values) }
    }
}

/// # Safety
/// As for `load_lines`; the sources are `src`, without those that `skipped` names.
#[inline(always)]
pub(in crate::engine) unsafe fn store_lines<T: Bits>(
    lines: &Lines,
    issue: Issue<'_>,
    skipped: u8,
    src: &[Reg],
) {
    for (element, &r) in src.iter().enumerate() {
        if skipped >> element & 1 != 0 {
            continue;
        }
        let issue = issue.only(opaque(issue.mask));
        // SAFETY: the source was checked when the program was built.
        let values: [T; 32] = unsafe { source_lanes(issue.frame, r) };
        let offset = element * T::BYTES;
        // SAFETY: `lines` has checked bounds and alignment of all elements of all lanes.
        unsafe {
            if issue.mask != u32::MAX {
                for i in lanes_of(issue.mask) {
                    let p = lines.at[i / HALF].add(offset + i % HALF * lines.step[i / HALF]);
                    Concurrent::store(p, values[i]);
                }
                continue;
            }
            for (h, half) in values.as_chunks::<HALF>().0.iter().enumerate() {
                let (p, step) = (lines.at[h].add(offset), lines.step[h]);
                if step == T::BYTES && !lines.concurrent {
                    Private::store_row(p, half);
                } else {
                    for (i, v) in half.iter().enumerate() {
                        Concurrent::store(p.add(i * step), *v);
                    }
                }
            }
        }
    }
}
