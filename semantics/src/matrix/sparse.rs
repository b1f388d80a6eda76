//! The metadata of sparse matrices: which elements of A are kept (PTX ISA 9.0, 9.7.14.6.1 and 9.7.14.6.2).

use super::element::Element;

/// The rows of B that the elements of A meet.
#[derive(Clone, Copy, Debug)]
pub enum Partners<'a> {
    /// A is dense: element `i` of a row meets row `i`.
    Same,
    /// A is sparse: one for each of its elements, row by row.
    Each(&'a [u16]),
}

impl Partners<'_> {
    /// The row that element `i` of the `k` in a row of A meets.
    #[inline(always)]
    pub(super) fn of(self, row: usize, i: usize, k: usize) -> usize {
        match self {
            Partners::Same => i,
            Partners::Each(rows) => rows.get(row * k + i).map_or(0, |row| usize::from(*row)),
        }
    }

    /// The rows of B that one row of A meets.
    #[inline(always)]
    pub(super) fn line(self, row: usize, k: usize) -> Self {
        match self {
            Partners::Same => Partners::Same,
            Partners::Each(rows) => Partners::Each(rows.get(row * k..row * k + k).unwrap_or(&[])),
        }
    }

    /// True if there is one for each of `m * k` elements, and B has `depth` rows, which are enough.
    pub(super) fn fit(self, [m, k, depth]: [usize; 3]) -> bool {
        match self {
            Partners::Same => k <= depth,
            Partners::Each(rows) => {
                let last = rows.iter().fold(0, |last, row| last.max(*row));
                rows.len() >= m * k && usize::from(last) < depth
            }
        }
    }
}

/// How a sparse A is described.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sparsity {
    /// `.sp::ordered_metadata`: the indices of a chunk ascend.
    pub ordered: bool,
    /// How chunks are kept.
    pub chunk: Chunk,
}

/// What one nibble of metadata speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Chunk {
    /// Two elements of four.
    TwoOfFour,
    /// One element of two (tf32).
    OneOfTwo,
    /// Two pairs of neighbours of four (elements of 4 bits).
    PairsOfEight,
}

impl Chunk {
    /// How A of an element type that is packed tightly, or in bytes, is kept.
    pub const fn of(element: Element, bits: u32) -> Chunk {
        match (element, bits) {
            (Element::Tf32, _) => Chunk::OneOfTwo,
            (_, 4) => Chunk::PairsOfEight,
            _ => Chunk::TwoOfFour,
        }
    }

    /// Columns of a chunk; half of them are kept.
    pub const fn columns(self) -> usize {
        match self {
            Chunk::OneOfTwo => 2,
            Chunk::TwoOfFour => 4,
            Chunk::PairsOfEight => 8,
        }
    }

    /// The columns within a chunk that a nibble keeps, in the order in which they are stored. `None` for a nibble without a meaning.
    pub fn kept(self, nibble: u32, ordered: bool) -> Option<[u16; 4]> {
        let [low, high] = [nibble & 3, nibble >> 2 & 3].map(|i| i as u16);
        match self {
            Chunk::OneOfTwo => match nibble {
                0b0100 => Some([0; 4]),
                0b1110 => Some([1; 4]),
                _ => None,
            },
            Chunk::TwoOfFour | Chunk::PairsOfEight if low == high || ordered && low > high => None,
            Chunk::TwoOfFour => Some([low, high, low, high]),
            Chunk::PairsOfEight => Some([2 * low, 2 * low + 1, 2 * high, 2 * high + 1]),
        }
    }
}

/// Where the nibble of chunk `chunk` of row `row` of 16 is: the lane whose register holds it, and its lowest bit there. Elements of 16 and 32 bits
/// have `chunks` of 4 or 8, narrower ones of 8 or 16; the selector says which lanes speak.
pub fn nibble(element_bits: u32, chunks: usize, selector: usize, row: usize, chunk: usize) -> (usize, u32) {
    let (r, half) = (row % 8, row / 8);
    match (element_bits >= 16, chunks) {
        (true, ..=4) => (4 * r + selector % 4, (4 * chunk + 16 * half) as u32),
        (true, _) => (4 * r + 2 * (selector % 2) + chunk / 4, (4 * (chunk % 4) + 16 * half) as u32),
        (false, ..=8) => (4 * r + 2 * (selector % 2) + half, 4 * chunk as u32),
        (false, _) => (4 * r + 2 * (chunk / 8) + half, 4 * (chunk % 8) as u32),
    }
}

/// Metadata without a meaning: the lane that holds it, and the nibble.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadMetadata {
    /// The lane.
    pub lane: usize,
    /// The nibble's lowest bit.
    pub bit: u32,
    /// The nibble.
    pub nibble: u32,
}

impl Sparsity {
    /// The row of B that each kept element of 16 rows of A meets, row by row. `k` is the number of columns of the whole A.
    pub fn rows(
        self,
        element_bits: u32,
        k: usize,
        selector: usize,
        metadata: &[u32; 32],
        rows: &mut Vec<u16>,
    ) -> Result<(), BadMetadata> {
        let columns = self.chunk.columns();
        for row in 0..16 {
            for chunk in 0..k / columns {
                let (lane, bit) = nibble(element_bits, k / columns, selector, row, chunk);
                let nibble = metadata[lane % 32] >> bit & 15;
                let Some(kept) = self.chunk.kept(nibble, self.ordered) else {
                    return Err(BadMetadata { lane, bit, nibble });
                };
                rows.extend(kept.iter().take(columns / 2).map(|i| (chunk * columns) as u16 + i));
            }
        }
        Ok(())
    }
}
