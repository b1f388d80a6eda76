//! The products of a warp: `mma`, `mma.sp` and `wmma.mma` (PTX ISA 9.0, 9.7.14.4.5, 9.7.14.5.14 and 9.7.14.6.3), from registers to registers.

mod instruction;
mod run;

pub use run::WarpWorkspace;

use super::element::{Accumulator, Element, Family, Packing};
use super::exchange::Lanes;
use super::integer::IntegerKind;
use super::layout::{Fragment, Map};
use super::rule::{ScaleType, Unit};
use super::sparse::Sparsity;
use crate::value::Rounding;

/// The scales of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scaling {
    /// Their type.
    pub ty: ScaleType,
    /// How many a row of A and a column of B have.
    pub blocks: usize,
}

/// What a warp multiplies, and where its lanes hold it.
#[derive(Clone, Debug)]
pub struct WarpProduct {
    /// M, N and K; with a sparse A, K counts what is left out too.
    pub shape: [usize; 3],
    /// The elements of A and B.
    pub types: [Element; 2],
    /// The types of C and D.
    pub accumulators: [Accumulator; 2],
    /// How A and B lie in registers.
    pub packing: Packing,
    /// A is sparse.
    pub sparsity: Option<Sparsity>,
    /// Blocks of products are scaled.
    pub scaling: Option<Scaling>,
    /// `.satfinite` of integers. With floats, which `wmma` takes it with up to PTX 6.4, hardware has nothing of the kind.
    pub saturate: bool,
    /// What is done with integers.
    pub kind: IntegerKind,
    /// How f64 is rounded.
    pub rounding: Rounding,
    /// So many products of this shape, one after the other.
    pub batch: usize,
    /// Which circuit multiplies.
    pub unit: Unit,
    /// The signs of A's and B's elements are turned.
    pub negate: [bool; 2],
    /// Registers of A, B, C and D.
    pub registers: [usize; 4],
    maps: [Map; 4],
    /// A, B, C and D, unless their places follow no formula of tiles.
    fragments: Option<[Fragment; 4]>,
}

/// The registers that a product reads. Those of f64 are pairs of words, low and high.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The registers of A, B and C.
    pub matrices: [Vec<Lanes>; 3],
    /// Elements of A and B that come from memory in place of registers, row by row: containers, or words of bits.
    pub elements: [Option<Vec<u32>>; 2],
    /// The metadata of a sparse A.
    pub metadata: Lanes,
    /// The sparsity selector.
    pub selector: usize,
    /// The scales of A and B.
    pub scales: [Lanes; 2],
    /// For each of them, which byte and which thread holds them.
    pub scale_selectors: [[usize; 2]; 2],
}

impl WarpProduct {
    /// What is multiplied as one of the elements of A, and of B: columns of A and rows of B.
    pub fn depths(&self) -> [usize; 2] {
        [self.depth(), self.depth_of_b()]
    }

    /// How many sparsity selectors an instruction has: which lanes hold metadata. None but 0 without metadata.
    pub fn selectors(&self) -> usize {
        let Some(sparsity) = self.sparsity else { return 1 };
        let chunks = self.shape[2] / sparsity.chunk.columns();
        match (self.packing.stride(self.types[0]) >= 16, chunks) {
            (true, ..=4) => 4,
            (true, _) | (false, ..=8) => 2,
            (false, _) => 1,
        }
    }

    /// True if its registers have 64 bits.
    pub fn is_double(&self) -> bool {
        self.types[0] == Element::F64
    }

    /// Rows of B: of bits, of words of 32.
    fn depth_of_b(&self) -> usize {
        self.shape[2] / unit(self.types[0])
    }

    /// How many products make an element of D.
    fn depth(&self) -> usize {
        if self.sparsity.is_some() { self.depth_of_b() / 2 } else { self.depth_of_b() }
    }

    /// What of D is undefined where bits of the sources are: everything in a row of A's or a column of B's, and what C gives. All ones denote
    /// undefined registers of a lane, zero for others; what describes the product, metadata and scales, is not followed.
    pub fn undefined(&self, sources: &[Vec<Lanes>; 3], out: &mut Vec<Lanes>) {
        out.clear();
        out.resize(self.registers[3] * if self.is_double() { 2 } else { 1 }, [0; 32]);
        let [m, n, _] = self.shape;
        let wide = if self.is_double() { 2 } else { 1 };
        let (kept, of_b) = (self.depth(), self.depth_of_b());
        let mut rows = vec![false; self.batch * m];
        let mut columns = vec![false; self.batch * n];
        let mut elements = vec![false; self.batch * m * n];
        for (which, registers) in sources.iter().enumerate() {
            let parts = match which {
                0 | 1 => parts(self.types[which], self.packing),
                _ => self.accumulators[0].per_register(),
            };
            let flags = registers
                .chunks_exact(wide)
                .flat_map(|words| (0..32).map(move |lane| words.iter().any(|word| word[lane] != 0)));
            for (places, _) in self.maps[which].chunks_exact(parts).zip(flags).filter(|(_, flag)| *flag) {
                for at in places.iter().map(|place| usize::from(*place)) {
                    match which {
                        0 => rows[at / kept] = true,
                        1 => columns[at / (n * of_b) * n + at % n] = true,
                        _ => elements[at] = true,
                    }
                }
            }
        }
        let undefined = |at: usize| elements[at] || rows[at / n] || columns[at / (m * n) * n + at % n];
        let parts = self.accumulators[1].per_register();
        for (at, places) in self.maps[3].chunks_exact(parts).enumerate() {
            let bits = places.iter().enumerate().fold(0, |bits, (part, place)| {
                let width = 32 / parts;
                let ones = if width == 32 { u32::MAX } else { 0xffff << (16 * part) };
                if undefined(usize::from(*place)) { bits | ones } else { bits }
            });
            for word in 0..wide {
                out[at / 32 * wide + word][at % 32] = bits;
            }
        }
    }
}

/// Elements that are multiplied as one: bits by words.
const fn unit(element: Element) -> usize {
    match element.family() {
        Family::Bit => 32,
        Family::Float(_) | Family::Double | Family::Integer { .. } => 1,
    }
}

/// What is multiplied in a register: of 32 bits, of f64 of 64.
const fn parts(element: Element, packing: Packing) -> usize {
    match element.family() {
        Family::Bit | Family::Double => 1,
        Family::Float(_) | Family::Integer { .. } => 32 / packing.stride(element) as usize,
    }
}
