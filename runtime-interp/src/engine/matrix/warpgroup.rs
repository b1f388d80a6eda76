//! Products of warpgroups (PTX ISA 9.0, 9.7.15): a thread starts them, and the machine makes them later.
//!
//! Each of the four warps makes 16 of the 64 rows, from registers of its own and from shared memory. Started, a product is in flight: what it
//! reads, registers and memory, is read when it is made, and its results are there then. It is made when the warp waits for its group, when its
//! time has come and the warp has to do with products, and not before: a kernel that does not wait sees the old accumulators, and one that
//! overwrites shared memory too early multiplies what it has written. Products of a warp are made in their order.
//!
//! The four warps multiply together (9.7.15.5.2): none makes a product before all have started it, and shared memory is read once, for all of them.
//! So when one warp has waited for its products, all four have read what they read, and it may give the memory back for the four, as
//! pipelines of CUTLASS do.

use super::operands::{Matrices, Tile};
use super::{ALL, Room, set_word, word};
use crate::engine::async_op::Group;
use crate::engine::matrix_op::{MatrixOp, WarpgroupOp, WarpgroupOperand};
use crate::engine::mbarrier::await_event;
use crate::engine::observe::{FrameView, Stage, Sync};
use crate::engine::op::Op;
use crate::engine::reg::Reg;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{holds, lane64, lanes_of, lanes_where};
use crate::engine::warp::Warp;
use crate::fault::FaultCode;
use warpsmith_semantics::matrix::Descriptor;

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

/// What the warpgroups of a cluster do together.
#[derive(Default)]
pub(in crate::engine) struct Warpgroups {
    /// Each with its block and its number in it.
    all: Vec<((usize, u32), Warpgroup)>,
}

/// What four warps do together.
#[derive(Default)]
struct Warpgroup {
    /// How many products each of them has started.
    started: [u64; 4],
    /// The descriptors of A and B of products that not all have started.
    given: Vec<(u64, [u64; 2])>,
    /// The matrices in shared memory of products that not all have made.
    read: Vec<(u64, Matrices)>,
    /// One of them waits for the others.
    waits: bool,
}

impl Warpgroups {
    fn of(&mut self, issue: Issue<'_>) -> &mut Warpgroup {
        let key = (issue.block.rank, issue.warp / 4);
        let i = self.all.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            self.all.push((key, Warpgroup::default()));
            self.all.len() - 1
        });
        &mut self.all[i].1
    }

    /// Forgets the warpgroups of blocks that are over.
    pub fn clear(&mut self) {
        self.all.clear();
    }
}

impl Warpgroup {
    /// A warp starts a product. The first descriptor, A's or B's, that is not what another warp of the group has given.
    fn start(&mut self, warp: usize, number: u64, descriptors: [u64; 2]) -> Option<(&'static str, u64)> {
        self.started[warp] = number + 1;
        let Some(at) = self.given.iter().position(|(other, _)| *other == number) else {
            self.given.push((number, descriptors));
            return None;
        };
        let theirs = self.given[at].1;
        if self.all_have_started(number) {
            self.given.remove(at);
        }
        let differs = (0..2).find(|side| theirs[*side] != descriptors[*side])?;
        Some((["a", "b"][differs], theirs[differs]))
    }

    fn all_have_started(&self, number: u64) -> bool {
        self.started.iter().all(|started| *started > number)
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// `wgmma.mma_async`
    pub(super) fn start_product(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        op: &WarpgroupOp,
    ) -> Fallible<Next> {
        let threads = self.cx.threads();
        if threads < (issue.warp / 4 + 1) * 128 {
            let message = format!(
                "a warpgroup is four warps, from a multiple of four on; of warps {} to {} the block with its {threads} threads has not all",
                issue.warp / 4 * 4,
                issue.warp / 4 * 4 + 3
            );
            return Err(self.fault(issue, FaultCode::BadOperand, message));
        }
        // Nobody runs further ahead of the other warps.
        if warp.products.pending.len() >= MOST_IN_FLIGHT
            && let Some(first) = warp.products.pending.first()
        {
            let mut warpgroups = issue.block.cluster.warpgroups.borrow_mut();
            let warpgroup = warpgroups.of(issue);
            if !warpgroup.all_have_started(first.number) {
                warpgroup.waits = true;
                return Ok(await_event(warp, g, issue, u64::MAX));
            }
        }
        let (bits_of_b, b) = self.descriptor(issue, "b", op.b)?;
        let (bits_of_a, a) = match &op.a {
            WarpgroupOperand::Registers(_) => (0, None),
            WarpgroupOperand::Descriptor(r) => {
                let (bits, a) = self.descriptor(issue, "a", *r)?;
                (bits, Some(a))
            }
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
        let descriptors = [bits_of_a, bits_of_b];
        let mut warpgroups = issue.block.cluster.warpgroups.borrow_mut();
        let warpgroup = warpgroups.of(issue);
        if let Some((name, theirs)) = warpgroup.start(issue.warp as usize % 4, number, descriptors) {
            let own = descriptors[usize::from(name == "b")];
            let message = format!(
                "the descriptor of {name} is {own:#018x}, and {theirs:#018x} in another warp of the warpgroup; it must be the same in all four"
            );
            return Err(self.fault(issue, FaultCode::BadOperand, message));
        }
        if warpgroup.waits && warpgroup.all_have_started(number) {
            warpgroup.waits = false;
            issue.block.cluster.note_event();
        }
        drop(warpgroups);
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
        self.complete_due(warp, issue)?;
        Ok(Next::Advance)
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

    /// `wgmma.wait_group`: waits for the other warps of the group, if they have still to start what is waited for.
    pub(super) fn wait_for_products(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        pending: u32,
    ) -> Fallible<Next> {
        let complete = warp.products.committed.saturating_sub(pending);
        if let Some(last) = warp.products.pending.iter().take_while(|p| p.group < complete).last() {
            let mut warpgroups = issue.block.cluster.warpgroups.borrow_mut();
            let warpgroup = warpgroups.of(issue);
            if !warpgroup.all_have_started(last.number) {
                warpgroup.waits = true;
                return Ok(await_event(warp, g, issue, u64::MAX));
            }
        }
        while warp.products.pending.first().is_some_and(|p| p.group < complete) {
            self.make_first(warp, issue)?;
        }
        if WATCHED {
            let at = self.at(issue);
            self.observer.synchronise(&at, Sync::Wait { group: Group::Matrix, pending, read: false });
        }
        self.complete_due(warp, issue)?;
        Ok(Next::Advance)
    }

    /// Makes the products whose time has come.
    pub(super) fn complete_due(&mut self, warp: &mut Warp, issue: Issue<'_>) -> Fallible<()> {
        let now = issue.block.cluster.clock.get();
        while let Some(first) = warp.products.pending.first().filter(|p| p.due <= now) {
            if !issue.block.cluster.warpgroups.borrow_mut().of(issue).all_have_started(first.number) {
                break;
            }
            self.make_first(warp, issue)?;
        }
        Ok(())
    }

    fn descriptor(&self, issue: Issue<'_>, name: &str, r: Reg) -> Fallible<(u64, Descriptor)> {
        let bits = lane64(issue.frame, r, 0);
        let others = lanes_where(ALL, |lane| lane64(issue.frame, r, lane) != bits);
        if others != 0 {
            let message = format!("the descriptor of {name} is not the same in all lanes");
            return Err(self.fault(issue.only(others), FaultCode::BadOperand, message));
        }
        let descriptor = Descriptor::of_warpgroup(bits).map_err(|bad| {
            self.fault(issue, FaultCode::BadOperand, format!("descriptor {bits:#018x} of {name}: {bad}"))
        })?;
        Ok((bits, descriptor))
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
        let matrices = self.matrices(issue, op, &pending)?;
        let Matrices { a, b, undefined_rows, undefined_columns, left } = matrices;
        let (rows, depth) = (product.shape[0], product.depths()[0]);
        let own = issue.warp as usize % 4 * rows;
        inputs.elements = [a.as_ref().map(|a| a[own * depth..(own + rows) * depth].to_vec()), Some(b)];
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
        let b = std::mem::take(&mut inputs.elements)[1].take().unwrap_or_default();
        if WATCHED {
            let rows = std::array::from_fn(|row| undefined_rows[own + row]);
            self.taint_product(issue, op, &pending, rows, &undefined_columns);
        }
        // The last of the warps leaves nothing.
        let left = left & !(1 << (issue.warp % 4));
        if left != 0 {
            let matrices = Matrices { a, b, undefined_rows, undefined_columns, left };
            issue.block.cluster.warpgroups.borrow_mut().of(issue).read.push((pending.number, matrices));
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

    /// Reports a product's results to observers of uninitialised values: which depend on such elements of A, of B and of C.
    fn taint_product(
        &mut self,
        issue: Issue<'_>,
        op: &WarpgroupOp,
        pending: &Pending,
        mut undefined_rows: [bool; 16],
        undefined_columns: &[bool],
    ) {
        let at = self.at(issue);
        if let WarpgroupOperand::Registers(list) = &op.a {
            for (i, r) in list.iter().enumerate() {
                let lanes = self.observer.undefined_lanes(&at, *r, pending.place);
                lanes_of(lanes).for_each(|lane| undefined_rows[lane / 4 + 8 * (i % 2)] = true);
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
                    undefined_rows[row] || undefined_columns.get(column).copied().unwrap_or(false)
                })
            });
            self.observer.tainted(&at, *r, pending.place, of_c | lanes);
        }
    }

    /// The matrices of a warp's product: what another warp has read, or now all that the four warps multiply.
    fn matrices(&mut self, issue: Issue<'_>, op: &WarpgroupOp, pending: &Pending) -> Fallible<Matrices> {
        let number = pending.number;
        let started = {
            let mut warpgroups = issue.block.cluster.warpgroups.borrow_mut();
            let warpgroup = warpgroups.of(issue);
            if let Some(at) = warpgroup.read.iter().position(|(other, _)| *other == number) {
                return Ok(warpgroup.read.swap_remove(at).1);
            }
            warpgroup.started
        };
        let product = &op.product;
        let [depth_of_a, depth_of_b] = product.depths().map(|d| d as u32);
        let size = product.types[0].unit_bytes();
        let (rows, columns) = (product.shape[0] as u32, product.shape[1] as u32);
        let mut read = Matrices::new(columns);
        // Observers get each warp's reads.
        let report = |runner: &mut Self, warp: u32, units: &[u64]| {
            if WATCHED && started[warp as usize] > number {
                let one = Issue { warp: issue.warp / 4 * 4 + warp, ..issue };
                runner.tell_reads(one, number_of(one, number), units);
            }
        };
        if let Some(a) = &pending.a {
            let all = read.a.insert(Vec::new());
            for warp in 0..4 {
                let first = warp * rows;
                let tile =
                    Tile { descriptor: a, major: op.major[0], first, lines: rows, depth: depth_of_a, size };
                let undefined = &mut read.undefined_rows[first as usize..][..rows as usize];
                let units = self.fetch(issue, "a", &tile, all, undefined)?;
                report(self, warp, &units);
            }
        }
        let (descriptor, major) = (&pending.b, op.major[1]);
        let tile = Tile { descriptor, major, first: 0, lines: columns, depth: depth_of_b, size };
        let mut by_columns = Vec::new();
        let units = self.fetch(issue, "b", &tile, &mut by_columns, &mut read.undefined_columns)?;
        (0..4).for_each(|warp| report(self, warp, &units));
        // B is wanted row by row.
        let (n, k) = (columns as usize, depth_of_b as usize);
        read.b = (0..k).flat_map(|row| by_columns[row..].iter().step_by(k).copied()).collect();
        debug_assert_eq!(read.b.len(), n * k);
        Ok(read)
    }
}

/// A number that no other asynchronous operation of the cluster has.
fn number_of(issue: Issue<'_>, number: u64) -> u64 {
    1 << 63 | (issue.block.rank as u64) << 48 | u64::from(issue.warp) << 40 | number & 0xff_ffff_ffff
}
