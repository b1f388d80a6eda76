//! Tensor memory: allocation, and what moves between it and registers (PTX ISA 9.0, 9.7.16.7 and 9.7.16.8).
//!
//! All threads of the warp come to these operations together. Stores are there when the warp has waited for them (`tcgen05.wait::st`); a load
//! gives its registers at once, which is one of the times it may.

mod cells;

use crate::engine::mbarrier::await_event;
use crate::engine::observe::{AccessKind, Addresses, FrameView, Sync, TensorHazard};
use crate::engine::op::Access;
use crate::engine::reg::{Reg, Width};
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{lane32, lanes_of, lanes_where, put};
use crate::engine::warp::Warp;
use crate::fault::{Fault, FaultCode};
use crate::memory::window;
use cells::{COLUMNS, LANES, Stored};
pub(in crate::engine) use cells::{Region, TensorMemory};
use smallvec::SmallVec;
use warpsmith_isa::{StateSpace, TensorShape};

/// Instructions of the cluster after which an allocation that waits is tried again.
const PATIENCE: u64 = 1 << 12;

/// What is made of two values.
pub type Combine = fn(u32, u32) -> u32;

/// What is done to tensor memory.
#[derive(Clone, Debug)]
pub enum TensorMemoryOp {
    /// `tcgen05.alloc`
    Allocate {
        /// Where the address is stored, in shared memory.
        to: Access,
        /// How many columns.
        columns: Reg,
        /// Beside no other allocation.
        exclusive: bool,
    },
    /// `tcgen05.dealloc`
    Deallocate {
        /// The address.
        at: Reg,
        /// How many columns.
        columns: Reg,
        /// Beside no other allocation.
        exclusive: bool,
    },
    /// `tcgen05.relinquish_alloc_permit`
    Relinquish,
    /// `tcgen05.ld`
    Load {
        /// Which cells.
        cells: TensorCells,
        /// Destinations.
        values: SmallVec<[Reg; 4]>,
        /// What is made of all values of a thread, and where it goes.
        reduction: Option<(Combine, Reg)>,
    },
    /// `tcgen05.st`
    Store {
        /// Which cells.
        cells: TensorCells,
        /// Sources.
        values: SmallVec<[Reg; 4]>,
    },
    /// `tcgen05.wait::st`
    WaitStores,
    /// `tcgen05.wait::ld`
    WaitLoads,
}

/// The cells of tensor memory that a warp accesses together.
#[derive(Clone, Copy, Debug)]
pub struct TensorCells {
    /// The address: a lane in the upper half, a column in the lower. Of the access count the register and the offset.
    pub at: Access,
    /// How they are spread over the threads.
    pub shape: TensorShape,
    /// Columns from the first half of `.16x32bx2` to the second.
    pub second: u32,
    /// A register holds the low halves of two columns.
    pub packed: bool,
}

impl TensorMemoryOp {
    /// All registers, with the width each must have if that is fixed, and whether it is written.
    pub(in crate::engine) fn registers(&self) -> SmallVec<[(Reg, Option<Width>, bool); 8]> {
        let mut all: SmallVec<[(Reg, Option<Width>, bool); 8]> = SmallVec::new();
        let read = |r: Reg| (r, None, false);
        let written = |r: Reg| (r, None, true);
        match self {
            TensorMemoryOp::Allocate { to, columns, .. } => {
                all.extend([to.base, *columns].map(read));
            }
            TensorMemoryOp::Deallocate { at, columns, .. } => all.extend([*at, *columns].map(read)),
            TensorMemoryOp::Load { cells, values, reduction } => {
                all.push(read(cells.at.base));
                all.extend(values.iter().copied().map(written));
                all.extend(reduction.iter().map(|(_, r)| written(*r)));
            }
            TensorMemoryOp::Store { cells, values } => {
                all.push(read(cells.at.base));
                all.extend(values.iter().copied().map(read));
            }
            TensorMemoryOp::Relinquish | TensorMemoryOp::WaitStores | TensorMemoryOp::WaitLoads => {}
        }
        all
    }
}

impl TensorCells {
    /// Of a thread's register: the lane and the column from the base on. The figures of the manual are lost; these are the layouts that
    /// public code relies on (`docs/engine.md`).
    fn of(&self, thread: u32, register: u32) -> (u32, u32) {
        let (l, i) = (thread, register);
        match self.shape {
            TensorShape::N16x64b => ((l >> 2) + 8 * (l & 1), 2 * i + (l >> 1 & 1)),
            TensorShape::N16x128b => ((l >> 2) + 8 * (i & 1), 4 * (i >> 1) + (l & 3)),
            TensorShape::N16x256b => ((l >> 2) + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * (l & 3) + (i & 1)),
            TensorShape::N16x32bx2 => (l & 15, i + (l >> 4) * self.second),
            TensorShape::N32x32b
            | TensorShape::N128x128b
            | TensorShape::N128x256b
            | TensorShape::N32x128b
            | TensorShape::N4x256b
            | TensorShape::N64x128b => (l, i),
        }
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Executes an operation on the tensor memory of the block.
    pub fn tensor_memory(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &TensorMemoryOp,
    ) -> Fallible<Next> {
        let lane = issue.mask.trailing_zeros() as usize & 31;
        let one = issue.only(1 << lane);
        let tensor = &issue.block.cluster.members[issue.block.rank].tensor;
        let bad = |code: FaultCode, message: String| self.fault(one, code, message);
        match op {
            TensorMemoryOp::Allocate { to, columns, exclusive } => {
                let columns = lane32(issue.frame, *columns, lane);
                let address = crate::engine::access::addresses(issue.frame, to, issue.stack)[lane];
                let (rank, offset) = self.shared_operand(one, to, address, 4)?;
                let found = tensor.borrow_mut().allocate(columns, *exclusive);
                let found = found.map_err(|message| bad(FaultCode::BadTensorMemory, message))?;
                let Some(start) = found else {
                    // Another warp may free some: asked again after whatever happens, and after a while.
                    let until = issue.block.cluster.clock.get().saturating_add(PATIENCE);
                    return Ok(await_event(warp, g, issue, until));
                };
                if WATCHED {
                    tensor.borrow_mut().note_allocation(start, issue.warp, issue.pc);
                }
                issue.block.cluster.members[rank].memory.store_relaxed(offset, &start.to_le_bytes());
                if WATCHED && self.interest.accesses {
                    let (at, word) = (self.at(one), window::in_member(offset as u64, rank as u32));
                    let addresses = Addresses::Each(&[word; 32]);
                    self.observer.access(&at, AccessKind::Store, to, StateSpace::Shared, addresses);
                }
            }
            TensorMemoryOp::Deallocate { at, columns, exclusive } => {
                let (at, columns) = (lane32(issue.frame, *at, lane), lane32(issue.frame, *columns, lane));
                if WATCHED {
                    let mut region = Region::default();
                    region.extend(0..LANES, at..at.saturating_add(columns.min(COLUMNS)));
                    self.watch_region(issue, issue.block.rank, &region, true, true);
                }
                let done = tensor.borrow_mut().deallocate(at, columns, *exclusive);
                done.map_err(|message| self.fault(one, FaultCode::BadTensorMemory, message))?;
                issue.block.cluster.note_event();
            }
            TensorMemoryOp::Relinquish => tensor.borrow_mut().relinquish(),
            TensorMemoryOp::WaitStores => tensor.borrow_mut().settle(issue.warp),
            TensorMemoryOp::WaitLoads => tensor.borrow_mut().wait_for_loads(issue.warp),
            TensorMemoryOp::Load { cells, values, reduction } => {
                self.load_cells(issue, &tensor.borrow(), cells, values, *reduction)?;
                self.watch_cells(issue, cells, values.len(), false);
                if WATCHED {
                    let place = warp.activation(warp.groups[g].frame).place();
                    self.taint_loaded(issue, (cells, values, *reduction), place);
                }
            }
            TensorMemoryOp::Store { cells, values } => {
                let mut found = self.store_cells(issue, &tensor.borrow(), cells, values)?;
                if WATCHED {
                    // As many of each register's, lane by lane.
                    let place = warp.activation(warp.groups[g].frame).place();
                    let at = self.at(issue);
                    let count = found.len() / values.len().max(1);
                    let each = count / issue.mask.count_ones().max(1) as usize;
                    for (r, stored) in values.iter().zip(found.chunks_mut(count.max(1))) {
                        let undefined = self.observer.undefined_lanes(&at, *r, place);
                        for (lane, parts) in lanes_of(issue.mask).zip(stored.chunks_mut(each.max(1))) {
                            parts.iter_mut().for_each(|part| part.undefined = undefined >> lane & 1 != 0);
                        }
                    }
                }
                self.watch_cells(issue, cells, values.len(), true);
                tensor.borrow_mut().store_later(issue.warp, found);
            }
        }
        Ok(Next::Advance)
    }

    /// Reports to observers of uninitialised values which lanes of a load's registers have such values.
    fn taint_loaded(
        &mut self,
        issue: Issue<'_>,
        (cells, values, reduction): (&TensorCells, &[Reg], Option<(Combine, Reg)>),
        place: FrameView,
    ) {
        let Ok((first, column)) = self.cells_base(issue, cells) else { return };
        let member = &issue.block.cluster.members[issue.block.rank];
        let at = self.at(issue);
        let mut all = 0;
        for (i, r) in values.iter().enumerate() {
            let tensor = member.tensor.borrow();
            let undefined = lanes_where(issue.mask, |lane| {
                let (l, c) = cells.of(lane as u32, i as u32);
                let columns = if cells.packed { 2 * c..2 * c + 2 } else { c..c + 1 };
                columns.into_iter().any(|c| tensor.is_undefined(first + l, column + c))
            });
            drop(tensor);
            all |= undefined;
            self.observer.tainted(&at, *r, place, undefined);
        }
        if let Some((_, r)) = reduction {
            self.observer.tainted(&at, r, place, all);
        }
    }

    /// Reports to observers an access to cells in which another operation is pending.
    fn watch_cells(&mut self, issue: Issue<'_>, cells: &TensorCells, registers: usize, stores: bool) {
        if !WATCHED || issue.mask == 0 {
            return;
        }
        let Ok((first, column)) = self.cells_base(issue, cells) else { return };
        let mut region = Region::default();
        for i in 0..registers as u32 {
            for lane in lanes_of(issue.mask) {
                let (l, c) = cells.of(lane as u32, i);
                if cells.packed {
                    region.add(first + l, column + 2 * c);
                    region.add(first + l, column + 2 * c + 1);
                } else {
                    region.add(first + l, column + c);
                }
            }
        }
        self.watch_region(issue, issue.block.rank, &region, stores, true);
        let tensor = &issue.block.cluster.members[issue.block.rank].tensor;
        tensor.borrow_mut().note_access(issue.warp, issue.pc, region, stores);
    }

    /// Reports to observers the use of a region in which another operation is pending. What is issued in order with products, copies and
    /// shifts need not wait for them.
    pub(in crate::engine) fn watch_region(
        &mut self,
        issue: Issue<'_>,
        rank: usize,
        region: &Region,
        writes: bool,
        waits: bool,
    ) {
        let Some(member) = issue.block.cluster.members.get(rank) else { return };
        let tensor = member.tensor.borrow();
        let stored = tensor.unwaited(region, true).map(|pc| (TensorHazard::Stored, pc));
        let loaded = tensor.unwaited(region, false).filter(|_| writes).map(|pc| (TensorHazard::Loaded, pc));
        let under_way =
            if waits { issue.block.cluster.flight.borrow().in_cells(rank, region, writes) } else { None };
        let under_way = under_way.map(|pc| (TensorHazard::InFlight, pc));
        drop(tensor);
        for (hazard, other) in stored.into_iter().chain(loaded).chain(under_way) {
            let at = self.at(issue);
            self.observer.synchronise(&at, Sync::Tensor { hazard, other });
        }
    }

    /// The first lane and column, which is the same for all threads.
    fn cells_base(&self, issue: Issue<'_>, cells: &TensorCells) -> Fallible<(u32, u32)> {
        let addresses = crate::engine::access::addresses(issue.frame, &cells.at, issue.stack);
        let first = issue.mask.trailing_zeros() as usize & 31;
        if let Some(lane) = lanes_of(issue.mask).find(|lane| addresses[*lane] != addresses[first]) {
            let message = format!(
                "the address in tensor memory is {:#x}, in another thread of the warp {:#x}",
                addresses[lane], addresses[first]
            );
            return Err(self.fault(issue.only(1 << lane), FaultCode::BadTensorMemory, message));
        }
        let address = addresses[first] as u32;
        let (lane, column) = (address >> 16, address & 0xffff);
        let quarter = 32 * (issue.warp % 4);
        let rows = if cells.shape == TensorShape::N32x32b { 32 } else { 16 };
        if lane < quarter || lane + rows > quarter + 32 {
            let message = format!(
                "lanes {lane} to {} of tensor memory; warp {} of the block can access lanes {quarter} to {} (9.7.16.8.1)",
                lane + rows - 1,
                issue.warp,
                quarter + 31
            );
            return Err(self.fault(issue.only(1 << first), FaultCode::BadTensorMemory, message));
        }
        Ok((lane, column))
    }

    fn bad_cell(&self, issue: Issue<'_>, lane: usize, message: String) -> Box<Fault> {
        self.fault(issue.only(1 << lane), FaultCode::BadTensorMemory, message)
    }

    fn load_cells(
        &self,
        issue: Issue<'_>,
        tensor: &TensorMemory,
        cells: &TensorCells,
        values: &[Reg],
        reduction: Option<(Combine, Reg)>,
    ) -> Fallible<()> {
        let (first, column) = self.cells_base(issue, cells)?;
        let mut reduced = [0u64; 32];
        for (i, r) in values.iter().enumerate() {
            let mut row = [0u64; 32];
            for lane in lanes_of(issue.mask) {
                let (l, c) = cells.of(lane as u32, i as u32);
                let bad = |message| self.bad_cell(issue, lane, message);
                let value = if cells.packed {
                    let low = tensor.load(first + l, column + 2 * c).map_err(bad)?;
                    let high = tensor.load(first + l, column + 2 * c + 1).map_err(bad)?;
                    low & 0xffff | high << 16
                } else {
                    tensor.load(first + l, column + c).map_err(bad)?
                };
                row[lane] = value.into();
                if let Some((f, _)) = reduction {
                    reduced[lane] = if i == 0 { value } else { f(reduced[lane] as u32, value) }.into();
                }
            }
            put(issue.frame, *r, issue.mask, &row);
        }
        if let Some((_, r)) = reduction {
            put(issue.frame, r, issue.mask, &reduced);
        }
        Ok(())
    }

    /// The cells that a store writes, checked.
    fn store_cells(
        &self,
        issue: Issue<'_>,
        tensor: &TensorMemory,
        cells: &TensorCells,
        values: &[Reg],
    ) -> Fallible<Vec<Stored>> {
        let (first, column) = self.cells_base(issue, cells)?;
        let mut found = Vec::with_capacity(values.len() * 32);
        for (i, r) in values.iter().enumerate() {
            for lane in lanes_of(issue.mask) {
                let (l, c) = cells.of(lane as u32, i as u32);
                let value = lane32(issue.frame, *r, lane);
                let parts: &[(u32, u32)] = if cells.packed {
                    &[(column + 2 * c, value & 0xffff), (column + 2 * c + 1, value >> 16)]
                } else {
                    &[(column + c, value)]
                };
                for (column, value) in parts {
                    tensor
                        .check(first + l, *column)
                        .map_err(|message| self.bad_cell(issue, lane, message))?;
                    found.push(Stored { lane: first + l, column: *column, value: *value, undefined: false });
                }
            }
        }
        Ok(found)
    }
}
