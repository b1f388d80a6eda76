//! Products of warpgroups (PTX ISA 9.0, 9.7.15): a thread starts them, and the machine makes them later.
//!
//! Each of the four warps makes 16 of the 64 rows, from registers of its own and from shared memory. Started, a product is in flight: what it
//! reads, registers and memory, is read when it is made, and its results are there then. It is made when the warp waits for its group, when its
//! time has come and the warp has to do with products, and not before: a kernel that does not wait sees the old accumulators, and one that
//! overwrites shared memory too early multiplies what it has written. Products of a warp are made in their order.

use super::{ALL, Room, set_word, word};
use crate::engine::async_op::Group;
use crate::engine::matrix_op::{MatrixOp, WarpgroupOp, WarpgroupOperand};
use crate::engine::observe::{FrameView, MemoryRange, Stage, Sync};
use crate::engine::op::Op;
use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::values::{holds, lane64, lanes_of, lanes_where};
use crate::engine::warp::Warp;
use crate::fault::FaultCode;
use warpsmith_semantics::matrix::{Descriptor, Major};

/// How long a product takes without a seed, in instructions of the cluster.
const DELAY: u64 = 1 << 12;

/// The most products of a warp in flight. Past that, the oldest is made early.
const MOST_IN_FLIGHT: usize = 256;

/// The products of a warp in flight, the oldest first.
#[derive(Default)]
pub(in crate::engine) struct Products {
    pending: Vec<Pending>,
    committed: u32,
    started: u64,
}

/// A product in flight.
#[derive(Clone, Copy)]
struct Pending {
    number: u64,
    pc: u32,
    place: FrameView,
    /// The group that it belongs to, once that is committed.
    group: u32,
    due: u64,
    a: Option<Descriptor>,
    b: Descriptor,
    accumulates: bool,
}

/// Observers are told of reads as lane 0's, and of the rest as the whole warp's.
const FIRST: u32 = 1;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// `wgmma.mma_async`
    pub(super) fn start_product(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &WarpgroupOp,
    ) -> Fallible<()> {
        let threads = self.cx.threads();
        if threads < (issue.warp / 4 + 1) * 128 {
            let message = format!(
                "a warpgroup is four warps, from a multiple of four on; of warps {} to {} the block with its {threads} threads has not all",
                issue.warp / 4 * 4,
                issue.warp / 4 * 4 + 3
            );
            return Err(self.fault(issue, FaultCode::BadOperand, message));
        }
        let b = self.descriptor(issue, "b", op.b)?;
        let a = match &op.a {
            WarpgroupOperand::Registers(_) => None,
            WarpgroupOperand::Descriptor(r) => Some(self.descriptor(issue, "a", *r)?),
        };
        let accumulates = holds(issue.frame, op.accumulates);
        if accumulates != 0 && accumulates != ALL {
            let message = "scale-d is true in some lanes and false in others; it must be the same in all";
            return Err(self.fault(issue, FaultCode::BadOperand, message));
        }
        let place = warp.activation(warp.groups[g].frame).place();
        let (_, after) = self.turns.delay(DELAY);
        let now = issue.block.cluster.clock.get();
        let number = warp.products.started;
        warp.products.started += 1;
        if WATCHED {
            self.observer.transfer(&self.at(issue), number_of(issue, number), Stage::Issued);
        }
        warp.products.pending.push(Pending {
            number,
            pc: issue.pc,
            place,
            group: warp.products.committed,
            due: now.saturating_add(after),
            a,
            b,
            accumulates: accumulates != 0,
        });
        if warp.products.pending.len() > MOST_IN_FLIGHT {
            self.make_first(warp, issue)?;
        }
        self.complete_due(warp, issue)
    }

    /// `wgmma.commit_group`
    pub(super) fn commit_products(&mut self, warp: &mut Warp, issue: Issue<'_>) -> Fallible<()> {
        warp.products.committed = warp.products.committed.wrapping_add(1);
        if WATCHED {
            let at = self.at(issue);
            self.observer.synchronise(&at, Sync::Commit(Group::Matrix));
        }
        self.complete_due(warp, issue)
    }

    /// `wgmma.wait_group`
    pub(super) fn wait_for_products(
        &mut self,
        warp: &mut Warp,
        issue: Issue<'_>,
        pending: u32,
    ) -> Fallible<()> {
        let complete = warp.products.committed.saturating_sub(pending);
        while warp.products.pending.first().is_some_and(|p| p.group < complete) {
            self.make_first(warp, issue)?;
        }
        if WATCHED {
            let at = self.at(issue);
            self.observer.synchronise(&at, Sync::Wait { group: Group::Matrix, pending, read: false });
        }
        self.complete_due(warp, issue)
    }

    /// Makes the products whose time has come.
    pub(super) fn complete_due(&mut self, warp: &mut Warp, issue: Issue<'_>) -> Fallible<()> {
        let now = issue.block.cluster.clock.get();
        while warp.products.pending.first().is_some_and(|p| p.due <= now) {
            self.make_first(warp, issue)?;
        }
        Ok(())
    }

    fn descriptor(&self, issue: Issue<'_>, name: &str, r: Reg) -> Fallible<Descriptor> {
        let bits = lane64(issue.frame, r, 0);
        let others = lanes_where(ALL, |lane| lane64(issue.frame, r, lane) != bits);
        if others != 0 {
            let message = format!("the descriptor of {name} is not the same in all lanes");
            return Err(self.fault(issue.only(others), FaultCode::BadOperand, message));
        }
        Descriptor::of_warpgroup(bits).map_err(|bad| {
            self.fault(issue, FaultCode::BadOperand, format!("descriptor {bits:#018x} of {name}: {bad}"))
        })
    }

    /// Makes the oldest product.
    fn make_first(&mut self, warp: &mut Warp, issue: Issue<'_>) -> Fallible<()> {
        let pending = warp.products.pending.remove(0);
        let program = self.cx.program;
        let Some(Op::Matrix(op)) = program.code.get(pending.pc as usize).map(|inst| &inst.op) else {
            return Ok(());
        };
        let MatrixOp::Warpgroup(op) = &**op else { return Ok(()) };
        let end = (pending.place.row + pending.place.rows) as usize;
        if end > warp.file.rows().len() {
            return Ok(());
        }
        let issue = Issue { frame: warp.frame(pending.place, self.cx.constants), pc: pending.pc, ..issue };
        let mut room = self.room.take().unwrap_or_default();
        let Room { inputs, workspace, results } = &mut *room;
        let product = &op.product;
        let [depth_of_a, depth_of_b] = product.depths().map(|d| d as u32);
        let size = product.types[0].unit_bytes();
        let (rows, columns) = (product.shape[0] as u32, product.shape[1] as u32);
        let mut elements =
            [inputs.elements[0].take().unwrap_or_default(), inputs.elements[1].take().unwrap_or_default()];
        let mut undefined = Undefined { rows: [false; 16], columns: vec![false; columns as usize] };
        if let Some(a) = &pending.a {
            let first = issue.warp % 4 * rows;
            let tile =
                Tile { descriptor: a, major: op.major[0], first, lines: rows, depth: depth_of_a, size };
            self.fetch(issue, pending.number, "a", &tile, (&mut elements[0], &mut undefined.rows))?;
        }
        let tile = Tile {
            descriptor: &pending.b,
            major: op.major[1],
            first: 0,
            lines: columns,
            depth: depth_of_b,
            size,
        };
        self.fetch(issue, pending.number, "b", &tile, (&mut elements[1], &mut undefined.columns))?;
        // B is wanted row by row.
        let [of_a, by_columns] = elements;
        let (n, k) = (columns as usize, depth_of_b as usize);
        let of_b: Vec<u32> = (0..n * k).map(|at| by_columns[at % n * k + at / n]).collect();
        inputs.elements = [pending.a.is_some().then_some(of_a), Some(of_b)];
        inputs.matrices[0].clear();
        if let WarpgroupOperand::Registers(list) = &op.a {
            inputs.matrices[0].extend(list.iter().map(|r| word(issue.frame, *r)));
        }
        inputs.matrices[2].clear();
        inputs.matrices[2].extend(op.d.iter().map(|r| match pending.accumulates {
            true => word(issue.frame, *r),
            false => [0; 32],
        }));
        if let Some((r, selector)) = op.metadata {
            (inputs.metadata, inputs.selector) = (word(issue.frame, r), selector as usize);
        }
        let arithmetic = self.cx.arithmetic;
        let outcome = product.run(arithmetic, self.level, workspace, inputs, results);
        if let Err(bad) = outcome {
            return Err(self.bad_metadata(issue, bad));
        }
        inputs.elements = [None, None];
        if WATCHED {
            self.taint_product(issue, op, &pending, undefined);
        }
        for (r, values) in op.d.iter().zip(&*results) {
            set_word(issue.frame, *r, values);
        }
        self.room = Some(room);
        self.changes += 1;
        if WATCHED {
            let at = self.at(issue);
            self.observer.transfer(&at, number_of(issue, pending.number), Stage::Complete);
        }
        Ok(())
    }

    /// Tells those who follow what was never written of what a product gives: what comes of such elements of A, of B and of C.
    fn taint_product(
        &mut self,
        issue: Issue<'_>,
        op: &WarpgroupOp,
        pending: &Pending,
        mut undefined: Undefined,
    ) {
        let at = self.at(issue);
        if let WarpgroupOperand::Registers(list) = &op.a {
            for (i, r) in list.iter().enumerate() {
                let lanes = self.observer.undefined_lanes(&at, *r, pending.place);
                lanes_of(lanes).for_each(|lane| undefined.rows[lane / 4 + 8 * (i % 2)] = true);
            }
        }
        let parts = op.product.accumulators[1].per_register();
        for (i, r) in op.d.iter().enumerate() {
            let of_c =
                if pending.accumulates { self.observer.undefined_lanes(&at, *r, pending.place) } else { 0 };
            let lanes = lanes_where(ALL, |lane| {
                (i * parts..(i + 1) * parts).any(|element| {
                    let row = lane / 4 + 8 * (element / 2 % 2);
                    let column = element / 4 * 8 + lane % 4 * 2 + element % 2;
                    undefined.rows[row] || undefined.columns.get(column).copied().unwrap_or(false)
                })
            });
            self.observer.tainted(&at, *r, pending.place, of_c | lanes);
        }
    }

    /// Reads a matrix from shared memory: lines one after the other, each with its elements along what is added up.
    fn fetch(
        &mut self,
        issue: Issue<'_>,
        number: u64,
        name: &str,
        tile: &Tile<'_>,
        (out, undefined): (&mut Vec<u32>, &mut [bool]),
    ) -> Fallible<()> {
        let Tile { descriptor, major, first, lines, depth, size } = *tile;
        let shared = issue.block.shared;
        let per_unit = UNIT / size;
        let mut units: Vec<u64> = Vec::new();
        out.clear();
        out.resize((lines * depth) as usize, 0);
        // Units of 16 bytes stay together whatever the swizzle. They go along one side of the matrix.
        let (outer, along) = match major {
            Major::K => (lines, depth),
            Major::Mn => (depth, lines),
        };
        for i in 0..outer {
            for unit in 0..along.div_ceil(per_unit) {
                let j = unit * per_unit;
                let at = match major {
                    Major::K => descriptor.address(major, first + i, j * size, size),
                    Major::Mn => descriptor.address(major, first + j, i * size, size),
                };
                let mut bytes = [0; UNIT as usize];
                let end = at as usize + bytes.len();
                if end > shared.len() {
                    let message = format!(
                        "the matrix {name} of the descriptor reaches shared address {at:#x}; the block has {} bytes",
                        shared.len()
                    );
                    let mut fault = self.fault(issue, FaultCode::OutOfBounds, message);
                    fault.address = Some(at.into());
                    return Err(fault);
                }
                shared.read(at as usize, &mut bytes);
                if WATCHED {
                    units.push(at.into());
                    let bytes = UNIT.into();
                    let place =
                        MemoryRange { rank: Some(issue.block.rank), address: at.into(), bytes, at: 0 };
                    let first = self.at(issue.only(FIRST));
                    if self.observer.is_undefined(&first, place) {
                        let lines = match major {
                            Major::K => i..i + 1,
                            Major::Mn => j..(j + per_unit).min(along),
                        };
                        lines.for_each(|line| undefined[line as usize] = true);
                    }
                }
                for (n, element) in bytes.chunks_exact(size as usize).enumerate() {
                    let j = j + n as u32;
                    let place = match major {
                        Major::K => i * depth + j,
                        Major::Mn => j * depth + i,
                    };
                    if j < along {
                        out[place as usize] =
                            element.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                    }
                }
            }
        }
        if WATCHED {
            units.sort_unstable();
            let at = self.at(issue.only(FIRST));
            for range in units.chunk_by(|a, b| b - a <= u64::from(UNIT)) {
                let (Some(start), Some(last)) = (range.first(), range.last()) else { continue };
                let bytes = last + u64::from(UNIT) - start;
                let place = MemoryRange { rank: Some(issue.block.rank), address: *start, bytes, at: 0 };
                self.observer.transfer(&at, number_of(issue, number), Stage::Read(place));
            }
        }
        Ok(())
    }
}

/// The rows of A and columns of B that have elements that were never written.
struct Undefined {
    rows: [bool; 16],
    columns: Vec<bool>,
}

/// Bytes that a swizzle leaves together.
const UNIT: u32 = 16;

/// A matrix in shared memory.
#[derive(Clone, Copy)]
struct Tile<'a> {
    descriptor: &'a Descriptor,
    major: Major,
    /// The first row of A.
    first: u32,
    lines: u32,
    /// Elements along what is added up, each of `size` bytes.
    depth: u32,
    size: u32,
}

/// A number that no other asynchronous operation of the cluster has.
fn number_of(issue: Issue<'_>, number: u64) -> u64 {
    1 << 63 | (issue.block.rank as u64) << 48 | u64::from(issue.warp) << 40 | number & 0xff_ffff_ffff
}
