//! Barriers of blocks and of clusters: who arrives, by which instructions.

use super::{Exit, Sync, Warp};
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
    pub kind: BarrierKind,
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
        if !self.goes_past(at.program, pc, at.pc) {
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

    /// Lanes exit while other warps wait at an aligned barrier for all threads of the block, those that have gone past it included.
    pub(super) fn leave_block_waiting(&mut self, at: &At<'_>) {
        let Some(block) = self.blocks.get(self.current) else { return };
        let mut others: SmallVec<[(u32, Arrival); 1]> = SmallVec::new();
        for (id, arrivals) in (0u32..).zip(&block.barriers) {
            let waits = |a: &&Arrival| a.warp != at.warp && takes_whole_block(at.program, a.pc);
            others.extend(arrivals.iter().filter(waits).map(|a| (id, a.clone())));
        }
        let exit = self.site(at);
        for (id, arrival) in others {
            if self.goes_past(at.program, arrival.pc, at.pc) {
                self.passed_by(id, arrival.pc, at.pc, arrival.site, exit.clone());
            }
        }
    }

    /// Lanes arrive at an aligned barrier for all threads of the block, and threads of other warps have gone past it and exited.
    fn arrive_after_exits(&mut self, at: &At<'_>, id: u32, site: &Site) {
        if !takes_whole_block(at.program, at.pc) {
            return;
        }
        let Some(block) = self.blocks.get(self.current) else { return };
        let others = block.warps.iter().zip(0u32..).filter(|(_, warp)| *warp != at.warp);
        let exits: SmallVec<[(u32, Site); 2]> =
            others.flat_map(|(w, _)| w.exits.iter().map(|e| (e.pc, e.site.clone()))).collect();
        for (pc, exit) in exits {
            if self.goes_past(at.program, at.pc, pc) {
                self.passed_by(id, at.pc, pc, site.clone(), exit);
            }
        }
    }

    fn passed_by(&mut self, id: u32, pc: u32, exit_pc: u32, site: Site, exit: Site) {
        self.add(codes::DIVERGENT_BARRIER, &[pc, exit_pc], || {
            let message = format!(
                "warps come to barrier {id}, whose instruction is `.aligned` and for all threads of the block, and others exit without it"
            );
            Finding::new(Checker::Sync, codes::DIVERGENT_BARRIER, message, site)
                .site(exit.role("the others exit"))
                .note("all threads of the block must execute the same aligned barrier, unless it names a number of them (9.7.13.1)")
        });
    }

    /// Lanes exit while other threads of the cluster wait at its barrier, where these have gone past it.
    pub(super) fn leave_cluster_waiting(&mut self, at: &At<'_>) {
        let Some(own) = self.blocks.get(self.current) else { return };
        let Some(warp) = own.warps.get(at.warp as usize) else { return };
        // Whoever has arrived need not wait.
        if at.mask & !warp.arrived_in_cluster() == 0 {
            return;
        }
        let members = self.blocks.iter().filter(|b| b.cluster == own.cluster);
        let arrivals: SmallVec<[(u32, Site); 2]> =
            members.flat_map(|b| &b.warps).flat_map(|w| &w.cluster).map(|a| (a.pc, a.site.clone())).collect();
        let exit = self.site(at);
        for (pc, site) in arrivals {
            if self.goes_past(at.program, pc, at.pc) {
                self.passed_by_in_cluster(pc, at.pc, site, exit.clone());
            }
        }
    }

    /// Lanes arrive at the barrier of the cluster, and other threads of the cluster have gone past it and exited.
    fn arrive_in_cluster_after_exits(&mut self, at: &At<'_>, site: &Site) {
        let Some(own) = self.blocks.get(self.current) else { return };
        // Whoever has arrived may exit.
        let without = |warp: &Warp, exit: &Exit| exit.lanes & !warp.arrived_in_cluster() != 0;
        let members = self.blocks.iter().filter(|b| b.cluster == own.cluster);
        let resident = members.flat_map(|b| &b.warps).flat_map(|warp| {
            warp.exits.iter().filter(|exit| without(warp, exit)).map(|exit| (exit.pc, exit.site.clone()))
        });
        let gone = self.gone.iter().filter(|gone| gone.cluster == own.cluster && !gone.arrived);
        let exits: SmallVec<[(u32, Site); 2]> =
            resident.chain(gone.map(|gone| (gone.pc, gone.site.clone()))).collect();
        for (pc, exit) in exits {
            if self.goes_past(at.program, at.pc, pc) {
                self.passed_by_in_cluster(at.pc, pc, site.clone(), exit);
            }
        }
    }

    fn passed_by_in_cluster(&mut self, pc: u32, exit_pc: u32, site: Site, exit: Site) {
        self.add(codes::DIVERGENT_BARRIER, &[pc, exit_pc], || {
            let message = "threads come to the barrier of the cluster, and others exit without it";
            Finding::new(Checker::Sync, codes::DIVERGENT_BARRIER, message, site)
                .site(exit.role("the others exit"))
                .note("the barrier waits only for those that have not exited, so that nothing is ordered between these and the others (9.7.13.3)")
                .warning()
        });
    }

    /// True if threads that end at `exit` have gone past an operation.
    pub(super) fn goes_past(&mut self, program: &Program, pc: u32, exit: u32) -> bool {
        *self.passed.entry((pc, exit)).or_insert_with(|| has_passed(program, pc, exit))
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
        let kind = barrier.kind;
        let new = Arrival { pc: at.pc, warp: at.warp, lanes: at.mask, kind, site: site.clone() };
        let Some(arrivals) = self.blocks.get_mut(self.current).and_then(|b| b.barriers.get_mut(id as usize))
        else {
            return;
        };
        let again = arrivals.iter().find(|a| a.warp == at.warp && a.lanes & at.mask != 0).cloned();
        let aside =
            arrivals.iter().find(|a| a.warp == at.warp && a.lanes & at.mask == 0 && a.pc != at.pc).cloned();
        let mixed = arrivals.iter().find(|a| !go_together(a.kind, kind)).cloned();
        arrivals.push(new);
        self.arrive_after_exits(at, id, &site);
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
                let message = if reduces(kind) && reduces(other.kind) {
                    format!("barrier {id} is used for two reductions at once")
                } else {
                    format!("barrier {id} is used for a reduction and without one at once")
                };
                Finding::new(Checker::Sync, codes::BARRIER_REUSE, message, site)
                    .site(other.site.role("the other use"))
                    .note("what the reduction gives is then unpredictable (9.7.13.1)")
            });
        }
    }

    /// Lanes arrive at the barrier of the cluster.
    pub(super) fn cluster_arrive(&mut self, at: &At<'_>) {
        let site = self.site(at);
        self.arrive_in_cluster_after_exits(at, &site);
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
            kind: BarrierKind::Sync,
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

fn reduces(kind: BarrierKind) -> bool {
    match kind {
        BarrierKind::Popc | BarrierKind::And | BarrierKind::Or => true,
        BarrierKind::Sync | BarrierKind::Arrive => false,
    }
}

/// True if two uses of a barrier may complete it together: neither reduces, or both combine the predicates of all threads in one way.
fn go_together(a: BarrierKind, b: BarrierKind) -> bool {
    a == b || !reduces(a) && !reduces(b)
}

/// True for an aligned barrier of all threads of the block.
fn takes_whole_block(program: &Program, pc: u32) -> bool {
    let Some(OperationKind::Barrier(barrier)) = program.operation(pc).map(|o| o.kind) else { return false };
    barrier.count.is_none() && is_aligned(program, pc)
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
            if let Some(OperationKind::Return) = program.operation(pc).map(|operation| operation.kind) {
                open.extend(continuations(program, pc));
            }
            if falls_through(program, pc) || is_guarded(program, pc) {
                open.push(pc + 1);
            }
        }
    }
    false
}

/// Where those go on that may have called the function of a return.
fn continuations(program: &Program, pc: u32) -> Vec<u32> {
    let Some(function) = program.functions().find(|f| program.code(*f).contains(&pc)) else {
        return Vec::new();
    };
    let calls = |pc: &u32| {
        let Some(OperationKind::Call(call)) = program.operation(*pc).map(|o| o.kind) else { return false };
        program.callees(&call.callee).binary_search(&function).is_ok()
    };
    (0..program.operations()).filter(calls).map(|pc| pc + 1).collect()
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
