//! Which registers of a kernel have one value in all lanes of a warp, and where.
//!
//! A register is *uniform* at a place if what has written it, on whatever way to there, computes the same from the same in every lane. That says what the
//! lanes hold as long as they execute each instruction together: what comes back from different ways may have different values in it, whatever wrote
//! them. So machine code relies on it where [`Warp::uniform`](crate::engine::warp::Warp::uniform) says that no lanes have parted.

use super::bits::Bits;
use super::{Function, Program};
use crate::engine::observe::OperationKind;
use crate::engine::op::{Access, Inst, Move, Op, Order};
use crate::engine::reg::{Reg, Width};
use crate::engine::special::Special;
use std::ops::Range;
use warpsmith_isa::StateSpace;

/// The registers of a function that may differ from lane to lane at a place; the others are uniform there.
#[derive(Clone, Debug)]
pub struct Varying {
    words: Bits,
}

/// The words that denote a register: its own of a predicate, the first of each row of others.
fn words_of(r: Reg) -> impl Iterator<Item = u32> {
    let step = if r.width() == Width::Pred { 1 } else { 32 };
    (r.offset()..r.offset() + r.width().words()).step_by(step)
}

impl Varying {
    /// All registers may.
    pub(in crate::engine) fn all() -> Varying {
        Varying { words: Bits::all() }
    }

    /// True if all registers may.
    pub(in crate::engine) fn is_all(&self) -> bool {
        self.words.is_all()
    }

    /// True if a register may have different values in the lanes.
    pub fn contains(&self, r: Reg) -> bool {
        !r.is_constant() && words_of(r).any(|word| self.words.contains(word))
    }

    fn set(&mut self, r: Reg, value: bool) {
        words_of(r).for_each(|word| self.words.set(word, value));
    }

    /// Adds what may differ on another way; true if there was something new.
    fn join(&mut self, other: &Varying) -> bool {
        self.words.unite(&other.words)
    }
}

/// Blocks of a function by its rows at most: beyond, nothing is uniform.
const MOST: usize = 1 << 20;

impl Program {
    /// What may differ behind an operation, by what may before it.
    pub fn varying_after(&self, pc: u32, varying: &mut Varying) {
        let Some(operation) = self.operation(pc) else { return };
        let guard = operation.guard.as_ref().map(|guard| &guard.pred);
        let mut reads = operation.reads.iter().chain(guard);
        if is_uniform(&operation.kind) && !reads.any(|r| varying.contains(*r)) {
            // Under a guard all lanes have the new value, or all have the old one.
            if guard.is_none() {
                operation.writes.iter().for_each(|r| varying.set(*r, false));
            }
            return;
        }
        operation.writes.iter().for_each(|r| varying.set(*r, true));
        if let OperationKind::Call(call) = operation.kind {
            for result in &call.results {
                if let Move::Reg { to, .. } = result {
                    varying.set(*to, true);
                }
            }
        }
    }

    /// What may differ from lane to lane at the beginnings of blocks of a function, given by their ranges.
    pub(in crate::engine) fn varying_before(
        &self,
        function: &Function,
        blocks: &[Range<u32>],
    ) -> Vec<Varying> {
        // Who calls a function may do so with some lanes, and with values of any kind.
        let small = blocks.len().saturating_mul(function.rows as usize) <= MOST;
        if function.kernel.is_none() || !small {
            return vec![Varying::all(); blocks.len()];
        }
        let at = |pc: u32| blocks.binary_search_by_key(&pc, |block| block.start).ok();
        let none = || Varying { words: Bits::none(function.rows as usize * 32) };
        let mut before: Vec<Option<Varying>> = vec![None; blocks.len()];
        if let Some(first) = before.first_mut() {
            *first = Some(none());
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (n, block) in blocks.iter().enumerate() {
                let Some(mut varying) = before[n].clone() else { continue };
                block.clone().for_each(|pc| self.varying_after(pc, &mut varying));
                let last = block.end.checked_sub(1).and_then(|pc| self.code.get(pc as usize));
                let (targets, falls) = self.leads_to(last);
                let next = targets.into_iter().chain(falls.then_some(block.end)).filter_map(at);
                for next in next {
                    changed |= match &mut before[next] {
                        Some(known) => known.join(&varying),
                        unknown => {
                            *unknown = Some(varying.clone());
                            true
                        }
                    };
                }
            }
        }
        before.into_iter().map(|varying| varying.unwrap_or_else(Varying::all)).collect()
    }

    /// Where an operation at the end of a block leads to, and whether to the next one too.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "behind anything else is nothing of the function, or what follows"
    )]
    fn leads_to(&self, last: Option<&Inst>) -> (Vec<u32>, bool) {
        let Some(last) = last else { return (Vec::new(), true) };
        let guarded = last.guard != Reg::ZERO || last.flip == 0;
        match &last.op {
            Op::Branch(to) => (vec![*to], guarded),
            Op::Switch { targets, .. } => (targets.of(&self.targets).to_vec(), true),
            _ => (Vec::new(), true),
        }
    }

    /// The registers that a function writes.
    pub(in crate::engine) fn written_registers(&self, function: &Function) -> Vec<Reg> {
        let mut found: Vec<Reg> = Vec::new();
        for pc in function.entry..function.end {
            let Some(operation) = self.operation(pc) else { continue };
            found.extend(operation.writes.iter());
        }
        found.sort_unstable_by_key(|r| (r.offset(), r.width() as u32));
        found.dedup();
        found
    }
}

/// Equal in all lanes where what it reads is.
fn is_uniform(kind: &OperationKind<'_>) -> bool {
    match kind {
        OperationKind::Compute | OperationKind::StackAddress => true,
        OperationKind::Special(special) => is_uniform_special(*special),
        OperationKind::Load(access) => is_uniform_load(access),
        OperationKind::ActiveMask
        | OperationKind::Store(_)
        | OperationKind::Atomic(_)
        | OperationKind::Collective(_)
        | OperationKind::Barrier(_)
        | OperationKind::Branch { .. }
        | OperationKind::Switch { .. }
        | OperationKind::Call(_)
        | OperationKind::Return
        | OperationKind::Exit
        | OperationKind::Trap
        | OperationKind::Fence(_)
        | OperationKind::System(_)
        | OperationKind::Stack(_)
        | OperationKind::Yield
        | OperationKind::Nothing
        | OperationKind::Matrix(_)
        | OperationKind::Texture(_)
        | OperationKind::Async(_) => false,
    }
}

fn is_uniform_special(special: Special) -> bool {
    use Special::*;
    // What is not here is taken to differ, which is never wrong.
    matches!(
        special,
        NtidX | NtidY | NtidZ | CtaIdX | CtaIdY | CtaIdZ | NCtaIdX | NCtaIdY | NCtaIdZ | WarpId | NWarpId
    )
}

/// A load by all lanes from one address. What other threads store meanwhile may come between lanes, so it is not said of what orders.
fn is_uniform_load(access: &Access) -> bool {
    let space = matches!(
        access.space,
        StateSpace::Const | StateSpace::Param | StateSpace::Global | StateSpace::Shared
    );
    space && access.order == Order::Weak && access.unused == 0 && !access.cluster && !access.on_stack
}
