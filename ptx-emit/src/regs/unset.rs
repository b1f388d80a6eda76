//! Registers of values that may be anything on some ways ([`Op::Unset`]): they are shared with no others. What another value has left in one would be what
//! ptxas sees on these ways, and keeps.

use super::{Assignment, UNASSIGNED};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_lower::mach::{Function, Op, VReg};

/// Gives such values, with those that edges give them or take from them in the same register, a register of their own.
pub(super) fn keep_apart(func: &Function, assignment: &mut Assignment) {
    let insts = func.layout.iter().flat_map(|&block| func.block_insts(block));
    let unset = insts.filter(|inst| inst.op == Op::Unset).flat_map(|inst| func.inst_operands(inst));
    let unset: Vec<VReg> = unset.filter_map(|operand| operand.defined()).collect();
    if unset.is_empty() {
        return;
    }
    let mut joined: FxHashMap<VReg, Vec<VReg>> = FxHashMap::default();
    for edge in func.layout.iter().flat_map(|&block| func.successors(block)) {
        for (&param, &arg) in func.params(edge.target).iter().zip(func.edge_args(edge)) {
            if assignment.reg(func, param) == assignment.reg(func, arg) {
                joined.entry(param).or_default().push(arg);
                joined.entry(arg).or_default().push(param);
            }
        }
    }
    let mut seen: FxHashSet<VReg> = FxHashSet::default();
    for first in unset {
        if assignment.index[first] == UNASSIGNED || !seen.insert(first) {
            continue;
        }
        let own = assignment.fresh(func.vregs[first]).index;
        let mut work = vec![first];
        while let Some(vreg) = work.pop() {
            assignment.index[vreg] = own;
            work.extend(joined.get(&vreg).into_iter().flatten().copied().filter(|&other| seen.insert(other)));
        }
    }
}
