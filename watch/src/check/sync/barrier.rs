//! Barriers of blocks and of clusters: who arrives, by which instructions.

use super::Sync;
use crate::codes;
use crate::report::{Checker, Finding, Site};
use smallvec::{SmallVec, smallvec};
use warpsmith_base::FxHashSet;
use warpsmith_interp::Program;
use warpsmith_interp::engine::BarrierKind;
use warpsmith_interp::observe::{At, OperationKind};

const ALIGNED: &str = "all threads of a warp must execute the same aligned barrier: `bar` is one, `barrier` without `.aligned` is not (9.7.13.1)";

/// Lanes that have arrived at a barrier, which is not complete.
#[derive(Clone)]
pub(super) struct Arrival {
    pub pc: u32,
    pub warp: u32,
    pub lanes: u32,
    pub reduces: bool,
    pub site: Site,
}

/// Lanes that have come to a barrier and wait for the rest of their warp.
#[derive(Clone)]
pub(super) struct Reached {
    id: u32,
    site: Site,
}

impl Sync {
    /// Lanes come to a barrier of the block.
    pub(super) fn reach(&mut self, at: &At<'_>, id: u32) {
        let site = self.site(at);
        if let Some(warp) = self.blocks.get_mut(self.current).and_then(|b| b.warps.get_mut(at.warp as usize))
        {
            warp.reached.push((at.pc, Reached { id, site }));
        }
    }

    /// Lanes exit while others of their warp wait at an aligned barrier. Those that return early are no longer waited for; the others have gone past it.
    pub(super) fn leave_waiting(&mut self, at: &At<'_>, pc: u32, barrier: Reached) {
        let passed = self.passed.entry((pc, at.pc)).or_insert_with(|| has_passed(at.program, pc, at.pc));
        if !*passed {
            return;
        }
        let exit = self.site(at);
        self.add(codes::DIVERGENT_BARRIER, &[pc, at.pc], || {
            let message = format!(
                "threads of a warp come to barrier {}, whose instruction is `.aligned`, and others exit without it",
                barrier.id
            );
            Finding::new(Checker::Sync, codes::DIVERGENT_BARRIER, message, barrier.site)
                .site(exit.role("the others exit"))
                .note(ALIGNED)
        });
    }

    /// Lanes arrive at a barrier of the block.
    pub(super) fn arrive(&mut self, at: &At<'_>, id: u32) {
        let kind = at.program.operation(at.pc).map(|o| o.kind);
        let Some(OperationKind::Barrier(barrier)) = kind else { return };
        let site = self.site(at);
        if let Some(warp) = self.blocks.get_mut(self.current).and_then(|b| b.warps.get_mut(at.warp as usize))
        {
            warp.reached.clear();
        }
        let reduces = match barrier.kind {
            BarrierKind::Popc | BarrierKind::And | BarrierKind::Or => true,
            BarrierKind::Sync | BarrierKind::Arrive => false,
        };
        let new = Arrival { pc: at.pc, warp: at.warp, lanes: at.mask, reduces, site: site.clone() };
        let Some(arrivals) = self.blocks.get_mut(self.current).and_then(|b| b.barriers.get_mut(id as usize))
        else {
            return;
        };
        let again = arrivals.iter().find(|a| a.warp == at.warp && a.lanes & at.mask != 0).cloned();
        let aside =
            arrivals.iter().find(|a| a.warp == at.warp && a.lanes & at.mask == 0 && a.pc != at.pc).cloned();
        let mixed = arrivals.iter().find(|a| a.reduces != reduces).cloned();
        arrivals.push(new);
        let aligned = |pc: u32| is_aligned(at.program, pc);
        if let Some(first) = again {
            self.add(codes::BARRIER_REUSE, &[first.pc, at.pc], || {
                let message = format!("a warp arrives at barrier {id} again before the barrier is complete");
                Finding::new(Checker::Sync, codes::BARRIER_REUSE, message, site.clone())
                    .site(first.site.role("the arrival before"))
                    .note("both arrivals count, so the barrier completes too early: after `arrive`, wait at another barrier first (9.7.13.1)")
            });
        }
        if let Some(other) = aside.filter(|a| aligned(a.pc) || aligned(at.pc)) {
            self.add(codes::DIVERGENT_BARRIER, &[other.pc, at.pc], || {
                divergent(id, site.clone(), other.site)
            });
        }
        if let Some(other) = mixed {
            self.add(codes::BARRIER_REUSE, &[other.pc, at.pc], || {
                let message = format!("barrier {id} is used for a reduction and without one at once");
                Finding::new(Checker::Sync, codes::BARRIER_REUSE, message, site)
                    .site(other.site.role("the other use"))
                    .note("what the reduction gives is then unpredictable (9.7.13.1)")
            });
        }
    }

    /// Lanes arrive at the barrier of the cluster.
    pub(super) fn cluster_arrive(&mut self, at: &At<'_>) {
        let site = self.site(at);
        let aligned = |pc: u32| is_aligned(at.program, pc);
        let Some(warp) = self.blocks.get_mut(self.current).and_then(|b| b.warps.get_mut(at.warp as usize))
        else {
            return;
        };
        let other = warp.cluster.iter().find(|a| a.lanes & at.mask == 0 && a.pc != at.pc).cloned();
        warp.cluster.push(Arrival {
            pc: at.pc,
            warp: at.warp,
            lanes: at.mask,
            reduces: false,
            site: site.clone(),
        });
        if let Some(other) = other.filter(|a| aligned(a.pc) || aligned(at.pc)) {
            self.add(codes::DIVERGENT_BARRIER, &[other.pc, at.pc], || {
                let message = "threads of a warp arrive at the barrier of the cluster with different `.aligned` instructions";
                Finding::new(Checker::Sync, codes::DIVERGENT_BARRIER, message, site).site(other.site.role("the others"))
            });
        }
    }
}

/// True if all threads of a warp must execute the instruction together.
pub(super) fn is_aligned(program: &Program, pc: u32) -> bool {
    program.instruction(pc).is_some_and(|instruction| instruction.is_aligned())
}

/// True if threads that end at `exit` have executed what follows the barrier: there is something in front of `exit` in its block, and a way there from the
/// barrier. The `ret` that an early return jumps to has a block of its own.
fn has_passed(program: &Program, barrier: u32, exit: u32) -> bool {
    let begins_block = exit.checked_sub(1).is_none_or(|before| !falls_through(program, before))
        || (0..program.operations()).any(|pc| targets(program, pc).contains(&exit));
    if begins_block {
        return false;
    }
    let mut seen = FxHashSet::default();
    let mut open = vec![barrier + 1];
    while let Some(pc) = open.pop() {
        if pc == exit {
            return true;
        }
        if pc < program.operations() && seen.insert(pc) {
            open.extend(targets(program, pc));
            if falls_through(program, pc) || is_guarded(program, pc) {
                open.push(pc + 1);
            }
        }
    }
    false
}

/// The operations that one may jump to.
fn targets(program: &Program, pc: u32) -> SmallVec<[u32; 2]> {
    match program.operation(pc).map(|operation| operation.kind) {
        Some(OperationKind::Branch { target }) => smallvec![target],
        Some(OperationKind::Switch { targets }) => targets.into(),
        _ => SmallVec::new(),
    }
}

/// True for an operation in the middle of a block.
fn falls_through(program: &Program, pc: u32) -> bool {
    !matches!(
        program.operation(pc).map(|operation| operation.kind),
        Some(
            OperationKind::Branch { .. }
                | OperationKind::Switch { .. }
                | OperationKind::Return
                | OperationKind::Exit
                | OperationKind::Trap
        )
    )
}

fn is_guarded(program: &Program, pc: u32) -> bool {
    program.operation(pc).is_some_and(|operation| operation.guard.is_some())
}

fn divergent(id: u32, site: Site, other: Site) -> Finding {
    let message =
        format!("threads of a warp come to barrier {id} by different instructions, which are `.aligned`");
    Finding::new(Checker::Sync, codes::DIVERGENT_BARRIER, message, site)
        .site(other.role("the others"))
        .note(ALIGNED)
}
