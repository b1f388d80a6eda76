//! The registers of `wgmma`: what holds accumulators or A belongs to the product from its start until the warp waits for its group, and a
//! `wgmma.fence` stands between other accesses to them and the next product (PTX ISA 9.0, 9.7.15.7.1).

use super::super::register_name;
use crate::codes;
use crate::report::{Checker, Finding, Report, Site};
use smallvec::SmallVec;
use std::sync::Arc;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_interp::Program;
use warpsmith_interp::engine::{FuncId, MatrixOp, Reg, WarpgroupOperand};
use warpsmith_interp::observe::{At, OperationKind, Registers};

/// The registers that a product uses.
struct Used {
    pc: u32,
    /// C and D.
    accumulators: FxHashSet<Reg>,
    /// A.
    factor: FxHashSet<Reg>,
    /// Products of one shape use accumulators one after the other without a fence.
    shape: [usize; 3],
}

/// What an operation accesses of the registers of products: which, and whether it writes.
type Accesses = Box<[(Reg, bool)]>;

/// A product in flight.
struct InFlight {
    used: Arc<Used>,
    /// Where its function's registers lie.
    row: u32,
    group: u32,
}

#[derive(Default)]
struct Warp {
    fenced: bool,
    /// Registers accessed since the last fence.
    accessed: FxHashMap<(u32, Reg), u32>,
    in_flight: Vec<InFlight>,
    committed: u32,
}

/// The state of all warps of a program with products of warpgroups.
pub(super) struct Warpgroups {
    accesses: Vec<Accesses>,
    used: FxHashMap<u32, Arc<Used>>,
    warps: FxHashMap<([u32; 3], u32), Warp>,
}

impl Warpgroups {
    /// What there is to watch in a program: `None` without products of warpgroups.
    pub fn of(program: &Program) -> Option<Warpgroups> {
        let mut used = FxHashMap::default();
        let mut functions: Vec<(FuncId, FxHashSet<Reg>)> = Vec::new();
        for function in program.functions() {
            let mut all = FxHashSet::default();
            for pc in program.code(function) {
                let Some(OperationKind::Matrix(MatrixOp::Warpgroup(op))) =
                    program.operation(pc).map(|o| o.kind)
                else {
                    continue;
                };
                let factor: FxHashSet<Reg> = match &op.a {
                    WarpgroupOperand::Registers(list) => list.iter().copied().collect(),
                    WarpgroupOperand::Descriptor(_) => FxHashSet::default(),
                };
                let accumulators: FxHashSet<Reg> = op.d.iter().copied().collect();
                all.extend(factor.iter().chain(&accumulators).copied());
                used.insert(pc, Arc::new(Used { pc, accumulators, factor, shape: op.product.shape }));
            }
            if !all.is_empty() {
                functions.push((function, all));
            }
        }
        if used.is_empty() {
            return None;
        }
        let mut accesses: Vec<Accesses> =
            (0..program.operations()).map(|_| Vec::new().into_boxed_slice()).collect();
        for (function, all) in functions {
            for pc in program.code(function).filter(|pc| !used.contains_key(pc)) {
                let Some(operation) = program.operation(pc) else { continue };
                let reads = operation.reads.iter().map(|r| (*r, false));
                let touched = reads.chain(operation.writes.iter().map(|r| (*r, true)));
                accesses[pc as usize] = touched.filter(|(r, _)| all.contains(r)).collect();
            }
        }
        Some(Warpgroups { accesses, used, warps: FxHashMap::default() })
    }

    /// Before an instruction.
    pub fn instruction(
        &mut self,
        at: &At<'_>,
        registers: &Registers<'_>,
        report: &mut Report,
        block: [u32; 3],
    ) {
        let Some(accesses) = self.accesses.get(at.pc as usize) else { return };
        let used = self.used.get(&at.pc);
        if at.mask == 0 || accesses.is_empty() && used.is_none() {
            return;
        }
        let row = registers.place().row;
        let warp = self.warps.entry((at.block, at.warp)).or_default();
        if let Some(used) = used {
            // Lanes that wait for the others of the warp come again.
            if at.mask == u32::MAX {
                issue(warp, at, used, row, report, block);
            }
            return;
        }
        for (r, writes) in accesses {
            let conflict = warp.in_flight.iter().find(|p| {
                p.row == row && (p.used.accumulators.contains(r) || *writes && p.used.factor.contains(r))
            });
            if let Some(product) = conflict {
                in_flight(at, *r, *writes, product.used.pc, report, block);
            }
            warp.accessed.insert((row, *r), at.pc);
        }
    }

    /// `wgmma.fence`
    pub fn fence(&mut self, at: &At<'_>) {
        let warp = self.warps.entry((at.block, at.warp)).or_default();
        warp.fenced = true;
        warp.accessed.clear();
    }

    /// `wgmma.commit_group`
    pub fn commit(&mut self, at: &At<'_>) {
        self.warps.entry((at.block, at.warp)).or_default().committed += 1;
    }

    /// `wgmma.wait_group`
    pub fn wait(&mut self, at: &At<'_>, pending: u32) {
        let warp = self.warps.entry((at.block, at.warp)).or_default();
        let complete = warp.committed.saturating_sub(pending);
        warp.in_flight.retain(|product| product.group >= complete);
    }

    /// A block has ended.
    pub fn forget(&mut self, block: [u32; 3]) {
        self.warps.retain(|(id, _), _| *id != block);
    }
}

/// A product starts.
fn issue(warp: &mut Warp, at: &At<'_>, used: &Arc<Used>, row: u32, report: &mut Report, block: [u32; 3]) {
    let both = || used.accumulators.iter().chain(&used.factor);
    let accessed: Option<(Reg, u32)> =
        both().filter_map(|r| Some((*r, *warp.accessed.get(&(row, *r))?))).min_by_key(|(r, _)| r.offset());
    if let Some((r, pc)) = accessed {
        report.add(codes::MISSING_WGMMA_FENCE, &[at.pc, pc], 1, || {
            let before = At { pc, ..*at };
            let message = "registers of a product were accessed, and no `wgmma.fence` follows";
            let mut site = Site::new(at, block);
            site.memory = Some(register_name(at, r));
            Finding::new(Checker::Sync, codes::MISSING_WGMMA_FENCE, message, site)
                .site(Site::new(&before, block).role("accessed here"))
                .note("execute `wgmma.fence.sync.aligned` between other accesses to the registers of a product and the product (9.7.15.7.1)")
        });
    } else if !warp.fenced {
        report.add(codes::MISSING_WGMMA_FENCE, &[at.pc], 1, || {
            let message = "the first product of the warp has no `wgmma.fence` before it";
            Finding::new(Checker::Sync, codes::MISSING_WGMMA_FENCE, message, Site::new(at, block))
                .note("execute `wgmma.fence.sync.aligned` before the first product, and whenever its registers were accessed (9.7.15.7.1)")
        });
    }
    warp.fenced = true;
    let of_other = |r: &Reg| {
        let conflict = |p: &&InFlight| {
            let accumulates = used.accumulators.contains(r) && p.used.shape == used.shape;
            p.row == row && (p.used.accumulators.contains(r) && !accumulates)
        };
        warp.in_flight.iter().find(conflict).map(|p| (*r, p.used.pc))
    };
    let conflict: SmallVec<[(Reg, u32); 1]> = both().find_map(of_other).into_iter().collect();
    for (r, pc) in conflict {
        in_flight(at, r, used.accumulators.contains(&r), pc, report, block);
    }
    warp.in_flight.push(InFlight { used: used.clone(), row, group: warp.committed });
}

fn in_flight(at: &At<'_>, r: Reg, writes: bool, product: u32, report: &mut Report, block: [u32; 3]) {
    report.add(codes::REGISTER_IN_FLIGHT, &[at.pc, product], at.mask.count_ones().into(), || {
        let what = if writes { "written" } else { "read" };
        let message = format!("a register of a product in flight is {what}");
        let mut site = Site::new(at, block);
        site.memory = Some(register_name(at, r));
        let started = At { pc: product, ..*at };
        Finding::new(Checker::Sync, codes::REGISTER_IN_FLIGHT, message, site)
            .site(Site::new(&started, block).role("the product"))
            .note("wait for the product with `wgmma.commit_group` and `wgmma.wait_group` before its registers are accessed (9.7.15.7.1)")
    });
}
