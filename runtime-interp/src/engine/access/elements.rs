//! Elements of memory as lanes of registers, and back.

use super::places::Places;
use crate::engine::file::Frame;
use crate::engine::lanes::Lane;
use crate::engine::op::Access;
use crate::engine::reg::{Reg, Width};
use crate::engine::run::Issue;
use crate::engine::values::{lanes_of, opaque};
use crate::memory::bytes::{Concurrent, Element, Mode};

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
pub(super) fn each_place(f: impl Fn(usize) -> *mut u8) -> [*mut u8; 32] {
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
            Width::Pred | Width::W32 | Width::W128 => {
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
pub(super) unsafe fn load_lanes<T: Bits>(places: &Places, issue: Issue<'_>, signed: bool, dst: &[Reg]) {
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
            Width::Pred | Width::W128 => u128::set(frame, r, mask, &values.map(|v| u128::from(v.widen()))),
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
            Width::Pred | Width::W128 => (*frame.row::<u128>(r)).0.map(|v| T::narrow(v as u64)),
        }
    }
}

/// # Safety
/// As for `load_lanes`.
#[inline(always)]
pub(super) unsafe fn store_lanes<T: Bits>(places: &Places, issue: Issue<'_>, skipped: u8, src: &[Reg]) {
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
