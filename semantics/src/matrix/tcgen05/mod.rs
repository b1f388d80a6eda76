//! The products of the fifth generation of tensor cores: what an instruction and its descriptor say, where rows, scales and metadata lie in tensor
//! memory, and the arithmetic (PTX ISA 9.0, 9.7.16.4.2, 9.7.16.4.3 and 9.7.16.10).

mod instruction;
mod path;
mod zero;

pub use instruction::TensorForm;
pub use path::{DataPath, Quarter};
pub use zero::ZeroColumns;

use super::descriptor::Major;
use super::element::{Accumulator, Element, Family, Packing};
use super::float::{Product, Scales, Workspace};
use super::integer::{IntegerKind, IntegerProduct};
use super::rule::{Arithmetic, Rule, ScaleType, Unit};
use super::sparse::{Chunk, Partners};
use super::unpack::Unpack;
use crate::lanes::Level;

/// What one `tcgen05.mma` multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorProduct {
    /// M, N and K: of both blocks of a pair together; with a sparse A, K counts what is left out too.
    pub shape: [usize; 3],
    /// The elements of A and B.
    pub types: [Element; 2],
    /// How they lie in memory.
    pub packing: Packing,
    /// The type of C and D.
    pub accumulator: Accumulator,
    /// The signs of A's and B's elements are turned.
    pub negate: [bool; 2],
    /// Which way A and B lie in memory.
    pub major: [Major; 2],
    /// Sums of integers are clamped.
    pub saturate: bool,
    /// How a sparse A is kept, and the sparsity selector.
    pub sparsity: Option<(Chunk, u32)>,
    /// The scales of blocks.
    pub scaling: Option<TensorScaling>,
    /// How rows of D are spread over the lanes.
    pub path: DataPath,
    /// Blocks of the cluster that make it together: 1 or 2.
    pub blocks: usize,
}

/// The scales of a block-scaled product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorScaling {
    /// Their type.
    pub ty: ScaleType,
    /// How many a row of A and a column of B have.
    pub blocks: usize,
    /// The byte of a cell that has the first one, of A's and of B's.
    pub first: [u32; 2],
}

/// Metadata in tensor memory that names no elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadNibble {
    /// The row of the quarter's part of A.
    pub row: usize,
    /// The chunk of it.
    pub chunk: usize,
    /// The nibble.
    pub nibble: u32,
}

/// What a quarter of the lanes multiplies.
#[derive(Clone, Copy, Debug)]
pub struct QuarterProduct<'a> {
    /// Rows of A and columns of B.
    pub shape: [usize; 2],
    /// A, row by row: containers of elements; only the kept ones of a sparse A.
    pub a: &'a [u32],
    /// B, row by row of K.
    pub b: &'a [u32],
    /// The metadata of a sparse A, row by row: nibbles of chunks.
    pub metadata: &'a [u32],
    /// The scales of rows of A and of columns of B.
    pub scales: [&'a [u8]; 2],
    /// What C is divided by: so many times two.
    pub halvings: u32,
}

/// The nibbles of two elements of four that name something (9.7.16.10.8.2, 9.7.16.10.8.3).
const LEGAL_PAIRS: [u32; 7] = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110];

impl TensorProduct {
    /// Columns of A as it is kept.
    pub fn kept(&self) -> usize {
        if self.sparsity.is_some() { self.shape[2] / 2 } else { self.shape[2] }
    }

    /// The rows of A, and of D, that each block has, and the columns of B.
    pub fn sides(&self) -> [usize; 2] {
        [self.shape[0] / self.blocks, self.shape[1] / self.blocks]
    }

    /// Elements that share a container in memory, and bytes of a container: narrow floats have a byte each, but for two to the byte in `.kind::mxf4`
    /// and `.kind::mxf4nvf4`.
    pub fn container(&self) -> [usize; 2] {
        match self.packing {
            Packing::Tight if self.types[0].bits() < 8 => [8 / self.types[0].bits() as usize, 1],
            Packing::Tight | Packing::Bytes => [1, self.types[0].bits().div_ceil(8) as usize],
        }
    }

    /// The chunks of a row of a sparse A.
    pub fn chunks(&self) -> usize {
        self.sparsity.map_or(0, |(chunk, _)| self.shape[2] / chunk.columns())
    }

    /// Where the nibble of a chunk of a row is: the row whose lane has it, the column, and the lowest bit.
    pub fn nibble(&self, row: usize, chunk: usize) -> (usize, u32, u32) {
        let selector = self.sparsity.map_or(0, |(_, selector)| selector);
        if self.types[0].bits() >= 16 {
            // Eight lanes have the first half of the row's chunks, the next eight the second; rows eight apart share cells.
            let lane = row / 16 * 16 + row % 8 + 8 * (chunk / 4);
            (lane, selector, (16 * (row / 8 % 2) + 4 * (chunk % 4)) as u32)
        } else {
            (row, (chunk / 8) as u32, 4 * (chunk % 8) as u32)
        }
    }

    /// Where scale `which` of a line is, of A's lines (side 0) or B's: the lane of the quarter, the column, and the byte. `lines` is how many there
    /// are.
    pub fn scale(&self, side: usize, lines: usize, line: usize, which: usize) -> (u32, u32, u32) {
        let byte = self.scaling.map_or(0, |scaling| scaling.first[side]) + which as u32;
        let column = line / 32 + byte as usize / 4 * lines.div_ceil(32);
        (line as u32 % 32, column as u32, byte % 4)
    }

    /// Adds a quarter's product to C: `accumulators` has the bits of C, row by row, and gets those of D.
    pub fn run(
        &self,
        arithmetic: Arithmetic,
        level: Level,
        quarter: &QuarterProduct<'_>,
        accumulators: &mut [u32],
    ) -> Result<(), BadNibble> {
        let [m, n] = quarter.shape;
        let k = self.kept();
        let sparse = self.rows(quarter)?;
        let rows = sparse.as_deref().map_or(Partners::Same, Partners::Each);
        let elements = |side: usize, containers: &[u32]| -> Vec<u32> {
            let unpack = Unpack::new(self.types[side], self.packing, self.negate[side]);
            containers.iter().map(|container| unpack.element(*container)).collect()
        };
        let (a, b) = (elements(0, quarter.a), elements(1, quarter.b));
        if matches!(self.types[0].family(), Family::Integer { .. }) {
            let (kind, saturate) = (IntegerKind::Multiply, self.saturate);
            let product = IntegerProduct { shape: [m, n, k], kind, saturate, a: &a, b: &b, rows };
            product.run(level, accumulators);
            return Ok(());
        }
        if quarter.halvings != 0 {
            accumulators.iter_mut().for_each(|bits| *bits = self.accumulator.halved(*bits, quarter.halvings));
        }
        let grouped = self.scaling.is_some() && self.packing == Packing::Tight;
        let rule = match arithmetic {
            Arithmetic::Hardware(architecture) => {
                Some(Rule::of(architecture, Unit::Tcgen05, self.types[0], grouped))
            }
            Arithmetic::Ideal => None,
        };
        let [of_a, of_b] = quarter.scales;
        let product = Product {
            shape: [m, n, k],
            types: self.types,
            accumulators: [self.accumulator; 2],
            rule,
            a: &a,
            b: &b,
            rows,
            scales: self.scaling.map(|s| Scales { ty: s.ty, blocks: s.blocks, a: of_a, b: of_b }),
        };
        product.run(level, &mut Workspace::default(), accumulators);
        Ok(())
    }

    /// The row of B that each element of a sparse A meets.
    fn rows(&self, quarter: &QuarterProduct<'_>) -> Result<Option<Vec<u16>>, BadNibble> {
        let (lines, k) = (quarter.shape[0], self.kept());
        let Some((kind, _)) = self.sparsity else { return Ok(None) };
        let chunks = self.chunks();
        let mut rows = Vec::with_capacity(lines * k);
        for (at, nibble) in quarter.metadata.iter().enumerate() {
            let legal = kind == Chunk::OneOfTwo || LEGAL_PAIRS.contains(nibble);
            let kept = kind.kept(*nibble, false).filter(|_| legal);
            let (row, chunk) = (at / chunks, at % chunks);
            let kept = kept.ok_or(BadNibble { row, chunk, nibble: *nibble })?;
            let first = (chunk * kind.columns()) as u16;
            rows.extend(kept.iter().take(kind.columns() / 2).map(|i| first + i));
        }
        Ok(Some(rows))
    }
}

impl Accumulator {
    /// A number of C divided by a power of two, as `scale-input-d` asks for: rounded to nearest even where it becomes subnormal.
    fn halved(self, bits: u32, halvings: u32) -> u32 {
        let factor = super::float::power_of_two(-(halvings as i32));
        match self {
            Accumulator::F16 => {
                let value = super::ideal::value(self.format(), bits & 0xffff);
                if value.is_nan() { bits } else { super::float::to_half(value * factor) }
            }
            Accumulator::F32 => (f32::from_bits(bits) * factor as f32).to_bits(),
            Accumulator::F64 | Accumulator::S32 => bits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_is_divided_by_powers_of_two() {
        assert_eq!(Accumulator::F32.halved(3.0f32.to_bits(), 4), 0.1875f32.to_bits());
        assert_eq!(Accumulator::F16.halved(0x4200, 1), 0x3e00);
        assert_eq!(Accumulator::F16.halved(0x7c00, 3), 0x7c00);
        // The least subnormal, and one and a half of it.
        assert_eq!(Accumulator::F16.halved(1, 1), 0);
        assert_eq!(Accumulator::F16.halved(3, 1), 2);
    }
}
