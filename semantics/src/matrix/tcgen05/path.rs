//! How rows of A and D are spread over the lanes of tensor memory (PTX ISA 9.0, 9.7.16.10.5).

/// A layout of the data path. Each quarter of the lanes multiplies rows of its own by all columns of B or a part of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataPath {
    /// A row a lane, all columns (layouts A and D).
    FourByOne,
    /// Sixteen rows a quarter, all columns (layouts C and F).
    Half,
    /// The upper half of the lanes has the second half of the columns (layouts B and E).
    TwoByTwo,
    /// Each quarter has a quarter of the columns (layout G).
    OneByFour,
}

/// What a quarter of the lanes, those of a warp, has of a block's part of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quarter {
    /// Its first lane.
    pub lane: usize,
    /// The first row.
    pub row: usize,
    /// How many rows.
    pub rows: usize,
    /// Which part of the columns.
    pub part: usize,
}

impl DataPath {
    /// Parts of the columns that lie in lanes of their own.
    pub const fn parts(self) -> usize {
        match self {
            DataPath::FourByOne | DataPath::Half => 1,
            DataPath::TwoByTwo => 2,
            DataPath::OneByFour => 4,
        }
    }

    /// The quarters, in the order of their lanes.
    pub fn quarters(self) -> [Quarter; 4] {
        std::array::from_fn(|q| {
            let (row, rows, part) = match self {
                DataPath::FourByOne => (32 * q, 32, 0),
                DataPath::Half => (16 * q, 16, 0),
                DataPath::TwoByTwo => (32 * (q % 2), 32, q / 2),
                DataPath::OneByFour => (0, 32, q),
            };
            Quarter { lane: 32 * q, row, rows, part }
        })
    }

    /// The lane of a row, in the copy that a part of the columns has.
    pub const fn lane(self, row: usize, part: usize) -> usize {
        match self {
            DataPath::FourByOne => row,
            DataPath::Half => row / 16 * 32 + row % 16,
            DataPath::TwoByTwo => row + 64 * part,
            DataPath::OneByFour => row + 32 * part,
        }
    }

    /// The lanes at which D may begin.
    pub const fn first_lanes(self) -> &'static [u32] {
        match self {
            DataPath::Half => &[0, 16],
            DataPath::FourByOne | DataPath::TwoByTwo | DataPath::OneByFour => &[0],
        }
    }
}
