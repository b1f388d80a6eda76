//! How warps divide the registers of a block among them: `setmaxnreg` (PTX ISA 9.0, 9.7.19.5).
//!
//! The warps of a warpgroup shall execute the same one. Triton's go different ways and execute equal ones there, which is taken for the same.

use crate::codes;
use crate::report::{Checker, Finding, Report, Site};
use warpsmith_base::FxHashMap;
use warpsmith_interp::Program;
use warpsmith_interp::engine::MatrixOp;
use warpsmith_interp::observe::{At, OperationKind};

/// Warps of a warpgroup.
const GROUP: u32 = 4;

/// What a warp has executed.
#[derive(Default)]
struct Warp {
    /// Of each `setmaxnreg`, where it is.
    executed: Vec<u32>,
    exited: bool,
}

/// The warps of a program that moves registers between them.
pub(super) struct RegisterCounts {
    warps: FxHashMap<([u32; 3], u32), Warp>,
}

/// The registers that an operation asks for, if it does, and whether as more than before.
fn asked(program: &Program, pc: u32) -> Option<(u32, bool)> {
    let OperationKind::Matrix(&MatrixOp::RegisterCount { count, increases }) = program.operation(pc)?.kind
    else {
        return None;
    };
    Some((count, increases))
}

impl RegisterCounts {
    /// What there is to watch in a program: `None` without `setmaxnreg`.
    pub fn of(program: &Program) -> Option<RegisterCounts> {
        let any = (0..program.operations()).any(|pc| asked(program, pc).is_some());
        any.then(|| RegisterCounts { warps: FxHashMap::default() })
    }

    /// Before an instruction that all lanes of a warp execute.
    pub fn instruction(&mut self, at: &At<'_>, report: &mut Report, shape: [u32; 3]) {
        let Some((count, increases)) = asked(at.program, at.pc) else { return };
        let warp = self.warps.entry((at.block, at.warp)).or_default();
        let number = warp.executed.len();
        let owned = warp.executed.last().and_then(|pc| asked(at.program, *pc)).map(|(count, _)| count);
        warp.executed.push(at.pc);
        let wrong = |owned: &u32| if increases { count < *owned } else { count > *owned };
        if let Some(owned) = owned.filter(wrong) {
            let (action, than) = if increases { (".inc", "fewer") } else { (".dec", "more") };
            report.add(codes::REGISTER_COUNT, &[at.pc], 1, || {
                let message = format!(
                    "`setmaxnreg{action}` to {count} registers, {than} than the {owned} that the warp owns"
                );
                Finding::new(Checker::Sync, codes::REGISTER_COUNT, message, Site::new(at, shape))
                    .note("what it does is undefined (9.7.19.5)")
            });
        }
        for other in others(at.warp) {
            let Some(theirs) = self.warps.get(&(at.block, other)) else { continue };
            match theirs.executed.get(number) {
                Some(pc) if asked(at.program, *pc) == Some((count, increases)) => {}
                Some(pc) => unlike(report, at, At { pc: *pc, warp: other, ..*at }, "executed instead", shape),
                None if theirs.exited => alone(report, at, other, shape),
                None => {}
            }
        }
    }

    /// All threads of a warp have exited.
    pub fn exited(&mut self, at: &At<'_>, report: &mut Report, shape: [u32; 3]) {
        let warp = self.warps.entry((at.block, at.warp)).or_default();
        warp.exited = true;
        let number = warp.executed.len();
        for other in others(at.warp) {
            let theirs = self.warps.get(&(at.block, other)).and_then(|w| w.executed.get(number));
            if let Some(pc) = theirs {
                alone(report, &At { pc: *pc, warp: other, ..*at }, at.warp, shape);
            }
        }
    }

    /// A block has ended.
    pub fn forget(&mut self, block: [u32; 3]) {
        self.warps.retain(|(id, _), _| *id != block);
    }
}

/// The other warps of the warpgroup.
fn others(warp: u32) -> impl Iterator<Item = u32> {
    let first = warp / GROUP * GROUP;
    (first..first + GROUP).filter(move |other| *other != warp)
}

const ALIKE: &str =
    "all four warps of a warpgroup execute the same `setmaxnreg`, or what it does is undefined (9.7.19.5)";

fn unlike(report: &mut Report, at: &At<'_>, other: At<'_>, role: &'static str, shape: [u32; 3]) {
    report.add(codes::REGISTER_COUNT, &[at.pc.min(other.pc), at.pc.max(other.pc)], 1, || {
        let message = "warps of a warpgroup ask for different numbers of registers";
        Finding::new(Checker::Sync, codes::REGISTER_COUNT, message, Site::new(at, shape))
            .site(Site::new(&other, shape).role(role))
            .note(ALIKE)
    });
}

fn alone(report: &mut Report, at: &At<'_>, without: u32, shape: [u32; 3]) {
    report.add(codes::REGISTER_COUNT, &[at.pc], 1, || {
        let message =
            format!("`setmaxnreg` is not executed by warp {without} of the warpgroup, which has exited");
        Finding::new(Checker::Sync, codes::REGISTER_COUNT, message, Site::new(at, shape)).note(ALIKE)
    });
}
