//! Operations of a warp on matrices (PTX ISA 9.0, 9.7.14): all 32 lanes execute them together, or it is a fault.

mod operands;
mod warpgroup;

pub(in crate::engine) use warpgroup::{Products, Warpgroups};

use crate::engine::file::Frame;
use crate::engine::matrix_op::{MatrixOp, MultiplyOp, ScaleOperand};
use crate::engine::reg::{Reg, Width};
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::{lane32, lanes_where};
use crate::engine::warp::{State, Warp};
use crate::fault::FaultCode;
use warpsmith_semantics::matrix::{BadMetadata, Inputs, Lanes, WarpWorkspace};

/// All lanes of a warp.
const ALL: u32 = u32::MAX;

/// Room for matrices, one per host thread.
#[derive(Default)]
pub(in crate::engine) struct Room {
    workspace: WarpWorkspace,
    inputs: Inputs,
    results: Vec<Lanes>,
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Executes the operation once all lanes of the warp are here.
    #[inline(never)]
    pub fn matrix(&mut self, warp: &mut Warp, g: usize, issue: Issue<'_>, op: &MatrixOp) -> Fallible<Next> {
        if issue.mask == 0 {
            return Ok(Next::Advance);
        }
        if issue.mask != ALL {
            return self.gather_lanes(warp, g, issue);
        }
        match op {
            MatrixOp::Converge | MatrixOp::RegisterCount { .. } => {}
            MatrixOp::Multiply(op) => self.multiply(issue, op)?,
            MatrixOp::Warpgroup(op) => return self.start_product(warp, g, issue, op),
            MatrixOp::WarpgroupFence => self.complete_due(warp, issue)?,
            MatrixOp::WarpgroupCommit => self.commit_products(warp, issue)?,
            MatrixOp::WarpgroupWait(pending) => return self.wait_for_products(warp, g, issue, *pending),
            MatrixOp::Exchange { exchange, from, to } => {
                let mut room = self.room.take().unwrap_or_default();
                let Room { inputs, results, .. } = &mut *room;
                let lines = &mut inputs.matrices[0];
                lines.clear();
                lines.extend(from.iter().map(|r| word(issue.frame, *r)));
                results.clear();
                results.resize(to.len(), [0; 32]);
                exchange.run(lines, results);
                for (r, values) in to.iter().zip(results) {
                    if let Some(r) = r {
                        set_word(issue.frame, *r, values);
                    }
                }
                self.room = Some(room);
            }
        }
        Ok(Next::Advance)
    }

    /// Lets lanes wait for the others of their warp, unless those cannot come.
    #[cold]
    fn gather_lanes(&mut self, warp: &mut Warp, g: usize, issue: Issue<'_>) -> Fallible<Next> {
        let misuse = |missing: u32, why: &str| {
            let lane = missing.trailing_zeros();
            let message = format!(
                "all 32 threads of a warp must execute this instruction together, but lane {lane} {why}"
            );
            Err(self.fault(issue, FaultCode::BadMask, message))
        };
        let gone = !warp.alive;
        if gone != 0 {
            return misuse(gone, "has exited, or the block has no such thread");
        }
        let left_out = warp.groups[g].mask & !issue.mask;
        if left_out != 0 {
            return misuse(left_out, "does not, by its predicate");
        }
        // Some may be here already, having come another way.
        let before = warp.groups[g].mask;
        let g = warp.reconverge(g);
        if warp.groups[g].mask == before {
            warp.groups[g].wait(State::Collective(ALL));
        }
        Ok(Next::Choose)
    }

    fn multiply(&mut self, issue: Issue<'_>, op: &MultiplyOp) -> Fallible<()> {
        let frame = issue.frame;
        let mut room = self.room.take().unwrap_or_default();
        let inputs = &mut room.inputs;
        for (registers, lanes) in op.sources.iter().zip(&mut inputs.matrices) {
            lanes.clear();
            for r in registers {
                if r.width() == Width::W64 {
                    lanes.extend(halves(frame, *r));
                } else {
                    lanes.push(word(frame, *r));
                }
            }
        }
        if let Some((r, selector)) = op.metadata {
            let selectors = op.product.selectors();
            if selector as usize >= selectors {
                let message = format!(
                    "the sparsity selector is {selector}; this form has {selectors}, and hardware stops at others as at an illegal instruction"
                );
                return Err(self.fault(issue, FaultCode::BadOperand, message));
            }
            (inputs.metadata, inputs.selector) = (word(frame, r), selector as usize);
        }
        if let Some(scales) = &op.scales {
            for (which, operand) in scales.iter().enumerate() {
                inputs.scales[which] = word(frame, operand.data);
                inputs.scale_selectors[which] = self.selectors(issue, op, which, operand)?;
            }
        }
        let arithmetic = self.cx.arithmetic;
        let outcome = op.product.run(arithmetic, self.level, &mut room.workspace, inputs, &mut room.results);
        if let Err(bad) = outcome {
            return Err(self.bad_metadata(issue, bad));
        }
        let wide = if op.product.is_double() { 2 } else { 1 };
        for (r, values) in op.d.iter().zip(room.results.chunks_exact(wide)) {
            match (r, values) {
                (Some(r), [values]) => set_word(frame, *r, values),
                (Some(r), [low, high]) => set_halves(frame, *r, low, high),
                _ => {}
            }
        }
        self.room = Some(room);
        Ok(())
    }

    #[cold]
    fn bad_metadata(&self, issue: Issue<'_>, bad: BadMetadata) -> Box<crate::fault::Fault> {
        let BadMetadata { lane, bit, nibble } = bad;
        let message = format!(
            "bits {}:{bit} of the sparsity metadata are {nibble:#06b}, which names no two different elements in the order that the form asks for",
            bit + 3
        );
        self.fault(issue.only(1 << (lane & 31)), FaultCode::BadOperand, message)
    }

    /// The byte and the thread that hold scales: the same in all lanes, and of those that the kind has (9.7.14.3).
    fn selectors(
        &self,
        issue: Issue<'_>,
        op: &MultiplyOp,
        which: usize,
        operand: &ScaleOperand,
    ) -> Fallible<[usize; 2]> {
        let matrix = ["a", "b"][which];
        let bytes: &[u32] = match op.product.scaling.map_or(1, |scaling| scaling.blocks) {
            1 => &[0, 1, 2, 3],
            2 => &[0, 2],
            _ => &[0],
        };
        let threads: &[u32] = if which == 0 { &[0, 1] } else { &[0, 1, 2, 3] };
        let mut found = [0; 2];
        let operands = [("byte-id", operand.byte, bytes), ("thread-id", operand.thread, threads)];
        for (place, (name, r, legal)) in operands.into_iter().enumerate() {
            let value = lane32(issue.frame, r, 0) & 0xffff;
            let others = lanes_where(ALL, |lane| lane32(issue.frame, r, lane) & 0xffff != value);
            let bad = if !legal.contains(&value) { 1 } else { others };
            if bad != 0 {
                let issue = issue.only(bad);
                let value = lane32(issue.frame, r, bad.trailing_zeros() as usize) & 0xffff;
                let why = match others {
                    _ if !legal.contains(&value) => format!("it must be one of {legal:?}"),
                    _ => "it must be the same in all lanes".into(),
                };
                let message = format!("the {name} of the scales of {matrix} is {value}; {why}");
                return Err(self.fault(issue, FaultCode::BadOperand, message));
            }
            found[place] = value as usize;
        }
        Ok(found)
    }
}

/// The lanes of a 32-bit register.
fn word(frame: Frame, r: Reg) -> Lanes {
    // SAFETY: registers of operations and their widths were checked when the program was built.
    unsafe { (*frame.row::<u32>(r)).0 }
}

/// The lower and the upper words of a 64-bit register.
fn halves(frame: Frame, r: Reg) -> [Lanes; 2] {
    // SAFETY: as in `word`.
    let row = unsafe { &(*frame.row::<u64>(r)).0 };
    [row.map(|v| v as u32), row.map(|v| (v >> 32) as u32)]
}

fn set_word(frame: Frame, r: Reg, values: &Lanes) {
    // SAFETY: as in `word`; destinations are not constants.
    unsafe { (*frame.row_mut::<u32>(r)).0 = *values }
}

fn set_halves(frame: Frame, r: Reg, low: &Lanes, high: &Lanes) {
    let values = std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32);
    // SAFETY: as in `set_word`.
    unsafe { (*frame.row_mut::<u64>(r)).0 = values }
}
