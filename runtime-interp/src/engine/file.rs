//! The register file of a warp, and the one place that reads it without bounds checks.
//!
//! **Invariant.** A [`Frame`] is made only by [`RegisterFile::frame`], which checks that the file holds all words of the
//! function's frame past the base. Every [`Reg`] in a program was checked when the program was finished: its words lie
//! within the frame of its function, or within the constant bank if it is a constant, and constants are never destinations.
//! Rows start at multiples of 32 words past the 128-byte aligned base, except predicates, which are single words. The file is used by the one
//! host thread that runs the warp, and no reference into it outlives an operation.

use super::reg::Reg;

/// 32 lanes of a register.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Row<T>(pub [T; 32]);

/// The smallest unit of the file: the 32 lanes of a 32-bit register.
pub(crate) type Cell = Row<u32>;

/// The registers of a warp, a stack of frames.
pub(crate) struct RegisterFile {
    rows: Vec<Cell>,
}

impl RegisterFile {
    pub(super) fn new() -> Self {
        RegisterFile { rows: Vec::new() }
    }

    /// Empties the file and makes room for a first frame, all zero.
    pub(super) fn restart(&mut self, rows: u32) {
        self.rows.truncate(rows as usize);
        self.rows.fill(Row([0; 32]));
        self.reserve(0, rows);
    }

    /// Makes room for a frame of `rows` rows at `base`.
    pub(super) fn reserve(&mut self, base: u32, rows: u32) {
        let end = (base + rows) as usize;
        if self.rows.len() < end {
            self.rows.resize(end, Row([0; 32]));
        }
    }

    /// The frame of `rows` rows at row `base`; panics if it was not reserved.
    pub(super) fn frame(&mut self, base: u32, rows: u32, constants: &[Cell]) -> Frame {
        let frame = &mut self.rows[base as usize..(base + rows) as usize];
        Frame { regs: frame.as_mut_ptr().cast(), constants: constants.as_ptr().cast() }
    }
}

/// Where the running function's registers and the program's constants lie.
#[derive(Clone, Copy)]
pub struct Frame {
    regs: *mut u32,
    constants: *const u32,
}

impl Frame {
    /// # Safety
    /// `r` is a register of the function the frame was made for, of the width of `T` (see the module's invariant).
    #[inline(always)]
    pub(super) unsafe fn row<T>(self, r: Reg) -> *const Row<T> {
        let base = if r.is_constant() { self.constants } else { self.regs.cast_const() };
        // SAFETY: in bounds by the invariant.
        unsafe { base.add(r.offset() as usize).cast() }
    }

    /// # Safety
    /// As for [`Frame::row`], and `r` is not a constant.
    #[inline(always)]
    pub(super) unsafe fn row_mut<T>(self, r: Reg) -> *mut Row<T> {
        debug_assert!(!r.is_constant());
        // SAFETY: in bounds by the invariant.
        unsafe { self.regs.add(r.offset() as usize).cast() }
    }

    /// The lanes in which predicate `r` is true.
    ///
    /// # Safety
    /// `r` is a predicate of the function the frame was made for.
    #[inline(always)]
    pub(super) unsafe fn pred(self, r: Reg) -> u32 {
        let base = if r.is_constant() { self.constants } else { self.regs.cast_const() };
        // SAFETY: in bounds by the invariant.
        unsafe { *base.add(r.offset() as usize) }
    }

    /// # Safety
    /// As for [`Frame::pred`], and `r` is not a constant.
    #[inline(always)]
    pub(super) unsafe fn set_pred(self, r: Reg, value: u32, mask: u32) {
        debug_assert!(!r.is_constant());
        // SAFETY: in bounds by the invariant.
        unsafe {
            let word = self.regs.add(r.offset() as usize);
            *word = *word & !mask | value & mask;
        }
    }
}
