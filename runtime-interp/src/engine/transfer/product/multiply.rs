//! A product when it is made: operands are read, and D changes.

use super::super::flight::Issuer;
use super::super::places::Spot;
use super::tile::{Tile, UNIT, split};
use super::{Cell, Place, ProductPiece};
use crate::engine::cluster::{ClusterState, Member};
use crate::engine::observe::{MemoryRange, Stage};
use crate::engine::run::{Fallible, Runner};
use crate::engine::tensor_memory::TensorMemory;
use crate::fault::{Fault, FaultCode};
use warpsmith_semantics::matrix::{BadNibble, Quarter, QuarterProduct};

/// What the quarters of a block's lanes multiply, gathered for one of them.
#[derive(Default)]
struct Gathered {
    a: Vec<u32>,
    metadata: Vec<u32>,
    scales: [Vec<u8>; 2],
    d: Vec<u32>,
}

impl ProductPiece {
    /// The lane and column of an element of D.
    fn place(&self, quarter: Quarter, row: usize, column: usize) -> (u32, u32) {
        ((quarter.lane + row) as u32 + self.d.0, self.d.1 + column as u32)
    }

    /// Columns of each part of D.
    pub(super) fn columns(&self) -> usize {
        self.product.shape[1] / self.product.path.parts()
    }

    /// B for each part of the columns, row by row of K.
    fn parts_of_b(&self, members: &[Member]) -> Vec<Vec<u32>> {
        let k = self.product.shape[2];
        let mut lines = Vec::with_capacity(self.product.shape[1] * k);
        for rank in &self.ranks {
            lines.extend(self.tile_of_b().read(&members[*rank].memory));
        }
        let n = self.columns();
        let part = |part: usize| {
            let mut b = vec![0; n * k];
            for column in 0..n {
                if self.zero.is_some_and(|zero| zero.is_zero(part, column)) {
                    continue;
                }
                let line = &lines[(part * n + column) * k..][..k];
                for (row, element) in b.chunks_exact_mut(n).zip(line) {
                    row[column] = *element;
                }
            }
            b
        };
        (0..self.product.path.parts()).map(part).collect()
    }

    /// The row of A that a row of D is made of.
    fn row_of_a(&self, row: usize) -> usize {
        if self.shifted { row.saturating_sub(1) } else { row }
    }

    /// Takes what a quarter multiplies out of tensor memory, and out of A if that was in shared memory.
    fn gather(&self, tensor: &TensorMemory, of_a: Option<&[u32]>, quarter: Quarter, out: &mut Gathered) {
        let product = &self.product;
        let k = product.kept();
        let cell = |lane: usize, column: u32| tensor.load(lane as u32, column).unwrap_or(0);
        let lane = |row: usize| product.path.lane(row, quarter.part) + self.d.0 as usize;
        let Gathered { a, metadata, scales, d } = out;
        a.clear();
        metadata.clear();
        d.clear();
        let rows = quarter.row..quarter.row + quarter.rows;
        for row in rows.clone() {
            match (&self.a, of_a) {
                (Place::Cells(Cell(_, column)), _) => {
                    let [per_container, size] = product.container().map(|n| n as u32);
                    let from = lane(self.row_of_a(row));
                    let container = |at: u32| {
                        let at = at * size;
                        cell(from, column + at / 4) >> (at % 4 * 8) & (u32::MAX >> (32 - 8 * size))
                    };
                    a.extend(split((0..k as u32 / per_container).map(container).collect(), per_container));
                }
                (Place::Shared(_), Some(of_a)) => a.extend(&of_a[row * k..][..k]),
                (Place::Shared(_), None) => {}
            }
            if let Some(Cell(_, first)) = self.metadata {
                for chunk in 0..product.chunks() {
                    let (of, column, bit) = product.nibble(self.row_of_a(row), chunk);
                    metadata.push(cell(lane(of), first + column) >> bit & 15);
                }
            }
            for column in 0..self.columns() {
                let (lane, column) = self.place(quarter, row - quarter.row, column);
                d.push(if self.accumulates { tensor.load(lane, column).unwrap_or(0) } else { 0 });
            }
        }
        let (Some(places), Some(scaling)) = (&self.scales, product.scaling) else { return };
        let lines = [(rows, product.sides()[0]), (0..self.columns(), self.columns())];
        for (side, (lines, all)) in lines.into_iter().enumerate() {
            scales[side].clear();
            for line in lines {
                for which in 0..scaling.blocks {
                    let (lane, column, byte) = product.scale(side, all, line, which);
                    let word = cell(quarter.lane + lane as usize, places[side].1 + column);
                    scales[side].push((word >> (8 * byte)) as u8);
                }
            }
        }
    }
}

impl ProductPiece {
    /// The rows of a quarter, and its columns, that come of cells that hold what was never written: of A, metadata and scales.
    fn undefined_cells(&self, tensor: &TensorMemory, quarter: Quarter) -> [Vec<bool>; 2] {
        let product = &self.product;
        let lane = |row: usize| (product.path.lane(row, quarter.part) + self.d.0 as usize) as u32;
        let [per_container, size] = product.container();
        let scale = |side: usize, all: usize, line: usize| {
            let (Some(places), Some(scaling)) = (&self.scales, product.scaling) else { return false };
            (0..scaling.blocks).any(|which| {
                let (lane, column, _) = product.scale(side, all, line, which);
                tensor.is_undefined(quarter.lane as u32 + lane, places[side].1 + column)
            })
        };
        let row = |row: usize| {
            let from = self.row_of_a(row);
            let of_a = match self.a {
                Place::Cells(Cell(_, column)) => {
                    let count = (product.kept() / per_container * size).div_ceil(4) as u32;
                    (0..count).any(|c| tensor.is_undefined(lane(from), column + c))
                }
                Place::Shared(_) => false,
            };
            let of_metadata = self.metadata.is_some_and(|Cell(_, first)| {
                (0..product.chunks()).any(|chunk| {
                    let (of, column, _) = product.nibble(from, chunk);
                    tensor.is_undefined(lane(of), first + column)
                })
            });
            of_a || of_metadata || scale(0, product.sides()[0], row)
        };
        let columns = self.columns();
        [
            (quarter.row..quarter.row + quarter.rows).map(row).collect(),
            (0..columns).map(|column| scale(1, columns, column)).collect(),
        ]
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// The lines of A in a block, or of B in all of them, that have bytes that were never written.
    fn undefined_lines(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        lane: u8,
        (rank, tile): (usize, Tile<'_>),
    ) -> Vec<bool> {
        let at = self.cx.at(cluster.members[issuer.rank].id, issuer.warp, issuer.pc, 1 << lane);
        tile.lines_where(|unit| {
            self.observer.is_undefined(&at, Spot::Shared(rank, unit as usize).place(UNIT))
        })
    }

    /// Makes a product. Cells that were freed since count as zero, and are left alone.
    pub(in super::super) fn multiply_cells(
        &mut self,
        cluster: &ClusterState,
        issuer: Issuer,
        lane: u8,
        piece: &ProductPiece,
    ) -> Fallible<()> {
        let b = piece.parts_of_b(&cluster.members);
        let mut gathered = Gathered::default();
        let mut lines_of_b = Vec::new();
        if WATCHED {
            for rank in &piece.ranks {
                lines_of_b.extend(self.undefined_lines(cluster, issuer, lane, (*rank, piece.tile_of_b())));
            }
        }
        for (index, rank) in piece.ranks.iter().enumerate() {
            let member = &cluster.members[*rank];
            let of_a = match &piece.a {
                Place::Shared(descriptor) => {
                    Some(Tile::of(&piece.product, descriptor, 0, 0).read(&member.memory))
                }
                Place::Cells(_) => None,
            };
            let lines_of_a = match &piece.a {
                Place::Shared(descriptor) if WATCHED => {
                    let tile = Tile::of(&piece.product, descriptor, 0, 0);
                    self.undefined_lines(cluster, issuer, lane, (*rank, tile))
                }
                Place::Shared(_) | Place::Cells(_) => Vec::new(),
            };
            let mut tensor = member.tensor.borrow_mut();
            for quarter in piece.product.path.quarters() {
                piece.gather(&tensor, of_a.as_deref(), quarter, &mut gathered);
                let columns = piece.columns();
                let flags = if WATCHED { Some(piece.undefined_cells(&tensor, quarter)) } else { None };
                let Gathered { a, metadata, scales: [of_a, of_b], d } = &mut gathered;
                let product = QuarterProduct {
                    shape: [quarter.rows, columns],
                    a,
                    b: &b[quarter.part],
                    metadata,
                    scales: [of_a, of_b],
                    halvings: if piece.accumulates { piece.halvings } else { 0 },
                };
                let made = piece.product.run(self.cx.arithmetic, self.level, &product, d);
                if let Err(nibble) = made {
                    return Err(self.bad_nibble(cluster, issuer, lane, (piece, quarter, nibble)));
                }
                for (at, value) in d.iter().enumerate() {
                    let (lane, column) = piece.place(quarter, at / columns, at % columns);
                    let word = piece.disabled.get(4 * index + lane as usize / 32).copied().unwrap_or(0);
                    if word >> (lane % 32) & 1 != 0 {
                        continue;
                    }
                    tensor.store(lane, column, *value);
                    if let Some([rows, of_columns]) = &flags {
                        let (row, n) = (at / columns, at % columns);
                        let zero = piece.zero.is_some_and(|zero| zero.is_zero(quarter.part, n));
                        let is = |flags: &[bool], at: usize| flags.get(at) == Some(&true);
                        let of_a = is(rows, row) || is(&lines_of_a, quarter.row + row);
                        let of_b = is(of_columns, n) || is(&lines_of_b, quarter.part * columns + n);
                        let of_c = piece.accumulates && tensor.is_undefined(lane, column);
                        tensor.set_undefined(lane, column, of_c || !zero && (of_a || of_b));
                    }
                }
            }
        }
        if WATCHED {
            for rank in &piece.ranks {
                for (_, tile) in piece.tiles() {
                    let mut units: Vec<u32> = tile.units().map(|(at, ..)| at).collect();
                    units.sort_unstable();
                    for range in units.chunk_by(|a, b| b - a <= UNIT) {
                        let (Some(start), Some(last)) = (range.first(), range.last()) else { continue };
                        let spot = Spot::Shared(*rank, *start as usize);
                        let place: MemoryRange = spot.place(last + UNIT - start);
                        self.report(cluster, issuer, lane, || Stage::Read(place));
                    }
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn bad_nibble(
        &self,
        cluster: &ClusterState,
        issuer: Issuer,
        lane: u8,
        (piece, quarter, bad): (&ProductPiece, Quarter, BadNibble),
    ) -> Box<Fault> {
        let (row, column, bit) = piece.product.nibble(quarter.row + bad.row, bad.chunk);
        let first = piece.metadata.map_or(0, |Cell(_, column)| column);
        let message = format!(
            "bits {}:{bit} of the sparsity metadata at lane {} and column {} of tensor memory are {:#06b}, which names no two elements in their order",
            bit + 3,
            piece.product.path.lane(row, quarter.part) + piece.d.0 as usize,
            first + column,
            bad.nibble
        );
        let mut fault = Fault::new(FaultCode::BadOperand, message);
        self.blame(&mut fault, cluster, issuer, lane);
        Box::new(fault)
    }
}
