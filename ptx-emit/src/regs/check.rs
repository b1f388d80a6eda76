//! Checks a register assignment independently of how it was made.
//!
//! An assignment is right when no register is written while another value that is still needed lives in it. Since every value
//! has one home and edge moves are a parallel assignment, it suffices to look at each definition: walk each block backwards from
//! what is live at its end, keep a map from register to the value in it, and compare at every write. Block parameters are
//! written together, on the edge, so they are compared with what is live into the block and with each other.

use super::{Assignment, Reg, UNASSIGNED, liveness::Liveness};
use std::fmt;
use warpsmith_base::FxHashMap;
use warpsmith_lower::mach::{Block, Function, VReg};

/// Two values in one register at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// Where.
    pub block: Block,
    /// The register.
    pub reg: Reg,
    /// The value that is written.
    pub written: VReg,
    /// The value that is lost.
    pub lost: VReg,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict { block, reg, written, lost } = self;
        write!(f, "{block}: {written} overwrites {lost} in {:?} register {}", reg.class, reg.index)
    }
}

/// Finds a value that is overwritten while it is needed, or one without a register.
pub fn check(func: &Function, assignment: &Assignment) -> Result<(), Conflict> {
    let liveness = Liveness::compute(func);
    let mut holder: FxHashMap<Reg, VReg> = FxHashMap::default();
    for &block in &func.layout {
        holder.clear();
        let conflict = |written, lost, reg| Conflict { block, reg, written, lost };
        // Makes a value live; its register must be free, or hold that same value.
        let live = |holder: &mut FxHashMap<Reg, VReg>, vreg: VReg| {
            let reg = assignment.reg(func, vreg);
            match holder.insert(reg, vreg) {
                _ if reg.index == UNASSIGNED => Err(conflict(vreg, vreg, reg)),
                Some(other) if other != vreg => Err(conflict(vreg, other, reg)),
                _ => Ok(()),
            }
        };
        for vreg in liveness.out(func, block).iter() {
            live(&mut holder, vreg)?;
        }
        if let Some(vreg) = func.blocks[block].terminator.used() {
            live(&mut holder, vreg)?;
        }
        for inst in func.block_insts(block).iter().rev() {
            let operands = func.inst_operands(inst);
            // Even a result that nobody reads is written.
            for vreg in operands.iter().filter_map(|o| o.defined()) {
                live(&mut holder, vreg)?;
            }
            for vreg in operands.iter().filter_map(|o| o.defined()) {
                holder.remove(&assignment.reg(func, vreg));
            }
            for vreg in operands.iter().filter_map(|o| o.used()) {
                live(&mut holder, vreg)?;
            }
        }
        for &param in func.params(block) {
            live(&mut holder, param)?;
        }
    }
    Ok(())
}
