//! Single lanes of registers, and sets of lanes.

use super::file::Frame;
use super::lanes::Lane;
use super::op::Guard;
use super::reg::{Reg, Width};

/// The numbers of the lanes in a mask.
pub(super) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The lanes of `mask` in which `f` holds.
pub(super) fn lanes_where(mask: u32, f: impl Fn(usize) -> bool) -> u32 {
    lanes_of(mask).filter(|&i| f(i)).fold(0, |m, i| m | 1 << i)
}

/// One lane of a register of up to 64 bits.
pub(super) fn lane64(frame: Frame, r: Reg, lane: usize) -> u64 {
    // SAFETY: registers of operations were checked when the program was built.
    unsafe {
        match r.width() {
            Width::Pred => u64::from(frame.pred(r) >> lane & 1),
            Width::W32 => u64::from(u32::get(frame, r, lane)),
            Width::W64 => u64::get(frame, r, lane),
            Width::W128 => u128::get(frame, r, lane) as u64,
        }
    }
}

/// The value of a 64-bit register, if it is the same in all lanes of a mask, which is not empty.
#[inline(always)]
pub(super) fn uniform64(frame: Frame, r: Reg, mask: u32) -> Option<u64> {
    debug_assert_eq!(r.width(), Width::W64);
    // SAFETY: registers of operations were checked when the program was built.
    let row: &[u64; 32] = unsafe { &(*frame.row::<u64>(r)).0 };
    let first = row[mask.trailing_zeros() as usize & 31];
    let mut differs = 0;
    if mask == u32::MAX {
        for value in row {
            differs |= value ^ first;
        }
    } else {
        for (i, value) in row.iter().enumerate() {
            differs |= (value ^ first) & u64::from(mask >> i & 1).wrapping_neg();
        }
    }
    (differs == 0).then_some(first)
}

/// One lane of a register, whatever its width.
pub(super) fn lane128(frame: Frame, r: Reg, lane: usize) -> u128 {
    match r.width() {
        // SAFETY: registers of operations were checked when the program was built.
        Width::W128 => unsafe { u128::get(frame, r, lane) },
        Width::Pred | Width::W32 | Width::W64 => lane64(frame, r, lane).into(),
    }
}

/// One lane of a 32-bit register.
pub(super) fn lane32(frame: Frame, r: Reg, lane: usize) -> u32 {
    lane64(frame, r, lane) as u32
}

/// The lanes in which a predicate and its negation flag say yes.
pub(super) fn holds(frame: Frame, guard: Guard) -> u32 {
    // SAFETY: predicates of operations were checked when the program was built.
    let value = unsafe { frame.pred(guard.pred) };
    if guard.negated { !value } else { value }
}

/// The same lanes, of which the optimiser knows no more than that.
///
/// Otherwise the loop computes it as vectors for every instruction, since some arms want those, and an access of several elements what
/// blending them in takes before it looks whether there is anything to blend: half of the time of arithmetic and of loads went into that.
#[inline(always)]
pub(super) fn opaque(mask: u32) -> u32 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut mask = mask;
        // SAFETY: a comment executes nothing.
        unsafe { std::arch::asm!("/* {0:e} */", inout(reg) mask, options(nomem, nostack, preserves_flags)) }
        mask
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    mask
}

/// Writes values to a register, cut or zero-extended to its width; to a predicate, whether they are not zero.
#[inline]
pub(super) fn put(frame: Frame, r: Reg, mask: u32, values: &[u64; 32]) {
    // SAFETY: destinations of operations were checked when the program was built.
    unsafe {
        match r.width() {
            Width::Pred => bool::set(frame, r, mask, &values.map(|v| v != 0)),
            Width::W32 => u32::set(frame, r, mask, &values.map(|v| v as u32)),
            Width::W64 => u64::set(frame, r, mask, values),
            Width::W128 => u128::set(frame, r, mask, &values.map(u128::from)),
        }
    }
}
