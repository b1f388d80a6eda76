//! Loads, stores and atomics of a warp.
//!
//! Addresses that follow a rule are the matter of `lines`. Those of all other accesses are checked together: their lowest and
//! highest, and the bits that alignment forbids. Only if that fails, or the lanes reach different allocations or spaces, is each
//! lane looked at by itself.

mod atomic;
mod discard;
mod elements;
mod lines;
mod multimem;
mod overwritten;
mod places;

use crate::engine::by_level::by_level;
use crate::engine::file::Frame;
use crate::engine::observe::AccessKind;
use crate::engine::op::Access;
use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Runner, is_synchronising};
use crate::engine::warp::Warp;
pub(in crate::engine) use elements::{Bits, addresses, set_extended, source_lanes};
use elements::{load_lanes, store_lanes};
pub(in crate::engine) use lines::CONTROLS;
use lines::{Lines, load_lines, store_lines};
pub use overwritten::Overwritten;
use std::sync::atomic::{Ordering, fence};
use warpsmith_isa::StateSpace;

/// The registers of a load's or store's elements.
#[derive(Clone, Copy)]
enum Elements<'a> {
    Load(&'a [Reg]),
    Store(&'a [Reg]),
}

/// A load of a batch whose lines were found together, `past` bytes past the lowest of them.
///
/// # Safety
/// `lines` was found for all accesses of the batch, of which `access` is one, and `dst` are registers of the issue's frame.
#[inline(always)]
pub(in crate::engine) unsafe fn load_batch_lines(
    lines: &Lines,
    into: Issue<'_>,
    access: &Access,
    past: usize,
    dst: &[Reg],
) {
    let lines = lines.past(past);
    // SAFETY: the caller's promise.
    unsafe {
        match access.bytes {
            1 => load_lines::<u8>(&lines, into, access.signed, dst),
            2 => load_lines::<u16>(&lines, into, access.signed, dst),
            4 => load_lines::<u32>(&lines, into, access.signed, dst),
            _ => load_lines::<u64>(&lines, into, access.signed, dst),
        }
    }
}

by_level! {
    /// A load or store whose addresses follow no rule.
    scattered scattered_here scattered_baseline scattered_avx2 scattered_avx512
        (warp: &Warp, issue: Issue<'_>, access: &Access, elements: Elements<'_>);
    /// A load of several elements a lane, or from elsewhere than the loop.
    pub(in crate::engine) load_vector load load_vector_baseline load_vector_avx2 load_vector_avx512
        (warp: &Warp, issue: Issue<'_>, access: &Access, dst: &[Reg]);
    /// A store of several elements a lane, or from elsewhere than the loop.
    pub(in crate::engine) store_vector store store_vector_baseline store_vector_avx2 store_vector_avx512
        (warp: &Warp, issue: Issue<'_>, access: &Access, src: &[Reg]);
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
            if WATCHED && self.interest.accesses {
                self.overwriting(issue, access, &lines.places());
            }
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

    /// A load by the registers of one frame into those of another, of addresses that follow no rule.
    #[inline(always)]
    pub(in crate::engine) fn load_into<const LEVEL: usize>(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        frame: Frame,
        access: &Access,
        dst: &[Reg],
    ) -> Fallible<()> {
        let places = self.places(warp, issue, access, AccessKind::Load)?;
        let into = Issue { frame, ..issue };
        // SAFETY: `places` has checked bounds and alignment of all elements for every lane.
        unsafe {
            match access.bytes {
                1 => load_lanes::<u8>(&places, into, access.signed, dst),
                2 => load_lanes::<u16>(&places, into, access.signed, dst),
                4 => load_lanes::<u32>(&places, into, access.signed, dst),
                _ => load_lanes::<u64>(&places, into, access.signed, dst),
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn scattered_here<const LEVEL: usize>(
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
        if WATCHED && self.interest.accesses && kind == AccessKind::Store {
            self.overwriting(issue, access, &places.at);
        }
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

    /// Shows the observer what a store is about to overwrite. `places` was found for this access: lanes of the issue's mask may be accessed there.
    #[cold]
    fn overwriting(&mut self, issue: Issue<'_>, access: &Access, places: &[*mut u8; 32]) {
        // Of an access that leaves bytes out, those may lie past the end.
        let whole = access.skipped == 0 && access.unused == 0;
        let len = if whole { usize::from(access.bytes) * usize::from(access.count) } else { 0 };
        let at = self.at(issue);
        // SAFETY: the caller's promise.
        let bytes = unsafe { Overwritten::new(places, issue.mask, len) };
        self.observer.overwrites(&at, &bytes);
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
}
