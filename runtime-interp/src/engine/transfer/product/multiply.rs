//! A product when it is made: operands are read, and D changes.

use super::super::{Issuer, Spot};
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

impl<const WATCHED: bool> Runner<'_, WATCHED> {
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
        for (index, rank) in piece.ranks.iter().enumerate() {
            let member = &cluster.members[*rank];
            let of_a = match &piece.a {
                Place::Shared(descriptor) => {
                    Some(Tile::of(&piece.product, descriptor, 0, 0).read(&member.memory))
                }
                Place::Cells(_) => None,
            };
            let mut tensor = member.tensor.borrow_mut();
            for quarter in piece.product.path.quarters() {
                piece.gather(&tensor, of_a.as_deref(), quarter, &mut gathered);
                let Gathered { a, metadata, scales: [of_a, of_b], d } = &mut gathered;
                let columns = piece.columns();
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
                    if word >> (lane % 32) & 1 == 0 {
                        tensor.store(lane, column, *value);
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
