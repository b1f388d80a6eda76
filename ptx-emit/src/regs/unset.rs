//! Registers of values that may be anything on some ways ([`Op::Unset`]): they are shared with no others. What another value has left in one would be what
//! ptxas sees on these ways, and keeps.

use super::{Assignment, Sets, UNASSIGNED};
use warpsmith_base::FxHashMap;
use warpsmith_lower::mach::{Function, Op, VReg};

/// Gives such values, with those that edges give them or take from them in the same register, a register of their own.
pub(super) fn keep_apart(func: &Function, assignment: &mut Assignment) {
    let insts = func.layout.iter().flat_map(|&block| func.block_insts(block));
    let unset = insts.filter(|inst| inst.op == Op::Unset).flat_map(|inst| func.inst_operands(inst));
    let unset: Vec<VReg> = unset.filter_map(|operand| operand.defined()).collect();
    if unset.is_empty() {
        return;
    }
    let mut sets = Sets::of_edges(func, assignment);
    let mut own: FxHashMap<VReg, u32> = FxHashMap::default();
    for vreg in unset {
        if assignment.index[vreg] == UNASSIGNED {
            continue;
        }
        own.entry(sets.find(vreg)).or_insert_with(|| assignment.fresh(func.vregs[vreg]).index);
    }
    for vreg in func.vregs.keys() {
        if let Some(&index) = own.get(&sets.find(vreg)) {
            assignment.index[vreg] = index;
        }
    }
}
