//! The registers that a lane function works on, read without bounds checks.
//!
//! **Invariant.** Whoever makes a [`Frame`] vouches for the registers that lane functions are then run with: their words lie within the
//! frame, or within the constants if they are constants, which are never destinations. Rows start at multiples of 32 words past the
//! 128-byte aligned base, except predicates, which are single words. One thread uses a frame at a time, and no reference into it
//! outlives an operation.

use crate::register::Reg;

/// 32 lanes of a register.
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row<T>(pub [T; 32]);

/// Where the running function's registers and the program's constants lie.
#[derive(Clone, Copy)]
pub struct Frame {
    regs: *mut u32,
    constants: *const u32,
}

impl Frame {
    /// A frame of these registers and constants.
    ///
    /// # Safety
    /// What is done with it keeps to the module's invariant, also by safe functions that take a frame and a register.
    pub const unsafe fn new(regs: *mut Row<u32>, constants: *const Row<u32>) -> Frame {
        Frame { regs: regs.cast(), constants: constants.cast() }
    }

    /// Where the lanes of a register lie.
    ///
    /// # Safety
    /// `r` is a register of the function the frame was made for, of the width of `T` (see the module's invariant).
    #[inline(always)]
    pub unsafe fn row<T>(self, r: Reg) -> *const Row<T> {
        let base = if r.is_constant() { self.constants } else { self.regs.cast_const() };
        // SAFETY: in bounds by the invariant.
        unsafe { base.add(r.offset() as usize).cast() }
    }

    /// Where the lanes of a register lie, to be written.
    ///
    /// # Safety
    /// As for [`Frame::row`], and `r` is not a constant.
    #[inline(always)]
    pub unsafe fn row_mut<T>(self, r: Reg) -> *mut Row<T> {
        debug_assert!(!r.is_constant());
        // SAFETY: in bounds by the invariant.
        unsafe { self.regs.add(r.offset() as usize).cast() }
    }

    /// The lanes in which predicate `r` is true.
    ///
    /// # Safety
    /// `r` is a predicate of the function the frame was made for.
    #[inline(always)]
    pub unsafe fn pred(self, r: Reg) -> u32 {
        let base = if r.is_constant() { self.constants } else { self.regs.cast_const() };
        // SAFETY: in bounds by the invariant.
        unsafe { *base.add(r.offset() as usize) }
    }

    /// Sets the lanes of predicate `r` that `mask` names.
    ///
    /// # Safety
    /// As for [`Frame::pred`], and `r` is not a constant.
    #[inline(always)]
    pub unsafe fn set_pred(self, r: Reg, value: u32, mask: u32) {
        debug_assert!(!r.is_constant());
        // SAFETY: in bounds by the invariant.
        unsafe {
            let word = self.regs.add(r.offset() as usize);
            *word = *word & !mask | value & mask;
        }
    }
}
