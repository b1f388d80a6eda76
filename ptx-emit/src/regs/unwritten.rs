//! Finds registers that are read although nothing has written them: whoever made the function has broken it, a pass or selection.

use super::{Assignment, UNASSIGNED, liveness::Liveness};
use cranelift_entity::EntitySet;
use std::fmt;
use warpsmith_base::FxHashSet;
use warpsmith_ir as ir;
use warpsmith_lower::mach::{Block, Function, VReg};

/// A read of a register that nothing has written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// Where.
    pub block: Block,
    /// What is read.
    pub vreg: VReg,
    /// The operation that reads it.
    pub origin: Option<ir::Inst>,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is read in {} before it is written", self.vreg, self.block)
    }
}

/// What a block reads, the arguments that it gives to others included.
fn reads(func: &Function, block: Block) -> impl Iterator<Item = (VReg, Option<ir::Inst>)> {
    let by_insts = func.block_insts(block).iter().flat_map(|inst| {
        let used = func.inst_operands(inst).iter().filter_map(|operand| operand.used());
        used.map(|vreg| (vreg, inst.origin))
    });
    by_insts.chain(read_at_end(func, block))
}

fn read_at_end(func: &Function, block: Block) -> impl Iterator<Item = (VReg, Option<ir::Inst>)> {
    let data = &func.blocks[block];
    let given = func.successors(block).flat_map(|edge| func.edge_args(edge).iter().copied());
    data.terminator.used().into_iter().chain(given).map(|vreg| (vreg, data.origin))
}

/// Checks that what is read has a home: one is given where a register is written, wherever that is.
pub fn check_homes(func: &Function, assignment: &Assignment) -> Result<(), Unwritten> {
    for &block in &func.layout {
        // By a closure, which the nested iterators call in loops of their own.
        reads(func, block).try_for_each(|(vreg, origin)| match assignment.index[vreg] {
            UNASSIGNED => Err(Unwritten { block, vreg, origin }),
            _ => Ok(()),
        })?;
    }
    Ok(())
}

/// The first read, in the order of the text, of what is not written on every way there.
#[cold]
pub fn find(func: &Function) -> Option<Unwritten> {
    let entry = *func.layout.first()?;
    let mut at_entry: EntitySet<VReg> = EntitySet::with_capacity(func.vregs.len());
    at_entry.extend(Liveness::compute(func).live_into(entry));
    let mut written: FxHashSet<VReg> = FxHashSet::default();
    for &block in &func.layout {
        let insts = func.block_insts(block).iter();
        let own =
            insts.clone().flat_map(|inst| func.inst_operands(inst)).filter_map(|operand| operand.defined());
        let own: FxHashSet<VReg> = own.collect();
        let too_early = |written: &FxHashSet<VReg>, vreg: VReg| {
            !written.contains(&vreg) && (own.contains(&vreg) || at_entry.contains(vreg))
        };
        written.clear();
        written.extend(func.params(block).iter().copied());
        for inst in insts {
            let operands = func.inst_operands(inst);
            let mut used = operands.iter().filter_map(|operand| operand.used());
            if let Some(vreg) = used.find(|&vreg| too_early(&written, vreg)) {
                return Some(Unwritten { block, vreg, origin: inst.origin });
            }
            written.extend(operands.iter().filter_map(|operand| operand.defined()));
        }
        let found = read_at_end(func, block).find(|&(vreg, _)| too_early(&written, vreg));
        if let Some((vreg, origin)) = found {
            return Some(Unwritten { block, vreg, origin });
        }
    }
    None
}
