//! The register file of a warp.
//!
//! **Invariant.** [`RegisterFile::frame`], which is unsafe, checks that the file holds all words of the function's frame past the base. Every
//! [`Reg`](super::Reg) in a program was checked when the program was finished: its words lie within the frame of its function, or within the
//! constant bank if it is a constant, and constants are never destinations. That is what a [`Frame`] asks for, and what the caller promises. The file is used by the one
//! host thread that runs the warp.

pub use warpsmith_semantics::frame::{Frame, Row};

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

    /// All rows.
    pub(super) fn rows(&self) -> &[Cell] {
        &self.rows
    }

    /// Makes room for a frame of `rows` rows at `base`.
    pub(super) fn reserve(&mut self, base: u32, rows: u32) {
        let end = (base + rows) as usize;
        if self.rows.len() < end {
            self.rows.resize(end, Row([0; 32]));
        }
    }

    /// The frame of `rows` rows at row `base`; panics if it was not reserved.
    ///
    /// # Safety
    /// Whoever has the frame uses it with registers of the function that has so many rows, and with constants of the program that has these, as
    /// the builder has checked them. Functions that take a frame and a register rely on that.
    pub(super) unsafe fn frame(&mut self, base: u32, rows: u32, constants: &[Cell]) -> Frame {
        let frame = &mut self.rows[base as usize..(base + rows) as usize];
        // SAFETY: the caller promises what is done with it.
        unsafe { Frame::new(frame.as_mut_ptr(), constants.as_ptr()) }
    }
}
