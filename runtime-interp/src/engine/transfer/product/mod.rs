//! Products in tensor memory, made later: `tcgen05.mma` (PTX ISA 9.0, 9.7.16.10).
//!
//! One thread starts a product. What is illegal is a fault there and then; operands are read, and D is changed, when the product is made. Products of a
//! block, or of the pair of blocks that makes one, are made in the order in which they were started, and after the copies that were started before.

mod multiply;
mod tile;

use super::cells::CellsPiece;
use super::flight::Work;
use super::piece::Piece;
use crate::engine::async_op::{TensorFactor, TensorProductOp};
use crate::engine::cluster::{ClusterState, Member};
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::tensor_memory::{Region, TensorMemory};
use crate::engine::values::{holds, lane32, lane64, lanes_of};
use crate::fault::FaultCode;
use smallvec::SmallVec;
use tile::{Tile, UNIT};
use warpsmith_semantics::matrix::{Descriptor, Element, Major, Swizzle, TensorProduct, ZeroColumns};

/// A lane and a column of tensor memory.
#[derive(Clone, Copy)]
struct Cell(u32, u32);

impl Cell {
    fn of(address: u64) -> Cell {
        Cell(address as u32 >> 16, address as u32 & 0xffff)
    }
}

/// Bits of the address of scales that compilers set to the first scale's byte, which the instruction descriptor names, too.
const BYTE_OF_SCALES: u64 = 3 << 30;

/// A product in flight.
pub(super) struct ProductPiece {
    product: TensorProduct,
    /// The blocks that make it.
    ranks: SmallVec<[usize; 2]>,
    a: Place,
    b: Descriptor,
    /// Where D is.
    d: Cell,
    /// Where the metadata of a sparse A is.
    metadata: Option<Cell>,
    /// Where the scales of A and of B are.
    scales: Option<[Cell; 2]>,
    accumulates: bool,
    /// How often C is halved.
    halvings: u32,
    /// A bit for each lane that is left alone, block after block.
    disabled: SmallVec<[u32; 8]>,
    /// Columns of B that count as zero.
    zero: Option<ZeroColumns>,
    /// Rows of A move down by one.
    shifted: bool,
}

/// Where A is.
#[derive(Clone, Copy)]
enum Place {
    Shared(Descriptor),
    Cells(Cell),
}

type Illegal = (FaultCode, String);

fn cells_fault(message: String) -> Illegal {
    (FaultCode::BadTensorMemory, message)
}

impl ProductPiece {
    fn tile_of_b(&self) -> Tile<'_> {
        Tile::of(&self.product, &self.b, 1, self.zero.map_or(0, |zero| zero.shift))
    }

    /// The matrices in shared memory.
    fn tiles(&self) -> impl Iterator<Item = (&'static str, Tile<'_>)> {
        let of_a = match &self.a {
            Place::Shared(descriptor) => Some(("A", Tile::of(&self.product, descriptor, 0, 0))),
            Place::Cells(_) => None,
        };
        of_a.into_iter().chain([("B", self.tile_of_b())])
    }

    /// Checks what can be checked before anything is read.
    fn check(&self, cluster: &ClusterState) -> Result<(), Illegal> {
        self.check_lanes()?;
        for rank in &self.ranks {
            let Some(member) = cluster.members.get(*rank) else {
                let count = cluster.members.len();
                let message = format!("`.cta_group::2` needs block {rank} of a cluster of {count}");
                return Err((FaultCode::BadOperand, message));
            };
            if member.gone.get() {
                let message = format!("`.cta_group::2` needs block {rank} of the cluster, which has exited");
                return Err((FaultCode::BadOperand, message));
            }
            self.check_cells(&member.tensor.borrow())?;
            self.check_shared(member)?;
        }
        Ok(())
    }

    /// Which lanes operands begin at (9.7.16.10.5).
    fn check_lanes(&self) -> Result<(), Illegal> {
        let [m, ..] = self.product.shape;
        let legal = self.product.path.first_lanes();
        let Cell(lane, _) = self.d;
        if !legal.contains(&lane) {
            let names: Vec<String> = legal.iter().map(u32::to_string).collect();
            return Err(cells_fault(format!(
                "D of {m} rows is at lane {lane} of tensor memory; it must be {}",
                names.join(" or ")
            )));
        }
        let of_a = match self.a {
            Place::Cells(cell) => Some(cell),
            Place::Shared(_) => None,
        };
        for (name, cell) in [("A", of_a), ("the metadata", self.metadata)] {
            if let Some(Cell(found, _)) = cell
                && found != lane
            {
                return Err(cells_fault(format!(
                    "{name} is at lane {found} of tensor memory and D at lane {lane}"
                )));
            }
        }
        for (Cell(lane, _), name) in self.scales.into_iter().flatten().zip(["A", "B"]) {
            if lane != 0 {
                return Err(cells_fault(format!(
                    "the scales of {name} are at lane {lane}; they must be at 0"
                )));
            }
        }
        if of_a.is_some() && self.product.major[0] == Major::Mn {
            return Err(cells_fault("transposition of A (bit 15) is 1, and A is in tensor memory".into()));
        }
        Ok(())
    }

    fn check_cells(&self, tensor: &TensorMemory) -> Result<(), Illegal> {
        let columns = |name: &str, Cell(lane, first): Cell, count: u32| {
            (0..count).try_for_each(|c| {
                tensor.check(lane, first + c).map_err(|message| cells_fault(format!("{name}: {message}")))
            })
        };
        columns("D", self.d, self.columns() as u32)?;
        if let Place::Cells(cell) = self.a {
            let [per_container, size] = self.product.container();
            columns("A", cell, (self.product.kept() / per_container * size).div_ceil(4) as u32)?;
        }
        if let Some(cell) = self.metadata {
            let last = (0..self.product.chunks()).map(|chunk| self.product.nibble(0, chunk).1).max();
            columns("the metadata", cell, last.map_or(0, |last| last + 1))?;
        }
        if let (Some(cells), Some(scaling)) = (self.scales, self.product.scaling) {
            let lines = [self.product.sides()[0], self.columns()];
            for (side, name) in ["the scales of A", "the scales of B"].into_iter().enumerate() {
                let (_, last, _) = self.product.scale(side, lines[side], lines[side] - 1, scaling.blocks - 1);
                columns(name, cells[side], last + 1)?;
            }
        }
        Ok(())
    }

    /// What it reads and what it writes of the tensor memory of a block.
    pub(super) fn regions(&self, rank: usize) -> [Region; 2] {
        let mut regions = [Region::default(); 2];
        if !self.ranks.contains(&rank) {
            return regions;
        }
        let [read, written] = &mut regions;
        let product = &self.product;
        for quarter in product.path.quarters() {
            let first = quarter.lane as u32 + self.d.0;
            let lanes = first..first + quarter.rows as u32;
            let columns = |first: u32, count: usize| first..first + count as u32;
            written.extend(lanes.clone(), columns(self.d.1, self.columns()));
            if let Place::Cells(Cell(_, column)) = self.a {
                let [per_container, size] = product.container();
                read.extend(
                    lanes.clone(),
                    columns(column, (product.kept() / per_container * size).div_ceil(4)),
                );
            }
            if let Some(Cell(_, column)) = self.metadata {
                let last = (0..product.chunks()).map(|chunk| product.nibble(0, chunk).1).max();
                read.extend(lanes.clone(), columns(column, last.map_or(0, |last| last as usize + 1)));
            }
        }
        regions
    }

    fn check_shared(&self, member: &Member) -> Result<(), Illegal> {
        let bytes = member.memory.len();
        for (side, (name, tile)) in self.tiles().enumerate() {
            let side = if name == "A" { 0 } else { side.max(1) };
            let wide = self.product.types[side] == Element::Tf32;
            let atoms = tile.descriptor.swizzle == Swizzle::Bytes128Atom32;
            if tile.major == Major::Mn && wide != atoms {
                let must = if wide { "must be" } else { "cannot be" };
                let message = format!(
                    "{name} is transposed: the swizzling mode in bits 61 to 63 of its descriptor {must} 1 (9.7.16.10.1)"
                );
                return Err((FaultCode::BadOperand, message));
            }
            if tile.descriptor.absolute && tile.major == Major::Mn {
                let message = format!(
                    "{name} is transposed, and bit 52 of its descriptor asks for an absolute leading dimension"
                );
                return Err((FaultCode::BadOperand, message));
            }
            if let Some((at, ..)) = tile.units().find(|(at, ..)| *at as usize + UNIT as usize > bytes) {
                let message = format!(
                    "the matrix {name} of the descriptor reaches shared address {at:#x}; the block has {bytes} bytes"
                );
                return Err((FaultCode::OutOfBounds, message));
            }
        }
        Ok(())
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// `tcgen05.mma`
    pub fn start_tensor_product(&mut self, issue: Issue<'_>, op: &TensorProductOp) -> Fallible<Next> {
        let addresses = |at| crate::engine::access::addresses(issue.frame, at, issue.stack);
        let of_d = addresses(&op.d);
        let of_a = match &op.a {
            TensorFactor::Cells(at) => Some(addresses(at)),
            TensorFactor::Descriptor(_) => None,
        };
        let of_metadata = op.metadata.as_ref().map(addresses);
        let of_scales = op.scales.as_ref().map(|[a, b]| [addresses(a), addresses(b)]);
        let accumulates = holds(issue.frame, op.accumulates);
        let rank = issue.block.rank;
        let ranks: SmallVec<[usize; 2]> = if op.form.pair {
            SmallVec::from_slice(&[rank & !1, rank | 1])
        } else {
            SmallVec::from_slice(&[rank])
        };
        let mut pieces: SmallVec<[Piece; 1]> = SmallVec::new();
        for lane in lanes_of(issue.mask) {
            let bad = |code: FaultCode, message: String| self.fault(issue.only(1 << lane), code, message);
            let bits = lane32(issue.frame, op.descriptor, lane);
            let product = op.form.decode(bits).map_err(|rule| {
                bad(FaultCode::BadTensorMemory, format!("the instruction descriptor {bits:#010x}: {rule}"))
            })?;
            let shared = |name, r| {
                let bits = lane64(issue.frame, r, lane);
                Descriptor::of_tensor_core(bits, product.shape[2] == LONG).map_err(|rule| {
                    bad(
                        FaultCode::BadOperand,
                        format!("the matrix descriptor {bits:#018x} of {name}: {rule}"),
                    )
                })
            };
            let a = match (op.a, &of_a) {
                (TensorFactor::Descriptor(r), _) => Place::Shared(shared("A", r)?),
                (TensorFactor::Cells(_), of_a) => Place::Cells(Cell::of(of_a.map_or(0, |all| all[lane]))),
            };
            let zero = match op.zero {
                None => None,
                Some(r) => {
                    let bits = lane64(issue.frame, r, lane);
                    let decoded = ZeroColumns::decode(bits, product.shape[0]).map_err(|rule| {
                        let message = format!("the zero-column mask descriptor {bits:#018x}: {rule}");
                        bad(FaultCode::BadOperand, message)
                    })?;
                    Some(decoded)
                }
            };
            let piece = ProductPiece {
                product,
                ranks: ranks.clone(),
                a,
                b: shared("B", op.b)?,
                d: Cell::of(of_d[lane]),
                metadata: of_metadata.map(|all| Cell::of(all[lane])),
                scales: of_scales.map(|both| both.map(|all| Cell::of(all[lane] & !BYTE_OF_SCALES))),
                accumulates: accumulates >> lane & 1 != 0,
                halvings: op.halvings,
                disabled: op.disabled.iter().map(|r| lane32(issue.frame, *r, lane)).collect(),
                zero,
                shifted: op.form.shifted,
            };
            piece.check(issue.block.cluster).map_err(|(code, message)| bad(code, message))?;
            if WATCHED {
                for rank in &piece.ranks {
                    let [read, written] = piece.regions(*rank);
                    self.watch_region(issue.only(1 << lane), *rank, &read, false, false);
                    self.watch_region(issue.only(1 << lane), *rank, &written, true, false);
                }
            }
            pieces.push(Piece {
                cells: Some(Box::new(CellsPiece::of_product(rank, piece))),
                ..Piece::of_lane(lane)
            });
        }
        self.launch(issue, None, Work::Multiply, pieces)?;
        Ok(Next::Advance)
    }
}

/// The K whose lines of 48 bytes a span of 128 may not hold.
const LONG: usize = 96;
