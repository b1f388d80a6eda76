//! Moves that go round.
//!
//! Of `t = x % y; x = y; y = t` the remainder is best put into the register of `x`, which it is the last to read: so a register is saved. Then the two
//! moves exchange what two registers hold, and that takes a third move and the register that was saved.

use super::{Assignment, Reg, UNASSIGNED, sequentialize};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use std::ops::RangeInclusive;
use warpsmith_base::FxHashMap;
use warpsmith_lower::mach::{Block, Edge, Function, VReg};

/// The moves of an edge that are looked at.
const MAX_MOVES: usize = 64;
/// The edges, and what they join, that are looked at for cycles in all.
const MAX_EDGES: usize = 1 << 20;

/// A move of an edge: the parameter and the value that is given to it.
struct Move {
    to: (Reg, VReg),
    from: (Reg, VReg),
}

/// Gives a register of its own to one value of each cycle of moves, and to all that edges of the same loop join it with, unless what takes its place is one
/// of them. Edges that lead into the loop and out of it may then take a move, which the loop saves in every round.
pub(super) fn open(func: &Function, assignment: &mut Assignment) {
    let mut opened = Opened::default();
    for &block in &func.layout {
        for edge in func.successors(block) {
            open_edge(func, assignment, &mut opened, block, edge);
        }
    }
    for (vreg, reg) in opened.registers {
        assignment.index[vreg] = reg.index;
    }
}

fn open_edge(func: &Function, assignment: &mut Assignment, opened: &mut Opened, block: Block, edge: Edge) {
    let pairs = func.params(edge.target).iter().zip(func.edge_args(edge));
    let moves: SmallVec<[Move; 8]> = pairs
        .map(|(&to, &from)| [to, from].map(|vreg| (opened.reg(func, assignment, vreg), vreg)))
        .filter(|[to, from]| to.0 != from.0 && ![to.0.index, from.0.index].contains(&UNASSIGNED))
        .map(|[to, from]| Move { to, from })
        .collect();
    if !(2..=MAX_MOVES).contains(&moves.len()) {
        return;
    }
    let mut starts: SmallVec<[Reg; 2]> = SmallVec::new();
    let plain: SmallVec<[(Reg, Reg); 8]> = moves.iter().map(|m| (m.to.0, m.from.0)).collect();
    let start = |reg| {
        starts.push(reg);
        reg
    };
    sequentialize(&plain, start, |_, _| {});
    for start in starts {
        let moved_to = |reg| moves.iter().find(|m| m.to.0 == reg);
        let mut next = moved_to(start);
        while let Some(Move { from: (reg, value), .. }) = next {
            next = moved_to(*reg);
            let over =
                next.is_none_or(|over| opened.part(func, assignment, (block, edge), *value, over.to.1));
            if over || *reg == start {
                break;
            }
        }
    }
}

/// The values that have got registers of their own.
#[derive(Default)]
struct Opened {
    registers: FxHashMap<VReg, Reg>,
    /// Where each block is in the layout; empty until it is asked for.
    places: SecondaryMap<Block, usize>,
    /// How many edges were looked at.
    looked: usize,
}

impl Opened {
    /// The register of a value, as it is by now.
    fn reg(&self, func: &Function, assignment: &Assignment, vreg: VReg) -> Reg {
        let own = self.registers.get(&vreg);
        own.copied().unwrap_or_else(|| assignment.reg(func, vreg))
    }

    /// Gives one value, and those that edges of the loop join it with, a register of their own; `false` if the other is one of them.
    fn part(
        &mut self,
        func: &Function,
        assignment: &mut Assignment,
        (block, edge): (Block, Edge),
        one: VReg,
        other: VReg,
    ) -> bool {
        if self.places.is_empty() {
            func.layout.iter().enumerate().for_each(|(place, &block)| self.places[block] = place);
        }
        // A loop lies between what its last edge leads to and where that comes from.
        let (first, last) = (self.places[edge.target], self.places[block]);
        let within = if first <= last { first..=last } else { 0..=func.layout.len().saturating_sub(1) };
        let Some(joined) = self.joined(func, assignment, within, one) else { return false };
        if joined.contains(&other) {
            return false;
        }
        let fresh = assignment.fresh(func.vregs[one]);
        self.registers.extend(joined.into_iter().map(|vreg| (vreg, fresh)));
        true
    }

    /// What edges between blocks of a part of the layout join with a value, which shares its register; `None` if it would take too long to tell.
    fn joined(
        &mut self,
        func: &Function,
        assignment: &Assignment,
        within: RangeInclusive<usize>,
        value: VReg,
    ) -> Option<Vec<VReg>> {
        let reg = self.reg(func, assignment, value);
        let mut pairs: Vec<(VReg, VReg)> = Vec::new();
        for &block in func.layout.get(within.clone())? {
            for edge in func.successors(block).filter(|edge| within.contains(&self.places[edge.target])) {
                self.looked += 1;
                let given = func.params(edge.target).iter().zip(func.edge_args(edge));
                let both = |(&to, &from): (&VReg, &VReg)| (to, from);
                let shared = |(to, from): &(VReg, VReg)| {
                    [*to, *from].into_iter().all(|vreg| self.reg(func, assignment, vreg) == reg)
                };
                pairs.extend(given.map(both).filter(shared));
            }
        }
        let mut joined = vec![value];
        let mut next = 0;
        while let Some(&vreg) = joined.get(next).filter(|_| self.looked <= MAX_EDGES) {
            next += 1;
            self.looked += pairs.len();
            for &(a, b) in &pairs {
                for (here, there) in [(a, b), (b, a)] {
                    if here == vreg && !joined.contains(&there) {
                        joined.push(there);
                    }
                }
            }
        }
        (self.looked <= MAX_EDGES).then_some(joined)
    }
}
