//! What happens to tensor memory later: copies from shared memory, shifts, and the arrival that signals them (PTX ISA 9.0, 9.7.16.9 and
//! 9.7.16.12).

use super::flight::{Issuer, Work};
use super::piece::Piece;
use super::places::{Spot, Target};
use super::product::ProductPiece;
use crate::engine::async_op::{TensorCommitOp, TensorCopyOp};
use crate::engine::cluster::ClusterState;
use crate::engine::observe::Stage;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::tensor_memory::Region;
use crate::engine::values::{lane32, lane64, lanes_of};
use crate::fault::FaultCode;
use smallvec::SmallVec;
use warpsmith_isa::{PackedElements, StateSpace, TensorShape, WarpMulticast};
use warpsmith_semantics::matrix::{Descriptor, Major};

/// Columns of a matrix that is shifted: 32 bytes; and its rows, those of a warp.
const SHIFTED_COLUMNS: u32 = 8;
const SHIFTED_ROWS: u32 = 32;

/// What moves in tensor memory, in one block of the cluster.
pub(super) struct CellsPiece {
    rank: usize,
    /// From 16 bytes of shared memory to four columns of a lane.
    units: Vec<(u32, u32, u32)>,
    packed: Option<PackedElements>,
    /// The lane and column of a matrix to shift.
    shift: Option<(u32, u32)>,
    product: Option<ProductPiece>,
}

impl CellsPiece {
    /// What it reads and what it writes of the tensor memory of a block.
    pub(super) fn regions(&self, rank: usize) -> [Region; 2] {
        let mut regions = [Region::default(); 2];
        if let Some(product) = &self.product {
            return product.regions(rank);
        }
        if self.rank != rank {
            return regions;
        }
        for (_, lane, column) in &self.units {
            regions[1].extend(*lane..lane + 1, *column..column + 4);
        }
        if let Some((base, column)) = self.shift {
            regions
                .iter_mut()
                .for_each(|r| r.extend(base..base + SHIFTED_ROWS, column..column + SHIFTED_COLUMNS));
        }
        regions
    }

    /// A product rather than a move.
    pub(super) fn of_product(rank: usize, product: ProductPiece) -> CellsPiece {
        CellsPiece { rank, units: Vec::new(), packed: None, shift: None, product: Some(product) }
    }
}

/// The rows of a source, and 16-byte units of each.
const fn shape_of(shape: TensorShape) -> Option<(u32, u32)> {
    match shape {
        TensorShape::N128x256b => Some((128, 2)),
        TensorShape::N128x128b => Some((128, 1)),
        TensorShape::N4x256b => Some((4, 2)),
        TensorShape::N64x128b => Some((64, 1)),
        TensorShape::N32x128b => Some((32, 1)),
        TensorShape::N16x64b
        | TensorShape::N16x128b
        | TensorShape::N16x256b
        | TensorShape::N16x32bx2
        | TensorShape::N32x32b => None,
    }
}

/// The lanes that a row goes to.
fn lanes_of_row(
    shape: TensorShape,
    multicast: Option<WarpMulticast>,
    base: u32,
    row: u32,
) -> SmallVec<[u32; 4]> {
    match (shape, multicast) {
        (TensorShape::N4x256b, _) => SmallVec::from_slice(&[base + 32 * row]),
        (_, None) => SmallVec::from_slice(&[row]),
        (_, Some(WarpMulticast::Four)) => (0..4).map(|warp| row + 32 * warp).collect(),
        (_, Some(WarpMulticast::Pairs0213)) => SmallVec::from_slice(&[row, row + 64]),
        (_, Some(WarpMulticast::Pairs0123)) => {
            let first = row + row / 32 * 32;
            SmallVec::from_slice(&[first, first + 32])
        }
    }
}

/// Sixteen elements of 4 or 6 bits, each in a byte of its own as tensor cores take them.
pub(super) fn unpack(bytes: [u8; 16], packed: Option<PackedElements>) -> [u8; 16] {
    let bits = u128::from_le_bytes(bytes);
    match packed {
        Some(PackedElements::B4x16P64) => std::array::from_fn(|i| ((bits >> (4 * i)) as u8 & 0xf) << 2),
        Some(PackedElements::B6x16P32) => std::array::from_fn(|i| (bits >> (6 * i)) as u8 & 0x3f),
        Some(PackedElements::B8x16) | None => bytes,
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// `tcgen05.cp` and `tcgen05.shift`
    pub fn start_cells(&mut self, issue: Issue<'_>, op: &TensorCopyOp) -> Fallible<Next> {
        let addresses = crate::engine::access::addresses(issue.frame, &op.at, issue.stack);
        let cluster = issue.block.cluster;
        let mut pieces: SmallVec<[Piece; 1]> = SmallVec::new();
        let mut watched = Vec::new();
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            let bad = |code: FaultCode, message: String| self.fault(one, code, message);
            let address = addresses[lane] as u32;
            let (base, column) = (address >> 16, address & 0xffff);
            let ranks = if op.pair {
                issue.block.rank & !1..=issue.block.rank | 1
            } else {
                issue.block.rank..=issue.block.rank
            };
            for rank in ranks {
                let Some(member) = cluster.members.get(rank) else {
                    let count = cluster.members.len();
                    let message = format!("block {} has no peer in a cluster of {count}", issue.block.rank);
                    return Err(bad(FaultCode::BadOperand, message));
                };
                let tensor = member.tensor.borrow();
                let check = |lane: u32, column: u32| {
                    tensor.check(lane, column).map_err(|message| bad(FaultCode::BadTensorMemory, message))
                };
                let mut cells =
                    CellsPiece { rank, units: Vec::new(), packed: op.packed, shift: None, product: None };
                if let Some((shape, descriptor)) = op.source {
                    let bits = lane64(issue.frame, descriptor, lane);
                    let matrix = Descriptor::of_tensor_core(bits, false).map_err(|rule| {
                        bad(FaultCode::BadOperand, format!("the matrix descriptor {bits:#018x}: {rule}"))
                    })?;
                    let Some((rows, units)) = shape_of(shape) else { return Ok(Next::Advance) };
                    if base != 0 && shape != TensorShape::N4x256b {
                        let message = format!("the lane of the address {address:#x} is {base}; it must be 0");
                        return Err(bad(FaultCode::BadTensorMemory, message));
                    }
                    for row in 0..rows {
                        for unit in 0..units {
                            let from = matrix.address(Major::K, row, 16 * unit, 1);
                            if u64::from(from) + 16 > member.memory.len() as u64 {
                                let len = member.memory.len();
                                let message = format!(
                                    "row {row} of the matrix that {bits:#018x} describes is at shared address {from:#x}, beyond the {len} bytes of shared memory"
                                );
                                return Err(bad(FaultCode::OutOfBounds, message));
                            }
                            for to in lanes_of_row(shape, op.multicast, base, row) {
                                for c in 0..4 {
                                    check(to, column + 4 * unit + c)?;
                                }
                                cells.units.push((from, to, column + 4 * unit));
                            }
                        }
                    }
                } else {
                    if !base.is_multiple_of(32) {
                        let message = format!(
                            "the lane of the address {address:#x} is {base}; it must be a multiple of 32"
                        );
                        return Err(bad(FaultCode::BadTensorMemory, message));
                    }
                    for c in 0..SHIFTED_COLUMNS {
                        check(base + SHIFTED_ROWS - 1, column + c)?;
                    }
                    cells.shift = Some((base, column));
                }
                drop(tensor);
                if WATCHED {
                    watched.push((one, rank, cells.regions(rank)));
                }
                pieces.push(Piece { cells: Some(Box::new(cells)), ..Piece::of_lane(lane) });
            }
        }
        for (one, rank, [read, written]) in watched {
            self.watch_region(one, rank, &read, false, false);
            self.watch_region(one, rank, &written, true, false);
        }
        let work = if op.source.is_some() { Work::Cells } else { Work::Shift };
        self.launch(issue, None, work, pieces)?;
        Ok(Next::Advance)
    }

    /// `tcgen05.commit`: an arrival when all earlier operations of the thread are complete.
    pub fn start_commit(&mut self, issue: Issue<'_>, op: &TensorCommitOp) -> Fallible<Next> {
        let addresses = crate::engine::access::addresses(issue.frame, &op.object, issue.stack);
        let members = issue.block.cluster.members.len();
        let mut pieces: SmallVec<[Piece; 1]> = SmallVec::new();
        for lane in lanes_of(issue.mask) {
            let one = issue.only(1 << lane);
            // Triton writes a shared address without a space.
            let narrow = op.object.space == StateSpace::Generic && addresses[lane] >> 32 == 0;
            let object = if narrow { op.object.in_space(StateSpace::Shared) } else { op.object };
            let (rank, offset) = self.shared_operand(one, &object, addresses[lane], 8)?;
            let ranks = match op.multicast {
                Some((r, bits)) => lane32(issue.frame, r, lane) & (u32::MAX >> (32 - bits)),
                None => 1 << rank,
            };
            if ranks >> members.min(31) != 0 {
                let message = format!("multicast to blocks {ranks:#b} of a cluster of {members}");
                return Err(self.fault(one, FaultCode::BadOperand, message));
            }
            let to = lanes_of(ranks)
                .map(|rank| Target { at: Spot::Shared(rank, offset), signal: Some((rank, offset)) })
                .collect();
            pieces.push(Piece { to, ..Piece::of_lane(lane) });
        }
        self.launch(issue, None, Work::ArriveOnCells, pieces)?;
        Ok(Next::Advance)
    }

    /// Moves what a piece is about. Cells that were freed since are left alone.
    pub(super) fn move_cells(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        piece: &Piece,
    ) -> Fallible<()> {
        let Some(cells) = &piece.cells else { return Ok(()) };
        if let Some(product) = &cells.product {
            return self.multiply_cells(cluster, issuer, piece.lane, product);
        }
        let member = &cluster.members[cells.rank];
        let mut tensor = member.tensor.borrow_mut();
        if let Some((base, column)) = cells.shift {
            // Downwards: each row but the last becomes the next one's. The figure is lost (docs/engine.md).
            for row in (1..SHIFTED_ROWS).rev() {
                for c in 0..SHIFTED_COLUMNS {
                    if let Ok(value) = tensor.load(base + row - 1, column + c) {
                        tensor.store(base + row, column + c, value);
                        let undefined = tensor.is_undefined(base + row - 1, column + c);
                        tensor.set_undefined(base + row, column + c, undefined);
                    }
                }
            }
            return Ok(());
        }
        for (from, lane, column) in &cells.units {
            let mut bytes = [0; 16];
            member.memory.load_relaxed(*from as usize, &mut bytes);
            for (c, word) in unpack(bytes, cells.packed).as_chunks::<4>().0.iter().enumerate() {
                tensor.store(*lane, column + c as u32, u32::from_le_bytes(*word));
            }
            let spot = Spot::Shared(cells.rank, *from as usize);
            if WATCHED {
                let at = self.cx.at(member.id, issuer.warp, issuer.pc, 1 << piece.lane);
                let undefined = self.observer.is_undefined(&at, spot.place(16));
                (0..4).for_each(|c| tensor.set_undefined(*lane, column + c, undefined));
            }
            self.report(cluster, issuer, piece.lane, || Stage::Read(spot.place(16)));
        }
        Ok(())
    }
}
