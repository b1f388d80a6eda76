//! What one lane moves.

use super::cells::CellsPiece;
use super::places::{Spot, Target};
use super::tensor::TilePiece;
use crate::engine::async_op::ReportPattern;
use smallvec::SmallVec;

/// The transfer of one lane.
pub(super) struct Piece {
    pub lane: u8,
    pub from: Source,
    /// Bytes to read, and to write: what is not read is zero.
    pub read: u32,
    pub bytes: u32,
    /// Which bytes of each 16 are written.
    pub byte_mask: u16,
    /// What the mbarrier object gets besides the count of bytes written.
    pub signal: Signal,
    /// What was read.
    pub data: SmallVec<[u8; 16]>,
    pub to: SmallVec<[Target; 1]>,
    /// What a tensor map describes: it takes the place of one of the two ends.
    pub tile: Option<Box<TilePiece>>,
    /// What moves in tensor memory.
    pub cells: Option<Box<CellsPiece>>,
}

impl Piece {
    /// A piece that moves nothing yet.
    pub fn of_lane(lane: usize) -> Piece {
        Piece {
            lane: lane as u8,
            from: Source::Read,
            read: 0,
            bytes: 0,
            byte_mask: u16::MAX,
            signal: Signal::default(),
            data: SmallVec::new(),
            to: SmallVec::new(),
            tile: None,
            cells: None,
        }
    }
}

/// Where the bytes of a piece come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Memory(Spot),
    /// The tile of the piece, from the tensor or from the shared memory of a block.
    Tile,
    /// The answer to a request to cancel a cluster, made when the transfer reads.
    Cancel,
    /// The data are there.
    Read,
}

/// What an mbarrier object gets of a piece.
#[derive(Clone, Copy, Default)]
pub(super) struct Signal {
    /// Bytes that count as complete and are left alone.
    pub ignored: u32,
    /// What is reported if it is found.
    pub report: Option<ReportPattern>,
}

impl Signal {
    /// True if the bytes of a copy have what is to be reported.
    pub fn is_found(self, data: &[u8]) -> bool {
        match self.report {
            None => false,
            Some(ReportPattern::AllOnes) => data.contains(&0xff),
            Some(ReportPattern::NegativeZero(bits)) => data.chunks_exact(16).any(|chunk| {
                let mut first = [0; 4];
                first.copy_from_slice(&chunk[..4]);
                u32::from_le_bytes(first) & (u32::MAX >> (32 - bits)) == 1 << (bits - 1)
            }),
        }
    }
}
