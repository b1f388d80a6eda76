//! Copies and fills of memory, in up to three dimensions, and values that streams write and wait for.

use crate::error::Error;
use crate::ffi::{Pointer, memory};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use warpsmith::interp::Span;

/// Where a copy reads or writes: its first byte, and how far rows and slices are apart.
#[derive(Clone, Debug)]
pub struct Place {
    /// The first byte.
    pub at: Pointer,
    /// From a row to the next, in bytes.
    pub pitch: usize,
    /// From a slice to the next, in bytes.
    pub slice: usize,
    /// What keeps device memory where it is.
    pub keep: Option<Span>,
}

impl Place {
    /// A place of one row.
    pub fn row(at: Pointer, keep: Option<Span>) -> Place {
        Place { at, pitch: 0, slice: 0, keep }
    }

    fn row_at(&self, y: usize, z: usize) -> Pointer {
        Pointer(self.at.0.wrapping_byte_add(z * self.slice + y * self.pitch))
    }
}

/// A copy of so many bytes of a row, rows, and slices.
#[derive(Clone, Debug)]
pub struct Copy3 {
    /// From where.
    pub from: Place,
    /// To where.
    pub to: Place,
    /// Bytes, rows, slices.
    pub extent: [usize; 3],
    /// What the bytes were when the copy was asked for, if the client may change them before it is made.
    pub staged: Option<Vec<u8>>,
}

impl Copy3 {
    /// Copies.
    pub fn run(&self) {
        let [width, height, depth] = self.extent;
        if let Some(bytes) = &self.staged {
            return memory::write(self.to.at, bytes);
        }
        for z in 0..depth {
            for y in 0..height {
                memory::copy(self.from.row_at(y, z), self.to.row_at(y, z), width);
            }
        }
    }

    /// Takes the bytes of a row now.
    pub fn stage(&mut self) {
        if let [width, 1, 1] = self.extent {
            self.staged = Some(memory::bytes(self.from.at, width));
        }
    }
}

/// Rows of equal values.
#[derive(Clone, Debug)]
pub struct Fill {
    /// Where.
    pub to: Place,
    /// The value, and its size.
    pub value: u32,
    /// Bytes of it: 1, 2 or 4.
    pub width: usize,
    /// Values of a row, and rows.
    pub extent: [usize; 2],
}

impl Fill {
    /// Fills.
    pub fn run(&self) {
        (0..self.extent[1])
            .for_each(|y| memory::fill(self.to.row_at(y, 0), self.value, self.width, self.extent[0]));
    }
}

/// What a stream waits for, or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Nothing: it writes.
    Write,
    /// The value, or later ones in a cyclic order.
    AtLeast,
    /// The value.
    Equal,
    /// Any of its bits.
    And,
    /// Not all of the bits that it lacks.
    Nor,
}

/// A value of 32 or 64 bits that a stream writes to memory, or waits to find there.
#[derive(Clone, Debug)]
pub struct Value {
    /// Where.
    pub span: Span,
    /// What.
    pub value: u64,
    /// What about it.
    pub condition: Condition,
}

impl Value {
    /// True if it waits.
    pub fn waits(&self) -> bool {
        self.condition != Condition::Write
    }

    /// Writes or waits.
    pub fn run(&self) -> Result<(), Error> {
        if self.condition == Condition::Write {
            self.store();
            return Ok(());
        }
        while !self.holds(self.load()) {
            std::thread::sleep(std::time::Duration::from_micros(20));
        }
        Ok(())
    }

    fn holds(&self, found: u64) -> bool {
        let wide = self.span.len() == 8;
        match self.condition {
            Condition::Write => true,
            Condition::AtLeast if wide => (found.wrapping_sub(self.value) as i64) >= 0,
            Condition::AtLeast => ((found as u32).wrapping_sub(self.value as u32) as i32) >= 0,
            Condition::Equal => found == self.value,
            Condition::And => found & self.value != 0,
            Condition::Nor if wide => !(found | self.value) != 0,
            Condition::Nor => !(found as u32 | self.value as u32) != 0,
        }
    }

    fn load(&self) -> u64 {
        let at = self.span.as_ptr();
        // SAFETY: the span is of 4 or 8 bytes, which are aligned: checked when it was made.
        unsafe {
            if self.span.len() == 8 {
                AtomicU64::from_ptr(at.cast()).load(Ordering::Acquire)
            } else {
                AtomicU32::from_ptr(at.cast()).load(Ordering::Acquire).into()
            }
        }
    }

    fn store(&self) {
        let at = self.span.as_ptr();
        // SAFETY: as in `load`.
        unsafe {
            if self.span.len() == 8 {
                AtomicU64::from_ptr(at.cast()).store(self.value, Ordering::Release);
            } else {
                AtomicU32::from_ptr(at.cast()).store(self.value as u32, Ordering::Release);
            }
        }
    }
}
