//! What products of warpgroups read from shared memory.

use crate::engine::observe::{MemoryRange, Stage};
use crate::engine::run::{Fallible, Issue, Runner};
use crate::fault::FaultCode;
use warpsmith_semantics::matrix::{Descriptor, Major};

/// Bytes that a swizzle leaves together.
const UNIT: u32 = 16;

/// Observers get the reads as lane 0's.
const FIRST: u32 = 1;

/// A matrix in shared memory.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a> {
    pub descriptor: &'a Descriptor,
    pub major: Major,
    /// The first row of A.
    pub first: u32,
    pub lines: u32,
    /// Elements along what is added up, each of `size` bytes.
    pub depth: u32,
    pub size: u32,
}

/// The matrices of a product of four warps, as they were when the first of them made it.
pub(super) struct Matrices {
    /// The 64 rows of A, unless it is in registers.
    pub a: Option<Vec<u32>>,
    /// B, row by row.
    pub b: Vec<u32>,
    /// The rows of A and columns of B that have elements that were never written.
    pub undefined_rows: [bool; 64],
    pub undefined_columns: Vec<bool>,
    /// The warps that have not made the product.
    pub left: u32,
}

impl Matrices {
    pub fn new(columns: u32) -> Matrices {
        let undefined_columns = vec![false; columns as usize];
        Matrices { a: None, b: Vec::new(), undefined_rows: [false; 64], undefined_columns, left: 0b1111 }
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Reads a matrix from shared memory behind what is in `out`: lines one after the other, each with its elements along what is added up. If
    /// somebody watches, the result has the addresses of the units that were read, in order.
    pub(super) fn fetch(
        &mut self,
        issue: Issue<'_>,
        name: &str,
        tile: &Tile<'_>,
        out: &mut Vec<u32>,
        undefined: &mut [bool],
    ) -> Fallible<Vec<u64>> {
        let Tile { descriptor, major, first, lines, depth, size } = *tile;
        let shared = issue.block.shared;
        let per_unit = UNIT / size;
        let mut units: Vec<u64> = Vec::new();
        let before = out.len();
        out.resize(before + (lines * depth) as usize, 0);
        let out = &mut out[before..];
        // Units of 16 bytes stay together whatever the swizzle. They go along one side of the matrix.
        let (outer, along) = match major {
            Major::K => (lines, depth),
            Major::Mn => (depth, lines),
        };
        for i in 0..outer {
            for unit in 0..along.div_ceil(per_unit) {
                let j = unit * per_unit;
                let at = match major {
                    Major::K => descriptor.address(major, first + i, j * size, size),
                    Major::Mn => descriptor.address(major, first + j, i * size, size),
                };
                let mut bytes = [0; UNIT as usize];
                let end = at as usize + bytes.len();
                if end > shared.len() {
                    let message = format!(
                        "the matrix {name} of the descriptor reaches shared address {at:#x}; the block has {} bytes",
                        shared.len()
                    );
                    return Err(self.fault_at(issue, FaultCode::OutOfBounds, at.into(), message));
                }
                shared.read(at as usize, &mut bytes);
                if WATCHED {
                    units.push(at.into());
                    let bytes = UNIT.into();
                    let place =
                        MemoryRange { rank: Some(issue.block.rank), address: at.into(), bytes, at: 0 };
                    let first = self.at(issue.only(FIRST));
                    if self.observer.is_undefined(&first, place) {
                        let lines = match major {
                            Major::K => i..i + 1,
                            Major::Mn => j..(j + per_unit).min(along),
                        };
                        lines.for_each(|line| undefined[line as usize] = true);
                    }
                }
                for (n, element) in bytes.chunks_exact(size as usize).enumerate() {
                    let j = j + n as u32;
                    let place = match major {
                        Major::K => i * depth + j,
                        Major::Mn => j * depth + i,
                    };
                    if j < along {
                        out[place as usize] =
                            element.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                    }
                }
            }
        }
        units.sort_unstable();
        Ok(units)
    }

    /// Notifies observers of units that a product has read.
    pub(super) fn tell_reads(&mut self, issue: Issue<'_>, number: u64, units: &[u64]) {
        let at = self.at(issue.only(FIRST));
        for range in units.chunk_by(|a, b| b - a <= u64::from(UNIT)) {
            let (Some(start), Some(last)) = (range.first(), range.last()) else { continue };
            let bytes = last + u64::from(UNIT) - start;
            let place = MemoryRange { rank: Some(issue.block.rank), address: *start, bytes, at: 0 };
            self.observer.transfer(&at, number, Stage::Read(place));
        }
    }
}
