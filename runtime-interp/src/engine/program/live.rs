//! Which registers are read later: what machine code need not keep.
//!
//! A lane follows the branches of its function alone, so the sets are those of any compiler, lane by lane. Where something else may look at registers
//! (what lanes exchange, what goes on beside the program), all of them are live.

use super::Program;
use super::bits::Bits;
use crate::engine::observe::OperationKind;
use crate::engine::op::{Inst, Move, Op};
use crate::engine::program::Slot;
use crate::engine::reg::{Reg, Width};
use std::ops::Range;

/// A set of registers of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    rows: Bits,
}

impl Registers {
    pub(in crate::engine) fn all() -> Registers {
        Registers { rows: Bits::all() }
    }

    fn none(rows: u32) -> Registers {
        Registers { rows: Bits::none(rows as usize) }
    }

    /// True if a register is in it.
    pub fn contains(&self, r: Reg) -> bool {
        r.is_constant() || self.rows.contains(r.offset() / 32)
    }

    fn set(&mut self, r: Reg, value: bool) {
        if !r.is_constant() {
            self.rows.set(r.offset() / 32, value);
        }
    }

    /// True if a row of a register is one of a register in it.
    pub fn overlaps(&self, r: Reg) -> bool {
        rows_of(r).any(|row| self.contains(Reg::frame(row * 32, Width::W32)))
    }

    /// Adds a register with all its rows.
    fn cover(&mut self, r: Reg) {
        rows_of(r).for_each(|row| self.set(Reg::frame(row * 32, Width::W32), true));
    }

    /// Adds the registers of another set; true if there were new ones.
    fn add(&mut self, other: &Registers) -> bool {
        self.rows.unite(&other.rows)
    }
}

fn rows_of(r: Reg) -> Range<u32> {
    r.offset() / 32..(r.offset() + r.width().words()).div_ceil(32)
}

/// Blocks of a function by rows of its registers at most, in bits: beyond, all registers are live.
const MOST: usize = 1 << 26;

impl Program {
    /// What is live before an operation, by what is live after it.
    pub fn live_before(&self, pc: u32, live: &mut Registers) {
        let Some(operation) = self.operation(pc) else { return };
        let whole = matches!(operation.kind, OperationKind::Compute | OperationKind::Load(_))
            && operation.guard.is_none();
        if whole {
            // Predicates share rows.
            let own = operation.writes.iter().filter(|r| r.width() != Width::Pred);
            own.for_each(|r| live.set(*r, false));
        }
        operation.reads.iter().for_each(|r| live.set(*r, true));
        if let Some(guard) = operation.guard {
            live.set(guard.pred, true);
        }
        if let OperationKind::Call(call) = operation.kind {
            for part in &call.args {
                if let Move::Reg { from, .. } = part {
                    live.set(*from, true);
                }
            }
        }
    }

    /// What is live at the ends of blocks of a function, given by their ranges.
    pub(in crate::engine) fn live_out(
        &self,
        function: &super::Function,
        blocks: &[Range<u32>],
    ) -> Vec<Registers> {
        let code = |pc: u32| self.code.get(pc as usize);
        let shows_none = |inst: &Inst| match inst.op {
            Op::Lanes(..)
            | Op::Region(_)
            | Op::Special(..)
            | Op::Load(..)
            | Op::LoadVector(..)
            | Op::Store(..)
            | Op::StoreVector(..)
            | Op::Atomic(_)
            | Op::StackAddress { .. }
            | Op::ActiveMask(_)
            | Op::Barrier(_)
            | Op::Branch(_)
            | Op::Switch { .. }
            | Op::Call(_)
            | Op::Ret
            | Op::Exit
            | Op::Trap
            | Op::Fence(_)
            | Op::System(_)
            | Op::Stack(_)
            | Op::Yield
            | Op::Nop => true,
            Op::Collective(_) | Op::Async(_) | Op::Matrix(_) | Op::Texture(_) => false,
        };
        let small = blocks.len().saturating_mul(function.rows as usize) <= MOST;
        let body = self.code.get(function.entry as usize..function.end as usize).unwrap_or(&[]);
        if !small || !body.iter().all(shows_none) {
            return vec![Registers::all(); blocks.len()];
        }
        let successors = self.successors(blocks);
        let mut out = Vec::new();
        for block in blocks {
            let mut own = Registers::none(function.rows);
            if block.end.checked_sub(1).and_then(code).is_some_and(|inst| matches!(inst.op, Op::Ret)) {
                for slot in &function.results {
                    if let Slot::Reg(r) = slot {
                        own.set(*r, true);
                    }
                }
            }
            out.push(own);
        }
        let mut before: Vec<Registers> = blocks.iter().map(|_| Registers::none(function.rows)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for n in (0..blocks.len()).rev() {
                let mut live = out[n].clone();
                for &next in &successors[n] {
                    live.add(&before[next]);
                }
                out[n].add(&live);
                for pc in blocks[n].clone().rev() {
                    self.live_before(pc, &mut live);
                }
                changed |= before[n].add(&live);
            }
        }
        out
    }

    /// The blocks that lanes may come to behind each one.
    fn successors(&self, blocks: &[Range<u32>]) -> Vec<Vec<usize>> {
        let at = |pc: u32| blocks.binary_search_by_key(&pc, |block| block.start).ok();
        let next = |block: &Range<u32>| {
            let last = block.end.checked_sub(1).and_then(|pc| self.code.get(pc as usize));
            let mut next = Vec::new();
            if let Some(Op::Branch(to)) = last.map(|inst| &inst.op) {
                next.extend(at(*to));
            }
            if let Some(Op::Switch { targets, .. }) = last.map(|inst| &inst.op) {
                next.extend(targets.of(&self.targets).iter().filter_map(|to| at(*to)));
            }
            // Where a guard leaves lanes out, they go on behind it.
            next.extend(at(block.end));
            next
        };
        blocks.iter().map(next).collect()
    }

    /// The registers that a kernel may write from the beginning of a block on, for blocks given by their ranges. What is written by others than plain
    /// operations may be written at any time; other functions are called again and again, with other values in their registers.
    pub(in crate::engine) fn written_from(
        &self,
        function: &super::Function,
        blocks: &[Range<u32>],
    ) -> Vec<Registers> {
        let small = blocks.len().saturating_mul(function.rows as usize) <= MOST;
        if function.kernel.is_none() || !small {
            return vec![Registers::all(); blocks.len()];
        }
        let mut always = Registers::none(function.rows);
        let mut written: Vec<Registers> = Vec::new();
        for block in blocks {
            let mut own = Registers::none(function.rows);
            for operation in block.clone().filter_map(|pc| self.operation(pc)) {
                let plain = matches!(
                    operation.kind,
                    OperationKind::Compute
                        | OperationKind::Load(_)
                        | OperationKind::Special(_)
                        | OperationKind::StackAddress
                );
                let of = if plain { &mut own } else { &mut always };
                operation.writes.iter().filter(|r| !r.is_constant()).for_each(|r| of.cover(*r));
                if let OperationKind::Call(call) = operation.kind {
                    for result in &call.results {
                        if let Move::Reg { to, .. } = result {
                            always.cover(*to);
                        }
                    }
                }
            }
            written.push(own);
        }
        let successors = self.successors(blocks);
        let mut changed = true;
        while changed {
            changed = false;
            for n in (0..blocks.len()).rev() {
                let mut all = written[n].clone();
                all.add(&always);
                successors[n].iter().for_each(|next| _ = all.add(&written[*next]));
                changed |= written[n].add(&all);
            }
        }
        written
    }
}
