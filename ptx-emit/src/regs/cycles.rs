//! Moves that go round.
//!
//! Of `t = x % y; x = y; y = t` the remainder is best put into the register of `x`, which it is the last to read: so a register is saved. Then the two
//! moves exchange what two registers hold, and that takes a third move and the register that was saved.

use super::{Assignment, Reg, Sets, UNASSIGNED, sequentialize};
use smallvec::SmallVec;
use warpsmith_base::FxHashSet;
use warpsmith_lower::mach::{Function, VReg};

/// The moves of an edge that are looked at.
const MAX_MOVES: usize = 64;

/// Gives a register of its own to one value of each cycle of moves, if it shares its register with nothing that edges lead from or to it.
pub(super) fn open(func: &Function, assignment: &mut Assignment) {
    let mut known: Option<FxHashSet<VReg>> = None;
    for edge in func.layout.iter().flat_map(|&block| func.successors(block)) {
        let pairs = func.params(edge.target).iter().zip(func.edge_args(edge));
        let mut moves: SmallVec<[(Reg, Reg, VReg); 8]> = pairs
            .map(|(&to, &from)| (assignment.reg(func, to), assignment.reg(func, from), from))
            .filter(|(to, from, _)| to != from && ![to.index, from.index].contains(&UNASSIGNED))
            .collect();
        if !(2..=MAX_MOVES).contains(&moves.len()) {
            continue;
        }
        let mut starts: SmallVec<[Reg; 2]> = SmallVec::new();
        let plain: SmallVec<[(Reg, Reg); 8]> = moves.iter().map(|&(to, from, _)| (to, from)).collect();
        let start = |reg| {
            starts.push(reg);
            reg
        };
        sequentialize(&plain, start, |_, _| {});
        for start in starts {
            let shared = known.get_or_insert_with(|| shared(func, assignment));
            let mut at = start;
            while let Some(n) = moves.iter().position(|&(to, _, _)| to == at) {
                let (_, from, value) = moves.swap_remove(n);
                if !shared.contains(&value) {
                    assignment.index[value] = assignment.fresh(from.class).index;
                    break;
                }
                at = from;
            }
        }
    }
}

/// The values that share their registers with others across edges.
fn shared(func: &Function, assignment: &Assignment) -> FxHashSet<VReg> {
    let mut sets = Sets::of_edges(func, assignment);
    let all: Vec<(VReg, VReg)> = func.vregs.keys().map(|vreg| (vreg, sets.find(vreg))).collect();
    all.into_iter().filter(|(vreg, set)| vreg != set).flat_map(|(vreg, set)| [vreg, set]).collect()
}
