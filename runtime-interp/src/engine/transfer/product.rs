//! Products in tensor memory, made later: `tcgen05.mma` (PTX ISA 9.0, 9.7.16.10).
//!
//! One thread starts a product. What is illegal is a fault there and then; operands are read, and D is changed, when the product is made. Products of a
//! thread are made in their order, and after the copies that it started before.

use super::cells::{CellsPiece, unpack};
use super::{Issuer, Piece, Spot, Work};
use crate::engine::async_op::{TensorFactor, TensorProductOp};
use crate::engine::cluster::ClusterState;
use crate::engine::observe::{MemoryRange, Stage};
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::tensor_memory::TensorMemory;
use crate::engine::values::{holds, lane32, lane64, lanes_of};
use crate::fault::FaultCode;
use crate::memory::bytes::Bytes;
use smallvec::SmallVec;
use warpsmith_isa::PackedElements;
use warpsmith_semantics::matrix::{Descriptor, Element, Major, Swizzle, TensorProduct};

/// Bytes that a swizzle leaves together.
const UNIT: u32 = 16;

/// Bytes along K of a row of A that is in tensor memory.
const ROW_BYTES: u32 = 32;

/// A product in flight.
pub(super) struct ProductPiece {
    product: TensorProduct,
    a: Place,
    b: Descriptor,
    /// The lane and column of D.
    d: (u32, u32),
    accumulates: bool,
    /// A bit for each lane that is left alone.
    disabled: [u32; 4],
}

/// Where A is.
#[derive(Clone, Copy)]
enum Place {
    Shared(Descriptor),
    /// A lane and column of tensor memory.
    Cells(u32, u32),
}

/// A or B in shared memory: lines of `depth` elements along K.
#[derive(Clone, Copy)]
struct Tile<'a> {
    descriptor: &'a Descriptor,
    major: Major,
    lines: u32,
    depth: u32,
    /// Bytes of an element.
    size: u32,
    element: Element,
}

impl Tile<'_> {
    /// The addresses of all units of 16 bytes, with the line and the place along K of the first element of each.
    fn units(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let Tile { descriptor, major, lines, depth, size, .. } = *self;
        let per_unit = UNIT / size;
        let (outer, along) = match major {
            Major::K => (lines, depth),
            Major::Mn => (depth, lines),
        };
        (0..outer).flat_map(move |i| {
            (0..along.div_ceil(per_unit)).map(move |unit| {
                let j = unit * per_unit;
                let (line, k) = match major {
                    Major::K => (i, j),
                    Major::Mn => (j, i),
                };
                (descriptor.address(major, line, k * size, size), line, k)
            })
        })
    }

    /// Reads the elements, as containers: line by line, or by K first.
    fn read(&self, memory: &Bytes, by_lines: bool) -> Vec<u32> {
        let packed = match self.element.bits() {
            4 => Some(PackedElements::B4x16P64),
            6 => Some(PackedElements::B6x16P32),
            _ => None,
        };
        let mut out = vec![0; (self.lines * self.depth) as usize];
        for (at, line, k) in self.units() {
            let mut bytes = [0; UNIT as usize];
            memory.load_relaxed(at as usize, &mut bytes);
            for (n, element) in unpack(bytes, packed).chunks_exact(self.size as usize).enumerate() {
                let (line, k) = match self.major {
                    Major::K => (line, k + n as u32),
                    Major::Mn => (line + n as u32, k),
                };
                let place = if by_lines { line * self.depth + k } else { k * self.lines + line };
                if line < self.lines
                    && let Some(out) = out.get_mut(place as usize)
                {
                    *out = element.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                }
            }
        }
        out
    }
}

impl ProductPiece {
    fn tile<'a>(&self, descriptor: &'a Descriptor, side: usize) -> Tile<'a> {
        let [m, n, k] = self.product.shape.map(|extent| extent as u32);
        Tile {
            descriptor,
            major: self.product.major[side],
            lines: [m, n][side],
            depth: k,
            size: self.product.element_bytes(),
            element: self.product.types[side],
        }
    }

    /// The matrices in shared memory.
    fn tiles(&self) -> impl Iterator<Item = (&'static str, Tile<'_>)> {
        let of_a = match &self.a {
            Place::Shared(descriptor) => Some(("A", self.tile(descriptor, 0))),
            Place::Cells(..) => None,
        };
        of_a.into_iter().chain([("B", self.tile(&self.b, 1))])
    }

    /// The lane of a row of A or D, from the first on (9.7.16.10.5): half of the rows leaves half of each warp's lanes.
    fn lane(&self, first: u32, row: u32) -> u32 {
        if self.product.shape[0] == 64 { first + row / 16 * 32 + row % 16 } else { first + row }
    }

    /// Checks what can be checked before anything is read.
    fn check(&self, tensor: &TensorMemory, bytes: usize) -> Result<(), (FaultCode, String)> {
        let cells = |message: String| (FaultCode::BadTensorMemory, message);
        let [m, n, _] = self.product.shape;
        let (lane, column) = self.d;
        if lane != 0 && (m != 64 || lane != 16) {
            let legal = if m == 64 { "0 or 16" } else { "0" };
            return Err(cells(format!(
                "D of {m} rows is at lane {lane} of tensor memory; it must be {legal}"
            )));
        }
        for c in 0..n as u32 {
            tensor.check(lane, column + c).map_err(|message| cells(format!("D: {message}")))?;
        }
        if let Place::Cells(of_a, column) = self.a {
            if of_a != lane {
                return Err(cells(format!("A is at lane {of_a} of tensor memory and D at lane {lane}")));
            }
            if self.product.major[0] == Major::Mn {
                return Err(cells("transposition of A (bit 15) is 1, and A is in tensor memory".into()));
            }
            for c in 0..ROW_BYTES / 4 {
                tensor.check(lane, column + c).map_err(|message| cells(format!("A: {message}")))?;
            }
        }
        for (name, tile) in self.tiles() {
            let wide = tile.element == Element::Tf32;
            let atoms = tile.descriptor.swizzle == Swizzle::Bytes128Atom32;
            if tile.major == Major::Mn && wide != atoms {
                let must = if wide { "must be" } else { "cannot be" };
                let message = format!(
                    "{name} is transposed: the swizzling mode in bits 61 to 63 of its descriptor {must} 1 (9.7.16.10.1)"
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
            TensorFactor::Cells(at) => addresses(at),
            TensorFactor::Descriptor(_) => of_d,
        };
        let accumulates = holds(issue.frame, op.accumulates);
        let member = &issue.block.cluster.members[issue.block.rank];
        let mut pieces: SmallVec<[Piece; 1]> = SmallVec::new();
        for lane in lanes_of(issue.mask) {
            let bad = |code: FaultCode, message: String| self.fault(issue.only(1 << lane), code, message);
            let bits = lane32(issue.frame, op.descriptor, lane);
            let Some(decoded) = TensorProduct::decode(op.kind, bits) else { return Ok(Next::Advance) };
            let product = decoded.map_err(|rule| {
                bad(FaultCode::BadTensorMemory, format!("the instruction descriptor {bits:#010x}: {rule}"))
            })?;
            let shared = |name, r| {
                let bits = lane64(issue.frame, r, lane);
                Descriptor::of_tensor_core(bits).map_err(|rule| {
                    bad(
                        FaultCode::BadOperand,
                        format!("the matrix descriptor {bits:#018x} of {name}: {rule}"),
                    )
                })
            };
            let cells = |address: u64| (address as u32 >> 16, address as u32 & 0xffff);
            let a = match op.a {
                TensorFactor::Descriptor(r) => Place::Shared(shared("A", r)?),
                TensorFactor::Cells(_) => {
                    let (row, column) = cells(of_a[lane]);
                    Place::Cells(row, column)
                }
            };
            let piece = ProductPiece {
                product,
                a,
                b: shared("B", op.b)?,
                d: cells(of_d[lane]),
                accumulates: accumulates >> lane & 1 != 0,
                disabled: op.disabled.map_or([0; 4], |all| all.map(|r| lane32(issue.frame, r, lane))),
            };
            let checked = piece.check(&member.tensor.borrow(), member.memory.len());
            checked.map_err(|(code, message)| bad(code, message))?;
            pieces.push(Piece {
                cells: Some(Box::new(CellsPiece::of_product(issue.block.rank, piece))),
                ..Piece::of_lane(lane)
            });
        }
        self.launch(issue, None, Work::Multiply, pieces)?;
        Ok(Next::Advance)
    }

    /// Makes a product. Cells that were freed since count as zero, and are left alone.
    pub(super) fn multiply_cells(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        lane: u8,
        (rank, piece): (usize, &ProductPiece),
    ) {
        let member = &cluster.members[rank];
        let [m, n, k] = piece.product.shape;
        let mut tensor = member.tensor.borrow_mut();
        let a = match &piece.a {
            Place::Shared(descriptor) => piece.tile(descriptor, 0).read(&member.memory, true),
            Place::Cells(first, column) => {
                let size = piece.product.element_bytes();
                let element = |row: u32, k: u32| {
                    let cell = tensor.load(piece.lane(*first, row), column + k * size / 4).unwrap_or(0);
                    cell >> (k * size % 4 * 8) & (u32::MAX >> (32 - 8 * size))
                };
                (0..(m * k) as u32).map(|at| element(at / k as u32, at % k as u32)).collect()
            }
        };
        let b = piece.tile(&piece.b, 1).read(&member.memory, false);
        let (first, column) = piece.d;
        let mut d = vec![0; m * n];
        let place = |at: usize| (piece.lane(first, (at / n) as u32), column + (at % n) as u32);
        if piece.accumulates {
            for (at, d) in d.iter_mut().enumerate() {
                let (lane, column) = place(at);
                *d = tensor.load(lane, column).unwrap_or(0);
            }
        }
        piece.product.run(self.cx.arithmetic, self.level, [&a, &b], &mut d);
        for (at, d) in d.into_iter().enumerate() {
            let (lane, column) = place(at);
            let mask = piece.disabled.get(lane as usize / 32).copied().unwrap_or(0);
            if mask >> (lane % 32) & 1 == 0 {
                tensor.store(lane, column, d);
            }
        }
        drop(tensor);
        if WATCHED {
            for (_, tile) in piece.tiles() {
                let mut units: Vec<u32> = tile.units().map(|(at, ..)| at).collect();
                units.sort_unstable();
                for range in units.chunk_by(|a, b| b - a <= UNIT) {
                    let (Some(start), Some(last)) = (range.first(), range.last()) else { continue };
                    let place: MemoryRange = Spot::Shared(rank, *start as usize).place(last + UNIT - start);
                    self.report(cluster, issuer, lane, || Stage::Read(place));
                }
            }
        }
    }
}
