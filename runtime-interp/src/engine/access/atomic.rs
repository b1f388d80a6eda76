//! Atomic operations of a warp.

use super::elements::{Bits, set_extended};
use super::places::Places;
use crate::engine::AtomicFn;
use crate::engine::lanes::Lane;
use crate::engine::observe::AccessKind;
use crate::engine::op::Atomic;
use crate::engine::reg::{Reg, Width};
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::values::{lane64, lanes_of};
use crate::engine::warp::Warp;
use crate::memory::bytes::{self, Mode, Private, WideAtomics};
use std::cell::Cell;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
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
